//! The way to a token: by a code sent to a corporate e-mail address, or by sandbox credentials.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::account::{
    CodeSent, IssuedToken, SignInRequest, SignUpRequest, SignedIn, TokenRequest, VerifyRequest,
};
use intent_gateway_api::time;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::secret::Secret;

use crate::App;
use crate::auth::{Role, Tokens};
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Life of a token that a code opened: a working day, for a person at a dashboard.
const SIGNED_IN_TTL: Duration = Duration::from_secs(12 * 60 * 60);
/// Life of a token that credentials opened: a program asks again without trouble.
const CREDENTIALS_TTL: Duration = Duration::from_secs(60 * 60);

/// Sends a code to a corporate address, to open an account with.
///
/// The answer is the same when the address has an account already; the code then enters it. Addresses of free-mail
/// providers are refused.
#[utoipa::path(
    post, path = "/api/v1/business/sign-up", tag = "business",
    request_body = SignUpRequest,
    security(()),
    responses((status = 202, description = "A code is on its way", body = CodeSent))
)]
pub(super) async fn sign_up(State(app): State<Arc<App>>, Json(body): Json<SignUpRequest>) -> Result<Response, Refusal> {
    let sent = app.onboarding.accounts.sign_up(&body.email, &body.business_name).await?;
    wire::json(StatusCode::ACCEPTED, &CodeSent::from(sent), wire::SMALL_BYTES)
}

/// Sends a code to an account's address, to enter it with.
///
/// The answer is the same when no account has the address; nothing is sent then.
#[utoipa::path(
    post, path = "/api/v1/business/sign-in", tag = "business",
    request_body = SignInRequest,
    security(()),
    responses((status = 202, description = "A code is on its way, if an account has the address", body = CodeSent))
)]
pub(super) async fn sign_in(State(app): State<Arc<App>>, Json(body): Json<SignInRequest>) -> Result<Response, Refusal> {
    let sent = app.onboarding.accounts.sign_in(&body.email).await?;
    wire::json(StatusCode::ACCEPTED, &CodeSent::from(sent), wire::SMALL_BYTES)
}

/// Takes the code of a sign-up or a sign-in, and gives a token of the account.
///
/// A code is good once, for ten minutes and five tries.
#[utoipa::path(
    post, path = "/api/v1/business/sign-up/verify", tag = "business",
    request_body = VerifyRequest,
    security(()),
    responses(
        (status = 200, description = "The account, and a token of it", body = SignedIn),
        (status = 401, description = "`INVALID_AUTH`: the code is wrong, used, or too old", body = ErrorBody),
    )
)]
pub(super) async fn verify(State(app): State<Arc<App>>, Json(body): Json<VerifyRequest>) -> Result<Response, Refusal> {
    let signed_in = app.onboarding.accounts.verify(&body.email, body.code.expose()).await?;
    let account = signed_in.account.id.as_str();
    let token = issue(&app.tokens, account, SIGNED_IN_TTL, app.searcher.clock.now())?;
    let body =
        SignedIn { account_id: account.to_owned(), partner_id: account.to_owned(), created: signed_in.created, token };
    wire::json(StatusCode::OK, &body, wire::SMALL_BYTES)
}

/// Takes sandbox credentials, and gives a token of their account.
#[utoipa::path(
    post, path = "/api/v1/business/token", tag = "business",
    request_body = TokenRequest,
    security(()),
    responses(
        (status = 200, description = "A token of the account", body = IssuedToken),
        (status = 401, description = "`INVALID_AUTH`: the credentials are not accepted", body = ErrorBody),
    )
)]
pub(super) async fn token(State(app): State<Arc<App>>, Json(body): Json<TokenRequest>) -> Result<Response, Refusal> {
    let account = app.onboarding.credentials.authenticate(&body.client_id, body.client_secret.expose()).await?;
    let token = issue(&app.tokens, account.as_str(), CREDENTIALS_TTL, app.searcher.clock.now())?;
    wire::json(StatusCode::OK, &token, wire::SMALL_BYTES)
}

fn issue(tokens: &Tokens, account: &str, ttl: Duration, now: Timestamp) -> Result<IssuedToken, Refusal> {
    let token = tokens.issue(Role::Partner, account, ttl);
    let token = token.map_err(|error| Refusal::new(Code::InternalError).internal(error.to_string()))?;
    // The token itself counts whole seconds.
    let expires_at = time(Timestamp::from_ms((now.as_ms() / 1_000 + ttl.as_secs()) * 1_000));
    Ok(IssuedToken { token: Secret::new(token), token_type: "Bearer".to_owned(), expires_at })
}
