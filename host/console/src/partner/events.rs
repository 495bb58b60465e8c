//! What the partner was told by events: how they are sent, each with every try to deliver it, and sending one again.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query};
use axum::response::Response;
use axum::routing::get;
use http::{Method, StatusCode};
use intent_gateway_api::account::WebhookBody;
use intent_gateway_api::event::{EventBody, EventState, EventsBody, TryBody};
use intent_gateway_domain::secret::Secret;
use serde::Deserialize;
use serde_json::json;

use super::access::validity_chip;
use super::{own, take, take_refusal, wants_fresh_sign_in};
use crate::Console;
use crate::api::{ApiError, segment};
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::notices::with_notice;
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Business, Sent, Visitor};

const ADDRESS: &str = "/dashboard/events";
const ROTATION: &str = "/dashboard/events/secret";
/// Events of a page.
const PAGE_ROWS: usize = 50;
/// In the form of the page that asks before a secret ends at once.
const AT_ONCE: &str = "at_once";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(ADDRESS, get(show_events))
        .route("/dashboard/events/test", get(lead_back).post(send_test))
        .route("/dashboard/events/enable", get(lead_back).post(enable_sending))
        .route(ROTATION, get(ask_rotation).post(rotate_secret))
        .route("/dashboard/events/{event}/replay", get(lead_back_from).post(replay_event))
}

/// Which events are looked at.
#[derive(Default, Deserialize)]
struct Chosen {
    #[serde(default)]
    before: String,
}

/// What a form has come to.
#[derive(Default)]
struct Come {
    /// A new secret, which is shown this once.
    secret: Option<Secret>,
    problem: Option<Problem>,
}

/// One event, as the page lists it.
struct Row {
    kind: String,
    /// What it tells, as JSON.
    data: String,
    event: EventBody,
}

impl From<EventBody> for Row {
    fn from(event: EventBody) -> Self {
        let posted = serde_json::to_value(&event.event).unwrap_or_default();
        let data = serde_json::to_string_pretty(&posted["data"]).unwrap_or_default();
        Self { kind: posted["type"].as_str().unwrap_or_default().to_owned(), data, event }
    }
}

#[derive(Template)]
#[template(path = "partner/events.html")]
struct EventsPage {
    frame: Frame,
    webhook: Option<WebhookBody>,
    events: Vec<Row>,
    is_first: bool,
    older: Option<String>,
    come: Come,
}

impl EventsPage {
    /// The answer in one line.
    fn lead(&self) -> &'static str {
        match &self.webhook {
            None => "No webhook is saved: what happens is mailed to you, and posted nowhere.",
            Some(webhook) if webhook.events.stopped.is_some() => "Nothing is posted to your webhook any more.",
            Some(webhook) if webhook.events.secrets.is_empty() => {
                "Nothing is posted to your webhook yet: there is no secret to sign with."
            }
            Some(_) => "What happens is posted to your webhook, and mailed to you.",
        }
    }

    /// Whether an event can be sent again.
    fn is_sent(&self) -> bool {
        let sends = |webhook: &WebhookBody| webhook.events.stopped.is_none() && !webhook.events.secrets.is_empty();
        self.webhook.as_ref().is_some_and(sends)
    }
}

/// What became of an event.
fn state_chip(state: &EventState) -> Chip {
    match state {
        EventState::Waiting => Chip::new(Tone::Moving, "waiting"),
        EventState::Delivered => Chip::new(Tone::Good, "delivered"),
        EventState::Failed => Chip::new(Tone::Bad, "failed"),
        EventState::Unsent => Chip::new(Tone::Idle, "not sent"),
    }
}

/// What a webhook answered, or why there is no answer.
fn answer_of(made: &TryBody) -> String {
    match (made.status, &made.error) {
        (Some(status), _) => status.to_string(),
        (None, error) => error.clone().unwrap_or_default(),
    }
}

async fn show_events(Business(visitor): Business, Query(chosen): Query<Chosen>) -> Result<Response, Failed> {
    events_page(&visitor, chosen, Come::default()).await
}

async fn lead_back(_: Business) -> Response {
    lead_to(ADDRESS)
}

