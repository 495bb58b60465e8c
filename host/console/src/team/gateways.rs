//! The gateways that share the store: which live, what each does for all, what it does not serve as wanted, and what is not as it
//! should be at the one that answers.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use intent_gateway_api::contracts::{IntentStatus, IntentStatuses};
use intent_gateway_api::gateways::{GatewayBody, GatewayList};
use intent_gateway_api::operations::Readiness;

use crate::Console;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Ident, Moment, Tone, count};
use crate::visitor::Team;

const PLACE: &str = "/console/gateways";
const GATEWAYS_API: &str = "/api/v1/admin/gateways";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(PLACE, get(show_gateways))
}

/// A gateway, with the intents that it does not serve as is wanted.
struct Row {
    gateway: GatewayBody,
    astray: Vec<String>,
}

#[derive(Template)]
#[template(path = "team/gateways.html")]
struct GatewaysPage {
    frame: Frame,
    rows: Vec<Row>,
    /// Whether all run one version of the program.
    is_one_version: bool,
    /// Of the gateway that answers; none where it does not tell.
    ready: Option<Readiness>,
}

impl GatewaysPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let lives = match self.rows.len() {
            1 => "One gateway lives".to_owned(),
            lives => format!("{lives} gateways live"),
        };
        let astray = self.rows.iter().filter(|row| !row.astray.is_empty()).count();
        let troubles = self.ready.as_ref().map_or(0, |ready| ready.troubles.len());
        match (astray, troubles) {
            (0, 0) if self.is_one_version => format!("{lives}, and each serves what is wanted."),
            (0, 0) => format!("{lives}; not all run the same version of the program."),
            (0, 1) => format!("{lives}. One thing is not as it should be at the one that answers."),
            (0, troubles) => format!("{lives}. {troubles} things are not as they should be at the one that answers."),
            (astray, _) => format!("{lives}; {astray} of them do not serve what is wanted."),
        }
    }
}

impl Row {
    fn chip(&self) -> Chip {
        if self.astray.is_empty() { Chip::new(Tone::Good, "as wanted") } else { Chip::new(Tone::Care, "not as wanted") }
    }
}

/// The intents that a gateway does not serve as is wanted.
fn find_astray(id: &str, intents: &[IntentStatus]) -> Vec<String> {
    let is_astray = |status: &&IntentStatus| {
        let own = status.gateways.iter().find(|gateway| gateway.id == id);
        let serving = own.and_then(|gateway| gateway.serving.as_ref()).map(|serving| serving.digest);
        serving != status.live.as_ref().map(|live| live.digest)
    };
    intents.iter().filter(is_astray).map(|status| status.intent.clone()).collect()
}

async fn show_gateways(Team(visitor): Team) -> Result<Response, Failed> {
    let (list, statuses) = tokio::try_join!(
        visitor.api.get::<GatewayList>(GATEWAYS_API),
        visitor.api.get_if_allowed::<IntentStatuses>("/api/v1/admin/contracts/status"),
    )?;
    let intents = statuses.map(|statuses| statuses.intents).unwrap_or_default();
    // While it drains it has another answer, which says no more than that.
    let ready = visitor.api.get::<Readiness>("/ready").await.ok();
    let is_one_version = list.gateways.windows(2).all(|pair| pair[0].version == pair[1].version);
    let rows = list.gateways.into_iter().map(|gateway| Row { astray: find_astray(&gateway.id, &intents), gateway });
    let frame = visitor.frame(PLACE, "Gateways").json(GATEWAYS_API);
    Ok(show(&GatewaysPage { frame, rows: rows.collect(), is_one_version, ready }))
}
