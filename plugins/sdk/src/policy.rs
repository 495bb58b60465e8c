//! Tables that a contract fills in for the host: identity, tools, errors, forbidden fields, widget, lifetimes.
//!
//! They are the constant form of the descriptor's types; [`crate::engine::describe`] turns them into the
//! types of the interface. Nothing here acts: the host does.

use crate::bindings::{Backoff, Breach, Consequence, Judged, ToolRole};
use crate::code;
use crate::pointer::MemberStep;

#[derive(Debug, Clone, Copy)]
pub struct About {
    /// `<domain>.<name>`.
    pub intent: &'static str,
    /// Other identifiers by which the intent may be named. The host resolves them, so nothing here ever meets one.
    pub aliases: &'static [&'static str],
    /// Semantic version.
    pub version: &'static str,
    /// Primary agent.
    pub agent: &'static str,
    /// A few words for a list.
    pub title: &'static str,
    /// One or two sentences: what the user gets.
    pub summary: &'static str,
}

impl About {
    /// Namespace of the intent: the part before the dot.
    pub fn domain(&self) -> &'static str {
        self.intent.split_once('.').map_or(self.intent, |(domain, _)| domain)
    }
}

/// What the platform asks of one tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolPolicy {
    /// snake_case verb_noun.
    pub name: &'static str,
    pub role: ToolRole,
    /// One sentence for partners.
    pub purpose: &'static str,
    pub p50_ms: u32,
    pub p95_ms: u32,
    /// Absent where the intent states none.
    pub p99_ms: Option<u32>,
    /// Calls that a partner must bear, of all users together; absent where the intent states none. The rates of one user at
    /// one partner are the platform's own (spec 1, "Limits").
    pub rate_per_minute: Option<u32>,
    /// The argument that identifies a repeated call.
    pub idempotency_key: Option<&'static str>,
    /// Tries after a 429.
    pub retries_on_rate_limited: u32,
    /// Tries after a 5xx.
    pub retries_on_server_error: u32,
    /// How long an answer may be served again; absent means never cached.
    pub cache_seconds: Option<u32>,
    /// For a tool that writes: the tool of role get-detail that reads the caller's orders. After a failed call the host asks
    /// it whether an order was made all the same, and calls again only if not.
    pub orders_tool: Option<&'static str>,
}

impl ToolPolicy {
    /// A tool that is never retried and never cached, that no argument identifies, and that has no third latency
    /// target and no rate. To be filled in: `ToolPolicy { name: "search_tea", .., ..ToolPolicy::PLAIN }`. What must be stated and
    /// is not (name, purpose, targets) is found by [`crate::testing::problems`].
    pub const PLAIN: Self = Self {
        name: "",
        role: ToolRole::Utility,
        purpose: "",
        p50_ms: 0,
        p95_ms: 0,
        p99_ms: None,
        rate_per_minute: None,
        idempotency_key: None,
        retries_on_rate_limited: 0,
        retries_on_server_error: 0,
        cache_seconds: None,
        orders_tool: None,
    };
}

/// The search tool, and how its payload is taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    pub policy: ToolPolicy,
    /// Key of the array of options.
    pub options_key: &'static str,
    /// Where an option's own identifier is: the name of a member, or a JSON Pointer where it lies deeper.
    pub id_key: &'static str,
    /// Where an option's price is: a JSON Pointer to a number in INR, what the user pays for one order in all. The host
    /// compares it with the range of the partner's manifest. None where options have no such price.
    pub price_pointer: Option<&'static str>,
    /// Options of one partner beyond this number are dropped by the host.
    pub max_options: u32,
    /// Code for a valid request that matches nothing.
    pub empty_code: Option<&'static str>,
    /// Code for a chosen option that cannot be had any more.
    pub gone_code: Option<&'static str>,
}

impl Search {
    /// Where an option's own identifier is, as a JSON Pointer.
    pub(crate) fn id_pointer(&self) -> String {
        if self.id_key.starts_with('/') { self.id_key.to_owned() } else { MemberStep(self.id_key).to_string() }
    }
}

/// How a code may be retried.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    pub times: u32,
    pub wait_ms: u32,
    pub backoff: Backoff,
}

