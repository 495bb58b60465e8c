//! The go-live check: whether a partner meets what an intent's contract asks for before real users reach it (spec 2,
//! "Go-live requirements"; the contract declares them, see [`Requirement`]).
//!
//! Sample requests, which people choose, are searched with at this one partner, exactly as a user's would be. What
//! can be seen in the answers is judged here; the rest people look into and confirm. Whether the partner has all
//! tools is the probe's business, and whether it may go live on a passed check is the connection's.
//!
//! What the samples bring to light stays in the report: nothing of it is recorded against the partner.

mod tally;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Clock;
use crate::contract::{Descriptor, Need, Refusal, Requirement, RequirementCheck};
use crate::digest::Digest;
use crate::error::{ContractFault, SearchError};
use crate::findings::Finding;
use crate::id::PartnerId;
use crate::limits::REQUEST_BODY_MAX_BYTES;
use crate::outbound::Outbound;
use crate::partner::Partner;
use crate::ports::{Contract, Contracts, Journal, PartnerCalls, PartnerDirectory, Selection};
use crate::receipt::Receipt;
use crate::reference::ReferenceSealer;
use crate::search::{PartnerStatus, SearchOutcome, Searcher};
use crate::secret::Secret;
use tally::Tally;

/// Sample requests of one check. They run one after the other: the partner is measured, not loaded.
pub const SAMPLES_MAX: usize = 50;
/// Fewest samples from which a 95th percentile is read.
pub const LATENCY_SAMPLES_MIN: usize = 5;
/// Longest note of a confirmation, characters.
pub const CONFIRMATION_NOTE_MAX_CHARS: usize = 500;

/// The platform's own item: the partner answers every sample.
pub const SAMPLES_ANSWERED: &str = "SAMPLES_ANSWERED";
/// The platform's own item: no answer carries a forbidden field.
pub const NO_FORBIDDEN_FIELDS: &str = "NO_FORBIDDEN_FIELDS";
/// Codes of the items that every intent has; a contract may use none of them.
pub const PLATFORM_CODES: [&str; 2] = [SAMPLES_ANSWERED, NO_FORBIDDEN_FIELDS];

/// Code under which a search records a forbidden field.
const FORBIDDEN_FIELD: &str = "FORBIDDEN_FIELD";

/// What became of one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Seen to hold.
    Passed,
    /// Seen not to hold, or not seen because the samples do not show it.
    Failed,
    /// For people to look into.
    ByHand,
    /// Looked into by people and found to hold.
    Confirmed,
}

/// One requirement with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoLiveItem {
    /// The requirement's code.
    pub code: String,
    /// What must hold.
    pub text: String,
    /// What became of it.
    pub state: ItemState,
    /// What was seen, in words; of a confirmed item, the note.
    pub detail: String,
}

/// What came of one sample request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleResult {
    /// The identifier under which it was sent.
    pub request_id: String,
    /// Options that passed.
    pub options: usize,
    /// Options that were dropped.
    pub dropped: usize,
    /// How long the partner's call took, milliseconds.
    pub elapsed_ms: u64,
    /// Code of the failure, where the partner gave no usable answer.
    pub failure: Option<String>,
}

/// The outcome of a check. It is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoLiveReport {
    /// Who was checked.
    pub partner: PartnerId,
    /// For which intent.
    pub intent: String,
    /// Version of the contract that asked and judged.
    pub contract_version: String,
    /// Digest of its component.
    pub contract_digest: Digest,
    /// When the check began, milliseconds since the epoch.
    pub at_ms: u64,
    /// The samples, in their order.
    pub samples: Vec<SampleResult>,
    /// The platform's own items, then the contract's in its order.
    pub items: Vec<GoLiveItem>,
}

