"""A gateway of its own for the tests, with a garage behind it. Each server prints `listening on URL` once it can be called."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from intent_gateway_client import Gateway, Platform, models

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(os.environ.get("INTENT_GATEWAY_PROGRAMS", ROOT / "target/debug"))

INTENT = "auto.book_ac_service"
BOOKING = "create_ac_service_booking"
GARAGE = "garage-nine"
SIGNING_KEY = "whsec_garage_nine_of_the_clients_tests"

DETAILS: dict[str, Any] = {
    "vehicle": {"type": "car", "year_of_manufacture": 2019, "ac_system_type": "automatic"},
    "ac_issue": {"category": "not_cooling", "user_description": "blows warm air", "last_serviced_months_ago": 14},
}
SEARCH: dict[str, Any] = {
    **DETAILS,
    "intent": INTENT,
    "user_location": {"lat": 12.9716, "lng": 77.5946, "max_radius_km": 25, "city": "Bengaluru"},
    "service_preferences": {"doorstep_acceptable": True},
    "ttbs_user_band": {"budget": "good"},
}


def booking_of(option: models.SearchOption) -> models.ToolRequest:
    return {"reference": option["reference"], "arguments": {**DETAILS, "contact_phone": "+919876543210"}}


class Server:
    """A process that listens, and what it logs."""

    def __init__(self, program: str, *arguments: str) -> None:
        command = [str(PROGRAMS / program), *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._log: list[str] = []
        self._logged = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.url = line.split()[2]
                return
        raise RuntimeError(f"{program} ended before it listened: {self._log}")

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            with self._logged:
                self._log.append(line)
                self._logged.notify_all()

    def wait_for_log(self, text: str) -> None:
        with self._logged:
            assert self._logged.wait_for(lambda: any(text in line for line in self._log), timeout=30), text

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


class Proxy:
    """Passes connections on, until they are cut."""

    def __init__(self, target: str) -> None:
        self._port = int(target.rsplit(":", 1)[1])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._port))
            self._sockets += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, sink: socket.socket) -> None:
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_RDWR)
        except OSError:
            # One of the two was cut.
            pass

    def cut(self) -> None:
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                # It was over before.
                pass
            one.close()
        self._sockets.clear()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()


class World:
    """The servers, and tokens for who calls them."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="clients-"))
        self.partner = Server("partner-rust", "--catalogue", "garage", "--port", "0")
        self.config = self.folder / "gateway.toml"
        contracts = self.folder / "contracts"
        contracts.mkdir()
        self.config.write_text(
            f"""
            state_dir = "{self.folder}/state"
            [server]
            listen = "127.0.0.1:0"
            drain_announce_ms = 0
            [streams]
            max_open = 1
            [contracts]
            dir = "{contracts}"
            [partner_client]
            allow_loopback_http = true
            [outbound]
            rate_limits = false
            [[partners]]
            id = "{GARAGE}"
            name = "Garage Nine"
            url = "{self.partner.url}"
            webhook_signing_key = "{SIGNING_KEY}"
            [[partners.listings]]
            intent = "{INTENT}"
            service_area = ["Bengaluru"]
            """
        )
        self.server = Server("intent-gateway", "serve", "--config", str(self.config))
        self.url = self.server.url
        self._gateways: list[Gateway] = []
        self.admin = self.token("admin", "team")
        self.platform: Platform = self.connect(token=self.admin).platform

    def token(self, role: str, subject: str) -> str:
        command = [str(PROGRAMS / "intent-gateway"), "token", "--role", role, "--subject", subject]
        command += ["--config", str(self.config)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def connect(self, **settings: Any) -> Gateway:
        gateway = Gateway(settings.pop("url", self.url), **settings)
        self._gateways.append(gateway)
        return gateway

    def as_orchestrator(self, name: str, **settings: Any) -> Gateway:
        """The gateway as an orchestrator of this name sees it: each has orders of its own."""
        return self.connect(token=self.token("orchestrator", name), **settings)

    def ship_contract(self) -> models.ActivationOutcome | models.ApprovalBody:
        """Loads the contract, and makes it live; the answer says that it serves."""
        component = (ROOT / "target/contracts/auto-book-ac-service.wasm").read_bytes()
        loaded = self.platform.load_contract(component, activate=False)
        return self.platform.activate_contract(loaded["digest"])

    def mailed_code(self) -> str:
        """The code of the latest mail."""
        self.server.wait_for_log("mail is in the outbox")
        found = re.search(r"Your code is (\d+)", (self.folder / "state/outbox.jsonl").read_text())
        assert found
        return found[1]

    def stop(self) -> None:
        for gateway in self._gateways:
            gateway.close()
        self.server.stop()
        self.partner.stop()
        shutil.rmtree(self.folder)
