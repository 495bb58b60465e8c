//! Rollouts, as the platform team begins them and looks at them.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions::VersionName;
use intent_gateway_domain::violations::code;
pub use intent_gateway_rollout::Measure;
use intent_gateway_rollout::{Course, Guard, Missing, RolloutEnd, RolloutPolicy, StageCount, WHY_MAX_CHARS};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::contracts::WaitedFor;
use crate::read::{Body, Members};

/// What is asked of a rollout that begins.
#[derive(Debug, Serialize, ToSchema)]
pub struct PromotionOrder {
    /// Why, for the audit log.
    #[schema(min_length = 1, max_length = 500)]
    pub why: String,
    /// Stages and bounds; as usual where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<RolloutPolicy>,
}

impl Body for PromotionOrder {
    // A policy that is passed over is not the one that was meant.
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let why = read_why(members);
        let Some(policy) = members.optional_raw("policy") else { return Some(Self { why: why?, policy: None }) };
        let read = serde_json::from_str::<RolloutPolicy>(policy.get()).map_err(|error| error.to_string());
        let checked = read.and_then(|policy| policy.check().map(|()| policy).map_err(|error| error.to_string()));
        match checked {
            Ok(policy) => Some(Self { why: why?, policy: Some(policy) }),
            Err(problem) => {
                members.refuse("policy", "WRONG_FORMAT", problem);
                None
            }
        }
    }
}

/// What is done with a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RolloutAct {
    /// It stays in its stage. Its bounds hold on.
    Pause,
    Resume,
    /// The candidate is taken back.
    Abort,
    /// The next stage begins now, whatever this one lacks; after the last one the candidate is live.
    Advance,
    /// The candidate is live now, whatever is lacking.
    Finish,
}

/// An act, with its reason.
#[derive(Debug, Serialize, ToSchema)]
pub struct RolloutOrder {
    pub act: RolloutAct,
    /// Why, for the audit log.
    #[schema(min_length = 1, max_length = 500)]
    pub why: String,
}

impl Body for RolloutOrder {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (act, why) = (members.word("act"), read_why(members));
        Some(Self { act: act?, why: why? })
    }
}

fn read_why(members: &mut Members<'_>) -> Option<String> {
    let why = members.prose("why")?.trim().to_owned();
    if (1..=WHY_MAX_CHARS).contains(&why.chars().count()) {
        return Some(why);
    }
    members.refuse("why", code::OUT_OF_RANGE, format!("expected 1 to {WHY_MAX_CHARS} characters"));
    None
}

impl From<RolloutAct> for intent_gateway_rollout::RolloutAct {
    fn from(act: RolloutAct) -> Self {
        match act {
            RolloutAct::Pause => Self::Pause,
            RolloutAct::Resume => Self::Resume,
            RolloutAct::Abort => Self::Abort,
            RolloutAct::Advance => Self::Advance,
            RolloutAct::Finish => Self::Finish,
        }
    }
}

/// Rollouts of an intent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Rollouts {
    pub intent: String,
    /// The one that is under way; null where there is none.
    #[schema(required)]
    pub rollout: Option<Rollout>,
    /// The last one that has ended; null where there is none.
    #[schema(required)]
    pub last: Option<EndedRollout>,
    /// How the figures of the latest one went; absent unless asked for, and where the gateway that answers has seen none of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub course: Option<RolloutCourse>,
}

/// How the figures of a rollout went: a column for each figure, a row for each sample, the oldest first; at most 240, of its whole time
/// as far as the gateway that answers has seen it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RolloutCourse {
    /// SHA-256 of the candidate's component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub candidate: Digest,
    /// When it began, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub begun_at_ms: Timestamp,
    /// When each sample was taken, milliseconds since the epoch.
    pub at_ms: Vec<u64>,
    /// The stage of then, from 0.
    pub stage: Vec<usize>,
    /// Percentage of the users whom the candidate served then.
    pub share_percent: Vec<f64>,
    /// Those that are bounded.
    pub figures: Vec<CourseFigure>,
}

/// How one bounded figure went, counted since the rollout began.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CourseFigure {
    pub measure: Measure,
    /// The highest rate that is allowed.
    pub bound: f64,
    /// How often it had happened.
    pub hits: Vec<u64>,
    /// How often it might have.
    pub of: Vec<u64>,
}

