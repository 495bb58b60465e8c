//! Documents for the review: uploaded, listed, replaced, removed. The platform team reads them by a route of its own.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use intent_gateway_api::documents::{DocumentBody, DocumentList};
use intent_gateway_domain::contract::{self, Violation};
use intent_gateway_onboarding::Upload;
use intent_gateway_onboarding::compliance::{DOCUMENT_MAX_BYTES, DocumentKind, MediaType};
use serde::Deserialize;

use crate::App;
use crate::acting::Acting;
use crate::body;
use crate::error::{Code, ErrorBody, Refusal, refuse_document};
use crate::wire;

/// Uploads of documents that are held in memory at once.
pub(crate) const CONCURRENT_UPLOADS_MAX: usize = 4;
/// Wait for the body of an upload: a scan over a slow connection.
const UPLOAD_BODY_TIMEOUT: Duration = Duration::from_secs(25);
/// Longest identifier of a document, characters.
const DOCUMENT_ID_MAX_CHARS: usize = 64;
/// About what an entry of a list takes, bytes.
const ENTRY_BYTES: usize = 384;

/// What a file is said to be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadQuery {
    kind: String,
    #[serde(default)]
    name: String,
}

/// A file that came in.
struct Received {
    kind: DocumentKind,
    file_name: String,
    media_type: MediaType,
    bytes: Bytes,
}

impl Received {
    /// Reads an upload. Only these routes take bodies of that size.
    async fn read(query: Result<Query<UploadQuery>, QueryRejection>, request: Request) -> Result<Self, Refusal> {
        let Query(UploadQuery { kind, name: file_name }) = query.map_err(|_| {
            Refusal::new(Code::InvalidRequest)
                .message("The query parameters are `kind`, what the document is, and `name`, its file's name.")
        })?;
        let kind = DocumentKind::parse(&kind).ok_or_else(no_such_kind)?;
        let media_type = form(request.headers())?;
        let bytes = body::read(request.into_body(), DOCUMENT_MAX_BYTES, UPLOAD_BODY_TIMEOUT).await?;
        Ok(Self { kind, file_name, media_type, bytes })
    }

    fn as_upload(&self) -> Upload<'_> {
        let Self { kind, file_name, media_type, bytes } = self;
        Upload { kind: *kind, file_name, media_type: *media_type, bytes }
    }
}

fn no_such_kind() -> Refusal {
    let kinds = DocumentKind::ALL.map(DocumentKind::as_str).join(", ");
    let message = format!("kind is one of: {kinds}");
    let violation = Violation { pointer: "/kind".to_owned(), code: "NOT_IN_VOCABULARY".to_owned(), message };
    refuse_document(contract::Refusal::invalid_request(vec![violation]))
}

fn form(headers: &HeaderMap) -> Result<MediaType, Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    MediaType::parse(given).ok_or_else(|| {
        let forms = MediaType::ALL.map(MediaType::as_str).join("`, `");
        Refusal::new(Code::UnsupportedMediaType).message(format!("The body must be one of `{forms}`."))
    })
}

/// Lists the documents of an account.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/documents", operation_id = "list_own_documents", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The documents, oldest first", body = DocumentList),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn list(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let documents = app.onboarding.documents.list(&acting.account).await?;
    let bytes = documents.len() * ENTRY_BYTES;
    wire::json(StatusCode::OK, &DocumentList::from(documents), bytes)
}

/// Uploads a document. The same file once more makes no second one.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/accounts/{account_id}/documents", operation_id = "add_document", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("kind" = String, Query, description = "What it is, out of the kinds that the checklist names", example = "shop"),
        ("name" = Option<String>, Query, description = "Its file's name"),
    ),
    request_body(content(
        (String = "application/pdf"), (String = "image/png"), (String = "image/jpeg"),
    ), description = "The file, at most 5 MiB"),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 201, description = "Kept", body = DocumentBody),
        (status = 400, description = "`INVALID_REQUEST`: the kind, or a file that is not what its media type says", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
        (status = 409, description = "`TOO_MANY_DOCUMENTS`: the account has 20", body = ErrorBody),
    )
)]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    acting: Acting,
    query: Result<Query<UploadQuery>, QueryRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    let _slot = app.documents.try_acquire().map_err(|_| Code::Overloaded)?;
    let received = Received::read(query, request).await?;
    let document = app.onboarding.documents.add(&acting.account, received.as_upload(), &acting.actor).await?;
    wire::json(StatusCode::CREATED, &DocumentBody::from(document), wire::SMALL_BYTES)
}

/// Puts another file in a document's place, as long as no decision hangs on it.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/accounts/{account_id}/documents/{document}", operation_id = "replace_document", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("document" = String, Path, description = "The document"),
        ("kind" = String, Query, description = "What it is, out of the kinds that the checklist names", example = "shop"),
        ("name" = Option<String>, Query, description = "Its file's name"),
    ),
    request_body(content(
        (String = "application/pdf"), (String = "image/png"), (String = "image/jpeg"),
    ), description = "The file, at most 5 MiB"),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Replaced", body = DocumentBody),
        (status = 400, description = "`INVALID_REQUEST`: the kind, or a file that is not what its media type says", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such document", body = ErrorBody),
        (status = 409, description = "`DOCUMENT_IN_USE`: a decision hangs on it", body = ErrorBody),
    )
)]
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
    query: Result<Query<UploadQuery>, QueryRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    let document = document_of(path)?;
    let _slot = app.documents.try_acquire().map_err(|_| Code::Overloaded)?;
    let received = Received::read(query, request).await?;
    let documents = &app.onboarding.documents;
    let document = documents.replace(&acting.account, &document, received.as_upload(), &acting.actor).await?;
    wire::json(StatusCode::OK, &DocumentBody::from(document), wire::SMALL_BYTES)
}

/// Removes a document, as long as no decision hangs on it.
#[utoipa::path(
    delete, path = "/api/v1/business/tier1/accounts/{account_id}/documents/{document}", operation_id = "remove_document", tag = "business",
    params(
        ("account_id" = String, Path, description = "The account"),
        ("document" = String, Path, description = "The document"),
    ),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 204, description = "Removed"),
        (status = 404, description = "`NOT_FOUND`: no such document", body = ErrorBody),
        (status = 409, description = "`DOCUMENT_IN_USE`: a decision hangs on it", body = ErrorBody),
    )
)]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    acting: Acting,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Refusal> {
    let document = document_of(path)?;
    app.onboarding.documents.remove(&acting.account, &document, &acting.actor).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The document that a path names, as identifiers of documents are written.
pub(crate) fn document_of(path: Result<Path<(String, String)>, PathRejection>) -> Result<String, Refusal> {
    let named = path.ok().map(|Path((_, document))| document).filter(|document| {
        let fits = document.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        fits && (1..=DOCUMENT_ID_MAX_CHARS).contains(&document.len())
    });
    named.ok_or_else(|| Refusal::new(Code::NotFound).message("There is no such document."))
}
