//! Asks the gateway's own API, as the person whose page it is: a page shows what a script with the same token would be told, and does
//! what such a script may do.

use std::fmt::{self, Write as _};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use intent_gateway_api::approvals::ApprovalBody;
use intent_gateway_api::error::{ErrorBody, ErrorDetail};
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::inside::{Inside, Origin};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::events::Events;

/// Bytes of an answer, or of one event, that a page reads: more than any list or document has.
pub(crate) const ANSWER_MAX_BYTES: usize = 16 * 1024 * 1024;

/// The token is taken, and not for this: its sign-in is too long ago.
pub(crate) const FRESH_SIGN_IN_NEEDED: &str = "FRESH_SIGN_IN_NEEDED";

/// What stands in a segment of a path, or in a value of a query, as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as a segment of a path, or as a value of a query.
pub(crate) fn segment(text: &str) -> impl fmt::Display + '_ {
    utf8_percent_encode(text, PLAIN)
}

/// A path with those parts of a query that say something.
pub(crate) fn with_query(path: &str, parts: &[(&str, &str)]) -> String {
    let mut address = path.to_owned();
    for (name, value) in parts.iter().filter(|(_, value)| !value.is_empty()) {
        let joint = if address.len() == path.len() { '?' } else { '&' };
        // Writing to a String cannot fail.
        let _ = write!(address, "{joint}{name}={}", segment(value));
    }
    address
}

/// The API as one visitor may use it.
pub(crate) struct Api {
    inside: Inside,
    origin: Origin,
    /// None for a visitor who is not signed in.
    token: Option<Secret>,
}

/// What came of a request that changes something.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    Done(T),
    /// A second person has to approve it first.
    Waits,
}

impl<T> Outcome<T> {
    /// The notice of the page that comes next: that it was done, or that it waits.
    pub(crate) fn notice(&self, done: &'static str) -> &'static str {
        match self {
            Self::Done(_) => done,
            Self::Waits => "waits",
        }
    }
}

/// Why a page has nothing to show.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// In the words of the API.
    #[error("{}: {}", .detail.code, .detail.message)]
    Refused { status: StatusCode, retry_after: Option<HeaderValue>, detail: Box<ErrorDetail> },
    /// The API has answered something that this crate does not know: a defect.
    #[error("the API's answer cannot be read")]
    Unreadable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ApiError {
    /// Whether the API takes the visitor's token no more.
    pub(crate) fn is_signed_out(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::UNAUTHORIZED, detail, .. } if detail.code != FRESH_SIGN_IN_NEEDED)
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::NOT_FOUND, .. })
    }

    /// Whether the visitor's token does not open it.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::FORBIDDEN, .. })
    }

    /// Whether the API refuses what was asked for itself, which the page that asks can say beside its form.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if status.is_client_error()) && !self.is_signed_out()
    }

    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Refused { detail, .. } => &detail.code,
            Self::Unreadable(_) => "INTERNAL_ERROR",
        }
    }
}

impl Api {
    pub(crate) fn new(inside: Inside, origin: Origin, token: Option<Secret>) -> Self {
        Self { inside, origin, token }
    }

    /// The same for a page that stays open, and reads again what it has read before.
    pub(crate) fn again(&self) -> Self {
        Self { inside: self.inside.clone(), origin: self.origin.again(), token: self.token.clone() }
    }

    /// Reads what is at an address.
    pub(crate) async fn get<T: DeserializeOwned>(&self, address: &str) -> Result<T, ApiError> {
        let (status, body) = self.ask(Method::GET, address, None).await?;
        parse(status, &body)
    }

