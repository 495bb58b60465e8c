//! Pages of orders, newest first.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::order::{CLOSED, OPEN, OVERDUE, Order, Owner, name};
use intent_gateway_domain::store::{Named, Newest, StoreError, named, newest};
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
    pub partner: Option<&'a PartnerId>,
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

/// Where orders are looked for.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// Among those of any of these names.
    Names(&'a [String]),
    /// Everywhere.
    All,
}

impl OrderFilter<'_> {
    /// As many as a store gives at once, whatever they are.
    pub const ALL: OrderFilter<'static> = OrderFilter {
        partner: None,
        intent: None,
        state: None,
        is_open: None,
        in_doubt: None,
        before: None,
        limit: LOOKED_THROUGH_MAX - 1,
    };

    fn admits_all(&self) -> bool {
        let Self { partner, intent, state, is_open, in_doubt, before: _, limit: _ } = self;
        partner.is_none() && intent.is_none() && state.is_none() && is_open.is_none() && in_doubt.is_none()
    }

    fn admits(&self, order: &Order, now: Timestamp) -> bool {
        self.partner.is_none_or(|partner| order.partner == *partner)
            && self.intent.is_none_or(|intent| order.intent.as_str() == intent)
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
        self.page(Source::Names(&names), filter).await
    }

    /// What was ordered at a partner.
    ///
    /// # Errors
    /// As [`list_of`](Self::list_of).
    pub async fn list_at(&self, partner: &PartnerId, filter: OrderFilter<'_>) -> Result<OrdersPage, StoreError> {
        self.page(Source::Names(&[name::of_partner(partner)]), filter).await
    }

    /// What anybody knows by a text: the identifier of an order, or one that a partner has given it; the request identifier of a
    /// search or a booking; the receipt of a ranking or of a report.
    ///
    /// # Errors
    /// As [`list_of`](Self::list_of).
    pub async fn list_known_as(&self, text: &str, filter: OrderFilter<'_>) -> Result<OrdersPage, StoreError> {
        if let Some(order) = self.find(text).await? {
            let orders = if filter.admits(&order, self.clock.now()) { vec![order] } else { Vec::new() };
            return Ok(OrdersPage { orders, next: None });
        }
        self.page(Source::Names(&[name::of_anything(text)]), filter).await
    }

    /// All orders.
    ///
    /// # Errors
    /// As [`list_of`](Self::list_of).
    pub async fn list_all(&self, filter: OrderFilter<'_>) -> Result<OrdersPage, StoreError> {
        self.page(Source::All, filter).await
    }

    /// The newest order at a partner that is known by a text, as in [`list_known_as`](Self::list_known_as).
    ///
    /// # Errors
    /// As [`list_of`](Self::list_of).
    pub async fn find_at(&self, partner: &PartnerId, text: &str) -> Result<Option<Order>, StoreError> {
        let filter = OrderFilter { partner: Some(partner), limit: 1, ..OrderFilter::ALL };
        Ok(self.list_known_as(text, filter).await?.orders.pop())
    }

    /// The orders of a source that a filter admits.
    async fn page(&self, source: Source<'_>, filter: OrderFilter<'_>) -> Result<OrdersPage, StoreError> {
        let now = self.clock.now();
        // One more than are wanted tells whether there are more.
        let size = if filter.admits_all() { filter.limit.saturating_add(1) } else { CHUNK };
        let mut before = filter.before.map(str::to_owned);
        let (mut orders, mut looked_through) = (Vec::new(), 0);
        loop {
            let chunk = self.chunk(source, &filter, before.as_deref(), size).await?;
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

    /// The newest orders of a source before one of them.
    async fn chunk(
        &self,
        source: Source<'_>,
        filter: &OrderFilter<'_>,
        before: Option<&str>,
        size: u32,
    ) -> Result<Vec<Order>, StoreError> {
        let mut orders: Vec<Order> = Vec::new();
        match source {
            Source::Names(names) => {
                for name in names {
                    let found = named::<Order>(&*self.store, Named { name, before, limit: size }).await?;
                    orders.extend(found.into_iter().map(|kept| kept.value));
                }
            }
            Source::All => {
                let statuses: &[Option<&str>] = match filter.is_open {
                    None => &[None],
                    Some(true) => &[Some(OPEN), Some(OVERDUE)],
                    Some(false) => &[Some(CLOSED)],
                };
                for status in statuses {
                    let asked = Newest { status: *status, before, limit: size };
                    orders.extend(newest::<Order>(&*self.store, asked).await?.into_iter().map(|kept| kept.value));
                }
            }
        }
        orders.sort_unstable_by(|one, other| other.id.cmp(&one.id));
        orders.truncate(size as usize);
        Ok(orders)
    }
}
