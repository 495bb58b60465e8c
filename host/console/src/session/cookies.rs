//! The cookies that hold sessions. Their names begin with `__Host-`: a browser takes such a cookie over TLS alone (or from this very
//! machine), for one host, and no page of a sibling host can set it.

use cookie::{Cookie, SameSite};
use http::{HeaderMap, HeaderValue, header};
use intent_gateway_domain::secret::Secret;

use super::{Face, LIFE_MAX_MS};

const fn name(face: Face) -> &'static str {
    match face {
        Face::Team => "__Host-console",
        Face::Partner => "__Host-dashboard",
    }
}

/// What the browser has brought. One that stands twice is as good as none.
pub(crate) fn cookie_of(headers: &HeaderMap, face: Face) -> Option<Secret> {
    find(headers, name(face))
}

fn find(headers: &HeaderMap, name: &str) -> Option<Secret> {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut found = texts.flat_map(Cookie::split_parse).filter_map(Result::ok).filter(|cookie| cookie.name() == name);
    let (cookie, None) = (found.next()?, found.next()) else { return None };
    Some(Secret::new(cookie.value()))
}

/// Has the browser hold a session.
pub(crate) fn session_cookie(face: Face, held: &Secret) -> Option<HeaderValue> {
    set(name(face), held.expose(), i64::try_from(LIFE_MAX_MS / 1_000).unwrap_or_default())
}

/// What holds a sign-in that is under way at an issuer.
const UNDER_WAY: &str = "__Host-console-sign-in";

/// What the browser has held while it was there.
pub(crate) fn under_way_of(headers: &HeaderMap) -> Option<Secret> {
    find(headers, UNDER_WAY)
}

/// Has the browser hold it, for so many seconds; 0 has it forget it.
pub(crate) fn under_way_cookie(value: &str, seconds: i64) -> Option<HeaderValue> {
    set(UNDER_WAY, value, seconds)
}

/// Has the browser forget it.
pub(crate) fn end_cookie(face: Face) -> Option<HeaderValue> {
    set(name(face), "", 0)
}

fn set(name: &'static str, value: &str, seconds: i64) -> Option<HeaderValue> {
    let cookie = Cookie::build((name, value))
        .path("/")
        .secure(true)
        .http_only(true)
        // A link from elsewhere leads to a page; nothing else that comes from elsewhere brings the session.
        .same_site(SameSite::Lax)
        .max_age(cookie::time::Duration::seconds(seconds));
    HeaderValue::from_str(&cookie.build().to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_by_its_whole_name_and_only_once() {
        let found = |texts: &[&'static str]| {
            let mut headers = HeaderMap::new();
            texts.iter().for_each(|text| {
                headers.append(header::COOKIE, HeaderValue::from_static(text));
            });
            cookie_of(&headers, Face::Team).map(|held| held.expose().to_owned())
        };
        assert_eq!(found(&["a=1; __Host-console=2; x__Host-console=3"]).as_deref(), Some("2"));
        assert_eq!(found(&["a=1", "__Host-console=2"]).as_deref(), Some("2"));
        assert_eq!(found(&["__Host-dashboard=2"]), None);
        assert_eq!(found(&["__Host-console=2; __Host-console=3"]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_session_is_for_this_host_and_no_script() {
        let set = session_cookie(Face::Partner, &Secret::new("0a1b")).expect("a header");
        let text = set.to_str().expect("text");
        assert!(text.starts_with("__Host-dashboard=0a1b; "), "{text}");
        for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age=43200"] {
            assert!(text.split("; ").any(|one| one == part), "{part}: {text}");
        }
        assert!(!text.contains("Domain"), "{text}");
        assert!(end_cookie(Face::Team).expect("a header").to_str().expect("text").contains("Max-Age=0"));
    }
}
