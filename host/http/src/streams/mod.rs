//! Answers that come in pieces, as server-sent events (WHATWG HTML, 9.2): following an order, a search that shows what it has
//! while it waits for the rest, the changes of an orchestrator's orders, how far a comparison of versions is, and an
//! export of receipts.
//!
//! Nothing here piles up: an event is written when the reader takes it and not before, and a reader that takes none has its
//! connection closed as an idle one is. What each event holds is described in `docs/streams.md`.

mod body;
mod compare;
mod event;
mod export;
mod follow;
mod orders;
pub(crate) mod schema;
mod search;
mod turns;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use intent_gateway_domain::ports::Timer;
use intent_gateway_routing::following::Following;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;

use crate::App;
use crate::connections::Answering;
use crate::error::{Code, Refusal};

pub(crate) use self::follow::routes;
pub(crate) use self::orders::order_changes;
pub(crate) use self::search::search;

/// Media type of event streams.
pub(crate) const EVENTS: &str = "text/event-stream";
/// Names the last event that a reader has seen.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// What is looked at of an `Accept` header, bytes.
const ACCEPT_MAX_BYTES: usize = 1_024;

/// The streams of the platform team.
pub(crate) fn team_routes() -> OpenApiRouter<Arc<App>> {
    compare::routes().merge(export::routes())
}

/// What the streams work on.
pub struct Streams {
    /// The orders that are followed.
    pub following: Following,
    /// Waits between the snapshots of a search, and between two looks for changes of orders.
    pub timer: Arc<dyn Timer>,
    /// A stream on which nothing else was sent for so long gets a comment.
    pub heartbeat: Duration,
    /// Streams open at once; more are refused as `OVERLOADED`.
    pub max_open: NonZeroU32,
}

/// Streams as handlers see them.
pub(crate) struct Open {
    following: Following,
    timer: Arc<dyn Timer>,
    heartbeat: Duration,
    places: Arc<Semaphore>,
    order_feeds: turns::Turns,
}

impl From<Streams> for Open {
    fn from(Streams { following, timer, heartbeat, max_open }: Streams) -> Self {
        let places = usize::try_from(max_open.get()).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self {
            following,
            timer,
            heartbeat,
            places: Arc::new(Semaphore::new(places)),
            order_feeds: turns::Turns::default(),
        }
    }
}

impl Open {
    /// A place for one more stream.
    fn place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| Refusal::new(Code::Overloaded))
    }
}

/// Whether a caller asks for events. One that takes anything at all does not.
pub(crate) fn wants_events(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|accept| {
        accept.len() <= ACCEPT_MAX_BYTES
            && accept.split(',').any(|range| {
                let mut parts = range.split(';').map(str::trim);
                let is_named = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case(EVENTS));
                // A quality of nothing but zeros takes it back (RFC 9110, 12.4.2).
                let taken_back = parts
                    .filter_map(|part| part.strip_prefix("q="))
                    .any(|quality| quality.bytes().all(|byte| matches!(byte, b'0' | b'.')));
                is_named && !taken_back
            })
    })
}

/// A stream of a page, whose places the pages have.
pub(crate) fn of_page(
    events: BoxStream<'static, Bytes>,
    heartbeat: Duration,
    reading: Option<Answering>,
    draining: CancellationToken,
) -> Response {
    respond(body::EventBody::new(events, heartbeat, reading, None).until(draining))
}

/// The head of a stream, around its body.
fn respond(body: body::EventBody) -> Response {
    let mut response = Response::new(axum::body::Body::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx, and what goes by it, would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_for_those_who_name_them() {
        let wants = |accept: &'static str| {
            wants_events(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]))
        };
        for accept in
            ["text/event-stream", "application/json;q=0.5, Text/Event-Stream ;q=0.9", "text/event-stream;q=0.01"]
        {
            assert!(wants(accept), "{accept}");
        }
        for accept in ["*/*", "text/*", "application/json", "text/event-stream;q=0", "text/event-stream; q=0.000", ""] {
            assert!(!wants(accept), "{accept}");
        }
        assert!(!wants_events(&HeaderMap::new()));
    }
}
