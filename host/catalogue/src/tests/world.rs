//! Gateways that share a store, each with a runtime that does as the test says.

use std::collections::{HashMap, HashSet};
use std::future::{poll_fn, ready};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::fleet::{Fleet, Gateway, GatewayId, Leases as _, Renewal};
use intent_gateway_domain::ports::{Contract, ContractAdmin as _, ContractRuntime};
use intent_gateway_domain::rates::Counted;
use intent_gateway_domain::sections;
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{
    CallCounts, ContractAdminError, Failing, LoadOrder, Loaded, NotExamined, Origin, RefusedComponent, ServedIntent,
};
use intent_gateway_rollout::Trials;
use intent_gateway_signing::TrustPolicy;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ScriptedContract, descriptor};
use intent_gateway_testing::fleet::{MemoryLeases, steady};
use intent_gateway_testing::store::MemoryStore;

use crate::{Catalogue, CatalogueSetup};

pub(super) const INTENT: &str = "test.find_things";
pub(super) const LEASE_MS: u64 = 10_000;
pub(super) const MAX_STALE_MS: u64 = 3_600_000;

/// Examines components of the form `intent version aliases…`.
#[derive(Default)]
pub(super) struct FakeRuntime {
    pub(super) served: Mutex<Vec<ServedIntent>>,
    /// Those that cannot be made ready here.
    broken: Mutex<HashSet<Digest>>,
    compiled: Mutex<HashMap<Digest, Bytes>>,
    pub(super) examined: Mutex<u32>,
    pub(super) spare: Mutex<HashMap<Digest, Bytes>>,
    /// Others go on before a set serves.
    pub(super) yields: AtomicBool,
}

fn contract(component: &[u8]) -> Option<Arc<dyn Contract>> {
    // What is signed lies within a component.
    let text = std::str::from_utf8(sections::find(component, "words").unwrap_or(component)).ok()?;
    let mut words = text.split(' ');
    let mut descriptor = descriptor("1.0.0");
    descriptor.intent = words.next()?.parse_intent();
    descriptor.version = words.next()?.parse().ok()?;
    descriptor.aliases = words.map(ParseIntent::parse_intent).collect();
    Some(Arc::new(ScriptedContract::new(descriptor).with_digest(Digest::of(component))))
}

trait ParseIntent {
    fn parse_intent(&self) -> intent_gateway_domain::id::IntentId;
}

impl ParseIntent for str {
    fn parse_intent(&self) -> intent_gateway_domain::id::IntentId {
        intent_gateway_domain::id::IntentId::parse(self).expect("an intent")
    }
}

impl FakeRuntime {
    pub(super) fn break_for(&self, component: &str) {
        self.broken.lock().expect("held").insert(Digest::of(component.as_bytes()));
    }

    pub(super) fn mend(&self) {
        self.broken.lock().expect("held").clear();
    }

    /// The digest that serves an intent.
    pub(super) fn live(&self, intent: &str) -> Option<Digest> {
        let served = self.served.lock().expect("held");
        served.iter().find(|served| served.intent.as_str() == intent)?.live
    }
}

impl ContractRuntime for FakeRuntime {
    fn examine<'a>(&'a self, component: Bytes, _: &'a Actor) -> BoxFuture<'a, Result<Arc<dyn Contract>, NotExamined>> {
        *self.examined.lock().expect("held") += 1;
        let digest = Digest::of(&component);
        let is_broken = self.broken.lock().expect("held").contains(&digest);
        let refused = || {
            let (code, message) = ("COMPILE_FAILED".to_owned(), "the test says so".to_owned());
            NotExamined::Refused(Box::new(RefusedComponent { digest: Some(digest), identity: None, code, message }))
        };
        ready(contract(&component).filter(|_| !is_broken).ok_or_else(refused)).boxed()
    }

    fn take_up(&self, digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        ready(self.compiled.lock().expect("held").get(&digest).and_then(|component| contract(component))).boxed()
    }

    fn keep(&self, _: Digest) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }

    fn find_spare(&self, digest: Digest) -> BoxFuture<'_, Option<Bytes>> {
        ready(self.spare.lock().expect("held").get(&digest).cloned()).boxed()
    }

    fn serve(&self, intents: Vec<ServedIntent>) -> BoxFuture<'_, ()> {
        let mut yields = self.yields.load(Ordering::Relaxed);
        let others_first = poll_fn(move |context| {
            if std::mem::take(&mut yields) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        async move {
            others_first.await;
            *self.served.lock().expect("held") = intents;
        }
        .boxed()
    }

    fn counts(&self, _: Digest) -> CallCounts {
        CallCounts::default()
    }

    fn absolve(&self, _: Digest) {}

    fn announce(&self, _: String, _: usize, _: usize) {}
}

/// A store, and the clock of all gateways on it.
pub(super) struct World {
    pub(super) store: Arc<MemoryStore>,
    pub(super) leases: Arc<MemoryLeases>,
    pub(super) clock: Arc<TestClock>,
}

