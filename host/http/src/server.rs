//! The listener: takes connections, speaks HTTP/1.1 and HTTP/2 (with prior knowledge, or as TLS agrees) on them, and drains.
//!
//! A client can hold nothing without end: connections are counted ([`connections`](crate::connections)), a request's head must
//! arrive in time, a connection on which nothing is asked is closed, and at shutdown what is under way gets a bounded time to
//! finish.
//!
//! A shutdown has two steps, so that no client meets a closed door ([`Shutdown`]). While it is announced, connections are still
//! taken and requests answered, and every answer asks its client to go elsewhere: by `Connection: close`, or GOAWAY. An idle
//! connection of HTTP/1.1 stays open then, for a request may be on its way on it, and would be lost if it closed. Then the
//! listener closes, and what is idle still, a moment later.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{HeaderValue, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service as _;

use crate::admission::{Admission, Lane};
use crate::client::{self, Peer};
use crate::connections::{Answering, Connections, Place, Use};
use crate::drain::DrainedBody;
use crate::error::{Code, Refusal};
use crate::linking;
use crate::noted_bytes::NotedBytes;
use crate::request_id::{self, RequestId};
use crate::tls::{ListenerTls, Uncertified};

/// Requests under way on one HTTP/2 connection.
const STREAMS_PER_CONNECTION_MAX: u32 = 128;
/// Wait between two pings on an HTTP/2 connection, and for their answer.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Pause after a failure to accept, which most often means that the process has run out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Connections beyond [`ServerConfig::max_connections`], for those who watch and run the gateway.
const RESERVED_CONNECTIONS: usize = 32;
/// A connection in a reserved place is closed when nothing was asked on it for so long.
const RESERVED_IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Smallest head that hyper can be told to hold a request to, bytes.
pub const HEADER_MIN_BYTES: usize = 8 * 1024;

/// How the listener behaves.
#[derive(Clone, Copy, Debug)]
pub struct ServerConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Connections at once; for a further one an idle one ends. Where none is idle, health checks and admins are served on 32
    /// more and others refused; beyond these, or without shedding, it waits in the kernel's queue.
    pub max_connections: usize,
    /// Bytes of a request's line and headers. hyper itself allows 100 headers.
    pub max_header_bytes: usize,
    /// The first request's head must arrive within this time after the connection, a later one's within this time after its first byte.
    pub header_read_timeout: Duration,
    /// A connection on which no request is under way is closed after this time, also when its last answer is not read.
    pub idle_timeout: Duration,
    /// Requests under way at shutdown get this long.
    pub drain_timeout: Duration,
    /// Whether requests are refused when there is more to do than the process can; a listener for a few known clients does without.
    pub shedding: Option<Shedding>,
}

/// What shedding needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Shedding {
    /// Proxies in front whose `X-Forwarded-For` is believed.
    pub trusted_proxies: usize,
}

/// How long an idle connection stays open after the listener has closed: its client was asked on every answer to leave it, and
/// may just then have sent one more request.
pub const IDLE_LINGER: Duration = Duration::from_secs(1);

/// The steps of a shutdown.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Cancelled first: requests are still taken, and clients asked to go elsewhere.
    pub announced: CancellationToken,
    /// Cancelled then: nobody new is let in, and what is under way is finished.
    pub begun: CancellationToken,
    /// How long an idle connection stays open from then on.
    pub idle_linger: Duration,
}

impl From<CancellationToken> for Shutdown {
    /// One that nobody is told of beforehand.
    fn from(begun: CancellationToken) -> Self {
        Self { announced: begun.clone(), begun, idle_linger: Duration::ZERO }
    }
}

/// The listener could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct BindError {
    /// Where.
    pub address: SocketAddr,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// How a shutdown ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Every request under way was answered.
    Clean,
    /// This many connections were cut off.
    Cut(usize),
}

/// Connections that may wait in the kernel's queue.
const BACKLOG: u32 = 1024;

/// An address that is this process's own, though nobody is served there yet: who connects is refused. One that another process
/// serves at is noticed before anything else is begun.
pub struct ReservedAddress {
    socket: TcpSocket,
    local_addr: SocketAddr,
    config: ServerConfig,
}

impl ReservedAddress {
    /// Takes the address.
    ///
    /// # Errors
    /// [`BindError`] when it cannot be had.
    pub fn take(config: ServerConfig) -> Result<Self, BindError> {
        let reserve = || {
            let socket = if config.listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
            // Connections of a process before that are still closing are no reason to wait.
            socket.set_reuseaddr(true)?;
            socket.bind(config.listen)?;
            let local_addr = socket.local_addr()?;
            Ok(Self { socket, local_addr, config })
        };
        reserve().map_err(|source| BindError { address: config.listen, source })
    }

