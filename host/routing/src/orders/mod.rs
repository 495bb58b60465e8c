//! Orders as they are looked at: by the orchestrator through which they were placed, by the partner, by the platform team.
//!
//! Nothing here changes an order. Whose orders somebody may see is decided here, by the marks that orders hold; who may ask at
//! all, and how an answer is written, is not.

mod feed;
mod list;
mod next;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::order::{Order, Owner};
use intent_gateway_domain::ports::{Contracts, PartnerDirectory};
use intent_gateway_domain::store::{Store, StoreError, load};
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::Vault;

pub use self::feed::{CHANGES_MAX, ChangedOrder, ChangesPage, FeedError};
pub use self::list::{LOOKED_THROUGH_MAX, OrderFilter, OrdersPage};
pub use self::next::{NextStep, NextSteps};
pub use self::view::OrderView;

use crate::calling::Caller;
use crate::reference::ReferenceSealer;

/// Longest identifier of an order that is looked for, bytes.
const ID_MAX_BYTES: usize = 64;

/// Looks at orders over the ports.
pub struct Orders {
    store: Arc<dyn Store>,
    /// Recognises whose an order is, and seals places in feeds.
    vault: Vault,
    contracts: Arc<dyn Contracts>,
    directory: Arc<dyn PartnerDirectory>,
    clock: Arc<dyn Clock>,
    references: ReferenceSealer,
}

impl Orders {
    /// Of what a caller places: in the same store, and with references that it takes.
    #[must_use]
    pub fn beside(caller: &Caller) -> Self {
        Self {
            store: caller.memory.store.clone(),
            vault: caller.memory.vault.clone(),
            contracts: caller.contracts.clone(),
            directory: caller.directory.clone(),
            clock: caller.clock.clone(),
            references: caller.references.clone(),
        }
    }

    /// An asker's order. None where there is none of that identifier, or it is somebody else's: nobody can tell which.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    pub async fn find_of(&self, asker: &Asker, id: &str) -> Result<Option<Order>, StoreError> {
        let marks = Owner::marks(&self.vault, asker);
        Ok(self.find(id).await?.filter(|order| marks.contains(&order.owner.asker)))
    }

    /// An order by its identifier.
    ///
    /// # Errors
    /// As [`find_of`](Self::find_of).
    pub async fn find(&self, id: &str) -> Result<Option<Order>, StoreError> {
        if id.len() > ID_MAX_BYTES || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Ok(None);
        }
        Ok(load::<Order>(&*self.store, id).await?.map(|kept| kept.value))
    }
}
