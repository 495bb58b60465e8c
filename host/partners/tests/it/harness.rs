//! A scripted partner on hyper, which counts its connections and remembers what it was sent.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream, StreamExt as _};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig, ResolveHost};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// The timeout of calls that are expected to end before it.
pub(crate) const CALL: Duration = Duration::from_secs(15);

/// Every name is one address. A port of this crate, so its fake is here.
pub(crate) struct ResolvesTo(pub(crate) IpAddr);

impl ResolveHost for ResolvesTo {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![self.0]) })
    }
}

/// A resolver to which no name leads anywhere.
pub(crate) struct LeadsNowhere;

impl ResolveHost for LeadsNowhere {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Err(io::Error::other("Name or service not known")) })
    }
}

pub(crate) type Body = BoxBody<Bytes, io::Error>;

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    /// Its path, without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    /// The JSON-RPC message, or null.
    pub(crate) message: Value,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn rpc(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a text header"))
    }
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) seen: Vec<Seen>,
    pub(crate) accepted: usize,
    pub(crate) open: usize,
}

impl State {
    pub(crate) fn count(&self, rpc: &str) -> usize {
        self.seen.iter().filter(|seen| seen.rpc() == rpc).count()
    }
}

type Script = Arc<dyn Fn(Seen) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// A partner in this process.
pub(crate) struct Server {
    pub(crate) url: String,
    state: Arc<watch::Sender<State>>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Serves whatever the script answers.
    pub(crate) async fn scripted<F>(script: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let script: Script = Arc::new(move |seen| Box::pin(script(seen)));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let state = Arc::new(watch::Sender::new(State::default()));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state), script));
        Self { url, state, accepting }
    }

    /// Behaves but for tool calls, which the script answers.
    pub(crate) async fn with_tool<F>(script: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let script = Arc::new(script);
        Self::scripted(move |seen| {
            let script = Arc::clone(&script);
            async move {
                match seen.rpc() {
                    "tools/call" => script(seen).await,
                    _ => lifecycle(&seen, None),
                }
            }
        })
        .await
    }

    /// Behaves, and answers each tool call with a text.
    pub(crate) async fn answering(text: &'static str) -> Self {
        Self::with_tool(move |seen| async move { json_response(&result(&seen, text)) }).await
    }

    pub(crate) fn state(&self) -> watch::Ref<'_, State> {
        self.state.borrow()
    }

    /// Waits until the server's state is as wanted.
    pub(crate) async fn until(&self, what: &str, mut wanted: impl FnMut(&State) -> bool) {
        let mut states = self.state.subscribe();
        let waited = tokio::time::timeout(PATIENCE, states.wait_for(|state| wanted(state))).await;
        assert!(waited.is_ok(), "waited in vain: {what}; now {:?}", self.state());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<watch::Sender<State>>, script: Script) {
    let mut serving = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        state.send_modify(|state| {
            state.accepted += 1;
            state.open += 1;
        });
        let (state, script) = (Arc::clone(&state), Arc::clone(&script));
        serving.spawn(async move {
            let service = hyper::service::service_fn(|request: Request<Incoming>| {
                let (state, script) = (Arc::clone(&state), Arc::clone(&script));
                async move {
                    let seen = see(request).await;
                    state.send_modify(|state| state.seen.push(seen.clone()));
                    Ok::<_, Infallible>(script(seen).await)
                }
            });
            // A client that leaves in the middle is part of these tests.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            state.send_modify(|state| state.open -= 1);
        });
    }
}

async fn see(request: Request<Incoming>) -> Seen {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message = serde_json::from_slice(&body).unwrap_or_default();
    let (path, query) = (head.uri.path().to_owned(), head.uri.query().unwrap_or_default().to_owned());
    Seen { method: head.method, path, query, headers: head.headers, message, body }
}

/// The answer to everything around tool calls.
pub(crate) fn lifecycle(seen: &Seen, session: Option<&str>) -> Response<Body> {
    let mut response = match seen.rpc() {
        "initialize" => json_response(&json!({
            "jsonrpc": "2.0",
            "id": seen.message["id"],
            "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "scripted", "version": "1"},
            },
        })),
        "" if seen.method == Method::DELETE => status(200),
        "" if seen.method == Method::GET => status(405),
        _ => status(202),
    };
    if let Some(session) = session.filter(|_| seen.rpc() == "initialize") {
        response.headers_mut().insert("mcp-session-id", session.parse().expect("a header"));
    }
    response
}

/// A tool result that answers `seen`.
pub(crate) fn result(seen: &Seen, text: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": seen.message["id"],
        "result": {"content": [{"type": "text", "text": text}]},
    })
}

pub(crate) fn status(status: u16) -> Response<Body> {
    let mut response = body(Full::default().map_err(|never| match never {}).boxed());
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response
}

pub(crate) fn json_response(message: &Value) -> Response<Body> {
    raw_json(message.to_string())
}

pub(crate) fn raw_json(text: impl Into<Bytes>) -> Response<Body> {
    with_type("application/json", Full::new(text.into()).map_err(|never| match never {}).boxed())
}

/// An event stream; an error in it breaks the connection off.
pub(crate) fn events(pieces: impl Stream<Item = io::Result<String>> + Send + Sync + 'static) -> Response<Body> {
    with_type("text/event-stream", streamed(pieces))
}

/// A body of pieces.
pub(crate) fn streamed(pieces: impl Stream<Item = io::Result<String>> + Send + Sync + 'static) -> Body {
    BodyExt::boxed(StreamBody::new(pieces.map(|piece| piece.map(|text| Frame::data(text.into())))))
}

/// Pieces that are there at once.
pub(crate) fn pieces<const N: usize>(pieces: [String; N]) -> impl Stream<Item = io::Result<String>> + Send + Sync {
    stream::iter(pieces.map(Ok))
}

pub(crate) fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

pub(crate) fn with_type(media_type: &str, content: Body) -> Response<Body> {
    let mut response = body(content);
    response.headers_mut().insert("content-type", media_type.parse().expect("a header"));
    response
}

fn body(content: Body) -> Response<Body> {
    Response::new(content)
}

/// A client that may call this machine.
pub(crate) fn client() -> PartnerClient {
    client_with(PartnerClientConfig::default())
}

pub(crate) fn client_with(config: PartnerClientConfig) -> PartnerClient {
    PartnerClient::new(&PartnerClientConfig { allow_loopback_http: true, ..config }).expect("valid settings")
}

pub(crate) fn partner(id: &str, url: &str) -> Arc<Partner> {
    Arc::new(Partner {
        id: PartnerId::parse(id).expect("an identifier"),
        name: id.to_owned(),
        endpoint: Endpoint::mcp(url),
        mappings: Mappings::new(),
        listings: Vec::new(),
        token: None,
        sign_in: None,
    })
}

pub(crate) async fn call(client: &PartnerClient, partner: &Arc<Partner>) -> Result<String, CallFailure> {
    call_within(client, partner, None, CALL).await
}

pub(crate) async fn call_within(
    client: &PartnerClient,
    partner: &Arc<Partner>,
    bearer: Option<&Secret>,
    timeout: Duration,
) -> Result<String, CallFailure> {
    let arguments = r#"{"city": "Pune", "big": 12345678901234567890123}"#;
    let call = ToolCall { bearer, ..ToolCall::new("test.search", "search", arguments, timeout) };
    client.call(partner, call).await.map(|answer| answer.text)
}