impl GoLiveReport {
    /// Whether everything holds: nothing failed, and nothing waits for people.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.items.iter().all(|item| matches!(item.state, ItemState::Passed | ItemState::Confirmed))
    }

    /// Confirms items that people have looked into. Nothing is confirmed if one confirmation does not fit.
    ///
    /// # Errors
    /// [`ConfirmationError`] for the first that does not fit.
    pub fn confirm(&mut self, confirmations: &[Confirmation]) -> Result<(), ConfirmationError> {
        check_confirmations(confirmations, |code| {
            let item = self.items.iter().find(|item| item.code == code)?;
            Some(matches!(item.state, ItemState::ByHand | ItemState::Confirmed))
        })?;
        for Confirmation { code, note } in confirmations {
            for item in self.items.iter_mut().filter(|item| item.code == *code) {
                item.state = ItemState::Confirmed;
                item.detail.clone_from(note);
            }
        }
        Ok(())
    }
}

/// A person says that a requirement holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// The requirement's code.
    pub code: String,
    /// What was looked at.
    pub note: String,
}

/// A confirmation that fits no requirement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmationError {
    /// The intent has no such requirement.
    #[error("the intent has no go-live requirement `{0}`")]
    Unknown(String),
    /// It is checked by the gateway, which nobody can overrule.
    #[error("the requirement `{0}` is checked by the gateway and cannot be confirmed")]
    NotByHand(String),
    /// It came twice.
    #[error("the requirement `{0}` is confirmed twice")]
    Twice(String),
    /// The note is empty or too long.
    #[error("the note on `{code}` has {chars} characters; expected 1 to {CONFIRMATION_NOTE_MAX_CHARS}")]
    Note {
        /// The requirement.
        code: String,
        /// Length of the note without the blanks around it.
        chars: usize,
    },
}

/// Why a check could not be made. A check that fails is a report, not an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoLiveError {
    /// There is no sample, or there are too many.
    #[error("there are {0} sample requests; expected 1 to {SAMPLES_MAX}")]
    SampleCount(usize),
    /// A sample is larger than a request may be.
    #[error("sample {sample} has {bytes} bytes; expected at most {REQUEST_BODY_MAX_BYTES}")]
    SampleTooLarge {
        /// Which, counted from 1.
        sample: usize,
        /// Its size.
        bytes: usize,
    },
    /// The contract refused a sample.
    #[error("sample {sample} was refused with {}", .refusal.code)]
    SampleRefused {
        /// Which, counted from 1.
        sample: usize,
        /// All that is wrong with it.
        refusal: Refusal,
    },
    /// The contract failed on a sample.
    #[error("the contract of the intent failed on sample {sample}")]
    Contract {
        /// Which, counted from 1.
        sample: usize,
        /// How.
        #[source]
        fault: ContractFault,
    },
    /// A confirmation fits no requirement.
    #[error("a confirmation does not fit")]
    Confirmation(#[from] ConfirmationError),
}

/// Runs checks over the ports.
pub struct GoLiveRunner {
    /// How partners are called.
    pub calls: Arc<dyn PartnerCalls>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Wait for each call. All samples together take at most [`SAMPLES_MAX`] times as long.
    pub timeout: Duration,
}

