//! What a call, its answer, or a completion report changes in an order.

use serde_json::Value;

use super::{ClosingReport, FAILED, Happening, IDENTIFIER_MAX_CHARS, IDENTIFIERS_MAX, Order, PENDING};
use crate::clock::Timestamp;
use crate::contract::{AnsweredCall, KeptValue, OrderOutcome, OrderSource, OrderStep, OrderWay};
use crate::pointer;
use crate::violations::longer_than;

/// Why nobody knows what a call has done: its gateway ended before it could record the call's end.
const NO_ANSWER: &str = "NO_ANSWER";
/// Bytes of one kept value, at most; a larger one is not kept.
const KEPT_MAX_BYTES: usize = 2 * 1024;

/// A call whose answer passed.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredStep<'a> {
    /// The option, JSON text, where it is known.
    pub option: Option<&'a str>,
    /// The arguments that were sent, JSON text.
    pub arguments: &'a str,
    /// The partner's answer, JSON text.
    pub answer: &'a str,
}

impl Order {
    /// A tool is about to be called; `attempt` is where the call is kept under its key.
    pub fn begin(&mut self, tool: &str, request_id: &str, attempt: Option<&str>, now: Timestamp) {
        let (tool, request_id, attempt) = (tool.to_owned(), request_id.to_owned(), attempt.map(str::to_owned));
        self.note(now, Happening::Called { tool, request_id, attempt });
    }

    /// The answer to a step passed. An answer that was overtaken, because the order was closed meanwhile, adds to what is kept
    /// and changes no state. Whether anything changed: the same answer again changes nothing.
    pub fn take_answer(&mut self, way: &OrderWay, step: &OrderStep, call: AnsweredStep<'_>, now: Timestamp) -> bool {
        let before = (self.state.clone(), self.kept.clone(), self.identifiers.len(), self.answered.len());
        for value in &step.keeps {
            self.keep(value, call);
        }
        if !self.answered.iter().any(|answered| answered.tool == step.tool) {
            self.answered.push(AnsweredCall { tool: step.tool.clone(), at_ms: now });
        }
        if self.is_open
            && let Some(outcome) = step.outcomes.iter().find(|outcome| fits(outcome, &self.state, call.answer))
        {
            self.state.clone_from(&outcome.state);
            self.is_open = !way.state(&outcome.state).is_some_and(|state| state.closed);
        }
        let has_changed = before.0 != self.state
            || before.1 != self.kept
            || (before.2, before.3) != (self.identifiers.len(), self.answered.len());
        if has_changed || self.is_under_way(&step.tool) {
            let (tool, state) = (step.tool.clone(), self.state.clone());
            self.note(now, Happening::Answered { tool, state });
        }
        has_changed
    }

    /// A call certainly did nothing: an order that it was to open is not one. Of a call before it, that tells nothing: that one
    /// may be why it was refused.
    pub fn take_failure(&mut self, tool: &str, code: &str, now: Timestamp) {
        let calls = self.history.iter().filter(|event| matches!(event.what, Happening::Called { .. })).count();
        self.note(now, Happening::Failed { tool: tool.to_owned(), code: code.to_owned() });
        if self.state == PENDING && calls <= 1 {
            FAILED.clone_into(&mut self.state);
            self.is_open = false;
        }
    }

    /// Nobody knows what a call has done.
    pub fn take_doubt(&mut self, tool: &str, code: &str, now: Timestamp) {
        self.note(now, Happening::Unknown { tool: tool.to_owned(), code: code.to_owned() });
        if self.state == PENDING {
            self.is_sole = false;
        }
    }

    /// The call that was to open it has no answer, and can have none any more.
    pub fn give_up_waiting(&mut self, now: Timestamp) {
        let tool = match self.last_call().map(|(_, event)| &event.what) {
            Some(Happening::Called { tool, .. }) => tool.clone(),
            _ => String::new(),
        };
        self.take_doubt(&tool, NO_ANSWER, now);
    }

    /// A completion report closes it, whatever its state: the partner says that it is over, and its entry is in the ledger.
    pub fn close(&mut self, report: ClosingReport) {
        let happening = Happening::Reported { status: report.status.clone(), receipt: report.receipt.clone() };
        self.note(report.at_ms, happening);
        self.identify(&report.external_id);
        self.state.clone_from(&report.status);
        self.is_open = false;
        self.report = Some(report);
    }

    /// Whether the latest event is that this tool was called.
    fn is_under_way(&self, tool: &str) -> bool {
        let latest = self.history.last().map(|event| &event.what);
        matches!(latest, Some(Happening::Called { tool: called, .. } | Happening::Unknown { tool: called, .. }) if called == tool)
    }

    fn keep(&mut self, value: &KeptValue, AnsweredStep { option, arguments, answer }: AnsweredStep<'_>) {
        let document = match value.source {
            OrderSource::Option => option,
            // Whoever has its reference may still cancel it.
            OrderSource::Arguments if self.is_nobodys => None,
            OrderSource::Arguments => Some(arguments),
            OrderSource::Answer => Some(answer),
        };
        let found = document.and_then(|document| pointer::find(document, &value.pointer));
        let found = found.filter(|found| found.get().len() <= KEPT_MAX_BYTES);
        let found = found.and_then(|found| serde_json::from_str::<Value>(found.get()).ok());
        let Some(found) = found.filter(|found| !found.is_null()) else { return };
        if value.identifies
            && let Value::String(text) = &found
        {
            self.identify(text);
        }
        self.kept.insert(value.name.clone(), found);
    }

    /// From now on the partner may call it so.
    fn identify(&mut self, identifier: &str) {
        let fits = !identifier.is_empty() && !longer_than(identifier, IDENTIFIER_MAX_CHARS);
        if fits && self.identifiers.len() < IDENTIFIERS_MAX {
            self.identifiers.insert(identifier.to_owned());
        }
    }
}

/// Whether an answer leads where an outcome says.
fn fits(outcome: &OrderOutcome, state: &str, answer: &str) -> bool {
    if !outcome.from.is_empty() && !outcome.from.iter().any(|from| from == state) {
        return false;
    }
    let Some(at) = &outcome.pointer else { return true };
    let found = pointer::find(answer, at).and_then(|found| serde_json::from_str::<String>(found.get()).ok());
    found.is_some_and(|found| outcome.values.contains(&found))
}
