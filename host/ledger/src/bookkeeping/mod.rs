//! What people do with the ledger: read statements and balances, put wrong entries right, look whether it is sound.
//!
//! | question | module |
//! |---|---|
//! | the statement of a partner and a month, page by page | `statements` |
//! | taking an entry back, booking what is right instead | `corrections` |
//! | whether the stored entries hold | `soundness` |
//! | whether those that come hold, one after the other | `watch` |
//!
//! What only reads is a function over the port, so that a command can use it without a gateway. Not here: the rules of
//! entries ([`ledger`](crate)), taking reports ([`completion`](crate::completion)), how a statement looks.

mod corrections;
mod soundness;
mod statements;
mod watch;

use std::sync::Arc;

pub use corrections::Amendment;
pub use soundness::{InvalidMark, Mark, Soundness, fault_code, fault_entry, verify};
pub use statements::{Outline, UNREPORTED_MAX, lines, outline, unreported};
pub use watch::LedgerWatch;

use crate::{Books, StatementError};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::ports::{BusinessNames, Contracts};
use intent_gateway_domain::store::{Store, StoreError};

/// What bookkeeping works with.
pub struct Bookkeeping {
    /// The ledger.
    pub books: Arc<dyn Books>,
    /// The audit log.
    pub store: Arc<dyn Store>,
    /// The names of the accounts.
    pub names: Arc<dyn BusinessNames>,
    /// Which statuses there are, and which are charged.
    pub contracts: Arc<dyn Contracts>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Why nothing came of it. The ledger is as it was, except that after [`Store`](Self::Store) a correction may be in it
/// all the same: asking for it again is safe, for an entry is taken back once.
#[derive(Debug, thiserror::Error)]
pub enum BookkeepingError {
    /// There is no entry of this number.
    #[error("there is no entry {0}")]
    UnknownEntry(u64),
    /// No account has this identifier, and no entry is about it.
    #[error("there is no such partner")]
    UnknownPartner,
    /// The entry takes another one back, and stands for good.
    #[error("entry {0} is a reversal, which is not taken back; an order whose entry was taken back stays without one")]
    IsReversal(u64),
    /// The entry was taken back before.
    #[error("entry {entry} was taken back{}", by(*.reversal))]
    NotStanding {
        entry: u64,
        /// What took it back; `None` where that is not found, and then the ledger is not sound.
        reversal: Option<u64>,
    },
    /// What was sent breaks rules; each is told.
    #[error("refused with {}", .0.code)]
    Refused(Refusal),
    /// A status is to be corrected, and no contract of the intent is live to say what it means.
    #[error("there is no intent `{0}`")]
    UnknownIntent(String),
    /// The entry is not as an entry is made, or cannot be read; a verification says what is wrong.
    #[error("entry {0} of the ledger is not sound")]
    Unsound(u64),
    /// The entries do not add up to a statement.
    #[error("the entries do not add up to a statement")]
    Statement(#[from] StatementError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

fn by(reversal: Option<u64>) -> String {
    reversal.map(|number| format!(" by entry {number}")).unwrap_or_default()
}

impl BookkeepingError {
    /// Refuses one member of a document.
    fn invalid(pointer: &str, code: &str, message: impl Into<String>) -> Self {
        let violation = Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: message.into() };
        Self::Refused(Refusal::invalid_request(vec![violation]))
    }
}
