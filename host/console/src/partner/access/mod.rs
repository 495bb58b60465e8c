//! How a partner's people and programs get in: credentials, the webhook and its keys, a test call, sessions.

mod secrets;
mod sessions;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::{Method, StatusCode};
use intent_gateway_api::account::{CredentialsBody, TestCallAnswer, Validity};
use intent_gateway_domain::secret::Secret;
use serde_json::json;

use super::{own, take, take_refusal, wants_fresh_sign_in};
use crate::Console;
use crate::api::ApiError;
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::session::SessionRow;
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Business, Sent, Visitor};

const ADDRESS: &str = "/dashboard/access";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(ADDRESS, get(show_access))
        .route("/dashboard/access/credentials", get(lead_back).post(secrets::issue_credentials))
        .route("/dashboard/access/credentials/rotate", get(secrets::ask_rotation).post(secrets::rotate_secret))
        .route("/dashboard/access/webhook", get(lead_back).post(secrets::save_webhook))
        .route("/dashboard/access/webhook/rotate", get(secrets::ask_key_rotation).post(secrets::rotate_key))
        .route("/dashboard/access/test-call", get(lead_back).post(try_wish))
        .route("/dashboard/access/sessions/end", get(lead_back).post(sessions::end_session))
        .route("/dashboard/access/sessions/end-all", get(sessions::ask_to_end_all).post(sessions::end_all))
}

/// A secret that is shown this once.
struct ShownOnce {
    name: &'static str,
    secret: Secret,
    /// What it is for, in a sentence.
    purpose: &'static str,
}

/// What a form has come to, beside what the account has.
#[derive(Default)]
struct Come {
    shown: Vec<ShownOnce>,
    problem: Option<Problem>,
    /// The address that was typed.
    webhook_url: Option<String>,
    wish: String,
    /// What a test call has answered.
    answer: Option<String>,
}

#[derive(Template)]
#[template(path = "partner/access.html")]
struct AccessPage {
    frame: Frame,
    credentials: Option<CredentialsBody>,
    sessions: Vec<SessionRow>,
    webhook_url: String,
    come: Come,
}

/// Whether a secret or a key is the one in use, or one that ends.
pub(super) fn validity_chip(validity: &Validity) -> Chip {
    match validity.works_until {
        None => Chip::new(Tone::Good, "current"),
        Some(_) => Chip::new(Tone::Moving, "ends"),
    }
}

async fn show_access(State(console): State<Arc<Console>>, Business(visitor): Business) -> Result<Response, Failed> {
    access_page(&console, &visitor, Come::default()).await
}

/// Leads whoever opens the address of a form, which shows nothing by itself, to the page that has the form.
async fn lead_back(_: Business) -> Response {
    lead_to(ADDRESS)
}

/// Asks which intent a wish belongs to. No partner is called.
async fn try_wish(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), fields): Sent<Business>,
) -> Result<Response, Failed> {
    let wish = fields.text("user_intent").to_owned();
    let address = format!("{}/test-call", own(&visitor, "credentials"));
    let answer = visitor.api.send::<TestCallAnswer>(Method::POST, &address, &json!({"user_intent": wish})).await;
    let come = match answer.and_then(take) {
        Ok(answer) => {
            let text = serde_json::to_string_pretty(&answer).map_err(|error| ApiError::Unreadable(error.into()))?;
            Come { wish, answer: Some(text), ..Come::default() }
        }
        Err(error) => Come { wish, problem: Some(take_refusal(error)?), ..Come::default() },
    };
    access_page(&console, &visitor, come).await
}

/// The page with what the account has, and what a form has come to.
async fn access_page(console: &Console, visitor: &Visitor, come: Come) -> Result<Response, Failed> {
    let address = own(visitor, "credentials");
    let credentials = visitor.api.find::<CredentialsBody>(&address).await?;
    let sessions = console.sessions.list(&visitor.session.record).await?;
    let saved = || credentials.as_ref().and_then(|credentials| credentials.webhook_url.clone());
    let webhook_url = come.webhook_url.clone().or_else(saved).unwrap_or_default();
    let status = come.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(ADDRESS, "Access").json(address);
    Ok(show_with(status, &AccessPage { frame, credentials, sessions, webhook_url, come }))
}
