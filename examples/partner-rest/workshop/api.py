"""The API itself: three operations over the business's desk, and its own error codes."""

from __future__ import annotations

import hmac
import logging
from datetime import datetime, timezone
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.responses import JSONResponse

import workshop  # noqa: F401  (makes the `partner` package importable)
from partner import refusal
from partner.desk import Desk
from partner.refusal import Refusal
from workshop import shapes

logger = logging.getLogger("workshop")

# The API's own names and statuses for what the desk refuses.
PROBLEMS = {
    refusal.SLOT_GONE: (409, "OFFER_TAKEN"),
    refusal.IDEMPOTENCY_VIOLATION: (409, "KEY_REUSED"),
    refusal.VEHICLE_AC_INCOMPATIBLE: (422, "CAR_NOT_SERVED"),
    refusal.REFRIGERANT_UNAVAILABLE: (422, "GAS_NOT_IN_STOCK"),
    refusal.COMPRESSOR_WORK_REQUIRES_WORKSHOP: (422, "WORKSHOP_ONLY"),
    refusal.DOORSTEP_UNAVAILABLE_AT_LOCATION: (422, "NO_HOME_VISIT"),
    refusal.INVALID_REQUEST: (422, "NOT_UNDERSTOOD"),
}
SYMPTOMS = {"CHECK_UP": "pre_summer_check", "LEAK": "leak_suspected", "ELECTRICAL": "electrical_fault"}
GASES = {"r134a": "R134A", "r1234yf": "R1234YF", "mixed": "BOTH"}


class Unauthorised(Exception):
    """The token is missing or wrong."""


