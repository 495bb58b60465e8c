//! One call of a REST API.

use http::Method;
use http::header::{HeaderName, HeaderValue};
use intent_gateway_domain::endpoint::{self, RestRequest, RestTool, Scope};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::ToolAnswer;
use serde_json::Value;

use super::{Api, ApiAnswer, payload, unsendable};
use crate::answer::{PlatformDetail, failure};

const ACCEPTED: &str = "application/json";

pub(super) async fn call(
    api: &Api<'_>,
    base_url: &str,
    tool: &RestTool,
    arguments: &Value,
) -> Result<ToolAnswer, CallFailure> {
    let RestRequest { method, target, headers, body } = tool.request(arguments).map_err(|error| unsendable(&error))?;
    let uri = api.policy.endpoint(&format!("{}{target}", base_url.trim_end_matches('/')))?;
    let body = body.map(|body| body.to_string().into_bytes());
    let mut request = api.request(method_of(method), uri, ACCEPTED, body);
    for (name, text) in headers {
        let (name, value) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(text));
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(CallFailure::Payload("an argument cannot be sent in a header".to_owned()));
        };
        request.headers_mut().insert(name, value);
    }
    let answered = api.exchange(request).await?;
    let answer = answered.body.as_ref().unwrap_or(&Value::Null);
    if let Some(failure) = refusal(tool, &answered, answer) {
        answered.note_error(api.error_text);
        return Err(failure);
    }
    payload(&tool.response, &Scope { arguments, answer })
}

/// The failure that an answer reports, if it does. An API may report one of its own with a status of success.
fn refusal(tool: &RestTool, answered: &ApiAnswer, answer: &Value) -> Option<CallFailure> {
    let message = tool.errors.message(answer).unwrap_or_default();
    let (status, retry_after_ms) = (answered.status.as_u16(), answered.retry_after_ms);
    if answered.status.is_success() {
        return tool.errors.by_own_code(answer).map(|code| failure(Some(code), message, None, retry_after_ms));
    }
    if let Some(code) = tool.errors.platform_code(status, answer) {
        return Some(failure(Some(code), message, None, retry_after_ms));
    }
    let detail = PlatformDetail::of(answer).and_then(|detail| detail.failure(message, retry_after_ms));
    Some(detail.unwrap_or_else(|| answered.status_failure()))
}

fn method_of(method: endpoint::Method) -> Method {
    match method {
        endpoint::Method::Get => Method::GET,
        endpoint::Method::Post => Method::POST,
        endpoint::Method::Put => Method::PUT,
        endpoint::Method::Patch => Method::PATCH,
        endpoint::Method::Delete => Method::DELETE,
    }
}
