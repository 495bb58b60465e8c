//! The orders at a partner: overdue ones first, then all in pages; one order with its history and what its report is expected to say;
//! and the reports that were tests.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query};
use axum::response::Response;
use axum::routing::get;
use intent_gateway_api::evidence::UnsignedReportsBody;
use intent_gateway_api::ledger::TestReportsBody;
use intent_gateway_api::orders::{OrderHappening, OrderHistoryEvent, OrderList, OrderSummary, PartnerOrder};
use intent_gateway_api::overdue::{OverdueOrder, PartnerOverdue};
use serde::Deserialize;
use serde_json::Value;

use super::deliveries::{self, Refused};
use super::own;
use crate::Console;
use crate::api::segment;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::Business;

const ADDRESS: &str = "/dashboard/orders";

/// Orders of a page, and overdue ones above it.
const PAGE_ROWS: usize = 50;
/// Overdue orders that the API lists at most.
const OVERDUE_MAX: usize = 1_000;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(ADDRESS, get(show_orders)).route("/dashboard/orders/{order}", get(show_order))
}

/// Which orders are looked at.
#[derive(Deserialize)]
struct Chosen {
    /// `true`, `false`, or nothing for all.
    #[serde(default)]
    open: String,
    #[serde(default)]
    before: String,
}

/// A choice as a part of a query, of a page's address or of the API's.
fn write_choice(open: &str, before: &str) -> String {
    let said = [("open", open), ("before", before)].into_iter().filter(|(_, value)| !value.is_empty());
    said.map(|(name, value)| format!("&{name}={}", segment(value))).collect()
}

/// A choice as an address.
fn link_to(open: &str, before: &str) -> String {
    let query = write_choice(open, before);
    query.strip_prefix('&').map_or_else(|| ADDRESS.to_owned(), |query| format!("{ADDRESS}?{query}"))
}

#[derive(Template)]
#[template(path = "partner/orders.html")]
struct OrdersPage {
    frame: Frame,
    /// How many wait for a report in all.
    overdue_count: usize,
    /// The latest of them.
    overdue: Vec<OverdueOrder>,
    orders: Vec<OrderSummary>,
    open: String,
    /// Whether it is the first page, which alone has what stands around the list.
    is_first: bool,
    older: Option<String>,
    tests: Option<TestReportsBody>,
    /// The latest deliveries of reports that were refused; those about no order stand here alone.
    refused: Vec<Refused>,
    unsigned: Option<UnsignedReportsBody>,
}

impl OrdersPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match self.overdue_count {
            0 => "No order waits for a report.".to_owned(),
            1 => "One order waits for its report.".to_owned(),
            OVERDUE_MAX.. => format!("{OVERDUE_MAX} orders or more wait for their reports."),
            waiting => format!("{waiting} orders wait for their reports."),
        }
    }

    /// The choices among all orders, each with its address.
    fn choices(&self) -> [(&'static str, String, bool); 3] {
        [("all", ""), ("open", "true"), ("closed", "false")]
            .map(|(name, open)| (name, link_to(open, ""), self.open == open))
    }
}

/// Where an order stands.
fn order_chip(order: &OrderSummary) -> Chip {
    match order.state.as_str() {
        _ if order.in_doubt => Chip::new(Tone::Care, "in doubt"),
        "failed" => Chip::new(Tone::Bad, "failed"),
        state if order.is_open => Chip::new(Tone::Moving, state),
        state => Chip::new(Tone::Idle, state),
    }
}

async fn show_orders(Business(visitor): Business, Query(chosen): Query<Chosen>) -> Result<Response, Failed> {
    let account = own(&visitor, "accounts");
    let Chosen { open, before } = chosen;
    let address = format!("{account}/orders?limit={PAGE_ROWS}{}", write_choice(&open, &before));
    let OrderList { orders, next } = visitor.api.get(&address).await?;
    let PartnerOverdue { orders: mut overdue, .. } = visitor.api.get(&format!("{account}/overdue-orders")).await?;
    let is_first = before.is_empty();
    let tests = if is_first { Some(visitor.api.get(&format!("{account}/test-reports")).await?) } else { None };
    let (refused, unsigned) = if is_first {
        (deliveries::list_refused(&visitor).await?, deliveries::count_unsigned(&visitor).await?)
    } else {
        (Vec::new(), None)
    };
    let overdue_count = overdue.len();
    overdue.truncate(PAGE_ROWS);
    let older = next.map(|before| link_to(&open, &before));
    let frame = visitor.frame(ADDRESS, "Orders").json(address);
    Ok(show(&OrdersPage { frame, overdue_count, overdue, orders, open, is_first, older, tests, refused, unsigned }))
}

