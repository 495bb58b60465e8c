"""Servers of the Python SDKs, as a partner might run them: one tool, `echo`, on a free port of this machine.

    python python_sdk.py mcp|fastmcp [--sessions] [--json]
"""

from __future__ import annotations

import argparse
import json
import socket

import uvicorn


class AnnouncingServer(uvicorn.Server):
    """Prints the ready line once the server accepts calls."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets:
            print(f"listening on http://127.0.0.1:{sockets[0].getsockname()[1]}/mcp", flush=True)


def echo(message: str) -> str:
    """Says it again."""
    return json.dumps({"echo": message})


def application(kind: str, sessions: bool, plain: bool):
    """The ASGI application of one SDK."""
    if kind == "mcp":
        from mcp.server.mcpserver import MCPServer

        server = MCPServer("echo-mcp")
        server.add_tool(echo, structured_output=False)
        return server.streamable_http_app(json_response=plain, stateless_http=not sessions)
    from fastmcp import FastMCP

    server = FastMCP("echo-fastmcp")
    server.tool(echo, output_schema=None)
    return server.http_app(json_response=plain, stateless_http=not sessions)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["mcp", "fastmcp"])
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(application(options.kind, options.sessions, options.json), log_level="warning")
    AnnouncingServer(config).run([listener])


main()
