//! Which versions are loaded and which of them serves: one immutable snapshot, replaced as a whole.
//!
//! A [`Version`] is pinned by whoever holds it and stays what it is. A [`Snapshot`] is never changed: the next one is made of what
//! the catalogue says. [`Published`], it also knows which utterances wake which contracts. Publishing it is one store by the
//! sandbox.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::future::BoxFuture;
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
use intent_gateway_domain::rates::Counted;
use intent_gateway_domain::share::Share;
use intent_gateway_domain::telemetry;
use intent_gateway_domain::versions::{CallCounts, Failing};
use tokio::sync::mpsc;

use crate::cache::UnkeptCode;
use crate::contract::LoadedContract;
use crate::engine::Lane;
use crate::pages::CodePages;

/// Where faults are recorded, from the time on that there is such a place.
pub(crate) type FaultSink = Arc<OnceLock<Arc<dyn FaultLog>>>;

/// What versions tell their owner.
#[derive(Clone)]
pub(crate) struct Reports {
    /// Told when a version has failed so often that it is to be taken out.
    pub(crate) failing: mpsc::Sender<Failing>,
    pub(crate) faults: FaultSink,
}

/// Share of the calls of a function that may fail: a version that fails more often is taken out.
const FAULT_RATE_MAX: f64 = 0.005;
/// The chance that one is taken out that fails less often, over its whole service.
const FAULT_RATE_ERROR: f64 = 0.001;

/// What is counted of one function.
#[derive(Default)]
struct FunctionCounts {
    calls: AtomicU64,
    faults: AtomicU64,
    in_a_row: AtomicU32,
    /// Calls and faults until somebody decided last that the version serves.
    absolved: Mutex<Counted>,
}

impl FunctionCounts {
    fn total(&self) -> Counted {
        // Faults first: there are never more than calls.
        let hits = self.faults.load(Ordering::Acquire);
        Counted { of: self.calls.load(Ordering::Acquire), hits }
    }

    fn absolve(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
        *self.absolved.lock().unwrap_or_else(PoisonError::into_inner) = self.total();
    }

    /// Calls and faults since then.
    fn counted(&self) -> Counted {
        let (total, before) = (self.total(), *self.absolved.lock().unwrap_or_else(PoisonError::into_inner));
        let hits = total.hits.saturating_sub(before.hits);
        Counted { of: total.of.saturating_sub(before.of).max(hits), hits }
    }
}

/// A loaded version of a contract, with what is counted of it.
pub(crate) struct Version {
    contract: LoadedContract,
    /// Its compiled form, until that is kept.
    to_cache: Mutex<Option<UnkeptCode>>,
    /// By function: a search calls two, and one that always works must not hide one that never does.
    functions: [FunctionCounts; Function::ALL.len()],
    faults_before_rollback: u32,
    reports: Reports,
}

impl Version {
    pub(crate) fn new(
        contract: LoadedContract,
        to_cache: Option<UnkeptCode>,
        faults_before_rollback: u32,
        reports: Reports,
    ) -> Self {
        Self {
            contract,
            to_cache: Mutex::new(to_cache),
            functions: Default::default(),
            faults_before_rollback,
            reports,
        }
    }

    /// Its compiled form, where that is not kept yet. Given once.
    pub(crate) fn take_code(&self) -> Option<UnkeptCode> {
        self.to_cache.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The memory of its code.
    pub(crate) fn pages(&self) -> &CodePages {
        self.contract.pages()
    }

    /// Forgets past faults: somebody decided that the version serves (again).
    pub(crate) fn absolve(&self) {
        self.functions.iter().for_each(FunctionCounts::absolve);
    }

    pub(crate) fn counts(&self) -> CallCounts {
        let sum = |count: fn(&FunctionCounts) -> &AtomicU64| {
            self.functions.iter().map(|function| count(function).load(Ordering::Relaxed)).sum()
        };
        CallCounts { calls: sum(|function| &function.calls), faults: sum(|function| &function.faults) }
    }

    fn count(&self, call: CallRef<'_>, fault: Option<&ContractFault>) {
        let function = &self.functions[call.function() as usize];
        function.calls.fetch_add(1, Ordering::Relaxed);
        match fault {
            Some(fault) if fault.counts_against_version() => self.count_fault(function, call, fault),
            // A call that never ran says nothing of the version.
            Some(_) => {}
            // Read before write: good versions keep the line shared between cores.
            None if function.in_a_row.load(Ordering::Relaxed) == 0 => {}
            None => function.in_a_row.store(0, Ordering::Relaxed),
        }
    }

    fn count_fault(&self, function: &FunctionCounts, call: CallRef<'_>, fault: &ContractFault) {
        function.faults.fetch_add(1, Ordering::Relaxed);
        let in_a_row = function.in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
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
        let calls = function.counted();
        // A few faults at its beginning are no rate.
        let fails_often =
            calls.hits >= self.faults_before_rollback.into() && calls.is_above(FAULT_RATE_MAX, FAULT_RATE_ERROR);
        if in_a_row.is_multiple_of(self.faults_before_rollback) || fails_often {
            // A full channel means that take-outs are being worked on; the next fault of that kind reports again.
            let _ = self.reports.failing.try_send(Failing { digest: self.contract.digest(), calls, in_a_row });
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

    fn beside_serving(&self) -> Option<Arc<dyn Contract>> {
        self.contract.beside_serving()
    }
}

/// Everything that is loaded, at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    /// By intent.
    pub(crate) live: BTreeMap<IntentId, Arc<Version>>,
    /// The candidates of rollouts that serve a share of the users.
    pub(crate) candidates: BTreeMap<IntentId, (Arc<Version>, Share)>,
    /// Live or not.
    pub(crate) loaded: HashMap<Digest, Arc<Version>>,
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
        let aliases = snapshot.live.values().flat_map(of_version).collect();
        Self { snapshot, cues: OnceLock::new(), aliases }
    }

    /// The live version of an intent, by its name or by an alias.
    pub(crate) fn find_live(&self, name: &str) -> Option<&Arc<Version>> {
        let live = &self.snapshot.live;
        live.get(name).or_else(|| live.get(self.aliases.get(name)?))
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
            let live: Vec<Arc<Version>> = self.snapshot.live.values().cloned().collect();
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
