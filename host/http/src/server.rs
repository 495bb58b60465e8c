//! The listener: takes connections, speaks HTTP/1.1 and HTTP/2 (with prior knowledge) on them, and drains.
//!
//! A client can hold nothing without end: connections are counted, a request's head must arrive in time, a
//! connection on which nothing is asked is closed, and at shutdown what is under way gets a bounded time to finish.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service as _;

use crate::client::Peer;

/// Requests under way on one HTTP/2 connection.
const STREAMS_PER_CONNECTION_MAX: u32 = 128;
/// Wait between two pings on an HTTP/2 connection, and for their answer.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Pause after a failure to accept, which most often means that the process has run out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Smallest head that hyper can be told to hold a request to, bytes.
pub const HEADER_MIN_BYTES: usize = 8 * 1024;

/// How the listener behaves.
#[derive(Clone, Copy, Debug)]
pub struct ServerConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Connections at once; the next ones wait in the kernel's queue.
    pub max_connections: usize,
    /// Bytes of a request's line and headers. hyper itself allows 100 headers.
    pub max_header_bytes: usize,
    /// A request's head must arrive within this time after the connection, or after the answer before it.
    pub header_read_timeout: Duration,
    /// A connection on which no request is under way is closed after this time, also when its last answer is not read.
    pub idle_timeout: Duration,
    /// Requests under way at shutdown get this long.
    pub drain_timeout: Duration,
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

    /// Opens the listener. Connections are taken from [`Server::run`] on, until `shutdown` is cancelled.
    ///
    /// # Errors
    /// [`BindError`] when the address cannot be listened on after all.
    pub fn listen(self, router: Router, shutdown: CancellationToken) -> Result<Server, BindError> {
        let Self { socket, local_addr, config } = self;
        let listener = socket.listen(BACKLOG).map_err(|source| BindError { address: config.listen, source })?;
        Ok(Server { listener, local_addr, config, router, shutdown })
    }
}

/// An open listener.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    config: ServerConfig,
    router: Router,
    shutdown: CancellationToken,
}

impl Server {
    /// Opens the listener. Connections are taken from [`Server::run`] on, until `shutdown` is cancelled.
    ///
    /// # Errors
    /// [`BindError`] when the address cannot be listened on.
    pub async fn bind(config: ServerConfig, router: Router, shutdown: CancellationToken) -> Result<Self, BindError> {
        ReservedAddress::take(config)?.listen(router, shutdown)
    }

    /// Where the listener really is.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until the shutdown, then drains.
    pub async fn run(self) -> Drained {
        let Self { listener, config, router, shutdown, .. } = self;
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        let shared = Arc::new(ServerState { builder: builder(&config), config, router, shutdown, cut });
        let slots = Arc::new(Semaphore::new(config.max_connections));
        while let Some((stream, peer, slot)) = accept(&listener, &slots, &shared.shutdown).await {
            let shared = shared.clone();
            connections.spawn(async move {
                serve(&shared, stream, peer).await;
                drop(slot);
            });
        }
        // Whoever connects from now on is refused by the kernel.
        drop(listener);
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
    /// Finish what is under way.
    shutdown: CancellationToken,
    /// Stop at once.
    cut: CancellationToken,
}

fn builder(config: &ServerConfig) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    let max_header_bytes = config.max_header_bytes.max(HEADER_MIN_BYTES);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_read_timeout)
        .max_buf_size(max_header_bytes)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .max_header_list_size(u32::try_from(max_header_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_INTERVAL);
    builder
}

/// The next connection and its slot; none once the shutdown has begun.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    shutdown: &CancellationToken,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let next = async {
        // The slot comes first: beyond the bound, connections wait in the kernel and cost the process nothing.
        let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => return (stream, peer, slot),
                Err(error) if is_of_the_peer(&error) => tracing::debug!(%error, "a connection was gone at once"),
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = shutdown.cancelled() => None,
        next = next => Some(next),
    }
}

fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves one connection to its end.
async fn serve(shared: &ServerState, stream: TcpStream, peer: SocketAddr) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let activity = Arc::new(Activity::new());
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        request.extensions_mut().insert(Reading(activity.clone()));
        let asked = activity.ask();
        let mut router = shared.router.clone();
        async move {
            let answer = router.call(request).await;
            drop(asked);
            answer
        }
    });
    let mut connection = pin!(shared.builder.serve_connection(TokioIo::new(stream), service));
    let look_after = shared.config.idle_timeout.min(shared.config.header_read_timeout);
    let mut look = pin!(tokio::time::sleep(look_after));
    let mut finishing = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error = %error, "a connection ended early");
                }
                return;
            }
            () = shared.cut.cancelled() => return,
            () = shared.shutdown.cancelled(), if !finishing => {
                finishing = true;
                connection.as_mut().graceful_shutdown();
            }
            () = look.as_mut() => {
                let (closes_at, now) = (activity.closes_at(&shared.config), Instant::now());
                if closes_at <= now {
                    tracing::debug!("an idle connection was closed");
                    return;
                }
                // Not later than the shorter of the two times: a first request changes which of them counts.
                look.as_mut().reset(closes_at.min(now + look_after));
            }
        }
    }
}

/// When a connection was last of use. hyper bounds the time of an HTTP/1.1 head; this covers what it leaves open: a
/// client that never gets as far as choosing a version, an idle HTTP/2 connection, an answer that nobody reads.
struct Activity(Mutex<Use>);

struct Use {
    under_way: usize,
    last: Instant,
    asked_before: bool,
}

impl Activity {
    fn new() -> Self {
        Self(Mutex::new(Use { under_way: 0, last: Instant::now(), asked_before: false }))
    }

    /// Counts a request until the guard is dropped.
    fn ask(self: &Arc<Self>) -> ActiveRequest {
        self.update(|usage| {
            usage.under_way += 1;
            usage.asked_before = true;
        });
        ActiveRequest(self.clone())
    }

    /// When the connection is to be closed if nothing more is asked.
    fn closes_at(&self, config: &ServerConfig) -> Instant {
        self.update(|usage| match usage {
            Use { under_way: 0, asked_before: true, last } => *last + config.idle_timeout,
            Use { under_way: 0, asked_before: false, last } => *last + config.header_read_timeout,
            Use { .. } => Instant::now() + config.idle_timeout,
        })
    }

    fn update<T>(&self, change: impl FnOnce(&mut Use) -> T) -> T {
        // Nothing panics while the lock is held, so a poisoned one still holds good numbers.
        change(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// Tells the connection that an answer which takes long is being read, so that it is no idle one.
#[derive(Clone)]
pub(crate) struct Reading(Arc<Activity>);

impl Reading {
    /// More of the answer was taken.
    pub(crate) fn goes_on(&self) {
        self.0.update(|usage| usage.last = Instant::now());
    }
}

/// One request under way.
struct ActiveRequest(Arc<Activity>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.update(|usage| {
            usage.under_way -= 1;
            usage.last = Instant::now();
        });
    }
}
