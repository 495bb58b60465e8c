//! A user's rights: all that is kept of one user's orders and rankings, exported, or erased.
//!
//! Not here: accounts that users have linked, which `linking` lists and ends.

mod erasure;
mod export;
mod retention;

use std::sync::Arc;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::ports::{Contracts, Evidence, Journal};
use intent_gateway_domain::steps::Contended;
use intent_gateway_domain::store::{Store, StoreError};
use intent_gateway_domain::user_data::UserEvidence;
use intent_gateway_domain::vault::Vault;

pub use self::erasure::ErasedRecords;
pub use self::export::{ExportCursor, ExportPage, ExportedOrder};
pub use self::retention::forget_orders;

/// What is kept of users' orders and rankings, over the ports.
pub struct UserRecords {
    /// Keeps orders and writes under their keys.
    pub store: Arc<dyn Store>,
    /// Reads receipts.
    pub evidence: Arc<dyn Evidence>,
    /// Finds and erases the rankings of one user.
    pub rankings: Arc<dyn UserEvidence>,
    /// Where rankings wait to be kept.
    pub journal: Arc<dyn Journal>,
    /// Tell what of an order came out of arguments.
    pub contracts: Arc<dyn Contracts>,
    /// Marks users.
    pub vault: Vault,
    pub clock: Arc<dyn Clock>,
}

impl UserRecords {
    /// Waits until all that was recorded before is kept or lost.
    async fn settle_journal(&self) -> Result<(), UserDataError> {
        match self.journal.settle().await {
            true => Ok(()),
            false => Err(StoreError::Unavailable("rankings still wait to be kept".to_owned(), None).into()),
        }
    }
}

/// A user's data could not be read, or not all of it erased. What was erased until then stays so; the same again goes on.
#[derive(Debug, thiserror::Error)]
pub enum UserDataError {
    /// A call of one of the user's orders is under way, for so many milliseconds at most. Its answer would be kept.
    #[error("a call of one of the user's orders is under way")]
    CallUnderWay(u64),
    /// Others keep changing one of the user's orders.
    #[error(transparent)]
    Contended(#[from] Contended),
    /// The store failed.
    #[error("what is kept of the user could not be read or changed")]
    Store(#[from] StoreError),
}
