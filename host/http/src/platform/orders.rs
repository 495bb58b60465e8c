//! Orders for the platform team: found by anything that anybody knows them by, and shown whole.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use intent_gateway_api::orders::{OrderList, OrderRecord};
use intent_gateway_domain::findings::FindingsAbout;

use crate::App;
use crate::error::{ErrorBody, Refusal};
use crate::orders::{Chosen, ORDER_BYTES, SearchQuery, list, no_order};
use crate::wire;

/// Findings that are shown with an order.
const FINDINGS_MAX: u32 = 100;
/// About what a finding takes, bytes.
const FINDING_BYTES: usize = 512;

/// Lists orders, newest first; all of them, those at a partner, or those that are known by something.
#[utoipa::path(
    get, path = "/api/v1/admin/orders", operation_id = "list_all_orders", tag = "admin",
    params(
        ("known_as" = Option<String>, Query, description = "The order's identifier, one that its partner has given it, the request \
            identifier of its search or its booking, or the receipt of its ranking or of its report"),
        ("partner" = Option<String>, Query, description = "Only those at one partner"),
        ("before" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Orders of a page, 1 to 500; 100 when absent"),
        ("intent" = Option<String>, Query, description = "Only those of one intent"),
        ("state" = Option<String>, Query, description = "Only those in one state"),
        ("open" = Option<bool>, Query, description = "Only those that a tool or a report can still change, or only the others"),
        ("in_doubt" = Option<bool>, Query, description = "Only those of which nobody knows whether the partner has them, or only the others"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of orders", body = OrderList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_orders(
    State(app): State<Arc<App>>,
    query: Result<Query<SearchQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let chosen = Chosen::of_search(&app, query)?;
    let filter = chosen.filter();
    let page = match (chosen.known_as.as_deref(), filter.partner) {
        (Some(known_as), _) => app.orders.list_known_as(known_as, filter).await,
        (None, Some(partner)) => app.orders.list_at(partner, filter).await,
        (None, None) => app.orders.list_all(filter).await,
    };
    list(&app, page?)
}

/// Shows an order whole: what was ordered, how far it is and what happened to it, its receipts, and the findings about it.
#[utoipa::path(
    get, path = "/api/v1/admin/orders/{order_id}", operation_id = "show_order_record", tag = "admin",
    params(("order_id" = String, Path, description = "The order", example = "ord_019ab4c8f2000f1e2d3c4b5a6978")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The order", body = OrderRecord),
        (status = 404, description = "`NOT_FOUND`: there is no such order", body = ErrorBody),
    )
)]
pub(super) async fn show_order(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let Path(order) = path.map_err(|_| no_order())?;
    let order = app.orders.find(&order).await?.ok_or_else(no_order)?;
    let external_ids: Vec<&str> = order.identifiers.iter().map(String::as_str).collect();
    let about = FindingsAbout {
        partner: &order.partner,
        intent: &order.intent,
        shown: (&order.from.request_id, &order.from.option_id),
        calls: &order.calls(),
        external_ids: &external_ids,
        limit: FINDINGS_MAX,
    };
    let findings = app.evidence.findings_about(about).await?;
    let view = app.orders.view(order).await?;
    let option = view.option.as_ref().map_or(0, |option| option.get().len());
    let bytes = ORDER_BYTES + option + findings.len() * FINDING_BYTES;
    wire::private(&OrderRecord::new(view, findings, app.searcher.clock.now()), bytes)
}