impl GoLiveRunner {
    /// Checks one partner against one contract. `requests` are sample requests, JSON text.
    ///
    /// # Errors
    /// [`GoLiveError`] when the samples or confirmations are unfit, or the contract fails.
    pub async fn run(
        &self,
        partner: Arc<Partner>,
        contract: Arc<dyn Contract>,
        requests: &[String],
        confirmed: &[Confirmation],
    ) -> Result<GoLiveReport, GoLiveError> {
        let descriptor = contract.descriptor();
        check_samples(requests)?;
        check_confirmations(confirmed, |code| {
            let requirement = descriptor.go_live.iter().find(|requirement| requirement.code == code);
            requirement
                .map_or_else(|| PLATFORM_CODES.contains(&code).then_some(false), |one| Some(by_hand(one, descriptor)))
        })?;
        let at_ms = self.clock.now_ms();
        let found = Arc::new(Breaches::default());
        let searcher = self.searcher(&partner, &contract, &found);
        let mut tallies: Vec<_> = descriptor.go_live.iter().map(|one| Tally::of(one, descriptor)).collect();
        let (mut samples, mut forbidden) = (Vec::new(), 0);
        for (sample, request) in (1..).zip(requests) {
            let id = format!("go-live-{at_ms}-{sample}");
            let outcome = searcher.search(descriptor.intent.as_str(), request, id).await;
            let outcome = outcome.map_err(|error| unfit(error, sample))?;
            let seen = Sample::of(request, &outcome, found.take());
            forbidden += seen.breaches.get(FORBIDDEN_FIELD).copied().unwrap_or(0);
            tallies.iter_mut().for_each(|tally| tally.observe(&seen));
            samples.push(seen.result(outcome.request_id.clone()));
        }
        let mut items = vec![answered(&samples), unforbidden(forbidden)];
        items.extend(descriptor.go_live.iter().zip(tallies).map(|(requirement, tally)| {
            let (state, detail) = tally.finish();
            GoLiveItem { code: requirement.code.clone(), text: requirement.text.clone(), state, detail }
        }));
        let mut report = GoLiveReport {
            partner: partner.id.clone(),
            intent: descriptor.intent.as_str().to_owned(),
            contract_version: descriptor.version.to_string(),
            contract_digest: contract.digest(),
            at_ms,
            samples,
            items,
        };
        report.confirm(confirmed)?;
        Ok(report)
    }

    /// A search that knows this contract and this partner alone.
    fn searcher(&self, partner: &Arc<Partner>, contract: &Arc<dyn Contract>, found: &Arc<Breaches>) -> Searcher {
        Searcher {
            contracts: Arc::new(OneContract(contract.clone())),
            directory: Arc::new(OnePartner(partner.clone())),
            outbound: Arc::new(Outbound::plain(self.calls.clone(), self.clock.clone())),
            journal: found.clone(),
            clock: self.clock.clone(),
            // Nobody ever sees a reference of these searches, so its key protects nothing.
            references: ReferenceSealer::new(&Secret::new("go-live check")),
            timeout: self.timeout,
        }
    }
}

/// Whether a requirement is for people to confirm.
fn by_hand(requirement: &Requirement, descriptor: &Descriptor) -> bool {
    match &requirement.check {
        RequirementCheck::ByHand => true,
        RequirementCheck::WithinLatency(tool) => *tool != descriptor.search.tool,
        RequirementCheck::AtLeast(_) | RequirementCheck::Covers(_) | RequirementCheck::Handles(_) => false,
    }
}

fn check_samples(requests: &[String]) -> Result<(), GoLiveError> {
    if requests.is_empty() || requests.len() > SAMPLES_MAX {
        return Err(GoLiveError::SampleCount(requests.len()));
    }
    let mut numbered = (1..).zip(requests);
    match numbered.find(|(_, request)| request.len() > REQUEST_BODY_MAX_BYTES) {
        Some((sample, request)) => Err(GoLiveError::SampleTooLarge { sample, bytes: request.len() }),
        None => Ok(()),
    }
}

/// `is_by_hand` tells of a code whether it is for people to confirm; nothing where there is no such requirement.
fn check_confirmations(
    confirmations: &[Confirmation],
    is_by_hand: impl Fn(&str) -> Option<bool>,
) -> Result<(), ConfirmationError> {
    for (index, Confirmation { code, note }) in confirmations.iter().enumerate() {
        match is_by_hand(code) {
            Some(true) => {}
            Some(false) => return Err(ConfirmationError::NotByHand(code.clone())),
            None => return Err(ConfirmationError::Unknown(code.clone())),
        }
        if confirmations[..index].iter().any(|earlier| earlier.code == *code) {
            return Err(ConfirmationError::Twice(code.clone()));
        }
        let chars = note.trim().chars().count();
        if chars == 0 || chars > CONFIRMATION_NOTE_MAX_CHARS {
            return Err(ConfirmationError::Note { code: code.clone(), chars });
        }
    }
    Ok(())
}

