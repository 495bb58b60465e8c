//! The way to a token: by a code sent to a corporate e-mail address, or by sandbox credentials; and the way back from what
//! somebody else did with one.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use intent_gateway_api::account::{
    CodeSent, IssuedToken, SignInRequest, SignUpRequest, SignedIn, TokenRequest, UndoRequest, UndoneBody, VerifyRequest,
};
use intent_gateway_api::time;
use intent_gateway_domain::accesses::Access;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_onboarding::{Authenticated, OnboardingError};

use crate::App;
use crate::auth::{Role, SignIn, Tokens};
use crate::body::Json;
use crate::client::Network;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Life of a token that a code opened: a working day, for a person at a dashboard.
const SIGNED_IN_TTL: Duration = Duration::from_secs(12 * 60 * 60);
/// Life of a token that credentials opened: a program asks again without trouble.
const CREDENTIALS_TTL: Duration = Duration::from_secs(60 * 60);
/// What a sign-in takes at least. The work is alike for known and unknown addresses and clients; what still differs, as a
/// record that is read and one that is not there, is far less than this.
const EVEN_TIME: Duration = Duration::from_millis(100);

/// Answers no sooner than [`EVEN_TIME`] after it was asked, whatever the work took.
async fn in_even_time<T>(work: impl Future<Output = T>) -> T {
    let (done, ()) = tokio::join!(work, tokio::time::sleep(EVEN_TIME));
    done
}

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
pub(super) async fn sign_up(
    State(app): State<Arc<App>>,
    stranger: Stranger,
    Json(body): Json<SignUpRequest>,
) -> Result<Response, Refusal> {
    let accounts = &app.onboarding.accounts;
    let sent = in_even_time(accounts.sign_up(&body.email, &body.business_name, &stranger.network())).await?;
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
pub(super) async fn sign_in(
    State(app): State<Arc<App>>,
    stranger: Stranger,
    Json(body): Json<SignInRequest>,
) -> Result<Response, Refusal> {
    let sent = in_even_time(app.onboarding.accounts.sign_in(&body.email, &stranger.network())).await?;
    wire::json(StatusCode::ACCEPTED, &CodeSent::from(sent), wire::SMALL_BYTES)
}

/// Takes the code of a sign-up or a sign-in, and gives a token of the account.
///
/// A code is good once, for ten minutes, five tries from one network and ten from all that have not
/// entered the account before.
#[utoipa::path(
    post, path = "/api/v1/business/sign-up/verify", operation_id = "verify_code", tag = "business",
    request_body = VerifyRequest,
    security(()),
    responses(
        (status = 200, description = "The account, and a token of it", body = SignedIn),
        (status = 401, description = "`INVALID_AUTH`: the code is wrong, used, or too old", body = ErrorBody),
    )
)]
pub(super) async fn verify(
    State(app): State<Arc<App>>,
    stranger: Stranger,
    Json(body): Json<VerifyRequest>,
) -> Result<Response, Refusal> {
    let accounts = &app.onboarding.accounts;
    let signed_in = in_even_time(async {
        let tried = accounts.verify(&body.email, body.code.expose(), &stranger.network()).await;
        if let Err(OnboardingError::NotAccepted) = tried {
            stranger.note_failure(&app, "code", accounts.account_of(&body.email).await?);
        }
        tried
    });
    let signed_in = signed_in.await?;
    let account = signed_in.account.id.as_str();
    let sign_in = SignIn { epoch: signed_in.account.epoch, proven: true };
    let token = issue(&app.tokens, account, sign_in, SIGNED_IN_TTL, app.searcher.clock.now())?;
    let body =
        SignedIn { account_id: account.to_owned(), partner_id: account.to_owned(), created: signed_in.created, token };
    wire::json(StatusCode::OK, &body, wire::SMALL_BYTES)
}

