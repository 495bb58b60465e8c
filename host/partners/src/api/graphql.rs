//! One call of a GraphQL API over HTTP.

use http::Method;
use intent_gateway_domain::endpoint::{GraphqlTool, Scope};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::platform_code::PlatformCode;
use serde::Serialize;
use serde_json::Value;

use super::{Api, ApiAnswer, rendered};
use crate::answer::{PlatformDetail, failure, protocol};

/// What GraphQL answers come as: the newer type, and what servers sent before it.
const MEDIA_TYPES: &str = "application/graphql-response+json, application/json;q=0.9";

/// The body of a request.
#[derive(Serialize)]
struct Operation<'a> {
    query: &'a str,
    variables: &'a Value,
}

pub(super) async fn call(
    api: &Api<'_>,
    url: &str,
    tool: &GraphqlTool,
    arguments: &Value,
) -> Result<String, CallFailure> {
    let variables = rendered(&tool.variables, &Scope { arguments, answer: &Value::Null })?;
    let answered = send(api, url, &tool.document, &variables).await?;
    if let Some(failure) = refusal(tool, &answered) {
        answered.note_error(api.error_text);
        return Err(failure);
    }
    let data = data(&answered)?;
    rendered(&tool.response, &Scope { arguments, answer: data }).map(|payload| payload.to_string())
}

/// Sends one operation.
pub(crate) async fn send(
    api: &Api<'_>,
    url: &str,
    document: &str,
    variables: &Value,
) -> Result<ApiAnswer, CallFailure> {
    let uri = api.policy.endpoint(url)?;
    let body = serde_json::to_vec(&Operation { query: document, variables });
    let body = body.map_err(|error| protocol(&error.to_string()))?;
    api.exchange(api.request(Method::POST, uri, MEDIA_TYPES, Some(body))).await
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
        return Some(failure(code, message, None, retry_after_ms));
    }
    let extensions = error.get("extensions").unwrap_or(&Value::Null);
    if let Some(stated) = PlatformDetail::of(extensions).and_then(|detail| detail.failure(message, retry_after_ms)) {
        return Some(stated);
    }
    // The codes that servers commonly use for a sign-in, whatever status they come with.
    let code = extensions.get("code").and_then(Value::as_str);
    Some(match code {
        Some("UNAUTHENTICATED" | "FORBIDDEN") => CallFailure::Unauthorized,
        _ if answered.status.is_success() => {
            failure(PlatformCode::InternalError.as_str(), message, None, retry_after_ms)
        }
        _ => answered.status_failure(),
    })
}
