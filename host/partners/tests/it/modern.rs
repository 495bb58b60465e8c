//! Revision 2026-07-28: partners without `initialize`, without sessions, and with arguments repeated in headers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream::{self, StreamExt as _};
use http::Response;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::PartnerClientConfig;
use serde_json::{Value, json};

use crate::harness::*;
use crate::probe::probe;

fn answer(seen: &Seen, key: &str, value: &Value) -> Response<Body> {
    json_response(&json!({"jsonrpc": "2.0", "id": seen.message["id"], key: value}))
}

fn refuse(seen: &Seen, code: i64) -> Response<Body> {
    let mut response = answer(seen, "error", &json!({"code": code, "message": "no"}));
    *response.status_mut() = http::StatusCode::BAD_REQUEST;
    response
}

/// The answer to everything around tool calls, with these tools.
fn lifecycle_with(seen: &Seen, tools: &Value) -> Response<Body> {
    match seen.rpc() {
        "server/discover" => {
            let result = json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "modern", "version": "1"},
                "ttlMs": 0,
                "cacheScope": "private",
            });
            let mut response = answer(seen, "result", &result);
            // A server of both eras may name a session in any answer.
            response.headers_mut().insert("mcp-session-id", "none".parse().expect("a header"));
            response
        }
        "tools/list" => answer(seen, "result", &json!({"resultType": "complete", "tools": tools})),
        "initialize" => answer(seen, "error", &json!({"code": -32601, "message": "no such method"})),
        _ => status(202),
    }
}

/// The tool that is called, with a mark on its argument.
fn marked(mark: &str) -> Value {
    let city = json!({"type": "string", "x-mcp-header": mark});
    json!([{"name": "search", "inputSchema": {"type": "object", "properties": {"city": city}}}])
}

fn unmarked() -> Value {
    json!([{"name": "search", "inputSchema": {"type": "object"}}])
}

/// A partner of this revision alone.
async fn server<F>(tools: Value, script: impl Fn(Seen) -> F + Send + Sync + 'static) -> Server
where
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let (tools, script) = (Arc::new(tools), Arc::new(script));
    Server::scripted(move |seen| {
        let (tools, script) = (Arc::clone(&tools), Arc::clone(&script));
        async move {
            match seen.rpc() {
                "tools/call" => script(seen).await,
                _ => lifecycle_with(&seen, &tools),
            }
        }
    })
    .await
}

#[tokio::test]
async fn how_a_partner_was_opened_is_remembered() {
    let server = server(unmarked(), |seen| async move { json_response(&result(&seen, "{}")) }).await;
    let (client, partner) = (client(), partner("p", &server.url));
    for user in ["one", "two", "three"] {
        let outcome = call_within(&client, &partner, Some(&Secret::new(user)), CALL).await;
        assert_eq!(outcome.as_deref(), Ok("{}"));
    }
    let state = server.state();
    assert_eq!(state.count("initialize"), 1, "what it refuses once is not asked again");
    assert_eq!(state.count("server/discover"), 3, "one for each user");
    assert!(state.seen.iter().all(|seen| seen.header("mcp-session-id").is_none()));
}

