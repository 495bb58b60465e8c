//! Which failures of a call pass, and when it is worth calling again.

use crate::calling::CallError;
use crate::pinned::PinnedFailure;
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_outbound::policy::pace::track::BETWEEN_CALLS_MS;

/// Longest pause between two calls, milliseconds, unless the partner asks for more.
const PAUSE_MAX_MS: u64 = 40_000;
/// Longest pause that a partner is granted, milliseconds.
const ASKED_PAUSE_MAX_MS: u64 = 120_000;

/// Whether the next call may be answered though this one failed. What a partner's own code means, the error table of the
/// contract says that the call was made under.
pub(super) fn may_pass(failed: &PinnedFailure<CallError>) -> bool {
    match &failed.error {
        CallError::Partner { code, failure, .. } => match failure {
            CallFailure::Platform { code: own, .. } => {
                let code = code.as_deref().unwrap_or(own);
                let row = failed.descriptor().and_then(|descriptor| descriptor.error(code));
                let platform = || PlatformCode::parse(code).map(PlatformCode::http_status);
                row.map(|row| row.http_status).or_else(platform).is_some_and(is_passing_status)
            }
            CallFailure::UnknownCode { .. } => true,
            CallFailure::HttpStatus(status) => is_passing_status(*status),
            CallFailure::Timeout(_)
            | CallFailure::Unreachable(_)
            | CallFailure::RateLimited { .. }
            | CallFailure::BodyTooLarge(_)
            | CallFailure::Protocol(_)
            | CallFailure::Payload(_)
            | CallFailure::Busy
            | CallFailure::NotCalled { .. } => true,
            CallFailure::AddressRefused(_)
            | CallFailure::Redirect(_)
            | CallFailure::Unauthorized
            | CallFailure::SignInRequired { .. }
            | CallFailure::Forbidden(_) => false,
        },
        // The next answer, or the next version of the contract, may be sound, and the store be there again.
        CallError::Answer(_) | CallError::Contract(_) | CallError::Store { .. } => true,
        _ => false,
    }
}

fn is_passing_status(status: u16) -> bool {
    matches!(status, 408 | 429) || status >= 500
}

/// How long a failure asks to be left alone, milliseconds.
pub(super) fn wait_ms(error: &CallError) -> Option<u64> {
    match error {
        CallError::Partner { failure: CallFailure::RateLimited { retry_after_ms }, .. } => *retry_after_ms,
        CallError::Partner { failure: CallFailure::NotCalled { wait_ms, .. }, .. } => *wait_ms,
        _ => None,
    }
}

/// How long the gateway itself wants to wait before it calls, milliseconds: nobody has failed then.
pub(super) fn not_yet_ms(error: &CallError) -> Option<u64> {
    match error {
        CallError::Partner { failure: CallFailure::NotCalled { why, wait_ms: Some(wait_ms) }, .. } => {
            let is_soon = *why != NotCalled::Down && *wait_ms <= BETWEEN_CALLS_MS;
            is_soon.then_some(*wait_ms)
        }
        _ => None,
    }
}

/// The pause after so many failures in a row: twice as long each time, and no shorter than was asked for.
pub(super) fn pause_ms(failures: u32, asked_ms: Option<u64>) -> u64 {
    let doubled = BETWEEN_CALLS_MS.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(PAUSE_MAX_MS).max(asked_ms.unwrap_or(0).min(ASKED_PAUSE_MAX_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound() {
        let pauses: Vec<_> = (1..=6).map(|failures| pause_ms(failures, None)).collect();
        assert_eq!(pauses, [5_000, 10_000, 20_000, 40_000, 40_000, 40_000]);
        assert_eq!(pause_ms(1, Some(7_000)), 7_000);
        assert_eq!(pause_ms(3, Some(7_000)), 20_000);
        assert_eq!(pause_ms(1, Some(u64::MAX)), ASKED_PAUSE_MAX_MS);
        assert_eq!(pause_ms(u32::MAX, None), PAUSE_MAX_MS);
    }

    #[test]
    fn what_the_partner_or_the_network_suffers_passes() {
        let partner = |failure| PinnedFailure::without_contract(CallError::Partner { code: None, failure, link: None });
        let platform =
            |code: &str| CallFailure::Platform { code: code.to_owned(), message: String::new(), field: None };
        for failure in [
            CallFailure::Timeout(1),
            CallFailure::HttpStatus(503),
            CallFailure::HttpStatus(429),
            CallFailure::Busy,
            platform("PARTNER_MAINTENANCE"),
            CallFailure::UnknownCode { sent: None, message: String::new() },
        ] {
            assert!(may_pass(&partner(failure.clone())), "{failure:?}");
        }
        for failure in [
            CallFailure::HttpStatus(404),
            CallFailure::Unauthorized,
            CallFailure::Forbidden("/fake_discount".to_owned()),
            platform("INVALID_REQUEST"),
        ] {
            assert!(!may_pass(&partner(failure.clone())), "{failure:?}");
        }
        assert!(!may_pass(&PinnedFailure::without_contract(CallError::InvalidReference)));
    }
}
