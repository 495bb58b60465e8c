//! The versions of contracts that a gateway has loaded: where each came from, what has happened to it since, and what the
//! platform team asks for and is answered.
//!
//! Not here: which version may follow which ([`crate::succession`]), and the port itself
//! ([`ContractAdmin`](crate::ports::ContractAdmin)).

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::{Actor, AuditDraft};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::error::chain;
use crate::id::IntentId;
use crate::rates::Counted;
use crate::share::Share;
use crate::steps::Contended;
use crate::store::{StoreError, StoreTrouble};
use crate::succession::{Removal, RemovedValue};

/// Events kept of one version. The first, its loading, stays; of the others the oldest go.
pub const HISTORY_MAX: usize = 50;

/// Where a component came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
pub enum Origin {
    /// A file of the watched folder, by its path.
    Folder(String),
    /// An upload by this caller.
    Upload(String),
    /// A source in a registry or a layout, by its name.
    Registry(String),
    /// Kept by a release of the gateway that did not note where it came from.
    Kept,
}

/// A version that has been loaded, live or not.
#[derive(Clone, Debug, Serialize)]
pub struct LoadedVersion {
    pub intent: String,
    pub version: String,
    /// Digest of the component.
    pub digest: Digest,
    /// Whether it serves.
    pub live: bool,
    /// Where it came from.
    pub origin: Origin,
    /// When it was loaded, milliseconds since the epoch.
    pub loaded_at_ms: Timestamp,
    /// Who loaded it; the gateway itself for a file of the watched folder.
    pub loaded_by: Actor,
    /// What has happened to it, oldest first: at most [`HISTORY_MAX`] events.
    pub history: Vec<VersionEvent>,
    /// Names of the trusted keys that have signed it.
    pub signed_by: Vec<String>,
    /// Size of the component in bytes.
    pub component_bytes: usize,
    /// Calls served since the process started.
    pub calls: u64,
    /// Calls that failed for the contract's own fault.
    pub faults: u64,
}

/// A component that did not become what was asked of it.
#[derive(Clone, Debug, Serialize)]
pub struct LoadFailure {
    /// When, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// Where it came from.
    pub origin: Origin,
    /// Digest of the component, where it could be read.
    pub digest: Option<Digest>,
    /// The intent, where the component got as far as telling.
    pub intent: Option<String>,
    /// Its version, likewise.
    pub version: Option<String>,
    /// Stable code, for example `ABI_MISMATCH`.
    pub code: String,
    /// What went wrong, down to the innermost cause, for the platform team.
    pub message: String,
    /// The values of vocabularies that it would take out, where that is what is wrong.
    pub removed: Vec<RemovedValue>,
}

/// A version that is in the catalogue and could not be made ready here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingVersion {
    pub intent: String,
    /// Digest of its component.
    pub digest: Digest,
    /// Where it came from when it was loaded.
    pub origin: Origin,
    /// Whether it ought to serve: nobody has put another one in its place since.
    pub ought_to_serve: bool,
    /// The version that serves the intent meanwhile; none where the intent is not served at all.
    pub serving: Option<String>,
    /// Stable code, for example `UNREADABLE`.
    pub code: String,
    /// Why it is missing, down to the innermost cause.
    pub message: String,
}

/// The request of the platform team could not be carried out.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ContractAdminError {
    /// The component was not taken; the version before it goes on serving.
    #[error("the contract was not taken ({}): {}", .0.code, .0.message)]
    Rejected(Box<LoadFailure>),
    /// Nothing of that name is loaded.
    #[error("no contract `{0}` is loaded")]
    Unknown(String),
    /// As many components of this account are being examined as may be; nothing is wrong with this one.
    #[error("too many components of the same account are being examined")]
    Overloaded,
    /// The gateway is shutting down; the component was not examined to its end.
    #[error("the gateway is shutting down")]
    ShuttingDown,
    /// The store could not be asked, or did not take it; nothing changed.
    #[error("the catalogue of contracts could not be changed: {message}")]
    Store {
        trouble: StoreTrouble,
        /// Down to the innermost cause.
        message: String,
    },
}

impl From<StoreError> for ContractAdminError {
    fn from(error: StoreError) -> Self {
        Self::Store { trouble: error.trouble(), message: chain(&error) }
    }
}

impl From<Contended> for ContractAdminError {
    fn from(contended: Contended) -> Self {
        Self::Store { trouble: StoreTrouble::Busy, message: contended.to_string() }
    }
}

/// A component that did not pass its examination, with what it told of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedComponent {
    /// Digest of the component, where it could be read.
    pub digest: Option<Digest>,
    /// Intent and version, where it got as far as telling.
    pub identity: Option<(String, String)>,
    /// Stable code.
    pub code: String,
    /// What went wrong, down to the innermost cause.
    pub message: String,
}

/// Why a component did not come out of its examination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExamined {
    /// It did not pass.
    Refused(Box<RefusedComponent>),
    /// It was not looked at: too many of the same account are.
    Overloaded,
    /// The gateway shuts down.
    ShuttingDown,
}

