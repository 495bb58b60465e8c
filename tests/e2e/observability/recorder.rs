//! Stands between the gateway and a partner, passes everything on, and keeps the headers of tool calls.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A tool call as it came to the partner.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) headers: HeaderMap,
}

impl Seen {
    /// A header, empty where it is not there.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}

/// A recorder on a port of its own, stopped when dropped.
pub(super) struct Recorder {
    pub(super) url: String,
    state: Arc<Way>,
    task: JoinHandle<()>,
}

struct Way {
    partner: String,
    client: reqwest::Client,
    seen: Mutex<Vec<Seen>>,
}

impl Recorder {
    /// In front of a partner.
    pub(super) async fn before(partner: &str) -> Self {
        let state =
            Arc::new(Way { partner: partner.to_owned(), client: reqwest::Client::new(), seen: Mutex::default() });
        let router = Router::new().fallback(pass).with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, state, task }
    }

    /// The calls of a tool so far.
    pub(super) fn seen(&self, tool: &str) -> Vec<Seen> {
        let seen = self.state.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().filter(|seen| seen.tool == tool).cloned().collect()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(State(way): State<Arc<Way>>, method: Method, headers: HeaderMap, body: Bytes) -> Response {
    if method == Method::GET {
        // The stream on which a partner may speak unasked has no end, and no partner needs one.
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if let Ok(message) = serde_json::from_slice::<Value>(&body)
        && message["method"] == "tools/call"
    {
        let tool = message["params"]["name"].as_str().unwrap_or_default().to_owned();
        let arguments = message["params"]["arguments"].clone();
        let seen = Seen { tool, arguments, headers: headers.clone() };
        way.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
    let mut onward = headers;
    onward.remove(header::HOST);
    onward.remove(header::CONTENT_LENGTH);
    let request = way.client.request(method, &way.partner).headers(onward).body(body);
    let answer = request.send().await.expect("the partner answers");
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    headers.remove(header::TRANSFER_ENCODING);
    (status, headers, answer.bytes().await.expect("to the end")).into_response()
}
