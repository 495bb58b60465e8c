"""An example partner: a business that repairs car ACs and has a REST API of its own.

It is no MCP server. The platform wraps it by the mapping in manifest.yaml. It keeps everything in
memory, takes no money and calls nobody. Start it with `python server.py --port 8104`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys

import uvicorn

import workshop  # noqa: F401  (makes the `partner` package importable)
from partner.catalogue import Catalogue, CatalogueError
from partner.desk import Desk
from workshop.api import application

# How long open answers may take to finish after a stop signal, in seconds.
SHUTDOWN_GRACE_S = 5
# Connections and running requests at a time; more are answered 503.
MAX_CONCURRENCY = 500


class AnnouncingServer(uvicorn.Server):
    """Prints the ready line once the server accepts calls and catches signals."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"listening on http://{shown}:{port}", flush=True)


def parse_options() -> argparse.Namespace:
    """The command line. The token may come from PARTNER_TOKEN, where other users cannot see it."""
    parser = argparse.ArgumentParser(description="Serves one business over REST.")
    parser.add_argument(
        "--catalogue",
        default="neighbourhood",
        help="a name from examples/catalogues, or a file (default: neighbourhood)",
    )
    parser.add_argument("--port", type=int, default=8104, help="0 takes a free one (default: 8104)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--token",
        default=os.environ.get("PARTNER_TOKEN"),
        help="demand this bearer token on bookings and cancellations",
    )
    return parser.parse_args()


def main() -> int:
    """Serves until SIGTERM or Ctrl-C."""
    options = parse_options()
    # Standard output carries the ready line alone; the log goes to standard error.
    logging.basicConfig(level=os.environ.get("LOG_LEVEL", "WARNING").upper())
    try:
        catalogue = Catalogue.load(options.catalogue)
    except CatalogueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    config = uvicorn.Config(
        application(Desk(catalogue), options.token),
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
