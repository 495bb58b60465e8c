//! What a contract declares of its intent.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Axes, Axis, OrderWay};
use crate::money::Paise;
use crate::platform_code::PlatformCode;
use crate::pointer::child;

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LatencyTargets {
    /// Median.
    pub p50_ms: u32,
    /// 95th percentile.
    pub p95_ms: u32,
    /// 99th percentile.
    #[cfg_attr(feature = "schema", schema(required))]
    pub p99_ms: Option<u32>,
}

/// How often a failed call may be tried again; zero means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RetryPolicy {
    /// After a 429 or RATE_LIMITED.
    pub on_rate_limited: u32,
    /// After a 5xx or INTERNAL_ERROR.
    pub on_server_error: u32,
}

/// One tool that a partner must implement.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tool {
    /// snake_case verb_noun.
    pub name: String,
    /// What it does.
    pub role: ToolRole,
    /// One sentence for partners.
    pub purpose: String,
    /// Latency targets.
    pub latency: LatencyTargets,
    /// Calls per minute that a partner must bear, of all users together; null where the intent states none.
    #[cfg_attr(feature = "schema", schema(required))]
    pub rate_per_minute: Option<u32>,
    /// The argument that identifies a repeated call.
    #[cfg_attr(feature = "schema", schema(required))]
    pub idempotency_key: Option<String>,
    /// Retries.
    pub retry: RetryPolicy,
    /// How long an answer may be served again, seconds; null means never.
    #[cfg_attr(feature = "schema", schema(required))]
    pub cache_seconds: Option<u32>,
    /// The tool by which is seen, after a failed call of this one, whether an order was made all the same.
    #[cfg_attr(feature = "schema", schema(required))]
    pub orders_tool: Option<String>,
    /// JSON Schema (2020-12) of the arguments.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub request_schema: Box<RawValue>,
    /// JSON Schema (2020-12) of one option for the search tool, of the payload for others.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub response_schema: Box<RawValue>,
}

/// How a search payload is taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchShape {
    /// Name of the search tool.
    pub tool: String,
    /// Key of the array of options.
    pub options_key: String,
    /// Where an option's own identifier is: the name of a member, or a JSON Pointer where it lies deeper.
    pub id_key: String,
    /// Where an option's price in INR is, as a JSON Pointer; null where the intent names none.
    #[cfg_attr(feature = "schema", schema(required))]
    pub price_pointer: Option<String>,
    /// Options of one partner beyond this number are dropped.
    pub max_options: u32,
    /// Code for a valid request that matches nothing.
    #[cfg_attr(feature = "schema", schema(required))]
    pub empty_code: Option<String>,
    /// Code for a chosen option that cannot be had any more.
    #[cfg_attr(feature = "schema", schema(required))]
    pub gone_code: Option<String>,
}

impl SearchShape {
    /// Where an option's own identifier is, as a JSON Pointer.
    #[must_use]
    pub fn id_pointer(&self) -> String {
        if self.id_key.starts_with('/') {
            return self.id_key.clone();
        }
        child("", &self.id_key)
    }
}

/// A controlled vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Vocabulary {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

/// When a forbidden field is a breach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// Whenever the key is there.
    Present,
    /// Unless the value is `false`.
    UnlessFalse,
    /// Unless the value is `null` or an empty string.
    UnlessEmpty,
}

/// A field that may appear in no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ForbiddenField {
    /// The key.
    pub name: String,
    /// When it breaks the rule.
    pub breach: Breach,
    /// Why.
    pub reason: String,
}

/// The document that a rule judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// The arguments of a tool.
    Request,
    /// One option of a search payload.
    Option,
    /// The answer of a tool that is not a search.
    Answer,
    /// A completion report.
    Report,
}

/// What breaking a rule leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// The document is refused.
    Refused,
    /// The option is taken out.
    Dropped,
    /// The option is taken out, or what is reported is recorded; either way the breach counts towards suspension.
    Strike,
    /// It is recorded against the partner.
    Finding,
    /// It is told to the sender.
    Note,
}

/// A rule between members of a document, or between documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

/// How the waits between two tries grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// The same wait each time.
    Fixed,
    /// The wait doubles each time.
    Exponential,
}

/// How a code may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ErrorRetry {
    /// How often.
    pub times: u32,
    /// First wait, milliseconds.
    pub wait_ms: u32,
    /// Growth of the wait.
    pub backoff: Backoff,
}

/// One row of an intent's error table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PlatformError {
    /// The code.
    pub code: String,
    /// HTTP status; 200 marks an advisory.
    pub http_status: u16,
    /// What it means.
    pub meaning: String,
    /// Null where a retry is not allowed.
    #[cfg_attr(feature = "schema", schema(required))]
    pub retry: Option<ErrorRetry>,
}

/// How one field of a card is filled, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CardSlot {
    /// Key in the card.
    pub name: String,
    /// Where its value comes from.
    pub source: String,
}

/// The widget that shows the options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Widget {
    /// Widget type to render today.
    pub widget_type: String,
    /// The planned widget.
    #[cfg_attr(feature = "schema", schema(required))]
    pub preferred: Option<String>,
    /// How a card is filled.
    pub slots: Vec<CardSlot>,
}

