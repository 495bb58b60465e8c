//! A running gateway as the commands ask it: over its HTTP interface (docs/api.md), one request at a time.
//!
//! Redirects are not followed: a token goes to the address that was named, and to no other.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::IpAddr;
use std::time::Duration;

use http::{Method, Uri};
use intent_gateway_api::approvals::ApprovalBody;
use intent_gateway_api::error::{ErrorBody, ErrorDetail};
use intent_gateway_api::sent_events::EventLines;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::secret::Secret;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::tls::TlsConfig;

use crate::access::tls::{TlsFileError, TlsFiles};

/// Wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait for one answer: longer than the gateway itself lets an admin's call run, which may test a partner.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(11 * 60);
/// Media type of streams of events.
const EVENTS: &str = "text/event-stream";
/// Media type of documents.
pub(crate) const JSON: &str = "application/json";
/// Who an orchestrator asks for.
const USER_HEADER: &str = "x-user-id";
/// Largest answer, bytes.
const ANSWER_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Characters shown of an answer that is not a gateway's.
const SHOWN_MAX_CHARS: usize = 300;

/// A gateway, and the token to show it.
pub(crate) struct Gateway {
    agent: ureq::Agent,
    /// Without a slash at its end.
    base: String,
    token: Option<Secret>,
    /// For whom an orchestrator asks.
    user: Option<String>,
}

/// A request that came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GatewayError {
    /// The address is not a gateway's.
    #[error("`{0}` is no address of a gateway; expected http://host:port or https://host")]
    Address(String),
    /// A file for TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsFileError),
    /// Nobody answered, or not to the end.
    #[error("no answer from {url}")]
    NoAnswer {
        /// What was asked.
        url: String,
        /// Why.
        #[source]
        cause: Box<ureq::Error>,
    },
    /// The gateway refused.
    #[error("{0}")]
    Refused(Box<GatewayRefusal>),
    /// Nothing was done yet.
    #[error(
        "nothing was done: a second person has to approve what {}, until {}, with `intent-gateway approval approve {}`",
        .0.what, .0.expires_at, .0.id
    )]
    Waits(Box<ApprovalBody>),
    /// The answer is not what was asked for.
    #[error("{url} answered something else than expected; is it an intent-gateway of this version?")]
    Unexpected {
        /// What was asked.
        url: String,
        /// What is wrong with it.
        #[source]
        cause: serde_json::Error,
    },
}

impl GatewayError {
    /// What a stream says in place of what was asked for.
    pub(crate) fn refused_in_stream(data: &str) -> Self {
        Self::Refused(Box::new(read_refusal(http::StatusCode::INTERNAL_SERVER_ERROR, data)))
    }

    /// Whether the gateway has nothing of that name.
    #[cfg(feature = "author")]
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused(refused) if refused.status == http::StatusCode::NOT_FOUND)
    }
}

/// A refusal in the shape that all have (docs/errors.md).
#[derive(Debug, Serialize)]
pub(crate) struct GatewayRefusal {
    #[serde(serialize_with = "status_number")]
    pub(crate) status: http::StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) request_id: Option<String>,
    pub(crate) violations: Vec<Violation>,
}

fn status_number<S: serde::Serializer>(status: &http::StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

impl fmt::Display for GatewayRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, code, message, request_id, violations } = self;
        // The message sums the violations up.
        let headline = if violations.is_empty() { message.trim_end_matches('.') } else { "refused" };
        write!(f, "{headline} [{code}, HTTP {}", status.as_u16())?;
        request_id.as_ref().map_or(Ok(()), |id| write!(f, ", request {id}"))?;
        f.write_str("]")?;
        violations.iter().try_for_each(|Violation { pointer, code, message }| {
            let at = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
            write!(f, "\n  {at}{message} [{code}]")
        })
    }
}

