//! Faults of contracts: listed by their intent, and shown with the call that led to one.
//!
//! For the platform team alone. Everybody else gets the code of a fault and no more.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::faults::{ContractFault, ContractFaultFile, ContractFaults};
use intent_gateway_domain::alias;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::faults::{FaultQuery, MESSAGE_MAX_CHARS};
use intent_gateway_domain::id::IntentId;
use intent_gateway_routing::faults::FaultError;
use serde::Deserialize;

use crate::App;
use crate::acting::{RecordNumber, Team, next_number, size};
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// About what a fault takes beside its message and its input, bytes.
const FAULT_BYTES: usize = 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultsQuery {
    before: Option<RecordNumber>,
    limit: Option<u32>,
}

/// Lists the faults of an intent's contracts, newest first: of each intent the latest 100 are kept, for at most 30 days.
#[utoipa::path(
    get, path = "/api/v1/admin/intents/{intent}/faults", tag = "admin",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service"),
        ("before" = Option<u64>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Faults of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of faults, newest first; none where none is kept", body = ContractFaults),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`INVALID_INTENT`: this is no name of an intent", body = ErrorBody),
    )
)]
pub(super) async fn list_faults(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    query: Result<Query<FaultsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(FaultsQuery { before, limit }) = query.map_err(|_| {
        Refusal::new(Code::InvalidRequest).message("The query parameters are `before` and `limit`, each at most once.")
    })?;
    let intent = own_name(&app, &intent)?;
    let (before, limit) = (before.map(RecordNumber::get), size(limit)?);
    let faults = app.faults.list(FaultQuery { intent: &intent, before, limit }).await?;
    let next = next_number(&faults, limit, |fault| fault.number);
    let bytes = wire::SMALL_BYTES + faults.len() * FAULT_BYTES;
    let faults = faults.into_iter().map(ContractFault::from).collect();
    wire::json(StatusCode::OK, &ContractFaults { intent: intent.to_string(), faults, next }, bytes)
}

/// Shows a fault with the call that led to it. That it was read, and by whom, is in the audit log first.
#[utoipa::path(
    get, path = "/api/v1/admin/intents/{intent}/faults/{number}", tag = "admin",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service"),
        ("number" = u64, Path, description = "Number of the fault"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The fault, with its input where that is kept", body = ContractFaultFile),
        (status = 404, description = "`NOT_FOUND`: no such fault is kept; `INVALID_INTENT`: this is no name of an intent", body = ErrorBody),
    )
)]
pub(super) async fn show_fault(
    State(app): State<Arc<App>>,
    path: Result<Path<(String, u64)>, PathRejection>,
    Team(team): Team,
) -> Result<Response, Refusal> {
    let not_found = || Refusal::new(Code::NotFound).message("No such fault is kept.");
    let Path((intent, number)) = path.map_err(|_| not_found())?;
    let intent = own_name(&app, &intent)?;
    let opened = app.faults.open(&intent, number, &team).await.map_err(|error| match error {
        FaultError::Store(error) => error.into(),
        FaultError::Sealed(_) => Refusal::new(Code::InternalError).internal(chain(&error)),
    })?;
    let (fault, input) = opened.ok_or_else(not_found)?;
    let bytes = FAULT_BYTES + MESSAGE_MAX_CHARS + usize::try_from(fault.input_bytes).unwrap_or_default();
    wire::private(&ContractFaultFile { fault: fault.into(), input }, bytes)
}

/// The intent under its own name. It may not be loaded any more.
pub(super) fn own_name(app: &App, name: &str) -> Result<IntentId, Refusal> {
    let intent = IntentId::parse(name).map_err(|_| Refusal::new(Code::InvalidIntent))?;
    Ok(alias::resolve(&*app.searcher.contracts, &intent))
}
