//! One call of a tool, and whether what came back is an answer or a refusal that the platform can use.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::{
    About, CallContext, CheckedResponse, Descriptor, Exchange, LatencyTargets, Violation,
};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::findings::{EXCERPT_MAX_CHARS, cut};
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::golive::LATENCY_SAMPLES_MIN;
use intent_gateway_domain::limits::TOOL_CALL_TIMEOUT;
use intent_gateway_domain::not_json;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, PartnerCalls, ToolCall};
use intent_gateway_domain::secret::Secret;
use intent_gateway_routing::golive::find_p95;
use intent_gateway_routing::scan::scan;

use crate::Subject;
use crate::report::{Check, Code, Report};

/// What keys begin with, so that a developer finds them in the server's log.
const KEY_PREFIX: &str = "conformance";

/// How the server is talked to.
pub struct Talk {
    pub(crate) partner: Arc<Partner>,
    pub(crate) contract: Arc<dyn Contract>,
    calls: Arc<dyn PartnerCalls>,
    clock: Arc<dyn Clock>,
    begun_at: Timestamp,
    keys: AtomicU64,
    /// How long valid calls took, by tool.
    times: Mutex<BTreeMap<String, Vec<Duration>>>,
}

/// What the server wrote in place of an answer, and what it means.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) failure: CallFailure,
    pub(crate) sent: Option<String>,
}

/// What is wrong with an answer.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It carries forbidden fields.
    Forbidden(Vec<Violation>),
    /// It is not what the contract wants.
    Refused(Vec<Violation>),
    /// It cannot be read as JSON, or is nested too deep.
    Unreadable(String),
}

impl Talk {
    pub(crate) fn new(subject: &Subject, partner: Arc<Partner>) -> Self {
        Self {
            partner,
            contract: subject.contract.clone(),
            calls: subject.calls.clone(),
            clock: subject.clock.clone(),
            begun_at: subject.clock.now(),
            keys: AtomicU64::new(0),
            times: Mutex::default(),
        }
    }

    pub(crate) fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A key that was not used before.
    pub(crate) fn next_key(&self) -> String {
        let number = self.keys.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{KEY_PREFIX}-{}-{number}", self.begun_at.as_ms())
    }

    pub(crate) fn context(&self, request_id: &str) -> CallContext {
        CallContext { request_id: request_id.to_owned(), now: self.now() }
    }

