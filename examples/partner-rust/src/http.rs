//! The HTTP side: one MCP endpoint at `/mcp`, a body limit, and the bearer check when a token is set.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::{SessionManager, local::LocalSessionManager},
};
use serde::Deserialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    refusal::{PlatformCode, Refusal},
    server::PartnerServer,
};

/// The largest request body, in bytes. A search is about 1 KB.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// Sessions that may be open at a time; idle ones end after rmcp's five minutes.
const MAX_SESSIONS: usize = 1_000;
/// How long open answers may take to finish after a stop signal.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// What a client of an open session sends.
const SESSION_HEADER: &str = "mcp-session-id";
/// Methods that need no sign-in even when a token is set: the platform's probe uses them.
const OPEN_METHODS: &[&str] = &["initialize", "ping", "server/discover", "tools/list"];
/// Notifications carry nothing worth guarding, and a client sends one before its first call.
const OPEN_METHOD_PREFIX: &str = "notifications/";

/// How the endpoint answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    /// Plain JSON answers where possible, instead of an event stream. Stateless mode only.
    pub(crate) json_response: bool,
    /// Hand out an `Mcp-Session-Id` on initialize and demand it afterwards.
    pub(crate) sessions: bool,
}

/// A bearer token that never shows itself.
#[derive(Clone)]
pub(crate) struct Token(Arc<str>);

impl From<String> for Token {
    fn from(token: String) -> Self {
        Self(token.into())
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// Whether the request carries this token as its bearer. Takes the same time for every guess.
    fn is_borne_by(&self, headers: &axum::http::HeaderMap) -> bool {
        headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "))
            .is_some_and(|given| given.ct_eq(self.0.as_bytes()).into())
    }
}

/// The sessions that clients have opened.
#[derive(Clone, Default)]
pub(crate) struct Sessions(Arc<LocalSessionManager>);

impl Sessions {
    /// Ends those that are open: rmcp takes one that is dropped for a fault.
    async fn close(&self) {
        let open: Vec<_> = self.0.sessions.read().await.keys().cloned().collect();
        for session in open {
            if let Err(error) = self.0.close_session(&session).await {
                tracing::debug!(%error, "a session had ended already");
            }
        }
    }
}

/// The partner's routes. `stop` ends open streams.
pub(crate) fn router(
    server: PartnerServer,
    mode: Mode,
    token: Option<Token>,
    address: SocketAddr,
    sessions: &Sessions,
    stop: CancellationToken,
) -> Router {
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(mode.sessions)
        .with_json_response(mode.json_response)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(stop);
    if !address.ip().is_loopback() {
        // The host check keeps web pages from reaching a server on the user's own machine. Behind a
        // public name it is the reverse proxy's job.
        config = config.disable_allowed_hosts();
    }
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), sessions.0.clone(), config);
    let router = Router::new().route_service("/mcp", mcp).layer(from_fn_with_state(sessions.clone(), cap_sessions));
    match token {
        Some(token) => router.layer(from_fn_with_state(token, guard)),
        None => router,
    }
}

/// Serves until `stop` is cancelled, then lets open answers finish for [`SHUTDOWN_GRACE`] and ends the sessions.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    sessions: Sessions,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let stopped = stop.clone();
    let drained = axum::serve(listener, router).with_graceful_shutdown(async move { stopped.cancelled().await });
    let overdue = async {
        stop.cancelled().await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
    };
    let served = tokio::select! {
        result = drained => result,
        () = overdue => {
            tracing::warn!("some answers were still open at the end of the grace period");
            Ok(())
        }
    };
    sessions.close().await;
    served
}

/// Refuses a request that would open one session too many.
async fn cap_sessions(State(sessions): State<Sessions>, request: Request, next: Next) -> Response {
    let opens_none = request.headers().contains_key(SESSION_HEADER);
    if opens_none || sessions.0.sessions.read().await.len() < MAX_SESSIONS {
        next.run(request).await
    } else {
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    }
}

/// The two members of a JSON-RPC message that the bearer check needs.
#[derive(Debug, Default, Deserialize)]
struct Envelope {
    #[serde(default)]
    method: String,
    #[serde(default)]
    id: Value,
}

/// Lets a POST pass without the bearer only if its method is an open one.
async fn guard(State(token): State<Token>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || token.is_borne_by(request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    // What cannot be read as one message is not open.
    let envelope: Envelope = serde_json::from_slice(&body).unwrap_or_default();
    let open = OPEN_METHODS.contains(&envelope.method.as_str()) || envelope.method.starts_with(OPEN_METHOD_PREFIX);
    if open { next.run(Request::from_parts(parts, Body::from(body))).await } else { unauthorised(envelope.id) }
}

fn unauthorised(id: Value) -> Response {
    let refusal = Refusal::new(PlatformCode::InvalidAuth, "a valid bearer token is required");
    let body = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": refusal.code.json_rpc_number(),
            "message": refusal.message,
            "data": refusal.data(),
        },
    });
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, Json(body)).into_response()
}