#[tokio::test]
async fn a_partner_of_before_is_opened_with_a_discovery_first() {
    type Refusal = fn(&Seen) -> Response<Body>;
    let refusals: [Refusal; 4] = [
        |seen| answer(seen, "error", &json!({"code": -32601, "message": "no such method"})),
        |seen| answer(seen, "result", &json!({})),
        |_| status(400),
        |_| status(404),
    ];
    for (number, refusal) in refusals.into_iter().enumerate() {
        let server = Server::scripted(move |seen| async move {
            match seen.rpc() {
                "server/discover" => refusal(&seen),
                "tools/call" => json_response(&result(&seen, "{}")),
                _ => lifecycle(&seen, Some("s")),
            }
        })
        .await;
        let client = client_with(PartnerClientConfig { discover_first: true, ..Default::default() });
        let partner = partner("p", &server.url);
        for user in ["one", "two"] {
            let outcome = call_within(&client, &partner, Some(&Secret::new(user)), CALL).await;
            assert_eq!(outcome.as_deref(), Ok("{}"), "refusal {number}");
        }
        assert_eq!(server.state().count("server/discover"), 1, "refusal {number}");
        assert_eq!(server.state().count("initialize"), 2, "refusal {number}");
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_closes_its_connection_and_says_no_more() {
    let server = server(unmarked(), |seen| async move {
        if seen.header("authorization").is_some() {
            return json_response(&result(&seen, "{}"));
        }
        events(stream::once(async { Ok(": begun\n\n".to_owned()) }).chain(stream::pending()))
    })
    .await;
    let client = Arc::new(client());
    let partner = partner("p", &server.url);
    let calling = tokio::spawn({
        let (client, partner) = (Arc::clone(&client), Arc::clone(&partner));
        async move { call(&client, &partner).await }
    });
    server.until("the call has arrived", |state| state.count("tools/call") == 1).await;
    let before = server.state().open;
    calling.abort();
    server.until("its connection is closed", |state| state.open < before.max(1)).await;
    let other = call_within(&client, &partner, Some(&Secret::new("user")), CALL).await;
    assert_eq!(other.as_deref(), Ok("{}"));
    assert_eq!(server.state().count("notifications/cancelled"), 0);
}

#[tokio::test]
async fn a_stream_is_not_resumed_and_no_request_of_the_partner_is_answered() {
    let server = server(unmarked(), |seen| async move {
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let place = format!("id: {}\n", seen.message["id"]);
        events(pieces([place + &event(&ping)]))
    })
    .await;
    let outcome = call(&client(), &partner("p", &server.url)).await;
    assert!(matches!(outcome, Err(CallFailure::Unreachable(_))), "{outcome:?}");
    let state = server.state();
    let sent: Vec<_> = state.seen.iter().map(Seen::rpc).collect();
    assert_eq!(sent, ["initialize", "server/discover", "tools/list", "tools/call"]);
}

#[tokio::test]
async fn marked_arguments_are_repeated_in_headers() {
    let server = server(marked("City"), |seen| async move {
        json_response(&result(&seen, seen.header("mcp-param-city").unwrap_or("nothing")))
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    for _ in 0..3 {
        assert_eq!(call(&client, &partner).await.as_deref(), Ok("Pune"));
    }
    assert_eq!(server.state().count("tools/list"), 1);
}

#[tokio::test]
async fn a_tool_with_a_wrong_mark_is_no_tool() {
    let server = server(marked("two words"), |seen| async move { json_response(&result(&seen, "{}")) }).await;
    let outcome = call(&client(), &partner("p", &server.url)).await;
    assert!(matches!(outcome, Err(CallFailure::Protocol(_))), "{outcome:?}");
    assert_eq!(server.state().count("tools/call"), 0);
    let record = probe(&Endpoint::mcp(&server.url), None).await;
    assert!(record.passed() && record.tools.is_empty(), "{record:?}");
    assert!(record.notes.iter().any(|note| note.contains("`search` is passed over")), "{:?}", record.notes);
}

#[tokio::test]
async fn a_tool_whose_marks_have_changed_is_read_again() {
    let lists = Arc::new(AtomicUsize::new(0));
    let server = {
        let lists = Arc::clone(&lists);
        Server::scripted(move |seen| {
            let lists = Arc::clone(&lists);
            async move {
                match seen.rpc() {
                    "tools/list" if lists.fetch_add(1, Ordering::SeqCst) == 0 => lifecycle_with(&seen, &unmarked()),
                    "tools/call" if seen.header("mcp-param-city") != Some("Pune") => refuse(&seen, -32_020),
                    "tools/call" => json_response(&result(&seen, "{}")),
                    _ => lifecycle_with(&seen, &marked("City")),
                }
            }
        })
        .await
    };
    let (client, partner) = (client(), partner("p", &server.url));
    assert_eq!(call(&client, &partner).await.as_deref(), Ok("{}"));
    assert_eq!(call(&client, &partner).await.as_deref(), Ok("{}"));
    assert_eq!(server.state().count("tools/list"), 2);
    assert_eq!(server.state().count("tools/call"), 3);
}

#[tokio::test]
async fn a_partner_that_refuses_its_own_marks_is_given_up() {
    let server = server(marked("City"), |seen| async move { refuse(&seen, -32_020) }).await;
    let outcome = call(&client(), &partner("p", &server.url)).await;
    assert!(matches!(outcome, Err(CallFailure::Protocol(_))), "{outcome:?}");
    assert_eq!(server.state().count("tools/call"), 2);
}

#[tokio::test]
async fn a_partner_that_asks_back_is_refused() {
    let server = server(unmarked(), |seen| async move {
        let asks = json!({"resultType": "input_required", "content": [{"type": "text", "text": "{}"}]});
        answer(&seen, "result", &asks)
    })
    .await;
    let outcome = call(&client(), &partner("p", &server.url)).await;
    assert!(matches!(outcome, Err(CallFailure::Protocol(_))), "{outcome:?}");
}
