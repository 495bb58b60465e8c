//! Partners' health, as the platform team reads it.

use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::health::Percentiles;
use intent_gateway_domain::health::{STRIKE_WINDOW_MS, STRIKES_OUT, Strikes};
use intent_gateway_outbound::health::breaker::{BreakerState, BreakerView};
use intent_gateway_outbound::health::pool::{OutView, ToolView};
use intent_gateway_outbound::health::{IntentView, PartnerView};
use serde::Serialize;
use utoipa::ToSchema;

use super::time;

/// A page of partners' health.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthList<'a> {
    /// In the order of their identifiers: those that requests are routed to, and those that strikes are held against.
    pub(crate) partners: Vec<HealthBody<'a>>,
    /// What to ask the next page with, as `after`; null on the last.
    #[schema(required)]
    pub(crate) next: Option<String>,
}

/// One partner's health. Calls are those of the gateway that answers, since it started; strikes are those of all gateways.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthBody<'a> {
    /// Who.
    partner: &'a str,
    /// Whether requests are routed to it at all.
    routed: bool,
    /// Stands before every call of it.
    breaker: BreakerBody,
    /// The strikes that have not expired, by code.
    strikes: Vec<StrikesBody<'a>>,
    /// The intents that it was called for.
    intents: Vec<IntentHealthBody<'a>>,
}

impl<'a> HealthBody<'a> {
    pub(crate) fn new(view: &'a PartnerView, routed: bool) -> Self {
        Self {
            partner: view.partner.as_str(),
            routed,
            breaker: BreakerBody::from(&view.breaker),
            strikes: view.strikes.iter().map(StrikesBody::from).collect(),
            intents: view.intents.iter().map(IntentHealthBody::from).collect(),
        }
    }
}

/// The breaker before a partner's server.
#[derive(Serialize, ToSchema)]
struct BreakerBody {
    /// Where it stands.
    #[schema(value_type = BreakerStateName)]
    state: BreakerState,
    /// Failures in a row.
    consecutive: u32,
    /// Failures within the last minute.
    failed: u32,
    /// Calls within the last minute.
    calls: u32,
    /// Until when nothing passes; null unless it is open.
    #[schema(required)]
    until: Option<String>,
}

impl From<&BreakerView> for BreakerBody {
    fn from(BreakerView { state, consecutive, failed, calls, until_ms }: &BreakerView) -> Self {
        let (state, consecutive, failed, calls) = (*state, *consecutive, *failed, *calls);
        Self { state, consecutive, failed, calls, until: until_ms.map(time) }
    }
}

/// Where a breaker stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum BreakerStateName {
    /// Calls pass.
    Closed,
    /// None passes.
    Open,
    /// One passes at a time, to see.
    HalfOpen,
}

/// How often a partner has broken one rule.
#[derive(Serialize, ToSchema)]
struct StrikesBody<'a> {
    /// Code of the rule.
    code: &'a str,
    /// The incidents, oldest first.
    incidents: Vec<IncidentBody<'a>>,
    /// So many suspend.
    suspends_at: usize,
    /// Within so many days.
    within_days: u64,
}

impl<'a> From<&'a Strikes> for StrikesBody<'a> {
    fn from(Strikes { code, incidents }: &'a Strikes) -> Self {
        let incidents =
            incidents.iter().map(|incident| IncidentBody { at: time(incident.at_ms), id: &incident.id }).collect();
        let within_days = STRIKE_WINDOW_MS / (24 * 60 * 60 * 1_000);
        Self { code, incidents, suspends_at: STRIKES_OUT, within_days }
    }
}

/// One incident.
#[derive(Serialize, ToSchema)]
struct IncidentBody<'a> {
    /// When it was found.
    at: String,
    /// The request in whose answer it was found, or the order that it concerns.
    id: &'a str,
}

/// A partner in the pool of an intent, or out of it.
#[derive(Serialize, ToSchema)]
struct IntentHealthBody<'a> {
    /// The intent.
    intent: &'a str,
    /// Whether searches call it.
    in_pool: bool,
    /// Why not, and until when; null while it is in.
    #[schema(required)]
    out: Option<OutBody<'a>>,
    /// The tools that were called.
    tools: Vec<ToolHealthBody<'a>>,
}

