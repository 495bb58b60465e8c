//! Leaving a partner alone that asked to slow down (spec 1, "Planned outbound rate targets").
//!
//! After a RATE_LIMITED nobody calls the partner for 1 s; if the next call meets with it again, for 4 s, then for 16 s each
//! time. When the fifth try has met with it too, the partner is left alone for a minute, the span in which rates are stated,
//! and the next round begins. Only a call that began after the last wait tells anything about it: what was under way
//! when the wait began neither lengthens the next one nor ends the round.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::expiring_map::Expires;

/// Waits after the first, second and every later RATE_LIMITED, milliseconds.
pub(crate) const BACK_OFF_MS: [u64; 3] = [1_000, 4_000, 16_000];
/// Tries after the first RATE_LIMITED before the partner is left alone for longer.
pub(crate) const BACK_OFF_TRIES: u32 = 5;
/// How long it is left alone then, milliseconds.
pub(crate) const LEFT_ALONE_MS: u64 = 60_000;
/// The longest `Retry-After` that is believed, milliseconds.
pub(crate) const RETRY_AFTER_MAX_MS: u64 = 600_000;
/// A partner that has not asked again this long after a wait starts from the first one, milliseconds.
const FORGOTTEN_MS: u64 = 60_000;

/// What is known of a partner that asked to slow down.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    /// RATE_LIMITED answers of this round.
    times: u32,
    since: Timestamp,
    /// Calls that began before this time tell nothing about the wait that ended then.
    waited_until: Timestamp,
    /// Until when it is left alone: longer than that wait, where one of those calls was asked for more time.
    until: Timestamp,
}

impl BackOff {
    /// How long the partner is still left alone, milliseconds; zero is not at all.
    pub(super) fn wait_ms(&self, now: Timestamp) -> u64 {
        // A clock that was set back does not prolong what was told.
        if now < self.since { 0 } else { self.until.ms_since(now) }
    }

    /// A call that began at `started` met with RATE_LIMITED.
    pub(super) fn note_rate_limit(&mut self, started: Timestamp, retry_after_ms: Option<u64>, now: Timestamp) {
        let asked = now.plus_ms(retry_after_ms.unwrap_or(0).min(RETRY_AFTER_MAX_MS));
        if now < self.since || now >= self.ends_at() {
            *self = Self::default();
        }
        if started < self.waited_until {
            self.until = self.until.max(asked);
            return;
        }
        let step = usize::try_from(self.times).unwrap_or(usize::MAX).min(BACK_OFF_MS.len() - 1);
        let left_alone = self.times >= BACK_OFF_TRIES;
        let wait_ms = if left_alone { LEFT_ALONE_MS } else { BACK_OFF_MS[step] };
        self.times = if left_alone { 0 } else { self.times + 1 };
        self.since = now;
        self.until = now.plus_ms(wait_ms).max(asked);
        self.waited_until = self.until;
    }

    /// Another gateway was asked to leave the partner alone for so long from now on, for so many times in its round.
    pub(super) fn hear(&mut self, times: u32, wait_ms: u64, now: Timestamp) {
        let until = now.plus_ms(wait_ms.min(RETRY_AFTER_MAX_MS));
        if now < self.since || until > self.until {
            (self.since, self.until) = (now, until);
            self.times = times.min(BACK_OFF_TRIES);
        }
    }

    /// How often the partner has asked in this round.
    pub(super) fn times(&self) -> u32 {
        self.times
    }

    /// A call that began at `started` was answered with something else than RATE_LIMITED.
    pub(super) fn note_answer(&mut self, started: Timestamp) {
        if started >= self.until {
            *self = Self::default();
        }
    }
}

