//! Leases of gateways, and what gateways count together: the same on both engines and in the fakes, whoever asks at the same time.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::SystemClock;
use intent_gateway_domain::fleet::shared::{SharedBackOff, SharedCounts, SharedRate, SharedTurn};
use intent_gateway_domain::fleet::{Duty, Gateway, GatewayId, Granted, Leases, OwnLease, Renewal};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_store::CallCounts;
use intent_gateway_testing::fleet::{MemoryCounts, MemoryLeases};
use tokio::time::Instant;

use crate::support::Database;

/// Long enough for a slow machine, short enough to be waited for.
const LEASE_MS: u64 = 1_500;
const DUTIES: [Duty; 2] = [Duty::Probes, Duty::Sweep];
/// How long may be waited for what a lease's end brings.
const SOON: Duration = Duration::from_secs(20);

/// Where several gateways find their leases and counts.
trait FleetPlace {
    async fn leases(&self) -> Arc<dyn Leases>;
    async fn counts(&self) -> Arc<dyn SharedCounts>;
}

impl FleetPlace for Database {
    async fn leases(&self) -> Arc<dyn Leases> {
        self.open_shared().await
    }

    async fn counts(&self) -> Arc<dyn SharedCounts> {
        Arc::new(CallCounts::open(self.open_shared().await))
    }
}

struct Memory {
    leases: Arc<MemoryLeases>,
    counts: Arc<MemoryCounts>,
}

impl Default for Memory {
    fn default() -> Self {
        let clock = Arc::new(SystemClock);
        Self { leases: MemoryLeases::new(clock.clone()), counts: MemoryCounts::new(clock) }
    }
}

impl FleetPlace for Memory {
    async fn leases(&self) -> Arc<dyn Leases> {
        self.leases.clone()
    }

    async fn counts(&self) -> Arc<dyn SharedCounts> {
        self.counts.clone()
    }
}

macro_rules! on_every_fleet {
    ($($case:ident),* $(,)?) => {
        crate::support::on_both_engines!($($case),*);

        mod memory {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case(super::Memory::default()).await;
                }
            )*
        }
    };
}

on_every_fleet!(
    a_duty_is_one_gateways_until_its_lease_ends,
    what_is_given_back_is_free,
    of_many_that_ask_at_once_one_holds_each_duty,
    a_turn_is_taken_once_by_whoever_asks,
    a_turn_that_is_given_back_is_its_own,
    of_two_waits_the_one_that_ends_later_holds,
    what_is_over_is_forgotten,
);

fn renewal(gateway: &str, run: u32, is_start: bool) -> Renewal {
    let id = |text: &str| GatewayId::parse(text).expect("sound");
    let (run, name) = (id(&format!("{gateway}-{run}")), format!("host of {gateway} ☂"));
    let gateway = Gateway { id: id(gateway), run, name, version: "1.2.3".to_owned() };
    Renewal { gateway, lease_ms: LEASE_MS, is_start, duties: DUTIES.to_vec() }
}

fn names(granted: &Granted) -> Vec<&str> {
    granted.live.iter().map(|live| live.gateway.id.as_str()).collect()
}

async fn a_duty_is_one_gateways_until_its_lease_ends(place: impl FleetPlace) {
    let (here, there) = (place.leases().await, place.leases().await);
    let first = here.renew(&renewal("a", 1, true)).await.expect("granted");
    assert_eq!((first.own, &first.duties[..], names(&first)), (OwnLease::Begun, &DUTIES[..], vec!["a"]));
    let second = there.renew(&renewal("b", 1, true)).await.expect("granted");
    assert_eq!((second.own, &second.duties[..], names(&second)), (OwnLease::Begun, &[][..], vec!["a", "b"]));
    let shown = there.live().await.expect("readable");
    assert_eq!(shown[0].gateway, renewal("a", 1, true).gateway);
    assert_eq!(shown[0].duties, ["probes", "sweep"]);
    assert!(shown[0].left_ms <= LEASE_MS && shown[0].renewed_at == shown[0].started_at);
    // The second goes on to renew, and the first does not.
    let begun = Instant::now();
    loop {
        let renewed = there.renew(&renewal("b", 1, false)).await.expect("granted");
        assert_eq!(renewed.own, OwnLease::Renewed);
        if renewed.duties == DUTIES {
            assert_eq!(names(&renewed), ["b"]);
            break;
        }
        assert_eq!(renewed.duties, []);
        assert!(begun.elapsed() < SOON, "the lease of the first does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let late = here.renew(&renewal("a", 1, false)).await.expect("granted");
    assert_eq!((late.own, late.duties), (OwnLease::Begun, vec![]));
}

async fn what_is_given_back_is_free(place: impl FleetPlace) {
    let (here, there) = (place.leases().await, place.leases().await);
    let (one, other) = (renewal("a", 1, true), renewal("b", 1, true));
    here.renew(&one).await.expect("granted");
    there.renew(&other).await.expect("granted");
    here.give_back(&one.gateway.run).await.expect("given back");
    here.give_back(&one.gateway.run).await.expect("nothing to give back");
    let granted = there.renew(&other).await.expect("granted");
    assert_eq!((&granted.duties[..], names(&granted)), (&DUTIES[..], vec!["b"]));
    // A process that starts on the folder of one that has died has no need to wait for its lease.
    let again = there.renew(&renewal("b", 2, true)).await.expect("granted");
    assert_eq!((again.own, &again.duties[..], again.live.len()), (OwnLease::Begun, &DUTIES[..], 1));
    assert_eq!(here.renew(&renewal("b", 1, false)).await.expect("granted").own, OwnLease::Replaced);
}

async fn of_many_that_ask_at_once_one_holds_each_duty(place: impl FleetPlace) {
    let stores = [place.leases().await, place.leases().await];
    let asked = (0..20).map(|number| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move { store.renew(&renewal(&format!("g{number}"), 1, true)).await.expect("granted") })
    });
    let mut held = 0;
    for granted in asked.collect::<Vec<_>>() {
        held += granted.await.expect("it ends").duties.len();
    }
    assert_eq!(held, DUTIES.len());
}

