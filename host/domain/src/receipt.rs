//! Receipts of rankings: what went into a ranking and what came out, so that it can be replayed bit for bit, and so that
//! a completion report can be compared with what was quoted.
//!
//! A contract is a pure function, so its inputs and its digest are all that a replay needs. Of the outcome the order and
//! the scores are kept, and a digest of all of it, cards included.
//!
//! Not here: where receipts are kept ([`Evidence`](crate::ports::Evidence) is the port), and what a report is compared
//! by (the contracts). `routing` evaluates a receipt anew.

use std::fmt::{self, Write as _};

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::contract::{
    Axes, CallContext, Candidate, DroppedOption, Evaluation, PastOrder, Payload, RankedOption, Violation,
};
use crate::digest::Digest;
use crate::id::{IntentId, PartnerId};
use crate::vault::{Mark, hex};

/// Rankings of one request and intent that a report is compared with: the latest. A request may be searched for again.
pub const RANKINGS_OF_REQUEST_MAX: u32 = 3;
/// Receipts of all intents, the latest, that are looked through for those of one intent.
pub const RECEIPTS_LOOKED_THROUGH_MAX: u32 = 5_000;
/// Longest identifier of a receipt, characters: longer than any that [`identifier`] makes, so that its length may grow.
pub const ID_MAX_CHARS: usize = 64;
/// Bytes of a digest that make an identifier.
const ID_BYTES: usize = 12;

/// One ranking, whole. It holds what the user asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RankingReceipt))]
pub struct Receipt {
    /// Its identifier.
    #[cfg_attr(feature = "schema", schema(example = "rank_0f1e2d3c4b5a69788796a5b4"))]
    pub id: String,
    /// When the request came, milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub at_ms: Timestamp,
    /// The request; also what breaks ties.
    pub request_id: String,
    /// The intent.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub intent: IntentId,
    /// Version of the contract.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub version: Version,
    /// SHA-256 of its component, 64 hexadecimal characters.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub contract: Digest,
    /// The arguments that were sent to partners, and that options were judged by.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub arguments: Box<RawValue>,
    /// What each partner answered, in the order in which the contract saw it.
    pub payloads: Vec<ReceiptPayload>,
    /// The user's past orders that the contract was told of, the one that was opened last first. Empty in receipts from
    /// before any was told.
    #[serde(default)]
    pub history: Vec<PastOrder>,
    /// The options that were shown, best first.
    pub ranked: Vec<ReceiptScore>,
    /// The options that the contract took out.
    pub dropped: Vec<ReceiptDrop>,
    /// Until when the last of its options can be booked, milliseconds since the epoch. Receipts from before this was noted do not
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>))]
    pub bookable_until_ms: Option<Timestamp>,
    /// SHA-256 of the outcome, cards and findings included.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub outcome: Digest,
}

/// What is kept under a receipt's identifier.
#[derive(Clone, Debug)]
pub enum KeptReceipt {
    /// The receipt.
    Whole(Box<Receipt>),
    /// It was erased with its user's data.
    Erased,
}

impl KeptReceipt {
    /// The receipt, unless it is erased.
    #[must_use]
    pub fn whole(self) -> Option<Receipt> {
        match self {
            Self::Whole(receipt) => Some(*receipt),
            Self::Erased => None,
        }
    }
}

/// A receipt, and whose ranking it is.
#[derive(Clone, Debug)]
pub struct MarkedReceipt {
    pub receipt: Receipt,
    /// The user's mark; none where the search named nobody.
    pub user: Option<Mark>,
}

/// Receipts of an intent, from one back.
#[derive(Debug, Default)]
pub struct ReceiptsBack {
    /// The one that was kept last first.
    pub receipts: Vec<MarkedReceipt>,
    /// Where the next page begins; none after the last one.
    pub next: Option<u64>,
}

/// What one partner answered, as far as the contract saw it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RankingPayload))]
pub struct ReceiptPayload {
    /// Who answered. The contract was not told.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub partner: PartnerId,
    /// The signals that it declared of itself.
    pub declared: Axes,
    /// Its options.
    pub candidates: Vec<ReceiptCandidate>,
}

/// One option.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RankingCandidate))]
pub struct ReceiptCandidate {
    /// Its number in this ranking.
    pub number: u32,
    /// The option as the partner wrote it.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub json: Box<RawValue>,
}

/// Where an option came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RankingScore))]
pub struct ReceiptScore {
    /// Its number.
    pub number: u32,
    /// Its own identifier.
    pub id: String,
    /// What the order follows, 0 to 1.
    pub total: f64,
    /// Scores by axis.
    pub axes: Axes,
    /// Share of the information that the intent asks for, 0 to 1.
    pub completeness: f64,
}

/// Why an option was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RankingDrop))]
pub struct ReceiptDrop {
    /// Its number.
    pub number: u32,
    /// Whether it counts towards the partner's suspension.
    pub strike: bool,
    /// Codes of the rules that it breaks.
    pub codes: Vec<String>,
}

/// What of a receipt a partner's report is compared with.
#[derive(Clone, Debug)]
pub struct QuotedOptions {
    /// The ranking.
    pub receipt: String,
    /// When the request came.
    pub at: Timestamp,
    /// Version of the contract that ranked.
    pub version: Version,
    /// Digest of its component.
    pub contract: Digest,
    /// The partner's options that were shown, best first.
    pub options: Vec<Box<RawValue>>,
}

