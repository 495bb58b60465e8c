//! The first page of a partner: whose turn it is, and what is next.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::Response;
use intent_gateway_api::account::OverviewBody;

use crate::failure::Failed;
use crate::frame::{Frame, render, show};
use crate::live::{Follower, follow};
use crate::partner::own;
use crate::view::{Chip, Moment, Tone};
use crate::visitor::{Business, Visitor};

#[derive(Template)]
#[template(path = "partner/home.html")]
struct HomePage {
    frame: Frame,
    moves: HomeMoves,
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
    let moves = home_moves(&visitor).await?;
    let frame = visitor.frame("/dashboard", moves.account.business_name.as_str());
    let frame = frame.json(own(&visitor, "accounts")).live("/dashboard/live/home");
    Ok(show(&HomePage { frame, moves }))
}

pub(super) async fn follow_home(follower: Follower<Business>) -> Result<Response, Failed> {
    follow(follower, |visitor| Box::pin(async move { render(&home_moves(&visitor).await?) })).await
}

async fn home_moves(visitor: &Visitor) -> Result<HomeMoves, Failed> {
    Ok(HomeMoves { account: visitor.api.get::<OverviewBody>(&own(visitor, "accounts")).await? })
}