async fn lead_back_from(_: Business, _: Path<String>) -> Response {
    lead_to(ADDRESS)
}

fn webhook_of(visitor: &Visitor) -> String {
    format!("{}/webhook", own(visitor, "credentials"))
}

/// The page after an act, or with why it was refused.
async fn after<T>(visitor: &Visitor, done: Result<T, ApiError>, notice: &'static str) -> Result<Response, Failed> {
    match done {
        Ok(_) => Ok(lead_to(&with_notice(ADDRESS, notice))),
        Err(error) => {
            let come = Come { problem: Some(take_refusal(error)?), ..Come::default() };
            events_page(visitor, Chosen::default(), come).await
        }
    }
}

async fn send_test(Sent(Business(visitor), _): Sent<Business>) -> Result<Response, Failed> {
    let address = format!("{}/test", webhook_of(&visitor));
    let sent = visitor.api.send_text::<EventBody>(Method::POST, &address, None).await.and_then(take);
    after(&visitor, sent, "event-sent").await
}

async fn enable_sending(Sent(Business(visitor), _): Sent<Business>) -> Result<Response, Failed> {
    let address = format!("{}/enable", webhook_of(&visitor));
    let enabled = visitor.api.send_text::<WebhookBody>(Method::POST, &address, None).await.and_then(take);
    after(&visitor, enabled, "events-enabled").await
}

async fn replay_event(
    Path(event): Path<String>,
    Sent(Business(visitor), _): Sent<Business>,
) -> Result<Response, Failed> {
    let address = format!("{}/events/{}/replay", own(&visitor, "accounts"), segment(&event));
    let replayed = visitor.api.send_text::<EventBody>(Method::POST, &address, None).await.and_then(take);
    after(&visitor, replayed, "event-sent").await
}

async fn rotate_secret(Sent(Business(visitor), fields): Sent<Business>) -> Result<Response, Failed> {
    let address = format!("{}/event-secret/rotate", webhook_of(&visitor));
    let wish = json!({"at_once": fields.is_ticked(AT_ONCE)});
    let rotated = visitor.api.send::<WebhookBody>(Method::POST, &address, &wish).await.and_then(take);
    let come = match rotated {
        Ok(rotated) => Come { secret: rotated.webhook_event_secret.map(Secret::new), problem: None },
        Err(error) => Come { secret: None, problem: Some(take_refusal(error)?) },
    };
    events_page(&visitor, Chosen::default(), come).await
}

/// Asks before every secret ends that is in use.
async fn ask_rotation(Business(visitor): Business) -> Response {
    let altered = vec![Altered {
        what: "Events signed with a secret of today",
        before: "posted".to_owned(),
        after: "signed with the new one alone".to_owned(),
    }];
    let lead = "Do this where one has leaked. Your webhook refuses events until it has the new one, which the next page shows once; they are tried again meanwhile.";
    Confirmation {
        frame: visitor.frame(ADDRESS, "Replace the secret of events at once"),
        lead: lead.to_owned(),
        altered,
        action: ROTATION.to_owned(),
        hidden: vec![(AT_ONCE, "yes".to_owned())],
        reason: None,
        act: "Replace at once",
        back: ADDRESS.to_owned(),
        problem: None,
    }
    .show()
}

async fn events_page(visitor: &Visitor, Chosen { before }: Chosen, come: Come) -> Result<Response, Failed> {
    let webhook = visitor.api.find::<WebhookBody>(&webhook_of(visitor)).await?;
    let page = if before.is_empty() { String::new() } else { format!("&before={}", segment(&before)) };
    let address = format!("{}/events?limit={PAGE_ROWS}{page}", own(visitor, "accounts"));
    let EventsBody { events, next } = visitor.api.get(&address).await?;
    let older = next.map(|next| format!("{ADDRESS}?before={}", segment(&next)));
    let status = come.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(ADDRESS, "Events").json(address);
    let events = events.into_iter().map(Row::from).collect();
    Ok(show_with(status, &EventsPage { frame, webhook, events, is_first: before.is_empty(), older, come }))
}
