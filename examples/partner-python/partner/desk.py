"""The booking desk: what was quoted, what is sold, who booked. In memory; a restart forgets.

No HTTP and no MCP here: arguments in, payload or Refusal out. Calls run one after the other on the
event loop and never wait in the middle, so no lock is needed.
"""

from __future__ import annotations

import uuid
from collections import Counter, OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from partner import refusal
from partner.catalogue import Catalogue, check_arguments, descriptors
from partner.quote import Quote, quotes
from partner.refusal import Refusal

# Quotes that are remembered; the oldest are forgotten first, and are then gone.
MAX_OFFERS = 10_000
# Bookings that are kept, cancelled ones included. Each holds the body that made it.
MAX_BOOKINGS = 2_000
# A cancellation later than this before the start costs a fee.
FREE_CANCELLATION = timedelta(hours=2)
# The fee for a late cancellation, in percent of the total.
LATE_FEE_PERCENT = 10
# Work on the compressor is done in a workshop only (spec 2, logistics).
WORKSHOP_SCOPES = frozenset({"compressor_service", "full_overhaul"})


@dataclass
class Booked:
    """One booking, with the arguments that made it, to tell a repeat from a reuse."""

    arguments: dict[str, Any]
    booking: dict[str, Any]
    stock_key: str
    start: datetime
    cancellation: dict[str, Any] | None = None


class Desk:
    """The desk of one business."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._offers: OrderedDict[str, tuple[Quote, datetime]] = OrderedDict()
        self._sold: Counter[str] = Counter()
        self._by_request: dict[str, Booked] = {}
        self._by_booking: dict[str, Booked] = {}
        self._tools = {
            "search_ac_service_slots": self._search,
            "create_ac_service_booking": self._create,
            "cancel_ac_service_booking": self._cancel,
        }

    @property
    def name(self) -> str:
        """The company's name, for the platform's logs."""
        return str(self.catalogue.business["name"])

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as `tools/list` shows them."""
        return descriptors(self.catalogue.platform)

    def answer(self, tool: str, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        """Answers one tool call at the time `now`."""
        check_arguments(tool, arguments)
        return self._tools[tool](arguments, now)

    def _search(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        found = quotes(
            self.catalogue, arguments, now, lambda key, stock: self._sold[key] < stock
        )
        expires_at = now + timedelta(minutes=self.catalogue.business["quote_valid_minutes"])
        for quote in found:
            self._offers[quote.slot_id] = (quote, expires_at)
        while len(self._offers) > MAX_OFFERS:
            self._offers.popitem(last=False)
        return {
            "result_token": f"rt_{uuid.uuid4().hex}",
            "expires_at": self._local(expires_at),
            "slots": [quote.payload for quote in found],
        }

    def _create(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        earlier = self._by_request.get(arguments["request_id"])
        if earlier is not None:
            if earlier.arguments == arguments:
                return earlier.booking
            raise Refusal(
                refusal.IDEMPOTENCY_VIOLATION, "this request_id was used for another booking"
            )
        quote, expires_at = self._offers.get(arguments["slot_id"], (None, now))
        if quote is None or expires_at <= now or self._sold[quote.stock_key] >= quote.stock:
            raise Refusal(refusal.SLOT_GONE, "that slot is not on offer any more")
        doorstep = arguments.get("doorstep_address") is not None
        if doorstep and quote.scope in WORKSHOP_SCOPES:
            raise Refusal(
                refusal.COMPRESSOR_WORK_REQUIRES_WORKSHOP,
                "compressor work is done in the workshop only",
            )
        if doorstep and not quote.doorstep_supported:
            raise Refusal(
                refusal.DOORSTEP_UNAVAILABLE_AT_LOCATION, "nobody comes out for this slot"
            )
        if len(self._by_request) >= MAX_BOOKINGS:
            raise Refusal(refusal.INTERNAL_ERROR, "the booking desk is full")
        booking = self._booking(quote, doorstep)
        booked = Booked(arguments, booking, quote.stock_key, quote.start)
        self._sold[quote.stock_key] += 1
        self._by_request[arguments["request_id"]] = booked
        self._by_booking[booking["booking_id"]] = booked
        return booking

    def _booking(self, quote: Quote, doorstep: bool) -> dict[str, Any]:
        """AcServiceBooking (spec 2); every field is required."""
        business = self.catalogue.business
        number = len(self._by_request) + 1
        return {
            "booking_id": f"bk_{uuid.uuid4().hex}",
            "slot_id": quote.slot_id,
            "scheduled_start": self._local(quote.start),
            "estimated_completion": self._local(quote.end),
            "service_scope_confirmed": quote.scope,
            "total_estimate_inr": quote.total_inr,
            "service_advisor_name": business["advisor"]["name"],
            "service_advisor_phone": business["advisor"]["phone"],
            "payment_due_at": business["payment_due_at"],
            "doorstep_arranged": doorstep,
            "partner_booking_reference": f"{business['source'].upper()}-{number:05}",
        }

    def _cancel(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        """A second cancellation of one booking gets the first one's answer.

        The desk does not track intake; a business that does refuses once the car is in.
        """
        booked = self._by_booking.get(arguments["booking_id"])
        if booked is None:
            raise Refusal(refusal.INVALID_REQUEST, "no such booking", "booking_id")
        if booked.cancellation is None:
            late = booked.start - now < FREE_CANCELLATION
            total_inr = booked.booking["total_estimate_inr"]
            booked.cancellation = {
                "booking_id": arguments["booking_id"],
                "cancelled_at": self._local(now),
                "cancellation_fee_inr": (total_inr * LATE_FEE_PERCENT + 50) // 100 if late else 0,
                # Nothing is paid before intake, so there is nothing to pay back.
                "refund_amount_inr": 0,
                "refund_eta_days": 0,
            }
            self._sold[booked.stock_key] -= 1
        return booked.cancellation

    def _local(self, moment: datetime) -> str:
        return moment.astimezone(self.catalogue.zone).isoformat(timespec="seconds")
