//! The catalogue as a gateway has it, and what can be read of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex as AsyncMutex;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::fleet::{Fleet, Gateway, Leases, LiveGateway};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, ContractAdmin, ContractIntake, ContractRuntime, Timer};
use intent_gateway_domain::store::{Store, StoreError, StoreTrouble, Versioned};
use intent_gateway_domain::versions::{
    Activated, CallCounts, ComingVersion, ContractAdminError, GatewayStatus, GoLive, IntakeStanding, IntentStatus,
    LoadFailure, LoadOrder, Loaded, LoadedVersion, MissingVersion, Origin, RefusedComponent, ReleasePolicy,
    RolledOutVersion, ServingStatus, StagedStatus, VersionName,
};
use intent_gateway_rollout::{Courses, Trials};
use intent_gateway_signing::TrustPolicy;
use semver::Version;

use crate::component::{self, NoComponent};
use crate::entry::{Entry, EntryVersion};
use crate::failures::FailureList;
use crate::promotion::ToldEvidence;
use crate::state::{self, GatewayState};
use crate::view::View;

/// What the catalogue stands on.
pub struct CatalogueSetup {
    pub store: Arc<dyn Store>,
    pub leases: Arc<dyn Leases>,
    /// Says who this gateway is. One without a lease is alone.
    pub fleet: Fleet,
    pub runtime: Arc<dyn ContractRuntime>,
    pub clock: Arc<dyn Clock>,
    pub timer: Arc<dyn Timer>,
    /// Whose components are taken.
    pub trust: TrustPolicy,
    /// What is tried out here, for those on the way of searches.
    pub trials: Arc<Trials>,
    /// Versions of an intent that are kept ready.
    pub versions_kept: usize,
    /// For how long this gateway serves what it last heard is to serve, milliseconds.
    pub max_stale_ms: u64,
}

/// Which versions of contracts there are, and which of them serves, as this gateway knows it.
pub struct Catalogue {
    pub(crate) setup: CatalogueSetup,
    view: Mutex<View>,
    /// Held while what is wanted and ready is published.
    pub(crate) publishing: AsyncMutex<()>,
    /// Counts changes of what is known, each after it was made; up to which of them all serve.
    changes: AtomicU64,
    pub(crate) published: AtomicU64,
    /// When the catalogue was last read, by the clock that nobody sets.
    pub(crate) read_at_ms: AtomicU64,
    /// What was there at the start serves.
    pub(crate) has_started: AtomicBool,
    held: Mutex<Vec<Digest>>,
    /// This gateway's rows, as it has written them last.
    pub(crate) rows: AsyncMutex<BTreeMap<IntentId, Versioned<GatewayState>>>,
    /// What it has written last of rollouts.
    pub(crate) told: AsyncMutex<BTreeMap<IntentId, ToldEvidence>>,
    /// How rollouts went, for whoever looks at it.
    pub(crate) courses: Mutex<Courses>,
    pub(crate) failures: FailureList,
}

impl Catalogue {
    /// A catalogue of which nothing is known yet.
    #[must_use]
    pub fn new(setup: CatalogueSetup) -> Arc<Self> {
        Arc::new(Self {
            setup,
            view: Mutex::default(),
            publishing: AsyncMutex::default(),
            changes: AtomicU64::new(0),
            published: AtomicU64::new(0),
            read_at_ms: AtomicU64::new(0),
            has_started: AtomicBool::new(false),
            held: Mutex::default(),
            rows: AsyncMutex::default(),
            told: AsyncMutex::default(),
            courses: Mutex::default(),
            failures: FailureList::default(),
        })
    }