#[derive(Template)]
#[template(path = "partner/order.html")]
struct OrderPage {
    frame: Frame,
    order: PartnerOrder,
    kept: Vec<(String, String)>,
    /// Deliveries of its report that were refused.
    refused: Vec<Refused>,
    milestones: Vec<String>,
}

impl OrderPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match (&self.order.body.meaning, self.order.body.order.in_doubt) {
            (_, true) => "Nobody knows whether you have this order: the call that opened it has no answer.".to_owned(),
            (Some(meaning), false) => meaning.clone(),
            (None, false) => format!("The order is {}.", self.order.body.order.state),
        }
    }
}

impl OrderPage {
    /// The page that writes its report.
    fn report(&self) -> String {
        let order = &self.order.body.order;
        let amount = self.order.expected.quoted_inr.map(|amount| amount.to_string()).unwrap_or_default();
        let external_id = order.identifiers.first().map(String::as_str).unwrap_or_default();
        super::report::link_to(&order.intent, external_id, &order.search_request_id, &amount)
    }
}

/// What happened, in words.
fn say_event(event: &OrderHistoryEvent) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (tool, state, code) = (text(&event.tool), text(&event.state), text(&event.code));
    match event.what {
        OrderHappening::Called => format!("{tool} was called."),
        OrderHappening::Answered => format!("{tool} was answered. The order is {state}."),
        OrderHappening::Failed => format!("{tool} failed with {code}. Nothing was done."),
        OrderHappening::Unknown => format!("{tool} has no answer ({code}). Nobody knows whether it was done."),
        OrderHappening::Reported => format!("Your report closed it as {state}."),
    }
}

fn event_chip(event: &OrderHistoryEvent) -> Chip {
    match event.what {
        OrderHappening::Called => Chip::new(Tone::Moving, "called"),
        OrderHappening::Answered => Chip::new(Tone::Good, "answered"),
        OrderHappening::Failed => Chip::new(Tone::Bad, "failed"),
        OrderHappening::Unknown => Chip::new(Tone::Care, "unknown"),
        OrderHappening::Reported => Chip::new(Tone::Good, "reported"),
    }
}

/// A kept value: a text as it is, anything else as JSON.
fn write_kept(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a report is about an order: it names one of its identifiers, or the search that it came from.
fn is_about(delivery: &Refused, order: &OrderSummary) -> bool {
    let is_named = delivery.external_id.as_ref().is_some_and(|id| order.identifiers.contains(id));
    is_named || delivery.request_id == order.search_request_id
}

async fn show_order(Business(visitor): Business, Path(order): Path<String>) -> Result<Response, Failed> {
    let address = format!("{}/orders/{}", own(&visitor, "accounts"), segment(&order));
    let order = visitor.api.get::<PartnerOrder>(&address).await?;
    let kept = order.body.kept.iter().map(|(name, value)| (name.clone(), write_kept(value))).collect();
    let milestones = order.body.milestones.iter().map(|one| intent_gateway_api::name(one).replace('_', " ")).collect();
    let mut refused = deliveries::list_refused(&visitor).await?;
    refused.retain(|delivery| is_about(delivery, &order.body.order));
    let frame = visitor.frame(ADDRESS, format!("Order {}", order.body.order.id)).json(address);
    Ok(show(&OrderPage { frame, order, kept, refused, milestones }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_addresses() {
        assert_eq!(link_to("", ""), "/dashboard/orders");
        assert_eq!(link_to("true", "a&b"), "/dashboard/orders?open=true&before=a%26b");
    }

    #[test]
    fn events_are_said_in_words() {
        let event = |what| OrderHistoryEvent {
            at: String::new(),
            what,
            tool: Some("book".to_owned()),
            request_id: None,
            state: Some("booked".to_owned()),
            code: Some("SLOT_GONE".to_owned()),
        };
        assert_eq!(say_event(&event(OrderHappening::Answered)), "book was answered. The order is booked.");
        assert_eq!(say_event(&event(OrderHappening::Failed)), "book failed with SLOT_GONE. Nothing was done.");
        assert_eq!(say_event(&event(OrderHappening::Reported)), "Your report closed it as booked.");
    }
}
