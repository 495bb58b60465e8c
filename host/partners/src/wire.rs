//! The HTTP client that all partners share: one pool of connections, HTTP/1.1 and HTTP/2 by ALPN, guarded addresses.
//!
//! It sends one request and hands back the head of the answer. It follows no redirect, retries nothing that may have
//! been sent, and asks for no compression. What the bytes mean is the business of [`crate::exchange`].

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::clock::peers::PeerClocks;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner_error::clean;
use intent_gateway_domain::secret::Secret;
use tower_service::Service;

use crate::config::PartnerClientConfig;
use crate::connections::{BoxError, Connections, ReceivedBody};
use crate::guard::{GuardedResolver, NO_PUBLIC_ADDRESS, ResolveError};

/// Interval of TCP keep-alive probes, which find partners that vanished without a word.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);

/// Carries the session that a partner issued.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Names the protocol revision that was agreed on.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Repeat the method of a request, and the tool that it names (MCP 2026-07-28, Standard Headers).
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Says where to resume an event stream.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const AGENT: HeaderValue = HeaderValue::from_static(concat!("intent-gateway/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

type Https = HttpsConnector<HttpConnector<GuardedResolver>>;
/// A connection below HTTP.
pub(crate) type Stream = <Https as Service<Uri>>::Response;

/// Where a message goes, in whose name, and what it carries in headers. A session holds one, of which each of its calls
/// gets a copy and adds its own headers.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) uri: Uri,
    /// The protocol revision, what a message repeats of its body, and its trace.
    pub(crate) headers: HeaderMap,
    /// Value of `Mcp-Session-Id`.
    pub(crate) session: Option<Arc<str>>,
    /// Value of `Authorization`, marked sensitive.
    pub(crate) bearer: Option<HeaderValue>,
    /// Whether the partner speaks a revision without sessions, in which streams are not resumed and a partner has no
    /// requests of its own (MCP 2026-07-28).
    pub(crate) sessionless: bool,
}

/// The `Authorization` value of a token.
pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue, CallFailure> {
    let mut value =
        HeaderValue::try_from(format!("Bearer {}", token.expose())).map_err(|_| CallFailure::Unauthorized)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The shared client; clones share the pool.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    connections: Connections,
    /// Hears the time that partners show.
    pub(crate) clocks: Arc<PeerClocks>,
}

impl Wire {
    pub(crate) fn new(config: &PartnerClientConfig, tls: rustls::ClientConfig, resolver: GuardedResolver) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(TCP_KEEPALIVE));
        tcp.set_connect_timeout(Some(config.connect_timeout()));
        // The guard admits plain HTTP to loopback alone, so the connector may take either.
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_all_versions();
        let connector = TimedConnector { inner: https.wrap_connector(tcp), timeout: config.connect_timeout() };
        let idle_max = Duration::from_secs(config.pool_idle_secs);
        let connections = Connections::new(connector, idle_max, config.max_concurrent_calls_per_partner);
        Self { connections, clocks: Arc::default() }
    }

    /// Closes connections that have waited for long.
    pub(crate) fn sweep(&self) {
        self.connections.sweep();
    }

    /// Posts a JSON-RPC message.
    pub(crate) async fn post(&self, target: &Target, body: Bytes) -> Result<Response<ReceivedBody>, CallFailure> {
        let mut request = request(Method::POST, target, body);
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        request.headers_mut().insert(ACCEPT, JSON_OR_EVENTS);
        self.send(request).await
    }

    /// Asks for the rest of an event stream.
    pub(crate) async fn resume(
        &self,
        target: &Target,
        after: HeaderValue,
    ) -> Result<Response<ReceivedBody>, CallFailure> {
        let mut request = request(Method::GET, target, Bytes::new());
        request.headers_mut().insert(ACCEPT, EVENTS);
        request.headers_mut().insert(LAST_EVENT_ID, after);
        self.send(request).await
    }

    /// Ends a session.
    pub(crate) async fn delete(&self, target: &Target) -> Result<Response<ReceivedBody>, CallFailure> {
        self.send(request(Method::DELETE, target, Bytes::new())).await
    }

    /// Sends a request that is none of MCP's.
    pub(crate) async fn exchange(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<ReceivedBody>, CallFailure> {
        request.headers_mut().insert(USER_AGENT, AGENT);
        self.send(request).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<ReceivedBody>, CallFailure> {
        let server = request.uri().host().map(str::to_owned);
        let response = self.connections.send(request).await.map_err(|error| send_failure(&*error))?;
        if let (Some(server), Some(shown)) = (server, shown_time(response.headers())) {
            self.clocks.note(&server, shown);
        }
        Ok(response)
    }
}

/// The time at which the server says that it has answered.
fn shown_time(headers: &HeaderMap) -> Option<Timestamp> {
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let since = date.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok().map(Timestamp::from_ms)
}

fn request(method: Method, target: &Target, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.uri.clone();
    let headers = request.headers_mut();
    headers.clone_from(&target.headers);
    headers.insert(USER_AGENT, AGENT);
    if let Some(bearer) = &target.bearer {
        headers.insert(AUTHORIZATION, bearer.clone());
    }
    // Whoever set the session has checked that it can be a header.
    if let Some(session) = target.session.as_deref().and_then(|id| HeaderValue::from_str(id).ok()) {
        headers.insert(SESSION_ID, session);
    }
    request
}

/// Wait that the head of an answer asks for with `Retry-After`, in seconds or as a date (RFC 9110, 10.2.3).
pub(crate) fn retry_after_ms(headers: &HeaderMap, now: std::time::SystemTime) -> Option<u64> {
    /// Longest wait that is taken over.
    const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default(),
    };
    u64::try_from(wait.min(RETRY_AFTER_MAX).as_millis()).ok()
}

