//! What is counted, timed and traced: every name and every set of labels stands here once.
//!
//! Labels come out of closed sets alone: loaded contracts, known partners, templates of routes, codes of this program.
//! Nothing that a caller or a partner wrote becomes a label, so the number of series does not grow with what is asked, and
//! no series or span tells who asked. `docs/observability.md` explains each metric to those who watch the gateway.
//!
//! Nothing is kept here but [what went on lately](traffic). The numbers go to the recorder of [`metrics`] and the spans to what
//! [exports them](crate::trace::export_spans_by), if the binary has set any up; without them this costs next to nothing.

pub mod traffic;
mod watch;

use std::fmt;
use std::time::{Duration, Instant};

use metrics::{Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use tracing::Span;
use tracing::field::Empty;

use self::watch::{CERTIFICATE_END, CLOCK_JUMPS, CLOCK_OFFSET, STORE_CHECKED, STORE_PROBLEMS};
pub use self::watch::{OtherClock, clock_jumped, clock_offset, show_certificate_end, store_checked};
use crate::anchor::ChainName;
use crate::contract::Descriptor;
use crate::error::{CallFailure, ContractFault};
use crate::fleet::Duty;
use crate::health::HealthEvent;
use crate::id::{IntentId, PartnerId};
use crate::readiness::TroubleCode;
use crate::trace;

/// Target of the spans that are exported. Nothing else has it, and the log leaves it out.
pub const TRACE_TARGET: &str = "intent_gateway::trace";

/// Upper ends of the buckets of all histograms, seconds: from half a millisecond to the longest that a tool call may take
/// (spec 1, Limits).
pub const BUCKETS_SECONDS: [f64; 16] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0];

/// Longest code of a partner that the log shows, bytes.
const CODE_MAX_BYTES: usize = 64;

const STAGE: &str = "intent_gateway_stage_seconds";
const PARTNER_CALL: &str = "intent_gateway_partner_call_seconds";
const SEARCHES: &str = "intent_gateway_searches_total";
const TOOL_CALLS: &str = "intent_gateway_tool_calls_total";
const COMPLETIONS: &str = "intent_gateway_completions_total";
const LEDGER_ENTRY: &str = "intent_gateway_ledger_last_entry";
const TASK_PANICS: &str = "intent_gateway_task_panics_total";
const CONTRACT_FAULTS: &str = "intent_gateway_contract_faults_total";
const HEALTH_CHANGES: &str = "intent_gateway_partner_health_changes_total";
const HTTP_REQUEST: &str = "intent_gateway_http_request_seconds";
const HTTP_IN_FLIGHT: &str = "intent_gateway_http_requests_in_flight";
const SHED: &str = "intent_gateway_requests_shed_total";
const ADMISSION_WAIT: &str = "intent_gateway_admission_wait_seconds";
const LIVE_INTENTS: &str = "intent_gateway_live_intents";
const ORDERS_OVERDUE: &str = "intent_gateway_orders_overdue";
const ORDERS_AT_STAKE: &str = "intent_gateway_orders_overdue_commission_paise";
const ORDERS_IN_DOUBT: &str = "intent_gateway_orders_in_doubt";
const EVENTS_SENT: &str = "intent_gateway_partner_events_total";
const CHAIN_SOUND: &str = "intent_gateway_chain_sound";
const QUEUE_LENGTH: &str = "intent_gateway_queue_length";
const JOURNAL_LOST: &str = "intent_gateway_journal_lost_total";
const READY_TROUBLES: &str = "intent_gateway_ready_troubles";
const STORE_AVAILABLE: &str = "intent_gateway_store_available";
const TASK_IN_ORDER: &str = "intent_gateway_task_in_order";
const GATEWAYS_LIVE: &str = "intent_gateway_gateways_live";
const DUTY_HELD: &str = "intent_gateway_duty_held";
const UNSHARED_CALLS: &str = "intent_gateway_unshared_calls_total";
const JOURNAL_NOT_KEPT: &str = "intent_gateway_journal_not_kept_total";
const DISK_FREE: &str = "intent_gateway_disk_free_bytes";
const RECEIPTS_THINNED: &str = "intent_gateway_receipts_thinned_total";
const STORE_BYTES: &str = "intent_gateway_store_bytes";
const CONTRACT_FLIP: &str = "intent_gateway_contract_flip_seconds";
const CONTRACT_STAGING: &str = "intent_gateway_contract_staging_seconds";
const SHADOW: &str = "intent_gateway_rollout_comparisons_total";
const BUILD_INFO: &str = "intent_gateway_build_info";

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Durations, in [`BUCKETS_SECONDS`].
    Histogram,
}

