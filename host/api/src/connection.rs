//! Connections: where a partner is called, what probes and tests saw.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::golive::{Confirmation, GoLiveItem, GoLiveReport, SAMPLES_MAX, SampleResult};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::probe::{Lifecycle, ProbeFailure, ProbeStep, ServerInfo, SessionMode};
use intent_gateway_domain::violations::code;
use intent_gateway_onboarding::SwitchOn;
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::descriptors::{ComparedTool, Drift, DriftKind, ToolReport, ToolStanding};
use intent_gateway_onboarding::records::{Connection, FailedRetest, HeldConfirmation, Probed, Suspension};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::read::{Body, Members};
use crate::time;

/// Registers where the partner is called.
#[derive(Debug, ToSchema)]
pub struct EndpointRequest {
    /// `mcp` when absent; `rest` and `graphql` are wrapped by the manifest's `api_mapping`.
    pub kind: Option<EndpointKind>,
    /// Of an MCP server or a GraphQL API; HTTPS.
    #[schema(example = "https://mcp.coolcar.example/mcp", max_length = 4096)]
    pub url: Option<String>,
    /// Of a REST API: what the paths of its operations are appended to; HTTPS.
    #[schema(max_length = 4096)]
    pub base_url: Option<String>,
    /// Of a REST API: where its OpenAPI document is; HTTPS.
    #[schema(max_length = 4096)]
    pub openapi_url: Option<String>,
}

impl Body for EndpointRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let kind = members.optional_word("kind");
        let needed: &[&str] = if kind == Some(EndpointKind::Rest) { &["base_url", "openapi_url"] } else { &["url"] };
        // Members of the other kinds say nothing, and are texts all the same.
        let mut text = |name| if needed.contains(&name) { members.text(name) } else { members.optional_text(name) };
        Some(Self { kind, url: text("url"), base_url: text("base_url"), openapi_url: text("openapi_url") })
    }
}

impl From<EndpointRequest> for Endpoint {
    fn from(EndpointRequest { kind, url, base_url, openapi_url }: EndpointRequest) -> Self {
        let url = url.unwrap_or_default();
        match kind.unwrap_or(EndpointKind::Mcp) {
            EndpointKind::Mcp => Self::Mcp { url },
            EndpointKind::Graphql => Self::Graphql { url },
            EndpointKind::Rest => {
                Self::Rest { base_url: base_url.unwrap_or_default(), openapi_url: openapi_url.unwrap_or_default() }
            }
        }
    }
}

/// The kinds of endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointKind {
    /// An MCP server over Streamable HTTP.
    Mcp,
    /// A REST API.
    Rest,
    /// A GraphQL API over HTTP.
    Graphql,
}

/// Tests a connection against an intent's go-live requirements.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestRequest {
    /// The intent.
    #[schema(example = "auto.book_ac_service")]
    pub intent: String,
    /// Sample requests; each is run as a search against this partner alone. Without any, only the confirmations are
    /// taken into the last report: of what waits for people, and anew of what was confirmed before.
    #[schema(value_type = Option<Vec<Object>>, max_items = 50)]
    pub requests: Vec<Value>,
    /// Requirements that a person has looked into. Each confirmation holds from now on, for as long as the intent says.
    #[schema(value_type = Option<Vec<Confirmation>>, max_items = 200)]
    pub confirmed: Vec<Confirmation>,
}

impl Body for TestRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (intent, requests) = (members.text("intent"), members.values("requests"));
        if requests.len() > SAMPLES_MAX {
            members.refuse("requests", code::TOO_MANY_ITEMS, format!("expected at most {SAMPLES_MAX} items"));
        }
        Some(Self { confirmed: members.objects("confirmed"), intent: intent?, requests })
    }
}

impl Body for Confirmation {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (code, note) = (members.text_of_any_length("code"), members.text_of_any_length("note"));
        Some(Self { code: code?, note: note? })
    }
}

/// Says why.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReasonRequest {
    /// Recorded; of a suspension, told to the partner.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

impl Body for ReasonRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { reason: members.prose("reason")? })
    }
}

