//! What is shown of requests over HTTP.

use std::time::Instant;

use metrics::{gauge, histogram};
use tracing::Span;
use tracing::field::Empty;

use super::TRACE_TARGET;

pub(super) const HTTP_REQUEST: &str = "intent_gateway_http_request_seconds";
pub(super) const HTTP_IN_FLIGHT: &str = "intent_gateway_http_requests_in_flight";

/// One HTTP request: its span, and its time once it is answered. Whether or not it is, it is under way no longer when
/// this is dropped.
#[derive(Debug)]
pub struct HttpRequest {
    method: &'static str,
    route: String,
    span: Span,
    start: Instant,
}

impl HttpRequest {
    /// Begins one. The route is a template, and not what the caller wrote.
    #[must_use]
    pub fn begin(method: &str, route: &str, request_id: &str) -> Self {
        let method = method_name(method);
        gauge!(HTTP_IN_FLIGHT).increment(1.0);
        let span = tracing::info_span!(
            target: TRACE_TARGET,
            "http",
            otel.kind = "server",
            otel.name = display(format_args!("{method} {route}")),
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            request_id,
        );
        Self { method, route: route.to_owned(), span, start: Instant::now() }
    }

    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Records how it was answered.
    pub fn note_answer(&self, status: u16) {
        let class = match status {
            0..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            500.. => "5xx",
        };
        self.span.record("http.response.status_code", status);
        if status >= 500 {
            self.span.record("otel.status_code", "ERROR");
        }
        histogram!(HTTP_REQUEST, "method" => self.method, "route" => self.route.clone(), "status" => class)
            .record(self.start.elapsed().as_secs_f64());
    }
}

impl Drop for HttpRequest {
    fn drop(&mut self) {
        gauge!(HTTP_IN_FLIGHT).decrement(1.0);
    }
}

/// A method by its name, where it has one that HTTP knows: a caller may send any word.
fn method_name(method: &str) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_nobody_knows_is_no_label() {
        assert_eq!((method_name("GET"), method_name("BREW"), method_name("get")), ("GET", "other", "other"));
    }
}
