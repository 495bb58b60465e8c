//! The orders of an orchestrator's users, for the orchestrator.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::HeaderMap;
use intent_gateway_api::orders::{OrderChanges, OrderDetail, OrderList};
use intent_gateway_routing::orders::CHANGES_MAX;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Chosen, ORDER_BYTES, OrdersQuery, SUMMARY_BYTES, list, no_order};
use crate::App;
use crate::acting::{Asking, size};
use crate::connections::Answering;
use crate::error::{Code, ErrorBody, Refusal};
use crate::streams;
use crate::wire;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(list_orders)).routes(routes!(order_events)).routes(routes!(show_order))
}

/// Lists what a user has ordered, newest first; without `x-user-id`, what was ordered for nobody by name.
#[utoipa::path(
    get, path = "/api/v1/orders", tag = "orchestrator",
    params(
        ("x-user-id" = Option<String>, Header, description = "The user, by a pseudonym of the orchestrator's own"),
        ("before" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Orders of a page, 1 to 500; 100 when absent"),
        ("intent" = Option<String>, Query, description = "Only those of one intent"),
        ("state" = Option<String>, Query, description = "Only those in one state"),
        ("open" = Option<bool>, Query, description = "Only those that a tool or a report can still change, or only the others"),
        ("in_doubt" = Option<bool>, Query, description = "Only those of which nobody knows whether the partner has them, or only the others"),
    ),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of orders", body = OrderList),
        (status = 400, description = "`INVALID_REQUEST`: the header or a query parameter", body = ErrorBody),
    )
)]
async fn list_orders(
    State(app): State<Arc<App>>,
    Asking { asker, .. }: Asking,
    query: Result<Query<OrdersQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let chosen = Chosen::of(&app, query)?;
    let page = app.orders.list_of(&asker, chosen.filter()).await?;
    list(&app, page)
}

/// Shows an order whole: what was ordered, how far it is, what happened to it, and what may be done with it now.
///
/// `next.reference` is what its tools are called with; a new one comes with each answer.
#[utoipa::path(
    get, path = "/api/v1/orders/{order_id}", tag = "orchestrator",
    params(
        ("order_id" = String, Path, description = "The order", example = "ord_019ab4c8f2000f1e2d3c4b5a6978"),
        ("x-user-id" = Option<String>, Header, description = "The user who has ordered"),
    ),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The order", body = OrderDetail),
        (status = 400, description = "`INVALID_REQUEST`: the header", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: there is no such order, or it is somebody else's", body = ErrorBody),
    )
)]
async fn show_order(
    State(app): State<Arc<App>>,
    Path(order): Path<String>,
    Asking { asker, .. }: Asking,
) -> Result<Response, Refusal> {
    let order = app.orders.find_of(&asker, &order).await?.ok_or_else(no_order)?;
    let view = app.orders.view(order).await?;
    let next = app.orders.next(&view, &asker);
    let option = view.option.as_ref().map_or(0, |option| option.get().len());
    let schemas = next.iter().flat_map(|next| &next.tools).map(|tool| tool.request_schema.get().len());
    let bytes = ORDER_BYTES + option + schemas.sum::<usize>();
    wire::private(&OrderDetail::new(view, next, app.searcher.clock.now()), bytes)
}

/// Which changes are asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    after: Option<String>,
    limit: Option<u32>,
}

/// Tells which orders of the orchestrator's users have changed since a cursor, each once, as it is now; without one, all.
///
/// No change is missed: an order that has changed since the cursor was given is told at least once, in its latest state. An order
/// that has changed three times may be told once. A cursor is good for the orchestrator that got it, at every gateway of the
/// store, for as long as the master key that sealed it is configured.
///
/// With `Accept: text/event-stream` the answer is a stream of server-sent events: `order` for each order that changes, with its
/// cursor for an `id`; `end` says why nothing follows. `Last-Event-ID` counts before `after`.
#[utoipa::path(
    get, path = "/api/v1/orders/events", tag = "orchestrator",
    params(
        ("after" = Option<String>, Query, description = "`next` of the page before, or the `id` of an event"),
        ("limit" = Option<u32>, Query, description = "Orders of a page, 1 to 500; 100 when absent. A stream has no pages"),
        ("last-event-id" = Option<String>, Header, description = "The `id` of the last event that was seen"),
    ),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (
            status = 200,
            description = "A page of changes, or events until the `end`",
            content((OrderChanges = "application/json"), (String = "text/event-stream"))
        ),
        (status = 400, description = "`INVALID_REQUEST`: the cursor or another parameter", body = ErrorBody),
        (status = 503, description = "`OVERLOADED`: too many streams are open, or too many of this orchestrator", body = ErrorBody),
    )
)]
async fn order_events(
    State(app): State<Arc<App>>,
    reading: Option<Extension<Answering>>,
    headers: HeaderMap,
    Asking { asker, .. }: Asking,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let refused = || {
        let message = format!("The query parameters are `after`, and `limit`, 1 to {CHANGES_MAX}.");
        Refusal::new(Code::InvalidRequest).message(message)
    };
    let Query(EventsQuery { after, limit }) = query.map_err(|_| refused())?;
    let limit = size(limit)?;
    let after = match headers.get(streams::LAST_EVENT_ID) {
        Some(seen) => Some(seen.to_str().map_err(|_| refused())?.to_owned()),
        None => after,
    };
    if streams::wants_events(&headers) {
        let reading = reading.map(|Extension(reading)| reading);
        return streams::order_changes(app, asker.orchestrator, after, reading).await;
    }
    let page = app.orders.changes(&asker.orchestrator, after.as_deref(), limit).await?;
    let bytes = wire::SMALL_BYTES + page.orders.len() * SUMMARY_BYTES;
    wire::private(&OrderChanges::new(page, app.searcher.clock.now()), bytes)
}