impl<'a> From<&'a IntentView> for IntentHealthBody<'a> {
    fn from(IntentView { intent, out, tools }: &'a IntentView) -> Self {
        Self {
            intent: intent.as_str(),
            in_pool: out.is_none(),
            out: out.as_ref().map(OutBody::from),
            tools: tools.iter().map(ToolHealthBody::from).collect(),
        }
    }
}

/// Why a partner is out of the pool.
#[derive(Serialize, ToSchema)]
struct OutBody<'a> {
    /// Since when.
    since: String,
    /// The slow tool.
    tool: &'a str,
    /// Its target, milliseconds.
    target_p95_ms: u32,
    /// For how long it had been over twice that, milliseconds.
    over_for_ms: u64,
    /// What it took in the five minutes before.
    #[serde(flatten)]
    window: WindowBody,
    /// When the next search is let through on trial.
    next_trial: String,
    /// Trials within the target, in a row.
    good_calls: u32,
}

impl<'a> From<&'a OutView> for OutBody<'a> {
    fn from(OutView { since_ms, slowness, next_trial_ms, good_calls }: &'a OutView) -> Self {
        Self {
            since: time(*since_ms),
            tool: &slowness.tool,
            target_p95_ms: slowness.target_p95_ms,
            over_for_ms: slowness.over_for_ms,
            window: WindowBody::from(&slowness.window),
            next_trial: time(*next_trial_ms),
            good_calls: *good_calls,
        }
    }
}

/// How long a tool takes, against its targets.
#[derive(Serialize, ToSchema)]
struct ToolHealthBody<'a> {
    /// The tool.
    tool: &'a str,
    /// Its targets, by the contract that it was last called under.
    targets: TargetsBody,
    /// Its last five minutes.
    #[serde(flatten)]
    window: WindowBody,
    /// Since when its 95th percentile has been over twice the target; null while it is not.
    #[schema(required)]
    over_since: Option<String>,
}

impl<'a> From<&'a ToolView> for ToolHealthBody<'a> {
    fn from(ToolView { tool, targets, window, over_since_ms }: &'a ToolView) -> Self {
        let LatencyTargets { p50_ms, p95_ms, p99_ms } = *targets;
        Self {
            tool,
            targets: TargetsBody { p50_ms, p95_ms, p99_ms },
            window: WindowBody::from(window),
            over_since: over_since_ms.map(time),
        }
    }
}

/// Targets of a tool, milliseconds.
#[derive(Serialize, ToSchema)]
struct TargetsBody {
    /// Median.
    p50_ms: u32,
    /// 95th percentile.
    p95_ms: u32,
    /// 99th percentile; null where the intent names none.
    #[schema(required)]
    p99_ms: Option<u32>,
}

/// The calls of a tool within five minutes; percentiles are up to a quarter above the true ones, never below.
#[derive(Serialize, ToSchema)]
struct WindowBody {
    /// How many.
    calls: u32,
    /// Of these, over twice the target of the 95th percentile.
    slow: u32,
    /// Median, milliseconds.
    p50_ms: u64,
    /// 95th percentile, milliseconds.
    p95_ms: u64,
    /// 99th percentile, milliseconds.
    p99_ms: u64,
}

impl From<&Percentiles> for WindowBody {
    fn from(percentiles: &Percentiles) -> Self {
        let Percentiles { calls, slow, p50_ms, p95_ms, p99_ms } = *percentiles;
        Self { calls, slow, p50_ms, p95_ms, p99_ms }
    }
}

/// A strike that the platform team has seen to itself.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct StrikeRequest {
    /// The intent that the rule belongs to.
    #[schema(example = "auto.book_ac_service")]
    intent: String,
    /// Code of the rule that was broken.
    #[schema(example = "WARRANTY_DECLINED")]
    code: String,
    /// The order concerned, as the partner names it: one incident, however often it is told.
    #[schema(example = "BK-2026-0042", min_length = 1, max_length = 200)]
    external_id: String,
    /// What was seen.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// A strike that was taken down.
#[derive(Serialize, ToSchema)]
pub(crate) struct StrikeTaken<'a> {
    /// Whom it is held against.
    pub(crate) partner: &'a str,
    /// Code of the rule.
    pub(crate) code: &'a str,
    /// The order.
    pub(crate) external_id: &'a str,
}
