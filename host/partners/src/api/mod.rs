//! Calls to partners without an MCP server: the tool's arguments become a request to the partner's own API, and its
//! answer becomes the tool's payload, as the manifest's mapping says (spec 1, Onboarding paths: path B).
//!
//! Addresses, connections, bounds, the caller's token and the deadline are those of every partner call, and every
//! failure is one that an MCP server's call could have had too, so that nobody above can tell the difference.

pub(crate) mod graphql;
mod rest;

use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use intent_gateway_domain::endpoint::{ApiAnswer, Endpoint, RequestError, ToolMapping};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::limits::PARTNER_BODY_MAX_BYTES;
use intent_gateway_domain::not_json;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::partner_error::protocol;
use intent_gateway_domain::ports::{ToolAnswer, ToolCall};
use serde_json::Value;

use crate::carried;
use crate::challenge::auth_failure;
use crate::connections::ReceivedBody;
use crate::exchange::{hear, note_error, read_body, release};
use crate::guard::AddressPolicy;
use crate::wire::{Wire, retry_after_ms};

/// Calls one tool of an API; the answer's text is the payload that its mapping makes.
pub(crate) async fn call(
    wire: &Wire,
    policy: AddressPolicy,
    partner: &Partner,
    call: &ToolCall<'_>,
    bearer: Option<HeaderValue>,
) -> Result<ToolAnswer, CallFailure> {
    let unmapped = || CallFailure::Platform {
        code: "METHOD_NOT_FOUND".to_owned(),
        message: format!("the mapping of `{}` has no tool `{}`", call.intent, call.tool),
        field: None,
    };
    let tool = partner.mappings.get(call.intent).and_then(|mapping| mapping.tool(call.tool)).ok_or_else(unmapped)?;
    let arguments: Value = serde_json::from_str(call.arguments)
        .map_err(|_| CallFailure::Payload("the arguments of the call are no JSON".to_owned()))?;
    let api = Api { wire, policy, bearer, carried: carried::headers(call.trace), error_text: call.error_text };
    let answer = match (&partner.endpoint, tool) {
        (Endpoint::Rest { base_url, .. }, ToolMapping::Rest(tool)) => {
            rest::send(&api, base_url, tool, &arguments).await
        }
        (Endpoint::Graphql { url }, ToolMapping::Graphql(tool)) => {
            let body = tool.request(&arguments).map_err(|error| unsendable(&error))?;
            graphql::send(&api, url, &body).await
        }
        _ => Err(unmapped()),
    }?;
    if let Some(failure) = tool.failure(&answer) {
        api.note_error(&answer);
        return Err(failure);
    }
    Ok(tool.payload(&arguments, &answer)?.into())
}

/// An API and the means to reach it.
pub(crate) struct Api<'a> {
    pub(crate) wire: &'a Wire,
    pub(crate) policy: AddressPolicy,
    /// Value of `Authorization`, marked sensitive.
    pub(crate) bearer: Option<HeaderValue>,
    /// What goes along with every request.
    pub(crate) carried: Vec<(HeaderName, HeaderValue)>,
    /// Where the words go that the API sends in place of an answer.
    pub(crate) error_text: Option<&'a ErrorText>,
}

impl Api<'_> {
    /// A request in the caller's name.
    pub(crate) fn request(
        &self,
        method: Method,
        uri: Uri,
        accept: &'static str,
        body: Option<Vec<u8>>,
    ) -> Request<Full<Bytes>> {
        let has_body = body.is_some();
        let mut request = Request::new(Full::new(Bytes::from(body.unwrap_or_default())));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.extend(self.carried.iter().cloned());
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if has_body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(bearer) = &self.bearer {
            headers.insert(AUTHORIZATION, bearer.clone());
        }
        request
    }

    /// Sends a request and reads the answer, whatever its status.
    pub(crate) async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<ApiAnswer, CallFailure> {
        let response = self.wire.exchange(request).await?;
        let status = response.status();
        let retry_after_ms = retry_after_ms(response.headers(), SystemTime::now());
        if status.is_redirection() {
            release(response.into_body());
            return Err(CallFailure::Redirect(status.as_u16()));
        }
        if status.is_success() && !is_plain(response.headers()) {
            release(response.into_body());
            return Err(protocol("a compressed answer, which was not asked for"));
        }
        let is_refusal = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let sign_in = is_refusal.then(|| auth_failure(status, response.headers()));
        let body = body(response, status, self.error_text).await?;
        Ok(ApiAnswer { status: status.as_u16(), body, retry_after_ms, sign_in })
    }

    /// Records what the API wrote, where its answer turns out to be an error.
    fn note_error(&self, answer: &ApiAnswer) {
        if let Some(body) = answer.body.as_ref().filter(|body| !body.is_null()) {
            note_error(self.error_text, answer.status, body.to_string().as_bytes());
        }
    }
}

fn is_plain(headers: &HeaderMap) -> bool {
    matches!(headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes), None | Some(b"identity"))
}

/// Reads a body. A success has to be JSON or nothing; of a failure the body only helps to explain it.
async fn body(
    response: Response<ReceivedBody>,
    status: StatusCode,
    error_text: Option<&ErrorText>,
) -> Result<Option<Value>, CallFailure> {
    let text = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = is_json(&essence);
    if !status.is_success() && (!is_json || !is_plain(response.headers())) {
        hear(response, error_text).await;
        return Ok(None);
    }
    let bytes = match read_body(response.into_body(), PARTNER_BODY_MAX_BYTES).await {
        Ok(bytes) => bytes,
        Err(_) if !status.is_success() => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if bytes.is_empty() {
        return Ok(Some(Value::Null));
    }
    match serde_json::from_slice(&bytes) {
        Ok(value) if is_json => Ok(Some(value)),
        Ok(Value::Object(_) | Value::Array(_)) => {
            Err(protocol(&format!("the answer is JSON of the content type `{essence}`, expected `application/json`")))
        }
        Ok(_) => Err(protocol(&format!("an answer of content type `{essence}`"))),
        Err(_) if !status.is_success() => Ok(None),
        Err(error) => Err(no_json(&essence, &bytes, &error)),
    }
}

/// Names what came in the place of JSON, by its content type or its own first words.
fn no_json(essence: &str, bytes: &[u8], error: &serde_json::Error) -> CallFailure {
    let text = String::from_utf8_lossy(bytes);
    match not_json::kind_of_type(essence).or_else(|| not_json::kind(&text)) {
        Some(kind) => protocol(&format!("the answer is {kind}, expected JSON")),
        None if is_json(essence) => protocol(&format!("the answer is no JSON: {error}")),
        None => protocol(&format!("an answer of content type `{essence}`")),
    }
}

/// `application/json`, and everything that is JSON underneath (RFC 6839, 3.1).
fn is_json(essence: &str) -> bool {
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// The request cannot be made: its mapping takes an argument for granted, or for something that can be sent.
fn unsendable(error: &RequestError) -> CallFailure {
    CallFailure::Payload(error.to_string())
}
