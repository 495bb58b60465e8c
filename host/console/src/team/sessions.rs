//! Where a person of the team is signed in at the console, and the end of each session.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use http::header;

use crate::Console;
use crate::failure::Failed;
use crate::frame::{Frame, lead_to, show};
use crate::notices::with_notice;
use crate::session::{Face, SessionRow, end_cookie};
use crate::visitor::{Sent, Team};

const PLACE: &str = "/console/sessions";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(PLACE, get(show_sessions))
        .route("/console/sessions/end", post(end_session).get(lead_back))
        .route("/console/sessions/end-all", post(end_all).get(lead_back))
}

#[derive(Template)]
#[template(path = "team/sessions.html")]
struct SessionsPage {
    frame: Frame,
    sessions: Vec<SessionRow>,
}

async fn show_sessions(State(console): State<Arc<Console>>, Team(visitor): Team) -> Result<Response, Failed> {
    let sessions = console.sessions.list(&visitor.session.record).await?;
    Ok(show(&SessionsPage { frame: visitor.frame(PLACE, "Sessions"), sessions }))
}

/// For whoever opens the address of a form again.
async fn lead_back(Team(_visitor): Team) -> Response {
    lead_to(PLACE)
}

async fn end_session(
    State(console): State<Arc<Console>>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let ended = console.sessions.end(Face::Team, &visitor.session.record.who, fields.text("key")).await?;
    Ok(lead_to(&if ended { with_notice(PLACE, "ended") } else { PLACE.to_owned() }))
}

async fn end_all(State(console): State<Arc<Console>>, Sent(Team(visitor), _): Sent<Team>) -> Result<Response, Failed> {
    console.sessions.end_all(Face::Team, &visitor.session.record.who).await?;
    let mut response = lead_to("/console/sign-in");
    response.headers_mut().extend(end_cookie(Face::Team).map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}
