"""A partner's webhook for tests: verifies each event with `standardwebhooks` of PyPI and keeps it as a line of JSON.

Prints `listening on http://127.0.0.1:PORT` when it can be called. `secrets.txt` of the folder has the secrets that it takes, one a
line, read anew for each event; `events.jsonl` gets what was posted, and why it was refused where it was.
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def verify(secrets: list[str], body: bytes, headers: dict[str, str]) -> str | None:
    """Why an event is refused; none where one of the secrets has signed it."""
    refused = "there is no secret"
    for secret in secrets:
        try:
            Webhook(secret).verify(body, headers)
            return None
        except WebhookVerificationError as error:
            refused = str(error)
    return refused


class Receiver(BaseHTTPRequestHandler):
    """Takes events."""

    folder: Path

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        secrets = (self.folder / "secrets.txt").read_text().split()
        refused = verify(secrets, body, headers)
        line = {"id": headers.get("webhook-id"), "refused": refused, "body": json.loads(body)}
        with (self.folder / "events.jsonl").open("a") as kept:
            kept.write(json.dumps(line) + "\n")
        self.send_response(204 if refused is None else 401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing: what comes is kept."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    Receiver.folder = arguments.folder
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
