//! What of contracts is revoked: keys that may be in other hands, and contents that must not run.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::contracts::{RevocationDone, RevocationList, RevocationOrder};

use crate::App;
use crate::acting::Team;
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Lists what is revoked, in the order in which it was.
#[utoipa::path(
    get, path = "/api/v1/admin/contracts/revocations", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "All revocations", body = RevocationList))
)]
pub(super) async fn list_revocations(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let revocations = app.revocations.revocations().await?;
    wire::json(StatusCode::OK, &RevocationList::from(revocations), wire::SMALL_BYTES)
}

/// Revokes a key or a component, for good.
///
/// A component that is revoked, or that only revoked keys have signed, runs nowhere from then on: every gateway of the store takes it
/// out of service within a second, and the last version that is still trusted serves in its place, if there is one.
#[utoipa::path(
    post, path = "/api/v1/admin/contracts/revocations", operation_id = "add_revocation", tag = "admin",
    request_body = RevocationOrder,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "It was revoked before", body = RevocationDone),
        (status = 201, description = "It is revoked; with the versions that came under it", body = RevocationDone),
        (status = 400, description = "`INVALID_REQUEST`: not one of `component` and `key`, or no reason", body = ErrorBody),
    )
)]
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Team(team): Team,
    Json(order): Json<RevocationOrder>,
) -> Result<Response, Refusal> {
    let what = order.what().ok_or(Code::InvalidRequest)?;
    let outcome = app.revocations.revoke(what, order.reason.trim().to_owned(), team).await?;
    let status = if outcome.is_new { StatusCode::CREATED } else { StatusCode::OK };
    wire::json(status, &RevocationDone::from(outcome), wire::SMALL_BYTES)
}
