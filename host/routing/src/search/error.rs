//! Why a search gave no result.

use intent_gateway_domain::contract::Refusal;
use intent_gateway_domain::error::{ContractError, ContractFault};

/// Why a search gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// No live contract of that name.
    #[error("there is no intent `{0}`")]
    InvalidIntent(String),
    /// This gateway has not heard for too long which contract is to serve.
    #[error("it has not been known for too long which contract is to serve")]
    Stale,
    /// The contract refused the request.
    #[error("the request was refused with {}", .0.code)]
    Refused(Refusal),
    /// Nobody has answered, and the gateway is a reason: it had no place for a call to a partner.
    #[error("nobody answered, and the gateway had no place for a call")]
    Overloaded {
        /// When to ask again, milliseconds from now, where that is known.
        wait_ms: Option<u64>,
    },
    /// The contract failed.
    #[error("the contract of the intent failed")]
    Contract(#[source] ContractFault),
}

impl From<ContractError> for SearchError {
    fn from(error: ContractError) -> Self {
        match error {
            ContractError::Refused(refusal) => Self::Refused(refusal),
            ContractError::Fault(fault) => Self::Contract(fault),
        }
    }
}
