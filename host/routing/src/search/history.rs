//! What the user took before: the orders that completion reports have closed, as far as the contract asks for them.
//!
//! They are read while partners are called, so that a search waits for them only where the store is slower than partners
//! are. A search never fails of them: where they cannot be read in its time, nothing is known of the user.
//!
//! Not here: what counts of a past order, which is the contract's to say, and how orders become past ones
//! ([`order`](intent_gateway_domain::order)).

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};

use super::Searcher;
use super::prepare::PreparedSearch;
use intent_gateway_domain::contract::{OrderWay, PastOrder};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::PAST_ORDERS_MAX;
use intent_gateway_domain::order::{Order, Owner, name};
use intent_gateway_domain::ports::Timer;
use intent_gateway_domain::store::{Named, Store, StoreError, named};
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::Vault;

/// Where users' past orders are read.
#[derive(Clone)]
pub struct PastOrders {
    /// Keeps the orders.
    pub store: Arc<dyn Store>,
    /// Makes the marks by which they are found.
    pub vault: Vault,
    /// Ends the wait for the store.
    pub timer: Arc<dyn Timer>,
}

impl PastOrders {
    /// The asker's past orders of an intent, the one that was opened last first, at most [`PAST_ORDERS_MAX`].
    async fn read(&self, asker: &Asker, intent: &IntentId, way: &OrderWay) -> Result<Vec<PastOrder>, StoreError> {
        let mut orders: Vec<Order> = Vec::new();
        for mark in Owner::marks(&self.vault, asker) {
            let name = name::of_past(&mark, intent);
            let newest = Named { name: &name, before: None, limit: PAST_ORDERS_MAX };
            orders.extend(named::<Order>(&*self.store, newest).await?.into_iter().map(|kept| kept.value));
        }
        // Those of several master keys come one key after the other.
        orders.sort_by(|one, other| other.id.cmp(&one.id));
        let past = orders.iter().filter_map(|order| order.past(way));
        Ok(past.take(PAST_ORDERS_MAX.try_into().unwrap_or(usize::MAX)).collect())
    }
}

impl Searcher {
    /// What the contract is told of what the user took before. Nothing is read where it does not ask for it, where the request
    /// names no user, and where nobody is asked, so that nothing will be ranked.
    pub(super) async fn history(&self, search: &PreparedSearch, asked: usize) -> Vec<PastOrder> {
        let descriptor = search.descriptor();
        let declared = descriptor.order.as_ref().filter(|way| !way.history.is_empty());
        let (Some(past), Some(way)) = (&self.past_orders, declared) else { return Vec::new() };
        if search.asker.user.is_none() || asked == 0 {
            return Vec::new();
        }
        let intent = &descriptor.intent;
        match select(pin!(past.read(&search.asker, intent, way)), past.timer.wait(self.timeout)).await {
            Either::Left((Ok(history), _)) => history,
            Either::Left((Err(error), _)) => {
                tracing::warn!(%intent, error = %chain(&error), "a search goes without the user's past orders");
                Vec::new()
            }
            Either::Right(_) => {
                tracing::warn!(%intent, error = "the store is late", "a search goes without the user's past orders");
                Vec::new()
            }
        }
    }
}