/// A metric of the gateway.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, after Prometheus' conventions.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its labels, always or where they apply.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

/// Every metric of the gateway, without those of the process.
pub const METRICS: [Metric; 40] = [
    Metric {
        name: STAGE,
        kind: Kind::Histogram,
        labels: &["stage", "intent", "version", "partner"],
        help: "Time that a stage of a search or of a tool call took; `partner` with the stages call and scan alone.",
    },
    Metric {
        name: PARTNER_CALL,
        kind: Kind::Histogram,
        labels: &["intent", "tool", "partner", "outcome"],
        help: "Time of one call to a partner; retries are calls of their own.",
    },
    Metric { name: SEARCHES, kind: Kind::Counter, labels: &["intent", "outcome"], help: "Searches." },
    Metric {
        name: TOOL_CALLS,
        kind: Kind::Counter,
        labels: &["intent", "tool", "outcome"],
        help: "Calls of tools by reference.",
    },
    Metric {
        name: COMPLETIONS,
        kind: Kind::Counter,
        labels: &["intent", "outcome"],
        help: "Completion reports; `intent` where the report was booked, now or before.",
    },
    Metric {
        name: LEDGER_ENTRY,
        kind: Kind::Gauge,
        labels: &[],
        help: "Number of the entry that this process booked last.",
    },
    Metric {
        name: TASK_PANICS,
        kind: Kind::Counter,
        labels: &["task"],
        help: "Panics of work in the background; the work goes on.",
    },
    Metric {
        name: CONTRACT_FAULTS,
        kind: Kind::Counter,
        labels: &["intent", "version", "code"],
        help: "Calls of contracts that failed.",
    },
    Metric {
        name: HEALTH_CHANGES,
        kind: Kind::Counter,
        labels: &["partner", "change"],
        help: "Changes of partners' health.",
    },
    Metric {
        name: HTTP_REQUEST,
        kind: Kind::Histogram,
        labels: &["method", "route", "status"],
        help: "Time from a request's head to its answer's head.",
    },
    Metric { name: HTTP_IN_FLIGHT, kind: Kind::Gauge, labels: &[], help: "Requests under way." },
    Metric {
        name: SHED,
        kind: Kind::Counter,
        labels: &["lane"],
        help: "Requests that were refused before any work because the gateway had more to do than it can.",
    },
    Metric {
        name: ADMISSION_WAIT,
        kind: Kind::Histogram,
        labels: &[],
        help: "Time that a request waited to be begun; those that did not wait are not counted.",
    },
    Metric { name: LIVE_INTENTS, kind: Kind::Gauge, labels: &[], help: "Intents with a live contract." },
    Metric {
        name: ORDERS_OVERDUE,
        kind: Kind::Gauge,
        labels: &[],
        help: "Orders whose time is over and that no report has closed, at the last look of this gateway.",
    },
    Metric {
        name: ORDERS_AT_STAKE,
        kind: Kind::Gauge,
        labels: &[],
        help: "The commission on overdue orders, at most, in paise.",
    },
    Metric {
        name: ORDERS_IN_DOUBT,
        kind: Kind::Gauge,
        labels: &[],
        help: "Orders of which nobody knows whether their partner has them, at the last look of this gateway.",
    },
    Metric {
        name: EVENTS_SENT,
        kind: Kind::Counter,
        labels: &["outcome"],
        help: "Events posted to partners' webhooks, by outcome: delivered, not_taken; stopped counts webhooks that are sent nothing any more.",
    },
    Metric {
        name: CHAIN_SOUND,
        kind: Kind::Gauge,
        labels: &["chain"],
        help: "1 where the audit log or the ledger was as it was written and anchored at the last check, else 0.",
    },
    Metric {
        name: STORE_CHECKED,
        kind: Kind::Gauge,
        labels: &[],
        help: "When this gateway last found everything in the store to be as it must be, seconds since the epoch.",
    },
    Metric {
        name: STORE_PROBLEMS,
        kind: Kind::Gauge,
        labels: &[],
        help: "What was not as it must be in the store at the last check of this gateway.",
    },
    Metric { name: CLOCK_JUMPS, kind: Kind::Counter, labels: &[], help: "Times that the machine's clock was set." },
    Metric {
        name: CLOCK_OFFSET,
        kind: Kind::Gauge,
        labels: &["clock"],
        help: "By how much another clock is ahead of the machine's, seconds: the store's, or that of partners in the middle.",
    },
    Metric {
        name: CERTIFICATE_END,
        kind: Kind::Gauge,
        labels: &[],
        help: "Until when the listener's certificate is valid; absent where it serves without TLS.",
    },
    Metric { name: QUEUE_LENGTH, kind: Kind::Gauge, labels: &["queue"], help: "What waits to be kept." },
    Metric {
        name: JOURNAL_LOST,
        kind: Kind::Counter,
        labels: &[],
        help: "Findings and receipts that were lost, because they came too fast or the store failed.",
    },
    Metric {
        name: STORE_AVAILABLE,
        kind: Kind::Gauge,
        labels: &[],
        help: "1 where the store could be read and written at the last look, else 0.",
    },
    Metric {
        name: TASK_IN_ORDER,
        kind: Kind::Gauge,
        labels: &["task"],
        help: "1 where work in the background was done well and in time, else 0.",
    },
    Metric {
        name: READY_TROUBLES,
        kind: Kind::Gauge,
        labels: &["code"],
        help: "What is not as it should be, as `/ready` shows it: how many of each code.",
    },
    Metric {
        name: GATEWAYS_LIVE,
        kind: Kind::Gauge,
        labels: &[],
        help: "Gateways that share the store and live, as this one last heard; it counts among them.",
    },
    Metric {
        name: DUTY_HELD,
        kind: Kind::Gauge,
        labels: &["duty"],
        help: "1 where this gateway does the work that one gateway does for all, else 0.",
    },
    Metric {
        name: UNSHARED_CALLS,
        kind: Kind::Counter,
        labels: &[],
        help: "Calls of users that this gateway counted alone, for the store did not count them in time.",
    },
    Metric {
        name: JOURNAL_NOT_KEPT,
        kind: Kind::Counter,
        labels: &["what"],
        help: "Receipts and findings that were not kept on purpose, because the disk of the store is nearly full.",
    },
    Metric { name: DISK_FREE, kind: Kind::Gauge, labels: &["place"], help: "Bytes that are free for the gateway." },
    Metric {
        name: RECEIPTS_THINNED,
        kind: Kind::Counter,
        labels: &[],
        help: "Receipts of rankings that have gone before their segments.",
    },
    Metric { name: STORE_BYTES, kind: Kind::Gauge, labels: &["part"], help: "Bytes that the store takes." },
    Metric {
        name: CONTRACT_FLIP,
        kind: Kind::Histogram,
        labels: &[],
        help: "Time from the change of which version of a contract is to serve until it served at this gateway.",
    },
    Metric {
        name: CONTRACT_STAGING,
        kind: Kind::Histogram,
        labels: &["outcome"],
        help: "Time to make a version of a contract ready at this gateway.",
    },
    Metric {
        name: SHADOW,
        kind: Kind::Counter,
        labels: &["intent", "outcome"],
        help: "Rankings that were compared under the candidate of a rollout (`compared`), or would have been (`left_out`).",
    },
    Metric { name: BUILD_INFO, kind: Kind::Gauge, labels: &["version"], help: "Always 1; says what runs." },
];