impl Expires for BackOff {
    fn ends_at(&self) -> Timestamp {
        self.until.plus_ms(FORGOTTEN_MS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_000_000);

    /// The waits that a partner causes that is tried again as soon as each is over, and always asks to slow down.
    fn waits(number: usize, asked_ms: Option<u64>) -> Vec<u64> {
        let (mut back_off, mut now) = (BackOff::default(), START);
        let step = |_| {
            back_off.note_rate_limit(now, asked_ms, now);
            let wait_ms = back_off.wait_ms(now);
            now = now.plus_ms(wait_ms);
            wait_ms
        };
        (0..number).map(step).collect()
    }

    #[test]
    fn one_four_sixteen_then_a_minute_alone_and_anew() {
        let round = [1_000, 4_000, 16_000, 16_000, 16_000, 60_000];
        assert_eq!(waits(8, None), [&round[..], &round[..2]].concat());
        assert_eq!(waits(3, Some(5_000)), [5_000, 5_000, 16_000]);
        assert_eq!(waits(1, Some(u64::MAX)), [RETRY_AFTER_MAX_MS]);
    }

    #[test]
    fn calls_of_before_the_wait_tell_nothing_about_it() {
        let mut back_off = BackOff::default();
        for _ in 0..10 {
            back_off.note_rate_limit(START, None, START.plus_ms(100));
        }
        assert_eq!(back_off.wait_ms(START.plus_ms(100)), 1_000);
        back_off.note_answer(START);
        assert_eq!(back_off.wait_ms(START.plus_ms(100)), 1_000);
        // They may still ask for more time.
        back_off.note_rate_limit(START, Some(3_000), START.plus_ms(200));
        assert_eq!(back_off.wait_ms(START.plus_ms(200)), 3_000);
    }

    #[test]
    fn calls_that_take_longer_than_the_wait_do_not_hide_those_after_it() {
        let mut back_off = BackOff::default();
        back_off.note_rate_limit(START, None, START.plus_ms(1_500));
        assert_eq!(back_off.wait_ms(START.plus_ms(1_500)), 1_000);
        // One of before the wait ends after it, and another one began meanwhile.
        back_off.note_rate_limit(START.plus_ms(1_400), None, START.plus_ms(2_900));
        back_off.note_rate_limit(START.plus_ms(2_600), None, START.plus_ms(4_100));
        assert_eq!(back_off.wait_ms(START.plus_ms(4_100)), 4_000);
    }

    #[test]
    fn an_answer_or_a_quiet_minute_ends_the_round() {
        let mut back_off = BackOff::default();
        back_off.note_rate_limit(START, None, START);
        back_off.note_answer(START.plus_ms(1_000));
        back_off.note_rate_limit(START.plus_ms(2_000), None, START.plus_ms(2_000));
        assert_eq!(back_off.wait_ms(START.plus_ms(2_000)), 1_000);
        let later = START.plus_ms(3_000 + FORGOTTEN_MS);
        back_off.note_rate_limit(later, None, later);
        assert_eq!(back_off.wait_ms(later), 1_000);
        back_off.note_rate_limit(later.plus_ms(1_000), None, later.plus_ms(1_000));
        assert_eq!(back_off.wait_ms(later.plus_ms(1_000)), 4_000);
    }

    #[test]
    fn a_clock_that_is_set_back_ends_the_wait() {
        let mut back_off = BackOff::default();
        back_off.note_rate_limit(START, None, START);
        assert_eq!(back_off.wait_ms(START.minus_ms(500_000)), 0);
        back_off.note_rate_limit(Timestamp::from_ms(1_000), None, Timestamp::from_ms(1_000));
        assert_eq!(back_off.wait_ms(Timestamp::from_ms(1_000)), 1_000);
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_believed_or_shorter_than_asked(
            steps in prop::collection::vec(
                (0_u64..100_000, prop::option::of(prop_oneof![0_u64..700_000, Just(u64::MAX)]), any::<bool>()), 1..50),
        ) {
            let (mut back_off, mut now) = (BackOff::default(), START);
            for (step_ms, asked_ms, limited) in steps {
                let started = now;
                now = now.plus_ms(step_ms);
                if limited {
                    back_off.note_rate_limit(started, asked_ms, now);
                    let wait_ms = back_off.wait_ms(now);
                    prop_assert!(wait_ms >= asked_ms.unwrap_or(0).min(RETRY_AFTER_MAX_MS));
                    prop_assert!(wait_ms <= RETRY_AFTER_MAX_MS);
                } else {
                    back_off.note_answer(started);
                }
            }
        }
    }
}
