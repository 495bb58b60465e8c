//! One call of a REST API.

use http::header::{HeaderName, HeaderValue};
use http::{Method, Uri};
use intent_gateway_domain::endpoint::{self, RestTool, Scope, Template};
use intent_gateway_domain::error::CallFailure;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{Api, ApiAnswer, fail_rendering, rendered};
use crate::answer::{PlatformDetail, failure};
use crate::guard::AddressPolicy;

/// Everything but the unreserved characters of RFC 3986, 2.3: what a user typed can neither end a segment of the path
/// nor start a query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Values that one parameter of the query may have.
const QUERY_VALUES_MAX: usize = 100;
const ACCEPTED: &str = "application/json";

pub(super) async fn call(
    api: &Api<'_>,
    base_url: &str,
    tool: &RestTool,
    arguments: &Value,
) -> Result<String, CallFailure> {
    let scope = Scope { arguments, answer: &Value::Null };
    let uri = address(api.policy, base_url, tool, &scope)?;
    let body = tool.body.as_ref().map(|body| rendered(body, &scope).map(|body| body.to_string().into_bytes()));
    let mut request = api.request(method(tool.method), uri, ACCEPTED, body.transpose()?);
    for (name, template) in &tool.headers {
        let Some(text) = scalar(name, template, &scope)? else { continue };
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
    rendered(&tool.response, &Scope { arguments, answer }).map(|payload| payload.to_string())
}

/// The failure that an answer reports, if it does. An API may report one of its own with a status of success.
fn refusal(tool: &RestTool, answered: &ApiAnswer, answer: &Value) -> Option<CallFailure> {
    let message = tool.errors.message(answer).unwrap_or_default();
    let (status, retry_after_ms) = (answered.status.as_u16(), answered.retry_after_ms);
    if answered.status.is_success() {
        return tool.errors.by_own_code(answer).map(|code| failure(code, message, None, retry_after_ms));
    }
    if let Some(code) = tool.errors.platform_code(status, answer) {
        return Some(failure(code, message, None, retry_after_ms));
    }
    let detail = PlatformDetail::of(answer).and_then(|detail| detail.failure(message, retry_after_ms));
    Some(detail.unwrap_or_else(|| answered.status_failure()))
}

/// The address of one call.
fn address(policy: AddressPolicy, base_url: &str, tool: &RestTool, scope: &Scope<'_>) -> Result<Uri, CallFailure> {
    let mut url = base_url.trim_end_matches('/').to_owned();
    let mut rest = tool.path.as_str();
    while let Some((before, (name, after))) = rest.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?))) {
        let template = tool.path_params.iter().find(|(given, _)| given == name).map(|(_, template)| template);
        let text = template.map(|template| scalar(name, template, scope)).transpose()?.flatten().unwrap_or_default();
        // An empty segment, or a dot one, would be another path altogether.
        if matches!(text.as_str(), "" | "." | "..") {
            return Err(CallFailure::Payload(format!("`{text}` cannot be sent as `{name}` in a path")));
        }
        url.push_str(before);
        url.extend(utf8_percent_encode(&text, ESCAPED));
        rest = after;
    }
    url.push_str(rest);
    let mut separator = '?';
    for (name, template) in &tool.query {
        let Some(value) = template.render(scope).map_err(fail_rendering)? else { continue };
        let values = match value {
            Value::Array(values) if values.len() <= QUERY_VALUES_MAX => values,
            Value::Array(_) => return Err(CallFailure::Payload(format!("too many values for `{name}`"))),
            Value::Null => continue,
            value => vec![value],
        };
        for value in &values {
            url.push(separator);
            separator = '&';
            url.extend(utf8_percent_encode(name, ESCAPED));
            url.push('=');
            url.extend(utf8_percent_encode(&text(name, value)?, ESCAPED));
        }
    }
    policy.endpoint(&url)
}

/// A parameter that has one value; `None` where it is left out.
fn scalar(name: &str, template: &Template, scope: &Scope<'_>) -> Result<Option<String>, CallFailure> {
    match template.render(scope).map_err(fail_rendering)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text(name, &value).map(Some),
    }
}

fn text(name: &str, value: &Value) -> Result<String, CallFailure> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        _ => Err(CallFailure::Payload(format!("`{name}` takes a text, a number or a truth value"))),
    }
}

fn method(method: endpoint::Method) -> Method {
    match method {
        endpoint::Method::Get => Method::GET,
        endpoint::Method::Post => Method::POST,
        endpoint::Method::Put => Method::PUT,
        endpoint::Method::Patch => Method::PATCH,
        endpoint::Method::Delete => Method::DELETE,
    }
}
