//! Findings: what the platform team should know of a partner's answers and completion reports.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::contract::Violation;
use crate::id::PartnerId;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The option stayed in the ranking; the report was booked.
    Note,
    /// The option, or the whole answer, was dropped.
    Drop,
    /// Dropped, and counts towards the partner's suspension.
    Strike,
}

impl Severity {
    /// As it is named on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Drop => "drop",
            Self::Strike => "strike",
        }
    }
}

/// One thing found in a partner's answer or completion report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// When, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// Against whom.
    pub partner: PartnerId,
    /// The intent concerned.
    pub intent: String,
    /// The request in whose answer it was found, or that the reported order came from.
    pub request_id: String,
    /// The option's identifier, where the finding concerns one.
    pub option_id: Option<String>,
    /// The partner's identifier of the order, where the finding concerns a completion report.
    pub external_id: Option<String>,
    /// How grave.
    pub severity: Severity,
    /// What; the pointer is into the option, the report, or the payload where neither is concerned.
    pub violation: Violation,
}

/// A finding with its number in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptFinding {
    /// Greater than that of any finding kept before it.
    pub number: u64,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}
