//! Refusals: one shape for every one of them, and the only place where the domain's errors become HTTP.
//!
//! A handler returns a [`Refusal`]. It travels in the response's extensions and is written out by the outermost
//! layer, which knows the request's identifier. What the caller reads and what the log gets are two things:
//! `message` is public, `internal` never leaves the process.

mod bookkeeping;
mod calling;
mod linking;
mod onboarding;
mod store;
pub(crate) use onboarding::{refuse_document, refuse_intent};

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
pub(crate) use intent_gateway_api::error::{ErrorBody, ErrorDetail};
use intent_gateway_domain::contract::{Descriptor, Refusal as ContractRefusal, Violation};
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::platform_code::{INVALID_INTENT, PlatformCode};
use intent_gateway_domain::ports::SignInLink;
use intent_gateway_domain::versions::ContractAdminError;
use intent_gateway_routing::pinned::PinnedFailure;
use intent_gateway_routing::search::SearchError;

/// Seconds after which a caller may try again when the gateway is busy.
const RETRY_AFTER_SECONDS: NonZeroU32 = NonZeroU32::MIN;
/// Seconds after which a caller may try again when the store is down. A server that restarts takes a few.
const STORE_RETRY_SECONDS: NonZeroU32 = NonZeroU32::new(2).expect("not zero");

/// The gateway's own codes. A contract's refusal carries a code of the intent's error table instead, and the
/// rejection of a component the loader's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request is not what the route takes.
    InvalidRequest,
    /// No usable token.
    InvalidAuth,
    /// The token has no end, or one too far from its issue.
    TokenLifeTooLong,
    /// An orchestrator's token on a connection that has shown no certificate.
    ClientCertificateNeeded,
    /// The token's role may not do this.
    Forbidden,
    /// There is no such intent.
    InvalidIntent,
    /// There is no such route, or nothing of that name.
    NotFound,
    /// The route has no such method.
    MethodNotAllowed,
    /// The body did not arrive in time.
    RequestTimeout,
    /// The body is too large.
    PayloadTooLarge,
    /// The body has another media type than the route takes.
    UnsupportedMediaType,
    /// The client asks too often.
    RateLimited,
    /// A fault of the gateway.
    InternalError,
    /// The gateway has as much to do as it can.
    Overloaded,
    /// What keeps the gateway's records is down.
    StoreUnavailable,
    NoLiveContract,
    /// The gateway is shutting down.
    Draining,
    /// The work took longer than a request may.
    Timeout,
}

impl Code {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 18] = [
        Self::InvalidRequest,
        Self::InvalidAuth,
        Self::TokenLifeTooLong,
        Self::ClientCertificateNeeded,
        Self::Forbidden,
        Self::InvalidIntent,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::RateLimited,
        Self::InternalError,
        Self::Overloaded,
        Self::StoreUnavailable,
        Self::NoLiveContract,
        Self::Draining,
        Self::Timeout,
    ];

    /// The code as the caller reads it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => PlatformCode::InvalidRequest.as_str(),
            Self::InvalidAuth => PlatformCode::InvalidAuth.as_str(),
            Self::TokenLifeTooLong => "TOKEN_LIFE_TOO_LONG",
            Self::ClientCertificateNeeded => "CLIENT_CERTIFICATE_NEEDED",
            Self::Forbidden => "FORBIDDEN",
            Self::InvalidIntent => INVALID_INTENT,
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::RateLimited => PlatformCode::RateLimited.as_str(),
            Self::InternalError => PlatformCode::InternalError.as_str(),
            Self::Overloaded => "OVERLOADED",
            Self::StoreUnavailable => "STORE_UNAVAILABLE",
            Self::NoLiveContract => "NO_LIVE_CONTRACT",
            Self::Draining => "DRAINING",
            Self::Timeout => "TIMEOUT",
        }
    }

    /// The status that goes with the code.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::InvalidRequest => StatusCode::BAD_REQUEST,
            Self::InvalidAuth | Self::TokenLifeTooLong => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::ClientCertificateNeeded => StatusCode::FORBIDDEN,
            Self::InvalidIntent | Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Overloaded | Self::StoreUnavailable | Self::NoLiveContract | Self::Draining => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The message where a route has nothing finer to say; also the example in the OpenAPI document.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::InvalidRequest => "The request is not valid.",
            Self::InvalidAuth => "A valid bearer token is required.",
            Self::ClientCertificateNeeded => "Orchestrators show a client certificate here, on the connection.",
            Self::TokenLifeTooLong => "The token has no end, or lives longer than the gateway takes.",
            Self::Forbidden => "The token's role may not call this route.",
            Self::InvalidIntent => "There is no such intent.",
            Self::NotFound => "There is nothing at this address.",
            Self::MethodNotAllowed => "The route has no such method.",
            Self::RequestTimeout => "The request's body did not arrive in time.",
            Self::PayloadTooLarge => "The request's body is too large.",
            Self::UnsupportedMediaType => "The request's body has a media type that the route does not take.",
            Self::RateLimited => "Too many requests; try again later.",
            Self::InternalError => {
                "The gateway failed; the platform team can find the cause by the request's identifier."
            }
            Self::Overloaded => "The gateway is busy; try again shortly.",
            Self::StoreUnavailable => "The gateway's store is down; repeat the same request shortly.",
            Self::NoLiveContract => "No contract is live.",
            Self::Draining => "The gateway is shutting down.",
            Self::Timeout => "The gateway did not finish in time.",
        }
    }
}

