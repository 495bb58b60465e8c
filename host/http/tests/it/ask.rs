//! Requests to the surface, and what came back.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use intent_gateway_http::auth::Role;
use serde_json::Value;

use crate::support::Gateway;

/// A request to be.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    role: Option<Role>,
    headers: HeaderMap,
    body: Bytes,
}

impl Ask {
    pub(crate) fn new(method: Method, path: &str) -> Self {
        Self { method, path: path.to_owned(), role: None, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    /// A POST of JSON text.
    pub(crate) fn json(path: &str, body: impl Into<String>) -> Self {
        Self::new(Method::POST, path).header("content-type", "application/json").body(body.into().into_bytes())
    }

    /// A POST of a component.
    pub(crate) fn wasm(path: &str, body: &'static [u8]) -> Self {
        Self::new(Method::POST, path).header("content-type", "application/wasm").body(body)
    }

    pub(crate) fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(name, value.parse().expect("a header value"));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn request(self, gateway: &Gateway) -> Request<Body> {
        let mut request = Request::new(Body::from(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.path.parse().expect("a path");
        *request.headers_mut() = self.headers;
        if let Some(role) = self.role {
            let value = format!("Bearer {}", gateway.token(role));
            request.headers_mut().insert("authorization", value.parse().expect("a header value"));
        }
        request
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.body))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// Status and code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        let json = self.json();
        let code = json["error"]["code"].as_str().unwrap_or_else(|| panic!("no refusal: {json}"));
        (self.status.as_u16(), code.to_owned())
    }
}

/// A refusal as [`Answer::refusal`] gives it.
pub(crate) fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
