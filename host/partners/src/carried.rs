//! What goes along with every call, in headers: which request it belongs to, and which trace.
//!
//! Not here: what a trace is ([`trace`](intent_gateway_domain::trace)), and the arguments of a call, which nothing is added to.

use http::header::{HeaderName, HeaderValue};
use intent_gateway_domain::trace::{Outgoing, TRACEPARENT, TRACESTATE, Trace};
use tracing::Span;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The headers of a call that is made within its span. One that serves no request has none.
pub(crate) fn headers(trace: Option<&Trace>) -> Vec<(HeaderName, HeaderValue)> {
    let Some(trace) = trace else { return Vec::new() };
    let Outgoing { request_id, traceparent, tracestate } = trace.outgoing(&Span::current());
    let request_id = HeaderValue::from_str(request_id).ok();
    let traceparent = HeaderValue::try_from(traceparent).ok();
    let tracestate = tracestate.and_then(|text| HeaderValue::from_str(text).ok());
    // All of them are visible ASCII, which a header takes.
    [
        (REQUEST_ID, request_id),
        (HeaderName::from_static(TRACEPARENT), traceparent),
        (HeaderName::from_static(TRACESTATE), tracestate),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_carries_its_request_and_its_trace() {
        const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let carried = headers(Some(&Trace::of_caller("r1", Some(PARENT), Some("a=1"))));
        let names: Vec<&str> = carried.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x-request-id", "traceparent", "tracestate"]);
        let sent = carried[1].1.to_str().expect("text");
        assert!(sent.starts_with(&PARENT[..36]) && sent.ends_with("-01") && sent != PARENT, "{sent}");
        assert_eq!((&carried[0].1, &carried[2].1), (&HeaderValue::from_static("r1"), &HeaderValue::from_static("a=1")));

        assert_eq!(headers(Some(&Trace::of_caller("r1", None, Some("a=1")))).len(), 2);
        assert_eq!(headers(None), []);
    }
}
