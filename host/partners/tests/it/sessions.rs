//! Sessions: opened once, shared under one token only, renewed when lost, ended when idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use http::{Method, Response};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::PartnerClientConfig;
use serde_json::json;
use tokio::sync::Notify;

use crate::harness::*;

/// A partner that issues numbered sessions and knows the latest one only.
async fn issuing_sessions(unknown: impl Fn() -> Response<Body> + Send + Sync + 'static) -> (Server, Arc<AtomicUsize>) {
    let issued = Arc::new(AtomicUsize::new(0));
    let unknown = Arc::new(unknown);
    let server = Server::scripted({
        let issued = Arc::clone(&issued);
        move |seen| {
            let (issued, unknown) = (Arc::clone(&issued), Arc::clone(&unknown));
            async move {
                match seen.rpc() {
                    "initialize" => {
                        let number = issued.fetch_add(1, Ordering::SeqCst) + 1;
                        lifecycle(&seen, Some(&format!("session-{number}")))
                    }
                    "tools/call" => {
                        let current = format!("session-{}", issued.load(Ordering::SeqCst));
                        if seen.header("mcp-session-id") == Some(&current) {
                            json_response(&result(&seen, "{}"))
                        } else {
                            unknown()
                        }
                    }
                    _ => lifecycle(&seen, None),
                }
            }
        }
    })
    .await;
    (server, issued)
}

#[tokio::test]
async fn first_calls_at_once_share_one_initialization() {
    let (server, issued) = issuing_sessions(|| status(404)).await;
    let (client, partner) = (client(), partner("p", &server.url));
    let outcomes = join_all((0..32).map(|_| call(&client, &partner))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(issued.load(Ordering::SeqCst), 1);
    assert_eq!(server.state().count("notifications/initialized"), 1);
}

#[tokio::test]
async fn an_initialization_survives_the_caller_that_began_it() {
    let (began, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = {
        let (began, go_on) = (Arc::clone(&began), Arc::clone(&go_on));
        Server::scripted(move |seen| {
            let (began, go_on) = (Arc::clone(&began), Arc::clone(&go_on));
            async move {
                if seen.rpc() == "initialize" {
                    began.notify_one();
                    go_on.notified().await;
                }
                match seen.rpc() {
                    "tools/call" => json_response(&result(&seen, "{}")),
                    _ => lifecycle(&seen, None),
                }
            }
        })
        .await
    };
    let client = Arc::new(client());
    let partner = partner("p", &server.url);
    let first = tokio::spawn({
        let (client, partner) = (Arc::clone(&client), Arc::clone(&partner));
        async move { call(&client, &partner).await }
    });
    began.notified().await;
    let mut second = std::pin::pin!(call(&client, &partner));
    assert!(futures_util::poll!(&mut second).is_pending(), "the second has joined");
    first.abort();
    assert!(first.await.is_err());
    go_on.notify_one();
    assert_eq!(second.await.as_deref(), Ok("{}"));
    assert_eq!(server.state().count("initialize"), 1);
}

#[tokio::test]
async fn a_failed_initialization_is_shared_but_not_kept() {
    let healthy = Arc::new(AtomicUsize::new(0));
    let server = {
        let healthy = Arc::clone(&healthy);
        Server::scripted(move |seen| {
            let up = healthy.load(Ordering::SeqCst) == 1;
            async move {
                match seen.rpc() {
                    _ if !up => status(503),
                    "tools/call" => json_response(&result(&seen, "{}")),
                    _ => lifecycle(&seen, None),
                }
            }
        })
        .await
    };
    let (client, partner) = (client(), partner("p", &server.url));
    let outcomes = join_all((0..32).map(|_| call(&client, &partner))).await;
    assert!(outcomes.iter().all(|outcome| *outcome == Err(CallFailure::HttpStatus(503))), "{outcomes:?}");
    assert_eq!(server.state().count("initialize"), 1, "a partner that is down is not hammered");
    healthy.store(1, Ordering::SeqCst);
    assert_eq!(call(&client, &partner).await.as_deref(), Ok("{}"));
}

#[tokio::test]
async fn a_lost_session_is_renewed_once_within_the_call() {
    let bad_session = || {
        let mut response = json_response(&json!({
            "jsonrpc": "2.0", "id": null,
            "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"},
        }));
        *response.status_mut() = http::StatusCode::BAD_REQUEST;
        response
    };
    // As the official SDK for Python says it.
    let no_session = || {
        let mut response = json_response(&json!({
            "jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Session not found"},
        }));
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        response
    };
    let not_found: fn() -> Response<Body> = || status(404);
    for unknown in [not_found, bad_session, no_session] {
        let (server, issued) = issuing_sessions(unknown).await;
        let (client, partner) = (client(), partner("p", &server.url));
        assert!(call(&client, &partner).await.is_ok());
        // As if the partner had restarted and forgotten it.
        issued.fetch_add(1, Ordering::SeqCst);
        let outcomes = join_all((0..8).map(|_| call(&client, &partner))).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(server.state().count("initialize"), 2);
    }
}

