//! Shapes of what the domain serialises itself, for the OpenAPI document and nothing else.
//!
//! Nothing here is ever built: `intent-gateway-core` knows no OpenAPI, so its shapes are written down again. The
//! router tests hold every answer against the document, which keeps the two together.

pub mod receipt;

use utoipa::ToSchema;

use crate::wire::{Axes, Violation};

/// Everything that a contract declares.
#[derive(ToSchema)]
pub struct Descriptor {
    /// `<domain>.<name>`.
    #[schema(example = "auto.book_ac_service")]
    pub intent: String,
    /// Semantic version of the contract.
    pub version: String,
    /// Namespace of the intent.
    pub domain: String,
    /// Primary agent.
    pub agent: String,
    /// A few words.
    pub title: String,
    /// One or two sentences.
    pub summary: String,
    /// How a search payload is taken apart.
    pub search: SearchShape,
    /// The tools that a partner must implement.
    pub tools: Vec<Tool>,
    /// How options are ranked.
    pub ranking: Ranking,
    /// Controlled vocabularies.
    pub vocabularies: Vec<Vocabulary>,
    /// Fields that may appear in no answer, beyond the platform's own list.
    pub forbidden_fields: Vec<ForbiddenField>,
    /// Rules beyond what the schemas say.
    pub rules: Vec<Rule>,
    /// Error table.
    pub errors: Vec<PlatformError>,
    /// Widget and what fills its cards.
    pub widget: Widget,
    /// What a completion report may say.
    pub completion: Completion,
    /// How long other data of a partner may be kept.
    pub data_lifetimes: Vec<DataLifetime>,
    /// What must hold before a partner's traffic may go live.
    pub go_live: Vec<Requirement>,
    /// Words one of which occurs in every utterance that may concern the contract.
    pub cues: Vec<String>,
    /// Intents proposed together with this one.
    pub pairs: Vec<String>,
    /// Intents to which the contract sends what it classifies out.
    pub elsewhere: Vec<String>,
}

/// A rule between members of a document, or between documents.
#[derive(ToSchema)]
pub struct Rule {
    /// Code of the violation that a breach gives.
    pub code: String,
    /// What it judges.
    pub judged: Judged,
    /// What a breach leads to.
    pub consequence: Consequence,
    /// What must hold, for partners.
    pub text: String,
}

/// One thing that must hold before a partner's traffic may go live.
#[derive(ToSchema)]
pub struct Requirement {
    /// Stable code in UPPER_SNAKE_CASE.
    pub code: String,
    /// What must hold, for partners.
    pub text: String,
    /// How it is checked.
    pub check: RequirementCheck,
}

/// How a requirement is checked. What can be seen in an answer is seen in those to sample requests.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RequirementCheck {
    /// By counting what the sample searches found.
    AtLeast(Depth),
    /// Every value was asked for and found.
    Covers(Coverage),
    /// Every occasion was asked for and found, without certain breaches.
    Handles(Handling),
    /// The 95th percentile of this tool's latency lies within its target.
    WithinLatency(String),
    /// People look and confirm.
    ByHand,
}

/// What a catalogue must hold.
#[derive(ToSchema)]
pub struct Depth {
    /// All of these at once.
    pub minimums: Vec<Minimum>,
    /// Met by the options of some one such window; null where time does not matter.
    #[schema(required)]
    pub within: Option<Window>,
}

/// How many different things the options of all sample searches together must hold.
#[derive(ToSchema)]
pub struct Minimum {
    /// What is counted, in the plural.
    pub counted: String,
    /// JSON Pointer into an option; empty where the options themselves are counted.
    pub pointer: String,
    /// At least this many.
    pub count: u32,
}

/// A span of time into which options must fall to be counted together.
#[derive(ToSchema)]
pub struct Window {
    /// JSON Pointer into an option to its instant.
    pub pointer: String,
    /// Length of the span.
    pub hours: u32,
}

/// Each value of a vocabulary must be asked for by a sample search that finds an option.
#[derive(ToSchema)]
pub struct Coverage {
    /// JSON Pointer into the arguments of the search.
    pub pointer: String,
    /// Name of a vocabulary.
    pub vocabulary: String,
}

/// What must be handled, and how.
#[derive(ToSchema)]
pub struct Handling {
    /// Each must be asked for by a sample search that finds an option.
    pub occasions: Vec<Occasion>,
    /// Codes of rules that no option of any sample search may break.
    pub unbroken: Vec<String>,
}

/// A kind of request that partners must be able to serve.
#[derive(ToSchema)]
pub struct Occasion {
    /// A few words that name it.
    pub text: String,
    /// JSON Pointer into the arguments of the search.
    pub pointer: String,
    /// The test on the value there.
    pub test: RequestTest,
}

