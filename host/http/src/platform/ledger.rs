//! The commission ledger, as the platform team reads it, puts entries right and verifies it.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use intent_gateway_api::connection::ReasonRequest;
use intent_gateway_api::ledger::{
    CorrectedBody, CorrectionRequest, EntryBody, EntryDetail, EntryPage, MonthsBody, StatementBody, TrialBalanceBody,
    VerifiedBody,
};
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_ledger::bookkeeping::{Amendment, BookkeepingError, Mark};
use serde::Deserialize;

use crate::App;
use crate::acting::{RecordNumber, Team, next_number, no_account, size};
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::statements::answer::{self, FormatQuery, StatementQuery};
use crate::wire;

/// Verifications of the ledger under way at once: each keeps something of every order in memory.
pub(crate) const VERIFICATIONS_MAX: usize = 1;
/// About what an entry takes, bytes.
const ENTRY_BYTES: usize = 1_024;
/// About what a partner's balances take, bytes.
const BALANCE_BYTES: usize = 128;

/// Lists the months of which a partner has statements with lines.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/statements", operation_id = "list_statements", tag = "admin",
    params(("partner" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The months, latest first", body = MonthsBody),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
pub(super) async fn months(
    State(app): State<Arc<App>>,
    partner: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let partner = partner.ok().and_then(|Path(partner)| PartnerId::parse(&partner).ok()).ok_or_else(no_account)?;
    let months = app.bookkeeping.months(&partner).await?.iter().map(ToString::to_string).collect();
    wire::json(StatusCode::OK, &MonthsBody { partner: partner.to_string(), months }, wire::SMALL_BYTES)
}

/// Draws up a partner's statement of one month, as JSON, as CSV, or as a page to print.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/statements/{month}", operation_id = "show_statement", tag = "admin",
    params(
        ("partner" = String, Path, description = "The partner"),
        ("month" = String, Path, description = "The month, by Indian Standard Time", example = "2026-05"),
        ("format" = Option<String>, Query, description = "`json`, `csv` or `html`; by `Accept` when absent, then JSON"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The statement", content(
            (StatementBody = "application/json"),
            (String = "text/csv"),
            (String = "text/html"),
        )),
        (status = 400, description = "`INVALID_REQUEST`: the month or the form", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
pub(super) async fn statement(
    State(app): State<Arc<App>>,
    path: Result<Path<(String, String)>, PathRejection>,
    query: Result<Query<FormatQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Path((partner, month)) = path.map_err(|_| no_account())?;
    let partner = PartnerId::parse(&partner).map_err(|_| no_account())?;
    let wanted = StatementQuery { partner: &partner, month: &month, query, headers: &headers };
    answer::statement(&app.bookkeeping, wanted).await
}

/// Shows the balances of all accounts, as of one moment.
#[utoipa::path(
    get, path = "/api/v1/admin/ledger/trial-balance", operation_id = "show_trial_balance", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "The balances, and whether they sum to zero", body = TrialBalanceBody))
)]
pub(super) async fn trial_balance(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let trial = app.bookkeeping.books.trial_balance().await.map_err(BookkeepingError::from)?;
    let body = TrialBalanceBody::from(&trial);
    wire::json(StatusCode::OK, &body, wire::SMALL_BYTES + trial.partners().count() * BALANCE_BYTES)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntriesQuery {
    after: Option<RecordNumber>,
    limit: Option<u32>,
}

/// Reads the ledger, in its order.
#[utoipa::path(
    get, path = "/api/v1/admin/ledger/entries", operation_id = "list_ledger_entries", tag = "admin",
    params(
        ("after" = Option<u64>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Entries of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of the ledger", body = EntryPage),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_entries(
    State(app): State<Arc<App>>,
    query: Result<Query<EntriesQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(EntriesQuery { after, limit }) = query
        .map_err(|_| Refusal::new(Code::InvalidRequest).message("The query parameters are `after` and `limit`."))?;
    let (after, limit) = (after.map_or(0, RecordNumber::get), size(limit)?);
    let entries = app.bookkeeping.books.entries(after, limit).await.map_err(BookkeepingError::from)?;
    let next = next_number(&entries, limit, |entry| entry.number);
    let bytes = entries.len() * ENTRY_BYTES;
    let body = EntryPage { entries: entries.into_iter().map(EntryBody::from).collect(), next };
    wire::json(StatusCode::OK, &body, bytes)
}

/// Shows an entry, and whether it was taken back.
#[utoipa::path(
    get, path = "/api/v1/admin/ledger/entries/{number}", operation_id = "show_ledger_entry", tag = "admin",
    params(("number" = u64, Path, description = "The entry")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The entry", body = EntryDetail),
        (status = 404, description = "`NOT_FOUND`: no such entry", body = ErrorBody),
    )
)]
pub(super) async fn show_entry(
    State(app): State<Arc<App>>,
    number: Result<Path<u64>, PathRejection>,
) -> Result<Response, Refusal> {
    let entry = app.bookkeeping.entry(entry_number(number)?).await?;
    let taken_back_by = app.bookkeeping.taken_back_by(&entry).await?;
    wire::json(StatusCode::OK, &EntryDetail { entry: EntryBody::from(entry), taken_back_by }, ENTRY_BYTES)
}