/// Tells the recorder what each metric means. Wants the recorder to be installed before.
pub fn describe() {
    for Metric { name, kind, help, .. } in METRICS {
        match kind {
            Kind::Counter => describe_counter!(name, help),
            Kind::Gauge => describe_gauge!(name, help),
            Kind::Histogram => describe_histogram!(name, Unit::Seconds, help),
        }
    }
}

/// A version of a contract serves, so long after that was decided. By the clocks of two gateways.
pub fn contract_served(took: Duration) {
    histogram!(CONTRACT_FLIP).record(took.as_secs_f64());
}

/// A version of a contract was made ready, or could not be.
pub fn contract_staged(is_ready: bool, took: Duration) {
    histogram!(CONTRACT_STAGING, "outcome" => if is_ready { "ready" } else { "failed" }).record(took.as_secs_f64());
}

/// A ranking was compared under the candidate of a rollout, or left out since there was too much to do.
pub fn rollout_compared(intent: &IntentId, is_left_out: bool) {
    let outcome = if is_left_out { "left_out" } else { "compared" };
    counter!(SHADOW, "intent" => intent.as_str().to_owned(), "outcome" => outcome).increment(1);
}

/// A stage of a search or of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The contract checks the request.
    Check,
    /// Partners are chosen.
    Select,
    /// A partner is called, retries and waits included.
    Call,
    /// A payload is taken apart and scanned.
    Scan,
    /// The contract ranks, or judges an answer.
    Evaluate,
    /// The answer is put together.
    Respond,
}