/// What makes a request one of a kind.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RequestTest {
    /// The value is this one.
    Equals(serde_json::Value),
    /// The value is an array that holds this one.
    Includes(serde_json::Value),
    /// The value is a number above this.
    Above(f64),
}

/// The document that a rule judges.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Judged {
    /// The arguments of a tool.
    Request,
    /// One option of a search payload.
    Option,
    /// The answer of a tool that is no search.
    Answer,
    /// A completion report.
    Report,
}

/// What breaking a rule leads to.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Consequence {
    /// The document is refused.
    Refused,
    /// The option is taken out.
    Dropped,
    /// The option is taken out, and the breach counts towards suspension.
    Strike,
    /// It is recorded against the partner.
    Finding,
    /// It is told to the sender.
    Note,
}

/// How a search payload is taken apart.
#[derive(ToSchema)]
pub struct SearchShape {
    /// Name of the search tool.
    pub tool: String,
    /// Key of the array of options.
    pub options_key: String,
    /// Where an option's own identifier is: the name of a member, or a JSON Pointer where it lies deeper.
    pub id_key: String,
    /// Options of one partner beyond this number are dropped.
    pub max_options: u32,
    /// Code for a valid request that matches nothing.
    #[schema(required)]
    pub empty_code: Option<String>,
    /// Code for a chosen option that cannot be had any more.
    #[schema(required)]
    pub gone_code: Option<String>,
}

/// One tool that a partner must implement.
#[derive(ToSchema)]
pub struct Tool {
    /// snake_case verb_noun.
    pub name: String,
    /// What it does.
    pub role: ToolRole,
    /// One sentence for partners.
    pub purpose: String,
    /// Latency targets.
    pub latency: LatencyTargets,
    /// Calls per minute that a partner must bear.
    pub rate_per_minute: u32,
    /// The argument that identifies a repeated call.
    #[schema(required)]
    pub idempotency_key: Option<String>,
    /// Retries.
    pub retry: RetryPolicy,
    /// How long an answer may be served again, seconds; null means never.
    #[schema(required)]
    pub cache_seconds: Option<u32>,
    /// The tool by which is seen, after a failed call of this one, whether an order was made all the same.
    #[schema(required)]
    pub orders_tool: Option<String>,
    /// JSON Schema (2020-12) of the arguments.
    #[schema(value_type = Object)]
    pub request_schema: (),
    /// JSON Schema (2020-12) of one option for the search tool, of the payload for others.
    #[schema(value_type = Object)]
    pub response_schema: (),
}

/// What a tool does.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum ToolRole {
    /// Finds options.
    Search,
    /// Shows one option in full.
    GetDetail,
    /// Books or buys.
    Create,
    /// Changes a booking.
    Modify,
    /// Cancels a booking.
    Cancel,
    /// Follows an order.
    Track,
    /// Rates an order.
    Rate,
    /// Anything else.
    Utility,
}

/// Latency targets in milliseconds.
#[derive(ToSchema)]
pub struct LatencyTargets {
    /// Median.
    pub p50_ms: u32,
    /// 95th percentile.
    pub p95_ms: u32,
    /// 99th percentile.
    #[schema(required)]
    pub p99_ms: Option<u32>,
}

/// How often a failed call may be tried again; zero means never.
#[derive(ToSchema)]
pub struct RetryPolicy {
    /// After a 429 or RATE_LIMITED.
    pub on_rate_limited: u32,
    /// After a 5xx or INTERNAL_ERROR.
    pub on_server_error: u32,
}

/// How options are ranked.
#[derive(ToSchema)]
pub struct Ranking {
    /// Domain weights; they sum to 1.
    pub weights: Axes,
    /// Share of declared signals in each axis.
    pub declared_share: f64,
    /// Share of completeness in the total.
    pub completeness_share: f64,
    /// The signals of each axis.
    pub signals: Vec<Signal>,
    /// The user bands.
    pub bands: Vec<Band>,
}

/// A TTBS axis.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Axis {
    /// Speed of fulfilment.
    Time,
    /// Quality and curation.
    Taste,
    /// Value for money.
    Budget,
    /// Trust and verification.
    Safety,
}

/// One ranking signal.
#[derive(ToSchema)]
pub struct Signal {
    /// The axis it belongs to.
    pub axis: Axis,
    /// Its name.
    pub name: String,
    /// Share within the axis.
    pub weight: f64,
}

/// What a user's band does to the weight of its axis.
#[derive(ToSchema)]
pub struct Band {
    /// The axis.
    pub axis: Axis,
    /// The band's value.
    pub value: String,
    /// Factor on the axis weight, before normalisation.
    pub factor: f64,
}

