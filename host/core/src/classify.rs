//! From an utterance to an intent: each contract gives its own opinion, the host combines them.
//!
//! Only contracts one of whose cue words occurs in the utterance are asked, so that a large catalogue is not
//! woken by every sentence. The combination is deterministic: best score first, equal scores by intent name.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde::Serialize;

use crate::contract::PointerElsewhere;
use crate::ports::Contracts;

/// From this score on a contract claims an utterance.
pub const CLAIM_THRESHOLD: f64 = 0.5;

/// What an utterance turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// An intent that this gateway serves.
    Intent,
    /// No contract claims it, but one names the intent that it belongs to.
    Elsewhere,
    /// Nothing that any contract knows.
    None,
}

/// A contract's claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The intent.
    pub intent: String,
    /// Version of the contract that claims.
    pub version: String,
    /// 0..=1.
    pub score: f64,
    /// What decided.
    pub evidence: Vec<String>,
}

/// An intent that a contract pointed to instead of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Elsewhere {
    /// The intent.
    pub intent: String,
    /// 0..=1.
    pub score: f64,
    /// Why.
    pub reason: String,
    /// Whether this gateway serves it.
    pub live: bool,
}

/// The outcome of a classification.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classified {
    /// What the utterance turned out to be.
    pub decision: Decision,
    /// The intent decided on: the best claim, or the best of those named elsewhere.
    pub intent: Option<String>,
    /// All claims, best first.
    pub candidates: Vec<Claim>,
    /// Intents named by contracts that classify the utterance out, best first.
    pub elsewhere: Vec<Elsewhere>,
    /// Intents that the utterance asks for besides the one decided on.
    pub also: Vec<String>,
    /// Contracts that failed to give an opinion, by intent.
    pub failed: Vec<String>,
}

/// Classifies an utterance. Bounds on its length are the caller's business.
pub async fn classify(contracts: &dyn Contracts, utterance: &str, locale: &str) -> Classified {
    let all = contracts.all();
    let spoken = utterance.to_lowercase();
    let woken: Vec<_> = all
        .iter()
        .filter(|contract| contract.descriptor().cues.iter().any(|cue| spoken.contains(cue.as_str())))
        .collect();
    let opinions = join_all(woken.iter().map(|contract| contract.classify(utterance, locale))).await;

    let (mut candidates, mut failed) = (Vec::new(), Vec::new());
    let mut elsewhere: BTreeMap<String, PointerElsewhere> = BTreeMap::new();
    let mut also: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (contract, opinion) in woken.iter().zip(opinions) {
        let descriptor = contract.descriptor();
        let intent = descriptor.intent.as_str().to_owned();
        let opinion = match opinion {
            Ok(opinion) => opinion,
            Err(fault) => {
                tracing::error!(%intent, code = fault.code(), error = %fault, "a contract gave no opinion");
                failed.push(intent);
                continue;
            }
        };
        for pointer in opinion.elsewhere {
            let known = elsewhere.get(&pointer.intent).is_some_and(|known| known.score >= pointer.score);
            if !known {
                elsewhere.insert(pointer.intent.clone(), pointer);
            }
        }
        if opinion.score >= CLAIM_THRESHOLD {
            also.insert(intent.clone(), opinion.also);
            let version = descriptor.version.to_string();
            candidates.push(Claim { intent, version, score: opinion.score, evidence: opinion.evidence });
        }
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.intent.cmp(&b.intent)));
    let mut elsewhere: Vec<Elsewhere> = elsewhere
        .into_values()
        .map(|PointerElsewhere { intent, score, reason }| Elsewhere {
            live: all.iter().any(|contract| contract.descriptor().intent.as_str() == intent),
            intent,
            score,
            reason,
        })
        .collect();
    elsewhere.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.intent.cmp(&b.intent)));

    let (decision, intent) = decide(&candidates, &elsewhere);
    let also = intent.as_ref().and_then(|intent| also.remove(intent)).unwrap_or_default();
    Classified { decision, intent, candidates, elsewhere, also, failed }
}

fn decide(candidates: &[Claim], elsewhere: &[Elsewhere]) -> (Decision, Option<String>) {
    if let Some(claim) = candidates.first() {
        return (Decision::Intent, Some(claim.intent.clone()));
    }
    match elsewhere.first() {
        Some(pointer) if pointer.score >= CLAIM_THRESHOLD => (Decision::Elsewhere, Some(pointer.intent.clone())),
        _ => (Decision::None, None),
    }
}
