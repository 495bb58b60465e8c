//! Connections: where a partner is called, what probes and tests saw.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::golive::{GoLiveItem, GoLiveReport, ItemState, SampleResult};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::probe::{Lifecycle, ProbeFailure, ProbeStep, ServerInfo, SessionMode, Step};
use intent_gateway_onboarding::SwitchOn;
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::descriptors::{Drift, DriftKind, ToolReport};
use intent_gateway_onboarding::records::{Connection, Probed, Suspension};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{ActorBody, time};
use crate::wire::{Violation, violations};

/// Registers where the partner is called.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct EndpointRequest {
    /// `mcp` when absent; `rest` and `graphql` are wrapped by the manifest's `api_mapping`.
    kind: Option<EndpointKind>,
    /// Of an MCP server or a GraphQL API; HTTPS.
    #[schema(example = "https://mcp.coolcar.example/mcp", max_length = 4096)]
    url: Option<String>,
    /// Of a REST API: what the paths of its operations are appended to; HTTPS.
    #[schema(max_length = 4096)]
    base_url: Option<String>,
    /// Of a REST API: where its OpenAPI document is; HTTPS.
    #[schema(max_length = 4096)]
    openapi_url: Option<String>,
}

/// The kinds of endpoints.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum EndpointKind {
    /// An MCP server over Streamable HTTP.
    Mcp,
    /// A REST API.
    Rest,
    /// A GraphQL API over HTTP.
    Graphql,
}

/// Tests a connection against an intent's go-live requirements.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct TestRequest {
    /// The intent.
    #[schema(example = "auto.book_ac_service")]
    intent: String,
    /// Sample requests; each is run as a search against this partner alone. Without any, only the confirmations are
    /// taken into the last report.
    #[schema(value_type = Option<Vec<Object>>, max_items = 50)]
    requests: Option<Vec<Value>>,
    /// Requirements that a person has looked into.
    #[schema(max_items = 200)]
    confirmed: Option<Vec<ConfirmationRequest>>,
}

/// A person says that a requirement holds.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct ConfirmationRequest {
    /// The requirement's code.
    code: String,
    /// What was looked at.
    #[schema(max_length = 500)]
    note: String,
}

/// Says why.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct ReasonRequest {
    /// Recorded; of a suspension, told to the partner.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// A connection to a partner's server.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConnectionBody<'a> {
    /// The account.
    account_id: &'a str,
    /// Where it stands.
    #[schema(value_type = ConnectionStatus)]
    state: ConnectionState,
    /// Since when.
    since: String,
    /// Where it is.
    #[schema(value_type = Object)]
    endpoint: &'a Endpoint,
    /// The last probe.
    #[schema(required)]
    probe: Option<ProbeBody<'a>>,
    /// Intents that are out of service because their tools have changed, with what changed.
    #[schema(value_type = BTreeMap<String, Vec<DriftBody>>)]
    quarantine: BTreeMap<&'a str, Vec<DriftBody<'a>>>,
    /// The team's tests since the endpoint was registered, by intent.
    #[schema(value_type = BTreeMap<String, TestReport>)]
    tests: BTreeMap<&'a str, TestReport<'a>>,
    /// Why it is suspended, while it is.
    #[schema(required)]
    suspension: Option<SuspensionBody<'a>>,
    /// When it is probed again, while it is live.
    #[schema(required)]
    next_probe_at: Option<String>,
}

/// Where a connection stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum ConnectionStatus {
    /// Registered; no user's request reaches it.
    Sandbox,
    /// The last probe before going live failed.
    ProbeFailed,
    /// Users' requests are routed to it.
    Live,
    /// Taken out by the platform team.
    Suspended,
}

impl<'a> From<&'a Connection> for ConnectionBody<'a> {
    fn from(connection: &'a Connection) -> Self {
        let drifts = |drifts: &'a Vec<Drift>| drifts.iter().map(DriftBody::from).collect();
        Self {
            account_id: connection.account.as_str(),
            state: connection.state,
            since: time(connection.since_ms),
            endpoint: &connection.endpoint,
            probe: connection.probe.as_ref().map(ProbeBody::from),
            quarantine: connection.quarantine.iter().map(|(intent, found)| (intent.as_str(), drifts(found))).collect(),
            tests: connection.tests.iter().map(|(intent, test)| (intent.as_str(), TestReport::from(test))).collect(),
            suspension: connection.suspension.as_ref().map(SuspensionBody::from),
            next_probe_at: connection.next_probe_at_ms.map(time),
        }
    }
}

