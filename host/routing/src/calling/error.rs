//! Why a call gave no answer, and which code the caller is told.

use intent_gateway_domain::contract::{Refusal, Tool, Violation};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault, chain};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::ports::SignInLink;
use intent_gateway_domain::steps::Contended;
use intent_gateway_domain::store::{StoreError, StoreTrouble};
use intent_gateway_outbound::policy::idempotency::KeyError;

/// Why a call gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No live contract of that name.
    #[error("there is no intent `{0}`")]
    InvalidIntent(String),
    /// The intent has no such tool, or it is the search.
    #[error("the intent has no tool `{0}` that is called by reference")]
    UnknownTool(String),
    /// The reference was not issued here, or for another intent or user.
    #[error("the reference is not one that this gateway issued to this user for this intent")]
    InvalidReference,
    /// The option is no longer bookable; with the intent's own code for it.
    #[error("the option is no longer bookable")]
    Expired(Option<String>),
    /// The store was down when the option was shown, so that nobody knows any more what was quoted.
    #[error("what was quoted of the option was not kept")]
    OptionNotKept,
    /// Requests of the intent are no longer routed to the partner.
    #[error("the partner {0} is not served for the intent at the moment")]
    PartnerGone(PartnerId),
    /// What was booked there can be neither followed nor cancelled: nobody knows any more where the partner is called.
    #[error("it is not known any more where the partner {0} is called")]
    PartnerForgotten(PartnerId),
    /// The arguments were refused.
    #[error("the arguments were refused with {}", .0.code)]
    Refused(Refusal),
    /// The call failed at the partner's side; with the code that the caller is told.
    #[error("the partner gave no answer")]
    Partner {
        /// A code of the intent's table or the platform's; absent where the failure's own is told.
        code: Option<String>,
        /// What happened.
        #[source]
        failure: CallFailure,
        /// Where the user signs in, where the partner asked for that.
        link: Option<Box<SignInLink>>,
    },
    /// The key was used with other arguments.
    #[error("the key was used before with other arguments")]
    KeyUsed,
    /// The same write is under way.
    #[error("the same call is under way")]
    UnderWay {
        /// When to ask again, milliseconds from now.
        wait_ms: u64,
    },
    /// What was done under the key, or the order, cannot be looked up or recorded.
    #[error("the store failed: {what}")]
    Store {
        /// What it means to the caller.
        trouble: StoreTrouble,
        /// Whether the partner has answered, and only its answer could not be recorded. Otherwise nobody was called.
        answered: bool,
        /// What happened, for the log.
        what: String,
    },
    /// The contract refuses the partner's answer.
    #[error("the partner's answer was refused with {}", .0.code)]
    Answer(Refusal),
    /// The contract failed.
    #[error("the contract of the intent failed")]
    Contract(#[source] ContractFault),
}

impl From<StoreError> for CallError {
    fn from(error: StoreError) -> Self {
        Self::Store { trouble: error.trouble(), answered: false, what: chain(&error) }
    }
}

impl From<Contended> for CallError {
    fn from(error: Contended) -> Self {
        Self::Store { trouble: StoreTrouble::Busy, answered: false, what: chain(&error) }
    }
}

impl CallError {
    /// What is kept, or is to be kept, cannot be used.
    pub(super) fn defect(error: &dyn std::error::Error) -> Self {
        Self::Store { trouble: StoreTrouble::Defect, answered: false, what: chain(error) }
    }

    /// The same of a partner's answer that could not be recorded.
    pub(super) fn after_answer(self) -> Self {
        match self {
            Self::Store { trouble, what, .. } => Self::Store { trouble, answered: true, what },
            other => other,
        }
    }

    /// Whether the store was down, so that a change under way may hold or not.
    pub(super) fn is_outage(&self) -> bool {
        matches!(self, Self::Store { trouble: StoreTrouble::Unavailable | StoreTrouble::Busy, .. })
    }

    pub(super) fn of_request(error: ContractError) -> Self {
        match error {
            ContractError::Refused(refusal) => Self::Refused(refusal),
            ContractError::Fault(fault) => Self::Contract(fault),
        }
    }
}

/// Arguments whose key cannot be taken.
pub(super) fn of_key(error: &KeyError, tool: &Tool) -> CallError {
    let pointer = match (error, &tool.idempotency_key) {
        (KeyError::Key(_), Some(name)) => child("", name),
        _ => String::new(),
    };
    let violation = Violation { pointer, code: "INVALID_KEY".to_owned(), message: chain(error) };
    CallError::Refused(Refusal::invalid_request(vec![violation]))
}

/// The code that the caller is told for a partner's own error; `None` where the failure is the gateway's to name.
pub(super) fn public_code(failure: &CallFailure) -> Option<String> {
    match failure {
        CallFailure::Platform { .. } | CallFailure::UnknownCode { .. } => Some(failure.code().to_owned()),
        _ => None,
    }
}
