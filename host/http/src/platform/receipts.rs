//! Receipts of rankings: found by their request, shown whole, replayed.
//!
//! For the platform team alone: a receipt holds what the user asked for and what every partner offered. An orchestrator
//! gets no more than its identifier, and a partner nothing of it.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::evidence::{RankingList, RankingReceipts, RankingReplay, RankingSummary, ShownReceipt};
use intent_gateway_domain::accesses::Access;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::ports::{Contract, find_version};
use intent_gateway_domain::receipt::{ID_MAX_CHARS, KeptReceipt, Receipt};
use intent_gateway_domain::versions::LoadedVersion;
use intent_gateway_routing::replay::{ReplayError, replay, rerank};
use intent_gateway_signing::REASON_MAX_CHARS;
use serde::Deserialize;

use super::faults::own_name;
use crate::App;
use crate::acting::{QueryTime, RecordNumber, Team};
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Receipts that are listed of one request; it may have been searched for more often.
const LISTED_MAX: u32 = 100;
/// About what a receipt takes beside its options, bytes.
const RECEIPT_BYTES: usize = 4 * 1024;
/// About what an option takes in the outcome under another version, bytes.
const SCORE_BYTES: usize = 256;
/// About what a ranking takes in a list, bytes.
const SUMMARY_BYTES: usize = 512;
/// Rankings after which a page is full. What the store gives at once is not cut.
const PAGE_MIN: usize = 20;
/// How often the store is asked for one page of rankings; each time it gives 64 receipts at most.
const LOOKED_THROUGH_MAX: usize = 8;
/// Characters of a version's name or digest: more than any has.
const UNDER_MAX_CHARS: usize = 128;
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
    under: Option<String>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RankingsQuery {
    before: Option<RecordNumber>,
    partner: Option<String>,
    since_ms: Option<QueryTime>,
    until_ms: Option<QueryTime>,
}

