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
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{
    Contract, ContractAdmin, ContractAdminError, Contracts, LoadFailure, LoadedVersion, Origin,
};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cache::CompiledCache;
use crate::config::SandboxConfig;
use crate::engine::{Engine, EngineError};
use crate::failure::LoadError;
use crate::journal::Journal;
use crate::library::{KeptIntent, Library, StateError};
use crate::loading::{self, Prepared, Rejected};
use crate::progress::StartProgress;
use crate::registry::{Intent, Published, Snapshot, Version};
use crate::watch::Folder;

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
}

/// Runs contracts, and keeps and replaces them. Its tasks end with it, or when shut down.
pub struct Sandbox {
    inner: Arc<SandboxState>,
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
    library: Library,
    snapshot: ArcSwap<Published>,
    journal: Journal,
    clock: Arc<dyn Clock>,
    /// Held while a component is examined: one at a time, so that loading never takes more than one core.
    examining: Mutex<()>,
    /// Held from reading the snapshot that a change starts from until the changed one is published.
    changing: Mutex<()>,
    failing: mpsc::Sender<Digest>,
    pub(crate) progress: Arc<StartProgress>,
}

impl Sandbox {
    /// Starts: takes up what was kept in the state folder, then what lies in the contract folder, and watches
    /// that from then on. Components that cannot be taken are failures to read, not errors of the start.
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
        Self::start_and_tell(config, state_dir, watch, clock, shutdown, StartProgress::default()).await
    }

    /// The same, and tells what it compiles.
    ///
    /// # Errors
    /// As [`Sandbox::start`].
    pub async fn start_and_tell(
        config: SandboxConfig,
        state_dir: PathBuf,
        watch: Option<PathBuf>,
        clock: Arc<dyn Clock>,
        shutdown: CancellationToken,
        progress: StartProgress,
    ) -> Result<Arc<Self>, StartError> {
        let engine = Engine::new(&config)?;
        let library = Library::open(&state_dir)?;
        let kept = library.read_kept()?;
        let cache = CompiledCache::open(&engine, &state_dir)
            .map_err(|cause| StateError::Io { path: state_dir.clone(), cause })?;
        let (failing, reports) = mpsc::channel(FAILING_QUEUE);
        let inner = Arc::new(SandboxState {
            engine,
            cache: Arc::new(cache),
            library,
            snapshot: ArcSwap::from_pointee(Published::new(Snapshot::default())),
            journal: Journal::default(),
            clock,
            examining: Mutex::new(()),
            changing: Mutex::new(()),
            failing,
            progress: Arc::new(progress),
        });
        let (mut number, of) = (0, kept.intents.values().map(|kept| kept.versions.len()).sum());
        for (intent, kept) in kept.intents {
            inner.restore(&intent, kept, &mut number, of).await;
        }
        inner.tidy();
        let kept = inner.snapshot();
        // A panic there would only mean that the first classification builds the index.
        let _ = tokio::task::spawn_blocking(move || kept.index_cues()).await;
        // A child, so that dropping the sandbox ends its tasks and not its owner's.
        let shutdown = shutdown.child_token();
        let tasks = TaskTracker::new();
        if let Some(path) = watch {
            let mut folder =
                Folder::open(Arc::clone(&inner), path.clone()).map_err(|cause| StartError::Folder { path, cause })?;
            folder.first_look().await;
            tasks.spawn(folder.run(shutdown.clone()));
        }
        inner.progress.end();
        tasks.spawn(take_out(Arc::clone(&inner), reports, shutdown.clone()));
        Ok(Arc::new(Self { inner, shutdown, tasks }))
    }

    /// Stops watching and taking out, and waits until that is over. Contracts can still be called.
    pub async fn stop(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
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
    fn publish(&self, next: Snapshot) {
        self.snapshot.store(Arc::new(Published::new(next)));
    }

    /// Notes a component that was not taken.
    pub(crate) fn reject(&self, rejected: &Rejected) -> ContractAdminError {
        let failure = rejected.failure(self.clock.now());
        self.journal.note(failure.clone());
        ContractAdminError::Rejected(Box::new(failure))
    }

    /// Examines a component, after those that came before it.
    pub(crate) async fn prepare(&self, bytes: Bytes, origin: Origin) -> Result<Prepared, Box<Rejected>> {
        let _turn = self.examining.lock().await;
        loading::prepare(&self.engine, &self.cache, &self.progress, bytes, origin).await
    }

    /// Examines a component and takes it.
    async fn load(
        self: &Arc<Self>,
        bytes: Bytes,
        origin: Origin,
        activate: bool,
    ) -> Result<LoadedVersion, ContractAdminError> {
        let prepared = self.prepare(bytes, origin).await.map_err(|rejected| self.reject(&rejected))?;
        self.take(prepared, activate).await
    }

    fn version(&self, prepared: &Prepared) -> Arc<Version> {
        Arc::new(Version::new(
            prepared.contract.clone(),
            prepared.origin.clone(),
            self.clock.now(),
            prepared.bytes.len(),
            self.engine.config().faults_before_rollback,
            self.failing.clone(),
        ))
    }

    /// Takes an examined component: keeps it, and makes it live if asked. The same content twice is one version.
    pub(crate) async fn take(
        self: &Arc<Self>,
        prepared: Prepared,
        activate: bool,
    ) -> Result<LoadedVersion, ContractAdminError> {
        let digest = prepared.contract.digest();
        let changing = self.changing.lock().await;
        let now = self.snapshot();
        if let Some(known) = now.version(digest) {
            let summary = known.summary(now.is_live(digest));
            drop(changing);
            return if activate { self.activate(digest).await } else { Ok(summary) };
        }
        let version = self.version(&prepared);
        let kept = self.engine.config().versions_kept_per_intent;
        let (next, evicted) = now.with(&version, activate, kept).map_err(|error| {
            let identity = Some(prepared.identity());
            let Prepared { origin, .. } = &prepared;
            self.reject(&Rejected {
                error: LoadError::Succession(error),
                origin: origin.clone(),
                digest: Some(digest),
                identity,
            })
        })?;
        self.commit(next, Some(prepared), evicted).await?;
        let summary = version.summary(activate);
        tracing::info!(intent = summary.intent, version = summary.version, %digest, live = activate, "contract loaded");
        Ok(summary)
    }

    /// Makes a loaded version live.
    pub(crate) async fn activate(self: &Arc<Self>, digest: Digest) -> Result<LoadedVersion, ContractAdminError> {
        let _changing = self.changing.lock().await;
        let now = self.snapshot();
        let unknown = || ContractAdminError::Unknown(digest.to_string());
        let (next, version) = now.find_serving(digest).ok_or_else(unknown)?;
        if !now.is_live(digest) {
            self.commit(next, None, Vec::new()).await?;
            version.absolve();
            let summary = version.summary(true);
            tracing::info!(intent = summary.intent, version = summary.version, %digest, "contract activated");
        }
        Ok(version.summary(true))
    }

    async fn unload(self: &Arc<Self>, intent: &str) -> Result<(), ContractAdminError> {
        let _changing = self.changing.lock().await;
        let unknown = || ContractAdminError::Unknown(intent.to_owned());
        let next = self.snapshot().without(intent).ok_or_else(unknown)?;
        self.commit(next, None, Vec::new()).await?;
        tracing::info!(intent, "intent taken out of service");
        Ok(())
    }

    /// Puts the last good version in the place of a failing one.
    async fn roll_back(self: &Arc<Self>, failing: Digest) {
        let _changing = self.changing.lock().await;
        let now = self.snapshot();
        let Some(version) = now.version(failing).filter(|_| now.is_live(failing)) else { return };
        let summary = version.summary(false);
        let Some((next, good)) = now.rolled_back(failing) else {
            tracing::error!(
                intent = summary.intent,
                version = summary.version,
                digest = %failing,
                "the live contract keeps failing, and there is no version to go back to"
            );
            return;
        };
        good.absolve();
        // A gateway whose disk is full must still stop a failing version, so this one change is published first.
        self.publish(next.clone());
        self.journal.note(LoadFailure {
            at_ms: self.clock.now(),
            origin: version.origin.clone(),
            digest: Some(failing),
            intent: Some(summary.intent),
            version: Some(summary.version),
            code: TAKEN_OUT.to_owned(),
            message: format!(
                "it failed {} times in a row; version {} serves again",
                self.engine.config().faults_before_rollback,
                good.descriptor().version
            ),
        });
        if let Err(error) = self.commit(next, None, Vec::new()).await {
            tracing::error!(
                error = chain(&error),
                "the roll-back is not kept; a restart would serve the failing version"
            );
        }
    }

    /// Writes the next snapshot to disk, and whatever it needs, and publishes it then. Called with `changing` held.
    async fn commit(
        self: &Arc<Self>,
        next: Snapshot,
        new: Option<Prepared>,
        evicted: Vec<Digest>,
    ) -> Result<(), ContractAdminError> {
        let inner = Arc::clone(self);
        let kept = next.to_keep();
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
        let next = writing
            .await
            .map_err(io::Error::other)
            .flatten()
            .map_err(|error| ContractAdminError::Storage(error.to_string()))?;
        self.snapshot.store(Arc::new(next));
        for digest in evicted {
            if let Err(error) = self.library.remove(digest).and_then(|()| self.cache.remove(digest)) {
                tracing::warn!(%digest, %error, "an old version could not be removed from disk");
            }
        }
        Ok(())
    }

    /// Keeps compiled code. Without it a restart compiles again, which is no reason to refuse a version.
    fn cache_compiled(&self, digest: Digest, compiled: &wasmtime::component::Component) {
        if let Err(error) = self.cache.store(digest, compiled) {
            tracing::warn!(%digest, %error, "the compiled contract could not be cached");
        }
    }

    /// Takes up the versions of one intent as they were kept. No succession rule applies: they were taken once.
    /// Takes up what was kept of an intent; its versions follow the `number`th of `of` that are looked at.
    async fn restore(self: &Arc<Self>, name: &str, kept: KeptIntent, number: &mut usize, of: usize) {
        let Ok(id) = IntentId::parse(name) else {
            tracing::warn!(intent = name, "the kept list names no intent; skipped");
            return;
        };
        let mut intent = Intent::default();
        for digest in &kept.versions {
            *number += 1;
            self.progress.look_at(format!("{id}, {digest}"), *number, of);
            match self.restore_version(*digest).await {
                Ok(version) => intent.versions.push(version),
                Err(rejected) => {
                    self.reject(&rejected);
                }
            }
        }
        intent.previous = kept.previous.into_iter().filter(|digest| intent.version(*digest).is_some()).collect();
        if let Some(live) = kept.live {
            intent.live = intent.version(live).cloned();
            if intent.live.is_none() {
                // What served cannot any more, for example after an update of the gateway: better the one before than none.
                intent.live = intent.last_good();
            }
        }
        let mut next = Snapshot::clone(&self.snapshot());
        next.intents.insert(id, intent);
        self.publish(next);
    }

    async fn restore_version(self: &Arc<Self>, digest: Digest) -> Result<Arc<Version>, Box<Rejected>> {
        let inner = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || inner.library.component(digest)).await;
        let bytes = read.map_err(io::Error::other).flatten().map_err(|error| {
            Box::new(Rejected {
                error: LoadError::Unreadable(error),
                origin: Origin::Kept,
                digest: Some(digest),
                identity: None,
            })
        })?;
        let prepared = self.prepare(Bytes::from(bytes), Origin::Kept).await?;
        if let Some(compiled) = prepared.to_cache.clone() {
            let inner = Arc::clone(self);
            // A failure to cache is logged where it happens, and a panic there costs a later compilation at most.
            let _ = tokio::task::spawn_blocking(move || inner.cache_compiled(digest, &compiled)).await;
        }
        Ok(self.version(&prepared))
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
        snapshot.live(intent).map(|version| Arc::clone(version) as Arc<dyn Contract>)
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

    fn load(
        &self,
        component: Bytes,
        origin: Origin,
        activate: bool,
    ) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        let inner = Arc::clone(&self.inner);
        finish(async move { inner.load(component, origin, activate).await })
    }

    fn activate(&self, digest: Digest) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        let inner = Arc::clone(&self.inner);
        finish(async move { inner.activate(digest).await })
    }

    fn unload<'a>(&'a self, intent: &'a str) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        let (inner, intent) = (Arc::clone(&self.inner), intent.to_owned());
        finish(async move { inner.unload(&intent).await })
    }

    fn failures(&self) -> Vec<LoadFailure> {
        self.inner.journal.latest()
    }
}

/// Runs a change to its end even if the caller goes away: what is written and what is published never part.
fn finish<T: Send + 'static>(
    change: impl Future<Output = Result<T, ContractAdminError>> + Send + 'static,
) -> BoxFuture<'static, Result<T, ContractAdminError>> {
    let task = tokio::spawn(change);
    task.map(|outcome| outcome.unwrap_or_else(|error| Err(ContractAdminError::Storage(error.to_string())))).boxed()
}
