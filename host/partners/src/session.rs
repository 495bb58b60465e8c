//! One MCP session with one partner, kept for many calls.
//!
//! rmcp holds the session: it opens it, agrees on the protocol revision, and ends it when it is dropped. Its transport here
//! is [`Messenger`](crate::messenger). What was agreed on is kept here in the open, as a [`Target`] and as the metadata of
//! requests, and that is all that a call needs: it goes through [`exchange`](crate::exchange) in the caller's own future,
//! and rmcp has no part in it.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::Duration;

use http::Uri;
use http::header::{HeaderMap, HeaderValue};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner_error::protocol;
use intent_gateway_domain::ports::ToolCall;
use intent_gateway_domain::probe::{Lifecycle, PROBE_PAGES_MAX, PROBE_TOOLS_MAX};
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressToken, ProtocolVersion, RequestId, RequestMetaObject,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answer::{Message, RpcError, parse_tool_answer};
use crate::carried;
use crate::exchange::{ExchangeFailure, Reply, Wanted, encode};
use crate::messenger::{INITIALIZE_TIMEOUT, Messenger, Opening, initialize_timeout};
use crate::mirror::{self, MarkError, Mirror};
use crate::wire::{METHOD, NAME, PROTOCOL_VERSION, Target, Wire};

/// Smallest number of a call. rmcp numbers from 0 what it sends itself: a handful of requests in the life of a session.
const CALL_NUMBER_MIN: i64 = 1_000_000;
/// Numbers of calls, unique in this process and begun anywhere, so that a partner without sessions can tell which
/// call is meant by a note that it was given up. They stay where every JSON reader is exact.
static NEXT_CALL_NUMBER: LazyLock<AtomicI64> = LazyLock::new(|| {
    let somewhere = RandomState::new().hash_one(()) >> 13;
    AtomicI64::new(CALL_NUMBER_MIN.saturating_add_unsigned(somewhere))
});
/// Wait for a partner to take note that a call was given up.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// Notes of that kind under way for one session; further ones are not sent.
const CANCELS_MAX: usize = 8;
/// Wait for the end of a session that was opened for a probe.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A session that is ready for calls.
pub(crate) struct Session {
    service: RunningService<RoleClient, ClientConfig>,
    revision: ProtocolVersion,
    wire: Wire,
    /// Where calls go, and what each of them carries in headers.
    target: Target,
    /// What each request carries in `_meta`, but for the token of its progress.
    meta: RequestMetaObject,
    mirrors: OnceCell<HashMap<String, Result<Mirror, MarkError>>>,
    cancels: Arc<Semaphore>,
    _stop: DropGuard,
}

fn next_id() -> i64 {
    NEXT_CALL_NUMBER.fetch_add(1, Ordering::Relaxed)
}

fn this_client() -> Implementation {
    Implementation::new("intent-gateway", env!("CARGO_PKG_VERSION"))
}

impl Session {
    /// Opens a session in the order given, and says how it was opened.
    pub(crate) async fn open(
        wire: Wire,
        uri: Uri,
        bearer: Option<HeaderValue>,
        first: Lifecycle,
    ) -> Result<Self, CallFailure> {
        Self::open_watched(wire, uri, bearer, first).await.0
    }

    /// Like [`Session::open`], with a copy of the partner's opening answer, whether rmcp accepts it or not.
    pub(crate) async fn open_watched(
        wire: Wire,
        uri: Uri,
        bearer: Option<HeaderValue>,
        first: Lifecycle,
    ) -> (Result<Self, CallFailure>, Option<Opening>) {
        let messenger = Messenger::new(wire, uri, bearer);
        let outcome = Self::open_through(&messenger, first).await;
        let opening = messenger.opening().take();
        (outcome, opening)
    }

    /// With `initialize`, as the platform's partners are told (spec 1, Endpoints), and with the discovery that replaced
    /// it in revision 2026-07-28, where a partner refuses that; or the other way round. What a partner answers to
    /// `initialize` says more than its answer to a method that it may never have heard of.
    async fn open_through(messenger: &Messenger, first: Lifecycle) -> Result<Self, CallFailure> {
        let failure = match Self::open_with(messenger, first).await {
            Err(failure) if refuses_opening(&failure, first) => failure,
            outcome => return outcome,
        };
        match first {
            Lifecycle::Initialize => Self::open_with(messenger, Lifecycle::Discover).await.map_err(|_| failure),
            Lifecycle::Discover => Self::open_with(messenger, Lifecycle::Initialize).await,
        }
    }

