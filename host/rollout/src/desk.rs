//! What the platform team may do with a rollout, and what it is told of one.

use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::steps::Contended;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::versions::{ContractAdminError, VersionName, WaitedFor};
use serde::{Deserialize, Serialize};

use crate::course::Course;
use crate::evidence::StageCount;
use crate::judge::{Guard, Missing};
use crate::policy::{InvalidPolicy, RolloutPolicy};

/// Longest reason that is given for something, characters.
pub const WHY_MAX_CHARS: usize = 500;

/// What is asked of a rollout that begins.
#[derive(Clone, Debug)]
pub struct RolloutOrder {
    /// The candidate: a version of the catalogue.
    pub digest: Digest,
    /// How; as usual where nothing is said.
    pub policy: Option<RolloutPolicy>,
    pub why: String,
    pub by: Actor,
}

/// What is done with a rollout that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A rollout that is under way.
#[derive(Clone, Debug)]
pub struct RolloutStatus {
    pub intent: IntentId,
    pub candidate: VersionName,
    /// The live version, which the candidate is compared with.
    pub baseline: VersionName,
    pub begun_at_ms: Timestamp,
    pub by: Actor,
    pub why: String,
    pub policy: RolloutPolicy,
    /// Its place among the stages of the policy, from 0.
    pub stage: usize,
    /// Since when.
    pub stage_at_ms: Timestamp,
    /// Set while it is paused.
    pub paused: Option<RolloutPause>,
    /// What the stage still lacks.
    pub missing: Missing,
    /// What was seen in each stage so far.
    pub seen: Vec<StageCount>,
    pub guards: Vec<Guard>,
    /// Gateways that do not have the candidate ready; they serve the live version, and no further stage begins before they have it.
    pub waits_for: Vec<WaitedFor>,
}

/// Rollouts of an intent.
#[derive(Clone, Debug)]
pub struct IntentRollouts {
    /// The one that is under way.
    pub current: Option<RolloutStatus>,
    /// The last one that has ended.
    pub last: Option<EndedRollout>,
}

/// Who has paused a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutPause {
    pub at_ms: Timestamp,
    pub by: Actor,
    pub why: String,
}

/// How a rollout ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum RolloutEnd {
    /// The candidate is live.
    Live,
    /// A bound was broken.
    TakenBack,
    /// Somebody has aborted it.
    Aborted,
    /// Something else went live, or out of service: there was nothing to compare it with any more.
    Overtaken,
}

/// The last rollout of an intent that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndedRollout {
    pub candidate: VersionName,
    pub begun_at_ms: Timestamp,
    pub ended_at_ms: Timestamp,
    /// The stage in which it ended, from 0.
    pub stage: usize,
    pub end: RolloutEnd,
    /// Why, for people.
    pub why: String,
    /// The bounds that were broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Guard>,
    /// Who has ended it: the gateway for what a rule did.
    pub by: Actor,
}

/// Why nothing was done with a rollout.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RolloutError {
    #[error("no rollout of `{0}` is under way")]
    None(String),
    #[error("nothing serves `{0}` that a candidate could be compared with; activate it")]
    NothingLive(IntentId),
    #[error("version {0} is live already")]
    Live(semver::Version),
    #[error("version {0} is on its way already; abort that, or wait for its end")]
    UnderWay(semver::Version),
    #[error("the policy cannot be followed: {0}")]
    Policy(#[from] InvalidPolicy),
    #[error(transparent)]
    Catalogue(#[from] ContractAdminError),
}

impl From<StoreError> for RolloutError {
    fn from(error: StoreError) -> Self {
        Self::Catalogue(error.into())
    }
}

impl From<Contended> for RolloutError {
    fn from(contended: Contended) -> Self {
        Self::Catalogue(contended.into())
    }
}

/// The platform team's handle on rollouts. Each change holds on all gateways of the store, with who made it and why.
pub trait RolloutDesk: Send + Sync {
    /// How the figures of the latest rollout of an intent went, as far as this gateway has seen it; none where it has seen none.
    fn course(&self, intent: &str) -> Option<Course>;

    /// Begins a rollout.
    fn begin(&self, order: RolloutOrder) -> BoxFuture<'_, Result<RolloutStatus, RolloutError>>;

    /// Does something with the one that is under way.
    fn act<'a>(
        &'a self,
        intent: &'a str,
        act: RolloutAct,
        why: String,
        by: Actor,
    ) -> BoxFuture<'a, Result<(), RolloutError>>;

    /// The one that is under way, and the last one that has ended.
    fn rollout<'a>(&'a self, intent: &'a str) -> BoxFuture<'a, Result<IntentRollouts, RolloutError>>;
}
