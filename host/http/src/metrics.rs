//! What was counted, for those who watch: in Prometheus' text format, to an admin, and on a listener of its own for a
//! scraper that has no token.
//!
//! Not here: what is counted ([`telemetry`](intent_gateway_domain::telemetry)), and where that is kept.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderValue, header};
use intent_gateway_domain::telemetry::Exposition;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::error::{Code, Refusal};

/// Answers that are rendered at once.
const RENDERED_AT_ONCE_MAX: usize = 2;
/// The text format that every version of Prometheus reads.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(show_metrics))
}

/// The routes of the listener for scrapers: `/metrics` and nothing else. Whoever reaches it may ask.
pub fn scrape_router(metrics: Arc<dyn Exposition>) -> Router {
    let scrape = |State(metrics): State<Shown>| async move { metrics.render().await };
    Router::new().route("/metrics", get(scrape)).with_state(Shown::new(metrics))
}

/// Shows all metrics, in Prometheus' text format.
///
/// docs/observability.md explains each. Scrapers without a token ask at `telemetry.metrics_address` instead.
#[utoipa::path(
    get, path = "/api/v1/admin/metrics", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "The metrics of this process", body = String, content_type = "text/plain"))
)]
async fn show_metrics(State(app): State<Arc<App>>) -> Response {
    app.metrics.render().await
}

/// What was counted, for so many who ask at once.
#[derive(Clone)]
pub(crate) struct Shown {
    metrics: Arc<dyn Exposition>,
    places: Arc<Semaphore>,
}

impl Shown {
    pub(crate) fn new(metrics: Arc<dyn Exposition>) -> Self {
        Self { metrics, places: Arc::new(Semaphore::new(RENDERED_AT_ONCE_MAX)) }
    }

    /// Rendering is work, and not for a thread that serves; others wait meanwhile.
    async fn render(&self) -> Response {
        let _place = self.places.acquire().await;
        let metrics = self.metrics.clone();
        match tokio::task::spawn_blocking(move || metrics.render()).await {
            Ok(text) => ([(header::CONTENT_TYPE, TEXT)], text).into_response(),
            Err(_panicked) => {
                Refusal::new(Code::InternalError).internal("the metrics could not be shown").into_response()
            }
        }
    }
}
