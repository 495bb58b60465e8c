//! Which versions are loaded and which of them serves: one immutable snapshot, replaced as a whole.
//!
//! A [`Version`] is pinned by whoever holds it and stays what it is. A [`Snapshot`] is never changed; the
//! functions here make the next one. [`Published`], it also knows which utterances wake which contracts.
//! Publishing it is one store by the sandbox.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use intent_gateway_domain::alias;
use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::contract::{
    About, CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange,
    PastOrder, Payload, PreparedRequest, SearchSample,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::faults::{CallRef, FaultNote, Function};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, FaultLog};
use intent_gateway_domain::succession::{self, Removal, RemovedValue, SuccessionError};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::versions::{LoadedVersion, MissingVersion, VersionAct, VersionName};
use tokio::sync::mpsc;

use crate::contract::LoadedContract;
use crate::engine::Lane;
use crate::history::{Doing, Happened, Happening, Histories, Provenance};
use crate::library::{KeptIntent, KeptVersion};
use crate::missing::Missing;

/// Where faults are recorded, from the time on that there is such a place.
pub(crate) type FaultSink = Arc<OnceLock<Arc<dyn FaultLog>>>;

/// What versions tell their owner.
#[derive(Clone)]
pub(crate) struct Reports {
    /// Told when a version has failed so often in a row that it is to be taken out.
    pub(crate) failing: mpsc::Sender<Digest>,
    pub(crate) faults: FaultSink,
}

/// A loaded version of a contract, with what is counted of it.
pub(crate) struct Version {
    pub(crate) contract: LoadedContract,
    pub(crate) provenance: Provenance,
    pub(crate) component_bytes: usize,
    calls: AtomicU64,
    faults: AtomicU64,
    /// By function: a search calls two, and one that always works must not hide one that never does.
    faults_in_a_row: [AtomicU32; Function::ALL.len()],
    faults_before_rollback: u32,
    reports: Reports,
}

impl Version {
    pub(crate) fn new(
        contract: LoadedContract,
        provenance: Provenance,
        component_bytes: usize,
        faults_before_rollback: u32,
        reports: Reports,
    ) -> Self {
        Self {
            contract,
            provenance,
            component_bytes,
            calls: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            faults_in_a_row: Default::default(),
            faults_before_rollback,
            reports,
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

    /// What is told of it, but for its history.
    fn summary(&self, live: bool) -> LoadedVersion {
        let descriptor = self.contract.descriptor();
        let Provenance { origin, loaded_at_ms, loaded_by } = self.provenance.clone();
        LoadedVersion {
            intent: descriptor.intent.as_str().to_owned(),
            version: descriptor.version.to_string(),
            digest: self.contract.digest(),
            live,
            origin,
            loaded_at_ms,
            loaded_by,
            history: Vec::new(),
            component_bytes: self.component_bytes,
            calls: self.calls.load(Ordering::Relaxed),
            faults: self.faults.load(Ordering::Relaxed),
        }
    }

    fn count(&self, call: CallRef<'_>, fault: Option<&ContractFault>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let faults_in_a_row = &self.faults_in_a_row[call.function() as usize];
        match fault {
            Some(fault) if fault.counts_against_version() => self.count_fault(faults_in_a_row, call, fault),
            // A call that never ran says nothing of the version.
            Some(_) => {}
            // Read before write: good versions keep the line shared between cores.
            None if faults_in_a_row.load(Ordering::Relaxed) == 0 => {}
            None => faults_in_a_row.store(0, Ordering::Relaxed),
        }
    }

    fn count_fault(&self, faults_in_a_row: &AtomicU32, call: CallRef<'_>, fault: &ContractFault) {
        self.faults.fetch_add(1, Ordering::Relaxed);
        let in_a_row = faults_in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let descriptor = self.contract.descriptor();
        tracing::warn!(
            intent = %descriptor.intent,
            version = %descriptor.version,
            digest = %self.contract.digest(),
            function = call.function().as_str(),
            code = fault.code(),
            in_a_row,
            "a contract call failed: {fault}"
        );
        telemetry::contract_fault(descriptor, fault);
        if let Some(log) = self.reports.faults.get() {
            let (intent, version) = (&descriptor.intent, &descriptor.version);
            log.note(FaultNote { intent, version, contract: self.contract.digest(), fault, call });
        }
        if in_a_row.is_multiple_of(self.faults_before_rollback) {
            // A full channel means that take-outs are being worked on; the next multiple reports again.
            let _ = self.reports.failing.try_send(self.contract.digest());
        }
    }

    fn count_outcome<T>(&self, call: CallRef<'_>, outcome: Result<T, ContractError>) -> Result<T, ContractError> {
        let fault = match &outcome {
            Err(ContractError::Fault(fault)) => Some(fault),
            _ => None,
        };
        self.count(call, fault);
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
            self.count(CallRef::Classify(utterance, locale), outcome.as_ref().err());
            outcome
        })
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        tool: &'a str,
        arguments: &'a str,
        about: About<'a>,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                CallRef::CheckRequest(context, tool, arguments, about),
                self.contract.check_request_in(Lane::Serving, context, tool, arguments, about).await,
            )
        })
    }

    fn evaluate<'a>(
        &'a self,
        context: &'a CallContext,
        request: &'a str,
        payloads: &'a [Payload<'a>],
        history: &'a [PastOrder],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                CallRef::Evaluate(context, request, payloads, history),
                self.contract.evaluate_in(Lane::Serving, context, request, payloads, history).await,
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
                CallRef::CheckResponse(context, exchange),
                self.contract.check_response_in(Lane::Serving, context, exchange).await,
            )
        })
    }

    fn check_completion<'a>(
        &'a self,
        context: &'a CallContext,
        report: &'a str,
        about: About<'a>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        Box::pin(async move {
            self.count_outcome(
                CallRef::CheckCompletion(context, report, about),
                self.contract.check_completion_in(Lane::Serving, context, report, about).await,
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
    pub(crate) histories: Histories,
    /// In the order in which they were loaded.
    pub(crate) missing: Vec<Missing>,
}

