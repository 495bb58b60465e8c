//! What a partner answers that lets nobody in: a way to sign in (RFC 6750, 3; MCP, Authorization), or a plain no.
//!
//! Not here: following that way, which [`crate::oauth`] does for whoever links accounts.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};
use http_auth::parser::ChallengeParser;
use intent_gateway_domain::error::CallFailure;

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

/// What a challenge says of the way to a token.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// Where the resource describes itself (RFC 9728, 5.1).
    pub(crate) resource_metadata: Option<String>,
    /// The scopes that are needed, separated by spaces (RFC 6750, 3).
    pub(crate) scope: Option<String>,
}

/// The parameters of a challenge. One that is not well formed says nothing.
pub(crate) fn parameters(challenge: &str) -> Parameters {
    let Some(Ok(first)) = ChallengeParser::new(challenge).next() else { return Parameters::default() };
    let value = |wanted: &str| {
        let (_, value) = first.params.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        Some(value.to_unescaped())
    };
    Parameters { resource_metadata: value("resource_metadata"), scope: value("scope") }
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
    use proptest::prelude::*;

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
    fn the_parameters_of_the_first_challenge_are_read() {
        let read = |text| {
            let Parameters { resource_metadata, scope } = parameters(text);
            (resource_metadata, scope)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            read(r#"Bearer realm="a, scope=\"x\"", Scope="book \"it\"", resource_metadata="https://p.example/a,b""#),
            (text("https://p.example/a,b"), text(r#"book "it""#))
        );
        assert_eq!(read("Bearer scope=book , error=invalid_token"), (None, text("book")));
        assert_eq!(read(r#"Bearer realm="x", Basic scope="y""#), (None, None));
        for nothing in ["Bearer", "Bearer, Basic", "Bearer abc==", r#"Bearer scope="book"#, "", "="] {
            assert_eq!(read(nothing), (None, None), "{nothing}");
        }
    }

    proptest! {
        /// Whatever a partner writes is read or passed over, and what is quoted by the rules is read as it was.
        #[test]
        fn any_challenge_is_read(text in "\\PC{0,80}", scope in "[ -~]{0,40}") {
            parameters(&text);
            parameters(&format!("Bearer {text}"));
            let quoted = scope.replace('\\', r"\\").replace('"', "\\\"");
            let read = parameters(&format!(r#"Bearer realm="x", scope="{quoted}", error="y""#));
            prop_assert_eq!(read.scope, Some(scope));
        }
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