/// What a completion report may say.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Completion {
    /// Allowed statuses.
    pub statuses: Vec<String>,
    /// Statuses on which commission is charged.
    pub charged_statuses: Vec<String>,
    /// Most that any amount of a report may be, whole INR.
    pub amount_max_inr: u32,
    /// JSON Schema (2020-12) of the report.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub schema: Box<RawValue>,
}

impl Completion {
    /// Most that any amount of a report may be.
    #[must_use]
    pub fn amount_max(&self) -> Paise {
        Paise::new(i64::from(self.amount_max_inr) * 100)
    }
}

/// One ranking signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Signal {
    /// The axis it belongs to.
    pub axis: Axis,
    /// Its name.
    pub name: String,
    /// Share within the axis.
    pub weight: f64,
}

/// What a user's band does to the weight of its axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Band {
    /// The axis.
    pub axis: Axis,
    /// The band's value.
    pub value: String,
    /// Factor on the axis weight, before normalisation.
    pub factor: f64,
}

/// How options are ranked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

/// How long other data of a partner may be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DataLifetime {
    /// What.
    pub data: String,
    /// How long, seconds.
    pub seconds: u32,
}

/// How many different things the options of all sample searches together must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Minimum {
    /// What is counted, in the plural.
    pub counted: String,
    /// JSON Pointer into an option; empty where the options themselves are counted.
    pub pointer: String,
    /// At least this many.
    pub count: u32,
}

/// A span of time into which options must fall to be counted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Window {
    /// JSON Pointer into an option to its instant.
    pub pointer: String,
    /// Length of the span.
    pub hours: u32,
}

/// What a catalogue must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Depth {
    /// All of these at once.
    pub minimums: Vec<Minimum>,
    /// Met by the options of some one such window; null where time does not matter.
    #[cfg_attr(feature = "schema", schema(required))]
    pub within: Option<Window>,
}

/// Each value of a vocabulary must be asked for by a sample search that finds an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Coverage {
    /// JSON Pointer into the arguments of the search.
    pub pointer: String,
    /// Name of a vocabulary.
    pub vocabulary: String,
}

/// What makes a request one of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestTest {
    /// The value is this one.
    Equals(serde_json::Value),
    /// The value is an array that holds this one.
    Includes(serde_json::Value),
    /// The value is a number above this.
    Above(f64),
}

/// A kind of request that partners must be able to serve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Occasion {
    /// A few words that name it.
    pub text: String,
    /// JSON Pointer into the arguments of the search.
    pub pointer: String,
    /// The test on the value there.
    pub test: RequestTest,
}

/// What must be handled, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Handling {
    /// Each must be asked for by a sample search that finds an option.
    pub occasions: Vec<Occasion>,
    /// Codes of rules that no option of any sample search may break.
    pub unbroken: Vec<String>,
}

/// How a requirement is checked. What can be seen in an answer is seen in those to sample requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
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

impl RequirementCheck {
    /// Whether people confirm it: the gateway calls no tool but the search.
    #[must_use]
    pub fn is_for_people(&self, search_tool: &str) -> bool {
        match self {
            Self::ByHand => true,
            Self::WithinLatency(tool) => tool != search_tool,
            Self::AtLeast(_) | Self::Covers(_) | Self::Handles(_) => false,
        }
    }
}

/// One thing that must hold before a partner's traffic may go live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Requirement {
    /// Stable code in UPPER_SNAKE_CASE.
    pub code: String,
    /// What must hold, for partners.
    pub text: String,
    /// How it is checked.
    pub check: RequirementCheck,
    /// Days for which a person's confirmation holds; null where it holds for good, and where the gateway checks.
    #[cfg_attr(feature = "schema", schema(required))]
    pub valid_days: Option<u32>,
}

/// Everything that a contract declares.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Descriptor {
    /// `<domain>.<name>`.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "auto.book_ac_service"))]
    pub intent: crate::id::IntentId,
    /// Other names of the intent. Where it is named by one, it is meant.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub aliases: Vec<crate::id::IntentId>,
    /// Semantic version of the contract.
    #[serde(serialize_with = "serialize_version")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub version: semver::Version,
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
    /// How orders go; null where no tool orders anything.
    #[cfg_attr(feature = "schema", schema(required))]
    pub order: Option<OrderWay>,
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

fn serialize_version<S: serde::Serializer>(version: &semver::Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(version)
}

impl Descriptor {
    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Days for which a person's confirmation of a go-live requirement holds; none where it holds for good, or where there is
    /// no such requirement.
    #[must_use]
    pub fn valid_days(&self, code: &str) -> Option<u32> {
        self.go_live.iter().find(|requirement| requirement.code == code)?.valid_days
    }

    /// The row of the error table for a code.
    #[must_use]
    pub fn error(&self, code: &str) -> Option<&PlatformError> {
        self.errors.iter().find(|error| error.code == code)
    }

    /// The HTTP status of a code: the intent's table comes first; a code that neither it nor the platform knows counts as the
    /// partner's failure.
    #[must_use]
    pub fn find_status(&self, code: &str) -> u16 {
        let platform = || PlatformCode::parse(code).unwrap_or(PlatformCode::InternalError).http_status();
        self.error(code).map_or_else(platform, |row| row.http_status)
    }
}