impl Intent {
    fn summary(&self, version: &Version) -> LoadedVersion {
        let digest = version.digest();
        LoadedVersion { history: self.histories.of(digest), ..version.summary(self.is_live(digest)) }
    }

    /// Notes what happened to a version, after `before` served.
    fn note(
        &mut self,
        version: &Arc<Version>,
        act: VersionAct,
        doing: &Doing,
        before: Option<&VersionName>,
        happened: &mut Happened,
    ) {
        let event = doing.event(act);
        self.histories.add(version.digest(), event.clone());
        happened.push(Happening {
            version: Arc::clone(version),
            event,
            live_before: before.cloned(),
            live_after: self.live_name(),
            removed: Vec::new(),
        });
    }

    pub(crate) fn live_name(&self) -> Option<VersionName> {
        let name =
            |live: &Arc<Version>| VersionName { version: live.descriptor().version.clone(), digest: live.digest() };
        self.live.as_ref().map(name)
    }

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
        self.replace_missing();
    }

    /// The version to go back to.
    pub(crate) fn last_good(&self) -> Option<Arc<Version>> {
        self.previous.iter().rev().find_map(|digest| self.version(*digest)).cloned()
    }

    /// Lets go of versions beyond the bound, the oldest that can be spared first.
    fn shrink(&mut self, kept: usize) -> Vec<Digest> {
        let mut evicted = self.shrink_missing(kept);
        while self.versions.len() > kept {
            let loaded: Vec<Digest> = self.versions.iter().map(|version| version.digest()).collect();
            let live = self.live.as_ref().map(|live| live.digest());
            let last_good = self.last_good().map(|good| good.digest());
            let Some(spared) = find_dispensable(&loaded, live, last_good) else { break };
            let digest = self.versions.remove(spared).digest();
            self.previous.retain(|previous| *previous != digest);
            self.histories.forget(digest);
            evicted.push(digest);
        }
        evicted
    }
}

