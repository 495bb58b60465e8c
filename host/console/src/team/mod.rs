//! Pages of the platform team, one file a subject.

mod approvals;
mod audit;
mod gateways;
mod intents;
mod ledger;
mod notices;
mod orders;
mod overview;
mod partners;
mod playground;
mod rankings;
mod reviews;
mod sessions;
mod settings;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::Console;

/// What moves on pages of the team.
pub(crate) fn streams() -> Router<Arc<Console>> {
    Router::new()
        .route("/console/live/overview", get(overview::follow_overview))
        .route("/console/live/intents/{intent}", get(intents::follow_intent))
        .route("/console/live/intents/{intent}/compare", post(intents::hear_comparison))
        .route("/console/live/reviews", get(reviews::follow_reviews))
        .route("/console/live/reviews/{review}", get(reviews::follow_review))
        .route("/console/live/approvals", get(approvals::follow_approvals))
}

/// What brings a contract's component.
pub(crate) fn load_routes() -> Router<Arc<Console>> {
    intents::load_routes()
}

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console", get(overview::show_overview))
        .route(overview::TRAFFIC, get(overview::send_traffic))
        .merge(intents::routes())
        .merge(partners::routes())
        .merge(reviews::routes())
        .merge(approvals::routes())
        .merge(orders::routes())
        .merge(rankings::routes())
        .merge(ledger::routes())
        .merge(notices::routes())
        .merge(audit::routes())
        .merge(gateways::routes())
        .merge(settings::routes())
        .merge(sessions::routes())
        .merge(playground::routes())
}