/// One gateway.
pub(super) struct Node {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) trials: Arc<Trials>,
    pub(super) runtime: Arc<FakeRuntime>,
    fleet: Fleet,
    gateway: Gateway,
    leases: Arc<MemoryLeases>,
}

impl World {
    pub(super) fn new() -> Self {
        let clock = TestClock::at(1_000_000);
        let leases = MemoryLeases::new(clock.clone());
        Self { store: Arc::new(MemoryStore::default()), leases, clock }
    }

    /// A gateway that has started.
    pub(super) fn start(&self, name: &str) -> Node {
        let node = self.join(name);
        block_on(node.catalogue.start()).expect("the store answers");
        node
    }

    /// A gateway that has a lease and has not read the catalogue yet.
    pub(super) fn join(&self, name: &str) -> Node {
        self.join_with(name, Arc::default())
    }

    pub(super) fn join_with(&self, name: &str, runtime: Arc<FakeRuntime>) -> Node {
        self.join_trusting(name, runtime, TrustPolicy::default())
    }

    pub(super) fn join_trusting(&self, name: &str, runtime: Arc<FakeRuntime>, trust: TrustPolicy) -> Node {
        let id = |text: String| GatewayId::parse(&text).expect("an identifier");
        let run = format!("{name}-{}", self.clock.now_ms());
        let gateway = Gateway { id: id(name.to_owned()), run: id(run), name: name.to_owned(), version: "1".to_owned() };
        let fleet = Fleet::new(steady(self.clock.clone()));
        let trials = Trials::new();
        let catalogue = Catalogue::new(CatalogueSetup {
            store: self.store.clone(),
            leases: self.leases.clone(),
            fleet: fleet.clone(),
            runtime: runtime.clone(),
            clock: self.clock.clone(),
            timer: self.clock.clone(),
            trust,
            trials: trials.clone(),
            versions_kept: 3,
            max_stale_ms: MAX_STALE_MS,
        });
        let node = Node { trials, catalogue, runtime, fleet, gateway, leases: self.leases.clone() };
        node.renew(true);
        node
    }
}

trait NowMs {
    fn now_ms(&self) -> u64;
}

impl NowMs for TestClock {
    fn now_ms(&self) -> u64 {
        intent_gateway_domain::clock::Clock::now(self).as_ms()
    }
}

impl Node {
    pub(super) fn renew(&self, is_start: bool) {
        let renewal = Renewal { gateway: self.gateway.clone(), lease_ms: LEASE_MS, is_start, duties: Vec::new() };
        let granted = block_on(self.leases.renew(&renewal)).expect("a lease");
        self.fleet.note_granted(self.fleet.elapsed_ms(), LEASE_MS, &granted);
        self.fleet.note_own(&self.gateway);
    }

    pub(super) fn leave(&self) {
        block_on(self.leases.give_back(&self.gateway.run)).expect("given back");
    }

    /// One round of what it does all the time.
    pub(super) fn turn(&self) {
        block_on(self.catalogue.turn()).expect("the store answers");
    }

    pub(super) fn live(&self) -> Option<Digest> {
        self.runtime.live(INTENT)
    }

    pub(super) fn load(&self, component: &str) -> Result<Loaded, ContractAdminError> {
        self.load_as(component, true)
    }

    pub(super) fn load_as(&self, component: &str, activate: bool) -> Result<Loaded, ContractAdminError> {
        block_on(self.ask_to_load(component, activate))
    }

    pub(super) fn load_file(&self, file: Vec<u8>) -> Result<Loaded, ContractAdminError> {
        let origin = Origin::Upload("ann".to_owned());
        let order = LoadOrder { origin, by: Actor::new("admin", "ann"), activate: true, removal: Removal::Refused };
        block_on(self.catalogue.load(file.into(), order))
    }

    pub(super) fn load_later(&self, component: &str) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        self.ask_to_load(component, true)
    }

    fn ask_to_load(&self, component: &str, activate: bool) -> BoxFuture<'_, Result<Loaded, ContractAdminError>> {
        let origin = Origin::Upload("ann".to_owned());
        let order = LoadOrder { origin, by: Actor::new("admin", "ann"), activate, removal: Removal::Refused };
        self.catalogue.load(Bytes::copy_from_slice(component.as_bytes()), order)
    }
}

/// A version that has failed five times in a row.
pub(super) fn failing(digest: Digest) -> Failing {
    Failing { digest, calls: Counted { of: 5, hits: 5 }, in_a_row: 5 }
}

pub(super) fn digest(component: &str) -> Digest {
    Digest::of(component.as_bytes())
}

/// A component of the intent.
pub(super) fn version(number: &str) -> String {
    format!("{INTENT} {number}")
}

pub(super) fn code(outcome: Result<Loaded, ContractAdminError>) -> String {
    match outcome {
        Err(ContractAdminError::Rejected(failure)) => failure.code,
        other => panic!("{other:?}"),
    }
}
