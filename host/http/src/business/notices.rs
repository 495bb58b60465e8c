//! What will change for a partner.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::notice::{PartnerNotice, PartnerNotices};

use super::require_known;
use crate::App;
use crate::acting::Acting;
use crate::error::{ErrorBody, Refusal};
use crate::wire;

/// About what a notice takes, bytes.
const NOTICE_BYTES: usize = 4 * 1024;

/// Lists the notices that concern the partner, the one that takes effect last first: those about everybody, and those about an
/// intent that it offers or has asked to offer.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/notices", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The notices; at most 200", body = PartnerNotices),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn list_own_notices(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    let notices = &app.onboarding.notices;
    let found = notices.list_concerning(&acting.account).await?;
    let (bytes, now) = (wire::SMALL_BYTES + found.len() * NOTICE_BYTES, notices.now());
    let notices = found.into_iter().map(|notice| PartnerNotice::new(notice, now)).collect();
    wire::json(StatusCode::OK, &PartnerNotices { notices }, bytes)
}
