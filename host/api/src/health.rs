//! Partners' health, as the platform team reads it.

use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::health::{Incident, Percentiles, STRIKE_WINDOW_MS, STRIKES_OUT, Strikes};
use intent_gateway_domain::violations::code;
use intent_gateway_onboarding::TEXT_MAX_CHARS;
use intent_gateway_outbound::health::breaker::{BreakerState, BreakerView};
use intent_gateway_outbound::health::pool::{OutView, ToolView};
use intent_gateway_outbound::health::{IntentView, PartnerView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::read::{Body, Members};
use crate::time;

/// Characters of the code of a rule.
const CODE_MAX_CHARS: usize = 64;
/// Characters of an order's identifier.
const ORDER_MAX_CHARS: usize = 200;
/// A day, milliseconds.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A page of partners' health.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HealthList {
    /// In the order of their identifiers: those that requests are routed to, and those that strikes are held against.
    pub partners: Vec<HealthBody>,
    /// What to ask the next page with, as `after`; null on the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// One partner's health. Calls are those of the gateway that answers, since it started; strikes are those of all gateways.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HealthBody {
    /// Who.
    pub partner: String,
    /// Whether requests are routed to it at all.
    pub routed: bool,
    /// Stands before every call of it.
    pub breaker: BreakerBody,
    /// The strikes that have not expired, by code.
    pub strikes: Vec<StrikesBody>,
    /// The intents that it was called for.
    pub intents: Vec<IntentHealthBody>,
}

impl HealthBody {
    /// The health of a partner; `routed` says whether requests are routed to it.
    #[must_use]
    pub fn new(PartnerView { partner, breaker, strikes, intents }: PartnerView, routed: bool) -> Self {
        Self {
            partner: partner.to_string(),
            routed,
            breaker: BreakerBody::from(breaker),
            strikes: strikes.into_iter().map(StrikesBody::from).collect(),
            intents: intents.into_iter().map(IntentHealthBody::from).collect(),
        }
    }
}

/// The breaker before a partner's server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BreakerBody {
    /// Where it stands.
    pub state: BreakerState,
    /// Failures in a row.
    pub consecutive: u32,
    /// Failures within the last minute.
    pub failed: u32,
    /// Calls within the last minute.
    pub calls: u32,
    /// Until when nothing passes; null unless it is open.
    #[schema(required)]
    pub until: Option<String>,
}

impl From<BreakerView> for BreakerBody {
    fn from(BreakerView { state, consecutive, failed, calls, until }: BreakerView) -> Self {
        Self { state, consecutive, failed, calls, until: until.map(time) }
    }
}

/// How often a partner has broken one rule.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StrikesBody {
    /// Code of the rule.
    pub code: String,
    /// The incidents, oldest first.
    pub incidents: Vec<IncidentBody>,
    /// So many suspend.
    pub suspends_at: usize,
    /// Within so many days.
    pub within_days: u64,
}

impl From<Strikes> for StrikesBody {
    fn from(Strikes { code, incidents }: Strikes) -> Self {
        let incident = |Incident { at_ms, id }| IncidentBody { at: time(at_ms), id };
        let incidents = incidents.into_iter().map(incident).collect();
        Self { code, incidents, suspends_at: STRIKES_OUT, within_days: STRIKE_WINDOW_MS / DAY_MS }
    }
}

/// One incident.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IncidentBody {
    /// When it was found.
    pub at: String,
    /// The request in whose answer it was found, or the order that it concerns.
    pub id: String,
}

/// A partner in the pool of an intent, or out of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentHealthBody {
    /// The intent.
    pub intent: String,
    /// Whether searches call it.
    pub in_pool: bool,
    /// Why not, and until when; null while it is in.
    #[schema(required)]
    pub out: Option<OutBody>,
    /// The tools that were called.
    pub tools: Vec<ToolHealthBody>,
}

impl From<IntentView> for IntentHealthBody {
    fn from(IntentView { intent, out, tools }: IntentView) -> Self {
        Self {
            intent: intent.to_string(),
            in_pool: out.is_none(),
            out: out.map(OutBody::from),
            tools: tools.into_iter().map(ToolHealthBody::from).collect(),
        }
    }
}

