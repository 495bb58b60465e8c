"""The desk: what was quoted, locked, inspected, issued, given back. In memory; a restart forgets.

No HTTP and no MCP here: arguments in, payload or Refusal out. Calls run one after the other on the
event loop and never wait in the middle, so no lock is needed.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from broker import refusal
from broker.catalogue import Catalogue, check_arguments, descriptors
from broker.quotes import Quote, quotes
from broker.refusal import Refusal

# Quotes that are remembered; the oldest are forgotten first, and cannot be bought any more.
MAX_OFFERS = 10_000
# Quotes that were locked or inspected for, with their outcomes.
MAX_DEALS = 2_000
# Calls that are remembered by their request_id, each with its arguments.
MAX_CALLS = 10_000
# Addons whose buyer gets a number for help on the road.
ASSISTANCE_ADDONS = frozenset({"rsa_24x7", "ev_assistance"})


@dataclass
class Kyc:
    """One check of a customer."""

    kyc_id: str
    document: str
    # When a person has looked at the documents; None where that was not needed.
    pending_until: datetime | None

    def is_pending(self, now: datetime) -> bool:
        return self.pending_until is not None and now < self.pending_until


@dataclass
class Deal:
    """A quote that somebody is buying, as far as that has come."""

    quote: Quote
    expires_at: datetime
    kyc: Kyc | None = None
    inspection: dict[str, Any] | None = None
    policy: dict[str, Any] | None = None
    cancellation: dict[str, Any] | None = None


class Desk:
    """The desk of one broker."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._offers: OrderedDict[str, tuple[Quote, datetime]] = OrderedDict()
        self._deals: dict[str, Deal] = {}
        # Deals by the identifiers that they have got: those of quote, check and policy.
        self._deal_by_id: dict[str, Deal] = {}
        self._calls: dict[tuple[str, str], tuple[dict[str, Any], Any]] = {}
        self._tools = {
            "search_motor_quotes": self._search,
            "confirm_quote_and_kyc": self._confirm,
            "schedule_inspection": self._inspect,
            "issue_policy": self._issue,
            "cancel_or_freelook": self._cancel,
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
        found = quotes(self.catalogue, arguments, now)
        for quote in found:
            quote_id = quote.payload["quote_id"]
            self._offers[quote_id] = (quote, self._holds_until(quote, now))
            self._offers.move_to_end(quote_id)
        while len(self._offers) > MAX_OFFERS:
            self._offers.popitem(last=False)
        # All quotes of an answer begin on one day, so that they hold equally long.
        expires_at = self._holds_until(found[0], now) if found else now
        return {
            "result_token": f"rt_{uuid.uuid4().hex}",
            "expires_at": self._local(expires_at),
            "quotes": [quote.payload for quote in found],
        }

    def _confirm(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        """A repeat tells how the check stands by now."""
        earlier = self._earlier("confirm_quote_and_kyc", arguments)
        if earlier is not None:
            deal, kyc = earlier
            return self._kyc_result(deal, kyc, now)
        deal = self._deal(arguments["quote_id"], now)
        if deal.kyc is not None and not deal.kyc.is_pending(now):
            raise Refusal(
                refusal.INVALID_REQUEST, "this quote's customer is verified", "request_id"
            )
        # A new check takes the place of a pending one, also where it fails.
        deal.kyc = None
        kyc = self._check_customer(arguments, now)
        self._remember("confirm_quote_and_kyc", arguments, (deal, kyc))
        deal.kyc = kyc
        self._deal_by_id[kyc.kyc_id] = deal
        deal.expires_at = self._holds_until(deal.quote, now)
        return self._kyc_result(deal, kyc, now)

    def _check_customer(self, arguments: dict[str, Any], now: datetime) -> Kyc:
        """Stands in for the registries that a real broker asks."""
        test_values = self.catalogue.test_values
        last4 = arguments.get("kyc_document_last4")
        if last4 == test_values["kyc_failed_last4"]:
            raise Refusal(
                refusal.KYC_FAILED, "the document is not the customer's", "kyc_document_last4"
            )
        document = arguments.get("kyc_document")
        is_pending = document is None or last4 in (None, test_values["kyc_pending_last4"])
        wait = timedelta(minutes=self.catalogue.desk["manual_check_minutes"])
        return Kyc(
            kyc_id=f"kyc_{uuid.uuid4().hex}",
            document=document or "pan",
            pending_until=now + wait if is_pending else None,
        )

    def _kyc_result(self, deal: Deal, kyc: Kyc, now: datetime) -> dict[str, Any]:
        """KYCResult (spec 2); every field is required."""
        is_pending = kyc.is_pending(now)
        return {
            "kyc_id": kyc.kyc_id,
            "quote_id": deal.quote.payload["quote_id"],
            "kyc_status": "pending_manual" if is_pending else f"verified_{kyc.document}",
            "documents_required": (
                self.catalogue.desk["manual_check_documents"] if is_pending else []
            ),
            "ckyc_id": None if is_pending else f"EXAMPLE-CKYC-{kyc.kyc_id[-8:]}",
            "expires_at": self._local(deal.expires_at),
        }

    def _inspect(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        quote_id = arguments["quote_id"]
        known = self._deals.get(quote_id)
        if known is not None and known.inspection is not None:
            return known.inspection
        deal = self._deal(quote_id, now)
        if not deal.quote.payload["inspection_required"]:
            raise Refusal(refusal.INVALID_REQUEST, "this quote needs no inspection", "quote_id")
        mode, address = arguments.get("mode", "self_video"), arguments.get("address")
        if mode == "surveyor_home_visit" and address is None:
            raise Refusal(refusal.INVALID_REQUEST, "a visit needs an address", "address")
        desk = self.catalogue.desk
        tomorrow = now.astimezone(self.catalogue.zone).date() + timedelta(days=1)
        starts = datetime.combine(tomorrow, time(desk["inspection_hour"]), self.catalogue.zone)
        deal.inspection = {
            "inspection_id": f"insp_{uuid.uuid4().hex}",
            "quote_id": quote_id,
            "scheduled_at": self._local(starts),
            "location": {
                "mode": mode,
                "address": address if mode == "surveyor_home_visit" else None,
                "garage_name": desk["inspection_garage"] if mode == "in_person_garage" else None,
            },
            "expected_completion_at": self._local(
                starts + timedelta(hours=desk["inspection_takes_hours"])
            ),
            "inspector_contact": desk["inspector_phone"],
        }
        return deal.inspection

    def _issue(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        earlier = self._earlier("issue_policy", arguments)
        if earlier is not None:
            return earlier
        deal = self._deal(arguments["quote_id"], now)
        if deal.kyc is None or deal.kyc.is_pending(now):
            raise Refusal(refusal.KYC_FAILED, "the customer is not verified yet", "quote_id")
        if deal.quote.payload["inspection_required"] and deal.inspection is None:
            raise Refusal(
                refusal.INSPECTION_REQUIRED, "the vehicle is to be inspected first", "quote_id"
            )
        payment = arguments.get("payment_reference")
        if payment in (None, self.catalogue.test_values["declined_payment_reference"]):
            raise Refusal(
                refusal.PAYMENT_FAILED, "there is no payment of that reference", "payment_reference"
            )
        policy = self._policy(deal)
        self._remember("issue_policy", arguments, policy)
        deal.policy = policy
        self._deal_by_id[policy["policy_id"]] = deal
        return policy

    def _policy(self, deal: Deal) -> dict[str, Any]:
        """IssuedPolicy (spec 2); every field is required.

        The free-look window is counted from the first day of cover, which follows the day of issue.
        """
        quote, insurer = deal.quote.payload, deal.quote.insurer
        business, days = self.catalogue.business, self.catalogue.desk["freelook_period_days"]
        policy_id = f"pol_{uuid.uuid4().hex}"
        starts = date.fromisoformat(quote["policy_start_date"])
        long_term_end = deal.quote.long_term_end
        is_assisted = any(addon["code"] in ASSISTANCE_ADDONS for addon in quote["addons_included"])
        return {
            "policy_id": policy_id,
            "policy_number": f"{business['policy_prefix']}/{starts.year}/{policy_id[-8:].upper()}",
            "insurer_id": insurer["insurer_id"],
            "product_uin": insurer["product_uin"],
            "policy_type": quote["policy_type"],
            "policy_start_date": quote["policy_start_date"],
            "policy_end_date": quote["policy_end_date"],
            "long_term_tp_end_date": long_term_end.isoformat() if long_term_end else None,
            "total_paid_inr": quote["premium_breakdown"]["total_payable_inr"],
            "policy_pdf_url": f"{business['website']}/policies/{policy_id}.pdf",
            "certificate_of_insurance_url": f"{business['website']}/certificates/{policy_id}.pdf",
            "freelook_period_days": days,
            "freelook_ends_at": (starts + timedelta(days=days)).isoformat(),
            "claim_helpline_phone": insurer["claim_helpline_phone"],
            "emergency_assistance_phone": insurer["assistance_phone"] if is_assisted else None,
        }

    def _cancel(self, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        """Gives a policy back, or drops a quote before its policy is issued.

        The latter has no policy yet: it is named by `quote_id`, or by the identifier of the quote or
        of its check in the place of `policy_id`. A second cancellation of one deal gets the first
        one's answer.
        """
        named = arguments.get("policy_id") or arguments.get("quote_id")
        if named is None:
            raise Refusal(refusal.INVALID_REQUEST, "name the policy or the quote", "policy_id")
        deal = self._deal_by_id.get(named)
        if deal is None:
            raise Refusal(refusal.INVALID_REQUEST, "no such policy", "policy_id")
        if deal.cancellation is None:
            today = now.astimezone(self.catalogue.zone).date()
            policy = deal.policy
            if policy is not None and today > date.fromisoformat(policy["freelook_ends_at"]):
                raise Refusal(
                    refusal.FREELOOK_WINDOW_EXPIRED, "the free-look window has ended", "policy_id"
                )
            deal.cancellation = {
                "cancelled_at": self._local(now),
                "refund_amount_inr": 0 if policy is None else refund_inr(policy, today),
                "refund_method": "original_payment",
                "refund_eta_days": 0 if policy is None else self.catalogue.desk["refund_eta_days"],
                "is_freelook_cancellation": policy is not None,
            }
        return {"policy_id": named, **deal.cancellation}

    def _deal(self, quote_id: str, now: datetime) -> Deal:
        """What is under way for a quote, or a beginning where the quote still holds."""
        deal = self._deals.get(quote_id)
        if deal is None:
            quote, expires_at = self._offers.get(quote_id, (None, now))
            if quote is None or expires_at <= now:
                raise Refusal(refusal.INVALID_REQUEST, "that quote does not hold", "quote_id")
            if len(self._deals) >= MAX_DEALS:
                raise Refusal(refusal.INTERNAL_ERROR, "the desk is full")
            deal = Deal(quote, expires_at)
            self._deals[quote_id] = self._deal_by_id[quote_id] = deal
        elif deal.cancellation is not None or deal.policy is not None or deal.expires_at <= now:
            raise Refusal(
                refusal.INVALID_REQUEST,
                "that quote is issued, cancelled or has run out",
                "quote_id",
            )
        return deal

    def _holds_until(self, quote: Quote, now: datetime) -> datetime:
        """Nothing is issued once cover should have begun.

        A customer may need days for documents and inspection, and the platform calls nobody about
        an option that has run out.
        """
        return min(quote.starts, now + timedelta(hours=self.catalogue.desk["quote_valid_hours"]))

    def _earlier(self, tool: str, arguments: dict[str, Any]) -> Any:
        """What an earlier call of the same key made. The intent has no code for a conflict."""
        made_by, made = self._calls.get((tool, arguments["request_id"]), (arguments, None))
        if made_by != arguments:
            raise Refusal(
                refusal.INVALID_REQUEST, "this request_id was used for another call", "request_id"
            )
        return made

    def _remember(self, tool: str, arguments: dict[str, Any], made: Any) -> None:
        if len(self._calls) >= MAX_CALLS:
            raise Refusal(refusal.INTERNAL_ERROR, "the desk is full")
        self._calls[(tool, arguments["request_id"])] = (arguments, made)

    def _local(self, moment: datetime) -> str:
        return moment.astimezone(self.catalogue.zone).isoformat(timespec="seconds")


def refund_inr(policy: dict[str, Any], today: date) -> int:
    """What a policy is given back for: all but the share of the days of cover that have begun."""
    starts = date.fromisoformat(policy["policy_start_date"])
    ends = date.fromisoformat(policy["long_term_tp_end_date"] or policy["policy_end_date"])
    days = (ends - starts).days + 1
    used = max((today - starts).days + 1, 0)
    return int(policy["total_paid_inr"] * (days - used) // days)
