//! How soon after a fault everything is as it was: the first second in which as much succeeds as before.

use crate::plan::Place;
use crate::record::{Attempt, Injected, Outcome};

/// The span in which it is seen how much succeeds: before a fault, and in windows after it, milliseconds.
const BEFORE_MS: u64 = 5_000;
const WINDOW_MS: u64 = 1_000;
/// By how much a window begins after the one before, milliseconds.
const STEP_MS: u64 = 100;
/// How long is looked for it, milliseconds.
const LOOK_MS: u64 = 30_000;
/// A window with fewer requests tells nothing.
const REQUESTS_MIN: usize = 2;
/// By how much a window's share may be lower, for there are few requests in it.
const TOLERANCE: f64 = 0.02;

/// What is known of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// After so many milliseconds.
    After(u64),
    /// Not as long as it was looked for.
    Never,
    /// There were too few requests to tell.
    Unknown,
}

/// How soon what a fault concerns was as before. `attempts` are in the order in which they began; of those under one key the
/// first counts, and bookings at partners that have faults do not: how long these are left out is a rule of its own.
#[must_use]
pub fn recovery(of: &Injected, injected: &[Injected], attempts: &[Attempt]) -> Recovery {
    let counts = |attempt: &&Attempt| {
        let concerns = of.concerns(attempt.gateway) || matches!(of.place, Place::Partner(_));
        attempt.is_first && attempt.faulty_partner.is_none() && concerns
    };
    let window = |from_ms: u64, to_ms: u64| {
        let first = attempts.partition_point(|attempt| attempt.began_ms < from_ms);
        let end = attempts.partition_point(|attempt| attempt.began_ms < to_ms);
        let counted: Vec<&Attempt> = attempts[first..end].iter().filter(counts).collect();
        let full = counted.iter().filter(|attempt| attempt.outcome == Outcome::Full).count();
        (counted.len(), full as f64 / counted.len().max(1) as f64)
    };
    let (from_ms, ends_ms) = together(of, injected);
    let (before, share_before) = window(from_ms.saturating_sub(BEFORE_MS), from_ms);
    if before < REQUESTS_MIN {
        return Recovery::Unknown;
    }
    let next_ms = injected.iter().map(|one| one.began_ms).filter(|began_ms| *began_ms >= ends_ms).min();
    let last_ms = next_ms.unwrap_or(u64::MAX).min(ends_ms + LOOK_MS);
    let mut has_told = false;
    let mut from_ms = ends_ms;
    while from_ms + WINDOW_MS <= last_ms {
        let (requests, share) = window(from_ms, from_ms + WINDOW_MS);
        if requests >= REQUESTS_MIN {
            has_told = true;
            if share + TOLERANCE >= share_before {
                return Recovery::After(from_ms - ends_ms);
            }
        }
        from_ms += STEP_MS;
    }
    if has_told { Recovery::Never } else { Recovery::Unknown }
}

/// When a fault and those beside it began, and when all of them were over.
fn together(of: &Injected, injected: &[Injected]) -> (u64, u64) {
    let (mut from_ms, mut ends_ms) = (of.began_ms, of.ended_ms);
    for one in injected.iter().filter(|one| one.began_ms <= of.ended_ms && of.began_ms <= one.ended_ms) {
        from_ms = from_ms.min(one.began_ms);
        ends_ms = ends_ms.max(one.ended_ms);
    }
    (from_ms, ends_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Kind;
    use crate::record::Call;

    fn at(began_ms: u64, gateway: usize, outcome: Outcome) -> Attempt {
        let (faulty_partner, says_when, is_first, is_in_doubt) = (None, false, true, false);
        let ended_ms = began_ms + 5;
        let call = Call::Report;
        Attempt { call, gateway, faulty_partner, began_ms, ended_ms, outcome, says_when, is_first, is_in_doubt }
    }

    /// Ten requests a second at each of two gateways; those of the first fail from 10 s to `until_ms`.
    fn run(until_ms: u64) -> Vec<Attempt> {
        let fails = |ms| (10_000..until_ms).contains(&ms);
        let outcome = |ms| if fails(ms) { Outcome::Broken } else { Outcome::Full };
        (0..400).map(|step| step * 100).flat_map(|ms| [at(ms, 0, outcome(ms)), at(ms, 1, Outcome::Full)]).collect()
    }

    const KILL: Injected = Injected { kind: Kind::Kill, place: Place::Gateway(0), began_ms: 10_000, ended_ms: 12_000 };

    #[test]
    fn the_first_second_as_before_counts() {
        assert_eq!(recovery(&KILL, &[KILL], &run(12_000)), Recovery::After(0));
        assert_eq!(recovery(&KILL, &[KILL], &run(15_500)), Recovery::After(3_500));
        assert_eq!(recovery(&KILL, &[KILL], &run(60_000)), Recovery::Never);
        let other = Injected { place: Place::Gateway(1), ..KILL };
        assert_eq!(recovery(&other, &[other], &run(60_000)), Recovery::After(0), "the other one never failed");
        assert_eq!(recovery(&KILL, &[KILL], &[]), Recovery::Unknown);
    }

    #[test]
    fn of_two_together_the_later_end_counts_and_the_next_fault_ends_the_look() {
        let beside = Injected { kind: Kind::Freeze, place: Place::Gateway(1), began_ms: 11_000, ended_ms: 14_000 };
        assert_eq!(recovery(&KILL, &[KILL, beside], &run(15_500)), Recovery::After(1_500));
        let next = Injected { began_ms: 15_000, ended_ms: 16_000, ..KILL };
        assert_eq!(recovery(&KILL, &[KILL, next], &run(15_500)), Recovery::Never);
    }
}
