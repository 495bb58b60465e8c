//! Counts that gateways share: the calls of users, so that a user's rates hold over all gateways together, and the partners
//! that asked to be left alone.
//!
//! The store counts by its own clock, and recognises a user by a keyed mark: it learns neither who calls nor whom. What is
//! counted is lost with a crash of the store's machine, for it counts for a minute at most.

use futures_util::future::BoxFuture;

use crate::clock::Timestamp;
use crate::id::PartnerId;
use crate::store::StoreError;

/// Calls that a shared rate may have within its span, at most.
pub const CALLS_MAX: usize = 5;
/// A call that lies further ahead than so many milliseconds was counted before the store's clock was set back: it counts no
/// more.
pub const AHEAD_MAX_MS: u64 = 1_000;
/// Back-offs that gateways tell each other of at a time, at most.
pub const BACK_OFFS_MAX: usize = 1_000;

/// A rate of one user, of which a call wants to take a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRate {
    /// Recognises whose rate it is, and of what.
    pub mark: String,
    /// Calls within any span, at most [`CALLS_MAX`].
    pub calls: u32,
    /// The span, milliseconds.
    pub per_ms: u64,
}

/// Whether a call has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedTurn {
    /// It has; counted at this time of the store's.
    Taken(Timestamp),
    /// Not before so many milliseconds have passed. It is not counted.
    Wait(u64),
}

/// A partner that has asked to be left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBackOff {
    pub partner: PartnerId,
    /// How often it has asked in this round.
    pub times: u32,
    /// For how long it is left alone from now on, milliseconds.
    pub wait_ms: u64,
}

/// What gateways count together.
pub trait SharedCounts: Send + Sync {
    /// Takes a turn of a rate, if there is one.
    fn take(&self, rate: SharedRate) -> BoxFuture<'_, Result<SharedTurn, StoreError>>;

    /// Counts a call no longer that was counted at a time under a mark.
    fn give_back<'a>(&'a self, mark: &'a str, at: Timestamp) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Tells of partners that have asked to be left alone. Of two waits, the one that ends later holds.
    fn tell_back_offs<'a>(&'a self, told: &'a [SharedBackOff]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The partners that are left alone, at most [`BACK_OFFS_MAX`].
    fn back_offs(&self) -> BoxFuture<'_, Result<Vec<SharedBackOff>, StoreError>>;

    /// Forgets what counts no more; how many counts there were.
    fn forget_ended(&self) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// The latest calls of one rate, the newest first. Zero stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTimes(pub [u64; CALLS_MAX]);

impl CallTimes {
    /// Takes a turn at a time, if there is one.
    pub fn take(&mut self, calls: u32, per_ms: u64, now: Timestamp) -> SharedTurn {
        let now_ms = now.as_ms();
        let place = usize::try_from(calls).unwrap_or(CALLS_MAX).clamp(1, CALLS_MAX) - 1;
        let bound_ms = self.0[place];
        let over_at_ms = bound_ms.saturating_add(per_ms);
        if over_at_ms > now_ms && bound_ms <= now_ms.saturating_add(AHEAD_MAX_MS) {
            return SharedTurn::Wait(over_at_ms - now_ms);
        }
        self.0.copy_within(..CALLS_MAX - 1, 1);
        self.0[0] = now_ms;
        SharedTurn::Taken(now)
    }

    /// Counts the call of a time no longer.
    pub fn give_back(&mut self, at: Timestamp) {
        if let Some(place) = self.0.iter().position(|call_ms| *call_ms == at.as_ms()) {
            self.0.copy_within(place + 1.., place);
            self.0[CALLS_MAX - 1] = 0;
        }
    }

    /// Whether no call of it counts any more.
    #[must_use]
    pub fn has_ended(&self, per_ms: u64, now: Timestamp) -> bool {
        self.0[0].saturating_add(per_ms) <= now.as_ms()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(1_000_000 + ms)
    }

    #[test]
    fn a_span_holds_its_calls_and_no_more() {
        let mut times = CallTimes::default();
        let mut take = |ms| times.take(2, 1_000, at(ms));
        assert_eq!([take(0), take(400)], [0, 400].map(|ms| SharedTurn::Taken(at(ms))));
        assert_eq!(take(999), SharedTurn::Wait(1));
        assert_eq!(take(1_000), SharedTurn::Taken(at(1_000)));
        assert_eq!(take(1_001), SharedTurn::Wait(399));
        assert!(!times.has_ended(1_000, at(1_999)) && times.has_ended(1_000, at(2_000)));
    }

    #[test]
    fn what_is_given_back_is_its_own_call() {
        let mut times = CallTimes::default();
        for ms in [0, 900, 901, 902, 903] {
            assert_eq!(times.take(5, 1_000, at(ms)), SharedTurn::Taken(at(ms)));
        }
        times.give_back(at(0));
        assert_eq!(times.take(5, 1_000, at(950)), SharedTurn::Taken(at(950)));
        times.give_back(at(0));
        assert_eq!(times.take(5, 1_000, at(1_000)), SharedTurn::Wait(900));
    }

    #[test]
    fn a_clock_that_is_set_back_holds_nobody_for_long() {
        let mut times = CallTimes::default();
        assert_eq!(times.take(1, 1_000, at(90_000)), SharedTurn::Taken(at(90_000)));
        assert_eq!(times.take(1, 1_000, at(89_500)), SharedTurn::Wait(1_500));
        assert_eq!(times.take(1, 1_000, at(0)), SharedTurn::Taken(at(0)));
    }
}
