//! The sandbox as the gateway sees it: the contracts that serve, and what the catalogue has of it. Reading is one atomic load; what
//! the catalogue wants to serve is published with one atomic store.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError, Weak};

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::{Contract, ContractRuntime, Contracts, FaultLog, Offer};
use intent_gateway_domain::versions::{CallCounts, Failing, NotExamined, ServedIntent};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cache::CompiledCache;
use crate::compiling::Compiler;
use crate::compiling::queue::LoadQueue;
use crate::config::SandboxConfig;
use crate::engine::{Engine, EngineError};
use crate::loading::{self, Prepared};
use crate::pages;
use crate::progress::StartProgress;
use crate::registry::{FaultSink, Published, Reports, Snapshot, Version};
use crate::state_dir::{StateDir, StateError};
use crate::swap;
use crate::watch::SpareComponents;

/// Reports of failing versions that may wait for whoever takes them out.
const FAILING_QUEUE: usize = 64;

/// The sandbox did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The engine did not start.
    #[error("the sandbox engine did not start")]
    Engine(#[from] EngineError),
    /// The state folder cannot be used.
    #[error("the sandbox state cannot be used")]
    State(#[from] StateError),
}

/// Versions that somebody holds, by their digests.
#[derive(Default)]
pub(crate) struct HeldVersions(StdMutex<HashMap<Digest, Weak<Version>>>);

impl HeldVersions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Weak<Version>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Version>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }
}

/// Runs contracts. Its tasks end with it, or when shut down.
pub struct Sandbox {
    engine: Engine,
    cache: Arc<CompiledCache>,
    _state_dir: StateDir,
    snapshot: ArcSwap<Published>,
    held: Arc<HeldVersions>,
    /// Who has a component examined, and who waits for it.
    queue: LoadQueue,
    reports: Reports,
    failing: Mutex<mpsc::Receiver<Failing>>,
    progress: Arc<StartProgress>,
    spare: Arc<SpareComponents>,
    /// Cancelled when nothing more is to be examined.
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Sandbox {
    /// Starts with nothing that serves. Components are compiled in this process: for tests.
    ///
    /// # Errors
    /// [`StartError`] when the engine or the state folder cannot be used.
    pub fn start(
        config: SandboxConfig,
        state_dir: PathBuf,
        shutdown: CancellationToken,
    ) -> Result<Arc<Self>, StartError> {
        Self::start_with(config, Compiler::in_this_process(), state_dir, None, shutdown, StartProgress::default())
    }

    /// The same with another compiler, and a folder in which components may lie that are gone from elsewhere; it tells what it
    /// compiles.
    ///
    /// # Errors
    /// As [`Sandbox::start`].
    pub fn start_with(
        config: SandboxConfig,
        compiler: Compiler,
        state_dir: PathBuf,
        contract_folder: Option<PathBuf>,
        shutdown: CancellationToken,
        progress: StartProgress,
    ) -> Result<Arc<Self>, StartError> {
        let engine = Engine::with_compiler(&config, compiler)?;
        let held_dir = StateDir::open(&state_dir)?;
        let cache = CompiledCache::open(&engine, &state_dir)
            .map_err(|cause| StateError::Io { path: state_dir.clone(), cause })?;
        let (failing, failing_reports) = mpsc::channel(FAILING_QUEUE);
        // A child, so that dropping the sandbox ends its tasks and not its owner's.
        let shutdown = shutdown.child_token();
        let tasks = TaskTracker::new();
        if engine.asks_kernel() {
            tasks.spawn(swap::watch(shutdown.clone()));
        }
        let held = Arc::<HeldVersions>::default();
        if let Some(unused) = config.code_unused() {
            let giving = pages::give_back_unused(Arc::downgrade(&held), unused);
            tasks.spawn(shutdown.clone().run_until_cancelled_owned(giving));
        }
        Ok(Arc::new(Self {
            engine,
            cache: Arc::new(cache),
            _state_dir: held_dir,
            snapshot: ArcSwap::from_pointee(Published::new(Snapshot::default())),
            held,
            queue: LoadQueue::new(),
            reports: Reports { failing, faults: FaultSink::default() },
            failing: Mutex::new(failing_reports),
            progress: Arc::new(progress),
            spare: Arc::new(SpareComponents::new(contract_folder)),
            shutdown,
            tasks,
        }))
    }

    /// Stops examining, and waits until that is over. Contracts can still be called.
    pub async fn stop(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Waits for a version that keeps failing: so often in a row as is configured, or more often than any version may.
    pub async fn next_failing(&self) -> Failing {
        match self.failing.lock().await.recv().await {
            Some(failing) => failing,
            // The sender is part of the sandbox, so it is not gone.
            None => std::future::pending().await,
        }
    }

    /// What the start tells while it compiles.
    #[must_use]
    pub fn progress(&self) -> Arc<StartProgress> {
        self.progress.clone()
    }

    /// From here on faults of contracts are recorded there. Said once: whoever comes later is not heard.
    pub fn note_faults_in(&self, log: Arc<dyn FaultLog>) {
        // The loser of a race is the one that came later.
        let _ = self.reports.faults.set(log);
    }

    /// The engine, for calls outside the registry.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    fn held(&self, digest: Digest) -> Option<Arc<Version>> {
        self.held.lock().get(&digest)?.upgrade()
    }

    /// Makes a version of what was examined. One that somebody holds already is that one.
    fn hold(&self, Prepared { contract, to_cache }: Prepared) -> Arc<Version> {
        let mut held = self.held.lock();
        held.retain(|_, version| version.strong_count() > 0);
        let digest = contract.digest();
        if let Some(version) = held.get(&digest).and_then(Weak::upgrade) {
            return version;
        }
        let faults_before_rollback = self.engine.config().faults_before_rollback;
        let version = Arc::new(Version::new(contract, to_cache, faults_before_rollback, self.reports.clone()));
        held.insert(digest, Arc::downgrade(&version));
        version
    }

    async fn examine_as(&self, component: Bytes, by: &Actor) -> Result<Arc<dyn Contract>, NotExamined> {
        let work = async {
            let _turn = self.queue.enter(by).await.ok_or(NotExamined::Overloaded)?;
            let prepared = loading::prepare(&self.engine, &self.cache, &self.progress, component).await;
            prepared.map_err(|rejected| NotExamined::Refused(Box::new(rejected.told())))
        };
        let prepared = self.shutdown.run_until_cancelled(work).await.unwrap_or(Err(NotExamined::ShuttingDown))?;
        Ok(self.hold(prepared))
    }

    async fn take_up_compiled(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        if let Some(version) = self.held(digest) {
            return Some(version);
        }
        let taken = loading::take_up(&self.engine, &self.cache, digest);
        match self.shutdown.run_until_cancelled(taken).await?? {
            Ok(prepared) => Some(self.hold(prepared)),
            Err(rejected) => {
                tracing::warn!(%digest, reason = rejected.told().message, "a compiled contract is not used; compiling it again");
                None
            }
        }
    }

    async fn keep_compiled(&self, digest: Digest) {
        let Some(code) = self.held(digest).and_then(|version| version.take_code()) else { return };
        let cache = self.cache.clone();
        // A panic there costs a later compilation at most.
        let _ = tokio::task::spawn_blocking(move || {
            // Without it a restart compiles again, which is not a reason to refuse a version.
            if let Err(error) = cache.keep(code) {
                tracing::warn!(%digest, %error, "the compiled contract could not be cached");
            }
        })
        .await;
    }

    async fn publish(&self, intents: Vec<ServedIntent>) {
        let mut next = Snapshot::default();
        for ServedIntent { intent, live, candidate, ready } in intents {
            next.loaded.extend(ready.into_iter().filter_map(|digest| Some((digest, self.held(digest)?))));
            let candidate = candidate.and_then(|(digest, share)| Some((next.loaded.get(&digest)?.clone(), share)));
            next.candidates.extend(candidate.map(|candidate| (intent.clone(), candidate)));
            if let Some(version) = live.and_then(|live| next.loaded.get(&live)) {
                next.live.insert(intent, version.clone());
            }
        }
        let is_smaller = self.snapshot.load().loaded.keys().any(|digest| !next.loaded.contains_key(digest));
        let indexed = tokio::task::spawn_blocking(move || {
            let next = Published::new(next);
            next.index_cues();
            next
        });
        match indexed.await {
            Ok(next) => self.snapshot.store(Arc::new(next)),
            Err(error) => tracing::error!(%error, "what is to serve could not be published"),
        }
        if is_smaller {
            self.forget_code().await;
        }
    }

    /// Removes compiled forms of versions that nobody holds: what is examined at the moment is held.
    async fn forget_code(&self) {
        let held: HashSet<Digest> = self.held.all().iter().map(|version| version.digest()).collect();
        let cache = self.cache.clone();
        let removing = tokio::task::spawn_blocking(move || cache.retain(&held));
        if let Ok(Err(error)) = removing.await {
            tracing::warn!(%error, "compiled contracts that are not needed could not be removed");
        }
    }
}

impl Contracts for Sandbox {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        let snapshot = self.snapshot.load();
        snapshot.find_live(intent).map(|version| Arc::clone(version) as Arc<dyn Contract>)
    }