    async fn open_with(messenger: &Messenger, lifecycle: Lifecycle) -> Result<Self, CallFailure> {
        let lifecycle = match lifecycle {
            Lifecycle::Initialize => ClientLifecycleMode::Initialize,
            Lifecycle::Discover => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        };
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        let messenger = Messenger { stop, failure: Arc::default(), ..messenger.clone() };
        let config =
            StreamableHttpClientTransportConfig::with_uri(messenger.uri.to_string()).reinit_on_expired_session(false);
        let transport = StreamableHttpClientTransport::with_client(messenger.clone(), config);
        let client = ClientConfig::new(ClientCapabilities::default(), this_client())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let opening = tokio::time::timeout(INITIALIZE_TIMEOUT, client.serve_with_lifecycle(transport, lifecycle));
        match opening.await {
            Ok(Ok(service)) => Self::opened(service, &messenger, guard),
            Ok(Err(error)) => {
                let noted = messenger.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(noted.unwrap_or_else(|| open_failure(&error)))
            }
            Err(_) => Err(initialize_timeout()),
        }
    }

    /// Keeps what was agreed on.
    fn opened(
        service: RunningService<RoleClient, ClientConfig>,
        messenger: &Messenger,
        stop: DropGuard,
    ) -> Result<Self, CallFailure> {
        let peer = service.peer_info().ok_or_else(|| protocol("the partner agreed on no revision"))?;
        let revision = peer.protocol_version.clone();
        let sessionless = !revision.has_initialize();
        let version = HeaderValue::from_str(revision.as_str()).ok().map(|value| (PROTOCOL_VERSION, value));
        let session = messenger.opening().as_ref().and_then(|opening| opening.session.clone());
        let target = Target { sessionless, ..messenger.target(version, session) };
        let meta = if sessionless {
            RequestMetaObject::with_client_context(revision.clone(), this_client(), ClientCapabilities::default())
        } else {
            RequestMetaObject::new()
        };
        Ok(Self {
            service,
            revision,
            wire: messenger.wire.clone(),
            target,
            meta,
            mirrors: OnceCell::new(),
            cancels: Arc::new(Semaphore::new(CANCELS_MAX)),
            _stop: stop,
        })
    }

    /// Whether rmcp has given the session up.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// How a session with this partner is best opened.
    pub(crate) fn lifecycle(&self) -> Lifecycle {
        if self.target.sessionless { Lifecycle::Discover } else { Lifecycle::Initialize }
    }

    /// Calls a tool and returns the payload of its result.
    pub(crate) async fn call_tool(&self, call: &ToolCall<'_>, arguments: &RawValue) -> Result<String, ExchangeFailure> {
        let (id, method) = (next_id(), "tools/call");
        let mut target = self.target(method, Some(call.tool));
        if target.sessionless {
            self.mirror(call.tool, arguments, &mut target.headers).await?;
        }
        target.headers.extend(carried::headers(call.trace));
        let params = ToolParams { meta: self.meta(id), name: call.tool, arguments };
        let body = encode(&Outgoing { jsonrpc: "2.0", id: Some(id), method, params })?;
        let number = id.to_string();
        let wanted =
            Wanted { id: &number, parse: parse_tool_answer, progress: call.progress, error_text: call.error_text };
        let mut under_way = UnderWay { session: self, target: &target, id, over: false };
        let reply = self.wire.call(&target, body, wanted).await;
        under_way.over = true;
        let Reply { answer, retry_after_ms, .. } = reply?;
        if let (Some(error_text), Some(text)) = (call.error_text, answer.error_text()) {
            error_text.note(&text);
        }
        let payload = match answer.outcome {
            Ok(result) => result.payload(retry_after_ms),
            Err(error) => Err(error.failure(retry_after_ms)),
        };
        payload.map_err(ExchangeFailure::Failed)
    }

    /// The target of a request. Since revision 2026-07-28 its headers repeat what it asks for.
    fn target(&self, method: &'static str, tool: Option<&str>) -> Target {
        let mut target = self.target.clone();
        if target.sessionless {
            target.headers.insert(METHOD, HeaderValue::from_static(method));
            let name = tool.and_then(|tool| HeaderValue::try_from(mirror::encode(tool.to_owned())).ok());
            target.headers.extend(name.map(|name| (NAME, name)));
        }
        target
    }

    fn meta(&self, id: i64) -> RequestMetaObject {
        let mut meta = self.meta.clone();
        meta.set_progress_token(ProgressToken(RequestId::Number(id)));
        meta
    }

