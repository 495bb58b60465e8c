"""The broker's quotes and desk by a clock of the test, and sessions over real HTTP."""

from __future__ import annotations

import asyncio
import copy
import json
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import mcp
import mcp_types as types

import broker  # noqa: F401  (makes the `partner` package importable)
from broker.catalogue import Catalogue
from broker.desk import Desk
from broker.refusal import Refusal
from partner.endpoint import answer_call
from report import ReportError, completion_report

ROOT = Path(__file__).resolve().parents[1]
NOW = datetime.fromisoformat("2026-11-23T11:00:00+05:30")
# A car of 2022 whose owner switches from a live policy.
CAR: dict[str, Any] = {
    "intent": "finance.buy_motor_insurance",
    "request_id": "req_1",
    "user_location": {"city": "Pune", "pincode": "411001"},
    "purchase_context": "switching",
    "vehicle": {
        "type": "car",
        "subtype": "hatchback",
        "fuel_type": "petrol",
        "engine_cc": 1197,
        "kw_rating": None,
        "battery_kwh": None,
        "year_of_manufacture": 2022,
        "registration_number": "MH12AB4821",
        "registration_state": "MH",
        "invoice_value_inr": 1000000,
    },
    "previous_policy": {
        "has_prior_policy": True,
        "insurer_name": "Example Mutual",
        "expiry_date": "2026-12-10",
        "claims_filed_last_year": 0,
        "ncb_pct_carry_forward": 25,
        "lapse_days": None,
    },
    "buyer_preferences": {
        "target_policy_type": "comprehensive",
        "addons_required": ["zero_dep", "rsa_24x7"],
        "long_term_tp_years": 0,
    },
}
NEW_CAR = {
    "purchase_context": "newly_purchased",
    "vehicle.year_of_manufacture": 2026,
    "previous_policy": {"has_prior_policy": False},
    "buyer_preferences.target_policy_type": "long_term_tp_bundle",
    "buyer_preferences.long_term_tp_years": 3,
}
NEW_SCOOTER = {
    **NEW_CAR,
    "vehicle.type": "two_wheeler",
    "vehicle.subtype": "scooter",
    "vehicle.engine_cc": 110,
    "vehicle.invoice_value_inr": 90000,
    "buyer_preferences.long_term_tp_years": 5,
}
NEW_ELECTRIC_CAR = {
    **NEW_CAR,
    "vehicle.type": "ev",
    "vehicle.subtype": "e_car",
    "vehicle.fuel_type": "electric",
    "vehicle.kw_rating": 95,
    "vehicle.battery_kwh": 40.5,
}
LAPSED = {
    "purchase_context": "lapsed_fresh",
    "previous_policy.expiry_date": "2026-05-10",
}
USED = {"purchase_context": "used_vehicle_first_policy"}
VERIFIED = {"kyc_document": "pan", "kyc_document_last4": "1234"}
PAID = {"payment_reference": "pay_1"}


