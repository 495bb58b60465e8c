//! Documents that a business uploads for its review.

use intent_gateway_domain::audit::Actor;
use intent_gateway_onboarding::Document;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time;

/// The documents of an account, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DocumentList {
    pub documents: Vec<DocumentBody>,
}

/// What is known of a document. What stands in it is for the platform team alone.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DocumentBody {
    /// Names the document.
    #[schema(example = "doc_0123456789abcdef")]
    pub id: String,
    /// What it is.
    #[schema(example = "shop")]
    pub kind: String,
    /// Its file's name, cleaned.
    pub file_name: String,
    /// Its form.
    #[schema(example = "application/pdf")]
    pub media_type: String,
    /// Its size.
    pub size_bytes: u64,
    /// SHA-256 of its bytes, 64 hexadecimal characters.
    pub digest: String,
    /// When it was uploaded, or last replaced.
    pub uploaded_at: String,
    /// By whom.
    pub uploaded_by: Actor,
}

impl From<Document> for DocumentBody {
    fn from(document: Document) -> Self {
        let Document { id, kind, file_name, media_type, size_bytes, digest, uploaded_at_ms, uploaded_by } = document;
        Self {
            id,
            kind: kind.as_str().to_owned(),
            file_name,
            media_type: media_type.as_str().to_owned(),
            size_bytes,
            digest: digest.to_string(),
            uploaded_at: time(uploaded_at_ms),
            uploaded_by,
        }
    }
}

impl From<Vec<Document>> for DocumentList {
    fn from(documents: Vec<Document>) -> Self {
        Self { documents: documents.into_iter().map(DocumentBody::from).collect() }
    }
}
