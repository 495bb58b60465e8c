//! Loads a contract's component: it is examined and kept, and serves nobody until somebody makes it live.

use askama::Template;
use axum::response::Response;
use http::{HeaderValue, Method, StatusCode};
use intent_gateway_api::contracts::LoadOutcome;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;

use super::{PLACE, kib, page_of};
use crate::api::{Outcome, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::notices::with_notice;
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Component, SentWithFile, Team, Visitor};

/// The form.
pub(super) const ADDRESS: &str = "/console/intents/load";
/// Where it goes.
pub(super) const COMPONENT: &str = "/console/intents/load/component";
const WASM: HeaderValue = HeaderValue::from_static("application/wasm");
/// The box that lets values of vocabularies go.
const ALLOW_REMOVED: &str = "allow_removed_values";
const BYTES_PER_MIB: usize = 1_024 * 1_024;

#[derive(Template)]
#[template(path = "team/load.html")]
struct LoadPage {
    frame: Frame,
    /// What was loaded; none before, and where it was refused.
    loaded: Option<LoadOutcome>,
    /// Why nothing was loaded.
    problem: Option<Problem>,
    /// The file that was sent, by its name.
    file: Option<String>,
    /// Whether values may go, as it was ticked.
    may_remove: bool,
}

impl LoadPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match (&self.loaded, &self.file) {
            (Some(LoadOutcome { version, known: true, .. }), _) => {
                format!("{} {} was loaded before. It stays as it was.", version.intent, version.version)
            }
            (Some(LoadOutcome { version, .. }), _) => {
                format!("{} {} is loaded. It serves nobody yet.", version.intent, version.version)
            }
            (None, Some(file)) => format!("{file} was not loaded. What serves goes on."),
            (None, None) => {
                "A component is examined here and kept. It serves nobody until somebody makes it live.".to_owned()
            }
        }
    }

    fn max_mib(&self) -> usize {
        CONTRACT_MAX_BYTES / BYTES_PER_MIB
    }
}

/// What a version is, right after it was loaded.
fn state_chip(outcome: &LoadOutcome) -> Chip {
    if outcome.version.live { Chip::new(Tone::Good, "live") } else { Chip::new(Tone::Idle, "loaded, not live") }
}

fn page(visitor: &Visitor) -> LoadPage {
    LoadPage {
        frame: visitor.frame(PLACE, "Load a component"),
        loaded: None,
        problem: None,
        file: None,
        may_remove: false,
    }
}

fn show(page: &LoadPage) -> Response {
    show_with(page.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status), page)
}

pub(super) async fn show_form(Team(visitor): Team) -> Response {
    show(&page(&visitor))
}

/// For whoever opens the address of the upload again.
pub(super) async fn lead_to_form(Team(_visitor): Team) -> Response {
    lead_to(ADDRESS)
}

pub(super) async fn load(
    SentWithFile { visitor: Team(visitor), fields, file, .. }: SentWithFile<Team, Component>,
) -> Result<Response, Failed> {
    let Some(file) = file else { return Err(Failed::Form(StatusCode::UNPROCESSABLE_ENTITY)) };
    let may_remove = fields.is_ticked(ALLOW_REMOVED);
    let parts = [("activate", "false"), (ALLOW_REMOVED, if may_remove { "true" } else { "" })];
    let address = with_query("/api/v1/admin/contracts", &parts);
    let page = LoadPage { file: Some(file.name), may_remove, ..page(&visitor) };
    // What the browser takes the file for does not matter: the gateway looks at what is in it.
    match visitor.api.send_file::<LoadOutcome>(Method::POST, &address, WASM, file.content).await {
        Ok(Outcome::Done(loaded)) => Ok(show(&LoadPage { loaded: Some(loaded), ..page })),
        Ok(Outcome::Waits) => Ok(lead_to(&with_notice(ADDRESS, "waits"))),
        Err(error) => {
            let problem = Some(Problem::of_refusal(error)?);
            Ok(show(&LoadPage { problem, ..page }))
        }
    }
}