/// Why a partner is out of the pool.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OutBody {
    /// Since when.
    pub since: String,
    /// The slow tool.
    pub tool: String,
    /// Its target, milliseconds.
    pub target_p95_ms: u32,
    /// For how long it had been over twice that, milliseconds.
    pub over_for_ms: u64,
    /// What it took in the five minutes before.
    #[serde(flatten)]
    pub window: Percentiles,
    /// When the next search is let through on trial.
    pub next_trial: String,
    /// Trials within the target, in a row.
    pub good_calls: u32,
}

impl From<OutView> for OutBody {
    fn from(OutView { since, slowness, next_trial, good_calls }: OutView) -> Self {
        Self {
            since: time(since),
            tool: slowness.tool,
            target_p95_ms: slowness.target_p95_ms,
            over_for_ms: slowness.over_for_ms,
            window: slowness.window,
            next_trial: time(next_trial),
            good_calls,
        }
    }
}

/// How long a tool takes, against its targets.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolHealthBody {
    /// The tool.
    pub tool: String,
    /// Its targets, by the contract that it was last called under.
    pub targets: TargetsBody,
    /// Its last five minutes.
    #[serde(flatten)]
    pub window: Percentiles,
    /// Since when its 95th percentile has been over twice the target; null while it is not.
    #[schema(required)]
    pub over_since: Option<String>,
}

impl From<ToolView> for ToolHealthBody {
    fn from(ToolView { tool, targets, window, over_since }: ToolView) -> Self {
        Self { tool, targets: targets.into(), window, over_since: over_since.map(time) }
    }
}

/// Targets of a tool, milliseconds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TargetsBody {
    /// Median.
    pub p50_ms: u32,
    /// 95th percentile.
    pub p95_ms: u32,
    /// 99th percentile; null where the intent names none.
    #[schema(required)]
    pub p99_ms: Option<u32>,
}

impl From<LatencyTargets> for TargetsBody {
    fn from(LatencyTargets { p50_ms, p95_ms, p99_ms }: LatencyTargets) -> Self {
        Self { p50_ms, p95_ms, p99_ms }
    }
}

/// A strike that the platform team has seen to itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct StrikeRequest {
    /// The intent that the rule belongs to.
    #[schema(example = "auto.book_ac_service")]
    pub intent: String,
    /// Code of the rule that was broken.
    #[schema(example = "WARRANTY_DECLINED")]
    pub code: String,
    /// The order concerned, as the partner names it: one incident, however often it is told.
    #[schema(example = "BK-2026-0042", min_length = 1, max_length = 200)]
    pub external_id: String,
    /// What was seen.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

impl Body for StrikeRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let [intent, code, external_id] = ["intent", "code", "external_id"].map(|name| members.text(name));
        let reason = members.prose("reason");
        let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let fits = |code: &String| (1..=CODE_MAX_CHARS).contains(&code.len()) && code.chars().all(is_code);
        if !code.as_ref().is_none_or(fits) {
            members.refuse("code", "WRONG_FORMAT", "expected a code in UPPER_SNAKE_CASE");
        }
        for (name, text, max) in [("external_id", &external_id, ORDER_MAX_CHARS), ("reason", &reason, TEXT_MAX_CHARS)] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty() || text.chars().count() > max) {
                members.refuse(name, code::OUT_OF_RANGE, format!("expected 1 to {max} characters"));
            }
        }
        Some(Self { intent: intent?, code: code?, external_id: external_id?, reason: reason? })
    }
}

/// A strike that was recorded.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StrikeTaken {
    /// Whom it is held against.
    pub partner: String,
    /// Code of the rule.
    pub code: String,
    /// The order.
    pub external_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    #[test]
    fn strikes_are_read() {
        let good = r#"{"intent":"auto.fix","code":"WARRANTY_DECLINED","external_id":"BK-1","reason":"told\nby phone"}"#;
        let order = read::<StrikeRequest>(good).expect("read");
        assert_eq!((order.intent.as_str(), order.code.as_str()), ("auto.fix", "WARRANTY_DECLINED"));
        assert_eq!((order.external_id.as_str(), order.reason.as_str()), ("BK-1", "told\nby phone"));
        let long = good.replace("BK-1", &"B".repeat(201));
        for bad in [
            "{}",
            &good.replace("WARRANTY_DECLINED", "warranty declined"),
            &good.replace("BK-1", " "),
            &good.replace("told\\nby phone", ""),
            &long,
        ] {
            assert!(read::<StrikeRequest>(bad).is_err(), "{bad}");
        }
    }
}
