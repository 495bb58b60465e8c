//! What a call of a tool refuses, as HTTP says it.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::error::{CallFailure, NotCalled, chain};
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_domain::store::StoreTrouble;
use intent_gateway_domain::telemetry::ForLog;
use intent_gateway_routing::calling::CallError;
use intent_gateway_routing::pinned::PinnedFailure;

use super::{Code, Refusal};

/// The reference was not issued here, or is another intent's or user's.
const INVALID_REFERENCE: &str = "INVALID_REFERENCE";
/// The option is no longer bookable, and the intent has no code of its own for that.
const OPTION_EXPIRED: &str = "OPTION_EXPIRED";
/// What was quoted of the option is not known any more.
const OPTION_NOT_KEPT: &str = "OPTION_NOT_KEPT";
/// Requests of the intent are no longer routed to the partner.
const PARTNER_GONE: &str = "PARTNER_GONE";
/// It is not known any more where the partner is called.
const PARTNER_FORGOTTEN: &str = "PARTNER_FORGOTTEN";
/// The same write is under way.
const CALL_UNDER_WAY: &str = "CALL_UNDER_WAY";
/// Whose sign-in is missing (RFC 9110, section 11.6.1, wants a challenge with every 401).
const AT_PARTNER: &str = "Bearer realm=\"partner\"";
/// What is said where a partner has answered, and its answer cannot be recorded.
const NOT_RECORDED: &str = "The partner was called, and the gateway could not record its answer. Repeat a call that has a key, \
    under the same key: it gets the same booking. For any other, look at the order first.";
/// What is said where the store was down before the partner was called.
const NOBODY_CALLED: &str = "The gateway's store is down, so nobody was called; repeat the same call shortly.";
/// When it is worth while to ask again at a partner that is busy, or that asked to slow down and did not say for how long.
const PARTNER_RETRY: Duration = Duration::from_secs(1);
/// The contract refuses what the partner answered.
const PARTNER_ANSWER_INVALID: &str = "PARTNER_ANSWER_INVALID";

impl From<PinnedFailure<CallError>> for Refusal {
    /// The outcome of a call that gave no answer.
    fn from(failed: PinnedFailure<CallError>) -> Self {
        let detail = chain(&failed.error);
        let descriptor = failed.contract.as_ref().map(|contract| contract.descriptor());
        match failed.error {
            CallError::InvalidIntent(_) => Self::new(Code::InvalidIntent),
            CallError::UnknownTool(tool) => Self::new(Code::NotFound)
                .message(format!("The intent has no tool `{tool}` that is called by reference.")),
            CallError::InvalidReference => Self::new(Code::InvalidRequest)
                .message("The reference is not one that this gateway issued for this intent and user, or its order is not kept any more.")
                .with_code(INVALID_REFERENCE),
            CallError::Expired(code) => {
                let refused = Self::conflict(OPTION_EXPIRED, "The option is no longer bookable; search again.");
                match code {
                    Some(code) => refused.with_listed_code(descriptor, code),
                    None => refused,
                }
            }
            CallError::OptionNotKept => Self::conflict(
                OPTION_NOT_KEPT,
                "The gateway's store was down when the option was shown, so what was quoted is not known any more; search again.",
            ),
            CallError::PartnerForgotten(_) => Self::conflict(
                PARTNER_FORGOTTEN,
                "It is not known any more where the partner is called: the user has to turn to the partner itself.",
            ),
            CallError::PartnerGone(_) => {
                Self::conflict(PARTNER_GONE, "The partner does not serve the intent at the moment; search again.")
            }
            CallError::Refused(refusal) => Self::of_contract(refusal, descriptor),
            CallError::KeyUsed => {
                let code = PlatformCode::IdempotencyConflict.as_str();
                Self::conflict(code, "The key was used before with other arguments.")
                    .with_listed_code(descriptor, code.to_owned())
            }
            CallError::UnderWay { wait_ms } => {
                Self::conflict(CALL_UNDER_WAY, "The same call, or another one of its order, is under way.")
                    .retry_after(Duration::from_millis(wait_ms))
            }
            CallError::Store { trouble, answered: true, .. } => {
                // What is `OVERLOADED` is sent again by whoever is told so, for nothing was done.
                let trouble = if trouble == StoreTrouble::Busy { StoreTrouble::Unavailable } else { trouble };
                Self::from(trouble).internal(detail).message(NOT_RECORDED)
            }
            CallError::Store { trouble, answered: false, .. } => {
                let refused = Self::from(trouble).internal(detail);
                if trouble == StoreTrouble::Unavailable { refused.message(NOBODY_CALLED) } else { refused }
            }
            CallError::Partner { code, failure, link } => {
                let refused = Self::of_failure(&failure).internal(ForLog(&failure).to_string()).link(link);
                let refused = match code {
                    Some(code) => refused.with_listed_code(descriptor, code),
                    None => refused,
                };
                // Not the caller's token is at fault, but the user's at the partner.
                if refused.status == StatusCode::UNAUTHORIZED { refused.challenge(AT_PARTNER) } else { refused }
            }
            CallError::Answer(refusal) => {
                let refused = Self::new(Code::InternalError)
                    .message("The partner's answer breaks the intent's contract; it is recorded against the partner.")
                    .violations(refusal.violations);
                Self { status: StatusCode::BAD_GATEWAY, code: PARTNER_ANSWER_INVALID.into(), ..refused }
            }
            CallError::Contract(fault) => fault.into(),
        }
    }
}

