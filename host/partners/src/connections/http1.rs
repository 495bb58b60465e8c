//! One connection of HTTP/1.1, driven by whoever uses it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;

use super::{Pool, Server, Unanswered};
use crate::wire::Stream;

type Driver = Box<http1::Connection<Stream, Full<Bytes>>>;

/// A connection.
pub(super) struct Http1 {
    sender: http1::SendRequest<Full<Bytes>>,
    /// None once it is over: it must not be polled again. It is large, and handed on with every answer.
    driver: Option<Driver>,
}

impl Http1 {
    pub(super) fn new(
        (sender, driver): (http1::SendRequest<Full<Bytes>>, http1::Connection<Stream, Full<Bytes>>),
    ) -> Self {
        Self { sender, driver: Some(Box::new(driver)) }
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let driver = &mut self.driver;
        let answered = poll_fn(|context| match answer.as_mut().poll(context) {
            Poll::Pending => {
                drive(driver, context);
                answer.as_mut().poll(context)
            }
            ready => ready,
        });
        answered.await.map_err(Unanswered::of)
    }

    /// Whether the next request can be sent: the last answer was read to its end, and the server has not closed it.
    pub(super) fn is_idle(&mut self) -> bool {
        drive(&mut self.driver, &mut Context::from_waker(Waker::noop()));
        self.driver.is_some() && self.sender.is_ready()
    }
}

/// Has a connection read and write what it can. How it ended is told to whoever waits for an answer.
fn drive(driver: &mut Option<Driver>, context: &mut Context<'_>) {
    driver.take_if(|driver| Pin::new(driver).poll(context).is_ready());
}

/// A connection that the body of an answer still comes over.
pub(super) struct Held {
    pub(super) connection: Http1,
    pub(super) pool: Arc<Pool>,
    pub(super) server: Server,
}

impl Held {
    fn put_back(self) {
        self.pool.put_back(self.server, self.connection);
    }
}

/// The body of an answer. Dropped before its end it takes its connection with it.
pub(crate) struct ReceivedBody {
    body: Incoming,
    /// None where the connection is driven by a task of its own, and once it was put back.
    held: Option<Held>,
}

impl ReceivedBody {
    pub(super) fn with_connection(body: Incoming, held: Held) -> Self {
        let mut received = Self { body, held: Some(held) };
        received.put_back_at_end();
        received
    }

    pub(super) fn without_connection(body: Incoming) -> Self {
        Self { body, held: None }
    }

    fn put_back_at_end(&mut self) {
        if self.body.is_end_stream()
            && let Some(held) = self.held.take()
        {
            held.put_back();
        }
    }
}

impl Body for ReceivedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending()
            && let Some(held) = &mut self.held
        {
            drive(&mut held.connection.driver, context);
            polled = Pin::new(&mut self.body).poll_frame(context);
        }
        match &polled {
            // A body of unknown length tells its end so alone.
            Poll::Ready(None) => self.held.take().into_iter().for_each(Held::put_back),
            Poll::Ready(Some(Ok(_))) => self.put_back_at_end(),
            Poll::Ready(Some(Err(_))) => self.held = None,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
