//! What a call says of the partner's health: one reading of [`CallFailure`] for all that judge by it.

use std::time::Duration;

use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::platform_code::PlatformCode;

/// What a call says of the partner's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It answered, be it with a refusal by one of the intent's codes: its server works, and this is how long it takes.
    Answered,
    /// It turned the call away at the door (authorisation, HTTP status 4xx): its server works, and how long its work takes
    /// remains unknown.
    TurnedAway,
    /// It did not answer in the time given. Says something only where that time was the tool's p95 target at least.
    TimedOut,
    /// The connection failed, or the answer was a 5xx or nothing that the protocol knows.
    Broken,
    /// Nothing: it asked to slow down, or the call never left the gateway.
    Unsaid,
}

impl Outcome {
    /// Of a call that ended; `failure` is absent where it brought an answer.
    #[must_use]
    pub fn of(failure: Option<&CallFailure>) -> Self {
        use CallFailure as F;
        match failure {
            None | Some(F::Payload(_) | F::Forbidden(_) | F::BodyTooLarge(_)) => Self::Answered,
            Some(failed @ F::Platform { .. }) => match failed.platform_code() {
                Some(PlatformCode::InternalError) => Self::Broken,
                Some(PlatformCode::RateLimited) => Self::Unsaid,
                _ => Self::Answered,
            },
            // A code that nobody knows comes from a server that works; text alone comes from one that broke.
            Some(F::UnknownCode { sent: Some(_), .. }) => Self::Answered,
            Some(F::UnknownCode { sent: None, .. }) => Self::Broken,
            Some(F::HttpStatus(500..) | F::Unreachable(_) | F::Protocol(_) | F::Redirect(_)) => Self::Broken,
            Some(F::HttpStatus(429) | F::RateLimited { .. } | F::AddressRefused(_) | F::Busy | F::NotCalled { .. }) => {
                Self::Unsaid
            }
            Some(F::HttpStatus(_) | F::Unauthorized | F::SignInRequired { .. }) => Self::TurnedAway,
            Some(F::Timeout(_)) => Self::TimedOut,
        }
    }

    /// What is left of it once the time it took is known: whoever was given less time than the target allows has not
    /// failed by running out of it.
    pub(super) fn after(self, elapsed_ms: u64, targets: LatencyTargets) -> Self {
        match self {
            Self::TimedOut if elapsed_ms < u64::from(targets.p95_ms) => Self::Unsaid,
            outcome => outcome,
        }
    }
}

/// One call to a partner that ended.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Who was called.
    pub partner: &'a PartnerId,
    /// For which intent.
    pub intent: &'a IntentId,
    /// Which tool.
    pub tool: &'a str,
    /// The tool's targets, of the contract version that the call was pinned to.
    pub targets: LatencyTargets,
    /// Its outcome.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
}

impl Observation<'_> {
    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(code: &str) -> CallFailure {
        CallFailure::Platform { code: code.to_owned(), message: String::new(), field: None }
    }

    #[test]
    fn every_failure_says_what_it_can() {
        let text = String::new;
        let cases = [
            (platform("NO_SLOTS_AVAILABLE"), Outcome::Answered),
            (platform("PARTNER_MAINTENANCE"), Outcome::Answered),
            (platform("INTERNAL_ERROR"), Outcome::Broken),
            (platform("RATE_LIMITED"), Outcome::Unsaid),
            (CallFailure::RateLimited { retry_after_ms: Some(4_000) }, Outcome::Unsaid),
            (CallFailure::HttpStatus(429), Outcome::Unsaid),
            (CallFailure::HttpStatus(404), Outcome::TurnedAway),
            (CallFailure::HttpStatus(500), Outcome::Broken),
            (CallFailure::HttpStatus(503), Outcome::Broken),
            (CallFailure::Redirect(302), Outcome::Broken),
            (CallFailure::Unreachable(text()), Outcome::Broken),
            (CallFailure::Protocol(text()), Outcome::Broken),
            (CallFailure::Timeout(30_000), Outcome::TimedOut),
            (CallFailure::Unauthorized, Outcome::TurnedAway),
            (CallFailure::SignInRequired { challenge: text() }, Outcome::TurnedAway),
            (CallFailure::AddressRefused(text()), Outcome::Unsaid),
            (CallFailure::Busy, Outcome::Unsaid),
            (CallFailure::BodyTooLarge(1), Outcome::Answered),
            (CallFailure::Payload(text()), Outcome::Answered),
            (CallFailure::Forbidden(text()), Outcome::Answered),
            (CallFailure::UnknownCode { sent: Some(text()), message: text() }, Outcome::Answered),
            (CallFailure::UnknownCode { sent: None, message: text() }, Outcome::Broken),
        ];
        for (failure, expected) in cases {
            assert_eq!(Outcome::of(Some(&failure)), expected, "{failure:?}");
        }
        assert_eq!(Outcome::of(None), Outcome::Answered);
    }

    #[test]
    fn a_deadline_below_the_target_is_nobodys_fault() {
        let targets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None };
        assert_eq!(Outcome::TimedOut.after(1_499, targets), Outcome::Unsaid);
        assert_eq!(Outcome::TimedOut.after(1_500, targets), Outcome::TimedOut);
        assert_eq!(Outcome::Answered.after(1, targets), Outcome::Answered);
    }
}
