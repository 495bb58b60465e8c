"""An example partner: a motor insurance broker, as an MCP server for finance.buy_motor_insurance.

It keeps everything in memory, takes no money and calls nobody. Start it with
`python server.py --port 8107`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

import broker  # noqa: F401  (makes the `partner` package importable)
from broker.catalogue import CATALOGUE_FILE, Catalogue, CatalogueError
from broker.desk import Desk
from partner.endpoint import application, mcp_server

# How long open answers may take to finish after a stop signal, in seconds.
SHUTDOWN_GRACE_S = 5
# Connections and running requests at a time; more are answered 503.
MAX_CONCURRENCY = 500
# The longest artificial delay, in milliseconds: twice what the platform waits for a tool call.
MAX_DELAY_MS = 60_000


class AnnouncingServer(uvicorn.Server):
    """Prints the ready line once the server accepts calls and catches signals."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"listening on http://{shown}:{port}/mcp", flush=True)


def delay_ms(text: str) -> int:
    """A delay within bounds."""
    value = int(text)
    if not 0 <= value <= MAX_DELAY_MS:
        raise argparse.ArgumentTypeError(f"0 to {MAX_DELAY_MS}")
    return value


def parse_options() -> argparse.Namespace:
    """The command line. The token may come from PARTNER_TOKEN, where other users cannot see it."""
    parser = argparse.ArgumentParser(description="Serves one broker to the platform.")
    parser.add_argument(
        "--catalogue",
        type=Path,
        default=CATALOGUE_FILE,
        help="the business's file (default: catalogue.json of this folder)",
    )
    parser.add_argument("--port", type=int, default=8107, help="0 takes a free one (default: 8107)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--delay-ms", type=delay_ms, default=0, help="wait this long before each tool call"
    )
    parser.add_argument(
        "--json-response",
        "--json",
        action="store_true",
        help="answer in plain JSON instead of an event stream",
    )
    parser.add_argument(
        "--sessions", action="store_true", help="keep a session per client (Mcp-Session-Id)"
    )
    parser.add_argument(
        "--token",
        default=os.environ.get("PARTNER_TOKEN"),
        help="demand this bearer token on tool calls",
    )
    parser.add_argument(
        "--completion-callback",
        help="the platform's completion URL for this partner, in place of the catalogue's",
    )
    return parser.parse_args()


def main() -> int:
    """Serves until SIGTERM or Ctrl-C."""
    options = parse_options()
    # Standard output carries the ready line alone; the log goes to standard error.
    logging.basicConfig(level=os.environ.get("LOG_LEVEL", "WARNING").upper())
    # The SDK logs whole messages when it is talkative, and those hold registration numbers.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    try:
        catalogue = Catalogue.load(options.catalogue)
    except CatalogueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.completion_callback:
        catalogue.platform["completion_callback"] = options.completion_callback
    app = application(
        mcp_server(Desk(catalogue), options.delay_ms / 1000),
        host=options.host,
        json_response=options.json_response,
        sessions=options.sessions,
        token=options.token,
    )
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_config=None,
        access_log=False,
        limit_concurrency=MAX_CONCURRENCY,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
    )
    # uvicorn raises the signal again once it has stopped; a clean stop is no failure.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: None)
    listener = config.bind_socket()
    asyncio.run(AnnouncingServer(config).serve(sockets=[listener]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
