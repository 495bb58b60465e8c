//! What was found in a partner's own answers and reports, and how long its tools take.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use intent_gateway_api::evidence::{FindingsSummary, PartnerFindings};

use super::require_known;
use crate::App;
use crate::acting::Acting;
use crate::error::{ErrorBody, Refusal};
use crate::findings::{self, FindingsQuery};

/// Lists what was found in the partner's answers and completion reports: what was dropped and why, with an excerpt of
/// what was sent; strikes; reports that were refused or are questioned.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/findings", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("before" = Option<u64>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Findings of a page, 1 to 500; 100 when absent"),
        ("severity" = Option<String>, Query, description = "`note`, `drop` or `strike`"),
        ("source" = Option<String>, Query, description = "`search`, `call`, `report` or `team`"),
        ("intent" = Option<String>, Query, description = "Only those of one intent"),
        ("code" = Option<String>, Query, description = "Only those of one rule"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of findings, newest first", body = PartnerFindings),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn list_own_findings(
    State(app): State<Arc<App>>,
    acting: Acting,
    query: Result<Query<FindingsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    findings::page(&app, &acting.account, query).await
}

/// Counts the partner's findings of the last 30 days by rule and day, and shows its strikes and how long its tools take
/// beside their targets.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/findings/summary", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The counts, strikes and latencies", body = FindingsSummary),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn summarize_own_findings(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    require_known(&app, &acting).await?;
    findings::summary(&app, &acting.account).await
}
