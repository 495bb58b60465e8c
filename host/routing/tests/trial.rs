//! Dry runs of a mapping: what would be sent, what becomes of a pasted answer, and what the contract says of it.

use futures_executor::block_on;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::*;
use intent_gateway_domain::endpoint::{ApiMapping, RestRequest};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_routing::trial::{Trial, TrialError, TrialReport, TriedRequest, run};
use intent_gateway_testing::contract::{
    ScriptedContract, accept_any_request, candidates, descriptor, ranked, refusal, row, tool, violation,
};
use serde_json::{Value, json};

const SEARCH: &str = "search_things";
const BOOK: &str = "book_thing";

/// Drops what is `bad`, notes what is `odd`; takes bookings that have an `id`.
fn contract() -> ScriptedContract {
    let mut declared = descriptor("1.0.0");
    declared.search.id_key = "id".to_owned();
    declared.tools.push(tool(BOOK, ToolRole::Create, 0, 0));
    declared.errors = vec![row("THING_GONE", 409, None)];
    ScriptedContract::new(declared)
        .on_check_request(|context, _, arguments| {
            let request: Value = serde_json::from_str(arguments).expect("JSON");
            match request["city"].as_str() {
                Some(_) => Ok(accept_any_request(context, arguments)),
                None => Err(refusal("INVALID_REQUEST", [violation("/city", "REQUIRED")])),
            }
        })
        .on_evaluate(|_, _, payloads| {
            let mut evaluation = Evaluation::default();
            for candidate in candidates(payloads) {
                let option: Value = serde_json::from_str(candidate.json).expect("JSON");
                let (number, id) = (candidate.number, option["id"].as_str().unwrap_or_default());
                if option["bad"] == true {
                    let violations = vec![violation("/bad", "IS_BAD")];
                    evaluation.dropped.push(DroppedOption {
                        number,
                        id: Some(id.to_owned()),
                        strike: false,
                        violations,
                    });
                    continue;
                }
                if option["odd"] == true {
                    evaluation.findings.push(OptionFinding { number, violation: violation("/odd", "IS_ODD") });
                }
                evaluation.ranked.push(ranked(number, id, 0.5));
            }
            Ok(evaluation)
        })
        .on_check_response(|_, exchange| {
            let payload: Value = serde_json::from_str(exchange.payload).expect("JSON");
            match payload["id"].as_str() {
                Some(id) => {
                    Ok(CheckedResponse { reference: Some(id.to_owned()), advisory: None, findings: Vec::new() })
                }
                None => Err(refusal("INTERNAL_ERROR", [violation("/id", "WRONG_TYPE")])),
            }
        })
}

fn rest() -> Value {
    let item = json!({"id": {"$item": "/id"}, "bad": {"$item": "/bad", "default": false}, "odd": {"$item": "/odd", "default": false}});
    json!({"kind": "rest", "tools": {
        SEARCH: {
            "operation_id": "find", "method": "POST", "path": "/v1/{city}/things",
            "path_params": {"city": {"$arg": "/city"}}, "query": {"q": {"$arg": "/q", "optional": true}},
            "headers": {"X-Channel": "platform"}, "body": {"whole": {"$arg": ""}},
            "response": {"things": {"$each": "/rows", "item": item}},
            "errors": {"status": {"404": "THING_GONE", "418": "TEAPOT"}},
        },
        BOOK: {"operation_id": "book", "method": "POST", "path": "/b", "response": {"id": {"$res": "/id"}}},
    }})
}

fn graphql() -> Value {
    json!({"kind": "graphql", "tools": {SEARCH: {
        "document": "query ($c: String!) { rows(city: $c) { id } }", "variables": {"c": {"$arg": "/city"}},
        "response": {"things": {"$each": "/rows", "item": {"id": {"$item": "/id"}}}},
    }}})
}

fn try_it(
    mapping: &Value,
    tool: &str,
    arguments: &Value,
    status: u16,
    answer: &str,
) -> Result<TrialReport, TrialError> {
    let mapping = ApiMapping::check(mapping).expect("sound");
    let partner = PartnerId::parse("alpha").expect("sound");
    let arguments = arguments.to_string();
    let trial = Trial { mapping: &mapping, tool, arguments: &arguments, status, answer };
    block_on(run(&contract(), &partner, trial, "try-1".to_owned(), Timestamp::from_ms(1_767_225_600_000)))
}

fn search(status: u16, answer: &Value) -> TrialReport {
    try_it(&rest(), SEARCH, &json!({"city": "New Delhi"}), status, &answer.to_string()).expect("tried")
}

#[test]
fn the_request_is_shown_as_it_would_be_sent() {
    let report = try_it(&rest(), SEARCH, &json!({"city": "New Delhi", "q": ["a&b", 1]}), 200, "{}").expect("tried");
    let TriedRequest::Rest(RestRequest { target, headers, body, .. }) = report.request.expect("a request") else {
        panic!("no REST")
    };
    assert_eq!(target, "/v1/New%20Delhi/things?q=a%26b&q=1");
    assert_eq!(headers, [("x-channel".to_owned(), "platform".to_owned())]);
    assert_eq!(body, Some(json!({"whole": {"city": "New Delhi", "q": ["a&b", 1], "request_id": "try-1"}})));
    assert_eq!(report.failure, Some(CallFailure::Payload("`/rows` of the API's answer is missing".to_owned())));

    let unsendable = try_it(&rest(), SEARCH, &json!({"city": ".."}), 200, "{}").expect("tried");
    assert_eq!(unsendable.request.expect_err("none").to_string(), "`..` cannot be sent as `city` in a path");
}

