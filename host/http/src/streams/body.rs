//! The body of a stream: events as they are taken, and a sign of life in between.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::BoxStream;
use http_body::Frame;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use super::event::{self, Ending};
use crate::connections::{Answering, OpenStream};

/// The body of a stream of events.
pub(super) struct EventBody {
    /// What is sent first, until it is.
    opening: Option<Bytes>,
    /// Each item is one event, or more, whole.
    items: BoxStream<'static, Bytes>,
    /// Set where the stream does not outlast the beginning of a shutdown.
    draining: Option<BoxFuture<'static, ()>>,
    heartbeat: Duration,
    /// When the next sign of life is due.
    due: Pin<Box<Sleep>>,
    /// Where the connection is told that its answer is read.
    reading: Option<OpenStream>,
    is_over: bool,
    _place: Option<OwnedSemaphorePermit>,
}

impl EventBody {
    pub(super) fn new(
        items: BoxStream<'static, Bytes>,
        heartbeat: Duration,
        reading: Option<Answering>,
        place: impl Into<Option<OwnedSemaphorePermit>>,
    ) -> Self {
        let due = Box::pin(tokio::time::sleep(heartbeat));
        let opening = Some(event::opening());
        let reading = reading.map(Answering::stream);
        Self { opening, items, draining: None, heartbeat, due, reading, is_over: false, _place: place.into() }
    }

    /// Ends when a shutdown begins.
    pub(super) fn until(self, draining: CancellationToken) -> Self {
        Self { draining: Some(draining.cancelled_owned().boxed()), ..self }
    }

    /// What comes next; `None` where it is over.
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(opening));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(item) = self.items.poll_next_unpin(context) {
            self.is_over = item.is_none();
            return Poll::Ready(item);
        }
        if self.draining.as_mut().is_some_and(|draining| draining.poll_unpin(context).is_ready()) {
            self.is_over = true;
            return Poll::Ready(Some(event::end(None, Ending::Shutdown)));
        }
        self.due.as_mut().poll(context).map(|()| Some(event::heartbeat()))
    }
}

impl http_body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        // hyper asks for more only while there is room for it: what was sent before is being read.
        if let Some(reading) = &this.reading {
            reading.goes_on();
        }
        let polled = this.poll_bytes(context);
        if polled.is_ready() {
            this.due.as_mut().reset(Instant::now() + this.heartbeat);
        }
        polled.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::stream;
    use http_body_util::BodyExt as _;
    use tokio::sync::{Semaphore, mpsc};

    use super::*;

    const BEAT: Duration = Duration::from_secs(15);

    fn body(items: BoxStream<'static, Bytes>) -> EventBody {
        let place = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("free");
        EventBody::new(items, BEAT, None, place)
    }

    async fn next(body: &mut EventBody) -> Option<String> {
        let frame = body.frame().await?.expect("never fails");
        Some(String::from_utf8(frame.into_data().expect("data").into()).expect("UTF-8"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_comes_when_nothing_else_does() {
        let (sender, mut receiver) = mpsc::channel::<Bytes>(1);
        let items = stream::poll_fn(move |context| receiver.poll_recv(context)).boxed();
        let mut body = body(items);
        assert_eq!(next(&mut body).await.as_deref(), Some("retry: 1000\n\n"));
        let start = Instant::now();
        assert_eq!(next(&mut body).await.as_deref(), Some(": still here\n\n"));
        assert_eq!(start.elapsed(), BEAT);
        // What is sent counts from when it was sent.
        tokio::time::sleep(BEAT / 2).await;
        sender.send(Bytes::from_static(b"x")).await.expect("open");
        assert_eq!(next(&mut body).await.as_deref(), Some("x"));
        assert_eq!(next(&mut body).await.as_deref(), Some(": still here\n\n"));
        assert_eq!(start.elapsed(), BEAT * 5 / 2);
        drop(sender);
        assert_eq!(next(&mut body).await, None);
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shutdown_ends_it_after_what_is_there() {
        let draining = CancellationToken::new();
        let items = stream::iter([Bytes::from_static(b"x")]).chain(stream::pending()).boxed();
        let mut body = body(items).until(draining.clone());
        draining.cancel();
        next(&mut body).await;
        assert_eq!(next(&mut body).await.as_deref(), Some("x"));
        assert!(next(&mut body).await.is_some_and(|end| end.contains("\"shutdown\"")));
        assert_eq!(next(&mut body).await, None);
    }
}
