//! Where a sandbox of the tests works, and what is asked of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::store::{Change, Document, Kind, List, Store as _, Write};
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{
    ContractAdminError, LoadOrder, Loaded, LoadedVersion, Origin, VersionAct, Whence,
};
use intent_gateway_sandbox::{SandboxConfig, StartError};
use intent_gateway_testing::store::MemoryStore;
use tempfile::TempDir;

use crate::running::Running;
use crate::support::{context, hostile, payloads};

pub(crate) const INTENT: &str = "test.hostile";
/// Minutes that something may be late which a busy machine does beside the test.
pub(crate) const RETRIES: u32 = 200;

pub(crate) fn config() -> SandboxConfig {
    SandboxConfig { max_concurrent_instances: 8, faults_before_rollback: 3, ..SandboxConfig::default() }
}

pub(crate) struct Place {
    pub(crate) state: TempDir,
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<MemoryStore>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = || TempDir::new().expect("a folder");
        Self { state: folder(), folder: folder(), store: Arc::default() }
    }

    pub(crate) async fn try_start(&self, config: SandboxConfig) -> Result<Arc<Running>, StartError> {
        let (state, folder) = (self.state.path().to_owned(), self.folder.path().to_owned());
        Running::start(config, state, Some(folder), self.store.clone()).await
    }

    pub(crate) async fn start(&self) -> Arc<Running> {
        self.try_start(config()).await.expect("it starts")
    }

    /// Stops a sandbox for good and starts the next on the same state.
    pub(crate) async fn restart(&self, sandbox: Arc<Running>) -> Arc<Running> {
        sandbox.stop().await;
        drop(sandbox);
        self.start().await
    }

    /// Puts a component into the folder as a writer should.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let partial = self.folder.path().join("partial");
        std::fs::write(&partial, bytes).expect("written");
        std::fs::rename(partial, self.folder.path().join(name)).expect("renamed");
    }

    pub(crate) fn compiled(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.state.path().join("compiled")).expect("the cache");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

pub(crate) fn upload() -> Origin {
    Origin::Upload("tester".to_owned())
}

pub(crate) fn actor(subject: &str) -> Actor {
    Actor::new("admin", subject)
}

/// An upload that is to go live.
pub(crate) fn order() -> LoadOrder {
    LoadOrder { origin: upload(), by: actor("tester"), activate: true, removal: Removal::Refused }
}

pub(crate) async fn load_as(
    sandbox: &Running,
    version: &str,
    mode: &str,
    order: LoadOrder,
) -> Result<Loaded, ContractAdminError> {
    sandbox.load(Bytes::from(hostile(version, mode)), order).await
}

pub(crate) async fn load(sandbox: &Running, version: &str, mode: &str) -> Result<LoadedVersion, ContractAdminError> {
    load_as(sandbox, version, mode, order()).await.map(|loaded| loaded.version)
}

pub(crate) async fn activate(sandbox: &Running, digest: Digest) -> Result<LoadedVersion, ContractAdminError> {
    sandbox.activate(digest, actor("releaser")).await
}

pub(crate) async fn unload(sandbox: &Running) -> Result<(), ContractAdminError> {
    sandbox.unload(INTENT, actor("releaser")).await
}

/// What has happened to a version: act, way and who.
pub(crate) fn history(sandbox: &Running, version: &str) -> Vec<(VersionAct, Whence, String)> {
    let found = sandbox.versions().into_iter().find(|loaded| loaded.version == version).expect("it is loaded");
    found.history.into_iter().map(|event| (event.act, event.whence, event.by.subject)).collect()
}

pub(crate) fn live(sandbox: &Running) -> String {
    sandbox.live(INTENT).map_or_else(String::new, |contract| contract.descriptor().version.to_string())
}

pub(crate) fn code(outcome: Result<LoadedVersion, ContractAdminError>) -> String {
    match outcome {
        Err(ContractAdminError::Rejected(failure)) => failure.code,
        other => panic!("{other:?}"),
    }
}

/// Asks again and again until the sandbox is as it should be. The bound only ends a test that hangs.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// What the answer tells of the version that gave it.
pub(crate) async fn told(contract: &Arc<dyn Contract>) -> Vec<String> {
    let evaluation = contract.evaluate(&context(), "{}", &payloads(), &[]).await.expect("it serves");
    evaluation.ranked.iter().map(|option| option.card.get().to_owned()).collect()
}

impl Place {
    /// Loses a component: the store's, and what was compiled of it. What it was.
    pub(crate) async fn lose(&self, digest: Digest) -> Document {
        let key = format!("{digest}/000");
        let part = self.store.get(Kind::ComponentParts, &key).await.expect("read").expect("it is there");
        let writes = vec![Write::Delete(Kind::ComponentParts, key, part.revision)];
        self.store.commit(Change { writes, ..Change::default() }).await.expect("removed");
        let name = digest.to_string();
        for path in self.compiled().into_iter().filter(|path| path.to_string_lossy().contains(&name)) {
            std::fs::remove_file(path).expect("removed");
        }
        Document { revision: 0, ..part }
    }

    pub(crate) async fn give_back(&self, part: Document) {
        let writes = vec![Write::Put(Kind::ComponentParts, part)];
        self.store.commit(Change { writes, ..Change::default() }).await.expect("written");
    }

    pub(crate) async fn components(&self) -> usize {
        let all = List { status: None, after: None, limit: 100 };
        self.store.list(Kind::ComponentParts, all).await.expect("read").len()
    }
}
