//! The pages that a user sees on the way to a linked account: it is done, or why it is not. They load nothing and run nothing,
//! and every text goes through the template's escaping.

use std::sync::LazyLock;

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use intent_gateway_domain::digest::Digest;

/// What the page is laid out by.
const STYLE: &str = include_str!("../../templates/linking/page.css");
/// Its media type.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// Title of a page that says why an account was not linked.
const NOT_LINKED: &str = "The account was not linked";

/// What a browser may do with a page: lay it out by its own style sheet, and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Digest::of(STYLE.as_bytes()).as_bytes());
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

#[derive(Template)]
#[template(path = "linking/page.html")]
struct Page<'a> {
    style: &'a str,
    title: &'a str,
    text: &'a str,
    /// Code and request, for whoever asks for help.
    reference: Option<(&'a str, &'a str)>,
}

/// The account is linked.
pub(super) fn show_linked(partner_name: &str) -> Response {
    let title = format!("Your account at {partner_name} is linked");
    let text = "You can close this page and go on where you were.";
    render(StatusCode::OK, &Page { style: STYLE, title: &title, text, reference: None })
}

/// It is not, in the words of a refusal.
pub(crate) fn show_refused(status: StatusCode, code: &str, message: &str, request_id: &str) -> Response {
    let reference = Some((code, request_id));
    render(status, &Page { style: STYLE, title: NOT_LINKED, text: message, reference })
}

fn render(status: StatusCode, page: &Page<'_>) -> Response {
    // Rendering into memory does not fail; should it, the status still tells.
    let mut response = Response::new(Body::from(page.render().unwrap_or_default()));
    *response.status_mut() = status;
    protect(response.headers_mut());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    response
}

/// The headers of every answer to a user's browser. Addresses here hold tickets and codes: they are told to nobody.
pub(super) fn protect(headers: &mut HeaderMap) {
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn text(response: Response) -> String {
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        String::from_utf8(body.to_vec()).expect("UTF-8")
    }

    #[tokio::test]
    async fn names_are_text_and_nothing_is_loaded() {
        let page = text(show_linked("<script>alert(1)</script> & Sons")).await;
        assert!(
            page.contains("Your account at &#60;script&#62;alert(1)&#60;/script&#62; &#38; Sons is linked"),
            "{page}"
        );
        for loaded in ["<script", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(loaded), "{loaded}: {page}");
        }
        let page = text(show_refused(StatusCode::GONE, "LINK_EXPIRED", "Too old.", "r-1")).await;
        assert!(page.contains("Code LINK_EXPIRED, request r-1") && page.contains(NOT_LINKED), "{page}");
    }
}