/// One row of the intent's error table.
#[derive(Debug, Clone, Copy)]
pub struct ErrorRow {
    pub code: &'static str,
    /// 200 marks an advisory that is not a failure.
    pub http_status: u16,
    pub meaning: &'static str,
    /// Absent where a retry is not allowed.
    pub retry: Option<Retry>,
}

impl ErrorRow {
    // The general codes of the platform (spec 1, "Errors").
    pub const INVALID_REQUEST: Self = Self::new(code::INVALID_REQUEST, 400, "The payload is malformed.");
    pub const INVALID_AUTH: Self = Self::new("INVALID_AUTH", 401, "The credentials are not valid.");
    pub const METHOD_NOT_FOUND: Self = Self::new("METHOD_NOT_FOUND", 404, "The partner has no such tool.");
    pub const RATE_LIMITED: Self = Self::new("RATE_LIMITED", 429, "Too many calls.");
    pub const INTERNAL_ERROR: Self = Self::new(code::INTERNAL_ERROR, 500, "The partner failed.");
    pub const PARTNER_MAINTENANCE: Self = Self::new("PARTNER_MAINTENANCE", 503, "The partner is down for maintenance.");
    pub const IDEMPOTENCY_CONFLICT: Self =
        Self::new("IDEMPOTENCY_CONFLICT", 409, "The same key came with a different body.");
    pub const IDEMPOTENCY_VIOLATION: Self = Self::new("IDEMPOTENCY_VIOLATION", 409, "The request_id was used before.");
    pub const SIGNATURE_INVALID: Self =
        Self::new("SIGNATURE_INVALID", 401, "The signature of the completion report is wrong.");

    /// A code that is never retried.
    pub const fn new(code: &'static str, http_status: u16, meaning: &'static str) -> Self {
        Self { code, http_status, meaning, retry: None }
    }

    /// The same code with a retry.
    pub const fn with_retry(mut self, times: u32, wait_ms: u32, backoff: Backoff) -> Self {
        self.retry = Some(Retry { times, wait_ms, backoff });
        self
    }
}

/// A field that no answer of the intent may carry. The host looks for it; the contract only names it.
#[derive(Debug, Clone, Copy)]
pub struct Forbidden {
    pub name: &'static str,
    pub breach: Breach,
    /// One sentence for partners: why.
    pub reason: &'static str,
}

impl Forbidden {
    /// A field that may not be there, whatever its value.
    pub const fn present(name: &'static str, reason: &'static str) -> Self {
        Self { name, breach: Breach::Present, reason }
    }

    /// A field that may be there with the value `false` alone.
    pub const fn unless_false(name: &'static str, reason: &'static str) -> Self {
        Self { name, breach: Breach::UnlessFalse, reason }
    }

    /// A field that may be there if it is empty.
    pub const fn unless_empty(name: &'static str, reason: &'static str) -> Self {
        Self { name, breach: Breach::UnlessEmpty, reason }
    }
}

/// A rule of the contract that no schema can say, as partners read it.
#[derive(Debug, Clone, Copy)]
pub struct RuleRow {
    pub judged: Judged,
    pub consequence: Consequence,
    /// Code of the violation that a breach gives.
    pub code: &'static str,
    /// One sentence for partners: what must hold.
    pub text: &'static str,
}

impl RuleRow {
    pub const fn new(judged: Judged, consequence: Consequence, code: &'static str, text: &'static str) -> Self {
        Self { judged, consequence, code, text }
    }
}

/// How one field of a widget's card is filled.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Key in the card.
    pub name: &'static str,
    /// Where its value comes from, in words.
    pub source: &'static str,
}

/// The widget that shows the options.
#[derive(Debug, Clone, Copy)]
pub struct WidgetTable {
    /// Widget to render today.
    pub widget_type: &'static str,
    /// The planned widget, preferred as soon as it exists.
    pub preferred: Option<&'static str>,
    pub slots: &'static [Slot],
}

/// How long other data of a partner may be kept.
#[derive(Debug, Clone, Copy)]
pub struct Lifetime {
    pub data: &'static str,
    pub seconds: u32,
}

