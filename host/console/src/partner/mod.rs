//! Pages of a partner, one file a subject. They show what a partner's own API tells, and nothing of anybody else.

mod access;
mod deliveries;
mod events;
mod go_live;
mod home;
mod money;
mod notices;
mod offers;
mod orders;
mod report;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::Console;
use crate::api::{ApiError, Outcome, segment};
use crate::failure::{Failed, Problem};
use crate::view::{Chip, Tone};
use crate::visitor::Visitor;

/// The code of what the API does only for whoever has entered a mailed code just now.
const FRESH_SIGN_IN_NEEDED: &str = "FRESH_SIGN_IN_NEEDED";

/// What moves on pages of a partner.
pub(crate) fn streams() -> Router<Arc<Console>> {
    Router::new()
        .route("/dashboard/live/home", get(home::follow_home))
        .route("/dashboard/live/connection", get(go_live::follow_connection))
}

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/dashboard", get(home::show_home))
        .route(home::LATENCY, get(home::send_latency))
        .merge(go_live::routes())
        .merge(offers::routes())
        .merge(orders::routes())
        .route(report::ADDRESS, get(report::show_report))
        .merge(money::routes())
        .merge(events::routes())
        .route(notices::ADDRESS, get(notices::show_notices))
        .merge(access::routes())
}

/// A connection's state, in a shape and a word.
pub(crate) fn connection_chip(state: &str) -> Chip {
    match state {
        "live" => Chip::new(Tone::Good, "live"),
        "suspended" => Chip::new(Tone::Bad, "suspended"),
        "probe_failed" => Chip::new(Tone::Care, "probe failed"),
        state => Chip::new(Tone::Idle, state),
    }
}

/// The address in the API of what the visitor's own account has.
fn own(visitor: &Visitor, what: &str) -> String {
    format!("/api/v1/business/tier1/{what}/{}", segment(&visitor.session.record.who))
}

/// What an act came to. Nothing that a partner does waits for a second person.
fn take<T>(outcome: Outcome<T>) -> Result<T, ApiError> {
    match outcome {
        Outcome::Done(done) => Ok(done),
        Outcome::Waits => Err(ApiError::Unreadable("nothing of a partner waits for a second person".into())),
    }
}

/// Why the API has refused what a form brought, for the form to be shown with it once more. Whatever else went wrong has a page of
/// its own.
fn take_refusal(error: ApiError) -> Result<Problem, Failed> {
    let is_refusal = matches!(&error, ApiError::Refused { status, .. } if status.is_client_error());
    if is_refusal && (!error.is_signed_out() || error.code() == FRESH_SIGN_IN_NEEDED) {
        Ok(Problem::from(&error))
    } else {
        Err(error.into())
    }
}

/// Whether a code that was mailed has to be entered anew before the same is done.
fn wants_fresh_sign_in(problem: &Problem) -> bool {
    problem.code == FRESH_SIGN_IN_NEEDED
}
