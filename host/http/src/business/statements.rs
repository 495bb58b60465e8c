//! A partner's statements of commission: what it owes, month by month; and apart from them, the reports that were tests.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use intent_gateway_api::ledger::{MonthsBody, StatementBody, TestReportsBody};

use super::require_known;
use crate::App;
use crate::acting::{Acting, no_account};
use crate::error::{ErrorBody, Refusal};
use crate::statements::answer::{self, FormatQuery, StatementQuery};
use crate::wire;

/// About what a test report takes, bytes.
const TEST_REPORT_BYTES: usize = 512;

/// Lists the months of which there are statements with lines.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/statements", operation_id = "list_own_statements", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The months, latest first", body = MonthsBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn months(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let months = app.bookkeeping.months(&acting.account).await?;
    let months = months.iter().map(ToString::to_string).collect();
    wire::json(StatusCode::OK, &MonthsBody { partner: acting.account.to_string(), months }, wire::SMALL_BYTES)
}

/// Draws up the statement of one month, as JSON, as CSV, or as a page to print.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/statements/{month}", operation_id = "show_own_statement", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("month" = String, Path, description = "The month, by Indian Standard Time", example = "2026-05"),
        ("format" = Option<String>, Query, description = "`json`, `csv` or `html`; by `Accept` when absent, then JSON"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The statement", content(
            (StatementBody = "application/json"),
            (String = "text/csv"),
            (String = "text/html"),
        )),
        (status = 400, description = "`INVALID_REQUEST`: the month or the form", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn statement(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
    query: Result<Query<FormatQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Path((_, month)) = path.map_err(|_| no_account())?;
    let wanted = StatementQuery { partner: &acting.account, month: &month, query, headers: &headers };
    answer::statement(&app.bookkeeping, wanted).await
}

/// Lists the completion reports that were taken as tests, because the account was never live. They cost nothing, and are
/// forgotten after 30 days.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/test-reports", operation_id = "list_own_test_reports", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The reports, newest first, at most 200", body = TestReportsBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn test_reports(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    let reports = app.intake.tests.list(&acting.account).await?;
    let bytes = reports.len() * TEST_REPORT_BYTES;
    wire::json(StatusCode::OK, &TestReportsBody::of(&acting.account, reports), bytes)
}