impl Lifetime {
    pub const fn days(data: &'static str, days: u32) -> Self {
        const DAY_SECONDS: u32 = 24 * 60 * 60;
        Self { data, seconds: days * DAY_SECONDS }
    }
}

/// One thing that must hold before a partner's traffic of the intent may go live. The host checks it, or asks
/// people to; that all tools are there is always required and needs no row.
#[derive(Debug, Clone, Copy)]
pub struct Requirement {
    /// UPPER_SNAKE_CASE, unique among the requirements.
    pub code: &'static str,
    /// One sentence for partners: what must hold.
    pub text: &'static str,
    pub check: GoLiveCheck,
    /// See [`valid_for`](Self::valid_for).
    pub valid_days: Option<u32>,
}

impl Requirement {
    /// A write that comes again makes nothing twice; people have seen it.
    pub const IDEMPOTENCY_TESTED: Self = Self::by_hand(
        "IDEMPOTENCY_TESTED",
        "A call that comes again under the same request_id has been tested and books nothing twice.",
    );

    /// The search tool keeps to its latency target.
    pub const fn search_latency(search: &Search) -> Self {
        Self::new(
            "SEARCH_LATENCY",
            "Of 100 searches 95 are answered within the target of the tool.",
            GoLiveCheck::WithinLatency(search.policy.name),
        )
    }

    /// A tool that books keeps to its latency target.
    pub const fn booking_latency(code: &'static str, tool: &ToolPolicy) -> Self {
        Self::new(
            code,
            "Of 100 bookings 95 are answered within the target of the tool.",
            GoLiveCheck::WithinLatency(tool.name),
        )
    }

    /// A requirement that the host checks.
    pub const fn new(code: &'static str, text: &'static str, check: GoLiveCheck) -> Self {
        Self { code, text, check, valid_days: None }
    }

    /// A requirement that people look into and confirm.
    pub const fn by_hand(code: &'static str, text: &'static str) -> Self {
        Self::new(code, text, GoLiveCheck::ByHand)
    }

    /// The word of the person who confirms it holds for so many days, 31 to 3660; then somebody has to look again. Only of
    /// what people confirm.
    #[must_use]
    pub const fn valid_for(self, days: u32) -> Self {
        Self { valid_days: Some(days), ..self }
    }
}

/// How a [`Requirement`] is checked. The host searches with samples, which people choose, at that one partner, and
/// looks at the options that pass.
#[derive(Debug, Clone, Copy)]
pub enum GoLiveCheck {
    /// All of these minimums are met at once, by the options of some one window where there is one.
    AtLeast { minimums: &'static [Minimum], within: Option<Window> },
    /// Each value of the vocabulary is asked for, at `pointer` into the request, by a sample that finds an option.
    Covers { pointer: &'static str, vocabulary: &'static str },
    /// Each occasion is asked for by a sample that finds an option, and no option of any sample breaks the rules of
    /// these codes.
    Handles { occasions: &'static [Occasion], unbroken: &'static [&'static str] },
    /// The 95th percentile of the tool's latency lies within its target. The host measures the search tool; people
    /// measure any other one and confirm.
    WithinLatency(&'static str),
    /// People look and confirm.
    ByHand,
}

/// How many different things the options of all samples together must hold.
#[derive(Debug, Clone, Copy)]
pub struct Minimum {
    /// What is counted, in the plural.
    pub counted: &'static str,
    /// JSON Pointer into an option; `""` counts the options themselves.
    pub pointer: &'static str,
    pub count: u32,
}

/// A span of time into which options must fall to be counted together.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// JSON Pointer into an option to its instant.
    pub pointer: &'static str,
    pub hours: u32,
}

/// A kind of request that partners must be able to serve.
#[derive(Debug, Clone, Copy)]
pub struct Occasion {
    /// A few words that name it in a report.
    pub text: &'static str,
    /// JSON Pointer into the request to the value that is tested.
    pub pointer: &'static str,
    pub test: RequestTest,
}

/// What makes a request one of a kind. Values are JSON text.
#[derive(Debug, Clone, Copy)]
pub enum RequestTest {
    /// The value is this one.
    Equals(&'static str),
    /// The value is an array that holds this one.
    Includes(&'static str),
    /// The value is a number above this.
    Above(f64),
}
