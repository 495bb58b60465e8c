//! Watches the wall clock: against time that only runs forward, and against other clocks. A wall clock may be set, and what goes by
//! it then does harm: an hour forward forgets what is kept for a day, an hour back refuses tokens of a moment ago.
//!
//! | question | after a jump |
//! |---|---|
//! | what time is it ([`Clock::now`]) | what the wall clock shows |
//! | by which time may things be forgotten ([`Clock::settled`]) | the time without a jump forward, until another clock confirms the new one, or it has run steadily for an hour |
//! | which is the latest time that was shown ([`Clock::latest`]) | the time before a jump back, up to a day |
//!
//! The rule is pure: readings come in as arguments.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Clock, Timestamp};

/// A step of the wall clock that is a jump, milliseconds. What a time server corrects little by little is far less in a second.
pub const JUMP_MIN_MS: u64 = 5_000;
/// How far another clock may be off and still confirm the wall clock, milliseconds.
pub const AGREE_MS: u64 = 30_000;
/// For how long the wall clock must have run steadily to be relied on again, milliseconds: an hour.
pub const STEADY_MS: u64 = 60 * 60 * 1_000;
/// How far back a jump explains times that lie ahead, milliseconds: a day.
pub const BACK_MAX_MS: u64 = 24 * 60 * 60 * 1_000;

/// Both clocks of the machine at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What the wall clock shows.
    pub wall: Timestamp,
    /// Milliseconds since the process started, by a clock that nobody sets.
    pub steady_ms: u64,
}

/// The wall clock was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// By how many milliseconds; below zero for a jump back.
    pub by_ms: i64,
}

/// What is known of the wall clock.
#[derive(Clone, Debug)]
pub struct ClockRule {
    last: Reading,
    /// The last reading that is relied on.
    settled: Reading,
    /// When the wall clock was last set; none where it is relied on.
    jumped_at_ms: Option<u64>,
    /// The latest that it has shown.
    latest: Timestamp,
}

impl ClockRule {
    /// At the start the wall clock is relied on: there is nothing else.
    #[must_use]
    pub fn new(first: Reading) -> Self {
        Self { last: first, settled: first, jumped_at_ms: None, latest: first.wall }
    }

    /// Takes a reading; the jump since the one before, if there was one.
    pub fn read(&mut self, reading: Reading) -> Option<Jump> {
        let passed_ms = reading.steady_ms.saturating_sub(self.last.steady_ms);
        let by_ms = signed_difference(reading.wall, self.last.wall.plus_ms(passed_ms));
        self.last = reading;
        self.latest = self.latest.max(reading.wall);
        let jump = (by_ms.unsigned_abs() >= JUMP_MIN_MS).then_some(Jump { by_ms });
        if jump.is_some() {
            self.jumped_at_ms = Some(reading.steady_ms);
        }
        let has_run_steadily =
            self.jumped_at_ms.is_none_or(|jumped_at_ms| reading.steady_ms.saturating_sub(jumped_at_ms) >= STEADY_MS);
        // Set forward and back again: it shows what it would have shown.
        let is_back = reading.wall.ms_apart(self.carry_on(reading)) < JUMP_MIN_MS;
        if has_run_steadily || is_back {
            self.settle();
        }
        jump
    }

    /// Another clock shows this time now, at the last reading. One that agrees with the wall clock confirms it; by how much it
    /// is ahead of it, milliseconds.
    pub fn compare(&mut self, other: Timestamp) -> i64 {
        let ahead_ms = signed_difference(other, self.last.wall);
        if ahead_ms.unsigned_abs() <= AGREE_MS {
            self.settle();
        }
        ahead_ms
    }

    fn settle(&mut self) {
        (self.settled, self.jumped_at_ms) = (self.last, None);
    }

    /// The time that would be without a jump.
    fn carry_on(&self, reading: Reading) -> Timestamp {
        self.settled.wall.plus_ms(reading.steady_ms.saturating_sub(self.settled.steady_ms))
    }

