"""From a search request to quotes, one of each insurer. Pure: the time comes in as an argument."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from broker import refusal
from broker.catalogue import Catalogue
from broker.refusal import Refusal
from broker.tariff import Kind, ThirdParty, bundle_years, is_electric, kind_of, third_party

# The largest number of quotes in one answer (spec 2, tools).
MAX_QUOTES = 15
# Minutes until a policy is issued where the vehicle is inspected first.
INSPECTED_ISSUANCE_MINUTES = 2880
# The longest tenure that a quote can state, in years (spec 2, MotorQuote).
MAX_TENURE_YEARS = 3

# Kinds of policy without third-party cover of their own.
_WITHOUT_THIRD_PARTY = frozenset({"own_damage_only", "standalone_od_with_separate_tp"})


@dataclass(frozen=True)
class Quote:
    """A quote as the customer sees it, and what the desk needs of it."""

    payload: dict[str, Any]
    insurer: dict[str, Any]
    # When cover begins: a policy is issued before.
    starts: datetime
    # Last day of third-party cover; None outside a bundle.
    long_term_end: date | None


@dataclass(frozen=True)
class Terms:
    """What all quotes of one search have in common."""

    kind: Kind
    policy_type: str
    start: date
    end: date
    tenure_years: int
    bundle_years: int
    third_party: ThirdParty
    inspection_required: bool
    ncb_pct: int
    age_months: int | None
    idv_inr: int
    idv_basis: str

    @property
    def covers_own_damage(self) -> bool:
        return self.policy_type != "third_party_only"


def quotes(catalogue: Catalogue, request: dict[str, Any], now: datetime) -> list[Quote]:
    """One quote of each insurer that takes the vehicle; none of what the broker does not sell."""
    _check_request(catalogue, request)
    terms = _terms(catalogue, request, now)
    if terms is None:
        return []
    found = [
        _quote(catalogue, insurer, request, terms)
        for insurer in catalogue.insurers
        if terms.kind.name in insurer["kinds"]
    ]
    if request["buyer_preferences"].get("instant_issuance_required"):
        found = [quote for quote in found if quote.payload["instant_issuance_possible"]]
    return found[:MAX_QUOTES]


def add_years(day: date, years: int) -> date:
    """The same day so many years later; 28 February for a leap day."""
    try:
        return day.replace(year=day.year + years)
    except ValueError:
        return day.replace(year=day.year + years, day=28)


def _check_request(catalogue: Catalogue, request: dict[str, Any]) -> None:
    """Refuses what the schema cannot express, with the intent's codes."""
    vehicle = request["vehicle"]
    if vehicle.get("registration_number") == catalogue.test_values["unknown_registration"]:
        raise Refusal(
            refusal.VEHICLE_NOT_FOUND_IN_VAHAN,
            "no vehicle has that registration",
            "vehicle.registration_number",
        )
    for key in ("kw_rating", "battery_kwh"):
        if is_electric(vehicle) and vehicle[key] is None:
            raise Refusal(refusal.EV_KW_MISSING, "an electric vehicle needs it", f"vehicle.{key}")
    if request["purchase_context"] == "newly_purchased" and not vehicle["invoice_value_inr"]:
        raise Refusal(
            refusal.INVOICE_VALUE_INVALID,
            "a newly purchased vehicle needs its invoice value",
            "vehicle.invoice_value_inr",
        )


