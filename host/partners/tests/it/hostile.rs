//! Partners that misbehave. Each gets its own failure, in time; a healthy partner is served meanwhile and afterwards;
//! and no connection is left behind.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use http::Response;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::PARTNER_BODY_MAX_BYTES;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde_json::json;
use tokio::net::TcpListener;

use crate::harness::*;

/// The timeout of calls that nothing else ends.
const SHORT: Duration = Duration::from_millis(300);
const SHORT_MS: u64 = 300;

/// Calls a misbehaving partner, then a healthy one, and sees that the first keeps no connection.
async fn endure(server: Server, timeout: Duration) -> CallFailure {
    let client = client();
    let hostile = partner("hostile", &server.url);
    let healthy_server = Server::answering("{}").await;
    let healthy = partner("healthy", &healthy_server.url);
    let (outcome, served) = tokio::join!(call_within(&client, &hostile, None, timeout), call(&client, &healthy));
    let failure = outcome.expect_err("a failure");
    assert_eq!(served.as_deref(), Ok("{}"), "a healthy partner is served meanwhile");
    assert_eq!(call(&client, &healthy).await.as_deref(), Ok("{}"), "and afterwards");
    server.until("at most an idle connection is left", |state| state.open <= 1).await;
    drop(client);
    server.until("no connection outlives the client", |state| state.open == 0).await;
    healthy_server.until("nor with the healthy one", |state| state.open == 0).await;
    failure
}

fn endless(piece: &'static str) -> impl stream::Stream<Item = io::Result<String>> + Send + Sync {
    stream::repeat_with(move || Ok(piece.to_owned()))
}

#[tokio::test]
async fn never_answers_a_call() {
    let server = Server::with_tool(|_| std::future::pending::<Response<Body>>()).await;
    assert_eq!(endure(server, SHORT).await, CallFailure::Timeout(SHORT_MS));
}

#[tokio::test]
async fn never_answers_anything() {
    let server = Server::scripted(|_| std::future::pending::<Response<Body>>()).await;
    assert_eq!(endure(server, SHORT).await, CallFailure::Timeout(SHORT_MS));
}

#[tokio::test]
async fn never_ends_its_body() {
    let server = Server::with_tool(move |_| async move {
        with_type("application/json", streamed(pieces(["{\"jsonrpc\"".to_owned()]).chain(stream::pending())))
    })
    .await;
    assert_eq!(endure(server, SHORT).await, CallFailure::Timeout(SHORT_MS));
}

#[tokio::test]
async fn drips_its_body() {
    let server = Server::with_tool(move |_| async move {
        let drops = stream::unfold(tokio::time::interval(Duration::from_millis(10)), |mut ticks| async move {
            ticks.tick().await;
            Some((Ok(" ".to_owned()), ticks))
        });
        with_type("application/json", streamed(drops))
    })
    .await;
    assert_eq!(endure(server, SHORT).await, CallFailure::Timeout(SHORT_MS));
}

#[tokio::test]
async fn declares_a_body_of_100_megabytes() {
    let server = Server::with_tool(move |_| async move {
        let mut response = with_type("application/json", streamed(pieces(["{".to_owned()]).chain(stream::pending())));
        response.headers_mut().insert("content-length", "100000000".parse().expect("a header"));
        response
    })
    .await;
    assert_eq!(endure(server, CALL).await, CallFailure::BodyTooLarge(PARTNER_BODY_MAX_BYTES));
}

#[tokio::test]
async fn sends_a_chunked_body_without_end() {
    let piece: &'static str = "x".repeat(64 * 1024).leak();
    let server =
        Server::with_tool(move |_| async move { with_type("application/json", streamed(endless(piece))) }).await;
    assert_eq!(endure(server, CALL).await, CallFailure::BodyTooLarge(PARTNER_BODY_MAX_BYTES));
}