/// Which of the loaded versions, oldest first, can be spared: never the live one or the newest, and the one to go back to only
/// where nothing else is left. Many that are loaded and never live must not take it away.
fn find_dispensable(loaded: &[Digest], live: Option<Digest>, last_good: Option<Digest>) -> Option<usize> {
    let (_, older) = loaded.split_last()?;
    let find = |keeps: Option<Digest>| older.iter().position(|digest| Some(*digest) != live && Some(*digest) != keeps);
    find(last_good).or_else(|| find(None))
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
            versions.into_iter().map(|version| intent.summary(&version)).collect::<Vec<_>>()
        };
        self.intents.values().flat_map(summaries).collect()
    }

    /// What could not be taken up, sorted by intent.
    pub(crate) fn missing(&self) -> Vec<MissingVersion> {
        self.intents.iter().flat_map(|(id, intent)| intent.missing(id)).collect()
    }

    /// What is told of a loaded version.
    pub(crate) fn summary(&self, digest: Digest) -> Option<LoadedVersion> {
        let intent = self.intents.get(self.version(digest)?.id())?;
        Some(intent.summary(intent.version(digest)?))
    }

    /// The next snapshot with a new version in it. A version number names one content among all that is loaded, and a new
    /// version must be able to follow the live one.
    pub(crate) fn with(&self, new: &NewVersion<'_>, doing: &Doing) -> Result<Addition, SuccessionError> {
        let NewVersion { version, activate, removal, kept } = *new;
        let mut next = self.clone();
        let intent = next.intents.entry(version.id().clone()).or_default();
        let number = &version.descriptor().version;
        if intent.versions.iter().any(|other| other.descriptor().version == *number) {
            return Err(SuccessionError::VersionReused(number.clone()));
        }
        let others = self.intents.values().flat_map(|other| &other.versions);
        alias::check(version.descriptor(), others.map(|other| other.descriptor()))?;
        let mut removed = Vec::new();
        if let Some(live) = &intent.live {
            succession::check(live.descriptor(), version.descriptor(), removal)?;
            removed = succession::removed_values(live.descriptor(), version.descriptor());
        }
        let mut happened = Vec::new();
        let before = intent.live_name();
        intent.missing.retain(|missing| missing.kept.digest != version.digest());
        intent.versions.push(Arc::clone(version));
        intent.note(version, VersionAct::Loaded, doing, before.as_ref(), &mut happened);
        if activate {
            intent.serve(Arc::clone(version));
            intent.note(version, VersionAct::WentLive, doing, before.as_ref(), &mut happened);
        }
        if let Some(loaded) = happened.first_mut() {
            loaded.removed.clone_from(&removed);
        }
        let evicted = intent.shrink(kept);
        Ok(Addition { change: Change { next, happened }, evicted, removed })
    }

    /// The next snapshot in which a loaded version serves.
    pub(crate) fn find_serving(&self, digest: Digest, doing: &Doing) -> Option<(Change, Arc<Version>)> {
        let version = Arc::clone(self.version(digest)?);
        let (mut next, mut happened) = (self.clone(), Vec::new());
        let intent = next.intents.get_mut(version.id())?;
        let before = intent.live_name();
        intent.serve(Arc::clone(&version));
        intent.note(&version, VersionAct::WentLive, doing, before.as_ref(), &mut happened);
        Some((Change { next, happened }, version))
    }

    /// The next snapshot in which an intent is out of service.
    pub(crate) fn without(&self, intent: &str, doing: &Doing) -> Option<Change> {
        let (mut next, mut happened) = (self.clone(), Vec::new());
        let entry = next.intents.get_mut(intent)?;
        let before = entry.live_name();
        let is_awaited = entry.replace_missing();
        let Some(last) = entry.live.take() else { return is_awaited.then_some(Change { next, happened }) };
        entry.previous.push(last.digest());
        entry.note(&last, VersionAct::LeftService, doing, before.as_ref(), &mut happened);
        Some(Change { next, happened })
    }

    /// The next snapshot in which a live version has given way to the last good one, which is returned too.
    pub(crate) fn rolled_back(&self, failing: Digest, doing: &Doing) -> Option<(Change, Arc<Version>)> {
        let failed = Arc::clone(self.version(failing)?);
        let (mut next, mut happened) = (self.clone(), Vec::new());
        let intent = next.intents.get_mut(failed.id())?;
        if !intent.is_live(failing) {
            return None;
        }
        let (good, before) = (intent.last_good()?, intent.live_name());
        intent.serve(Arc::clone(&good));
        intent.previous.retain(|previous| *previous != failing);
        intent.note(&failed, VersionAct::LeftService, doing, before.as_ref(), &mut happened);
        intent.note(&good, VersionAct::WentLive, doing, before.as_ref(), &mut happened);
        Some((Change { next, happened }, good))
    }

    /// Digests of all loaded versions, and of those that are missing.
    pub(crate) fn digests(&self) -> HashSet<Digest> {
        let of_intent = |intent: &Intent| {
            let loaded = intent.versions.iter().map(|version| version.digest());
            loaded.chain(intent.missing.iter().map(|missing| missing.kept.digest)).collect::<Vec<_>>()
        };
        self.intents.values().flat_map(of_intent).collect()
    }

    /// What a restart needs to know, by intent.
    pub(crate) fn to_keep(&self) -> BTreeMap<String, KeptIntent> {
        let version = |intent: &Intent, version: &Version| KeptVersion {
            digest: version.digest(),
            provenance: version.provenance.clone(),
            history: intent.histories.of(version.digest()),
        };
        let kept = |intent: &Intent| {
            let mut versions: Vec<KeptVersion> = intent.versions.iter().map(|kept| version(intent, kept)).collect();
            intent.add_missing(&mut versions);
            KeptIntent {
                live: intent.awaited().or_else(|| intent.live.as_ref().map(|live| live.digest())),
                previous: intent.previous.clone(),
                versions,
            }
        };
        self.intents.iter().map(|(id, intent)| (id.as_str().to_owned(), kept(intent))).collect()
    }
}

