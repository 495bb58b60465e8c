//! What goes into a call of a contract, and what comes out.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{About, Axes, Violation};

/// Another intent that an utterance points to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointerElsewhere {
    pub intent: String,
    /// 0..=1.
    pub score: f64,
    /// Why.
    pub reason: String,
}

/// A contract's own opinion of an utterance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classification {
    /// 0..=1; from 0.5 the contract claims the utterance.
    pub score: f64,
    /// What decided.
    pub evidence: Vec<String>,
    /// Out-of-scope intents, best first.
    pub elsewhere: Vec<PointerElsewhere>,
    /// Intents asked for as well.
    pub also: Vec<String>,
}

/// Where and when the user wants to be served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// City name as the user's request spells it.
    pub city: Option<String>,
    pub postal_code: Option<String>,
    /// Start of the wanted window, milliseconds since the epoch.
    pub from_ms: Option<u64>,
    /// End of the wanted window.
    pub until_ms: Option<u64>,
}

/// A request that passed.
#[derive(Clone, Debug)]
pub struct PreparedRequest {
    /// The arguments to send, a JSON object.
    pub arguments: Box<RawValue>,
    /// Where and when.
    pub need: Need,
    /// Advice that refuses nothing.
    pub notes: Vec<Violation>,
}

/// One option handed to a contract.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The host's number for it.
    pub number: u32,
    /// The option, a JSON value.
    pub json: &'a str,
}

/// All options of one answer.
#[derive(Clone, Debug)]
pub struct Payload<'a> {
    /// Signals declared for this source.
    pub declared: Axes,
    /// The options.
    pub candidates: Vec<Candidate<'a>>,
}

impl<'a> Payload<'a> {
    /// Answers whose options, JSON text, are numbered through from 0 in their order.
    pub fn numbered(answers: impl IntoIterator<Item = (Axes, &'a [String])>) -> Vec<Self> {
        let mut numbers = 0_u32..;
        let payload = |(declared, options): (Axes, &'a [String])| {
            // The options come first: a zip takes from its first side before it finds the other one empty.
            let numbered = options.iter().zip(numbers.by_ref());
            Self { declared, candidates: numbered.map(|(json, number)| Candidate { number, json }).collect() }
        };
        answers.into_iter().map(payload).collect()
    }
}

/// A search out of a contract's own examples, to show what its requests and options look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchSample {
    /// A request that the contract accepts, JSON text.
    pub request: String,
    /// Options that pass, JSON texts.
    pub options: Vec<String>,
}

/// An option that passed.
#[derive(Clone, Debug)]
pub struct RankedOption {
    /// The host's number for it.
    pub number: u32,
    /// Its own identifier.
    pub id: String,
    /// 0..=1, what the order follows.
    pub total: f64,
    /// Scores by axis, each 0..=1.
    pub axes: Axes,
    /// 0..=1.
    pub completeness: f64,
    /// The widget card, a JSON object.
    pub card: Box<RawValue>,
}

/// An option that was taken out.
#[derive(Clone, Debug)]
pub struct DroppedOption {
    /// The host's number for it.
    pub number: u32,
    /// Its identifier, where one could be read.
    pub id: Option<String>,
    /// Counts towards suspension.
    pub strike: bool,
    /// Why.
    pub violations: Vec<Violation>,
}

/// Something to record against the source of an option that stays.
#[derive(Clone, Debug)]
pub struct OptionFinding {
    /// The host's number for the option.
    pub number: u32,
    /// What was found.
    pub violation: Violation,
}

/// The outcome of a search over all answers.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// Best first.
    pub ranked: Vec<RankedOption>,
    /// Taken out.
    pub dropped: Vec<DroppedOption>,
    /// Recorded, not taken out.
    pub findings: Vec<OptionFinding>,
}

/// One call of a tool that is not a search, and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    pub tool: &'a str,
    /// The arguments that were sent.
    pub arguments: &'a str,
    /// The partner's payload.
    pub payload: &'a str,
    /// What the call is about, as it was before it.
    pub about: About<'a>,
}

/// An answer that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedResponse {
    /// The identifier that the answer carries.
    pub reference: Option<String>,
    /// An advisory code with HTTP status 200.
    pub advisory: Option<String>,
    /// To record against the partner.
    pub findings: Vec<Violation>,
}

/// A completion report that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCompletion {
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The request it came from.
    pub request_id: String,
    /// Reported status.
    pub status: String,
    /// Commission base in paise.
    pub amount_paise: i64,
    /// Whether commission is due.
    pub charged: bool,
    /// By how many minutes the service began later than was quoted, below zero where earlier; absent where the report
    /// does not tell.
    pub late_minutes: Option<i32>,
    /// Accepted, but marked for review.
    pub findings: Vec<Violation>,
    /// Likewise, and counted towards suspension.
    pub strikes: Vec<Violation>,
}
