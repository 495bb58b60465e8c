//! What onboarding refuses, as HTTP says it.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use intent_gateway_domain::contract::{self, Violation};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::golive::GoLiveError;
use intent_gateway_onboarding::OnboardingError;

use super::{Code, Refusal};

/// The event cannot happen in the connection's state.
const WRONG_STATE: &str = "WRONG_STATE";
/// Violations that a message names; all are listed beside it.
const SAID_MAX: usize = 5;
/// The token's sign-in by a mailed code is too old for this, or there was none.
const FRESH_SIGN_IN_NEEDED: &str = "FRESH_SIGN_IN_NEEDED";
/// Something is still missing; `violations` lists what.
const NOT_READY: &str = "NOT_READY";

impl From<OnboardingError> for Refusal {
    fn from(error: OnboardingError) -> Self {
        let detail = chain(&error);
        match error {
            OnboardingError::Refused(refusal) => refuse_document(refusal),
            OnboardingError::NotFound(what) => Self::new(Code::NotFound).message(format!("There is no such {what}.")),
            OnboardingError::NotAccepted => {
                let refusal = Self::new(Code::InvalidAuth).challenge(crate::auth::CHALLENGE_MISSING);
                refusal.message("The code or secret is not right, is used up, or is too old.")
            }
            OnboardingError::SessionEnded => Self::new(Code::InvalidAuth).challenge(crate::auth::CHALLENGE_INVALID),
            OnboardingError::SignInNeeded => Self::new(Code::InvalidAuth)
                .with_code(FRESH_SIGN_IN_NEEDED)
                .challenge(crate::auth::CHALLENGE_STALE)
                .message(
                    "This takes a token that a mailed code has opened within the last 15 minutes: sign in again, then repeat it.",
                ),
            OnboardingError::TooMany(wait_ms) => Self::new(Code::RateLimited)
                .message("Too many codes were asked for; the next one comes when the time of the last is over.")
                .retry_after(Duration::from_millis(wait_ms)),
            OnboardingError::OutOfStep { code, message } => Self::conflict(code, sentence(&message)),
            OnboardingError::NotAllowed(not_allowed) => Self::conflict(WRONG_STATE, sentence(&not_allowed.to_string())),
            OnboardingError::NotReady(violations) => {
                let message = format!("Not yet: {}", summed_up(&violations));
                Self::conflict(NOT_READY, message).violations(violations)
            }
            OnboardingError::Test(error) => test(error),
            OnboardingError::Contended => Self::new(Code::Overloaded).internal(detail),
            OnboardingError::Store(error) => error.into(),
            OnboardingError::NoEntropy(_) | OnboardingError::Sealed(_) => {
                Self::new(Code::InternalError).internal(detail)
            }
        }
    }
}

/// A document that breaks rules. The message alone says what is wrong, for whoever reads no further.
pub(crate) fn refuse_document(refusal: contract::Refusal) -> Refusal {
    let contract::Refusal { code, violations } = refusal;
    let message = if violations.is_empty() {
        Code::InvalidRequest.message().to_owned()
    } else {
        // It may begin with the name of a member, which has to stay as it is.
        summed_up(&violations)
    };
    let refused = Refusal::new(Code::InvalidRequest).message(message).violations(violations);
    Refusal { code: code.into(), ..refused }
}

/// The member `intent` of a body names no intent.
pub(crate) fn refuse_intent(message: String) -> Refusal {
    let code = Code::InvalidIntent.as_str().to_owned();
    let violations = vec![Violation { pointer: "/intent".to_owned(), code: code.clone(), message }];
    refuse_document(contract::Refusal { code, violations })
}

impl Refusal {
    /// The step does not fit what was done before.
    pub(crate) fn conflict(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let refused = Self::new(Code::InvalidRequest).message(message);
        Self { status: StatusCode::CONFLICT, code: code.into(), ..refused }
    }

    /// It was there, and is there no more.
    pub(crate) fn gone(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let refused = Self::new(Code::InvalidRequest).message(message);
        Self { status: StatusCode::GONE, code: code.into(), ..refused }
    }
}

/// The team's test could not be run.
fn test(error: GoLiveError) -> Refusal {
    let at = |pointer: &str, code: &str, error: &GoLiveError| {
        let violation = Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: chain(error) };
        refuse_document(contract::Refusal::invalid_request(vec![violation]))
    };
    match error {
        GoLiveError::SampleCount(_) => at("/requests", "OUT_OF_RANGE", &error),
        GoLiveError::SampleTooLarge { sample, .. } => at(&sample_pointer(sample), "TOO_LONG", &error),
        GoLiveError::Confirmation(_) => at("/confirmed", "UNEXPECTED_VALUE", &error),
        GoLiveError::SampleRefused { sample, refusal } => {
            let at = sample_pointer(sample);
            let violations = refusal.violations.into_iter().map(|violation| violation.within(&at)).collect();
            refuse_document(contract::Refusal::invalid_request(violations))
        }
        GoLiveError::Contract { fault, .. } => fault.into(),
    }
}