/// A refused request.
#[derive(Clone, Debug)]
pub struct Refusal {
    status: StatusCode,
    code: Cow<'static, str>,
    message: Cow<'static, str>,
    violations: Box<[Violation]>,
    /// For the log alone.
    internal: Option<Box<str>>,
    /// What the caller lacks, as `WWW-Authenticate` says it (RFC 6750, section 3).
    challenge: Option<&'static str>,
    /// Seconds after which it is worth trying again.
    retry_after_seconds: Option<NonZeroU32>,
    /// Where the user signs in at the partner.
    link: Option<Box<SignInLink>>,
    /// Whether a person reads it in a browser.
    for_browsers: bool,
}

impl Refusal {
    /// A refusal with the code's own message.
    #[must_use]
    pub fn new(code: Code) -> Self {
        Self {
            status: code.status(),
            code: code.as_str().into(),
            message: code.message().into(),
            violations: Box::default(),
            internal: None,
            challenge: None,
            retry_after_seconds: match code {
                Code::Overloaded => Some(RETRY_AFTER_SECONDS),
                Code::StoreUnavailable => Some(STORE_RETRY_SECONDS),
                _ => None,
            },
            link: None,
            for_browsers: false,
        }
    }

    /// With a code of its own, under the status of the one it was made with.
    #[must_use]
    pub(crate) fn with_code(mut self, code: &'static str) -> Self {
        self.code = code.into();
        self
    }

