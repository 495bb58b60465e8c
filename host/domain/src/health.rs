//! What changes in a partner's health, with the numbers that decided it, and what counts towards a suspension.
//!
//! Not here: the judgement (the crate `outbound` watches calls and counts strikes) and the suspension (`onboarding`).

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{IntentId, PartnerId};

/// Incidents of one code that suspend (spec 2, Rules that must hold).
pub const STRIKES_OUT: usize = 3;
/// Within this time, milliseconds: 90 days, the time over which `delivered` judges as well.
pub const STRIKE_WINDOW_MS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// A change in a partner's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthEvent {
    /// When.
    pub at_ms: Timestamp,
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
        intent: IntentId,
        /// By which numbers.
        #[serde(flatten)]
        slowness: Slowness,
    },
    /// It would have left, and nobody else serves the intent: it stays.
    HeldBack {
        intent: IntentId,
        /// By which numbers.
        #[serde(flatten)]
        slowness: Slowness,
    },
    /// It is in the pool of an intent again.
    Returned {
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

/// The numbers by which a breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Opening {
    /// Failures in a row.
    pub consecutive: u32,
    /// Failures within the last minute.
    pub failed: u32,
    /// Calls within the last minute.
    pub calls: u32,
    /// Which opening in a row this is, from 1.
    pub opening: u32,
    /// Wait until a call is let through, milliseconds.
    pub wait_ms: u64,
}

/// The numbers by which a partner leaves the pool, or would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slowness {
    /// The slow tool.
    pub tool: String,
    /// Its target, milliseconds.
    pub target_p95_ms: u32,
    /// For how long it has been over twice that, milliseconds.
    pub over_for_ms: u64,
    /// Its last five minutes.
    #[serde(flatten)]
    pub window: Percentiles,
}

/// The calls of a tool within five minutes; percentiles are up to a quarter above the true ones, never below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WindowBody))]
pub struct Percentiles {
    /// How many.
    pub calls: u32,
    /// Of these, over twice the target of the 95th percentile.
    pub slow: u32,
    /// Median, milliseconds.
    pub p50_ms: u64,
    /// 95th percentile, milliseconds.
    pub p95_ms: u64,
    /// 99th percentile, milliseconds.
    pub p99_ms: u64,
}

/// Why a partner is in the pool again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnReason {
    /// Its slow tool is within the target.
    Recovered,
    /// No trial told anything of the slow tool.
    NoEvidence,
    /// Every other partner of the intent is slower.
    LeastSlow,
}

/// The numbers by which a partner returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Return {
    /// Why.
    pub reason: ReturnReason,
    /// How long it was out, milliseconds.
    pub out_for_ms: u64,
    /// Calls within the target in a row.
    pub good_calls: u32,
    /// Trials since the slow tool was last heard of.
    pub trials_unheard: u32,
}

/// One incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Incident {
    /// When.
    pub at_ms: Timestamp,
    /// The request in whose answer it was found, or the order that it concerns.
    pub id: String,
}

/// The incidents of one code within the window, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Strikes {
    /// Code of the rule.
    pub code: String,
    /// Never more than [`STRIKES_OUT`].
    pub incidents: Vec<Incident>,
}

impl Slowness {
    /// Orders by how many times its target a tool takes.
    #[must_use]
    pub fn is_less_than(&self, other: &Self) -> bool {
        self.window.p95_ms * u64::from(other.target_p95_ms) < other.window.p95_ms * u64::from(self.target_p95_ms)
    }
}

impl Strikes {
    /// When the last incident was; the epoch without any.
    #[must_use]
    pub fn newest(&self) -> Timestamp {
        self.incidents.last().map_or(Timestamp::EPOCH, |incident| incident.at_ms)
    }

    /// Whether this is an incident that was not known, within the window of the newest.
    pub fn take(&mut self, id: &str, at: Timestamp) -> bool {
        let newest = self.newest().max(at);
        self.incidents.retain(|incident| newest.ms_since(incident.at_ms) <= STRIKE_WINDOW_MS);
        if newest.ms_since(at) > STRIKE_WINDOW_MS || self.incidents.iter().any(|incident| incident.id == id) {
            return false;
        }
        let place = self.incidents.partition_point(|incident| incident.at_ms <= at);
        self.incidents.insert(place, Incident { at_ms: at, id: id.to_owned() });
        if self.incidents.len() > STRIKES_OUT {
            self.incidents.remove(0);
        }
        true
    }
}

/// Counts the strikes against partners, and forgets what was decided about.
pub trait StrikeCounter: Send + Sync {
    /// Takes a strike: the breach of a rule that counts towards suspension. `incident` is the request in whose answer it
    /// was found, or the order; told twice, it counts once. Returned is the partner's striking out, once.
    fn strike(&self, partner: &PartnerId, code: &str, incident: &str, at: Timestamp) -> Option<HealthEvent>;

    /// Forgets the strikes until then, for good: the platform team has lifted the suspension. After a restart it is
    /// told before the strikes are.
    fn pardon(&self, partner: &PartnerId, until: Timestamp);

    /// Partners that any incident is held against.
    fn struck(&self) -> Vec<PartnerId>;

    /// Forgets how partners were called that are not routed any more: should one come back, it begins anew. The strikes
    /// against it stay.
    fn forget_calls(&self, is_routed: &dyn Fn(&PartnerId) -> bool);
}
