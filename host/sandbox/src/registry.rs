//! Which versions are loaded and which of them serves: one immutable snapshot, replaced as a whole.
//!
//! A [`Version`] is pinned by whoever holds it and stays what it is. A [`Snapshot`] is never changed; the
//! functions here make the next one. [`Published`], it also knows which utterances wake which contracts.
//! Publishing it is one store by the sandbox.

use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange, Payload,
    PreparedRequest, SearchSample,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, LoadedVersion, Origin};
use intent_gateway_domain::succession::{self, SuccessionError};
use intent_gateway_domain::telemetry;
use tokio::sync::mpsc;

use crate::contract::LoadedContract;
use crate::engine::Lane;
use crate::library::{KeptIntent, StoredComponent};

/// The functions that serve requests.
#[derive(Clone, Copy)]
enum Function {
    Classify,
    CheckRequest,
    Evaluate,
    CheckResponse,
    CheckCompletion,
}

/// How many there are.
const FUNCTIONS: usize = 5;

/// A loaded version of a contract, with what is counted of it.
pub(crate) struct Version {
    pub(crate) contract: LoadedContract,
    pub(crate) origin: Origin,
    pub(crate) loaded_at_ms: Timestamp,
    pub(crate) component_bytes: usize,
    calls: AtomicU64,
    faults: AtomicU64,
    /// By function: a search calls two, and one that always works must not hide one that never does.
    faults_in_a_row: [AtomicU32; FUNCTIONS],
    faults_before_rollback: u32,
    /// Told when the version has failed that often in a row.
    failing: mpsc::Sender<Digest>,
}

impl Version {
    pub(crate) fn new(
        contract: LoadedContract,
        origin: Origin,
        loaded_at_ms: Timestamp,
        component_bytes: usize,
        faults_before_rollback: u32,
        failing: mpsc::Sender<Digest>,
    ) -> Self {
        Self {
            contract,
            origin,
            loaded_at_ms,
            component_bytes,
            calls: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            faults_in_a_row: Default::default(),
            faults_before_rollback,
            failing,
        }
    }

    pub(crate) fn id(&self) -> &IntentId {
        &self.contract.descriptor().intent
    }

    /// Forgets past faults: somebody decided that the version serves (again).
    pub(crate) fn absolve(&self) {
        for faults in &self.faults_in_a_row {
            faults.store(0, Ordering::Relaxed);
        }
    }

    pub(crate) fn summary(&self, live: bool) -> LoadedVersion {
        let descriptor = self.contract.descriptor();
        LoadedVersion {
            intent: descriptor.intent.as_str().to_owned(),
            version: descriptor.version.to_string(),
            digest: self.contract.digest(),
            live,
            origin: self.origin.clone(),
            loaded_at_ms: self.loaded_at_ms,
            component_bytes: self.component_bytes,
            calls: self.calls.load(Ordering::Relaxed),
            faults: self.faults.load(Ordering::Relaxed),
        }
    }

    fn count(&self, function: Function, fault: Option<&ContractFault>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let faults_in_a_row = &self.faults_in_a_row[function as usize];
        match fault {
            Some(fault) if fault.counts_against_version() => self.count_fault(faults_in_a_row, fault),
            // A call that never ran says nothing of the version.
            Some(_) => {}
            // Read before write: good versions keep the line shared between cores.
            None if faults_in_a_row.load(Ordering::Relaxed) == 0 => {}
            None => faults_in_a_row.store(0, Ordering::Relaxed),
        }
    }

    fn count_fault(&self, faults_in_a_row: &AtomicU32, fault: &ContractFault) {
        self.faults.fetch_add(1, Ordering::Relaxed);
        let in_a_row = faults_in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let descriptor = self.contract.descriptor();
        tracing::warn!(
            intent = %descriptor.intent,
            version = %descriptor.version,
            digest = %self.contract.digest(),
            code = fault.code(),
            in_a_row,
            "a contract call failed: {fault}"
        );
        telemetry::contract_fault(descriptor, fault);
        if in_a_row.is_multiple_of(self.faults_before_rollback) {
            // A full channel means that take-outs are being worked on; the next multiple reports again.
            let _ = self.failing.try_send(self.contract.digest());
        }
    }

    fn count_outcome<T>(&self, function: Function, outcome: Result<T, ContractError>) -> Result<T, ContractError> {
        let fault = match &outcome {
            Err(ContractError::Fault(fault)) => Some(fault),
            _ => None,
        };
        self.count(function, fault);
        outcome
    }
}