/// A suspension.
#[derive(Serialize, ToSchema)]
pub(crate) struct SuspensionBody<'a> {
    /// Told to the partner.
    reason: &'a str,
    /// When.
    at: String,
    /// By whom.
    by: ActorBody<'a>,
}

impl<'a> From<&'a Suspension> for SuspensionBody<'a> {
    fn from(Suspension { reason, at_ms, by }: &'a Suspension) -> Self {
        Self { reason, at: time(*at_ms), by: ActorBody::from(by) }
    }
}

/// A difference between the tools as they were accepted and as they are.
#[derive(Serialize, ToSchema)]
pub(crate) struct DriftBody<'a> {
    /// The tool.
    tool: &'a str,
    /// What changed.
    #[schema(value_type = String, example = "SCHEMA_CHANGED")]
    kind: DriftKind,
}

impl<'a> From<&'a Drift> for DriftBody<'a> {
    fn from(drift: &'a Drift) -> Self {
        Self { tool: &drift.tool, kind: drift.kind }
    }
}

/// What a probe saw, and what was made of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProbeBody<'a> {
    /// Whether every step succeeded and every listed intent has its tools.
    passed: bool,
    /// Why not, each in words.
    failures: Vec<Violation<'a>>,
    /// The step that failed, where one did.
    #[schema(required)]
    failed_step: Option<FailedStep<'a>>,
    /// When it began.
    started_at: String,
    /// How long it took.
    elapsed_ms: u64,
    /// By whom it was asked for.
    by: ActorBody<'a>,
    /// What was probed.
    #[schema(value_type = Object)]
    endpoint: &'a Endpoint,
    /// The MCP revision that was agreed on.
    #[schema(required)]
    protocol_version: Option<&'a str>,
    /// How the MCP session was opened: `initialize` or `discover`.
    #[schema(value_type = Option<String>, required)]
    lifecycle: Option<Lifecycle>,
    /// Whether the MCP server keeps a session: `stateful` or `stateless`.
    #[schema(value_type = Option<String>, required)]
    session: Option<SessionMode>,
    /// Who the server says it is.
    #[schema(required)]
    server: Option<ServerBody<'a>>,
    /// What it says it can do, as it was sent.
    #[schema(value_type = Option<Object>, required)]
    capabilities: Option<&'a Value>,
    /// What was done, in order.
    steps: Vec<StepBody>,
    /// What fails nothing and a reviewer should know.
    notes: &'a [String],
    /// The tool descriptors as they were sent.
    #[schema(value_type = Vec<Value>)]
    tools: &'a [Value],
    /// What became of them: accepted, skipped, ignored, missing; null when the probe did not get as far.
    #[schema(value_type = Option<Object>, required)]
    tool_report: Option<&'a ToolReport>,
}

impl<'a> From<&'a Probed> for ProbeBody<'a> {
    fn from(probed: &'a Probed) -> Self {
        let Probed { record, tools, passed, failures, by } = probed;
        Self {
            passed: *passed,
            failures: violations(failures),
            failed_step: record.failure.as_ref().map(FailedStep::from),
            started_at: time(record.started_at_ms),
            elapsed_ms: record.ended_at_ms.saturating_sub(record.started_at_ms),
            by: ActorBody::from(by),
            endpoint: &record.endpoint,
            protocol_version: record.protocol_version.as_deref(),
            lifecycle: record.lifecycle,
            session: record.session,
            server: record.server.as_ref().map(ServerBody::from),
            capabilities: record.capabilities.as_ref(),
            steps: record.steps.iter().map(StepBody::from).collect(),
            notes: &record.notes,
            tools: &record.tools,
            tool_report: tools.as_ref(),
        }
    }
}

/// Why a probe failed.
#[derive(Serialize, ToSchema)]
pub(crate) struct FailedStep<'a> {
    /// Which step.
    #[schema(value_type = String, example = "initialize")]
    step: Step,
    /// Stable code.
    code: &'a str,
    /// What went wrong.
    message: &'a str,
}

impl<'a> From<&'a ProbeFailure> for FailedStep<'a> {
    fn from(ProbeFailure { step, code, message }: &'a ProbeFailure) -> Self {
        Self { step: *step, code, message }
    }
}

/// Who a server says it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServerBody<'a> {
    /// Should name the company.
    name: &'a str,
    /// Its version.
    version: &'a str,
}

impl<'a> From<&'a ServerInfo> for ServerBody<'a> {
    fn from(ServerInfo { name, version }: &'a ServerInfo) -> Self {
        Self { name, version }
    }
}

