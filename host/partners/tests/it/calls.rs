//! What a good call looks like on the wire, and what each answer becomes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::PartnerClientConfig;
use serde_json::json;
use tokio::sync::Notify;

use crate::harness::*;

#[tokio::test]
async fn a_call_goes_out_as_the_protocol_says_and_its_text_comes_back_as_it_was() {
    let payload = r#"{"slots":[{"price":123456789012345678901234567890,"name":"Pune \"AC\" é\u0041"}]}"#;
    let server = Server::answering(payload).await;
    let (client, partner) = (client(), partner("p", &server.url));
    assert_eq!(call(&client, &partner).await.as_deref(), Ok(payload));

    let state = server.state();
    let rpcs: Vec<_> = state.seen.iter().map(Seen::rpc).collect();
    assert_eq!(rpcs, ["initialize", "notifications/initialized", "tools/call"]);
    let sent = &state.seen[2];
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(sent.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(sent.header("user-agent"), Some(concat!("intent-gateway/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(sent.header("accept-encoding"), None);
    assert_eq!(sent.message["params"]["name"], "search");
    assert_eq!(sent.message["params"]["arguments"]["city"], "Pune");
}

#[tokio::test]
async fn calls_share_a_session_and_connections() {
    let server = Server::answering("{}").await;
    let (client, partner) = (client(), partner("p", &server.url));
    assert!(join_all((0..20).map(|_| call(&client, &partner))).await.iter().all(Result::is_ok));
    let accepted = server.state().accepted;
    assert!(accepted <= 21, "{accepted} connections for 20 calls at once");
    for _ in 0..50 {
        assert!(call(&client, &partner).await.is_ok());
    }
    let state = server.state();
    assert_eq!(state.count("initialize"), 1);
    assert_eq!(state.count("tools/call"), 70);
    assert_eq!(state.accepted, accepted, "further calls open no connection");
}

#[tokio::test]
async fn an_event_stream_may_hold_progress_before_the_answer() {
    let server = Server::with_tool(|seen| async move {
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}});
        let ping = json!({"jsonrpc": "2.0", "id": "p1", "method": "ping"});
        let sampling = json!({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage", "params": {}});
        let answer = event(&result(&seen, "late"));
        let (first, second) = answer.split_at(answer.len() / 2);
        events(pieces([
            ": hello\n\nid: 1\ndata:\n\n".to_owned(),
            event(&progress) + &event(&ping),
            event(&sampling),
            first.to_owned(),
            second.to_owned(),
        ]))
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    for _ in 0..5 {
        assert_eq!(call(&client, &partner).await.as_deref(), Ok("late"));
    }
    let state = server.state();
    let replies: Vec<_> = state.seen.iter().filter(|seen| seen.rpc().is_empty()).map(|seen| &seen.message).collect();
    assert_eq!(replies[0], &json!({"jsonrpc": "2.0", "id": "p1", "result": {}}));
    assert_eq!(replies[1]["id"], 5);
    assert_eq!(replies[1]["error"]["code"], -32601);
    assert!(state.accepted <= 2, "streams that ended give their connection back: {}", state.accepted);
}

#[tokio::test]
async fn a_stream_that_is_kept_open_after_the_answer_holds_nothing_up() {
    let server = Server::with_tool(|seen| async move {
        events(stream::once(async move { Ok(event(&result(&seen, "there"))) }).chain(stream::pending()))
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    assert_eq!(call(&client, &partner).await.as_deref(), Ok("there"));
    server.until("the stream is let go", |state| state.open <= 1).await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_resumed_where_the_server_allows_it() {
    let server = Server::scripted(|seen| async move {
        match (seen.rpc(), seen.header("last-event-id")) {
            ("tools/call", _) => {
                let place = &seen.message["id"];
                events(pieces([format!("id: {place}\nretry: 1\ndata:\n\ndata: {{\"cut")]))
            }
            (_, Some(place)) => {
                let result = json!({"content": [{"type": "text", "text": "resumed"}]});
                events(pieces([event(&json!({"jsonrpc": "2.0", "id": place, "result": result}))]))
            }
            _ => lifecycle(&seen, None),
        }
    })
    .await;
    assert_eq!(call(&client(), &partner("p", &server.url)).await.as_deref(), Ok("resumed"));
}

#[tokio::test]
async fn results_and_errors_become_payloads_and_failures() {
    let platform = |code: &str, message: &str, field: Option<&str>| CallFailure::Platform {
        code: code.to_owned(),
        message: message.to_owned(),
        field: field.map(str::to_owned),
    };
    let text_alone = |message: &str| CallFailure::UnknownCode { sent: None, message: message.to_owned() };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let long = "x".repeat(1_000);
    let cases = [
        (json!({"result": {"content": text("a")}}), Ok("a".to_owned())),
        (
            json!({"result": {"content": [{"type": "image", "data": "AA=="}, {"text": "b", "type": "text"}, 5]}}),
            Ok("b".into()),
        ),
        (json!({"result": {"content": [], "structuredContent": {"slots": [1.50]}}}), Ok(r#"{"slots":[1.5]}"#.into())),
        (json!({"result": {"content": text("t"), "structuredContent": {"s": 1}, "isError": false}}), Ok("t".into())),
        (
            json!({"error": {"code": -32050, "message": "no", "data": {"platform_error_code": "SLOT_GONE", "platform_field": "slot_id"}}}),
            Err(platform("SLOT_GONE", "no", Some("slot_id"))),
        ),
        (
            json!({"error": {"code": -32050, "message": "no", "data": {"platform_error_code": "slot gone"}}}),
            Err(platform("slot gone", "no", None)),
        ),
        (
            json!({"error": {"code": -32000, "message": "no", "data": {"platform_error_code": 7}}}),
            Err(platform("7", "no", None)),
        ),
        (json!({"error": {"code": -32600, "message": long}}), Err(platform("INVALID_REQUEST", &"x".repeat(300), None))),
        (json!({"error": {"code": -32601, "message": "a\u{0}\nb"}}), Err(platform("METHOD_NOT_FOUND", "ab", None))),
        (json!({"error": {"code": -32602}}), Err(platform("INVALID_REQUEST", "", None))),
        (json!({"error": {"code": -32603, "message": "m"}}), Err(platform("INTERNAL_ERROR", "m", None))),
        (json!({"error": {"code": -32000, "message": "m"}}), Err(CallFailure::Unauthorized)),
        (json!({"error": {"code": -32001, "message": "m"}}), Err(CallFailure::RateLimited { retry_after_ms: None })),
        (json!({"error": {"code": -32002, "message": "m"}}), Err(platform("PARTNER_MAINTENANCE", "m", None))),
        (json!({"error": {"code": 7, "message": "m"}}), Err(text_alone("m"))),
        (json!({"result": {"isError": true, "content": text("it broke")}}), Err(text_alone("it broke"))),
        (
            json!({"result": {"isError": true, "content": text(r#"{"platform_error_code":"SLOT_GONE","message":"gone"}"#)}}),
            Err(platform("SLOT_GONE", "gone", None)),
        ),
        (
            json!({"result": {"isError": true, "content": text("gone"), "structuredContent": {"error": {"message": "x", "data": {"platform_error_code": "SLOT_GONE", "platform_field": "f"}}}}}),
            Err(platform("SLOT_GONE", "x", Some("f"))),
        ),
        (
            json!({"result": {"isError": true, "content": text("slow"), "_meta": {"platform": {"platform_error_code": "RATE_LIMITED"}}}}),
            Err(CallFailure::RateLimited { retry_after_ms: None }),
        ),
    ];
    let (answers, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    let answers = Arc::new(Mutex::new(answers.into_iter()));
    let server = Server::with_tool(move |seen| {
        let answer = answers.lock().expect("no panic").next();
        async move {
            let mut answer = answer.expect("one call for each case");
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = seen.message["id"].clone();
            json_response(&answer)
        }
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    for (number, expected) in expected.into_iter().enumerate() {
        assert_eq!(call(&client, &partner).await, expected, "case {number}");
    }
}

#[tokio::test]
async fn http_statuses_become_failures() {
    let cases: [(u16, Option<&str>, CallFailure); 12] = [
        (401, None, CallFailure::Unauthorized),
        (403, None, CallFailure::Unauthorized),
        (429, None, CallFailure::RateLimited { retry_after_ms: Some(7_000) }),
        (404, None, CallFailure::HttpStatus(404)),
        (500, None, CallFailure::HttpStatus(500)),
        (503, Some("no JSON"), CallFailure::HttpStatus(503)),
        (302, None, CallFailure::Redirect(302)),
        (308, None, CallFailure::Redirect(308)),
        // The error object says more than the status.
        (
            503,
            Some(
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"m","data":{"platform_error_code":"PARTNER_MAINTENANCE"}}}"#,
            ),
            CallFailure::Platform { code: "PARTNER_MAINTENANCE".into(), message: "m".into(), field: None },
        ),
        // So it does where number and status are of one row of the platform's table, and not where they are of two.
        (
            503,
            Some(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"m"}}"#),
            CallFailure::Platform { code: "PARTNER_MAINTENANCE".into(), message: "m".into(), field: None },
        ),
        (
            500,
            Some(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"m"}}"#),
            CallFailure::HttpStatus(500),
        ),
        // A server's own number without a platform code says less.
        (
            400,
            Some(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#),
            CallFailure::HttpStatus(400),
        ),
    ];
    for (code, body, expected) in cases {
        let server = Server::with_tool(move |_| async move {
            let mut response = body.map_or_else(|| status(code), raw_json);
            *response.status_mut() = code.try_into().expect("a status");
            response.headers_mut().insert("retry-after", "7".parse().expect("a header"));
            response.headers_mut().insert("location", "http://169.254.169.254/".parse().expect("a header"));
            response
        })
        .await;
        let (client, partner) = (client(), partner("p", &server.url));
        assert_eq!(call(&client, &partner).await, Err(expected.clone()));
        // The answer to an error does not cost its connection.
        assert_eq!(call(&client, &partner).await, Err(expected));
        assert_eq!(server.state().accepted, 1, "status {code}");
    }
}

#[tokio::test]
async fn a_partner_that_wants_a_sign_in_says_where() {
    const CHALLENGE: &str = r#"Bearer resource_metadata="https://p.example/meta", scope="book""#;
    const STEP_UP: &str = r#"Bearer error="insufficient_scope", scope="book pay""#;
    for (at, code, challenge) in
        [("tools/call", 401, CHALLENGE), ("initialize", 401, CHALLENGE), ("tools/call", 403, STEP_UP)]
    {
        let server = Server::scripted(move |seen| async move {
            if seen.rpc() != at {
                return lifecycle(&seen, None);
            }
            let mut response = status(code);
            response.headers_mut().insert("www-authenticate", challenge.parse().expect("a header"));
            response
        })
        .await;
        let outcome = call(&client(), &partner("p", &server.url)).await;
        let expected = CallFailure::SignInRequired { challenge: challenge.to_owned() };
        assert_eq!(outcome, Err(expected.clone()), "{at}");
        assert_eq!(expected.code(), "SIGN_IN_REQUIRED");
        assert!(!expected.to_string().contains("p.example"), "what is shown does not repeat it");
    }
}

/// However many users call, in whichever revision and however answered: one call after the other needs one connection.
#[tokio::test]
async fn no_connection_is_opened_for_a_call() {
    let server = Server::with_tool(|seen| async move {
        let answer = result(&seen, "{}");
        let number = seen.message["id"].as_i64().expect("a number");
        if number % 2 == 0 { json_response(&answer) } else { events(pieces([event(&answer)])) }
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    let users: Vec<_> = (0..5).map(|user| Secret::new(format!("user-{user}"))).collect();
    for turn in 0..100 {
        assert!(call_within(&client, &partner, users.get(turn % 6), CALL).await.is_ok());
    }
    let state = server.state();
    assert_eq!(state.count("initialize"), 6, "a session for each user, and one for nobody");
    assert_eq!(state.count("tools/call"), 100);
    assert!(state.accepted <= 5, "{} connections for 100 calls one after the other", state.accepted);
}

#[tokio::test]
async fn arguments_must_be_an_object() {
    let server = Server::answering("{}").await;
    let (client, partner) = (client(), partner("p", &server.url));
    for arguments in ["", "[]", "5", "{", "{} {}"] {
        let call = ToolCall::new("test.search", "search", arguments, CALL);
        assert!(matches!(client.call(&partner, call).await, Err(CallFailure::Payload(_))), "{arguments}");
    }
    assert_eq!(server.state().accepted, 0);
}

#[tokio::test]
async fn calls_beyond_the_bound_wait_and_then_fail_as_busy() {
    let (held, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = {
        let (held, release) = (Arc::clone(&held), Arc::clone(&release));
        Server::with_tool(move |seen| {
            let (held, release) = (Arc::clone(&held), Arc::clone(&release));
            async move {
                held.notify_one();
                release.notified().await;
                json_response(&result(&seen, "{}"))
            }
        })
        .await
    };
    let config = PartnerClientConfig {
        max_concurrent_calls_per_partner: 1,
        max_waiting_calls_per_partner: 1,
        ..Default::default()
    };
    let client = Arc::new(client_with(config));
    let partner = partner("p", &server.url);
    let first = tokio::spawn({
        let (client, partner) = (Arc::clone(&client), Arc::clone(&partner));
        async move { call(&client, &partner).await }
    });
    held.notified().await;
    let brief = Duration::from_millis(200);
    let (waiting, refused) =
        tokio::join!(biased; call_within(&client, &partner, None, brief), call_within(&client, &partner, None, CALL));
    assert_eq!(waiting, Err(CallFailure::Busy), "the place in the queue ran out of time");
    assert_eq!(refused, Err(CallFailure::Busy), "the queue was full");
    release.notify_one();
    assert_eq!(first.await.expect("no panic").as_deref(), Ok("{}"));
    release.notify_one();
    assert_eq!(call(&client, &partner).await.as_deref(), Ok("{}"));
}

/// What the partner said, whole and in its own words, goes to whoever listens, and into no failure.
#[tokio::test]
async fn what_a_partner_writes_in_place_of_an_answer_is_for_who_listens() {
    let rpc = |mut answer: serde_json::Value| {
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = serde_json::Value::Null;
        answer.to_string()
    };
    let long = "why ".repeat(200);
    let cases = [
        (
            500,
            "text/html",
            "<h1>no such table: slots</h1>".to_owned(),
            "HTTP 500\n<h1>no such table: slots</h1>".to_owned(),
        ),
        (
            429,
            "application/json",
            r#"{"retry": "tomorrow"}"#.to_owned(),
            "HTTP 429\n{\"retry\": \"tomorrow\"}".to_owned(),
        ),
        (401, "text/plain", "wrong key".to_owned(), "HTTP 401\nwrong key".to_owned()),
        (200, "text/html", "<h1>back soon</h1>".to_owned(), "HTTP 200\n<h1>back soon</h1>".to_owned()),
        (
            200,
            "application/json",
            rpc(json!({"error": {"code": -32000, "message": long, "data": {"hint": 1.50}}})),
            format!(r#"{{"code": -32000, "message": "{long}", "data": {{"hint":1.5}}}}"#),
        ),
        (
            200,
            "application/json",
            rpc(json!({"result": {"isError": true, "content": [{"type": "text", "text": long}]}})),
            long.clone(),
        ),
    ];
    for (code, media_type, body, expected) in cases {
        let server = Server::with_tool(move |seen| {
            let body = body.replace("\"id\":null", &format!("\"id\":{}", seen.message["id"]));
            async move {
                let mut response = raw_json(body);
                *response.status_mut() = u16::try_into(code).expect("a status");
                response.headers_mut().insert("content-type", media_type.parse().expect("a header"));
                response
            }
        })
        .await;
        let (client, partner) = (client(), partner("p", &server.url));
        let heard = ErrorText::default();
        let quiet = ToolCall::new("test.search", "search", "{}", Duration::from_secs(5));
        let failure = client.call(&partner, ToolCall { error_text: Some(&heard), ..quiet }).await.expect_err("refused");
        assert_eq!(heard.take().as_deref(), Some(&*expected), "{code}");
        assert_eq!(client.call(&partner, quiet).await.expect_err("refused"), failure, "who listens changes nothing");
        assert_eq!(server.state().accepted, 1, "nor does it cost the connection");
    }
    let server = Server::answering("{}").await;
    let (client, partner, heard) = (client(), partner("p", &server.url), ErrorText::default());
    let call = ToolCall::new("test.search", "search", "{}", Duration::from_secs(5));
    client.call(&partner, ToolCall { error_text: Some(&heard), ..call }).await.expect("answered");
    assert_eq!(heard.take(), None, "an answer is no error");
}