/// Why a gateway could not make a version ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageFailure {
    /// Stable code, as of a failure to load.
    pub code: String,
    /// Down to the innermost cause.
    pub message: String,
}

/// A gateway that a version waits for before it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitedFor {
    /// Identifier of the gateway.
    pub gateway: String,
    /// Why it cannot make the version ready; none where it is still at it.
    pub failure: Option<StageFailure>,
}

/// Calls of a version since the process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub calls: u64,
    /// Those that failed for the contract's own fault.
    pub faults: u64,
}

/// A version that keeps failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    pub digest: Digest,
    /// Calls of the function that failed last, since somebody decided that the version serves, with those that failed.
    pub calls: Counted,
    /// The last ones, all of which failed.
    pub in_a_row: u32,
}

/// What this gateway has of an intent's versions, and which one serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedIntent {
    pub intent: IntentId,
    pub live: Option<Digest>,
    /// The candidate of a rollout that serves a share of the users.
    pub candidate: Option<(Digest, Share)>,
    /// All that are ready here, the live one among them.
    pub ready: Vec<Digest>,
}

/// What is wanted of an intent, and what each gateway says that it has.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentStatus {
    pub intent: IntentId,
    /// The version that is to serve now; none where the intent is out of service.
    pub live: Option<VersionName>,
    /// The version that is to serve once every gateway has it ready.
    pub coming: Option<ComingVersion>,
    /// The version that is on its way to everybody step by step.
    pub rollout: Option<RolledOutVersion>,
    /// What a new version does that is found in a folder.
    pub policy: ReleasePolicy,
    /// The gateways that live, by identifier.
    pub gateways: Vec<GatewayStatus>,
}

/// A version that is to serve once every gateway has it ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComingVersion {
    pub name: VersionName,
    pub since_ms: Timestamp,
    /// Who wants it.
    pub by: Actor,
}

/// A version that is on its way to everybody step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct RolledOutVersion {
    pub name: VersionName,
    /// Its stage, from 0, of so many.
    pub stage: usize,
    pub stages: usize,
    /// Percentage of the users whom it serves.
    pub share_percent: f64,
    pub is_paused: bool,
}

/// What a gateway says that it has of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayStatus {
    pub id: String,
    /// For people.
    pub name: String,
    /// What serves there.
    pub serving: Option<ServingStatus>,
    /// What it was asked to make ready last.
    pub staged: Option<StagedStatus>,
}

/// A version that serves at a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingStatus {
    /// Its number, where the catalogue still has it.
    pub version: Option<Version>,
    pub digest: Digest,
    pub since_ms: Timestamp,
    /// From the change of what is wanted until it served, milliseconds.
    pub took_ms: u64,
}

/// What came of making a version ready at a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedStatus {
    /// Its number, where the catalogue still has it.
    pub version: Option<Version>,
    pub digest: Digest,
    pub at_ms: Timestamp,
    /// How long it took, milliseconds.
    pub took_ms: u64,
    /// Why it is not ready; none where it is.
    pub failure: Option<StageFailure>,
}

/// What is asked of a load.
#[derive(Clone, Debug)]
pub struct LoadOrder {
    /// Where the component comes from.
    pub origin: Origin,
    /// Who asks.
    pub by: Actor,
    /// Whether a new version is to go live.
    pub activate: bool,
    /// Whether it may take values out of vocabularies.
    pub removal: Removal,
}

/// The outcome of a load.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub version: LoadedVersion,
    /// Whether this very component was loaded before. It is as it was then.
    pub known: bool,
    /// The values that it takes out of the live version's vocabularies.
    pub removed: Vec<RemovedValue>,
    /// The gateways that it waits for before it goes live; none where it does not wait.
    pub waits_for: Vec<WaitedFor>,
}

/// What a state folder holds of contracts from before there was a catalogue.
#[derive(Clone, Debug, Default)]
pub struct LeftContracts {
    pub intents: Vec<LeftIntent>,
}

/// What it holds of one intent.
#[derive(Clone, Debug)]
pub struct LeftIntent {
    pub intent: IntentId,
    pub live: Option<Digest>,
    /// Versions that served before, latest last.
    pub previous: Vec<Digest>,
    /// In the order in which they were loaded.
    pub versions: Vec<LeftVersion>,
}

/// A version that it holds.
#[derive(Clone, Debug)]
pub struct LeftVersion {
    pub digest: Digest,
    /// None where it is gone or damaged.
    pub component: Option<bytes::Bytes>,
    pub origin: Origin,
    pub loaded_at_ms: Timestamp,
    pub loaded_by: Actor,
    pub history: Vec<VersionEvent>,
}

/// Whether a component that somebody has put into a folder may go live by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntakeStanding {
    /// It may.
    Open,
    /// Somebody has taken the intent out of service.
    OutOfService,
    /// Another version is about to go live.
    Changing,
    /// Versions of the intent go live by an act alone.
    ByHand,
}

