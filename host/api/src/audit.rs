//! The audit log.

use intent_gateway_domain::audit::{Actor, AuditEntry, AuditSoundness};
use intent_gateway_domain::chain::Links;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::time;

/// A part of the audit log, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditPage {
    /// This page's.
    pub entries: Vec<AuditEntryBody>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub next: Option<u64>,
}

/// Who did what to whom, and when.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntryBody {
    /// Its place, from 1, without gaps.
    pub seq: u64,
    /// When.
    pub at: String,
    /// Who.
    pub actor: Actor,
    /// What.
    #[schema(example = "manifest.submitted")]
    pub action: String,
    /// To whom: an account or another identifier.
    pub subject: String,
    /// What is worth knowing besides.
    #[schema(value_type = Object)]
    pub detail: Option<Value>,
    /// Over this entry and the hash of the one before: HMAC-SHA-256, or SHA-256 where it has no key.
    pub hash: String,
    /// Which key the hash is under; null for an entry from before there were keys.
    #[schema(required)]
    pub key: Option<String>,
}

impl From<AuditEntry> for AuditEntryBody {
    fn from(entry: AuditEntry) -> Self {
        Self {
            seq: entry.seq,
            at: time(entry.at_ms),
            actor: entry.actor,
            action: entry.action,
            subject: entry.subject,
            // JSON text unless somebody changed it; the verification says so then.
            detail: serde_json::from_str(&entry.detail).ok(),
            hash: entry.hash.to_string(),
            key: entry.key.map(|key| key.to_string()),
        }
    }
}

/// Whether the audit log is as it was written.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditVerified {
    /// Whether every entry was checked, follows from the one before, and is the one that was anchored.
    pub ok: bool,
    /// Entries that hold, from the first on.
    pub entries: u64,
    /// Hash of the last of them. Kept elsewhere, it shows whether the end was cut off.
    pub head: String,
    /// What the entries that hold could be checked with.
    pub links: LinksBody,
    /// What is wrong, where something is.
    #[schema(required)]
    pub problem: Option<String>,
}

/// With what the entries of a chain could be checked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct LinksBody {
    /// Entries from before there were keys: their links are plain digests.
    pub without_key: u64,
    /// Entries whose links are under a key that is at hand.
    pub under_key: u64,
    /// Entries whose links could not be checked, for their key is not at hand.
    pub unchecked: u64,
    /// Anchors that the entries were compared with.
    pub anchors: u64,
}

impl LinksBody {
    /// Of links and anchors.
    #[must_use]
    pub fn new(links: Links, anchors: u64) -> Self {
        let Links { without_key, under_key, unchecked } = links;
        Self { without_key, under_key, unchecked, anchors }
    }
}

impl From<&AuditSoundness> for AuditVerified {
    fn from(soundness: &AuditSoundness) -> Self {
        let AuditSoundness { head: (entries, head), links, anchors, fault } = soundness;
        Self {
            ok: soundness.is_sound(),
            entries: *entries,
            head: head.to_string(),
            links: LinksBody::new(*links, *anchors),
            problem: fault.map(|fault| fault.to_string()),
        }
    }
}
