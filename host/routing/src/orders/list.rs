//! Pages of orders, newest first.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::order::{Order, Owner, name};
use intent_gateway_domain::store::{Named, StoreError, named};
use intent_gateway_domain::user::Asker;

use super::Orders;

/// Orders that one page looks through for those that are asked for. A page may so hold fewer than there is room for, and
/// still not be the last.
pub const LOOKED_THROUGH_MAX: u32 = 1_000;
/// Orders read at once to look for some.
const CHUNK: u32 = 200;

/// Which orders a page holds. What is absent chooses nothing.
#[derive(Clone, Copy, Debug)]
pub struct OrderFilter<'a> {
    pub intent: Option<&'a str>,
    /// Name of a state.
    pub state: Option<&'a str>,
    pub is_open: Option<bool>,
    /// Whether nobody knows if the partner has it.
    pub in_doubt: Option<bool>,
    /// Only orders opened before this one.
    pub before: Option<&'a str>,
    /// At most so many.
    pub limit: u32,
}

/// A page of orders.
#[derive(Clone, Debug)]
pub struct OrdersPage {
    /// Newest first.
    pub orders: Vec<Order>,
    /// The order after which the next page goes on; none when this was the last.
    pub next: Option<String>,
}

impl OrderFilter<'_> {
    fn admits_all(&self) -> bool {
        let Self { intent, state, is_open, in_doubt, before: _, limit: _ } = self;
        intent.is_none() && state.is_none() && is_open.is_none() && in_doubt.is_none()
    }

    fn admits(&self, order: &Order, now: Timestamp) -> bool {
        self.intent.is_none_or(|intent| order.intent.as_str() == intent)
            && self.state.is_none_or(|state| order.state == state)
            && self.is_open.is_none_or(|is_open| order.is_open == is_open)
            && self.in_doubt.is_none_or(|in_doubt| order.is_in_doubt(now) == in_doubt)
    }
}

impl Orders {
    /// What an asker has ordered.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    pub async fn list_of(&self, asker: &Asker, filter: OrderFilter<'_>) -> Result<OrdersPage, StoreError> {
        let names: Vec<String> = Owner::marks(&self.vault, asker).iter().map(name::of_asker).collect();
        self.page(&names, filter).await
    }

    /// The orders of any of these names that a filter admits.
    async fn page(&self, names: &[String], filter: OrderFilter<'_>) -> Result<OrdersPage, StoreError> {
        let now = self.clock.now();
        // One more than are wanted tells whether there are more.
        let size = if filter.admits_all() { filter.limit.saturating_add(1) } else { CHUNK };
        let mut before = filter.before.map(str::to_owned);
        let (mut orders, mut looked_through) = (Vec::new(), 0);
        loop {
            let chunk = self.chunk(names, before.as_deref(), size).await?;
            let is_last = chunk.len() < size as usize;
            for order in chunk {
                if orders.len() >= filter.limit as usize || looked_through >= LOOKED_THROUGH_MAX {
                    return Ok(OrdersPage { orders, next: before });
                }
                looked_through += 1;
                before = Some(order.id.to_string());
                if filter.admits(&order, now) {
                    orders.push(order);
                }
            }
            if is_last {
                return Ok(OrdersPage { orders, next: None });
            }
        }
    }

    /// The newest orders of these names before one of them.
    async fn chunk(&self, names: &[String], before: Option<&str>, size: u32) -> Result<Vec<Order>, StoreError> {
        let mut orders: Vec<Order> = Vec::new();
        for name in names {
            let found = named::<Order>(&*self.store, Named { name, before, limit: size }).await?;
            orders.extend(found.into_iter().map(|kept| kept.value));
        }
        orders.sort_unstable_by(|one, other| other.id.cmp(&one.id));
        orders.truncate(size as usize);
        Ok(orders)
    }
}
