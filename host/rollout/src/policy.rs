//! The stages of a rollout, and what a candidate may not exceed in any of them.

use std::time::Duration;

use intent_gateway_domain::share::Share;
use serde::{Deserialize, Serialize};

use crate::evidence::Measure;

/// Stages that a rollout may have.
pub const STAGES_MAX: usize = 10;
/// Decisions that a stage may ask for.
const DECISIONS_MAX: u64 = 100_000_000;
/// Minutes that a stage may take at least: 30 days.
const MINUTES_MAX: u32 = 43_200;
/// Smallest chance of a false alarm that can be asked for.
const FALSE_ALARM_MIN: f64 = 1e-9;
/// Longest time of a ranking that can be called slow, milliseconds.
const SLOW_MS_MAX: u32 = 60_000;

/// How a version is rolled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RolloutPolicy {
    /// In their order, 1 to 10. After the last one the version is live.
    pub stages: Vec<Stage>,
    /// What holds in every stage.
    #[serde(default)]
    pub bounds: Bounds,
    /// The chance that a version that keeps within its bounds is taken back all the same, over all bounds, stages and looks together.
    #[serde(default = "default_false_alarm")]
    #[cfg_attr(feature = "schema", schema(default = 0.01))]
    pub false_alarm: f64,
}

/// One stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stage {
    /// Percentage of the users whom the candidate serves, below 100; 0 where it serves nobody. No less than in the stage before.
    pub share_percent: f64,
    /// Percentage of all rankings that are compared.
    #[serde(default = "default_compare")]
    #[cfg_attr(feature = "schema", schema(default = 10.0))]
    pub compare_percent: f64,
    /// Decisions that must have been seen in it: rankings of the candidate for somebody; where it serves nobody, comparisons.
    pub decisions: u64,
    /// How long it takes at least, minutes, pauses not counted.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(default = 0))]
    pub minutes: u32,
}

/// Highest rates of what a candidate may do, 0 to 1. Null: not bounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bounds {
    /// Calls that fail where the live version does not, deadlines apart. Unless set, none may: that is never chance.
    pub faults: Option<f64>,
    /// Calls that run past their deadline where the live version does not.
    pub deadline_misses: Option<f64>,
    /// Rankings that take more than `slow_ms` of processor time: 0.01 bounds the 99th percentile.
    pub slow: Option<f64>,
    pub slow_ms: u32,
    /// Requests that it refuses where the live version does not.
    pub refused: Option<f64>,
    /// Answers without an option where the live version has one.
    pub empty: Option<f64>,
    /// Rankings in which another option is first.
    pub first_changed: Option<f64>,
    /// Rankings out of which it takes an option that the live version shows.
    pub dropped: Option<f64>,
    /// Rankings in which it orders differently what both show.
    pub reordered: Option<f64>,
    /// Rankings with a difference that the candidate's own difference budget does not announce. Without a budget nothing counts.
    pub outside_budget: Option<f64>,
}

fn default_false_alarm() -> f64 {
    0.01
}

fn default_compare() -> f64 {
    10.0
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            faults: Some(0.0),
            deadline_misses: Some(0.001),
            slow: Some(0.01),
            slow_ms: 20,
            refused: Some(0.001),
            empty: Some(0.001),
            first_changed: Some(0.2),
            dropped: Some(0.1),
            reordered: None,
            outside_budget: Some(0.001),
        }
    }
}

impl Default for RolloutPolicy {
    /// Ten minutes beside serving, then 5 and 25 percent of the users.
    fn default() -> Self {
        let stage = |share_percent, decisions| Stage {
            share_percent,
            compare_percent: default_compare(),
            decisions,
            minutes: 10,
        };
        Self {
            stages: vec![stage(0.0, 300), stage(5.0, 500), stage(25.0, 2_000)],
            bounds: Bounds::default(),
            false_alarm: default_false_alarm(),
        }
    }
}

impl Bounds {
    /// The highest rate of a measure; none where it is not bounded.
    #[must_use]
    pub fn of(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Faults => self.faults,
            Measure::DeadlineMisses => self.deadline_misses,
            Measure::Slow => self.slow,
            Measure::Refused => self.refused,
            Measure::Empty => self.empty,
            Measure::FirstChanged => self.first_changed,
            Measure::Dropped => self.dropped,
            Measure::Reordered => self.reordered,
            Measure::OutsideBudget => self.outside_budget,
        }
    }

    /// From which processor time on a ranking is slow.
    #[must_use]
    pub fn slow(&self) -> Duration {
        Duration::from_millis(self.slow_ms.into())
    }
}

impl Stage {
    /// Whom the candidate serves.
    #[must_use]
    pub fn share(&self) -> Share {
        Share::of_percent(self.share_percent).unwrap_or_default()
    }

    /// What is compared.
    #[must_use]
    pub fn compared(&self) -> Share {
        Share::of_percent(self.compare_percent).unwrap_or_default()
    }
}