/// 404 in a session is about the session, unless the error says that it is about the call: then it is not sent again.
#[tokio::test]
async fn not_found_in_a_session_may_be_the_answer_to_the_call() {
    for (error, code) in [
        (json!({"code": -32601, "message": "m"}), "METHOD_NOT_FOUND"),
        (json!({"code": -32004, "message": "m", "data": {"platform_error_code": "SLOT_GONE"}}), "SLOT_GONE"),
    ] {
        let server = Server::scripted(move |seen| {
            let answer = json!({"jsonrpc": "2.0", "id": seen.message["id"], "error": error});
            async move {
                if seen.rpc() != "tools/call" {
                    return lifecycle(&seen, Some("s"));
                }
                let mut response = json_response(&answer);
                *response.status_mut() = http::StatusCode::NOT_FOUND;
                response
            }
        })
        .await;
        let expected = CallFailure::Platform { code: code.into(), message: "m".into(), field: None };
        assert_eq!(call(&client(), &partner("p", &server.url)).await, Err(expected));
        let state = server.state();
        assert_eq!((state.count("initialize"), state.count("tools/call")), (1, 1), "{code}");
    }
}

#[tokio::test]
async fn an_opening_announces_tools() {
    let server = Server::answering("{}").await;
    assert!(call(&client(), &partner("p", &server.url)).await.is_ok());
    let state = server.state();
    let opening = state.seen.iter().find(|seen| seen.rpc() == "initialize").expect("an opening");
    let params = &opening.message["params"];
    assert_eq!(params["capabilities"], json!({"tools": {}}));
    assert_eq!(params["protocolVersion"], "2025-11-25");
    assert!(params["clientInfo"]["name"].is_string() && params["clientInfo"]["version"].is_string());
}

#[tokio::test]
async fn a_partner_that_begins_to_hand_out_sessions_is_opened_anew() {
    // As the official SDKs for Python and TypeScript say it, and the templates.
    for (code, message, renewed) in [
        (-32600, "Bad Request: Missing session ID", true),
        (-32000, "Bad Request: Server not initialized", true),
        (-32600, "initialize first", true),
        (-32600, "the vehicle is missing", false),
    ] {
        let wants_session = Arc::new(AtomicUsize::new(0));
        let server = Server::scripted({
            let wants_session = Arc::clone(&wants_session);
            move |seen| {
                let wants_session = wants_session.load(Ordering::SeqCst) > 0;
                async move {
                    match seen.rpc() {
                        "tools/call" if wants_session && seen.header("mcp-session-id") != Some("s") => {
                            let error = json!({"code": code, "message": message});
                            let answer = json!({"jsonrpc": "2.0", "id": seen.message["id"], "error": error});
                            let mut response = json_response(&answer);
                            *response.status_mut() = http::StatusCode::BAD_REQUEST;
                            response
                        }
                        "tools/call" => json_response(&result(&seen, "{}")),
                        _ => lifecycle(&seen, wants_session.then_some("s")),
                    }
                }
            }
        })
        .await;
        let (client, partner) = (client(), partner("p", &server.url));
        assert!(call(&client, &partner).await.is_ok());
        wants_session.store(1, Ordering::SeqCst);
        assert_eq!(call(&client, &partner).await.is_ok(), renewed, "{message}");
        assert_eq!(server.state().count("initialize"), if renewed { 2 } else { 1 }, "{message}");
    }
}

#[tokio::test]
async fn a_partner_that_loses_every_session_is_given_up() {
    let server = Server::scripted(|seen| async move {
        match seen.rpc() {
            "tools/call" => status(404),
            _ => lifecycle(&seen, Some("s")),
        }
    })
    .await;
    let outcome = call(&client(), &partner("p", &server.url)).await;
    assert!(matches!(outcome, Err(CallFailure::Protocol(_))), "{outcome:?}");
    assert_eq!(server.state().count("tools/call"), 2);
}

