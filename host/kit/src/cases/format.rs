//! The format of a case file.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Values by JSON Pointer. The value `{"$remove": true}` takes the place out.
pub(super) type Changes = BTreeMap<String, Value>;

/// A place and a code.
pub(super) type Found = (String, String);

/// Which function of the contract the cases call.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Call {
    CheckRequest,
    Evaluate,
    CheckResponse,
    CheckCompletion,
    Classify,
}

/// One file: cases on one subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseFile {
    /// What the cases are about, for people.
    #[expect(dead_code, reason = "required of every file, read by people")]
    pub(super) about: String,
    pub(super) call: Call,
    /// The tool; absent means the search tool.
    pub(super) tool: Option<String>,
    /// The document that the cases change: arguments, an option, a payload, a report.
    pub(super) sample: Option<String>,
    /// `evaluate`: the request.
    pub(super) request: Option<String>,
    /// `check-response`: the arguments that were sent.
    pub(super) arguments: Option<String>,
    /// The option concerned, wherever a call is about one.
    pub(super) quoted: Option<String>,
    /// The order that the call is about, as [`OrderSample`] has it.
    pub(super) order: Option<Value>,
    /// `evaluate`: the user's past orders.
    #[serde(default)]
    pub(super) history: Vec<PastSample>,
    #[serde(default)]
    pub(super) fields: BTreeMap<String, Row>,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    #[serde(default)]
    pub(super) orders: Vec<Order>,
    /// `classify`: utterances that the contract claims.
    #[serde(default)]
    pub(super) claimed: Vec<String>,
    /// `classify`: utterances that it does not claim.
    #[serde(default)]
    pub(super) not_claimed: Vec<String>,
    /// `classify`: utterances that it sends to another intent, by that intent.
    #[serde(default)]
    pub(super) elsewhere: BTreeMap<String, Vec<String>>,
    /// `classify`: utterances that it claims and that ask for another intent as well, by that intent.
    #[serde(default)]
    pub(super) also: BTreeMap<String, Vec<String>>,
}

/// The cases of one place in the sample.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    /// What becomes of the document without the place: `accepted` or a code.
    pub(super) absent: Option<String>,
    /// Values that must pass.
    #[serde(default)]
    pub(super) accepted: Vec<Value>,
    /// Changes to other places of the sample that hold for all values of the row.
    #[serde(default)]
    pub(super) also: Changes,
    /// Changes to the request that hold for all values of the row.
    #[serde(default)]
    pub(super) request: Changes,
    /// Values that must be refused, by the code of the only violation.
    #[serde(flatten)]
    pub(super) refused: BTreeMap<String, Vec<Value>>,
}

/// One case of a rule between places.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) name: String,
    #[serde(default)]
    pub(super) set: Changes,
    #[serde(default)]
    pub(super) remove: Vec<String>,
    #[serde(default)]
    pub(super) request: Changes,
    #[serde(default)]
    pub(super) arguments: Changes,
    #[serde(default)]
    pub(super) quoted: Changes,
    /// Changes to the order.
    #[serde(default)]
    pub(super) order: Changes,
    /// The time that the contract is told, ISO 8601 with offset.
    pub(super) now: Option<String>,
    /// Nothing at all is found.
    #[serde(default)]
    pub(super) accepted: bool,
    #[serde(default)]
    pub(super) refused: Vec<Found>,
    #[serde(default)]
    pub(super) findings: Vec<Found>,
    #[serde(default)]
    pub(super) notes: Vec<Found>,
    pub(super) advisory: Option<String>,
    #[serde(default)]
    pub(super) strike: bool,
    /// `check-completion`: findings that count towards suspension.
    #[serde(default)]
    pub(super) strikes: Vec<Found>,
    /// The code of the refusal itself, where it matters.
    pub(super) code: Option<String>,
    /// `check-completion`: what is said of lateness, in minutes, where it matters; `null` where nothing may be said.
    #[serde(default, deserialize_with = "stated")]
    pub(super) late_minutes: Option<Option<i32>>,
}

