//! A proxy between the gateway and a partner, whose behaviour can be changed while it runs.
//!
//! The fault is taken anew for each request, so that it also meets connections that the gateway has kept. Every
//! connection that the proxy gives up ends with a reset; one that the gateway gives up is noticed, and counted as closed.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue, RETRY_AFTER, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// What happens to a request, or to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Nothing.
    None,
    /// The answer comes so much later.
    Delay(Duration),
    /// The connection is reset as soon as the request has arrived.
    Reset,
    /// The connection is reset within the answer's body.
    ResetMidBody,
    /// Half-open: the connection is taken, and nothing ever answers on it.
    Silent,
    /// Half-open within the answer: half of the body comes, and then nothing.
    StallMidBody,
    /// The body comes in pieces of so many bytes, so long apart.
    Trickle(usize, Duration),
    /// 429 at once, with or without a time to wait, seconds.
    RateLimited(Option<u32>),
    /// Every other request passes, the rest meets with a reset.
    Flapping,
}

/// A proxy on a port of its own, stopped when dropped.
pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
    task: JoinHandle<()>,
}

struct State {
    /// `host:port` of the partner.
    to: String,
    client: Client<HttpConnector, Full<Bytes>>,
    fault: Mutex<Fault>,
    /// Requests by what happened to them.
    met: Mutex<BTreeMap<Fault, usize>>,
    accepted: AtomicUsize,
    open: AtomicUsize,
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Proxy {
    /// A proxy to the partner at `host:port`.
    pub async fn start(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let state = Arc::new(State {
            to: to.to_owned(),
            client: Client::builder(TokioExecutor::new()).build_http(),
            fault: Mutex::new(Fault::None),
            met: Mutex::default(),
            accepted: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { port, state, task }
    }

    /// Where the partner behind this proxy is called.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// From the next request on.
    pub fn set(&self, fault: Fault) {
        *lock(&self.state.fault) = fault;
    }

    /// Connections that are open.
    pub fn open(&self) -> usize {
        self.state.open.load(Ordering::SeqCst)
    }

    /// Connections that were ever made.
    pub fn accepted(&self) -> usize {
        self.state.accepted.load(Ordering::SeqCst)
    }

    /// Requests so far, by what happened to them.
    pub fn met(&self) -> BTreeMap<Fault, usize> {
        lock(&self.state.met).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // With it goes the set of its connections, and with that each of them.
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("the listener works");
        state.accepted.fetch_add(1, Ordering::SeqCst);
        connections.spawn(serve(stream, Arc::clone(&state)));
        // Those that are over are let go.
        while connections.try_join_next().is_some() {}
    }
}

/// Counts a connection for as long as it is open.
struct Open(Arc<State>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn serve(stream: TcpStream, state: Arc<State>) {
    state.open.fetch_add(1, Ordering::SeqCst);
    let open = Open(Arc::clone(&state));
    stream.set_nodelay(true).expect("a TCP socket");
    // Whenever this side closes first, the other sees a reset.
    stream.set_zero_linger().expect("a TCP socket");
    let service = service_fn(|request| answer(Arc::clone(&state), request));
    // An error ends the connection; often it is the fault that was asked for.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    drop(open);
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let fault = *lock(&state.fault);
    let number = {
        let mut met = lock(&state.met);
        let met = met.entry(fault).or_default();
        *met += 1;
        *met
    };
    match fault {
        Fault::Reset => return Err(broken()),
        Fault::Flapping if number % 2 == 1 => return Err(broken()),
        Fault::Silent => return std::future::pending().await,
        Fault::RateLimited(retry_after) => return Ok(too_many(retry_after)),
        Fault::Delay(time) => tokio::time::sleep(time).await,
        _ => {}
    }
    let (mut head, body) = pass(&state, request).await?.into_parts();
    head.headers.remove(TRANSFER_ENCODING);
    head.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Ok(Response::from_parts(head, spoilt(fault, body)))
}

fn broken() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

fn too_many(retry_after: Option<u32>) -> Response<Body> {
    let mut response = Response::new(whole(Bytes::new()));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Sends a request on to the partner, and waits for the whole answer.
async fn pass(state: &State, request: Request<Incoming>) -> io::Result<Response<Bytes>> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = format!("http://{}{path}", state.to).parse().map_err(io::Error::other)?;
    head.headers.remove(HOST);
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let request = Request::from_parts(head, Full::new(body));
    let (head, body) = state.client.request(request).await.map_err(io::Error::other)?.into_parts();
    Ok(Response::from_parts(head, body.collect().await.map_err(io::Error::other)?.to_bytes()))
}

fn whole(body: Bytes) -> Body {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

/// A body that arrives as the fault has it.
fn spoilt(fault: Fault, body: Bytes) -> Body {
    let half = body.slice(..body.len() / 2);
    match fault {
        Fault::ResetMidBody => after(half, async {
            // hyper writes out what it has whenever there is no more yet.
            tokio::task::yield_now().await;
            Some(Err(broken()))
        }),
        Fault::StallMidBody => after(half, std::future::pending()),
        Fault::Trickle(bytes, apart) => trickle(body, bytes, apart),
        _ => whole(body),
    }
}

/// A piece, and after it what comes of `next`.
fn after(piece: Bytes, next: impl Future<Output = Option<io::Result<Frame<Bytes>>>> + Send + 'static) -> Body {
    let first = stream::iter([Ok(Frame::data(piece))]);
    let rest = stream::unfold(Some(next), |next| async { Some((next?.await?, None)) });
    StreamBody::new(first.chain(rest)).boxed_unsync()
}

fn trickle(body: Bytes, bytes: usize, apart: Duration) -> Body {
    let pieces = stream::unfold(body, move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(apart).await;
        let piece = rest.split_to(bytes.min(rest.len()));
        Some((Ok(Frame::data(piece)), rest))
    });
    StreamBody::new(pieces).boxed_unsync()
}
