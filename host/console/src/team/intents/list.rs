//! All intents: what serves each, what is coming, and which components were not taken.

use askama::Template;
use axum::response::Response;
use intent_gateway_api::contracts::{IntentStatus, IntentStatuses, LoadFailures};
use intent_gateway_api::name;

use super::{PLACE, load, origin_in_words};
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::team::overview::intent_chip;
use crate::view::{Ident, Moment};
use crate::visitor::Team;

const STATUSES: &str = "/api/v1/admin/contracts/status";

#[derive(Template)]
#[template(path = "team/intents.html")]
struct IntentsPage {
    frame: Frame,
    intents: Vec<IntentStatus>,
    failures: LoadFailures,
}

impl IntentsPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let (all, live) = (self.intents.len(), self.intents.iter().filter(|intent| intent.live.is_some()).count());
        let serve = match (all, live) {
            (0, _) => return "No intent is served: no contract is loaded.".to_owned(),
            (1, 1) => "The one intent is in service".to_owned(),
            (_, 0) => "No intent is in service".to_owned(),
            (all, live) if all == live => format!("All {all} intents are in service"),
            (all, 1) => format!("One of {all} intents is in service"),
            (all, live) => format!("{live} of {all} intents are in service"),
        };
        match self.intents.iter().filter(|intent| has_lag(intent)).count() {
            0 => format!("{serve}, at every gateway as wanted."),
            1 => format!("{serve}; of one, a gateway does not serve what it should."),
            lagging => format!("{serve}; of {lagging}, a gateway does not serve what it should."),
        }
    }
}

/// Gateways that serve what they should; nothing, where the intent is out of service.
fn count_as_wanted(intent: &IntentStatus) -> usize {
    let wanted = intent.live.as_ref().map(|live| live.digest);
    let serve =
        intent.gateways.iter().filter(|gateway| gateway.serving.as_ref().map(|serving| serving.digest) == wanted);
    serve.count()
}

/// Whether some gateway does not serve what it should.
fn has_lag(intent: &IntentStatus) -> bool {
    count_as_wanted(intent) < intent.gateways.len()
}

pub(super) async fn show_intents(Team(visitor): Team) -> Result<Response, Failed> {
    let api = &visitor.api;
    let (statuses, failures) = tokio::try_join!(
        api.get::<IntentStatuses>(STATUSES),
        api.get::<LoadFailures>("/api/v1/admin/contracts/failures"),
    )?;
    let frame = visitor.frame(PLACE, "Intents").json(STATUSES);
    Ok(show(&IntentsPage { frame, intents: statuses.intents, failures }))
}
