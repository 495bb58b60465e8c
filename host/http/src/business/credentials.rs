//! Sandbox credentials, the webhook, and the test call.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::signing_keys::Webhook;
use intent_gateway_domain::store::load;

use crate::App;
use crate::acting::Acting;
use crate::body::{JsonText, OptionalJson};
use crate::error::{ErrorBody, Refusal};
use crate::fields::Fields;
use crate::onboarding_wire::{
    CredentialsBody, RotateRequest, TestCallAnswer, TestCallRequest, WebhookBody, WebhookRequest,
};
use crate::wire;

/// Issues the account's credentials. The secret is in this answer and in no other.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 201, description = "The credentials, the secret in plain", body = CredentialsBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
        (status = 409, description = "`CREDENTIALS_EXIST`: rotate them for a new secret", body = ErrorBody<'static>),
    )
)]
pub(super) async fn issue(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let issued = app.onboarding.issue_credentials(&acting.account, &acting.actor).await?;
    let webhook = webhook(&app, &acting.account).await?;
    let body = CredentialsBody::issued(&issued, webhook.as_ref());
    wire::json(StatusCode::CREATED, &body, wire::SMALL_BYTES)
}

/// Shows the credentials, without a secret.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/credentials/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The credentials, `(redacted)` in place of secrets", body = CredentialsBody<'static>),
        (status = 404, description = "`NOT_FOUND`: none were issued", body = ErrorBody<'static>),
    )
)]
pub(super) async fn show(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let credentials = app.onboarding.credentials(&acting.account).await?;
    let webhook = webhook(&app, &acting.account).await?;
    wire::json(StatusCode::OK, &CredentialsBody::redacted(&credentials, webhook.as_ref()), wire::SMALL_BYTES)
}

/// Replaces the secret. The one before works for 24 hours more, or not at all with `at_once`.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/rotate", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = Option<RotateRequest>,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The credentials, the new secret in plain", body = CredentialsBody<'static>),
        (status = 404, description = "`NOT_FOUND`: none were issued", body = ErrorBody<'static>),
        (status = 409, description = "`TOO_MANY_SECRETS`: five are valid already", body = ErrorBody<'static>),
    )
)]
pub(super) async fn rotate(
    State(app): State<Arc<App>>,
    acting: Acting,
    OptionalJson(body): OptionalJson,
) -> Result<Response, Refusal> {
    let at_once = read_at_once(&body)?;
    let issued = app.onboarding.rotate_credentials(&acting.account, at_once, &acting.actor).await?;
    let webhook = webhook(&app, &acting.account).await?;
    wire::json(StatusCode::OK, &CredentialsBody::issued(&issued, webhook.as_ref()), wire::SMALL_BYTES)
}

/// Saves the webhook's address. A new address brings a new signing key, which is in this answer and in no other.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/credentials/{account_id}/webhook", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = WebhookRequest,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, a new key in plain", body = WebhookBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
        (status = 409, description = "`TOO_MANY_SECRETS`: five keys are valid already", body = ErrorBody<'static>),
    )
)]
pub(super) async fn set_webhook(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let mut fields = Fields::of(&body);
    let url = fields.text("webhook_url");
    fields.finish()?;
    let issued = app.onboarding.set_webhook(&acting.account, &url, &acting.actor).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(&issued), wire::SMALL_BYTES)
}

/// Replaces the webhook's signing key. The one before works for 24 hours more, or not at all with `at_once`.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/webhook/rotate", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = Option<RotateRequest>,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The webhook, the new key in plain", body = WebhookBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no address was saved", body = ErrorBody<'static>),
        (status = 409, description = "`TOO_MANY_SECRETS`: five keys are valid already", body = ErrorBody<'static>),
    )
)]
pub(super) async fn rotate_webhook_key(
    State(app): State<Arc<App>>,
    acting: Acting,
    OptionalJson(body): OptionalJson,
) -> Result<Response, Refusal> {
    let at_once = read_at_once(&body)?;
    let issued = app.onboarding.rotate_webhook_key(&acting.account, at_once, &acting.actor).await?;
    wire::json(StatusCode::OK, &WebhookBody::from(&issued), wire::SMALL_BYTES)
}

/// Tries a wish: finds its intent and answers with a stub. No partner is called.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/credentials/{account_id}/test-call", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = TestCallRequest,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The intent and made-up options", body = TestCallAnswer),
        (status = 400, description = "`INVALID_REQUEST`, or `INVALID_INTENT` for an identifier of no live intent", body = ErrorBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
    )
)]
pub(super) async fn test_call(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let mut fields = Fields::of(&body);
    let wish = fields.prose("user_intent");
    fields.finish()?;
    let call = app.onboarding.test_call(&acting.account, &wish).await?;
    wire::json(StatusCode::OK, &TestCallAnswer::from(call), wire::SMALL_BYTES)
}

fn read_at_once(body: &str) -> Result<bool, Refusal> {
    let mut fields = Fields::of(body);
    let at_once = fields.flag("at_once");
    fields.finish().map(|()| at_once)
}

/// The webhook, which an account may not have yet.
async fn webhook(app: &App, account: &PartnerId) -> Result<Option<Webhook>, Refusal> {
    let kept = load::<Webhook>(&*app.onboarding.store, account.as_str()).await;
    Ok(kept.map_err(intent_gateway_onboarding::OnboardingError::from)?.map(|kept| kept.value))
}
