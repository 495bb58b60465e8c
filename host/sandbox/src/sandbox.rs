//! The sandbox as the gateway sees it: the catalogue of live contracts and what the platform team may do
//! with it. Reading is one atomic load; every change is made under one lock, written to disk, and then
//! published with one atomic store.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::ports::{Contract, ContractAdmin, Contracts, FaultLog};
use intent_gateway_domain::succession::name_removed;
use intent_gateway_domain::versions::{
    ContractAdminError, ContractEvent, LoadFailure, LoadOrder, Loaded, LoadedVersion, MissingVersion, Origin, Whence,
};
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cache::CompiledCache;
use crate::compiling::queue::LoadQueue;
use crate::compiling::{CompiledCode, Compiler};
use crate::config::SandboxConfig;
use crate::engine::{Engine, EngineError};
use crate::failure::LoadError;
use crate::history::{Doing, Outbox, Provenance};
use crate::journal::Journal;
use crate::library::{Library, StateError, StoredComponent};
use crate::loading::{self, Prepared, Rejected};
use crate::progress::StartProgress;
use crate::registry::{Addition, Change, FaultSink, NewVersion, Published, Reports, Snapshot, Version};
use crate::swap;
use crate::watch::{Folder, SpareComponents};

/// Reports of failing versions that may wait for the task that takes them out.
const FAILING_QUEUE: usize = 64;
/// Code of the failure that is noted when a version is taken out.
const TAKEN_OUT: &str = "TAKEN_OUT";

