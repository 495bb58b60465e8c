//! Orders: one record from the shown option to the commission.
//!
//! A tool that the contract declares to open orders opens one, as `pending`, before its partner is called. Its answer, a
//! repeat under the same key, or a completion report settles it. Which tool may be called when, what is kept of the answers
//! and which states there are, the contract declares ([`OrderWay`](crate::contract::OrderWay)); the rules that follow from it
//! stand here, the same for every intent: [`turn`] says whether a tool may be called, [`progress`] what an answer changes.
//!
//! An order holds no name and nothing of a user's arguments but what the contract keeps of them. Whose it is, a mark says.
//!
//! Not here: calls (`routing`), reports (`ledger`), and where orders are kept ([`Store`](crate::store::Store)).

mod history;
mod identity;
pub mod name;
pub mod overdue;
mod person;
pub mod progress;
pub mod turn;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub use self::history::{ClosingReport, Happening, OrderEvent};
pub use self::identity::{InvalidOrderId, OrderId, Owner};

use self::overdue::Overdue;
use crate::clock::Timestamp;
use crate::contract::{AnsweredCall, OrderView, OrderWay, PastOrder};
use crate::digest::Digest;
use crate::id::{IntentId, PartnerId};
use crate::limits::CALL_SETTLED_MS;
use crate::store::{Kind, Record};

/// The state until the answer to the call that opens an order is known.
pub const PENDING: &str = "pending";
/// The state of an order whose opening call certainly did nothing.
pub const FAILED: &str = "failed";
/// Status of a record: a tool or a report can still change the order.
pub const OPEN: &str = "open";
/// Likewise, and its report has not come in time.
pub const OVERDUE: &str = "overdue";
/// Nothing changes the order any more.
pub const CLOSED: &str = "closed";
/// What stands for the state where there is no order.
pub const NO_ORDER: &str = "none";
/// Events that an order keeps of its history, at most: the first ones and the latest.
const HISTORY_MAX: usize = 64;
/// Of those, the first ones.
const HISTORY_FIRST: usize = 8;
/// Identifiers that an order keeps, at most.
const IDENTIFIERS_MAX: usize = 32;
/// Characters of an identifier, at most; a longer one is not kept.
const IDENTIFIER_MAX_CHARS: usize = 256;

/// The option that was ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedFrom {
    /// The option's own identifier.
    pub option_id: String,
    /// Receipt of the ranking that showed it, where one is kept.
    pub receipt: Option<String>,
    /// Its number there.
    pub number: u32,
    /// The search's request identifier.
    pub request_id: String,
}

/// One order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub id: OrderId,
    pub partner: PartnerId,
    pub intent: IntentId,
    /// Digest of the contract under which it was opened, by which it is judged to its end.
    pub contract: Digest,
    pub owner: Owner,
    /// What was ordered.
    pub from: OrderedFrom,
    /// Request identifier of the call that opened it.
    pub request_id: String,
    /// Milliseconds since the epoch.
    pub opened_at_ms: Timestamp,
    /// [`PENDING`], [`FAILED`], a state of the contract's, or the status of the report that closed it.
    pub state: String,
    /// Whether a tool or a report can still change it.
    pub is_open: bool,
    /// While it is open, no other order is opened of its option. So it is where the contract has calls of one option share an
    /// order; given up for good once nobody knows whether the partner has it.
    #[serde(default)]
    pub is_sole: bool,
    /// Whether what was quoted is kept with it: nobody knows it where the store lost the ranking. Orders from before this was noted
    /// do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_option: Option<bool>,
    /// What the contract keeps, by name.
    pub kept: BTreeMap<String, Value>,
    /// Everything that the partner has called it by.
    pub identifiers: BTreeSet<String>,
    /// The tools that were answered, each once.
    pub answered: Vec<AnsweredCall>,
    /// The first events and the latest.
    pub history: Vec<OrderEvent>,
    /// The report that closed it.
    pub report: Option<ClosingReport>,
    /// What was noted when no report came in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue: Option<Overdue>,
    /// Whether its user was erased: nothing is kept of arguments any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_nobodys: bool,
}

impl Order {
    /// An order that is about to be placed.
    #[must_use]
    pub fn open(opening: Opened, now: Timestamp) -> Self {
        let Opened { id, partner, intent, contract, owner, from, request_id, is_sole } = opening;
        Self {
            id,
            partner,
            intent,
            contract,
            owner,
            from,
            request_id,
            opened_at_ms: now,
            state: PENDING.to_owned(),
            is_open: true,
            is_sole,
            has_option: None,
            kept: BTreeMap::new(),
            identifiers: BTreeSet::new(),
            answered: Vec::new(),
            history: Vec::new(),
            report: None,
            overdue: None,
            is_nobodys: false,
        }
    }