    /// Nothing panics while it is held.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known has changed.
    pub(crate) fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// The number of changes so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Components that were examined and are not in an entry yet.
    pub(crate) fn held(&self) -> MutexGuard<'_, Vec<Digest>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.setup.store
    }

    /// This gateway; none where it has no lease.
    pub(crate) fn own(&self) -> Option<Gateway> {
        self.setup.fleet.own()
    }

    /// The gateways that live, where there are others than this one.
    pub(crate) async fn others(&self) -> Result<Option<Vec<LiveGateway>>, StoreError> {
        let Some(own) = self.own() else { return Ok(None) };
        let live = self.setup.leases.live().await?;
        Ok(live.iter().any(|other| other.gateway.run != own.run).then_some(live))
    }

    /// Whether the catalogue could not be read for so long that nobody is to be served any more: what is live may have been
    /// replaced or taken out.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        let since_ms = self.setup.fleet.elapsed_ms().saturating_sub(self.read_at_ms.load(Ordering::Relaxed));
        since_ms > self.setup.max_stale_ms
    }

    /// The intents that this gateway ought to serve and does not, in their order: those whose version cannot be made ready, and
    /// those whose component in the contract folder was not taken while nothing else serves them. One that an admin took out of
    /// service is missed by nobody.
    #[must_use]
    pub fn missing_intents(&self) -> BTreeSet<String> {
        let of_folder = self.failures.latest();
        let of_folder = of_folder.into_iter().filter(|failure| matches!(failure.origin, Origin::Folder(_)));
        let view = self.view();
        let ought_to_serve = view.entries.values().filter(|entry| entry.live.is_some());
        let mut missing: BTreeSet<String> = ought_to_serve
            .filter(|entry| !view.chosen.contains_key(&entry.intent))
            .map(|entry| entry.intent.to_string())
            .collect();
        // Where anything is known of an intent and none serves, somebody has decided so.
        missing.extend(
            of_folder.filter_map(|failure| failure.intent).filter(|intent| !view.entries.contains_key(intent.as_str())),
        );
        missing
    }

    pub(crate) fn describe(&self, view: &View, entry: &Entry, version: &EntryVersion) -> LoadedVersion {
        let EntryVersion {
            digest, version, component_bytes, origin, loaded_at_ms, loaded_by, history, signed_by, ..
        } = version.clone();
        let CallCounts { calls, faults } = self.setup.runtime.counts(digest);
        LoadedVersion {
            intent: entry.intent.to_string(),
            version: version.to_string(),
            digest,
            live: view.served.get(&entry.intent) == Some(&digest),
            origin,
            loaded_at_ms,
            loaded_by,
            history,
            signed_by,
            component_bytes,
            calls,
            faults,
        }
    }

    /// What is told of a version that is in the catalogue.
    pub(crate) fn require(&self, digest: Digest) -> Result<LoadedVersion, ContractAdminError> {
        let view = self.view();
        let found = view.entry_of(digest).and_then(|entry| Some((entry, entry.version(digest)?)));
        let (entry, version) = found.ok_or_else(|| ContractAdminError::Unknown(digest.to_string()))?;
        Ok(self.describe(&view, entry, version))
    }

    /// Notes a component that was not taken.
    pub(crate) fn reject(&self, refused: RefusedComponent, origin: Origin) -> ContractAdminError {
        let failure = self.note_refused(refused, origin);
        ContractAdminError::Rejected(Box::new(failure))
    }

    pub(crate) fn note_refused(&self, refused: RefusedComponent, origin: Origin) -> LoadFailure {
        let RefusedComponent { digest, identity, code, message } = refused;
        let (intent, version) = identity.unzip();
        let at_ms = self.setup.clock.now();
        let failure = LoadFailure { at_ms, origin, digest, intent, version, code, message, removed: Vec::new() };
        self.failures.note(failure.clone());
        failure
    }

    async fn read_status(&self, intent: Option<&str>) -> Result<Vec<IntentStatus>, ContractAdminError> {
        self.apply().await?;
        let live = self.setup.leases.live().await?;
        let entries: Vec<Entry> = {
            let view = self.view();
            let asked = |entry: &&Entry| intent.is_none_or(|intent| entry.intent.as_str() == intent);
            view.entries.values().filter(asked).cloned().collect()
        };
        let mut statuses = Vec::with_capacity(entries.len());
        for entry in entries {
            let rows = state::rows::<GatewayState>(self.store(), &entry.intent).await?;
            statuses.push(status_of(&entry, rows.into_iter().map(|row| row.value), &live));
        }
        Ok(statuses)
    }
}

/// What is wanted of an intent, beside what the gateways that live say.
fn status_of(entry: &Entry, rows: impl Iterator<Item = GatewayState>, live: &[LiveGateway]) -> IntentStatus {
    let number = |digest: Digest| entry.version(digest).map(|version| version.version.clone());
    let name = |digest: Digest| Some(VersionName { version: number(digest)?, digest });
    let of_row = |row: GatewayState| {
        let name = live.iter().find(|one| row.is_of(one))?.gateway.name.clone();
        let serving = row.serving.map(|state::Serving { digest, since_ms, took_ms }| ServingStatus {
            version: number(digest),
            digest,
            since_ms,
            took_ms,
        });
        let staged = row.staged.map(|state::Staged { digest, at_ms, took_ms, failure }| StagedStatus {
            version: number(digest),
            digest,
            at_ms,
            took_ms,
            failure,
        });
        Some(GatewayStatus { id: row.gateway, name, serving, staged })
    };
    let mut gateways: Vec<GatewayStatus> = rows.filter_map(of_row).collect();
    // One that lives and has said nothing yet is not left out.
    for LiveGateway { gateway, .. } in live {
        if gateways.iter().all(|known| known.id != gateway.id.as_str()) {
            let (id, name) = (gateway.id.to_string(), gateway.name.clone());
            gateways.push(GatewayStatus { id, name, serving: None, staged: None });
        }
    }
    gateways.sort_by(|a, b| a.id.cmp(&b.id));
    let coming = entry.coming.as_ref().and_then(|coming| {
        Some(ComingVersion { name: name(coming.digest)?, since_ms: coming.since_ms, by: coming.by.clone() })
    });
    IntentStatus {
        intent: entry.intent.clone(),
        live: entry.live.and_then(name),
        coming,
        rollout: entry.rollout.as_ref().and_then(|rollout| {
            Some(RolledOutVersion {
                name: name(rollout.digest)?,
                stage: rollout.stage,
                stages: rollout.policy.stages.len(),
                share_percent: rollout.stage().map_or(0.0, |stage| stage.share_percent),
                is_paused: rollout.paused.is_some(),
            })
        }),
        policy: entry.policy,
        gateways,
    }
}

