//! Calls of partners without an MCP server: what goes out, and what each answer becomes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream;
use http::{Method, Response};
use http_body_util::{BodyExt as _, Full};
use intent_gateway_domain::endpoint::{ApiMapping, Endpoint, Mappings};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::trace::Trace;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde_json::{Value, json};

use crate::harness::*;

pub(crate) const INTENT: &str = "test.find_slots";
const ARGUMENTS: &str = r#"{"city":"Pune/..?x=1&y #é","near":["a b","c"],"window":{"from":"09:00+05:30"},"n":2}"#;

pub(crate) fn mappings(tools: Value, kind: &str) -> Mappings {
    let mapping = ApiMapping::check(&json!({"kind": kind, "tools": tools})).expect("a sound mapping");
    BTreeMap::from([(IntentId::parse(INTENT).expect("an intent"), Arc::new(mapping))])
}

fn api_partner(endpoint: Endpoint, mappings: Mappings) -> Arc<Partner> {
    Arc::new(Partner {
        id: PartnerId::parse("api").expect("an identifier"),
        name: "api".to_owned(),
        endpoint,
        mappings,
        listings: Vec::new(),
        token: None,
        sign_in: None,
    })
}

/// A REST partner with these tools; its base address has a path.
fn rest(server: &Server, tools: Value) -> Arc<Partner> {
    let root = server.url.replace("/mcp", "/base/");
    let endpoint = Endpoint::Rest { openapi_url: format!("{root}openapi.json"), base_url: root };
    api_partner(endpoint, mappings(tools, "rest"))
}

fn graphql(server: &Server, tools: Value) -> Arc<Partner> {
    api_partner(Endpoint::Graphql { url: server.url.clone() }, mappings(tools, "graphql"))
}

async fn ask(client: &PartnerClient, partner: &Arc<Partner>, bearer: Option<&Secret>) -> Result<Value, CallFailure> {
    let call = ToolCall { bearer, ..ToolCall::new(INTENT, "find_slots", ARGUMENTS, CALL) };
    let answer = client.call(partner, call).await?;
    Ok(serde_json::from_str(&answer.text).expect("JSON"))
}

/// Tools of which `find_slots` is a GET without parameters and hands the answer through.
fn plain() -> Value {
    json!({"find_slots": {"operation_id": "f", "method": "GET", "path": "/slots", "response": {"$res": ""}}})
}

fn with_status(code: u16, mut response: Response<Body>) -> Response<Body> {
    *response.status_mut() = http::StatusCode::from_u16(code).expect("a status");
    response
}

fn unknown_code(sent: Option<&str>, message: &str) -> CallFailure {
    CallFailure::UnknownCode { sent: sent.map(str::to_owned), message: message.to_owned() }
}

fn platform(code: &str, message: &str) -> CallFailure {
    CallFailure::Platform { code: code.to_owned(), message: message.to_owned(), field: None }
}

#[tokio::test]
async fn a_request_is_built_as_the_mapping_says() {
    let server =
        Server::scripted(|_| async { json_response(&json!({"data": [{"id": 1}, {"id": 2}], "t": "tok"})) }).await;
    let partner = rest(
        &server,
        json!({"find_slots": {
            "operation_id": "f", "method": "PUT", "path": "/v1/{city}/slots/{n}",
            "path_params": {"city": {"$arg": "/city"}, "n": {"$arg": "/n"}},
            "query": {
                "a literal": "x y", "city": {"$arg": "/city"}, "near": {"$arg": "/near"}, "on": true,
                "none": {"$arg": "/none", "optional": true}, "null": null, "from": {"$arg": "/window/from"},
            },
            "headers": {"X-Window": {"$arg": "/window/from"}, "X-None": {"$arg": "/none", "optional": true}},
            "body": {"place": {"name": {"$arg": "/city"}}, "n": {"$arg": "/n"}, "fixed": [1, {"$arg": "/near/0"}]},
            "response": {"slots": {"$each": "/data", "item": {"slot_id": {"$item": "/id"}}}, "token": {"$res": "/t"}},
        }}),
    );
    let answer = ask(&client(), &partner, Some(&Secret::new("user"))).await;
    assert_eq!(answer, Ok(json!({"slots": [{"slot_id": 1}, {"slot_id": 2}], "token": "tok"})));

    let state = server.state();
    let [sent] = &state.seen[..] else { panic!("one request: {:?}", state.seen) };
    assert_eq!(sent.method, Method::PUT);
    assert_eq!(sent.path, "/base/v1/Pune%2F..%3Fx%3D1%26y%20%23%C3%A9/slots/2");
    let query =
        "a%20literal=x%20y&city=Pune%2F..%3Fx%3D1%26y%20%23%C3%A9&from=09%3A00%2B05%3A30&near=a%20b&near=c&on=true";
    assert_eq!(sent.query, query);
    assert_eq!(sent.message, json!({"place": {"name": "Pune/..?x=1&y #é"}, "n": 2, "fixed": [1, "a b"]}));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("accept"), Some("application/json"));
    assert_eq!(sent.header("authorization"), Some("Bearer user"));
    assert_eq!(sent.header("x-window"), Some("09:00+05:30"));
    assert_eq!(sent.header("x-none"), None);
    assert!(sent.header("user-agent").is_some_and(|agent| agent.starts_with("intent-gateway/")));
}