def _terms(catalogue: Catalogue, request: dict[str, Any], now: datetime) -> Terms | None:
    vehicle, wanted = request["vehicle"], request["buyer_preferences"]
    is_new = request["purchase_context"] == "newly_purchased"
    policy_type = wanted["target_policy_type"]
    kind = kind_of(catalogue, vehicle)
    start = _first_day(catalogue, request, now)
    if kind is None or start is None:
        return None
    years = bundle_years(catalogue, kind) if is_new else 0
    if wanted["long_term_tp_years"] != years:
        raise Refusal(
            refusal.LONG_TERM_TP_REQUIRED,
            f"this vehicle needs {years} years of third-party cover",
            "buyer_preferences.long_term_tp_years",
        )
    if policy_type == "long_term_tp_bundle" and years == 0:
        return None
    has_third_party = policy_type not in _WITHOUT_THIRD_PARTY
    if not has_third_party:
        years = 0
    premiums = third_party(catalogue, kind, vehicle, years) if has_third_party else ThirdParty(0, 0)
    if premiums is None:
        return None
    if policy_type == "comprehensive" and years > 0:
        # A new vehicle's comprehensive policy is a bundle.
        policy_type = "long_term_tp_bundle"
    age_months = _age_months(vehicle, start, is_new)
    if age_months is not None and age_months > catalogue.rules["oldest_vehicle_years"] * 12:
        return None
    if policy_type == "third_party_only":
        # The whole policy lasts as long as its third-party cover, and no value is insured.
        lasts, idv_inr, idv_basis = max(years, 1), 0, "market_value"
    else:
        lasts = 1
        idv_inr, idv_basis = _insured_value(catalogue, request, kind, age_months)
    return Terms(
        kind=kind,
        policy_type=policy_type,
        start=start,
        end=add_years(start, lasts) - timedelta(days=1),
        tenure_years=min(lasts, MAX_TENURE_YEARS),
        bundle_years=years,
        third_party=premiums,
        inspection_required=_is_inspected(catalogue, request, start),
        ncb_pct=0 if policy_type == "third_party_only" else _bonus_pct(catalogue, request, start),
        age_months=age_months,
        idv_inr=idv_inr,
        idv_basis=idv_basis,
    )


def _first_day(catalogue: Catalogue, request: dict[str, Any], now: datetime) -> date | None:
    """First day of cover: a midnight that leaves time to issue the policy, and to inspect first.

    Who switches has cover until the last policy's last day. None where that is too far ahead.
    """
    rules, previous = catalogue.rules, request["previous_policy"]
    start = _midnight_after(catalogue, now, rules["lead_hours"])
    if _is_inspected(catalogue, request, start):
        start = _midnight_after(catalogue, now, rules["inspection_lead_hours"])
    expiry = _expiry(previous)
    if request["purchase_context"] != "switching" or expiry is None or expiry < start:
        return start
    if expiry >= start + timedelta(days=rules["most_days_ahead"]):
        return None
    return expiry + timedelta(days=1)


def _midnight_after(catalogue: Catalogue, now: datetime, hours: int) -> date:
    """The day that begins at the first midnight at least so many hours away."""
    later = now.astimezone(catalogue.zone) + timedelta(hours=hours)
    return later.date() + timedelta(days=1)


def _expiry(previous: dict[str, Any]) -> date | None:
    """Last day of the prior policy, where there was one."""
    text = previous.get("expiry_date")
    if not previous["has_prior_policy"] or text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Refusal(
            refusal.INVALID_REQUEST, "not a date", "previous_policy.expiry_date"
        ) from error


def _lapse_days(previous: dict[str, Any], start: date) -> int:
    """Days without cover before `start`: as stated, or else since the prior policy."""
    if not previous["has_prior_policy"]:
        return 0
    stated = previous.get("lapse_days")
    if stated is not None:
        return int(stated)
    expiry = _expiry(previous)
    return 0 if expiry is None else (start - expiry).days - 1


def _has_claims(previous: dict[str, Any]) -> bool:
    return previous.get("claims_filed_last_year", 0) > 0


def _has_long_lapse(catalogue: Catalogue, request: dict[str, Any], start: date) -> bool:
    lapse_days = _lapse_days(request["previous_policy"], start)
    return bool(lapse_days > catalogue.rules["inspection_after_lapse_days"])


def _is_inspected(catalogue: Catalogue, request: dict[str, Any], start: date) -> bool:
    """After a long lapse, after a claim, and for a used vehicle's first policy."""
    return (
        request["purchase_context"] == "used_vehicle_first_policy"
        or _has_claims(request["previous_policy"])
        or _has_long_lapse(catalogue, request, start)
    )


def _bonus_pct(catalogue: Catalogue, request: dict[str, Any], start: date) -> int:
    """The no-claim bonus: the highest step that may be carried forward, if it was earned at all.

    A used vehicle's prior policy was its last owner's, and so is the bonus.
    """
    previous = request["previous_policy"]
    if (
        not previous["has_prior_policy"]
        or request["purchase_context"] == "used_vehicle_first_policy"
        or _has_claims(previous)
        or _has_long_lapse(catalogue, request, start)
    ):
        return 0
    carried = previous.get("ncb_pct_carry_forward", 0)
    return max(
        (step for step in catalogue.rules["ncb_slabs_percent"] if step <= carried), default=0
    )


