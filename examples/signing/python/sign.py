"""Signs a completion report: `python3 sign.py REPORT [TIMESTAMP]` prints its two headers. The standard library alone."""

import hashlib
import hmac
import os
import sys
import time


def sign(key: str, timestamp: str, body: bytes) -> str:
    """The signature of a body sent at a time, in milliseconds since 1970; the key is its text, `whsec_` included."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()


def main() -> None:
    key = os.environ.get("INTENT_GATEWAY_WEBHOOK_KEY")
    if not key or len(sys.argv) not in (2, 3):
        sys.exit("usage: INTENT_GATEWAY_WEBHOOK_KEY=... python3 sign.py REPORT [TIMESTAMP]")
    # As bytes: these, and no others, are sent.
    with open(sys.argv[1], "rb") as file:
        body = file.read()
    timestamp = sys.argv[2] if len(sys.argv) == 3 else str(time.time_ns() // 1_000_000)
    print(f"X-PLATFORM-Timestamp: {timestamp}")
    print(f"X-PLATFORM-Signature: {sign(key, timestamp, body)}")


if __name__ == "__main__":
    main()
