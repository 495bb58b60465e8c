//! How long a partner's tool has taken over the last five minutes, and since when that has been too long.
//!
//! Times are kept in slots of ten seconds, each a histogram of fixed buckets, a quarter of an octave wide; slots without
//! a call cost nothing. The percentiles that are shown come out of the histograms. What is *judged* does not: each slot
//! also counts the calls over twice the target, and the 95th percentile is over twice the target exactly when more than
//! one call in twenty is.
//!
//! A tool is *over* by its recent calls: those of the last minute or, where these are fewer than [`SAMPLES_MIN`], of as
//! many slots before it as it takes. So a busy partner's streak ends within a minute of its recovery, and a quiet one's
//! is not forgotten between two calls.
//!
//! Not here: what follows for the pool ([`pool`](super::pool)).

use std::collections::VecDeque;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::health::Percentiles;

/// Length of a slot, milliseconds.
const SLOT_MS: u64 = 10_000;
/// Slots of the window, the running one included: five minutes (spec 1, Latency targets).
const WINDOW_SLOTS: u64 = 30;
/// Slots that are always among the recent ones: a minute.
const RECENT_SLOTS_MIN: u64 = 6;
/// Fewest calls by which a tool is judged: below it, the 95th percentile is the slowest call.
pub(crate) const SAMPLES_MIN: u32 = 20;
/// How many times its p95 target a tool may take (spec 1, Latency targets).
pub(crate) const OVER_TARGET_TIMES: u64 = 2;
/// Longest time told apart from longer ones, milliseconds; above every deadline of a call.
const ELAPSED_MAX_MS: u64 = (1 << 16) - 1;
/// Buckets of a histogram: one each below 4 ms, then four an octave up to [`ELAPSED_MAX_MS`].
const BUCKETS: usize = 60;

/// The bucket of a time in milliseconds.
fn bucket(elapsed_ms: u64) -> usize {
    let ms = elapsed_ms.min(ELAPSED_MAX_MS) as usize;
    if ms < 4 {
        return ms;
    }
    let octave = ms.ilog2() as usize;
    (octave - 1) * 4 + ((ms >> (octave - 2)) & 3)
}

/// The longest time in a bucket, milliseconds: what is told is never faster than what was.
fn longest_in(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    let (octave, quarter) = (bucket / 4 + 1, (bucket % 4) as u64);
    ((5 + quarter) << (octave - 2)) - 1
}

/// One call, held against the tool's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) elapsed_ms: u64,
    /// Over twice the target, or no answer in at least the target.
    pub(super) slow: bool,
    /// Within the target.
    pub(super) good: bool,
}

impl Sample {
    pub(super) fn answered(elapsed_ms: u64, targets: LatencyTargets) -> Self {
        let target_ms = u64::from(targets.p95_ms);
        Self { elapsed_ms, slow: elapsed_ms > target_ms * OVER_TARGET_TIMES, good: elapsed_ms <= target_ms }
    }

    /// A call that ran out of time: how long it would have taken nobody knows, so the worst is supposed.
    pub(super) fn timed_out(elapsed_ms: u64, targets: LatencyTargets) -> Self {
        let supposed = (u64::from(targets.p95_ms) * OVER_TARGET_TIMES).saturating_add(1);
        Self { elapsed_ms: elapsed_ms.max(supposed), slow: true, good: false }
    }
}

#[derive(Clone, Debug)]
struct Slot {
    number: u64,
    calls: u32,
    slow: u32,
    /// Saturating: at 65,535 calls of one bucket in ten seconds the shown percentiles blur, the judgement does not.
    buckets: [u16; BUCKETS],
}

/// What the recent calls of a tool come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    pub(super) calls: u32,
    pub(super) slow: u32,
}

impl Recent {
    /// Whether the 95th percentile, by nearest rank, is over twice the target.
    pub(super) fn is_over(self) -> bool {
        self.calls >= SAMPLES_MIN && self.slow > self.calls / 20
    }
}

/// The calls of one partner, intent and tool over the last five minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// By number, at most [`WINDOW_SLOTS`].
    slots: VecDeque<Slot>,
    /// Since when the recent calls have been over.
    over_since: Option<Timestamp>,
}