def _age_months(vehicle: dict[str, Any], start: date, is_new: bool) -> int | None:
    """The vehicle's age, counted from the middle of the earliest year that is stated."""
    if is_new:
        return 0
    years = [
        vehicle[key]
        for key in ("year_of_manufacture", "year_of_first_registration")
        if key in vehicle
    ]
    if not years:
        return None
    return max((start.year - min(years)) * 12 + start.month - 6, 0)


def _insured_value(
    catalogue: Catalogue, request: dict[str, Any], kind: Kind, age_months: int | None
) -> tuple[int, str]:
    """The insured value and its basis. A new vehicle's is its invoice, if nothing else is asked."""
    vehicle, rules = request["vehicle"], catalogue.rules
    preferred = request["buyer_preferences"].get("idv_preference")
    context, invoice_inr = request["purchase_context"], vehicle["invoice_value_inr"]
    price_inr = invoice_inr or catalogue.list_prices_inr[kind.key]
    if context == "newly_purchased":
        market_inr = price_inr * (100 - rules["depreciation"][0]["percent"]) // 100
        is_market = preferred in ("market_value", "custom")
        value, basis = (market_inr, "market_value") if is_market else (price_inr, "invoice_value")
    elif context == "used_vehicle_first_policy" and invoice_inr:
        # What was just paid for a used vehicle is what it is worth.
        value, basis = invoice_inr, "market_value"
    else:
        if age_months is None:
            raise Refusal(
                refusal.INVALID_REQUEST,
                "the insured value follows from the vehicle's age",
                "vehicle.year_of_manufacture",
            )
        value, basis = (
            price_inr * (100 - _depreciation_pct(rules, age_months)) // 100,
            "market_value",
        )
        if preferred == "declared_max":
            value, basis = value * rules["declared_max_percent"] // 100, "declared_max"
    if value > rules["most_idv_inr"]:
        raise Refusal(
            refusal.IDV_OUT_OF_RANGE,
            f"no insurer here takes more than {rules['most_idv_inr']} INR",
            "vehicle.invoice_value_inr",
        )
    return value, basis


def _depreciation_pct(rules: dict[str, Any], age_months: int) -> int:
    """What the tariff takes off for the age; beyond its last row, the broker's own steps."""
    for row in rules["depreciation"]:
        if age_months <= row["up_to_months"]:
            return int(row["percent"])
    last = rules["depreciation"][-1]
    years_beyond = (age_months - last["up_to_months"] + 11) // 12
    taken = last["percent"] + years_beyond * rules["older_percent_a_year"]
    return int(min(taken, rules["most_depreciation_percent"]))


def _quote(
    catalogue: Catalogue, insurer: dict[str, Any], request: dict[str, Any], terms: Terms
) -> Quote:
    business = catalogue.business
    quote_id = _quote_id(insurer, request, terms)
    addons = _addons(catalogue, insurer, request, terms)
    in_state, in_city = _garage_counts(catalogue, insurer, request)
    is_instant = insurer["instant"] and not terms.inspection_required
    website = business["website"]
    payload = {
        "quote_id": quote_id,
        "insurer": {
            key: insurer[key]
            for key in (
                "insurer_id",
                "name",
                "product_name",
                "product_uin",
                "irdai_registration_number",
                "claim_settlement_ratio_pct",
                "motor_claim_settlement_days_avg",
                "solvency_ratio",
            )
        },
        "policy_type": terms.policy_type,
        "idv_inr": terms.idv_inr,
        "idv_basis": terms.idv_basis,
        "premium_breakdown": _premium(catalogue, insurer, terms, addons),
        "ncb_applied_pct": terms.ncb_pct,
        "long_term_tp_years": terms.bundle_years,
        "tenure_years": terms.tenure_years,
        "policy_start_date": terms.start.isoformat(),
        "policy_end_date": terms.end.isoformat(),
        "addons_included": addons,
        "cashless_garage_count_in_state": in_state,
        "cashless_garage_count_in_city": in_city,
        "garage_directory_url": f"{website}/garages/{insurer['insurer_id']}",
        "policy_wording_url": f"{website}/wordings/{insurer['product_uin']}.pdf",
        "inspection_required": terms.inspection_required,
        "instant_issuance_possible": is_instant,
        "estimated_issuance_minutes": (
            INSPECTED_ISSUANCE_MINUTES if terms.inspection_required else insurer["issuance_minutes"]
        ),
        "partner_reference": {
            "source": business["source"],
            "deeplink": f"{website}/quotes/{quote_id}",
        },
    }
    return Quote(
        payload=payload,
        insurer=insurer,
        starts=datetime.combine(terms.start, time.min, catalogue.zone),
        long_term_end=(
            add_years(terms.start, terms.bundle_years) - timedelta(days=1)
            if terms.bundle_years
            else None
        ),
    )


