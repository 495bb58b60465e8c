# Made by clients/generate. Not edited by hand.
"""One gateway, as each of its callers sees it."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, cast

from intent_gateway_client.generated.blocking.transport import Token, Transport
from intent_gateway_client.errors import GatewayError
from intent_gateway_client.generated import models
from intent_gateway_client.generated.blocking.operations import (
    OrchestratorOperations,
    PartnerOperations,
    PlatformOperations,
)
from intent_gateway_client.request import Patience, Request, segment
from intent_gateway_client.signing import sign_report

# How long before its end a token is replaced, seconds.
RENEWED_BEFORE = 60.0
# The key that a caller makes up. Any other one names something that there is already.
REQUEST_ID = "request_id"


class Orchestrator(OrchestratorOperations):
    """What an assistant does: finds the intent of an utterance, searches, books, follows."""

    def call_once(
        self,
        intent: str,
        tool: str,
        body: models.ToolRequest,
        *,
        user: str | None = None,
        timeout: float | None = None,
    ) -> models.ToolAnswer:
        """Calls a tool under a key, so that what it makes is made once, however often the call is sent.

        It is sent again where its answer was lost. Where the key is `request_id`, and the arguments have none, a new one is
        made; an identifier of the order is for the gateway to fill in.
        """
        # Which argument is the key, the intent's contract says.
        tools = (self.show_intent(intent, timeout=timeout))["tools"]
        key = next((one["idempotency_key"] for one in tools if one["name"] == tool), None)
        if key is None:
            raise GatewayError(f"the tool {tool} of {intent} takes no key")
        made = {key: str(uuid.uuid4())} if key == REQUEST_ID else {}
        keyed = {**body, "arguments": {**made, **body["arguments"]}}
        path = f"/api/v1/intents/{segment(intent)}/tools/{segment(tool)}"
        request = Request("POST", path, user=user, json=keyed, repeatable=True)
        return cast("models.ToolAnswer", self.transport.send(request, timeout))


class Partner(PartnerOperations):
    """What a partner does: the way to a token, the manifest, and reports of what was delivered."""

    def report(
        self,
        partner_id: str,
        signing_key: str,
        report: models.CompletionReport | Mapping[str, Any],
        *,
        timeout: float | None = None,
    ) -> models.ReportAcknowledgement:
        """Sends a completion report, signed anew for each try. It is booked once, however often it is sent.

        Members that the intent's contract adds stand beside the common ones.
        """
        # What is signed are these bytes, so these are sent.
        content = json.dumps(report, ensure_ascii=False).encode()
        request = Request(
            "POST",
            f"/api/v1/cpc/mcp_provider/{segment(partner_id)}",
            content=content,
            sign=lambda: sign_report(signing_key, content, time.time_ns() // 1_000_000),
            repeatable=True,
        )
        return cast("models.ReportAcknowledgement", self.transport.send(request, timeout))


class Platform(PlatformOperations):
    """What the platform team does: ships contracts, reviews partners, keeps the ledger."""


class Gateway:
    """A gateway. Which of its parts answer, the token decides; an admin's opens all of them, as far as its scopes go."""

    def __init__(
        self,
        url: str,
        *,
        # None where only open routes are called, as a sign-up is.
        token: Token | None = None,
        # How long one try may take, seconds.
        timeout: float = 60.0,
        # A stream on which nothing comes for so long counts as cut, seconds.
        silence_max: float = 60.0,
        patience: Patience = Patience(),
    ) -> None:
        self._transport = Transport(url, token, timeout, silence_max, patience)
        self.orchestrator = Orchestrator(self._transport)
        self.partner = Partner(self._transport)
        self.platform = Platform(self._transport)

    def __enter__(self) -> Gateway:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._transport.close()


def client_credentials(open_gateway: Gateway, client_id: str, client_secret: str) -> Callable[[], str]:
    """A token source of a program of a partner's: gets tokens by its credentials, and a new one before each ends.

    `open_gateway` has no token; it is asked for them.
    """
    held = ""
    until = 0.0

    def token() -> str:
        nonlocal held, until
        if until <= time.time():
            issued = open_gateway.partner.issue_token({"client_id": client_id, "client_secret": client_secret})
            held = issued["token"]
            until = datetime.fromisoformat(issued["expires_at"].replace("Z", "+00:00")).timestamp() - RENEWED_BEFORE
        return held

    return token