    /// The address, with the port that was given where any would do.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Opens the listener. Connections are taken from [`Server::run`] on, until the shutdown has begun.
    ///
    /// # Errors
    /// [`BindError`] when the address cannot be listened on after all.
    pub fn listen(self, router: Router, shutdown: impl Into<Shutdown>) -> Result<Server, BindError> {
        let Self { socket, local_addr, config } = self;
        let listener = socket.listen(BACKLOG).map_err(|source| BindError { address: config.listen, source })?;
        Ok(Server { listener, local_addr, config, router, shutdown: shutdown.into(), tls: None })
    }
}

/// An open listener.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    config: ServerConfig,
    router: Router,
    shutdown: Shutdown,
    tls: Option<Arc<ListenerTls>>,
}

impl Server {
    /// Opens the listener. Connections are taken from [`Server::run`] on, until the shutdown has begun.
    ///
    /// # Errors
    /// [`BindError`] when the address cannot be listened on.
    pub async fn bind(config: ServerConfig, router: Router, shutdown: impl Into<Shutdown>) -> Result<Self, BindError> {
        ReservedAddress::take(config)?.listen(router, shutdown)
    }

    /// Where the listener really is.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves over TLS, where there is what it takes.
    #[must_use]
    pub fn over_tls(self, tls: Option<Arc<ListenerTls>>) -> Self {
        Self { tls, ..self }
    }

    /// Where it serves.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.local_addr)
    }

    /// Serves until the shutdown, then drains.
    pub async fn run(self) -> Drained {
        let Self { listener, config, router, shutdown, tls, .. } = self;
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        let threads = tokio::runtime::Handle::current().metrics().num_workers();
        let admission = config.shedding.map(|Shedding { trusted_proxies }| Admission::new(threads, trusted_proxies));
        let mut tasks = JoinSet::new();
        if let Some(admission) = admission.clone() {
            tasks.spawn(async move { admission.run().await });
        }
        let open = Connections::new(config.max_connections, admission.as_ref().map_or(0, |_| RESERVED_CONNECTIONS));
        let shared = Arc::new(ServerState { builder: builder(&config), config, router, admission, shutdown, cut, tls });
        let spawn = |(stream, peer, place): (TcpStream, SocketAddr, Place)| {
            let shared = shared.clone();
            connections.spawn(async move { serve(&shared, stream, peer, place).await });
        };
        let begun = &shared.shutdown.begun;
        while let Some(accepted) = begun.run_until_cancelled(accept(&listener, &open)).await {
            spawn(accepted);
        }
        for (stream, peer) in close_listener(listener) {
            if let Some(place) = open.enter(client::network_of(peer.ip())).now_or_never() {
                spawn((stream, peer, place));
            }
        }
        connections.close();
        if tokio::time::timeout(config.drain_timeout, connections.wait()).await.is_ok() {
            return Drained::Clean;
        }
        let left = connections.len();
        shared.cut.cancel();
        connections.wait().await;
        Drained::Cut(left)
    }
}

/// What every connection needs.
struct ServerState {
    builder: auto::Builder<TokioExecutor>,
    config: ServerConfig,
    router: Router,
    admission: Option<Arc<Admission>>,
    shutdown: Shutdown,
    /// Stop at once.
    cut: CancellationToken,
    tls: Option<Arc<ListenerTls>>,
}

fn builder(config: &ServerConfig) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    let max_header_bytes = config.max_header_bytes.max(HEADER_MIN_BYTES);
    builder
        .http1()
        // It would end connections that are only idle.
        .header_read_timeout(None)
        .max_buf_size(max_header_bytes)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .max_header_list_size(u32::try_from(max_header_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_INTERVAL);
    builder
}

