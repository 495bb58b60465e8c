//! Pages of partners: their connections ([`list`]), one with its health and findings ([`one`]), and what is done with it ([`acts`]).

mod acts;
mod findings;
mod list;
mod one;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::Console;
use crate::api::segment;

/// In the navigation.
const PLACE: &str = "/console/partners";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(PLACE, get(list::show_partners))
        .route("/console/partners/{account}", get(one::show_partner))
        .route("/console/plots/partners/{account}", get(one::send_latency))
        .route("/console/partners/{account}/probe", post(acts::probe).get(acts::lead_to_partner))
        .route("/console/partners/{account}/{act}", get(acts::ask_to_act).post(acts::act))
}

/// The address of a partner's page.
fn page_of(account: &str) -> String {
    format!("{PLACE}/{}", segment(account))
}
