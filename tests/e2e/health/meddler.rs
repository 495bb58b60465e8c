//! Stands between the gateway and a real partner: passes everything on, and does to the tools' answers what the test
//! says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::client;

/// Largest message passed on, bytes.
const MESSAGE_MAX_BYTES: usize = 4 * 1024 * 1024;

/// What becomes of a tool's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mischief {
    /// It passes as it is.
    None = 0,
    /// Each of its slots gets a forbidden field.
    Forbidden = 1,
    /// It is an HTTP status 503 instead.
    Down = 2,
}

/// A meddler on a port of its own, stopped when dropped.
pub(super) struct Meddler {
    pub(super) url: String,
    state: Arc<Meddling>,
    task: JoinHandle<()>,
}

struct Meddling {
    partner: String,
    client: reqwest::Client,
    mischief: AtomicU8,
    calls: AtomicUsize,
}

impl Meddler {
    /// Stands before the partner at a URL.
    pub(super) async fn before(partner: &str) -> Self {
        let state = Arc::new(Meddling {
            partner: partner.to_owned(),
            client: client(),
            mischief: AtomicU8::new(Mischief::None as u8),
            calls: AtomicUsize::new(0),
        });
        let router = axum::Router::new().fallback(pass_on).with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, state, task }
    }

    pub(super) fn does(&self, mischief: Mischief) {
        self.state.mischief.store(mischief as u8, Ordering::SeqCst);
    }

    /// Tool calls that have arrived.
    pub(super) fn calls(&self) -> usize {
        self.state.calls.load(Ordering::SeqCst)
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The headers that belong to a connection, or to the length of a body that may change.
fn passing(headers: &HeaderMap) -> HeaderMap {
    let own = [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
    let passing = headers.iter().filter(|(name, _)| !own.contains(name));
    passing.map(|(name, value)| (name.clone(), value.clone())).collect()
}

async fn pass_on(State(state): State<Arc<Meddling>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MESSAGE_MAX_BYTES).await.expect("a whole message");
    let is_call = parts.method == Method::POST && body.windows(12).any(|part| part == b"\"tools/call\"");
    let mischief = if is_call { state.mischief.load(Ordering::SeqCst) } else { Mischief::None as u8 };
    state.calls.fetch_add(usize::from(is_call), Ordering::SeqCst);
    if mischief == Mischief::Down as u8 {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let passed = state.client.request(parts.method, &state.partner).headers(passing(&parts.headers)).body(body);
    let answer = passed.send().await.expect("the partner answers");
    let (status, headers) = (answer.status(), passing(answer.headers()));
    let mut bytes = answer.bytes().await.expect("a whole answer");
    if mischief == Mischief::Forbidden as u8 {
        let text = String::from_utf8(bytes.to_vec()).expect("JSON");
        let spoilt = text.replace(r#"\"slot_id\":"#, r#"\"ad_bid\":1,\"slot_id\":"#);
        assert_ne!(spoilt, text, "there are slots");
        bytes = Bytes::from(spoilt);
    }
    (status, headers, Body::from(bytes)).into_response()
}
