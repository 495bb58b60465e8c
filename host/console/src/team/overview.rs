//! The first page of the team: what wants a decision, and how gateways, intents and partners are.

use std::collections::BTreeMap;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::Response;
use intent_gateway_api::approvals::ApprovalList;
use intent_gateway_api::connection::ConnectionCounts;
use intent_gateway_api::contracts::{IntentStatus, IntentStatuses, LoadedVersions, MissingVersion};
use intent_gateway_api::gateways::{GatewayBody, GatewayList};
use intent_gateway_api::review::{ReviewList, ReviewSummary};
use intent_gateway_api::traffic::TrafficBody;

use crate::failure::Failed;
use crate::frame::{Frame, render, show};
use crate::live::{Follower, follow};
use crate::plots::{self, Plot, Plotting};
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Team, Visitor};

/// Where the script reads searches by intent.
pub(super) const TRAFFIC: &str = "/console/plots/traffic";
const TRAFFIC_IN_API: &str = "/api/v1/admin/traffic";

#[derive(Template)]
#[template(path = "team/overview.html")]
struct OverviewPage {
    frame: Frame,
    moves: OverviewMoves,
    /// None where the visitor's token does not open it.
    traffic: Option<Plot>,
}

/// All of it moves.
#[derive(Template)]
#[template(path = "team/overview-moves.html")]
struct OverviewMoves {
    /// None where the visitor's token does not open reviews.
    reviews: Option<Vec<ReviewSummary>>,
    has_more_reviews: bool,
    approvals: usize,
    missing: Vec<MissingVersion>,
    intents: Vec<IntentStatus>,
    states: BTreeMap<String, u64>,
    gateways: Vec<GatewayBody>,
}

impl HtmlSafe for OverviewMoves {}

impl OverviewMoves {
    /// The answer in one line.
    fn lead(&self) -> String {
        let reviews = self.reviews.as_ref().map_or(0, Vec::len);
        let waiting = reviews + self.approvals + self.missing.len();
        match (waiting, self.has_more_reviews) {
            (0, _) => "Nothing waits for the team.".to_owned(),
            (1, _) => "One thing waits for the team.".to_owned(),
            (waiting, false) => format!("{waiting} things wait for the team."),
            (waiting, true) => format!("More than {waiting} things wait for the team."),
        }
    }
}

/// How an intent is served, in a state and a word.
pub(super) fn intent_chip(intent: &IntentStatus) -> Chip {
    match (&intent.live, &intent.coming, &intent.rollout) {
        (_, _, Some(rollout)) if rollout.is_paused => Chip::new(Tone::Care, "rollout paused"),
        (_, _, Some(rollout)) => {
            Chip::new(Tone::Moving, format!("{} % get {}", rollout.share_percent, rollout.name.version))
        }
        (_, Some(coming), None) => Chip::new(Tone::Moving, format!("{} is coming", coming.name.version)),
        (Some(_), None, None) => Chip::new(Tone::Good, "live"),
        (None, None, None) => Chip::new(Tone::Idle, "out of service"),
    }
}

pub(super) async fn show_overview(Team(visitor): Team) -> Result<Response, Failed> {
    let (moves, traffic) = tokio::try_join!(overview_moves(&visitor), traffic(&visitor))?;
    let frame = visitor.frame("/console", "Overview").live("/console/live/overview").plots();
    Ok(show(&OverviewPage { frame, moves, traffic }))
}

async fn traffic(visitor: &Visitor) -> Result<Option<Plot>, Failed> {
    let body = visitor.api.get_if_allowed::<TrafficBody>(TRAFFIC_IN_API).await?;
    Ok(body.map(|body| plots::traffic(&body, TRAFFIC, TRAFFIC_IN_API)))
}

pub(super) async fn send_traffic(Plotting(Team(visitor)): Plotting<Team>) -> Result<Response, Failed> {
    plots::send(&traffic(&visitor).await?.ok_or(Failed::NoPage)?)
}

pub(super) async fn follow_overview(follower: Follower<Team>) -> Result<Response, Failed> {
    follow(follower, |visitor| Box::pin(async move { render(&overview_moves(&visitor).await?) })).await
}

async fn overview_moves(visitor: &Visitor) -> Result<OverviewMoves, Failed> {
    let api = &visitor.api;
    // The page of reviews has those beyond ten.
    let (reviews, approvals, counts, loaded, statuses, gateways) = tokio::try_join!(
        api.get_if_allowed::<ReviewList>("/api/v1/admin/reviews?status=open&limit=10"),
        api.get_if_allowed::<ApprovalList>("/api/v1/admin/approvals"),
        api.get_if_allowed::<ConnectionCounts>("/api/v1/admin/connections/summary"),
        api.get_if_allowed::<LoadedVersions>("/api/v1/admin/contracts"),
        api.get_if_allowed::<IntentStatuses>("/api/v1/admin/contracts/status"),
        api.get_if_allowed::<GatewayList>("/api/v1/admin/gateways"),
    )?;
    let mut states = counts.map(|counts| counts.states).unwrap_or_default();
    states.retain(|_, count| *count > 0);
    let has_more_reviews = reviews.as_ref().is_some_and(|list| list.next.is_some());
    let reviews = reviews.map(|list| list.reviews);
    Ok(OverviewMoves {
        reviews,
        has_more_reviews,
        approvals: approvals.map_or(0, |list| list.approvals.len()),
        missing: loaded.map(|loaded| loaded.missing).unwrap_or_default(),
        intents: statuses.map(|statuses| statuses.intents).unwrap_or_default(),
        states,
        gateways: gateways.map(|list| list.gateways).unwrap_or_default(),
    })
}
