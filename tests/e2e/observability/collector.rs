//! A collector of traces: takes OTLP over HTTP and reads it with the protocol's own messages.

use std::collections::HashMap;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long spans may take to arrive: they are sent in batches, once a second.
const ARRIVAL_MAX: Duration = Duration::from_secs(20);

/// One span, as far as tests look at it.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) name: String,
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: String,
    pub(super) attributes: HashMap<String, String>,
    /// Nanoseconds from its start to its end.
    pub(super) took_ns: u64,
    /// Everything in it, for looking for what must not be there.
    pub(super) whole: String,
}

/// A collector on a port of its own, stopped when dropped.
pub(super) struct Collector {
    pub(super) url: String,
    spans: watch::Receiver<Vec<Span>>,
    task: JoinHandle<()>,
}

impl Collector {
    pub(super) async fn start() -> Self {
        let (sender, spans) = watch::channel(Vec::new());
        let router = Router::new().route("/v1/traces", post(take)).with_state(sender);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, spans, task }
    }

    /// Waits until the spans that have arrived are enough.
    pub(super) async fn until(&self, enough: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let mut spans = self.spans.clone();
        let arrived = tokio::time::timeout(ARRIVAL_MAX, spans.wait_for(|spans| enough(spans))).await;
        match arrived {
            Ok(spans) => spans.expect("the collector runs").clone(),
            Err(_) => panic!("other spans have arrived: {:#?}", self.spans.borrow()),
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take(
    State(spans): State<watch::Sender<Vec<Span>>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Vec<u8>, StatusCode> {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let mut arrived = Vec::new();
    for resource in request.resource_spans {
        let of = attributes(&resource.resource.unwrap_or_default().attributes);
        assert_eq!(of.get("service.name").map(String::as_str), Some("gateway-under-test"), "{of:?}");
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            arrived.push(Span {
                whole: format!("{span:?}"),
                trace: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                attributes: attributes(&span.attributes),
                took_ns: span.end_time_unix_nano - span.start_time_unix_nano,
                name: span.name,
            });
        }
    }
    spans.send_modify(|spans| spans.extend(arrived));
    Ok(ExportTraceServiceResponse::default().encode_to_vec())
}

fn attributes(given: &[KeyValue]) -> HashMap<String, String> {
    let text = |pair: &KeyValue| match pair.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Attribute::StringValue(text)) => text.clone(),
        Some(Attribute::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    given.iter().map(|pair| (pair.key.clone(), text(pair))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
