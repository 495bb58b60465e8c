//! Receipts of rankings: found by their request, shown whole, replayed.
//!
//! For the platform team alone: a receipt holds what the user asked for and what every partner offered. An orchestrator
//! gets no more than its identifier, and a partner nothing of it.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::evidence::{RankingReceipts, RankingReplay, ShownReceipt};
use intent_gateway_domain::accesses::Access;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::ports::find_version;
use intent_gateway_domain::receipt::{ID_MAX_CHARS, KeptReceipt, Receipt};
use intent_gateway_routing::replay::{ReplayError, replay};
use intent_gateway_signing::REASON_MAX_CHARS;
use serde::Deserialize;

use crate::App;
use crate::acting::Team;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Receipts that are listed of one request; it may have been searched for more often.
const LISTED_MAX: u32 = 100;
/// About what a receipt takes beside its options, bytes.
const RECEIPT_BYTES: usize = 4 * 1024;
/// The component that ranked is not loaded any more.
const CONTRACT_GONE: &str = "CONTRACT_GONE";
/// The component that ranked is revoked.
const CONTRACT_REVOKED: &str = "CONTRACT_REVOKED";
/// The receipt was erased with its user's data.
const RECEIPT_ERASED: &str = "RECEIPT_ERASED";

/// In the audit log: a component ran that was revoked.
const REPLAYED_REVOKED: &str = "receipt.replayed_revoked";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayQuery {
    revoked_because: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptsQuery {
    request_id: String,
}

/// Lists the receipts of a request, newest first, at most 100.
///
/// A receipt is kept a moment after its search was answered.
#[utoipa::path(
    get, path = "/api/v1/admin/receipts", tag = "admin",
    params(("request_id" = String, Query, description = "The request, as its search was answered", max_length = 200)),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Identifiers, newest first; none where none is kept", body = RankingReceipts),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_receipts(
    State(app): State<Arc<App>>,
    query: Result<Query<ReceiptsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let fits = |id: &str| (1..=REQUEST_ID_MAX_CHARS).contains(&id.chars().count()) && !id.contains('\0');
    let request_id = query.ok().map(|Query(query)| query.request_id).filter(|id| fits(id)).ok_or_else(|| {
        let message = format!(
            "The query parameter is `request_id`, 1 to {REQUEST_ID_MAX_CHARS} characters that a text may hold."
        );
        Refusal::new(Code::InvalidRequest).message(message)
    })?;
    let receipts = app.evidence.receipts_of(&request_id, LISTED_MAX).await?;
    wire::json(StatusCode::OK, &RankingReceipts { request_id, receipts }, wire::SMALL_BYTES)
}

/// Shows a receipt whole: the request's arguments, every partner's options, and their outcomes.
#[utoipa::path(
    get, path = "/api/v1/admin/receipts/{receipt}", tag = "admin",
    params(("receipt" = String, Path, description = "The receipt", example = "rank_0f1e2d3c4b5a69788796a5b4")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The receipt", body = ShownReceipt),
        (status = 404, description = "`NOT_FOUND`: no such receipt is kept", body = ErrorBody),
        (status = 410, description = "`RECEIPT_ERASED`: it was erased with its user's data", body = ErrorBody),
    )
)]
pub(super) async fn show_receipt(
    State(app): State<Arc<App>>,
    Path(receipt): Path<String>,
) -> Result<Response, Refusal> {
    let receipt = find(&app, &receipt).await?;
    let (bytes, signed_by) = (estimate_bytes(&receipt), app.admin.signers(receipt.contract));
    wire::private(&ShownReceipt { receipt, signed_by }, bytes)
}

