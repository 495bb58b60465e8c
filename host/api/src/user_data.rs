//! What is kept of one user, exported or erased.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::order::{ClosingReport, Happening, Order, OrderEvent};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_routing::user_data::{ErasedRecords, ExportPage, ExportedOrder};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::links::LinkBody;
use crate::time;

/// An order of the user's.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UserOrder {
    /// The gateway's identifier.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    pub order: String,
    /// The partner.
    pub partner: String,
    /// The intent.
    pub intent: String,
    /// When it was opened.
    pub opened_at: String,
    /// `pending`, `failed`, a state that the contract declares, or the status of a report.
    pub state: String,
    /// Whether a tool or a report can still change it.
    pub is_open: bool,
    /// Request identifier of the search.
    pub search_request_id: String,
    /// Request identifier of the call that opened it.
    pub request_id: String,
    /// Receipt of the ranking that showed the option; null where none is kept.
    #[schema(required)]
    pub receipt: Option<String>,
    /// Everything that the partner has called it by.
    pub identifiers: BTreeSet<String>,
    /// What the contract keeps of arguments and answers, by name.
    #[schema(value_type = Object)]
    pub kept: BTreeMap<String, Value>,
    /// What happened, with its time in milliseconds since the epoch.
    #[schema(value_type = Vec<Object>)]
    pub history: Vec<OrderEvent>,
    /// The report that closed it; null before that.
    #[schema(required, value_type = Option<Object>)]
    pub report: Option<ClosingReport>,
    /// The option's own identifier.
    pub option_id: String,
    /// The option that was ordered, as the search returned it; null where it is not kept any more.
    #[schema(required, value_type = Option<Object>)]
    pub option: Option<Box<RawValue>>,
}

/// A search of the user's, as its receipt has it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UserRanking {
    /// The receipt.
    #[schema(example = "rank_0f1e2d3c4b5a69788796a5b4")]
    pub receipt: String,
    /// When the request came.
    pub at: String,
    /// The request.
    pub request_id: String,
    /// The intent.
    pub intent: String,
    /// What was asked for.
    #[schema(value_type = Object)]
    pub arguments: Box<RawValue>,
    /// The options that were shown, best first.
    pub options: Vec<UserOption>,
}

/// An option that the user was shown.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UserOption {
    /// Who offered it.
    pub partner: String,
    /// As the partner wrote it.
    #[schema(value_type = Object)]
    pub option: Box<RawValue>,
}

/// A page of what is kept of a user.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UserData {
    /// Accounts that the user has linked; on the first page alone.
    pub links: Vec<LinkBody>,
    /// From the newest on, before all receipts.
    pub orders: Vec<UserOrder>,
    /// From the newest on.
    pub receipts: Vec<UserRanking>,
    /// Where the next page begins; null after the last. A page may be empty though others follow.
    #[schema(required)]
    pub next: Option<String>,
}

/// What was erased of a user, by this request alone.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserErased {
    /// Orders that stay without the person.
    pub orders: u64,
    /// Receipts of rankings, of which each stays as erased.
    pub receipts: u64,
    /// Findings that have lost their excerpt and message.
    pub findings: u64,
    /// Faults of contracts that have lost their input and message.
    pub faults: u64,
    /// Links that were ended, and those that a browser had begun.
    pub links: u64,
}

impl UserErased {
    /// What was erased of orders and rankings, with the links that were ended.
    #[must_use]
    pub fn new(erased: ErasedRecords, links: u64) -> Self {
        let ErasedRecords { orders, evidence } = erased;
        Self { orders, receipts: evidence.receipts, findings: evidence.findings, faults: evidence.faults, links }
    }
}

impl UserData {
    /// A page with the links that stand on it.
    #[must_use]
    pub fn new(page: ExportPage, links: Vec<LinkBody>) -> Self {
        let ExportPage { orders, rankings, next } = page;
        Self {
            links,
            orders: orders.into_iter().map(UserOrder::from).collect(),
            receipts: rankings.into_iter().map(UserRanking::from).collect(),
            next: next.map(|next| next.to_string()),
        }
    }
}

impl From<ExportedOrder> for UserOrder {
    fn from(ExportedOrder { order, option }: ExportedOrder) -> Self {
        let Order { id, partner, intent, from, request_id, opened_at_ms, state, is_open, kept, .. } = order;
        let mut history = order.history;
        for event in &mut history {
            // Where the gateway keeps the call says nothing of the user.
            if let Happening::Called { attempt, .. } = &mut event.what {
                *attempt = None;
            }
        }
        Self {
            order: id.to_string(),
            partner: partner.to_string(),
            intent: intent.to_string(),
            opened_at: time(opened_at_ms),
            state,
            is_open,
            search_request_id: from.request_id,
            request_id,
            receipt: from.receipt,
            identifiers: order.identifiers,
            kept,
            history,
            report: order.report,
            option_id: from.option_id,
            option,
        }
    }
}

impl From<Receipt> for UserRanking {
    fn from(receipt: Receipt) -> Self {
        let partners: Vec<_> = receipt.payloads.iter().map(|payload| payload.partner.clone()).collect();
        let shown = receipt.ranked.iter().filter_map(|score| {
            let find = |partner| Some((partner, receipt.shown_option(partner, score.number)?));
            let (partner, option) = partners.iter().find_map(find)?;
            Some(UserOption { partner: partner.to_string(), option: option.to_owned() })
        });
        let options = shown.collect();
        let Receipt { id, at_ms, request_id, intent, arguments, .. } = receipt;
        Self { receipt: id, at: time(at_ms), request_id, intent: intent.to_string(), arguments, options }
    }
}