impl From<Course> for RolloutCourse {
    fn from(Course { id, policy, samples, .. }: Course) -> Self {
        let share = |stage: usize| policy.stages.get(stage).map_or(0.0, |stage| stage.share_percent);
        let bounded = Measure::ALL.into_iter().filter_map(|measure| Some((measure, policy.bounds.of(measure)?)));
        let figure = |(measure, bound): (Measure, f64)| {
            let counted = || samples.iter().map(|one| one.measures.get(&measure).copied().unwrap_or_default());
            let (hits, of) = (counted().map(|one| one.hits).collect(), counted().map(|one| one.of).collect());
            CourseFigure { measure, bound, hits, of }
        };
        Self {
            candidate: id.digest,
            begun_at_ms: id.begun_at_ms,
            at_ms: samples.iter().map(|one| one.at.as_ms()).collect(),
            stage: samples.iter().map(|one| one.stage).collect(),
            share_percent: samples.iter().map(|one| share(one.stage)).collect(),
            figures: bounded.map(figure).collect(),
        }
    }
}

/// A version in a rollout.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RolloutVersion {
    pub version: String,
    /// SHA-256 of its component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
}

/// A rollout that is under way.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Rollout {
    pub candidate: RolloutVersion,
    /// The live version, which the candidate is compared with.
    pub baseline: RolloutVersion,
    /// Its place among the stages of the policy, from 0.
    pub stage: usize,
    /// When it began, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub begun_at_ms: Timestamp,
    /// When its stage began.
    #[schema(value_type = u64)]
    pub stage_at_ms: Timestamp,
    /// Who has begun it, and why.
    pub by: Actor,
    pub why: String,
    /// Null while it is not paused.
    #[schema(required)]
    pub paused: Option<RolloutPause>,
    /// What the stage still lacks.
    pub missing: Missing,
    /// What was seen in each stage so far, on all gateways.
    pub seen: Vec<StageCount>,
    /// The bounds that are set, with what is known of each. One that is broken takes the candidate back.
    pub guards: Vec<Guard>,
    /// Gateways that do not have the candidate ready: they serve the live version, and no further stage begins before they have it.
    pub waits_for: Vec<WaitedFor>,
    pub policy: RolloutPolicy,
}

/// Who has paused a rollout.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RolloutPause {
    /// When, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    pub by: Actor,
    pub why: String,
}

/// A rollout that has ended.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EndedRollout {
    pub candidate: RolloutVersion,
    #[schema(value_type = u64)]
    pub begun_at_ms: Timestamp,
    #[schema(value_type = u64)]
    pub ended_at_ms: Timestamp,
    /// The stage in which it ended, from 0.
    pub stage: usize,
    pub end: RolloutEnd,
    /// Why.
    pub why: String,
    /// The bounds that were broken.
    pub broken: Vec<Guard>,
    /// Who has ended it: the gateway where a rule did.
    pub by: Actor,
}

impl From<VersionName> for RolloutVersion {
    fn from(VersionName { version, digest }: VersionName) -> Self {
        Self { version: version.to_string(), digest }
    }
}

impl From<intent_gateway_rollout::RolloutStatus> for Rollout {
    fn from(status: intent_gateway_rollout::RolloutStatus) -> Self {
        let intent_gateway_rollout::RolloutStatus {
            intent: _,
            candidate,
            baseline,
            begun_at_ms,
            by,
            why,
            policy,
            stage,
            stage_at_ms,
            paused,
            missing,
            seen,
            guards,
            waits_for,
        } = status;
        let paused =
            paused.map(|intent_gateway_rollout::RolloutPause { at_ms, by, why }| RolloutPause { at_ms, by, why });
        Self {
            candidate: candidate.into(),
            baseline: baseline.into(),
            stage,
            begun_at_ms,
            stage_at_ms,
            by,
            why,
            paused,
            missing,
            seen,
            guards,
            waits_for: waits_for.into_iter().map(WaitedFor::from).collect(),
            policy,
        }
    }
}

impl From<intent_gateway_rollout::EndedRollout> for EndedRollout {
    fn from(ended: intent_gateway_rollout::EndedRollout) -> Self {
        let intent_gateway_rollout::EndedRollout { candidate, begun_at_ms, ended_at_ms, stage, end, why, broken, by } =
            ended;
        Self { candidate: candidate.into(), begun_at_ms, ended_at_ms, stage, end, why, broken, by }
    }
}