#[tokio::test]
async fn sends_something_else_than_json_rpc() {
    let bodies = [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "<html>",
        "\u{FEFF}{}",
        r#"{"jsonrpc":"1.0","id":1,"result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":5}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":"text"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":5}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image"}],"structuredContent":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":{"code":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"not yours"}]}}"#,
        r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"nobody's"}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    ];
    for text in bodies {
        // Where the cases say 1, the answer is to the request.
        let answer = |seen: &Seen| text.replace("\"id\":1,", &format!("\"id\":{},", seen.message["id"]));
        let server = Server::with_tool(move |seen| async move { raw_json(answer(&seen)) }).await;
        let failure = call(&client(), &partner("p", &server.url)).await;
        assert!(matches!(failure, Err(CallFailure::Protocol(_))), "{text}: {failure:?}");
        let server =
            Server::with_tool(move |seen| async move { events(pieces([format!("data: {}\n\n", answer(&seen))])) })
                .await;
        let failure = call(&client(), &partner("p", &server.url)).await;
        let in_events = matches!(failure, Err(CallFailure::Protocol(_) | CallFailure::Unreachable(_)));
        assert!(in_events, "as an event: {text}: {failure:?}");
    }
    let server = Server::with_tool(move |_| async move {
        raw_json(&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\xFF\"}}"[..])
    })
    .await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Protocol(_)));
}

#[tokio::test]
async fn reports_of_its_nonsense_stay_short() {
    let server = Server::with_tool(|seen| async move {
        let nonsense = "y".repeat(1_000_000);
        json_response(&json!({"jsonrpc": "2.0", "id": seen.message["id"], "result": {"content": nonsense}}))
    })
    .await;
    let CallFailure::Protocol(reason) = endure(server, CALL).await else { panic!("another failure") };
    assert!(reason.len() <= 300, "{} bytes", reason.len());
}

#[tokio::test]
async fn sends_another_content_type() {
    for media_type in ["text/html", "text/plain", "application/json-seq", ""] {
        let server = Server::with_tool(move |seen| async move {
            with_type(media_type, streamed(pieces([result(&seen, "{}").to_string()])))
        })
        .await;
        assert!(matches!(endure(server, CALL).await, CallFailure::Protocol(_)), "{media_type}");
    }
}

#[tokio::test]
async fn accepts_a_call_without_answering() {
    let server = Server::with_tool(move |_| async move { status(202) }).await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Protocol(_)));
}

#[tokio::test]
async fn compresses_without_being_asked() {
    let server = Server::with_tool(|seen| async move {
        let mut response = json_response(&result(&seen, "{}"));
        response.headers_mut().insert("content-encoding", "gzip".parse().expect("a header"));
        response
    })
    .await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Protocol(_)));
}

#[tokio::test]
async fn fails_with_500() {
    let server = Server::scripted(|_| async { status(500) }).await;
    assert_eq!(endure(server, CALL).await, CallFailure::HttpStatus(500));
}

#[tokio::test]
async fn redirects_to_a_private_address() {
    let target = Server::answering("{}").await;
    let location = target.url.clone();
    let server = Server::scripted(move |_| {
        let location = location.clone();
        async move {
            let mut response = status(307);
            response.headers_mut().insert("location", location.parse().expect("a header"));
            response
        }
    })
    .await;
    assert_eq!(endure(server, CALL).await, CallFailure::Redirect(307));
    assert_eq!(target.state().accepted, 0, "the redirect is not followed");
}

#[tokio::test]
async fn breaks_off_within_a_body() {
    let cut = || pieces(["{\"jsonrpc\":".to_owned()]).chain(stream::iter([Err(io::Error::other("gone"))]));
    let server = Server::with_tool(move |_| async move { with_type("application/json", streamed(cut())) }).await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Unreachable(_)));
    let server = Server::with_tool(move |_| async move { events(cut()) }).await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Unreachable(_)));
    // It ends in order, but without the answer.
    let server = Server::with_tool(move |_| async move { events(pieces(["data: {\"jsonrpc\"".to_owned()])) }).await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Unreachable(_)));
}

#[tokio::test]
async fn closes_every_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let closing = tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    assert!(matches!(call(&client(), &partner("p", &url)).await, Err(CallFailure::Unreachable(_))));
    closing.abort();
    // Awaiting it makes sure that the port is closed.
    assert!(closing.await.is_err());
    assert!(matches!(call(&client(), &partner("p", &url)).await, Err(CallFailure::Unreachable(_))));
}

