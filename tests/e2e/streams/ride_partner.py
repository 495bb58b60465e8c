"""A partner on one of the Python SDKs that streams a ride: it reports progress until the ride has arrived.

    python ride_partner.py mcp|fastmcp [--sessions]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket

import uvicorn

WORDS = 30
"""How often it tells of the ride."""
BEAT_SECONDS = 0.2
"""Between two times; all together longer than two calls of a track tool are apart."""


class AnnouncingServer(uvicorn.Server):
    """Prints the ready line once the server accepts calls."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets:
            print(f"listening on http://127.0.0.1:{sockets[0].getsockname()[1]}/mcp", flush=True)


def get_ride_estimates(request_id: str) -> str:
    """Finds rides."""
    rides = [{"ride_id": "ride-1", "fare": "10"}]
    return json.dumps({"result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "rides": rides})


def book_ride(ride_id: str, request_id: str) -> str:
    """Books a ride."""
    return json.dumps({"ride_id": ride_id, "status": "booked"})


async def follow(context) -> str:
    for number in range(1, WORDS + 1):
        await asyncio.sleep(BEAT_SECONDS)
        await context.report_progress(number, WORDS, f"{number} of {WORDS}")
    return json.dumps({"status": "arrived"})


def application(kind: str, sessions: bool):
    """The ASGI application of one SDK."""
    if kind == "mcp":
        from mcp.server.mcpserver import Context, MCPServer

        async def track_ride(ride_id: str, request_id: str, ctx: Context) -> str:
            """Follows a ride."""
            return await follow(ctx)

        # The SDK reads the annotations of a tool by name.
        track_ride.__annotations__["ctx"] = Context
        server = MCPServer("rides-mcp")
        for tool in (get_ride_estimates, book_ride, track_ride):
            server.add_tool(tool, structured_output=False)
        return server.streamable_http_app(stateless_http=not sessions)
    from fastmcp import Context, FastMCP

    async def track_ride(ride_id: str, request_id: str, ctx: Context) -> str:
        """Follows a ride."""
        return await follow(ctx)

    track_ride.__annotations__["ctx"] = Context
    server = FastMCP("rides-fastmcp")
    for tool in (get_ride_estimates, book_ride, track_ride):
        server.tool(tool, output_schema=None)
    return server.http_app(stateless_http=not sessions)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["mcp", "fastmcp"])
    parser.add_argument("--sessions", action="store_true")
    options = parser.parse_args()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(application(options.kind, options.sessions), log_level="warning")
    AnnouncingServer(config).run([listener])


main()
