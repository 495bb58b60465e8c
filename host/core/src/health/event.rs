//! What changes in a partner's health, with the numbers that decided it, for the audit log.

use serde::Serialize;

use super::breaker::Opening;
use super::pool::{Return, Slowness};
use super::strikes::Strikes;
use crate::id::{IntentId, PartnerId};

/// A change in a partner's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthEvent {
    /// When, milliseconds since the epoch.
    pub at_ms: u64,
    /// Whose.
    pub partner: PartnerId,
    /// What, and by which numbers.
    #[serde(flatten)]
    pub change: HealthChange,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum HealthChange {
    /// It left the pool of an intent for slowness.
    Ejected {
        /// The intent.
        intent: IntentId,
        /// By which numbers.
        #[serde(flatten)]
        slowness: Slowness,
    },
    /// It would have left, and nobody else serves the intent: it stays.
    HeldBack {
        /// The intent.
        intent: IntentId,
        /// By which numbers.
        #[serde(flatten)]
        slowness: Slowness,
    },
    /// It is in the pool of an intent again.
    Returned {
        /// The intent.
        intent: IntentId,
        /// By which numbers.
        #[serde(flatten)]
        by: Return,
    },
    /// Its breaker opened: nobody calls it for a while.
    Opened(Opening),
    /// Its breaker lets one call through, to see.
    HalfOpened,
    /// Its breaker closed: it is called as before.
    Closed {
        /// Since it first opened, milliseconds.
        after_ms: u64,
    },
    /// It broke one rule three times: it is to be suspended.
    StruckOut(Strikes),
}

impl HealthEvent {
    /// What happened, as the audit log names it.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self.change {
            HealthChange::Ejected { .. } => "health.ejected",
            HealthChange::HeldBack { .. } => "health.held_back",
            HealthChange::Returned { .. } => "health.returned",
            HealthChange::Opened(_) => "health.opened",
            HealthChange::HalfOpened => "health.half_opened",
            HealthChange::Closed { .. } => "health.closed",
            HealthChange::StruckOut(_) => "health.struck_out",
        }
    }
}
