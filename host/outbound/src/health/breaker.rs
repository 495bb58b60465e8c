//! The breaker before one partner's server: while the server is down, nobody waits for it.
//!
//! ```text
//!   Closed ──▶ Open       five failures in a row, or half of at least twenty calls within a minute
//!   Open ──▶ HalfOpen     after a wait: 5 s, doubled each time up to 5 min, shortened by up to a fifth
//!   HalfOpen ──▶ Closed   the one call that is let through reaches the server
//!   HalfOpen ──▶ Open     it does not
//! ```
//!
//! A failure is a server that does not answer, resets, or answers with a 5xx. What an intent's own code refuses is an
//! answer, and a partner that asks to slow down has not failed (see [`Outcome`]). Calls that began before the breaker
//! opened say nothing once it has: they were under way when the server went down, or came back from before.
//!
//! The wait is shortened by a number drawn from the seed, the partner and the count, so that replicas and partners do
//! not all ask at once, and a test knows what comes.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::health::Opening;
use serde::{Deserialize, Serialize};

use super::observed::Outcome;

/// Failures in a row that open the breaker.
pub const CONSECUTIVE_MAX: u32 = 5;
/// Fewest calls within a minute whose share of failures counts.
pub(crate) const SHARE_CALLS_MIN: u32 = 20;
/// Failures, percent of these calls, that open the breaker.
pub(crate) const SHARE_MAX_PERCENT: u32 = 50;
/// The two halves of the minute over which the share is taken, milliseconds each.
const HALF_MS: u64 = 30 * 1_000;
/// First wait, milliseconds.
pub(crate) const WAIT_FIRST_MS: u64 = 5 * 1_000;
/// Longest wait, milliseconds.
pub const WAIT_MAX_MS: u64 = 5 * 60 * 1_000;
/// By how much a wait may be shortened, percent.
pub(crate) const JITTER_MAX_PERCENT: u64 = 20;
/// After so long closed, waits begin anew with the first, milliseconds.
pub(crate) const CALM_MS: u64 = 10 * 60 * 1_000;
/// How long the one call of a half-open breaker keeps its place when nothing is heard of it, milliseconds: the deadline
/// of a call and some more. A caller may leave, and a call that nobody waits for is not recorded.
pub(crate) const PROBE_LEASE_MS: u64 = 45 * 1_000;

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = BreakerStateName))]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Calls pass.
    Closed,
    /// None passes.
    Open,
    /// One passes at a time.
    HalfOpen,
}

/// What a breaker says to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Pass,
    /// The one call of a half-open breaker; `first` since it was open.
    Probe {
        first: bool,
    },
    Shut,
}

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    None,
    Opened(Opening),
    /// After so many milliseconds since it first opened.
    Closed {
        after_ms: u64,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct Half {
    number: u64,
    calls: u32,
    failed: u32,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Open { until: Timestamp },
    HalfOpen { lease_until: Timestamp },
}

/// The breaker of one partner.
#[derive(Clone, Debug)]
pub(super) struct Breaker {
    seed: u64,
    state: State,
    consecutive: u32,
    halves: [Half; 2],
    /// Openings in a row, without calm in between.
    openings: u32,
    /// When it last left Closed.
    tripped_at: Timestamp,
    /// When it last opened.
    opened_at: Timestamp,
    closed_at: Timestamp,
}

/// What is shown of a breaker.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BreakerView {
    /// Where it stands.
    pub state: BreakerState,
    /// Failures in a row.
    pub consecutive: u32,
    /// Failures within the last minute.
    pub failed: u32,
    /// Calls within the last minute.
    pub calls: u32,
    /// Until when nothing passes, while it is open.
    pub until: Option<Timestamp>,
}