impl ContractAdmin for Catalogue {
    fn versions(&self) -> Vec<LoadedVersion> {
        let view = self.view();
        let of_entry = |entry: &Entry| {
            let mut versions: Vec<&EntryVersion> =
                entry.versions.iter().filter(|version| view.is_ready(version.digest)).collect();
            versions.sort_by(|a, b| a.version.cmp(&b.version));
            versions.into_iter().map(|version| self.describe(&view, entry, version)).collect::<Vec<_>>()
        };
        view.entries.values().flat_map(of_entry).collect()
    }

    fn load(&self, component: bytes::Bytes, order: LoadOrder) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        self.load_component(component, order).boxed()
    }

    fn activate(
        &self,
        digest: Digest,
        by: Actor,
        when: GoLive,
    ) -> BoxFuture<'_, Result<Activated, ContractAdminError>> {
        self.activate_version(digest, by, when).boxed()
    }

    fn unload<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.unload_intent(intent, by).boxed()
    }

    fn withdraw<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.withdraw_coming(intent, by).boxed()
    }

    fn set_policy<'a>(
        &'a self,
        intent: &'a str,
        policy: ReleasePolicy,
        by: Actor,
    ) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.set_release_policy(intent, policy, by).boxed()
    }

    fn status<'a>(&'a self, intent: Option<&'a str>) -> BoxFuture<'a, Result<Vec<IntentStatus>, ContractAdminError>> {
        self.read_status(intent).boxed()
    }

    fn component(&self, digest: Digest) -> BoxFuture<'_, Result<Option<bytes::Bytes>, ContractAdminError>> {
        async move {
            match component::get(self.store(), digest).await {
                Ok(component) => Ok(Some(component)),
                Err(NoComponent::Missing) => Ok(None),
                Err(error @ NoComponent::Damaged) => {
                    let message = format!("{digest}: {error}");
                    Err(ContractAdminError::Store { trouble: StoreTrouble::Defect, message })
                }
                Err(NoComponent::Store(error)) => Err(error.into()),
            }
        }
        .boxed()
    }

    fn signers(&self, digest: Digest) -> Vec<String> {
        let view = self.view();
        if let Some(version) = view.entries.values().find_map(|entry| entry.version(digest)) {
            return version.signed_by.clone();
        }
        let mut retired = view.entries.values().flat_map(|entry| &entry.retired);
        let signatures =
            retired.find(|version| version.digest == digest).and_then(|version| version.signatures.as_ref());
        signatures.map(|signatures| self.setup.trust.signers(signatures)).unwrap_or_default()
    }

    fn failures(&self) -> Vec<LoadFailure> {
        self.failures.latest()
    }

    fn missing(&self) -> Vec<MissingVersion> {
        self.view().missing()
    }
}

impl ContractIntake for Catalogue {
    fn find(&self, digest: Digest) -> Option<LoadedVersion> {
        let view = self.view();
        let entry = view.entry_of(digest)?;
        let version = entry.version(digest).filter(|_| view.is_ready(digest))?;
        Some(self.describe(&view, entry, version))
    }

    fn live_version(&self, intent: &IntentId) -> Option<Version> {
        let view = self.view();
        let entry = view.entries.get(intent)?;
        Some(entry.version(entry.live?)?.version.clone())
    }

    fn standing(&self, intent: &IntentId) -> IntakeStanding {
        match self.view().entries.get(intent) {
            Some(entry) if entry.coming.is_some() || entry.rollout.is_some() => IntakeStanding::Changing,
            Some(entry) if entry.live.is_none() => IntakeStanding::OutOfService,
            Some(entry) if entry.policy == ReleasePolicy::Manual => IntakeStanding::ByHand,
            _ => IntakeStanding::Open,
        }
    }

    fn examine<'a>(
        &'a self,
        component: bytes::Bytes,
        origin: &'a Origin,
        by: &'a Actor,
    ) -> BoxFuture<'a, Result<Arc<dyn Contract>, ContractAdminError>> {
        self.examine_component(component, origin, by).boxed()
    }

    fn take(
        &self,
        contract: Arc<dyn Contract>,
        component: bytes::Bytes,
        order: LoadOrder,
    ) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        self.take_examined(contract, component, order).boxed()
    }

    fn note_unreadable(&self, refused: RefusedComponent, origin: Origin) {
        self.note_refused(refused, origin);
    }
}