/// A connection to a partner's server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ConnectionBody {
    /// The account.
    pub account_id: String,
    /// Where it stands.
    pub state: ConnectionState,
    /// Since when.
    pub since: String,
    /// Where it is.
    #[schema(value_type = Object)]
    pub endpoint: Endpoint,
    /// The last probe.
    #[schema(required)]
    pub probe: Option<ProbeBody>,
    /// Its tools, each as it was accepted beside what the last probe found, sorted by intent and name; at most 1,000.
    #[serde(default)]
    pub tools: Vec<ComparedToolBody>,
    /// Intents that are out of service because their tools have changed, with what changed.
    pub quarantine: BTreeMap<String, Vec<DriftBody>>,
    /// The team's tests since the endpoint was registered, by intent.
    pub tests: BTreeMap<String, TestReport>,
    /// Intents that were live and whose last test did not pass, with the time until which they are routed all the same.
    pub failed_retests: BTreeMap<String, FailedRetestBody>,
    /// What people have confirmed, by intent and code of the requirement.
    pub confirmations: BTreeMap<String, BTreeMap<String, HeldConfirmationBody>>,
    /// Why it is suspended, while it is.
    #[schema(required)]
    pub suspension: Option<SuspensionBody>,
    /// When it is probed again, while it is live.
    #[schema(required)]
    pub next_probe_at: Option<String>,
}

impl From<Connection> for ConnectionBody {
    fn from(connection: Connection) -> Self {
        let tools = connection.compare_tools().into_iter().map(ComparedToolBody::from).collect();
        let drifts = |drifts: Vec<Drift>| drifts.into_iter().map(DriftBody::from).collect();
        let quarantine = connection.quarantine.into_iter();
        let tests = connection.tests.into_iter();
        let failed_retests = connection.failed_retests.into_iter();
        let held = |held: BTreeMap<String, HeldConfirmation>| {
            held.into_iter().map(|(code, held)| (code, HeldConfirmationBody::from(held))).collect()
        };
        let confirmations = connection.confirmations.into_iter();
        Self {
            account_id: connection.account.to_string(),
            state: connection.state,
            since: time(connection.since_ms),
            endpoint: connection.endpoint,
            probe: connection.probe.map(ProbeBody::from),
            tools,
            quarantine: quarantine.map(|(intent, found)| (intent.to_string(), drifts(found))).collect(),
            tests: tests.map(|(intent, test)| (intent.to_string(), TestReport::from(test))).collect(),
            failed_retests: failed_retests.map(|(intent, failed)| (intent.to_string(), failed.into())).collect(),
            confirmations: confirmations.map(|(intent, codes)| (intent.to_string(), held(codes))).collect(),
            suspension: connection.suspension.map(SuspensionBody::from),
            next_probe_at: connection.next_probe_at_ms.map(time),
        }
    }
}

/// A repeated test that did not pass.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FailedRetestBody {
    /// When it was recorded.
    pub at: String,
    /// From then on the intent is not routed, until a test passes.
    pub routed_until: String,
}

impl From<FailedRetest> for FailedRetestBody {
    fn from(FailedRetest { at_ms, routed_until_ms, .. }: FailedRetest) -> Self {
        Self { at: time(at_ms), routed_until: time(routed_until_ms) }
    }
}

/// A person's word that a go-live requirement is met.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HeldConfirmationBody {
    /// When it was given.
    pub at: String,
    /// By whom; null where an earlier release has kept no more than the time.
    #[schema(required)]
    pub by: Option<Actor>,
    /// When it ends; null where it holds for good.
    #[schema(required)]
    pub valid_until: Option<String>,
    /// Once the partner was warned that it has ended: from then on the intent is not routed, until it is confirmed anew.
    #[schema(required)]
    pub routed_until: Option<String>,
}

impl From<HeldConfirmation> for HeldConfirmationBody {
    fn from(held: HeldConfirmation) -> Self {
        let valid_until = held.valid_until().map(time);
        Self { at: time(held.at_ms), by: held.by, valid_until, routed_until: held.routed_until_ms.map(time) }
    }
}

/// A suspension.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SuspensionBody {
    /// Told to the partner.
    pub reason: String,
    /// When.
    pub at: String,
    /// By whom.
    pub by: Actor,
}

impl From<Suspension> for SuspensionBody {
    fn from(Suspension { reason, at_ms, by }: Suspension) -> Self {
        Self { reason, at: time(at_ms), by }
    }
}