#[tokio::test]
async fn streams_silence() {
    let server = Server::with_tool(move |_| async move { events(stream::pending()) }).await;
    assert_eq!(endure(server, SHORT).await, CallFailure::Timeout(SHORT_MS));
}

#[tokio::test]
async fn streams_comments_without_end() {
    let piece: &'static str = format!(":{}\n", "x".repeat(64 * 1024)).leak();
    let server = Server::with_tool(move |_| async move { events(endless(piece)) }).await;
    assert!(matches!(endure(server, CALL).await, CallFailure::BodyTooLarge(_)));
}

#[tokio::test]
async fn floods_with_notifications() {
    let note: &'static str = event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})).leak();
    let server = Server::with_tool(move |_| async move { events(endless(note)) }).await;
    assert!(matches!(endure(server, CALL).await, CallFailure::Protocol(_)));
}

#[tokio::test]
async fn sends_a_gigantic_event() {
    let piece: &'static str = "x".repeat(64 * 1024).leak();
    let server =
        Server::with_tool(move |_| async move { events(pieces(["data: ".to_owned()]).chain(endless(piece))) }).await;
    assert_eq!(endure(server, CALL).await, CallFailure::BodyTooLarge(PARTNER_BODY_MAX_BYTES));
}

#[tokio::test]
async fn ends_a_stream_again_and_again() {
    let server = Server::scripted(|seen| async move {
        match (seen.rpc(), seen.header("last-event-id")) {
            ("tools/call", _) | (_, Some(_)) => events(pieces(["id: 1\nretry: 0\ndata:\n\n".to_owned()])),
            _ => lifecycle(&seen, None),
        }
    })
    .await;
    let (client, partner) = (client(), partner("p", &server.url));
    let failure = call(&client, &partner).await;
    assert!(matches!(failure, Err(CallFailure::Unreachable(_))), "{failure:?}");
    let resumed = server.state().seen.iter().filter(|seen| seen.header("last-event-id").is_some()).count();
    assert_eq!(resumed, 3);
}

#[tokio::test]
async fn refuses_to_initialize() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"down"}}"#, "INTERNAL_ERROR"),
        (r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32002,"message":"down"}}"#, "PARTNER_MAINTENANCE"),
        (r#"{"jsonrpc":"2.0","id":0,"result":{"hello":1}}"#, "PARTNER_PROTOCOL_ERROR"),
        (r#"{"jsonrpc":"2.0","id":9,"result":{}}"#, "PARTNER_PROTOCOL_ERROR"),
    ];
    for (answer, code) in cases {
        let server = Server::scripted(move |_| async move { raw_json(answer) }).await;
        assert_eq!(endure(server, CALL).await.code(), code, "{answer}");
    }
}

#[tokio::test]
async fn names_a_host_that_resolves_to_a_private_address() {
    let config = PartnerClientConfig::default();
    for address in ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1"] {
        let resolver = Arc::new(ResolvesTo(address.parse().expect("an address")));
        let client = PartnerClient::with_resolver(&config, resolver).expect("valid settings");
        let outcome = call(&client, &partner("p", "https://rebinding.example/mcp")).await;
        assert!(matches!(outcome, Err(CallFailure::AddressRefused(_))), "{address}: {outcome:?}");
    }
}

#[tokio::test]
async fn names_an_address_that_is_not_allowed() {
    let server = Server::answering("{}").await;
    let strict = PartnerClient::new(&PartnerClientConfig::default()).expect("valid settings");
    let secure = server.url.replace("http://", "https://");
    for url in [&server.url, &secure, "https://10.0.0.1/mcp", "https://[::1]/mcp", "ftp://a.example", "nonsense"] {
        let outcome = call(&strict, &partner("p", url)).await;
        assert!(matches!(outcome, Err(CallFailure::AddressRefused(_))), "{url}: {outcome:?}");
    }
    assert_eq!(server.state().accepted, 0);
}
