//! What a mapping makes of an API's answer: the tool's payload, or the failure that the answer reports. A call and a dry run
//! read it alike.

use serde_json::Value;

use super::mapping::{GraphqlTool, RestTool, ToolMapping};
use super::template::{Scope, Template, UnmappedItem};
use crate::error::CallFailure;
use crate::partner_error::{PlatformDetail, failure, protocol, unknown_code};

/// An answer that was read to its end.
#[derive(Clone, Debug)]
pub struct ApiAnswer {
    /// HTTP status.
    pub status: u16,
    /// The body, where it is JSON; null where it is empty.
    pub body: Option<Value>,
    /// What `Retry-After` said, milliseconds.
    pub retry_after_ms: Option<u64>,
    /// What the headers of a 401 or 403 say of a sign-in; of others nothing.
    pub sign_in: Option<CallFailure>,
}

/// The payload that a mapping makes of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedPayload {
    pub payload: Value,
    /// Items of the answer of which nothing could be made; they are not in the payload.
    pub unmapped: Vec<UnmappedItem>,
}

impl ApiAnswer {
    /// Whether the status is one of success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The failure that the status alone stands for; the same as of an MCP server.
    #[must_use]
    pub fn status_failure(&self) -> CallFailure {
        match (self.status, &self.sign_in) {
            (_, Some(sign_in)) => sign_in.clone(),
            (401 | 403, None) => CallFailure::Unauthorized,
            (429, None) => CallFailure::RateLimited { retry_after_ms: self.retry_after_ms },
            (status, None) => CallFailure::HttpStatus(status),
        }
    }

    /// The `data` of a GraphQL answer without errors.
    ///
    /// # Errors
    /// [`CallFailure::Protocol`]: there is none.
    pub fn data(&self) -> Result<&Value, CallFailure> {
        let data = self.body.as_ref().and_then(|body| body.get("data")).filter(|data| data.is_object());
        data.ok_or_else(|| protocol("a GraphQL answer with neither `data` nor `errors`"))
    }

    /// The first error of a GraphQL answer.
    #[must_use]
    pub fn first_error(&self) -> Option<&Value> {
        self.body.as_ref()?.get("errors")?.as_array()?.first()
    }
}

impl ToolMapping {
    /// The failure that an answer reports, if it does.
    #[must_use]
    pub fn failure(&self, answer: &ApiAnswer) -> Option<CallFailure> {
        match self {
            Self::Rest(tool) => tool.failure(answer),
            Self::Graphql(tool) => tool.failure(answer),
        }
    }

    /// The payload that the mapping makes of an answer which reports no failure. An item that it can make nothing of costs that
    /// item.
    ///
    /// # Errors
    /// [`CallFailure::Payload`]: a place of the answer is missing, or of a kind that the mapping does not take;
    /// [`CallFailure::Protocol`]: no answer of GraphQL.
    pub fn payload(&self, arguments: &Value, answer: &ApiAnswer) -> Result<MappedPayload, CallFailure> {
        let (response, body): (&Template, &Value) = match self {
            Self::Rest(tool) => (&tool.response, answer.body.as_ref().unwrap_or(&Value::Null)),
            Self::Graphql(tool) => (&tool.response, answer.data()?),
        };
        let rendered = response.render_items(&Scope { arguments, answer: body });
        let (payload, unmapped) = rendered.map_err(|error| CallFailure::Payload(error.to_string()))?;
        Ok(MappedPayload { payload: payload.unwrap_or(Value::Null), unmapped })
    }
}

impl RestTool {
    /// An API may report a failure of its own with a status of success.
    fn failure(&self, answer: &ApiAnswer) -> Option<CallFailure> {
        let body = answer.body.as_ref().unwrap_or(&Value::Null);
        let message = self.errors.message(body).unwrap_or_default();
        if answer.is_success() {
            return self.errors.by_own_code(body).map(|code| failure(Some(code), message, None, answer.retry_after_ms));
        }
        if let Some(code) = self.errors.platform_code(answer.status, body) {
            return Some(failure(Some(code), message, None, answer.retry_after_ms));
        }
        let detail = PlatformDetail::of(body).and_then(|detail| detail.failure(message, answer.retry_after_ms));
        Some(detail.unwrap_or_else(|| answer.status_failure()))
    }
}

impl GraphqlTool {
    /// A part of the data beside an error is not a payload.
    fn failure(&self, answer: &ApiAnswer) -> Option<CallFailure> {
        let Some(error) = answer.first_error() else {
            return (!answer.is_success()).then(|| answer.status_failure());
        };
        let message = self.errors.message(error).unwrap_or_default();
        if let Some(code) = self.errors.platform_code(answer.status, error) {
            return Some(failure(Some(code), message, None, answer.retry_after_ms));
        }
        let extensions = error.get("extensions").unwrap_or(&Value::Null);
        let detail = PlatformDetail::of(extensions).and_then(|detail| detail.failure(message, answer.retry_after_ms));
        if detail.is_some() {
            return detail;
        }
        // The codes that servers commonly use for a sign-in, whatever status they come with.
        Some(match extensions.get("code").and_then(Value::as_str) {
            Some("UNAUTHENTICATED" | "FORBIDDEN") => CallFailure::Unauthorized,
            // A code of the API's own that the mapping does not translate says nothing to the platform.
            _ if answer.is_success() => unknown_code(self.errors.own_code(error).as_deref(), message),
            _ => answer.status_failure(),
        })
    }
}
