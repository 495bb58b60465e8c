//! Notices: what partners are told of changes ahead; all of them, one with how far partners were told, and the form for another.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::Response;
use axum::routing::{get, post};
use http::{Method, StatusCode};
use intent_gateway_api::name;
use intent_gateway_api::notice::{NoticeBody, NoticeList};
use serde_json::json;

use crate::Console;
use crate::api::{segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::notices::with_notice;
use crate::view::{self, Ident, Moment, notice_chip};
use crate::visitor::{Fields, Sent, Team, Visitor};

/// In the navigation.
const PLACE: &str = "/console/notices";
const LIST: &str = "/api/v1/admin/notices";

/// What a notice may be about, as the API names it, and in words.
const KINDS: [(&str, &str); 5] = [
    ("manifest_schema", "The schema of manifests"),
    ("contract", "The contract of intents"),
    ("api", "The HTTP interface, or how servers are called"),
    ("webhooks", "Events and completion reports"),
    ("other", "Something that asks nothing of partners' programs"),
];

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(PLACE, get(show_notices).post(publish))
        .route("/console/notices/{notice}", get(show_notice))
        .route("/console/notices/{notice}/withdraw", post(withdraw).get(lead_to_notice))
}

#[derive(Template)]
#[template(path = "team/notices.html")]
struct NoticesPage {
    frame: Frame,
    list: NoticeList,
    typed: Typed,
    /// Why it was not published.
    problem: Option<Problem>,
}

impl NoticesPage {
    fn kinds(&self) -> &'static [(&'static str, &'static str)] {
        &KINDS
    }

    /// The answer in one line.
    fn lead(&self) -> String {
        let upcoming = self.list.notices.iter().filter(|one| name(&one.notice.state) == "upcoming").count();
        match upcoming {
            0 => "No change is announced.".to_owned(),
            1 => "One change is announced.".to_owned(),
            several => format!("{several} changes are announced."),
        }
    }

    /// The address of the next page.
    fn next(&self) -> Option<String> {
        Some(with_query(PLACE, &[("after", self.list.next.as_deref()?)]))
    }
}

#[derive(Template)]
#[template(path = "team/notice.html")]
struct NoticePage {
    frame: Frame,
    body: NoticeBody,
    /// The reason as it was typed.
    typed: String,
    /// Why it was not withdrawn.
    problem: Option<Problem>,
}

impl NoticePage {
    fn is_upcoming(&self) -> bool {
        name(&self.body.notice.state) == "upcoming"
    }
}

/// What somebody has put into the form.
#[derive(Default)]
struct Typed {
    kind: String,
    title: String,
    text: String,
    version: String,
    intents: String,
    takes_effect_at: String,
}

impl Typed {
    fn of(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).to_owned();
        Self {
            kind: text("kind"),
            title: text("title"),
            text: text("text"),
            version: text("version"),
            intents: text("intents"),
            takes_effect_at: text("takes_effect_at"),
        }
    }
}

async fn show_notices(Team(visitor): Team, RawQuery(query): RawQuery) -> Result<Response, Failed> {
    let after = Fields::parse(query.unwrap_or_default().as_bytes()).text("after").to_owned();
    list_page(&visitor, &after, Typed::default(), None).await
}

async fn list_page(visitor: &Visitor, after: &str, typed: Typed, problem: Option<Problem>) -> Result<Response, Failed> {
    let address = with_query(LIST, &[("after", after)]);
    let list = visitor.api.get::<NoticeList>(&address).await?;
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(PLACE, "Notices").json(address);
    Ok(show_with(status, &NoticesPage { frame, list, typed, problem }))
}

async fn publish(Sent(Team(visitor), fields): Sent<Team>) -> Result<Response, Failed> {
    let typed = Typed::of(&fields);
    let order = json!({
        "kind": typed.kind,
        "title": typed.title,
        "text": typed.text,
        "version": fields.find("version"),
        "intents": typed.intents.split_whitespace().collect::<Vec<_>>(),
        "takes_effect_at": typed.takes_effect_at,
    });
    match visitor.api.send::<NoticeBody>(Method::POST, LIST, &order).await {
        Ok(outcome) => Ok(lead_to(&with_notice(PLACE, outcome.notice("published")))),
        Err(error) => list_page(&visitor, "", typed, Some(Problem::of_refusal(error)?)).await,
    }
}

/// The address of a notice in the API.
fn notice_of(id: &str) -> String {
    format!("{LIST}/{}", segment(id))
}

async fn page(visitor: &Visitor, id: &str, typed: String, problem: Option<Problem>) -> Result<Response, Failed> {
    let address = notice_of(id);
    let body = visitor.api.get::<NoticeBody>(&address).await?;
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(PLACE, format!("Notice: {}", body.notice.title)).json(address);
    Ok(show_with(status, &NoticePage { frame, body, typed, problem }))
}

async fn show_notice(Team(visitor): Team, Path(id): Path<String>) -> Result<Response, Failed> {
    page(&visitor, &id, String::new(), None).await
}

/// Whoever opens the address of a form alone.
async fn lead_to_notice(Path(id): Path<String>) -> Response {
    lead_to(&format!("{PLACE}/{}", segment(&id)))
}

async fn withdraw(Path(id): Path<String>, Sent(Team(visitor), fields): Sent<Team>) -> Result<Response, Failed> {
    let reason = fields.text("reason").to_owned();
    let address = format!("{}/withdraw", notice_of(&id));
    match visitor.api.send::<NoticeBody>(Method::POST, &address, &json!({"reason": reason})).await {
        Ok(outcome) => {
            let back = format!("{PLACE}/{}", segment(&id));
            Ok(lead_to(&with_notice(&back, outcome.notice("notice-withdrawn"))))
        }
        Err(error) => page(&visitor, &id, reason, Some(Problem::of_refusal(error)?)).await,
    }
}