fn unfit(error: SearchError, sample: usize) -> GoLiveError {
    match error {
        SearchError::Refused(refusal) => GoLiveError::SampleRefused { sample, refusal },
        SearchError::Contract(fault) => GoLiveError::Contract { sample, fault },
        SearchError::InvalidIntent(intent) => {
            let fault = ContractFault::InvalidOutput(format!("it does not serve its own intent `{intent}`"));
            GoLiveError::Contract { sample, fault }
        }
    }
}

fn answered(samples: &[SampleResult]) -> GoLiveItem {
    let failures: Vec<_> = (1..)
        .zip(samples)
        .filter_map(|(number, sample)| sample.failure.as_ref().map(|code| format!("sample {number}: {code}")))
        .collect();
    let count = format!("{} of {} samples were answered", samples.len() - failures.len(), samples.len());
    GoLiveItem {
        code: SAMPLES_ANSWERED.to_owned(),
        text: "The partner gives a usable answer to every sample request.".to_owned(),
        state: state(failures.is_empty()),
        detail: if failures.is_empty() { count } else { format!("{count} ({})", failures.join(", ")) },
    }
}

fn unforbidden(found: usize) -> GoLiveItem {
    GoLiveItem {
        code: NO_FORBIDDEN_FIELDS.to_owned(),
        text: "No answer carries a field that the platform or the intent forbids.".to_owned(),
        state: state(found == 0),
        detail: if found == 0 { "none was found".to_owned() } else { format!("{found} found") },
    }
}

fn state(holds: bool) -> ItemState {
    if holds { ItemState::Passed } else { ItemState::Failed }
}

/// What one sample search showed.
struct Sample {
    /// The request as it was given.
    request: Value,
    /// The options that passed, each with its identifier.
    options: Vec<(String, Value)>,
    dropped: usize,
    /// How often each code was recorded.
    breaches: BTreeMap<String, usize>,
    elapsed: Duration,
    failure: Option<String>,
}

impl Sample {
    fn of(request: &str, outcome: &SearchOutcome, breaches: BTreeMap<String, usize>) -> Self {
        // The contract took the request and the host the options, so all of them are JSON.
        let parse = |json: &str| serde_json::from_str(json).unwrap_or(Value::Null);
        let options = outcome.options.iter().map(|one| (one.ranked.id.clone(), parse(one.option.get())));
        let partner = outcome.partners.first();
        let failure = partner.and_then(|partner| match &partner.status {
            PartnerStatus::Failed(failure) => Some(failure.code().to_owned()),
            PartnerStatus::Answered { .. } | PartnerStatus::LeftOut(_) => None,
        });
        Self {
            request: parse(request),
            options: options.collect(),
            dropped: outcome.dropped.len(),
            breaches,
            elapsed: partner.and_then(|partner| partner.elapsed).unwrap_or_default(),
            failure,
        }
    }

    fn result(self, request_id: String) -> SampleResult {
        SampleResult {
            request_id,
            options: self.options.len(),
            dropped: self.dropped,
            elapsed_ms: u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
            failure: self.failure,
        }
    }
}

/// Counts what a search records, by code, instead of recording it.
#[derive(Default)]
struct Breaches(Mutex<BTreeMap<String, usize>>);

impl Breaches {
    /// The counts since they were last taken.
    fn take(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Journal for Breaches {
    fn record(&self, finding: Finding) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(finding.violation.code).or_default() += 1;
    }

    fn keep(&self, _: Receipt) {}
}

/// A catalogue of one contract.
struct OneContract(Arc<dyn Contract>);

impl Contracts for OneContract {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        (self.0.descriptor().intent.as_str() == intent).then(|| self.0.clone())
    }

    fn loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        (self.0.digest() == digest).then(|| self.0.clone())
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        vec![self.0.clone()]
    }

    fn woken(&self, _: &str) -> Vec<Arc<dyn Contract>> {
        self.all()
    }
}

/// A directory of one partner, which is called whatever its area and hours: people choose the samples for it.
struct OnePartner(Arc<Partner>);

impl PartnerDirectory for OnePartner {
    fn select(&self, _: &str, _: &Need, _: u64) -> Selection {
        Selection { chosen: vec![self.0.clone()], ..Selection::default() }
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        vec![self.0.clone()]
    }
}
