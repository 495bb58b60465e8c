//! What operators and load balancers ask, without a token: is it alive, is it ready, what is its interface.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use intent_gateway_api::operations::{Health, Liveness, Readiness, ReadyTrouble};
use intent_gateway_domain::growth::Shed;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::body::JSON;
use crate::error::{Code, ErrorBody, Refusal, STALE};
use crate::wire;

/// A proxy stands in front that the configuration does not name.
const UNTRUSTED_PROXY: &str = "UNTRUSTED_PROXY";
/// The disk of the store is nearly full.
const RECEIPTS_NOT_KEPT: &str = "RECEIPTS_NOT_KEPT";
const FINDINGS_NOT_KEPT: &str = "FINDINGS_NOT_KEPT";

/// The machine's clock was set, and nothing has confirmed the time that it shows since.
const CLOCK_WAS_SET: &str = "CLOCK_WAS_SET";

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(health))
        .routes(routes!(live))
        .routes(routes!(ready))
        .routes(routes!(openapi))
}

/// Says that the process serves.
#[utoipa::path(
    get, path = "/health", tag = "operations",
    security(()),
    responses((status = 200, description = "The process serves", body = Health))
)]
async fn health(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let shed = app.searcher.journal.is_shedding();
    let known = [
        (app.proxies.is_evident(), UNTRUSTED_PROXY),
        (app.searcher.clock.is_in_doubt(), CLOCK_WAS_SET),
        (shed != Shed::Nothing, RECEIPTS_NOT_KEPT),
        (shed == Shed::ReceiptsAndFindings, FINDINGS_NOT_KEPT),
    ];
    let warnings = known.into_iter().filter(|(is_so, _)| *is_so).map(|(_, warning)| warning.to_owned()).collect();
    let health = Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), warnings };
    wire::json(StatusCode::OK, &health, wire::SMALL_BYTES)
}

/// Says that the process turns, and nothing else: whoever asks restarts it where no answer comes.
#[utoipa::path(
    get, path = "/live", tag = "operations",
    security(()),
    responses((status = 200, description = "The process turns", body = Liveness))
)]
async fn live() -> Result<Response, Refusal> {
    wire::json(StatusCode::OK, &Liveness { status: "live".to_owned() }, wire::SMALL_BYTES)
}

/// Says whether the process should get traffic, and what is not as it should be.
///
/// A store that is down is shown and is no reason to take a gateway out: searches are served without it, for as long as
/// `contracts.max_stale_minutes` says, and it is the same store for all gateways, so that nobody would be left.
#[utoipa::path(
    get, path = "/ready", tag = "operations",
    security(()),
    responses(
        (status = 200, description = "It should: at least one contract is live", body = Readiness),
        (status = 503, description = "`NO_LIVE_CONTRACT`, `STORE_UNAVAILABLE` where it has been unknown for too long which contracts are to serve, or `DRAINING` from the announcement of a shutdown on", body = ErrorBody),
    )
)]
async fn ready(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    if app.leaving.is_cancelled() {
        return Err(Code::Draining.into());
    }
    if app.searcher.contracts.is_stale() {
        return Err(Refusal::new(Code::StoreUnavailable).internal(STALE));
    }
    let live_intents = app.searcher.contracts.all().len();
    if live_intents == 0 {
        return Err(Code::NoLiveContract.into());
    }
    let troubles: Vec<ReadyTrouble> = app.readiness.troubles().await.into_iter().map(ReadyTrouble::from).collect();
    let status = if troubles.is_empty() { "ready" } else { "degraded" }.to_owned();
    let bytes = wire::SMALL_BYTES * (1 + troubles.len());
    wire::json(StatusCode::OK, &Readiness { status, live_intents, troubles }, bytes)
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "show_document", tag = "operations",
    security(()),
    responses((status = 200, description = "The OpenAPI document", body = Object))
)]
async fn openapi(State(app): State<Arc<App>>) -> Response {
    let mut response = Response::new(app.openapi.clone().into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}