/// The next connection and its place.
async fn accept(listener: &TcpListener, open: &Arc<Connections>) -> (TcpStream, SocketAddr, Place) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Beyond the bound, one waits here, and the next ones in the kernel: they cost the process nothing.
                let place = open.enter(client::network_of(peer.ip())).await;
                return (stream, peer, place);
            }
            Err(error) if is_of_the_peer(&error) => tracing::debug!(%error, "a connection was gone at once"),
            Err(error) => {
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Closes the listener; the connections that wait in the kernel's queue. Their clients are connected, as far as they know, and closing
/// alone would reset them. Whoever connects later is refused by the kernel.
fn close_listener(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    let mut waiting = Vec::new();
    // The runtime knows of those that it has been told of, and gives out so many at once: only the kernel knows all.
    let taken = listener.into_std().and_then(|listener| {
        loop {
            match listener.accept() {
                Ok((stream, peer)) => {
                    stream.set_nonblocking(true)?;
                    waiting.push((TcpStream::from_std(stream)?, peer));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_of_the_peer(&error) || error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    });
    if let Err(error) = taken {
        tracing::error!(%error, "connections that waited for the listener were reset");
    }
    waiting
}

fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves one connection to its end.
async fn serve(shared: &Arc<ServerState>, stream: TcpStream, peer: SocketAddr, place: Place) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let Some(tls) = &shared.tls else { return serve_stream(shared, stream, peer, place, true).await };
    let accepting = shared.accept_tls(tls, stream, &place);
    if let Some(stream) = accepting.await {
        let has_certificate = stream.get_ref().1.peer_certificates().is_some();
        let may_be_anybody = has_certificate || !tls.asks_orchestrators();
        serve_stream(shared, stream, peer, place, may_be_anybody).await;
    }
}

/// Serves HTTP on a connection. `may_be_anybody`: its client need not show a certificate, or has shown it.
async fn serve_stream(
    shared: &Arc<ServerState>,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: SocketAddr,
    place: Place,
    may_be_anybody: bool,
) {
    let (activity, place) = (place.activity.clone(), Arc::new(place));
    let speaks_http_2 = CancellationToken::new();
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        request.extensions_mut().insert(Answering(activity.clone()));
        if !may_be_anybody {
            request.extensions_mut().insert(Uncertified);
        }
        let is_http_2 = request.version() == Version::HTTP_2;
        if is_http_2 {
            speaks_http_2.cancel();
        }
        let asked = activity.ask();
        let (shared, place) = (shared.clone(), place.clone());
        async move {
            let answered = answer(&shared, &place, peer, request).await;
            drop(asked);
            answered.map(|answer| if is_http_2 { answer } else { ask_to_leave(answer, &shared.shutdown.announced) })
        }
    });
    let is_reserved = shared.admission.is_some() && !place.is_for_all();
    let (idle_timeout, head_timeout) = match is_reserved {
        true => (RESERVED_IDLE_TIMEOUT, RESERVED_IDLE_TIMEOUT.min(shared.config.header_read_timeout)),
        false => (shared.config.idle_timeout, shared.config.header_read_timeout),
    };
    let mut connection =
        pin!(shared.builder.serve_connection(TokioIo::new(NotedBytes::new(stream, activity.clone())), service));
    let attend = |is_finishing| shared.attend(&place, &speaks_http_2, (idle_timeout, head_timeout), is_finishing);
    // A set of one polls it when it was woken itself: what it waits for is shared by all connections, and would be asked at every
    // read and write of this one otherwise.
    let mut ends = FuturesUnordered::from_iter([attend(false)]);
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error = %error, "a connection ended early");
                }
                return;
            }
            Some(end) = ends.next() => match end {
                End::Now => return,
                End::AfterAnswers => {
                    connection.as_mut().graceful_shutdown();
                    ends.push(attend(true));
                }
            }
        }
    }
}

/// How a connection ends before its client closes it.
enum End {
    Now,
    /// When what is under way has been answered.
    AfterAnswers,
}

