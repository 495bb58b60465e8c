//! The outermost layer: gives every request an identifier, its place in a trace, a span and, if it is refused, its body;
//! and counts it.
//!
//! Nothing of a body, a token or a user's data reaches the log from here.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use http_body::{Frame, SizeHint};
use intent_gateway_domain::telemetry::HttpRequest;
use intent_gateway_domain::trace::{self, SpanContext, TRACEPARENT, TRACESTATE, Trace};
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::error::{Code, Refusal};
use crate::inside::{Again, Page};
use crate::quota::RateLimitFields;

/// Carries the identifier, in both directions.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longest identifier that is taken over from a caller, characters.
const REQUEST_ID_MAX_CHARS: usize = 128;
/// Route of a request that matched none.
const UNMATCHED: &str = "unmatched";

/// Identifier of an HTTP request: the caller's where it is well formed, else a UUID version 7.
#[derive(Clone, Debug)]
pub struct RequestId(Arc<str>);

impl RequestId {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(HEADER).and_then(|value| value.to_str().ok()).filter(|text| well_formed(text));
        Self(given.map_or_else(|| Uuid::now_v7().to_string().into(), Arc::from))
    }

    /// The identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Visible ASCII only, so that an identifier cannot forge a line of a log.
fn well_formed(text: &str) -> bool {
    (1..=REQUEST_ID_MAX_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

pub(crate) async fn layer(mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let request_id = RequestId::of(request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
    let is_repeated = request.extensions().get::<Again>().is_some();
    let begin = || HttpRequest::begin(request.method().as_str(), route, request_id.as_str());
    let observed = (!is_repeated).then(begin);
    let exported = observed.as_ref().map_or_else(Span::none, |observed| observed.span().clone());
    let trace = trace(request.headers(), &request_id, &exported);
    let span = tracing::info_span!(
        "request",
        request_id = request_id.as_str(),
        trace_id = format_args!("{:032x}", trace.span.trace_id),
        method = %request.method(),
        route,
    );
    request.extensions_mut().insert(request_id.clone());
    request.extensions_mut().insert(Arc::new(trace));
    let spans = Spans { log: span.clone(), exported: exported.clone() };
    async move {
        let mut response = caught(request, next).await;
        let refusal = response.extensions_mut().remove::<Refusal>().or_else(|| {
            let status = response.status();
            let is_page = response.extensions().get::<Page>().is_some();
            (!is_page && (status.is_client_error() || status.is_server_error())).then(|| Refusal::of_status(status))
        });
        if let Some(observed) = &observed {
            observed.note_answer(response.status().as_u16());
        }
        if !is_repeated || response.status().is_server_error() {
            report(response.status(), refusal.as_ref(), start.elapsed());
        }
        let rate_limits = response.extensions_mut().remove::<RateLimitFields>();
        if let Some(refusal) = refusal {
            response = refusal.render(request_id.as_str());
        }
        if let Some(fields) = rate_limits {
            fields.insert_into(response.headers_mut());
        }
        name(&mut response, &request_id);
        // What has no length is made while it is sent.
        let is_made = response.body().size_hint().exact().is_some();
        if is_made { response } else { response.map(|body| Body::new(Within { body, spans })) }
    }
    .instrument(span)
    .instrument(exported)
    .await
}

/// Names the request in the head of its answer.
pub(crate) fn name(response: &mut Response, request_id: &RequestId) {
    // Well-formed identifiers are visible ASCII, which a header takes.
    if let Ok(value) = HeaderValue::from_str(request_id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
}

/// The spans of a request: for the log, and for tracing systems.
struct Spans {
    log: Span,
    exported: Span,
}

/// A body that is made while it is sent, within the spans of its request.
struct Within {
    body: Body,
    spans: Spans,
}

impl http_body::Body for Within {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, spans } = &mut *self;
        let _exported = spans.exported.enter();
        let _log = spans.log.enter();
        Pin::new(body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The trace that the request belongs to, under the span that the gateway has for it.
fn trace(headers: &HeaderMap, request_id: &RequestId, exported: &Span) -> Trace {
    let mut parents = headers.get_all(TRACEPARENT).iter();
    // One that stands twice names no one caller.
    let parent = parents.next().filter(|_| parents.next().is_none()).and_then(|value| value.to_str().ok());
    if let Some(parent) = parent.and_then(SpanContext::parse) {
        trace::continue_from(exported, &parent);
    }
    // This one may stand in several headers, and is one list (W3C Trace Context, 3.3.1.5).
    let state: Option<Vec<&str>> = headers.get_all(TRACESTATE).iter().map(|value| value.to_str().ok()).collect();
    let state = state.filter(|values| !values.is_empty()).map(|values| values.join(","));
    let trace = Trace::of_caller(request_id.as_str(), parent, state.as_deref());
    Trace { span: trace::export(exported).unwrap_or(trace.span), ..trace }
}

/// Runs the handler; a panic is a refusal like any other, and the connection lives on.
async fn caught(request: Request, next: Next) -> Response {
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_panic) => Refusal::new(Code::InternalError).internal("a handler panicked").into_response(),
    }
}

/// One line a request: what went well at `debug`, since at thousands of searches a second the lines would cost as
/// much as the routing; what was refused at `info`; what failed at `warn`.
fn report(status: StatusCode, refusal: Option<&Refusal>, elapsed: Duration) {
    let status_code = status.as_u16();
    let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let code = refusal.map(Refusal::code);
    let detail = refusal.and_then(Refusal::detail);
    if status.is_server_error() {
        tracing::warn!(target: crate::ACCESS_LOG, status = status_code, elapsed_us, code, detail, "failed");
    } else if status.is_client_error() {
        tracing::info!(target: crate::ACCESS_LOG, status = status_code, elapsed_us, code, detail, "refused");
    } else {
        tracing::debug!(target: crate::ACCESS_LOG, status = status_code, elapsed_us, "served");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_made_while_it_is_sent_is_made_within_the_spans() {
        let subscriber = tracing_subscriber::registry();
        let _guard = tracing::subscriber::set_default(subscriber);
        let (log, exported) = (tracing::info_span!("request"), tracing::info_span!("http"));
        let expected = log.id();
        let made = futures_util::stream::once(async move {
            let within = Span::current().id();
            Ok::<_, std::convert::Infallible>(format!("{}", within == expected))
        });
        let body = Body::new(Within { body: Body::from_stream(made), spans: Spans { log, exported } });
        let bytes = axum::body::to_bytes(body, 64).await.expect("a body");
        assert_eq!(&bytes[..], b"true");
    }

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::from_static(name), value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn goes_on_with_the_callers_trace() {
        const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let request_id = RequestId::of(&headers(&[("x-request-id", "r1")]));
        let of = |given: &[(&'static str, &str)]| trace(&headers(given), &request_id, &Span::none());
        let parent = SpanContext::parse(PARENT).expect("sound");

        let joined = of(&[("traceparent", PARENT), ("tracestate", "a=1"), ("tracestate", "b=2")]);
        assert_eq!((joined.request_id.as_str(), joined.span.trace_id), ("r1", parent.trace_id));
        assert_ne!(joined.span.span_id, parent.span_id);
        assert_eq!(joined.tracestate.as_deref(), Some("a=1,b=2"));
        assert_eq!(of(&[("traceparent", PARENT), ("tracestate", "=")]).tracestate, None);
        for bad in [&[("traceparent", PARENT), ("traceparent", PARENT)][..], &[("traceparent", "x")], &[]] {
            assert_ne!(of(bad).span.trace_id, parent.trace_id, "{bad:?}");
        }
    }

    #[test]
    fn takes_over_only_what_is_well_formed() {
        let of = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).expect("a header value");
            RequestId::of(&HeaderMap::from_iter([(HEADER, value)]))
        };
        assert_eq!(of(b"trip-42/a").as_str(), "trip-42/a");
        assert_eq!(of(&[b'x'; 128]).as_str(), "x".repeat(128));
        for bad in [&b""[..], b"two words", "caf\u{e9}".as_bytes(), &[b'x'; 129]] {
            let uuid = Uuid::parse_str(of(bad).as_str()).expect("a generated identifier");
            assert_eq!(uuid.get_version_num(), 7);
        }
    }
}
