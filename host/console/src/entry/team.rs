//! How a person of the platform team signs in.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::FromRequest as _;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use intent_gateway_api::error::ErrorDetail;
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::auth::{Role, Scope, Scopes};
use intent_gateway_http::inside::Origin;
use serde::Deserialize;
use serde_json::json;

use super::provider::{Begun, Finished, Provider, ProviderError, Returned, UNDER_WAY_MS};
use super::{agent, open};
use crate::Console;
use crate::api::ApiError;
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::session::{Face, NewSession, under_way_cookie, under_way_of};
use crate::visitor::{Fields, Strange, secret};

/// Whoever signs in with the code of a gateway's start, in the audit log.
const FIRST_SUBJECT: &str = "console";

#[derive(Template)]
#[template(path = "entry/team.html")]
struct SignInPage {
    frame: Frame,
    /// Where to go then.
    to: String,
    /// Of the link that the gateway has given out.
    code: String,
    takes_code: bool,
    /// Host of the issuer at which one signs in.
    provider: Option<String>,
    problem: Option<Problem>,
}

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    to: String,
    #[serde(default)]
    code: String,
}

pub(super) async fn ask(State(console): State<Arc<Console>>, Query(asked): Query<Asked>) -> Response {
    page(&console, asked, None)
}

fn page(console: &Console, Asked { to, code }: Asked, problem: Option<Problem>) -> Response {
    let takes_code = console.first_code.as_ref().is_some_and(|code| code.show().is_some());
    let provider = console.provider.as_ref().map(Provider::host);
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = Frame::of_stranger(Face::Team, "Sign in");
    show_with(status, &SignInPage { frame, to, code, takes_code, provider, problem })
}

pub(super) async fn enter(State(console): State<Arc<Console>>, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let origin = Origin::of(&parts);
    let agent = agent(&parts.headers).to_owned();
    let Strange(fields) = Strange::from_request(Request::from_parts(parts, body), &console).await?;
    let refused = |error: ApiError, fields: &Fields| {
        let asked = Asked { to: fields.text("to").to_owned(), code: String::new() };
        page(&console, asked, Some(Problem::from(&error)))
    };
    let (by, found) = match fields.find("code") {
        Some(code) => ("code", first_token(&console, code)),
        None => ("token", Ok(secret(&fields, "token"))),
    };
    let entrant = match found {
        Ok(token) => identify(&console, &origin, token).await,
        Err(error) => Err(error),
    };
    let entrant = entrant.map_err(|error| refused(error, &fields))?;
    admit(&console, entrant, by, &agent, fields.text("to")).await.map_err(Failed::into_response)
}

/// Leads to the issuer.
pub(super) async fn begin(State(console): State<Arc<Console>>, Query(asked): Query<Asked>) -> Response {
    let Some(provider) = &console.provider else { return Failed::NoPage.into_response() };
    match provider.begin(&console.sessions.vault, &asked.to, console.sessions.clock.now()).await {
        Ok(Begun { location, cookie }) => {
            let mut response = lead_to(&location);
            let seconds = i64::try_from(UNDER_WAY_MS / 1_000).unwrap_or_default();
            response
                .headers_mut()
                .extend(under_way_cookie(&cookie, seconds).map(|cookie| (header::SET_COOKIE, cookie)));
            response
        }
        Err(error) => page(&console, asked, Some(Problem::from(&not_signed_in(&error)))),
    }
}

/// Where the issuer leads back to.
pub(super) async fn finish(
    State(console): State<Arc<Console>>,
    Query(returned): Query<Returned>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let Some(provider) = &console.provider else { return Failed::NoPage.into_response() };
    let held = under_way_of(&parts.headers).unwrap_or_else(|| Secret::new(""));
    let sessions = &console.sessions;
    let finished = provider.finish(&sessions.vault, &held, returned, sessions.clock.now()).await;
    let entered = match finished {
        Ok(Finished { bearer, to }) => match identify(&console, &Origin::of(&parts), bearer).await {
            Ok(entrant) => {
                let agent = agent(&parts.headers);
                admit(&console, entrant, "issuer", agent, &to).await.map_err(Failed::into_response)
            }
            Err(error) => Err(page(&console, Asked { to, code: String::new() }, Some(Problem::from(&error)))),
        },
        Err(error) => {
            let asked = Asked { to: String::new(), code: String::new() };
            Err(page(&console, asked, Some(Problem::from(&not_signed_in(&error)))))
        }
    };
    let mut response = entered.unwrap_or_else(|page| page);
    // Good once, whatever it led to.
    response.headers_mut().extend(under_way_cookie("", 0).map(|cookie| (header::SET_COOKIE, cookie)));
    response
}

