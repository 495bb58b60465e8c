//! Reads a stream of events as any client would.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::{TRACK, path};
use crate::harness::Gateway;

/// How long something may take that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Told {
    /// The event's number in its feed.
    pub(super) fn number(&self) -> u64 {
        let id = self.id.as_ref().expect("an identifier");
        id.rsplit('-').next().and_then(|number| number.parse().ok()).expect("a number")
    }
}

/// A stream that is read. Dropped, its connection is cut.
pub(crate) struct Reader {
    response: reqwest::Response,
    rest: Vec<u8>,
    events: VecDeque<Told>,
    /// Comments so far.
    pub(super) heartbeats: usize,
    /// The last word on when to come back, milliseconds.
    pub(super) retry: Option<u64>,
}

impl Reader {
    /// Posts, and reads the answer, which must be a stream.
    pub(super) async fn open(gateway: &Gateway, path: &str, body: &Value, headers: &[(&str, &str)]) -> Self {
        Self::of(post(gateway, path, body, headers).await, gateway).await
    }

    /// Asks for the changes of orders, with a token and after an event.
    pub(crate) async fn changes(gateway: &Gateway, token: &str, last: Option<&Told>) -> Self {
        let url = format!("{}/api/v1/orders/events", gateway.server.url);
        let request = reqwest::Client::new().get(url).bearer_auth(token).header("accept", "text/event-stream");
        let request = match last.and_then(|last| last.id.as_deref()) {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        Self::of(request.send().await.expect("the gateway answers"), gateway).await
    }

    async fn of(response: reqwest::Response, gateway: &Gateway) -> Self {
        let status = response.status();
        if status != 200 {
            panic!("{status}: {}\n{}", response.text().await.unwrap_or_default(), gateway.log());
        }
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { response, rest: Vec::new(), events: VecDeque::new(), heartbeats: 0, retry: None }
    }

    /// Follows an order from the newest answer on.
    pub(super) async fn follow(gateway: &Gateway, reference: &str) -> Self {
        Self::open(gateway, &path(&format!("tools/{TRACK}/stream")), &super::of_order(reference), &[]).await
    }

    /// Follows an order after an event.
    pub(super) async fn follow_after(gateway: &Gateway, reference: &str, last: &Told) -> Self {
        let id = last.id.as_deref().expect("an identifier");
        let headers = [("last-event-id", id)];
        Self::open(gateway, &path(&format!("tools/{TRACK}/stream")), &super::of_order(reference), &headers).await
    }

    /// The next event; none where the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(told) = self.events.pop_front() {
                return Some(told);
            }
            if !self.read().await {
                return None;
            }
        }
    }

    /// The next event, which must be of this kind.
    pub(crate) async fn expect(&mut self, event: &str) -> Told {
        let told = self.next().await.expect("another event");
        assert_eq!(told.event, event, "{told:?}");
        told
    }

    /// Waits until so many comments have come.
    pub(super) async fn until_heartbeats(&mut self, count: usize) {
        while self.heartbeats < count {
            assert!(self.read().await, "the stream is over");
        }
    }

    /// Takes what comes next. Whether anything did.
    async fn read(&mut self) -> bool {
        let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("something comes");
        let Some(chunk) = chunk.expect("the stream is whole") else { return false };
        self.rest.extend_from_slice(&chunk);
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.rest.drain(..end + 2).collect();
            self.take(std::str::from_utf8(&block).expect("UTF-8"));
        }
        true
    }

    fn take(&mut self, block: &str) {
        let (mut id, mut event, mut data) = (None, None, Vec::new());
        for line in block.lines().filter(|line| !line.is_empty()) {
            match line.split_once(": ").expect("a field") {
                ("", _) => self.heartbeats += 1,
                ("id", value) => id = Some(value.to_owned()),
                ("event", value) => event = Some(value.to_owned()),
                ("data", value) => data.push(value),
                ("retry", value) => self.retry = Some(value.parse().expect("a number")),
                other => panic!("unexpected: {other:?}"),
            }
        }
        if let Some(event) = event {
            let data = serde_json::from_str(&data.join("\n")).expect("JSON");
            self.events.push_back(Told { id, event, data });
        }
    }
}

/// Posts as the orchestrator.
pub(super) async fn post(gateway: &Gateway, path: &str, body: &Value, headers: &[(&str, &str)]) -> reqwest::Response {
    let url = format!("{}{path}", gateway.server.url);
    let mut request = reqwest::Client::new().post(url).bearer_auth(gateway.orchestrator_token()).json(body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("the gateway answers")
}