/// Takes sandbox credentials, and gives a token of their account.
#[utoipa::path(
    post, path = "/api/v1/business/token", operation_id = "issue_token", tag = "business",
    request_body = TokenRequest,
    security(()),
    responses(
        (status = 200, description = "A token of the account", body = IssuedToken),
        (status = 401, description = "`INVALID_AUTH`: the credentials are not accepted", body = ErrorBody),
    )
)]
pub(super) async fn token(
    State(app): State<Arc<App>>,
    stranger: Stranger,
    Json(body): Json<TokenRequest>,
) -> Result<Response, Refusal> {
    let credentials = &app.onboarding.credentials;
    let authenticated = in_even_time(async {
        let tried = credentials.authenticate(&body.client_id, body.client_secret.expose()).await;
        if let Err(OnboardingError::NotAccepted) = tried {
            stranger.note_failure(&app, "credentials", credentials.account_of(&body.client_id).await?);
        }
        tried
    });
    let Authenticated { account, epoch } = authenticated.await?;
    stranger.note(&app, Actor::new(Role::Partner.as_str(), account.as_str()), "account.entered", "credentials");
    let sign_in = SignIn { epoch, proven: false };
    let token = issue(&app.tokens, account.as_str(), sign_in, CREDENTIALS_TTL, app.searcher.clock.now())?;
    wire::json(StatusCode::OK, &token, wire::SMALL_BYTES)
}

/// Undoes a change of the account's secrets or addresses, with the code of the mail that told its owner of it.
///
/// What came after it of the same kind is undone as well, and every session of the account ends. A code is good once, for three
/// days.
#[utoipa::path(
    post, path = "/api/v1/business/undo", operation_id = "undo_change", tag = "business",
    request_body = UndoRequest,
    security(()),
    responses(
        (status = 200, description = "What was undone", body = UndoneBody),
        (status = 401, description = "`INVALID_AUTH`: the code is wrong, used, or too old", body = ErrorBody),
        (status = 409, description = "`UNDO_TOO_LATE`: the platform team has decided on the connection since", body = ErrorBody),
    )
)]
pub(super) async fn undo(
    State(app): State<Arc<App>>,
    stranger: Stranger,
    Json(body): Json<UndoRequest>,
) -> Result<Response, Refusal> {
    let undone = app.onboarding.undoing.undo(&body.account_id, body.code.expose(), &stranger.network()).await?;
    wire::json(StatusCode::OK, &UndoneBody::from(undone), wire::SMALL_BYTES)
}

/// Who asks without a token: all that is known is from where.
pub(super) struct Stranger(Option<Network>);

impl FromRequestParts<Arc<App>> for Stranger {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &Arc<App>) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get().copied()))
    }
}

impl Stranger {
    fn network(&self) -> String {
        self.0.map(|network| network.0.to_string()).unwrap_or_default()
    }

    /// Notes a sign-in that failed, of the account that was to be entered where there is one.
    fn note_failure(&self, app: &App, what: &str, account: Option<PartnerId>) {
        let subject = account.as_ref().map_or("unknown", PartnerId::as_str);
        self.note(app, Actor::new("stranger", subject), "sign_in.failed", what);
    }

    fn note(&self, app: &App, actor: Actor, action: &'static str, what: &str) {
        let subject = actor.subject.clone();
        let actor = Actor { from: self.0.map(|network| network.0.to_string()), ..actor };
        let at = app.searcher.clock.now();
        app.accesses.note(Access { at, actor, action, subject, what: Some(what.to_owned()), names_all: false });
    }
}

fn issue(tokens: &Tokens, account: &str, by: SignIn, ttl: Duration, now: Timestamp) -> Result<IssuedToken, Refusal> {
    let token = tokens.issue_session(account, ttl, by);
    let token = token.map_err(|error| Refusal::new(Code::InternalError).internal(error.to_string()))?;
    // The token itself counts whole seconds.
    let expires_at = time(Timestamp::from_ms((now.as_ms() / 1_000 + ttl.as_secs()) * 1_000));
    Ok(IssuedToken { token: Secret::new(token), token_type: "Bearer".to_owned(), expires_at })
}
