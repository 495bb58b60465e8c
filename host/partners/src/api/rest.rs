//! One request to a REST API.

use http::Method;
use http::header::{HeaderName, HeaderValue};
use intent_gateway_domain::endpoint::{self, ApiAnswer, RestRequest, RestTool};
use intent_gateway_domain::error::CallFailure;
use serde_json::Value;

use super::{Api, unsendable};

const ACCEPTED: &str = "application/json";

/// Sends the request that a tool's mapping makes of the arguments.
pub(super) async fn send(
    api: &Api<'_>,
    base_url: &str,
    tool: &RestTool,
    arguments: &Value,
) -> Result<ApiAnswer, CallFailure> {
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
    api.exchange(request).await
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
