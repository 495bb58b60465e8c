"""The business against the shared vectors, the desk's rules, and one session over real HTTP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import mcp_types as types

from partner.catalogue import CATALOGUES, Catalogue
from partner.desk import Desk
from partner.endpoint import answer_call
from partner.quote import merge_patch, quotes
from partner.refusal import Refusal

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = CATALOGUES / "contract"
SAMPLE = json.loads((CONTRACT / "search-request.json").read_text("utf-8"))
NOW = datetime.fromisoformat("2026-11-30T06:00:00+00:00")
TOPUP = "green-lane.g02.20261201T0900.y"
COMPRESSOR = "green-lane.g06.20261201T0900.y"


def row(payload: dict[str, Any]) -> list[Any]:
    """What a vector states of one slot."""
    return [
        payload["slot_id"],
        payload["provider"]["distance_from_user_km"],
        payload["service_scope"]["refrigerant_type"],
        payload["estimated_price"]["total_estimate_inr"],
    ]


def booking(request_id: str, slot_id: str, **more: Any) -> dict[str, Any]:
    """Valid arguments of a create call."""
    return {
        "request_id": request_id,
        "slot_id": slot_id,
        "vehicle": {"type": "car"},
        "ac_issue": {"category": "not_cooling"},
        "contact_phone": "+919812345678",
        **more,
    }


class QuoteTest(unittest.TestCase):
    def testanswer_calls_match_the_vectors_that_all_example_partners_share(self) -> None:
        for vector in json.loads((CONTRACT / "vectors.json").read_text("utf-8")):
            with self.subTest(vector["name"]):
                catalogue = Catalogue.load(vector["catalogue"])
                request = merge_patch(SAMPLE, vector["merge"])
                now = datetime.fromisoformat(vector["now"])
                try:
                    found = quotes(catalogue, request, now, lambda _key, _stock: True)
                    answer: dict[str, Any] = {"slots": [row(quote.payload) for quote in found]}
                except Refusal as refused:
                    answer = {"refusal": refused.code}
                self.assertEqual(answer, vector["expect"])


class DeskTest(unittest.TestCase):
    def setUp(self) -> None:
        self.desk = Desk(Catalogue.load("neighbourhood"))
        self.search()

    def search(self, **merge: Any) -> list[str]:
        request = merge_patch(SAMPLE, merge)
        answer = self.desk.answer("search_ac_service_slots", request, NOW)
        return [slot["slot_id"] for slot in answer["slots"]]

    def create(self, arguments: dict[str, Any], now: datetime = NOW) -> dict[str, Any]:
        return self.desk.answer("create_ac_service_booking", arguments, now)

    def cancel(self, booking_id: str, now: datetime = NOW) -> dict[str, Any]:
        arguments = {"request_id": "c1", "booking_id": booking_id, "reason_code": "changed_plans"}
        return self.desk.answer("cancel_ac_service_booking", arguments, now)

    def refuses(self, code: str, call: Any, *arguments: Any) -> Refusal:
        with self.assertRaises(Refusal) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_the_same_key_and_body_get_the_same_booking(self) -> None:
        first = self.create(booking("r1", TOPUP))
        self.assertEqual(self.create(booking("r1", TOPUP)), first)
        self.assertEqual(len(first), 11)
        self.refuses("IDEMPOTENCY_VIOLATION", self.create, booking("r1", COMPRESSOR))

    def test_a_sold_slot_disappears_and_comes_back_when_cancelled(self) -> None:
        booked = self.create(booking("r1", COMPRESSOR))
        self.assertNotIn(COMPRESSOR, self.search())
        self.refuses("SLOT_GONE", self.create, booking("r2", COMPRESSOR))
        self.assertEqual(self.cancel(booked["booking_id"])["cancellation_fee_inr"], 0)
        self.assertIn(COMPRESSOR, self.search())

    def test_a_slot_never_quoted_or_expired_is_gone(self) -> None:
        self.refuses("SLOT_GONE", self.create, booking("r1", "green-lane.g02.20261202T0900.y"))
        late = NOW + timedelta(minutes=20)
        self.refuses("SLOT_GONE", self.create, booking("r1", TOPUP), late)

    def test_nobody_mends_a_compressor_on_the_doorstep(self) -> None:
        address = {"doorstep_address": "12 Some Street"}
        for slot, code in (
            (COMPRESSOR, "COMPRESSOR_WORK_REQUIRES_WORKSHOP"),
            (TOPUP, "DOORSTEP_UNAVAILABLE_AT_LOCATION"),
        ):
            self.refuses(code, self.create, booking("r1", slot, **address))

    def test_a_late_cancellation_costs_a_tenth_once(self) -> None:
        booked = self.create(booking("r1", TOPUP))
        late = datetime.fromisoformat("2026-12-01T01:30:01+00:00")
        result = self.cancel(booked["booking_id"], late)
        self.assertEqual(result["cancellation_fee_inr"], (booked["total_estimate_inr"] + 5) // 10)
        later = late + timedelta(minutes=10)
        self.assertEqual(self.cancel(booked["booking_id"], later), result)

    def test_bad_arguments_are_named(self) -> None:
        for merge, field in (
            ({"ac_issue": {"category": None}}, "ac_issue.category"),
            ({"ac_issue": {"user_description": "x" * 501}}, "ac_issue.user_description"),
            ({"vehicle": {"type": "two_wheeler"}}, "vehicle.type"),
            (
                {"service_preferences": {"preferred_window": {"end": "2026-12-01T08:00:00+05:30"}}},
                "service_preferences.preferred_window",
            ),
        ):
            with self.subTest(field), self.assertRaises(Refusal) as caught:
                self.search(**merge)
            self.assertEqual(caught.exception.code, "INVALID_REQUEST")
            self.assertEqual(caught.exception.field, field)


class FaultTest(unittest.TestCase):
    def test_a_fault_of_the_program_shows_no_detail(self) -> None:
        class BrokenDesk(Desk):
            def answer(self, *_: Any) -> dict[str, Any]:
                raise KeyError("secret detail")

        desk = BrokenDesk(Catalogue.load("neighbourhood"))
        params = types.CallToolRequestParams(name="search_ac_service_slots", arguments={})
        with self.assertLogs("partner"), self.assertRaises(Refusal) as caught:
            answer_call(desk, params)
        self.assertEqual(caught.exception.code, "INTERNAL_ERROR")
        self.assertNotIn("secret", caught.exception.message)


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

    def post(self, method: str, params: dict[str, Any], **headers: str) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        request = urllib.request.Request(
            self.url,
            data=json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                **headers,
            },
        )
        with urllib.request.urlopen(request, timeout=15) as response:
            text = response.read().decode()
            if response.headers["Content-Type"].startswith("text/event-stream"):
                text = next(l[6:] for l in text.splitlines() if l.startswith("data: {"))
            return json.loads(text)

    def test_a_session_from_probe_to_slots(self) -> None:
        for options in ((), ("--json-response",)):
            with self.subTest(options):
                self.start(*options)
                client = {"name": "test", "version": "1"}
                hello = self.post(
                    "initialize",
                    {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client},
                )
                self.assertEqual(hello["result"]["serverInfo"]["name"], "Green Lane Garages")
                self.assertTrue(hello["result"]["capabilities"]["tools"]["listChanged"])
                tools = self.post("tools/list", {})["result"]["tools"]
                roles = [tool["_meta"]["platform"]["tool_role"] for tool in tools]
                self.assertEqual(roles, ["search", "create", "cancel"])
                call = {"name": "search_ac_service_slots", "arguments": SAMPLE}
                result = self.post("tools/call", call)["result"]
                self.assertTrue(json.loads(result["content"][0]["text"])["slots"])
                call["arguments"] = {}
                result = self.post("tools/call", call)["result"]
                self.assertTrue(result["isError"])
                self.assertEqual(
                    result["structuredContent"]["platform_error_code"], "INVALID_REQUEST"
                )

    def test_with_a_token_only_the_probe_is_open(self) -> None:
        process = self.start("--token", "s3cret")
        self.assertTrue(self.post("tools/list", {})["result"]["tools"])
        call = {"name": "search_ac_service_slots", "arguments": SAMPLE}
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.post("tools/call", call, **headers)
            self.assertEqual(caught.exception.code, 401)
            error = json.load(caught.exception)["error"]
            self.assertEqual(error["data"]["platform_error_code"], "INVALID_AUTH")
            caught.exception.close()
        signed_in = self.post("tools/call", call, Authorization="Bearer s3cret")
        self.assertIn("content", signed_in["result"])
        self.assertEqual(self.stop(process), 0)


if __name__ == "__main__":
    unittest.main()
