//! Whether a bound is broken, and whether a stage has shown enough.

use serde::{Deserialize, Serialize};

use crate::evidence::{Evidence, Measure};
use crate::policy::RolloutPolicy;

const MS_PER_MINUTE: u64 = 60_000;

/// A bound, and what is known of the rate that it bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RolloutGuard))]
pub struct Guard {
    pub measure: Measure,
    /// The highest rate that is allowed.
    pub bound: f64,
    /// How often it happened.
    pub hits: u64,
    /// How often it might have.
    pub of: u64,
    /// The rate behind it is at least this and at most that, but for the policy's chance of a false alarm.
    pub at_least: f64,
    pub at_most: f64,
    pub verdict: GuardVerdict,
    /// Receipts that show it, the first ones.
    pub receipts: Vec<String>,
}

/// What can be said of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RolloutGuardVerdict))]
pub enum GuardVerdict {
    /// The rate is below it.
    Holds,
    /// Too little was seen.
    Unknown,
    /// The rate is above it.
    Broken,
}

/// What can be said of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum StageVerdict {
    /// Bounds are broken: these.
    Broken(Vec<Guard>),
    /// Too little was seen.
    Waits(Missing),
    /// The next stage may begin.
    Passed,
}

/// What a stage lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RolloutMissing))]
pub struct Missing {
    /// Decisions that are still to be seen.
    pub decisions: u64,
    /// Time that is still to pass, milliseconds.
    pub ms: u64,
}

/// The bounds of a policy, with what is known of each.
#[must_use]
pub fn guards(policy: &RolloutPolicy, evidence: &Evidence) -> Vec<Guard> {
    let bounded = Measure::ALL.into_iter().filter_map(|measure| Some((measure, policy.bounds.of(measure)?)));
    let error = error_of_each(policy);
    let guard = |(measure, bound): (Measure, f64)| {
        let counted = evidence.counted(measure);
        let (at_least, at_most) = (counted.at_least(error), counted.at_most(error));
        let verdict = match () {
            () if counted.is_above(bound, error) => GuardVerdict::Broken,
            () if counted.is_at_most(bound, error) => GuardVerdict::Holds,
            () => GuardVerdict::Unknown,
        };
        let receipts = evidence.examples(measure).to_vec();
        Guard { measure, bound, hits: counted.hits, of: counted.of, at_least, at_most, verdict, receipts }
    };
    bounded.map(guard).collect()
}

/// Each bound has its part of the error. All stages are one sequence of looks, so they need not share it.
pub(crate) fn error_of_each(policy: &RolloutPolicy) -> f64 {
    policy.false_alarm / Measure::ALL.len() as f64
}

/// Judges a stage that has run for a time, pauses not counted.
#[must_use]
pub fn judge(policy: &RolloutPolicy, stage: usize, evidence: &Evidence, ran_ms: u64) -> StageVerdict {
    let broken: Vec<Guard> =
        guards(policy, evidence).into_iter().filter(|guard| guard.verdict == GuardVerdict::Broken).collect();
    if !broken.is_empty() {
        return StageVerdict::Broken(broken);
    }
    match missing(policy, stage, evidence, ran_ms) {
        Missing { decisions: 0, ms: 0 } => StageVerdict::Passed,
        missing => StageVerdict::Waits(missing),
    }
}

/// What a stage lacks.
pub(crate) fn missing(policy: &RolloutPolicy, stage: usize, evidence: &Evidence, ran_ms: u64) -> Missing {
    let Some(asked) = policy.stages.get(stage) else { return Missing { decisions: 0, ms: 0 } };
    let count = evidence.of_stage(stage);
    let seen = if asked.share().is_nothing() { count.compared } else { count.served };
    let ms = (u64::from(asked.minutes) * MS_PER_MINUTE).saturating_sub(ran_ms);
    Missing { decisions: asked.decisions.saturating_sub(seen), ms }
}

