//! A limit of so many calls in any span of so long.
//!
//! Calls are remembered, not refilled: a bucket that refills lets nearly twice its limit through within one span, and a
//! partner that counts by the minute would answer the excess with a 429.

use std::collections::VecDeque;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::expiring_map::Expires;

/// At most so many calls within any span of so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) calls: u32,
    pub(super) per_ms: u64,
}

/// Entries that one window remembers. Up to so many calls each has its own; of a greater limit, calls that are close to each
/// other share one, which counts until the last of them has left the span. So the limit holds, and a window stays
/// small; it may bite late by this share of the span.
const ENTRIES: u32 = 64;

/// The calls of the last span.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Oldest first.
    recent: VecDeque<Entry>,
    calls: u32,
    ends_at: Timestamp,
}

/// Where a call was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(u64);

#[derive(Debug)]
struct Entry {
    number: u64,
    first: Timestamp,
    last: Timestamp,
    calls: u32,
}

impl Window {
    /// How long until another call fits, milliseconds; zero is now.
    pub(super) fn wait_ms(&mut self, limit: Limit, now: Timestamp) -> u64 {
        self.forget(limit, now);
        match self.recent.front() {
            Some(oldest) if self.calls >= limit.calls.max(1) => oldest.last.plus_ms(limit.per_ms).ms_since(now),
            _ => 0,
        }
    }

    /// Counts a call that fits. No two calls of a process have one number.
    pub(super) fn take(&mut self, limit: Limit, now: Timestamp, number: u64) -> Slot {
        self.calls += 1;
        self.ends_at = now.plus_ms(limit.per_ms);
        let grain_ms = if limit.calls <= ENTRIES { 0 } else { limit.per_ms / u64::from(ENTRIES) };
        match self.recent.back_mut() {
            Some(entry) if now < entry.first.plus_ms(grain_ms) => {
                entry.last = now;
                entry.calls += 1;
                Slot(entry.number)
            }
            _ => {
                self.recent.push_back(Entry { number, first: now, last: now, calls: 1 });
                Slot(number)
            }
        }
    }

    /// Counts a call no longer. One that has left the span is not counted anyway.
    pub(super) fn give_back(&mut self, slot: Slot) {
        let Some(place) = self.recent.iter().rposition(|entry| entry.number == slot.0) else { return };
        self.calls -= 1;
        self.recent[place].calls -= 1;
        if self.recent[place].calls == 0 {
            self.recent.remove(place);
        }
    }

    fn forget(&mut self, limit: Limit, now: Timestamp) {
        // A clock that was set back makes calls lie ahead. They count as made now: no wait is longer than a span.
        for entry in self.recent.iter_mut().rev().take_while(|entry| entry.last > now) {
            entry.first = entry.first.min(now);
            entry.last = now;
        }
        while let Some(oldest) = self.recent.front()
            && oldest.last.plus_ms(limit.per_ms) <= now
        {
            self.calls -= oldest.calls;
            self.recent.pop_front();
        }
    }
}

impl Expires for Window {
    fn ends_at(&self) -> Timestamp {
        self.ends_at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE_MS: u64 = 60_000;

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn admit(window: &mut Window, limit: Limit, now_ms: u64) -> u64 {
        let wait_ms = window.wait_ms(limit, at(now_ms));
        if wait_ms == 0 {
            window.take(limit, at(now_ms), now_ms);
        }
        wait_ms
    }

    #[test]
    fn a_span_holds_its_calls_and_no_more() {
        let limit = Limit { calls: 3, per_ms: 1_000 };
        let mut window = Window::default();
        let waits = [5_000, 5_100, 5_900, 5_950, 6_000, 6_050, 6_100].map(|at_ms| admit(&mut window, limit, at_ms));
        assert_eq!(waits, [0, 0, 0, 50, 0, 50, 0]);
    }

    #[test]
    fn a_clock_that_is_set_back_costs_one_span_at_most() {
        let limit = Limit { calls: 1, per_ms: 1_000 };
        let mut window = Window::default();
        assert_eq!(admit(&mut window, limit, 1_000_000), 0);
        assert_eq!(admit(&mut window, limit, 5_000), 1_000);
        assert_eq!(admit(&mut window, limit, 6_000), 0);
    }

    #[test]
    fn a_limit_of_nothing_lets_one_through() {
        let limit = Limit { calls: 0, per_ms: MINUTE_MS };
        let mut window = Window::default();
        assert_eq!(admit(&mut window, limit, 0), 0);
        assert_eq!(admit(&mut window, limit, 0), MINUTE_MS);
    }

    #[test]
    fn the_slot_that_was_taken_is_given_back() {
        let limit = Limit { calls: 2, per_ms: 1_000 };
        let mut window = Window::default();
        let first = window.take(limit, at(0), 1);
        let _second = window.take(limit, at(900), 2);
        window.give_back(first);
        assert_eq!(admit(&mut window, limit, 950), 0);
        assert_eq!(admit(&mut window, limit, 1_000), 900, "the call of 900 still counts");
        // What has left the span took nothing along that could be given back.
        assert_eq!(admit(&mut window, limit, 1_900), 0);
        window.give_back(first);
        assert_eq!(admit(&mut window, limit, 1_900), 50);
    }

    proptest! {
        #[test]
        fn no_span_holds_more_than_its_limit(
            calls in prop_oneof![1_u32..10, 60_u32..400],
            steps in prop::collection::vec(prop_oneof![4 => 0_u64..60, 1 => 0_u64..20_000], 1..1_500),
        ) {
            let limit = Limit { calls, per_ms: MINUTE_MS };
            let mut window = Window::default();
            let (mut now_ms, mut made) = (MINUTE_MS, Vec::new());
            for step in steps {
                now_ms += step;
                let wait_ms = admit(&mut window, limit, now_ms);
                prop_assert!(wait_ms <= MINUTE_MS);
                let within = made.iter().filter(|at_ms| **at_ms + MINUTE_MS > now_ms).count();
                if wait_ms == 0 {
                    made.push(now_ms);
                    prop_assert!(within < calls as usize);
                } else if calls <= ENTRIES {
                    // Nobody waits in vain, and after the wait there is room.
                    prop_assert_eq!(within, calls as usize);
                    let after = made.iter().filter(|at_ms| **at_ms + MINUTE_MS > now_ms + wait_ms).count();
                    prop_assert!(after < calls as usize);
                } else {
                    let grain_ms = MINUTE_MS / u64::from(ENTRIES);
                    let within = made.iter().filter(|at_ms| **at_ms + MINUTE_MS + grain_ms > now_ms).count();
                    prop_assert!(within >= calls as usize);
                }
                prop_assert!(window.recent.len() <= ENTRIES as usize + 1, "{}", window.recent.len());
            }
        }
    }
}