impl Stage {
    /// Every stage, in their order.
    pub const ALL: [Self; 6] = [Self::Check, Self::Select, Self::Call, Self::Scan, Self::Evaluate, Self::Respond];

    /// As the label says it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Select => "select",
            Self::Call => "call",
            Self::Scan => "scan",
            Self::Evaluate => "evaluate",
            Self::Respond => "respond",
        }
    }
}

/// Records how long a stage took that is over now, for the contract that the request is pinned to.
pub fn stage(stage: Stage, descriptor: &Descriptor, took: Duration) {
    note_stage(stage, descriptor, None, took);
}

/// The same for a stage that concerns one partner: [`Stage::Call`] and [`Stage::Scan`].
pub fn partner_stage(stage: Stage, descriptor: &Descriptor, partner: &PartnerId, took: Duration) {
    note_stage(stage, descriptor, Some(partner), took);
}

fn note_stage(stage: Stage, descriptor: &Descriptor, partner: Option<&PartnerId>, took: Duration) {
    let (intent, version) = (&descriptor.intent, descriptor.version.to_string());
    let attributes = [
        ("intent", intent.as_str()),
        ("version", version.as_str()),
        ("partner", partner.map_or("", PartnerId::as_str)),
    ];
    traffic::lately().note_stage(intent.as_str(), stage, took);
    trace::end_span(stage.name(), &attributes[..2 + usize::from(partner.is_some())], took);
    let mut labels = Vec::with_capacity(4);
    labels.push(Label::from_static_parts("stage", stage.name()));
    labels.push(Label::new("intent", intent.shared()));
    labels.push(Label::new("version", version));
    labels.extend(partner.map(|partner| Label::new("partner", partner.shared())));
    histogram!(STAGE, labels).record(took.as_secs_f64());
}

/// One call to a partner: its span, and its time once it is over.
#[derive(Debug)]
pub struct PartnerCall<'a> {
    intent: &'a str,
    tool: &'a str,
    partner: &'a PartnerId,
    span: Span,
    start: Instant,
}

impl<'a> PartnerCall<'a> {
    /// Begins one. The intent and the tool are a contract's, and the partner is known.
    #[must_use]
    pub fn begin(intent: &'a str, tool: &'a str, partner: &'a PartnerId, belongs_to: Option<&trace::Trace>) -> Self {
        let span = tracing::info_span!(
            target: TRACE_TARGET,
            "tools/call",
            otel.kind = "client",
            otel.name = display(format_args!("tools/call {tool}")),
            otel.status_code = Empty,
            intent,
            tool,
            partner = partner.as_str(),
            outcome = Empty,
        );
        // Whoever makes the call may be another task than the request's own.
        if let Some(trace) = belongs_to {
            trace::continue_from(&span, &trace.span);
        }
        Self { intent, tool, partner, span, start: Instant::now() }
    }

    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Records its outcome.
    pub fn end<T>(self, outcome: &Result<T, CallFailure>) {
        let name = outcome.as_ref().err().map_or("ok", failure);
        self.span.record("outcome", name);
        self.span.record("otel.status_code", if outcome.is_ok() { "OK" } else { "ERROR" });
        let Self { intent, tool, partner, start, .. } = self;
        let labels = [
            ("intent", intent.to_owned()),
            ("tool", tool.to_owned()),
            ("partner", partner.as_str().to_owned()),
            ("outcome", name.to_owned()),
        ];
        let took = start.elapsed();
        traffic::lately().note_call((partner.as_str(), intent, tool), took, outcome.is_ok());
        histogram!(PARTNER_CALL, &labels).record(took.as_secs_f64());
    }
}

