//! What holds for every page: what a browser may do with it, who may send its forms, how many are made at once.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_http::inside::Inside;

use crate::failure::Failed;

/// How long a page may take.
pub(crate) const PAGE_TIMEOUT: Duration = Duration::from_secs(60);

/// A page loads what this gateway has, sends its forms to this gateway, and is shown in no frame. Nothing runs that stands in a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // Not `no-referrer`: a browser would not say then from where a form comes.
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), geolocation=(), microphone=()"),
    ),
];

/// Puts the headers on an answer. What must not be kept says so; what may says for how long itself.
pub(crate) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses what changes something and does not come from a page of this gateway.
pub(crate) async fn from_own_pages(request: Request, next: Next) -> Response {
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    if changes && !is_own(request.headers()) {
        return Failed::ForeignForm.into_response();
    }
    next.run(request).await
}

/// Browsers of today say where a request comes from in a header that no page can set. Older ones name the origin of a form.
fn is_own(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get(SEC_FETCH_SITE) {
        return site == "same-origin";
    }
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else { return false };
    origin.split_once("://").is_some_and(|(_, of)| of == host)
}

/// Pages that are made at once, shared fairly by the networks that ask for them.
pub(crate) struct Places {
    pub(crate) slots: FairSlots<IpAddr>,
    /// How long one of them may take.
    pub(crate) timeout: Duration,
    pub(crate) inside: Inside,
}

/// Makes so many pages at once, each in its time.
pub(crate) async fn in_bounds(State(places): State<Arc<Places>>, request: Request, next: Next) -> Response {
    let Some(_place) = places.slots.try_take(&places.inside.network(&request)) else {
        return Failed::Busy.into_response();
    };
    let made = tokio::time::timeout(places.timeout, next.run(request)).await;
    made.unwrap_or_else(|_elapsed| Failed::Late.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_pages_send_forms() {
        let is_own = |given: &[(HeaderName, &'static str)]| {
            let pairs = given.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
            is_own(&pairs.collect::<HeaderMap>())
        };
        let (site, origin, host) = (SEC_FETCH_SITE, header::ORIGIN, header::HOST);
        assert!(is_own(&[(site.clone(), "same-origin")]));
        for foreign in ["cross-site", "same-site", "none", ""] {
            assert!(
                !is_own(&[(site.clone(), foreign), (origin.clone(), "https://gw"), (host.clone(), "gw")]),
                "{foreign}"
            );
        }
        assert!(is_own(&[(origin.clone(), "https://gw.example:8443"), (host.clone(), "gw.example:8443")]));
        for foreign in ["https://other.example", "null", "https://gw.example.other", "gw.example"] {
            assert!(!is_own(&[(origin.clone(), foreign), (host.clone(), "gw.example")]), "{foreign}");
        }
        assert!(!is_own(&[(host, "gw.example")]) && !is_own(&[(origin, "https://gw.example")]) && !is_own(&[]));
    }
}
