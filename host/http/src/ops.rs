//! What operators and load balancers ask, without a token: is it alive, is it ready, what is its interface.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use intent_gateway_api::operations::{Health, Readiness};
use intent_gateway_domain::growth::Shed;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::body::JSON;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// A proxy stands in front that the configuration does not name.
const UNTRUSTED_PROXY: &str = "UNTRUSTED_PROXY";
/// The disk of the store is nearly full.
const RECEIPTS_NOT_KEPT: &str = "RECEIPTS_NOT_KEPT";
const FINDINGS_NOT_KEPT: &str = "FINDINGS_NOT_KEPT";

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(health)).routes(routes!(ready)).routes(routes!(openapi))
}

/// Says that the process serves.
#[utoipa::path(
    get, path = "/health", tag = "operations",
    security(()),
    responses((status = 200, description = "The process serves", body = Health))
)]
async fn health(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let shed: &[&str] = match app.searcher.journal.is_shedding() {
        Shed::Nothing => &[],
        Shed::Receipts => &[RECEIPTS_NOT_KEPT],
        Shed::ReceiptsAndFindings => &[RECEIPTS_NOT_KEPT, FINDINGS_NOT_KEPT],
    };
    let proxy = app.proxies.is_evident().then_some(UNTRUSTED_PROXY);
    let warnings = proxy.into_iter().chain(shed.iter().copied()).map(str::to_owned).collect();
    let health = Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), warnings };
    wire::json(StatusCode::OK, &health, wire::SMALL_BYTES)
}

/// Says whether the process should get traffic.
#[utoipa::path(
    get, path = "/ready", tag = "operations",
    security(()),
    responses(
        (status = 200, description = "At least one contract is live", body = Readiness),
        (status = 503, description = "`NO_LIVE_CONTRACT`, or `DRAINING` during a shutdown", body = ErrorBody),
    )
)]
async fn ready(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    if app.draining.is_cancelled() {
        return Err(Code::Draining.into());
    }
    match app.searcher.contracts.all().len() {
        0 => Err(Code::NoLiveContract.into()),
        live_intents => {
            wire::json(StatusCode::OK, &Readiness { status: "ready".to_owned(), live_intents }, wire::SMALL_BYTES)
        }
    }
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "operations",
    security(()),
    responses((status = 200, description = "The OpenAPI document", body = Object))
)]
async fn openapi(State(app): State<Arc<App>>) -> Response {
    let mut response = Response::new(app.openapi.clone().into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}
