"""Signs completion reports: docs/completion-reports.md says how, and has vectors."""

from __future__ import annotations

import hashlib
import hmac


def sign_report(key: str, body: bytes, at_ms: int) -> dict[str, str]:
    """The headers of a report that is sent at a time, milliseconds since 1970. The key is its text, `whsec_` included."""
    digest = hmac.new(key.encode(), f"{at_ms}.".encode() + body, hashlib.sha256).hexdigest()
    return {"x-platform-timestamp": str(at_ms), "x-platform-signature": f"sha256={digest}"}