/// A version that is to be added.
#[derive(Clone, Copy)]
pub(crate) struct NewVersion<'a> {
    pub(crate) version: &'a Arc<Version>,
    pub(crate) activate: bool,
    pub(crate) removal: Removal,
    /// Versions of an intent that are kept.
    pub(crate) kept: usize,
}

/// The next snapshot, and what has happened when it is published.
pub(crate) struct Change {
    pub(crate) next: Snapshot,
    pub(crate) happened: Happened,
}

/// The change by which a version is added.
pub(crate) struct Addition {
    pub(crate) change: Change,
    /// The versions that had to go for it.
    pub(crate) evicted: Vec<Digest>,
    /// What it takes out of the live version's vocabularies.
    pub(crate) removed: Vec<RemovedValue>,
}

/// A snapshot that serves.
pub(crate) struct Published {
    snapshot: Snapshot,
    /// Built once for the snapshot, never for a call.
    cues: OnceLock<Cues>,
    /// The intents of the live versions' aliases.
    aliases: HashMap<String, IntentId>,
}

/// The live versions by their cues.
struct Cues {
    index: CueIndex,
    /// In the order in which the index was built.
    live: Vec<Arc<Version>>,
}

impl Published {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        let of_version = |live: &Arc<Version>| {
            let descriptor = live.descriptor();
            let aliases = descriptor.aliases.iter();
            aliases.map(|alias| (alias.to_string(), descriptor.intent.clone())).collect::<Vec<_>>()
        };
        let aliases = snapshot.all_live().flat_map(of_version).collect();
        Self { snapshot, cues: OnceLock::new(), aliases }
    }

    /// The live version of an intent, by its name or by an alias.
    pub(crate) fn find_live(&self, name: &str) -> Option<&Arc<Version>> {
        self.snapshot.live(name).or_else(|| self.snapshot.live(self.aliases.get(name)?.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_to_go_back_to_is_the_last_that_is_spared() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| Digest::of(text.as_bytes()));
        let goes = |loaded: &[Digest], live, good| find_dispensable(loaded, live, good).map(|at| loaded[at]);
        // `a` served until `d` came; the others never did.
        assert_eq!(goes(&[a, b, c, d], Some(d), Some(a)), Some(b));
        assert_eq!(goes(&[a, b, c], Some(a), None), Some(b));
        assert_eq!(goes(&[a, b, c], Some(c), Some(b)), Some(a));
        // With room for two, the newcomer takes the place of the one to go back to.
        assert_eq!(goes(&[a, b, c], Some(b), Some(a)), Some(a));
        assert_eq!(goes(&[a, b], Some(a), None), None);
        assert_eq!(goes(&[], None, None), None);
    }
}
