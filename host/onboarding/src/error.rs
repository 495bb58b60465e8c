//! Why a step of onboarding was not taken.

use crate::connection::NotAllowed;
use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::golive::GoLiveError;
use intent_gateway_domain::platform_code::INVALID_INTENT;
use intent_gateway_domain::steps::Contended;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::vault::{NoEntropy, OpenError};

/// A step was not taken; nothing changed, unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum OnboardingError {
    /// What was sent breaks rules; each is told.
    #[error("refused with {}", .0.code)]
    Refused(Refusal),
    /// Nothing of that name.
    #[error("there is no {0}")]
    NotFound(&'static str),
    /// Code or secret is not right, too old or used up. A wrong code has cost one of its tries.
    #[error("the code or secret is not accepted")]
    NotAccepted,
    /// The token that asks was ended meanwhile.
    #[error("the session has ended")]
    SessionEnded,
    /// The step wants a token whose sign-in by a mailed code is fresh.
    #[error("a fresh sign-in by a mailed code is needed")]
    SignInNeeded,
    /// Too many of these within a time.
    #[error("too many requests of this kind; the next is possible in {0} ms")]
    TooMany(u64),
    /// The step does not fit what was done before.
    #[error("{message}")]
    OutOfStep {
        /// Stable code.
        code: &'static str,
        /// One sentence for a person.
        message: String,
    },
    /// The state of the connection does not allow it.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// Something is still missing; each thing is told.
    #[error("{} requirements are not met", .0.len())]
    NotReady(Vec<Violation>),
    /// The team's test could not be run.
    #[error("the test could not be run")]
    Test(#[from] GoLiveError),
    /// Others kept changing the same record; trying again later is in order.
    #[error("the record was changed by others again and again")]
    Contended,
    /// The store failed.
    #[error("the store failed")]
    Store(#[source] StoreError),
    /// The machine gives no random bytes.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
    /// A sealed secret cannot be opened.
    #[error("a sealed secret cannot be opened")]
    Sealed(#[from] OpenError),
}

impl From<StoreError> for OnboardingError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Contended> for OnboardingError {
    fn from(Contended: Contended) -> Self {
        Self::Contended
    }
}

impl OnboardingError {
    pub(super) fn out_of_step(code: &'static str, message: impl Into<String>) -> Self {
        Self::OutOfStep { code, message: message.into() }
    }

    /// Refuses one member of a document.
    pub(super) fn invalid(pointer: &str, code: &str, message: impl Into<String>) -> Self {
        let violation = Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: message.into() };
        Self::Refused(Refusal::invalid_request(vec![violation]))
    }

    /// Refuses an identifier that names no live intent.
    pub(super) fn unknown_intent(pointer: &str, intent: &str) -> Self {
        let message = format!("there is no intent `{intent}`");
        let code = INVALID_INTENT.to_owned();
        let violation = Violation { pointer: pointer.to_owned(), code: code.clone(), message };
        Self::Refused(Refusal { code, violations: vec![violation] })
    }
}
