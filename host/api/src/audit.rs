//! The audit log.

use intent_gateway_domain::audit::{Actor, AuditEntry};
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
    /// SHA-256 over this entry and the hash of the one before.
    pub hash: String,
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
        }
    }
}

/// Whether the audit log is as it was written.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditVerified {
    /// Whether every entry follows from the one before.
    pub ok: bool,
    /// Entries that hold, from the first on.
    pub entries: u64,
    /// Hash of the last of them. Kept elsewhere, it shows whether the end was cut off.
    pub head: String,
    /// What is wrong, where something is.
    #[schema(required)]
    pub problem: Option<String>,
}
