"""What can go wrong, by type."""

from __future__ import annotations

from collections.abc import Sequence

from intent_gateway_client.generated.codes import Code
from intent_gateway_client.generated.models import ErrorDetail, Violation


class GatewayError(Exception):
    """Whatever the client raises of itself."""


class Refused(GatewayError):
    """The gateway has refused a request, and says why."""

    def __init__(self, detail: ErrorDetail, status: int | None = None, retry_after: int | None = None) -> None:
        super().__init__(f"{detail['code']}: {detail['message']} (request {detail['request_id']})")
        self.detail = detail
        # None where the refusal is an event of a stream.
        self.status = status
        # Seconds after which it is worth asking again.
        self.retry_after = retry_after

    @property
    def code(self) -> Code | str:
        """What to branch on: a code of the gateway, or one of the intent's error table."""
        code = self.detail["code"]
        return Code(code) if code in Code.__members__ else code

    @property
    def message(self) -> str:
        """For people; it may change."""
        return self.detail["message"]

    @property
    def request_id(self) -> str:
        """Identifier of the request, for the platform team."""
        return self.detail["request_id"]

    @property
    def violations(self) -> Sequence[Violation]:
        """What is wrong at which place of the request; empty where nothing can be pointed at."""
        return self.detail.get("violations", [])

    @property
    def link_url(self) -> str | None:
        """Where the user links the account at the partner, where that is what is missing."""
        return self.detail.get("link_url")

    @property
    def link_code(self) -> str | None:
        """The code that the page there shows, to tell the user beforehand."""
        return self.detail.get("link_code")


class NotAnswered(GatewayError):
    """No answer came, or it broke off: there is no connection, or the time was over."""


class NotUnderstood(GatewayError):
    """The answer is none of the gateway's, as that of a proxy in front of it may be."""

    def __init__(self, status: int, beginning: str, retry_after: int | None = None) -> None:
        super().__init__(f"an answer with status {status} is not the gateway's")
        self.status = status
        self.beginning = beginning
        self.retry_after = retry_after
