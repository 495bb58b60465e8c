//! `test-call` (spec 1, Endpoints): lets a partner see that its token works and which intent a wish belongs to. The
//! options are a stub in the form that the specification gives it; beside it stands a sample of the intent's own. Sandbox
//! traffic never reaches users, and none of it reaches a partner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::OnboardingError;
use super::keeper::RecordKeeper;
use intent_gateway_domain::classify::{Classified, Decision, classify};
use intent_gateway_domain::contract::SearchSample;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::UTTERANCE_MAX_CHARS;
use intent_gateway_domain::ports::{Contract, Contracts};

use super::records::Account;

/// Options of a sample that are shown.
const SAMPLE_OPTIONS_MAX: usize = 2;
/// Bytes of a sample; a contract with larger examples shows none.
const SAMPLE_MAX_BYTES: usize = 64 * 1024;
/// Samples that are remembered, one a contract.
const SAMPLES_MAX: usize = 256;

/// What a test call comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCall {
    /// The intent that the live contracts decide on; `None` when they decide on none of their own.
    pub intent: Option<String>,
    /// What a search of that intent looks like.
    pub sample: Option<IntentSample>,
    /// One or two sentences for a person.
    pub note: String,
}

/// A search of an intent, out of the examples of its live contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentSample {
    /// The tool that a partner is called with.
    pub tool: String,
    /// A request and options.
    pub search: Arc<SearchSample>,
}

/// Calls with which partners try out their token.
pub struct TestCalls {
    pub(crate) keeper: RecordKeeper,
    pub(crate) contracts: Arc<dyn Contracts>,
    /// By the contract's digest: a contract is asked once.
    pub(crate) samples: Mutex<HashMap<Digest, Option<Arc<SearchSample>>>>,
}

impl TestCalls {
    /// Finds the intent of a wish, given in words or as an intent's identifier.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] for an empty or overlong wish, and with `INVALID_INTENT` for an identifier that names
    /// no live intent.
    pub async fn call(&self, account: &PartnerId, user_intent: &str) -> Result<TestCall, OnboardingError> {
        self.keeper.require::<Account>(account.as_str(), "account").await?;
        let wish = user_intent.trim();
        if wish.is_empty() || wish.chars().count() > UTTERANCE_MAX_CHARS {
            let message = format!("user_intent is 1 to {UTTERANCE_MAX_CHARS} characters");
            return Err(OnboardingError::invalid("/user_intent", "INVALID_TEXT", message));
        }
        let contract = match IntentId::parse(wish) {
            Ok(intent) => {
                let live = self.contracts.live(intent.as_str());
                live.ok_or_else(|| OnboardingError::unknown_intent("/user_intent", intent.as_str()))?
            }
            Err(_) => {
                let classified = classify(&*self.contracts, wish, "").await;
                let decided = classified.intent.as_deref().filter(|_| classified.decision == Decision::Intent);
                match decided.and_then(|intent| self.contracts.live(intent)) {
                    Some(live) => live,
                    None => return Ok(TestCall { intent: None, sample: None, note: say_undecided(&classified) }),
                }
            }
        };
        let sample = self.sample(&*contract).await;
        let intent = contract.descriptor().intent.to_string();
        let beside = match sample {
            Some(_) => "what its requests and options look like stands under `sample`",
            None => "what its requests and options look like is shown by GET /api/v1/intents",
        };
        let note = format!(
            "A request like this is searched for as `{intent}`. No partner was called: `stub_response` is made up and has the \
             form of a ride, whatever the intent; {beside}."
        );
        Ok(TestCall { intent: Some(intent), sample, note })
    }

    /// The sample of a contract; none where it has none of bearable size, or fails.
    async fn sample(&self, contract: &dyn Contract) -> Option<IntentSample> {
        let digest = contract.digest();
        let known = self.samples.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        let search = match known {
            Some(known) => known,
            None => {
                let sample = contract.sample().await.inspect_err(|fault| {
                    let intent = &contract.descriptor().intent;
                    tracing::warn!(%intent, code = fault.code(), error = %fault, "a contract showed no example");
                });
                let search = sample.ok()?.and_then(shorten).map(Arc::new);
                let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
                if samples.len() >= SAMPLES_MAX {
                    samples.clear();
                }
                samples.insert(digest, search.clone());
                search
            }
        };
        let tool = contract.descriptor().search.tool.clone();
        search.map(|search| IntentSample { tool, search })
    }
}

/// A sample as it is shown.
fn shorten(mut sample: SearchSample) -> Option<SearchSample> {
    sample.options.truncate(SAMPLE_OPTIONS_MAX);
    let bytes = sample.request.len() + sample.options.iter().map(String::len).sum::<usize>();
    (bytes <= SAMPLE_MAX_BYTES).then_some(sample)
}

/// Why there is no intent.
fn say_undecided(classified: &Classified) -> String {
    match &classified.intent {
        Some(intent) => format!(
            "The live contracts take this for `{intent}`, and none of them claims it as its own: nobody would be called, and \
             there is no stub."
        ),
        None => "No live contract claims this wish: nobody would be called, and there is no stub.".to_owned(),
    }
}
