//! A partner's orders whose time is over and that no report of its own has closed.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::overdue::{OverdueOrder, PartnerOverdue};

use super::require_known;
use crate::App;
use crate::acting::Acting;
use crate::error::{ErrorBody, Refusal};
use crate::platform::OVERDUE_ORDER_BYTES;
use crate::wire;

/// Lists the partner's orders that wait for its completion report.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/overdue-orders", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The orders, the one opened last at the head, at most 1,000", body = PartnerOverdue),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn list_own_overdue(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    let orders = app.onboarding.unreported.of_partner(&acting.account).await?;
    let bytes = orders.len() * OVERDUE_ORDER_BYTES;
    let orders = orders.into_iter().filter_map(OverdueOrder::of).collect();
    wire::json(StatusCode::OK, &PartnerOverdue { partner: acting.account.to_string(), orders }, bytes)
}
