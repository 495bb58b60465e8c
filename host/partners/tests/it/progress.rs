//! What a partner tells of a call before it answers: who hears of it, and how much longer the partner may take.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_domain::progress::{Listener, Progress};
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde_json::{Value, json};

use crate::harness::*;

/// Between two words of a partner that goes on telling.
const BEAT: Duration = Duration::from_millis(60);
/// Longer than a beat, and shorter than what such a partner takes as a whole.
const SILENCE: Duration = Duration::from_millis(400);
/// Words that take longer than [`SILENCE`] together.
const WORDS: usize = 12;

/// Everything that was heard.
#[derive(Debug, Default)]
struct Ear(Mutex<Vec<Value>>);

impl Ear {
    fn hear(&self, params: &str) {
        self.0.lock().expect("whole").push(serde_json::from_str(params).expect("JSON"));
    }

    fn heard(&self) -> Vec<Value> {
        self.0.lock().expect("whole").clone()
    }
}

async fn follow(
    client: &PartnerClient,
    partner: &Arc<Partner>,
    ear: &Ear,
    silence: Duration,
) -> Result<String, CallFailure> {
    let hear = |params: &str| ear.hear(params);
    let progress = Progress::new(Listener::new(&hear));
    let call = ToolCall { progress: Some(&progress), ..ToolCall::new("test.follow", "track", "{}", silence) };
    client.call(partner, call).await.map(|answer| answer.text)
}

