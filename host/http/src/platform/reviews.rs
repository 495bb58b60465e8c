//! Accounts, and the reviews of what they submit.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::account::{AccountList, AccountSummary};
use intent_gateway_api::review::{DecisionRequest, ReviewBody, ReviewList, ReviewSummary};
use intent_gateway_onboarding::records::ReviewStatus;
use intent_gateway_onboarding::{DecisionOrder, Reviews};
use serde::Deserialize;

use super::require_id;
use crate::App;
use crate::acting::{Page, PageQuery, Team};
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Where a review may stand.
const STATUSES: [ReviewStatus; 4] =
    [ReviewStatus::Open, ReviewStatus::Approved, ReviewStatus::Rejected, ReviewStatus::Superseded];
/// Longest that a reader may ask to wait for a privacy policy, milliseconds.
const WAIT_MAX_MS: u64 = 10_000;
/// About what an entry of a list takes, bytes.
const ENTRY_BYTES: usize = 512;
/// About what a review takes, bytes.
const REVIEW_BYTES: usize = 16 * 1024;

/// Lists the accounts, in order of their identifiers.
#[utoipa::path(
    get, path = "/api/v1/admin/accounts", tag = "admin",
    params(
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Accounts of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of accounts", body = AccountList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_accounts(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &[])?;
    let kept = app.onboarding.accounts.list(page.list()).await?;
    let next = page.next(kept.len(), kept.last().map(|account| account.id.to_string()));
    let accounts = kept.iter().map(AccountSummary::from).collect();
    wire::json(StatusCode::OK, &AccountList { accounts, next }, kept.len() * ENTRY_BYTES)
}

/// Lists the reviews, in the order in which they were opened.
#[utoipa::path(
    get, path = "/api/v1/admin/reviews", tag = "admin",
    params(
        ("status" = Option<ReviewStatus>, Query, description = "Only those that stand there"),
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Reviews of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of reviews", body = ReviewList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_reviews(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &STATUSES.map(ReviewStatus::as_str))?;
    let reviews = app.onboarding.reviews.list(page.list()).await?;
    let next = page.next(reviews.len(), reviews.last().map(|review| review.id.clone()));
    let bytes = reviews.len() * ENTRY_BYTES;
    let body = ReviewList { reviews: reviews.into_iter().map(ReviewSummary::from).collect(), next };
    wire::json(StatusCode::OK, &body, bytes)
}

/// How long one who reads a review is willing to wait for the privacy policy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReviewQuery {
    wait_ms: Option<u64>,
}

/// Shows a review with its checklist. While it is open, the privacy policy is fetched anew.
///
/// An address that does not answer takes seconds. With `wait_ms` the answer comes after so many milliseconds at most: with the
/// privacy policy as it was seen last, while it goes on being fetched. What was seen within the last minute is not fetched again then.
#[utoipa::path(
    get, path = "/api/v1/admin/reviews/{review}", tag = "admin",
    params(
        ("review" = String, Path, description = "The review"),
        ("wait_ms" = Option<u64>, Query, description = "How long to wait for the privacy policy, 0 to 10000; for all of it when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "All that is needed to decide it", body = ReviewBody),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such review", body = ErrorBody),
    )
)]
pub(super) async fn show_review(
    State(app): State<Arc<App>>,
    Path(review): Path<String>,
    query: Result<Query<ReviewQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let reviews = &app.onboarding.reviews;
    let id = require_id(&review, "review")?;
    let view = match read_wait(query)? {
        None => reviews.get(id).await?,
        Some(wait) => {
            refresh_policy_within(wait, reviews.clone(), id.to_owned()).await;
            reviews.get_as_seen(id).await?
        }
    };
    wire::json(StatusCode::OK, &ReviewBody::from(view), REVIEW_BYTES)
}

fn read_wait(query: Result<Query<ReviewQuery>, QueryRejection>) -> Result<Option<Duration>, Refusal> {
    let wait_ms = query.ok().map(|Query(query)| query.wait_ms);
    match wait_ms.filter(|wait_ms| wait_ms.is_none_or(|wait_ms| wait_ms <= WAIT_MAX_MS)) {
        Some(wait_ms) => Ok(wait_ms.map(Duration::from_millis)),
        None => {
            let message = format!("The query parameter is `wait_ms`, 0 to {WAIT_MAX_MS}.");
            Err(Refusal::new(Code::InvalidRequest).message(message))
        }
    }
}

/// Has the privacy policy fetched, and waits so long for it. What takes longer goes on.
async fn refresh_policy_within(wait: Duration, reviews: Arc<Reviews>, review: String) {
    let refreshed = tokio::spawn(async move {
        if let Err(error) = reviews.refresh_policy(&review).await {
            tracing::warn!(error = &error as &dyn Error, %review, "the privacy policy could not be looked at");
        }
    });
    // Until it is there, the review shows what was seen before.
    let _ = tokio::time::timeout(wait, refreshed).await;
}

/// Decides a review. An approval needs every item of the checklist passed or confirmed; the privacy policy is fetched for it
/// once more.
///
/// The partner is told by e-mail. Of a manifest, the approval puts it in force; of changed tools, it takes them as
/// they are and puts their intents back into service. Of inflated signals, neither decision changes anything by itself;
/// a rejection asks the partner to correct them.
#[utoipa::path(
    post, path = "/api/v1/admin/reviews/{review}/decision", tag = "admin",
    params(("review" = String, Path, description = "The review")),
    request_body = DecisionRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The review, decided", body = ReviewBody),
        (status = 404, description = "`NOT_FOUND`: no such review", body = ErrorBody),
        (status = 409, description = "`REVIEW_CLOSED`; or `NOT_READY`, with every item that stands in the way; or `NO_PROBE`", body = ErrorBody),
    )
)]
pub(super) async fn decide_review(
    State(app): State<Arc<App>>,
    Team(actor): Team,
    Path(review): Path<String>,
    Json(body): Json<DecisionRequest>,
) -> Result<Response, Refusal> {
    let order = DecisionOrder::from(body);
    let view = app.onboarding.reviews.decide(require_id(&review, "review")?, &order, &actor).await?;
    wire::json(StatusCode::OK, &ReviewBody::from(view), REVIEW_BYTES)
}