#[tokio::test]
async fn a_request_says_which_trace_it_belongs_to() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let trace = Trace::of_caller("trip-42", Some(PARENT), Some("vendor=x"));
    let server = Server::scripted(|_| async { json_response(&json!({})) }).await;
    let own = json!({"find_slots": {
        "operation_id": "f", "method": "GET", "path": "/slots", "headers": {"X-Request-Id": "its own"},
        "response": {"$res": ""},
    }});
    for tools in [plain(), own] {
        let call = ToolCall { trace: Some(&trace), ..ToolCall::new(INTENT, "find_slots", ARGUMENTS, CALL) };
        client().call(&rest(&server, tools), call).await.expect("an answer");
    }
    let state = server.state();
    for sent in &state.seen {
        let traceparent = sent.header("traceparent").expect("it is there");
        assert!(traceparent.starts_with(&PARENT[..36]) && traceparent != PARENT, "{traceparent}");
        assert_eq!(sent.header("tracestate"), Some("vendor=x"));
    }
    // What a partner's mapping asks for goes before.
    let request_ids: Vec<_> = state.seen.iter().map(|sent| sent.header("x-request-id")).collect();
    assert_eq!(request_ids, [Some("trip-42"), Some("its own")]);
}

#[tokio::test]
async fn a_request_without_body_has_none_and_no_token_of_its_own() {
    let server = Server::scripted(|_| async { json_response(&json!([])) }).await;
    let client = client();
    assert_eq!(ask(&client, &rest(&server, plain()), None).await, Ok(json!([])));
    let with_token = Arc::new(Partner { token: Some(Secret::new("own")), ..Partner::clone(&rest(&server, plain())) });
    assert!(ask(&client, &with_token, None).await.is_ok());
    let state = server.state();
    assert_eq!((state.seen[0].path.as_str(), state.seen[0].query.as_str()), ("/base/slots", ""));
    assert_eq!(state.seen[0].header("content-type"), None);
    assert_eq!(state.seen[0].header("authorization"), None);
    assert_eq!(state.seen[1].header("authorization"), Some("Bearer own"));
}

