//! Contracts as they are loaded, for the platform team.

pub use intent_gateway_compare::{BaselineName, CallTimes, CodeCount, ComparisonReport};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions;
use intent_gateway_domain::violations::code;
use intent_gateway_onboarding::{PARTNERS_NAMED_MAX, UsedValue, ValueUse};
use intent_gateway_signing::{KeyId, REASON_MAX_CHARS, RevocationOutcome, Revoked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

/// What is to be revoked: a component or a key.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevocationOrder {
    /// SHA-256 of a component, 64 hexadecimal characters.
    #[schema(value_type = Option<String>)]
    pub component: Option<Digest>,
    /// Name of a key, 16 hexadecimal characters, as `plugin verify` shows it.
    #[schema(value_type = Option<String>)]
    pub key: Option<KeyId>,
    /// Why.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

impl RevocationOrder {
    /// What is to be revoked: one of the two is named.
    #[must_use]
    pub fn what(&self) -> Option<Revoked> {
        match (self.component, self.key) {
            (Some(component), None) => Some(Revoked::Component(component)),
            (None, Some(key)) => Some(Revoked::Key(key)),
            _ => None,
        }
    }
}

impl Body for RevocationOrder {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (component, key) = (members.optional_text("component"), members.optional_text("key"));
        let reason = members.prose("reason");
        let named = component.is_some() != key.is_some();
        if !named {
            members.refuse("component", code::OUT_OF_RANGE, "expected one of `component` and `key`");
        }
        let component = component.map(|text| text.parse::<Digest>().map_err(|error| error.to_string())).transpose();
        let key = key.map(|text| text.parse::<KeyId>().map_err(|error| error.to_string())).transpose();
        for (name, problem) in [("component", component.as_ref().err()), ("key", key.as_ref().err())] {
            if let Some(problem) = problem {
                members.refuse(name, "WRONG_FORMAT", problem.clone());
            }
        }
        let fits = |reason: &String| (1..=REASON_MAX_CHARS).contains(&reason.trim().chars().count());
        if !reason.as_ref().is_none_or(fits) {
            members.refuse("reason", code::OUT_OF_RANGE, format!("expected 1 to {REASON_MAX_CHARS} characters"));
        }
        Some(Self { component: component.ok()?, key: key.ok()?, reason: reason? })
    }
}

/// A component or a key that is revoked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Revocation {
    #[schema(required, value_type = Option<String>)]
    pub component: Option<Digest>,
    #[schema(required)]
    pub key: Option<String>,
    pub reason: String,
    /// When, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    /// Who has revoked it.
    pub by: Actor,
}

/// Everything that is revoked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RevocationList {
    /// In the order in which it was.
    pub revocations: Vec<Revocation>,
}

/// The outcome of a revocation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RevocationDone {
    pub revocation: Revocation,
    /// The versions of the catalogue that run nowhere by it.
    pub versions: Vec<RevokedVersion>,
}

/// A version that came under a revocation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RevokedVersion {
    pub intent: String,
    pub version: String,
    /// SHA-256 of its component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// Whether it was live; the last version that is still trusted serves in its place, if there is one.
    pub was_live: bool,
}

impl From<intent_gateway_signing::Revocation> for Revocation {
    fn from(revocation: intent_gateway_signing::Revocation) -> Self {
        let intent_gateway_signing::Revocation { what, reason, at_ms, by } = revocation;
        let (component, key) = match what {
            Revoked::Component(component) => (Some(component), None),
            Revoked::Key(key) => (None, Some(key.to_string())),
        };
        Self { component, key, reason, at_ms, by }
    }
}

impl From<intent_gateway_signing::Revocations> for RevocationList {
    fn from(revocations: intent_gateway_signing::Revocations) -> Self {
        Self { revocations: revocations.all.into_iter().map(Revocation::from).collect() }
    }
}

impl From<RevocationOutcome> for RevocationDone {
    fn from(outcome: RevocationOutcome) -> Self {
        let version = |version: intent_gateway_signing::RevokedVersion| {
            let intent_gateway_signing::RevokedVersion { intent, version, digest, was_live } = version;
            RevokedVersion { intent, version, digest, was_live }
        };
        Self { revocation: outcome.revocation.into(), versions: outcome.versions.into_iter().map(version).collect() }
    }
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

/// The values of vocabularies that a version takes out, and who uses them.
///
/// A value counts as used where a text is that value, for a vocabulary does not say where its values stand.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RemovedValues {
    /// Sorted by vocabulary and value.
    pub values: Vec<RemovedValue>,
    /// How many approved manifests list the intent; all of them were read.
    pub manifests_read: u32,
    /// How many rankings of the intent were read: the latest, at most 200.
    pub rankings_read: u32,
    /// When the oldest of them was made, milliseconds since the epoch; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, required = false, nullable = false)]
    pub rankings_since_ms: Option<Timestamp>,
}

/// A value that goes, and who uses it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RemovedValue {
    /// Name of the vocabulary.
    pub vocabulary: String,
    /// What goes.
    pub value: String,
    /// The partners whose approved manifest names it, at most 50.
    pub manifests: Vec<String>,
    /// How many rankings' requests name it.
    pub requests: u32,
    /// The partners whose options name it, at most 50, those with the most rankings first.
    pub partners: Vec<ValuePartner>,
    /// How many partners are not named here.
    pub more: u32,
}

/// A partner whose options name a value.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ValuePartner {
    /// The partner.
    pub partner: String,
    /// In how many rankings.
    pub rankings: u32,
}

impl RemovedValue {
    /// Who uses it, in words, for a person.
    #[must_use]
    pub fn describe(&self, rankings_read: u32) -> String {
        let list = |names: Vec<String>| if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
        let partners = self.partners.iter().map(|used| format!("{} ({})", used.partner, used.rankings)).collect();
        let more = if self.more > 0 { format!(" {} more partners are not named.", self.more) } else { String::new() };
        format!(
            "`{}` goes. Approved manifests that name it: {}. Of the latest {rankings_read} rankings, {} asked for it. \
             Partners that offered it, with the number of rankings: {}.{more}",
            self.value,
            list(self.manifests.clone()),
            self.requests,
            list(partners)
        )
    }
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

impl From<ValueUse> for RemovedValues {
    fn from(found: ValueUse) -> Self {
        let ValueUse { values, manifests_read, rankings_read, rankings_since } = found;
        let values = values.into_iter().map(RemovedValue::from).collect();
        Self { values, manifests_read, rankings_read, rankings_since_ms: rankings_since }
    }
}

impl From<UsedValue> for RemovedValue {
    fn from(used: UsedValue) -> Self {
        let UsedValue { removed, manifests, requests, partners } = used;
        let all = manifests.len() + partners.len();
        let mut partners: Vec<_> = partners
            .into_iter()
            .map(|(partner, rankings)| ValuePartner { partner: partner.to_string(), rankings })
            .collect();
        // Stable: partners with as many rankings stay in the order of their identifiers.
        partners.sort_by_key(|used| std::cmp::Reverse(used.rankings));
        partners.truncate(PARTNERS_NAMED_MAX);
        let manifests: Vec<_> = manifests.iter().take(PARTNERS_NAMED_MAX).map(ToString::to_string).collect();
        let more = u32::try_from(all - manifests.len() - partners.len()).unwrap_or(u32::MAX);
        let intent_gateway_domain::succession::RemovedValue { vocabulary, value } = removed;
        Self { vocabulary, value, manifests, requests, partners, more }
    }
}
