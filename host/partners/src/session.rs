//! One MCP session with one partner, kept for many calls.
//!
//! rmcp holds the session: it negotiates the protocol revision, numbers the requests, knows which headers and which
//! metadata each must carry, and ends the session when it is dropped. Its transport here is [`Messenger`](crate::messenger).
//!
//! A tool call does not travel through rmcp. The first call of a tool has rmcp prepare it and keeps what it learns, an
//! [`Outline`]; this call and all later ones of the tool then talk HTTP in the caller's own future. So a payload never
//! passes through rmcp's typed results, one partner's calls run on as many threads as there are callers, a caller that
//! leaves takes its request along, and the three tasks that rmcp passes a request through are paid for once.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http::header::{HeaderName, HeaderValue};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::ToolCall;
use intent_gateway_domain::probe::{Lifecycle, PROBE_PAGES_MAX, PROBE_TOOLS_MAX};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, GetExtensions as _,
    Implementation, ListToolsRequest, ProgressToken, ProtocolVersion, RequestId, RequestMetaObject, ServerPeerInfo,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceError};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{OnceCell, Semaphore, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answer::{Message, RpcError, parse_tool_answer, protocol};
use crate::carried;
use crate::exchange::{ExchangeFailure, Reply, Wanted};
use crate::messenger::{HandOver, INITIALIZE_TIMEOUT, Messenger, Opening, Outline, initialize_timeout};
use crate::mirror::{MarkError, Mirror};
use crate::wire::{Target, Wire};

/// Requests that rmcp prepares at once for one session. They hold nothing but a place in its queue, and the bound on
/// calls is the gate of [`crate::client`], so this only has to be out of the way.
const PREPARED_AT_ONCE_MAX: usize = 1_024;
/// Smallest number of a request that does not travel through rmcp, which numbers from 0 what it sends itself: a handful
/// of requests in the life of a session.
const CALL_NUMBER_MIN: i64 = 1_000_000;
/// Numbers of requests, unique in this process and begun anywhere, so that a partner without sessions can tell which
/// call is meant by a note that it was given up. They stay where every JSON reader is exact.
static NEXT_CALL_NUMBER: LazyLock<AtomicI64> = LazyLock::new(|| {
    let somewhere = RandomState::new().hash_one(()) >> 13;
    AtomicI64::new(CALL_NUMBER_MIN.saturating_add_unsigned(somewhere))
});
/// Tools whose outlines are kept for one session; intents have fewer than ten each.
const OUTLINES_MAX: usize = 256;
/// Wait for a partner to take note that a call was given up.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// Notes of that kind under way for one session; further ones are not sent.
const CANCELS_MAX: usize = 8;
/// Wait for the end of a session that was opened for a probe.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A session that is ready for calls.
pub(crate) struct Session {
    service: RunningService<RoleClient, ClientConfig>,
    messenger: Messenger,
    outlines: Mutex<HashMap<String, Arc<Outline>>>,
    /// Whether the revision is one without sessions (MCP 2026-07-28).
    sessionless: bool,
    mirrors: OnceCell<HashMap<String, Result<Mirror, MarkError>>>,
    cancels: Arc<Semaphore>,
    _stop: DropGuard,
}

fn next_id() -> RequestId {
    RequestId::Number(NEXT_CALL_NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl Session {
    /// Opens a session in the order given, and says how it was opened.
    pub(crate) async fn open(
        wire: Wire,
        uri: Uri,
        bearer: Option<HeaderValue>,
        first: Lifecycle,
    ) -> Result<Self, CallFailure> {
        Self::open_through(Messenger::new(wire, uri, bearer), first).await
    }

    /// Like [`Session::open`], with a copy of the partner's opening answer, whether rmcp accepts it or not.
    pub(crate) async fn open_watched(
        wire: Wire,
        uri: Uri,
        bearer: Option<HeaderValue>,
        first: Lifecycle,
    ) -> (Result<Self, CallFailure>, Option<Opening>) {
        let opening = Arc::new(Mutex::new(None));
        let messenger = Messenger { opening: Some(Arc::clone(&opening)), ..Messenger::new(wire, uri, bearer) };
        let outcome = Self::open_through(messenger, first).await;
        let kept = opening.lock().unwrap_or_else(PoisonError::into_inner).take();
        (outcome, kept)
    }

    /// With `initialize`, as the platform's partners are told (spec 1, Endpoints), and with the discovery that replaced
    /// it in revision 2026-07-28, where a partner refuses that; or the other way round. What a partner answers to
    /// `initialize` says more than its answer to a method that it may never have heard of.
    async fn open_through(messenger: Messenger, first: Lifecycle) -> Result<Self, CallFailure> {
        let failure = match Self::open_with(&messenger, first).await {
            Err(failure) if refuses_opening(&failure, first) => failure,
            outcome => return outcome,
        };
        match first {
            Lifecycle::Initialize => Self::open_with(&messenger, Lifecycle::Discover).await.map_err(|_| failure),
            Lifecycle::Discover => Self::open_with(&messenger, Lifecycle::Initialize).await,
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
        let config = StreamableHttpClientTransportConfig::with_uri(messenger.uri.to_string())
            .max_concurrent_requests(PREPARED_AT_ONCE_MAX)
            .reinit_on_expired_session(false);
        let transport = StreamableHttpClientTransport::with_client(messenger.clone(), config);
        let client = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("intent-gateway", env!("CARGO_PKG_VERSION")),
        )
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let opening = tokio::time::timeout(INITIALIZE_TIMEOUT, client.serve_with_lifecycle(transport, lifecycle));
        match opening.await {
            Ok(Ok(service)) => Ok(Self {
                sessionless: service.peer_info().is_some_and(|peer| !peer.protocol_version.has_initialize()),
                service,
                messenger,
                outlines: Mutex::default(),
                mirrors: OnceCell::new(),
                cancels: Arc::new(Semaphore::new(CANCELS_MAX)),
                _stop: guard,
            }),
            Ok(Err(error)) => {
                let noted = messenger.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(noted.unwrap_or_else(|| open_failure(&error)))
            }
            Err(_) => Err(initialize_timeout()),
        }
    }

    /// Whether rmcp has given the session up.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// How a session with this partner is best opened.
    pub(crate) fn lifecycle(&self) -> Lifecycle {
        if self.sessionless { Lifecycle::Discover } else { Lifecycle::Initialize }
    }

    /// Calls a tool and returns the payload of its result.
    pub(crate) async fn call_tool(
        &self,
        call: &ToolCall<'_>,
        arguments: &RawValue,
        bearer: Option<HeaderValue>,
    ) -> Result<String, ExchangeFailure> {
        let tool = call.tool;
        let outline = self.outline(tool).await?;
        let mut headers = outline.headers.clone();
        if self.sessionless {
            self.mirror(tool, arguments, &mut headers).await?;
        }
        headers.extend(carried::headers(call.trace));
        let id = next_id();
        let mut meta = outline.meta.clone();
        meta.set_progress_token(ProgressToken(id.clone()));
        let target = Target { bearer, ..self.target(headers, outline.session.clone()) };
        let params = ToolParams { meta: &meta, name: tool, arguments };
        let request = ToolRequest { jsonrpc: "2.0", id: &id, method: "tools/call", params };
        let body = serde_json::to_vec(&request).map_err(|error| protocol(&error.to_string()))?;
        let mut given_up = GivenUp { session: self, call: Some((target, id)) };
        let Some((target, id)) = &given_up.call else { return Err(ExchangeFailure::SessionLost) };
        let id = id.to_string();
        let wanted = Wanted { id: &id, parse: parse_tool_answer, progress: call.progress };
        let reply = self.messenger.wire.request(target, body.into(), wanted).await;
        given_up.call = None;
        let Reply { answer, retry_after_ms, .. } = reply?;
        let payload = match answer.outcome {
            Ok(result) => result.payload(retry_after_ms),
            Err(error) => Err(error.failure(retry_after_ms)),
        };
        payload.map_err(ExchangeFailure::Failed)
    }

    /// The outline of a tool's calls.
    async fn outline(&self, tool: &str) -> Result<Arc<Outline>, ExchangeFailure> {
        if let Some(outline) = self.outlines().get(tool) {
            return Ok(Arc::clone(outline));
        }
        let request = CallToolRequest::new(CallToolRequestParams::new(tool.to_owned()));
        let outline = Arc::new(self.prepared(ClientRequest::CallToolRequest(request)).await?);
        let mut outlines = self.outlines();
        if outlines.len() >= OUTLINES_MAX {
            outlines.clear();
        }
        outlines.insert(tool.to_owned(), Arc::clone(&outline));
        Ok(outline)
    }

    /// Has rmcp prepare a request, and takes it over before it is sent.
    async fn prepared(&self, mut request: ClientRequest) -> Result<Outline, ExchangeFailure> {
        let (sender, receiver) = oneshot::channel();
        request.extensions_mut().insert(HandOver(Arc::new(Mutex::new(Some(sender)))));
        // rmcp fails here only when it has given the session up.
        let lost = |_: ServiceError| ExchangeFailure::SessionLost;
        self.service.send_request(request).await.map_err(lost)?;
        receiver.await.map_err(|_| ExchangeFailure::SessionLost)
    }

    /// Adds the headers that repeat arguments of a call, where the tool wants any. Which tools do is read once for a
    /// session.
    async fn mirror(
        &self,
        tool: &str,
        arguments: &RawValue,
        headers: &mut HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), ExchangeFailure> {
        let mirrors = self.mirrors.get_or_try_init(|| self.read_mirrors()).await?;
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

    fn target(&self, headers: HashMap<HeaderName, HeaderValue>, session: Option<Arc<str>>) -> Target {
        Target { sessionless: self.sessionless, ..self.messenger.target(headers, session) }
    }

    /// One page of `tools/list`, as the partner wrote it.
    pub(crate) async fn list_tools(&self, cursor: Option<&str>) -> Result<Value, CallFailure> {
        let ended = |failure| match failure {
            ExchangeFailure::SessionLost => protocol("the partner ended a session that it had just issued"),
            ExchangeFailure::ToolChanged => protocol("the partner wants other headers with `tools/list`"),
            ExchangeFailure::Failed(failure) => failure,
        };
        let prepare = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        let Outline { session, headers, mut meta } = self.prepared(prepare).await.map_err(ended)?;
        let id = next_id();
        meta.set_progress_token(ProgressToken(id.clone()));
        let params = ListParams { meta: &meta, cursor };
        let request = ListRequest { jsonrpc: "2.0", id: &id, method: "tools/list", params };
        let body = serde_json::to_vec(&request).map_err(|error| protocol(&error.to_string()))?;
        let target = self.target(headers, session);
        let id = id.to_string();
        let wanted = Wanted::answer(&id, Message::<Value>::parse);
        let Reply { answer, retry_after_ms, .. } =
            self.messenger.wire.request(&target, body.into(), wanted).await.map_err(ended)?;
        answer.outcome.map_err(|error| error.failure(retry_after_ms))
    }

    /// What rmcp understood of the partner.
    pub(crate) fn peer(&self) -> Option<Arc<ServerPeerInfo>> {
        self.service.peer_info()
    }

    /// Ends the session and waits a little for the partner to take note.
    pub(crate) async fn close(mut self) {
        // Best effort: a partner that does not take note loses a session that nobody uses.
        let _ = self.service.close_with_timeout(CLOSE_TIMEOUT).await;
    }

    fn outlines(&self) -> MutexGuard<'_, HashMap<String, Arc<Outline>>> {
        self.outlines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the partner, in the background and without insisting, that a call was given up. A closed connection says so
    /// since revision 2026-07-28, and means nothing before (MCP, Cancellation).
    fn tell_given_up(&self, target: Target, id: &RequestId) {
        if self.sessionless {
            return;
        }
        let Ok(permit) = Arc::clone(&self.cancels).try_acquire_owned() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let params = CancelledParams { request_id: id, reason: "the caller gave up" };
        let note = Cancelled { jsonrpc: "2.0", method: "notifications/cancelled", params };
        let Ok(body) = serde_json::to_vec(&note) else { return };
        let wire = self.messenger.wire.clone();
        runtime.spawn(async move {
            let _permit = permit;
            // Best effort: whether it arrives or not, the call is over for the gateway.
            let _ = tokio::time::timeout(CANCEL_TIMEOUT, wire.notify(&target, Bytes::from(body))).await;
        });
    }
}

/// Notices when a call is dropped before its answer has come.
struct GivenUp<'a> {
    session: &'a Session,
    call: Option<(Target, RequestId)>,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some((target, id)) = self.call.take() {
            self.session.tell_given_up(target, &id);
        }
    }
}

/// Whether a partner answers, but not to this way of opening: such a partner may speak the other one alone. How it says
/// so is not prescribed; to the newer way, some older servers answer with an empty success.
fn refuses_opening(failure: &CallFailure, tried: Lifecycle) -> bool {
    match failure {
        CallFailure::Platform { code, .. } => code != "PARTNER_MAINTENANCE",
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

/// A `tools/call` request. The arguments go out exactly as they came in: the platform adds nothing to them (spec 1).
#[derive(Serialize)]
struct ToolRequest<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'static str,
    params: ToolParams<'a>,
}

#[derive(Serialize)]
struct ToolParams<'a> {
    #[serde(rename = "_meta")]
    meta: &'a RequestMetaObject,
    name: &'a str,
    arguments: &'a RawValue,
}

/// A `tools/list` request.
#[derive(Serialize)]
struct ListRequest<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'static str,
    params: ListParams<'a>,
}

#[derive(Serialize)]
struct ListParams<'a> {
    #[serde(rename = "_meta")]
    meta: &'a RequestMetaObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

#[derive(Serialize)]
struct Cancelled<'a> {
    jsonrpc: &'static str,
    method: &'static str,
    params: CancelledParams<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams<'a> {
    request_id: &'a RequestId,
    reason: &'static str,
}