/// A controlled vocabulary.
#[derive(ToSchema)]
pub struct Vocabulary {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

/// A field that may appear in no answer.
#[derive(ToSchema)]
pub struct ForbiddenField {
    /// The key.
    pub name: String,
    /// When it breaks the rule.
    pub breach: Breach,
    /// Why.
    pub reason: String,
}

/// When a forbidden field is a breach.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Breach {
    /// Whenever the key is there.
    Present,
    /// Unless the value is `false`.
    UnlessFalse,
    /// Unless the value is `null` or an empty string.
    UnlessEmpty,
}

/// One row of an intent's error table.
#[derive(ToSchema)]
pub struct PlatformError {
    /// The code.
    pub code: String,
    /// HTTP status; 200 marks an advisory.
    pub http_status: u16,
    /// What it means.
    pub meaning: String,
    /// Null where a retry is not allowed.
    #[schema(required)]
    pub retry: Option<ErrorRetry>,
}

/// How a code may be retried.
#[derive(ToSchema)]
pub struct ErrorRetry {
    /// How often.
    pub times: u32,
    /// First wait, milliseconds.
    pub wait_ms: u32,
    /// Growth of the wait.
    pub backoff: Backoff,
}

/// How the waits between two tries grow.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Backoff {
    /// The same wait each time.
    Fixed,
    /// The wait doubles each time.
    Exponential,
}

/// The widget that shows the options.
#[derive(ToSchema)]
pub struct Widget {
    /// Widget type to render today.
    pub widget_type: String,
    /// The planned widget.
    #[schema(required)]
    pub preferred: Option<String>,
    /// How a card is filled.
    pub slots: Vec<CardSlot>,
}

/// How one field of a card is filled, in words.
#[derive(ToSchema)]
pub struct CardSlot {
    /// Key in the card.
    pub name: String,
    /// Where its value comes from.
    pub source: String,
}

/// What a completion report may say.
#[derive(ToSchema)]
pub struct Completion {
    /// Allowed statuses.
    pub statuses: Vec<String>,
    /// Statuses on which commission is charged.
    pub charged_statuses: Vec<String>,
    /// JSON Schema (2020-12) of the report.
    #[schema(value_type = Object)]
    pub schema: (),
}

/// How long other data of a partner may be kept.
#[derive(ToSchema)]
pub struct DataLifetime {
    /// What.
    pub data: String,
    /// How long, seconds.
    pub seconds: u32,
}

/// An utterance to classify.
#[derive(ToSchema)]
pub struct ClassifyRequest {
    /// What the user said, in plain text.
    #[schema(min_length = 1, max_length = 2000, example = "my car AC blows warm air")]
    pub utterance: String,
    /// Language tag (BCP 47) of the utterance.
    #[schema(max_length = 35, default = "en-IN")]
    pub locale: Option<String>,
}

/// What an utterance turned out to be.
#[derive(ToSchema)]
pub struct Classified {
    /// What came of it.
    pub decision: Decision,
    /// The intent decided on.
    #[schema(required)]
    pub intent: Option<String>,
    /// All contracts that claim the utterance, the one decided on first.
    pub candidates: Vec<Claim>,
    /// Intents named by contracts that classify the utterance out, best first.
    pub elsewhere: Vec<Elsewhere>,
    /// Intents that the utterance asks for besides the one decided on: its pairs first, then claims of their own.
    pub also: Vec<String>,
    /// Contracts that failed to give an opinion, by intent.
    pub failed: Vec<String>,
}

/// What came of a classification.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Decision {
    /// An intent that this gateway serves.
    Intent,
    /// No contract claims it, but one names the intent that it belongs to.
    Elsewhere,
    /// Nothing that any contract knows.
    None,
}

/// A contract's claim.
#[derive(ToSchema)]
pub struct Claim {
    /// The intent.
    pub intent: String,
    /// Version of the contract that claims.
    pub version: String,
    /// 0 to 1.
    pub score: f64,
    /// The words that decided.
    pub evidence: Vec<String>,
}

/// An intent that a contract pointed to instead of itself.
#[derive(ToSchema)]
pub struct Elsewhere {
    /// The intent.
    pub intent: String,
    /// 0 to 1.
    pub score: f64,
    /// Why.
    pub reason: String,
    /// Whether this gateway serves it.
    pub live: bool,
}

/// The loaded contract versions.
#[derive(ToSchema)]
pub struct LoadedVersions {
    /// Sorted by intent and version.
    pub contracts: Vec<LoadedVersion>,
}

