//! The leases and the counts of several gateways in memory, under the rules of the real ones. They pass the suite of the real
//! ones (`host/store/tests/it`), and fail when a test says so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::fleet::rules::LeaseBook;
use intent_gateway_domain::fleet::shared::{CallTimes, SharedBackOff, SharedCounts, SharedRate, SharedTurn};
use intent_gateway_domain::fleet::standing::MonotonicClock;
use intent_gateway_domain::fleet::{Duty, Fleet, Gateway, GatewayId, Granted, Leases, LiveGateway, OwnLease, Renewal};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::StoreError;

/// The leases of one store.
pub struct MemoryLeases {
    book: Mutex<LeaseBook>,
    clock: Arc<dyn Clock>,
}

impl MemoryLeases {
    /// With the store's clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { book: Mutex::default(), clock })
    }

    fn book(&self) -> MutexGuard<'_, LeaseBook> {
        self.book.lock().expect("nothing panics while it is held")
    }
}

impl Leases for MemoryLeases {
    fn renew<'a>(&'a self, renewal: &'a Renewal) -> BoxFuture<'a, Result<Granted, StoreError>> {
        let granted = self.book().renew(renewal, self.clock.now());
        ready(granted.map_err(|error| StoreError::Engine(error.to_string(), None))).boxed()
    }

    fn give_back<'a>(&'a self, run: &'a GatewayId) -> BoxFuture<'a, Result<(), StoreError>> {
        self.book().give_back(run);
        ready(Ok(())).boxed()
    }

    fn live(&self) -> BoxFuture<'_, Result<Vec<LiveGateway>, StoreError>> {
        ready(Ok(self.book().live(self.clock.now()))).boxed()
    }
}

/// The counts of one store.
pub struct MemoryCounts {
    kept: Mutex<Kept>,
    clock: Arc<dyn Clock>,
    is_down: AtomicBool,
    hangs: AtomicBool,
    asked: AtomicU64,
}

#[derive(Default)]
struct Kept {
    calls: BTreeMap<String, (u64, CallTimes)>,
    back_offs: BTreeMap<PartnerId, (u32, Timestamp)>,
}

impl MemoryCounts {
    /// With the store's clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let (is_down, hangs, asked) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
        Arc::new(Self { kept: Mutex::default(), clock, is_down, hangs, asked })
    }

    /// Has the store fail at once from now on, or not any more.
    pub fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Has the store never answer from now on, or do so again.
    pub fn set_hanging(&self, hangs: bool) {
        self.hangs.store(hangs, Ordering::Relaxed);
    }

    /// How often a turn was asked for.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    fn kept(&self) -> Result<MutexGuard<'_, Kept>, StoreError> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(StoreError::Engine("the test's store is down".to_owned(), None));
        }
        Ok(self.kept.lock().expect("nothing panics while it is held"))
    }

    fn do_at_once<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut Kept, Timestamp) -> T + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        if self.hangs.load(Ordering::Relaxed) {
            return pending().boxed();
        }
        let done = self.kept().map(|mut kept| work(&mut kept, self.clock.now()));
        ready(done).boxed()
    }
}

impl SharedCounts for MemoryCounts {
    fn take(&self, rate: SharedRate) -> BoxFuture<'_, Result<SharedTurn, StoreError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.do_at_once(move |kept, now| {
            let (per_ms, times) = kept.calls.entry(rate.mark).or_default();
            *per_ms = rate.per_ms;
            times.take(rate.calls, rate.per_ms, now)
        })
    }

    fn give_back<'a>(&'a self, mark: &'a str, at: Timestamp) -> BoxFuture<'a, Result<(), StoreError>> {
        self.do_at_once(move |kept, _| {
            if let Some((_, times)) = kept.calls.get_mut(mark) {
                times.give_back(at);
            }
        })
    }

    fn tell_back_offs<'a>(&'a self, told: &'a [SharedBackOff]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.do_at_once(move |kept, now| {
            for SharedBackOff { partner, times, wait_ms } in told {
                let until = now.plus_ms(*wait_ms);
                let entry = kept.back_offs.entry(partner.clone()).or_insert((*times, until));
                if until >= entry.1 {
                    *entry = (*times, until);
                }
            }
        })
    }

    fn back_offs(&self) -> BoxFuture<'_, Result<Vec<SharedBackOff>, StoreError>> {
        self.do_at_once(|kept, now| {
            let shown = |(partner, (times, until)): (&PartnerId, &(u32, Timestamp))| {
                let wait_ms = until.ms_since(now);
                (wait_ms > 0).then(|| SharedBackOff { partner: partner.clone(), times: *times, wait_ms })
            };
            kept.back_offs.iter().filter_map(shown).collect()
        })
    }

    fn forget_ended(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.do_at_once(|kept, now| {
            let before = kept.calls.len();
            kept.calls.retain(|_, (per_ms, times)| !times.has_ended(*per_ms, now));
            kept.back_offs.retain(|_, (_, until)| *until > now);
            (before - kept.calls.len()) as u64
        })
    }
}

/// A clock of elapsed time that stands at the epoch of another one.
struct Elapsed(Arc<dyn Clock>);

impl MonotonicClock for Elapsed {
    fn elapsed_ms(&self) -> u64 {
        self.0.now().as_ms()
    }
}

/// A clock that nobody sets, as another one shows the time.
#[must_use]
pub fn steady(clock: Arc<dyn Clock>) -> Arc<dyn MonotonicClock> {
    Arc::new(Elapsed(clock))
}

/// A fleet of so many gateways, seen now, of which this one has these duties for so long.
#[must_use]
pub fn fleet_of(live: usize, clock: Arc<dyn Clock>, lease_ms: u64, duties: &[Duty]) -> Fleet {
    let fleet = Fleet::new(Arc::new(Elapsed(clock)));
    set_live(&fleet, live, lease_ms, duties);
    fleet
}

/// Has a fleet have so many gateways from now on.
pub fn set_live(fleet: &Fleet, live: usize, lease_ms: u64, duties: &[Duty]) {
    let id = GatewayId::parse("gateway").expect("well formed");
    let gateway = Gateway { id: id.clone(), run: id, name: "gateway".to_owned(), version: "0".to_owned() };
    let at = Timestamp::EPOCH;
    let one = LiveGateway { gateway, started_at: at, renewed_at: at, left_ms: lease_ms, duties: Vec::new() };
    let granted = Granted { own: OwnLease::Renewed, live: vec![one; live], duties: duties.to_vec() };
    fleet.note_granted(fleet.elapsed_ms(), lease_ms, &granted);
}
