//! Connections to partners, kept for the next request.
//!
//! A connection of HTTP/1.1 serves one request at a time, so the request that has it drives it, within its own task: an answer
//! that comes at once leaves that task never. Nobody drives a connection that waits for its next request. Whether its partner
//! has closed it meanwhile shows when it is taken, or at the next [`sweep`](Connections::sweep).
//!
//! A connection of HTTP/2 serves many requests, and has a task of its own.

mod http1;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dashmap::DashMap;
use http::header::{HOST, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::client::conn::http2;
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;
use tower_service::Service as _;

pub(crate) use self::http1::ReceivedBody;
use self::http1::{Held, Http1};
use crate::wire::TimedConnector;

/// Interval of HTTP/2 pings while calls are under way.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(15);
/// Wait for the answer to an HTTP/2 ping.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of buffer for one HTTP/1.1 connection; also the most that the head of an answer may take.
const HTTP1_BUFFER_MAX_BYTES: usize = 64 * 1024;
/// Bytes of all headers of one HTTP/2 answer.
const HTTP2_HEADERS_MAX_BYTES: u32 = 64 * 1024;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Opens connections, and keeps those that can serve again. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Pool>);

struct Pool {
    connector: TimedConnector,
    servers: DashMap<Server, Kept>,
    idle_max: Duration,
    idle_per_server_max: usize,
}

/// Who is at the other end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    scheme: Scheme,
    authority: Authority,
}

/// The connections to one server.
#[derive(Default)]
struct Kept {
    /// Those that wait for a request, and since when: the latest last.
    idle: Vec<(Http1, Instant)>,
    /// The one that all requests share.
    shared: Option<http2::SendRequest<Full<Bytes>>>,
}

enum Connection {
    Http1(Http1),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// A request that got no answer. Where it was not sent at all, it comes back.
struct Unanswered {
    unsent: Option<Request<Full<Bytes>>>,
    error: hyper::Error,
}

impl Connections {
    pub(crate) fn new(connector: TimedConnector, idle_max: Duration, idle_per_server_max: usize) -> Self {
        Self(Arc::new(Pool { connector, servers: DashMap::new(), idle_max, idle_per_server_max }))
    }

    /// Sends a request to the server that its address names, and waits for the head of the answer. What may have been sent is not
    /// sent again.
    pub(crate) async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Response<ReceivedBody>, BoxError> {
        let uri = request.uri().clone();
        let server = Server::of(&uri)?;
        loop {
            let kept = self.0.take(&server);
            let is_kept = kept.is_some();
            let connection = match kept {
                Some(connection) => connection,
                None => Box::pin(self.0.connect(&server, &uri)).await?,
            };
            let sent = match connection {
                Connection::Http1(connection) => self.send_by_http1(connection, &server, &uri, request).await,
                Connection::Http2(connection) => Box::pin(send_by_http2(connection, &uri, request)).await,
            };
            match sent {
                Ok(response) => return Ok(response),
                // The server had closed it. The next may be closed as well; a new one is not.
                Err(Unanswered { unsent: Some(unsent), .. }) if is_kept => request = unsent,
                Err(Unanswered { error, .. }) => return Err(error.into()),
            }
        }
    }

    async fn send_by_http1(
        &self,
        mut connection: Http1,
        server: &Server,
        uri: &Uri,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<ReceivedBody>, Unanswered> {
        request.headers_mut().insert(HOST, server.host());
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
        let response = connection.send(request).await?;
        let held = Held { connection, pool: Arc::clone(&self.0), server: server.clone() };
        Ok(response.map(|body| ReceivedBody::with_connection(body, held)))
    }

    /// Closes connections that no request has taken for long, and forgets those that their servers have closed.
    pub(crate) fn sweep(&self) {
        self.0.servers.retain(|_, kept| {
            kept.idle.retain_mut(|(connection, since)| since.elapsed() < self.0.idle_max && connection.is_idle());
            kept.shared.take_if(|shared| shared.is_closed());
            !kept.idle.is_empty() || kept.shared.is_some()
        });
    }
}

async fn send_by_http2(
    mut connection: http2::SendRequest<Full<Bytes>>,
    uri: &Uri,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<ReceivedBody>, Unanswered> {
    request.headers_mut().remove(HOST);
    *request.uri_mut() = uri.clone();
    let sent = connection.try_send_request(request).await;
    sent.map(|response| response.map(ReceivedBody::without_connection)).map_err(Unanswered::of)
}

impl Pool {
    /// A connection that can take a request at once.
    fn take(&self, server: &Server) -> Option<Connection> {
        let mut kept = self.servers.get_mut(server)?;
        if let Some(shared) = &kept.shared {
            if shared.is_ready() {
                return Some(Connection::Http2(shared.clone()));
            }
            kept.shared = None;
        }
        while let Some((mut connection, since)) = kept.idle.pop() {
            // Those before it have waited longer.
            if since.elapsed() >= self.idle_max {
                kept.idle.clear();
            } else if connection.is_idle() {
                return Some(Connection::Http1(connection));
            }
        }
        None
    }

    async fn connect(&self, server: &Server, uri: &Uri) -> Result<Connection, BoxError> {
        let stream = self.connector.clone().call(uri.clone()).await?;
        if !stream.connected().is_negotiated_h2() {
            let mut settings = hyper::client::conn::http1::Builder::new();
            settings.max_buf_size(HTTP1_BUFFER_MAX_BYTES);
            return Ok(Connection::Http1(Http1::new(settings.handshake(stream).await?)));
        }
        let mut settings = http2::Builder::new(TokioExecutor::new());
        settings
            .timer(TokioTimer::new())
            .max_header_list_size(HTTP2_HEADERS_MAX_BYTES)
            .keep_alive_interval(HTTP2_PING_INTERVAL)
            .keep_alive_timeout(HTTP2_PING_TIMEOUT);
        let (sender, driver) = settings.handshake(stream).await?;
        tokio::spawn(async move {
            // Whoever waits for an answer is told why there is none.
            let _ = driver.await;
        });
        self.servers.entry(server.clone()).or_default().shared = Some(sender.clone());
        Ok(Connection::Http2(sender))
    }

    /// Keeps a connection whose answer was read to its end, if it can serve again.
    fn put_back(&self, server: Server, mut connection: Http1) {
        if connection.is_idle() {
            let mut kept = self.servers.entry(server).or_default();
            if kept.idle.len() < self.idle_per_server_max {
                kept.idle.push((connection, Instant::now()));
            }
        }
    }
}

impl Unanswered {
    fn of(mut error: hyper::client::conn::TrySendError<Request<Full<Bytes>>>) -> Self {
        Self { unsent: error.take_message(), error: error.into_error() }
    }
}

impl Server {
    fn of(uri: &Uri) -> Result<Self, BoxError> {
        let parts = uri.scheme().cloned().zip(uri.authority().cloned());
        let (scheme, authority) = parts.ok_or("an address without a server")?;
        Ok(Self { scheme, authority })
    }

    /// As the header names it: without the port that the scheme has anyway.
    fn host(&self) -> HeaderValue {
        let usual = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let (host, port) = (self.authority.host(), self.authority.port_u16().filter(|port| *port != usual));
        let text = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        // A host of an address has no other characters than a header may have.
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("servers", &self.0.servers.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
