//! What a partner answers that lets nobody in: a way to sign in (RFC 6750, 3; MCP, Authorization), or a plain no.
//!
//! Not here: following that way. Whoever links accounts reads the challenge.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};
use intent_gateway_core::error::CallFailure;

/// Bytes of a challenge. One that is longer holds no address that anybody could follow.
const CHALLENGE_MAX_BYTES: usize = 4 * 1024;
const BEARER: &str = "bearer";
/// What a challenge says when the token is good and does not reach far enough (RFC 6750, 3.1).
const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// The failure that an answer of 401 or 403 stands for. A 403 without word of the token's scope is a refusal that no
/// sign-in would change.
pub(crate) fn auth_failure(status: StatusCode, headers: &HeaderMap) -> CallFailure {
    let values = headers.get_all(WWW_AUTHENTICATE).into_iter().filter_map(|value| value.to_str().ok());
    let challenge = values.filter_map(bearer_challenge).find(|challenge| challenge.len() <= CHALLENGE_MAX_BYTES);
    match challenge {
        Some(challenge) if status == StatusCode::UNAUTHORIZED || challenge.contains(INSUFFICIENT_SCOPE) => {
            CallFailure::SignInRequired { challenge: challenge.to_owned() }
        }
        _ => CallFailure::Unauthorized,
    }
}

/// The part of a header from its first `Bearer` challenge on. Several challenges may share one header, and their
/// parameters hold quoted texts with anything in them (RFC 9110, 11.6.1).
fn bearer_challenge(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let (mut quoted, mut escaped, mut at_start) = (false, false, true);
    for (place, &byte) in bytes.iter().enumerate() {
        if at_start && !quoted && is_bearer(&bytes[place..]) {
            return text.get(place..);
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        at_start = !quoted && (byte == b',' || (at_start && byte.is_ascii_whitespace()));
    }
    None
}

/// Whether the scheme `Bearer`, and not a longer word, stands at the front.
fn is_bearer(bytes: &[u8]) -> bool {
    let Some((scheme, rest)) = bytes.split_at_checked(BEARER.len()) else { return false };
    scheme.eq_ignore_ascii_case(BEARER.as_bytes())
        && rest.first().is_none_or(|next| next.is_ascii_whitespace() || *next == b',')
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn failure(status: u16, challenges: &[&str]) -> CallFailure {
        let values = challenges.iter().map(|text| HeaderValue::from_str(text).expect("a header"));
        let headers = values.map(|value| (WWW_AUTHENTICATE, value)).collect();
        auth_failure(status.try_into().expect("a status"), &headers)
    }

    fn sign_in(challenge: &str) -> CallFailure {
        CallFailure::SignInRequired { challenge: challenge.to_owned() }
    }

    #[test]
    fn a_bearer_challenge_asks_for_a_sign_in() {
        let metadata =
            r#"Bearer resource_metadata="https://p.example/.well-known/oauth-protected-resource", scope="book""#;
        assert_eq!(failure(401, &[metadata]), sign_in(metadata));
        assert_eq!(failure(401, &["bearer"]), sign_in("bearer"));
        assert_eq!(failure(401, &["Basic realm=\"x\"", metadata]), sign_in(metadata));
        assert_eq!(failure(401, &[&format!("Negotiate, Basic realm=\"x\", {metadata}")]), sign_in(metadata));
    }

    #[test]
    fn a_wider_grant_is_asked_for_with_403() {
        let scope = r#"Bearer error="insufficient_scope", scope="book""#;
        assert_eq!(failure(403, &[scope]), sign_in(scope));
        assert_eq!(failure(403, &[r#"Bearer realm="x""#]), CallFailure::Unauthorized);
    }

    #[test]
    fn anything_else_is_a_plain_no() {
        let hidden = r#"Basic realm="say \", Bearer x", Digest nonce="1""#;
        for challenges in [&[][..], &["Basic realm=\"Bearer\""], &["Bearers x"], &["Basic bearer=1"], &[hidden]] {
            assert_eq!(failure(401, challenges), CallFailure::Unauthorized, "{challenges:?}");
        }
        let long = format!("Bearer realm=\"{}\"", "x".repeat(CHALLENGE_MAX_BYTES));
        assert_eq!(failure(401, &[&long]), CallFailure::Unauthorized);
    }
}
