//! A breaker before a server that goes down and comes back, with calls that overlap: in virtual time, over thousands of courses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use intent_gateway_domain::clock::Timestamp;
use proptest::prelude::*;

use super::breaker::{
    Breaker, CONSECUTIVE_MAX, Gate, JITTER_MAX_PERCENT, PROBE_LEASE_MS, Turn, WAIT_FIRST_MS, WAIT_MAX_MS,
};
use super::observed::Outcome;

const START: Timestamp = Timestamp::from_ms(1_000_000_000);
/// Longest time of a call, milliseconds.
const CALL_MAX_MS: u64 = 20_000;
/// Longest time between two callers, milliseconds.
const GAP_MAX_MS: u64 = 4_000;
/// How long the server is well in the end, milliseconds: long enough for the longest wait and for calls that are never heard of.
const WELL_AT_LAST_MS: u64 = 2 * WAIT_MAX_MS + 6 * PROBE_LEASE_MS;

/// What a server does: up for so long, then down for so long, milliseconds, and so on.
type Course = Vec<(u64, u64)>;

#[derive(Clone, Debug)]
struct Callers {
    /// Times between them, one after the other and from the first again, milliseconds.
    gaps: Vec<u64>,
    /// Times of their calls likewise, milliseconds.
    times: Vec<u64>,
    /// Every so many leaves before the answer, which nobody hears then.
    leaves_every: usize,
}

fn callers() -> impl Strategy<Value = Callers> {
    let gaps = prop::collection::vec(1..GAP_MAX_MS, 1..8);
    let times = prop::collection::vec(prop_oneof![4 => 5_u64..500, 1 => 500..CALL_MAX_MS], 1..8);
    (gaps, times, prop_oneof![Just(usize::MAX), 2_usize..20]).prop_map(|(gaps, times, leaves_every)| Callers {
        gaps,
        times,
        leaves_every,
    })
}

fn course() -> impl Strategy<Value = Course> {
    prop::collection::vec((1_000_u64..200_000, 1_000_u64..900_000), 1..4)
}

/// When the server is down, and when it is up for good, as of the start.
fn downs(course: &Course) -> (Vec<(u64, u64)>, u64) {
    let mut at_ms = 0;
    let downs = course.iter().map(|(up_ms, down_ms)| {
        let from_ms = at_ms + up_ms;
        at_ms = from_ms + down_ms;
        (from_ms, at_ms)
    });
    let downs: Vec<(u64, u64)> = downs.collect();
    (downs, at_ms)
}

/// So many calls at most are let through one after the other in a span, where each fails: the waits between them double.
fn let_through_max(span_ms: u64) -> u64 {
    let (mut waited_ms, mut calls) = (0, 0);
    loop {
        let full_ms = WAIT_FIRST_MS.saturating_mul(1 << calls.min(16)).min(WAIT_MAX_MS);
        waited_ms += full_ms * (100 - JITTER_MAX_PERCENT) / 100;
        if waited_ms > span_ms {
            return calls;
        }
        calls += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_dead_server_costs_a_bounded_number_of_calls_and_one_that_is_back_is_called_again(
        seed: u64,
        course in course(),
        callers in callers(),
    ) {
        let (downs, well_ms) = downs(&course);
        let is_down = |ms: u64| downs.iter().any(|(from_ms, to_ms)| (*from_ms..*to_ms).contains(&ms));
        let mut breaker = Breaker::new(seed);
        // Calls under way, the first to end first: end, begin, whether anybody hears of it.
        let mut under_way: BinaryHeap<Reverse<(u64, u64, bool)>> = BinaryHeap::new();
        let (mut now_ms, mut called, mut failed_in_a_row) = (0, 0_usize, 0);
        // Of the present time down: calls that were let through once the breaker was open, and those nobody heard of.
        let (mut let_through, mut unheard, mut open_since_ms) = (0, 0, None);
        let mut unheard_at_last = 0;
        let mut closed_ms = None;
        for caller in 0_usize.. {
            now_ms += callers.gaps[caller % callers.gaps.len()];
            while under_way.peek().is_some_and(|Reverse((ends_ms, ..))| *ends_ms <= now_ms) {
                let Some(Reverse((ends_ms, began_ms, is_heard))) = under_way.pop() else { break };
                if !is_heard {
                    continue;
                }
                let has_failed = is_down(began_ms) || is_down(ends_ms);
                failed_in_a_row = if has_failed { failed_in_a_row + 1 } else { 0 };
                let outcome = if has_failed { Outcome::Broken } else { Outcome::Answered };
                let turn = breaker.record(outcome, ends_ms - began_ms, START.plus_ms(ends_ms));
                prop_assert!(has_failed || !matches!(turn, Turn::Opened(_)), "an answer opened it");
                prop_assert!(
                    failed_in_a_row < CONSECUTIVE_MAX || !breaker.is_closed(),
                    "{failed_in_a_row} calls in a row have failed, and it is closed"
                );
                match turn {
                    Turn::Opened(_) if is_down(ends_ms) && open_since_ms.is_none() => {
                        (let_through, unheard, open_since_ms) = (0, 0, Some(ends_ms));
                    }
                    Turn::Closed { .. } => open_since_ms = None,
                    _ => {}
                }
            }
            if now_ms >= well_ms && breaker.is_closed() && closed_ms.is_none() {
                closed_ms = Some(now_ms);
            }
            if now_ms > well_ms + WELL_AT_LAST_MS {
                break;
            }
            if !is_down(now_ms) {
                open_since_ms = None;
            }
            let gate = breaker.admit(START.plus_ms(now_ms));
            if gate == Gate::Shut {
                continue;
            }
            called += 1;
            let is_heard = !called.is_multiple_of(callers.leaves_every);
            let ends_ms = now_ms + callers.times[called % callers.times.len()];
            under_way.push(Reverse((ends_ms, now_ms, is_heard)));
            if let (Gate::Probe { .. }, Some(since_ms)) = (gate, open_since_ms) {
                let_through += 1;
                unheard += u64::from(!is_heard);
                let most = let_through_max(now_ms - since_ms) + unheard;
                prop_assert!(let_through <= most, "{let_through} calls in {} ms down, at most {most}", now_ms - since_ms);
            }
            unheard_at_last += u64::from(now_ms >= well_ms && closed_ms.is_none() && !is_heard);
        }
        // The longest wait, the call that is let through then, and a lease for each that nobody heard of.
        let most_ms = WAIT_MAX_MS + CALL_MAX_MS + GAP_MAX_MS + unheard_at_last * (PROBE_LEASE_MS + GAP_MAX_MS) + GAP_MAX_MS;
        // A call that began before the server was back says that it is down still, and the wait begins anew.
        let most_ms = most_ms + CALL_MAX_MS;
        prop_assert!(
            closed_ms.is_some_and(|closed_ms| closed_ms - well_ms <= most_ms),
            "up again at {well_ms}, called freely at {closed_ms:?}, at most {most_ms} later"
        );
    }
}
