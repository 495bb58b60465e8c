//! What waits for a second person of the team: all of it, and one request whole, to be approved or refused.

use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use http::{Method, StatusCode};
use intent_gateway_api::approvals::{ApprovalBody, ApprovalDetail, ApprovalList};
use serde_json::Value;

use crate::Console;
use crate::api::{ApiError, segment};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, render, show, show_with};
use crate::live::{Follower, follow};
use crate::notices::with_notice;
use crate::view::{Ident, Moment};
use crate::visitor::{Sent, Team, Visitor};

/// In the navigation.
const PLACE: &str = "/console/approvals";
const LIST: &str = "/api/v1/admin/approvals";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(PLACE, get(show_approvals))
        .route("/console/approvals/{approval}", get(show_approval))
        .route("/console/approvals/{approval}/approve", post(approve).get(lead_to_approval))
        .route("/console/approvals/{approval}/refuse", post(refuse).get(lead_to_approval))
}

#[derive(Template)]
#[template(path = "team/approvals.html")]
struct ApprovalsPage {
    frame: Frame,
    moves: ApprovalsMoves,
}

/// All of it moves.
#[derive(Template)]
#[template(path = "team/approvals-moves.html")]
struct ApprovalsMoves {
    approvals: Vec<ApprovalBody>,
}

impl HtmlSafe for ApprovalsMoves {}

impl ApprovalsMoves {
    /// The answer in one line.
    fn lead(&self) -> String {
        match self.approvals.len() {
            0 => "Nothing waits for a second person.".to_owned(),
            1 => "One request waits for a second person.".to_owned(),
            waiting => format!("{waiting} requests wait for a second person."),
        }
    }
}

#[derive(Template)]
#[template(path = "team/approval.html")]
struct ApprovalPage {
    frame: Frame,
    detail: ApprovalDetail,
    /// Why it was not decided so.
    problem: Option<Problem>,
}

async fn show_approvals(Team(visitor): Team) -> Result<Response, Failed> {
    let moves = approvals_moves(&visitor).await?;
    let frame = visitor.frame(PLACE, "Approvals").json(LIST).live("/console/live/approvals");
    Ok(show(&ApprovalsPage { frame, moves }))
}

pub(super) async fn follow_approvals(follower: Follower<Team>) -> Result<Response, Failed> {
    follow(follower, |visitor| Box::pin(async move { render(&approvals_moves(&visitor).await?) })).await
}

async fn approvals_moves(visitor: &Visitor) -> Result<ApprovalsMoves, Failed> {
    let list = visitor.api.get::<ApprovalList>(LIST).await?;
    Ok(ApprovalsMoves { approvals: list.approvals })
}

/// The address of what waits, in the API.
fn approval_of(id: &str) -> String {
    format!("{LIST}/{}", segment(id))
}

async fn page(visitor: &Visitor, id: &str, problem: Option<Problem>) -> Result<Response, ApiError> {
    let address = approval_of(id);
    let detail = visitor.api.get::<ApprovalDetail>(&address).await?;
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(PLACE, format!("Waits: {}", detail.approval.what)).json(address);
    Ok(show_with(status, &ApprovalPage { frame, detail, problem }))
}

async fn show_approval(Team(visitor): Team, Path(id): Path<String>) -> Result<Response, Failed> {
    Ok(page(&visitor, &id, None).await?)
}

/// Whoever opens the address of a form alone.
async fn lead_to_approval(Path(id): Path<String>) -> Response {
    lead_to(&format!("{PLACE}/{}", segment(&id)))
}

async fn approve(Path(id): Path<String>, Sent(Team(visitor), _): Sent<Team>) -> Result<Response, Failed> {
    decide(&visitor, &id, "approve", "carried-out").await
}

async fn refuse(Path(id): Path<String>, Sent(Team(visitor), _): Sent<Team>) -> Result<Response, Failed> {
    decide(&visitor, &id, "refuse", "refused").await
}

async fn decide(visitor: &Visitor, id: &str, verdict: &str, done: &'static str) -> Result<Response, Failed> {
    let address = format!("{}/{verdict}", approval_of(id));
    match visitor.api.send_text::<Value>(Method::POST, &address, None).await {
        Ok(outcome) => Ok(lead_to(&with_notice(PLACE, outcome.notice(done)))),
        // Once it is approved nothing waits any more, also where the operation itself is refused: then that refusal is the page.
        Err(error @ ApiError::Refused { .. }) => {
            page(visitor, id, Some(Problem::from(&error))).await.map_err(|_nothing_waits| error.into())
        }
        Err(error) => Err(error.into()),
    }
}