    /// With a code of its own, for what was understood and did not pass (422).
    #[must_use]
    pub(crate) fn unprocessable(self, code: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, code: code.into(), ..self }
    }

    /// With a message of its own.
    #[must_use]
    pub fn message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = message.into();
        self
    }

    /// With what is wrong at which place.
    #[must_use]
    pub fn violations(mut self, violations: Vec<Violation>) -> Self {
        self.violations = violations.into();
        self
    }

    /// With a detail for the log.
    #[must_use]
    pub(crate) fn internal(mut self, detail: impl Into<String>) -> Self {
        self.internal = Some(detail.into().into());
        self
    }

    /// With a challenge for `WWW-Authenticate`.
    #[must_use]
    pub fn challenge(mut self, challenge: &'static str) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// With the time after which it is worth trying again, in whole seconds.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.retry_after_seconds = u32::try_from(seconds).map_or(Some(NonZeroU32::MAX), NonZeroU32::new);
        self
    }

    /// With where the user signs in at the partner.
    #[must_use]
    pub(crate) fn link(mut self, link: Option<Box<SignInLink>>) -> Self {
        self.link = link;
        self
    }

    /// As a page for a person.
    #[must_use]
    pub(crate) fn for_browsers(mut self) -> Self {
        self.for_browsers = true;
        self
    }

    /// For an answer that something below the handlers refused without a [`Refusal`], by its status.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let code = Code::ALL.into_iter().find(|code| code.status() == status);
        let code = code.unwrap_or(if status.is_client_error() { Code::InvalidRequest } else { Code::InternalError });
        Self { status, ..Self::new(code) }
    }

    /// What a contract refuses, with the status and the meaning that its error table gives to the code.
    fn of_contract(refusal: ContractRefusal, descriptor: Option<&Descriptor>) -> Self {
        let row = descriptor.and_then(|descriptor| descriptor.error(&refusal.code));
        // A table may give an advisory status to a code; a refusal is an error whatever the table says.
        let status = row
            .and_then(|row| StatusCode::from_u16(row.http_status).ok())
            .filter(|status| status.is_client_error() || status.is_server_error())
            .unwrap_or(StatusCode::BAD_REQUEST);
        let message = match row {
            Some(row) if !row.meaning.is_empty() => Cow::Owned(row.meaning.clone()),
            _ => Code::InvalidRequest.message().into(),
        };
        let refused = Self::new(Code::InvalidRequest).message(message).violations(refusal.violations);
        Self { status, code: refusal.code.into(), ..refused }
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn detail(&self) -> Option<&str> {
        self.internal.as_deref()
    }

    /// What the caller reads.
    pub(crate) fn body(&self, request_id: &str) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                code: self.code.clone().into_owned(),
                message: self.message.clone().into_owned(),
                request_id: request_id.to_owned(),
                violations: self.violations.to_vec(),
                link_url: self.link.as_ref().map(|link| link.url.clone()),
                link_code: self.link.as_ref().map(|link| link.code.clone()),
            },
        }
    }

    /// Writes the refusal out. `Allow` is added by the router, outside every layer.
    pub(crate) fn render(self, request_id: &str) -> Response {
        let mut response = if self.for_browsers {
            crate::linking::show_refused(self.status, &self.code, &self.message, request_id)
        } else {
            self.json(request_id)
        };
        let headers = response.headers_mut();
        if let Some(challenge) = self.challenge {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, seconds.get().into());
        }
        // Some statuses may be kept by default (RFC 9110, section 15.1); what is refused now may be granted next.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    fn json(&self, request_id: &str) -> Response {
        let body = self.body(request_id);
        // Strings and vectors of strings always serialise.
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = Response::new(axum::body::Body::from(body));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

/// For the log.
pub(crate) const STALE: &str =
    "the catalogue of contracts could not be read for longer than `contracts.max_stale_minutes`";

impl From<PinnedFailure<SearchError>> for Refusal {
    fn from(failed: PinnedFailure<SearchError>) -> Self {
        let descriptor = failed.contract.as_ref().map(|contract| contract.descriptor());
        match failed.error {
            SearchError::InvalidIntent(_) => Self::new(Code::InvalidIntent),
            SearchError::Stale => Self::new(Code::StoreUnavailable).internal(STALE),
            SearchError::Refused(refusal) => Self::of_contract(refusal, descriptor),
            SearchError::Overloaded { wait_ms } => {
                let refused = Self::new(Code::Overloaded).internal("no place for a call to any of the partners");
                wait_ms.map_or(refused.clone(), |wait_ms| refused.retry_after(Duration::from_millis(wait_ms)))
            }
            SearchError::Contract(fault) => fault.into(),
        }
    }
}

impl From<ContractFault> for Refusal {
    fn from(fault: ContractFault) -> Self {
        if let ContractFault::Busy(_) = fault {
            return Self::new(Code::Overloaded).internal(fault.to_string());
        }
        let refusal = Self::new(Code::InternalError)
            .message("The contract of the intent failed; the fault is recorded against its version.")
            .internal(fault.to_string());
        Self { status: StatusCode::BAD_GATEWAY, code: fault.code().into(), ..refusal }
    }
}

impl From<ContractAdminError> for Refusal {
    fn from(error: ContractAdminError) -> Self {
        match error {
            ContractAdminError::Rejected(failure) if failure.code == Code::InternalError.as_str() => {
                Self::new(Code::InternalError).internal(failure.message)
            }
            ContractAdminError::Rejected(failure) => {
                Self::new(Code::InvalidRequest).message(failure.message).unprocessable(failure.code)
            }
            ContractAdminError::Overloaded => Self::new(Code::Overloaded)
                .message("Several components of yours are being examined; wait until one of them is answered."),
            ContractAdminError::ShuttingDown => Self::new(Code::Draining),
            ContractAdminError::Unknown(name) => {
                Self::new(Code::NotFound).message(format!("No contract `{name}` is loaded."))
            }
            ContractAdminError::Store { trouble, ref message } => Self::from(trouble).internal(message.clone()),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
