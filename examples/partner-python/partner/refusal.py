"""Why this partner says no: one exception that carries the intent's error code (spec 2)."""

from __future__ import annotations

INVALID_REQUEST = "INVALID_REQUEST"
INVALID_AUTH = "INVALID_AUTH"
INTERNAL_ERROR = "INTERNAL_ERROR"
IDEMPOTENCY_VIOLATION = "IDEMPOTENCY_VIOLATION"
SLOT_GONE = "SLOT_GONE"
COMPRESSOR_WORK_REQUIRES_WORKSHOP = "COMPRESSOR_WORK_REQUIRES_WORKSHOP"
DOORSTEP_UNAVAILABLE_AT_LOCATION = "DOORSTEP_UNAVAILABLE_AT_LOCATION"
REFRIGERANT_UNAVAILABLE = "REFRIGERANT_UNAVAILABLE"
VEHICLE_AC_INCOMPATIBLE = "VEHICLE_AC_INCOMPATIBLE"

# JSON-RPC number of INVALID_AUTH, the only code that this server sends as a JSON-RPC error (spec 1).
INVALID_AUTH_NUMBER = -32000


class Refusal(Exception):
    """One refused call."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field

    def data(self) -> dict[str, str]:
        """What the platform reads: the code, and the argument at fault where there is one."""
        data = {"platform_error_code": self.code}
        if self.field is not None:
            data["platform_field"] = self.field
        return data
