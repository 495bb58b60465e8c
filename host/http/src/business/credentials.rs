//! Sandbox credentials, the webhook, and the test call.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::account::{
    CredentialsBody, RotateRequest, TestCallAnswer, TestCallRequest, WebhookBody, WebhookRequest,
};

use crate::App;
use crate::acting::Acting;
use crate::body::{Json, OptionalJson};
use crate::error::{ErrorBody, Refusal};
use crate::wire;

/// Issues the account's credentials. The secret is in this answer and in no other.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}", operation_id = "issue_credentials", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 201, description = "The credentials, the secret in plain", body = CredentialsBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
        (status = 409, description = "`CREDENTIALS_EXIST`: rotate them for a new secret", body = ErrorBody),
    )
)]
pub(super) async fn issue(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let issued = app.onboarding.credentials.issue(&acting.account, &acting.actor).await?;
    let webhook = app.onboarding.webhooks.find(&acting.account).await?;
    let body = CredentialsBody::show_once(issued, webhook);
    wire::json(StatusCode::CREATED, &body, wire::SMALL_BYTES)
}

/// Shows the credentials, without a secret.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/credentials/{account_id}", operation_id = "show_credentials", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The credentials, `(redacted)` in place of secrets", body = CredentialsBody),
        (status = 404, description = "`NOT_FOUND`: none were issued", body = ErrorBody),
    )
)]
pub(super) async fn show(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let credentials = app.onboarding.credentials.get(&acting.account).await?;
    let webhook = app.onboarding.webhooks.find(&acting.account).await?;
    wire::json(StatusCode::OK, &CredentialsBody::hide_secret(credentials, webhook), wire::SMALL_BYTES)
}

/// Replaces the secret. The one before works for 24 hours more, or not at all with `at_once`.
///
/// With `at_once`, every other token of the account ends as well, and a partner's own token must come of a sign-in by a mailed
/// code within the last 15 minutes. The owner is told by mail, with a code that undoes it.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/rotate", operation_id = "rotate_credentials", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = Option<RotateRequest>,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The credentials, the new secret in plain", body = CredentialsBody),
        (status = 404, description = "`NOT_FOUND`: none were issued", body = ErrorBody),
        (status = 409, description = "`TOO_MANY_SECRETS`: five are valid already", body = ErrorBody),
    )
)]
pub(super) async fn rotate(
    State(app): State<Arc<App>>,
    acting: Acting,
    OptionalJson(body): OptionalJson<RotateRequest>,
) -> Result<Response, Refusal> {
    let issued = app.onboarding.credentials.rotate(&acting.account, body.at_once, &acting.requester()).await?;
    let webhook = app.onboarding.webhooks.find(&acting.account).await?;
    wire::json(StatusCode::OK, &CredentialsBody::show_once(issued, webhook), wire::SMALL_BYTES)
}

/// Saves the webhook's address. A new address brings a new signing key, which is in this answer and in no other.
///
/// Another address than before takes a token that comes of a sign-in by a mailed code within the last 15 minutes. The owner is
/// told by mail of each, the first one as well, with a code that undoes it.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/credentials/{account_id}/webhook", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = WebhookRequest,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, a new key in plain", body = WebhookBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
        (status = 409, description = "`TOO_MANY_SECRETS`: five keys are valid already", body = ErrorBody),
    )
)]
pub(super) async fn set_webhook(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(body): Json<WebhookRequest>,
) -> Result<Response, Refusal> {
    let issued = app.onboarding.webhooks.set(&acting.account, &body.webhook_url, &acting.requester()).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(issued), wire::SMALL_BYTES)
}

/// Replaces the webhook's signing key. The one before works for 24 hours more, or not at all with `at_once`.
///
/// `at_once` takes a token that comes of a sign-in by a mailed code within the last 15 minutes. The owner is told by mail, with a
/// code that undoes it.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/webhook/rotate", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = Option<RotateRequest>,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, the new key in plain", body = WebhookBody),
        (status = 404, description = "`NOT_FOUND`: no address was saved", body = ErrorBody),
        (status = 409, description = "`TOO_MANY_SECRETS`: five keys are valid already", body = ErrorBody),
    )
)]
pub(super) async fn rotate_webhook_key(
    State(app): State<Arc<App>>,
    acting: Acting,
    OptionalJson(body): OptionalJson<RotateRequest>,
) -> Result<Response, Refusal> {
    let issued = app.onboarding.webhooks.rotate_key(&acting.account, body.at_once, &acting.requester()).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(issued), wire::SMALL_BYTES)
}

/// Tries a wish: finds its intent and answers with a stub, and a sample of the intent's own. No partner is called.
///
/// The stub has the form of a ride, whatever the intent.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/test-call", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = TestCallRequest,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The intent and made-up options", body = TestCallAnswer),
        (status = 400, description = "`INVALID_REQUEST`, or `INVALID_INTENT` for an identifier of no live intent", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn test_call(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(body): Json<TestCallRequest>,
) -> Result<Response, Refusal> {
    let call = app.onboarding.test_calls.call(&acting.account, &body.user_intent).await?;
    wire::json(StatusCode::OK, &TestCallAnswer::from(call), wire::SMALL_BYTES)
}
