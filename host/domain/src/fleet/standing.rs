//! What a gateway may conclude from its renewals, by its own clock: which duties are its own at this moment, and how many
//! gateways there are.
//!
//! A lease is counted from the moment at which it was asked for, for the store's time of it is later: what the store gave is
//! never over there before it is over here. Time is taken from a clock that nobody sets and that goes on while the process
//! is stopped. Whoever hears nothing of the store stops when the lease ends, and goes on to count the gateways that were
//! there last.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Duty, Gateway, Granted, MARGIN_PER_LEASE, OwnLease};

/// How long counts are shared on after the last other gateway was seen, milliseconds: the longest span over which calls of
/// users are counted. What it has counted then counts no more.
pub const SHARED_ON_MS: u64 = 60_000;

/// Tells how much time has passed. A port, so that tests run in virtual time.
pub trait MonotonicClock: Send + Sync {
    /// Milliseconds since a moment that stays the same while the process runs. Never less than before, and as much after a
    /// time in which the process, or the machine, stood still.
    fn elapsed_ms(&self) -> u64;
}

/// The gateways that share a store, as one of them knows it. Clones share what they know.
#[derive(Clone)]
pub struct Fleet(Arc<Known>);

struct Known {
    clock: Arc<dyn MonotonicClock>,
    own: Mutex<Option<Gateway>>,
    leases: Mutex<KnownLeases>,
    live: AtomicU32,
}

#[derive(Default)]
struct KnownLeases {
    /// All duties end by then.
    held_until_ms: u64,
    duties: Vec<Duty>,
    /// When another gateway was last seen.
    others_at_ms: Option<u64>,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("live", &self.live()).finish_non_exhaustive()
    }
}

/// A clock that stands still: of whoever is alone for ever.
struct NoTime;

impl MonotonicClock for NoTime {
    fn elapsed_ms(&self) -> u64 {
        0
    }
}

/// A gateway that shares its store with nobody.
impl Default for Fleet {
    fn default() -> Self {
        Self::new(Arc::new(NoTime))
    }
}

impl Fleet {
    /// A gateway that has no lease yet, and knows of nobody else.
    #[must_use]
    pub fn new(clock: Arc<dyn MonotonicClock>) -> Self {
        Self(Arc::new(Known { clock, own: Mutex::default(), leases: Mutex::default(), live: AtomicU32::new(1) }))
    }

    /// This gateway, by its latest lease; none before its first.
    #[must_use]
    pub fn own(&self) -> Option<Gateway> {
        self.0.own.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of who this gateway is: it has a lease under this name.
    pub fn note_own(&self, gateway: &Gateway) {
        *self.0.own.lock().unwrap_or_else(PoisonError::into_inner) = Some(gateway.clone());
    }

    /// Now, by the clock that leases are measured by.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        self.0.clock.elapsed_ms()
    }

    /// Takes note of a renewal of leases so many milliseconds long that was asked for at a time.
    pub fn note_granted(&self, asked_at_ms: u64, lease_ms: u64, granted: &Granted) {
        let live = u32::try_from(granted.live.len()).unwrap_or(u32::MAX).max(1);
        let now_ms = self.elapsed_ms();
        let mut leases = self.leases();
        match granted.own {
            OwnLease::Renewed | OwnLease::Begun => {
                leases.held_until_ms = asked_at_ms.saturating_add(lease_ms - lease_ms / MARGIN_PER_LEASE);
                leases.duties.clone_from(&granted.duties);
            }
            OwnLease::Replaced => leases.held_until_ms = 0,
        }
        // Whoever was there at the last renewal may have counted until just now.
        if live > 1 || self.live() > 1 {
            leases.others_at_ms = Some(now_ms);
        }
        self.0.live.store(live, Ordering::Relaxed);
    }

    /// Holds no duty any more, for it is about to give all of them back.
    pub fn end_duties(&self) {
        self.leases().held_until_ms = 0;
    }

    /// Whether a duty is this gateway's at this moment.
    #[must_use]
    pub fn holds(&self, duty: Duty) -> bool {
        self.left_ms(duty) > 0
    }

    /// For how long a duty is certainly this gateway's, milliseconds. It is longer after the next renewal.
    #[must_use]
    pub fn left_ms(&self, duty: Duty) -> u64 {
        // The time is looked at first: what is held in between may be longer, and never shorter.
        let now_ms = self.elapsed_ms();
        let leases = self.leases();
        if leases.duties.contains(&duty) { leases.held_until_ms.saturating_sub(now_ms) } else { 0 }
    }

    /// How many gateways live, this one among them, as far as it was last heard.
    #[must_use]
    pub fn live(&self) -> u32 {
        self.0.live.load(Ordering::Relaxed)
    }