impl Contract for Version {
    fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }

    fn digest(&self) -> Digest {
        self.contract.digest()
    }

    fn classify<'a>(
        &'a self,
        utterance: &'a str,
        locale: &'a str,
    ) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        Box::pin(async move {
            let outcome = self.contract.classify_in(Lane::Serving, utterance, locale).await;
            self.count(Function::Classify, outcome.as_ref().err());
            outcome
        })
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        tool: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                Function::CheckRequest,
                self.contract.check_request_in(Lane::Serving, context, tool, arguments).await,
            )
        })
    }

    fn evaluate<'a>(
        &'a self,
        context: &'a CallContext,
        request: &'a str,
        payloads: &'a [Payload<'a>],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                Function::Evaluate,
                self.contract.evaluate_in(Lane::Serving, context, request, payloads).await,
            )
        })
    }

    fn check_response<'a>(
        &'a self,
        context: &'a CallContext,
        exchange: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                Function::CheckResponse,
                self.contract.check_response_in(Lane::Serving, context, exchange).await,
            )
        })
    }

    fn check_completion<'a>(
        &'a self,
        context: &'a CallContext,
        report: &'a str,
        quoted: Option<&'a str>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                Function::CheckCompletion,
                self.contract.check_completion_in(Lane::Serving, context, report, quoted).await,
            )
        })
    }

    fn sample(&self) -> BoxFuture<'_, Result<Option<SearchSample>, ContractFault>> {
        // Not counted: no request of a user depends on it.
        Box::pin(self.contract.sample_in(Lane::Serving))
    }
}

/// What is loaded of one intent.
#[derive(Clone, Default)]
pub(crate) struct Intent {
    /// The version that serves; none when the intent was unloaded.
    pub(crate) live: Option<Arc<Version>>,
    /// Digests of the versions that served before, latest last.
    pub(crate) previous: Vec<Digest>,
    /// All versions, in the order in which they were loaded.
    pub(crate) versions: Vec<Arc<Version>>,
}

impl Intent {
    fn is_live(&self, digest: Digest) -> bool {
        self.live.as_ref().is_some_and(|live| live.digest() == digest)
    }

    pub(crate) fn version(&self, digest: Digest) -> Option<&Arc<Version>> {
        self.versions.iter().find(|version| version.digest() == digest)
    }

    /// Puts a version in service; the one before it becomes the first to go back to.
    fn serve(&mut self, version: Arc<Version>) {
        let digest = version.digest();
        self.previous.extend(self.live.replace(version).map(|before| before.digest()));
        self.previous.retain(|previous| *previous != digest);
    }

    /// The version to go back to.
    pub(crate) fn last_good(&self) -> Option<Arc<Version>> {
        self.previous.iter().rev().find_map(|digest| self.version(*digest)).cloned()
    }

    /// Lets go of the oldest versions beyond the bound. The live one always stays.
    fn shrink(&mut self, kept: usize) -> Vec<Digest> {
        let mut evicted = Vec::new();
        while self.versions.len() > kept {
            let Some(oldest) = self.versions.iter().position(|version| !self.is_live(version.digest())) else { break };
            let digest = self.versions.remove(oldest).digest();
            self.previous.retain(|previous| *previous != digest);
            evicted.push(digest);
        }
        evicted
    }
}

/// Everything that is loaded, at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) intents: BTreeMap<IntentId, Intent>,
}

impl Snapshot {
    /// The live version of an intent.
    pub(crate) fn live(&self, intent: &str) -> Option<&Arc<Version>> {
        self.intents.get(intent)?.live.as_ref()
    }

    /// All live versions, sorted by intent.
    pub(crate) fn all_live(&self) -> impl Iterator<Item = &Arc<Version>> {
        self.intents.values().filter_map(|intent| intent.live.as_ref())
    }

    /// A loaded version.
    pub(crate) fn version(&self, digest: Digest) -> Option<&Arc<Version>> {
        self.intents.values().find_map(|intent| intent.version(digest))
    }

    pub(crate) fn is_live(&self, digest: Digest) -> bool {
        self.intents.values().any(|intent| intent.is_live(digest))
    }

