//! Compares a version with what was ranked before: how far it is while it goes on, and its report ([`ReportPart`]).
//!
//! Where scripts run, what is told comes as a stream. Without them the page is the answer to the form: it has the report, or says how far
//! the comparison came in the time that a page has.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use intent_gateway_api::contracts::{ComparisonProgress, ComparisonReport, LoadedVersion};
use intent_gateway_api::error::ErrorBody;
use tokio::time::Instant;

use super::acts::DIGEST;
use super::comparison_report::ReportPart;
use super::{PLACE, page_of, versions_of};
use crate::Console;
use crate::api::{ApiError, segment, with_query};
use crate::events::Events;
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, render, show_with};
use crate::live::{SentToHear, tell};
use crate::view::{self, Moment};
use crate::visitor::{Fields, Sent, Team, Visitor};

/// How long a page without scripts waits for the report; it has to be made as well in the time that pages have.
const PAGE_WAITS: Duration = Duration::from_secs(40);
/// How long a stream waits.
const STREAM_WAITS: Duration = Duration::from_secs(60 * 60);
/// Days that are looked back, where nothing else is said, and at most.
const DAYS: u64 = 7;
const DAYS_MAX: u64 = 365;
const MS_PER_DAY: u64 = 24 * 60 * 60 * 1_000;
/// Receipts where nothing else is said: as many as are compared in about a minute.
const LIMIT: u64 = 100_000;

/// What is compared with what, as it was typed.
struct Asked {
    digest: String,
    against: String,
    days: String,
    limit: String,
}

impl Asked {
    fn read(fields: &Fields) -> Self {
        let text = |name: &str, otherwise: &str| fields.find(name).unwrap_or(otherwise).to_owned();
        Self {
            digest: text(DIGEST, ""),
            against: text("against", "live"),
            days: text("days", &DAYS.to_string()),
            limit: text("limit", &LIMIT.to_string()),
        }
    }

    /// Where the API compares it.
    fn address(&self, console: &Console) -> Result<String, Failed> {
        let days = self.days.parse().ok().filter(|days| (1..=DAYS_MAX).contains(days));
        let days: u64 = days.ok_or(Failed::Form(StatusCode::UNPROCESSABLE_ENTITY))?;
        let since = console.sessions.clock.now().minus_ms(days * MS_PER_DAY).as_ms().to_string();
        let parts = [(DIGEST, &*self.digest), ("against", &self.against), ("since_ms", &since), ("limit", &self.limit)];
        Ok(with_query("/api/v1/admin/contracts/compare", &parts))
    }
}

/// What is known of a comparison.
enum Told {
    /// It goes on.
    UnderWay(ComparisonProgress),
    Done(Box<ComparisonReport>),
    /// It was stopped before its end, when it had come so far.
    Stopped(Option<ComparisonProgress>),
    Refused(Problem),
}

/// The part of the page that says what is known of a comparison.
#[derive(Template)]
#[template(path = "team/comparison-told.html")]
struct ToldPart {
    progress: Option<ComparisonProgress>,
    /// Whether it goes on.
    is_under_way: bool,
    problem: Option<Problem>,
    report: Option<ReportPart>,
}

impl HtmlSafe for ToldPart {}

impl ToldPart {
    fn of(told: Told) -> Self {
        let nothing = Self { progress: None, is_under_way: false, problem: None, report: None };
        match told {
            Told::UnderWay(progress) => Self { progress: Some(progress), is_under_way: true, ..nothing },
            Told::Stopped(progress) => Self { progress, ..nothing },
            Told::Done(report) => Self { report: Some(ReportPart::of(*report)), ..nothing },
            Told::Refused(problem) => Self { problem: Some(problem), ..nothing },
        }
    }
}

/// A comparison that is heard.
struct Hearing {
    events: Events,
    until: Instant,
    progress: Option<ComparisonProgress>,
    is_over: bool,
}

impl Hearing {
    fn of(events: Events, waits: Duration) -> Self {
        Self { events, until: Instant::now() + waits, progress: None, is_over: false }
    }

    /// What is told next; none after the end.
    async fn next(&mut self) -> Option<Result<Told, Failed>> {
        if self.is_over {
            return None;
        }
        loop {
            let event = match tokio::time::timeout_at(self.until, self.events.next()).await {
                Ok(Ok(Some(event))) => event,
                // The time is over, or the gateway shuts down.
                Err(_) | Ok(Ok(None)) => return Some(Ok(self.end(Told::Stopped(None)))),
                Ok(Err(error)) => {
                    self.is_over = true;
                    return Some(Err(error.into()));
                }
            };
            let told = match (&*event.0, &*event.1) {
                ("progress", data) => read(data).map(|progress: ComparisonProgress| {
                    self.progress = Some(ComparisonProgress { ..progress });
                    Told::UnderWay(progress)
                }),
                ("report", data) => read(data).map(|report| self.end(Told::Done(report))),
                ("error", data) => read::<ErrorBody>(data).map(|ErrorBody { error }| {
                    let status = StatusCode::INTERNAL_SERVER_ERROR;
                    let refused = ApiError::Refused { status, retry_after: None, detail: Box::new(error) };
                    self.end(Told::Refused(Problem::from(&refused)))
                }),
                ("end", _) => Ok(self.end(Told::Stopped(None))),
                _ => continue,
            };
            self.is_over |= told.is_err();
            return Some(told);
        }
    }

