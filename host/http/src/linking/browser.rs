//! What a user's browser opens on the way to a linked account. These routes take no token: whoever has a link may open it,
//! and what comes back must come to the browser that began.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use intent_gateway_domain::secret::Secret;
use intent_gateway_linking::{LinkedAccount, PENDING_TTL_MS, SignInStart};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page;
use crate::App;
use crate::error::{Code, Refusal};
use crate::wire;

/// How long an authorization server may keep the gateway's metadata.
const DOCUMENT_CACHED: &str = "public, max-age=3600";
/// About what the metadata takes, bytes.
const DOCUMENT_BYTES: usize = 1_024;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(begin)).routes(routes!(finish))
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

/// Opens a link that a call's refusal or `POST /api/v1/links` gave out: sends the browser to the partner's authorization server.
///
/// It takes no token: it is for the user's own browser, which is known again by a cookie. Refusals are pages for the user.
#[utoipa::path(
    get, path = "/link/{ticket}", tag = "linking",
    params(("ticket" = String, Path, description = "The last part of the link, good for ten minutes")),
    security(()),
    responses(
        (
            status = 302, description = "To the partner's authorization server",
            headers(
                ("location" = String, description = "The authorization request"),
                ("set-cookie" = String, description = "By which the browser is known when it comes back; ten minutes"),
            )
        ),
        (status = "4XX", description = "`LINK_INVALID`, `LINK_EXPIRED`, `PARTNER_GONE`, `RATE_LIMITED`; a page", body = String, content_type = "text/html"),
        (status = 500, description = "`INTERNAL_ERROR`; a page", body = String, content_type = "text/html"),
        (
            status = "5XX",
            description = "`LINK_SERVER_UNREACHABLE`, `LINK_SERVER_UNUSABLE`, `LINK_NO_CLIENT`, `LINK_REFUSED`, `OVERLOADED`, \
                `TIMEOUT`; a page",
            body = String, content_type = "text/html"
        ),
    )
)]
async fn begin(State(app): State<Arc<App>>, Path(ticket): Path<String>) -> Result<Response, Refusal> {
    let SignInStart { location, cookie_name, cookie_value } = app.linking.begin(&ticket).await?;
    let seconds = PENDING_TTL_MS / 1_000;
    let cookie = set_cookie(&app, &cookie_name, cookie_value.expose(), seconds);
    let location = HeaderValue::from_str(&location)
        .map_err(|error| Refusal::new(Code::InternalError).internal(format!("an address is no header: {error}")))?;
    let mut response = Response::default();
    *response.status_mut() = StatusCode::FOUND;
    let headers = response.headers_mut();
    page::protect(headers);
    headers.insert(header::LOCATION, location);
    headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Where authorization servers send the user's browser back to. Ends with a page for the user.
///
/// It takes no token: the cookie of the browser that began stands in its place.
#[utoipa::path(
    get, path = "/link/callback", tag = "linking",
    params(
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
            description = "`LINK_REFUSED`, `LINK_SERVER_UNREACHABLE`, `LINK_SERVER_UNUSABLE`, `OVERLOADED`, `TIMEOUT`; a page",
            body = String, content_type = "text/html"
        ),
    )
)]
async fn finish(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let brought = |name: &str| cookie(&headers, name);
    let LinkedAccount { partner_name, cookie_name } =
        app.linking.finish(query.as_deref().unwrap_or_default(), brought).await?;
    let mut response = page::show_linked(&partner_name);
    let gone = set_cookie(&app, &cookie_name, "", 0);
    response.headers_mut().extend(gone.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Describes the gateway as an OAuth client, for authorization servers that take a client by the address of its metadata.
#[utoipa::path(
    get, path = "/.well-known/oauth-client/intent-gateway.json", tag = "linking",
    security(()),
    responses((status = 200, description = "The metadata (RFC 7591, section 2)", body = Object))
)]
async fn document(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let mut response = wire::json(StatusCode::OK, &app.linking.settings().document(), DOCUMENT_BYTES)?;
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