impl From<&RankedOption> for ReceiptScore {
    fn from(ranked: &RankedOption) -> Self {
        let RankedOption { number, ref id, total, axes, completeness, card: _ } = *ranked;
        Self { number, id: id.clone(), total, axes, completeness }
    }
}

impl From<&DroppedOption> for ReceiptDrop {
    fn from(dropped: &DroppedOption) -> Self {
        let codes = dropped.violations.iter().map(|violation| violation.code.clone()).collect();
        Self { number: dropped.number, strike: dropped.strike, codes }
    }
}

impl ReceiptPayload {
    /// What the contract is shown of it: everything but who answered.
    #[must_use]
    pub fn for_contract(&self) -> Payload<'_> {
        let candidates = self.candidates.iter();
        let candidates = candidates.map(|candidate| Candidate { number: candidate.number, json: candidate.json.get() });
        Payload { declared: self.declared, candidates: candidates.collect() }
    }
}

impl Receipt {
    /// The options of a partner that were shown, best first.
    pub fn shown<'a>(&'a self, partner: &'a PartnerId) -> impl Iterator<Item = &'a RawValue> + 'a {
        self.ranked.iter().filter_map(move |score| self.candidate(partner, score.number))
    }

    /// One option of a partner, if it was shown.
    #[must_use]
    pub fn shown_option(&self, partner: &PartnerId, number: u32) -> Option<&RawValue> {
        let is_shown = self.ranked.iter().any(|score| score.number == number);
        self.candidate(partner, number).filter(|_| is_shown)
    }

    fn candidate(&self, partner: &PartnerId, number: u32) -> Option<&RawValue> {
        let payloads = self.payloads.iter().filter(|payload| payload.partner == *partner);
        let mut candidates = payloads.flat_map(|payload| &payload.candidates);
        candidates.find(|candidate| candidate.number == number).map(|candidate| &*candidate.json)
    }
}

/// The identifier of a receipt: it follows from what was asked, when, by which contract, and what came out. Where it has
/// to be known before anything has come out, something that is no other search's stands for the outcome.
#[must_use]
pub fn identifier(context: &CallContext, contract: Digest, outcome: Digest) -> String {
    let mut hasher = Sha256::new();
    hasher.update(contract.as_bytes());
    hasher.update(outcome.as_bytes());
    hasher.update(context.now.as_ms().to_be_bytes());
    hasher.update(&context.request_id);
    format!("rank_{}", hex(&hasher.finalize()[..ID_BYTES]))
}

/// The digest of a ranking's outcome: equal digests mean the same order, scores to the bit, cards, drops and findings.
#[must_use]
pub fn outcome(evaluation: &Evaluation) -> Digest {
    let mut digested = Digested { hasher: Sha256::new(), line: String::new() };
    for ranked in &evaluation.ranked {
        let Axes { time, taste, budget, safety } = ranked.axes;
        let numbers = [ranked.total, time, taste, budget, safety, ranked.completeness].map(|score| score.to_bits());
        digested.write_ranked(ranked.number, numbers);
        digested.text(&ranked.id);
        digested.text(ranked.card.get());
    }
    for dropped in &evaluation.dropped {
        // With their number, so that no text of a reason can pass for another drop.
        let reasons = dropped.violations.len();
        digested.write(format_args!("dropped {} {} {reasons} {:?}", dropped.number, dropped.strike, dropped.id));
        dropped.violations.iter().for_each(|violation| digested.violation(violation));
    }
    for finding in &evaluation.findings {
        digested.write(format_args!("finding {}", finding.number));
        digested.violation(&finding.violation);
    }
    Digest::from_bytes(digested.hasher.finalize().into())
}

/// Texts on their way into a digest, each after its length.
struct Digested {
    hasher: Sha256,
    /// One buffer for all that is put together.
    line: String,
}

impl Digested {
    fn text(&mut self, text: &str) {
        self.hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.hasher.update(text);
    }

    /// `ranked NUMBER [A, B, ...]`, without the way through `fmt`: it is written for every option that is shown.
    fn write_ranked(&mut self, number: u32, numbers: [u64; 6]) {
        let mut digits = itoa::Buffer::new();
        self.line.clear();
        self.line.push_str("ranked ");
        self.line.push_str(digits.format(number));
        for (place, number) in numbers.into_iter().enumerate() {
            self.line.push_str(if place == 0 { " [" } else { ", " });
            self.line.push_str(digits.format(number));
        }
        self.line.push(']');
        let line = std::mem::take(&mut self.line);
        self.text(&line);
        self.line = line;
    }

    fn write(&mut self, parts: fmt::Arguments<'_>) {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        // Writing to a String cannot fail.
        let _ = line.write_fmt(parts);
        self.text(&line);
        self.line = line;
    }

    fn violation(&mut self, Violation { pointer, code, message }: &Violation) {
        [pointer, code, message].into_iter().for_each(|part| self.text(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranked_line_is_what_fmt_would_write() {
        for (number, numbers) in
            [(0, [0; 6]), (17, [u64::MAX, 1, 0.5_f64.to_bits(), 10, 99, 1_000]), (u32::MAX, [7; 6])]
        {
            let mut digested = Digested { hasher: Sha256::new(), line: "left over".to_owned() };
            digested.write_ranked(number, numbers);
            assert_eq!(digested.line, format!("ranked {number} {numbers:?}"));
            digested.write(format_args!("dropped {number}"));
            assert_eq!(digested.line, format!("dropped {number}"));
        }
    }
}
