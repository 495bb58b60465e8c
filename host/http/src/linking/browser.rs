//! What a user's browser opens on the way to a linked account. These routes take no token: whoever has a link may open it,
//! and what comes back must come to the browser that began.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use intent_gateway_domain::secret::Secret;
use intent_gateway_linking::{Confirmation, LinkedAccount, PENDING_TTL_MS, SignInStart};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page;
use crate::App;
use crate::body;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Bytes of such a form.
const FORM_MAX_BYTES: usize = 1_024;
/// How long an authorization server may keep the gateway's metadata.
const DOCUMENT_CACHED: &str = "public, max-age=3600";
/// About what the metadata takes, bytes.
const DOCUMENT_BYTES: usize = 1_024;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(ask, begin)).routes(routes!(finish)).routes(routes!(finish_outdated))
}

pub(crate) fn document_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(document))
}

/// Has every refusal of these routes written as a page, also those of the layers around them.
pub(crate) async fn in_pages(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response.extensions_mut().insert(refusal.for_browsers());
    }
    response
}

/// Opens a link that a call's refusal or `POST /api/v1/links` gave out: asks the user whether to link an account.
///
/// The page names orchestrator, partner and the link's code, and has a form that goes to the same address. It takes no token:
/// it is for the user's own browser, which is known again by a cookie. Nothing begins here, so that whatever looks at
/// addresses ahead of their reader uses nothing up. Refusals are pages for the user.
#[utoipa::path(
    get, path = "/link/{ticket}", operation_id = "show_link_page", tag = "linking",
    params(("ticket" = String, Path, description = "The last part of the link, good for ten minutes")),
    security(()),
    responses(
        (
            status = 200, description = "The question; a page", body = String, content_type = "text/html",
            headers(("set-cookie" = String, description = "By which the browser is known that is asked; ten minutes"))
        ),
        (
            status = "4XX",
            description = "`LINK_INVALID`, `LINK_USED`, `LINK_EXPIRED`, `PARTNER_GONE`, `RATE_LIMITED`; a page",
            body = String, content_type = "text/html"
        ),
        (status = 500, description = "`INTERNAL_ERROR`; a page", body = String, content_type = "text/html"),
        (status = "5XX", description = "`OVERLOADED`, `STORE_UNAVAILABLE`, `TIMEOUT`; a page", body = String, content_type = "text/html"),
    )
)]
async fn ask(State(app): State<Arc<App>>, Path(ticket): Path<String>) -> Result<Response, Refusal> {
    let confirmation = app.linking.confirmation(&ticket).await?;
    let Confirmation { cookie_name, cookie_value, .. } = &confirmation;
    let cookie = set_cookie(&app, cookie_name, cookie_value.expose(), PENDING_TTL_MS / 1_000);
    let mut response = page::ask(&confirmation);
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Begins to link with the user's consent: uses the link up, and sends the browser to the partner's authorization server.
///
/// It takes the form of the page at the same address, from the browser that was asked there and from no other. Refusals are
/// pages for the user.
#[utoipa::path(
    post, path = "/link/{ticket}", operation_id = "begin_link", tag = "linking",
    params(("ticket" = String, Path, description = "The last part of the link, good for ten minutes")),
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "The page's form: `token`"),
    security(()),
    responses(
        (
            status = 200, description = "A page that leads to the partner's authorization server by itself", body = String,
            content_type = "text/html",
            headers(("set-cookie" = String, description = "By which the browser is known when it comes back; ten minutes"))
        ),
        (
            status = "4XX",
            description = "`LINK_INVALID`, `LINK_USED`, `LINK_EXPIRED`, `LINK_OTHER_BROWSER`, `PARTNER_GONE`, `PAYLOAD_TOO_LARGE`, \
                `UNSUPPORTED_MEDIA_TYPE`, `RATE_LIMITED`; a page",
            body = String, content_type = "text/html"
        ),
        (status = 500, description = "`INTERNAL_ERROR`; a page", body = String, content_type = "text/html"),
        (
            status = "5XX",
            description = "`LINK_SERVER_UNREACHABLE`, `LINK_SERVER_UNUSABLE`, `LINK_NO_CLIENT`, `LINK_REFUSED`, `OVERLOADED`, `STORE_UNAVAILABLE`, \
                `TIMEOUT`; a page",
            body = String, content_type = "text/html"
        ),
    )
)]
async fn begin(State(app): State<Arc<App>>, Path(ticket): Path<String>, request: Request) -> Result<Response, Refusal> {
    let (head, body) = request.into_parts();
    body::require_media_type(&head.headers, body::FORM)?;
    let form = body::read(body, FORM_MAX_BYTES, app.limits.body_timeout).await?;
    // What the page's form sends is letters and digits, which no encoding changes.
    let token = std::str::from_utf8(&form).ok().and_then(|form| form.strip_prefix("token="));
    let token = Secret::new(token.unwrap_or_default());
    let brought = |name: &str| cookie(&head.headers, name);
    let SignInStart { location, host, cookie_name, cookie_value } = app.linking.begin(&ticket, &token, brought).await?;
    let cookie = set_cookie(&app, &cookie_name, cookie_value.expose(), PENDING_TTL_MS / 1_000);
    // No redirect: it would follow a form, and some browsers let a form lead nowhere but to what the policy of its page
    // names, the server's own redirects included.
    let mut response = page::lead_on(&location, &host);
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Where one authorization server sends the user's browser back to. Ends with a page for the user.
///
/// It takes no token: the cookie of the browser that began stands in its place. Each authorization server has an address of
/// its own, and an answer at another one is refused.
#[utoipa::path(
    get, path = "/link/callback/{issuer}", operation_id = "finish_link", tag = "linking",
    params(
        ("issuer" = String, Path, description = "Names the authorization server: a digest of its issuer"),
        ("state" = Option<String>, Query, description = "The request's own"),
        ("code" = Option<String>, Query, description = "What becomes tokens"),
        ("iss" = Option<String>, Query, description = "The issuer (RFC 9207)"),
        ("error" = Option<String>, Query, description = "Why nothing was granted"),
    ),
    security(()),
    responses(
        (status = 200, description = "The account is linked; a page", body = String, content_type = "text/html"),
        (
            status = "4XX",
            description = "`LINK_CALLBACK_INVALID`, `LINK_NOT_UNDER_WAY`, `LINK_OTHER_BROWSER`, `LINK_WRONG_ISSUER`, \
                `LINK_DENIED`, `PARTNER_GONE`, `RATE_LIMITED`; a page",
            body = String, content_type = "text/html"
        ),
        (status = 500, description = "`INTERNAL_ERROR`; a page", body = String, content_type = "text/html"),
        (
            status = "5XX",
            description = "`LINK_REFUSED`, `LINK_SERVER_UNREACHABLE`, `LINK_SERVER_UNUSABLE`, `OVERLOADED`, `STORE_UNAVAILABLE`, `TIMEOUT`; a page",
            body = String, content_type = "text/html"
        ),
    )
)]
async fn finish(
    State(app): State<Arc<App>>,
    Path(issuer): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    end(&app, Some(&issuer), query, &headers).await
}