/// A policy that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {problem}")]
pub struct InvalidPolicy {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// What is expected.
    pub problem: String,
}

impl RolloutPolicy {
    /// # Errors
    /// [`InvalidPolicy`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), InvalidPolicy> {
        let wrong = |pointer: String, problem: String| Err(InvalidPolicy { pointer, problem });
        if !(1..=STAGES_MAX).contains(&self.stages.len()) {
            return wrong("/stages".to_owned(), format!("expected 1 to {STAGES_MAX} stages"));
        }
        let mut before = 0.0;
        for (at, stage) in self.stages.iter().enumerate() {
            let of = |member: &str| format!("/stages/{at}/{member}");
            let Stage { share_percent, compare_percent, decisions, minutes } = *stage;
            if !(0.0..100.0).contains(&share_percent) || share_percent < before {
                let problem = "expected 0 or more, below 100, and no less than in the stage before";
                return wrong(of("share_percent"), problem.to_owned());
            }
            before = share_percent;
            if !(0.0..=100.0).contains(&compare_percent) {
                return wrong(of("compare_percent"), "expected 0 to 100".to_owned());
            }
            if stage.share().is_nothing() && stage.compared().is_nothing() {
                return wrong(of("compare_percent"), "a stage that serves nobody must compare something".to_owned());
            }
            if !(1..=DECISIONS_MAX).contains(&decisions) {
                return wrong(of("decisions"), format!("expected 1 to {DECISIONS_MAX}"));
            }
            if minutes > MINUTES_MAX {
                return wrong(of("minutes"), format!("expected at most {MINUTES_MAX}"));
            }
        }
        for measure in Measure::ALL {
            if self.bounds.of(measure).is_some_and(|bound| !(0.0..=1.0).contains(&bound)) {
                return wrong(format!("/bounds/{}", measure.as_str()), "expected 0 to 1, or null".to_owned());
            }
        }
        if !(1..=SLOW_MS_MAX).contains(&self.bounds.slow_ms) {
            return wrong("/bounds/slow_ms".to_owned(), format!("expected 1 to {SLOW_MS_MAX}"));
        }
        if !(FALSE_ALARM_MIN..=0.5).contains(&self.false_alarm) {
            return wrong("/false_alarm".to_owned(), format!("expected {FALSE_ALARM_MIN} to 0.5"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_that_nobody_sets_is_sound_and_is_read_as_it_is_written() {
        let policy = RolloutPolicy::default();
        assert_eq!(policy.check(), Ok(()));
        let text = serde_json::to_string(&policy).expect("it is written");
        assert_eq!(serde_json::from_str::<RolloutPolicy>(&text).expect("it is read"), policy);
    }

    #[test]
    fn what_is_left_out_is_as_usual_and_null_is_not_bounded() {
        let text = r#"{"stages": [{"share_percent": 1, "decisions": 5}], "bounds": {"empty": null, "faults": 0}}"#;
        let policy: RolloutPolicy = serde_json::from_str(text).expect("a policy");
        assert_eq!((policy.bounds.empty, policy.bounds.faults), (None, Some(0.0)));
        assert_eq!(policy.bounds.dropped, Bounds::default().dropped);
        assert_eq!((policy.stages[0].compare_percent, policy.stages[0].minutes, policy.false_alarm), (10.0, 0, 0.01));
        assert!(serde_json::from_str::<RolloutPolicy>(r#"{"stages": [], "bound": {}}"#).is_err());
    }

    #[test]
    fn each_rule_of_a_policy_is_checked() {
        type Break = fn(&mut RolloutPolicy);
        let broken: [(&str, Break); 13] = [
            ("/stages", |policy| policy.stages.clear()),
            ("/stages", |policy| policy.stages = vec![policy.stages[0]; STAGES_MAX + 1]),
            ("/stages/1/share_percent", |policy| policy.stages[1].share_percent = 100.0),
            ("/stages/2/share_percent", |policy| policy.stages[2].share_percent = 4.0),
            ("/stages/0/share_percent", |policy| policy.stages[0].share_percent = f64::NAN),
            ("/stages/1/compare_percent", |policy| policy.stages[1].compare_percent = 101.0),
            ("/stages/0/compare_percent", |policy| policy.stages[0].compare_percent = 0.001),
            ("/stages/1/decisions", |policy| policy.stages[1].decisions = 0),
            ("/stages/1/minutes", |policy| policy.stages[1].minutes = MINUTES_MAX + 1),
            ("/bounds/empty", |policy| policy.bounds.empty = Some(1.1)),
            ("/bounds/outside_budget", |policy| policy.bounds.outside_budget = Some(f64::NAN)),
            ("/bounds/slow_ms", |policy| policy.bounds.slow_ms = 0),
            ("/false_alarm", |policy| policy.false_alarm = 0.0),
        ];
        for (pointer, break_it) in broken {
            let mut policy = RolloutPolicy::default();
            break_it(&mut policy);
            assert_eq!(policy.check().expect_err(pointer).pointer, pointer);
        }
    }
}
