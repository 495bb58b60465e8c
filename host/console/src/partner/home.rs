//! The first page of a partner: whose turn it is, and what is next.

use askama::Template;
use axum::response::Response;
use intent_gateway_api::account::OverviewBody;

use crate::api::segment;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Moment, Tone};
use crate::visitor::Business;

#[derive(Template)]
#[template(path = "partner/home.html")]
struct HomePage {
    frame: Frame,
    account: OverviewBody,
}

impl HomePage {
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
    let address = format!("/api/v1/business/tier1/accounts/{}", segment(&visitor.session.record.who));
    let account = visitor.api.get::<OverviewBody>(&address).await?;
    let frame = visitor.frame("/dashboard", account.business_name.as_str()).json(address);
    Ok(show(&HomePage { frame, account }))
}