/// Samples are counted from 1 where people read, pointers from 0.
fn sample_pointer(sample: usize) -> String {
    format!("/requests/{}", sample.saturating_sub(1))
}

/// What is wrong, in one sentence as long as it is readable.
fn summed_up(violations: &[Violation]) -> String {
    let said = violations.iter().take(SAID_MAX).map(|violation| violation.message.trim_end_matches('.'));
    let said = said.collect::<Vec<_>>().join("; ");
    match violations.len().saturating_sub(SAID_MAX) {
        0 if said.ends_with(['!', '?']) => said,
        0 => format!("{said}."),
        more => format!("{said}; and {more} more, listed under `violations`."),
    }
}

/// A message of the domain as a sentence of its own.
pub(super) fn sentence(message: &str) -> String {
    let ended = message.ends_with(['.', '!', '?']);
    let mut characters = message.chars();
    // A message that begins with a name in the code, such as an intent, keeps it as it is.
    let first = message.split([' ', ':']).next().unwrap_or_default();
    let named = first.contains(['_', '.', '`', '/', '[']);
    let head: String = match characters.next() {
        Some(letter) if !named => letter.to_uppercase().collect(),
        Some(letter) => letter.to_string(),
        None => String::new(),
    };
    format!("{head}{}{}", characters.as_str(), if ended { "" } else { "." })
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_domain::store::StoreError;

    fn violation(message: &str) -> Violation {
        Violation { pointer: "/intents/0".to_owned(), code: "X".to_owned(), message: message.to_owned() }
    }

    #[test]
    fn the_message_alone_says_what_is_wrong() {
        let refused = |violations| refuse_document(contract::Refusal { code: "INVALID_INTENT".to_owned(), violations });
        let one = refused(vec![violation("auto.fix: pricing.min (9) exceeds pricing.max (5)")]);
        assert_eq!(one.message, "auto.fix: pricing.min (9) exceeds pricing.max (5).");
        assert_eq!((one.code(), one.status), ("INVALID_INTENT", StatusCode::BAD_REQUEST));
        let three = refused(vec![violation("expected 1 to 3."), violation("y"), violation("z")]);
        assert_eq!(three.message, "expected 1 to 3; y; z.");
        let seven = refused((1..=7).map(|n| violation(&format!("n{n}"))).collect());
        assert_eq!(seven.message, "n1; n2; n3; n4; n5; and 2 more, listed under `violations`.");
        let named = refused(vec![violation("businessName is missing; did you mean businessName?")]);
        assert_eq!(named.message, "businessName is missing; did you mean businessName?");
        assert_eq!(refused(Vec::new()).message, "The request is not valid.");
    }

    #[test]
    fn faults_stay_inside() {
        let engine = StoreError::Engine("no table in /secret/gateway.db".to_owned(), None);
        let refusal = Refusal::from(OnboardingError::Store(engine));
        assert_eq!(refusal.code(), "INTERNAL_ERROR");
        assert!(!refusal.message.contains("secret") && refusal.detail().is_some_and(|text| text.contains("/secret/")));
        let down = StoreError::Unavailable("the file /secret/gateway.db is full".to_owned(), None);
        let refusal = Refusal::from(OnboardingError::Store(down));
        assert_eq!(refusal.code(), "STORE_UNAVAILABLE");
        assert!(!refusal.message.contains("secret") && refusal.detail().is_some_and(|text| text.contains("/secret/")));
        assert_eq!(Refusal::from(OnboardingError::Contended).status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(Refusal::from(OnboardingError::NotAccepted).status, StatusCode::UNAUTHORIZED);
        assert_eq!(Refusal::from(OnboardingError::TooMany(1_500)).retry_after_seconds, std::num::NonZeroU32::new(2));
    }

    #[test]
    fn a_refused_sample_is_pointed_at() {
        let refusal = contract::Refusal { code: "TOO_FAR".to_owned(), violations: vec![violation("is missing")] };
        let refused = Refusal::from(OnboardingError::Test(GoLiveError::SampleRefused { sample: 2, refusal }));
        assert_eq!(refused.violations[0].pointer, "/requests/1/intents/0");
        let refused = Refusal::from(OnboardingError::Test(GoLiveError::SampleCount(0)));
        assert_eq!((refused.code(), refused.status), ("INVALID_REQUEST", StatusCode::BAD_REQUEST));
    }
}
