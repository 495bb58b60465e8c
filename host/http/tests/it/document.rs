//! The OpenAPI document and the router say the same, and the codes are documented.

use std::collections::BTreeSet;

use http::Method;
use intent_gateway_domain::error::{CallFailure, ContractFault};
use intent_gateway_http::auth::Scope;
use intent_gateway_http::error::Code;
use serde_json::Value;

use crate::support::{Ask, Gateway};

#[tokio::test]
async fn every_route_of_the_router_is_in_the_document() {
    let gateway = Gateway::new().await;
    let documented: BTreeSet<String> = gateway.document["paths"].as_object().expect("paths").keys().cloned().collect();
    // axum shows its routes in `Debug` alone: `paths: {RouteId(0): "/health", ...}`.
    let shown = format!("{:?}", gateway.router);
    let shown = shown.split("fallback_router").next().unwrap_or_default();
    let routed: BTreeSet<String> = shown
        .split("RouteId(")
        .filter_map(|part| part.split_once("): \"")?.1.split_once('"'))
        .map(|(path, _)| path.to_owned())
        .collect();
    assert_eq!(routed, documented);
    assert!(documented.len() > 10);
}

#[tokio::test]
async fn every_method_of_a_route_is_in_the_document() {
    let gateway = Gateway::new().await;
    for (template, item) in gateway.document["paths"].as_object().expect("paths") {
        let path = template.replace(['{', '}'], "");
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
            let answer = gateway.call(Ask::new(method.clone(), &path)).await;
            let served = answer.status.as_u16() != 405;
            assert_eq!(served, item.get(method.as_str().to_lowercase()).is_some(), "{method} {template}");
        }
    }
}

#[tokio::test]
async fn the_document_is_whole() {
    let gateway = Gateway::new().await;
    let document = &gateway.document;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["bearerFormat"], "JWT");
    let mut references = Vec::new();
    collect_references(document, &mut references);
    for reference in references {
        assert!(document.pointer(&reference[1..]).is_some(), "{reference} leads nowhere");
    }
    let mut operations = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("a path item") {
            let name = operation["operationId"].as_str().expect("a name");
            assert!(operations.insert(name), "{method} {path}: `{name}` names another operation as well");
            let tells_events = !operation["responses"]["200"]["content"]["text/event-stream"].is_null();
            let event = operation["x-event"].as_str().map(|name| &document["components"]["schemas"][name]["oneOf"]);
            assert_eq!(event.is_some_and(Value::is_array), tells_events, "{method} {path}");
            assert!(operation["summary"].is_string(), "{method} {path} has no summary");
            assert!(operation["responses"].get("500").is_some(), "{method} {path}");
        }
    }
    for code in Code::ALL {
        let example = &document["components"]["responses"][code.as_str()]["content"]["application/json"]["example"];
        assert_eq!(example["error"]["code"], code.as_str());
    }
    let utterance = &document["components"]["schemas"]["ClassifyRequest"]["properties"]["utterance"];
    assert_eq!(utterance["maxLength"], intent_gateway_domain::limits::UTTERANCE_MAX_CHARS);
}

fn collect_references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

/// Every code that can reach a caller has a row in `docs/errors.md`, with its status where it has one.
#[test]
fn every_code_is_documented() {
    let docs = include_str!("../../../../docs/errors.md");
    let row = |code: &str| docs.lines().find(|line| line.starts_with(&format!("| `{code}` |")));
    for code in Code::ALL {
        let row = row(code.as_str()).unwrap_or_else(|| panic!("{code:?} is not documented"));
        assert!(row.contains(code.status().as_str()), "{row} has another status");
    }
    // Steps of onboarding that do not fit, from the domain and from here.
    for code in [
        "CREDENTIALS_EXIST",
        "TOO_MANY_SECRETS",
        "REVIEW_CLOSED",
        "NOT_READY",
        "WRONG_STATE",
        "NO_PROBE",
        "ENDPOINT_CHANGED",
        "NO_DRIFT",
        "DOCUMENT_IN_USE",
        "TOO_MANY_DOCUMENTS",
        "ENTRY_TAKEN_BACK",
        "ENTRY_IS_REVERSAL",
    ] {
        assert!(row(code).is_some_and(|row| row.contains("409")), "{code} is not documented");
    }
    for code in Scope::EVERY.map(Scope::code_of_lack) {
        assert!(row(code).is_some_and(|row| row.contains("403")), "{code} is not documented");
    }
    let text = String::new;
    let faults = [
        ContractFault::trap(text()),
        ContractFault::DeadlineExceeded(0),
        ContractFault::OutOfMemory(0),
        ContractFault::OutputTooLarge(0),
        ContractFault::InvalidOutput(text()),
        ContractFault::Busy(0),
    ];
    let failures = [
        CallFailure::Timeout(0),
        CallFailure::Unreachable(text()),
        CallFailure::AddressRefused(text()),
        CallFailure::Redirect(0),
        CallFailure::HttpStatus(0),
        CallFailure::Unauthorized,
        CallFailure::SignInRequired { challenge: text() },
        CallFailure::RateLimited { retry_after_ms: None },
        CallFailure::BodyTooLarge(0),
        CallFailure::Protocol(text()),
        CallFailure::Payload(text()),
        CallFailure::Forbidden(text()),
        CallFailure::Busy,
    ];
    let others = [
        "OUTSIDE_SERVICE_AREA",
        "CLOSED_AT_HOUR",
        "FAN_OUT_LIMIT",
        intent_gateway_routing::search::NO_PARTNER_ANSWERED,
    ];
    let mut codes: Vec<String> = others.map(str::to_owned).to_vec();
    codes.extend(faults.iter().map(|fault| fault.code().to_owned()));
    codes.extend(failures.iter().map(|failure| failure.code().to_owned()));
    for code in codes {
        assert!(row(&code).is_some(), "{code} is not documented");
    }
}

/// The committed copy, for whoever reads the API without running the gateway, and so that a change of it is seen in review.
const COPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

#[tokio::test]
async fn the_committed_copy_is_the_document() {
    let gateway = Gateway::new().await;
    let served = format!("{:#}\n", gateway.document);
    if std::env::var_os("INTENT_GATEWAY_WRITE_OPENAPI").is_some() {
        std::fs::write(COPY, &served).expect("the copy can be written");
    }
    let copy = std::fs::read_to_string(COPY).unwrap_or_default();
    let differs = served.lines().zip(copy.lines()).find(|(served, copy)| served != copy);
    assert_eq!(differs, None, "(served, copy); if the change is meant, run with INTENT_GATEWAY_WRITE_OPENAPI=1");
    assert!(served == copy, "one of the two is longer; if that is meant, run with INTENT_GATEWAY_WRITE_OPENAPI=1");
}
