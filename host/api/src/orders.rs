//! Orders, as orchestrators, partners and the platform team see them. What only the platform keeps, marks and digests, is in
//! none of them.

use std::collections::BTreeMap;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Milestone, ToolRole};
use intent_gateway_domain::money::{Paise, inr};
use intent_gateway_domain::order::{self, ClosingReport, Happening, OrderEvent};
use intent_gateway_routing::orders::{ChangedOrder, ChangesPage, NextStep, NextSteps, OrderView, OrdersPage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::time;

/// One order in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderSummary {
    /// Its identifier.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    pub id: String,
    /// Its intent.
    pub intent: String,
    /// At whom.
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
            Happening::Called { tool, request_id } => {
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

/// A tool that may be called now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NextTool {
    /// Its name.
    pub tool: String,
    /// What it does.
    pub role: ToolRole,
    /// One sentence.
    pub purpose: String,
    /// It may be called before this time; null where there is no such time.
    #[schema(required)]
    pub until: Option<String>,
    /// The argument that identifies a repeated call; null where there is none.
    #[schema(required)]
    pub idempotency_key: Option<String>,
    /// JSON Schema (2020-12) of the arguments. Identifiers of the order may be left out: they are filled in.
    #[schema(value_type = Object)]
    pub request_schema: Box<RawValue>,
}

impl From<NextStep> for NextTool {
    fn from(NextStep { tool, role, purpose, idempotency_key, request_schema, until }: NextStep) -> Self {
        Self { tool, role, purpose, until: until.map(time), idempotency_key, request_schema }
    }
}

/// What may be done with an order now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderNext {
    /// Signed, and good for the user who has ordered: what the tools are called with.
    pub reference: String,
    /// The tools that have their turn, in the order of the contract.
    pub tools: Vec<NextTool>,
}

impl From<NextSteps> for OrderNext {
    fn from(NextSteps { reference, tools }: NextSteps) -> Self {
        Self { reference, tools: tools.into_iter().map(NextTool::from).collect() }
    }
}

/// A whole order, for the orchestrator through which it was placed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderDetail {
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
    /// Receipt of the ranking that showed the option; null where none was kept.
    #[schema(required)]
    pub ranking_receipt: Option<String>,
    /// The option as it was shown; null where it was not known any more when it was ordered.
    #[schema(required, value_type = Option<Object>)]
    pub option: Option<Box<RawValue>>,
    /// What the user was told to pay in all, INR; null where nothing says it.
    #[serde(with = "inr::option")]
    #[schema(required, value_type = Option<f64>)]
    pub quoted_inr: Option<Paise>,
    /// What the contract keeps of option, arguments and answers, by name.
    pub kept: BTreeMap<String, Value>,
    /// The first events and the latest.
    pub history: Vec<OrderHistoryEvent>,
    /// The report that closed it; null where none has.
    #[schema(required)]
    pub report: Option<OrderReport>,
    /// What may be done with it now; null where no contract is left that knows.
    #[schema(required)]
    pub next: Option<OrderNext>,
}

impl OrderDetail {
    /// An order as it is at a time, with what may be done with it.
    #[must_use]
    pub fn new(view: OrderView, next: Option<NextSteps>, now: Timestamp) -> Self {
        let (meaning, milestones) = (view.meaning().map(str::to_owned), view.milestones().to_vec());
        let quoted_inr = view.quoted_amount();
        let OrderView { order, option, partner, .. } = view;
        Self {
            partner_name: partner.map(|partner| partner.name.clone()),
            meaning,
            milestones,
            ranking_receipt: order.from.receipt.clone(),
            option,
            quoted_inr,
            history: order.history.iter().map(OrderHistoryEvent::from).collect(),
            report: order.report.as_ref().map(OrderReport::from),
            next: next.map(OrderNext::from),
            order: OrderSummary::new(&order, now),
            kept: order.kept,
        }
    }
}

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
