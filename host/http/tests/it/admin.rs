//! The platform team's handle on contracts.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::{ContractAdmin, ContractAdminError, LoadFailure, LoadedVersion, Origin};
use intent_gateway_testing::catalogue::Catalogue;

use crate::contract::digest;
use crate::support::{INTENT, NOW_MS};

/// Takes any component but one of the text `bad`, and remembers what it was asked. The real one compiles components;
/// nobody but these tests needs another.
pub(crate) struct FakeAdmin {
    contracts: Arc<Catalogue>,
    pub(crate) loads: Mutex<Vec<(usize, Origin, bool)>>,
}

fn version_of(digest: Digest, live: bool, origin: Origin) -> LoadedVersion {
    LoadedVersion {
        intent: INTENT.to_owned(),
        version: "1.2.3".to_owned(),
        digest,
        live,
        origin,
        loaded_at_ms: Timestamp::from_ms(NOW_MS),
        component_bytes: 3,
        calls: 7,
        faults: 0,
    }
}

fn failure() -> LoadFailure {
    LoadFailure {
        at_ms: Timestamp::from_ms(NOW_MS),
        origin: Origin::Kept,
        digest: None,
        intent: None,
        version: None,
        code: "ABI_MISMATCH".to_owned(),
        message: "it exports nothing of the interface".to_owned(),
    }
}

impl FakeAdmin {
    pub(crate) fn of(contracts: Arc<Catalogue>) -> Arc<Self> {
        Arc::new(Self { contracts, loads: Mutex::default() })
    }
}

impl ContractAdmin for FakeAdmin {
    fn versions(&self) -> Vec<LoadedVersion> {
        let folder = Origin::Folder("things.wasm".to_owned());
        vec![version_of(digest(), true, folder), version_of(Digest::of(b"known"), false, Origin::Kept)]
    }

    fn load(
        &self,
        component: Bytes,
        origin: Origin,
        activate: bool,
    ) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        self.loads.lock().expect("no test panics in it").push((component.len(), origin.clone(), activate));
        let result = match &component[..] {
            b"bad" => Err(ContractAdminError::Rejected(Box::new(failure()))),
            b"full" => Err(ContractAdminError::Storage("/secret/path: no space left".to_owned())),
            bytes => Ok(version_of(Digest::of(bytes), activate, origin)),
        };
        std::future::ready(result).boxed()
    }

    fn activate(&self, digest: Digest) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        let known = self.versions().into_iter().find(|version| version.digest == digest);
        let result = known.ok_or_else(|| ContractAdminError::Unknown(digest.to_string()));
        std::future::ready(result.map(|version| LoadedVersion { live: true, ..version })).boxed()
    }

    fn unload<'a>(&'a self, _intent: &'a str) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        // Altogether, so that nobody can ask the catalogue again.
        self.contracts.unload(digest());
        std::future::ready(Ok(())).boxed()
    }

    fn failures(&self) -> Vec<LoadFailure> {
        vec![failure()]
    }
}