impl Refusal {
    /// A failure at the partner's side, under its own code.
    fn of_failure(failure: &CallFailure) -> Self {
        let said = match failure {
            CallFailure::Unauthorized | CallFailure::SignInRequired { .. } => {
                "The partner wants the user's own sign-in; `link_url`, where it is there, leads to it."
            }
            CallFailure::NotCalled { why: NotCalled::Crowded, wait_ms } => {
                let wait = Duration::from_millis(wait_ms.unwrap_or(1_000));
                return Self::new(Code::Overloaded).retry_after(wait);
            }
            CallFailure::NotCalled { why: NotCalled::Down, .. } => {
                "The partner's server is down; it is asked again later."
            }
            CallFailure::NotCalled { .. } => "The partner is not called more often for now; try again later.",
            CallFailure::RateLimited { .. } => "The partner asks to slow down; try again later.",
            _ => "The partner gave no sound answer.",
        };
        let refused = Self::new(Code::InternalError).message(said);
        let status = match failure {
            CallFailure::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
            CallFailure::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            CallFailure::NotCalled { why: NotCalled::Down, .. } | CallFailure::Busy => StatusCode::SERVICE_UNAVAILABLE,
            CallFailure::NotCalled { .. } => StatusCode::TOO_MANY_REQUESTS,
            CallFailure::Unauthorized | CallFailure::SignInRequired { .. } => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_GATEWAY,
        };
        let refused = Self { status, code: failure.code().to_owned().into(), ..refused };
        match failure {
            CallFailure::RateLimited { retry_after_ms: Some(wait) }
            | CallFailure::NotCalled { wait_ms: Some(wait), .. } => refused.retry_after(Duration::from_millis(*wait)),
            CallFailure::RateLimited { .. } | CallFailure::NotCalled { .. } | CallFailure::Busy => {
                refused.retry_after(PARTNER_RETRY)
            }
            _ => refused,
        }
    }

    /// Under a code of the intent's error table with its status and meaning, or of the platform's own (spec 1, Errors).
    fn with_listed_code(self, descriptor: Option<&Descriptor>, code: String) -> Self {
        let row = descriptor.and_then(|descriptor| descriptor.error(&code));
        // A table may give an advisory status to a code; a failure is an error whatever the table says.
        let status = row
            .and_then(|row| StatusCode::from_u16(row.http_status).ok())
            .filter(|status| status.is_client_error() || status.is_server_error())
            .or_else(|| StatusCode::from_u16(PlatformCode::parse(&code)?.http_status()).ok())
            .unwrap_or(self.status);
        let message = match row {
            Some(row) if !row.meaning.is_empty() => Cow::Owned(row.meaning.clone()),
            _ => self.message.clone(),
        };
        Self { status, code: code.into(), message, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partner_that_is_not_called_comes_with_when_to_ask_again() {
        let told = |failure| {
            let refused = Refusal::of_failure(&failure);
            (
                refused.status.as_u16(),
                refused.code().to_owned(),
                refused.retry_after_seconds.map(std::num::NonZero::get),
            )
        };
        let not_called = |why, wait_ms| CallFailure::NotCalled { why, wait_ms };
        assert_eq!(told(not_called(NotCalled::Down, Some(4_200))), (503, "PARTNER_DOWN".to_owned(), Some(5)));
        assert_eq!(told(CallFailure::Busy), (503, "PARTNER_BUSY".to_owned(), Some(1)));
        assert_eq!(told(not_called(NotCalled::BackOff, Some(16_000))).2, Some(16));
        assert_eq!(told(CallFailure::RateLimited { retry_after_ms: None }).2, Some(1));
        assert_eq!(told(CallFailure::HttpStatus(500)).2, None, "nobody knows");
    }

    #[test]
    fn who_was_called_is_told_where_the_store_is_down() {
        let told = |trouble, answered| {
            let error = CallError::Store { trouble, answered, what: "the file /secret/g.db is full".to_owned() };
            let refused = Refusal::from(PinnedFailure { contract: None, error });
            assert!(
                !refused.message.contains("secret") && refused.detail().is_some_and(|text| text.contains("/secret/"))
            );
            (refused.code().to_owned(), refused.message.into_owned())
        };
        assert_eq!(told(StoreTrouble::Unavailable, false), ("STORE_UNAVAILABLE".to_owned(), NOBODY_CALLED.to_owned()));
        assert_eq!(told(StoreTrouble::Unavailable, true), ("STORE_UNAVAILABLE".to_owned(), NOT_RECORDED.to_owned()));
        assert_eq!(told(StoreTrouble::Busy, false).0, "OVERLOADED");
        assert_eq!(told(StoreTrouble::Busy, true), ("STORE_UNAVAILABLE".to_owned(), NOT_RECORDED.to_owned()));
        assert_eq!(told(StoreTrouble::Defect, false).0, "INTERNAL_ERROR");
    }
}
