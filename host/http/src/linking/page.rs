//! The pages that a user sees on the way to a linked account: whether to go it, where it leads, that it is done, or why it is
//! not. They load nothing and run nothing, and every text goes through the template's escaping.

use std::sync::LazyLock;

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use intent_gateway_domain::digest::Digest;
use intent_gateway_linking::Confirmation;

/// What the page is laid out by.
const STYLE: &str = include_str!("../../templates/linking/page.css");
/// Its media type.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// Title of a page that says why an account was not linked.
const NOT_LINKED: &str = "The account was not linked";

/// What a browser may do with a page: lay it out by its own style sheet, and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| policy("'none'"));
/// The same, and send its form back to the gateway.
static FORM_POLICY: LazyLock<String> = LazyLock::new(|| policy("'self'"));

fn policy(form_action: &str) -> String {
    let style = STANDARD.encode(Digest::of(STYLE.as_bytes()).as_bytes());
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action {form_action}; \
         frame-ancestors 'none'"
    )
}

#[derive(Template)]
#[template(path = "linking/page.html")]
struct Page<'a> {
    style: &'a str,
    title: &'a str,
    text: &'a str,
    /// Code and request, for whoever asks for help.
    reference: Option<(&'a str, &'a str)>,
}

#[derive(Template)]
#[template(path = "linking/ask.html")]
struct AskPage<'a> {
    style: &'a str,
    title: &'a str,
    reference: Option<(&'a str, &'a str)>,
    orchestrator: &'a str,
    code: &'a str,
    partner_name: &'a str,
    partner_host: &'a str,
    token: &'a str,
}

#[derive(Template)]
#[template(path = "linking/onward.html")]
struct OnwardPage<'a> {
    style: &'a str,
    title: &'a str,
    reference: Option<(&'a str, &'a str)>,
    location: &'a str,
}

/// Asks whether to link an account.
pub(super) fn ask(confirmation: &Confirmation) -> Response {
    let Confirmation { orchestrator, code, partner_name, partner_host, token, .. } = confirmation;
    let title = format!("Link your account at {partner_name}?");
    let token = token.expose();
    let page =
        AskPage { style: STYLE, title: &title, reference: None, orchestrator, code, partner_name, partner_host, token };
    render(StatusCode::OK, &page, &FORM_POLICY)
}

/// Leads to the authorization server.
pub(super) fn lead_on(location: &str, host: &str) -> Response {
    let title = format!("Going on to {host}");
    render(StatusCode::OK, &OnwardPage { style: STYLE, title: &title, reference: None, location }, &POLICY)
}

/// The account is linked.
pub(super) fn show_linked(partner_name: &str) -> Response {
    let title = format!("Your account at {partner_name} is linked");
    let text = "You can close this page and go on where you were.";
    render(StatusCode::OK, &Page { style: STYLE, title: &title, text, reference: None }, &POLICY)
}

/// It is not, in the words of a refusal.
pub(crate) fn show_refused(status: StatusCode, code: &str, message: &str, request_id: &str) -> Response {
    let reference = Some((code, request_id));
    render(status, &Page { style: STYLE, title: NOT_LINKED, text: message, reference }, &POLICY)
}

fn render(status: StatusCode, page: &impl Template, policy: &str) -> Response {
    // Rendering into memory does not fail; should it, the status still tells.
    let mut response = Response::new(Body::from(page.render().unwrap_or_default()));
    *response.status_mut() = status;
    protect(response.headers_mut(), policy);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    response
}

/// The headers of every answer to a user's browser. Addresses here hold tickets and codes: they are told to nobody.
fn protect(headers: &mut HeaderMap, policy: &str) {
    if let Ok(policy) = HeaderValue::from_str(policy) {
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
    use intent_gateway_domain::secret::Secret;

    async fn text(response: Response) -> String {
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        String::from_utf8(body.to_vec()).expect("UTF-8")
    }

    #[tokio::test]
    async fn a_user_is_asked_with_all_that_tells_a_foreign_link_and_nothing_goes_on_by_itself() {
        let confirmation = Confirmation {
            orchestrator: "assistant <b>".to_owned(),
            code: "K7Q-2XR".to_owned(),
            partner_name: "Cool & Sons".to_owned(),
            partner_host: "mcp.coolcar.example".to_owned(),
            token: Secret::new("0a1b"),
            cookie_name: "link-a".to_owned(),
            cookie_value: Secret::new("never-on-the-page"),
        };
        let response = ask(&confirmation);
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text").to_owned();
        assert!(policy.contains("form-action 'self'; frame-ancestors 'none'"), "{policy}");
        let page = text(response).await;
        for shown in ["assistant &#60;b&#62;", "K7Q-2XR", "Cool &#38; Sons", "mcp.coolcar.example", "value=\"0a1b\""] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        for absent in ["<script", "autofocus", "http-equiv", "never-on-the-page", "action="] {
            assert!(!page.contains(absent), "{absent}: {page}");
        }
        let response = lead_on("https://id.coolcar.example/authorize?a=b&c=\"d", "id.coolcar.example");
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text").to_owned();
        assert!(policy.contains("form-action 'none'"), "{policy}");
        let page = text(response).await;
        let address = "https://id.coolcar.example/authorize?a=b&#38;c=&#34;d";
        assert!(
            page.contains(&format!("content=\"0; url={address}\"")) && page.contains(&format!("href=\"{address}\"")),
            "{page}"
        );
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
