//! What an order keeps of what has happened to it.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// What happened to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Happening {
    /// A tool is called.
    Called {
        tool: String,
        request_id: String,
        /// Where the call is kept under its key; none where it has no key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<String>,
    },
    /// Its answer passed, and left the order in this state.
    Answered { tool: String, state: String },
    /// The call certainly did nothing.
    Failed { tool: String, code: String },
    /// Nobody knows whether the partner did it.
    Unknown { tool: String, code: String },
    /// A completion report closed it.
    Reported { status: String, receipt: String },
}

impl Happening {
    /// Whether a call of this tool is over with it.
    pub(super) fn ends(&self, called: &str) -> bool {
        match self {
            Self::Answered { tool, .. } | Self::Failed { tool, .. } | Self::Unknown { tool, .. } => tool == called,
            Self::Called { .. } | Self::Reported { .. } => false,
        }
    }
}

/// One event of an order's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderEvent {
    /// The gateway's time, milliseconds since the epoch.
    pub at_ms: Timestamp,
    #[serde(flatten)]
    pub what: Happening,
}

/// The report that closed an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosingReport {
    /// When it was booked, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// The partner's identifier in it.
    pub external_id: String,
    /// The reported status; also the order's state from then on.
    pub status: String,
    /// Receipt of the ledger's entry.
    pub receipt: String,
}