/// Where all authorization servers sent browsers back to before each had an address of its own. Links nothing.
#[utoipa::path(
    get, path = "/link/callback", operation_id = "refuse_outdated_link", tag = "linking",
    security(()),
    responses(
        (
            status = "4XX",
            description = "`LINK_OUTDATED`, `LINK_CALLBACK_INVALID`, `LINK_NOT_UNDER_WAY`, `LINK_OTHER_BROWSER`, \
                `RATE_LIMITED`; a page",
            body = String, content_type = "text/html"
        ),
        (status = 500, description = "`INTERNAL_ERROR`; a page", body = String, content_type = "text/html"),
        (status = "5XX", description = "`OVERLOADED`, `STORE_UNAVAILABLE`, `TIMEOUT`; a page", body = String, content_type = "text/html"),
    )
)]
async fn finish_outdated(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    end(&app, None, query, &headers).await
}

async fn end(app: &App, issuer: Option<&str>, query: Option<String>, headers: &HeaderMap) -> Result<Response, Refusal> {
    let brought = |name: &str| cookie(headers, name);
    let LinkedAccount { partner_name, cookie_name } =
        app.linking.finish(issuer, query.as_deref().unwrap_or_default(), brought).await?;
    let mut response = page::show_linked(&partner_name);
    let gone = set_cookie(app, &cookie_name, "", 0);
    response.headers_mut().extend(gone.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Describes the gateway as an OAuth client, for authorization servers that take a client by the address of its metadata.
#[utoipa::path(
    get, path = "/.well-known/oauth-client/{document}", operation_id = "show_client_metadata", tag = "linking",
    params(("document" = String, Path, description = "Names the authorization server by a digest of its issuer")),
    security(()),
    responses(
        (status = 200, description = "The metadata (RFC 7591, section 2)", body = Object),
        (status = 404, description = "`NOT_FOUND`: no document has this name", body = ErrorBody),
    )
)]
async fn document(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Response, Refusal> {
    let document = app.linking.settings().document(&name).ok_or_else(|| Refusal::new(Code::NotFound))?;
    let mut response = wire::json(StatusCode::OK, &document, DOCUMENT_BYTES)?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(DOCUMENT_CACHED));
    Ok(response)
}

/// A cookie for the browser alone: no script reads it, and no other site's page sends it along but by leading there.
fn set_cookie(app: &App, name: &str, value: &str, seconds: u64) -> Option<HeaderValue> {
    let secure = if app.linking.settings().is_https() { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    // Name and value are letters, digits, `-` and `_`.
    HeaderValue::from_str(&text).ok()
}

/// A cookie that the browser has brought.
fn cookie(headers: &HeaderMap, name: &str) -> Option<Secret> {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, value)| Secret::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("xlink-a=1; link-a=2;link-ab=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("link-b=4=5"));
        let found = |name: &str| cookie(&headers, name).map(|value| value.expose().to_owned());
        assert_eq!(found("link-a").as_deref(), Some("2"));
        assert_eq!(found("link-b").as_deref(), Some("4=5"));
        assert_eq!(found("link-"), None);
    }
}