/// Takes an entry back, and books nothing in its place.
///
/// Its order is not booked again, however often the partner sends the report.
#[utoipa::path(
    post, path = "/api/v1/admin/ledger/entries/{number}/reversal", operation_id = "reverse_ledger_entry", tag = "admin",
    params(("number" = u64, Path, description = "The entry")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The reversal", body = EntryBody),
        (status = 400, description = "`INVALID_REQUEST`: the reason", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such entry", body = ErrorBody),
        (status = 409, description = "`ENTRY_TAKEN_BACK`; `ENTRY_IS_REVERSAL`; `ENTRY_UNSOUND`; nothing changed", body = ErrorBody),
    )
)]
pub(super) async fn take_back(
    State(app): State<Arc<App>>,
    Team(actor): Team,
    number: Result<Path<u64>, PathRejection>,
    Json(body): Json<ReasonRequest>,
) -> Result<Response, Refusal> {
    let number = entry_number(number)?;
    let reversal = app.bookkeeping.take_back(number, &body.reason, &actor).await?;
    wire::json(StatusCode::OK, &EntryBody::from(reversal), ENTRY_BYTES)
}

/// Takes an entry back and books what is right in its place, both or neither.
///
/// The rate stays as it was. Whether commission is due on another status is for the live contract to say. The same report
/// sent again is still a repeat, and gets the receipt of the replacement.
#[utoipa::path(
    post, path = "/api/v1/admin/ledger/entries/{number}/correction", operation_id = "correct_ledger_entry", tag = "admin",
    params(("number" = u64, Path, description = "The entry")),
    request_body = CorrectionRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "What was booked", body = CorrectedBody),
        (status = 400, description = "`INVALID_REQUEST`, with every violation; `INVALID_INTENT`: a status is to be \
            corrected and no contract of the intent is live", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such entry", body = ErrorBody),
        (status = 409, description = "`ENTRY_TAKEN_BACK`; `ENTRY_IS_REVERSAL`; `ENTRY_UNSOUND`; nothing changed", body = ErrorBody),
    )
)]
pub(super) async fn correct(
    State(app): State<Arc<App>>,
    Team(actor): Team,
    number: Result<Path<u64>, PathRejection>,
    Json(body): Json<CorrectionRequest>,
) -> Result<Response, Refusal> {
    let number = entry_number(number)?;
    let CorrectionRequest { reason, amount_inr: amount, status } = body;
    let corrected = app.bookkeeping.amend(number, &Amendment { amount, status }, &reason, &actor).await?;
    let body = CorrectedBody {
        reversal: EntryBody::from(corrected.reversal),
        replacement: EntryBody::from(corrected.replacement),
    };
    wire::json(StatusCode::OK, &body, 2 * ENTRY_BYTES)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyQuery {
    expect_head: Option<String>,
}

/// Verifies the ledger: every invariant, from the stored entries, and whether they are what was anchored.
///
/// What is wrong is an answer like any other: `sound` is false and `faults` says why.
#[utoipa::path(
    get, path = "/api/v1/admin/ledger/verify", operation_id = "verify_ledger", tag = "admin",
    params(("expect_head" = Option<String>, Query, description = "`head` of an earlier verification; it must still be an entry")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Whether the ledger is sound", body = VerifiedBody),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn verify(
    State(app): State<Arc<App>>,
    query: Result<Query<VerifyQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let refused = || {
        let message = "The query parameter is `expect_head`, the `head` of an earlier verification.";
        Refusal::new(Code::InvalidRequest).message(message)
    };
    let Query(VerifyQuery { expect_head }) = query.map_err(|_| refused())?;
    let expected = expect_head.map(|head| head.parse::<Mark>().map_err(|_| refused())).transpose()?;
    let _turn = app.verification.try_acquire().map_err(|_| {
        Refusal::new(Code::Overloaded).message("The ledger is being verified; try again when that is done.")
    })?;
    let anchors = app.anchors.read(ChainName::Ledger).await?;
    let soundness = app.bookkeeping.verify(&anchors, expected).await?;
    let body = VerifiedBody::from(&soundness);
    wire::json(StatusCode::OK, &body, wire::SMALL_BYTES)
}

fn entry_number(path: Result<Path<u64>, PathRejection>) -> Result<u64, Refusal> {
    path.map(|Path(number)| number).map_err(|_| Refusal::new(Code::NotFound).message("There is no such entry."))
}
