//! What partners deliver, against what they declare.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::delivered::{DeliveredBody, DeliveredList};
use intent_gateway_api::time;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_onboarding::delivered::DELIVERED_WINDOW_MS;
use serde::Deserialize;

use crate::App;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// About what a partner and an intent take, bytes.
const ENTRY_BYTES: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeliveredQuery {
    partner: Option<PartnerId>,
}

/// Shows what was delivered in the last 90 days, out of completion reports, beside the signals that are declared.
#[utoipa::path(
    get, path = "/api/v1/admin/delivered", tag = "admin",
    params(("partner" = Option<String>, Query, description = "Only what this partner delivered")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "By partner and intent; empty where nothing was reported", body = DeliveredList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_delivered(
    State(app): State<Arc<App>>,
    query: Result<Query<DeliveredQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(DeliveredQuery { partner }) = query.map_err(|_| {
        Refusal::new(Code::InvalidRequest).message("The one query parameter is `partner`, a partner's identifier.")
    })?;
    let since = app.searcher.clock.now().minus_ms(DELIVERED_WINDOW_MS);
    let compared = app.onboarding.results.compare(partner.as_ref()).await?;
    let bytes = compared.len() * ENTRY_BYTES;
    let delivered = compared.into_iter().map(DeliveredBody::from).collect();
    wire::json(StatusCode::OK, &DeliveredList { since: time(since), delivered }, bytes)
}
