//! Contracts as they are loaded, for the platform team.

mod removed;
mod revocations;
mod status;

pub use intent_gateway_compare::{BaselineName, CallTimes, CodeCount, ComparisonReport};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::removed::{RemovedValue, RemovedValues, ValuePartner};
pub use self::revocations::{Revocation, RevocationDone, RevocationList, RevocationOrder, RevokedVersion};
pub use self::status::{
    ComingVersion, GatewayStatus, IntentStatus, IntentStatuses, NamedVersion, RolledOutVersion, ServingStatus,
    StageFailure, StagedStatus, WaitedFor,
};
use crate::read::{Body, Members};

/// The loaded contract versions.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadedVersions {
    /// Sorted by intent and version.
    pub contracts: Vec<LoadedVersion>,
    /// Those of the catalogue that this gateway could not make ready, sorted by intent; absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub missing: Vec<MissingVersion>,
}

/// What a new version does that is found in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReleasePolicy {
    /// It goes live.
    Auto,
    /// It is loaded, and goes live when somebody says so.
    Manual,
}

/// The policy of an intent.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyOrder {
    pub policy: ReleasePolicy,
}

impl Body for PolicyOrder {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { policy: members.word("policy")? })
    }
}

impl From<versions::ReleasePolicy> for ReleasePolicy {
    fn from(policy: versions::ReleasePolicy) -> Self {
        match policy {
            versions::ReleasePolicy::Auto => Self::Auto,
            versions::ReleasePolicy::Manual => Self::Manual,
        }
    }
}

impl From<ReleasePolicy> for versions::ReleasePolicy {
    fn from(policy: ReleasePolicy) -> Self {
        match policy {
            ReleasePolicy::Auto => Self::Auto,
            ReleasePolicy::Manual => Self::Manual,
        }
    }
}

/// How far a comparison is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ComparisonProgress {
    /// Receipts that are compared.
    pub receipts: u64,
    /// Those of them in which something differs.
    pub different: u64,
    /// When the receipt was ranked that was compared last, milliseconds since the epoch: they are gone through from the latest
    /// back. Null before the first.
    #[schema(required, value_type = Option<u64>)]
    pub reached_ms: Option<Timestamp>,
    /// Back to when they are gone through.
    #[schema(value_type = u64)]
    pub since_ms: Timestamp,
}

/// A version that a gateway could not make ready: its component is damaged or gone, or this gateway cannot run it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct MissingVersion {
    /// The intent.
    pub intent: String,
    /// SHA-256 of its component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// Where it came from when it was loaded.
    pub origin: Origin,
    /// Whether it ought to serve: nobody has put another one in its place since.
    pub ought_to_serve: bool,
    /// The version that serves the intent meanwhile; absent where the intent is not served at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub serving: Option<String>,
    /// Stable code, as of a failure to load.
    pub code: String,
    /// Why it is missing, down to the innermost cause.
    pub message: String,
}

/// A version that has been loaded, live or not.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadedVersion {
    /// The intent.
    pub intent: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// Whether it serves.
    pub live: bool,
    /// Where it came from.
    pub origin: Origin,
    /// When it was loaded, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub loaded_at_ms: Timestamp,
    /// Who loaded it; the gateway for a file of the watched folder.
    pub loaded_by: Actor,
    /// What has happened to it, oldest first: its loading, and the latest 49 events since. The audit log has them all.
    pub history: Vec<VersionEvent>,
    /// Names of the trusted keys that have signed it; absent where nobody has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub signed_by: Vec<String>,
    /// Size of the component in bytes.
    pub component_bytes: usize,
    /// Calls served since the process started.
    pub calls: u64,
    /// Calls that failed for the contract's own fault.
    pub faults: u64,
}

/// One event in the life of a version.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct VersionEvent {
    /// When, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    /// What happened.
    pub act: VersionAct,
    /// By which way.
    pub whence: Whence,
    /// Who asked for it; the gateway for what nobody asked for.
    pub by: Actor,
    /// Why, where a reason was given or a rule has decided; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub why: Option<String>,
}

/// What happens to versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VersionAct {
    /// It was loaded.
    Loaded,
    /// It was to serve once every gateway has it ready.
    AskedFor,
    /// From then on it served.
    WentLive,
    /// It was to serve, and was not to any more.
    Withdrawn,
    /// It was live, and was taken out of service.
    LeftService,
    /// Somebody more has signed it.
    Signed,
    /// It was the candidate of a rollout from then on.
    RolloutBegun,
    /// The next stage of its rollout began.
    StageBegun,
    RolloutPaused,
    RolloutResumed,
    /// Its rollout ended, and it was not live.
    TakenBack,
}

/// By which way it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Whence {
    /// A file of the watched folder.
    Folder,
    /// An upload.
    Upload,
    /// A source that is followed.
    Registry,
    /// Somebody made a loaded version live.
    Activation,
    /// The live version kept failing.
    RollBack,
    /// Somebody took the intent out of service.
    Unloading,
    /// Somebody no longer wanted the version that was to serve.
    Withdrawal,
    /// A gateway had it in its state folder, from before there was a catalogue.
    TakenOver,
    /// It, or the key that signed it, is not trusted any more.
    Revocation,
    /// By its rollout.
    Rollout,
}

/// The outcome of a load.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadOutcome {
    #[serde(flatten)]
    pub version: LoadedVersion,
    /// Whether this very component was loaded before. It is as it was then: loading it again makes nothing live.
    pub known: bool,
    /// What is left to do where the version is known and not live; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub note: Option<String>,
    /// The values of vocabularies that it takes out, and who uses them; absent where it takes out none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub removed_values: Option<RemovedValues>,
    /// The gateways that it waits for before it goes live; absent where it waits for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub waits_for: Vec<WaitedFor>,
}

