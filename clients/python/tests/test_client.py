"""The client against a gateway with a garage behind it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import unittest
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import httpx

from intent_gateway_client import (
    Code,
    Gateway,
    GatewayError,
    NotAnswered,
    Patience,
    Refused,
    aio,
    client_credentials,
    models,
    sign_report,
)
from tests.world import BOOKING, GARAGE, INTENT, ROOT, SEARCH, SIGNING_KEY, Proxy, World, booking_of

world: World


def setUpModule() -> None:
    global world
    world = World()
    unittest.addModuleCleanup(world.stop)
    shipped = world.ship_contract()
    assert shipped.get("live"), shipped


def best_option(gateway: Gateway) -> models.SearchOption:
    return gateway.orchestrator.search(INTENT, SEARCH, user="u")["options"][0]


def book(gateway: Gateway) -> models.ToolAnswer:
    return gateway.orchestrator.call_once(INTENT, BOOKING, booking_of(best_option(gateway)), user="u")


def order_of(answer: models.ToolAnswer) -> str:
    assert answer["order"]
    return answer["order"]["id"]


class Orchestrators(unittest.TestCase):
    def test_an_utterance_is_classified_and_a_search_gives_typed_options(self) -> None:
        gateway = world.as_orchestrator("asks")
        found = gateway.orchestrator.classify({"utterance": "my car's AC blows warm air"})
        self.assertEqual((found["decision"], found["intent"]), ("intent", INTENT))
        answer = gateway.orchestrator.search(INTENT, SEARCH, user="u")
        option = answer["options"][0]
        self.assertEqual((option["partner"], option["bookable"]), (GARAGE, True))
        self.assertGreater(option["axes"]["safety"], 0)
        self.assertEqual(answer["partners"][0]["status"], "answered")

    def test_a_search_shows_what_it_has_and_ends(self) -> None:
        names = []
        for event in world.as_orchestrator("watches").orchestrator.stream_search(INTENT, SEARCH, user="u"):
            names.append(event["event"])
            if event["event"] == "snapshot":
                self.assertTrue(event["data"]["complete"] and event["data"]["options"])
            elif event["event"] == "end":
                self.assertEqual(event["data"]["reason"], "complete")
        self.assertEqual(names, ["snapshot", "end"])

    def test_a_tool_books_and_its_order_is_read_back(self) -> None:
        gateway = world.as_orchestrator("books")
        booked = book(gateway)
        read = gateway.orchestrator.show_order(order_of(booked), user="u")
        self.assertEqual(read["state"], "booked")
        self.assertIn(booked["payload"]["booking_id"], read["identifiers"])
        with self.assertRaises(Refused) as caught:
            gateway.orchestrator.show_order(order_of(booked), user="somebody-else")
        self.assertIs(caught.exception.code, Code.NOT_FOUND)

    def test_a_call_whose_answer_is_lost_is_sent_again_and_books_once(self) -> None:
        gateway = world.as_orchestrator("loses")
        lost = 0

        def lose(response: httpx.Response) -> None:
            nonlocal lost
            if "/tools/" in response.request.url.path and lost == 0:
                response.read()
                lost += 1
                raise httpx.ReadError("the answer is lost")

        gateway.orchestrator.transport.client.event_hooks = {"response": [lose]}
        booked = book(gateway)
        orders = gateway.orchestrator.list_orders(user="u")["orders"]
        self.assertEqual((lost, [one["id"] for one in orders]), (1, [order_of(booked)]))
        # Nobody knows what a call without a key has done, so it is not sent again.
        lost = 0
        with self.assertRaises(NotAnswered):
            gateway.orchestrator.call_tool(INTENT, BOOKING, booking_of(best_option(gateway)), user="u")

    def test_an_unknown_intent_is_refused_by_its_code(self) -> None:
        with self.assertRaises(Refused) as caught:
            world.as_orchestrator("errs").orchestrator.search("auto.fly", {}, user="u")
        error = caught.exception
        self.assertIsInstance(error, GatewayError)
        self.assertIs(error.code, Code.INVALID_INTENT)
        self.assertEqual(error.status, 404)
        self.assertRegex(error.request_id, "^[0-9a-f-]{36}$")

    def test_a_request_that_is_not_valid_is_refused_with_every_violation(self) -> None:
        request = {**SEARCH, "ac_issue": {**SEARCH["ac_issue"], "category": "melting"}}
        request["vehicle"] = {**SEARCH["vehicle"], "type": "boat"}
        with self.assertRaises(Refused) as caught:
            world.as_orchestrator("errs").orchestrator.search(INTENT, request)
        self.assertEqual((caught.exception.code, caught.exception.status), (Code.INVALID_REQUEST, 400))
        found = sorted((one["pointer"], one["code"]) for one in caught.exception.violations)
        self.assertEqual(found, [("/ac_issue/category", "NOT_IN_VOCABULARY"), ("/vehicle/type", "NOT_IN_VOCABULARY")])

    def test_a_list_of_several_pages_is_one_list(self) -> None:
        gateway = world.as_orchestrator("lists")
        booked = [order_of(book(gateway)) for _ in range(3)]
        asked: list[httpx.Request] = []
        gateway.orchestrator.transport.client.event_hooks = {"request": [asked.append]}
        listed = [one["id"] for one in gateway.orchestrator.iterate_orders(user="u", limit=1, intent=INTENT)]
        self.assertEqual(listed, booked[::-1])
        self.assertGreaterEqual(len(asked), 3, "each page was asked for")

    def test_what_there_is_too_much_of_is_asked_for_again_when_the_gateway_says(self) -> None:
        holder = world.as_orchestrator("holds")
        book(holder)
        held = holder.orchestrator.stream_order_events()
        self.assertEqual(next(held)["event"], "order")
        waits: list[tuple[Any, ...]] = []

        def let_go(error: GatewayError, wait: float) -> None:
            assert isinstance(error, Refused)
            waits.append((error.code, error.retry_after, wait))
            held.close()

        gateway = world.as_orchestrator("waits", patience=Patience(on_retry=let_go))
        events = [event["event"] for event in gateway.orchestrator.stream_search(INTENT, SEARCH)]
        self.assertEqual(events[-1], "end")
        self.assertEqual(waits[0], (Code.OVERLOADED, 1, 1.0))
        # Whoever is not patient gets the refusal.
        again = holder.orchestrator.stream_order_events()
        next(again)
        hurried = world.as_orchestrator("hurries", patience=Patience(retries=0))
        with self.assertRaises(Refused) as caught:
            next(hurried.orchestrator.stream_search(INTENT, SEARCH))
        self.assertIs(caught.exception.code, Code.OVERLOADED)
        again.close()

    def test_a_stream_that_is_cut_goes_on_behind_its_last_event(self) -> None:
        proxy = Proxy(world.url)
        self.addCleanup(proxy.close)
        direct = world.as_orchestrator("follows")
        first = order_of(book(direct))
        cuts: list[GatewayError] = []
        patience = Patience(on_retry=lambda error, _: cuts.append(error))
        events = world.as_orchestrator("follows", url=proxy.url, patience=patience).orchestrator.stream_order_events()
        self.addCleanup(events.close)

        def following(stream: Iterator[models.OrderEvent]) -> tuple[str, str]:
            event = next(stream)
            assert event["event"] == "order"
            return event["data"]["order"], event["id"]

        self.assertEqual(following(events)[0], first)
        proxy.cut()
        second = order_of(book(direct))
        order, last = following(events)
        self.assertEqual(order, second)
        self.assertIsInstance(cuts[0], NotAnswered)
        # Another process goes on where this one was.
        events.close()
        third = order_of(book(direct))
        later = direct.orchestrator.stream_order_events(last_event_id=last)
        self.addCleanup(later.close)
        self.assertEqual(following(later)[0], third)

    def test_a_stream_that_the_gateway_ends_for_a_while_goes_on(self) -> None:
        seen: list[str | None] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(request.headers.get("last-event-id"))
            number = len(seen)
            reason = '{"reason":"shutdown","resume":true}' if number == 1 else '{"reason":"failed","resume":false}'
            order = f'id: {number}\nevent: order\ndata: {{"order":\ndata: "ord_{number}"}}\n\n'
            return httpx.Response(200, text=f"retry: 1\n{order}event: end\ndata: {reason}\n\n")

        gateway = world.connect()
        gateway.close()
        gateway.orchestrator.transport.client = httpx.Client(base_url=world.url, transport=httpx.MockTransport(answer))
        told = []
        for event in gateway.orchestrator.stream_order_events():
            told.append(event["data"]["order"] if event["event"] == "order" else event["data"]["reason"])
        self.assertEqual((told, seen), (["ord_1", "ord_2", "failed"], [None, "1"]))

    def test_the_asynchronous_client_does_the_same(self) -> None:
        async def run() -> tuple[str, list[str]]:
            async with aio.Gateway(world.url, token=world.token("orchestrator", "async")) as gateway:
                options = []
                async for event in gateway.orchestrator.stream_search(INTENT, SEARCH, user="u"):
                    if event["event"] == "snapshot":
                        options = event["data"]["options"]
                booked = await gateway.orchestrator.call_once(INTENT, BOOKING, booking_of(options[0]), user="u")
                listed = [one["id"] async for one in gateway.orchestrator.iterate_orders(user="u")]
                return order_of(booked), listed

        order, listed = asyncio.run(run())
        self.assertEqual(listed, [order])


class Partners(unittest.TestCase):
    def test_a_report_that_is_signed_is_booked_once_and_one_that_is_signed_badly_is_refused(self) -> None:
        gateway = world.as_orchestrator("reported")
        option = best_option(gateway)
        booked = gateway.orchestrator.call_once(INTENT, BOOKING, booking_of(option), user="u")
        report = {
            "intent": INTENT,
            "external_id": booked["payload"]["booking_id"],
            "request_id": booked["request_id"],
            "status": "completed",
            "amount_inr": option["option"]["estimated_price"]["labour_inr"],
            "gst_inr": 0,
            "tips_inr": 0,
            "pass_through_inr": 0,
            "closed_at": datetime.now(timezone.utc).isoformat(),
            "service_scope_performed": option["option"]["service_scope"]["code"],
            "warranty_card_issued": True,
        }
        partner = world.connect().partner
        with self.assertRaises(Refused) as caught:
            partner.report(GARAGE, "whsec_of_somebody_else", report)
        self.assertIs(caught.exception.code, Code.SIGNATURE_INVALID)
        first = partner.report(GARAGE, SIGNING_KEY, report)
        self.assertEqual(partner.report(GARAGE, SIGNING_KEY, report)["receipt_id"], first["receipt_id"])
        entries = [entry["external_id"] for entry in world.platform.iterate_ledger_entries(limit=1)]
        self.assertEqual(entries, [report["external_id"]])
        with self.assertRaises(Refused) as caught:
            partner.report(GARAGE, SIGNING_KEY, {**report, "amount_inr": 1})
        self.assertIs(caught.exception.code, Code.IDEMPOTENCY_CONFLICT)

    def test_signatures_are_those_of_the_vectors(self) -> None:
        key = "whsec_3f9a5c1e8b7d2046a1c3e5f7092b4d6f8193a5b7c9dbedf00112233445566778"
        body = '{"external_id":"POL/2026/000042","notes":"नमस्ते ₹ 1,500"}'.encode()
        signature = "sha256=118746c0ca421fc8f6b1932996c35ff43cdacf46ffcd315b62fc49efa266ef61"
        self.assertEqual(sign_report(key, body, 1779264000123)["x-platform-signature"], signature)

    def test_a_business_signs_up_and_hands_in_what_is_reviewed(self) -> None:
        unknown = world.connect()
        unknown.partner.sign_up({"email": "asha@coolcar.example", "business_name": "CoolCar"})
        code = world.mailed_code()
        entered = unknown.partner.verify_code({"email": "asha@coolcar.example", "code": code})
        account = entered["account_id"]
        issued = world.connect(token=entered["token"]).partner.issue_credentials(account)
        assert issued["client_id"] and issued["client_secret"]
        token = client_credentials(unknown, issued["client_id"], issued["client_secret"])
        partner = world.connect(token=token).partner
        listing = {
            "intent": INTENT,
            "domain": "auto",
            "intent_version": "v1.0.0",
            "description": "Car AC diagnosis and repair.",
            "pricing": {"min": 500, "max": 15000, "currency": "INR"},
            "service_area": ["Bengaluru"],
        }
        manifest = {"businessName": "CoolCar", "intents": [listing], "submitForReview": True}
        partner.submit_manifest(account, manifest)
        wrong = {**manifest, "intents": [{**listing, "pricing": {"min": 50000, "max": 15000, "currency": "INR"}}]}
        with self.assertRaises(Refused) as caught:
            partner.submit_manifest(account, wrong)
        self.assertEqual(caught.exception.violations[0]["code"], "MIN_ABOVE_MAX")
        self.assertIn("CONNECTION", [step["code"] for step in partner.show_account(account)["next"]])
        self.assertEqual(partner.list_own_orders(account)["orders"], [])
        self.assertEqual([one["account_id"] for one in world.platform.iterate_reviews(status="open")], [account])


class Examples(unittest.TestCase):
    def test_the_example_runs(self) -> None:
        example = ROOT / "examples/clients/book.py"
        variables = {
            "INTENT_GATEWAY_URL": world.url,
            "INTENT_GATEWAY_TOKEN": world.token("orchestrator", "example"),
            "PYTHONPATH": str(ROOT / "clients/python/src"),
        }
        command = [sys.executable, str(example), "my car's AC blows warm air"]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        self.assertRegex(done.stdout, r"(?s)^auto\.book_ac_service\n.*best: Torque & Tonic.*\nord_\S+ is booked\n$", done.stderr)


if __name__ == "__main__":
    unittest.main()
