//! The first page of a partner: whose turn it is, and what is next.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::Response;
use intent_gateway_api::account::OverviewBody;
use intent_gateway_api::traffic::PartnerTraffic;

use crate::failure::Failed;
use crate::frame::{Frame, render, show};
use crate::live::{Follower, follow};
use crate::partner::own;
use crate::plots::{self, Plot, Plotting};
use crate::view::{Chip, Moment, Tone};
use crate::visitor::{Business, Visitor};

/// Where the script reads how long the partner's tools took.
pub(super) const LATENCY: &str = "/dashboard/plots/latency";

#[derive(Template)]
#[template(path = "partner/home.html")]
struct HomePage {
    frame: Frame,
    moves: HomeMoves,
    latency: Plot,
}

/// All of it moves.
#[derive(Template)]
#[template(path = "partner/home-moves.html")]
struct HomeMoves {
    account: OverviewBody,
}

impl HtmlSafe for HomeMoves {}

impl HomeMoves {
    /// The answer in one line.
    fn lead(&self) -> &'static str {
        let is_live = self.account.connection.as_ref().is_some_and(|connection| connection.state.as_str() == "live");
        match self.account.next.first() {
            None if is_live => "Requests of users are routed to you. Nothing is left to do.",
            None => "Nothing is left to do.",
            Some(step) if step.who == "partner" => "It is your turn.",
            Some(_) => "It is the platform team's turn.",
        }
    }
}

pub(super) async fn show_home(Business(visitor): Business) -> Result<Response, Failed> {
    let (moves, latency) = tokio::try_join!(home_moves(&visitor), latency(&visitor))?;
    let frame = visitor.frame("/dashboard", moves.account.business_name.as_str());
    let frame = frame.json(own(&visitor, "accounts")).live("/dashboard/live/home").plots();
    Ok(show(&HomePage { frame, moves, latency }))
}

/// How long the partner's own tools took, with their targets.
async fn latency(visitor: &Visitor) -> Result<Plot, Failed> {
    let address = format!("{}/traffic", own(visitor, "accounts"));
    let body = visitor.api.get::<PartnerTraffic>(&address).await?;
    Ok(plots::latency(&body, LATENCY.to_owned(), address))
}

pub(super) async fn send_latency(Plotting(Business(visitor)): Plotting<Business>) -> Result<Response, Failed> {
    plots::send(&latency(&visitor).await?)
}

pub(super) async fn follow_home(follower: Follower<Business>) -> Result<Response, Failed> {
    follow(follower, |visitor| Box::pin(async move { render(&home_moves(&visitor).await?) })).await
}

async fn home_moves(visitor: &Visitor) -> Result<HomeMoves, Failed> {
    Ok(HomeMoves { account: visitor.api.get::<OverviewBody>(&own(visitor, "accounts")).await? })
}
