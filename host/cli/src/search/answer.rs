//! What is read of [`SearchAnswer`](intent_gateway_api::search::SearchAnswer), which borrows from a search and is only
//! written.

use std::fmt;

use intent_gateway_api::intents::ContractVersion;
use intent_gateway_domain::contract::{Axes, Violation};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The answer to a search.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) request_id: String,
    pub(super) intent: String,
    pub(super) contract: ContractVersion,
    pub(super) receipt: Option<String>,
    pub(super) code: Option<String>,
    pub(super) options: Vec<Choice>,
    pub(super) dropped: Vec<Drop>,
    pub(super) partners: Vec<Partner>,
    #[serde(default)]
    pub(super) left_out_more: usize,
    pub(super) notes: Vec<Violation>,
}

/// One ranked option.
#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    pub(super) reference: String,
    pub(super) bookable: bool,
    pub(super) partner: String,
    pub(super) card: Members,
    pub(super) total: f64,
    pub(super) axes: Axes,
    pub(super) completeness: f64,
}

/// The members of an object in the order in which they were written: a card's order is its widget's.
#[derive(Debug)]
pub(super) struct Members(pub(super) Vec<(String, Value)>);

impl Members {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// One option that was taken out.
#[derive(Debug, Deserialize)]
pub(super) struct Drop {
    pub(super) partner: String,
    pub(super) position: usize,
    pub(super) option_id: Option<String>,
    pub(super) strike: bool,
    pub(super) violations: Vec<Violation>,
}

/// What one partner did.
#[derive(Debug, Deserialize)]
pub(super) struct Partner {
    pub(super) partner: String,
    pub(super) name: String,
    pub(super) status: Participation,
    pub(super) options: usize,
    pub(super) notes: Vec<Violation>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) elapsed_ms: Option<u64>,
    pub(super) link_url: Option<String>,
    #[serde(default)]
    pub(super) link_code: Option<String>,
}

/// How a partner took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Participation {
    Answered,
    Failed,
    LeftOut,
}
