//! rmcp's way to a partner: what it sends to open a session and to end it travels over [`Wire`], as calls do.
//!
//! Not here: the calls of a session. rmcp has no part in them ([`crate::exchange`] says why).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::header::{HeaderName, HeaderValue};
use http::{StatusCode, Uri};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::PROBE_CALL_TIMEOUT;
use intent_gateway_domain::partner_error::protocol;
use intent_gateway_domain::probe::Lifecycle;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::answer::{Message, RpcError};
use crate::exchange::{ExchangeFailure, Reply, Wanted, encode};
use crate::wire::{Target, Wire};

/// Wait for `initialize` and for each message around it (spec 1, Limits: a probe's call).
pub(crate) const INITIALIZE_TIMEOUT: Duration = PROBE_CALL_TIMEOUT;

/// rmcp's way to the partner.
#[derive(Clone)]
pub(crate) struct Messenger {
    pub(crate) wire: Wire,
    pub(crate) uri: Uri,
    pub(crate) bearer: Option<HeaderValue>,
    /// Cancelled when nobody needs the session any more. rmcp does not give up a first message that is never
    /// answered.
    pub(crate) stop: CancellationToken,
    /// The last failure as it is to be reported; rmcp keeps only its text.
    pub(crate) failure: Arc<Mutex<Option<CallFailure>>>,
    /// The partner's last answer to an opening.
    pub(crate) opening: Arc<Mutex<Option<Opening>>>,
}

/// How a partner answered the opening of a session, in its own words: rmcp drops members that it does not know.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) lifecycle: Lifecycle,
    /// The session that it issued.
    pub(crate) session: Option<Arc<str>>,
    pub(crate) result: Box<RawValue>,
}

impl Messenger {
    pub(crate) fn new(wire: Wire, uri: Uri, bearer: Option<HeaderValue>) -> Self {
        Self { wire, uri, bearer, stop: CancellationToken::new(), failure: Arc::default(), opening: Arc::default() }
    }

    pub(crate) fn target(
        &self,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        session: Option<Arc<str>>,
    ) -> Target {
        let headers = headers.into_iter().collect();
        Target { uri: self.uri.clone(), headers, session, bearer: self.bearer.clone(), sessionless: false }
    }

    pub(crate) fn opening(&self) -> MutexGuard<'_, Option<Opening>> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn deliver(
        &self,
        message: &ClientJsonRpcMessage,
        target: &Target,
    ) -> Result<StreamableHttpPostResponse, ExchangeFailure> {
        let body = encode_message(message)?;
        let ClientJsonRpcMessage::Request(request) = message else {
            self.wire.notify(target, body).await?;
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        let Reply { answer, session, .. } = self
            .wire
            .call(target, body, Wanted::answer(&request.id.to_string(), Message::<Box<RawValue>>::parse))
            .await?;
        // A server of both eras may name a session in any answer; in this one it means nothing.
        let session = session.filter(|_| !matches!(request.request, ClientRequest::DiscoverRequest(_)));
        let message = match answer.outcome {
            Ok(result) => {
                self.keep_opening(&request.request, session.as_deref(), &result);
                let result: ServerResult =
                    serde_json::from_str(result.get()).map_err(|error| protocol(&error.to_string()))?;
                ServerJsonRpcMessage::response(result, request.id.clone())
            }
            Err(error) => ServerJsonRpcMessage::error(error_data(&error), Some(request.id.clone())),
        };
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    fn keep_opening(&self, request: &ClientRequest, session: Option<&str>, result: &RawValue) {
        let lifecycle = match request {
            ClientRequest::InitializeRequest(_) => Lifecycle::Initialize,
            ClientRequest::DiscoverRequest(_) => Lifecycle::Discover,
            _ => return,
        };
        *self.opening() = Some(Opening { lifecycle, session: session.map(Arc::from), result: result.to_owned() });
    }

    fn note(&self, failure: &CallFailure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure.clone());
    }
}

/// A message as it is sent. An opening announces `tools`, as the platform's partners are told (spec 1, JSON-RPC messages): MCP
/// has that as a capability of servers alone, so rmcp has no member for it, and servers pass over it.
fn encode_message(message: &ClientJsonRpcMessage) -> Result<Bytes, CallFailure> {
    let ClientJsonRpcMessage::Request(request) = message else { return encode(message) };
    if !matches!(request.request, ClientRequest::InitializeRequest(_)) {
        return encode(message);
    }
    let mut opening = serde_json::to_value(message).map_err(|error| protocol(&error.to_string()))?;
    if let Some(capabilities) = opening.pointer_mut("/params/capabilities").and_then(Value::as_object_mut) {
        capabilities.insert("tools".to_owned(), json!({}));
    }
    encode(&opening)
}

impl StreamableHttpClient for Messenger {
    type Error = CallFailure;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth_header: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<CallFailure>> {
        let target = self.target(headers, session);
        let outcome = tokio::select! {
            () = self.stop.cancelled() => Err(CallFailure::Unreachable("the session was given up".to_owned()).into()),
            outcome = tokio::time::timeout(INITIALIZE_TIMEOUT, self.deliver(&message, &target)) => {
                outcome.unwrap_or_else(|_| Err(initialize_timeout().into()))
            }
        };
        outcome.map_err(|failure| match failure {
            ExchangeFailure::SessionLost | ExchangeFailure::ToolChanged => StreamableHttpError::SessionExpired,
            ExchangeFailure::Failed(failure) => {
                self.note(&failure);
                StreamableHttpError::Client(failure)
            }
        })
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _auth_header: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<CallFailure>> {
        let status =
            self.wire.delete(&self.target(headers, Some(session))).await.map_err(StreamableHttpError::Client)?.status();
        match status {
            // Not found: the partner ended it first, which is as good.
            status if status.is_success() || status == StatusCode::NOT_FOUND => Ok(()),
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportDeleteSession),
            status => Err(StreamableHttpError::Client(CallFailure::HttpStatus(status.as_u16()))),
        }
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _auth_header: Option<String>,
        _headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<sse_stream::Sse, SseError>>, StreamableHttpError<CallFailure>> {
        // A standing stream would cost every partner an open connection, for messages that the gateway never needs.
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

pub(crate) fn initialize_timeout() -> CallFailure {
    CallFailure::Timeout(u64::try_from(INITIALIZE_TIMEOUT.as_millis()).unwrap_or(u64::MAX))
}

fn error_data(error: &RpcError) -> ErrorData {
    let code = ErrorCode(i32::try_from(error.code).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
    let data = error.data.as_deref().and_then(|data| serde_json::from_str(data.get()).ok());
    ErrorData::new(code, error.message.clone(), data)
}
