//! A comparison of a candidate with what was ranked before: how far it is, and the report in the end.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::{StreamExt as _, stream};
use intent_gateway_api::contracts::ComparisonProgress;
use intent_gateway_compare::{
    Against, Candidate, Comparison, ComparisonError, ComparisonOrder, ComparisonReport, Progress, RunError,
};
use intent_gateway_domain::accesses::Access;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_domain::ports::Timer;
use intent_gateway_routing::following::End;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::EventBody;
use super::event::{self, Ending};
use super::respond;
use crate::App;
use crate::acting::{QueryTime, Team};
use crate::body::{self, WASM};
use crate::connections::Answering;
use crate::error::{Code, ErrorBody, Refusal};
use crate::request_id::RequestId;
use crate::wire::SMALL_BYTES;

/// How often it is told how far a comparison is.
const TOLD_EVERY: Duration = Duration::from_secs(1);
/// Receipts that are looked back for where nothing is said.
pub(super) const SINCE_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Receipts of one comparison, at most, and where nothing is said.
const LIMIT_MAX: u64 = 10_000_000;
const LIMIT: u64 = 1_000_000;
/// Wait for the body of a component.
const COMPONENT_TIMEOUT: Duration = Duration::from_secs(120);
/// About what a report takes, bytes.
const REPORT_BYTES: usize = 32 * 1024;
/// Another comparison is under way.
const COMPARISON_UNDER_WAY: &str = "COMPARISON_UNDER_WAY";
/// The difference budget of a component cannot be read.
const BUDGET_INVALID: &str = "BUDGET_INVALID";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(compare_versions))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareQuery {
    digest: Option<Digest>,
    #[serde(default)]
    against: Option<String>,
    since_ms: Option<QueryTime>,
    limit: Option<u64>,
}

/// Compares a version of a contract with what was ranked before, without serving anybody by it.
///
/// The candidate is the component in the body, which is examined and not loaded, or one of the catalogue that `digest` names. Each
/// kept receipt of its intent is evaluated by it. The answer is a stream of events: `progress` every second, `report` once, and
/// `end`. Whoever goes away stops it. One runs at a time at each gateway, on threads that give way to all others.
#[utoipa::path(
    post, path = "/api/v1/admin/contracts/compare", tag = "admin",
    params(
        ("digest" = Option<String>, Query, description = "SHA-256 of a component of the catalogue, in place of a body"),
        ("against" = Option<String>, Query, description = "`live` (when absent): what the live version makes of it; `shown`: \
            what was shown, by whichever version; or the digest of a version"),
        ("since_ms" = Option<u64>, Query, description = "Receipts from then on, milliseconds since the epoch; seven days when \
            absent"),
        ("limit" = Option<u64>, Query, description = "At most so many receipts, the latest; 1 to 10,000,000, 1,000,000 when \
            absent"),
    ),
    request_body(content = Option<String>, content_type = "application/wasm", description = "The component; none with `digest`"),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Events until the `end`; the data of `report` is described by `ComparisonReport`, that of \
            `progress` by `ComparisonProgress`", body = String, content_type = "text/event-stream"),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter, or neither body nor `digest`", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: nothing of a digest is loaded", body = ErrorBody),
        (status = 409, description = "`COMPARISON_UNDER_WAY`: one runs at a time", body = ErrorBody),
        (status = 422, description = "The component did not pass; the code and message say why", body = ErrorBody),
    )
)]
async fn compare_versions(
    State(app): State<Arc<App>>,
    query: Result<Query<CompareQuery>, QueryRejection>,
    Team(team): Team,
    reading: Option<Extension<Answering>>,
    Extension(request_id): Extension<RequestId>,
    request: Request,
) -> Result<Response, Refusal> {
    let now = app.searcher.clock.now();
    let Query(CompareQuery { digest, against, since_ms, limit }) = query.map_err(|_| invalid())?;
    let against = match against.as_deref() {
        None | Some("live") => Against::Live,
        Some("shown") => Against::Shown,
        Some(digest) => Against::Version(digest.parse().map_err(|_| invalid())?),
    };
    let limit = limit.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(invalid());
    }
    let since = since_ms.map_or(now.minus_ms(SINCE_MS), QueryTime::get);
    let candidate = match digest {
        Some(digest) => Candidate::Known(digest),
        None => {
            body::require_media_type(request.headers(), WASM)?;
            let _place = app.uploads.take_place(&team).ok_or(Code::Overloaded)?;
            Candidate::Component(body::read(request.into_body(), CONTRACT_MAX_BYTES, COMPONENT_TIMEOUT).await?)
        }
    };
    let order = ComparisonOrder { candidate, against, since, limit, by: team.clone() };
    let Comparison { intent, candidate, progress, running } = app.comparisons.begin(order).await?;
    let what = Some(format!("{candidate} against {against}, since {}", since.as_ms()));
    app.accesses.note(Access {
        at: now,
        actor: team,
        action: "contract.compared",
        subject: intent.to_string(),
        what,
        names_all: false,
    });
    let telling = Telling { running: Some(running), progress, since, timer: app.streams.timer.clone(), request_id };
    let items = stream::unfold(telling, Telling::next).boxed();
    let body = EventBody::new(items, app.streams.heartbeat, reading.map(|Extension(reading)| reading), None);
    Ok(respond(body.until(app.draining.clone())))
}

