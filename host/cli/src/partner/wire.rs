//! What the platform team's commands read of a gateway's answers; the whole of each is in its OpenAPI document.

use std::collections::BTreeMap;

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::delivered::Inflated;
use intent_gateway_onboarding::descriptors::{DriftKind, ToolReport};
use intent_gateway_onboarding::manifest::{Flag, Status};
use intent_gateway_onboarding::records::ReviewStatus;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Accounts {
    pub(super) accounts: Vec<AccountRow>,
    pub(super) next: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AccountRow {
    pub(super) account_id: String,
    pub(super) business_name: String,
    pub(super) email: String,
    pub(super) created_at: String,
    pub(super) has_profile: bool,
}

#[derive(Deserialize)]
pub(super) struct Connections {
    pub(super) connections: Vec<Connection>,
    pub(super) next: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Connection {
    pub(super) account_id: String,
    pub(super) state: ConnectionState,
    pub(super) since: String,
    pub(super) endpoint: Endpoint,
    pub(super) probe: Option<Probe>,
    pub(super) quarantine: BTreeMap<String, Vec<Drift>>,
    pub(super) tests: BTreeMap<String, Report>,
    pub(super) suspension: Option<Suspension>,
    pub(super) next_probe_at: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Drift {
    pub(super) tool: String,
    pub(super) kind: DriftKind,
}

#[derive(Deserialize)]
pub(super) struct Suspension {
    pub(super) reason: String,
    pub(super) at: String,
    pub(super) by: Actor,
}

#[derive(Deserialize)]
pub(super) struct Probe {
    pub(super) passed: bool,
    pub(super) failures: Vec<Violation>,
    pub(super) started_at: String,
    pub(super) elapsed_ms: u64,
    pub(super) protocol_version: Option<String>,
    pub(super) server: Option<Server>,
    pub(super) steps: Vec<ProbeStep>,
    pub(super) notes: Vec<String>,
    pub(super) tool_report: Option<ToolReport>,
}

#[derive(Deserialize)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) version: String,
}

#[derive(Deserialize)]
pub(super) struct ProbeStep {
    pub(super) step: String,
    pub(super) passed: bool,
    pub(super) elapsed_ms: u64,
}

#[derive(Deserialize)]
pub(super) struct ProbeAnswer {
    pub(super) ok: bool,
    pub(super) connection: Connection,
}

#[derive(Deserialize)]
pub(super) struct SwitchedOn {
    pub(super) routed: Vec<String>,
    pub(super) connection: Connection,
}

#[derive(Deserialize)]
pub(super) struct Report {
    pub(super) intent: String,
    pub(super) passed: bool,
    pub(super) contract_version: String,
    pub(super) at: String,
    pub(super) samples: Vec<Sample>,
    pub(super) items: Vec<Item>,
}

#[derive(Deserialize)]
pub(super) struct Sample {
    pub(super) options: usize,
    pub(super) dropped: usize,
    pub(super) elapsed_ms: u64,
    pub(super) failure: Option<String>,
}

/// One line of a checklist, or of a report.
#[derive(Deserialize)]
pub(super) struct Item {
    pub(super) code: String,
    pub(super) text: String,
    /// `passed`, `failed`, `by_hand` or `confirmed`.
    pub(super) state: String,
    pub(super) detail: String,
}

#[derive(Deserialize)]
pub(super) struct Overview {
    pub(super) account_id: String,
    pub(super) business_name: String,
    pub(super) email: String,
    pub(super) created_at: String,
    pub(super) credentials: Option<Credentials>,
    pub(super) manifest: Option<Manifests>,
    pub(super) connection: Option<Connection>,
    pub(super) next: Vec<NextStep>,
}

#[derive(Deserialize)]
pub(super) struct Credentials {
    pub(super) client_id: String,
    pub(super) webhook_url: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Manifests {
    pub(super) latest: Submission,
    pub(super) approved: Option<Submission>,
    pub(super) review: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Submission {
    pub(super) number: u32,
    pub(super) status: Status,
    pub(super) warnings: Vec<Violation>,
    pub(super) flags: Vec<Flag>,
    pub(super) notes: Option<String>,
    pub(super) manifest: ManifestPart,
}

#[derive(Deserialize)]
pub(super) struct ManifestPart {
    #[serde(rename = "businessName")]
    pub(super) business_name: String,
    pub(super) intents: Vec<EntryPart>,
}

#[derive(Deserialize)]
pub(super) struct EntryPart {
    pub(super) intent: String,
    pub(super) service_area: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct NextStep {
    pub(super) code: String,
    pub(super) who: String,
    pub(super) text: String,
}

#[derive(Deserialize)]
pub(super) struct Reviews {
    pub(super) reviews: Vec<Review>,
    pub(super) next: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Review {
    pub(super) id: String,
    pub(super) account_id: String,
    pub(super) subject: Subject,
    pub(super) status: ReviewStatus,
    pub(super) opened_at: String,
    pub(super) due_at: String,
    pub(super) decision: Option<Decision>,
}

#[derive(Deserialize)]
pub(super) struct Subject {
    pub(super) kind: String,
    pub(super) number: Option<u32>,
    pub(super) intents: Option<Vec<String>>,
    pub(super) inflation: Option<Inflation>,
}

/// Declared signals that claim more than was delivered.
#[derive(Deserialize)]
pub(super) struct Inflation {
    pub(super) intent: String,
    pub(super) inflated: Vec<Inflated>,
}

#[derive(Deserialize)]
pub(super) struct Decision {
    pub(super) by: Actor,
    pub(super) at: String,
    pub(super) notes: String,
}

#[derive(Deserialize)]
pub(super) struct ReviewInFull {
    #[serde(flatten)]
    pub(super) review: Review,
    pub(super) account: AccountRow,
    pub(super) submission: Option<Submission>,
    pub(super) checklist: Vec<Item>,
}
