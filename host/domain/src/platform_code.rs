//! The error codes that every intent may use, whether or not its error table lists them (spec 1, Errors).
//!
//! An intent's own table comes first: it may give one of these codes another status and meaning.

/// The platform's answer to the name of an intent that does not exist. No partner gives it.
pub const INVALID_INTENT: &str = "INVALID_INTENT";

/// A code of the platform's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformCode {
    /// The payload is malformed.
    InvalidRequest,
    /// The credentials are not valid.
    InvalidAuth,
    /// The partner has no such tool.
    MethodNotFound,
    /// The same key came with a different body.
    IdempotencyConflict,
    /// The `request_id` was used before.
    IdempotencyViolation,
    /// Too many calls.
    RateLimited,
    /// Whoever was asked failed.
    InternalError,
    /// The partner is down for maintenance.
    PartnerMaintenance,
}

impl PlatformCode {
    /// Every code.
    pub const ALL: [Self; 8] = [
        Self::InvalidRequest,
        Self::InvalidAuth,
        Self::MethodNotFound,
        Self::IdempotencyConflict,
        Self::IdempotencyViolation,
        Self::RateLimited,
        Self::InternalError,
        Self::PartnerMaintenance,
    ];

    /// As it is written on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::InvalidAuth => "INVALID_AUTH",
            Self::MethodNotFound => "METHOD_NOT_FOUND",
            Self::IdempotencyConflict => "IDEMPOTENCY_CONFLICT",
            Self::IdempotencyViolation => "IDEMPOTENCY_VIOLATION",
            Self::RateLimited => "RATE_LIMITED",
            Self::InternalError => "INTERNAL_ERROR",
            Self::PartnerMaintenance => "PARTNER_MAINTENANCE",
        }
    }

    /// Reads a code; `None` where it is none of the platform's.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == code)
    }

    /// The code that a JSON-RPC error code stands for; `None` for a code that the table does not have.
    #[must_use]
    pub fn of_json_rpc(code: i64) -> Option<Self> {
        match code {
            -32_600 | -32_602 => Some(Self::InvalidRequest),
            -32_601 => Some(Self::MethodNotFound),
            -32_603 => Some(Self::InternalError),
            -32_000 => Some(Self::InvalidAuth),
            -32_001 => Some(Self::RateLimited),
            -32_002 => Some(Self::PartnerMaintenance),
            _ => None,
        }
    }

    /// The HTTP status that it is equivalent to.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::InvalidAuth => 401,
            Self::MethodNotFound => 404,
            Self::IdempotencyConflict | Self::IdempotencyViolation => 409,
            Self::RateLimited => 429,
            Self::InternalError => 500,
            Self::PartnerMaintenance => 503,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PlatformCode;

    #[test]
    fn every_code_is_read_back() {
        for code in PlatformCode::ALL {
            assert_eq!(PlatformCode::parse(code.as_str()), Some(code));
        }
        assert_eq!(PlatformCode::parse(super::INVALID_INTENT), None);
    }

    #[test]
    fn json_rpc_codes_and_statuses_are_the_specs() {
        let table = [-32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002]
            .map(|code| PlatformCode::of_json_rpc(code).expect("in the table"))
            .map(|code| (code.http_status(), code.as_str()));
        assert_eq!(
            table,
            [
                (400, "INVALID_REQUEST"),
                (404, "METHOD_NOT_FOUND"),
                (400, "INVALID_REQUEST"),
                (500, "INTERNAL_ERROR"),
                (401, "INVALID_AUTH"),
                (429, "RATE_LIMITED"),
                (503, "PARTNER_MAINTENANCE"),
            ]
        );
        assert_eq!(PlatformCode::of_json_rpc(-1), None);
    }
}