    fn end(&mut self, told: Told) -> Told {
        self.is_over = true;
        match told {
            Told::Stopped(_) => Told::Stopped(self.progress.take()),
            told => told,
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(data: &str) -> Result<T, Failed> {
    serde_json::from_str(data).map_err(|error| ApiError::Unreadable(error.into()).into())
}

#[derive(Template)]
#[template(path = "team/comparison.html")]
struct ComparisonPage {
    frame: Frame,
    intent: String,
    /// The page's own address, and that of the stream of what comes of its form.
    page: String,
    stream: String,
    versions: Vec<LoadedVersion>,
    asked: Asked,
    told: Option<ToldPart>,
}

impl ComparisonPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match &self.told {
            None => "What a version would have made of what was ranked. Nobody is served by it.".to_owned(),
            Some(ToldPart { report: Some(report), .. }) => report.sentence(),
            Some(ToldPart { problem: Some(_), .. }) => "Nothing was compared.".to_owned(),
            Some(_) => "The comparison did not come to its end in the time that a page has.".to_owned(),
        }
    }

    /// Whether something may be compared: a version that is not live, or several.
    fn has_candidates(&self) -> bool {
        self.versions.iter().any(|version| !version.live)
    }
}

async fn page(visitor: &Visitor, intent: &str, asked: Asked, told: Option<ToldPart>) -> Result<ComparisonPage, Failed> {
    let versions = versions_of(&visitor.api, intent).await?;
    if versions.is_empty() {
        return Err(Failed::NoPage);
    }
    Ok(ComparisonPage {
        frame: visitor.frame(PLACE, format!("Compare versions of {intent}")),
        intent: intent.to_owned(),
        page: page_of(intent),
        stream: format!("/console/live/intents/{}/compare", segment(intent)),
        versions,
        asked,
        told,
    })
}

pub(super) async fn show_form(
    Team(visitor): Team,
    Path(intent): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failed> {
    let asked = Asked::read(&Fields::parse(query.unwrap_or_default().as_bytes()));
    Ok(show_with(StatusCode::OK, &page(&visitor, &intent, asked, None).await?))
}

/// Compares, as far as it comes while the page waits.
pub(super) async fn compare(
    State(console): State<Arc<Console>>,
    Path(intent): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let asked = Asked::read(&fields);
    let told = match visitor.api.listen(&asked.address(&console)?).await {
        Ok(events) => {
            let mut hearing = Hearing::of(events, PAGE_WAITS);
            let mut last = Told::Stopped(None);
            while let Some(told) = hearing.next().await {
                last = told?;
            }
            last
        }
        Err(error) => Told::Refused(Problem::of_refusal(error)?),
    };
    let told = ToldPart::of(told);
    let status = told.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    Ok(show_with(status, &page(&visitor, &intent, asked, Some(told)).await?))
}

/// The same as a stream, for the script of the page.
pub(crate) async fn hear_comparison(
    Path(_intent): Path<String>,
    SentToHear { of_face: Team(visitor), fields, hearing }: SentToHear<Team>,
) -> Result<Response, Failed> {
    let address = Asked::read(&fields).address(&hearing.console)?;
    let pieces = match visitor.api.listen(&address).await {
        Ok(events) => {
            let heard = stream::unfold(Hearing::of(events, STREAM_WAITS), |mut hearing| async move {
                Some((hearing.next().await?, hearing))
            });
            heard.boxed()
        }
        // What is refused is told in its place on the page.
        Err(error) => stream::iter([Ok(Told::Refused(Problem::of_refusal(error)?))]).boxed(),
    };
    let write = |told: Result<Told, Failed>| {
        let told = told.unwrap_or_else(|failed| Told::Refused(Problem::from(&failed)));
        std::future::ready(render(&ToldPart::of(told)).ok())
    };
    tell(hearing, &visitor, pieces.filter_map(write).boxed())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;

    use super::*;

    fn hear(text: &'static str, waits: Duration) -> Hearing {
        let pieces = stream::iter([Ok::<_, Infallible>(text)]);
        // It goes on, and says no more.
        Hearing::of(Events::of(Body::from_stream(pieces.chain(stream::pending()))), waits)
    }

    const PROGRESS: &str =
        "event: progress\ndata: {\"receipts\":1200,\"different\":7,\"reached_ms\":2,\"since_ms\":1}\n\n";

    #[tokio::test]
    async fn a_comparison_that_takes_too_long_says_how_far_it_came() {
        let mut hearing = hear(PROGRESS, Duration::ZERO);
        assert!(matches!(hearing.next().await, Some(Ok(Told::UnderWay(_)))));
        let Some(Ok(told @ Told::Stopped(Some(_)))) = hearing.next().await else { panic!("it is over") };
        let text = ToldPart::of(told).render().expect("a sentence");
        assert!(text.contains("1\u{202f}200 receipts were compared, and 7 differ"), "{text}");
        assert!(hearing.next().await.is_none());
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_no_end_of_it() {
        let mut hearing = hear("event: report\ndata: {}\n\n", PAGE_WAITS);
        assert!(matches!(hearing.next().await, Some(Err(Failed::Api(ApiError::Unreadable(_))))));
        assert!(hearing.next().await.is_none());
    }
}