impl Window {
    /// Takes a call; returns since when the tool has been over. A clock that was set back finds the newest slot running
    /// still.
    pub(super) fn add(&mut self, sample: Sample, now: Timestamp) -> Option<Timestamp> {
        let number = self.slots.back().map_or(0, |slot| slot.number).max(now.as_ms() / SLOT_MS);
        while self.slots.front().is_some_and(|slot| slot.number + WINDOW_SLOTS <= number) {
            self.slots.pop_front();
        }
        if self.slots.back().is_none_or(|slot| slot.number != number) {
            self.slots.push_back(Slot { number, calls: 0, slow: 0, buckets: [0; BUCKETS] });
        }
        if let Some(slot) = self.slots.back_mut() {
            slot.calls = slot.calls.saturating_add(1);
            slot.slow = slot.slow.saturating_add(u32::from(sample.slow));
            let count = &mut slot.buckets[bucket(sample.elapsed_ms)];
            *count = count.saturating_add(1);
        }
        let over = self.recent(now).is_over();
        self.over_since = if over { self.over_since.or(Some(now)) } else { None };
        self.over_since
    }

    /// The slots of the window, newest first.
    fn live(&self, now: Timestamp) -> impl Iterator<Item = &Slot> {
        let number = now.as_ms() / SLOT_MS;
        self.slots.iter().rev().take_while(move |slot| slot.number + WINDOW_SLOTS > number)
    }

    pub(super) fn recent(&self, now: Timestamp) -> Recent {
        let number = now.as_ms() / SLOT_MS;
        let mut recent = Recent { calls: 0, slow: 0 };
        for slot in self.live(now) {
            if slot.number + RECENT_SLOTS_MIN <= number && recent.calls >= SAMPLES_MIN {
                break;
            }
            recent.calls = recent.calls.saturating_add(slot.calls);
            recent.slow = recent.slow.saturating_add(slot.slow);
        }
        recent
    }

