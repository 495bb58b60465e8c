//! The platform team's handle on contracts.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{ContractAdmin, Contracts as _};
use intent_gateway_domain::store::StoreTrouble;
use intent_gateway_domain::succession::{Removal, RemovedValue};
use intent_gateway_domain::versions::{
    Activated, ComingVersion, ContractAdminError, GatewayStatus, GoLive, IntentStatus, LoadFailure, LoadOrder, Loaded,
    LoadedVersion, MissingVersion, Origin, ReleasePolicy, RolledOutVersion, ServingStatus, StageFailure, StagedStatus,
    VersionAct, VersionEvent, VersionName, WaitedFor, Whence,
};
use intent_gateway_signing::{Revocation, RevocationDesk, RevocationOutcome, Revocations, Revoked, RevokedVersion};
use intent_gateway_testing::catalogue::Catalogue;

use crate::contract::digest;
use crate::support::{INTENT, NOW_MS};

/// Takes any component but one of the text `bad`, and remembers what it was asked. The real one compiles components;
/// nobody but these tests needs another.
pub(crate) struct FakeAdmin {
    pub(crate) contracts: Arc<Catalogue>,
    pub(crate) loads: Mutex<Vec<(usize, LoadOrder)>>,
    /// Who activated or unloaded.
    pub(crate) actors: Mutex<Vec<Actor>>,
    /// What was revoked.
    revoked: Mutex<Revocations>,
}

fn version_of(digest: Digest, live: bool, origin: Origin) -> LoadedVersion {
    LoadedVersion {
        intent: INTENT.to_owned(),
        version: "1.2.3".to_owned(),
        digest,
        live,
        origin,
        loaded_at_ms: Timestamp::from_ms(NOW_MS),
        loaded_by: Actor::gateway(),
        history: vec![VersionEvent {
            at_ms: Timestamp::from_ms(NOW_MS),
            act: VersionAct::Loaded,
            whence: Whence::Folder,
            by: Actor::gateway(),
            why: None,
        }],
        signed_by: Vec::new(),
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
        removed: Vec::new(),
    }
}

/// A version that takes out one value.
fn removing() -> LoadFailure {
    LoadFailure {
        intent: Some(INTENT.to_owned()),
        code: "VOCABULARY_VALUES_REMOVED".to_owned(),
        message: "values go".to_owned(),
        removed: vec![removed_value()],
        ..failure()
    }
}

fn removed_value() -> RemovedValue {
    RemovedValue { vocabulary: "kind".to_owned(), value: "pen".to_owned() }
}

impl FakeAdmin {
    pub(crate) fn of(contracts: Arc<Catalogue>) -> Arc<Self> {
        Arc::new(Self { contracts, loads: Mutex::default(), actors: Mutex::default(), revoked: Mutex::default() })
    }
}

impl RevocationDesk for FakeAdmin {
    fn revoke(
        &self,
        what: Revoked,
        reason: String,
        by: Actor,
    ) -> BoxFuture<'_, Result<RevocationOutcome, ContractAdminError>> {
        let revocation = Revocation { what, reason, at_ms: Timestamp::EPOCH, by };
        let added = self.revoked.lock().expect("no test panics in it").add(revocation.clone());
        let is_new = added.expect("there is room");
        let version = RevokedVersion {
            intent: "test.find_things".to_owned(),
            version: "1.2.3".to_owned(),
            digest: digest(),
            was_live: true,
        };
        std::future::ready(Ok(RevocationOutcome { revocation, is_new, versions: vec![version] })).boxed()
    }

    fn revocations(&self) -> BoxFuture<'_, Result<Revocations, ContractAdminError>> {
        std::future::ready(Ok(self.revoked.lock().expect("no test panics in it").clone())).boxed()
    }
}

