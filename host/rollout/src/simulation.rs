//! Whole rollouts, many thousands of them, looked at after every decision.

use intent_gateway_domain::rates::Counted;
use intent_gateway_testing::draws::Draws;

use crate::evidence::Measure;
use crate::judge::error_of_each;
use crate::policy::RolloutPolicy;

/// After how many decisions a candidate is taken back that hits a measure at a rate; none within `decisions`. Between two hits the
/// evidence for too high a rate only falls, so that looking at each hit is looking all the time.
fn taken_back_after(
    policy: &RolloutPolicy,
    measure: Measure,
    rate: f64,
    decisions: u64,
    draws: &mut Draws,
) -> Option<u64> {
    let (bound, error) = (policy.bounds.of(measure)?, error_of_each(policy));
    let mut counted = Counted::default();
    loop {
        counted.of = counted.of.saturating_add(draws.until(rate)).saturating_add(1);
        counted.hits += 1;
        if counted.of > decisions {
            return None;
        }
        if counted.is_above(bound, error) {
            return Some(counted.of);
        }
    }
}

/// How many of so many rollouts are taken back for a measure.
fn count_taken_back(measure: Measure, rate: f64, decisions: u64, rollouts: u32) -> u32 {
    let (policy, mut draws) = (RolloutPolicy::default(), Draws::seeded(11));
    let taken_back = |_: &u32| taken_back_after(&policy, measure, rate, decisions, &mut draws).is_some();
    u32::try_from((0..rollouts).filter(taken_back).count()).expect("it is at most all")
}

/// The worst case for a version that is as it should be: whatever can be left to chance happens exactly as often as it may. (Most of
/// it cannot: the same contract, built again, differs from itself in nothing.)
#[test]
fn a_version_that_keeps_its_bounds_is_hardly_ever_taken_back() {
    const ROLLOUTS: u32 = 10_000;
    let policy = RolloutPolicy::default();
    let decisions = policy.stages.iter().map(|stage| stage.decisions).sum();
    let mut draws = Draws::seeded(5);
    let is_taken_back = |_: &u32| {
        Measure::ALL.into_iter().any(|measure| {
            let rate = policy.bounds.of(measure);
            rate.is_some_and(|rate| taken_back_after(&policy, measure, rate, decisions, &mut draws).is_some())
        })
    };
    let taken_back = (0..ROLLOUTS).filter(is_taken_back).count();
    assert!(taken_back <= (f64::from(ROLLOUTS) * policy.false_alarm) as usize, "{taken_back} of {ROLLOUTS}");
}

#[test]
fn what_fails_one_call_in_ten_is_taken_back_within_a_hundred() {
    let taken_back =
        [Measure::Faults, Measure::DeadlineMisses].map(|measure| count_taken_back(measure, 0.1, 100, 1_000));
    assert!(taken_back[0] >= 999 && taken_back[1] >= 980, "{taken_back:?}");
}

#[test]
fn what_fails_one_call_in_a_thousand_is_taken_back() {
    let taken_back = count_taken_back(Measure::Faults, 0.001, 5_000, 1_000);
    assert!(taken_back >= 985, "{taken_back}");
}

#[test]
fn what_ranks_otherwise_than_it_may_is_taken_back_in_its_first_stage() {
    let decisions = RolloutPolicy::default().stages[0].decisions;
    for (measure, rate) in
        [(Measure::FirstChanged, 0.5), (Measure::Dropped, 0.4), (Measure::Empty, 0.05), (Measure::Slow, 0.2)]
    {
        let taken_back = count_taken_back(measure, rate, decisions, 1_000);
        assert!(taken_back >= 990, "{measure:?}: {taken_back}");
    }
}