impl Guard {
    /// Why a candidate is taken back, for people.
    #[must_use]
    pub fn explain(&self) -> String {
        let Self { measure, bound, hits, of, at_least, .. } = self;
        format!("{}: {hits} of {of}, so at least {at_least:.4}, and {bound} is allowed", measure.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Bounds, Stage};

    fn policy(stages: &[(f64, u64, u32)]) -> RolloutPolicy {
        let stage = |&(share_percent, decisions, minutes): &(f64, u64, u32)| Stage {
            share_percent,
            compare_percent: 100.0,
            decisions,
            minutes,
        };
        RolloutPolicy { stages: stages.iter().map(stage).collect(), ..RolloutPolicy::default() }
    }

    fn seen(measure: Measure, hits: u64, of: u64) -> Evidence {
        let mut evidence = Evidence::default();
        (0..of).for_each(|at| evidence.note(measure, at < hits, Some("rank_1")));
        evidence
    }

    #[test]
    fn a_stage_passes_when_it_has_seen_enough_for_long_enough() {
        let policy = policy(&[(0.0, 3, 1), (5.0, 2, 0)]);
        let mut evidence = Evidence::default();
        let waits = |decisions, ms| StageVerdict::Waits(Missing { decisions, ms });
        assert_eq!(judge(&policy, 0, &evidence, 0), waits(3, 60_000));
        // Nobody is served in the first stage, so only comparisons count.
        *evidence.at_stage(0) = crate::StageCount { compared: 2, served: 9, ..Default::default() };
        assert_eq!(judge(&policy, 0, &evidence, 59_999), waits(1, 1));
        evidence.at_stage(0).compared = 3;
        assert_eq!(judge(&policy, 0, &evidence, 60_000), StageVerdict::Passed);
        // What was seen in one stage is no decision of the next.
        *evidence.at_stage(1) = crate::StageCount { compared: 9, served: 1, ..Default::default() };
        assert_eq!(judge(&policy, 1, &evidence, 0), waits(1, 0));
        evidence.at_stage(1).served = 2;
        assert_eq!(judge(&policy, 1, &evidence, 0), StageVerdict::Passed);
    }

    #[test]
    fn a_broken_bound_counts_in_every_stage_and_whatever_else_is_missing() {
        let policy = policy(&[(0.0, 1_000_000, 60), (5.0, 1, 0)]);
        for measure in Measure::ALL.into_iter().filter(|measure| *measure != Measure::Reordered) {
            let evidence = seen(measure, 60, 100);
            for stage in [0, 1] {
                let StageVerdict::Broken(broken) = judge(&policy, stage, &evidence, 0) else {
                    panic!("{measure:?} is broken")
                };
                assert_eq!(broken.iter().map(|guard| guard.measure).collect::<Vec<_>>(), [measure]);
                assert_eq!(broken[0].receipts.len(), 5);
            }
        }
    }

    #[test]
    fn what_is_not_bounded_breaks_nothing() {
        let mut policy = policy(&[(0.0, 1, 0)]);
        assert_eq!(policy.bounds.reordered, None);
        assert!(matches!(judge(&policy, 0, &seen(Measure::Reordered, 100, 100), 0), StageVerdict::Waits(_)));
        policy.bounds = Bounds { reordered: Some(0.5), ..policy.bounds };
        assert!(matches!(judge(&policy, 0, &seen(Measure::Reordered, 100, 100), 0), StageVerdict::Broken(_)));
    }

    #[test]
    fn too_little_is_unknown_and_never_holds() {
        let policy = RolloutPolicy::default();
        let verdict = |evidence: &Evidence| {
            let all = guards(&policy, evidence);
            all.into_iter().find(|guard| guard.measure == Measure::FirstChanged).expect("it is bounded").verdict
        };
        assert_eq!(verdict(&Evidence::default()), GuardVerdict::Unknown);
        assert_eq!(verdict(&seen(Measure::FirstChanged, 1, 3)), GuardVerdict::Unknown);
        assert_eq!(verdict(&seen(Measure::FirstChanged, 0, 100)), GuardVerdict::Holds);
        assert_eq!(verdict(&seen(Measure::FirstChanged, 80, 100)), GuardVerdict::Broken);
    }

    #[test]
    fn evidence_of_gateways_adds_up() {
        let mut both = seen(Measure::Empty, 2, 10);
        both.at_stage(1).served = 4;
        let mut other = seen(Measure::Empty, 1, 5);
        other.at_stage(1).served = 6;
        other.at_stage(0).compared = 7;
        both.merge(&other);
        assert_eq!((both.counted(Measure::Empty).hits, both.counted(Measure::Empty).of), (3, 15));
        assert_eq!((both.of_stage(0).compared, both.of_stage(1).served), (7, 10));
        assert_eq!(both.examples(Measure::Empty).len(), 3);
        let kept: Evidence = serde_json::from_str(&serde_json::to_string(&both).expect("JSON")).expect("it is read");
        assert_eq!(kept, both);
    }
}
