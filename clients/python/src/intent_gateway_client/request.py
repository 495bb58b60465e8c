"""One request, and what becomes of it when it fails: what both forms of the client share."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from intent_gateway_client.errors import GatewayError, NotAnswered, NotUnderstood, Refused
from intent_gateway_client.generated.codes import Code

# Refusals before which nothing was done, whatever was asked.
NOTHING_DONE = frozenset({Code.RATE_LIMITED, Code.OVERLOADED})
# Refusals that pass, where to ask again does no harm.
PASSING = frozenset(
    {Code.STORE_UNAVAILABLE, Code.CALL_UNDER_WAY, Code.REQUEST_TIMEOUT, Code.TIMEOUT, Code.DRAINING}
)
# The first wait where nobody says how long, seconds; each is twice the one before.
FIRST_WAIT = 0.25
# What is shown of an answer that is not the gateway's, characters.
BEGINNING = 200


def segment(text: str) -> str:
    """A part of a path."""
    return quote(text, safe="")


@dataclass(frozen=True)
class Request:
    """One request, whatever its tries."""

    method: str
    path: str
    user: str | None = None
    query: Mapping[str, Any] | None = None
    json: Any = None
    content: bytes | None = None
    media_type: str = "application/json"
    # Headers, made anew for each try.
    sign: Callable[[], Mapping[str, str]] | None = None
    # Whether it does no harm to send it again when nobody knows what became of it.
    repeatable: bool = False
    last_event_id: str | None = None

    def headers(self, accept: str, token: str | None) -> dict[str, str]:
        headers = {"accept": accept, **(self.sign() if self.sign else {})}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        if self.user is not None:
            headers["x-user-id"] = self.user
        if self.last_event_id is not None:
            headers["last-event-id"] = self.last_event_id
        if self.body() is not None:
            headers["content-type"] = self.media_type
        return headers

    def body(self) -> bytes | None:
        return self.content if self.json is None else json.dumps(self.json, ensure_ascii=False).encode()

    def parameters(self) -> dict[str, str]:
        given = {name: value for name, value in (self.query or {}).items() if value is not None}
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


@dataclass(frozen=True)
class Patience:
    """What is sent again, and after what time."""

    # How often a request is sent again, where that does no harm.
    retries: int = 3
    # The longest wait between two tries, seconds. Where the gateway asks for more, its refusal is raised.
    wait_max: float = 30.0
    # Told before each wait: why, and for how long, seconds.
    on_retry: Callable[[GatewayError, float], None] | None = None

    def wait(self, error: GatewayError, request: Request, tries: int) -> float | None:
        """How long to wait before the next try, seconds; none where there is to be none."""
        if isinstance(error, Refused):
            passes = error.code in NOTHING_DONE or (request.repeatable and error.code in PASSING)
        elif isinstance(error, NotUnderstood):
            passes = request.repeatable and error.status >= 500
        else:
            passes = request.repeatable and isinstance(error, NotAnswered)
        if not passes or tries >= self.retries:
            return None
        asked = error.retry_after if isinstance(error, (Refused, NotUnderstood)) else None
        if asked is not None:
            return float(asked) if asked <= self.wait_max else None
        # Not all at once: between half of it and the whole.
        return min(FIRST_WAIT * float(2**tries), self.wait_max) * random.uniform(0.5, 1)

    def tell(self, error: GatewayError, wait: float) -> None:
        if self.on_retry:
            self.on_retry(error, wait)


def refusal(response: httpx.Response) -> GatewayError:
    """What an answer that is no success says; its body was read."""
    seconds = response.headers.get("retry-after", "")
    retry_after = int(seconds) if seconds.isdecimal() else None
    try:
        detail = response.json()["error"]
        if isinstance(detail["code"], str):
            return Refused(detail, response.status_code, retry_after)
    except (ValueError, KeyError, TypeError):
        # It is not the gateway's.
        pass
    return NotUnderstood(response.status_code, response.text[:BEGINNING], retry_after)
