//! Reads request bodies: the right media type, a bounded size, within a bounded time.

use std::sync::Arc;
use std::time::Duration;

use axum::body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use intent_gateway_api::read::Body;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::limits::{PAYLOAD_MAX_DEPTH, REQUEST_BODY_MAX_BYTES};
use serde::de::IgnoredAny;

use crate::App;
use crate::error::{Code, Refusal};

/// Media type of every body but a component's.
pub(crate) const JSON: &str = "application/json";
/// Media type of the form of a page.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
/// Media type of a component.
pub(crate) const WASM: &str = "application/wasm";

/// What of a request's body is awaited before the request is worked on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    /// Bodies of these media types; others are left to the handler, components for example. With none, of every type.
    pub(crate) media_types: &'static [&'static str],
    /// Its bound.
    pub(crate) max_bytes: usize,
    /// Within this time.
    pub(crate) timeout: Duration,
}

impl Awaited {
    /// The request when its body is there.
    pub(crate) async fn gather(self, request: Request) -> Result<Request, Refusal> {
        let is_awaited = self.media_types.is_empty()
            || self.media_types.iter().any(|expected| require_media_type(request.headers(), expected).is_ok());
        if !is_awaited || http_body::Body::is_end_stream(request.body()) {
            return Ok(request);
        }
        let (head, body) = request.into_parts();
        let bytes = read(body, self.max_bytes, self.timeout).await?;
        Ok(Request::from_parts(head, body::Body::from(bytes)))
    }
}

/// A body that is JSON of bounded size and depth, as the caller wrote it.
pub(crate) struct JsonText(pub(crate) String);

impl FromRequest<Arc<App>> for JsonText {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        require_media_type(request.headers(), JSON)?;
        let bytes = read(request.into_body(), REQUEST_BODY_MAX_BYTES, app.limits.body_timeout).await?;
        check(bytes).map(Self)
    }
}

/// A body as the type that the route takes.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Body> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let JsonText(text) = JsonText::from_request(request, app).await?;
        parse(&text).map(Self)
    }
}

/// The same, for routes that ask for nothing in particular: no body is an empty object.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: Body> FromRequest<Arc<App>> for OptionalJson<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let (head, body) = request.into_parts();
        let bytes = read(body, REQUEST_BODY_MAX_BYTES, app.limits.body_timeout).await?;
        if bytes.is_empty() {
            return parse("{}").map(Self);
        }
        require_media_type(&head.headers, JSON)?;
        parse(&check(bytes)?).map(Self)
    }
}

fn parse<T: Body>(text: &str) -> Result<T, Refusal> {
    intent_gateway_api::read::read(text).map_err(|violations| Refusal::new(Code::InvalidRequest).violations(violations))
}

/// The text of a body, if it is JSON of bounded depth.
fn check(bytes: Bytes) -> Result<String, Refusal> {
    let text = String::from_utf8(bytes.into())
        .map_err(|error| invalid("INVALID_JSON", format!("the body is not UTF-8: {}", error.utf8_error())))?;
    serde_json::from_str::<IgnoredAny>(&text)
        .map_err(|error| invalid("INVALID_JSON", format!("the body is not valid JSON: {error}")))?;
    let depth = nesting_depth(&text);
    if depth > PAYLOAD_MAX_DEPTH {
        let message = format!("the body nests {depth} levels deep; {PAYLOAD_MAX_DEPTH} are allowed");
        return Err(invalid("TOO_DEEP", message));
    }
    Ok(text)
}

/// Refuses a body as a whole.
fn invalid(code: &str, message: String) -> Refusal {
    let violation = Violation { pointer: String::new(), code: code.to_owned(), message };
    Refusal::new(Code::InvalidRequest).violations(vec![violation])
}

/// Refuses a body of another media type; parameters such as `charset` are let pass.
pub(crate) fn require_media_type(headers: &HeaderMap, expected: &'static str) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.map(|text| text.split_once(';').map_or(text, |(essence, _)| essence).trim());
    if essence.is_some_and(|essence| essence.eq_ignore_ascii_case(expected)) {
        return Ok(());
    }
    Err(Refusal::new(Code::UnsupportedMediaType).message(format!("The body must be `{expected}`.")))
}

/// Reads a whole body.
pub(crate) async fn read(body: body::Body, max_bytes: usize, timeout: Duration) -> Result<Bytes, Refusal> {
    let too_large = || Refusal::new(Code::PayloadTooLarge).message(format!("The body may have {max_bytes} bytes."));
    // A length that is announced is refused before a byte of the body is read.
    let announced = http_body::Body::size_hint(&body).lower();
    if usize::try_from(announced).map_or(true, |announced| announced > max_bytes) {
        return Err(too_large());
    }
    match tokio::time::timeout(timeout, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => {
            Err(Refusal::new(Code::InvalidRequest).message("The body could not be read.").internal(error.to_string()))
        }
        Err(_elapsed) => Err(Code::RequestTimeout.into()),
    }
}

/// Deepest nesting of objects and arrays in a text that is known to be JSON.
fn nesting_depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            // Valid JSON never closes more than it opened.
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use intent_gateway_api::account::VerifyRequest;

    use super::*;

    #[test]
    fn depth_counts_structure_and_not_text() {
        assert_eq!(nesting_depth("1"), 0);
        assert_eq!(nesting_depth(r#"{"a":[1,{"b":2}],"c":[]}"#), 3);
        assert_eq!(nesting_depth(r#"["[[[", "\"[", "\\", ["x"]]"#), 2);
    }

    #[test]
    fn a_body_that_is_another_is_refused_with_all_that_is_wrong() {
        let refused = parse::<VerifyRequest>(r#"{"email":1}"#).expect_err("is refused");
        assert_eq!(refused.code(), "INVALID_REQUEST");
        let places: Vec<String> =
            refused.body("r").error.violations.into_iter().map(|violation| violation.pointer).collect();
        assert_eq!(places, ["/email", "/code"]);
        assert_eq!(parse::<VerifyRequest>(r#"{"email":"a","code":"b"}"#).expect("is read").email, "a");
    }

    #[test]
    fn media_types() {
        let check = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, http::HeaderValue::from_static(value))]);
            require_media_type(&headers, JSON).is_ok()
        };
        assert!(check("application/json"));
        assert!(check("Application/JSON; charset=utf-8"));
        assert!(!check("text/plain"));
        assert!(!check("application/jsonp"));
        assert!(require_media_type(&HeaderMap::new(), JSON).is_err());
    }
}
