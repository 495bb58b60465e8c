"""The API's own promises, over real HTTP: its shapes, its error codes, its sign-in, its document.

That the mapping in manifest.yaml makes the platform's payloads of them is tested where the platform is.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "t0ken"
SEARCH = {
    "controls": "AUTOMATIC",
    "symptom": "NOT_COOLING",
    "home_visit": "true",
    "year": "2021",
    "latitude": "12.9716",
    "longitude": "77.5946",
    "starts_after": "2026-12-01T09:00:00+05:30",
    "ends_before": "2026-12-01T18:00:00+05:30",
}
BOOKING = {
    "phone": "+919812345678",
    "car": {"make": "Hyundai"},
    "complaint": {"category": "not_cooling"},
}


class ApiTest(unittest.TestCase):
    """One server for all tests."""

    @classmethod
    def setUpClass(cls) -> None:
        command = [sys.executable, "server.py", "--port", "0", "--token", TOKEN]
        cls.server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert cls.server.stdout is not None
        cls.url = cls.server.stdout.readline().removeprefix("listening on ").strip()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.terminate()
        assert cls.server.wait(10) == 0
        assert cls.server.stdout is not None
        cls.server.stdout.close()

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """One request; the status and the JSON that came."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.url + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def book(self, key: str, body: dict[str, Any], token: str | None = TOKEN) -> tuple[int, Any]:
        """Books, with the token where there is one."""
        headers = {"Idempotency-Key": key}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.ask("POST", "/v1/bookings", body, headers)

    def test_an_offer_can_be_found_booked_once_and_cancelled(self) -> None:
        status, found = self.ask("GET", f"/v1/offers?{urllib.parse.urlencode(SEARCH)}")
        self.assertEqual(status, 200)
        self.assertEqual(found["count"], len(found["items"]))
        offer = found["items"][0]
        self.assertEqual(offer["work"]["gas"], "R1234YF")

        wanted = {**BOOKING, "offer_id": offer["id"]}
        status, first = self.book("k-1", wanted)
        self.assertEqual((status, first["total"]), (201, offer["price"]["total"]))
        self.assertEqual(self.book("k-1", wanted), (201, first))
        status, reused = self.book("k-1", {**wanted, "phone": "+919800000000"})
        self.assertEqual((status, reused["error"]["code"]), (409, "KEY_REUSED"))

        path = f"/v1/bookings/{first['id']}/cancellation"
        signed_in = {"Authorization": f"Bearer {TOKEN}"}
        status, off = self.ask("POST", path, {"reason": "changed_mind"}, signed_in)
        self.assertEqual((status, off["booking_id"], off["refund"]), (200, first["id"], 0))

    def test_refusals_carry_the_codes_of_the_api(self) -> None:
        status, gone = self.book("k-2", {**BOOKING, "offer_id": "none"})
        self.assertEqual((status, gone["error"]["code"]), (409, "OFFER_TAKEN"))
        status, _ = self.ask("GET", "/v1/offers?controls=STEAM")
        self.assertEqual(status, 422)

    def test_bookings_demand_the_token(self) -> None:
        for token in (None, "other"):
            status, refused = self.book("k-3", {**BOOKING, "offer_id": "x"}, token)
            self.assertEqual((status, refused["error"]["code"]), (401, "NOT_SIGNED_IN"))

    def test_the_document_names_the_operations(self) -> None:
        _, document = self.ask("GET", "/openapi.json")
        operations = [op["operationId"] for path in document["paths"].values() for op in path.values()]
        self.assertEqual(sorted(operations), ["book_offer", "cancel_booking", "find_offers"])


if __name__ == "__main__":
    unittest.main()
