//! Contracts as they are loaded, for the platform team.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The loaded contract versions.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadedVersions {
    /// Sorted by intent and version.
    pub contracts: Vec<LoadedVersion>,
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
    /// Size of the component in bytes.
    pub component_bytes: usize,
    /// Calls served since the process started.
    pub calls: u64,
    /// Calls that failed for the contract's own fault.
    pub faults: u64,
}

/// Where a component came from.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Origin {
    /// Of which kind.
    pub kind: OriginKind,
    /// Name of the file, or subject of the token that uploaded; absent for `kept`.
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
    /// Kept from before a restart.
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
}

impl From<ports::LoadedVersion> for LoadedVersion {
    fn from(loaded: ports::LoadedVersion) -> Self {
        let ports::LoadedVersion {
            intent,
            version,
            digest,
            live,
            origin,
            loaded_at_ms,
            component_bytes,
            calls,
            faults,
        } = loaded;
        let origin = Origin::from(origin);
        Self { intent, version, digest, live, origin, loaded_at_ms, component_bytes, calls, faults }
    }
}

impl From<ports::Origin> for Origin {
    fn from(origin: ports::Origin) -> Self {
        let (kind, name) = match origin {
            ports::Origin::Folder(name) => (OriginKind::Folder, Some(name)),
            ports::Origin::Upload(name) => (OriginKind::Upload, Some(name)),
            ports::Origin::Kept => (OriginKind::Kept, None),
        };
        Self { kind, name }
    }
}

impl From<ports::LoadFailure> for LoadFailure {
    fn from(failure: ports::LoadFailure) -> Self {
        let ports::LoadFailure { at_ms, origin, digest, intent, version, code, message } = failure;
        Self { at_ms, origin: Origin::from(origin), digest, intent, version, code, message }
    }
}