/// A comparison under way, and what was told of it.
struct Telling {
    /// None once its end was told.
    running: Option<BoxFuture<'static, Result<ComparisonReport, RunError>>>,
    progress: Arc<Progress>,
    since: Timestamp,
    timer: Arc<dyn Timer>,
    request_id: RequestId,
}

impl Telling {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        let running = self.running.take()?;
        match select(running, self.timer.wait(TOLD_EVERY)).await {
            Either::Left((Ok(report), _)) => {
                let report = event::event("report", None, &report, REPORT_BYTES);
                Some(([report, event::end(None, Ending::Of(End::Complete))].concat().into(), self))
            }
            Either::Left((Err(error), _)) => {
                tracing::error!(error = chain(&error), "a comparison came to no end");
                Some((refuse_ended(&error, &self.request_id), self))
            }
            Either::Right(((), running)) => {
                self.running = Some(running);
                let told = ComparisonProgress {
                    receipts: self.progress.receipts(),
                    different: self.progress.different(),
                    reached_ms: self.progress.reached(),
                    since_ms: self.since,
                };
                Some((event::event("progress", None, &told, SMALL_BYTES), self))
            }
        }
    }
}

/// The last events of a stream whose work came to no end.
pub(super) fn refuse_ended(error: &RunError, request_id: &RequestId) -> Bytes {
    let refusal = match error {
        RunError::Store(error) => Refusal::from(error.trouble()),
        RunError::WorkersLost(_) => Refusal::new(Code::InternalError),
    };
    let refusal = refusal.internal(chain(error));
    let error = event::event("error", None, &refusal.body(request_id.as_str()), SMALL_BYTES);
    [error, event::end(None, Ending::Of(End::Failed))].concat().into()
}

fn invalid() -> Refusal {
    Refusal::new(Code::InvalidRequest).message(format!(
        "The query parameters are `digest` (64 hexadecimal characters), `against` (`live`, `shown` or a digest), `since_ms` and \
         `limit` (1 to {LIMIT_MAX})."
    ))
}

impl From<ComparisonError> for Refusal {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::UnderWay => {
                let message = "Another comparison is under way at this gateway; wait until it has ended.";
                Self::conflict(COMPARISON_UNDER_WAY, message)
            }
            ComparisonError::Unknown(digest) => {
                Self::new(Code::NotFound).message(format!("No contract `{digest}` is loaded."))
            }
            ComparisonError::OtherIntent { .. } => Self::new(Code::InvalidRequest).message(format!("{error}.")),
            ComparisonError::Budget(error) => {
                Self::new(Code::InvalidRequest).message(format!("{}.", chain(&error))).unprocessable(BUDGET_INVALID)
            }
            ComparisonError::Catalogue(error) => error.into(),
        }
    }
}
