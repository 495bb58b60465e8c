//! The platform team reads what a business has uploaded.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderValue, header};

use crate::App;
use crate::acting::Acting;
use crate::business::document_of;
use crate::error::{Code, ErrorBody, Refusal};

/// What a document is served as: whatever stands in it, no browser is to open it.
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// Hands a document over as a file. That it was read, and by whom, is in the audit log first.
#[utoipa::path(
    get, path = "/api/v1/admin/accounts/{id}/documents/{document}", operation_id = "read_document", tag = "admin",
    params(
        ("id" = String, Path, description = "The account"),
        ("document" = String, Path, description = "The document"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The file", content((String = "application/octet-stream"))),
        (status = 404, description = "`NOT_FOUND`: no such document", body = ErrorBody),
    )
)]
pub(super) async fn read(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Refusal> {
    let document = document_of(path)?;
    let (document, bytes) = app.onboarding.documents.read(&acting.account, &document, &acting.actor).await?;
    // Names are cleaned when they are kept: nothing in one ends the quotes.
    let attachment = HeaderValue::try_from(format!("attachment; filename=\"{}\"", document.file_name));
    let attachment = attachment.map_err(|error| Refusal::new(Code::InternalError).internal(error.to_string()))?;
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, OCTETS);
    headers.insert(header::CONTENT_DISPOSITION, attachment);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