    /// Calls a tool, with no more time than the platform gives.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Result<String, Failed> {
        self.call_within(tool, arguments, TOOL_CALL_TIMEOUT, None).await
    }

    /// The same for a call that is valid: how long it took counts.
    pub(crate) async fn call_timed(&self, tool: &str, arguments: &str) -> Result<String, Failed> {
        let begun = Instant::now();
        let answer = self.call(tool, arguments).await;
        if answer.is_ok() {
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            times.entry(tool.to_owned()).or_default().push(begun.elapsed());
        }
        answer
    }

    /// Calls a tool and gives up after so long.
    pub(crate) async fn call_within(
        &self,
        tool: &str,
        arguments: &str,
        timeout: Duration,
        bearer: Option<&Secret>,
    ) -> Result<String, Failed> {
        let sent = ErrorText::default();
        let intent = self.descriptor().intent.as_str();
        let call = ToolCall { bearer, error_text: Some(&sent), ..ToolCall::new(intent, tool, arguments, timeout) };
        let answer = self.calls.call(&self.partner, call).await;
        answer
            .map(|answer| answer.text)
            .map_err(|failure| Failed { failure: failure.under(self.descriptor()), sent: sent.take() })
    }

    /// Scans the answer of any tool but the search, and has the contract judge it.
    pub(crate) async fn judge(
        &self,
        tool: &str,
        arguments: &str,
        answer: &str,
        about: About<'_>,
    ) -> Result<Result<CheckedResponse, Unfit>, ContractFault> {
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(answer) {
            return Ok(Err(Unfit::Unreadable(not_json::describe(not_json::kind(answer), &error))));
        }
        let fields = ForbiddenFields::new(&self.descriptor().forbidden_fields);
        let flaws = match scan(answer, None, &fields) {
            Ok(scanned) => scanned.outside,
            Err(deep) => return Ok(Err(Unfit::Unreadable(deep.to_string()))),
        };
        if !flaws.forbidden.is_empty() {
            return Ok(Err(Unfit::Forbidden(flaws.forbidden)));
        }
        if !flaws.malformed.is_empty() {
            return Ok(Err(Unfit::Refused(flaws.malformed)));
        }
        let exchange = Exchange { tool, arguments, payload: answer, about };
        match self.contract.check_response(&self.context(KEY_PREFIX), exchange).await {
            Ok(checked) => Ok(Ok(checked)),
            Err(ContractError::Refused(refusal)) => Ok(Err(Unfit::Refused(refusal.violations))),
            Err(ContractError::Fault(fault)) => Err(fault),
        }
    }

    /// The code that a call was refused with, where it is one that tells the caller what is wrong; else what is wrong with that.
    pub(crate) fn read_refusal(&self, outcome: Result<String, Failed>) -> Result<String, (String, Option<String>)> {
        let Failed { failure, sent } = match outcome {
            Ok(answer) => {
                return Err((
                    "it was answered as if nothing were wrong".to_owned(),
                    Some(cut(&answer, EXCERPT_MAX_CHARS)),
                ));
            }
            Err(failed) => failed,
        };
        match self.find_refusal_code(&failure) {
            Some(code) => Ok(code.to_owned()),
            None => Err((failure.to_string(), sent)),
        }
    }

    /// The code of a failure that tells the caller what is wrong with the call.
    pub(crate) fn find_refusal_code<'f>(&self, failure: &'f CallFailure) -> Option<&'f str> {
        let CallFailure::Platform { code, .. } = failure else { return None };
        (400..500).contains(&self.descriptor().find_status(code)).then_some(code)
    }

    /// Compares how long valid calls took with the times that the contract states.
    pub(crate) fn note_latencies(&self, report: &mut Report<'_>) {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for tool in &self.descriptor().tools {
            if let Some(times) = times.get(&tool.name) {
                report.add(compare_times(&tool.name, times, &tool.latency));
            }
        }
    }
}

/// From few calls no percentile is read: then the slowest is only told.
fn compare_times(tool: &str, times: &[Duration], targets: &LatencyTargets) -> Check {
    let p95 = find_p95(&mut times.to_vec());
    let is_slow = p95 > Duration::from_millis(u64::from(targets.p95_ms));
    let (ms, target, calls) = (p95.as_millis(), targets.p95_ms, times.len());
    let tool = Some(tool);
    match (is_slow, calls >= LATENCY_SAMPLES_MIN) {
        (true, true) => Check::failed(
            Code::InTime,
            tool,
            format!("95 of 100 calls take up to {ms} ms; the contract wants {target} ms"),
        ),
        (true, false) => Check::noted(
            Code::InTime,
            tool,
            format!("the slowest of {calls} took {ms} ms; of 95 of 100 the contract wants {target} ms"),
        ),
        (false, _) => Check::passed(Code::InTime, tool, format!("{ms} ms, of {target} ms; {calls} calls")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Outcome;

    #[test]
    fn times_are_held_against_the_contract_where_there_are_enough() {
        let targets = LatencyTargets { p50_ms: 50, p95_ms: 100, p99_ms: None };
        let compare = |ms: &[u64]| {
            let times: Vec<_> = ms.iter().map(|ms| Duration::from_millis(*ms)).collect();
            compare_times("search", &times, &targets).outcome
        };
        assert_eq!(compare(&[100, 20, 30, 40, 50]), Outcome::Passed);
        assert_eq!(compare(&[101, 20, 30, 40, 50]), Outcome::Failed);
        assert_eq!(compare(&[101]), Outcome::Noted);
        let mut many = vec![10; 20];
        many[3] = 500;
        assert_eq!(compare(&many), Outcome::Passed, "one of twenty");
    }
}
