//! One request to an authorization server, and its whole answer.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_linking::LinkFailure;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{REQUEST_TIMEOUT, protocol, too_late};
use crate::client::PartnerClient;
use crate::exchange::{read_body, release};
use crate::guard::NO_PUBLIC_ADDRESS;

/// Bytes of an answer. Metadata takes a few thousand, tokens less.
const ANSWER_MAX_BYTES: usize = 64 * 1024;
/// Bytes of an error code.
const ERROR_CODE_MAX_BYTES: usize = 100;

/// What a request carries.
pub(super) enum Body {
    None,
    Json(Vec<u8>),
    Form(String),
}

/// An answer that was read to its end.
pub(super) struct FetchedAnswer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl PartnerClient {
    /// Sends a request and reads the answer, unless that says only that the server cannot answer now.
    pub(super) async fn send(
        &self,
        url: &str,
        body: Body,
        authorization: Option<HeaderValue>,
    ) -> Result<FetchedAnswer, LinkFailure> {
        let request = self.prepare(url, body, authorization)?;
        let answered = match tokio::time::timeout(REQUEST_TIMEOUT, self.fetch_answer(request)).await {
            Ok(outcome) => outcome.map_err(link_failure)?,
            Err(_) => return Err(too_late(REQUEST_TIMEOUT)),
        };
        if answered.status.is_server_error() || answered.status == StatusCode::TOO_MANY_REQUESTS {
            return Err(LinkFailure::Unreachable(CallFailure::HttpStatus(answered.status.as_u16()).to_string()));
        }
        Ok(answered)
    }

    fn prepare(
        &self,
        url: &str,
        body: Body,
        authorization: Option<HeaderValue>,
    ) -> Result<Request<Full<Bytes>>, LinkFailure> {
        let uri = self.policy().endpoint(url).map_err(link_failure)?;
        let (method, media_type, bytes) = match body {
            Body::None => (Method::GET, None, Bytes::new()),
            Body::Json(text) => (Method::POST, Some("application/json"), Bytes::from(text)),
            Body::Form(text) => (Method::POST, Some("application/x-www-form-urlencoded"), Bytes::from(text)),
        };
        let mut request = Request::new(Full::new(bytes));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        // A refresh token must not be lost on a connection that the server has just given up for its idleness: each of these
        // rare requests has one of its own. HTTP/2, which tells of its end, drops the header.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if let Some(media_type) = media_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        if let Some(authorization) = authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        Ok(request)
    }

    async fn fetch_answer(&self, request: Request<Full<Bytes>>) -> Result<FetchedAnswer, CallFailure> {
        let response = self.wire().exchange(request).await?;
        let status = response.status();
        let is_plain =
            matches!(response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes), None | Some(b"identity"));
        if status.is_redirection() || !is_plain {
            release(response.into_body());
            return Ok(FetchedAnswer { status, body: Bytes::new() });
        }
        Ok(FetchedAnswer { status, body: read_body(response.into_body(), ANSWER_MAX_BYTES).await? })
    }
}

impl FetchedAnswer {
    /// Whether it is a success that begins as a JSON object does. Web sites answer what they do not have with a page or
    /// with a redirect as well as with 404.
    pub(super) fn is_document(&self) -> bool {
        self.status.is_success() && self.body.trim_ascii_start().starts_with(b"{")
    }

    /// The body of a document that holds no secret: what is wrong with it may be told.
    pub(super) fn document<T: DeserializeOwned>(&self) -> Result<T, LinkFailure> {
        self.object().map_err(|error| protocol(&format!("its metadata cannot be read: {error}")))
    }

    /// The body of a success, of which nothing is told where it is wrong; else the refusal that it stands for. Some
    /// servers report one with a status of success.
    pub(super) fn success<T: DeserializeOwned>(&self, what: &'static str) -> Result<T, LinkFailure> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        if !self.status.is_success() {
            return Err(protocol(&format!("HTTP status {} without an error code", self.status.as_u16())));
        }
        self.object().map_err(|_| protocol(&format!("the answer is no {what}")))
    }

    /// The refusal that the body reports, if it does (RFC 6749, 5.2).
    pub(super) fn refusal(&self) -> Option<LinkFailure> {
        #[derive(Deserialize)]
        struct Refusal {
            error: Option<String>,
        }

        let code = self.object::<Refusal>().ok()?.error?;
        // What the grammar allows, without the space: it is shown in logs and answers.
        let is_code = (1..=ERROR_CODE_MAX_BYTES).contains(&code.len())
            && code.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
        Some(if is_code { LinkFailure::Refused { code } } else { protocol("an error code that is none") })
    }

    /// The body, where it is an object. Of an array, serde would take the members by their order.
    fn object<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        let body = self.body.trim_ascii_start();
        if body.first().is_some_and(|first| *first != b'{') {
            return Err(serde::de::Error::custom("expected an object"));
        }
        serde_json::from_slice(body)
    }
}

pub(super) fn link_failure(failure: CallFailure) -> LinkFailure {
    match failure {
        CallFailure::AddressRefused(reason) => LinkFailure::AddressRefused(reason),
        // As a probe tells it: partners read it.
        CallFailure::Unreachable(reason) if reason == NO_PUBLIC_ADDRESS => LinkFailure::AddressRefused(reason),
        CallFailure::Unreachable(reason) => LinkFailure::Unreachable(reason),
        failure => protocol(&failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Pair {
        first: u8,
        second: Option<u8>,
    }

    fn answer(body: &'static str) -> FetchedAnswer {
        FetchedAnswer { status: StatusCode::OK, body: Bytes::from_static(body.as_bytes()) }
    }

    #[test]
    fn only_an_object_is_an_answer() {
        let read: Pair = answer(" {\"second\":2,\"first\":1}").success("pair").expect("an object");
        assert_eq!((read.first, read.second), (1, Some(2)));
        for other in ["[1,2]", " [1,2]", "1", "", "null"] {
            assert!(answer(other).success::<Pair>("pair").is_err(), "{other}");
            assert!(answer(other).document::<Pair>().is_err(), "{other}");
        }
        assert_eq!(answer("[\"invalid_grant\"]").refusal(), None);
    }
}
