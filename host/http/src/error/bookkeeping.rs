//! What bookkeeping refuses, as HTTP says it.

use intent_gateway_domain::anchor::AnchorError;
use intent_gateway_domain::error::chain;
use intent_gateway_ledger::bookkeeping::BookkeepingError;

use super::onboarding::sentence;
use super::{Code, Refusal, refuse_document};

/// The entry was taken back before.
const ENTRY_TAKEN_BACK: &str = "ENTRY_TAKEN_BACK";
/// The entry takes another one back.
const ENTRY_IS_REVERSAL: &str = "ENTRY_IS_REVERSAL";

/// The entry is not as it was booked.
const ENTRY_UNSOUND: &str = "ENTRY_UNSOUND";

impl From<AnchorError> for Refusal {
    fn from(error: AnchorError) -> Self {
        let said = "What was anchored cannot be read, or was changed; the gateway's log says where.";
        Self::new(Code::InternalError).message(said).internal(chain(&error))
    }
}

impl From<BookkeepingError> for Refusal {
    fn from(error: BookkeepingError) -> Self {
        let (said, detail) = (sentence(&error.to_string()), chain(&error));
        match error {
            BookkeepingError::UnknownEntry(_) | BookkeepingError::UnknownPartner => {
                Self::new(Code::NotFound).message(said)
            }
            BookkeepingError::IsReversal(_) => Self::conflict(ENTRY_IS_REVERSAL, said),
            BookkeepingError::NotStanding { .. } => Self::conflict(ENTRY_TAKEN_BACK, said),
            BookkeepingError::Unsound(_) => Self::conflict(ENTRY_UNSOUND, said),
            BookkeepingError::Refused(refusal) => refuse_document(refusal),
            BookkeepingError::UnknownIntent(_) => {
                Self::new(Code::InvalidRequest).message(said).with_code(Code::InvalidIntent.as_str())
            }
            BookkeepingError::Store(error) => error.into(),
            BookkeepingError::Statement(_) => Self::new(Code::InternalError).internal(detail),
        }
    }
}
