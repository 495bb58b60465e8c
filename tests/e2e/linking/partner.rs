//! A partner whose search is open to everybody and whose bookings want a user's own token: it answers 401 without a good one,
//! and writes down which session was used by whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::{client, request, root};

/// What the partner asks of a token.
const SCOPE: &str = "book";
const SESSION: &str = "mcp-session-id";
/// Whose session it is that was opened without a token.
const NOBODY: &str = "nobody";

/// The partner, on a port of its own; stopped when dropped.
pub(crate) struct SignInPartner {
    pub(crate) url: String,
    state: Arc<Desk>,
    task: JoinHandle<()>,
}

struct Desk {
    url: String,
    issuer: String,
    client: reqwest::Client,
    slot: Value,
    /// Who has used each session, by subject.
    sessions: Mutex<BTreeMap<String, BTreeSet<String>>>,
    /// Every token that came, with its subject where it was good.
    tokens: Mutex<BTreeMap<String, Option<String>>>,
    opened: AtomicUsize,
    refused: AtomicUsize,
    booked: AtomicUsize,
}

impl SignInPartner {
    pub(crate) async fn start(issuer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        let state = Arc::new(Desk {
            url: url.clone(),
            issuer: issuer.to_owned(),
            client: client(),
            slot: slot(),
            sessions: Mutex::default(),
            tokens: Mutex::default(),
            opened: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            booked: AtomicUsize::new(0),
        });
        let router = axum::Router::new()
            .route("/mcp", post(answer))
            .route("/.well-known/oauth-protected-resource/mcp", get(metadata))
            .with_state(state.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, state, task }
    }

    /// Subjects by session; that without a token is nobody's.
    pub(crate) fn sessions(&self) -> Vec<BTreeSet<String>> {
        self.state.sessions.lock().expect("sound").values().cloned().collect()
    }

    /// Every token that has come.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.state.tokens.lock().expect("sound").keys().cloned().collect()
    }

    /// The tokens that were good for a subject.
    pub(crate) fn tokens_of(&self, subject: &str) -> Vec<String> {
        let tokens = self.state.tokens.lock().expect("sound");
        let of = tokens.iter().filter(|(_, of)| of.as_deref() == Some(subject));
        of.map(|(token, _)| token.clone()).collect()
    }

    /// Calls that were answered with 401.
    pub(crate) fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }
}

impl Drop for SignInPartner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn sample(name: &str) -> Value {
    let path = root().join("plugins/auto-book-ac-service/samples").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("a sample")).expect("JSON")
}

/// A slot within the window that the harness asks for.
fn slot() -> Value {
    let (mut slot, asked) = (sample("slot.json"), request());
    slot["slot_window"]["start"] = asked["service_preferences"]["preferred_window"]["start"].clone();
    slot["slot_window"]["end"] = asked["service_preferences"]["preferred_window"]["end"].clone();
    slot
}

async fn metadata(State(desk): State<Arc<Desk>>) -> Json<Value> {
    Json(json!({
        "resource": desk.url,
        "authorization_servers": [desk.issuer],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
    }))
}

/// Whom a call is for.
enum Bearer {
    Nobody,
    Subject(String),
    Bad,
}

impl Desk {
    async fn bearer(&self, headers: &HeaderMap) -> Bearer {
        let Some(value) = headers.get(header::AUTHORIZATION) else { return Bearer::Nobody };
        let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let subject = self.subject(token).await;
        self.tokens.lock().expect("sound").insert(token.to_owned(), subject.clone());
        subject.map_or(Bearer::Bad, Bearer::Subject)
    }

    /// The subject of a token that is good, for this partner, and wide enough, as the authorization server tells.
    async fn subject(&self, token: &str) -> Option<String> {
        let ask = || {
            let asked = self.client.post(format!("{}/token/introspection", self.issuer));
            let asked = asked.basic_auth("partner", Some("the-secret-of-the-partner-itself"));
            let body = format!("token={token}&token_type_hint=access_token");
            asked.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body).send()
        };
        // Node gives up idle connections without a word: that says nothing of the token.
        let answer = match ask().await {
            Ok(answer) => answer,
            Err(_) => ask().await.ok()?,
        };
        let told: Value = answer.json().await.ok()?;
        let is_for_this = told["aud"] == json!(self.url) && told["scope"] == json!(SCOPE);
        (told["active"] == true && is_for_this).then(|| told["sub"].as_str().expect("a subject").to_owned())
    }

    fn unauthorized(&self) -> Response {
        self.refused.fetch_add(1, Ordering::SeqCst);
        let metadata = self.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
        let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{SCOPE}\"");
        (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
    }

    fn used(&self, session: &str, subject: &str) {
        let mut sessions = self.sessions.lock().expect("sound");
        sessions.entry(session.to_owned()).or_default().insert(subject.to_owned());
    }

    fn payload(&self, tool: &str, arguments: &Value, subject: &str) -> Value {
        let slot = &self.slot;
        match tool {
            "search_ac_service_slots" => {
                json!({"result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "slots": [slot]})
            }
            "create_ac_service_booking" => {
                let mut booking = sample("booking.json");
                let number = self.booked.fetch_add(1, Ordering::SeqCst);
                booking["booking_id"] = json!(format!("booking-{number}-of-{subject}"));
                booking["slot_id"] = arguments["slot_id"].clone();
                booking["scheduled_start"] = slot["slot_window"]["start"].clone();
                booking["estimated_completion"] = slot["slot_window"]["end"].clone();
                booking["echoed_subject"] = json!(subject);
                booking
            }
            "cancel_ac_service_booking" => {
                let mut cancelled = sample("cancellation.json");
                cancelled["booking_id"] = arguments["booking_id"].clone();
                cancelled["echoed_subject"] = json!(subject);
                cancelled
            }
            other => panic!("no tool {other}"),
        }
    }
}

async fn answer(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).expect("the gateway sends JSON");
    let bearer = match desk.bearer(&headers).await {
        Bearer::Bad => return desk.unauthorized(),
        Bearer::Nobody => None,
        Bearer::Subject(subject) => Some(subject),
    };
    let subject = bearer.as_deref().unwrap_or(NOBODY);
    let id = message["id"].clone();
    let result = |result: Value| Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response();
    if message["method"] == "initialize" {
        let session = format!("session-{}", desk.opened.fetch_add(1, Ordering::SeqCst));
        desk.used(&session, subject);
        let mut response = result(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "sign-in", "version": "1.0.0"}
        }));
        response.headers_mut().insert(SESSION, session.parse().expect("a header"));
        return response;
    }
    let session = headers.get(SESSION).and_then(|value| value.to_str().ok()).unwrap_or("none");
    desk.used(session, subject);
    match message["method"].as_str().unwrap_or_default() {
        "tools/call" => {
            let (tool, arguments) =
                (message["params"]["name"].as_str().expect("a name"), &message["params"]["arguments"]);
            if bearer.is_none() && tool != "search_ac_service_slots" {
                return desk.unauthorized();
            }
            let payload = desk.payload(tool, arguments, subject);
            result(json!({"content": [{"type": "text", "text": payload.to_string()}]}))
        }
        method if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        method => Json(json!({
            "jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": format!("no method {method}")}
        }))
        .into_response(),
    }
}
