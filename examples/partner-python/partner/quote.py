"""From a search request to priced slots. Pure: what is sold is known to the caller, not here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from partner import refusal
from partner.catalogue import Catalogue
from partner.refusal import Refusal

# The largest number of slots in one answer (spec 2, tools).
MAX_SLOTS = 15
# The farthest workshop that the contract can express, in km (spec 2, AcServiceSlot).
MAX_DISTANCE_KM = 30.0
# Cars of this year and later take r1234yf (spec 2, service_scope.refrigerant_type).
FIRST_R1234YF_YEAR = 2017
# Goods and services tax on car repair, in percent.
GST_PERCENT = 18
# Work starts on the quarter of an hour.
START_GRID = timedelta(minutes=15)
# Mean radius of the Earth, in km (IUGG).
EARTH_RADIUS_KM = 6371.0088
# The last part of a slot id: the car's refrigerant sets the price, so it is part of the name.
REFRIGERANT_LETTER = {"r134a": "a", "r1234yf": "y", "mixed": "m"}


@dataclass(frozen=True)
class Quote:
    """One slot that the business offers, before any trick is played on it."""

    slot_id: str
    # What is taken from stock: the same for every car that might fill the slot.
    stock_key: str
    stock: int
    start: datetime
    end: datetime
    scope: str
    doorstep_supported: bool
    total_inr: int
    # The AcServiceSlot as the customer sees it, tricks played.
    payload: dict[str, Any]


def quotes(
    catalogue: Catalogue,
    request: dict[str, Any],
    now: datetime,
    in_stock: Callable[[str, int], bool],
) -> list[Quote]:
    """The slots that fit the request, earliest first, at most MAX_SLOTS."""
    vehicle = request["vehicle"]
    fuel = vehicle.get("fuel_type")
    if (fuel is not None and fuel not in catalogue.vehicles["fuel_types"]) or vehicle[
        "ac_system_type"
    ] not in catalogue.vehicles["ac_system_types"]:
        raise Refusal(
            refusal.VEHICLE_AC_INCOMPATIBLE, "this business does not service that car's AC"
        )
    wanted = refrigerant_for(vehicle.get("year_of_manufacture"))
    if not any(_handles(provider, wanted) for provider in catalogue.providers.values()):
        raise Refusal(
            refusal.REFRIGERANT_UNAVAILABLE, "no provider of this business stocks that refrigerant"
        )
    window = _working_window(catalogue, request["service_preferences"].get("preferred_window"), now)
    if window is None:
        return []
    place = request.get("user_location") or catalogue.business["centre"]
    found = []
    for template in catalogue.slots:
        provider = catalogue.providers[template["provider"]]
        service = catalogue.services[template["service"]]
        distance_km = _distance_km(place, provider)
        if not _suits(request, provider, service, wanted, distance_km):
            continue
        start = window[0] + timedelta(minutes=template["offset_minutes"])
        end = start + timedelta(minutes=service["duration_minutes"])
        if end > window[1]:
            continue
        quote = _quote(catalogue, template, wanted, distance_km, start, end)
        if in_stock(quote.stock_key, quote.stock):
            found.append(quote)
    # Stable, so that templates of one start keep the catalogue's order.
    found.sort(key=lambda quote: quote.start)
    return found[:MAX_SLOTS]


def instant(text: str, field: str) -> datetime:
    """An ISO 8601 datetime with offset."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refusal(refusal.INVALID_REQUEST, "not a datetime", field) from error
    if moment.tzinfo is None:
        raise Refusal(refusal.INVALID_REQUEST, "a datetime carries its offset", field)
    return moment


def refrigerant_for(year: int | None) -> str:
    """What a car of that year takes; `mixed` when the year is unknown."""
    if year is None:
        return "mixed"
    return "r1234yf" if year >= FIRST_R1234YF_YEAR else "r134a"


def merge_patch(target: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7396): null removes a key, objects merge, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _handles(provider: dict[str, Any], wanted: str) -> bool:
    needed = {"r134a", "r1234yf"} if wanted == "mixed" else {wanted}
    return needed <= set(provider["refrigerants"])


def _suits(
    request: dict[str, Any],
    provider: dict[str, Any],
    service: dict[str, Any],
    wanted: str,
    distance_km: float,
) -> bool:
    preferences = request["service_preferences"]
    asked_km = (request.get("user_location") or {}).get("max_radius_km", MAX_DISTANCE_KM)
    reach_km = min(MAX_DISTANCE_KM, provider["serves_within_km"], asked_km)
    mobile = provider["provider_type"] == "doorstep_mobile"
    authorised = provider["provider_type"] == "oem_authorised"
    return (
        request["ac_issue"]["category"] in service["issues"]
        and _handles(provider, wanted)
        and distance_km <= reach_km
        and (preferences["doorstep_acceptable"] or not mobile)
        and (authorised or not preferences.get("authorised_only", False))
    )