    /// Whether the wall clock was set, and nothing has confirmed it since.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.jumped_at_ms.is_some()
    }

    /// The time by which things may be forgotten, at the last reading. It is never later than the wall clock.
    #[must_use]
    pub fn settled(&self) -> Timestamp {
        if self.is_in_doubt() { self.last.wall.min(self.carry_on(self.last)) } else { self.last.wall }
    }

    /// The latest time that the wall clock has shown, where a jump back of at most [`BACK_MAX_MS`] explains it; else what it shows.
    #[must_use]
    pub fn latest(&self) -> Timestamp {
        if self.latest.ms_since(self.last.wall) <= BACK_MAX_MS { self.latest } else { self.last.wall }
    }
}

/// Milliseconds from one time to another, below zero where the first is the earlier.
fn signed_difference(one: Timestamp, other: Timestamp) -> i64 {
    let apart = i64::try_from(one.ms_apart(other)).unwrap_or(i64::MAX);
    if one < other { -apart } else { apart }
}

/// The clock of a gateway: a wall clock that is watched.
pub struct WatchedClock {
    wall: Arc<dyn Clock>,
    started: Instant,
    state: Mutex<WatchState>,
}

struct WatchState {
    rule: ClockRule,
    /// Since the last look; whoever else asks for the time must not hide one.
    jump: Option<Jump>,
}

impl WatchedClock {
    /// Watches a wall clock from now on.
    #[must_use]
    pub fn new(wall: Arc<dyn Clock>) -> Self {
        let first = Reading { wall: wall.now(), steady_ms: 0 };
        let state = WatchState { rule: ClockRule::new(first), jump: None };
        Self { wall, started: Instant::now(), state: Mutex::new(state) }
    }

    /// Looks at the clocks; the jump since the last look. Looked at every second or so, it misses none.
    pub fn look(&self) -> Option<Jump> {
        self.read().jump.take()
    }

    /// Another clock shows this time now: by how much it is ahead of the wall clock, milliseconds.
    pub fn compare(&self, other: Timestamp) -> i64 {
        self.read().rule.compare(other)
    }

    fn read(&self) -> MutexGuard<'_, WatchState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let steady_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let jump = state.rule.read(Reading { wall: self.wall.now(), steady_ms });
        state.jump = jump.or(state.jump);
        state
    }
}

impl Clock for WatchedClock {
    fn now(&self) -> Timestamp {
        self.wall.now()
    }

    fn settled(&self) -> Timestamp {
        self.read().rule.settled()
    }

    fn latest(&self) -> Timestamp {
        self.read().rule.latest()
    }

    fn is_in_doubt(&self) -> bool {
        self.read().rule.is_in_doubt()
    }
}