def request(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The switching car with members replaced by their paths."""
    made = copy.deepcopy(CAR)
    for path, value in (changes or {}).items():
        target, keys = made, path.split(".")
        for key in keys[:-1]:
            target = target[key]
        target[keys[-1]] = value
    return made


class BrokerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.catalogue = Catalogue.load()
        self.desk = Desk(self.catalogue)

    def answer(self, tool: str, now: datetime = NOW, /, **arguments: Any) -> dict[str, Any]:
        return self.desk.answer(tool, arguments, now)

    def search(
        self, changes: dict[str, Any] | None = None, now: datetime = NOW
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.answer("search_motor_quotes", now, **request(changes))[
            "quotes"
        ]
        return found

    def refuses(
        self, code: str, field: str | None, tool: str, now: datetime = NOW, /, **arguments: Any
    ) -> None:
        with self.assertRaises(Refusal) as caught:
            self.answer(tool, now, **arguments)
        self.assertEqual((caught.exception.code, caught.exception.field), (code, field))


class QuoteTest(BrokerTest):
    def test_six_insurers_quote_a_car_and_every_sum_adds_up(self) -> None:
        for changes in ({}, NEW_CAR, NEW_SCOOTER, NEW_ELECTRIC_CAR, LAPSED, USED):
            found = self.search(changes)
            self.assertEqual(len({quote["insurer"]["insurer_id"] for quote in found}), 6)
            for quote in found:
                parts = dict(quote["premium_breakdown"])
                total_inr, gst_inr = parts.pop("total_payable_inr"), parts.pop("gst_inr")
                discounts_inr = parts.pop("ncb_discount_inr") + parts.pop("other_discount_inr")
                taxable_inr = sum(parts.values()) - discounts_inr
                self.assertEqual(gst_inr, (taxable_inr * 18 + 50) // 100)
                self.assertEqual(total_inr, taxable_inr + gst_inr)
                addons_inr = sum(addon["premium_inr"] for addon in quote["addons_included"])
                self.assertEqual(parts["addons_premium_inr"], addons_inr)

    def test_third_party_premiums_are_the_tariffs(self) -> None:
        commercial = {
            "vehicle.type": "commercial",
            "vehicle.fuel_type": "diesel",
            "vehicle.invoice_value_inr": 1500000,
        }
        goods = {**commercial, "vehicle.subtype": "goods_carrier_lcv"}
        heavy = {**commercial, "vehicle.subtype": "goods_carrier_hcv"}
        for changes, premiums in (
            ({}, (3416, 0)),
            ({"vehicle.engine_cc": 1000}, (2094, 0)),
            ({"vehicle.engine_cc": 1501}, (7897, 0)),
            ({"vehicle.fuel_type": "hybrid"}, (3160, 0)),
            (NEW_CAR, (3416, 7224)),
            (NEW_SCOOTER, (714, 3137)),
            (NEW_ELECTRIC_CAR, (6712, 14195)),
            ({**NEW_CAR, "buyer_preferences.target_policy_type": "comprehensive"}, (3416, 7224)),
            ({"buyer_preferences.target_policy_type": "own_damage_only"}, (0, 0)),
            (goods, (16049, 0)),
            ({**heavy, "vehicle.carrying_capacity_tonnes": 9}, (35313, 0)),
            (
                {**commercial, "vehicle.subtype": "taxi", "vehicle.carrying_capacity_persons": 5},
                (11852, 0),
            ),
            (
                {
                    **commercial,
                    "vehicle.subtype": "school_bus",
                    "vehicle.carrying_capacity_persons": 31,
                },
                (34542, 0),
            ),
        ):
            with self.subTest(changes):
                premium = self.search(changes)[0]["premium_breakdown"]
                found = (premium["third_party_premium_inr"], premium["long_term_tp_premium_inr"])
                self.assertEqual(found, premiums)

    def test_of_an_unknown_size_the_dearest_band_counts(self) -> None:
        body = request()
        del body["vehicle"]["engine_cc"]
        quote = self.answer("search_motor_quotes", **body)["quotes"][0]
        self.assertEqual(quote["premium_breakdown"]["third_party_premium_inr"], 7897)

    def test_what_has_no_rate_here_has_no_quotes(self) -> None:
        for changes in (
            {"vehicle.type": "commercial", "vehicle.subtype": "passenger_carrier"},
            {
                "vehicle.type": "commercial",
                "vehicle.subtype": "taxi",
                "vehicle.carrying_capacity_persons": 9,
            },
            {"vehicle.year_of_manufacture": 1970},
            {"buyer_preferences.target_policy_type": "long_term_tp_bundle"},
            {"previous_policy.expiry_date": "2028-01-01"},
        ):
            with self.subTest(changes):
                self.assertEqual(self.search(changes), [])

    def test_a_new_vehicle_has_its_bundle_and_its_invoice(self) -> None:
        for changes, years, invoice_inr in ((NEW_CAR, 3, 1000000), (NEW_SCOOTER, 5, 90000)):
            quote = self.search(changes)[0]
            self.assertEqual(quote["policy_type"], "long_term_tp_bundle")
            self.assertEqual((quote["long_term_tp_years"], quote["tenure_years"]), (years, 1))
            self.assertEqual((quote["idv_inr"], quote["idv_basis"]), (invoice_inr, "invoice_value"))
            self.assertEqual(quote["policy_start_date"], "2026-11-24")
            self.assertEqual(quote["policy_end_date"], "2027-11-23")

    def test_a_new_vehicles_comprehensive_policy_is_a_bundle(self) -> None:
        quote = self.search({**NEW_CAR, "buyer_preferences.target_policy_type": "comprehensive"})[0]
        self.assertEqual(
            (quote["policy_type"], quote["long_term_tp_years"]), ("long_term_tp_bundle", 3)
        )

    def test_third_party_cover_alone_lasts_as_long_as_the_bundle(self) -> None:
        changes = {**NEW_SCOOTER, "buyer_preferences.target_policy_type": "third_party_only"}
        quote = self.search(changes)[0]
        self.assertEqual((quote["idv_inr"], quote["policy_end_date"]), (0, "2031-11-23"))
        self.assertEqual([addon["code"] for addon in quote["addons_included"]], ["rsa_24x7"])
        self.assertEqual(quote["premium_breakdown"]["own_damage_premium_inr"], 0)

    def test_the_insured_value_follows_the_tariffs_schedule(self) -> None:
        for year, value_inr in (
            (2026, 950000),
            (2025, 800000),
            (2024, 700000),
            (2022, 500000),
            (2020, 400000),
        ):
            quote = self.search({"vehicle.year_of_manufacture": year})[0]
            self.assertEqual(
                (quote["idv_inr"], quote["idv_basis"]), (value_inr, "market_value"), year
            )
        most = self.search({"buyer_preferences.idv_preference": "declared_max"})[0]
        self.assertEqual((most["idv_inr"], most["idv_basis"]), (550000, "declared_max"))
        self.assertEqual(self.search({"vehicle.invoice_value_inr": None})[0]["idv_inr"], 450000)
        # What a used vehicle cost is what it is worth.
        self.assertEqual(self.search(USED)[0]["idv_inr"], 1000000)

    def test_a_bonus_is_earned_and_a_step_of_the_table(self) -> None:
        for changes, percent in (
            ({}, 25),
            ({"previous_policy.ncb_pct_carry_forward": 34}, 25),
            ({"previous_policy.ncb_pct_carry_forward": 90}, 50),
            ({"previous_policy.claims_filed_last_year": 1}, 0),
            ({"previous_policy.lapse_days": 91, "purchase_context": "lapsed_fresh"}, 0),
            ({"previous_policy.lapse_days": 90, "purchase_context": "lapsed_fresh"}, 25),
            (LAPSED, 0),
            (USED, 0),
            (NEW_CAR, 0),
        ):
            with self.subTest(changes):
                quote = self.search(changes)[0]
                premium = quote["premium_breakdown"]
                self.assertEqual(quote["ncb_applied_pct"], percent)
                expected_inr = premium["own_damage_premium_inr"] * percent // 100
                self.assertEqual(premium["ncb_discount_inr"], expected_inr)

    def test_vehicles_are_inspected_where_the_rules_say_so(self) -> None:
        claim = {"previous_policy.claims_filed_last_year": 1}
        lapse = {"previous_policy.lapse_days": 90, "purchase_context": "lapsed_fresh"}
        for changes, expected in (
            ({}, False),
            (NEW_CAR, False),
            (lapse, False),
            (LAPSED, True),
            (USED, True),
            (claim, True),
        ):
            for quote in self.search(changes):
                self.assertEqual(quote["inspection_required"], expected, changes)
                if expected:
                    self.assertFalse(quote["instant_issuance_possible"])
        at_once = {"buyer_preferences.instant_issuance_required": True}
        self.assertEqual(len(self.search(at_once)), 4)
        self.assertEqual(self.search({**USED, **at_once}), [])

    def test_cover_follows_the_last_policy_and_leaves_time_to_issue(self) -> None:
        self.assertEqual(self.search()[0]["policy_start_date"], "2026-12-11")
        late = datetime.fromisoformat("2026-11-23T22:30:00+05:30")
        self.assertEqual(self.search(NEW_CAR, late)[0]["policy_start_date"], "2026-11-25")
        self.assertEqual(self.search(USED)[0]["policy_start_date"], "2026-11-27")

    def test_addons_go_with_vehicle_policy_age_and_insurer(self) -> None:
        wanted = [
            "zero_dep",
            "return_to_invoice",
            "battery_protect_ev",
            "passenger_cover",
            "passenger_cover",
        ]
        for changes, expected in (
            ({}, ["zero_dep", "passenger_cover"]),
            ({"vehicle.year_of_manufacture": 2020}, ["passenger_cover"]),
            (NEW_CAR, ["zero_dep", "return_to_invoice", "passenger_cover"]),
            (
                NEW_ELECTRIC_CAR,
                ["zero_dep", "return_to_invoice", "battery_protect_ev", "passenger_cover"],
            ),
            ({"buyer_preferences.target_policy_type": "third_party_only"}, ["passenger_cover"]),
        ):
            with self.subTest(changes):
                quotes = self.search({**changes, "buyer_preferences.addons_required": wanted})
                codes = [addon["code"] for addon in quotes[0]["addons_included"]]
                self.assertEqual(codes, expected)
        by_insurer = {quote["insurer"]["insurer_id"]: quote for quote in self.search()}
        codes = [addon["code"] for addon in by_insurer["example-deodar"]["addons_included"]]
        self.assertEqual(codes, ["rsa_24x7"])

    def test_the_same_request_gets_the_same_quotes(self) -> None:
        first = [quote["quote_id"] for quote in self.search()]
        self.assertEqual(first, [quote["quote_id"] for quote in self.search()])
        other = [quote["quote_id"] for quote in self.search({"request_id": "req_2"})]
        self.assertFalse(set(first) & set(other))

    def test_requests_without_a_key_do_not_share_quotes(self) -> None:
        body = request()
        del body["request_id"]
        first, second = (self.answer("search_motor_quotes", **body) for _ in range(2))
        self.assertNotEqual(first["quotes"][0]["quote_id"], second["quotes"][0]["quote_id"])

    def test_refusals_carry_the_intents_codes(self) -> None:
        for changes, code, field in (
            (
                {"vehicle.registration_number": "EX00XX0000"},
                "VEHICLE_NOT_FOUND_IN_VAHAN",
                "vehicle.registration_number",
            ),
            (
                {**NEW_CAR, "vehicle.invoice_value_inr": None},
                "INVOICE_VALUE_INVALID",
                "vehicle.invoice_value_inr",
            ),
            (
                {**NEW_CAR, "buyer_preferences.long_term_tp_years": 0},
                "LONG_TERM_TP_REQUIRED",
                "buyer_preferences.long_term_tp_years",
            ),
            ({**NEW_ELECTRIC_CAR, "vehicle.kw_rating": None}, "EV_KW_MISSING", "vehicle.kw_rating"),
            (
                {**NEW_CAR, "vehicle.invoice_value_inr": 10000001},
                "IDV_OUT_OF_RANGE",
                "vehicle.invoice_value_inr",
            ),
            (
                {"previous_policy.expiry_date": "2026-02-30"},
                "INVALID_REQUEST",
                "previous_policy.expiry_date",
            ),
            ({"vehicle.type": "boat"}, "INVALID_REQUEST", "vehicle.type"),
            ({"vehicle": {}}, "INVALID_REQUEST", "vehicle.type"),
        ):
            with self.subTest(code), self.assertRaises(Refusal) as caught:
                self.search(changes)
            self.assertEqual((caught.exception.code, caught.exception.field), (code, field))


class DeskTest(BrokerTest):
    def quote(self, changes: dict[str, Any] | None = None) -> str:
        quote_id: str = self.search(changes)[0]["quote_id"]
        return quote_id

    def issued(self, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        quote_id = self.quote(changes)
        self.answer("confirm_quote_and_kyc", request_id="k", quote_id=quote_id, **VERIFIED)
        return self.answer("issue_policy", request_id="i", quote_id=quote_id, **PAID)

    def test_the_same_key_gets_the_same_check_and_another_call_is_refused(self) -> None:
        call = {"request_id": "k", "quote_id": self.quote(), **VERIFIED}
        first = self.answer("confirm_quote_and_kyc", **call)
        self.assertEqual(first["kyc_status"], "verified_pan")
        self.assertEqual(self.answer("confirm_quote_and_kyc", **call), first)
        changed = {**call, "kyc_document": "dl"}
        self.refuses("INVALID_REQUEST", "request_id", "confirm_quote_and_kyc", **changed)

    def test_a_pending_check_is_done_after_a_while(self) -> None:
        quote_id = self.quote()
        call = {
            "request_id": "k",
            "quote_id": quote_id,
            "kyc_document": "dl",
            "kyc_document_last4": "9999",
        }
        first = self.answer("confirm_quote_and_kyc", **call)
        self.assertEqual((first["kyc_status"], first["ckyc_id"]), ("pending_manual", None))
        self.assertTrue(first["documents_required"])
        issue = {"request_id": "i", "quote_id": quote_id, **PAID}
        self.refuses("KYC_FAILED", "quote_id", "issue_policy", **issue)
        later = NOW + timedelta(minutes=10)
        second = self.answer("confirm_quote_and_kyc", later, **call)
        self.assertEqual((second["kyc_status"], second["kyc_id"]), ("verified_dl", first["kyc_id"]))
        self.assertEqual(second["documents_required"], [])
        self.assertTrue(self.answer("issue_policy", later, **issue)["policy_id"])

    def test_a_failed_check_is_refused_and_ends_a_pending_one(self) -> None:
        quote_id = self.quote()
        self.answer("confirm_quote_and_kyc", request_id="k1", quote_id=quote_id)
        failed = {"quote_id": quote_id, "kyc_document": "pan", "kyc_document_last4": "0000"}
        self.refuses(
            "KYC_FAILED", "kyc_document_last4", "confirm_quote_and_kyc", request_id="k2", **failed
        )
        later = NOW + timedelta(hours=1)
        self.refuses(
            "KYC_FAILED",
            "quote_id",
            "issue_policy",
            later,
            request_id="i",
            quote_id=quote_id,
            **PAID,
        )
        # The key is free again, for the right document.
        self.answer("confirm_quote_and_kyc", later, request_id="k2", quote_id=quote_id, **VERIFIED)
        self.assertTrue(
            self.answer("issue_policy", later, request_id="i", quote_id=quote_id, **PAID)
        )

    def test_nothing_is_issued_unpaid(self) -> None:
        quote_id = self.quote()
        self.answer("confirm_quote_and_kyc", request_id="k", quote_id=quote_id, **VERIFIED)
        for payment in ({}, {"payment_reference": "pay_declined"}):
            call = {"request_id": "i", "quote_id": quote_id, **payment}
            self.refuses("PAYMENT_FAILED", "payment_reference", "issue_policy", **call)

    def test_nothing_is_issued_before_an_inspection_is_booked(self) -> None:
        quote_id = self.quote(USED)
        self.answer("confirm_quote_and_kyc", request_id="k", quote_id=quote_id, **VERIFIED)
        issue = {"request_id": "i", "quote_id": quote_id, **PAID}
        self.refuses("INSPECTION_REQUIRED", "quote_id", "issue_policy", **issue)
        self.answer("schedule_inspection", quote_id=quote_id)
        self.assertTrue(self.answer("issue_policy", **issue))

    def test_an_inspection_says_where_and_is_booked_once(self) -> None:
        visit = {"quote_id": self.quote(USED), "mode": "surveyor_home_visit"}
        self.refuses("INVALID_REQUEST", "address", "schedule_inspection", **visit)
        booked = self.answer("schedule_inspection", **visit, address="7 Example Lane")
        expected = {"mode": "surveyor_home_visit", "address": "7 Example Lane", "garage_name": None}
        self.assertEqual(booked["location"], expected)
        self.assertEqual(booked["scheduled_at"], "2026-11-24T10:00:00+05:30")
        self.assertEqual(booked["expected_completion_at"], "2026-11-24T14:00:00+05:30")
        again = {**visit, "mode": "self_video"}
        self.assertEqual(self.answer("schedule_inspection", **again), booked)
        garage = {
            "quote_id": self.quote({**USED, "request_id": "req_2"}),
            "mode": "in_person_garage",
        }
        self.assertTrue(self.answer("schedule_inspection", **garage)["location"]["garage_name"])
        self.refuses("INVALID_REQUEST", "quote_id", "schedule_inspection", quote_id=self.quote())

    def test_a_policy_is_what_was_quoted(self) -> None:
        quote = self.search(NEW_CAR)[0]
        policy = self.issued(NEW_CAR)
        self.assertEqual(policy["insurer_id"], quote["insurer"]["insurer_id"])
        self.assertEqual(policy["total_paid_inr"], quote["premium_breakdown"]["total_payable_inr"])
        self.assertEqual(policy["policy_type"], "long_term_tp_bundle")
        self.assertEqual(policy["policy_end_date"], "2027-11-23")
        self.assertEqual(policy["long_term_tp_end_date"], "2029-11-23")
        self.assertEqual(
            (policy["freelook_period_days"], policy["freelook_ends_at"]), (15, "2026-12-09")
        )
        self.assertTrue(policy["emergency_assistance_phone"])

    def test_without_assistance_there_is_no_number_for_it(self) -> None:
        policy = self.issued({"buyer_preferences.addons_required": []})
        self.assertIsNone(policy["emergency_assistance_phone"])
        self.assertIsNone(policy["long_term_tp_end_date"])

    def test_a_policy_is_issued_once(self) -> None:
        quote_id = self.quote()
        policy = self.issued()
        call = {"quote_id": quote_id, **PAID}
        self.assertEqual(self.answer("issue_policy", request_id="i", **call), policy)
        self.refuses(
            "INVALID_REQUEST",
            "request_id",
            "issue_policy",
            request_id="i",
            quote_id=quote_id,
            payment_reference="pay_2",
        )
        self.refuses("INVALID_REQUEST", "quote_id", "issue_policy", request_id="i2", **call)

    def test_a_quote_runs_out(self) -> None:
        quote_id = self.quote(NEW_CAR)
        # Cover would have begun.
        late = datetime.fromisoformat("2026-11-24T00:00:00+05:30")
        call = {"request_id": "k", "quote_id": quote_id, **VERIFIED}
        self.refuses("INVALID_REQUEST", "quote_id", "confirm_quote_and_kyc", late, **call)
        locked = self.answer("confirm_quote_and_kyc", **call)
        self.assertEqual(locked["expires_at"], late.isoformat())
        issue = {"request_id": "i", "quote_id": quote_id, **PAID}
        self.refuses("INVALID_REQUEST", "quote_id", "issue_policy", late, **issue)
        self.refuses(
            "INVALID_REQUEST", "quote_id", "confirm_quote_and_kyc", request_id="x", quote_id="none"
        )

    def test_a_policy_is_given_back_within_its_window(self) -> None:
        policy = self.issued(NEW_CAR)
        last = datetime.fromisoformat("2026-12-09T23:59:00+05:30")
        answer = self.answer("cancel_or_freelook", last, policy_id=policy["policy_id"])
        days = (date(2029, 11, 23) - date(2026, 11, 24)).days + 1
        self.assertEqual(
            answer["refund_amount_inr"], policy["total_paid_inr"] * (days - 16) // days
        )
        self.assertTrue(answer["is_freelook_cancellation"])
        again = self.answer(
            "cancel_or_freelook", last + timedelta(days=9), policy_id=policy["policy_id"]
        )
        self.assertEqual(again, answer)

    def test_before_cover_begins_all_is_paid_back(self) -> None:
        policy = self.issued()
        answer = self.answer("cancel_or_freelook", policy_id=policy["policy_id"])
        self.assertEqual(answer["refund_amount_inr"], policy["total_paid_inr"])

    def test_after_the_window_nothing_is_given_back(self) -> None:
        policy = self.issued(NEW_CAR)
        over = datetime.fromisoformat("2026-12-10T00:00:00+05:30")
        call = {"policy_id": policy["policy_id"], "freelook_ends_at": "2026-12-31"}
        self.refuses("FREELOOK_WINDOW_EXPIRED", "policy_id", "cancel_or_freelook", over, **call)

    def test_a_locked_quote_is_dropped_before_it_is_issued(self) -> None:
        quote_id = self.quote()
        kyc = self.answer("confirm_quote_and_kyc", request_id="k", quote_id=quote_id, **VERIFIED)
        answer = self.answer("cancel_or_freelook", policy_id=kyc["kyc_id"])
        self.assertEqual((answer["policy_id"], answer["refund_amount_inr"]), (kyc["kyc_id"], 0))
        self.assertFalse(answer["is_freelook_cancellation"])
        by_quote = self.answer("cancel_or_freelook", policy_id=quote_id)
        self.assertEqual(by_quote, {**answer, "policy_id": quote_id})
        self.assertEqual(self.answer("cancel_or_freelook", quote_id=quote_id), by_quote)
        self.refuses("INVALID_REQUEST", "policy_id", "cancel_or_freelook", request_id="c")
        self.refuses(
            "INVALID_REQUEST", "quote_id", "issue_policy", request_id="i", quote_id=quote_id, **PAID
        )
        self.refuses("INVALID_REQUEST", "policy_id", "cancel_or_freelook", policy_id="none")

    def test_a_fault_of_the_program_shows_no_detail(self) -> None:
        self.desk.catalogue.rules.clear()
        params = types.CallToolRequestParams(name="search_motor_quotes", arguments=request())
        with self.assertLogs("partner"), self.assertRaises(Refusal) as caught:
            answer_call(self.desk, params)
        self.assertEqual(caught.exception.code, "INTERNAL_ERROR")
        self.assertNotIn("hours", caught.exception.message)


class ReportTest(BrokerTest):
    def setUp(self) -> None:
        super().setUp()
        self.quoted = self.search(NEW_CAR)[0]
        quote_id = self.quoted["quote_id"]
        self.answer("confirm_quote_and_kyc", request_id="k", quote_id=quote_id, **VERIFIED)
        self.policy = self.answer("issue_policy", request_id="i", quote_id=quote_id, **PAID)

    def test_the_amount_is_the_commission_and_the_premium_is_passed_through(self) -> None:
        self.quoted["premium_breakdown"].update(
            own_damage_premium_inr=8201,
            third_party_premium_inr=3417,
            long_term_tp_premium_inr=7224,
            addons_premium_inr=2400,
            ncb_discount_inr=1640,
            other_discount_inr=500,
        )
        report = completion_report(
            self.catalogue, self.quoted, self.policy, "req_1", NOW.astimezone(timezone.utc)
        )
        self.assertEqual(
            report,
            {
                "intent": "finance.buy_motor_insurance",
                "external_id": self.policy["policy_id"],
                "request_id": "req_1",
                # 15 % of 8461 and 2.5 % of 10641, half a paisa rounded up.
                "amount_inr": 1535.18,
                "gst_inr": 276.33,
                "tips_inr": 0,
                "pass_through_inr": self.policy["total_paid_inr"],
                "closed_at": "2026-11-23T11:00:00+05:30",
                "status": "completed",
                "insurer_id": "example-banyan",
                "product_uin": "EXAMPLE-UIN-BANYAN",
                "policy_type": "long_term_tp_bundle",
                "long_term_tp_years": 3,
                "addons_count": 2,
            },
        )

    def test_a_policy_of_another_quote_is_not_reported(self) -> None:
        other = self.search(NEW_CAR)[1]
        with self.assertRaises(ReportError):
            completion_report(self.catalogue, other, self.policy, "req_1", NOW)
        with self.assertRaises(ReportError):
            completion_report(
                self.catalogue, self.quoted, self.policy, "req_1", NOW.replace(tzinfo=None)
            )


class SessionTest(unittest.TestCase):
    def start(self, *options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "server.py", "--port", "0", *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.stop, process)
        assert process.stdout is not None
        line = process.stdout.readline()
        self.assertRegex(line, r"^listening on http://127\.0\.0\.1:\d+/mcp$")
        self.url = line.split()[-1]
        return process

    def stop(self, process: subprocess.Popen[str]) -> int:
        assert process.stdout is not None
        process.stdout.close()
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=15)

    async def call(self, client: mcp.Client, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        self.assertFalse(result.is_error, result.content)
        payload: dict[str, Any] = json.loads(result.content[0].text)
        return payload

    async def buy(self) -> None:
        """From the tools to a policy that is given back."""
        async with mcp.Client(self.url) as client:
            tools = (await client.list_tools()).tools
            roles = {tool.name: tool.meta["platform"]["tool_role"] for tool in tools}
            self.assertEqual(
                roles,
                {
                    "search_motor_quotes": "search",
                    "confirm_quote_and_kyc": "create",
                    "issue_policy": "create",
                    "schedule_inspection": "create",
                    "cancel_or_freelook": "cancel",
                },
            )
            for tool in tools:
                platform = tool.meta["platform"]
                self.assertEqual(platform["intent"], "finance.buy_motor_insurance")
                self.assertEqual(platform["domain"], "finance")
                self.assertEqual(platform["completion_callback"], "https://platform.example/done")
                self.assertLessEqual(len(tool.description), 140)
            found = await self.call(client, "search_motor_quotes", **request(USED))
            quote_id = found["quotes"][0]["quote_id"]
            keys = {"request_id": "r", "quote_id": quote_id}
            kyc = await self.call(client, "confirm_quote_and_kyc", **keys, **VERIFIED)
            self.assertEqual(kyc["kyc_status"], "verified_pan")
            inspection = await self.call(client, "schedule_inspection", quote_id=quote_id)
            self.assertEqual(inspection["quote_id"], quote_id)
            declined = await client.call_tool(
                "issue_policy", {**keys, "payment_reference": "pay_declined"}
            )
            self.assertTrue(declined.is_error)
            self.assertEqual(declined.structured_content["platform_error_code"], "PAYMENT_FAILED")
            policy = await self.call(client, "issue_policy", **keys, **PAID)
            self.assertEqual(await self.call(client, "issue_policy", **keys, **PAID), policy)
            policy_id = policy["policy_id"]
            back = await self.call(client, "cancel_or_freelook", policy_id=policy_id)
            self.assertEqual(back["refund_amount_inr"], policy["total_paid_inr"])

    def test_all_five_tools_by_the_sdks_client(self) -> None:
        callback = ("--completion-callback", "https://platform.example/done")
        for options in ((), ("--json",), ("--sessions",)):
            with self.subTest(options):
                process = self.start(*callback, *options)
                asyncio.run(self.buy())
                self.assertEqual(self.stop(process), 0)

    def post(self, method: str, params: dict[str, Any], **headers: str) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        posted = urllib.request.Request(
            self.url,
            data=json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                **headers,
            },
        )
        with urllib.request.urlopen(posted, timeout=15) as response:
            return json.loads(response.read())

    def test_with_a_token_only_the_probe_is_open(self) -> None:
        self.start("--json", "--token", "s3cret")
        self.assertEqual(len(self.post("tools/list", {})["result"]["tools"]), 5)
        call = {"name": "search_motor_quotes", "arguments": request()}
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.post("tools/call", call, Authorization="Bearer wrong")
        self.assertEqual(caught.exception.code, 401)
        caught.exception.close()
        signed_in = self.post("tools/call", call, Authorization="Bearer s3cret")
        self.assertNotIn("isError", {key for key, value in signed_in["result"].items() if value})


class ReportCommandTest(BrokerTest):
    def test_the_command_prints_the_body(self) -> None:
        quote = self.search()[0]
        keys = {"request_id": "r", "quote_id": quote["quote_id"]}
        self.answer("confirm_quote_and_kyc", **keys, **VERIFIED)
        policy = self.answer("issue_policy", **keys, **PAID)
        with tempfile.TemporaryDirectory() as folder:
            files = {"--quote": quote, "--policy": policy}
            options = []
            for option, content in files.items():
                path = Path(folder) / f"{option}.json"
                path.write_text(json.dumps(content), "utf-8")
                options += [option, str(path)]
            command = [sys.executable, "report.py", *options, "--request-id", "r"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            self.assertEqual(json.loads(done.stdout)["external_id"], policy["policy_id"])
            other = [*command, "--closed-at", "2026-11-23T11:00:00"]
            refused = subprocess.run(other, cwd=ROOT, capture_output=True, text=True, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("offset", refused.stderr)


if __name__ == "__main__":
    unittest.main()
