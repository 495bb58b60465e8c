//! Writes bodies as JSON.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::body::JSON;
use crate::error::{Code, Refusal};

/// A buffer for the small answers, bytes.
pub(crate) const SMALL_BYTES: usize = 1024;

/// Writes a body as JSON into a buffer of the capacity given.
pub(crate) fn json(status: StatusCode, body: &impl Serialize, capacity: usize) -> Result<Response, Refusal> {
    let mut bytes = Vec::with_capacity(capacity);
    serde_json::to_writer(&mut bytes, body)
        .map_err(|error| Refusal::new(Code::InternalError).internal(format!("an answer did not serialise: {error}")))?;
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    Ok(response)
}

/// The same as an answer that no cache keeps: it is about one person.
pub(crate) fn private(body: &impl Serialize, capacity: usize) -> Result<Response, Refusal> {
    let mut response = json(StatusCode::OK, body, capacity)?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
