"""A real SMTP server for tests, on aiosmtpd: takes mail and keeps each one as a JSON file.

Prints `listening on smtp://127.0.0.1:PORT` when it can be called; SIGTERM stops it. A recipient `rcpt-NNN@...` is
answered with the code NNN, and a mail to `data-NNN@...` is, after its text; so a test chooses the failure.
"""

import argparse
import asyncio
import email
import email.policy
import json
import os
import re
import signal
import ssl
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult

CHOSEN = re.compile(r"(rcpt|data)-(\d{3})@")


def chosen(phase: str, address: str) -> str | None:
    """The answer that a recipient asks for by its name."""
    match = CHOSEN.match(address)
    return f"{match[2]} chosen by the recipient's name" if match and match[1] == phase else None


class Keeper:
    """Keeps what comes in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self.connections = 0

    async def handle_EHLO(self, server, session, envelope, hostname, responses):  # noqa: N802
        session.host_name = hostname
        # A client says EHLO once more after STARTTLS; that is no new connection.
        if session.ssl is None:
            self.connections += 1
        session.number = self.connections
        return responses

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        answer = chosen("rcpt", address)
        if answer:
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        for address in envelope.rcpt_tos:
            answer = chosen("data", address)
            if answer:
                return answer
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        user = session.auth_data.decode() if session.authenticated else None
        mail = {
            "sender": envelope.mail_from,
            "recipients": envelope.rcpt_tos,
            "headers": [[name, str(value)] for name, value in message.items()],
            "text": message.get_content(),
            "raw": envelope.content.decode("utf-8", "replace"),
            "tls": session.ssl is not None,
            "user": user,
            "hello": session.host_name,
            "connection": session.number,
        }
        self.count += 1
        # Under its final name a mail is whole.
        partial = self.folder / "partial"
        partial.write_text(json.dumps(mail), "utf-8")
        os.replace(partial, self.folder / f"{self.count:06}.json")
        return "250 kept"


def authenticator(user: str, password: str):
    """Takes one user with one password."""

    def judge(server, session, envelope, mechanism, data):
        if (data.login, data.password) == (user.encode(), password.encode()):
            return AuthResult(success=True, auth_data=data.login)
        return AuthResult(success=False, handled=False)

    return judge


async def serve(arguments: argparse.Namespace) -> None:
    options = {"hostname": "smtp.test", "enable_SMTPUTF8": True}
    context = None
    if arguments.certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(arguments.certificate, arguments.key)
    if context and not arguments.implicit_tls:
        options |= {"tls_context": context, "require_starttls": True}
    if arguments.user:
        # The password comes by environment: arguments are shown to every user of the machine.
        judge = authenticator(arguments.user, os.environ["SMTP_PASSWORD"])
        # With TLS from the start aiosmtpd does not see that there is any.
        needs_tls = context is not None and not arguments.implicit_tls
        options |= {"authenticator": judge, "auth_required": True, "auth_require_tls": needs_tls}
    keeper = Keeper(Path(arguments.folder))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(keeper, loop=loop, **options),
        host="127.0.0.1",
        port=0,
        ssl=context if arguments.implicit_tls else None,
    )
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    print(f"listening on smtp://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await stopped.wait()
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="where mails are kept")
    parser.add_argument("--certificate", help="PEM file; offers TLS, and demands it")
    parser.add_argument("--key", help="PEM file of the certificate's key")
    parser.add_argument("--implicit-tls", action="store_true", help="TLS from the first byte instead of STARTTLS")
    parser.add_argument("--user", help="demands this user, with the password in SMTP_PASSWORD")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