    /// Whether counts of users' calls have to be shared: another gateway lives, or has lived as long ago as counts go back.
    #[must_use]
    pub fn shares_counts(&self) -> bool {
        self.live() > 1
            || self.leases().others_at_ms.is_some_and(|at_ms| self.elapsed_ms() < at_ms.saturating_add(SHARED_ON_MS))
    }

    /// This gateway's share of what all may do together. At least one: what is less than there are gateways is exceeded.
    #[must_use]
    pub fn share(&self, of_all: NonZeroU32) -> NonZeroU32 {
        NonZeroU32::new(of_all.get() / self.live()).unwrap_or(NonZeroU32::MIN)
    }

    /// What is known is whole after every step, so what a panic interrupted can be used.
    fn leases(&self) -> MutexGuard<'_, KnownLeases> {
        self.0.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::{Gateway, GatewayId, LiveGateway};
    use super::*;
    use crate::clock::Timestamp;

    const LEASE_MS: u64 = 10_000;

    #[derive(Default)]
    struct SetClock(AtomicU64);

    impl MonotonicClock for SetClock {
        fn elapsed_ms(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn granted(own: OwnLease, live: usize, duties: &[Duty]) -> Granted {
        let id = GatewayId::parse("g").expect("well formed");
        let gateway = Gateway { id: id.clone(), run: id, name: String::new(), version: String::new() };
        let at = Timestamp::EPOCH;
        let one = LiveGateway { gateway, started_at: at, renewed_at: at, left_ms: 1, duties: Vec::new() };
        Granted { own, live: vec![one; live], duties: duties.to_vec() }
    }

    #[test]
    fn a_lease_counts_from_when_it_was_asked_for() {
        let clock = Arc::new(SetClock::default());
        let fleet = Fleet::new(clock.clone());
        assert!(!fleet.holds(Duty::Sweep));
        clock.0.store(7_000, Ordering::Relaxed);
        fleet.note_granted(1_000, LEASE_MS, &granted(OwnLease::Begun, 1, &[Duty::Sweep]));
        assert_eq!((fleet.left_ms(Duty::Sweep), fleet.left_ms(Duty::Probes)), (3_000, 0), "a tenth is left out");
        clock.0.store(10_000, Ordering::Relaxed);
        assert!(!fleet.holds(Duty::Sweep));
        // An answer that was waited for too long gives nothing.
        fleet.note_granted(0, LEASE_MS, &granted(OwnLease::Renewed, 1, &[Duty::Sweep]));
        assert!(!fleet.holds(Duty::Sweep));
        fleet.note_granted(10_000, LEASE_MS, &granted(OwnLease::Renewed, 1, &[Duty::Sweep]));
        assert!(fleet.holds(Duty::Sweep));
        fleet.note_granted(10_000, LEASE_MS, &granted(OwnLease::Replaced, 1, &[]));
        assert!(!fleet.holds(Duty::Sweep));
    }

    #[test]
    fn counts_are_shared_for_as_long_as_the_others_count() {
        let clock = Arc::new(SetClock::default());
        let fleet = Fleet::new(clock.clone());
        fleet.note_granted(0, LEASE_MS, &granted(OwnLease::Begun, 1, &[]));
        assert_eq!((fleet.live(), fleet.shares_counts()), (1, false));
        fleet.note_granted(0, LEASE_MS, &granted(OwnLease::Renewed, 3, &[]));
        assert_eq!((fleet.live(), fleet.shares_counts()), (3, true));
        clock.0.store(5_000, Ordering::Relaxed);
        fleet.note_granted(0, LEASE_MS, &granted(OwnLease::Renewed, 2, &[]));
        fleet.note_granted(0, LEASE_MS, &granted(OwnLease::Renewed, 1, &[]));
        clock.0.store(5_000 + SHARED_ON_MS - 1, Ordering::Relaxed);
        assert_eq!((fleet.live(), fleet.shares_counts()), (1, true));
        clock.0.store(5_000 + SHARED_ON_MS, Ordering::Relaxed);
        assert!(!fleet.shares_counts());
    }

    #[test]
    fn shares_add_up_to_no_more_than_all_as_long_as_there_is_one_each() {
        let number = |number| NonZeroU32::new(number).expect("not zero");
        let fleet = Fleet::default();
        for live in 1..=9 {
            fleet.note_granted(0, LEASE_MS, &granted(OwnLease::Renewed, live as usize, &[]));
            for all in 1..=100 {
                let share = fleet.share(number(all)).get();
                assert!(share >= 1 && (share * live <= all || all < live), "{share} of {all} for {live}");
            }
        }
    }
}