def _quote_id(insurer: dict[str, Any], request: dict[str, Any], terms: Terms) -> str:
    """The same request gets the same quotes; one without a request_id gets quotes of its own."""
    seed = [
        request.get("request_id") or uuid.uuid4().hex,
        request,
        insurer["insurer_id"],
        terms.start.isoformat(),
    ]
    digest = hashlib.sha256(json.dumps(seed, sort_keys=True).encode()).hexdigest()
    return f"quote_{digest[:32]}"


def _addons(
    catalogue: Catalogue, insurer: dict[str, Any], request: dict[str, Any], terms: Terms
) -> list[dict[str, Any]]:
    """Those asked for that the insurer sells and that go with the vehicle and the policy."""
    found = []
    for code in dict.fromkeys(request["buyer_preferences"]["addons_required"]):
        addon, rate = catalogue.addons[code], insurer["addons"].get(code)
        too_old = (terms.age_months or 0) > addon.get("max_age_months", terms.age_months or 0)
        if (
            rate is None
            or too_old
            or (addon["own_damage"] and not terms.covers_own_damage)
            or (addon["electric"] and not terms.kind.electric)
        ):
            continue
        premium_inr = (
            rate["inr"] if "inr" in rate else terms.idv_inr * rate["inr_per_lakh"] // 100_000
        )
        found.append({"code": code, "label": addon["label"], "premium_inr": premium_inr})
    return found


def _premium(
    catalogue: Catalogue, insurer: dict[str, Any], terms: Terms, addons: list[dict[str, Any]]
) -> dict[str, int]:
    """All parts in whole rupees; the total is their sum, so it adds up."""
    rules = catalogue.rules
    own_damage_inr = ncb_discount_inr = other_discount_inr = 0
    if terms.covers_own_damage:
        permille = rules["own_damage_permille"][terms.kind.name]
        percent = insurer["own_damage_percent_of_base"]
        own_damage_inr = max(
            terms.idv_inr * permille * percent // 100_000, rules["least_own_damage_inr"]
        )
        ncb_discount_inr = own_damage_inr * terms.ncb_pct // 100
        other_discount_inr = (
            (own_damage_inr - ncb_discount_inr) * insurer["discount_percent"] // 100
        )
    addons_inr = sum(addon["premium_inr"] for addon in addons)
    taxable_inr = (
        own_damage_inr
        + terms.third_party.year_inr
        + terms.third_party.long_term_inr
        + addons_inr
        - ncb_discount_inr
        - other_discount_inr
    )
    gst_inr = (taxable_inr * rules["gst_percent"] + 50) // 100
    return {
        "own_damage_premium_inr": own_damage_inr,
        "third_party_premium_inr": terms.third_party.year_inr,
        "long_term_tp_premium_inr": terms.third_party.long_term_inr,
        "addons_premium_inr": addons_inr,
        "ncb_discount_inr": ncb_discount_inr,
        "other_discount_inr": other_discount_inr,
        "gst_inr": gst_inr,
        "total_payable_inr": taxable_inr + gst_inr,
    }


def _garage_counts(
    catalogue: Catalogue, insurer: dict[str, Any], request: dict[str, Any]
) -> tuple[int, int]:
    """Cashless garages of the user's state and city; 0 where the network has none on file."""
    city = (request.get("user_location") or {}).get("city", "")
    state = catalogue.cities.get(city, request["vehicle"]["registration_state"])
    garages = insurer["cashless_garages"]
    return garages["by_state"].get(state, 0), garages["by_city"].get(city, 0)
