//! What is not trusted any more: a key that may be in other hands, a content that must not run. For good: whoever errs signs or builds
//! anew.

use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::store::{Kind, Record};
use intent_gateway_domain::versions::ContractAdminError;
use serde::{Deserialize, Serialize};

use crate::keys::KeyId;

/// Revocations that are kept: every gateway reads them again and again.
const REVOCATIONS_MAX: usize = 1_000;
/// Longest reason, characters.
pub const REASON_MAX_CHARS: usize = 500;

/// What is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Revoked {
    /// A content.
    Component(Digest),
    /// A key: what it alone has signed is not trusted.
    Key(KeyId),
}

/// A revocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    pub what: Revoked,
    pub reason: String,
    pub at_ms: Timestamp,
    pub by: Actor,
}

/// No more are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{REVOCATIONS_MAX} revocations are kept, and no more; nothing was revoked")]
pub struct TooManyRevocations;

/// All of them: one record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocations {
    /// In their order.
    pub all: Vec<Revocation>,
}

impl Revocations {
    /// The key of the one record.
    pub const KEY: &'static str = "all";

    /// Adds one; false where it is there already.
    ///
    /// # Errors
    /// [`TooManyRevocations`], and nothing is revoked.
    pub fn add(&mut self, revocation: Revocation) -> Result<bool, TooManyRevocations> {
        if self.find(revocation.what).is_some() {
            return Ok(false);
        }
        if self.all.len() >= REVOCATIONS_MAX {
            return Err(TooManyRevocations);
        }
        self.all.push(revocation);
        Ok(true)
    }

    #[must_use]
    pub fn find(&self, what: Revoked) -> Option<&Revocation> {
        self.all.iter().find(|revocation| revocation.what == what)
    }
}

impl Record for Revocations {
    const KIND: Kind = Kind::ContractRevocations;

    fn key(&self) -> String {
        Self::KEY.to_owned()
    }
}

/// What came under a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokedVersion {
    pub intent: String,
    pub version: String,
    pub digest: Digest,
    /// Whether it was live: another version serves in its place now, or none.
    pub was_live: bool,
}

/// The outcome of a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationOutcome {
    pub revocation: Revocation,
    /// False where it was revoked before.
    pub is_new: bool,
    /// The versions of the catalogue that are not trusted any more.
    pub versions: Vec<RevokedVersion>,
}

/// Revokes, for whoever shows it to the outside.
pub trait RevocationDesk: Send + Sync {
    /// Revokes a key or a content for good, on all gateways of the store.
    fn revoke(
        &self,
        what: Revoked,
        reason: String,
        by: Actor,
    ) -> BoxFuture<'_, Result<RevocationOutcome, ContractAdminError>>;

    /// All that is revoked, in the order in which it was.
    fn revocations(&self) -> BoxFuture<'_, Result<Revocations, ContractAdminError>>;
}
