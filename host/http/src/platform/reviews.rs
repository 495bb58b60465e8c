//! Accounts, and the reviews of what they submit.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_onboarding::records::ReviewStatus;
use intent_gateway_onboarding::{DecisionOrder, Verdict};

use crate::App;
use crate::acting::{Page, PageQuery, Team};
use crate::body::JsonText;
use crate::error::{Code, ErrorBody, Refusal};
use crate::fields::Fields;
use crate::onboarding_wire::{
    AccountList, AccountSummary, DecisionRequest, ReviewBody, ReviewList, ReviewState, ReviewSummary,
};
use crate::wire;

/// Where a review may stand.
const STATUSES: [ReviewStatus; 4] =
    [ReviewStatus::Open, ReviewStatus::Approved, ReviewStatus::Rejected, ReviewStatus::Superseded];
/// Longest identifier of a review, characters.
const REVIEW_ID_MAX_CHARS: usize = 64;
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
        (status = 200, description = "A page of accounts", body = AccountList<'static>),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody<'static>),
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
        ("status" = Option<ReviewState>, Query, description = "Only those that stand there"),
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Reviews of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of reviews", body = ReviewList<'static>),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody<'static>),
    )
)]
pub(super) async fn list_reviews(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &STATUSES.map(ReviewStatus::as_str))?;
    let reviews = app.onboarding.reviews.list(page.list()).await?;
    let next = page.next(reviews.len(), reviews.last().map(|review| review.id.clone()));
    let body = ReviewList { reviews: reviews.iter().map(ReviewSummary::from).collect(), next };
    wire::json(StatusCode::OK, &body, reviews.len() * ENTRY_BYTES)
}

/// Shows a review with its checklist. While it is open, the privacy policy is fetched anew.
#[utoipa::path(
    get, path = "/api/v1/admin/reviews/{review}", tag = "admin",
    params(("review" = String, Path, description = "The review")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "All that is needed to decide it", body = ReviewBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such review", body = ErrorBody<'static>),
    )
)]
pub(super) async fn show_review(State(app): State<Arc<App>>, Path(review): Path<String>) -> Result<Response, Refusal> {
    let view = app.onboarding.reviews.get(known(&review)?).await?;
    wire::json(StatusCode::OK, &ReviewBody::from(&view), REVIEW_BYTES)
}

/// Decides a review. An approval needs every item of the checklist passed or confirmed.
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
        (status = 200, description = "The review, decided", body = ReviewBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such review", body = ErrorBody<'static>),
        (status = 409, description = "`REVIEW_CLOSED`; or `NOT_READY`, with every item that stands in the way; or `NO_PROBE`", body = ErrorBody<'static>),
    )
)]
pub(super) async fn decide_review(
    State(app): State<Arc<App>>,
    Team(actor): Team,
    Path(review): Path<String>,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let order = read_decision(&body)?;
    let view = app.onboarding.reviews.decide(known(&review)?, &order, &actor).await?;
    wire::json(StatusCode::OK, &ReviewBody::from(&view), REVIEW_BYTES)
}

fn read_decision(body: &str) -> Result<DecisionOrder, Refusal> {
    let mut fields = Fields::of(body);
    let verdict = match fields.text("decision").as_str() {
        "approve" => Some(Verdict::Approve),
        "reject" => Some(Verdict::Reject),
        // Told already.
        "" => None,
        _ => {
            fields.breach("/decision", "NOT_IN_VOCABULARY", "expected `approve` or `reject`".to_owned());
            None
        }
    };
    let notes = fields.optional_prose("notes").unwrap_or_default();
    let confirmed: BTreeSet<String> = fields.texts("confirmed").into_iter().collect();
    fields.finish()?;
    let verdict = verdict.ok_or(Code::InvalidRequest)?;
    Ok(DecisionOrder { verdict, notes, confirmed })
}

/// An identifier as identifiers of reviews are written.
fn known(review: &str) -> Result<&str, Refusal> {
    let fits = review.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits && (1..=REVIEW_ID_MAX_CHARS).contains(&review.len()) {
        return Ok(review);
    }
    Err(Refusal::new(Code::NotFound).message("There is no such review."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_read() {
        let order = read_decision(r#"{"decision":"approve","confirmed":["A","B","A"]}"#).expect("read");
        assert_eq!((order.verdict, order.notes.as_str(), order.confirmed.len()), (Verdict::Approve, "", 2));
        let order = read_decision(r#"{"decision":"reject","notes":"Mend\nthis."}"#).expect("read");
        assert_eq!((order.verdict, order.notes.as_str()), (Verdict::Reject, "Mend\nthis."));
        for bad in ["{}", r#"{"decision":""}"#, r#"{"decision":"Approve"}"#, r#"{"decision":true}"#, "[]"] {
            assert_eq!(
                read_decision(bad).err().map(|refusal| refusal.code().to_owned()).as_deref(),
                Some("INVALID_REQUEST")
            );
        }
    }

    #[test]
    fn reviews_are_named_as_they_are() {
        assert!(known("rev_1800000000000_0123456789abcdef").is_ok());
        for bad in ["", "a\0b", "a b", "../x", &"x".repeat(65)] {
            assert!(known(bad).is_err(), "{bad}");
        }
    }
}