def _working_window(
    catalogue: Catalogue, asked: dict[str, str] | None, now: datetime
) -> tuple[datetime, datetime] | None:
    """The first day of the window on which the business is open, cut to opening hours.

    Without a window: tomorrow. Past windows are quoted like any other, so that a recorded request
    replays.
    """

    def hours(moment: datetime, days: int = 0) -> tuple[datetime, datetime]:
        day = moment.astimezone(catalogue.zone).date() + timedelta(days=days)
        return (
            datetime.combine(day, catalogue.opens, catalogue.zone),
            datetime.combine(day, catalogue.closes, catalogue.zone),
        )

    if asked is None:
        return hours(now, days=1)
    field = "service_preferences.preferred_window"
    first = instant(asked["start"], f"{field}.start")
    last = instant(asked["end"], f"{field}.end")
    if first >= last:
        raise Refusal(refusal.INVALID_REQUEST, "start must lie before end", field)
    opens, closes = hours(first)
    if _on_grid(max(first, opens)) >= closes:
        opens, closes = hours(first, days=1)
    start, end = _on_grid(max(first, opens)), min(last, closes)
    return (start, end) if start < end else None


def _on_grid(moment: datetime) -> datetime:
    """The next quarter of an hour, or the moment itself when it is one."""
    past = (moment - datetime.fromtimestamp(0, timezone.utc)) % START_GRID
    return moment if not past else moment - past + START_GRID


def _distance_km(a: dict[str, float], b: dict[str, float]) -> float:
    """Great-circle distance by the haversine formula, to one decimal."""
    lat_a, lat_b = math.radians(a["lat"]), math.radians(b["lat"])
    h = (
        math.sin((lat_b - lat_a) / 2) ** 2
        + math.cos(lat_a) * math.cos(lat_b) * math.sin(math.radians(b["lng"] - a["lng"]) / 2) ** 2
    )
    km = 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))
    return math.floor(km * 10 + 0.5) / 10


def _price(service: dict[str, Any], wanted: str) -> dict[str, Any]:
    """Tax and total. The diagnostic fee is part of both unless the work is a repair that waives it."""
    price = dict(service["price"])
    # Year unknown: the dearer of the two, so that the customer is not asked for more later.
    refrigerant_inr = price["refrigerant_inr"]["r134a" if wanted == "r134a" else "r1234yf"]
    waived = price["diagnostic_fee_waived_if_repair"] and service["scope"] != "basic_check"
    fee_inr = 0 if waived else price["diagnostic_fee_inr"]
    taxable_inr = fee_inr + price["labour_inr"] + price["parts_estimate_inr"] + refrigerant_inr
    gst_inr = (taxable_inr * GST_PERCENT + 50) // 100
    return {
        **price,
        "refrigerant_inr": refrigerant_inr,
        "gst_inr": gst_inr,
        "total_estimate_inr": taxable_inr + gst_inr,
    }


def _quote(
    catalogue: Catalogue,
    template: dict[str, Any],
    wanted: str,
    distance_km: float,
    start: datetime,
    end: datetime,
) -> Quote:
    business = catalogue.business
    provider = catalogue.providers[template["provider"]]
    service = catalogue.services[template["service"]]
    local_start = start.astimezone(catalogue.zone)
    stock_key = f"{business['source']}.{template['ref']}.{local_start:%Y%m%dT%H%M}"
    slot_id = f"{stock_key}.{REFRIGERANT_LETTER[wanted]}"
    price = _price(service, wanted)
    payload = {
        "slot_id": slot_id,
        "provider": {
            "provider_id": provider["provider_id"],
            "name": provider["name"],
            "address": provider["address"],
            "provider_type": provider["provider_type"],
            "location": {"lat": provider["lat"], "lng": provider["lng"]},
            "distance_from_user_km": distance_km,
            "refrigerant_handling_certified": provider["refrigerant_handling_certified"],
        },
        "slot_window": {
            "start": local_start.isoformat(),
            "end": end.astimezone(catalogue.zone).isoformat(),
            "typical_duration_hours": math.floor(service["duration_minutes"] / 6 + 0.5) / 10,
            "same_day_completion_likely": service["same_day_completion_likely"],
        },
        "service_scope": {
            "code": service["scope"],
            "label": service["label"],
            "includes": service["includes"],
            "refrigerant_type": wanted,
        },
        "estimated_price": price,
        "logistics": service["logistics"],
        "warranty": {
            **service["warranty"],
            "warranty_terms_url": f"{business['website']}/warranty",
        },
        "ratings": provider["ratings"],
        "partner_reference": {
            "source": business["source"],
            "deeplink": f"{business['website']}/book/{slot_id}",
        },
    }
    return Quote(
        slot_id=slot_id,
        stock_key=stock_key,
        stock=template["stock"],
        start=start,
        end=end,
        scope=service["scope"],
        doorstep_supported=service["logistics"]["doorstep_supported"],
        total_inr=price["total_estimate_inr"],
        payload=merge_patch(payload, template.get("merge", {})),
    )
