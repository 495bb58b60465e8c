//! What is counted, timed and traced: every name and every set of labels stands here once.
//!
//! Labels come out of closed sets alone: loaded contracts, known partners, templates of routes, codes of this program.
//! Nothing that a caller or a partner wrote becomes a label, so the number of series does not grow with what is asked, and
//! no series or span tells who asked. `docs/observability.md` explains each metric to those who watch the gateway.
//!
//! Nothing is kept here but [what went on lately](traffic). The numbers go to the recorder of [`metrics`] and the spans to what
//! [exports them](crate::trace::export_spans_by), if the binary has set any up; without them this costs next to nothing.

mod http;
mod series;
pub mod traffic;
mod watch;

use std::fmt;
use std::time::{Duration, Instant};

use metrics::{Label, counter, gauge, histogram};
use tracing::Span;
use tracing::field::Empty;

pub use self::http::HttpRequest;
use self::series::*;
pub use self::series::{BUCKETS_SECONDS, Kind, METRICS, Metric, describe};
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

/// Longest code of a partner that the log shows, bytes.
const CODE_MAX_BYTES: usize = 64;

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

/// Counts a request that was refused before any work was done; `lane` is one of a closed set.
pub fn request_shed(lane: &'static str) {
    counter!(SHED, "lane" => lane).increment(1);
}

/// Records how long a request waited to be begun.
pub fn admission_wait(waited: Duration) {
    histogram!(ADMISSION_WAIT).record(waited.as_secs_f64());
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
}