fn rate(mark: &str, calls: u32, per_ms: u64) -> SharedRate {
    SharedRate { mark: mark.to_owned(), calls, per_ms }
}

async fn a_turn_is_taken_once_by_whoever_asks(place: impl FleetPlace) {
    const TOGETHER: usize = 40;
    let stores = [place.counts().await, place.counts().await];
    for (calls, round) in [(1, "first"), (3, "second"), (5, "third")] {
        let asked = (0..TOGETHER).map(|number| {
            // Two rates in turn, so that batches hold both and both more than once.
            let (store, mark) = (stores[number % 2].clone(), format!("{round} {}", number / 2 % 2));
            tokio::spawn(async move { store.take(rate(&mark, calls, 60_000)).await.expect("counted") })
        });
        let mut taken = 0;
        for turn in asked.collect::<Vec<_>>() {
            match turn.await.expect("it ends") {
                SharedTurn::Taken(_) => taken += 1,
                SharedTurn::Wait(wait_ms) => assert!((50_000..=60_000).contains(&wait_ms), "{wait_ms}"),
            }
        }
        assert_eq!(taken, 2 * calls, "{round}");
    }
    assert!(matches!(stores[0].take(rate("short", 1, 300)).await, Ok(SharedTurn::Taken(_))));
    let Ok(SharedTurn::Wait(wait_ms)) = stores[1].take(rate("short", 1, 300)).await else { panic!("it was taken") };
    assert!((1..=300).contains(&wait_ms), "{wait_ms}");
    tokio::time::sleep(Duration::from_millis(wait_ms + 1)).await;
    assert!(matches!(stores[1].take(rate("short", 1, 300)).await, Ok(SharedTurn::Taken(_))), "the wait was enough");
}

async fn a_turn_that_is_given_back_is_its_own(place: impl FleetPlace) {
    let (here, there) = (place.counts().await, place.counts().await);
    let mut taken = Vec::new();
    for _ in 0..5 {
        let Ok(SharedTurn::Taken(at)) = here.take(rate("mark", 5, 60_000)).await else { panic!("there is room") };
        taken.push(at);
        // Each at a time of its own.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(matches!(there.take(rate("mark", 5, 60_000)).await, Ok(SharedTurn::Wait(_))));
    there.give_back("mark", taken[2]).await.expect("given back");
    there.give_back("mark", taken[2]).await.expect("it is not there twice");
    there.give_back("nobody's", taken[2]).await.expect("nothing to give back");
    assert!(matches!(there.take(rate("mark", 5, 60_000)).await, Ok(SharedTurn::Taken(_))));
    assert!(matches!(here.take(rate("mark", 5, 60_000)).await, Ok(SharedTurn::Wait(_))));
    // Of the calls that count, the oldest is still the first: it bounds the wait.
    let mut waits = Vec::new();
    for gone in [taken[0], taken[1]] {
        let Ok(SharedTurn::Wait(wait_ms)) = here.take(rate("mark", 5, 60_000)).await else { panic!("it is full") };
        waits.push(wait_ms);
        here.give_back("mark", gone).await.expect("given back");
        assert!(matches!(here.take(rate("mark", 5, 60_000)).await, Ok(SharedTurn::Taken(_))));
    }
    assert!(waits.iter().all(|wait_ms| (50_000..=60_000).contains(wait_ms)), "{waits:?}");
}

async fn of_two_waits_the_one_that_ends_later_holds(place: impl FleetPlace) {
    let (here, there) = (place.counts().await, place.counts().await);
    let back_off =
        |name: &str, times, wait_ms| SharedBackOff { partner: PartnerId::parse(name).expect("sound"), times, wait_ms };
    assert_eq!(there.back_offs().await.expect("readable"), []);
    here.tell_back_offs(&[back_off("one", 2, 60_000), back_off("other", 1, 50_000)]).await.expect("told");
    there.tell_back_offs(&[back_off("one", 1, 1_000), back_off("other", 3, 70_000)]).await.expect("told");
    here.tell_back_offs(&[back_off("over", 1, 0)]).await.expect("told");
    let mut told = there.back_offs().await.expect("readable");
    told.sort_by(|one, other| one.partner.cmp(&other.partner));
    let seen: Vec<_> = told.iter().map(|told| (told.partner.as_str(), told.times)).collect();
    assert_eq!(seen, [("one", 2), ("other", 3)]);
    assert!(told[0].wait_ms <= 60_000 && told[0].wait_ms > 50_000 && told[1].wait_ms > 60_000, "{told:?}");
}

async fn what_is_over_is_forgotten(place: impl FleetPlace) {
    let counts = place.counts().await;
    for number in 0..7 {
        let per_ms = if number < 4 { 1 } else { 600_000 };
        counts.take(rate(&format!("mark {number}"), 1, per_ms)).await.expect("counted");
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(counts.forget_ended().await.expect("forgotten"), 4);
    assert_eq!(counts.forget_ended().await.expect("forgotten"), 0);
    assert!(matches!(counts.take(rate("mark 5", 1, 600_000)).await, Ok(SharedTurn::Wait(_))), "what counts stays");
}
