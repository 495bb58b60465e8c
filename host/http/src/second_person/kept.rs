//! A request as it is kept, and made again when it is carried out.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use http::request::Parts;
use http::{HeaderName, Uri, header};
use intent_gateway_domain::approval::Approval;
use serde::{Deserialize, Serialize};

use super::{Approved, KEPT_TARGET_MAX_BYTES, internal};
use crate::acting::USER;
use crate::auth::{Caller, Role, Scopes};
use crate::client::{Network, Peer};
use crate::error::{Code, Refusal};

/// Headers that the operations read, besides the token.
const KEPT_HEADERS: [HeaderName; 2] = [header::CONTENT_TYPE, USER];

/// A request as it is sealed. Its token is not in it.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptRequest {
    subject: String,
    issuer: Option<String>,
    /// As a token names them.
    scopes: String,
    /// The network that it was asked from.
    from: Option<IpAddr>,
    /// Path and query.
    target: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl KeptRequest {
    pub(super) fn of(caller: &Caller, head: &Parts, body: &[u8]) -> Result<Self, Refusal> {
        let refuse = |message: &'static str| Refusal::new(Code::InvalidRequest).message(message);
        let target = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        if target.len() > KEPT_TARGET_MAX_BYTES {
            return Err(refuse("The address of what waits for a second person is too long."));
        }
        let mut headers = Vec::new();
        for name in KEPT_HEADERS {
            for value in head.headers.get_all(&name) {
                let value = value.to_str().map_err(|_| refuse("A header is no text."))?;
                headers.push((name.as_str().to_owned(), value.to_owned()));
            }
        }
        Ok(Self {
            subject: caller.subject.clone(),
            issuer: caller.issuer.as_deref().map(str::to_owned),
            scopes: caller.scopes.as_ref().map(Scopes::to_string).unwrap_or_default(),
            from: head.extensions.get::<Network>().map(|network| network.0),
            target,
            headers,
            body: std::str::from_utf8(body).map_err(|_| refuse("The body is no text."))?.to_owned(),
        })
    }

    pub(super) fn query(&self) -> Option<String> {
        self.target.parse::<Uri>().ok()?.query().map(str::to_owned)
    }

    /// The user whom it names.
    pub(super) fn user(&self) -> Option<String> {
        self.headers.iter().find(|(name, _)| *name == USER.as_str()).map(|(_, user)| user.clone())
    }

    pub(super) fn body(&self) -> &str {
        &self.body
    }

    /// The request, as whoever asked for it sent it and from there, with the word of whoever approves.
    pub(super) fn into_request(self, approval: &Approval, by: String) -> Result<Request, Refusal> {
        let Self { subject, issuer, scopes, from, target, headers, body } = self;
        let caller = Caller {
            subject,
            role: Role::Admin,
            issuer: issuer.map(Arc::from),
            session: None,
            scopes: Some(Scopes::parse(&scopes).unwrap_or_default()),
            token_life: Duration::ZERO,
        };
        let mut request = http::Request::builder().method(approval.method.as_str()).uri(target);
        request = request.extension(Approved { caller, by });
        if let Some(from) = from {
            request = request.extension(Peer(from));
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.body(Body::from(body)).map_err(|error| internal(&error))
    }
}
