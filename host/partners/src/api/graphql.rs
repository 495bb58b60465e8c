//! One call of a GraphQL API over HTTP.

use http::Method;
use intent_gateway_domain::endpoint::{GraphqlTool, Scope};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::ToolAnswer;
use serde_json::Value;

use super::{Api, ApiAnswer, payload, unsendable};
use crate::answer::{PlatformDetail, failure, protocol, unknown_code};

/// What GraphQL answers come as: the newer type, and what servers sent before it.
const MEDIA_TYPES: &str = "application/graphql-response+json, application/json;q=0.9";

pub(super) async fn call(
    api: &Api<'_>,
    url: &str,
    tool: &GraphqlTool,
    arguments: &Value,
) -> Result<ToolAnswer, CallFailure> {
    let body = tool.request(arguments).map_err(|error| unsendable(&error))?;
    let answered = send(api, url, &body).await?;
    if let Some(failure) = refusal(tool, &answered) {
        answered.note_error(api.error_text);
        return Err(failure);
    }
    let data = data(&answered)?;
    payload(&tool.response, &Scope { arguments, answer: data })
}

/// Sends one operation.
pub(crate) async fn send(api: &Api<'_>, url: &str, body: &Value) -> Result<ApiAnswer, CallFailure> {
    let uri = api.policy.endpoint(url)?;
    api.exchange(api.request(Method::POST, uri, MEDIA_TYPES, Some(body.to_string().into_bytes()))).await
}

/// The `data` of an answer without errors.
pub(crate) fn data(answered: &ApiAnswer) -> Result<&Value, CallFailure> {
    let data = answered.body.as_ref().and_then(|body| body.get("data")).filter(|data| data.is_object());
    data.ok_or_else(|| protocol("a GraphQL answer with neither `data` nor `errors`"))
}

/// The first error of an answer.
pub(crate) fn first_error(answered: &ApiAnswer) -> Option<&Value> {
    answered.body.as_ref()?.get("errors")?.as_array()?.first()
}

/// The failure that an answer reports, if it does. A part of the data beside an error is no payload.
fn refusal(tool: &GraphqlTool, answered: &ApiAnswer) -> Option<CallFailure> {
    let retry_after_ms = answered.retry_after_ms;
    let Some(error) = first_error(answered) else {
        return (!answered.status.is_success()).then(|| answered.status_failure());
    };
    let message = tool.errors.message(error).unwrap_or_default();
    if let Some(code) = tool.errors.platform_code(answered.status.as_u16(), error) {
        return Some(failure(Some(code), message, None, retry_after_ms));
    }
    let extensions = error.get("extensions").unwrap_or(&Value::Null);
    if let Some(stated) = PlatformDetail::of(extensions).and_then(|detail| detail.failure(message, retry_after_ms)) {
        return Some(stated);
    }
    // The codes that servers commonly use for a sign-in, whatever status they come with.
    let code = extensions.get("code").and_then(Value::as_str);
    Some(match code {
        Some("UNAUTHENTICATED" | "FORBIDDEN") => CallFailure::Unauthorized,
        // A code of the API's own that the mapping does not translate says nothing to the platform.
        _ if answered.status.is_success() => unknown_code(tool.errors.own_code(error).as_deref(), message),
        _ => answered.status_failure(),
    })
}