/// One step of a probe.
#[derive(Serialize, ToSchema)]
pub(crate) struct StepBody {
    /// Which.
    #[schema(value_type = String, example = "list_tools")]
    step: Step,
    /// Whether it passed.
    passed: bool,
    /// How long it took.
    elapsed_ms: u64,
}

impl From<&ProbeStep> for StepBody {
    fn from(ProbeStep { step, passed, elapsed_ms }: &ProbeStep) -> Self {
        Self { step: *step, passed: *passed, elapsed_ms: *elapsed_ms }
    }
}

/// What a probe came to.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProbeAnswer<'a> {
    /// Whether it passed.
    ok: bool,
    /// The recorded failure; null when it passed.
    #[schema(required)]
    failure: Option<Violation<'a>>,
    /// The connection as it stands now, the probe in full included.
    connection: ConnectionBody<'a>,
}

impl<'a> From<&'a Connection> for ProbeAnswer<'a> {
    fn from(connection: &'a Connection) -> Self {
        let probe = connection.probe.as_ref();
        Self {
            ok: probe.is_some_and(|probe| probe.passed),
            failure: probe.and_then(|probe| probe.failures.first()).map(Violation::from),
            connection: ConnectionBody::from(connection),
        }
    }
}

/// A check of an intent's go-live requirements.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestReport<'a> {
    /// The intent.
    intent: &'a str,
    /// Whether everything holds.
    passed: bool,
    /// Version of the contract that asked and judged.
    contract_version: &'a str,
    /// Digest of its component.
    contract_digest: String,
    /// When the check began.
    at: String,
    /// The samples, in their order.
    samples: Vec<SampleBody<'a>>,
    /// The requirements, each with what became of it.
    items: Vec<ItemBody<'a>>,
}

impl<'a> From<&'a GoLiveReport> for TestReport<'a> {
    fn from(report: &'a GoLiveReport) -> Self {
        Self {
            intent: &report.intent,
            passed: report.passed(),
            contract_version: &report.contract_version,
            contract_digest: report.contract_digest.to_string(),
            at: time(report.at_ms),
            samples: report.samples.iter().map(SampleBody::from).collect(),
            items: report.items.iter().map(ItemBody::from).collect(),
        }
    }
}

/// What came of one sample request.
#[derive(Serialize, ToSchema)]
pub(crate) struct SampleBody<'a> {
    /// The identifier under which it was sent.
    request_id: &'a str,
    /// Options that passed.
    options: usize,
    /// Options that were dropped.
    dropped: usize,
    /// How long the partner's call took.
    elapsed_ms: u64,
    /// Code of the failure, where the partner gave no usable answer.
    #[schema(required)]
    failure: Option<&'a str>,
}

impl<'a> From<&'a SampleResult> for SampleBody<'a> {
    fn from(SampleResult { request_id, options, dropped, elapsed_ms, failure }: &'a SampleResult) -> Self {
        let failure = failure.as_deref();
        Self { request_id, options: *options, dropped: *dropped, elapsed_ms: *elapsed_ms, failure }
    }
}

/// A requirement with what became of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ItemBody<'a> {
    /// Stable code.
    code: &'a str,
    /// What must hold.
    text: &'a str,
    /// `passed`, `failed`, `by_hand` for people to look into, or `confirmed` by them.
    #[schema(value_type = String, example = "passed")]
    state: ItemState,
    /// What was seen, or the note of whoever confirmed it.
    detail: &'a str,
}

impl<'a> From<&'a GoLiveItem> for ItemBody<'a> {
    fn from(GoLiveItem { code, text, state, detail }: &'a GoLiveItem) -> Self {
        Self { code, text, state: *state, detail }
    }
}

/// A connection that was switched on.
#[derive(Serialize, ToSchema)]
pub(crate) struct SwitchedOn<'a> {
    /// Intents that requests are routed to.
    #[schema(value_type = Vec<String>)]
    routed: &'a BTreeSet<IntentId>,
    /// As it stands now.
    connection: ConnectionBody<'a>,
}

impl<'a> From<&'a SwitchOn> for SwitchedOn<'a> {
    fn from(SwitchOn { connection, routed }: &'a SwitchOn) -> Self {
        Self { routed, connection: ConnectionBody::from(connection) }
    }
}

/// Connections in order of their accounts.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConnectionList<'a> {
    /// This page's.
    pub(crate) connections: Vec<ConnectionBody<'a>>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub(crate) next: Option<String>,
}
