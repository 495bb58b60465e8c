//! Findings: what the platform team should know of a partner's answers.

use serde::Serialize;

use crate::contract::Violation;
use crate::id::PartnerId;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The option stayed in the ranking.
    Note,
    /// The option, or the whole answer, was dropped.
    Drop,
    /// Dropped, and counts towards the partner's suspension.
    Strike,
}

/// One thing found in a partner's answer.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// When, milliseconds since the epoch.
    pub at_ms: u64,
    /// Against whom.
    pub partner: PartnerId,
    /// The intent concerned.
    pub intent: String,
    /// The request in whose answer it was found.
    pub request_id: String,
    /// The option's identifier, where the finding concerns one.
    pub option_id: Option<String>,
    /// How grave.
    pub severity: Severity,
    /// What; the pointer is into the option, or into the payload where no option is concerned.
    pub violation: Violation,
}
