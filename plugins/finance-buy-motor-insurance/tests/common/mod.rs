//! The samples and the calls that the tests of this contract share.

use contract_sdk::bindings::{
    Axes, Candidate, CheckedCompletion, CheckedResponse, Context, Evaluation, Exchange, Payload, PreparedRequest,
    Refusal, Violation,
};
use contract_sdk::engine;
use finance_buy_motor_insurance::MotorInsurance;
use serde_json::{Value, json};

/// A value to put at a place of a document.
pub(crate) type Change<'c> = (&'c str, Value);

pub(crate) fn context() -> Context {
    Context { request_id: "r-1".to_owned(), now_ms: 0 }
}

pub(crate) fn sample(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A petrol car of 1197 cc whose owner switches insurers, with 25 % to carry forward.
pub(crate) fn request() -> Value {
    sample(include_str!("../../samples/request.json"))
}

/// A petrol car of 1197 cc that was just bought.
pub(crate) fn new_request() -> Value {
    sample(include_str!("../../samples/request-new.json"))
}

/// A comprehensive quote for [`request`].
pub(crate) fn quote() -> Value {
    sample(include_str!("../../samples/quote.json"))
}

/// A bundle for [`new_request`].
pub(crate) fn bundle() -> Value {
    sample(include_str!("../../samples/quote-bundle.json"))
}

/// The document with these values in their places. A member that is not there yet is added.
pub(crate) fn with(mut document: Value, changes: &[Change<'_>]) -> Value {
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("no {pointer}"));
        match parent.as_array_mut() {
            Some(list) => list[name.parse::<usize>().unwrap()] = value.clone(),
            None => parent[name] = value.clone(),
        }
    }
    document
}

pub(crate) fn evaluate(request: &Value, quotes: &[Value]) -> Evaluation {
    let candidates =
        quotes.iter().zip(0..).map(|(quote, number)| Candidate { number, json: quote.to_string() }).collect();
    let declared = Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };
    engine::evaluate::<MotorInsurance>(&context(), &request.to_string(), &[Payload { declared, candidates }]).unwrap()
}

pub(crate) fn search(arguments: &Value) -> Result<PreparedRequest, Refusal> {
    engine::check_request::<MotorInsurance>(&context(), "search_motor_quotes", arguments.to_string())
}

pub(crate) fn answer(
    tool: &str,
    arguments: &Value,
    payload: &Value,
    quoted: Option<&Value>,
) -> Result<CheckedResponse, Refusal> {
    let exchange = Exchange {
        tool: tool.to_owned(),
        arguments: arguments.to_string(),
        payload: payload.to_string(),
        quoted: quoted.map(Value::to_string),
    };
    engine::check_response::<MotorInsurance>(&context(), &exchange)
}

pub(crate) fn completion(report: &Value, quoted: Option<&Value>) -> Result<CheckedCompletion, Refusal> {
    let quoted = quoted.map(Value::to_string);
    engine::check_completion::<MotorInsurance>(&context(), &report.to_string(), quoted.as_deref())
}

/// Pointers and codes, as tests compare them.
pub(crate) fn pairs(violations: &[Violation]) -> Vec<(String, String)> {
    violations.iter().map(|found| (found.pointer.clone(), found.code.clone())).collect()
}

pub(crate) fn pair(pointer: &str, code: &str) -> Vec<(String, String)> {
    vec![(pointer.to_owned(), code.to_owned())]
}

/// Expects the quote to be dropped for exactly this, without a strike.
pub(crate) fn drops(request: &Value, quote: &Value, pointer: &str, code: &str) {
    let found = evaluate(request, std::slice::from_ref(quote));
    assert!(found.ranked.is_empty(), "{code}: it stays");
    assert_eq!((pairs(&found.dropped[0].violations), found.dropped[0].strike), (pair(pointer, code), false));
    assert_eq!(found.dropped[0].id.as_deref(), quote["quote_id"].as_str());
}

/// Expects the quote to pass with nothing found.
pub(crate) fn passes(request: &Value, quote: &Value) {
    let found = evaluate(request, std::slice::from_ref(quote));
    assert_eq!((found.ranked.len(), found.findings.len()), (1, 0), "{found:?}");
}

/// Expects the quote to stay, with exactly this finding.
pub(crate) fn finds(request: &Value, quote: &Value, pointer: &str, code: &str) {
    let found = evaluate(request, std::slice::from_ref(quote));
    let findings: Vec<_> = found.findings.iter().map(|finding| finding.violation.clone()).collect();
    assert_eq!((found.ranked.len(), pairs(&findings)), (1, pair(pointer, code)), "{found:?}");
}

/// The quote with another third-party premium, its total following.
pub(crate) fn with_third_party(quote: Value, annual: i64, long_term: i64) -> Value {
    let premium = &quote["premium_breakdown"];
    let part = |name: &str| premium[name].as_i64().unwrap();
    let total = part("total_payable_inr") - part("third_party_premium_inr") - part("long_term_tp_premium_inr");
    let changes = [
        ("/premium_breakdown/third_party_premium_inr", json!(annual)),
        ("/premium_breakdown/long_term_tp_premium_inr", json!(long_term)),
        ("/premium_breakdown/total_payable_inr", json!(total + annual + long_term)),
    ];
    with(quote, &changes)
}
