//! Tries what the gateway does: of which intent an utterance is, and why; what a search answers.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::{get, post};
use http::{Method, StatusCode};
use intent_gateway_api::contracts::IntentStatuses;
use intent_gateway_domain::contract::{Axes, Violation};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Console;
use crate::api::{Outcome, segment};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::view::{Chip, Ident, Tone};
use crate::visitor::{Fields, Sent, Team, Visitor};

const PLACE: &str = "/console/playground";
const UTTERANCE: &str = "utterance";
const INTENT: &str = "intent";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(PLACE, get(show_playground)).route("/console/playground/search", post(search).get(lead_back))
}

/// What an utterance turned out to be.
#[derive(Deserialize)]
struct Classified {
    decision: String,
    intent: Option<String>,
    candidates: Vec<Claim>,
    elsewhere: Vec<Elsewhere>,
    also: Vec<String>,
    failed: Vec<String>,
}

#[derive(Deserialize)]
struct Claim {
    intent: String,
    version: String,
    score: f64,
    evidence: Vec<String>,
}

#[derive(Deserialize)]
struct Elsewhere {
    intent: String,
    score: f64,
    reason: String,
    live: bool,
}

impl Classified {
    /// The answer in one line.
    fn verdict(&self) -> String {
        match (self.decision.as_str(), &self.intent) {
            ("intent", Some(intent)) => format!("It is for {intent}."),
            ("elsewhere", Some(intent)) => format!("No contract claims it; one says that it is for {intent}."),
            _ => "No contract knows it.".to_owned(),
        }
    }
}

/// The answer to a search, as far as the page shows it.
#[derive(Deserialize)]
struct Found {
    request_id: String,
    receipt: Option<String>,
    code: Option<String>,
    options: Vec<Offer>,
    dropped: Vec<Dropped>,
    partners: Vec<Asked>,
}

#[derive(Deserialize)]
struct Offer {
    partner: String,
    bookable: bool,
    card: Value,
    total: f64,
    axes: Axes,
}

#[derive(Deserialize)]
struct Dropped {
    partner: String,
    option_id: Option<String>,
    violations: Vec<Violation>,
}

#[derive(Deserialize)]
struct Asked {
    partner: String,
    name: String,
    status: String,
    options: u64,
    elapsed_ms: Option<u64>,
    code: Option<String>,
    message: Option<String>,
}

impl Asked {
    fn chip(&self) -> Chip {
        match self.status.as_str() {
            "answered" => Chip::new(Tone::Good, "answered"),
            "failed" => Chip::new(Tone::Bad, "failed"),
            other => Chip::new(Tone::Idle, other.replace('_', " ")),
        }
    }
}

impl Offer {
    /// What the card is headed with.
    fn title(&self) -> &str {
        self.card.get("title").and_then(Value::as_str).unwrap_or_default()
    }

    fn card_text(&self) -> String {
        format!("{:#}", self.card)
    }
}

#[derive(Template)]
#[template(path = "team/playground.html")]
struct PlaygroundPage {
    frame: Frame,
    utterance: String,
    classified: Option<Classified>,
    intents: Vec<String>,
    intent: String,
    request: String,
    found: Option<Found>,
    problem: Option<Problem>,
}

/// The sample request of an intent's own.
#[derive(Deserialize)]
struct Sample {
    sample_request: Option<Box<RawValue>>,
}

/// The page before anything was tried, with a sample request of an intent.
async fn empty_page(visitor: &Visitor, wanted: &str) -> Result<PlaygroundPage, Failed> {
    let statuses = visitor.api.get::<IntentStatuses>("/api/v1/admin/contracts/status").await?;
    let live = statuses.intents.into_iter().filter(|status| status.live.is_some());
    let intents: Vec<String> = live.map(|status| status.intent).collect();
    let intent = intents.iter().find(|intent| *intent == wanted).or(intents.first()).cloned().unwrap_or_default();
    let mut request = String::new();
    if !intent.is_empty() {
        let address = format!("/api/v1/intents/{}", segment(&intent));
        let text = visitor.api.get::<Box<RawValue>>(&address).await?;
        let sample = serde_json::from_str::<Sample>(text.get()).ok().and_then(|found| found.sample_request);
        let sample = sample.and_then(|sample| serde_json::from_str::<Value>(sample.get()).ok());
        request = sample.map(|sample| format!("{sample:#}")).unwrap_or_default();
    }
    let frame = visitor.frame(PLACE, "Playground");
    Ok(PlaygroundPage {
        frame,
        utterance: String::new(),
        classified: None,
        intents,
        intent,
        request,
        found: None,
        problem: None,
    })
}

async fn show_playground(Team(visitor): Team, RawQuery(query): RawQuery) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let mut page = empty_page(&visitor, asked.text(INTENT)).await?;
    if let Some(utterance) = asked.find(UTTERANCE) {
        page.utterance = utterance.to_owned();
        let document = json!({ UTTERANCE: utterance });
        match visitor.api.send::<Classified>(Method::POST, "/api/v1/classify", &document).await {
            Ok(Outcome::Done(classified)) => page.classified = Some(classified),
            Ok(Outcome::Waits) => {}
            Err(error) => page.problem = Some(Problem::of_refusal(error)?),
        }
    }
    Ok(show(&page))
}

/// For whoever opens the address of the form again.
async fn lead_back(Team(_visitor): Team) -> Response {
    lead_to(PLACE)
}

async fn search(Sent(Team(visitor), fields): Sent<Team>) -> Result<Response, Failed> {
    let intent = fields.text(INTENT);
    let request = fields.text("request");
    let address = format!("/api/v1/intents/{}/search", segment(intent));
    let answer = visitor.api.send_text::<Found>(Method::POST, &address, Some(request.to_owned().into())).await;
    let mut page = empty_page(&visitor, intent).await?;
    page.request = request.to_owned();
    match answer {
        Ok(Outcome::Done(found)) => page.found = Some(found),
        Ok(Outcome::Waits) => {}
        Err(error) => page.problem = Some(Problem::of_refusal(error)?),
    }
    Ok(show(&page))
}

fn show(page: &PlaygroundPage) -> Response {
    let status = page.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    show_with(status, page)
}