impl ContractAdmin for FakeAdmin {
    fn set_policy<'a>(
        &'a self,
        intent: &'a str,
        _: ReleasePolicy,
        by: Actor,
    ) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.actors.lock().expect("no test panics in it").push(by);
        let known = intent == INTENT;
        std::future::ready(if known { Ok(()) } else { Err(ContractAdminError::Unknown(intent.to_owned())) }).boxed()
    }

    fn component(&self, _: Digest) -> BoxFuture<'_, Result<Option<Bytes>, ContractAdminError>> {
        std::future::ready(Ok(None)).boxed()
    }

    fn signers(&self, _: Digest) -> Vec<String> {
        vec!["release".to_owned()]
    }

    fn missing(&self) -> Vec<MissingVersion> {
        vec![MissingVersion {
            intent: "test.gone".to_owned(),
            digest: Digest::of(b"gone"),
            origin: Origin::Folder("gone.wasm".to_owned()),
            ought_to_serve: true,
            serving: None,
            code: "UNREADABLE".to_owned(),
            message: "the file cannot be read".to_owned(),
        }]
    }

    fn versions(&self) -> Vec<LoadedVersion> {
        let folder = Origin::Folder("things.wasm".to_owned());
        vec![version_of(digest(), true, folder), version_of(Digest::of(b"known"), false, Origin::Kept)]
    }

    fn load(&self, component: Bytes, order: LoadOrder) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        self.loads.lock().expect("no test panics in it").push((component.len(), order.clone()));
        let known = self.versions().into_iter().find(|version| version.digest == Digest::of(&component));
        let new = |removed| {
            let version = version_of(Digest::of(&component), order.activate, order.origin.clone());
            Ok(Loaded { version, known: false, removed, waits_for: Vec::new() })
        };
        let result = match (&component[..], known) {
            (_, Some(version)) => Ok(Loaded { version, known: true, removed: Vec::new(), waits_for: Vec::new() }),
            (b"bad", _) => Err(ContractAdminError::Rejected(Box::new(failure()))),
            (b"full", _) => Err(ContractAdminError::Store {
                trouble: StoreTrouble::Unavailable,
                message: "/secret/path: no space left".to_owned(),
            }),
            (b"removing", _) if order.removal == Removal::Refused => {
                Err(ContractAdminError::Rejected(Box::new(removing())))
            }
            (b"removing", _) => new(vec![removed_value()]),
            _ => new(Vec::new()),
        };
        std::future::ready(result).boxed()
    }

    fn activate(
        &self,
        digest: Digest,
        by: Actor,
        when: GoLive,
    ) -> BoxFuture<'_, Result<Activated, ContractAdminError>> {
        self.actors.lock().expect("no test panics in it").push(by);
        let known = self.versions().into_iter().find(|version| version.digest == digest);
        let result = known.ok_or_else(|| ContractAdminError::Unknown(digest.to_string()));
        let failure = StageFailure { code: "COMPILE_FAILED".to_owned(), message: "no room".to_owned() };
        let waited_for = WaitedFor { gateway: "gw-2".to_owned(), failure: Some(failure) };
        // One gateway cannot make it ready.
        let waits = digest == Digest::of(b"known") && when == GoLive::WhenReady;
        let activated = |version| Activated {
            version: LoadedVersion { live: !waits, ..version },
            waits_for: if waits { vec![waited_for] } else { Vec::new() },
        };
        std::future::ready(result.map(activated)).boxed()
    }

    fn withdraw<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.actors.lock().expect("no test panics in it").push(by);
        let is_known = intent == INTENT;
        std::future::ready(if is_known { Ok(()) } else { Err(ContractAdminError::Unknown(intent.to_owned())) }).boxed()
    }

    fn status<'a>(&'a self, intent: Option<&'a str>) -> BoxFuture<'a, Result<Vec<IntentStatus>, ContractAdminError>> {
        let name =
            |text: &str| VersionName { version: "1.1.0".parse().expect("semver"), digest: Digest::of(text.as_bytes()) };
        let at = Timestamp::from_ms(7);
        let failure = Some(StageFailure { code: "COMPILE_FAILED".to_owned(), message: "no room".to_owned() });
        let status = IntentStatus {
            intent: IntentId::parse(INTENT).expect("an intent"),
            live: Some(name("live")),
            coming: Some(ComingVersion { name: name("next"), since_ms: at, by: Actor::gateway() }),
            rollout: Some(RolledOutVersion {
                name: name("tried"),
                stage: 1,
                stages: 3,
                share_percent: 5.0,
                is_paused: true,
            }),
            policy: ReleasePolicy::Auto,
            gateways: vec![GatewayStatus {
                id: "gw-2".to_owned(),
                name: "host".to_owned(),
                serving: Some(ServingStatus { version: None, digest: Digest::of(b"live"), since_ms: at, took_ms: 3 }),
                staged: Some(StagedStatus {
                    version: None,
                    digest: Digest::of(b"next"),
                    at_ms: at,
                    took_ms: 9,
                    failure,
                }),
            }],
        };
        let asked = intent.is_none_or(|intent| intent == INTENT);
        std::future::ready(Ok(asked.then_some(status).into_iter().collect())).boxed()
    }

    fn unload<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.actors.lock().expect("no test panics in it").push(by);
        if self.contracts.live(intent).is_none() {
            return std::future::ready(Err(ContractAdminError::Unknown(intent.to_owned()))).boxed();
        }
        // Altogether, so that nobody can ask the catalogue again.
        self.contracts.unload(digest());
        std::future::ready(Ok(())).boxed()
    }

    fn failures(&self) -> Vec<LoadFailure> {
        vec![failure()]
    }
}