/// Ranks anew what a receipt holds, by the very component that ranked it, and compares the outcomes. Nobody is asked
/// and nothing is kept.
///
/// A component that was revoked runs only where `revoked_because` says why; the audit log keeps that (`receipt.replayed_revoked`).
#[utoipa::path(
    post, path = "/api/v1/admin/receipts/{receipt}/replay", tag = "admin",
    params(
        ("receipt" = String, Path, description = "The receipt", example = "rank_0f1e2d3c4b5a69788796a5b4"),
        ("revoked_because" = Option<String>, Query, description = "Why a component is run that was revoked, 1 to 500 \
            characters; it has no effect on others"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Whether the outcome is the same, and where it parts if not", body = RankingReplay),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such receipt is kept", body = ErrorBody),
        (status = 410, description = "`RECEIPT_ERASED`: it was erased with its user's data", body = ErrorBody),
        (status = 409, description = "`CONTRACT_GONE`: nothing is left of the component; the message names it; `CONTRACT_REVOKED`: \
            it is revoked, and nothing says why it is to run", body = ErrorBody),
        (status = 502, description = "`CONTRACT_*`: the contract itself failed", body = ErrorBody),
    )
)]
pub(super) async fn replay_receipt(
    State(app): State<Arc<App>>,
    Path(receipt): Path<String>,
    query: Result<Query<ReplayQuery>, QueryRejection>,
    Team(team): Team,
) -> Result<Response, Refusal> {
    let fits = |why: &str| (1..=REASON_MAX_CHARS).contains(&why.chars().count()) && !why.trim().is_empty();
    let ReplayQuery { revoked_because } = query
        .ok()
        .map(|Query(query)| query)
        .filter(|query| query.revoked_because.as_deref().is_none_or(fits))
        .ok_or_else(|| {
            let message = format!("The query parameter is `revoked_because`, 1 to {REASON_MAX_CHARS} characters.");
            Refusal::new(Code::InvalidRequest).message(message)
        })?;
    let receipt = find(&app, &receipt).await?;
    let contracts = &*app.searcher.contracts;
    let contract = match (contracts.is_revoked(receipt.contract), revoked_because) {
        (false, _) => find_version(contracts, receipt.contract).await,
        (true, None) => return Err(refuse_revoked(&receipt)),
        (true, Some(why)) => {
            app.accesses.note(Access {
                at: app.searcher.clock.now(),
                actor: team,
                action: REPLAYED_REVOKED,
                subject: receipt.contract.to_string(),
                what: Some(format!("{}: {why}", receipt.id)),
                names_all: true,
            });
            contracts.find_revoked(receipt.contract).await
        }
    };
    let contract = contract.ok_or_else(|| refuse_gone(&receipt))?;
    let replay = replay(&receipt, &*contract).await.map_err(|error| match error {
        ReplayError::OtherContract { .. } => refuse_gone(&receipt).internal(error.to_string()),
        ReplayError::Contract(fault) => fault.into(),
    })?;
    if !replay.same {
        tracing::error!(
            receipt = receipt.id, intent = %receipt.intent, version = %receipt.version, contract = %receipt.contract,
            "a ranking was replayed to another outcome"
        );
    }
    wire::json(StatusCode::OK, &RankingReplay::new(receipt, replay), wire::SMALL_BYTES)
}

/// A receipt by an identifier that is written as they are.
async fn find(app: &App, id: &str) -> Result<Receipt, Refusal> {
    let fits =
        (1..=ID_MAX_CHARS).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let found = if fits { app.evidence.receipt(id).await? } else { None };
    match found {
        Some(KeptReceipt::Whole(receipt)) => Ok(*receipt),
        Some(KeptReceipt::Erased) => Err(Refusal::gone(RECEIPT_ERASED, "The receipt was erased with its user's data.")),
        None => Err(Refusal::new(Code::NotFound).message("No such receipt is kept.")),
    }
}

fn refuse_gone(receipt: &Receipt) -> Refusal {
    let Receipt { intent, version, contract, .. } = receipt;
    let message =
        format!("{intent} {version} cannot be replayed: nothing is left of the component {contract}; load it again.");
    Refusal::conflict(CONTRACT_GONE, message)
}

fn refuse_revoked(receipt: &Receipt) -> Refusal {
    let Receipt { intent, version, contract, .. } = receipt;
    let message = format!(
        "{intent} {version} cannot be replayed: its component {contract} is revoked. `revoked_because` says why it is run all the same."
    );
    Refusal::conflict(CONTRACT_REVOKED, message)
}

/// About how long a receipt is as JSON, bytes.
fn estimate_bytes(receipt: &Receipt) -> usize {
    let candidates = receipt.payloads.iter().flat_map(|payload| &payload.candidates);
    let options: usize = candidates.map(|candidate| candidate.json.get().len()).sum();
    options + receipt.arguments.get().len() + RECEIPT_BYTES
}
