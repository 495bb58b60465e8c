//! Rankings: found by their request, each explained from its receipt.

mod compare;
mod members;
mod receipt;
mod weights;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use intent_gateway_api::evidence::RankingReceipts;

use crate::Console;
use crate::api::{segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::view::Ident;
use crate::visitor::{Fields, Team};

const PLACE: &str = "/console/rankings";
const RECEIPTS_API: &str = "/api/v1/admin/receipts";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console/rankings", get(find_rankings))
        .route("/console/rankings/{receipt}", get(receipt::show_ranking))
        .route("/console/rankings/{receipt}/replay", post(receipt::replay_ranking).get(receipt::lead_to_ranking))
}

#[derive(Template)]
#[template(path = "team/rankings.html")]
struct RankingsPage {
    frame: Frame,
    /// What was looked for; empty where nothing was.
    request_id: String,
    receipts: Vec<String>,
    problem: Option<Problem>,
}

impl RankingsPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match (self.request_id.is_empty(), self.receipts.len()) {
            (true, _) => "Why was this option first, and that one not shown?".to_owned(),
            _ if self.problem.is_some() => "Nothing was looked for.".to_owned(),
            (false, 0) => "No receipt of this request is kept.".to_owned(),
            (false, 1) => "One ranking of this request is kept.".to_owned(),
            (false, count) => format!("{count} rankings of this request are kept, the newest first."),
        }
    }
}

async fn find_rankings(RawQuery(query): RawQuery, Team(visitor): Team) -> Result<Response, Failed> {
    let fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let request_id = fields.text("request_id").to_owned();
    // Whoever has the identifier of what they want to see has no request to look it up by.
    if request_id.starts_with("rank_") {
        return Ok(lead_to(&format!("{PLACE}/{}", segment(&request_id))));
    }
    if request_id.starts_with("ord_") {
        return Ok(lead_to(&format!("/console/orders/{}", segment(&request_id))));
    }
    let frame = visitor.frame(PLACE, "Rankings");
    if request_id.is_empty() {
        let page = RankingsPage { frame, request_id, receipts: Vec::new(), problem: None };
        return Ok(show_with(StatusCode::OK, &page));
    }
    let address = with_query(RECEIPTS_API, &[("request_id", &request_id)]);
    let (receipts, problem) = match visitor.api.get::<RankingReceipts>(&address).await {
        Ok(found) => (found.receipts, None),
        Err(error) if error.is_refusal() => (Vec::new(), Some(Problem::from(&error))),
        Err(error) => return Err(error.into()),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    Ok(show_with(status, &RankingsPage { frame: frame.json(address), request_id, receipts, problem }))
}
