//! What is revoked: a component, or a key that components were signed with.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::violations::code;
use intent_gateway_signing::{KeyId, REASON_MAX_CHARS, RevocationOutcome, Revoked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::read::{Body, Members};

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