fn note(method: &str, params: &Value) -> String {
    event(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// A word about the call that `seen` is.
fn word(seen: &Seen, number: usize) -> String {
    let token = &seen.message["params"]["_meta"]["progressToken"];
    note("notifications/progress", &json!({"progressToken": token, "progress": number, "message": "on the way"}))
}

/// Tells [`WORDS`] words at a steady pace, and then what `last` makes of the call.
async fn telling(last: fn(&Seen) -> Option<String>) -> Server {
    Server::with_tool(move |seen| async move {
        let end = last(&seen);
        let words = stream::iter(0..WORDS).then(move |number| {
            let word = word(&seen, number);
            async move {
                tokio::time::sleep(BEAT).await;
                Ok(word)
            }
        });
        match end {
            Some(end) => events(words.chain(stream::iter([Ok(end)])).boxed_sync()),
            None => events(words.chain(stream::pending()).boxed_sync()),
        }
    })
    .await
}

/// Streams of either end, as one type that is `Sync`.
trait BoxedSync: Sized {
    fn boxed_sync(self) -> std::pin::Pin<Box<dyn stream::Stream<Item = std::io::Result<String>> + Send + Sync>>;
}

impl<S: stream::Stream<Item = std::io::Result<String>> + Send + Sync + 'static> BoxedSync for S {
    fn boxed_sync(self) -> std::pin::Pin<Box<dyn stream::Stream<Item = std::io::Result<String>> + Send + Sync>> {
        Box::pin(self)
    }
}

#[tokio::test]
async fn what_a_partner_tells_of_the_call_is_heard_as_it_came_and_nothing_else() {
    let server = Server::with_tool(|seen| async move {
        let token = &seen.message["params"]["_meta"]["progressToken"];
        let foreign = json!({"progressToken": "another call", "progress": 1});
        let large = json!({"progressToken": token, "progress": 2, "message": "x".repeat(20_000)});
        let extra = json!({"progressToken": token, "progress": 0.5, "total": 1, "near": {"lat": 12.97}});
        let as_text = json!({"progressToken": token.to_string(), "progress": 3});
        events(pieces([
            note("notifications/message", &json!({"level": "info", "data": "hello"})),
            note("notifications/progress", &extra) + &note("notifications/progress", &foreign),
            note("notifications/progress", &large) + &note("notifications/progress", &json!([1])),
            note("notifications/progress", &as_text),
            event(&result(&seen, "there")),
        ]))
    })
    .await;
    let ear = Ear::default();
    let answer = follow(&client(), &partner("p", &server.url), &ear, CALL).await;
    assert_eq!(answer.as_deref(), Ok("there"));
    let heard = ear.heard();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert_eq!((&heard[0]["near"]["lat"], &heard[0]["progress"]), (&json!(12.97), &json!(0.5)));
    assert_eq!(heard[1]["progress"], 3, "some servers make a text of the token");
}

#[tokio::test]
async fn a_partner_that_goes_on_telling_has_more_time() {
    let server = telling(|seen| Some(event(&result(seen, "arrived")))).await;
    let ear = Ear::default();
    let answer = follow(&client(), &partner("p", &server.url), &ear, SILENCE).await;
    assert_eq!(answer.as_deref(), Ok("arrived"));
    let numbers: Vec<_> = ear.heard().iter().map(|word| word["progress"].as_u64()).collect();
    assert_eq!(numbers, (0..12).map(Some).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_partner_that_falls_silent_has_not() {
    let server = telling(|_| None).await;
    let ear = Ear::default();
    let answer = follow(&client(), &partner("p", &server.url), &ear, SILENCE).await;
    assert_eq!(answer, Err(CallFailure::Timeout(400)));
    assert_eq!(ear.heard().len(), WORDS);
    // Nobody listens any more, and the partner is told so.
    server.until("the call is given up", |state| state.count("notifications/cancelled") == 1).await;
}

#[tokio::test]
async fn without_somebody_who_listens_nothing_changes() {
    let server = telling(|seen| Some(event(&result(seen, "arrived")))).await;
    let answer = call_within(&client(), &partner("p", &server.url), None, SILENCE).await;
    assert_eq!(answer, Err(CallFailure::Timeout(400)));
}

#[tokio::test]
async fn a_stream_that_breaks_off_goes_on_telling_where_it_was() {
    // More breaks than a stream has that tells nothing.
    const BREAKS: usize = 6;
    let token = Arc::new(Mutex::new(Value::Null));
    let server = Server::scripted(move |seen| {
        let token = Arc::clone(&token);
        async move {
            let piece = |token: &Value, at: usize| {
                let params = json!({"progressToken": token, "progress": at});
                format!("id: {at}\nretry: 1\n{}", note("notifications/progress", &params))
            };
            let at = seen.header("last-event-id").and_then(|id| id.parse::<usize>().ok());
            match (seen.rpc(), at) {
                ("tools/call", _) => {
                    let mine = seen.message["params"]["_meta"]["progressToken"].clone();
                    *token.lock().expect("whole") = mine.clone();
                    events(pieces([piece(&mine, 0)]))
                }
                (_, Some(BREAKS)) => {
                    let id = token.lock().expect("whole").clone();
                    let result = json!({"content": [{"type": "text", "text": "there"}]});
                    events(pieces([event(&json!({"jsonrpc": "2.0", "id": id, "result": result}))]))
                }
                (_, Some(at)) => events(pieces([piece(&token.lock().expect("whole"), at + 1)])),
                _ => lifecycle(&seen, None),
            }
        }
    })
    .await;
    let ear = Ear::default();
    let answer = follow(&client(), &partner("p", &server.url), &ear, CALL).await;
    assert_eq!(answer.as_deref(), Ok("there"));
    let numbers: Vec<_> = ear.heard().iter().map(|word| word["progress"].as_u64()).collect();
    assert_eq!(numbers, (0..=6).map(Some).collect::<Vec<_>>());
}

#[tokio::test]
async fn calls_that_are_listened_to_keep_no_others_waiting() {
    let server = Server::with_tool(|seen| async move {
        match seen.message["params"]["name"].as_str() {
            Some("track") => events(stream::iter([Ok(word(&seen, 1))]).chain(stream::pending()).boxed_sync()),
            _ => json_response(&result(&seen, "found")),
        }
    })
    .await;
    let narrow = PartnerClientConfig {
        max_concurrent_calls_per_partner: 1,
        max_waiting_calls_per_partner: 0,
        ..PartnerClientConfig::default()
    };
    let (client, partner) = (client_with(narrow), partner("p", &server.url));
    let ears: Vec<Ear> = (0..3).map(|_| Ear::default()).collect();
    let listening = join_all(ears.iter().map(|ear| follow(&client, &partner, ear, CALL)));
    tokio::select! {
        outcomes = listening => panic!("nobody answers, but {outcomes:?}"),
        answer = async {
            server.until("all are listened to", |state| state.count("tools/call") == 3).await;
            call(&client, &partner).await
        } => assert_eq!(answer.as_deref(), Ok("found")),
    }
}
