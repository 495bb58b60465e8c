//! A partner whose rides the test drives: when it answers a search, and what it tells of a ride.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

/// How long something may take that must come.
const PATIENCE: Duration = Duration::from_secs(30);
/// Words that a stream may lie behind.
const WORDS_MAX: usize = 4_096;

/// How it answers `track_ride`.
#[derive(Clone)]
pub(super) enum Track {
    /// With this payload.
    Answer(Value),
    /// With an error of this platform code.
    Fail(&'static str),
    /// With a stream of what the test says.
    Stream,
}

/// One word of a stream.
#[derive(Clone, Debug)]
enum Word {
    Progress(Value),
    Answer(Value),
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Calls of `track_ride`.
    pub(super) tracks: usize,
    /// Streams of a ride that are open.
    pub(super) open: usize,
    /// Searches that wait for their answer.
    pub(super) searching: usize,
}

/// A partner on a port of its own, stopped when dropped.
pub(super) struct Partner {
    pub(super) url: String,
    state: Arc<Ride>,
    task: JoinHandle<()>,
}

struct Ride {
    /// The payload of a search.
    found: Value,
    /// Whether searches are answered.
    gate: watch::Sender<bool>,
    track: Mutex<Track>,
    words: broadcast::Sender<Word>,
    counts: watch::Sender<Counts>,
}

impl Partner {
    /// One that offers rides at these fares, `id` before each in its name.
    pub(super) async fn start(id: &str, fares: &[u32]) -> Self {
        let ride = |fare: &u32| json!({"ride_id": format!("{id}-{fare}"), "fare": fare.to_string()});
        let rides: Vec<Value> = fares.iter().map(ride).collect();
        let found =
            json!({"result_token": format!("token-{id}"), "expires_at": "2099-01-01T00:00:00Z", "rides": rides});
        let state = Arc::new(Ride {
            found,
            gate: watch::Sender::new(true),
            track: Mutex::new(Track::Answer(json!({"status": "booked"}))),
            words: broadcast::Sender::new(WORDS_MAX),
            counts: watch::Sender::default(),
        });
        let router = axum::Router::new().route("/mcp", post(answer)).with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, state, task }
    }

    /// Whether searches are answered from now on, those included that wait.
    pub(super) fn open_gate(&self, open: bool) {
        self.state.gate.send_replace(open);
    }

    pub(super) fn track(&self, track: Track) {
        *self.state.track.lock().expect("whole") = track;
    }

    /// Says a word on every stream of a ride.
    pub(super) fn tell(&self, progress: Value) {
        self.state.words.send(Word::Progress(progress)).expect("a stream is open");
    }

    /// Ends every stream of a ride with this answer.
    pub(super) fn end(&self, payload: Value) {
        self.state.words.send(Word::Answer(payload)).expect("a stream is open");
    }

    pub(super) fn counts(&self) -> Counts {
        *self.state.counts.borrow()
    }

    /// Waits until the counts are as wanted.
    pub(super) async fn until(&self, what: &str, mut wanted: impl FnMut(&Counts) -> bool) {
        let mut counts = self.state.counts.subscribe();
        let waited = tokio::time::timeout(PATIENCE, counts.wait_for(|counts| wanted(counts))).await;
        assert!(waited.is_ok(), "waited in vain: {what}; now {:?}", self.counts());
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(ride): State<Arc<Ride>>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).expect("the gateway sends JSON");
    let id = &message["id"];
    let reply = |key: &str, value: Value| axum::Json(json!({"jsonrpc": "2.0", "id": id, key: value})).into_response();
    let arguments = &message["params"]["arguments"];
    match (message["method"].as_str().unwrap_or_default(), message["params"]["name"].as_str().unwrap_or_default()) {
        ("initialize", _) => reply(
            "result",
            json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "rides", "version": "1.0.0"}
            }),
        ),
        ("tools/call", "get_ride_estimates") => {
            let _searching = Counted::new(&ride, |counts| &mut counts.searching);
            let opened = ride.gate.subscribe().wait_for(|open| *open).await.is_ok();
            assert!(opened, "the gate lives as long as the partner");
            reply("result", text(&ride.found))
        }
        ("tools/call", "book_ride") => {
            reply("result", text(&json!({"ride_id": arguments["ride_id"], "status": "booked"})))
        }
        ("tools/call", "track_ride") => {
            ride.counts.send_modify(|counts| counts.tracks += 1);
            let track = ride.track.lock().expect("whole").clone();
            match track {
                Track::Answer(payload) => reply("result", text(&payload)),
                Track::Fail(code) => {
                    let data = json!({"platform_error_code": code});
                    reply("error", json!({"code": -32_010, "message": "as told", "data": data}))
                }
                Track::Stream => stream_of(&ride, &message),
            }
        }
        (method, _) if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        (method, _) => reply("error", json!({"code": -32_601, "message": format!("no method {method}")})),
    }
}

fn text(payload: &Value) -> Value {
    json!({"content": [{"type": "text", "text": payload.to_string()}]})
}

/// What the test says from now on, as notes on the progress of this call, up to its answer.
fn stream_of(ride: &Arc<Ride>, message: &Value) -> Response {
    // What is said once it counts as open is heard.
    let heard = ride.words.subscribe();
    let open = Counted::new(ride, |counts| &mut counts.open);
    let (id, token) = (message["id"].clone(), message["params"]["_meta"]["progressToken"].clone());
    let words = stream::unfold((heard, false), |(mut words, is_over)| async move {
        if is_over {
            return None;
        }
        let word = words.recv().await.ok()?;
        let is_over = matches!(word, Word::Answer(_));
        Some((word, (words, is_over)))
    });
    let events = words.map(move |word| {
        // Counted as open as long as the body lives.
        let _open = &open;
        let message = match word {
            Word::Progress(mut params) => {
                params["progressToken"] = token.clone();
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            }
            Word::Answer(payload) => json!({"jsonrpc": "2.0", "id": id, "result": text(&payload)}),
        };
        Ok::<_, Infallible>(format!("event: message\ndata: {message}\n\n"))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// Counts something that lasts, until it is dropped.
struct Counted {
    ride: Arc<Ride>,
    of: fn(&mut Counts) -> &mut usize,
}

impl Counted {
    fn new(ride: &Arc<Ride>, of: fn(&mut Counts) -> &mut usize) -> Self {
        ride.counts.send_modify(|counts| *of(counts) += 1);
        Self { ride: Arc::clone(ride), of }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let of = self.of;
        self.ride.counts.send_modify(|counts| *of(counts) -= 1);
    }
}
