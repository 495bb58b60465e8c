//! Calls of a contract's functions as a gateway makes them, and what tests expect of the results.

use crate::bindings::{
    Candidate, CheckedCompletion, CheckedResponse, Context, Evaluation, Exchange, PastOrder, Payload, PreparedRequest,
    Refusal, Subject, Violation,
};
use crate::contract::{Contract, Intent};
use crate::{engine, example};
use serde_json::Value;
use std::fmt::Debug;

/// What every call is told: the request `r-1`, and no time.
pub fn context() -> Context {
    Context { request_id: "r-1".to_owned(), now_ms: 0 }
}

/// Evaluates the options of one source that declares nothing; they are numbered from 0.
///
/// # Panics
/// When the request is refused.
pub fn evaluate<C: Contract>(request: &Value, options: &[Value]) -> Evaluation {
    evaluate_after::<C>(request, options, &[])
}

/// Likewise, for a user with these past orders.
///
/// # Panics
/// When the request is refused.
pub fn evaluate_after<C: Contract>(request: &Value, options: &[Value], history: &[PastOrder]) -> Evaluation {
    let candidates = options.iter().zip(0..).map(|(option, number)| Candidate { number, json: option.to_string() });
    let payload = Payload { declared: example::UNDECLARED, candidates: candidates.collect() };
    match engine::evaluate::<C>(&context(), &request.to_string(), &[payload], history) {
        Ok(evaluation) => evaluation,
        Err(refusal) => panic!("the request is refused: {refusal:?}"),
    }
}

/// Judges the arguments of a tool.
///
/// # Errors
/// The contract's refusal.
pub fn check_request<C: Contract>(tool: &str, arguments: &Value) -> Result<PreparedRequest, Refusal> {
    check_request_about::<C>(&context(), tool, arguments, &example::quote(None))
}

/// Judges the arguments of a tool against what they are about.
///
/// # Errors
/// The contract's refusal.
pub fn check_request_about<C: Contract>(
    context: &Context,
    tool: &str,
    arguments: &Value,
    about: &Subject,
) -> Result<PreparedRequest, Refusal> {
    engine::check_request::<C>(context, tool, arguments.to_string(), about)
}

/// Judges the answer of a tool that is not a search.
///
/// # Errors
/// The contract's refusal.
pub fn check_response<C: Contract>(
    tool: &str,
    arguments: &Value,
    payload: &Value,
    quoted: Option<&Value>,
) -> Result<CheckedResponse, Refusal> {
    let exchange = Exchange {
        tool: tool.to_owned(),
        arguments: arguments.to_string(),
        payload: payload.to_string(),
        about: example::quote(quoted.map(Value::to_string)),
    };
    engine::check_response::<C>(&context(), &exchange)
}

/// Judges a completion report.
///
/// # Errors
/// The contract's refusal.
pub fn check_completion<C: Contract>(report: &Value, quoted: Option<&Value>) -> Result<CheckedCompletion, Refusal> {
    check_completion_about::<C>(report, &example::quote(quoted.map(Value::to_string)))
}

/// Judges a completion report against what it is about.
///
/// # Errors
/// The contract's refusal.
pub fn check_completion_about<C: Contract>(report: &Value, about: &Subject) -> Result<CheckedCompletion, Refusal> {
    engine::check_completion::<C>(&context(), &report.to_string(), about)
}

/// Pointers and codes of violations: what tests compare.
pub type Pairs = Vec<(String, String)>;

/// The pointer and the code of each violation.
pub fn pairs(violations: &[Violation]) -> Pairs {
    violations.iter().map(|found| (found.pointer.clone(), found.code.clone())).collect()
}

/// What [`pairs`] is compared with.
pub fn expected(list: &[(&str, &str)]) -> Pairs {
    list.iter().map(|(pointer, code)| ((*pointer).to_owned(), (*code).to_owned())).collect()
}

/// Expects an option to pass with nothing found.
///
/// # Panics
/// When it is dropped, or something is found.
#[track_caller]
pub fn assert_passes<C: Contract>(request: &Value, option: &Value) {
    assert_finds::<C>(request, option, &[]);
}

/// Expects an option to pass with exactly these findings.
///
/// # Panics
/// When it is dropped, or something else is found.
#[track_caller]
pub fn assert_finds<C: Contract>(request: &Value, option: &Value, findings: &[(&str, &str)]) {
    let evaluation = evaluate::<C>(request, std::slice::from_ref(option));
    assert_eq!((evaluation.ranked.len(), evaluation.dropped.len()), (1, 0), "{evaluation:?}");
    let found: Vec<_> = evaluation.findings.into_iter().map(|finding| finding.violation).collect();
    assert_eq!(pairs(&found), expected(findings));
}

/// Expects an option to be dropped for exactly these violations, without a strike, and with nothing else found.
///
/// # Panics
/// When it stays, or is dropped for something else.
#[track_caller]
pub fn assert_drops<C: Contract>(request: &Value, option: &Value, violations: &[(&str, &str)]) {
    assert_taken_out::<C>(request, option, violations, false);
}

/// As [`assert_drops`], with a strike against the partner.
///
/// # Panics
/// When it stays, or is dropped for something else.
#[track_caller]
pub fn assert_strikes<C: Contract>(request: &Value, option: &Value, violations: &[(&str, &str)]) {
    assert_taken_out::<C>(request, option, violations, true);
}

#[track_caller]
fn assert_taken_out<C: Contract>(request: &Value, option: &Value, violations: &[(&str, &str)], strike: bool) {
    let evaluation = evaluate::<C>(request, std::slice::from_ref(option));
    let [dropped] = &evaluation.dropped[..] else { panic!("it stays: {evaluation:?}") };
    assert_eq!((pairs(&dropped.violations), dropped.strike), (expected(violations), strike));
    let id = option.pointer(&<C::Intent as Intent>::SEARCH.id_pointer()).and_then(Value::as_str);
    assert_eq!(dropped.id.as_deref(), id);
    assert_eq!(evaluation.findings, []);
}

/// Expects a refusal under a code, for exactly these violations.
///
/// # Panics
/// When it passed, or was refused for something else.
#[track_caller]
pub fn assert_refused<T: Debug>(outcome: Result<T, Refusal>, code: &str, violations: &[(&str, &str)]) {
    match outcome {
        Err(refusal) => {
            assert_eq!((refusal.code.as_str(), pairs(&refusal.violations)), (code, expected(violations)));
        }
        Ok(passed) => panic!("it passed: {passed:?}"),
    }
}
