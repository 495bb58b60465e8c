//! The orders at a partner: what was ordered, how far it is, and what its report is expected to say. Nothing of the person who
//! has ordered.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use intent_gateway_api::orders::{OrderList, PartnerOrder};

use super::require_known;
use crate::App;
use crate::acting::{Acting, no_account};
use crate::error::{ErrorBody, Refusal};
use crate::orders::{Chosen, ORDER_BYTES, OrdersQuery, list, no_order};
use crate::wire;

/// Lists what was ordered at the partner, newest first.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/orders", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("before" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Orders of a page, 1 to 500; 100 when absent"),
        ("intent" = Option<String>, Query, description = "Only those of one intent"),
        ("state" = Option<String>, Query, description = "Only those in one state"),
        ("open" = Option<bool>, Query, description = "Only those that a tool or a report can still change, or only the others"),
        ("in_doubt" = Option<bool>, Query, description = "Only those that the gateway does not know the partner to have, or only the others"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of orders", body = OrderList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn list_own_orders(
    State(app): State<Arc<App>>,
    acting: Acting,
    query: Result<Query<OrdersQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    let chosen = Chosen::of(&app, query)?;
    let page = app.orders.list_at(&acting.account, chosen.filter()).await?;
    list(&app, page)
}

/// Shows an order by its identifier, by any that the partner has given it, or by the request identifier of its search or its
/// booking; the newest, where several are known by it.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/orders/{order}", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("order" = String, Path, description = "Any identifier of the order", example = "ord_019ab4c8f2000f1e2d3c4b5a6978"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The order", body = PartnerOrder),
        (status = 404, description = "`NOT_FOUND`: no such account, or no such order at it", body = ErrorBody),
    )
)]
pub(super) async fn show_own_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    let Path((_, known_as)) = path.map_err(|_| no_account())?;
    let order = app.orders.find_at(&acting.account, &known_as).await?;
    let view = app.orders.view(order.ok_or_else(no_order)?).await?;
    wire::private(&PartnerOrder::new(&view, app.searcher.clock.now()), ORDER_BYTES)
}
