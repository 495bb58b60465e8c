//! What ties the calls of one request together, across processes (W3C Trace Context).

/// Where a call belongs. Goes out to partners in headers, never in arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The request, as the gateway's answer and log name it.
    pub request_id: String,
    /// The `traceparent` to send.
    pub traceparent: Option<String>,
    /// The `tracestate` to send with it.
    pub tracestate: Option<String>,
}