/// Lists the rankings of an intent, those that were kept last first.
///
/// One answer looks through some hundred receipts: where few of them are asked for, a page may be empty, and `next` leads on.
#[utoipa::path(
    get, path = "/api/v1/admin/intents/{intent}/rankings", tag = "admin",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service"),
        ("before" = Option<u64>, Query, description = "`next` of the page before"),
        ("partner" = Option<String>, Query, description = "Only those in which an answer of this partner was ranked"),
        ("since_ms" = Option<u64>, Query, description = "Only requests from then on, milliseconds since the epoch"),
        ("until_ms" = Option<u64>, Query, description = "Only requests before then, likewise"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of rankings; none where none is kept", body = RankingList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`INVALID_INTENT`: this is no name of an intent", body = ErrorBody),
    )
)]
pub(super) async fn list_rankings(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    query: Result<Query<RankingsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let intent = own_name(&app, &intent)?;
    let invalid = || {
        Refusal::new(Code::InvalidRequest).message(
            "The query parameters are `before`, `partner`, `since_ms` and `until_ms`, the last two in milliseconds.",
        )
    };
    let Query(RankingsQuery { before, partner, since_ms, until_ms }) = query.map_err(|_| invalid())?;
    let partner = partner.map(|partner| PartnerId::parse(&partner).map_err(|_| invalid())).transpose()?;
    let since = since_ms.map_or(Timestamp::EPOCH, QueryTime::get);
    let until = until_ms.map(QueryTime::get);
    let is_asked_for = |receipt: &Receipt| {
        until.is_none_or(|until| receipt.at_ms < until)
            && partner.as_ref().is_none_or(|partner| receipt.payloads.iter().any(|payload| payload.partner == *partner))
    };
    let (mut rankings, mut next) = (Vec::new(), before.map(RecordNumber::get));
    for _ in 0..LOOKED_THROUGH_MAX {
        let back = app.evidence.receipts_back(&intent, since, next).await?;
        let found = back.receipts.iter().map(|kept| &kept.receipt).filter(|receipt| is_asked_for(receipt));
        rankings.extend(found.map(RankingSummary::of));
        next = back.next;
        if next.is_none() || rankings.len() >= PAGE_MIN {
            break;
        }
    }
    let bytes = rankings.len() * SUMMARY_BYTES;
    wire::json(StatusCode::OK, &RankingList { intent: intent.to_string(), rankings, next }, bytes)
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
/// `under` names another version of the intent that is loaded at this gateway, live or not: what that makes of the receipt is compared
/// in its place, and the answer has it whole. The version decides about nobody by that.
///
/// A component that was revoked runs only where `revoked_because` says why; the audit log keeps that (`receipt.replayed_revoked`).
#[utoipa::path(
    post, path = "/api/v1/admin/receipts/{receipt}/replay", tag = "admin",
    params(
        ("receipt" = String, Path, description = "The receipt", example = "rank_0f1e2d3c4b5a69788796a5b4"),
        ("revoked_because" = Option<String>, Query, description = "Why a component is run that was revoked, 1 to 500 \
            characters; it has no effect on others"),
        ("under" = Option<String>, Query, description = "By which version to rank: SHA-256 of its component, or its version \
            number, for example `1.1.0`; the component that ranked when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Whether the outcome is the same, and where it parts if not", body = RankingReplay),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such receipt is kept, or no such version is loaded", body = ErrorBody),
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
    let ReplayQuery { revoked_because, under } =
        query.ok().map(|Query(query)| query).filter(ReplayQuery::is_in_bounds).ok_or_else(|| {
            let message = format!(
                "The query parameters are `revoked_because`, 1 to {REASON_MAX_CHARS} characters, and `under`, a digest or a version \
                 number."
            );
            Refusal::new(Code::InvalidRequest).message(message)
        })?;
    let receipt = find(&app, &receipt).await?;
    let digest = match under.as_deref() {
        Some(under) => find_under(&app, &receipt, under)?,
        None => receipt.contract,
    };
    let contracts = &*app.searcher.contracts;
    let contract = match (contracts.is_revoked(digest), revoked_because) {
        (false, _) => find_version(contracts, digest).await,
        (true, None) => return Err(refuse_revoked(&receipt, digest)),
        (true, Some(why)) => {
            app.accesses.note(Access {
                at: app.searcher.clock.now(),
                actor: team,
                action: REPLAYED_REVOKED,
                subject: digest.to_string(),
                what: Some(format!("{}: {why}", receipt.id)),
                names_all: true,
            });
            contracts.find_revoked(digest).await
        }
    };
    if under.is_some() {
        let contract = contract.ok_or_else(|| refuse_not_loaded(&receipt))?;
        return replay_under(receipt, contract).await;
    }
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

impl ReplayQuery {
    fn is_in_bounds(&self) -> bool {
        let fits = |text: &str, most: usize| (1..=most).contains(&text.chars().count()) && !text.trim().is_empty();
        self.revoked_because.as_deref().is_none_or(|why| fits(why, REASON_MAX_CHARS))
            && self.under.as_deref().is_none_or(|under| fits(under, UNDER_MAX_CHARS))
    }
}

/// What another version makes of a receipt.
async fn replay_under(receipt: Receipt, contract: Arc<dyn Contract>) -> Result<Response, Refusal> {
    if contract.descriptor().intent != receipt.intent {
        let (other, intent) = (&contract.descriptor().intent, &receipt.intent);
        let message = format!("`under` names a version of {other}; the receipt is of {intent}.");
        return Err(Refusal::new(Code::InvalidRequest).message(message));
    }
    // It serves nobody by this: where it fails, that is held against nothing that it serves.
    let contract = contract.beside_serving().unwrap_or(contract);
    let reranking = rerank(&receipt, &*contract).await?;
    let bytes = RECEIPT_BYTES + (reranking.ranked.len() + reranking.dropped.len()) * SCORE_BYTES;
    wire::json(StatusCode::OK, &RankingReplay::under(receipt, &*contract, reranking), bytes)
}

/// The component that `under` names: by its digest, or by the number of its version.
fn find_under(app: &App, receipt: &Receipt, under: &str) -> Result<Digest, Refusal> {
    if let Ok(digest) = under.parse() {
        return Ok(digest);
    }
    let versions = app.admin.versions();
    let of_number = |one: &&LoadedVersion| one.intent == receipt.intent.as_str() && one.version == under;
    let mut found = versions.iter().filter(of_number).map(|one| one.digest);
    match (found.next(), found.next()) {
        (Some(digest), None) => Ok(digest),
        (None, _) => Err(refuse_not_loaded(receipt)),
        (Some(_), Some(_)) => {
            let message =
                format!("Several components of {} have that version; name one by its digest.", receipt.intent);
            Err(Refusal::new(Code::InvalidRequest).message(message))
        }
    }
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

fn refuse_not_loaded(receipt: &Receipt) -> Refusal {
    let message = format!("No such version of {} is loaded at this gateway.", receipt.intent);
    Refusal::new(Code::NotFound).message(message)
}

fn refuse_revoked(receipt: &Receipt, revoked: Digest) -> Refusal {
    let Receipt { intent, version, contract, .. } = receipt;
    let message = if revoked == *contract {
        format!(
            "{intent} {version} cannot be replayed: its component {contract} is revoked. `revoked_because` says why it is run all the same."
        )
    } else {
        format!("The component {revoked} is revoked. `revoked_because` says why it is run all the same.")
    };
    Refusal::conflict(CONTRACT_REVOKED, message)
}

/// About how long a receipt is as JSON, bytes.
fn estimate_bytes(receipt: &Receipt) -> usize {
    let candidates = receipt.payloads.iter().flat_map(|payload| &payload.candidates);
    let options: usize = candidates.map(|candidate| candidate.json.get().len()).sum();
    options + receipt.arguments.get().len() + RECEIPT_BYTES
}