fn not_signed_in(error: &ProviderError) -> ApiError {
    let (status, code) = match error {
        ProviderError::Declined(_) => (StatusCode::FORBIDDEN, "SIGN_IN_DECLINED"),
        ProviderError::NotUnderWay => (StatusCode::BAD_REQUEST, "SIGN_IN_NOT_UNDER_WAY"),
        ProviderError::Unreachable(_) => (StatusCode::BAD_GATEWAY, "SIGN_IN_UNREACHABLE"),
        ProviderError::Unusable(_) => (StatusCode::BAD_GATEWAY, "SIGN_IN_UNUSABLE"),
        ProviderError::NoEntropy(_) => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
    };
    tracing::info!(
        code,
        error = intent_gateway_domain::error::chain(error),
        "somebody was not signed in at the console"
    );
    refusal(status, detail(code, &format!("You are not signed in: {error}.")))
}

/// A person of the team who may come in.
struct Entrant {
    /// For the audit log.
    actor: Actor,
    token: Secret,
    /// How long the token lasts at most.
    life: Duration,
}

/// Opens the session of a person of the team; the audit log has how they came in.
async fn admit(
    console: &Console,
    Entrant { actor, token, life }: Entrant,
    by: &'static str,
    agent: &str,
    to: &str,
) -> Result<Response, Failed> {
    let now = console.sessions.clock.now();
    let who = actor.subject.clone();
    let entered = AuditDraft {
        at_ms: now,
        actor,
        action: "console.entered".to_owned(),
        subject: who.clone(),
        detail: json!({ "by": by }),
    };
    let token_ends = now.plus_ms(u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
    let new = NewSession { face: Face::Team, who, token: &token, token_ends, agent, entered: Some(entered) };
    open(console, new, to).await
}

/// Who bears a token. Pages of the team are for admins.
async fn identify(console: &Console, origin: &Origin, token: Secret) -> Result<Entrant, ApiError> {
    let identified = console.inside.identify(origin, &token).await;
    let (caller, actor) = identified.map_err(|(status, detail)| refusal(status, detail))?;
    if caller.role != Role::Admin {
        let message = "The token is good, and not one of the platform team.";
        return Err(refusal(StatusCode::FORBIDDEN, detail("FORBIDDEN", message)));
    }
    Ok(Entrant { actor, token, life: caller.token_life })
}

/// A token for the code of the gateway's start.
fn first_token(console: &Console, code: &str) -> Result<Secret, ApiError> {
    let life = console.first_code.as_ref().and_then(|first| first.take(code)).ok_or_else(|| {
        let message = "The code is wrong, or was used before. A gateway makes a new one at each start.";
        refusal(StatusCode::UNAUTHORIZED, detail("INVALID_AUTH", message))
    })?;
    let token = console.tokens.issue_scoped(FIRST_SUBJECT, life, &Scopes::from_iter([Scope::All]));
    token.map(Secret::new).map_err(|error| ApiError::Unreadable(error.into()))
}

fn refusal(status: StatusCode, detail: ErrorDetail) -> ApiError {
    ApiError::Refused { status, retry_after: None, detail: Box::new(detail) }
}

fn detail(code: &str, message: &str) -> ErrorDetail {
    ErrorDetail {
        code: code.to_owned(),
        message: message.to_owned(),
        request_id: String::new(),
        violations: Vec::new(),
        link_url: None,
        link_code: None,
    }
}