/// An order as a case file states it. Instants are ISO 8601 with an offset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderSample {
    pub(super) state: String,
    pub(super) opened_at: String,
    #[serde(default)]
    pub(super) kept: Map<String, Value>,
    #[serde(default)]
    pub(super) answered: Vec<AnsweredSample>,
}

/// A call that the partner has answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnsweredSample {
    pub(super) tool: String,
    pub(super) at: String,
}

/// A past order of the user's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PastSample {
    pub(super) status: String,
    pub(super) closed_at: String,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, Value>,
}

/// A member that is there, even as `null`.
fn stated<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<i32>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// A ranking of several options made from the sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    pub(super) name: String,
    #[serde(default)]
    pub(super) request: Changes,
    /// The user's past orders, in the place of the file's.
    pub(super) history: Option<Vec<PastSample>>,
    /// The options, by the identifier that each is given.
    pub(super) options: BTreeMap<String, Changes>,
    /// The identifiers, best first; an option that is not named must be dropped.
    pub(super) order: Vec<String>,
}

impl CaseFile {
    /// What makes no sense in a file that is of the format.
    pub(super) fn check(&self) -> Result<(), String> {
        let needs = |what: &str, there: bool| if there { Ok(()) } else { Err(format!("`{what}` is missing")) };
        match self.call {
            Call::Classify | Call::Evaluate if self.order.is_some() || self.quoted.is_some() => {
                return Err("`quoted` and `order` need a call that is about an order".to_owned());
            }
            Call::Classify => {}
            Call::CheckRequest | Call::CheckCompletion => needs("sample", self.sample.is_some())?,
            Call::Evaluate => {
                needs("sample", self.sample.is_some())?;
                needs("request", self.request.is_some())?;
            }
            Call::CheckResponse => {
                needs("sample", self.sample.is_some())?;
                needs("arguments", self.arguments.is_some())?;
                needs("tool", self.tool.is_some())?;
            }
        }
        if self.call != Call::Evaluate && !(self.orders.is_empty() && self.history.is_empty()) {
            return Err("`orders` and `history` need the call `evaluate`".to_owned());
        }
        let spoken = self.claimed.len() + self.not_claimed.len() + self.elsewhere.len() + self.also.len();
        if (self.call == Call::Classify) == (spoken == 0) {
            return Err("utterances and the call `classify` go together".to_owned());
        }
        for (pointer, row) in &self.fields {
            row.check().map_err(|problem| format!("field `{pointer}`: {problem}"))?;
        }
        for rule in &self.rules {
            rule.check(self.call).map_err(|problem| format!("rule `{}`: {problem}", rule.name))?;
        }
        let cases = self.fields.len() + self.rules.len() + self.orders.len() + spoken;
        needs("fields, rules, orders or utterances", cases > 0)
    }
}

impl Row {
    fn check(&self) -> Result<(), String> {
        if self.absent.is_none() && self.accepted.is_empty() && self.refused.values().all(Vec::is_empty) {
            return Err("it has no case".to_owned());
        }
        match self.refused.keys().find(|code| !is_code(code)) {
            Some(other) => Err(format!("`{other}` is neither a key of the format nor a code")),
            None => Ok(()),
        }
    }
}

impl Rule {
    fn check(&self, call: Call) -> Result<(), String> {
        if self.late_minutes.is_some() && (call != Call::CheckCompletion || !self.refused.is_empty()) {
            return Err("`late_minutes` needs the call `check-completion` and a report that passes".to_owned());
        }
        if !self.strikes.is_empty() && (call != Call::CheckCompletion || !self.refused.is_empty()) {
            return Err("`strikes` need the call `check-completion` and a report that passes".to_owned());
        }
        let finds =
            !(self.refused.is_empty() && self.findings.is_empty() && self.notes.is_empty() && self.strikes.is_empty())
                || self.advisory.is_some();
        if finds == self.accepted {
            return Err("expected `accepted: true`, or what is found, and not both".to_owned());
        }
        Ok(())
    }
}

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