impl Gateway {
    /// A gateway at an address, with nobody's token. Over TLS, the files say who must vouch for it, and what it is shown.
    pub(crate) fn at(address: &str, tls: &TlsFiles) -> Result<Self, GatewayError> {
        Self::over(address, tls.read()?)
    }

    /// The same for what anybody may ask and is told: on this machine itself, whatever name the certificate is for.
    pub(crate) fn at_for_health(address: &str, tls: &TlsFiles) -> Result<Self, GatewayError> {
        match address.parse::<Uri>() {
            Ok(uri) if is_here(&uri) => Self::over(address, TlsConfig::builder().disable_verification(true).build()),
            _ => Self::at(address, tls),
        }
    }

    fn over(address: &str, tls: TlsConfig) -> Result<Self, GatewayError> {
        let fits = |uri: &Uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
        };
        if !address.parse::<Uri>().is_ok_and(|uri| fits(&uri)) {
            return Err(GatewayError::Address(address.to_owned()));
        }
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(ANSWER_TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false);
        let base = address.trim_end_matches('/').to_owned();
        Ok(Self { agent: config.build().into(), base, token: None, user: None })
    }

    /// The same, with a token.
    pub(crate) fn with_token(self, token: Secret) -> Self {
        Self { token: Some(token), ..self }
    }

    /// The same, on behalf of a user.
    pub(crate) fn for_user(self, user: Option<String>) -> Self {
        Self { user, ..self }
    }

    /// The address, without a slash at its end.
    pub(crate) fn address(&self) -> &str {
        &self.base
    }

    /// Whether what is said to it can be read on the way.
    pub(crate) fn is_in_the_clear(&self) -> bool {
        let Ok(uri) = self.base.parse::<Uri>() else { return false };
        uri.scheme_str() == Some("http") && !is_here(&uri)
    }

    /// Reads what is at a path.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, GatewayError> {
        self.send(Method::GET, path, String::new())
    }

    /// Reads what is at a path, if there is anything.
    #[cfg(feature = "author")]
    pub(crate) fn find<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, GatewayError> {
        match self.get(path) {
            Err(error) if error.is_not_found() => Ok(None),
            found => found.map(Some),
        }
    }

    /// Posts a document, or nothing.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<T, GatewayError> {
        self.send(Method::POST, path, body.map(ToString::to_string).unwrap_or_default())
    }

    /// Posts JSON byte for byte to the address itself, under headers and without the token; the status, whatever it
    /// is, and the answer.
    pub(crate) fn post_bytes(
        &self,
        headers: &[(&'static str, String)],
        body: &[u8],
    ) -> Result<(http::StatusCode, String), GatewayError> {
        let mut request = http::Request::post(&self.base).header(http::header::CONTENT_TYPE, JSON);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let (status, answer) = self.exchange(&self.base, request.body(body))?;
        Ok((status, String::from_utf8_lossy(&answer).into_owned()))
    }

    /// Sends a file to a path.
    pub(crate) fn send_file<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        media_type: &'static str,
        file: &[u8],
    ) -> Result<T, GatewayError> {
        let text = self.ask(method, path, Some(media_type), file)?;
        self.parse(path, &text)
    }

    /// Puts a document at a path.
    pub(crate) fn put(&self, path: &str, body: &serde_json::Value) -> Result<(), GatewayError> {
        self.ask(Method::PUT, path, Some(JSON), body.to_string().as_bytes()).map(drop)
    }

    /// Removes what is at a path.
    pub(crate) fn delete(&self, path: &str) -> Result<(), GatewayError> {
        self.ask(Method::DELETE, path, None, &[]).map(drop)
    }

    /// Reads what is at a path as it is written, whatever its form.
    pub(crate) fn get_text(&self, path: &str) -> Result<String, GatewayError> {
        let text = self.ask(Method::GET, path, None, &[])?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads the file that is at a path.
    pub(crate) fn get_file(&self, path: &str) -> Result<Vec<u8>, GatewayError> {
        self.ask(Method::GET, path, None, &[])
    }

    fn send<T: DeserializeOwned>(&self, method: Method, path: &str, body: String) -> Result<T, GatewayError> {
        let media_type = (!body.is_empty()).then_some(JSON);
        let text = self.ask(method, path, media_type, body.as_bytes())?;
        self.parse(path, &text)
    }

    fn parse<T: DeserializeOwned>(&self, path: &str, text: &[u8]) -> Result<T, GatewayError> {
        let url = || format!("{}{path}", self.base);
        serde_json::from_slice(text).map_err(|cause| GatewayError::Unexpected { url: url(), cause })
    }

    /// The head of a request: what it brings, for whom, and by which token.
    fn request(&self, method: Method, url: &str, media_type: Option<&'static str>) -> http::request::Builder {
        let mut request = http::Request::builder().method(method).uri(url);
        if let Some(media_type) = media_type {
            request = request.header(http::header::CONTENT_TYPE, media_type);
        }
        if let Some(user) = &self.user {
            request = request.header(USER_HEADER, user);
        }
        if let Some(token) = &self.token {
            request = request.header(http::header::AUTHORIZATION, format!("Bearer {}", token.expose()));
        }
        request
    }

    /// Asks, and reads the answer as it comes.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &str,
        media_type: Option<&'static str>,
        body: &[u8],
    ) -> Result<Vec<u8>, GatewayError> {
        let url = format!("{}{path}", self.base);
        let request = self.request(method, &url, media_type);
        let (status, answer) = self.exchange(&url, request.body(body))?;
        if !status.is_success() {
            return Err(GatewayError::Refused(Box::new(read_refusal(status, &String::from_utf8_lossy(&answer)))));
        }
        match serde_json::from_slice::<ApprovalBody>(&answer) {
            Ok(approval) if status == http::StatusCode::ACCEPTED => Err(GatewayError::Waits(Box::new(approval))),
            _ => Ok(answer),
        }
    }

    /// Sends a file, or nothing, to a path that answers with events, and hands each to `hear` by its name and its data, until that
    /// ends it with an answer. For as long as it takes: the gateway gives a sign of life in between.
    pub(crate) fn hear<T>(
        &self,
        path: &str,
        file: Option<(&'static str, &[u8])>,
        mut hear: impl FnMut(&str, &str) -> Option<Result<T, GatewayError>>,
    ) -> Result<T, GatewayError> {
        let url = format!("{}{path}", self.base);
        let no_answer = |cause| GatewayError::NoAnswer { url: url.clone(), cause: Box::new(cause) };
        let request = self.request(Method::POST, &url, file.map(|(media_type, _)| media_type));
        let request = request.header(http::header::ACCEPT, EVENTS);
        let request =
            request.body(file.map_or(&[][..], |(_, bytes)| bytes)).map_err(|error| no_answer(error.into()))?;
        let patient = self.agent.configure_request(request).timeout_global(None);
        let request = patient.timeout_recv_response(Some(ANSWER_TIMEOUT)).build();
        let mut response = self.agent.run(request).map_err(no_answer)?;
        if !response.status().is_success() {
            let answer = response.body_mut().with_config().limit(ANSWER_MAX_BYTES).read_to_vec().map_err(no_answer)?;
            let refusal = read_refusal(response.status(), &String::from_utf8_lossy(&answer));
            return Err(GatewayError::Refused(Box::new(refusal)));
        }
        let mut answer = BufReader::new(response.body_mut().as_reader());
        let (mut lines, mut line) = (EventLines::default(), String::new());
        loop {
            line.clear();
            let read = (&mut answer).take(ANSWER_MAX_BYTES).read_line(&mut line);
            if read.map_err(|cause| no_answer(cause.into()))? == 0 {
                break;
            }
            // A line that is cut off is of no event, and its rest begins none.
            if let Some((name, data)) = lines.take(line.trim_end_matches(['\n', '\r']))
                && let Some(outcome) = hear(&name, &data)
            {
                return outcome;
            }
        }
        Err(no_answer(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()))
    }

    /// What an event holds, read as JSON.
    pub(crate) fn parse_event<T: DeserializeOwned>(&self, path: &str, data: &str) -> Result<T, GatewayError> {
        self.parse(path, data.as_bytes())
    }

    fn exchange(
        &self,
        url: &str,
        request: http::Result<http::Request<impl ureq::AsSendBody>>,
    ) -> Result<(http::StatusCode, Vec<u8>), GatewayError> {
        let no_answer = |cause| GatewayError::NoAnswer { url: url.to_owned(), cause: Box::new(cause) };
        let mut response = self.agent.run(request.map_err(|error| no_answer(error.into()))?).map_err(no_answer)?;
        let answer = response.body_mut().with_config().limit(ANSWER_MAX_BYTES).read_to_vec().map_err(no_answer)?;
        Ok((response.status(), answer))
    }
}

/// Whether an address is this machine's own.
fn is_here(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whatever stands between may answer in its own shape.
fn read_refusal(status: http::StatusCode, text: &str) -> GatewayRefusal {
    match serde_json::from_str(text) {
        Ok(ErrorBody { error: ErrorDetail { code, message, request_id, violations, link_url: _, link_code: _ } }) => {
            GatewayRefusal { status, code, message, request_id: Some(request_id), violations }
        }
        Err(_) => GatewayRefusal {
            status,
            code: status.canonical_reason().unwrap_or("no reason given").to_owned(),
            message: format!("no gateway's answer: {:?}", text.chars().take(SHOWN_MAX_CHARS).collect::<String>()),
            request_id: None,
            violations: Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    #[test]
    fn only_an_address_of_the_web_is_one() {
        for address in ["http://127.0.0.1:8080", "https://gateway.example/", "http://[::1]:1/base"] {
            assert!(Gateway::at(address, &TlsFiles::default()).is_ok(), "{address}");
        }
        for address in ["", "gateway.example", "ftp://gateway.example", "https://", "https://gateway.example/?a=b"] {
            assert!(matches!(Gateway::at(address, &TlsFiles::default()), Err(GatewayError::Address(_))), "{address}");
        }
    }

    #[test]
    fn what_can_be_read_on_the_way_is_known() {
        for (address, clear) in [
            ("http://gateway.example", true),
            ("http://10.0.0.1:8080", true),
            ("https://gateway.example", false),
            ("http://127.0.0.1:8080", false),
            ("http://[::1]:8080", false),
            ("http://localhost:8080", false),
        ] {
            assert_eq!(
                Gateway::at(address, &TlsFiles::default()).expect(address).is_in_the_clear(),
                clear,
                "{address}"
            );
        }
    }

    #[test]
    fn a_refusal_is_told_whole() {
        let body = r#"{"error": {"code": "INVALID_REQUEST", "message": "auto.x: pricing.min (9) exceeds pricing.max (5).",
            "request_id": "r-1", "violations": [
            {"pointer": "/intents/0/pricing", "code": "MIN_ABOVE_MAX", "message": "auto.x: min exceeds max"},
            {"pointer": "", "code": "PROBE_NEEDED", "message": "no probe"}]}}"#;
        assert_eq!(
            read_refusal(StatusCode::BAD_REQUEST, body).to_string(),
            "refused [INVALID_REQUEST, HTTP 400, request r-1]\n  \
             /intents/0/pricing: auto.x: min exceeds max [MIN_ABOVE_MAX]\n  no probe [PROBE_NEEDED]"
        );
        let strange = read_refusal(StatusCode::BAD_GATEWAY, "<html>\u{1b}[31m");
        assert_eq!(strange.to_string(), "no gateway's answer: \"<html>\\u{1b}[31m\" [Bad Gateway, HTTP 502]");
    }
}