/// A tool as it was accepted, beside the same as the last probe found it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ComparedToolBody {
    /// The intent that it serves.
    pub intent: String,
    /// Its name.
    #[schema(example = "search_ac_service")]
    pub tool: String,
    /// SHA-256 of the descriptor that was accepted; null where none was.
    #[schema(value_type = Option<String>, required)]
    pub accepted: Option<Digest>,
    /// SHA-256 of the one that was found; null where none was.
    #[schema(value_type = Option<String>, required)]
    pub found: Option<Digest>,
    /// How it stands.
    pub standing: ToolStanding,
    /// What is another, where it has changed: `SCHEMA_CHANGED`, `DESCRIPTION_CHANGED`, `TERMS_CHANGED`.
    #[schema(value_type = Vec<String>)]
    pub changes: Vec<DriftKind>,
}

impl From<ComparedTool<'_>> for ComparedToolBody {
    fn from(ComparedTool { intent, tool, accepted, found, standing, changes }: ComparedTool<'_>) -> Self {
        Self { intent: intent.to_string(), tool: tool.to_owned(), accepted, found, standing, changes }
    }
}

/// A difference between the tools as they were accepted and as they are.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DriftBody {
    /// The tool.
    pub tool: String,
    /// What changed.
    #[schema(value_type = String, example = "SCHEMA_CHANGED")]
    pub kind: DriftKind,
}

impl From<Drift> for DriftBody {
    fn from(Drift { tool, kind, .. }: Drift) -> Self {
        Self { tool, kind }
    }
}

/// What a probe saw, and what was made of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProbeBody {
    /// Whether every step succeeded and every listed intent has its tools.
    pub passed: bool,
    /// Why not, each in words.
    pub failures: Vec<Violation>,
    /// The step that failed, where one did.
    #[schema(required)]
    pub failed_step: Option<ProbeFailure>,
    /// When it began.
    pub started_at: String,
    /// How long it took.
    pub elapsed_ms: u64,
    /// By whom it was asked for.
    pub by: Actor,
    /// What was probed.
    #[schema(value_type = Object)]
    pub endpoint: Endpoint,
    /// The MCP revision that was agreed on.
    #[schema(required)]
    pub protocol_version: Option<String>,
    /// How the MCP session was opened: `initialize` or `discover`.
    #[schema(value_type = Option<String>, required)]
    pub lifecycle: Option<Lifecycle>,
    /// Whether the MCP server keeps a session: `stateful` or `stateless`.
    #[schema(value_type = Option<String>, required)]
    pub session: Option<SessionMode>,
    /// Who the server says it is.
    #[schema(required)]
    pub server: Option<ServerInfo>,
    /// What it says it can do, as it was sent.
    #[schema(value_type = Option<Object>, required)]
    pub capabilities: Option<Value>,
    /// What was done, in order.
    pub steps: Vec<ProbeStep>,
    /// What fails nothing and a reviewer should know.
    pub notes: Vec<String>,
    /// The tool descriptors as they were sent.
    pub tools: Vec<Value>,
    /// What happened to them: accepted, skipped, ignored, missing; null when the probe did not get as far.
    #[schema(value_type = Option<Object>, required)]
    pub tool_report: Option<ToolReport>,
}

impl From<Probed> for ProbeBody {
    fn from(Probed { record, tools, passed, failures, by }: Probed) -> Self {
        Self {
            passed,
            failures,
            failed_step: record.failure,
            started_at: time(record.started_at_ms),
            elapsed_ms: record.ended_at_ms.ms_since(record.started_at_ms),
            by,
            endpoint: record.endpoint,
            protocol_version: record.protocol_version,
            lifecycle: record.lifecycle,
            session: record.session,
            server: record.server,
            capabilities: record.capabilities,
            steps: record.steps,
            notes: record.notes,
            tools: record.tools,
            tool_report: tools,
        }
    }
}

/// What a probe came to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProbeAnswer {
    /// Whether it passed.
    pub ok: bool,
    /// The recorded failure; null when it passed.
    #[schema(required)]
    pub failure: Option<Violation>,
    /// The connection as it stands now, the probe in full included.
    pub connection: ConnectionBody,
}

impl From<Connection> for ProbeAnswer {
    fn from(connection: Connection) -> Self {
        let probe = connection.probe.as_ref();
        Self {
            ok: probe.is_some_and(|probe| probe.passed),
            failure: probe.and_then(|probe| probe.failures.first()).cloned(),
            connection: ConnectionBody::from(connection),
        }
    }
}