/// Why a request got no answer, in words that name the innermost cause.
fn send_failure(error: &(dyn Error + 'static)) -> CallFailure {
    let mut cause = error;
    loop {
        if let Some(ResolveError::Refused) = cause.downcast_ref() {
            return CallFailure::AddressRefused(NO_PUBLIC_ADDRESS.to_owned());
        }
        match cause.source() {
            Some(source) => cause = source,
            None => return CallFailure::Unreachable(clean(&cause.to_string())),
        }
    }
}

/// Bounds connecting as a whole. The TCP connector's own timeout covers neither the resolver nor TLS.
#[derive(Clone, Debug)]
pub(crate) struct TimedConnector {
    inner: Https,
    timeout: Duration,
}

impl Service<Uri> for TimedConnector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let timeout = self.timeout;
        Box::pin(async move {
            match tokio::time::timeout(timeout, connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("no connection within {} ms", timeout.as_millis()),
                )
                .into()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn retry_after_in_both_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let wait = |text: &str| {
            let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, text.parse().expect("a header"))]);
            retry_after_ms(&headers, now)
        };
        assert_eq!(wait("3"), Some(3_000));
        assert_eq!(wait("18446744073709551615"), Some(3_600_000));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:47 GMT"), Some(10_000));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:00 GMT"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(retry_after_ms(&HeaderMap::new(), now), None);
    }

    #[test]
    fn the_time_of_an_answer_is_read_from_its_date() {
        let shown = |text: &str| shown_time(&HeaderMap::from_iter([(DATE, text.parse().expect("a header"))]));
        assert_eq!(shown("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Timestamp::from_ms(784_111_777_000)));
        for strange in ["", "now", "Sun, 32 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 1960 00:00:00 GMT"] {
            assert_eq!(shown(strange), None, "{strange}");
        }
        assert_eq!(shown_time(&HeaderMap::new()), None);
    }

    #[test]
    fn a_bearer_is_never_printed() {
        let value = bearer(&Secret::new("abc")).expect("a header");
        assert_eq!(value, "Bearer abc");
        assert!(!format!("{value:?}").contains("abc"));
        assert!(bearer(&Secret::new("a\nb")).is_err());
    }
}