/// What a new version does that is found in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleasePolicy {
    /// It goes live.
    #[default]
    Auto,
    /// It is loaded, and goes live when somebody says so.
    Manual,
}

/// The outcome of an activation.
#[derive(Clone, Debug)]
pub struct Activated {
    pub version: LoadedVersion,
    /// The gateways that it waits for before it goes live; none where it is live.
    pub waits_for: Vec<WaitedFor>,
}

/// When a version goes live that somebody activates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoLive {
    /// Once every gateway has it ready.
    #[default]
    WhenReady,
    /// At once: whoever asks has said that no gateway is to be waited for.
    AtOnce,
}

/// What happened to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionAct {
    Loaded,
    /// It is to serve once every gateway has it ready.
    AskedFor,
    WentLive,
    /// It was to serve, and is not to any more.
    Withdrawn,
    /// It was live, and nothing that was asked for has taken its place.
    LeftService,
    /// Somebody more has signed it.
    Signed,
    /// It is the candidate of a rollout from then on.
    RolloutBegun,
    /// The next stage of its rollout has begun.
    StageBegun,
    RolloutPaused,
    RolloutResumed,
    /// Its rollout ended, and it is not live.
    TakenBack,
}

/// By which way it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whence {
    /// A file of the watched folder; which, its origin tells.
    Folder,
    /// An upload.
    Upload,
    /// A source that is followed; which, its origin tells.
    Registry,
    /// Somebody made a loaded version live.
    Activation,
    /// The version that was live kept failing.
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

impl Whence {
    /// The way of a component that came from there.
    #[must_use]
    pub fn of(origin: &Origin) -> Self {
        match origin {
            Origin::Folder(_) => Self::Folder,
            Origin::Registry(_) => Self::Registry,
            // What was kept is not loaded anew; the arm only completes the match.
            Origin::Upload(_) | Origin::Kept => Self::Upload,
        }
    }
}

/// One event in the life of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionEvent {
    /// When, milliseconds since the epoch.
    pub at_ms: Timestamp,
    pub act: VersionAct,
    pub whence: Whence,
    /// Who asked for it; the gateway for what nobody asked for.
    pub by: Actor,
    /// Why, where a reason was given or a rule has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A version, by its number and its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionName {
    pub version: Version,
    pub digest: Digest,
}

/// An event with the version that it concerns, as the audit log is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractEvent {
    pub intent: IntentId,
    pub version: Version,
    pub digest: Digest,
    /// Where the version came from.
    pub origin: Origin,
    pub event: VersionEvent,
    /// What served the intent before, and after; nothing where it was out of service.
    pub live_before: Option<VersionName>,
    pub live_after: Option<VersionName>,
    /// Names of the trusted keys that have signed it.
    pub signed_by: Vec<String>,
    /// The values of vocabularies that the loading of it took out: whoever loaded it has said that this is meant.
    pub removed: Vec<RemovedValue>,
    /// More of it for the audit log; null where there is nothing.
    pub detail: serde_json::Value,
}

/// Removed values that the audit log names; the rest is only counted.
const REMOVED_NAMED_MAX: usize = 50;

impl ContractEvent {
    /// The event as the audit log keeps it. Its subject is the intent.
    #[must_use]
    pub fn to_draft(&self) -> AuditDraft {
        let VersionEvent { at_ms, act, whence, by, why } = &self.event;
        let action = match act {
            VersionAct::Loaded => "contract.loaded",
            VersionAct::AskedFor => "contract.asked_for",
            VersionAct::WentLive => "contract.went_live",
            VersionAct::Withdrawn => "contract.withdrawn",
            VersionAct::LeftService => "contract.left_service",
            VersionAct::Signed => "contract.signed",
            VersionAct::RolloutBegun => "contract.rollout_begun",
            VersionAct::StageBegun => "contract.stage_begun",
            VersionAct::RolloutPaused => "contract.rollout_paused",
            VersionAct::RolloutResumed => "contract.rollout_resumed",
            VersionAct::TakenBack => "contract.taken_back",
        };
        let (version, digest) = (self.version.to_string(), self.digest.to_string());
        let mut detail = json!({
            "version": version, "digest": digest, "whence": whence, "origin": self.origin,
            "live_before": self.live_before, "live_after": self.live_after,
        });
        if let Some(why) = why {
            detail["why"] = json!(why);
        }
        if !self.detail.is_null() {
            detail["rollout"] = self.detail.clone();
        }
        if !self.signed_by.is_empty() {
            detail["signed_by"] = json!(self.signed_by);
        }
        if !self.removed.is_empty() {
            let named: Vec<_> = self.removed.iter().take(REMOVED_NAMED_MAX).collect();
            let more = self.removed.len() - named.len();
            detail["allow_removed_values"] = json!({ "removed": named, "more": more });
        }
        AuditDraft {
            at_ms: *at_ms,
            actor: by.clone(),
            action: action.to_owned(),
            subject: self.intent.to_string(),
            detail,
        }
    }
}