/// A failure by its kind. Its own code would not do: a partner may send any.
#[must_use]
pub fn failure(failure: &CallFailure) -> &'static str {
    match failure {
        CallFailure::Timeout(_) => "timeout",
        CallFailure::Unreachable(_) => "unreachable",
        CallFailure::AddressRefused(_) => "address_refused",
        CallFailure::Redirect(_) => "redirect",
        CallFailure::HttpStatus(_) => "http_status",
        CallFailure::Unauthorized => "unauthorized",
        CallFailure::SignInRequired { .. } => "sign_in_required",
        CallFailure::RateLimited { .. } => "rate_limited",
        CallFailure::BodyTooLarge(_) => "too_large",
        CallFailure::Protocol(_) => "protocol",
        CallFailure::Platform { .. } => "error",
        CallFailure::UnknownCode { .. } => "unknown_code",
        CallFailure::Payload(_) => "payload",
        CallFailure::Forbidden(_) => "forbidden_field",
        CallFailure::Busy => "busy",
        CallFailure::NotCalled { .. } => "not_called",
    }
}

/// A failure as the log may have it: without a word of the partner's, which may have been about a user. What the partner
/// said is in the findings.
#[derive(Clone, Copy, Debug)]
pub struct ForLog<'a>(pub &'a CallFailure);

impl fmt::Display for ForLog<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            CallFailure::Platform { code, .. } if is_code(code) => {
                write!(f, "the partner answered with the error {code}")
            }
            CallFailure::Platform { .. } => f.write_str("the partner answered with an error of its own"),
            CallFailure::UnknownCode { .. } => f.write_str("the partner answered with an error that has no known code"),
            CallFailure::Protocol(_) => f.write_str("the answer breaks the protocol"),
            CallFailure::Payload(_) => f.write_str("the payload is not valid"),
            CallFailure::Forbidden(_) => f.write_str("the payload holds a forbidden field outside its options"),
            failure => failure.fmt(f),
        }
    }
}

/// Whether a text can be nothing but a code.
fn is_code(text: &str) -> bool {
    text.len() <= CODE_MAX_BYTES && text.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Something was found, or done.
    Ok,
    /// Nothing was found.
    Empty,
    /// The request was refused.
    Refused,
    /// A partner, or a contract, failed.
    Failed,
    /// The gateway had no place for it.
    Overloaded,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Empty, Self::Refused, Self::Failed, Self::Overloaded];

    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Empty => "empty",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Counts a search under a live contract.
pub fn search(descriptor: &Descriptor, outcome: Outcome) {
    traffic::lately().note_search(descriptor.intent.as_str(), outcome);
    let intent = descriptor.intent.as_str().to_owned();
    counter!(SEARCHES, "intent" => intent, "outcome" => outcome.name()).increment(1);
}

/// Counts a call of a tool that the contract has.
pub fn tool_call(descriptor: &Descriptor, tool: &str, outcome: Outcome) {
    let (intent, tool) = (descriptor.intent.as_str().to_owned(), tool.to_owned());
    counter!(TOOL_CALLS, "intent" => intent, "tool" => tool, "outcome" => outcome.name()).increment(1);
}

/// Counts a completion report that is in the ledger under the intent, or that stands against one which is.
pub fn completion(intent: &str, outcome: &'static str) {
    counter!(COMPLETIONS, "intent" => intent.to_owned(), "outcome" => outcome).increment(1);
}

/// Counts a completion report that was not taken.
pub fn completion_refused(outcome: &'static str) {
    counter!(COMPLETIONS, "outcome" => outcome).increment(1);
}

/// Records the number of an entry that was just booked.
pub fn note_booked(number: u64) {
    gauge!(LEDGER_ENTRY).set(precise(number));
}

