//! What a failed call means to the policies: which column of a tool's retries it falls into, under which code of the error
//! table it goes, and whether the partner may have done what it was asked to do.

use intent_gateway_domain::contract::{Descriptor, PlatformError};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::platform_code::PlatformCode;

/// The two kinds of failure for which a tool states retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A 429 or RATE_LIMITED.
    RateLimited,
    /// A 5xx or INTERNAL_ERROR.
    ServerError,
}

/// What a failure means to the policies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailureMeaning<'a> {
    /// HTTP status or equivalent; absent where the partner answered nothing that has one.
    pub status: Option<u16>,
    /// The row of the error table that speaks of it.
    pub row: Option<&'a PlatformError>,
    /// What the partner said of when to come back, milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether the call may have had its effect at the partner all the same.
    pub(crate) may_have_landed: bool,
}

impl<'a> FailureMeaning<'a> {
    /// Reads a failure under an intent's error table.
    #[must_use]
    pub(crate) fn of(failure: &CallFailure, descriptor: &'a Descriptor) -> Self {
        let (status, code) = match failure {
            CallFailure::RateLimited { .. } => (Some(429), bare_code(429)),
            CallFailure::Unauthorized | CallFailure::SignInRequired { .. } => (Some(401), None),
            CallFailure::HttpStatus(status) => (Some(*status), bare_code(*status)),
            CallFailure::Platform { code, .. } => (Some(descriptor.find_status(code)), Some(code.as_str())),
            // To callers, and so to its retries, it is the partner's failure.
            CallFailure::UnknownCode { .. } => (Some(500), bare_code(500)),
            CallFailure::Timeout(_)
            | CallFailure::Unreachable(_)
            | CallFailure::AddressRefused(_)
            | CallFailure::Redirect(_)
            | CallFailure::BodyTooLarge(_)
            | CallFailure::Protocol(_)
            | CallFailure::Payload(_)
            | CallFailure::Forbidden(_)
            | CallFailure::Busy
            | CallFailure::NotCalled { .. } => (None, None),
        };
        let retry_after_ms = match failure {
            CallFailure::RateLimited { retry_after_ms } => *retry_after_ms,
            _ => None,
        };
        let may_have_landed = match (status, failure) {
            // The partner says that it was the caller's fault: it did nothing. 408 alone is said of what is still coming.
            (Some(status), _) => !(300..500).contains(&status) || status == 408,
            // Never sent, or sent back unread.
            (
                None,
                CallFailure::AddressRefused(_)
                | CallFailure::Redirect(_)
                | CallFailure::Busy
                | CallFailure::NotCalled { .. },
            ) => false,
            // No answer, or one that cannot be used.
            (None, _) => true,
        };
        Self { status, row: code.and_then(|code| descriptor.error(code)), retry_after_ms, may_have_landed }
    }

    /// The column of the tool's retries; none where neither speaks of it.
    #[must_use]
    pub(crate) fn column(&self) -> Option<Column> {
        match self.status? {
            429 => Some(Column::RateLimited),
            500..=599 => Some(Column::ServerError),
            _ => None,
        }
    }
}

/// The code that a status without one stands for.
fn bare_code(status: u16) -> Option<&'static str> {
    match status {
        429 => Some(PlatformCode::RateLimited.as_str()),
        500..=599 => Some(PlatformCode::InternalError.as_str()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_testing::contract::{descriptor, platform, row};

    #[test]
    fn what_each_failure_means() {
        let mut descriptor = descriptor("1.0.0");
        descriptor.errors = vec![row("GONE", 409, None), row("DOWN", 503, None), row("FEE_DUE", 200, None)];
        let text = String::new;
        let (limited, server) = (Some(Column::RateLimited), Some(Column::ServerError));
        for (failure, column, may_have_landed) in [
            (CallFailure::RateLimited { retry_after_ms: None }, limited, false),
            (CallFailure::HttpStatus(429), limited, false),
            (platform("RATE_LIMITED"), limited, false),
            (CallFailure::HttpStatus(500), server, true),
            (CallFailure::HttpStatus(599), server, true),
            (platform("INTERNAL_ERROR"), server, true),
            (platform("PARTNER_MAINTENANCE"), server, true),
            (platform("DOWN"), server, true),
            (platform("NOBODY_KNOWS"), server, true),
            (CallFailure::UnknownCode { sent: None, message: text() }, server, true),
            (platform("GONE"), None, false),
            (platform("IDEMPOTENCY_CONFLICT"), None, false),
            (platform("FEE_DUE"), None, true),
            (CallFailure::HttpStatus(404), None, false),
            (CallFailure::HttpStatus(408), None, true),
            (CallFailure::Unauthorized, None, false),
            (CallFailure::SignInRequired { challenge: text() }, None, false),
            (CallFailure::AddressRefused(text()), None, false),
            (CallFailure::Redirect(302), None, false),
            (CallFailure::Busy, None, false),
            (CallFailure::Timeout(30_000), None, true),
            (CallFailure::Unreachable(text()), None, true),
            (CallFailure::BodyTooLarge(1), None, true),
            (CallFailure::Protocol(text()), None, true),
            (CallFailure::Payload(text()), None, true),
            (CallFailure::Forbidden(text()), None, true),
        ] {
            let meaning = FailureMeaning::of(&failure, &descriptor);
            assert_eq!((meaning.column(), meaning.may_have_landed), (column, may_have_landed), "{failure:?}");
        }
    }

    #[test]
    fn an_intents_row_comes_before_the_platforms() {
        let mut descriptor = descriptor("1.0.0");
        descriptor.errors = vec![row("PARTNER_MAINTENANCE", 429, None)];
        let meaning = FailureMeaning::of(&platform("PARTNER_MAINTENANCE"), &descriptor);
        assert_eq!(
            (meaning.status, meaning.row.map(|row| row.code.as_str())),
            (Some(429), Some("PARTNER_MAINTENANCE"))
        );
    }
}
