"""What a vehicle is, and what its third-party cover costs by the tariff.

The rates are in the catalogue. Where a request leaves the size open, the dearest band counts, so
that the customer is not asked for more later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from broker.catalogue import Catalogue

# A light goods carrier weighs no more than this, in kg.
LIGHT_GOODS_MOST_KG = 7500

_ELECTRIC_SUBTYPES = frozenset({"e_scooter", "e_motorcycle", "e_car", "e_bike_commercial"})
_KIND_OF_TYPE = {"car": "car", "two_wheeler": "two_wheeler"}
_KIND_OF_SUBTYPE = {
    "private_car": "car",
    "suv": "car",
    "mpv": "car",
    "hatchback": "car",
    "sedan": "car",
    "e_car": "car",
    "scooter": "two_wheeler",
    "motorcycle": "two_wheeler",
    "moped": "two_wheeler",
    "e_scooter": "two_wheeler",
    "e_motorcycle": "two_wheeler",
    "goods_carrier_lcv": "goods",
    "goods_carrier_hcv": "goods",
    "taxi": "taxi",
    "school_bus": "school_bus",
}


@dataclass(frozen=True)
class Kind:
    """What a vehicle is, as far as rates care."""

    # car, two_wheeler, goods, taxi or school_bus.
    name: str
    electric: bool

    @property
    def key(self) -> str:
        """Its name in the catalogue's tables, where electric ones have rows of their own."""
        return f"electric_{self.name}" if self.electric else self.name


@dataclass(frozen=True)
class ThirdParty:
    """Third-party premiums in INR: one year's, and what the later years of a bundle add."""

    year_inr: int
    long_term_inr: int


def is_electric(vehicle: dict[str, Any]) -> bool:
    """Whether any member says that the vehicle is electric."""
    return (
        vehicle["type"] == "ev"
        or vehicle["fuel_type"] == "electric"
        or vehicle.get("subtype") in _ELECTRIC_SUBTYPES
    )


def kind_of(catalogue: Catalogue, vehicle: dict[str, Any]) -> Kind | None:
    """The vehicle's kind; None where this broker has no rates for it."""
    subtype = vehicle.get("subtype")
    name = _KIND_OF_TYPE.get(vehicle["type"]) or _KIND_OF_SUBTYPE.get(subtype or "")
    if name is None and vehicle["type"] == "ev" and subtype is None:
        # An electric vehicle of no stated kind: no two-wheeler has a car's battery.
        is_car = (vehicle["battery_kwh"] or 0) >= catalogue.rules["electric_car_from_kwh"]
        name = "car" if is_car else "two_wheeler"
    if name is None:
        return None
    kind = Kind(name, is_electric(vehicle))
    return kind if kind.key in catalogue.tariff else None


def bundle_years(catalogue: Catalogue, kind: Kind) -> int:
    """Years of third-party cover that a new vehicle of the kind needs; 0 without a bundle."""
    return catalogue.tariff[kind.key].get("bundle_years", 0)


def third_party(
    catalogue: Catalogue, kind: Kind, vehicle: dict[str, Any], years: int
) -> ThirdParty | None:
    """The tariff's premiums for one year, or for a bundle of `years`; None where no row fits."""
    table = catalogue.tariff[kind.key]
    size = _size(catalogue, kind, vehicle)
    row = band(table["year"], size)
    year_inr = row["inr"]
    if "passenger_inr" in row:
        # The driver is among the persons; where they are not stated, every seat counts.
        persons = vehicle.get("carrying_capacity_persons", table["most_passengers"] + 1)
        passengers = max(persons - 1, 0)
        if passengers > table["most_passengers"]:
            return None
        year_inr += row["passenger_inr"] * passengers
    whole_inr = band(table["bundle"], size)["inr"] if years else year_inr
    if vehicle["fuel_type"] == "hybrid" and not kind.electric:
        year_inr = _permille(year_inr, catalogue.tariff["hybrid_permille"])
        whole_inr = _permille(whole_inr, catalogue.tariff["hybrid_permille"])
    return ThirdParty(year_inr, whole_inr - year_inr)


def band(table: list[dict[str, Any]], size: float | None) -> dict[str, Any]:
    """The row of a size; the last one has no upper end, and is also the row of an unknown size."""
    for row in table[:-1]:
        if size is not None and size <= row["up_to"]:
            return row
    return table[-1]


def _size(catalogue: Catalogue, kind: Kind, vehicle: dict[str, Any]) -> float | None:
    """What the tariff goes by: gross weight in kg, motor power in kW, or engine size in cc."""
    if kind.name == "goods":
        # The tariff goes by gross weight and a request tells the load.
        tonnes = vehicle.get("carrying_capacity_tonnes")
        if tonnes is None:
            return LIGHT_GOODS_MOST_KG if vehicle.get("subtype") == "goods_carrier_lcv" else None
        return tonnes * 1000 * catalogue.rules["gross_weight_per_load"]
    return vehicle["kw_rating"] if kind.electric else vehicle.get("engine_cc")


def _permille(inr: int, permille: int) -> int:
    """A share of an amount, rounded up: never below the tariff."""
    return (inr * permille + 999) // 1000