/// Spreads the bits of a number (the finaliser of SplitMix64).
pub(super) fn spread(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl Breaker {
    /// Closed; `seed` is the partner's own.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            state: State::Closed,
            consecutive: 0,
            halves: [Half::default(); 2],
            openings: 0,
            tripped_at: Timestamp::EPOCH,
            opened_at: Timestamp::EPOCH,
            closed_at: Timestamp::EPOCH,
        }
    }

    pub(super) fn admit(&mut self, now: Timestamp) -> Gate {
        let first = match self.state {
            State::Closed => return Gate::Pass,
            State::Open { until } if now >= until => true,
            State::HalfOpen { lease_until } if now >= lease_until => false,
            State::Open { .. } | State::HalfOpen { .. } => return Gate::Shut,
        };
        self.state = State::HalfOpen { lease_until: now.plus_ms(PROBE_LEASE_MS) };
        Gate::Probe { first }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Takes a call that took `elapsed_ms` and ended now.
    pub(super) fn record(&mut self, outcome: Outcome, elapsed_ms: u64, now: Timestamp) -> Turn {
        let failed = match outcome {
            Outcome::Answered | Outcome::TurnedAway => false,
            Outcome::TimedOut | Outcome::Broken => true,
            Outcome::Unsaid => {
                self.release(elapsed_ms, now);
                return Turn::None;
            }
        };
        match self.state {
            State::Closed => {
                self.count(failed, now);
                if self.is_failing(now) { self.open(now) } else { Turn::None }
            }
            State::HalfOpen { .. } if self.began_since_open(elapsed_ms, now) => {
                self.count(failed, now);
                if failed { self.open(now) } else { self.close(now) }
            }
            State::Open { .. } | State::HalfOpen { .. } => Turn::None,
        }
    }

    /// Whether the call began after the breaker last opened: it is the one that was let through. No clock is finer
    /// than the first wait, and none other was.
    fn began_since_open(&self, elapsed_ms: u64, now: Timestamp) -> bool {
        now.minus_ms(elapsed_ms) > self.opened_at
    }

    /// The one call told nothing: the next may have its place.
    fn release(&mut self, elapsed_ms: u64, now: Timestamp) {
        if matches!(self.state, State::HalfOpen { .. }) && self.began_since_open(elapsed_ms, now) {
            self.state = State::HalfOpen { lease_until: now };
        }
    }

    fn count(&mut self, failed: bool, now: Timestamp) {
        self.consecutive = if failed { self.consecutive.saturating_add(1) } else { 0 };
        // A clock that was set back finds the newest half running still.
        let number = (now.as_ms() / HALF_MS).max(self.halves[1].number);
        if number > self.halves[1].number {
            self.halves = [self.halves[1], Half { number, ..Half::default() }];
        }
        let half = &mut self.halves[1];
        half.calls = half.calls.saturating_add(1);
        half.failed = half.failed.saturating_add(u32::from(failed));
    }

    /// Failures and calls of the last minute.
    fn share(&self, now: Timestamp) -> (u32, u32) {
        let number = now.as_ms() / HALF_MS;
        let recent = self.halves.iter().filter(|half| half.number + 1 >= number);
        recent.fold((0, 0), |(failed, calls), half| {
            (failed.saturating_add(half.failed), calls.saturating_add(half.calls))
        })
    }

    fn is_failing(&self, now: Timestamp) -> bool {
        let (failed, calls) = self.share(now);
        let share = u64::from(failed) * 100 >= u64::from(calls) * u64::from(SHARE_MAX_PERCENT);
        self.consecutive >= CONSECUTIVE_MAX || (self.consecutive > 0 && calls >= SHARE_CALLS_MIN && share)
    }

    fn open(&mut self, now: Timestamp) -> Turn {
        if self.is_closed() {
            self.tripped_at = now;
            if now.ms_since(self.closed_at) >= CALM_MS {
                self.openings = 0;
            }
        }
        self.openings = self.openings.saturating_add(1);
        let wait_ms = self.wait_ms();
        self.opened_at = now;
        self.state = State::Open { until: now.plus_ms(wait_ms) };
        let (failed, calls) = self.share(now);
        Turn::Opened(Opening { consecutive: self.consecutive, failed, calls, opening: self.openings, wait_ms })
    }

    fn close(&mut self, now: Timestamp) -> Turn {
        // What it failed before is past: the share begins anew, or one more failure would open it again.
        self.halves = [Half::default(), Half { number: now.as_ms() / HALF_MS, ..Half::default() }];
        self.state = State::Closed;
        self.closed_at = now;
        Turn::Closed { after_ms: now.ms_since(self.tripped_at) }
    }

    fn wait_ms(&self) -> u64 {
        let doublings = self.openings.saturating_sub(1).min(WAIT_MAX_MS.ilog2());
        let full_ms = WAIT_FIRST_MS.saturating_mul(1 << doublings).min(WAIT_MAX_MS);
        let drawn = spread(self.seed.wrapping_add(u64::from(self.openings)));
        full_ms - drawn % (full_ms * JITTER_MAX_PERCENT / 100 + 1)
    }

    pub(super) fn view(&self, now: Timestamp) -> BreakerView {
        let (failed, calls) = self.share(now);
        let (state, until) = match self.state {
            State::Closed => (BreakerState::Closed, None),
            State::Open { until } => (BreakerState::Open, Some(until)),
            State::HalfOpen { .. } => (BreakerState::HalfOpen, None),
        };
        BreakerView { state, consecutive: self.consecutive, failed, calls, until }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_000_000_000);

    /// Fails it open; returns the wait.
    fn fail_open(breaker: &mut Breaker, now: Timestamp) -> u64 {
        for _ in 0..CONSECUTIVE_MAX {
            if let Turn::Opened(opening) = breaker.record(Outcome::Broken, 0, now) {
                return opening.wait_ms;
            }
        }
        panic!("did not open: {breaker:?}");
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_between_does_not_let_them() {
        let mut breaker = Breaker::new(1);
        for round in 0..10 {
            for _ in 1..CONSECUTIVE_MAX {
                let outcome = if round % 2 == 0 { Outcome::Broken } else { Outcome::TimedOut };
                assert_eq!(breaker.record(outcome, 0, START.plus_ms(round * 120_000)), Turn::None);
            }
            assert_eq!(breaker.record(Outcome::Unsaid, 0, START.plus_ms(round * 120_000)), Turn::None);
            let answer = if round % 3 == 0 { Outcome::TurnedAway } else { Outcome::Answered };
            assert_eq!(breaker.record(answer, 0, START.plus_ms(round * 120_000)), Turn::None);
        }
        let now = START.plus_ms(3_600_000);
        (1..CONSECUTIVE_MAX).for_each(|_| assert_eq!(breaker.record(Outcome::Broken, 0, now), Turn::None));
        let Turn::Opened(opening) = breaker.record(Outcome::Broken, 0, now) else { panic!("{breaker:?}") };
        assert_eq!((opening.consecutive, opening.failed, opening.calls, opening.opening), (5, 5, 5, 1));
        assert!((4_000..=5_000).contains(&opening.wait_ms), "{opening:?}");
    }

    #[test]
    fn half_of_a_minutes_calls_open_it() {
        let share = |failing_every: u32, apart_ms: u64| {
            let mut breaker = Breaker::new(1);
            let calls = (1..=200_u32).find(|call| {
                let outcome = if call.is_multiple_of(failing_every) { Outcome::Broken } else { Outcome::Answered };
                breaker.record(outcome, 0, START.plus_ms(u64::from(*call) * apart_ms)) != Turn::None
            });
            calls.unwrap_or_default()
        };
        assert_eq!(share(2, 100), 20, "every other one, as soon as there are twenty");
        assert_eq!(share(3, 100), 0, "a third");
        assert_eq!(share(2, 10_000), 0, "six a minute are too few");
    }

    #[test]
    fn one_call_at_a_time_while_half_open() {
        let mut breaker = Breaker::new(1);
        let wait_ms = fail_open(&mut breaker, START);
        assert_eq!(breaker.admit(START.plus_ms(wait_ms - 1)), Gate::Shut);
        let now = START.plus_ms(wait_ms);
        assert_eq!(breaker.admit(now), Gate::Probe { first: true });
        assert_eq!(breaker.admit(now), Gate::Shut);
        assert_eq!(breaker.admit(now.plus_ms(PROBE_LEASE_MS - 1)), Gate::Shut);
        assert_eq!(
            breaker.admit(now.plus_ms(PROBE_LEASE_MS)),
            Gate::Probe { first: false },
            "the first was never heard of"
        );
        assert_eq!(breaker.record(Outcome::Unsaid, 5, now.plus_ms(PROBE_LEASE_MS + 5)), Turn::None);
        assert_eq!(breaker.admit(now.plus_ms(PROBE_LEASE_MS + 5)), Gate::Probe { first: false }, "asked to slow down");
        let closed = breaker.record(Outcome::Answered, 10, now.plus_ms(PROBE_LEASE_MS + 15));
        assert_eq!(closed, Turn::Closed { after_ms: wait_ms + PROBE_LEASE_MS + 15 });
        assert_eq!(breaker.admit(now.plus_ms(PROBE_LEASE_MS + 16)), Gate::Pass);
    }

    #[test]
    fn calls_from_before_it_opened_say_nothing() {
        let mut breaker = Breaker::new(1);
        let wait_ms = fail_open(&mut breaker, START);
        assert_eq!(breaker.record(Outcome::Answered, 2_000, START.plus_ms(1_000)), Turn::None);
        assert_eq!(breaker.admit(START.plus_ms(1_000)), Gate::Shut);
        let now = START.plus_ms(wait_ms);
        assert_eq!(breaker.admit(now), Gate::Probe { first: true });
        for outcome in [Outcome::Answered, Outcome::TimedOut, Outcome::Unsaid] {
            assert_eq!(breaker.record(outcome, wait_ms + 500, now.plus_ms(100)), Turn::None, "{outcome:?}");
            assert_eq!(breaker.admit(now.plus_ms(100)), Gate::Shut, "{outcome:?}");
        }
        assert!(matches!(breaker.record(Outcome::Broken, 150, now.plus_ms(150)), Turn::Opened(_)));
    }

    #[test]
    fn waits_grow_to_the_cap_and_begin_anew_after_calm() {
        let mut breaker = Breaker::new(7);
        let mut now = START;
        let mut wait_ms = fail_open(&mut breaker, now);
        for full_ms in [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000] {
            assert!((full_ms * 4 / 5..=full_ms).contains(&wait_ms), "{full_ms}: {wait_ms}");
            now = now.plus_ms(wait_ms);
            assert!(matches!(breaker.admit(now), Gate::Probe { .. }));
            now = now.plus_ms(10);
            let Turn::Opened(opening) = breaker.record(Outcome::Broken, 10, now) else { panic!("{breaker:?}") };
            wait_ms = opening.wait_ms;
        }
        let close = |breaker: &mut Breaker, now: Timestamp| {
            assert!(matches!(breaker.admit(now), Gate::Probe { .. }));
            assert!(matches!(breaker.record(Outcome::Answered, 0, now), Turn::Closed { .. }));
        };
        now = now.plus_ms(wait_ms);
        close(&mut breaker, now);
        // Down again at once: the wait is as long as it was.
        let wait_ms = fail_open(&mut breaker, now.plus_ms(1));
        assert!(wait_ms >= WAIT_MAX_MS * 4 / 5, "{wait_ms}");
        now = now.plus_ms(1 + wait_ms);
        close(&mut breaker, now);
        let wait_ms = fail_open(&mut breaker, now.plus_ms(CALM_MS));
        assert!(wait_ms <= WAIT_FIRST_MS, "{wait_ms}");
    }

    #[test]
    fn the_same_seed_waits_the_same_and_others_differ() {
        let wait = |seed| fail_open(&mut Breaker::new(seed), START);
        assert_eq!(wait(3), wait(3));
        let mut waits: Vec<u64> = (0..100).map(wait).collect();
        waits.sort_unstable();
        waits.dedup();
        assert!(waits.len() > 80, "{} different waits of 100", waits.len());
    }

    fn outcome() -> impl Strategy<Value = Outcome> {
        prop_oneof![
            2 => Just(Outcome::Answered),
            1 => Just(Outcome::TurnedAway),
            2 => Just(Outcome::TimedOut),
            3 => Just(Outcome::Broken),
            1 => Just(Outcome::Unsaid),
        ]
    }

    proptest! {
        #[test]
        fn whatever_happens(seed: u64, steps in prop::collection::vec((0_u64..20_000, outcome(), any::<bool>()), 1..300)) {
            let mut breaker = Breaker::new(seed);
            let mut now = START;
            let (mut lease_until, mut shut_until) = (Timestamp::EPOCH, Timestamp::EPOCH);
            for (later_ms, outcome, is_heard) in steps {
                now = now.plus_ms(later_ms);
                match breaker.admit(now) {
                    Gate::Pass => prop_assert!(breaker.is_closed()),
                    Gate::Shut => {
                        prop_assert!(now < lease_until.max(shut_until));
                        continue;
                    }
                    Gate::Probe { .. } => {
                        prop_assert!(now >= lease_until, "two at a time");
                        prop_assert!(now >= shut_until, "before the wait is over");
                        lease_until = now.plus_ms(PROBE_LEASE_MS);
                    }
                }
                if !is_heard {
                    continue;
                }
                let was_closed = breaker.is_closed();
                let turn = breaker.record(outcome, 0, now);
                lease_until = Timestamp::EPOCH;
                match turn {
                    Turn::None => {}
                    Turn::Opened(opening) => {
                        prop_assert!(matches!(outcome, Outcome::Broken | Outcome::TimedOut));
                        prop_assert!((WAIT_FIRST_MS * 4 / 5..=WAIT_MAX_MS).contains(&opening.wait_ms));
                        shut_until = now.plus_ms(opening.wait_ms);
                    }
                    Turn::Closed { .. } => {
                        prop_assert!(!was_closed);
                        prop_assert!(matches!(outcome, Outcome::Answered | Outcome::TurnedAway));
                    }
                }
            }
        }
    }
}