/// A check of an intent's go-live requirements.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TestReport {
    /// The intent.
    pub intent: String,
    /// Whether everything holds.
    pub passed: bool,
    /// Version of the contract that asked and judged.
    pub contract_version: String,
    /// Digest of its component.
    pub contract_digest: String,
    /// When the check began.
    pub at: String,
    /// The samples, in their order.
    pub samples: Vec<SampleResult>,
    /// The requirements, each with what happened to it.
    pub items: Vec<GoLiveItem>,
}

impl From<GoLiveReport> for TestReport {
    fn from(report: GoLiveReport) -> Self {
        let passed = report.passed();
        let GoLiveReport { intent, contract_version, contract_digest, at_ms, samples, items, partner: _ } = report;
        let contract_digest = contract_digest.to_string();
        Self { intent, passed, contract_version, contract_digest, at: time(at_ms), samples, items }
    }
}

/// A connection that was switched on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SwitchedOn {
    /// Intents that requests are routed to.
    #[schema(value_type = Vec<String>)]
    pub routed: BTreeSet<IntentId>,
    /// As it stands now.
    pub connection: ConnectionBody,
}

impl From<SwitchOn> for SwitchedOn {
    fn from(SwitchOn { connection, routed }: SwitchOn) -> Self {
        Self { routed, connection: ConnectionBody::from(connection) }
    }
}

/// How many connections there are.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ConnectionCounts {
    /// By state, those of none included.
    #[schema(value_type = HashMap<String, u64>)]
    pub states: BTreeMap<String, u64>,
}

/// Connections in order of their accounts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ConnectionList {
    /// This page's.
    pub connections: Vec<ConnectionBody>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub next: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    #[test]
    fn endpoints_are_read_by_their_kind() {
        let read = |text: &str| read::<EndpointRequest>(text).map(Endpoint::from);
        assert_eq!(read(r#"{"url":"https://a.example"}"#), Ok(Endpoint::mcp("https://a.example")));
        assert_eq!(read(r#"{"kind":"mcp","url":"https://a.example"}"#), Ok(Endpoint::mcp("https://a.example")));
        let graphql = Endpoint::Graphql { url: "https://a.example".to_owned() };
        assert_eq!(read(r#"{"kind":"graphql","url":"https://a.example"}"#), Ok(graphql));
        let rest =
            Endpoint::Rest { base_url: "https://a.example".to_owned(), openapi_url: "https://b.example".to_owned() };
        assert_eq!(
            read(r#"{"kind":"rest","base_url":"https://a.example","openapi_url":"https://b.example"}"#),
            Ok(rest)
        );
        for bad in [
            "{}",
            "[]",
            r#"{"kind":"rest","url":"x"}"#,
            r#"{"kind":"soap","url":"x"}"#,
            r#"{"url":7}"#,
            r#"{"url":"x","base_url":1}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tests_are_read() {
        let order: TestRequest =
            read(r#"{"intent":"auto.fix","requests":[{"b":1.50,"a":2}],"confirmed":[{"code":"X","note":"seen"}]}"#)
                .expect("read");
        assert_eq!((order.intent.as_str(), order.requests.len(), order.confirmed.len()), ("auto.fix", 1, 1));
        assert!(read::<TestRequest>(r#"{"intent":"auto.fix"}"#).expect("read").requests.is_empty());
        let many = format!(r#"{{"intent":"auto.fix","requests":[{}{{}}]}}"#, "{},".repeat(50));
        for bad in [
            "{}",
            "[]",
            r#"{"intent":"auto.fix","requests":["{}"]}"#,
            r#"{"intent":"auto.fix","requests":{}}"#,
            r#"{"intent":"auto.fix","confirmed":[{"code":"X"}]}"#,
            &many,
        ] {
            assert!(read::<TestRequest>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reasons_are_texts() {
        assert_eq!(
            read::<ReasonRequest>(r#"{"reason":"fields\nforbidden"}"#).expect("read").reason,
            "fields\nforbidden"
        );
        for bad in ["{}", r#"{"reason":5}"#] {
            assert!(read::<ReasonRequest>(bad).is_err(), "{bad}");
        }
    }
}
