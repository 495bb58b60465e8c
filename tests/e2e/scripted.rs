//! A partner that answers `tools/call` as the test says: well-formed payloads made to break one rule, and the
//! faults that no real partner would show on demand. Everything else of MCP it does properly.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::PartnerEntry;

/// How the partner answers a tool call.
#[derive(Clone)]
pub(crate) enum Behaviour {
    /// A proper result with this payload as its text.
    Payload(Value),
    /// A proper result with this text, JSON or not.
    Text(String),
    /// A proper result whose payload is computed from the arguments.
    Computed(Arc<dyn Fn(&Value) -> Value + Send + Sync>),
    /// A proper result whose text is made from the arguments.
    Written(Arc<dyn Fn(&Value) -> String + Send + Sync>),
    /// A payload or a JSON-RPC error, as it comes.
    Answers(Arc<Answers>),
    /// A JSON-RPC error: this one.
    Fails(Value),
    /// This body instead of a JSON-RPC message.
    Body(&'static str),
    /// This HTTP status with an empty body.
    Status(u16),
    /// It asks not to be called for so many seconds.
    SlowDown(u32),
    /// A redirect to this address.
    Redirect(String),
    /// No answer, ever.
    Hang,
    /// A body of this many bytes, announced.
    Huge(usize),
    /// A body without end.
    Endless,
    /// A body that breaks off.
    CloseMidBody,
}

/// A payload or a JSON-RPC error for these arguments.
pub(crate) type Answers = dyn Fn(&Value) -> Result<Value, Value> + Send + Sync;

/// A scripted partner on a port of its own, stopped when dropped.
pub(crate) struct Scripted {
    pub(crate) url: String,
    state: Arc<Script>,
    task: JoinHandle<()>,
}

struct Script {
    behaviour: Behaviour,
    calls: AtomicUsize,
}

impl Scripted {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        let state = Arc::new(Script { behaviour, calls: AtomicUsize::new(0) });
        let router = axum::Router::new().route("/mcp", post(answer)).with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, state, task }
    }

    /// A partner whose search payload holds these slots.
    pub(crate) async fn with_slots(slots: Value) -> Self {
        let payload = json!({"result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "slots": slots});
        Self::start(Behaviour::Payload(payload)).await
    }

    pub(crate) fn entry(&self, id: &str) -> PartnerEntry {
        PartnerEntry::new(id, &self.url)
    }

    /// Tool calls that have arrived.
    pub(crate) fn calls(&self) -> usize {
        self.state.calls.load(Ordering::SeqCst)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(script): State<Arc<Script>>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).expect("the gateway sends JSON");
    let id = message["id"].clone();
    let result = |result: Value| axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response();
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => result(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1.0.0"}
        })),
        "tools/call" => {
            script.calls.fetch_add(1, Ordering::SeqCst);
            let content = |text: String| result(json!({"content": [{"type": "text", "text": text}]}));
            match &script.behaviour {
                Behaviour::Payload(payload) => content(payload.to_string()),
                Behaviour::Text(text) => content(text.clone()),
                Behaviour::Computed(compute) => content(compute(&message["params"]["arguments"]).to_string()),
                Behaviour::Written(write) => content(write(&message["params"]["arguments"])),
                Behaviour::Answers(answer) => match answer(&message["params"]["arguments"]) {
                    Ok(payload) => content(payload.to_string()),
                    Err(error) => axum::Json(json!({"jsonrpc": "2.0", "id": id, "error": error})).into_response(),
                },
                Behaviour::Fails(error) => {
                    axum::Json(json!({"jsonrpc": "2.0", "id": id, "error": error})).into_response()
                }
                other => misbehave(other).await,
            }
        }
        method if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        method => axum::Json(json!({
            "jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": format!("no method {method}")}
        }))
        .into_response(),
    }
}

async fn misbehave(behaviour: &Behaviour) -> Response {
    const CHUNK: usize = 64 * 1024;
    let json = |body: Body| ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    let spaces = || Bytes::from(vec![b' '; CHUNK]);
    match behaviour {
        Behaviour::Body(text) => json(Body::from(*text)),
        Behaviour::Status(status) => StatusCode::from_u16(*status).expect("a status").into_response(),
        Behaviour::SlowDown(seconds) => {
            (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds.to_string())]).into_response()
        }
        Behaviour::Redirect(to) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to.clone())]).into_response(),
        Behaviour::Huge(bytes) => {
            let chunks = stream::iter((0..bytes / CHUNK).map(move |_| Ok::<_, Infallible>(spaces())));
            let mut response = json(Body::from_stream(chunks));
            let length = (bytes / CHUNK * CHUNK).to_string().parse().expect("a header");
            response.headers_mut().insert(header::CONTENT_LENGTH, length);
            response
        }
        Behaviour::Endless => json(Body::from_stream(stream::repeat_with(move || Ok::<_, Infallible>(spaces())))),
        Behaviour::CloseMidBody => {
            let start = stream::iter([Ok(Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,"))]);
            let broken = stream::iter([Err(std::io::Error::other("the partner closes"))]);
            json(Body::from_stream(start.chain(broken)))
        }
        _ => std::future::pending().await,
    }
}
