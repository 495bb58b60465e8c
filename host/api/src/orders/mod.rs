//! Orders, as orchestrators, partners and the platform team see them. The marks of whose they are, no body holds.

mod changes;
mod whole;

use std::collections::BTreeMap;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Milestone;
use intent_gateway_domain::order::{self, ClosingReport, Happening, OrderEvent};
use intent_gateway_routing::orders::{OrderView, OrdersPage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use self::changes::{OrderChange, OrderChanges};
pub use self::whole::{ExpectedReport, NextTool, OrderDetail, OrderNext, OrderRecord, PartnerOrder};
use crate::time;

/// One order in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderSummary {
    /// Its identifier.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    pub id: String,
    /// Its intent.
    pub intent: String,
    /// The partner that it was placed with.
    pub partner: String,
    /// `pending`, `failed`, a state that the intent's contract declares, or the status of the report that closed it.
    pub state: String,
    /// Whether a tool or a report can still change it.
    pub is_open: bool,
    /// Whether nobody knows if the partner has it: the call that opened it has no answer, and can have none any more.
    pub in_doubt: bool,
    /// When it was opened.
    pub opened_at: String,
    /// When the last thing happened to it.
    pub changed_at: String,
    /// Request identifier of the call that opened it.
    pub request_id: String,
    /// That of the search that showed the option.
    pub search_request_id: String,
    /// Everything that the partner has called it by.
    pub identifiers: Vec<String>,
}

impl OrderSummary {
    /// An order as it is at a time.
    #[must_use]
    pub fn new(order: &order::Order, now: Timestamp) -> Self {
        let changed_at = order.history.last().map_or(order.opened_at_ms, |event| event.at_ms);
        Self {
            id: order.id.to_string(),
            intent: order.intent.to_string(),
            partner: order.partner.to_string(),
            state: order.state.clone(),
            is_open: order.is_open,
            in_doubt: order.is_in_doubt(now),
            opened_at: time(order.opened_at_ms),
            changed_at: time(changed_at),
            request_id: order.request_id.clone(),
            search_request_id: order.from.request_id.clone(),
            identifiers: order.identifiers.iter().cloned().collect(),
        }
    }
}

/// A page of orders.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderList {
    /// Newest first.
    pub orders: Vec<OrderSummary>,
    /// What to ask the next page with, as `before`; null when this was the last. A page with filters may be short, or empty,
    /// and not the last.
    #[schema(required)]
    pub next: Option<String>,
}

impl OrderList {
    /// A page as it is at a time.
    #[must_use]
    pub fn new(page: OrdersPage, now: Timestamp) -> Self {
        let OrdersPage { orders, next } = page;
        Self { orders: orders.iter().map(|order| OrderSummary::new(order, now)).collect(), next }
    }
}

/// What happened to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderHappening {
    /// A tool was called.
    Called,
    /// Its answer passed.
    Answered,
    /// The call certainly did nothing.
    Failed,
    /// Nobody knows whether the partner did it.
    Unknown,
    /// A completion report closed it.
    Reported,
}

/// One event of an order's history.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderHistoryEvent {
    /// When.
    pub at: String,
    /// What.
    pub what: OrderHappening,
    /// The tool, where one was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tool: Option<String>,
    /// Request identifier of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub request_id: Option<String>,
    /// The state in which an answer left it, or the status of a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub state: Option<String>,
    /// Why a call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub code: Option<String>,
}

impl From<&OrderEvent> for OrderHistoryEvent {
    fn from(OrderEvent { at_ms, what }: &OrderEvent) -> Self {
        let event = |what| Self { at: time(*at_ms), what, tool: None, request_id: None, state: None, code: None };
        match what.clone() {
            Happening::Called { tool, request_id, attempt: _ } => {
                Self { tool: Some(tool), request_id: Some(request_id), ..event(OrderHappening::Called) }
            }
            Happening::Answered { tool, state } => {
                Self { tool: Some(tool), state: Some(state), ..event(OrderHappening::Answered) }
            }
            Happening::Failed { tool, code } => {
                Self { tool: Some(tool), code: Some(code), ..event(OrderHappening::Failed) }
            }
            Happening::Unknown { tool, code } => {
                Self { tool: Some(tool), code: Some(code), ..event(OrderHappening::Unknown) }
            }
            Happening::Reported { status, receipt: _ } => {
                Self { state: Some(status), ..event(OrderHappening::Reported) }
            }
        }
    }
}

/// The report that closed an order.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderReport {
    /// When it was booked.
    pub at: String,
    /// The partner's identifier in it.
    pub external_id: String,
    /// The reported status.
    pub status: String,
}

impl From<&ClosingReport> for OrderReport {
    fn from(ClosingReport { at_ms, external_id, status, receipt: _ }: &ClosingReport) -> Self {
        Self { at: time(*at_ms), external_id: external_id.clone(), status: status.clone() }
    }
}

/// What everybody who may see an order whole is shown of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderBody {
    #[serde(flatten)]
    pub order: OrderSummary,
    /// The partner's display name; null where its server is not known any more.
    #[schema(required)]
    pub partner_name: Option<String>,
    /// What the state means, for people; null where no contract is left that knows it.
    #[schema(required)]
    pub meaning: Option<String>,
    /// What the user has, or owes, in this state.
    pub milestones: Vec<Milestone>,
    /// What the contract keeps of option, arguments and answers, by name; for a partner, what it has said itself.
    pub kept: BTreeMap<String, Value>,
    /// The first events and the latest.
    pub history: Vec<OrderHistoryEvent>,
    /// The report that closed it; null where none has.
    #[schema(required)]
    pub report: Option<OrderReport>,
}

impl OrderBody {
    fn new(view: &OrderView, kept: BTreeMap<String, Value>, now: Timestamp) -> Self {
        let OrderView { order, partner, .. } = view;
        Self {
            partner_name: partner.as_ref().map(|partner| partner.name.clone()),
            meaning: view.meaning().map(str::to_owned),
            milestones: view.milestones().to_vec(),
            kept,
            history: order.history.iter().map(OrderHistoryEvent::from).collect(),
            report: order.report.as_ref().map(OrderReport::from),
            order: OrderSummary::new(order, now),
        }
    }
}