/// Counts a panic of work in the background.
pub(crate) fn task_panicked(task: &'static str) {
    counter!(TASK_PANICS, "task" => task).increment(1);
}

/// Counts a failed call of a contract.
pub fn contract_fault(descriptor: &Descriptor, fault: &ContractFault) {
    let (intent, version) = (descriptor.intent.as_str().to_owned(), descriptor.version.to_string());
    counter!(CONTRACT_FAULTS, "intent" => intent, "version" => version, "code" => fault.code()).increment(1);
}

/// Counts a change of a partner's health.
pub fn health_changed(event: &HealthEvent) {
    let partner = event.partner.as_str().to_owned();
    let action = event.action();
    let change = action.strip_prefix("health.").unwrap_or(action);
    counter!(HEALTH_CHANGES, "partner" => partner, "change" => change).increment(1);
}

/// One HTTP request: its span, and its time once it is answered. Whether or not it is, it is under way no longer when
/// this is dropped.
#[derive(Debug)]
pub struct HttpRequest {
    method: &'static str,
    route: String,
    span: Span,
    start: Instant,
}

impl HttpRequest {
    /// Begins one. The route is a template, and not what the caller wrote.
    #[must_use]
    pub fn begin(method: &str, route: &str, request_id: &str) -> Self {
        let method = method_name(method);
        gauge!(HTTP_IN_FLIGHT).increment(1.0);
        let span = tracing::info_span!(
            target: TRACE_TARGET,
            "http",
            otel.kind = "server",
            otel.name = display(format_args!("{method} {route}")),
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            request_id,
        );
        Self { method, route: route.to_owned(), span, start: Instant::now() }
    }

    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Records how it was answered.
    pub fn note_answer(&self, status: u16) {
        let class = match status {
            0..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            500.. => "5xx",
        };
        self.span.record("http.response.status_code", status);
        if status >= 500 {
            self.span.record("otel.status_code", "ERROR");
        }
        histogram!(HTTP_REQUEST, "method" => self.method, "route" => self.route.clone(), "status" => class)
            .record(self.start.elapsed().as_secs_f64());
    }
}

impl Drop for HttpRequest {
    fn drop(&mut self) {
        gauge!(HTTP_IN_FLIGHT).decrement(1.0);
    }
}

/// Counts a request that was refused before any work was done; `lane` is one of a closed set.
pub fn request_shed(lane: &'static str) {
    counter!(SHED, "lane" => lane).increment(1);
}

/// Records how long a request waited to be begun.
pub fn admission_wait(waited: Duration) {
    histogram!(ADMISSION_WAIT).record(waited.as_secs_f64());
}

/// A method by its name, where it has one that HTTP knows: a caller may send any word.
fn method_name(method: &str) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}

/// Records how many intents are live.
pub fn live_intents(count: usize) {
    gauge!(LIVE_INTENTS).set(precise(count));
}

/// Records how many orders wait for their report after their time, what is at stake, and how many are in doubt.
pub fn orders_waiting(overdue: u64, at_stake_paise: i64, in_doubt: u64) {
    gauge!(ORDERS_OVERDUE).set(precise(overdue));
    gauge!(ORDERS_AT_STAKE).set(precise(at_stake_paise));
    gauge!(ORDERS_IN_DOUBT).set(precise(in_doubt));
}

/// Records a try to deliver an event to a partner's webhook, or that sending was stopped.
pub fn event_sent(outcome: &'static str) {
    counter!(EVENTS_SENT, "outcome" => outcome).increment(1);
}

/// Records whether a chain was found as it was written.
pub fn chain_checked(chain: ChainName, is_sound: bool) {
    gauge!(CHAIN_SOUND, "chain" => chain.as_str()).set(if is_sound { 1.0 } else { 0.0 });
}

/// Records how much waits in a queue.
pub fn queue_length(queue: &'static str, length: usize) {
    gauge!(QUEUE_LENGTH, "queue" => queue).set(precise(length));
}

/// Records how many findings and receipts were lost since the start.
pub fn journal_lost(count: u64) {
    counter!(JOURNAL_LOST).absolute(count);
}

