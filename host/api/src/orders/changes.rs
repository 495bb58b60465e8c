//! What has changed.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::order;
use intent_gateway_routing::orders::{ChangedOrder, ChangesPage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderSummary;

/// An order that has changed, as it is now. Whose it is of the orchestrator's users, the request identifiers tell.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderChange {
    /// Its identifier.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    pub order: String,
    /// Its intent.
    pub intent: String,
    /// `pending`, `failed`, a state that the intent's contract declares, or the status of the report that closed it.
    pub state: String,
    /// Whether a tool or a report can still change it.
    pub is_open: bool,
    /// Whether nobody knows if the partner has it, at the time of telling.
    pub in_doubt: bool,
    /// When the last thing happened to it.
    pub changed_at: String,
    /// Request identifier of the call that opened it.
    pub request_id: String,
    /// That of the search that showed the option.
    pub search_request_id: String,
}

impl OrderChange {
    /// An order as it is at a time.
    #[must_use]
    pub fn new(order: &order::Order, now: Timestamp) -> Self {
        let OrderSummary { id, intent, state, is_open, in_doubt, changed_at, request_id, search_request_id, .. } =
            OrderSummary::new(order, now);
        Self { order: id, intent, state, is_open, in_doubt, changed_at, request_id, search_request_id }
    }
}

/// A page of changes.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderChanges {
    /// In the order of their latest changes; each order once.
    pub events: Vec<OrderChange>,
    /// What to ask on with, as `after`; good for this orchestrator, at every gateway of the store.
    pub next: String,
    /// Whether there may be more at once.
    pub more: bool,
}

impl OrderChanges {
    /// A page as it is at a time.
    #[must_use]
    pub fn new(page: ChangesPage, now: Timestamp) -> Self {
        let ChangesPage { orders, cursor, is_full } = page;
        let events = orders.iter().map(|ChangedOrder { order, .. }| OrderChange::new(order, now)).collect();
        Self { events, next: cursor, more: is_full }
    }
}
