"""The MCP side and the HTTP around it: `/mcp`, a body limit, the bearer check when a token is set.

Nothing is decided here but how an answer is wrapped. A refusal becomes an error result whose
structured content holds the code: that form survives every layer of the SDK.
"""

from __future__ import annotations

import hmac
import json
import logging
from datetime import datetime, timezone
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partner import refusal
from partner.refusal import Refusal

logger = logging.getLogger("partner")

VERSION = "0.1.0"
# The largest request body, in bytes. A search is about 1 KB.
MAX_BODY_BYTES = 64 * 1024
# Sessions that may be open at a time, with --sessions.
MAX_SESSIONS = 1_000
# An idle session ends after this, in seconds.
SESSION_IDLE_S = 300
# Methods that need no sign-in even when a token is set: the platform's probe uses them.
OPEN_METHODS = frozenset({"initialize", "ping", "server/discover", "tools/list"})
# Notifications carry nothing worth guarding, and a client sends one before its first call.
OPEN_METHOD_PREFIX = "notifications/"


class Served(Protocol):
    """A business with its tools, whatever its intent."""

    @property
    def name(self) -> str: ...

    @property
    def tools(self) -> list[dict[str, Any]]: ...

    def answer(self, tool: str, arguments: dict[str, Any], now: datetime) -> dict[str, Any]:
        """Answers one tool call, or raises a Refusal."""


class PartnerServer(Server[Any]):
    """The SDK's server with the capability flag that the platform expects (spec 1)."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        **more: Any,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, **more)


def mcp_server(desk: Served, delay_s: float) -> PartnerServer:
    """The tools of one business; each call is answered after `delay_s` seconds."""
    tools = [types.Tool.model_validate(tool) for tool in desk.tools]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        await anyio.sleep(delay_s)
        # Arguments hold personal data: nothing of it is logged.
        try:
            payload = answer_call(desk, params)
        except Refusal as refused:
            logger.info("%s refused: %s", params.name, refused.code)
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=refused.message)],
                structured_content={**refused.data(), "message": refused.message},
                is_error=True,
            )
        logger.info("%s answered", params.name)
        text = json.dumps(payload, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return PartnerServer(
        desk.name,
        version=VERSION,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer_call(desk: Served, params: types.CallToolRequestParams) -> dict[str, Any]:
    """The desk's answer. A fault of this program goes to the log; the caller gets the code alone."""
    try:
        return desk.answer(params.name, params.arguments or {}, datetime.now(timezone.utc))
    except Refusal:
        raise
    except Exception as error:
        logger.exception("%s failed", params.name)
        raise Refusal(refusal.INTERNAL_ERROR, "internal error") from error


def application(
    server: PartnerServer, *, host: str, json_response: bool, sessions: bool, token: str | None
) -> ASGIApp:
    """The whole HTTP application."""
    app: ASGIApp = server.streamable_http_app(
        host=host,
        json_response=json_response,
        stateless_http=not sessions,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=SESSION_IDLE_S if sessions else None,
    )
    return app if token is None else BearerGuard(app, token)


class BearerGuard:
    """Lets a POST pass without the bearer only if its method is an open one."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or self._signed_in(scope):
            await self._app(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is None:
            await PlainTextResponse("body too large", status_code=413)(scope, receive, send)
            return
        method, request_id = _envelope(body)
        if method in OPEN_METHODS or method.startswith(OPEN_METHOD_PREFIX):
            await self._app(scope, _replay(body, receive), send)
        else:
            await _unauthorised(request_id)(scope, receive, send)

    def _signed_in(self, scope: Scope) -> bool:
        given = next((v for k, v in scope["headers"] if k == b"authorization"), b"")
        return hmac.compare_digest(given, self._expected)


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body, or None when it is larger than MAX_BODY_BYTES."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """A receive channel that gives the body that was already read, then what comes after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


def _envelope(body: bytes) -> tuple[str, Any]:
    """Method and id of a JSON-RPC message. What cannot be read as one has the empty method."""
    try:
        message = json.loads(body)
    except ValueError:
        return "", None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return "", None
    return message["method"], message.get("id")


def _unauthorised(request_id: Any) -> JSONResponse:
    refused = Refusal(refusal.INVALID_AUTH, "a valid bearer token is required")
    error = {
        "code": refusal.INVALID_AUTH_NUMBER,
        "message": refused.message,
        "data": refused.data(),
    }
    return JSONResponse(
        {"jsonrpc": "2.0", "id": request_id, "error": error},
        status_code=401,
        headers={"WWW-Authenticate": "Bearer"},
    )
