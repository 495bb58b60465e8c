//! Orders whose time is over and that no completion report has closed, of all partners.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::overdue::{OverdueAtPartnerBody, OverdueList, OverdueOrder, OverdueSummary};

use crate::App;
use crate::acting::{Page, PageQuery};
use crate::error::{ErrorBody, Refusal};
use crate::wire;

/// About what an order takes, bytes.
pub(crate) const ORDER_BYTES: usize = 640;
/// About what a partner's sums take, bytes.
const SUMS_BYTES: usize = 192;

/// Lists overdue orders, the one opened first at the head.
#[utoipa::path(
    get, path = "/api/v1/admin/overdue-orders", tag = "admin",
    params(
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Orders of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of overdue orders", body = OverdueList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_overdue(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &[])?;
    let orders = app.onboarding.unreported.list(page.after.as_deref(), page.limit).await?;
    let next = page.next(orders.len(), orders.last().map(|order| order.id.to_string()));
    let bytes = orders.len() * ORDER_BYTES;
    let orders = orders.into_iter().filter_map(OverdueOrder::of).collect();
    wire::json(StatusCode::OK, &OverdueList { orders, next }, bytes)
}

/// Shows what is overdue partner by partner: how many orders, for how long, and the commission at stake.
#[utoipa::path(
    get, path = "/api/v1/admin/overdue-orders/summary", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "The partner with most at stake at the head", body = OverdueSummary))
)]
pub(super) async fn summarize_overdue(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let partners = app.onboarding.unreported.by_partner().await?;
    let bytes = partners.len() * SUMS_BYTES;
    let partners = partners.into_iter().map(OverdueAtPartnerBody::from).collect();
    wire::json(StatusCode::OK, &OverdueSummary { partners }, bytes)
}
