//! Spans to a collector: OTLP over HTTP, in batches, on a thread of their own.
//!
//! Nothing that serves waits for it. A span that finds the queue full is lost, and so are those that a collector does not
//! take; the log tells when that begins and ends. Without `telemetry.otlp_endpoint` none of this is there.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use async_trait::async_trait;
use bytes::Bytes;
use intent_gateway_domain::telemetry::TRACE_TARGET;
use intent_gateway_domain::trace::{self, ExportSpans, SpanContext};
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
    TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

use intent_gateway_config::TelemetrySection;

/// Where a collector takes traces, below its address (OTLP/HTTP).
const TRACES_PATH: &str = "/v1/traces";
/// Spans that wait, at most: about a second of a busy gateway.
const QUEUE_MAX_SPANS: usize = 16_384;
/// Spans of one request to the collector, at most.
const BATCH_MAX_SPANS: usize = 1_024;
/// How long spans are gathered.
const GATHER: Duration = Duration::from_secs(1);
/// For one batch, with the exporter's own retries.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// For all that waits, when the gateway stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// Largest answer of a collector that is read, bytes.
const ANSWER_MAX_BYTES: u64 = 64 * 1024;

/// The way out for spans.
pub(super) struct Export {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Export {
    /// Sets it up, where there is a collector.
    pub(super) fn start(config: &TelemetrySection) -> anyhow::Result<Option<Self>> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(None) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new())
            .with_endpoint(format!("{}{TRACES_PATH}", endpoint.trim_end_matches('/')))
            .with_timeout(EXPORT_TIMEOUT)
            .build()
            .context("traces cannot be exported")?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE_MAX_SPANS)
            .with_max_export_batch_size(BATCH_MAX_SPANS)
            .with_scheduled_delay(GATHER)
            .build();
        let service = Resource::builder()
            .with_service_name(config.service_name.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        // Who calls has decided already whether its trace is recorded; the ratio is for traces that begin here.
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.trace_sampling_ratio)));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(exporter).with_batch_config(batches).build())
            .with_sampler(sampler)
            .with_resource(service)
            .build();
        let tracer = provider.tracer("intent-gateway");
        Ok(Some(Self { provider, tracer }))
    }

    /// Takes the spans that are meant for it, and no events: those are the log's.
    pub(super) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        tracing_opentelemetry::layer()
            .with_tracer(self.tracer.clone())
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|metadata| metadata.is_span() && metadata.target() == TRACE_TARGET))
            .boxed()
    }

    /// Answers the other crates' questions about spans from here on.
    pub(super) fn take_over(&self) {
        trace::export_spans_by(Box::new(Spans(self.tracer.clone())));
    }

    /// Sends what waits, for a bounded time.
    pub(super) fn stop(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::warn!(%error, "the last spans could not be exported");
        }
    }
}

/// What the tracing system knows of the process' spans.
struct Spans(SdkTracer);

impl ExportSpans for Spans {
    fn continue_from(&self, span: &tracing::Span, parent: &SpanContext) {
        let parent = foreign(parent);
        // A child of the span that it is called in, it is already.
        if Context::current().span().span_context().span_id() != parent.span_id() {
            // It fails for a span that is not exported, and there is nothing to continue then.
            let _ = span.set_parent(Context::new().with_remote_span_context(parent));
        }
    }

    fn export(&self, span: &tracing::Span) -> Option<SpanContext> {
        let context = span.context();
        own(context.span().span_context())
    }

    fn end_span(&self, name: &'static str, attributes: &[(&'static str, &str)], took: Duration) {
        let parent = Context::current();
        if !parent.span().span_context().is_sampled() {
            return;
        }
        let end = SystemTime::now();
        let attributes = attributes.iter().map(|(key, value)| KeyValue::new(*key, (*value).to_owned()));
        let span = SpanBuilder::from_name(name)
            .with_kind(SpanKind::Internal)
            .with_start_time(end.checked_sub(took).unwrap_or(end))
            .with_attributes(attributes);
        self.0.build_with_context(span, &parent).end_with_timestamp(end);
    }
}

fn foreign(span: &SpanContext) -> opentelemetry::trace::SpanContext {
    let flags = if span.is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace_id, span_id) = (TraceId::from(span.trace_id.get()), SpanId::from(span.span_id.get()));
    opentelemetry::trace::SpanContext::new(trace_id, span_id, flags, true, TraceState::default())
}

fn own(span: &opentelemetry::trace::SpanContext) -> Option<SpanContext> {
    Some(SpanContext {
        trace_id: u128::from_be_bytes(span.trace_id().to_bytes()).try_into().ok()?,
        span_id: u64::from_be_bytes(span.span_id().to_bytes()).try_into().ok()?,
        is_sampled: span.is_sampled(),
    })
}

/// The collector. The thread that exports may wait for it: it has nothing else to do.
#[derive(Debug)]
struct Collector {
    agent: ureq::Agent,
    /// Whether the last request was in vain.
    failing: AtomicBool,
}

impl Collector {
    fn new() -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(EXPORT_TIMEOUT))
            .build()
            .new_agent();
        Self { agent, failing: AtomicBool::new(false) }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (head, body) = request.into_parts();
        let response = self.agent.run(Request::from_parts(head, &body[..]))?;
        let (head, mut body) = response.into_parts();
        let body = body.with_config().limit(ANSWER_MAX_BYTES).read_to_vec()?;
        Ok(Response::from_parts(head, body.into()))
    }

    /// Tells when the trouble begins and when it ends, and not for every batch between.
    fn note(&self, trouble: Option<&dyn std::fmt::Display>) {
        let before = self.failing.swap(trouble.is_some(), Ordering::Relaxed);
        match trouble {
            Some(trouble) if !before => tracing::warn!(%trouble, "the collector takes no traces; spans are lost"),
            None if before => tracing::info!("the collector takes traces again"),
            Some(_) | None => {}
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        match self.send(request) {
            Ok(response) => {
                let status = response.status();
                let refused = (!status.is_success()).then_some(&status as &dyn std::fmt::Display);
                self.note(refused);
                Ok(response)
            }
            Err(error) => {
                self.note(Some(&error));
                Err(Box::new(io::Error::other(error)))
            }
        }
    }
}
