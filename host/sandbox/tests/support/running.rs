//! A sandbox that runs what a catalogue says, as in the gateway: the catalogue's store is in memory.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use intent_gateway_catalogue::{Catalogue, CatalogueSetup};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::ports::{Contract, ContractAdmin as _, Contracts as _, Timer};
use intent_gateway_domain::versions::{
    ContractAdminError, GoLive, LoadFailure, LoadOrder, Loaded, LoadedVersion, MissingVersion,
};
use intent_gateway_sandbox::{
    ContractFolder, Sandbox, SandboxConfig, StartError, put_left_contracts_aside, read_left_contracts,
};
use intent_gateway_testing::fleet::MemoryLeases;
use intent_gateway_testing::store::MemoryStore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A sandbox with its catalogue, and what follows it.
pub(crate) struct Running {
    pub(crate) sandbox: Arc<Sandbox>,
    catalogue: Arc<Catalogue>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

struct TokioTimer;

impl Timer for TokioTimer {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

#[allow(dead_code, reason = "each test binary uses its part")]
impl Running {
    /// Starts on a state folder and a store, and looks through the contract folder.
    pub(crate) async fn start(
        config: SandboxConfig,
        state: PathBuf,
        folder: Option<PathBuf>,
        store: Arc<MemoryStore>,
    ) -> Result<Arc<Self>, StartError> {
        let stop = CancellationToken::new();
        let versions_kept = config.versions_kept_per_intent;
        let compiler = intent_gateway_sandbox::Compiler::in_this_process();
        let sandbox =
            Sandbox::start_with(config, compiler, state.clone(), folder.clone(), stop.clone(), Default::default())?;
        let clock = Arc::new(SystemClock);
        let catalogue = Catalogue::new(CatalogueSetup {
            store,
            leases: MemoryLeases::new(clock.clone()),
            fleet: Fleet::default(),
            runtime: sandbox.clone(),
            clock: clock.clone(),
            timer: Arc::new(TokioTimer),
            versions_kept,
            trust: intent_gateway_signing::TrustPolicy::default(),
            trials: intent_gateway_rollout::Trials::new(),
            max_stale_ms: u64::MAX,
        });
        if let Some(left) = read_left_contracts(&state, clock.now())? {
            catalogue.take_over(left).await.expect("the store answers");
            put_left_contracts_aside(&state)?;
        }
        catalogue.start().await.expect("the store answers");
        let tasks = TaskTracker::new();
        tasks.spawn({
            let (catalogue, stop) = (catalogue.clone(), stop.clone());
            async move { stop.run_until_cancelled(catalogue.follow(|_| {})).await }
        });
        tasks.spawn({
            let (sandbox, catalogue, stop) = (sandbox.clone(), catalogue.clone(), stop.clone());
            async move {
                while let Some(failing) = stop.run_until_cancelled(sandbox.next_failing()).await {
                    catalogue.roll_back(failing).await;
                }
            }
        });
        if let Some(folder) = folder {
            let looked_through = CancellationToken::new();
            let folder = ContractFolder::open(folder, catalogue.clone(), sandbox.progress(), looked_through.clone());
            tasks.spawn(folder.expect("the folder can be watched").run(stop.clone()));
            looked_through.cancelled().await;
        }
        Ok(Arc::new(Self { sandbox, catalogue, stop, tasks }))
    }

    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.sandbox.stop().await;
    }

    pub(crate) async fn load(&self, component: Bytes, order: LoadOrder) -> Result<Loaded, ContractAdminError> {
        self.catalogue.load(component, order).await
    }

    pub(crate) async fn activate(&self, digest: Digest, by: Actor) -> Result<LoadedVersion, ContractAdminError> {
        self.catalogue.activate(digest, by, GoLive::WhenReady).await.map(|activated| activated.version)
    }

    pub(crate) async fn unload(&self, intent: &str, by: Actor) -> Result<(), ContractAdminError> {
        self.catalogue.unload(intent, by).await
    }

    pub(crate) fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        self.sandbox.live(intent)
    }

    pub(crate) fn all(&self) -> Vec<Arc<dyn Contract>> {
        self.sandbox.all()
    }

    pub(crate) fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        self.sandbox.select_by_cues(utterance)
    }

    pub(crate) fn versions(&self) -> Vec<LoadedVersion> {
        self.catalogue.versions()
    }

    pub(crate) fn failures(&self) -> Vec<LoadFailure> {
        self.catalogue.failures()
    }

    pub(crate) fn missing(&self) -> Vec<MissingVersion> {
        self.catalogue.missing()
    }

    pub(crate) fn missing_intents(&self) -> BTreeSet<String> {
        self.catalogue.missing_intents()
    }
}
