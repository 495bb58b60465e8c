//! Reads on, for a while, what a client still sends of a body after it was answered.
//!
//! A request may be answered before its body has come: it is refused by its head, or there is no place for it. If the
//! connection ended then, the kernel would answer the rest of the body with a reset, which overtakes the answer and takes it away from
//! the client (RFC 9112, 9.6). So the rest is taken and thrown away, within bounds; the connection can be used again. HTTP/2 has
//! a way of its own to say that the rest is not wanted.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::connections::Activity;

/// What is read on of a body, bytes: as much as the largest body that any route takes.
const REST_MAX_BYTES: usize = 64 * 1024 * 1024;
/// For at most this long.
const REST_TIMEOUT: Duration = Duration::from_secs(10);
/// What hyper itself reads on: a body of so many bytes nearly always came in one piece with its head.
const SMALL_BYTES: u64 = 4 * 1024;

/// The body of a request, whose rest is read on if it is dropped before its end.
pub(crate) struct DrainedBody {
    /// None when it was taken over to be read on.
    body: Option<Incoming>,
    /// The connection is in use meanwhile.
    activity: Arc<Activity>,
    /// Whether the client goes on sending whatever it is answered.
    reads_on: bool,
}

impl DrainedBody {
    /// Takes over the body of a request.
    pub(crate) fn of(request: Request<Incoming>, activity: &Arc<Activity>) -> Request<Self> {
        // Who waits to be told to send its body sends none once it is answered.
        let reads_on = request.version() < Version::HTTP_2 && !request.headers().contains_key(header::EXPECT);
        request.map(|body| Self { body: Some(body), activity: activity.clone(), reads_on })
    }
}

impl Body for DrainedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|body| self.reads_on && !body.is_end_stream()) else { return };
        if body.size_hint().exact().is_some_and(|left| left <= SMALL_BYTES) {
            return;
        }
        // A connection is served within a runtime; where there is none, nothing is left to read from.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let in_use = self.activity.ask();
            runtime.spawn(async move {
                // What is beyond the bounds costs the connection.
                let _ = tokio::time::timeout(REST_TIMEOUT, read_on(body)).await;
                drop(in_use);
            });
        }
    }
}

/// Throws away what comes, up to the bound.
async fn read_on(mut body: Incoming) {
    let mut left = REST_MAX_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
