//! The body of a refusal.

use intent_gateway_domain::contract::Violation;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every refusal.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What was refused and why.
    pub error: ErrorDetail,
}

/// What was refused and why.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// Stable code in UPPER_SNAKE_CASE.
    pub code: String,
    /// One or two sentences for a person.
    pub message: String,
    /// Identifier of the HTTP request, also in the header `x-request-id`.
    pub request_id: String,
    /// Every breach found, in document order; absent when there is none to name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub violations: Vec<Violation>,
    /// With `SIGN_IN_REQUIRED` and `INVALID_AUTH` of a partner: where the user links the account there, for the user's
    /// browser; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub link_url: Option<String>,
    /// With `link_url`: the code that the page there shows, for the assistant to tell its user beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub link_code: Option<String>,
}
