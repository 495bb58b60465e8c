//! What partners' authorization servers answer: challenges, tokens, metadata, registrations (RFC 6750, 6749, 8414, 7591).
//!
//! What is taken keeps every bound and can be sent; what is refused says nothing of what is secret; a challenge's parameters
//! are those that were quoted in it.
//!
//! Input: which of the four; the HTTP status, less 200; the body, or the value of the header.

use std::sync::LazyLock;

use http::header::{HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode, Uri};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_linking::{AuthMethod, LinkFailure};
use intent_gateway_partners::fuzzing::{
    read_challenge, read_parameters, read_registration, read_server, read_token_answer,
};
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde_json::Value;

/// Bytes of a token, and of the identifier and the secret of a client.
const TOKEN_MAX_BYTES: usize = 16 * 1024;
const CREDENTIAL_MAX_BYTES: usize = 4 * 1024;
/// A year, seconds.
const EXPIRES_IN_MAX_SECS: u64 = 366 * 86_400;
/// Shorter texts may stand in a message by chance.
const SECRET_MIN_BYTES: usize = 8;

/// It calls nobody here: its policy says which addresses may be called.
static CLIENT: LazyLock<(tokio::runtime::Runtime, PartnerClient)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let client = runtime.block_on(async { PartnerClient::new(&PartnerClientConfig::default()).expect("the defaults") });
    (runtime, client)
});

/// Reads one answer.
///
/// # Panics
/// Where what was read breaks a bound, or is not what the answer says.
pub(crate) fn run(data: &[u8]) {
    let [which, status, body @ ..] = data else { return };
    let status = StatusCode::from_u16(200 + u16::from(*status)).expect("between 200 and 455");
    match which % 4 {
        0 => check_challenge(status, body),
        1 => check_token(status, body),
        2 => check_server(body),
        _ => check_registration(status, body),
    }
}

