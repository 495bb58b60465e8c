//! Signing in and out.
//!
//! The platform team: at an issuer that is configured, with the code that a gateway gives at its start where none is, or with a bearer
//! token of an admin. Partners: with their address
//! and the code that is mailed to it, as in the API.

mod first_code;
mod mailed;
mod provider;
mod team;

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderMap, header};

pub use self::first_code::FirstCode;
pub use self::provider::{FetchError, Fetched, Provider, ProviderFetch};
use crate::Console;
use crate::failure::Failed;
use crate::frame::lead_to;
use crate::session::{Face, NewSession, end_cookie, session_cookie};
use crate::visitor::{Business, OfFace, Sent, Team};

/// Where an issuer sends browsers back to.
const CALLBACK: &str = "/console/sign-in/callback";

pub(crate) fn team_routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console/sign-in", get(team::ask).post(team::enter))
        .route("/console/sign-in/provider", get(team::begin))
        .route(CALLBACK, get(team::finish))
        .route("/console/sign-out", post(sign_out::<Team>))
}

pub(crate) fn partner_routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/dashboard/sign-in", get(mailed::ask).post(mailed::send))
        .route("/dashboard/sign-up", get(mailed::ask_new).post(mailed::send_new))
        .route("/dashboard/sign-in/code", post(mailed::enter))
        .route("/dashboard/sign-out", post(sign_out::<Business>))
}

/// Opens a session, and leads to the page that was wanted.
async fn open(console: &Console, new: NewSession<'_>, to: &str) -> Result<Response, Failed> {
    let face = new.face;
    let held = console.sessions.open(new).await?;
    let mut response = lead_to(own_page(face, to));
    response.headers_mut().extend(session_cookie(face, &held).map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// A page of this face, and nothing else that somebody has put into the address.
fn own_page(face: Face, to: &str) -> &str {
    let home = face.home();
    let is_own = to.strip_prefix(home).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && is_plain { to } else { home }
}

fn agent(headers: &HeaderMap) -> &str {
    headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

async fn sign_out<V>(State(console): State<Arc<Console>>, Sent(visitor, _): Sent<V>) -> Result<Response, Failed>
where
    V: OfFace + FromRequestParts<Arc<Console>, Rejection = Response>,
{
    let session = &visitor.visitor().session.record;
    console.sessions.end(session.face, &session.who, &session.key).await?;
    let mut response = lead_to(&format!("{}/sign-in", session.face.home()));
    response.headers_mut().extend(end_cookie(session.face).map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_elsewhere() {
        for own in ["/console", "/console/reviews?status=open", "/console?done=saved"] {
            assert_eq!(own_page(Face::Team, own), own);
        }
        for foreign in [
            "",
            "/",
            "//evil.example",
            "/consoles",
            "/console\\@evil",
            "https://evil.example/console",
            "/dashboard",
            "/console\r\nx: y",
        ] {
            assert_eq!(own_page(Face::Team, foreign), "/console", "{foreign}");
        }
        assert_eq!(own_page(Face::Partner, "/dashboard/money"), "/dashboard/money");
    }
}