    /// Reads what is at an address, where something is.
    pub(crate) async fn find<T: DeserializeOwned>(&self, address: &str) -> Result<Option<T>, ApiError> {
        match self.get(address).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads what is at an address, where the visitor's token opens it.
    pub(crate) async fn get_if_allowed<T: DeserializeOwned>(&self, address: &str) -> Result<Option<T>, ApiError> {
        match self.get(address).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_forbidden() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads what is at an address, where something is that the visitor's token opens.
    pub(crate) async fn look<T: DeserializeOwned>(&self, address: &str) -> Result<Option<T>, ApiError> {
        match self.find(address).await {
            Err(error) if error.is_forbidden() => Ok(None),
            found => found,
        }
    }

    /// Changes something, with a JSON document.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        address: &str,
        document: &impl Serialize,
    ) -> Result<Outcome<T>, ApiError> {
        let text = serde_json::to_vec(document).map_err(|error| ApiError::Unreadable(error.into()))?;
        self.send_text(method, address, Some(text.into())).await
    }

    /// The same, with a document that somebody has written, or with none.
    pub(crate) async fn send_text<T: DeserializeOwned>(
        &self,
        method: Method,
        address: &str,
        text: Option<Bytes>,
    ) -> Result<Outcome<T>, ApiError> {
        let json = HeaderValue::from_static("application/json");
        self.send_body(method, address, text.map(|text| (json, text))).await
    }

    /// The same with a file, of the media type that it is said to have.
    pub(crate) async fn send_file<T: DeserializeOwned>(
        &self,
        method: Method,
        address: &str,
        media_type: HeaderValue,
        file: Bytes,
    ) -> Result<Outcome<T>, ApiError> {
        self.send_body(method, address, Some((media_type, file))).await
    }

    async fn send_body<T: DeserializeOwned>(
        &self,
        method: Method,
        address: &str,
        body: Option<(HeaderValue, Bytes)>,
    ) -> Result<Outcome<T>, ApiError> {
        let (status, body) = self.ask(method, address, body).await?;
        if status == StatusCode::ACCEPTED && serde_json::from_slice::<ApprovalBody>(&body).is_ok() {
            return Ok(Outcome::Waits);
        }
        parse(status, &body).map(Outcome::Done)
    }

    /// Begins something that tells by events what comes of it. Dropped, it ends.
    pub(crate) async fn listen(&self, address: &str) -> Result<Events, ApiError> {
        let response = self.inside.ask(&self.origin, self.write_request(Method::POST, address, None)?).await;
        if response.status().is_success() {
            return Ok(Events::of(response.into_body()));
        }
        Err(read_answer(response).await.err().unwrap_or_else(|| ApiError::Unreadable("no refusal".into())))
    }

    /// An answer as it is, for a document that a page passes on.
    async fn ask(
        &self,
        method: Method,
        address: &str,
        body: Option<(HeaderValue, Bytes)>,
    ) -> Result<(StatusCode, Bytes), ApiError> {
        read_answer(self.inside.ask(&self.origin, self.write_request(method, address, body)?).await).await
    }

    /// A request of the visitor's.
    fn write_request(
        &self,
        method: Method,
        address: &str,
        body: Option<(HeaderValue, Bytes)>,
    ) -> Result<Request<Body>, ApiError> {
        let mut request = Request::builder().method(method).uri(address);
        if let Some(token) = &self.token {
            let value = format!("Bearer {}", token.expose());
            let mut value = HeaderValue::try_from(value).map_err(|error| ApiError::Unreadable(error.into()))?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        if let Some((media_type, _)) = &body {
            request = request.header(header::CONTENT_TYPE, media_type);
        }
        let request = request.body(body.map_or_else(Body::empty, |(_, bytes)| Body::from(bytes)));
        request.map_err(|error| ApiError::Unreadable(error.into()))
    }
}

/// The whole of an answer, or the refusal that it is.
async fn read_answer(response: Response) -> Result<(StatusCode, Bytes), ApiError> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_MAX_BYTES).collect().await.map_err(ApiError::Unreadable)?.to_bytes();
    if head.status.is_success() {
        return Ok((head.status, body));
    }
    let ErrorBody { error } = serde_json::from_slice(&body).map_err(|error| ApiError::Unreadable(error.into()))?;
    let retry_after = head.headers.get(header::RETRY_AFTER).cloned();
    Err(ApiError::Refused { status: head.status, retry_after, detail: Box::new(error) })
}

/// An answer without a body is `null`.
fn parse<T: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<T, ApiError> {
    let text = if status == StatusCode::NO_CONTENT || body.is_empty() { b"null" } else { body };
    serde_json::from_slice(text).map_err(|error| ApiError::Unreadable(error.into()))
}