fn check_challenge(status: StatusCode, text: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(text) else { return };
    let headers = HeaderMap::from_iter([(WWW_AUTHENTICATE, value)]);
    let Ok(text) = std::str::from_utf8(text) else { return };
    if let CallFailure::SignInRequired { challenge } = read_challenge(status, &headers) {
        assert!(text.ends_with(&challenge) && challenge.len() <= 4 * 1024, "not the partner's own words");
        assert!(challenge.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer")), "{challenge}");
        assert!(status == StatusCode::UNAUTHORIZED || challenge.contains("insufficient_scope"), "{status}");
        drop(read_parameters(&challenge));
    }
    drop(read_parameters(text));
    // As a partner that keeps to the rules would quote it.
    let quoted = text.replace('\\', r"\\").replace('"', "\\\"");
    let written =
        format!(r#"Basic realm="{quoted}", Bearer realm="x", scope="{quoted}", resource_metadata="{quoted}""#);
    let Ok(value) = HeaderValue::from_str(&written) else { return };
    let headers = HeaderMap::from_iter([(WWW_AUTHENTICATE, value)]);
    if let CallFailure::SignInRequired { challenge } = read_challenge(StatusCode::UNAUTHORIZED, &headers) {
        assert_eq!(read_parameters(&challenge), (Some(text.to_owned()), Some(text.to_owned())), "{written}");
    } else {
        assert!(!text.is_ascii() || written.len() > 2 * 1024, "the challenge was not seen: {written}");
    }
}

fn check_token(status: StatusCode, body: &[u8]) {
    let told: Option<Value> = serde_json::from_slice(body).ok();
    let text = |name: &str| told.as_ref()?.get(name)?.as_str();
    match read_token_answer(status, body) {
        Ok(grant) => {
            assert!(status.is_success(), "a token with status {status}");
            let access = grant.access_token.expose();
            assert!(!access.is_empty(), "an empty token");
            for token in [Some(access), grant.refresh_token.as_ref().map(|token| token.expose())].into_iter().flatten()
            {
                assert!(can_be_sent(token, TOKEN_MAX_BYTES), "a token that cannot be sent");
            }
            assert!(grant.expires_in.is_none_or(|seconds| seconds <= EXPIRES_IN_MAX_SECS), "a life beyond the bound");
            if told.is_some() {
                assert_eq!(text("access_token"), Some(access), "another token than was given");
                assert!(text("error").is_none(), "a refusal was taken for a token");
                assert!(text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")), "another type");
            }
        }
        Err(failure) => check_silence(&failure, [text("access_token"), text("refresh_token")], text("error")),
    }
}

fn check_server(body: &[u8]) {
    let scopes = ["book".to_owned(), "offline_access".to_owned()];
    let Ok(provider) = read_server(&CLIENT.1, body, &scopes) else { return };
    // What is wrong in members that nobody reads is passed over.
    let Ok(told) = serde_json::from_slice::<Value>(body) else { return };
    let lists = |name: &str, one: &str| told[name].as_array().is_some_and(|list| list.iter().any(|it| it == one));
    assert!(lists("code_challenge_methods_supported", "S256"), "a server without PKCE");
    assert_eq!(told["issuer"], provider.issuer.as_str());
    assert_eq!(provider.scope.as_deref(), Some("book offline_access"));
    let optional = [&provider.registration_endpoint, &provider.revocation_endpoint];
    let needed = [&provider.authorization_endpoint, &provider.token_endpoint];
    for address in needed.into_iter().chain(optional.into_iter().flatten()) {
        let uri: Uri = address.parse().expect("an address");
        assert_eq!(uri.scheme_str(), Some("https"), "{address}");
        let host = uri.host().expect("a host");
        assert!(!address.contains('#') && !host.is_empty(), "{address}");
        let literal = host.trim_matches(['[', ']']).parse();
        assert!(!literal.is_ok_and(|address| !intent_gateway_partners::is_public(address)), "{address}");
    }
    assert!(provider.auth_methods.len() <= 16 && provider.auth_methods.iter().all(|name| name.len() <= 64));
}

fn check_registration(status: StatusCode, body: &[u8]) {
    let listed = ["none", "client_secret_basic"].map(str::to_owned);
    let told: Option<Value> = serde_json::from_slice(body).ok();
    let text = |name: &str| told.as_ref()?.get(name)?.as_str();
    match read_registration(status, body, &listed) {
        Ok(client) => {
            assert!(status.is_success(), "a client with status {status}");
            assert!(!client.client_id.is_empty() && can_be_sent(&client.client_id, CREDENTIAL_MAX_BYTES));
            match (client.method, client.client_secret) {
                (AuthMethod::None, secret) => assert!(secret.is_none(), "a secret that nobody shows is kept"),
                (_, secret) => {
                    let secret = secret.expect("what is shown is there");
                    assert!(!secret.expose().is_empty() && can_be_sent(secret.expose(), CREDENTIAL_MAX_BYTES));
                }
            }
        }
        Err(failure) => check_silence(&failure, [text("client_secret"), None], text("error")),
    }
}

fn can_be_sent(text: &str, max_bytes: usize) -> bool {
    text.len() <= max_bytes && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte))
}

/// A failure goes into logs. The error code of a refusal is shown: it is the server's own to choose.
fn check_silence(failure: &LinkFailure, secrets: [Option<&str>; 2], code: Option<&str>) {
    let message = failure.to_string();
    for secret in secrets.into_iter().flatten().filter(|secret| secret.len() >= SECRET_MIN_BYTES) {
        let is_code = code.is_some_and(|code| code.contains(secret));
        // The messages are fixed texts: what stands in them anyway is not a secret told.
        let is_chance = "the authorization server breaks its protocol: a token that cannot be sent".contains(secret);
        assert!(is_code || is_chance || !message.contains(secret), "a secret is told");
    }
}