    /// Adds the headers that repeat arguments of a call, where the tool wants any. Which tools do is read once for a
    /// session.
    async fn mirror(&self, tool: &str, arguments: &RawValue, headers: &mut HeaderMap) -> Result<(), ExchangeFailure> {
        let mirrors = self.mirrors.get_or_try_init(|| Box::pin(self.read_mirrors())).await?;
        match mirrors.get(tool) {
            None => Ok(()),
            Some(Err(error)) => Err(protocol(&format!("a tool that may not be called: {error}")).into()),
            Some(Ok(mirror)) => {
                let arguments: Value =
                    serde_json::from_str(arguments.get()).map_err(|error| protocol(&error.to_string()))?;
                headers.extend(mirror.headers(&arguments));
                Ok(())
            }
        }
    }

    /// The tools that want arguments repeated in headers, and those that say so wrongly. What lies beyond the bounds of
    /// a probe is not looked at: no partner is approved with more.
    async fn read_mirrors(&self) -> Result<HashMap<String, Result<Mirror, MarkError>>, CallFailure> {
        let mut mirrors = HashMap::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PROBE_PAGES_MAX {
            let page = self.list_tools(cursor.as_deref()).await?;
            for tool in page["tools"].as_array().into_iter().flatten().take(PROBE_TOOLS_MAX) {
                let mirror = Mirror::of(&tool["inputSchema"]);
                if let Some(name) = tool["name"].as_str()
                    && mirror.as_ref().map_or(true, |mirror| !mirror.is_empty())
                {
                    mirrors.insert(name.to_owned(), mirror);
                }
            }
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() || mirrors.len() >= PROBE_TOOLS_MAX {
                break;
            }
        }
        Ok(mirrors)
    }

    /// One page of `tools/list`, as the partner wrote it.
    pub(crate) async fn list_tools(&self, cursor: Option<&str>) -> Result<Value, CallFailure> {
        let ended = |failure| match failure {
            ExchangeFailure::SessionLost => protocol("the partner ended a session that it had just issued"),
            ExchangeFailure::ToolChanged => protocol("the partner wants other headers with `tools/list`"),
            ExchangeFailure::Failed(failure) => failure,
        };
        let (id, method) = (next_id(), "tools/list");
        let params = ListParams { meta: self.meta(id), cursor };
        let body = encode(&Outgoing { jsonrpc: "2.0", id: Some(id), method, params })?;
        let (target, number) = (self.target(method, None), id.to_string());
        let wanted = Wanted::answer(&number, Message::<Value>::parse);
        let Reply { answer, retry_after_ms, .. } = self.wire.call(&target, body, wanted).await.map_err(ended)?;
        answer.outcome.map_err(|error| error.failure(retry_after_ms))
    }

    /// The protocol revision that was agreed on.
    pub(crate) fn revision(&self) -> &ProtocolVersion {
        &self.revision
    }

    /// Ends the session and waits a little for the partner to take note.
    pub(crate) async fn close(mut self) {
        // Best effort: a partner that does not take note loses a session that nobody uses.
        let _ = self.service.close_with_timeout(CLOSE_TIMEOUT).await;
    }

    /// Tells the partner, in the background and without insisting, that a call was given up. A closed connection says so
    /// since revision 2026-07-28, and means nothing before (MCP, Cancellation).
    fn tell_given_up(&self, target: &Target, id: i64) {
        if target.sessionless {
            return;
        }
        let Ok(permit) = Arc::clone(&self.cancels).try_acquire_owned() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let params = CancelledParams { request_id: id, reason: "the caller gave up" };
        let note = Outgoing { jsonrpc: "2.0", id: None, method: "notifications/cancelled", params };
        let Ok(body) = encode(&note) else { return };
        let (wire, target) = (self.wire.clone(), target.clone());
        runtime.spawn(async move {
            let _permit = permit;
            // Best effort: whether it arrives or not, the call is over for the gateway.
            let _ = tokio::time::timeout(CANCEL_TIMEOUT, wire.notify(&target, body)).await;
        });
    }
}

/// Notices when a call is dropped before it is over.
struct UnderWay<'a> {
    session: &'a Session,
    target: &'a Target,
    id: i64,
    over: bool,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.session.tell_given_up(self.target, self.id);
        }
    }
}

/// Whether a partner answers, but not to this way of opening: such a partner may speak the other one alone. How it says
/// so is not prescribed; to the newer way, some older servers answer with an empty success.
fn refuses_opening(failure: &CallFailure, tried: Lifecycle) -> bool {
    match failure {
        CallFailure::Platform { code, .. } => code != "PARTNER_MAINTENANCE",
        CallFailure::UnknownCode { .. } => true,
        CallFailure::HttpStatus(status) => (400..500).contains(status),
        CallFailure::Protocol(_) => tried == Lifecycle::Discover,
        _ => false,
    }
}

