//! The gateways that share the store, as it knows them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::gateways::{GatewayBody, GatewayList};
use intent_gateway_onboarding::OnboardingError;

use crate::App;
use crate::error::Refusal;
use crate::wire;

/// About what a gateway takes, bytes.
const GATEWAY_BYTES: usize = 512;

/// Lists the gateways that share the store and live, and who does the work that one does for all.
#[utoipa::path(
    get, path = "/api/v1/admin/gateways", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "All of them, at most 256", body = GatewayList))
)]
pub(super) async fn list_gateways(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let live = app.leases.live().await.map_err(OnboardingError::from)?;
    let gateways: Vec<GatewayBody> = live.into_iter().map(GatewayBody::from).collect();
    let bytes = gateways.len() * GATEWAY_BYTES;
    wire::json(StatusCode::OK, &GatewayList { gateways }, bytes)
}