    fn offer(&self, intent: &str) -> Option<Offer> {
        let snapshot = self.snapshot.load();
        let live = snapshot.find_live(intent)?;
        let candidate = snapshot.candidates.get(&live.descriptor().intent);
        let candidate = candidate.map(|(version, share)| (Arc::clone(version) as Arc<dyn Contract>, *share));
        Some(Offer { live: Arc::clone(live) as Arc<dyn Contract>, candidate })
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        let snapshot = self.snapshot.load();
        snapshot.loaded.get(&digest).map(|version| Arc::clone(version) as Arc<dyn Contract>)
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        let snapshot = self.snapshot.load();
        snapshot.live.values().map(|version| Arc::clone(version) as Arc<dyn Contract>).collect()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        self.snapshot.load().select_by_cues(utterance)
    }
}

impl ContractRuntime for Sandbox {
    fn examine<'a>(&'a self, component: Bytes, by: &'a Actor) -> BoxFuture<'a, Result<Arc<dyn Contract>, NotExamined>> {
        self.examine_as(component, by).boxed()
    }

    fn take_up(&self, digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        self.take_up_compiled(digest).boxed()
    }

    fn keep(&self, digest: Digest) -> BoxFuture<'_, ()> {
        self.keep_compiled(digest).boxed()
    }

    fn find_spare(&self, digest: Digest) -> BoxFuture<'_, Option<Bytes>> {
        let spare = self.spare.clone();
        let found = tokio::task::spawn_blocking(move || spare.find(digest));
        found.map(|found| found.ok().flatten()).boxed()
    }

    fn serve(&self, intents: Vec<ServedIntent>) -> BoxFuture<'_, ()> {
        self.publish(intents).boxed()
    }

    fn counts(&self, digest: Digest) -> CallCounts {
        self.held(digest).map(|version| version.counts()).unwrap_or_default()
    }

    fn absolve(&self, digest: Digest) {
        if let Some(version) = self.held(digest) {
            version.absolve();
        }
    }

    fn announce(&self, name: String, number: usize, of: usize) {
        self.progress.look_at(name, number, of);
    }
}
