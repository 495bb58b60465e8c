//! Notices: what will change for partners, published and withdrawn.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::notice::{NoticeBody, NoticeList, NoticeRequest, WithdrawNoticeRequest};
use intent_gateway_onboarding::notices::NoticeDraft;

use super::require_id;
use crate::App;
use crate::acting::{Page, PageQuery, Team};
use crate::body::Json;
use crate::error::{ErrorBody, Refusal};
use crate::wire;

/// About what a notice takes, bytes.
const NOTICE_BYTES: usize = 4 * 1024;

/// Lists the notices, in the order in which they take effect.
#[utoipa::path(
    get, path = "/api/v1/admin/notices", tag = "admin",
    params(
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Notices of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of notices", body = NoticeList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_notices(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &[])?;
    let notices = &app.onboarding.notices;
    let kept = notices.list(page.list()).await?;
    let next = page.next(kept.len(), kept.last().map(|notice| notice.id.clone()));
    let bytes = kept.len() * NOTICE_BYTES;
    let now = notices.now();
    let notices = kept.into_iter().map(|notice| NoticeBody::new(notice, now)).collect();
    wire::json(StatusCode::OK, &NoticeList { notices, next }, bytes)
}

/// Shows a notice, and how far partners have been told.
#[utoipa::path(
    get, path = "/api/v1/admin/notices/{notice}", tag = "admin",
    params(("notice" = String, Path, description = "The notice")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The notice", body = NoticeBody),
        (status = 404, description = "`NOT_FOUND`: no such notice", body = ErrorBody),
    )
)]
pub(super) async fn show_notice(State(app): State<Arc<App>>, Path(notice): Path<String>) -> Result<Response, Refusal> {
    let notices = &app.onboarding.notices;
    let notice = notices.get(require_id(&notice, "notice")?).await?;
    wire::json(StatusCode::OK, &NoticeBody::new(notice, notices.now()), NOTICE_BYTES)
}

/// Publishes a notice: partners whom it concerns see it, and are told by mail and at their webhooks; again a week before it takes
/// effect.
///
/// What changes manifests or contracts is told 30 days ahead or more, what changes the API or webhooks 90. The same notice once more is
/// the same one: nobody is told twice.
#[utoipa::path(
    post, path = "/api/v1/admin/notices", operation_id = "publish_notice", tag = "admin",
    request_body = NoticeRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "It is published", body = NoticeBody),
        (status = 400, description = "`INVALID_REQUEST`, with every violation", body = ErrorBody),
        (status = 409, description = "`NOTICE_WITHDRAWN`: the same notice was withdrawn", body = ErrorBody),
    )
)]
pub(super) async fn publish_notice(
    State(app): State<Arc<App>>,
    Team(team): Team,
    Json(request): Json<NoticeRequest>,
) -> Result<Response, Refusal> {
    let notices = &app.onboarding.notices;
    let notice = notices.publish(NoticeDraft::from(request), &team).await?;
    wire::json(StatusCode::OK, &NoticeBody::new(notice, notices.now()), NOTICE_BYTES)
}

/// Withdraws a notice that has not taken effect. Whoever was told of it is told so.
#[utoipa::path(
    post, path = "/api/v1/admin/notices/{notice}/withdraw", operation_id = "withdraw_notice", tag = "admin",
    params(("notice" = String, Path, description = "The notice")),
    request_body = WithdrawNoticeRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "It is withdrawn", body = NoticeBody),
        (status = 400, description = "`INVALID_REQUEST`: no reason, or one that is too long", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such notice", body = ErrorBody),
        (status = 409, description = "`NOTICE_IN_EFFECT`: what it tells has come", body = ErrorBody),
    )
)]
pub(super) async fn withdraw_notice(
    State(app): State<Arc<App>>,
    Path(notice): Path<String>,
    Team(team): Team,
    Json(WithdrawNoticeRequest { reason }): Json<WithdrawNoticeRequest>,
) -> Result<Response, Refusal> {
    let notices = &app.onboarding.notices;
    let notice = notices.withdraw(require_id(&notice, "notice")?, &reason, &team).await?;
    wire::json(StatusCode::OK, &NoticeBody::new(notice, notices.now()), NOTICE_BYTES)
}