/// From the announcement of a shutdown on, an answer of HTTP/1.1 is the last of its connection.
fn ask_to_leave(mut answer: Response, announced: &CancellationToken) -> Response {
    if announced.is_cancelled() {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

impl ServerState {
    /// A connection over TLS; none where the client does not get that far in time, or the connection is to end.
    async fn accept_tls(&self, tls: &ListenerTls, stream: TcpStream, place: &Place) -> Option<TlsStream<TcpStream>> {
        let accepted = tokio::select! {
            () = self.cut.cancelled() => return None,
            () = place.gives_way.cancelled() => return None,
            accepted = tokio::time::timeout(self.config.header_read_timeout, tls.acceptor().accept(stream)) => accepted,
        };
        match accepted {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a client does not speak TLS, or has another certificate");
                None
            }
            Err(_elapsed) => {
                tracing::debug!("a client took too long to speak TLS");
                None
            }
        }
    }

    /// Waits until a connection is to end that its client keeps open: it is idle for longer than these times, with and without a
    /// request before; it is to leave; or it gives way to another. One that is finishing has been told already.
    async fn attend(
        &self,
        place: &Place,
        speaks_http_2: &CancellationToken,
        (idle_timeout, head_timeout): (Duration, Duration),
        is_finishing: bool,
    ) -> End {
        let look_after = idle_timeout.min(head_timeout);
        let mut look = pin!(tokio::time::sleep(look_after));
        let mut leaving = pin!(self.time_to_leave(place, speaks_http_2));
        loop {
            tokio::select! {
                () = self.cut.cancelled() => return End::Now,
                () = leaving.as_mut(), if !is_finishing => return End::AfterAnswers,
                () = place.gives_way.cancelled(), if !is_finishing => {
                    // A request may have come just then.
                    return if place.activity.idle_since().is_some() { End::Now } else { End::AfterAnswers };
                }
                () = look.as_mut() => {
                    let mut usage = place.activity.usage();
                    if speaks_http_2.is_cancelled() {
                        usage.head_since = None;
                    }
                    let closes_at = closes_at(usage, idle_timeout, head_timeout);
                    let now = Instant::now();
                    if closes_at <= now {
                        tracing::debug!("an idle connection was closed");
                        return End::Now;
                    }
                    // Not later than the shorter of the two times: a first request changes which of them counts.
                    look.as_mut().reset(closes_at.min(now + look_after));
                }
            }
        }
    }

    /// Waits until the connection is to end as soon as nothing is under way on it. HTTP/2 says so without losing a request, so
    /// it is told at the announcement; an idle connection of HTTP/1.1 gets the time to linger.
    async fn time_to_leave(&self, place: &Place, speaks_http_2: &CancellationToken) {
        let Shutdown { announced, begun, idle_linger } = &self.shutdown;
        announced.cancelled().await;
        tokio::select! {
            () = speaks_http_2.cancelled() => return,
            () = begun.cancelled() => {}
        }
        if place.activity.idle_since().is_some() && !idle_linger.is_zero() {
            tokio::select! {
                () = speaks_http_2.cancelled() => {}
                () = tokio::time::sleep(*idle_linger) => {}
            }
        }
    }
}

/// When a connection is to be closed if nothing more is asked: its head does not come, it is idle, or nobody reads its answer.
fn closes_at(usage: Use, idle_timeout: Duration, head_timeout: Duration) -> Instant {
    match usage {
        Use { under_way: 0, asked_before: false, last, .. } => last + head_timeout,
        Use { under_way: 0, head_since: Some(since), .. } => since + head_timeout,
        Use { under_way: 0, last, .. } => last + idle_timeout,
        Use { .. } => Instant::now() + idle_timeout,
    }
}

/// Answers one request: what is none, or comes when there is too much to do, is refused here.
async fn answer(
    shared: &ServerState,
    place: &Place,
    peer: SocketAddr,
    mut request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    if !names_one_host(&request) {
        // As hyper answers other heads that are none.
        let mut refused = Response::new(Body::empty());
        *refused.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(refused);
    }
    let mut under_way = None;
    if let Some(admission) = &shared.admission {
        let lane = Lane::of(request.uri().path());
        let is_shut_out = lane == Lane::Traffic && !place.is_for_all();
        let admitted = if is_shut_out {
            admission.count_refusal(lane);
            Err(Code::Overloaded.into())
        } else {
            admission.admit(&mut request, peer.ip()).await
        };
        match admitted {
            Ok(admitted) => under_way = Some(admitted),
            Err(refusal) => {
                let mut refused = refuse(refusal, &request);
                if is_shut_out && request.version() < Version::HTTP_2 {
                    refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                drop(DrainedBody::of(request, &place.activity));
                return Ok(refused);
            }
        }
    }
    let answered = shared.router.clone().call(DrainedBody::of(request, &place.activity)).await;
    drop(under_way);
    answered
}

/// A refusal as the router would have written it.
fn refuse(refusal: Refusal, request: &hyper::Request<Incoming>) -> Response {
    let request_id = RequestId::of(request.headers());
    let refusal = if linking::is_page(request.uri().path()) { refusal.for_browsers() } else { refusal };
    let mut refused = refusal.render(request_id.as_str());
    request_id::name(&mut refused, &request_id);
    refused
}

/// Whether a request names the host that it is for once, as HTTP/1.1 wants it (RFC 9112, 3.2): of two names, a proxy may have
/// read the one and the gateway the other. HTTP/2 has a field of its own for it.
fn names_one_host(request: &hyper::Request<Incoming>) -> bool {
    request.version() != Version::HTTP_11 || request.headers().get_all(header::HOST).iter().count() == 1
}
