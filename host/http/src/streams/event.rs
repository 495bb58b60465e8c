//! One event as bytes.

use std::fmt::{self, Display};
use std::time::Duration;

use bytes::Bytes;
use intent_gateway_routing::following::End;
use serde::Serialize;
use utoipa::ToSchema;

/// How long a reader waits before it comes back after its connection broke.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// The same when the gateway is shutting down: whoever stands in front of it has found another one by then.
const RETRY_AFTER_SHUTDOWN: Duration = Duration::from_secs(5);
/// Room for an event without much to tell, bytes.
const SMALL_BYTES: usize = 256;

/// What a stream begins with: how soon to come back if it breaks.
pub(super) fn opening() -> Bytes {
    format!("retry: {}\n\n", RETRY.as_millis()).into()
}

/// A comment, which readers skip: the stream is alive.
pub(super) fn heartbeat() -> Bytes {
    Bytes::from_static(b": still here\n\n")
}

/// An event with JSON for data.
pub(super) fn event(name: &str, id: Option<&dyn Display>, data: &impl Serialize, capacity: usize) -> Bytes {
    let mut text = Vec::with_capacity(capacity + SMALL_BYTES);
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    let start = text.len();
    if let Err(error) = serde_json::to_writer(&mut text, data) {
        // Only what was read as JSON before is written here.
        tracing::error!(%error, event = name, "an event did not serialise");
        text.truncate(start);
        text.extend_from_slice(b"null");
    }
    // A partner's JSON stands here as it came and may be laid out over several lines; each is a line of data.
    if text[start..].iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        let data = text.split_off(start);
        let mut lines = data.split(|byte| matches!(byte, b'\n' | b'\r'));
        text.extend_from_slice(lines.next().unwrap_or_default());
        for line in lines.filter(|line| !line.is_empty()) {
            text.extend_from_slice(b"\ndata: ");
            text.extend_from_slice(line);
        }
    }
    text.extend_from_slice(b"\n\n");
    text.into()
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// What it told of has ended.
    Of(End),
    /// The gateway is shutting down.
    Shutdown,
}

/// What the last event of a stream says.
#[derive(Serialize, ToSchema)]
#[schema(as = StreamEnd)]
pub(super) struct Ended {
    /// Why nothing follows: `complete`, `failed`, `unavailable`, `time_limit`, `shutdown`, `overloaded` or `interrupted`.
    reason: &'static str,
    /// Whether it is worth asking again.
    resume: bool,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Of(end) => end.reason(),
            Self::Shutdown => "shutdown",
        })
    }
}

/// The last event of a stream.
pub(super) fn end(id: Option<&dyn Display>, ending: Ending) -> Bytes {
    let (reason, resume) = match ending {
        Ending::Of(end) => (end.reason(), end.may_go_on()),
        Ending::Shutdown => ("shutdown", true),
    };
    let event = event("end", id, &Ended { reason, resume }, 0);
    if ending != Ending::Shutdown {
        return event;
    }
    let mut text = format!("retry: {}\n", RETRY_AFTER_SHUTDOWN.as_millis()).into_bytes();
    text.extend_from_slice(&event);
    text.into()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn text(bytes: Bytes) -> String {
        String::from_utf8(bytes.into()).expect("UTF-8")
    }

    #[test]
    fn data_may_have_lines() {
        let raw = RawValue::from_string("{\r\n  \"a\": 1,\n\n\r\"b\": \"x\\ny\"}".to_owned()).expect("JSON");
        let id = 7;
        assert_eq!(
            text(event("update", Some(&id), &raw, 0)),
            "id: 7\nevent: update\ndata: {\ndata:   \"a\": 1,\ndata: \"b\": \"x\\ny\"}\n\n"
        );
        assert_eq!(text(event("progress", None, &1, 0)), "event: progress\ndata: 1\n\n");
    }

    #[test]
    fn the_end_says_whether_to_come_back() {
        assert_eq!(
            text(end(Some(&"f-9"), Ending::Of(End::Complete))),
            "id: f-9\nevent: end\ndata: {\"reason\":\"complete\",\"resume\":false}\n\n"
        );
        assert_eq!(
            text(end(None, Ending::Shutdown)),
            "retry: 5000\nevent: end\ndata: {\"reason\":\"shutdown\",\"resume\":true}\n\n"
        );
    }
}