    /// Every loaded version, sorted by intent and version.
    pub(crate) fn summaries(&self) -> Vec<LoadedVersion> {
        let summaries = |intent: &Intent| {
            let mut versions = intent.versions.clone();
            versions.sort_by(|a, b| a.descriptor().version.cmp(&b.descriptor().version));
            versions.into_iter().map(|version| version.summary(intent.is_live(version.digest()))).collect::<Vec<_>>()
        };
        self.intents.values().flat_map(summaries).collect()
    }

    /// The next snapshot with a new version in it, and the versions that had to go for it. A version number names
    /// one content among all that is loaded, and a new version must be able to follow the live one.
    pub(crate) fn with(
        &self,
        version: &Arc<Version>,
        activate: bool,
        kept: usize,
    ) -> Result<(Self, Vec<Digest>), SuccessionError> {
        let mut next = self.clone();
        let intent = next.intents.entry(version.id().clone()).or_default();
        let number = &version.descriptor().version;
        if intent.versions.iter().any(|other| other.descriptor().version == *number) {
            return Err(SuccessionError::VersionReused(number.clone()));
        }
        if let Some(live) = &intent.live {
            succession::check(live.descriptor(), version.descriptor())?;
        }
        intent.versions.push(Arc::clone(version));
        if activate {
            intent.serve(Arc::clone(version));
        }
        // The newcomer is last and the bound at least two, so neither it nor the live one goes.
        let evicted = intent.shrink(kept);
        Ok((next, evicted))
    }

    /// The next snapshot in which a loaded version serves.
    pub(crate) fn find_serving(&self, digest: Digest) -> Option<(Self, Arc<Version>)> {
        let version = Arc::clone(self.version(digest)?);
        let mut next = self.clone();
        next.intents.get_mut(version.id())?.serve(Arc::clone(&version));
        Some((next, version))
    }

    /// The next snapshot in which an intent is out of service.
    pub(crate) fn without(&self, intent: &str) -> Option<Self> {
        let mut next = self.clone();
        let entry = next.intents.get_mut(intent)?;
        let last = entry.live.take()?.digest();
        entry.previous.push(last);
        Some(next)
    }

    /// The next snapshot in which a live version has given way to the last good one, which is returned too.
    pub(crate) fn rolled_back(&self, failing: Digest) -> Option<(Self, Arc<Version>)> {
        let id = self.version(failing)?.id().clone();
        let mut next = self.clone();
        let intent = next.intents.get_mut(&id)?;
        if !intent.is_live(failing) {
            return None;
        }
        let good = intent.last_good()?;
        intent.serve(Arc::clone(&good));
        intent.previous.retain(|previous| *previous != failing);
        Some((next, good))
    }

    /// Digests of all loaded versions.
    pub(crate) fn digests(&self) -> HashSet<Digest> {
        self.intents.values().flat_map(|intent| &intent.versions).map(|version| version.digest()).collect()
    }

    /// What a restart needs to know.
    pub(crate) fn to_keep(&self) -> StoredComponent {
        let kept = |intent: &Intent| KeptIntent {
            live: intent.live.as_ref().map(|live| live.digest()),
            previous: intent.previous.clone(),
            versions: intent.versions.iter().map(|version| version.digest()).collect(),
        };
        StoredComponent::new(self.intents.iter().map(|(id, intent)| (id.as_str().to_owned(), kept(intent))).collect())
    }
}

/// A snapshot that serves.
pub(crate) struct Published {
    snapshot: Snapshot,
    /// Built once for the snapshot, never for a call.
    cues: OnceLock<Cues>,
}

/// The live versions by their cues.
struct Cues {
    index: CueIndex,
    /// In the order in which the index was built.
    live: Vec<Arc<Version>>,
}

impl Published {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self { snapshot, cues: OnceLock::new() }
    }

    /// Builds the index now, where waiting for it costs nobody anything.
    pub(crate) fn index_cues(&self) {
        self.cues();
    }

    /// The live versions that an utterance wakes, sorted by intent.
    pub(crate) fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        let Cues { index, live } = self.cues();
        index
            .select_by_cues(utterance)
            .into_iter()
            .map(|number| Arc::clone(&live[number]) as Arc<dyn Contract>)
            .collect()
    }

    fn cues(&self) -> &Cues {
        self.cues.get_or_init(|| {
            let live: Vec<Arc<Version>> = self.snapshot.all_live().cloned().collect();
            let index = CueIndex::build(live.iter().map(|version| version.descriptor().cues.as_slice()));
            Cues { index, live }
        })
    }
}

impl Deref for Published {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.snapshot
    }
}