/// Time between two looks at the clocks.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: u64 = 60 * 60 * 1_000;
    const START_MS: u64 = 1_700_000_000_000;

    /// A wall clock and its rule in virtual time.
    struct World {
        wall_ms: u64,
        steady_ms: u64,
        rule: ClockRule,
    }

    impl World {
        fn start() -> Self {
            let rule = ClockRule::new(Reading { wall: Timestamp::from_ms(START_MS), steady_ms: 0 });
            Self { wall_ms: START_MS, steady_ms: 0, rule }
        }

        fn read(&mut self) -> Option<Jump> {
            self.rule.read(Reading { wall: Timestamp::from_ms(self.wall_ms), steady_ms: self.steady_ms })
        }

        /// Lets time pass, looked at every second; the jumps.
        fn pass(&mut self, ms: u64) -> Vec<Jump> {
            let look = |world: &mut Self| {
                world.wall_ms += 1_000;
                world.steady_ms += 1_000;
                world.read()
            };
            (0..ms / 1_000).filter_map(|_| look(self)).collect()
        }

        fn set(&mut self, by_ms: i64) -> Option<Jump> {
            self.wall_ms = self.wall_ms.saturating_add_signed(by_ms);
            self.read()
        }

        /// How far the settled time lags behind the wall clock.
        fn lag_ms(&self) -> u64 {
            self.wall_ms - self.rule.settled().as_ms()
        }
    }

    #[test]
    fn time_that_passes_is_no_jump_nor_is_what_a_time_server_corrects() {
        let mut world = World::start();
        assert_eq!(world.pass(2 * HOUR_MS), []);
        for by_ms in [400, -400, 4_000, -4_000] {
            assert_eq!(world.set(by_ms), None, "{by_ms}");
        }
        assert_eq!((world.lag_ms(), world.rule.is_in_doubt()), (0, false));
    }

    #[test]
    fn an_hour_forward_is_not_acted_on_until_it_has_run_for_an_hour() {
        let mut world = World::start();
        world.pass(10_000);
        assert_eq!(world.set(HOUR_MS as i64), Some(Jump { by_ms: HOUR_MS as i64 }));
        assert_eq!(world.lag_ms(), HOUR_MS);
        assert_eq!(world.pass(HOUR_MS - 1_000), [], "it is told once");
        assert_eq!(world.lag_ms(), HOUR_MS);
        world.pass(1_000);
        assert_eq!((world.lag_ms(), world.rule.is_in_doubt()), (0, false));
    }

    #[test]
    fn another_clock_confirms_a_jump_or_does_not() {
        let mut world = World::start();
        world.set(HOUR_MS as i64);
        let ahead = world.rule.compare(Timestamp::from_ms(world.wall_ms - HOUR_MS));
        assert_eq!((ahead, world.lag_ms()), (-(HOUR_MS as i64), HOUR_MS), "it shows the time of before");
        assert_eq!(world.rule.compare(Timestamp::from_ms(world.wall_ms + AGREE_MS)), AGREE_MS as i64);
        assert_eq!(world.lag_ms(), 0);
    }

    #[test]
    fn a_second_jump_begins_the_hour_anew_and_one_that_is_taken_back_ends_it() {
        let mut world = World::start();
        world.set(HOUR_MS as i64);
        world.pass(HOUR_MS / 2);
        world.set(HOUR_MS as i64);
        world.pass(HOUR_MS - 1_000);
        assert_eq!(world.lag_ms(), 2 * HOUR_MS);
        world.set(-2 * HOUR_MS as i64);
        assert_eq!((world.lag_ms(), world.rule.is_in_doubt()), (0, false));
    }

    #[test]
    fn a_jump_back_explains_what_lies_ahead_up_to_a_day_and_until_it_is_reached() {
        let mut world = World::start();
        let before = world.wall_ms;
        world.set(-(HOUR_MS as i64));
        assert_eq!(world.rule.latest().as_ms(), before);
        assert_eq!(world.rule.settled().as_ms(), world.wall_ms, "nothing is forgotten early by an earlier time");
        world.pass(HOUR_MS / 2);
        assert_eq!(world.rule.latest().as_ms(), before);
        world.pass(HOUR_MS);
        assert_eq!(world.rule.latest().as_ms(), world.wall_ms);
        world.set(-(BACK_MAX_MS as i64) - 1);
        assert_eq!(world.rule.latest().as_ms(), world.wall_ms, "more than a day explains nothing");
    }

    /// Whatever is done to the clock: what is settled never runs ahead of the wall clock, nor of real time by more than what is
    /// below a jump, unless it was confirmed or ran for an hour.
    #[test]
    fn what_is_settled_never_runs_ahead() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for _ in 0..2_000 {
            let mut world = World::start();
            for _ in 0..20 {
                world.pass(random(60) * 1_000);
                let by = i64::try_from(random(3 * HOUR_MS)).expect("small") - (HOUR_MS as i64);
                world.set(by);
                let (settled, real) = (world.rule.settled().as_ms(), START_MS + world.steady_ms);
                assert!(settled <= world.wall_ms, "{settled} {}", world.wall_ms);
                assert!(settled < real + 20 * JUMP_MIN_MS, "{settled} {real}");
                assert!(world.rule.latest().as_ms() <= world.wall_ms + BACK_MAX_MS);
            }
        }
    }
}
