//! The changes of an orchestrator's orders: each order once, at its latest change, as it is now.

use intent_gateway_domain::order::{Order, Owner};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Changed, StoreError, changed};
use intent_gateway_domain::user::Orchestrator;
use intent_gateway_domain::vault::{Mark, NoEntropy, Sealed};

use super::Orders;

/// Changes of one page, at most.
pub const CHANGES_MAX: u32 = 500;
/// Longest cursor that is looked at, bytes.
const CURSOR_MAX_BYTES: usize = 256;

/// An order that has changed, and the cursor after which its next change comes.
#[derive(Clone, Debug)]
pub struct ChangedOrder {
    pub order: Order,
    pub cursor: String,
}

/// A page of changes.
#[derive(Clone, Debug)]
pub struct ChangesPage {
    /// In the order of their latest changes.
    pub orders: Vec<ChangedOrder>,
    /// What to ask on with, whether or not anything has changed.
    pub cursor: String,
    /// Whether there may be more at once.
    pub is_full: bool,
}

/// Changes cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// It was not given to this orchestrator, or under a master key that is gone.
    #[error("the cursor is none that this orchestrator was given")]
    InvalidCursor,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

impl Orders {
    /// The orders of an orchestrator that have changed since a cursor was given; without one, all of them.
    ///
    /// # Errors
    /// [`FeedError`].
    pub async fn changes(
        &self,
        orchestrator: &Orchestrator,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ChangesPage, FeedError> {
        let seen = after.map_or(Ok(0), |cursor| self.open_cursor(orchestrator, cursor))?;
        let limit = limit.min(CHANGES_MAX);
        let marks = Owner::orchestrator_marks(&self.vault, orchestrator);
        let feeds: Vec<&str> = marks.iter().map(Mark::as_str).collect();
        let found = changed::<Order>(&*self.store, Changed { feeds: &feeds, after: seen, limit }).await?;
        let is_full = found.len() >= limit as usize;
        let mut orders = Vec::with_capacity(found.len());
        for (number, order) in found {
            orders.push(ChangedOrder { order, cursor: self.seal_cursor(orchestrator, number)? });
        }
        let cursor = match orders.last() {
            Some(last) => last.cursor.clone(),
            None => self.seal_cursor(orchestrator, seen)?,
        };
        Ok(ChangesPage { orders, cursor, is_full })
    }

    /// Sealed, for the number would tell how much is ordered through all orchestrators together.
    fn seal_cursor(&self, orchestrator: &Orchestrator, number: u64) -> Result<String, NoEntropy> {
        let number = Secret::new(number.to_string());
        self.vault.seal(&context(orchestrator), &number).map(Sealed::into_text)
    }

    fn open_cursor(&self, orchestrator: &Orchestrator, cursor: &str) -> Result<u64, FeedError> {
        if cursor.len() > CURSOR_MAX_BYTES {
            return Err(FeedError::InvalidCursor);
        }
        let opened = self.vault.open(&context(orchestrator), &Sealed::from_text(cursor.to_owned()));
        let opened = opened.map_err(|_| FeedError::InvalidCursor)?;
        opened.expose().parse().map_err(|_| FeedError::InvalidCursor)
    }
}

/// A cursor is good for its orchestrator alone.
fn context(orchestrator: &Orchestrator) -> String {
    format!("order-changes/{}", orchestrator.key())
}
