//! Replays: a receipt evaluated anew by the very component that ranked it, or by another version of its intent.
//!
//! What the contract is given is what it was given then: the request's identifier and moment, the arguments, the
//! declared signals, the options under their numbers, in their order, the user's past orders. Whatever comes out differently then is not due to
//! the input: the receipt was altered, or the contract is not a pure function.
//!
//! Not here: finding the component (that is [`Contracts::find_loaded`](intent_gateway_domain::ports::Contracts::find_loaded)), and the partners,
//! who are not asked again.

use serde::{Deserialize, Serialize};

use intent_gateway_domain::contract::{Axes, CallContext, Payload};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop, ReceiptPayload, ReceiptScore, outcome};

/// The outcome of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Whether the outcome is the same: order, scores to the bit, cards, drops and findings.
    pub same: bool,
    /// Digest of the outcome, as the receipt holds it.
    pub expected: Digest,
    /// Digest of this outcome; none where the contract refused to rank at all.
    pub found: Option<Digest>,
    /// Where the two part first; none where they are the same.
    pub difference: Option<Difference>,
}

/// Where two outcomes part first, as far as a receipt tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "in")]
pub enum Difference {
    /// The contract refuses the arguments, which it took then.
    Request {
        /// Code of the refusal.
        code: String,
    },
    /// Another option at this place of the ranking, or other scores.
    Ranked {
        /// Place, from 0.
        place: usize,
        /// What the receipt has there.
        expected: Option<ReceiptScore>,
        /// What is there now.
        found: Option<ReceiptScore>,
    },
    /// Another option was dropped, or for other reasons.
    Dropped {
        /// Place in the list of drops, from 0.
        place: usize,
        /// What the receipt has there.
        expected: Option<ReceiptDrop>,
        /// What is there now.
        found: Option<ReceiptDrop>,
    },
    /// In what the receipt holds the digest of alone: cards, findings, the wording of reasons.
    Remainder,
}

/// What a version makes of a receipt.
#[derive(Clone, Debug, PartialEq)]
pub struct Reranking {
    /// Its outcome beside that of the receipt.
    pub replay: Replay,
    /// The options that it shows, best first; none where it refuses to rank.
    pub ranked: Vec<ReceiptScore>,
    /// The options that it takes out.
    pub dropped: Vec<ReceiptDrop>,
}

/// A replay that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Only the component that ranked can replay.
    #[error("the receipt is of the contract {expected}, and not of {given}")]
    OtherContract {
        /// The component that ranked.
        expected: Digest,
        /// The one that was given.
        given: Digest,
    },
    /// The contract failed, which says nothing of the ranking.
    #[error("the contract failed")]
    Contract(#[source] ContractFault),
}

/// Evaluates a receipt anew and compares the outcomes.
///
/// # Errors
/// [`ReplayError`] when the contract is another one, or fails.
pub async fn replay(receipt: &Receipt, contract: &dyn Contract) -> Result<Replay, ReplayError> {
    if contract.digest() != receipt.contract {
        return Err(ReplayError::OtherContract { expected: receipt.contract, given: contract.digest() });
    }
    Ok(rerank(receipt, contract).await.map_err(ReplayError::Contract)?.replay)
}

/// Evaluates a receipt by any version of its intent, as if that had ranked it.
///
/// # Errors
/// [`ContractFault`] when the contract fails.
pub async fn rerank(receipt: &Receipt, contract: &dyn Contract) -> Result<Reranking, ContractFault> {
    let context = CallContext { request_id: receipt.request_id.clone(), now: receipt.at_ms };
    let expected = receipt.outcome;
    let payloads: Vec<Payload<'_>> = receipt.payloads.iter().map(ReceiptPayload::for_contract).collect();
    match contract.evaluate(&context, receipt.arguments.get(), &payloads, &receipt.history).await {
        Ok(evaluation) => {
            let found = outcome(&evaluation);
            let same = found == expected;
            let ranked: Vec<ReceiptScore> = evaluation.ranked.iter().map(ReceiptScore::from).collect();
            let dropped: Vec<ReceiptDrop> = evaluation.dropped.iter().map(ReceiptDrop::from).collect();
            let difference = (!same).then(|| first_difference(receipt, &ranked, &dropped));
            Ok(Reranking { replay: Replay { same, expected, found: Some(found), difference }, ranked, dropped })
        }
        Err(ContractError::Refused(refusal)) => {
            let difference = Some(Difference::Request { code: refusal.code });
            let replay = Replay { same: false, expected, found: None, difference };
            Ok(Reranking { replay, ranked: Vec::new(), dropped: Vec::new() })
        }
        Err(ContractError::Fault(fault)) => Err(fault),
    }
}

fn first_difference(receipt: &Receipt, ranked: &[ReceiptScore], dropped: &[ReceiptDrop]) -> Difference {
    if let Some((place, expected, found)) = find_difference(&receipt.ranked, ranked, same_score) {
        return Difference::Ranked { place, expected, found };
    }
    if let Some((place, expected, found)) = find_difference(&receipt.dropped, dropped, PartialEq::eq) {
        return Difference::Dropped { place, expected, found };
    }
    Difference::Remainder
}

/// The first place at which two lists differ, with what each has there.
fn find_difference<T: Clone>(
    expected: &[T],
    found: &[T],
    same: impl Fn(&T, &T) -> bool,
) -> Option<(usize, Option<T>, Option<T>)> {
    (0..expected.len().max(found.len())).find_map(|place| match (expected.get(place), found.get(place)) {
        (Some(a), Some(b)) if same(a, b) => None,
        (a, b) => Some((place, a.cloned(), b.cloned())),
    })
}

/// To the bit, as the digest has it: 0.0 is not -0.0.
fn same_score(a: &ReceiptScore, b: &ReceiptScore) -> bool {
    let bits = |score: &ReceiptScore| {
        let Axes { time, taste, budget, safety } = score.axes;
        [score.total, time, taste, budget, safety, score.completeness].map(f64::to_bits)
    };
    a.number == b.number && a.id == b.id && bits(a) == bits(b)
}