/// What a user typed may not lead the request anywhere else.
#[tokio::test]
async fn an_argument_cannot_become_another_path_or_header() {
    let server = Server::scripted(|_| async { json_response(&json!({})) }).await;
    let client = client();
    let cases = [
        (json!(".."), false),
        (json!("."), false),
        (json!(""), false),
        (json!(null), false),
        (json!({"a": 1}), false),
        (json!(["a"]), false),
        (json!("%2e%2e"), true),
        (json!("..;/admin"), true),
        (json!("a\r\nb"), true),
        (json!(5), true),
        (json!(true), true),
    ];
    for (value, sent) in cases {
        let path = json!({"find_slots": {
            "operation_id": "f", "method": "GET", "path": "/a/{x}", "path_params": {"x": value}, "response": {"$res": ""},
        }});
        let before = server.state().seen.len();
        let outcome = ask(&client, &rest(&server, path), None).await;
        assert_eq!(outcome.is_ok(), sent, "{value}: {outcome:?}");
        assert_eq!(server.state().seen.len() > before, sent, "{value}");
        if let Err(failure) = outcome {
            assert_eq!(failure.code(), "PARTNER_PAYLOAD_INVALID", "{value}");
        } else {
            let state = server.state();
            let path = &state.seen.last().expect("a request").path;
            assert_eq!(path.matches('/').count(), 3, "{path}");
        }
    }
    let header = json!({"find_slots": {
        "operation_id": "f", "method": "GET", "path": "/a", "headers": {"x-a": "b\r\nx-evil: 1"}, "response": {"$res": ""},
    }});
    let outcome = ask(&client, &rest(&server, header), None).await;
    assert_eq!(outcome.expect_err("no header").code(), "PARTNER_PAYLOAD_INVALID");
}

#[tokio::test]
async fn answers_become_payloads_and_failures() {
    let tools = json!({"find_slots": {
        "operation_id": "f", "method": "GET", "path": "/slots",
        "response": {"id": {"$res": "/id"}},
        "errors": {
            "status": {"404": "NO_SLOTS", "409": "RATE_LIMITED", "410": "INVALID_AUTH"}, "code": "/error/code",
            "codes": {"TAKEN": "SLOT_GONE"}, "message": "/error/text",
        },
    }});
    let error = |code: &str| json!({"error": {"code": code, "text": "why\u{7}"}});
    let cases = [
        (200, json!({"id": 5}), Ok(json!({"id": 5}))),
        (201, json!({"id": null}), Ok(json!({"id": null}))),
        (200, json!({}), Err(CallFailure::Payload("`/id` of the API's answer is missing".to_owned()))),
        (200, error("TAKEN"), Err(platform("SLOT_GONE", "why"))),
        (400, error("TAKEN"), Err(platform("SLOT_GONE", "why"))),
        (404, error("OTHER"), Err(platform("NO_SLOTS", "why"))),
        (404, json!("text"), Err(platform("NO_SLOTS", ""))),
        (400, error("OTHER"), Err(CallFailure::HttpStatus(400))),
        (409, json!({}), Err(CallFailure::RateLimited { retry_after_ms: None })),
        (410, json!({}), Err(CallFailure::Unauthorized)),
        (401, error("OTHER"), Err(CallFailure::Unauthorized)),
        (403, json!(null), Err(CallFailure::Unauthorized)),
        (429, json!({}), Err(CallFailure::RateLimited { retry_after_ms: None })),
        (500, error("OTHER"), Err(CallFailure::HttpStatus(500))),
        (503, json!({}), Err(CallFailure::HttpStatus(503))),
        (302, json!({}), Err(CallFailure::Redirect(302))),
        (
            422,
            json!({"platform_error_code": "WINDOW_TOO_SHORT", "platform_field": "window", "message": "short"}),
            Err(CallFailure::Platform {
                code: "WINDOW_TOO_SHORT".to_owned(),
                message: "short".to_owned(),
                field: Some("window".to_owned()),
            }),
        ),
    ];
    for (code, body, expected) in cases {
        let sent = body.clone();
        let server = Server::scripted(move |_| {
            let sent = sent.clone();
            async move { with_status(code, json_response(&sent)) }
        })
        .await;
        assert_eq!(ask(&client(), &rest(&server, tools.clone()), None).await, expected, "{code} {body}");
    }
}

#[tokio::test]
async fn the_wait_that_an_api_asks_for_is_passed_on() {
    let server = Server::scripted(|_| async {
        let mut response = status(429);
        response.headers_mut().insert("retry-after", "7".parse().expect("a header"));
        response
    })
    .await;
    let expected = Err(CallFailure::RateLimited { retry_after_ms: Some(7_000) });
    assert_eq!(ask(&client(), &rest(&server, plain()), None).await, expected);
}

#[tokio::test]
async fn an_api_that_wants_a_sign_in_says_where() {
    let server = Server::scripted(|_| async {
        let mut response = status(401);
        response.headers_mut().insert("www-authenticate", "Bearer scope=\"book\"".parse().expect("a header"));
        response
    })
    .await;
    let expected = CallFailure::SignInRequired { challenge: "Bearer scope=\"book\"".to_owned() };
    assert_eq!(ask(&client(), &rest(&server, plain()), None).await, Err(expected));
}

