//! What is wanted of an intent, and what each gateway has of it.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ReleasePolicy;

/// A gateway that a version waits for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WaitedFor {
    /// Identifier of the gateway.
    pub gateway: String,
    /// Why it cannot make the version ready; absent where it is still at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub failure: Option<StageFailure>,
}

/// Why a gateway could not make a version ready.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StageFailure {
    /// Stable code, as of a failure to load.
    pub code: String,
    /// Down to the innermost cause.
    pub message: String,
}

/// What is wanted of the intents, and what each gateway has.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentStatuses {
    /// Sorted by intent.
    pub intents: Vec<IntentStatus>,
}

/// What is wanted of an intent, and what each gateway that lives says that it has.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentStatus {
    pub intent: String,
    /// The version that is to serve now; absent where the intent is out of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub live: Option<NamedVersion>,
    /// The version that is to serve once every gateway has it ready; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub coming: Option<ComingVersion>,
    /// The version that is on its way to everybody step by step; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub rollout: Option<RolledOutVersion>,
    /// What a new version does that is found in a folder.
    pub policy: ReleasePolicy,
    /// Sorted by identifier.
    pub gateways: Vec<GatewayStatus>,
}

/// A version that is on its way to everybody step by step.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RolledOutVersion {
    #[serde(flatten)]
    pub name: NamedVersion,
    /// Its stage, from 0, of so many.
    pub stage: usize,
    pub stages: usize,
    /// Percentage of the users whom it serves.
    pub share_percent: f64,
    pub is_paused: bool,
}

/// A version, by its number and its content.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NamedVersion {
    pub version: String,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
}

/// A version that is to serve once every gateway has it ready.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ComingVersion {
    #[serde(flatten)]
    pub name: NamedVersion,
    /// Since when, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub since_ms: Timestamp,
    /// Who wants it.
    pub by: Actor,
}

/// What a gateway says that it has of an intent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GatewayStatus {
    /// Identifier of the gateway.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// What serves there; absent where nothing does, or it has said nothing yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub serving: Option<ServingStatus>,
    /// The version that it was asked to make ready last; absent where it was asked for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub staged: Option<StagedStatus>,
}

/// The version that serves at a gateway.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ServingStatus {
    /// Its number; absent where the catalogue has it no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub version: Option<String>,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// Since when, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub since_ms: Timestamp,
    /// From the change of what is wanted until it served, milliseconds, by the clocks of both gateways.
    pub took_ms: u64,
}

/// What came of making a version ready.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StagedStatus {
    /// Its number; absent where the catalogue has it no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub version: Option<String>,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// When, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    /// How long it took, milliseconds.
    pub took_ms: u64,
    /// Why it is not ready; absent where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub failure: Option<StageFailure>,
}

impl From<versions::StageFailure> for StageFailure {
    fn from(versions::StageFailure { code, message }: versions::StageFailure) -> Self {
        Self { code, message }
    }
}

impl From<versions::WaitedFor> for WaitedFor {
    fn from(versions::WaitedFor { gateway, failure }: versions::WaitedFor) -> Self {
        Self { gateway, failure: failure.map(StageFailure::from) }
    }
}

impl From<versions::VersionName> for NamedVersion {
    fn from(versions::VersionName { version, digest }: versions::VersionName) -> Self {
        Self { version: version.to_string(), digest }
    }
}

impl From<versions::IntentStatus> for IntentStatus {
    fn from(status: versions::IntentStatus) -> Self {
        let versions::IntentStatus { intent, live, coming, rollout, policy, gateways } = status;
        let coming = coming.map(|versions::ComingVersion { name, since_ms, by }| ComingVersion {
            name: name.into(),
            since_ms,
            by,
        });
        let rollout = rollout.map(|rollout| {
            let versions::RolledOutVersion { name, stage, stages, share_percent, is_paused } = rollout;
            RolledOutVersion { name: name.into(), stage, stages, share_percent, is_paused }
        });
        let gateways = gateways.into_iter().map(GatewayStatus::from).collect();
        let policy = policy.into();
        Self { intent: intent.to_string(), live: live.map(NamedVersion::from), coming, rollout, policy, gateways }
    }
}

impl From<versions::GatewayStatus> for GatewayStatus {
    fn from(versions::GatewayStatus { id, name, serving, staged }: versions::GatewayStatus) -> Self {
        let number = |version: Option<semver::Version>| version.map(|version| version.to_string());
        let serving = serving.map(|versions::ServingStatus { version, digest, since_ms, took_ms }| ServingStatus {
            version: number(version),
            digest,
            since_ms,
            took_ms,
        });
        let staged = staged.map(|versions::StagedStatus { version, digest, at_ms, took_ms, failure }| StagedStatus {
            version: number(version),
            digest,
            at_ms,
            took_ms,
            failure: failure.map(StageFailure::from),
        });
        Self { id, name, serving, staged }
    }
}
