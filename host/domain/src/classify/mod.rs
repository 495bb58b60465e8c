//! From an utterance to an intent: each contract gives its own opinion, the host combines them.
//!
//! Nobody hears questions for information or what the user declines: they are cut out first (`wish`). A question or a
//! refusal with nothing else beside it is nobody's.
//!
//! Of the rest, only contracts one of whose cues occurs in the utterance are asked ([`CueIndex`]), so that a large catalogue is
//! not woken by every sentence. No rule here knows an intent, and the outcome depends on nothing but the opinions:
//!
//! 1. A contract *claims* an utterance with a score from [`CLAIM_THRESHOLD`]; a *pointer* to another intent counts
//!    from there, too.
//! 2. Among claims the best score decides, then the intent's name.
//! 3. A claimant that points to another claimant gives way to it, whatever the scores: it knows the neighbour and
//!    leaves the utterance to it. Where each points to the other, the one that points more surely gives way. Where
//!    all give way in a circle, rule 2 holds.
//! 4. Another claim is a second wish, named under `also`, if it gives way to none that is granted and rests on
//!    other words than they do: on no word in common (one that is said twice is enough for two), or on words of
//!    its own with a joint ("and", "aur", a comma) between. Otherwise it is a second opinion of the same words and
//!    stays among the candidates only.
//!    Of wishes that are claimed surely, from 0.7, the one said first decides, because they do not compete.
//! 5. `also` begins with the pairs that the contract decided on proposes.
//! 6. Claims outweigh pointers: what the gateway can serve, it serves. Without a claim the surest pointer names
//!    the intent, then its name decides.
//! 7. A pointer to a contract that itself points on, at least as surely, is passed over: the last word on an
//!    intent is its own contract's. Two that are equally sure that it is the other's leave it to nobody.
//! 8. Otherwise there is no intent, and the answer says so.

mod combine;
mod cues;
mod wish;
mod words;

use futures_util::future::join_all;
use serde::Serialize;

pub use self::cues::CueIndex;

use self::combine::{Opinion, combine};
use crate::contract::Classification;
use crate::ports::Contracts;

/// From this score on a contract claims an utterance.
pub(crate) const CLAIM_THRESHOLD: f64 = 0.5;

/// The outcome of a classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Claim {
    /// The intent.
    pub intent: String,
    /// Version of the contract that claims.
    pub version: String,
    /// 0 to 1.
    pub score: f64,
    /// The words that decided.
    pub evidence: Vec<String>,
}

/// An intent that a contract pointed to instead of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Elsewhere {
    /// The intent.
    pub intent: String,
    /// 0 to 1.
    pub score: f64,
    /// Why.
    pub reason: String,
    /// Whether this gateway serves it.
    pub live: bool,
}

/// What an utterance turned out to be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Classified {
    /// Its outcome.
    pub decision: Decision,
    /// The intent decided on.
    #[cfg_attr(feature = "schema", schema(required))]
    pub intent: Option<String>,
    /// All contracts that claim the utterance, the one decided on first.
    pub candidates: Vec<Claim>,
    /// Intents named by contracts that classify the utterance out, best first.
    pub elsewhere: Vec<Elsewhere>,
    /// Intents that the utterance asks for besides the one decided on: its pairs first, then claims of their own.
    pub also: Vec<String>,
    /// Contracts that failed to give an opinion, by intent.
    pub failed: Vec<String>,
}

/// Classifies an utterance. Bounds on its length are the caller's business.
pub async fn classify(contracts: &dyn Contracts, utterance: &str, locale: &str) -> Classified {
    let utterance: &str = &wish::keep_wishes(utterance);
    let woken = contracts.select_by_cues(utterance);
    let opinions = join_all(woken.iter().map(|contract| contract.classify(utterance, locale))).await;
    let (mut given, mut failed) = (Vec::new(), Vec::new());
    for (contract, opinion) in woken.iter().zip(opinions) {
        let descriptor = contract.descriptor();
        let intent = descriptor.intent.as_str().to_owned();
        match opinion.map(|said| resolve_names(contracts, said)) {
            Ok(said) => given.push(Opinion { intent, version: descriptor.version.to_string(), said }),
            Err(fault) => {
                tracing::error!(%intent, code = fault.code(), error = %fault, "a contract gave no opinion");
                failed.push(intent);
            }
        }
    }
    combine(utterance, given, failed, |intent| contracts.live(intent).is_some())
}

/// An opinion in which every other intent goes by its own name: a contract may know a neighbour by an alias.
fn resolve_names(contracts: &dyn Contracts, mut said: Classification) -> Classification {
    let resolve = |name: &mut String| {
        if let Some(contract) = contracts.live(name) {
            contract.descriptor().intent.as_str().clone_into(name);
        }
    };
    said.elsewhere.iter_mut().for_each(|pointer| resolve(&mut pointer.intent));
    said.also.iter_mut().for_each(resolve);
    said
}
