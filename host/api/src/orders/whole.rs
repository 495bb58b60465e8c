//! One order whole, for each of those who may see it.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::ToolRole;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::KeptFinding;
use intent_gateway_domain::money::{Paise, inr};
use intent_gateway_routing::orders::{NextStep, NextSteps, OrderView};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::OrderBody;
use crate::evidence::Finding;
use crate::time;

/// A tool that may be called now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NextTool {
    /// Its name.
    pub tool: String,
    /// What it does.
    pub role: ToolRole,
    /// One sentence.
    pub purpose: String,
    /// It may be called until this time; null where it has no deadline.
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
    pub body: OrderBody,
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
    /// What may be done with it now; null where no contract is left that knows.
    #[schema(required)]
    pub next: Option<OrderNext>,
}

impl OrderDetail {
    /// An order as it is at a time, with what may be done with it.
    #[must_use]
    pub fn new(view: OrderView, next: Option<NextSteps>, now: Timestamp) -> Self {
        Self {
            body: OrderBody::new(&view, view.order.kept.clone(), now),
            quoted_inr: view.quoted_amount(),
            ranking_receipt: view.order.from.receipt,
            option: view.option,
            next: next.map(OrderNext::from),
        }
    }
}

/// A whole order, for its partner: nothing of the person, and nothing that only the user's side has said.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerOrder {
    #[serde(flatten)]
    pub body: OrderBody,
    /// What a report of it is expected to say.
    pub expected: ExpectedReport,
    /// The acknowledgement of the report that closed it; null where none has.
    #[schema(required)]
    pub ledger_receipt: Option<String>,
}

/// What a completion report of an order is expected to say. Its `external_id` is any of the order's `identifiers`, its
/// `request_id` the order's `search_request_id`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ExpectedReport {
    /// The statuses that the intent knows; empty where no contract is left that says them.
    pub statuses: Vec<String>,
    /// Those on which commission is charged.
    pub charged_statuses: Vec<String>,
    /// What the user was told to pay in all, INR; null where nothing says it.
    #[serde(with = "inr::option")]
    #[schema(required, value_type = Option<f64>)]
    pub quoted_inr: Option<Paise>,
}

impl PartnerOrder {
    /// An order as it is at a time.
    #[must_use]
    pub fn new(view: &OrderView, now: Timestamp) -> Self {
        let kept = view.kept_of_partner().into_iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let completion = view.contract.as_ref().map(|contract| contract.descriptor().completion.clone());
        let (statuses, charged_statuses) =
            completion.map(|completion| (completion.statuses, completion.charged_statuses)).unwrap_or_default();
        Self {
            body: OrderBody::new(view, kept, now),
            expected: ExpectedReport { statuses, charged_statuses, quoted_inr: view.quoted_amount() },
            ledger_receipt: view.order.report.as_ref().map(|report| report.receipt.clone()),
        }
    }
}

/// A whole order, for the platform team.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderRecord {
    #[serde(flatten)]
    pub body: OrderBody,
    /// The contract by which it is judged to its end.
    #[schema(value_type = String)]
    pub contract: Digest,
    /// That contract's version; null where it is not loaded any more.
    #[schema(value_type = Option<String>, required)]
    pub contract_version: Option<Version>,
    /// The option's own identifier.
    pub option_id: String,
    /// The option as it was shown; null where it was not known any more when it was ordered.
    #[schema(required, value_type = Option<Object>)]
    pub option: Option<Box<RawValue>>,
    /// What the user was told to pay in all, INR; null where nothing says it.
    #[serde(with = "inr::option")]
    #[schema(required, value_type = Option<f64>)]
    pub quoted_inr: Option<Paise>,
    /// Receipt of the ranking that showed the option; null where none was kept.
    #[schema(required)]
    pub ranking_receipt: Option<String>,
    /// Receipt of the ledger's entry; null where no report has closed it.
    #[schema(required)]
    pub ledger_receipt: Option<String>,
    /// What was found in the option, in answers to calls of the order, and in reports of it; newest first, at most 100.
    pub findings: Vec<Finding>,
}

impl OrderRecord {
    /// An order as it is at a time, with the findings about it.
    #[must_use]
    pub fn new(view: OrderView, findings: Vec<KeptFinding>, now: Timestamp) -> Self {
        let body = OrderBody::new(&view, view.order.kept.clone(), now);
        let quoted_inr = view.quoted_amount();
        let OrderView { order, option, contract, .. } = view;
        let own = contract.filter(|contract| contract.digest() == order.contract);
        Self {
            body,
            contract: order.contract,
            contract_version: own.map(|contract| contract.descriptor().version.clone()),
            option_id: order.from.option_id,
            option,
            quoted_inr,
            ranking_receipt: order.from.receipt,
            ledger_receipt: order.report.map(|report| report.receipt),
            findings: findings.into_iter().map(Finding::from).collect(),
        }
    }
}