#[tokio::test]
async fn sessions_and_tokens_are_never_mixed() {
    let sessions = Arc::new(AtomicUsize::new(0));
    let server = Server::scripted({
        let sessions = Arc::clone(&sessions);
        move |seen| {
            let sessions = Arc::clone(&sessions);
            async move {
                let token = seen.header("authorization").unwrap_or("nobody").replace("Bearer ", "");
                match seen.rpc() {
                    "initialize" => {
                        sessions.fetch_add(1, Ordering::SeqCst);
                        lifecycle(&seen, Some(&format!("of-{token}")))
                    }
                    "tools/call" => {
                        assert_eq!(seen.header("mcp-session-id"), Some(format!("of-{token}").as_str()));
                        json_response(&result(&seen, &token))
                    }
                    _ => lifecycle(&seen, None),
                }
            }
        }
    })
    .await;
    let client = client();
    let plain = partner("p", &server.url);
    let with_token = Arc::new(Partner { token: Some(Secret::new("partner")), ..Partner::clone(&plain) });
    let users: Vec<_> = (0..4).map(|number| Secret::new(format!("user-{number}"))).collect();
    let calls = (0..40).map(|turn| {
        let (client, plain, with_token, users) = (&client, &plain, &with_token, &users);
        async move {
            match turn % 6 {
                4 => assert_eq!(call(client, plain).await.as_deref(), Ok("nobody")),
                5 => assert_eq!(call(client, with_token).await.as_deref(), Ok("partner")),
                user => {
                    let outcome = call_within(client, with_token, Some(&users[user]), CALL).await;
                    assert_eq!(outcome.as_deref(), Ok(users[user].expose()));
                }
            }
        }
    });
    join_all(calls).await;
    assert_eq!(sessions.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn a_partner_that_moves_gets_a_new_session() {
    let (old, new) = (Server::answering("old").await, Server::answering("new").await);
    let client = client();
    assert_eq!(call(&client, &partner("p", &old.url)).await.as_deref(), Ok("old"));
    assert_eq!(call(&client, &partner("p", &new.url)).await.as_deref(), Ok("new"));
    assert_eq!(new.state().count("initialize"), 1);
}

#[tokio::test]
async fn an_idle_session_is_ended() {
    let server = Server::scripted(|seen| async move {
        match seen.rpc() {
            "tools/call" => json_response(&result(&seen, "{}")),
            _ => lifecycle(&seen, Some("s")),
        }
    })
    .await;
    let client = client_with(PartnerClientConfig { session_idle_secs: 1, ..Default::default() });
    let partner = partner("p", &server.url);
    assert!(call(&client, &partner).await.is_ok());
    let ended = |seen: &Seen| seen.method == Method::DELETE && seen.header("mcp-session-id") == Some("s");
    server.until("the session is deleted", |state| state.seen.iter().any(ended)).await;
    assert!(call(&client, &partner).await.is_ok());
    assert_eq!(server.state().count("initialize"), 2);
}

#[tokio::test]
async fn a_call_that_is_given_up_ends_its_request_and_says_so() {
    for session in [Some("s"), None] {
        let server = Server::scripted(move |seen| async move {
            match seen.rpc() {
                "tools/call" => std::future::pending().await,
                _ => lifecycle(&seen, session),
            }
        })
        .await;
        let client = Arc::new(client());
        let calling = tokio::spawn({
            let (client, partner) = (Arc::clone(&client), partner("p", &server.url));
            async move { call_within(&client, &partner, Some(&Secret::new("user")), CALL).await }
        });
        server.until("the call has arrived", |state| state.count("tools/call") == 1).await;
        let before = server.state().open;
        calling.abort();
        server.until("its connection is closed", |state| state.open < before.max(2)).await;
        server.until("the partner is told", |state| state.count("notifications/cancelled") == 1).await;
        let state = server.state();
        let seen = |rpc: &str| state.seen.iter().find(|seen| seen.rpc() == rpc).expect("it was seen");
        let (note, call) = (seen("notifications/cancelled"), seen("tools/call"));
        assert_eq!(note.message["params"]["requestId"], call.message["id"]);
        assert_eq!(note.header("mcp-session-id"), session);
        assert_eq!(note.header("authorization"), Some("Bearer user"));
    }
}

#[tokio::test]
async fn no_two_calls_share_a_number() {
    let server = Server::answering("{}").await;
    let clients = [client(), client()];
    let partner = partner("p", &server.url);
    let users = [Secret::new("one"), Secret::new("two")];
    let calls = (0..40).map(|turn| call_within(&clients[turn % 2], &partner, users.get(turn % 3), CALL));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    let state = server.state();
    let numbers: Vec<_> = state.seen.iter().filter(|seen| seen.rpc() == "tools/call").collect();
    let distinct: std::collections::BTreeSet<_> =
        numbers.iter().map(|seen| seen.message["id"].as_i64().expect("a number")).collect();
    assert_eq!(distinct.len(), 40);
    assert!(distinct.iter().all(|number| (1_000_000..1 << 53).contains(number)), "{distinct:?}");
}

#[tokio::test]
async fn a_partner_without_initialize_is_discovered() {
    let server = Server::scripted(|seen| async move {
        let answer = |key: &str, value: serde_json::Value| {
            json_response(&json!({"jsonrpc": "2.0", "id": seen.message["id"], key: value}))
        };
        match seen.rpc() {
            "initialize" => answer("error", json!({"code": -32601, "message": "no such method"})),
            "server/discover" => answer(
                "result",
                json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "modern", "version": "1"},
                    "ttlMs": 0,
                    "cacheScope": "private",
                }),
            ),
            "tools/list" => answer("result", json!({"resultType": "complete", "tools": []})),
            "tools/call" => json_response(&result(&seen, "modern")),
            _ => status(202),
        }
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    assert_eq!(call(&client, &partner).await.as_deref(), Ok("modern"));
    let state = server.state();
    let sent = state.seen.last().expect("a call");
    assert_eq!(sent.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(sent.header("mcp-method"), Some("tools/call"));
    assert_eq!(sent.header("mcp-name"), Some("search"));
    assert_eq!(sent.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
}