    /// Since when it has been over, milliseconds since the epoch; absent while it is not.
    pub(super) fn over_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.over_since.filter(|_| self.recent(now).is_over())
    }

    pub(super) fn percentiles(&self, now: Timestamp) -> Percentiles {
        let mut sums = [0_u64; BUCKETS];
        let (mut calls, mut slow) = (0_u32, 0_u32);
        for slot in self.live(now) {
            calls = calls.saturating_add(slot.calls);
            slow = slow.saturating_add(slot.slow);
            for (sum, count) in sums.iter_mut().zip(slot.buckets) {
                *sum += u64::from(count);
            }
        }
        let counted: u64 = sums.iter().sum();
        let at = |percent: u64| {
            let rank = (counted * percent).div_ceil(100);
            let mut seen = 0;
            let found = sums.iter().position(|count| {
                seen += count;
                seen >= rank
            });
            found.filter(|_| counted > 0).map_or(0, longest_in)
        };
        Percentiles { calls, slow, p50_ms: at(50), p95_ms: at(95), p99_ms: at(99) }
    }

    /// Forgets every call: what a partner did before it left the pool is not held against it when it is back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TARGETS: LatencyTargets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: Some(3_000) };
    const MINUTE_MS: u64 = 60_000;

    const fn time(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn add(window: &mut Window, elapsed_ms: u64, now_ms: u64) {
        window.add(Sample::answered(elapsed_ms, TARGETS), time(now_ms));
    }

    #[test]
    fn buckets_cover_every_time_without_a_gap() {
        let mut last = 0;
        for ms in 0..=ELAPSED_MAX_MS {
            let found = bucket(ms);
            assert!(found == last || found == last + 1, "{ms}");
            assert!((ms..=ms + ms / 4).contains(&longest_in(found)), "{ms} in {found}: {}", longest_in(found));
            last = found;
        }
        assert_eq!(last, BUCKETS - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(longest_in(BUCKETS - 1), ELAPSED_MAX_MS);
    }

    #[test]
    fn percentiles_of_an_even_spread() {
        let mut window = Window::default();
        for ms in 1..=1_000 {
            add(&mut window, ms, 0);
        }
        let Percentiles { calls, slow, p50_ms, p95_ms, p99_ms } = window.percentiles(time(0));
        assert_eq!((calls, slow), (1_000, 0));
        for (told, true_ms) in [(p50_ms, 500), (p95_ms, 950), (p99_ms, 990)] {
            assert!((true_ms..=true_ms * 5 / 4).contains(&told), "{true_ms}: {told}");
        }
        assert_eq!(Window::default().percentiles(time(0)), Percentiles::default());
    }

    #[test]
    fn the_window_slides() {
        let mut window = Window::default();
        for minute in 0..5 {
            add(&mut window, 100, minute * MINUTE_MS);
        }
        let calls = |now_ms| window.percentiles(time(now_ms)).calls;
        assert_eq!(calls(4 * MINUTE_MS), 5);
        assert_eq!(calls(5 * MINUTE_MS - 1), 5);
        assert_eq!(calls(5 * MINUTE_MS), 4, "the slot of the first is five minutes old");
        assert_eq!(calls(8 * MINUTE_MS), 1);
        assert_eq!(calls(9 * MINUTE_MS), 0);
        assert_eq!(window.percentiles(time(9 * MINUTE_MS)).p95_ms, 0);
    }

    #[test]
    fn few_calls_are_not_judged() {
        let mut window = Window::default();
        for _ in 1..SAMPLES_MIN {
            add(&mut window, 30_000, 0);
        }
        assert_eq!(window.over_since(time(0)), None);
        add(&mut window, 30_000, 7);
        assert_eq!(window.over_since(time(7)), Some(time(7)));
    }

    #[test]
    fn twice_the_target_is_not_over_it() {
        let mut window = Window::default();
        for _ in 0..100 {
            add(&mut window, 3_000, 0);
        }
        assert_eq!(window.over_since(time(0)), None);
        // Of a hundred and six calls, five are not the slowest twentieth and more; six are.
        (0..5).for_each(|_| add(&mut window, 3_001, 0));
        assert_eq!(window.over_since(time(0)), None);
        add(&mut window, 3_001, 0);
        assert_eq!(window.over_since(time(0)), Some(time(0)));
    }

    #[test]
    fn a_busy_partner_recovers_within_a_minute_and_a_quiet_one_by_as_many_calls() {
        for (every_ms, after_ms) in [(1_000, MINUTE_MS), (15_000, 5 * MINUTE_MS)] {
            let mut window = Window::default();
            let slow_until = 4 * MINUTE_MS;
            let calls = (0..).step_by(every_ms as usize).take_while(|at| *at <= slow_until + after_ms);
            for at in calls {
                add(&mut window, if at < slow_until { 9_000 } else { 300 }, at);
                if at < slow_until && at > 5 * MINUTE_MS {
                    assert!(window.over_since(time(at)).is_some(), "{at}");
                }
            }
            assert_eq!(window.over_since(time(slow_until + after_ms)), None, "a call every {every_ms} ms");
        }
    }

    #[test]
    fn silence_ends_a_streak() {
        let mut window = Window::default();
        (0..40).for_each(|_| add(&mut window, 9_000, 0));
        assert_eq!(window.over_since(time(4 * MINUTE_MS)), Some(time(0)));
        assert_eq!(window.over_since(time(5 * MINUTE_MS)), None);
        add(&mut window, 9_000, 6 * MINUTE_MS);
        assert_eq!(window.over_since(time(6 * MINUTE_MS)), None);
    }

    #[test]
    fn a_call_without_an_answer_is_slow_whatever_its_deadline() {
        let sample = Sample::timed_out(1_500, TARGETS);
        assert!(sample.slow && !sample.good && sample.elapsed_ms == 3_001);
        assert_eq!(Sample::timed_out(30_000, TARGETS).elapsed_ms, 30_000);
    }

    proptest! {
        #[test]
        fn it_is_over_exactly_when_the_true_percentile_is(
            times in prop::collection::vec(prop_oneof![20 => 0_u64..3_000, 1 => 2_990_u64..3_010, 1 => 3_001_u64..40_000], 1..400),
        ) {
            let mut window = Window::default();
            for ms in &times {
                add(&mut window, *ms, 5);
            }
            let mut sorted = times.clone();
            sorted.sort_unstable();
            let at = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100) - 1];
            let over = times.len() >= SAMPLES_MIN as usize && at(95) > 3_000;
            prop_assert_eq!(window.over_since(time(5)).is_some(), over);
            let told = window.percentiles(time(5));
            for (told, exact) in [(told.p50_ms, at(50)), (told.p95_ms, at(95)), (told.p99_ms, at(99))] {
                prop_assert!((exact..=exact + exact / 4).contains(&told), "{told} for {exact}");
            }
        }

        #[test]
        fn memory_is_bounded_and_no_clock_upsets_it(
            calls in prop::collection::vec((0_u64..2_000_000, 0_u64..100_000), 1..300),
        ) {
            let mut window = Window::default();
            for (at, ms) in calls {
                add(&mut window, ms, at);
                prop_assert!(window.slots.len() as u64 <= WINDOW_SLOTS);
                prop_assert!(window.slots.iter().zip(window.slots.iter().skip(1)).all(|(a, b)| a.number < b.number));
            }
        }
    }
}