    /// Request identifiers of its calls, as far as its history goes.
    #[must_use]
    pub fn calls(&self) -> Vec<&str> {
        let called = self.history.iter().filter_map(|event| match &event.what {
            Happening::Called { request_id, .. } => Some(request_id.as_str()),
            _ => None,
        });
        called.chain([self.request_id.as_str()]).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// As a contract sees it.
    #[must_use]
    pub fn view(&self) -> OrderView {
        OrderView {
            state: self.state.clone(),
            opened_at: self.opened_at_ms,
            kept: serde_json::to_string(&self.kept).unwrap_or_else(|_| "{}".to_owned()),
            answered: self.answered.clone(),
        }
    }

    /// As a later search of its user is told of it; nothing where no report has closed it.
    #[must_use]
    pub fn past(&self, way: &OrderWay) -> Option<PastOrder> {
        let report = self.report.as_ref()?;
        let kept = way.history.iter().filter_map(|name| self.kept.get_key_value(name));
        Some(PastOrder {
            status: report.status.clone(),
            closed_at_ms: report.at_ms,
            attributes: kept.map(|(name, value)| (name.clone(), value.clone())).collect(),
        })
    }

    /// Whether nobody knows if the partner has it: the call that opened it has no answer, and can have none any more.
    #[must_use]
    pub fn is_in_doubt(&self, now: Timestamp) -> bool {
        self.state == PENDING && self.under_way(now).is_none()
    }

    /// For how long a call of it can still be under way, milliseconds; none where none is. Until then no other is made.
    #[must_use]
    pub fn under_way(&self, now: Timestamp) -> Option<u64> {
        let (place, event) = self.last_call()?;
        let Happening::Called { tool: called, .. } = &event.what else { return None };
        let has_ended = self.history[place..].iter().any(|event| event.what.ends(called));
        let since_ms = now.ms_since(event.at_ms);
        (!has_ended && since_ms < CALL_SETTLED_MS).then(|| CALL_SETTLED_MS - since_ms)
    }

    /// Whether the last call of a step was this one, kept under its key. The answer to an earlier one, repeated, says nothing new
    /// of the order.
    #[must_use]
    pub fn was_last_called(&self, kept_under: &str) -> bool {
        let last = self.last_call().map(|(_, event)| &event.what);
        matches!(last, Some(Happening::Called { attempt: Some(attempt), .. }) if attempt == kept_under)
    }

    /// Whether the last call of a step was of this tool, by this request.
    #[must_use]
    pub fn was_last_asked(&self, tool: &str, by: &str) -> bool {
        let last = self.last_call().map(|(_, event)| &event.what);
        matches!(last, Some(Happening::Called { tool: called, request_id, .. }) if called == tool && request_id == by)
    }

    /// The last call, with its place in the history.
    fn last_call(&self) -> Option<(usize, &OrderEvent)> {
        let mut events = self.history.iter().enumerate().rev();
        events.find(|(_, event)| matches!(event.what, Happening::Called { .. }))
    }

    /// Records what has happened.
    fn note(&mut self, at: Timestamp, what: Happening) {
        if self.history.len() >= HISTORY_MAX {
            self.history.remove(HISTORY_FIRST);
        }
        self.history.push(OrderEvent { at_ms: at, what });
    }
}

/// What is known of an order when it is opened.
#[derive(Clone, Debug)]
pub struct Opened {
    pub id: OrderId,
    pub partner: PartnerId,
    pub intent: IntentId,
    pub contract: Digest,
    pub owner: Owner,
    pub from: OrderedFrom,
    /// Request identifier of the call that opens it.
    pub request_id: String,
    /// Whether no other is opened of its option meanwhile.
    pub is_sole: bool,
}

impl Record for Order {
    const KIND: Kind = Kind::Orders;

    fn key(&self) -> String {
        self.id.as_str().to_owned()
    }

    /// Two of which only one may be open have the same, so that the store takes one of them.
    fn lookup(&self) -> Option<String> {
        let holds = self.is_open && self.is_sole;
        holds.then(|| name::of_option(&self.owner.asker, &self.partner, &self.from))
    }

    fn status(&self) -> Option<&'static str> {
        Some(match self.is_open {
            true if self.is_overdue() => OVERDUE,
            true => OPEN,
            false => CLOSED,
        })
    }

    fn names(&self) -> Vec<String> {
        let Self { partner, intent, owner, from, request_id, .. } = self;
        let requests = [request_id, &from.request_id].map(|request_id| name::of_request(partner, intent, request_id));
        let fixed = [
            name::of_asker(&owner.asker),
            name::of_orchestrator(&owner.orchestrator),
            name::of_partner(partner),
            name::of_option(&owner.asker, partner, from),
        ];
        let identifiers = self.identifiers.iter().map(|identifier| name::of_identifier(partner, intent, identifier));
        let overdue = self.overdue.as_ref().map(|_| name::of_overdue(partner));
        let past = self.report.as_ref().map(|_| name::of_past(&owner.asker, intent));
        let report = self.report.as_ref().map(|report| &report.receipt);
        let known_as: BTreeSet<&String> = [request_id, &from.request_id]
            .into_iter()
            .chain(&from.receipt)
            .chain(report)
            .chain(&self.identifiers)
            .collect();
        let known_as = known_as.into_iter().map(|text| name::of_anything(text));
        fixed.into_iter().chain(requests).chain(identifiers).chain(overdue).chain(past).chain(known_as).collect()
    }

    /// Told to the orchestrator through which it was ordered.
    fn feed(&self) -> Option<String> {
        Some(self.owner.orchestrator.as_str().to_owned())
    }
}

/// The option that was ordered, as the search returned it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrderedOption {
    pub order: OrderId,
    /// A JSON value.
    pub option: Box<RawValue>,
}

impl Record for OrderedOption {
    const KIND: Kind = Kind::OrderedOptions;

    fn key(&self) -> String {
        self.order.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests;