fn open_failure(error: &ClientInitializeError) -> CallFailure {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            let data = error.data.as_ref().and_then(|data| serde_json::value::to_raw_value(data).ok());
            RpcError { code: error.code.0.into(), message: error.message.to_string(), data }.failure(None)
        }
        error => protocol(&error.to_string()),
    }
}

/// A JSON-RPC message to a partner; a notification has no number.
#[derive(Serialize)]
struct Outgoing<P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    method: &'static str,
    params: P,
}

/// Of `tools/call`. The arguments go out exactly as they came in: the platform adds nothing to them (spec 1).
#[derive(Serialize)]
struct ToolParams<'a> {
    #[serde(rename = "_meta")]
    meta: RequestMetaObject,
    name: &'a str,
    arguments: &'a RawValue,
}

/// Of `tools/list`.
#[derive(Serialize)]
struct ListParams<'a> {
    #[serde(rename = "_meta")]
    meta: RequestMetaObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

/// Of `notifications/cancelled`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams {
    request_id: i64,
    reason: &'static str,
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::{BodyExt as _, Full};
    use hyper::body::Incoming;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use rmcp::model::CallToolRequestParams;
    use serde_json::json;
    use tokio::net::TcpListener;

    use super::*;
    use crate::{PartnerClient, PartnerClientConfig};

    /// Everything that was posted: the headers, and the message without what numbers it.
    type Posted = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

    /// Agrees on a revision and has one tool.
    async fn answer(revision: &str, posted: &Posted, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.expect("a whole request").to_bytes();
        let mut message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            }),
            Some("server/discover") => json!({
                "resultType": "complete", "supportedVersions": [revision], "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"}, "ttlMs": 0, "cacheScope": "private",
            }),
            Some("tools/list") => json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}),
            _ => json!({"resultType": "complete", "content": [{"type": "text", "text": "{}"}]}),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        let token = message.pointer_mut("/params/_meta/progressToken").map(Value::take);
        assert!(message["method"] != "tools/call" || token.is_some_and(|token| token.is_number()));
        message["id"].take();
        let mut headers = head.headers;
        headers.remove("content-length");
        posted.lock().expect("whole").push((headers, message));
        let mut response = Response::new(Full::from(answer));
        response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("session-1"));
        response
    }

    async fn serve(revision: &'static str) -> (Uri, Posted) {
        let posted = Posted::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let uri = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let seen = Arc::clone(&posted);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let posted = Arc::clone(&seen);
                let service = service_fn(move |request| {
                    let posted = Arc::clone(&posted);
                    async move { Ok::<_, Infallible>(answer(revision, &posted, request).await) }
                });
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        (uri.parse().expect("an address"), posted)
    }

    /// A call does not pass through rmcp, and yet it must carry what rmcp has a request carry in each revision.
    #[tokio::test]
    async fn a_call_is_the_message_that_rmcp_would_send() {
        let config = PartnerClientConfig { allow_loopback_http: true, ..PartnerClientConfig::default() };
        let client = PartnerClient::new(&config).expect("sound settings");
        for (revision, lifecycle) in [
            ("2025-06-18", Lifecycle::Initialize),
            ("2025-11-25", Lifecycle::Initialize),
            ("2026-07-28", Lifecycle::Initialize),
            ("2026-07-28", Lifecycle::Discover),
        ] {
            let (uri, posted) = serve(revision).await;
            let bearer = Some(HeaderValue::from_static("Bearer abc"));
            let opened = Session::open(client.wire().clone(), uri, bearer, lifecycle).await;
            let session = opened.expect("a session");
            for tool in ["search", " søk"] {
                let arguments = json!({"city": "Pune"});
                let params =
                    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().expect("one"));
                session.service.call_tool(params).await.expect("an answer");
                let raw = serde_json::value::to_raw_value(&arguments).expect("JSON");
                let call = ToolCall::new("test.search", tool, raw.get(), CLOSE_TIMEOUT);
                session.call_tool(&call, &raw).await.expect("an answer");
            }
            session.service.list_tools(None).await.expect("a list");
            session.list_tools(None).await.expect("a list");

            let posted = posted.lock().expect("whole");
            for (method, tool) in [("tools/call", "search"), ("tools/call", " søk"), ("tools/list", "")] {
                let of = |message: &Value| {
                    message["method"] == method && (tool.is_empty() || message["params"]["name"] == tool)
                };
                let sent: Vec<_> = posted.iter().filter(|(_, message)| of(message)).collect();
                assert!(sent.len() >= 2, "{method} in {revision}");
                assert!(sent.iter().all(|one| *one == sent[0]), "{method} in {revision}: {sent:#?}");
            }
        }
    }
}
