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
use crate::id::IntentId;
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

/// A version that was kept and could not be taken up when the gateway started.
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
    /// The state folder could not be written; nothing changed.
    #[error("the contract could not be kept: {0}")]
    Storage(String),
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
}

/// What happened to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionAct {
    Loaded,
    WentLive,
    /// It was live, and nothing that was asked for has taken its place.
    LeftService,
}

/// By which way it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whence {
    /// A file of the watched folder; which, its origin tells.
    Folder,
    /// An upload.
    Upload,
    /// Somebody made a loaded version live.
    Activation,
    /// The version that was live kept failing.
    RollBack,
    /// Somebody took the intent out of service.
    Unloading,
}

impl Whence {
    /// The way of a component that came from there.
    #[must_use]
    pub fn of(origin: &Origin) -> Self {
        match origin {
            Origin::Folder(_) => Self::Folder,
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
}

/// A version, by its number and its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionName {
    pub version: Version,
    pub digest: Digest,
}

/// An event with the version that it concerns, on its way into the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractEvent {
    /// Counts the events of one gateway, from 1.
    pub number: u64,
    pub intent: IntentId,
    pub version: Version,
    pub digest: Digest,
    /// Where the version came from.
    pub origin: Origin,
    pub event: VersionEvent,
    /// What served the intent before, and after; nothing where it was out of service.
    #[serde(default)]
    pub live_before: Option<VersionName>,
    #[serde(default)]
    pub live_after: Option<VersionName>,
    /// The values of vocabularies that the loading of it took out: whoever loaded it has said that this is meant.
    #[serde(default)]
    pub removed: Vec<RemovedValue>,
    /// The network that it was asked from.
    #[serde(default)]
    pub from: Option<String>,
    /// What the token of whoever asked for it opened.
    #[serde(default)]
    pub scope: Option<String>,
    /// The second person who has approved it.
    #[serde(default)]
    pub approved_by: Option<String>,
}

/// Removed values that the audit log names; the rest is only counted.
const REMOVED_NAMED_MAX: usize = 50;

impl ContractEvent {
    /// The event as the audit log keeps it. Its subject is the intent.
    #[must_use]
    pub fn to_draft(&self) -> AuditDraft {
        let VersionEvent { at_ms, act, whence, by } = &self.event;
        let action = match act {
            VersionAct::Loaded => "contract.loaded",
            VersionAct::WentLive => "contract.went_live",
            VersionAct::LeftService => "contract.left_service",
        };
        let (version, digest) = (self.version.to_string(), self.digest.to_string());
        let mut detail = json!({
            "number": self.number, "version": version, "digest": digest, "whence": whence, "origin": self.origin,
            "live_before": self.live_before, "live_after": self.live_after,
        });
        if !self.removed.is_empty() {
            let named: Vec<_> = self.removed.iter().take(REMOVED_NAMED_MAX).collect();
            let more = self.removed.len() - named.len();
            detail["allow_removed_values"] = json!({ "removed": named, "more": more });
        }
        AuditDraft {
            at_ms: *at_ms,
            actor: Actor {
                from: self.from.clone(),
                scope: self.scope.clone(),
                approved_by: self.approved_by.clone(),
                ..by.clone()
            },
            action: action.to_owned(),
            subject: self.intent.to_string(),
            detail,
        }
    }
}
