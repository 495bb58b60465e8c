//! The way of an order, as a contract declares it, and the order as a contract sees it.
//!
//! Not here: an order itself, and what the host makes of a declared way ([`crate::order`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;

/// What the user has, or owes, in a state of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Milestone {
    /// The partner has promised what was ordered.
    Confirmed,
    /// The partner knows who the customer is, as the law asks.
    Verified,
    /// The user has paid, or has to.
    Paid,
    /// The partner has begun to deliver.
    TakenIn,
}

/// A state of an order that a tool leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderState {
    /// snake_case.
    pub name: String,
    /// What it means, for people.
    pub meaning: String,
    /// No tool leads on from here, and nobody waits for a report.
    pub closed: bool,
    /// What the user has, or owes.
    pub milestones: Vec<Milestone>,
}

/// Where a value stands that an order keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OrderSource {
    /// The option that was ordered.
    Option,
    /// The arguments of the call.
    Arguments,
    /// The partner's answer.
    Answer,
}

/// A value that an order keeps, for later calls and for its report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptValue {
    /// snake_case.
    pub name: String,
    /// In which document.
    pub source: OrderSource,
    /// JSON Pointer there.
    pub pointer: String,
    /// The partner knows the order by it; later arguments of this name must be it.
    pub identifies: bool,
}

/// Whether a call opens an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// It needs one that is open.
    Never,
    /// Each call under a key of its own opens one.
    Always,
    /// It opens one where the user has no open order of the same option.
    First,
}

/// What a call is refused with that comes out of its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderRefusal {
    /// In these states; `none` where there is no order.
    pub states: Vec<String>,
    /// A code of the intent's error table.
    pub code: String,
    /// Why, and what to do.
    pub text: String,
}

/// Until when a call is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderDeadline {
    /// Name of the kept value: a datetime, or a date that must not be over in India.
    pub kept: String,
    /// A code of the intent's error table.
    pub code: String,
    /// Why.
    pub text: String,
}

/// Where an answer that passed leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderOutcome {
    /// States before the call, `pending` where it opened the order; empty: any.
    pub from: Vec<String>,
    /// JSON Pointer into the answer to a text; null where any answer leads there.
    #[cfg_attr(feature = "schema", schema(required))]
    pub pointer: Option<String>,
    /// The values of that text that lead there.
    pub values: Vec<String>,
    /// A declared state.
    pub state: String,
}

/// What one tool does to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderStep {
    /// Name of the tool.
    pub tool: String,
    /// Whether it opens an order.
    pub opening: Opening,
    /// The states in which it may be called.
    pub states: Vec<String>,
    /// What it is refused with in others; `INVALID_REQUEST` where none fits.
    pub refusals: Vec<OrderRefusal>,
    /// Until when it may be called.
    pub deadlines: Vec<OrderDeadline>,
    /// What is kept once the answer passed.
    pub keeps: Vec<KeptValue>,
    /// Where an answer leads to: the first one that fits.
    pub outcomes: Vec<OrderOutcome>,
}

/// How orders of an intent go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderWay {
    /// The states that tools lead to.
    pub states: Vec<OrderState>,
    /// What each tool does.
    pub steps: Vec<OrderStep>,
    /// Name of the kept value that says what the user pays in all, INR; null where the option's price says it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub amount: Option<String>,
    /// Name of the kept value after which a report is due.
    #[cfg_attr(feature = "schema", schema(required))]
    pub due_after: Option<String>,
    /// Names of kept values that a search is told of the user's past orders: attributes, and nothing that identifies an order.
    pub history: Vec<String>,
}

impl OrderWay {
    /// The step of a tool.
    #[must_use]
    pub fn step(&self, tool: &str) -> Option<&OrderStep> {
        self.steps.iter().find(|step| step.tool == tool)
    }

    /// A declared state.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<&OrderState> {
        self.states.iter().find(|state| state.name == name)
    }
}

/// A call that the partner has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AnsweredCall {
    /// The tool.
    pub tool: String,
    /// When the answer came, milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub at_ms: Timestamp,
}

/// An order, as a contract sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OrderView {
    /// `pending`, `failed`, a declared state, or the status of a report.
    pub state: String,
    /// Milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub opened_at: Timestamp,
    /// The kept values by their names, a JSON object.
    pub kept: String,
    /// Calls of steps whose answers passed, each once, in their order.
    pub answered: Vec<AnsweredCall>,
}

/// An order of the user's that a completion report has closed, as a search is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PastOrder {
    /// The status of its report.
    pub status: String,
    /// When the report was booked, milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub closed_at_ms: Timestamp,
    /// The values that the contract names in `history` of its orders' way, by their names; those that the order keeps.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub attributes: BTreeMap<String, Value>,
}

impl PastOrder {
    /// The attributes as a contract is given them, a JSON object. The same attributes give the same text.
    #[must_use]
    pub fn attributes_json(&self) -> String {
        serde_json::to_string(&self.attributes).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// What a call or a completion report is about, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The option concerned, JSON text.
    pub quoted: Option<&'a str>,
    /// The order, where there is one.
    pub order: Option<&'a OrderView>,
}

impl<'a> About<'a> {
    /// An option that nothing is known to have been ordered of.
    #[must_use]
    pub fn option(quoted: Option<&'a str>) -> Self {
        Self { quoted, order: None }
    }

    /// The same with everything that it borrows, to be kept.
    #[must_use]
    pub fn to_subject(self) -> Subject {
        Subject { quoted: self.quoted.map(str::to_owned), order: self.order.cloned() }
    }
}

/// [`About`] that is kept, or read from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContractSubject))]
pub struct Subject {
    /// The option concerned, JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted: Option<String>,
    /// The order, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderView>,
}

impl Subject {
    /// What a contract is given of it.
    #[must_use]
    pub fn about(&self) -> About<'_> {
        About { quoted: self.quoted.as_deref(), order: self.order.as_ref() }
    }

    /// Bytes of all texts in it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let order = self.order.as_ref().map_or(0, |order| {
            let answered: usize = order.answered.iter().map(|call| call.tool.len()).sum();
            order.state.len() + order.kept.len() + answered
        });
        order + self.quoted.as_ref().map_or(0, String::len)
    }
}