/// The sandbox did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The engine did not start.
    #[error("the sandbox engine did not start")]
    Engine(#[from] EngineError),
    /// The state folder cannot be used.
    #[error("the sandbox state cannot be used")]
    State(#[from] StateError),
    /// The contract folder cannot be watched.
    #[error("the contract folder `{}` cannot be watched", .path.display())]
    Folder {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: notify::Error,
    },
    /// It was told to stop before it had taken up what was kept.
    #[error("the sandbox was told to stop before it had started")]
    Stopped,
}

/// Runs contracts, and keeps and replaces them. Its tasks end with it, or when shut down.
pub struct Sandbox {
    pub(crate) inner: Arc<SandboxState>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// What the sandbox and its tasks share.
pub(crate) struct SandboxState {
    engine: Engine,
    cache: Arc<CompiledCache>,
    pub(crate) library: Library,
    snapshot: ArcSwap<Published>,
    journal: Journal,
    clock: Arc<dyn Clock>,
    /// Who has a component examined, and who waits for it.
    queue: LoadQueue,
    /// Held from reading the snapshot that a change starts from until the changed one is published.
    changing: Mutex<()>,
    reports: Reports,
    pub(crate) progress: Arc<StartProgress>,
    /// What the audit log has not taken yet, as it is kept. Changed with `changing` held.
    events: watch::Sender<Outbox>,
    /// Cancelled when nothing more is to be examined.
    shutdown: CancellationToken,
    /// Cancelled when the contract folder has been looked through for the first time, or there is none.
    pub(crate) looked_through: CancellationToken,
}

/// Why a component did not come out of its examination.
pub(crate) enum NotPrepared {
    /// It did not pass.
    Rejected(Box<Rejected>),
    /// It was not looked at: too many of the same account are.
    Overloaded,
    /// The gateway shuts down.
    ShuttingDown,
}

impl From<Box<Rejected>> for NotPrepared {
    fn from(rejected: Box<Rejected>) -> Self {
        Self::Rejected(rejected)
    }
}

impl Sandbox {
    /// Starts: takes up what was kept in the state folder, and watches the contract folder. What lies there is taken from
    /// then on, beside whatever else is done. Components that cannot be taken are failures to read, not errors of the start.
    /// Components are compiled in this process: for tests.
    ///
    /// # Errors
    /// [`StartError`] when the engine, the state folder or the contract folder cannot be used.
    pub async fn start(
        config: SandboxConfig,
        state_dir: PathBuf,
        watch: Option<PathBuf>,
        clock: Arc<dyn Clock>,
        shutdown: CancellationToken,
    ) -> Result<Arc<Self>, StartError> {
        let compiler = Compiler::in_this_process();
        Self::start_with(config, compiler, state_dir, watch, clock, shutdown, StartProgress::default()).await
    }

    /// The same with another compiler, and tells what it compiles.
    ///
    /// # Errors
    /// As [`Sandbox::start`].
    pub async fn start_with(
        config: SandboxConfig,
        compiler: Compiler,
        state_dir: PathBuf,
        watch: Option<PathBuf>,
        clock: Arc<dyn Clock>,
        shutdown: CancellationToken,
        progress: StartProgress,
    ) -> Result<Arc<Self>, StartError> {
        let engine = Engine::with_compiler(&config, compiler)?;
        let library = Library::open(&state_dir)?;
        let kept = library.read_kept(clock.now())?;
        let cache = CompiledCache::open(&engine, &state_dir)
            .map_err(|cause| StateError::Io { path: state_dir.clone(), cause })?;
        let (failing, reports) = mpsc::channel(FAILING_QUEUE);
        // A child, so that dropping the sandbox ends its tasks and not its owner's.
        let shutdown = shutdown.child_token();
        let inner = Arc::new(SandboxState {
            engine,
            cache: Arc::new(cache),
            library,
            snapshot: ArcSwap::from_pointee(Published::new(Snapshot::default())),
            journal: Journal::default(),
            clock,
            queue: LoadQueue::new(),
            changing: Mutex::new(()),
            reports: Reports { failing, faults: FaultSink::default() },
            progress: Arc::new(progress),
            events: watch::Sender::new(kept.events),
            shutdown: shutdown.clone(),
            looked_through: CancellationToken::new(),
        });
        let (mut number, of) = (0, kept.intents.values().map(|kept| kept.versions.len()).sum());
        let spare = Arc::new(SpareComponents::new(watch.clone()));
        for (intent, kept) in kept.intents {
            inner.restore(&intent, kept, &spare, &mut number, of).await;
        }
        // What was not taken up then is not to be forgotten.
        if shutdown.is_cancelled() {
            return Err(StartError::Stopped);
        }
        inner.tidy();
        let kept = inner.snapshot();
        // A panic there would only mean that the first classification builds the index.
        let _ = tokio::task::spawn_blocking(move || kept.index_cues()).await;
        let tasks = TaskTracker::new();
        match watch {
            Some(path) => {
                let folder = Folder::open(Arc::clone(&inner), path.clone());
                let folder = folder.map_err(|cause| StartError::Folder { path, cause })?;
                tasks.spawn(folder.run(shutdown.clone()));
            }
            None => inner.end_start(),
        }
        tasks.spawn(take_out(Arc::clone(&inner), reports, shutdown.clone()));
        if inner.engine.asks_kernel() {
            tasks.spawn(swap::watch(shutdown.clone()));
        }
        Ok(Arc::new(Self { inner, shutdown, tasks }))
    }

    /// Stops watching and taking out, and waits until that is over. Contracts can still be called.
    pub async fn stop(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Waits until the contract folder has been looked through for the first time; what could be taken of it serves then.
    pub async fn look_through(&self) {
        tokio::select! {
            () = self.inner.looked_through.cancelled() => {}
            () = self.shutdown.cancelled() => {}
        }
    }

    /// What has happened to versions and the audit log has not taken yet, oldest first.
    #[must_use]
    pub fn pending_events(&self) -> Vec<ContractEvent> {
        self.inner.events.borrow().waiting()
    }

    /// Waits until there are such events.
    pub async fn wait_for_events(&self) {
        // The sender lives in the sandbox, so waiting cannot fail.
        let _ = self.inner.events.subscribe().wait_for(|events| !events.is_empty()).await;
    }

    /// The audit log has taken the events up to this number.
    ///
    /// # Errors
    /// [`ContractAdminError::Storage`] when that could not be kept: after a restart they are offered again.
    pub async fn settle_events(&self, up_to: u64) -> Result<(), ContractAdminError> {
        self.inner.settle_events(up_to).await
    }

    /// From here on faults of contracts are recorded there. Said once: whoever comes later is not heard.
    pub fn note_faults_in(&self, log: Arc<dyn FaultLog>) {
        // The loser of a race is the one that came later.
        let _ = self.inner.reports.faults.set(log);
    }

    /// The engine, for calls outside the registry.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }
}

/// Takes out each version that is reported as failing, for as long as the sandbox runs.
async fn take_out(inner: Arc<SandboxState>, mut reports: mpsc::Receiver<Digest>, shutdown: CancellationToken) {
    while let Some(Some(digest)) = shutdown.run_until_cancelled(reports.recv()).await {
        inner.roll_back(digest).await;
    }
}

impl SandboxState {
    pub(crate) fn snapshot(&self) -> Arc<Published> {
        self.snapshot.load_full()
    }

    /// Publishes a snapshot whose cues are indexed when they are first asked for.
    pub(crate) fn publish(&self, next: Snapshot) {
        self.snapshot.store(Arc::new(Published::new(next)));
    }

    /// Notes a component that was not taken.
    pub(crate) fn reject(&self, rejected: &Rejected) -> ContractAdminError {
        let failure = rejected.failure(self.clock.now());
        self.journal.note(failure.clone());
        ContractAdminError::Rejected(Box::new(failure))
    }

    /// What the start takes up is taken up.
    pub(crate) fn end_start(&self) {
        self.progress.end();
        self.looked_through.cancel();
    }

    /// Examines a component when it is this account's turn. Dropped, it stops.
    pub(crate) async fn prepare(&self, bytes: Bytes, origin: Origin, by: &Actor) -> Result<Prepared, NotPrepared> {
        let work = async {
            let _turn = self.queue.enter(by).await.ok_or(NotPrepared::Overloaded)?;
            Ok(loading::prepare(&self.engine, &self.cache, &self.progress, bytes, origin).await?)
        };
        self.shutdown.run_until_cancelled(work).await.unwrap_or(Err(NotPrepared::ShuttingDown))
    }

    /// What is answered of a component that did not come out of its examination.
    pub(crate) fn refuse(&self, reason: NotPrepared) -> ContractAdminError {
        match reason {
            NotPrepared::Rejected(rejected) => self.reject(&rejected),
            NotPrepared::Overloaded => ContractAdminError::Overloaded,
            NotPrepared::ShuttingDown => ContractAdminError::ShuttingDown,
        }
    }

    pub(crate) fn version(&self, prepared: &Prepared, provenance: Provenance) -> Arc<Version> {
        Arc::new(Version::new(
            prepared.contract.clone(),
            provenance,
            prepared.bytes.len(),
            self.engine.config().faults_before_rollback,
            self.reports.clone(),
        ))
    }

    /// Takes an examined component: keeps it, and makes it live if asked. The same content twice is one version, which stays
    /// as it is: what was taken out of service on purpose does not come back because somebody sent it again.
    pub(crate) async fn take(
        self: &Arc<Self>,
        prepared: Prepared,
        order: LoadOrder,
    ) -> Result<Loaded, ContractAdminError> {
        let digest = prepared.contract.digest();
        let _changing = self.changing.lock().await;
        let now = self.snapshot();
        if let Some(version) = now.summary(digest) {
            return Ok(Loaded { version, known: true, removed: Vec::new() });
        }
        let LoadOrder { origin, by, activate, removal } = order;
        let doing = self.doing(Whence::of(&origin), by);
        let provenance = Provenance { origin, loaded_at_ms: doing.at_ms, loaded_by: doing.by.clone() };
        let version = self.version(&prepared, provenance);
        let kept = self.engine.config().versions_kept_per_intent;
        let new = NewVersion { version: &version, activate, removal, kept };
        let Addition { change, evicted, removed } = now.with(&new, &doing).map_err(|error| {
            let identity = Some(prepared.identity());
            let origin = prepared.origin.clone();
            self.reject(&Rejected { error: LoadError::Succession(error), origin, digest: Some(digest), identity })
        })?;
        self.commit(change, Some(prepared), evicted).await?;
        let summary = self.summary(digest)?;
        tracing::info!(intent = summary.intent, version = summary.version, %digest, live = activate, "contract loaded");
        if !removed.is_empty() {
            tracing::warn!(
                intent = summary.intent,
                removed = name_removed(&removed),
                "values of vocabularies are gone"
            );
        }
        Ok(Loaded { version: summary, known: false, removed })
    }

    /// What is told of a version that was just published.
    fn summary(&self, digest: Digest) -> Result<LoadedVersion, ContractAdminError> {
        self.snapshot().summary(digest).ok_or_else(|| ContractAdminError::Unknown(digest.to_string()))
    }

    fn doing(&self, whence: Whence, by: Actor) -> Doing {
        Doing { at_ms: self.clock.now(), whence, by }
    }

    /// Makes a loaded version live.
    async fn activate(self: &Arc<Self>, digest: Digest, by: Actor) -> Result<LoadedVersion, ContractAdminError> {
        let _changing = self.changing.lock().await;
        let now = self.snapshot();
        let unknown = || ContractAdminError::Unknown(digest.to_string());
        let doing = self.doing(Whence::Activation, by);
        let (change, version) = now.find_serving(digest, &doing).ok_or_else(unknown)?;
        if !now.is_live(digest) {
            self.commit(change, None, Vec::new()).await?;
            version.absolve();
            let descriptor = version.descriptor();
            tracing::info!(intent = %descriptor.intent, version = %descriptor.version, %digest, "contract activated");
        }
        self.summary(digest)
    }

    async fn unload(self: &Arc<Self>, intent: &str, by: Actor) -> Result<(), ContractAdminError> {
        let _changing = self.changing.lock().await;
        let unknown = || ContractAdminError::Unknown(intent.to_owned());
        let doing = self.doing(Whence::Unloading, by);
        let change = self.snapshot().without(intent, &doing).ok_or_else(unknown)?;
        self.commit(change, None, Vec::new()).await?;
        tracing::info!(intent, "intent taken out of service");
        Ok(())
    }

    /// Puts the last good version in the place of a failing one.
    async fn roll_back(self: &Arc<Self>, failing: Digest) {
        let _changing = self.changing.lock().await;
        let now = self.snapshot();
        let Some(version) = now.version(failing).filter(|_| now.is_live(failing)) else { return };
        let (intent, number) = (version.id().to_string(), version.descriptor().version.to_string());
        let doing = self.doing(Whence::RollBack, Actor::gateway());
        let Some((change, good)) = now.rolled_back(failing, &doing) else {
            tracing::error!(
                intent,
                version = number,
                digest = %failing,
                "the live contract keeps failing, and there is no version to go back to"
            );
            return;
        };
        good.absolve();
        // A gateway whose disk is full must still stop a failing version, so this one change is published first.
        self.publish(change.next.clone());
        self.journal.note(LoadFailure {
            at_ms: doing.at_ms,
            origin: version.provenance.origin.clone(),
            digest: Some(failing),
            message: format!(
                "it failed {} times in a row; version {} serves again, and `intent-gateway contract failures {intent}` shows \
                 the calls",
                self.engine.config().faults_before_rollback,
                good.descriptor().version
            ),
            intent: Some(intent),
            version: Some(number),
            code: TAKEN_OUT.to_owned(),
            removed: Vec::new(),
        });
        let happened = change.happened.clone();
        if let Err(error) = self.commit(change, None, Vec::new()).await {
            tracing::error!(
                error = chain(&error),
                "the roll-back is not kept; a restart would serve the failing version"
            );
            // It has happened all the same.
            self.events.send_modify(|events| events.add(&happened));
        }
    }

    /// The audit log has taken the events up to a number: they are kept here no longer.
    async fn settle_events(self: &Arc<Self>, up_to: u64) -> Result<(), ContractAdminError> {
        let _changing = self.changing.lock().await;
        let mut events = self.events.borrow().clone();
        events.settle(up_to);
        let (inner, kept) = (Arc::clone(self), StoredComponent::new(self.snapshot().to_keep(), events.clone()));
        let writing = tokio::task::spawn_blocking(move || inner.library.keep(&kept)).await;
        // Also where that failed: the log has them, and would otherwise get them again and again until the disk is mended.
        self.events.send_replace(events);
        writing.map_err(io::Error::other).flatten().map_err(storage)
    }

    /// Writes the next snapshot to disk, and whatever it needs, and publishes it then. Called with `changing` held.
    async fn commit(
        self: &Arc<Self>,
        change: Change,
        new: Option<Prepared>,
        evicted: Vec<Digest>,
    ) -> Result<(), ContractAdminError> {
        let Change { next, happened } = change;
        let inner = Arc::clone(self);
        let mut events = self.events.borrow().clone();
        events.add(&happened);
        let kept = StoredComponent::new(next.to_keep(), events.clone());
        let writing = tokio::task::spawn_blocking(move || -> io::Result<Published> {
            if let Some(new) = new {
                let digest = new.contract.digest();
                inner.library.store(digest, &new.bytes)?;
                if let Some(compiled) = &new.to_cache {
                    inner.cache_compiled(digest, compiled);
                }
            }
            inner.library.keep(&kept)?;
            let next = Published::new(next);
            next.index_cues();
            Ok(next)
        });
        let next = writing.await.map_err(io::Error::other).flatten().map_err(storage)?;
        self.snapshot.store(Arc::new(next));
        self.events.send_replace(events);
        for digest in evicted {
            if let Err(error) = self.library.remove(digest).and_then(|()| self.cache.remove(digest)) {
                tracing::warn!(%digest, %error, "an old version could not be removed from disk");
            }
        }
        Ok(())
    }

    /// Keeps compiled code. Without it a restart compiles again, which is not a reason to refuse a version.
    pub(crate) fn cache_compiled(&self, digest: Digest, compiled: &CompiledCode) {
        if let Err(error) = self.cache.store(digest, compiled) {
            tracing::warn!(%digest, %error, "the compiled contract could not be cached");
        }
    }

    /// Removes from disk what no version needs, unless something could not be restored: then it is left to be looked at.
    fn tidy(&self) {
        if !self.journal.latest().is_empty() {
            return;
        }
        let digests: HashSet<Digest> = self.snapshot().digests();
        if let Err(error) = self.library.retain(&digests).and_then(|()| self.cache.retain(&digests)) {
            tracing::warn!(%error, "the state folder could not be tidied");
        }
    }
}

impl Contracts for Sandbox {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        let snapshot = self.inner.snapshot.load();
        snapshot.find_live(intent).map(|version| Arc::clone(version) as Arc<dyn Contract>)
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        let snapshot = self.inner.snapshot.load();
        snapshot.version(digest).map(|version| Arc::clone(version) as Arc<dyn Contract>)
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        let snapshot = self.inner.snapshot.load();
        snapshot.all_live().map(|version| Arc::clone(version) as Arc<dyn Contract>).collect()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        self.inner.snapshot.load().select_by_cues(utterance)
    }
}

impl ContractAdmin for Sandbox {
    fn versions(&self) -> Vec<LoadedVersion> {
        self.inner.snapshot().summaries()
    }

    fn load(&self, component: Bytes, order: LoadOrder) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        Box::pin(async move {
            // With its caller: nobody waits for what is examined for somebody who has left.
            let prepared = self.inner.prepare(component, order.origin.clone(), &order.by).await;
            let prepared = prepared.map_err(|reason| self.inner.refuse(reason))?;
            let inner = Arc::clone(&self.inner);
            finish(async move { inner.take(prepared, order).await }).await
        })
    }

    fn activate(&self, digest: Digest, by: Actor) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        let inner = Arc::clone(&self.inner);
        finish(async move { inner.activate(digest, by).await })
    }

    fn unload<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        let (inner, intent) = (Arc::clone(&self.inner), intent.to_owned());
        finish(async move { inner.unload(&intent, by).await })
    }

    fn failures(&self) -> Vec<LoadFailure> {
        self.inner.journal.latest()
    }

    fn missing(&self) -> Vec<MissingVersion> {
        self.inner.snapshot().missing()
    }
}

fn storage(error: io::Error) -> ContractAdminError {
    ContractAdminError::Storage(error.to_string())
}

/// Runs a change to its end even if the caller goes away: what is written and what is published never part.
fn finish<T: Send + 'static>(
    change: impl Future<Output = Result<T, ContractAdminError>> + Send + 'static,
) -> BoxFuture<'static, Result<T, ContractAdminError>> {
    let task = tokio::spawn(change);
    task.map(|outcome| outcome.unwrap_or_else(|error| Err(ContractAdminError::Storage(error.to_string())))).boxed()
}