#[tokio::test]
async fn an_item_that_cannot_be_mapped_costs_that_item() {
    let tools = json!({"find_slots": {
        "operation_id": "f", "method": "GET", "path": "/slots",
        "response": {"slots": {"$each": "/rows", "item": {"id": {"$item": "/id"}}}},
    }});
    let rows = json!({"rows": [{"id": 1}, {"name": "none"}, {"id": 3}]});
    let server = Server::scripted(move |_| {
        let rows = rows.clone();
        async move { json_response(&rows) }
    })
    .await;
    let call = ToolCall::new(INTENT, "find_slots", ARGUMENTS, CALL);
    let answer = client().call(&rest(&server, tools), call).await.expect("two items are sound");
    assert_eq!(answer.text, r#"{"slots":[{"id":1},{"id":3}]}"#);
    let told: Vec<_> = answer.unmapped.iter().map(|item| (item.position, item.reason.as_str())).collect();
    let reason = "item 1 of `/rows` in the API's answer: `/id` of an item of the API's answer is missing";
    assert_eq!(told, [(1, reason)]);
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_named() {
    let typed = |media_type: &'static str, text: &'static str| {
        with_type(media_type, Full::from(text).map_err(|never| match never {}).boxed())
    };
    // A page may come under any type, and a type may say what its body does not show.
    let cases: [(&'static str, &'static str, &str); 5] = [
        ("text/html", "<p>down</p>", "the answer is HTML, expected JSON"),
        ("application/json", "<!doctype html><p>down", "the answer is HTML, expected JSON"),
        ("application/yaml", "rows: []", "the answer is YAML, expected JSON"),
        ("text/plain", "rows:\n  - id: 1\n", "the answer is YAML, expected JSON"),
        (
            "text/plain",
            "{\"rows\":[]}",
            "the answer is JSON of the content type `text/plain`, expected `application/json`",
        ),
    ];
    for (media_type, text, expected) in cases {
        let server = Server::scripted(move |_| async move { typed(media_type, text) }).await;
        let outcome = ask(&client(), &rest(&server, plain()), None).await;
        assert_eq!(outcome, Err(CallFailure::Protocol(expected.to_owned())), "{media_type} {text}");
    }
}

/// Answers that are no JSON, or too much of it.
#[tokio::test]
async fn bodies_are_checked_and_bounded() {
    type Script = fn() -> Response<Body>;
    let cases: [(Script, Result<Value, &str>); 8] = [
        (|| status(204), Ok(Value::Null)),
        (
            || {
                with_type(
                    "application/hal+json; charset=utf-8",
                    Full::from("{\"a\":1}").map_err(|never| match never {}).boxed(),
                )
            },
            Ok(json!({"a": 1})),
        ),
        (
            || with_type("text/html", Full::from("<p>").map_err(|never| match never {}).boxed()),
            Err("PARTNER_PROTOCOL_ERROR"),
        ),
        (|| raw_json("{\"a\":"), Err("PARTNER_PROTOCOL_ERROR")),
        (|| raw_json("[".repeat(200_000)), Err("PARTNER_PROTOCOL_ERROR")),
        (|| raw_json(vec![b' '; 4 * 1024 * 1024 + 1]), Err("PARTNER_BODY_TOO_LARGE")),
        (
            || {
                let mut response = raw_json("{}");
                response.headers_mut().insert("content-encoding", "gzip".parse().expect("a header"));
                response
            },
            Err("PARTNER_PROTOCOL_ERROR"),
        ),
        (
            || {
                let pieces = stream::iter([Ok("{\"a\":".to_owned()), Err(std::io::Error::other("cut"))]);
                with_type("application/json", streamed(pieces))
            },
            Err("PARTNER_UNREACHABLE"),
        ),
    ];
    for (turn, (script, expected)) in cases.into_iter().enumerate() {
        let server = Server::scripted(move |_| async move { script() }).await;
        let outcome = ask(&client(), &rest(&server, plain()), None).await;
        let outcome = outcome.map_err(|failure| failure.code().to_owned());
        assert_eq!(outcome, expected.map_err(str::to_owned), "case {turn}");
    }
}

#[tokio::test]
async fn a_failure_with_a_large_body_is_the_failure() {
    let server = Server::scripted(|_| async { with_status(500, raw_json(vec![b' '; 5 * 1024 * 1024])) }).await;
    assert_eq!(ask(&client(), &rest(&server, plain()), None).await, Err(CallFailure::HttpStatus(500)));
}

#[tokio::test]
async fn what_is_not_mapped_is_not_called() {
    let server = Server::scripted(|_| async { json_response(&json!({})) }).await;
    let other = json!({"other_tool": {"operation_id": "f", "method": "GET", "path": "/x", "response": 1}});
    let outcome = ask(&client(), &rest(&server, other), None).await;
    assert_eq!(outcome.expect_err("no such tool").code(), "METHOD_NOT_FOUND");
    // A mapping of the other kind.
    let mismatched = api_partner(Endpoint::Graphql { url: server.url.clone() }, mappings(plain(), "rest"));
    assert_eq!(ask(&client(), &mismatched, None).await.expect_err("the other kind").code(), "METHOD_NOT_FOUND");
    assert_eq!(server.state().accepted, 0);
}

#[tokio::test]
async fn the_guard_and_the_gate_hold_for_apis_too() {
    let server = Server::scripted(|_| async { std::future::pending().await }).await;
    let strict = PartnerClient::new(&PartnerClientConfig::default()).expect("valid settings");
    for endpoint in [
        Endpoint::Rest { base_url: server.url.clone(), openapi_url: String::new() },
        Endpoint::Rest { base_url: "https://10.0.0.1".to_owned(), openapi_url: String::new() },
        Endpoint::Rest { base_url: "http://partner.example".to_owned(), openapi_url: String::new() },
    ] {
        let outcome = ask(&strict, &api_partner(endpoint.clone(), mappings(plain(), "rest")), None).await;
        assert!(matches!(outcome, Err(CallFailure::AddressRefused(_))), "{endpoint:?}: {outcome:?}");
    }
    assert_eq!(server.state().accepted, 0);

    let narrow = client_with(PartnerClientConfig {
        max_concurrent_calls_per_partner: 1,
        max_waiting_calls_per_partner: 1,
        ..Default::default()
    });
    let partner = rest(&server, plain());
    let timeout = Duration::from_millis(300);
    let call = ToolCall::new(INTENT, "find_slots", "{}", timeout);
    let outcomes = join_all((0..3).map(|_| narrow.call(&partner, call))).await;
    let count = |wanted: &CallFailure| outcomes.iter().filter(|outcome| outcome.as_ref().err() == Some(wanted)).count();
    assert!(count(&CallFailure::Timeout(300)) >= 1, "{outcomes:?}");
    assert!(count(&CallFailure::Busy) >= 1, "{outcomes:?}");
}

fn graphql_tools() -> Value {
    json!({"find_slots": {
        "document": "query ($city: String!) { slots(city: $city) { id } }",
        "variables": {"city": {"$arg": "/city"}, "none": {"$arg": "/none", "optional": true}},
        "response": {"slots": {"$each": "/slots", "item": {"slot_id": {"$item": "/id"}}}},
        "errors": {"codes": {"TAKEN": "SLOT_GONE"}, "status": {"404": "NO_SLOTS"}},
    }})
}

#[tokio::test]
async fn a_graphql_operation_is_sent_with_its_variables() {
    let server = Server::scripted(|_| async { json_response(&json!({"data": {"slots": [{"id": "s"}]}})) }).await;
    let answer = ask(&client(), &graphql(&server, graphql_tools()), Some(&Secret::new("user"))).await;
    assert_eq!(answer, Ok(json!({"slots": [{"slot_id": "s"}]})));
    let state = server.state();
    let sent = &state.seen[0];
    assert_eq!((&sent.method, sent.path.as_str()), (&Method::POST, "/mcp"));
    assert_eq!(sent.message["query"], "query ($city: String!) { slots(city: $city) { id } }");
    assert_eq!(sent.message["variables"], json!({"city": "Pune/..?x=1&y #é"}));
    assert_eq!(sent.header("authorization"), Some("Bearer user"));
    assert_eq!(sent.header("accept"), Some("application/graphql-response+json, application/json;q=0.9"));
}

#[tokio::test]
async fn graphql_errors_become_failures() {
    let error = |code: &str| json!({"errors": [{"message": "why", "extensions": {"code": code}}], "data": null});
    let cases = [
        (200, error("TAKEN"), platform("SLOT_GONE", "why")),
        (200, json!({"errors": [{"message": "why"}], "data": {"slots": []}}), unknown_code(None, "why")),
        (200, error("OTHER"), unknown_code(Some("OTHER"), "why")),
        (200, error("UNAUTHENTICATED"), CallFailure::Unauthorized),
        (401, error("OTHER"), CallFailure::Unauthorized),
        (404, error("OTHER"), platform("NO_SLOTS", "why")),
        (429, json!({}), CallFailure::RateLimited { retry_after_ms: None }),
        (500, error("TAKEN"), platform("SLOT_GONE", "why")),
        (500, error("OTHER"), CallFailure::HttpStatus(500)),
        (502, json!({}), CallFailure::HttpStatus(502)),
        (302, json!({}), CallFailure::Redirect(302)),
        (
            200,
            json!({"errors": [{"message": "why", "extensions": {"platform_error_code": "OWN_CODE"}}]}),
            platform("OWN_CODE", "why"),
        ),
        (
            200,
            json!({"data": null}),
            CallFailure::Protocol("a GraphQL answer with neither `data` nor `errors`".to_owned()),
        ),
        (200, json!([]), CallFailure::Protocol("a GraphQL answer with neither `data` nor `errors`".to_owned())),
        (200, json!({"data": {}}), CallFailure::Payload("`/slots` of the API's answer is missing".to_owned())),
    ];
    for (code, body, expected) in cases {
        let sent = body.clone();
        let server = Server::scripted(move |_| {
            let sent = sent.clone();
            async move { with_status(code, json_response(&sent)) }
        })
        .await;
        let outcome = ask(&client(), &graphql(&server, graphql_tools()), None).await;
        assert_eq!(outcome, Err(expected), "{code} {body}");
    }
}

#[tokio::test]
async fn what_an_api_writes_in_place_of_an_answer_is_for_who_listens() {
    let tools = json!({"find_slots": {"operation_id": "f", "method": "GET", "path": "/slots", "response": {"$res": ""},
        "errors": {"code": "/error", "codes": {"TAKEN": "SLOT_GONE"}}}});
    let cases = [
        (500, json!({"detail": "no such table"}), Some("HTTP 500\n{\"detail\":\"no such table\"}")),
        (200, json!({"error": "TAKEN", "by": "another"}), Some("HTTP 200\n{\"by\":\"another\",\"error\":\"TAKEN\"}")),
        (503, json!(null), None),
        (200, json!({"slots": []}), None),
    ];
    for (code, body, expected) in cases {
        let sent = body.clone();
        let server = Server::scripted(move |_| {
            let sent = sent.clone();
            async move { with_status(code, json_response(&sent)) }
        })
        .await;
        let heard = ErrorText::default();
        let call = ToolCall { error_text: Some(&heard), ..ToolCall::new(INTENT, "find_slots", ARGUMENTS, CALL) };
        let _ = client().call(&rest(&server, tools.clone()), call).await;
        assert_eq!(heard.take().as_deref(), expected, "{code} {body}");
    }
    let server = Server::scripted(|_| async {
        let mut response = raw_json("<h1>down</h1>");
        response.headers_mut().insert("content-type", "text/html".parse().expect("a header"));
        with_status(502, response)
    })
    .await;
    let heard = ErrorText::default();
    let call = ToolCall { error_text: Some(&heard), ..ToolCall::new(INTENT, "find_slots", ARGUMENTS, CALL) };
    client().call(&rest(&server, plain()), call).await.expect_err("refused");
    assert_eq!(heard.take().as_deref(), Some("HTTP 502\n<h1>down</h1>"));
}
