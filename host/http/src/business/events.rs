//! What a partner was told by events, and what became of sending it; a new secret for them; sending again.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::account::{RotateRequest, WebhookBody};
use intent_gateway_api::event::{EventBody, EventsBody};
use intent_gateway_onboarding::events::EVENTS_LISTED_MAX;
use serde::Deserialize;

use super::require_known;
use crate::App;
use crate::acting::{Acting, no_account};
use crate::body::OptionalJson;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Bytes of an event in an answer, about.
const EVENT_BYTES: usize = 4 * 1024;
/// Events of a page where nobody says how many.
const LISTED: u32 = 50;
/// Bytes of an event's identifier, at most.
const ID_MAX_BYTES: usize = 64;

/// Which events are asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    before: Option<String>,
    limit: Option<u32>,
}

/// Lists what the partner was told, the latest first, each with every try to deliver it to the webhook. Events are kept for 30
/// days.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/events", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("before" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Events of a page, 1 to 100; 50 when absent"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of events", body = EventsBody),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn list_own_events(
    State(app): State<Arc<App>>,
    acting: Acting,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    let Query(EventsQuery { before, limit }) = query.map_err(|_| refused())?;
    let limit = limit.unwrap_or(LISTED);
    if !(1..=EVENTS_LISTED_MAX).contains(&limit) || before.as_ref().is_some_and(|before| before.len() > ID_MAX_BYTES) {
        return Err(refused());
    }
    let events = app.onboarding.events.list(&acting.account, before.as_deref(), limit).await?;
    let bytes = wire::SMALL_BYTES + events.len() * EVENT_BYTES;
    wire::json(StatusCode::OK, &EventsBody::page(events, limit), bytes)
}

/// Shows one event, with every try to deliver it.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/events/{event}", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("event" = String, Path, description = "The event"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The event", body = EventBody),
        (status = 404, description = "`NOT_FOUND`: no such account, or no such event of it", body = ErrorBody),
    )
)]
pub(super) async fn show_own_event(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Refusal> {
    let Path((_, event)) = path.map_err(|_| no_account())?;
    let event = app.onboarding.events.get(&acting.account, &event).await?;
    wire::json(StatusCode::OK, &EventBody::from(event), EVENT_BYTES)
}

/// Has an event sent again, whatever became of it: at once, and with retries over a day.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/accounts/{account_id}/events/{event}/replay", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("event" = String, Path, description = "The event"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 202, description = "The event, which waits to be sent", body = EventBody),
        (status = 404, description = "`NOT_FOUND`: no such account, or no such event of it", body = ErrorBody),
        (status = 409, description = "`EVENT_WAITING`: it is on its way already; `EVENTS_NOT_SENT`: there is no address or no secret, or sending was stopped", body = ErrorBody),
    )
)]
pub(super) async fn replay_own_event(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Refusal> {
    let Path((_, event)) = path.map_err(|_| no_account())?;
    let event = app.onboarding.events.replay(&acting.account, &event, &acting.actor).await?;
    wire::json(StatusCode::ACCEPTED, &EventBody::from(event), EVENT_BYTES)
}

/// Sends an event `webhook.test`, to try the webhook; at most ten in an hour.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/webhook/test", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 202, description = "The event, which waits to be sent", body = EventBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
        (status = 409, description = "`EVENTS_NOT_SENT`: there is no address or no secret, or sending was stopped", body = ErrorBody),
        (status = 429, description = "`RATE_LIMITED`: ten were sent within the last hour", body = ErrorBody),
    )
)]
pub(super) async fn test_webhook(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let event = app.onboarding.events.send_test(&acting.account, &acting.actor).await?;
    wire::json(StatusCode::ACCEPTED, &EventBody::from(event), EVENT_BYTES)
}

/// Has events sent again after that was stopped, because the webhook had taken none for five days or said that it is gone. What
/// was not sent meanwhile is sent by a replay of each.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/webhook/enable", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, keys redacted", body = WebhookBody),
        (status = 404, description = "`NOT_FOUND`: no address was saved", body = ErrorBody),
        (status = 409, description = "`EVENTS_NOT_STOPPED`: events are sent already", body = ErrorBody),
    )
)]
pub(super) async fn enable_webhook(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let webhook = app.onboarding.events.enable(&acting.account, &acting.actor).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(webhook), wire::SMALL_BYTES)
}

/// Replaces the secret that events are signed with, or makes the first one. The one before signs as well for 24 hours more, or not
/// at all with `at_once`, which takes a token that comes of a sign-in by a mailed code within the last 15 minutes. The owner is told
/// by mail.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/webhook/event-secret/rotate", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = Option<RotateRequest>,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, the new secret in plain", body = WebhookBody),
        (status = 404, description = "`NOT_FOUND`: no address was saved", body = ErrorBody),
        (status = 409, description = "`TOO_MANY_SECRETS`: five are valid already", body = ErrorBody),
    )
)]
pub(super) async fn rotate_event_secret(
    State(app): State<Arc<App>>,
    acting: Acting,
    OptionalJson(body): OptionalJson<RotateRequest>,
) -> Result<Response, Refusal> {
    let webhooks = &app.onboarding.webhooks;
    let issued = webhooks.rotate_event_secret(&acting.account, body.at_once, &acting.requester()).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(issued), wire::SMALL_BYTES)
}

/// Shows the webhook, keys redacted, and how events are sent there.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/credentials/{account_id}/webhook", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, keys redacted", body = WebhookBody),
        (status = 404, description = "`NOT_FOUND`: no address was saved", body = ErrorBody),
    )
)]
pub(super) async fn show_webhook(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let webhook = app.onboarding.webhooks.get(&acting.account).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(webhook), wire::SMALL_BYTES)
}

fn refused() -> Refusal {
    Refusal::new(Code::InvalidRequest).message("`before` is an event, `limit` a number from 1 to 100.")
}