/// Records whether the store could be read and written at the last look.
pub fn store_available(is_available: bool) {
    gauge!(STORE_AVAILABLE).set(f64::from(u8::from(is_available)));
}

/// Records whether work in the background is in order.
pub fn task_in_order(task: &'static str, is_in_order: bool) {
    gauge!(TASK_IN_ORDER, "task" => task).set(f64::from(u8::from(is_in_order)));
}

/// Records how many troubles of a code there are.
pub fn ready_troubles(code: TroubleCode, count: usize) {
    gauge!(READY_TROUBLES, "code" => code.as_str()).set(precise(count));
}

/// Records how many gateways live.
pub fn gateways_live(count: u32) {
    gauge!(GATEWAYS_LIVE).set(f64::from(count));
}

/// Records whether this gateway has a duty.
pub fn duty_held(duty: Duty, is_held: bool) {
    gauge!(DUTY_HELD, "duty" => duty.as_str()).set(if is_held { 1.0 } else { 0.0 });
}

/// Counts a call of a user that other gateways do not know of.
pub fn count_unshared_call() {
    counter!(UNSHARED_CALLS).increment(1);
}

/// Records how many receipts and findings were not kept on purpose since the start.
pub fn journal_not_kept(receipts: u64, findings: u64) {
    counter!(JOURNAL_NOT_KEPT, "what" => "receipts").absolute(receipts);
    counter!(JOURNAL_NOT_KEPT, "what" => "findings").absolute(findings);
}

/// Records how many bytes are free where something is kept: `state` or `store`.
pub fn disk_free(place: &'static str, bytes: u64) {
    gauge!(DISK_FREE, "place" => place).set(precise(bytes));
}

/// Counts receipts that have gone before their segments.
pub fn receipts_thinned(count: u64) {
    counter!(RECEIPTS_THINNED).increment(count);
}

/// Records how many bytes the database takes, and how many the segments of receipts.
pub fn store_bytes(database: u64, receipts: u64) {
    gauge!(STORE_BYTES, "part" => "database").set(precise(database));
    gauge!(STORE_BYTES, "part" => "receipts").set(precise(receipts));
}

/// Says which version runs.
pub fn build(version: &'static str) {
    gauge!(BUILD_INFO, "version" => version).set(1.0);
}

/// A count as a gauge has it. Counts here stay far below 2^53, up to which every one is exact.
#[expect(clippy::cast_precision_loss, reason = "2^53 is never reached")]
fn precise(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

/// Gives what the recorder holds, in Prometheus' text format (version 0.0.4).
pub trait Exposition: Send + Sync {
    /// Everything, as of now. May take some milliseconds.
    fn render(&self) -> String;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_no_word_of_a_partners() {
        let said = "no slot for Asha Rao, +919876543210".to_owned();
        let platform = |code: &str| CallFailure::Platform { code: code.to_owned(), message: said.clone(), field: None };
        for failure in [
            platform("SLOT_GONE"),
            platform(&said),
            CallFailure::UnknownCode { sent: Some(said.clone()), message: said.clone() },
            CallFailure::Protocol(said.clone()),
            CallFailure::Payload(said.clone()),
            CallFailure::Forbidden(said.clone()),
        ] {
            let line = format!("{} {}", ForLog(&failure), super::failure(&failure));
            assert!(!line.contains("Asha") && !line.contains("9876"), "{line}");
        }
        assert!(ForLog(&platform("SLOT_GONE")).to_string().contains("SLOT_GONE"));
        assert_eq!(ForLog(&CallFailure::HttpStatus(503)).to_string(), "answered with HTTP status 503");
    }

    #[test]
    fn a_method_that_nobody_knows_is_no_label() {
        assert_eq!((method_name("GET"), method_name("BREW"), method_name("get")), ("GET", "other", "other"));
    }

    #[test]
    fn every_metric_follows_the_conventions() {
        for Metric { name, kind, labels, help } in METRICS {
            assert!(name.starts_with("intent_gateway_") && !help.is_empty(), "{name}");
            assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
            assert!(name.ends_with("_seconds") || kind != Kind::Histogram, "{name}: times are in seconds");
            assert!(!labels.contains(&"le"), "{name}");
        }
        assert!(BUCKETS_SECONDS.is_sorted());
    }
}
