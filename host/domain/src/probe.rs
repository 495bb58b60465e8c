//! What a probe saw of a partner (spec 1, States and transitions: `initialize`, then `tools/list`, and no call).
//!
//! A probe that failed is a record too, with everything seen up to the failure. Here are the types alone: which tools
//! a partner must show is judged elsewhere from [`ProbeRecord::tools`], and `host/partners` does the probing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::endpoint::{Endpoint, Mappings};
use crate::id::PartnerId;
use crate::ports::Contracts;
use crate::secret::Secret;
use crate::sign_in::SignInServer;

/// Tools read of one partner.
pub const PROBE_TOOLS_MAX: usize = 500;
/// Pages of `tools/list` read of one partner.
pub const PROBE_PAGES_MAX: usize = 50;
/// Bytes of all tool descriptors of one partner, as JSON.
pub const PROBE_TOOLS_MAX_BYTES: usize = 2 * 1024 * 1024;
/// Characters kept of each text that a partner names itself with.
pub const PROBE_TEXT_MAX_CHARS: usize = 200;
/// Bytes kept of what a partner says it can do, as JSON; more is not kept.
pub const PROBE_CAPABILITIES_MAX_BYTES: usize = 16 * 1024;
/// Notes kept of one probe.
pub const PROBE_NOTES_MAX: usize = 100;

/// Whom to probe.
#[derive(Clone, Copy)]
pub struct ProbeRequest<'a> {
    /// The partner, for the log.
    pub partner: &'a PartnerId,
    /// Where it is.
    pub endpoint: &'a Endpoint,
    /// How its API answers the tools, where it has no MCP server.
    pub mappings: &'a Mappings,
    /// The live contracts: what the tools of a wrapped API have to take.
    pub contracts: &'a dyn Contracts,
    /// A token for partners that list their tools to nobody without one.
    pub bearer: Option<&'a Secret>,
    /// The time.
    pub now: Timestamp,
}

/// Everything that a probe saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// What was probed.
    pub endpoint: Endpoint,
    /// When it began, milliseconds since the epoch.
    pub started_at_ms: Timestamp,
    /// When it ended, milliseconds since the epoch.
    pub ended_at_ms: Timestamp,
    /// The MCP revision that was agreed on, for example `2025-11-25`.
    pub protocol_version: Option<String>,
    /// How the MCP session was opened.
    pub lifecycle: Option<Lifecycle>,
    /// Whether the MCP server keeps a session.
    pub session: Option<SessionMode>,
    /// Who the partner says it is.
    pub server: Option<ServerInfo>,
    /// What it says it can do, as it was sent.
    pub capabilities: Option<Value>,
    /// The tool descriptors as they were sent, in the order given; for a wrapped API, those that stand for its mapping.
    pub tools: Vec<Value>,
    /// What was done, in order.
    pub steps: Vec<ProbeStep>,
    /// Where its users sign in, if it names an authorization server.
    #[serde(default)]
    pub sign_in: Option<SignInServer>,
    /// What a reviewer should know and what fails nothing.
    pub notes: Vec<String>,
    /// Why it failed; absent when it passed.
    pub failure: Option<ProbeFailure>,
}

impl ProbeRecord {
    /// A record of which nothing is known yet.
    #[must_use]
    pub fn new(endpoint: Endpoint, started_at_ms: Timestamp) -> Self {
        Self {
            endpoint,
            started_at_ms,
            ended_at_ms: started_at_ms,
            protocol_version: None,
            lifecycle: None,
            session: None,
            server: None,
            capabilities: None,
            tools: Vec::new(),
            steps: Vec::new(),
            sign_in: None,
            notes: Vec::new(),
            failure: None,
        }
    }

    /// Whether every step passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// How an MCP session is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// With `initialize`.
    Initialize,
    /// With `server/discover`, as from revision 2026-07-28.
    Discover,
}

/// Whether an MCP server keeps a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// It issued a session identifier.
    Stateful,
    /// It issued none.
    Stateless,
}

/// Who a server says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ServerBody))]
pub struct ServerInfo {
    /// Should name the company.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A part of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The MCP session is opened.
    Initialize,
    /// One page of MCP's `tools/list`.
    ListTools,
    /// The OpenAPI document of a REST API is fetched and read.
    Document,
    /// A GraphQL API is asked for the name of its root type.
    Typename,
    /// A GraphQL API is asked for its schema.
    Introspection,
    /// The mapping is compared with what the API says of itself.
    Mapping,
}

/// One step of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StepBody))]
pub struct ProbeStep {
    /// Which.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "list_tools"))]
    pub step: Step,
    /// Whether it passed.
    pub passed: bool,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// Why a probe failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = FailedStep))]
pub struct ProbeFailure {
    /// Which step.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "initialize"))]
    pub step: Step,
    /// Stable code.
    pub code: String,
    /// What went wrong.
    pub message: String,
}

/// What the head of a fetched page said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedPage {
    /// Where it was found in the end, after redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Media type, where given.
    pub content_type: Option<String>,
    /// Bytes of its body, up to [`crate::limits::PAGE_MAX_BYTES`].
    pub bytes: u64,
}