/// A version that has been loaded, live or not.
#[derive(ToSchema)]
pub struct LoadedVersion {
    /// The intent.
    pub intent: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the component, 64 hexadecimal characters.
    pub digest: String,
    /// Whether it serves.
    pub live: bool,
    /// Where it came from.
    pub origin: Origin,
    /// When it was loaded, milliseconds since the epoch.
    pub loaded_at_ms: u64,
    /// Size of the component in bytes.
    pub component_bytes: usize,
    /// Calls served since the process started.
    pub calls: u64,
    /// Calls that failed for the contract's own fault.
    pub faults: u64,
}

/// Where a component came from.
#[derive(ToSchema)]
pub struct Origin {
    /// Of which kind.
    pub kind: OriginKind,
    /// Name of the file, or subject of the token that uploaded; absent for `kept`.
    #[schema(required = false)]
    pub name: String,
}

/// Kinds of origin.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum OriginKind {
    /// A file of the watched folder.
    Folder,
    /// An upload.
    Upload,
    /// Kept from before a restart.
    Kept,
}

/// The latest failures to load.
#[derive(ToSchema)]
pub struct LoadFailures {
    /// Newest first.
    pub failures: Vec<LoadFailure>,
}

/// A component that did not become what was asked of it.
#[derive(ToSchema)]
pub struct LoadFailure {
    /// When, milliseconds since the epoch.
    pub at_ms: u64,
    /// Where it came from.
    pub origin: Origin,
    /// Digest of the component, where it could be read.
    #[schema(required)]
    pub digest: Option<String>,
    /// The intent, where the component got as far as telling.
    #[schema(required)]
    pub intent: Option<String>,
    /// Its version, likewise.
    #[schema(required)]
    pub version: Option<String>,
    /// Stable code.
    pub code: String,
    /// What went wrong, down to the innermost cause.
    pub message: String,
}

/// The findings against one partner.
#[derive(ToSchema)]
pub struct PartnerFindings {
    /// The partner.
    pub partner: String,
    /// Newest first.
    pub findings: Vec<Finding>,
    /// What to ask the next page with, as `before`; null when this was the last.
    #[schema(required)]
    pub next: Option<u64>,
}

/// One thing found in a partner's answer or completion report.
#[derive(ToSchema)]
pub struct Finding {
    /// Its number: greater than that of any finding before it.
    pub number: u64,
    /// When, milliseconds since the epoch.
    pub at_ms: u64,
    /// Against whom.
    pub partner: String,
    /// The intent concerned.
    pub intent: String,
    /// The request in whose answer it was found, or that the reported order came from.
    pub request_id: String,
    /// The option's identifier, where the finding concerns one.
    #[schema(required)]
    pub option_id: Option<String>,
    /// The partner's identifier of the order, where the finding concerns a completion report.
    #[schema(required)]
    pub external_id: Option<String>,
    /// How grave.
    pub severity: Severity,
    /// What.
    pub violation: Violation<'static>,
}

/// How grave a finding is.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Severity {
    /// The option stayed in the ranking; the report was booked.
    Note,
    /// The option, or the whole answer, was dropped.
    Drop,
    /// Dropped, and counts towards the partner's suspension.
    Strike,
}

/// A completion report: what every intent's has. Each contract adds members of its own.
#[derive(ToSchema)]
pub struct CompletionReport {
    /// The intent that the order was made under.
    #[schema(example = "auto.book_ac_service")]
    pub intent: String,
    /// The partner's identifier of the order, booking or policy.
    #[schema(min_length = 1, max_length = 200)]
    pub external_id: String,
    /// The request that the order came from.
    #[schema(min_length = 1, max_length = 200)]
    pub request_id: String,
    /// Net supplier revenue in INR, with at most two decimals; the base of the commission.
    #[schema(minimum = 0)]
    pub amount_inr: f64,
    /// Tax.
    #[schema(minimum = 0)]
    pub gst_inr: f64,
    /// Tips collected for staff.
    #[schema(minimum = 0)]
    pub tips_inr: f64,
    /// Fees of others that the partner does not keep.
    #[schema(minimum = 0)]
    pub pass_through_inr: f64,
    /// When the order closed, with an offset.
    #[schema(format = DateTime, example = "2026-05-04T10:00:00+05:30")]
    pub closed_at: String,
    /// One of the statuses that the intent's contract lists.
    #[schema(min_length = 1, max_length = 64, example = "completed")]
    pub status: String,
}

/// The answer to a completion report that is in the ledger.
#[derive(ToSchema)]
pub struct ReportAcknowledgement {
    /// The receipt of the booking.
    #[schema(example = "rcpt_0f1e2d3c4b5a69788796a5b4")]
    pub receipt_id: String,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The commission charged, in INR.
    pub commission_inr: f64,
    /// The reported status.
    pub status: String,
}