def application(desk: Desk, token: str | None) -> FastAPI:
    """The whole application; its OpenAPI document is at /openapi.json."""
    app = FastAPI(title=desk.catalogue.business["name"], version="1.4.0", docs_url=None, redoc_url=None)
    refusals: dict[int | str, dict[str, Any]] = {
        status: {"model": shapes.Refused} for status in (401, 409, 422, 500)
    }

    async def signed_in(authorization: Annotated[str | None, Header()] = None) -> None:
        expected = f"Bearer {token}".encode()
        if token is not None and not hmac.compare_digest((authorization or "").encode(), expected):
            raise Unauthorised

    def answer(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return desk.answer(tool, arguments, datetime.now(timezone.utc))

    @app.get(
        "/v1/offers",
        operation_id="find_offers",
        summary="Finds free slots for car AC work, with prices.",
        responses=refusals,
    )
    async def find_offers(search: Annotated[shapes.Search, Query()]) -> shapes.Offers:
        return offers(answer("search_ac_service_slots", search_arguments(search)))

    @app.post(
        "/v1/bookings",
        operation_id="book_offer",
        summary="Books one offer; the same key gives the same booking.",
        status_code=201,
        responses=refusals,
        dependencies=[Depends(signed_in)],
    )
    async def book_offer(
        body: shapes.NewBooking, idempotency_key: Annotated[str, Header(max_length=200)]
    ) -> shapes.Booking:
        arguments: dict[str, Any] = {
            "request_id": idempotency_key,
            "slot_id": body.offer_id,
            "vehicle": body.car,
            "ac_issue": body.complaint,
            "contact_phone": body.phone,
            "doorstep_address": body.home_address,
        }
        made = answer("create_ac_service_booking", arguments)
        return shapes.Booking(
            id=made["booking_id"],
            number=made["partner_booking_reference"],
            offer_id=made["slot_id"],
            starts_at=made["scheduled_start"],
            ends_at=made["estimated_completion"],
            work_kind=made["service_scope_confirmed"].upper(),
            total=made["total_estimate_inr"],
            contact=made["service_advisor_name"],
            contact_phone=made["service_advisor_phone"],
            pay=made["payment_due_at"].upper(),
            at_home=made["doorstep_arranged"],
        )

    @app.post(
        "/v1/bookings/{booking_id}/cancellation",
        operation_id="cancel_booking",
        summary="Cancels a booking; a second time gives the first answer.",
        responses=refusals,
        dependencies=[Depends(signed_in)],
    )
    async def cancel_booking(booking_id: str, body: shapes.Reason) -> shapes.Cancellation:
        arguments = {"request_id": booking_id, "booking_id": booking_id, "reason_code": body.reason}
        off = answer("cancel_ac_service_booking", arguments)
        return shapes.Cancellation(
            booking_id=off["booking_id"],
            at=off["cancelled_at"],
            fee=off["cancellation_fee_inr"],
            refund=off["refund_amount_inr"],
            refund_days=off["refund_eta_days"],
        )

    @app.exception_handler(Refusal)
    async def refused(_: Request, error: Refusal) -> JSONResponse:
        status, code = PROBLEMS.get(error.code, (500, "OUT_OF_ORDER"))
        return problem(status, code, error.message)

    @app.exception_handler(Unauthorised)
    async def unauthorised(_: Request, __: Unauthorised) -> JSONResponse:
        return problem(401, "NOT_SIGNED_IN", "a valid bearer token is required")

    @app.exception_handler(Exception)
    async def failed(_: Request, __: Exception) -> JSONResponse:
        # Starlette logs the traceback itself; the caller gets no detail.
        return problem(500, "OUT_OF_ORDER", "internal error")

    return app


def problem(status: int, code: str, text: str) -> JSONResponse:
    """A refusal in the API's own shape."""
    return JSONResponse({"error": {"code": code, "text": text}}, status_code=status)


def search_arguments(search: shapes.Search) -> dict[str, Any]:
    """The desk's form of a search."""
    symptom = SYMPTOMS.get(search.symptom.value, search.symptom.value.lower())
    preferences: dict[str, Any] = {
        "doorstep_acceptable": search.home_visit,
        "authorised_only": search.authorised_only,
    }
    if search.starts_after is not None and search.ends_before is not None:
        preferences["preferred_window"] = {"start": search.starts_after, "end": search.ends_before}
    vehicle: dict[str, Any] = {"type": "car", "ac_system_type": search.controls.value.lower()}
    if search.fuel is not None:
        vehicle["fuel_type"] = search.fuel.value.lower()
    if search.year is not None:
        vehicle["year_of_manufacture"] = search.year
    arguments: dict[str, Any] = {
        "intent": "auto.book_ac_service",
        "vehicle": vehicle,
        "ac_issue": {
            "category": symptom,
            "user_description": search.words,
            "last_serviced_months_ago": None,
        },
        "service_preferences": preferences,
    }
    if search.latitude is not None and search.longitude is not None:
        place = {"lat": search.latitude, "lng": search.longitude}
        if search.within_km is not None:
            place["max_radius_km"] = search.within_km
        arguments["user_location"] = place
    return arguments


def offers(found: dict[str, Any]) -> shapes.Offers:
    """What the desk found, in the API's words."""
    items = [offer(slot) for slot in found["slots"]]
    return shapes.Offers(
        reference=found["result_token"],
        valid_until=found["expires_at"],
        count=len(items),
        items=items,
    )


def offer(slot: dict[str, Any]) -> shapes.Offer:
    """One slot, in the API's words."""
    provider, window, scope = slot["provider"], slot["slot_window"], slot["service_scope"]
    price, warranty, ratings = slot["estimated_price"], slot["warranty"], slot["ratings"]
    return shapes.Offer(
        id=slot["slot_id"],
        starts_at=window["start"],
        ends_at=window["end"],
        hours=window["typical_duration_hours"],
        same_day=window["same_day_completion_likely"],
        workshop=shapes.Workshop(
            id=provider["provider_id"],
            title=provider["name"],
            street=provider["address"],
            kind=provider["provider_type"].upper(),
            latitude=provider["location"]["lat"],
            longitude=provider["location"]["lng"],
            away_km=provider["distance_from_user_km"],
            gas_certificate=provider["refrigerant_handling_certified"],
        ),
        work=shapes.Work(
            kind=scope["code"].upper(),
            title=scope["label"],
            steps=scope["includes"],
            gas=GASES[scope["refrigerant_type"]],
        ),
        price=shapes.Price(
            diagnosis=price["diagnostic_fee_inr"],
            diagnosis_waived=price["diagnostic_fee_waived_if_repair"],
            labour=price["labour_inr"],
            parts=price["parts_estimate_inr"],
            gas=price["refrigerant_inr"],
            tax=price["gst_inr"],
            total=price["total_estimate_inr"],
            fixed=price["price_lock_guaranteed"],
            variance_percent=price["price_lock_variance_cap_pct"],
        ),
        visit=shapes.Visit(
            at_home=slot["logistics"]["doorstep_supported"],
            wait_here=slot["logistics"]["while_you_wait_acceptable"],
            collection=slot["logistics"]["pickup_drop_supported"],
        ),
        guarantee=shapes.Guarantee(
            parts_months=warranty["parts_warranty_months"],
            labour_months=warranty["labour_warranty_months"],
            cooling_days=warranty["cooling_performance_warranty_days"],
            terms=warranty["warranty_terms_url"],
        ),
        reviews=shapes.Reviews(
            stars=ratings["avg_rating"],
            count=ratings["review_count"],
            solved_percent=ratings["cooling_complaint_resolution_pct"],
        ),
        link=slot["partner_reference"]["deeplink"],
    )