/// The outcome of an activation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ActivationOutcome {
    #[serde(flatten)]
    pub version: LoadedVersion,
    /// The gateways that it waits for before it goes live; absent where it is live.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub waits_for: Vec<WaitedFor>,
}

/// Where a component came from.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Origin {
    /// Of which kind.
    pub kind: OriginKind,
    /// Path of the file, or subject of the token that uploaded; absent for `kept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub name: Option<String>,
}

/// Kinds of origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A file of the watched folder.
    Folder,
    /// An upload.
    Upload,
    /// A source that is followed, in a registry or a layout.
    Registry,
    /// Kept by a release of the gateway that did not note where it came from.
    Kept,
}

/// The latest failures to load.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadFailures {
    /// Newest first.
    pub failures: Vec<LoadFailure>,
}

/// A component that did not become what was asked of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadFailure {
    /// When, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    /// Where it came from.
    pub origin: Origin,
    /// Digest of the component, where it could be read.
    #[schema(value_type = Option<String>, required)]
    pub digest: Option<Digest>,
    /// The intent, where the component got as far as telling.
    #[schema(required)]
    pub intent: Option<String>,
    /// Its version, likewise.
    #[schema(required)]
    pub version: Option<String>,
    /// Stable code.
    pub code: String,
    /// What went wrong, down to the innermost cause.
    pub message: String,
    /// With `VOCABULARY_VALUES_REMOVED`: which values it would take out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub removed: Vec<VocabularyValue>,
}

/// A value of a vocabulary.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VocabularyValue {
    /// Name of the vocabulary.
    pub vocabulary: String,
    /// The value.
    pub value: String,
}

impl From<versions::LoadedVersion> for LoadedVersion {
    fn from(loaded: versions::LoadedVersion) -> Self {
        let versions::LoadedVersion {
            intent,
            version,
            digest,
            live,
            origin,
            loaded_at_ms,
            loaded_by,
            history,
            signed_by,
            component_bytes,
            calls,
            faults,
        } = loaded;
        let origin = Origin::from(origin);
        let history = history.into_iter().map(VersionEvent::from).collect();
        Self {
            intent,
            version,
            digest,
            live,
            origin,
            loaded_at_ms,
            loaded_by,
            history,
            signed_by,
            component_bytes,
            calls,
            faults,
        }
    }
}

impl From<versions::MissingVersion> for MissingVersion {
    fn from(missing: versions::MissingVersion) -> Self {
        let versions::MissingVersion { intent, digest, origin, ought_to_serve, serving, code, message } = missing;
        Self { intent, digest, origin: Origin::from(origin), ought_to_serve, serving, code, message }
    }
}

impl From<versions::VersionEvent> for VersionEvent {
    fn from(event: versions::VersionEvent) -> Self {
        let versions::VersionEvent { at_ms, act, whence, by, why } = event;
        let act = match act {
            versions::VersionAct::Loaded => VersionAct::Loaded,
            versions::VersionAct::AskedFor => VersionAct::AskedFor,
            versions::VersionAct::WentLive => VersionAct::WentLive,
            versions::VersionAct::Withdrawn => VersionAct::Withdrawn,
            versions::VersionAct::LeftService => VersionAct::LeftService,
            versions::VersionAct::Signed => VersionAct::Signed,
            versions::VersionAct::RolloutBegun => VersionAct::RolloutBegun,
            versions::VersionAct::StageBegun => VersionAct::StageBegun,
            versions::VersionAct::RolloutPaused => VersionAct::RolloutPaused,
            versions::VersionAct::RolloutResumed => VersionAct::RolloutResumed,
            versions::VersionAct::TakenBack => VersionAct::TakenBack,
        };
        let whence = match whence {
            versions::Whence::Folder => Whence::Folder,
            versions::Whence::Registry => Whence::Registry,
            versions::Whence::Upload => Whence::Upload,
            versions::Whence::Activation => Whence::Activation,
            versions::Whence::RollBack => Whence::RollBack,
            versions::Whence::Unloading => Whence::Unloading,
            versions::Whence::Withdrawal => Whence::Withdrawal,
            versions::Whence::TakenOver => Whence::TakenOver,
            versions::Whence::Revocation => Whence::Revocation,
            versions::Whence::Rollout => Whence::Rollout,
        };
        Self { at_ms, act, whence, by, why }
    }
}

impl From<versions::Origin> for Origin {
    fn from(origin: versions::Origin) -> Self {
        let (kind, name) = match origin {
            versions::Origin::Folder(name) => (OriginKind::Folder, Some(name)),
            versions::Origin::Upload(name) => (OriginKind::Upload, Some(name)),
            versions::Origin::Registry(name) => (OriginKind::Registry, Some(name)),
            versions::Origin::Kept => (OriginKind::Kept, None),
        };
        Self { kind, name }
    }
}

impl From<versions::LoadFailure> for LoadFailure {
    fn from(failure: versions::LoadFailure) -> Self {
        let versions::LoadFailure { at_ms, origin, digest, intent, version, code, message, removed } = failure;
        let value = |removed: intent_gateway_domain::succession::RemovedValue| VocabularyValue {
            vocabulary: removed.vocabulary,
            value: removed.value,
        };
        let removed = removed.into_iter().map(value).collect();
        Self { at_ms, origin: Origin::from(origin), digest, intent, version, code, message, removed }
    }
}
