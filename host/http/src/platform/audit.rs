//! The audit log: read in pages, and followed from end to end.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::audit::{AuditEntryBody, AuditPage, AuditVerified};
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::audit;
use intent_gateway_domain::id::{IntentId, PartnerId};
use serde::Deserialize;

use crate::App;
use crate::acting::{RecordNumber, next_number, size};
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// About what an entry takes, bytes.
const ENTRY_BYTES: usize = 384;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    after: Option<RecordNumber>,
    limit: Option<u32>,
    subject: Option<String>,
}

/// Reads the audit log, oldest first.
#[utoipa::path(
    get, path = "/api/v1/admin/audit", operation_id = "list_audit_entries", tag = "admin",
    params(
        ("after" = Option<u64>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Entries of a page, 1 to 500; 100 when absent"),
        ("subject" = Option<String>, Query, description = "Only what concerns this account, or this intent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of the log", body = AuditPage),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_entries(
    State(app): State<Arc<App>>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let refused =
        || Refusal::new(Code::InvalidRequest).message("The query parameters are `after`, `limit`, `subject`.");
    let Query(AuditQuery { after, limit, subject }) = query.map_err(|_| refused())?;
    let (after, limit) = (after.map_or(0, RecordNumber::get), size(limit)?);
    let is_known = |subject: &String| PartnerId::parse(subject).is_ok() || IntentId::parse(subject).is_ok();
    if !subject.iter().all(is_known) {
        return Err(refused().message("`subject` is the identifier of an account, or an intent."));
    }
    let subject = subject.as_deref();
    let entries = app.store.audit(subject, after, limit).await?;
    let next = next_number(&entries, limit, |entry| entry.seq);
    let bytes = entries.len() * ENTRY_BYTES;
    let body = AuditPage { entries: entries.into_iter().map(AuditEntryBody::from).collect(), next };
    wire::json(StatusCode::OK, &body, bytes)
}

/// Follows the audit log from its first entry to its last, and compares it with its anchors.
#[utoipa::path(
    get, path = "/api/v1/admin/audit/verify", operation_id = "verify_audit", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "Whether every entry follows from the one before, and is what was anchored", body = AuditVerified))
)]
pub(super) async fn verify(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let anchors = app.anchors.read(ChainName::Audit).await?;
    let soundness = audit::verify(&*app.store, &anchors).await?;
    wire::json(StatusCode::OK, &AuditVerified::from(&soundness), wire::SMALL_BYTES)
}