#[test]
fn each_option_is_told_of() {
    let rows = json!([{"id": "a"}, {"id": "b", "bad": true}, {"name": "no id"}, {"id": "d", "odd": true}]);
    let report = search(200, &json!({"rows": rows}));
    let passed: Vec<_> = report.ranked.iter().map(|(option, noted)| (option.id.as_str(), noted.len())).collect();
    assert_eq!(passed, [("a", 0), ("d", 1)]);
    let dropped: Vec<_> = report.dropped.iter().map(|one| (one.position, one.violations[0].code.as_str())).collect();
    assert_eq!(dropped, [(2, "ITEM_NOT_MAPPED"), (1, "IS_BAD")]);
    assert!(report.notes.iter().any(|note| note.code == "NO_COMMITMENT"));
    assert_eq!(report.payload.expect("one")["things"].as_array().map(Vec::len), Some(3));
    assert_eq!(report.failure, None);
}

#[test]
fn what_fails_is_told_as_callers_would_be() {
    let code = |report: TrialReport| report.failure.map(|failure| failure.code().to_owned());
    assert_eq!(code(search(404, &json!({}))).as_deref(), Some("THING_GONE"));
    assert_eq!(code(search(418, &json!({}))).as_deref(), Some("INTERNAL_ERROR"), "no code of the intent");
    assert_eq!(code(search(500, &json!({}))).as_deref(), Some("PARTNER_HTTP_ERROR"));
    assert_eq!(code(search(429, &json!({}))).as_deref(), Some("RATE_LIMITED"));
    assert_eq!(code(search(401, &json!({}))).as_deref(), Some("INVALID_AUTH"));
    let named = json!({"error": {"platform_error_code": "THING_GONE", "platform_field": "id"}});
    assert_eq!(code(search(500, &named)).as_deref(), Some("THING_GONE"), "its own word says more than the status");
    let pasted = |text: &str| {
        let report = try_it(&rest(), SEARCH, &json!({"city": "Pune"}), 200, text).expect("tried");
        report.failure.expect("no JSON").to_string()
    };
    assert!(pasted("<html></html>").ends_with("it is HTML, expected JSON"), "{}", pasted("<html></html>"));
    assert!(pasted("rows:\n  - id: a\n").ends_with("it is YAML, expected JSON"));
    let forbidden = json!({"rows": [{"id": "a"}]});
    let mut mapping = rest();
    mapping["tools"][SEARCH]["response"]["ad_bid"] = json!(1);
    let report = try_it(&mapping, SEARCH, &json!({"city": "Pune"}), 200, &forbidden.to_string()).expect("tried");
    assert_eq!(code(report).as_deref(), Some("FORBIDDEN_FIELD"));
}

#[test]
fn other_tools_are_judged_as_a_whole() {
    let book =
        |answer: Value| try_it(&rest(), BOOK, &json!({"city": "Pune"}), 200, &answer.to_string()).expect("tried");
    let taken = book(json!({"id": "B-1"}));
    assert!(taken.refused.is_none() && taken.failure.is_none(), "{taken:?}");
    let refused = book(json!({"id": 7})).refused.expect("refused");
    assert_eq!(refused.violations[0].pointer, "/id");
}

#[test]
fn a_graphql_api_is_tried_alike() {
    let search =
        |answer: Value| try_it(&graphql(), SEARCH, &json!({"city": "Pune"}), 200, &answer.to_string()).expect("tried");
    let report = search(json!({"data": {"rows": [{"id": "a"}]}}));
    let Ok(TriedRequest::Graphql(body)) = &report.request else { panic!("{report:?}") };
    assert_eq!(body["variables"], json!({"c": "Pune"}));
    assert_eq!(report.ranked.len(), 1);
    let error = json!({"errors": [{"message": "why", "extensions": {"code": "FULL"}}]});
    let unknown = CallFailure::UnknownCode { sent: Some("FULL".to_owned()), message: "why".to_owned() };
    assert_eq!(search(error).failure, Some(unknown));
    let sign_in = json!({"errors": [{"message": "who are you", "extensions": {"code": "UNAUTHENTICATED"}}]});
    assert_eq!(search(sign_in).failure, Some(CallFailure::Unauthorized));
    assert_eq!(search(json!({})).failure.expect("nothing").code(), "PARTNER_PROTOCOL_ERROR");
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let refused = |tool: &str, arguments: &Value| {
        try_it(&graphql(), tool, arguments, 200, "{}").map(|_| ()).expect_err("refused").to_string()
    };
    assert_eq!(refused("fly", &json!({"city": "Pune"})), "the intent has no tool `fly`");
    assert_eq!(refused(BOOK, &json!({"city": "Pune"})), "the mapping has no tool `book_thing`");
    assert_eq!(refused(SEARCH, &json!({})), "the arguments were refused with INVALID_REQUEST");
}
