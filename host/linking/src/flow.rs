//! The parts of the authorization code flow that need nothing but their arguments (OAuth 2.1, 4.1; RFC 7636; RFC 9207): what
//! a flow begins with, the address that the user's browser is sent to, and what may come back from there.
//!
//! Not here: who asks whom, and what is kept meanwhile ([`Linking`](super::Linking)); IO ([`Authorizer`](super::Authorizer)).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use url::Url;

use super::Provider;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Entropy, NoEntropy, random};

/// Random bytes of a verifier and of a state. As text they have 43 characters, the least that a verifier may have (RFC 7636,
/// 4.1).
const RANDOM_BYTES: usize = 32;
/// Longest address that a browser is sent to, bytes: what every browser and server on the way takes.
const URL_MAX_BYTES: usize = 8 * 1024;
/// Longest query of a callback that is looked at, bytes.
pub(crate) const CALLBACK_MAX_BYTES: usize = 8 * 1024;
/// Longest code or state that is taken, bytes.
const VALUE_MAX_BYTES: usize = 4 * 1024;
/// Longest error code that is taken from a callback, bytes.
const ERROR_MAX_BYTES: usize = 64;
/// Asks an OpenID provider for a token that outlasts the user's session (OpenID Connect Core, 11).
const OFFLINE_ACCESS: &str = "offline_access";
/// The user declined (RFC 6749, 4.1.2.1).
const ACCESS_DENIED: &str = "access_denied";

/// The proof that whoever exchanges a code is whoever asked for it (RFC 7636), by the method S256.
#[derive(Clone, Debug)]
pub struct Pkce {
    /// Goes to the token endpoint.
    pub verifier: Secret,
    /// Goes to the authorization endpoint.
    pub challenge: String,
}

impl Pkce {
    /// A new one.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    pub fn new(entropy: &dyn Entropy) -> Result<Self, NoEntropy> {
        let verifier = random_text(entropy)?;
        let challenge = URL_SAFE_NO_PAD.encode(Digest::of(verifier.expose().as_bytes()).as_bytes());
        Ok(Self { verifier, challenge })
    }
}

/// A text that nobody can guess: the `state` of a request, by which its answer is known.
///
/// # Errors
/// [`NoEntropy`] when the machine gives no random bytes.
pub fn random_text(entropy: &dyn Entropy) -> Result<Secret, NoEntropy> {
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(random::<RANDOM_BYTES>(entropy)?)))
}

/// What an authorization request is made of.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationRequest<'a> {
    /// Whom it is made to.
    pub provider: &'a Provider,
    /// The gateway's name there.
    pub client_id: &'a str,
    /// Where the browser comes back to.
    pub redirect_uri: &'a str,
    /// By which the answer is known.
    pub state: &'a Secret,
    /// The challenge of a [`Pkce`].
    pub code_challenge: &'a str,
}

/// The authorization endpoint cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointFault {
    /// It is not an address that a browser may be sent to: HTTPS, or HTTP on the machine itself.
    #[error("the authorization endpoint is no address that a browser may be sent to")]
    Address,
    /// Its own query sets a parameter of the request, so that two servers could read two different requests.
    #[error("the authorization endpoint sets a parameter of the request itself")]
    Parameter,
    /// The request is longer than [`URL_MAX_BYTES`].
    #[error("the authorization request is longer than {URL_MAX_BYTES} bytes")]
    TooLong,
}

impl AuthorizationRequest<'_> {
    /// The address of the request: the endpoint, the query that it has by itself, and the request's parameters.
    ///
    /// # Errors
    /// [`EndpointFault`] when the endpoint cannot be asked.
    pub fn url(&self) -> Result<String, EndpointFault> {
        let Self { provider, client_id, redirect_uri, state, code_challenge } = *self;
        let mut url = Url::parse(&provider.authorization_endpoint).map_err(|_| EndpointFault::Address)?;
        if !is_for_browsers(&url) {
            return Err(EndpointFault::Address);
        }
        let mut parameters = vec![
            ("response_type", "code"),
            ("client_id", client_id),
            ("redirect_uri", redirect_uri),
            ("state", state.expose()),
            ("code_challenge", code_challenge),
            ("code_challenge_method", "S256"),
            ("resource", provider.resource.as_str()),
        ];
        if let Some(scope) = &provider.scope {
            parameters.push(("scope", scope));
            // An OpenID provider passes over the scope unless the user is asked for it.
            if scope.split(' ').any(|word| word == OFFLINE_ACCESS) {
                parameters.push(("prompt", "consent"));
            }
        }
        if url.query_pairs().any(|(name, _)| parameters.iter().any(|(ours, _)| *ours == name)) {
            return Err(EndpointFault::Parameter);
        }
        url.query_pairs_mut().extend_pairs(parameters);
        let url = String::from(url);
        if url.len() <= URL_MAX_BYTES { Ok(url) } else { Err(EndpointFault::TooLong) }
    }
}

/// Whether a browser may be sent there. An endpoint has no fragment (RFC 6749, 3.1), and nobody's name and password stand in
/// an address.
fn is_for_browsers(url: &Url) -> bool {
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => return false,
    };
    let plain = url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    plain && (url.scheme() == "https" || (url.scheme() == "http" && loopback))
}

/// Whether a token for a resource may go to an address: the same origin, and the same path or one below it (RFC 8707, 2; MCP,
/// Authorization).
#[must_use]
pub fn covers(resource: &str, address: &str) -> bool {
    let (Ok(resource), Ok(address)) = (Url::parse(resource), Url::parse(address)) else { return false };
    let above = resource.path().trim_end_matches('/');
    let below = address.path().strip_prefix(above);
    resource.origin().is_tuple()
        && resource.origin() == address.origin()
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What the authorization server has the browser bring back, read and not yet judged.
#[derive(Clone)]
pub struct Callback {
    /// The state; always there.
    pub state: Secret,
    code: Option<Secret>,
    issuer: Option<String>,
    error: Option<String>,
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback").field("issuer", &self.issuer).field("error", &self.error).finish_non_exhaustive()
    }
}

/// What came back does not lead to a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallbackFault {
    /// It is not an answer to an authorization request: no state, neither code nor error, both, or one of them twice.
    #[error("it is no answer to an authorization request")]
    Malformed,
    /// It has another state than the request.
    #[error("its state is another one")]
    State,
    /// It comes from another issuer than was asked, or does not say from which although it has to (RFC 9207, 2.4).
    #[error("it is not from the issuer that was asked")]
    Issuer,
    /// The user declined.
    #[error("the user declined")]
    Denied,
    /// The authorization server refused, with an error code of OAuth's own.
    #[error("the authorization server refused with `{0}`")]
    Refused(String),
}

/// What an answer is held against.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The request's state.
    pub state: &'a Secret,
    /// The issuer that was asked.
    pub issuer: &'a str,
    /// Whether it says that its answers name it.
    pub names_issuer: bool,
}

impl Callback {
    /// Reads the query of the address that the browser came back to.
    ///
    /// # Errors
    /// [`CallbackFault::Malformed`].
    pub fn read(query: &str) -> Result<Self, CallbackFault> {
        if query.len() > CALLBACK_MAX_BYTES {
            return Err(CallbackFault::Malformed);
        }
        let (mut state, mut code, mut issuer, mut error) = (None, None, None, None);
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let place = match name.as_ref() {
                "state" => &mut state,
                "code" => &mut code,
                "iss" => &mut issuer,
                "error" => &mut error,
                // What is not known is passed over (RFC 6749, 4.1.2).
                _ => continue,
            };
            // None may stand twice (RFC 6749, 3.1).
            if place.is_some() || value.is_empty() || value.len() > VALUE_MAX_BYTES {
                return Err(CallbackFault::Malformed);
            }
            *place = Some(value.into_owned());
        }
        let state = state.map(Secret::new).ok_or(CallbackFault::Malformed)?;
        if code.is_some() == error.is_some() {
            return Err(CallbackFault::Malformed);
        }
        Ok(Self { state, code: code.map(Secret::new), issuer, error: error.map(|error| clean_text(&error)) })
    }

    /// The code, if the answer is one to the request and grants what was asked for. The issuer is looked at before anything
    /// that it says, an error too.
    ///
    /// # Errors
    /// [`CallbackFault`] with what is wrong, or how it was refused.
    pub fn code(&self, expected: Expected<'_>) -> Result<&Secret, CallbackFault> {
        if !expected.state.matches(self.state.expose()) {
            return Err(CallbackFault::State);
        }
        let right = match &self.issuer {
            Some(issuer) => issuer == expected.issuer,
            None => !expected.names_issuer,
        };
        if !right {
            return Err(CallbackFault::Issuer);
        }
        match (&self.code, self.error.as_deref()) {
            (_, Some(ACCESS_DENIED)) => Err(CallbackFault::Denied),
            (_, Some(error)) => Err(CallbackFault::Refused(error.to_owned())),
            (Some(code), None) => Ok(code),
            (None, None) => Err(CallbackFault::Malformed),
        }
    }
}

/// An error code as it may be logged: bounded, and of the characters that such codes have (RFC 6749, 4.1.2.1).
fn clean_text(error: &str) -> String {
    let is_sound = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    error.chars().take(ERROR_MAX_BYTES).filter(is_sound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills with one byte, so that what is made of it can be written down here.
    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
            bytes.fill(self.0);
            Ok(())
        }
    }

    fn provider(endpoint: &str, scope: Option<&str>) -> Provider {
        Provider {
            resource: "https://mcp.coolcar.example/mcp".to_owned(),
            issuer: "https://id.coolcar.example".to_owned(),
            authorization_endpoint: endpoint.to_owned(),
            token_endpoint: "https://id.coolcar.example/token".to_owned(),
            registration_endpoint: None,
            revocation_endpoint: None,
            scope: scope.map(str::to_owned),
            names_issuer: true,
            takes_metadata_documents: false,
            auth_methods: Vec::new(),
        }
    }

    fn url(endpoint: &str, scope: Option<&str>) -> Result<String, EndpointFault> {
        let state = Secret::new("st&te");
        let request = AuthorizationRequest {
            provider: &provider(endpoint, scope),
            client_id: "https://gateway.example/client.json",
            redirect_uri: "https://gateway.example/link/callback",
            state: &state,
            code_challenge: "abc",
        };
        request.url()
    }

    #[test]
    fn a_challenge_is_that_of_its_verifier() {
        let pkce = Pkce::new(&Fixed(0)).expect("entropy");
        assert_eq!(pkce.verifier.expose(), "A".repeat(43));
        let digest = Digest::of("A".repeat(43).as_bytes());
        assert_eq!(pkce.challenge, URL_SAFE_NO_PAD.encode(digest.as_bytes()));
        // The pair of RFC 7636, appendix B.
        let verifier = b"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = URL_SAFE_NO_PAD.encode(Digest::of(verifier).as_bytes());
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_ne!(Pkce::new(&Fixed(1)).expect("entropy").challenge, pkce.challenge);
    }

    #[test]
    fn a_request_keeps_the_endpoints_own_query() {
        let expected = "https://id.coolcar.example/authorize?tenant=a%20b&response_type=code\
                        &client_id=https%3A%2F%2Fgateway.example%2Fclient.json\
                        &redirect_uri=https%3A%2F%2Fgateway.example%2Flink%2Fcallback&state=st%26te&code_challenge=abc\
                        &code_challenge_method=S256&resource=https%3A%2F%2Fmcp.coolcar.example%2Fmcp";
        assert_eq!(url("https://id.coolcar.example/authorize?tenant=a%20b", None).as_deref(), Ok(expected));
        let with_scope = url("https://id.coolcar.example/authorize", Some("read book")).expect("an address");
        assert!(with_scope.ends_with("&scope=read+book"), "{with_scope}");
        let offline = url("https://id.coolcar.example/authorize", Some("read offline_access")).expect("an address");
        assert!(offline.ends_with("&scope=read+offline_access&prompt=consent"), "{offline}");
    }

    #[test]
    fn a_browser_is_sent_to_sound_addresses_alone() {
        for bad in [
            "javascript:alert(1)",
            "data:text/html,x",
            "http://id.coolcar.example/authorize",
            "https://user@id.coolcar.example/authorize",
            "https://id.coolcar.example/authorize#top",
            "/authorize",
            "",
        ] {
            assert_eq!(url(bad, None), Err(EndpointFault::Address), "{bad}");
        }
        for good in ["http://localhost:9/authorize", "http://127.0.0.1:9/authorize", "http://[::1]:9/authorize"] {
            assert!(url(good, None).is_ok(), "{good}");
        }
        let set = "https://id.coolcar.example/authorize?client_id=other";
        assert_eq!(url(set, None), Err(EndpointFault::Parameter));
        assert_eq!(url("https://id.coolcar.example/", Some(&"x".repeat(9_000))), Err(EndpointFault::TooLong));
    }

    #[test]
    fn a_token_goes_where_it_is_for() {
        let resource = "https://mcp.coolcar.example/mcp";
        for fits in ["https://mcp.coolcar.example/mcp", "https://mcp.coolcar.example:443/mcp/v1?x=1"] {
            assert!(covers(resource, fits), "{fits}");
        }
        for other in [
            "https://mcp.coolcar.example/mcp2",
            "https://mcp.coolcar.example/",
            "https://mcp.coolcar.example:8443/mcp",
            "http://mcp.coolcar.example/mcp",
            "https://coolcar.example/mcp",
            "https://mcp.coolcar.example/mcp/../other",
            "data:x",
        ] {
            assert!(!covers(resource, other), "{other}");
        }
        assert!(covers("https://mcp.coolcar.example", "https://mcp.coolcar.example/mcp"));
        assert!(covers("https://mcp.coolcar.example/", "https://mcp.coolcar.example/mcp"));
        assert!(!covers("data:x", "data:x"));
    }

    fn judge(query: &str, names_issuer: bool) -> Result<String, CallbackFault> {
        let state = Secret::new("s");
        let expected = Expected { state: &state, issuer: "https://id.coolcar.example", names_issuer };
        let callback = Callback::read(query)?;
        callback.code(expected).map(|code| code.expose().to_owned())
    }

    #[test]
    fn an_answer_is_taken_from_the_issuer_that_was_asked_alone() {
        let from = |issuer: &str| format!("state=s&code=c&iss={issuer}");
        assert_eq!(judge("state=s&code=c", false).as_deref(), Ok("c"));
        assert_eq!(judge("state=s&code=c", true), Err(CallbackFault::Issuer));
        for named in [true, false] {
            assert_eq!(judge(&from("https%3A%2F%2Fid.coolcar.example"), named).as_deref(), Ok("c"));
            for other in ["https://id.coolcar.example/", "https://ID.coolcar.example", "https://id.warmcar.example"] {
                assert_eq!(judge(&from(other), named), Err(CallbackFault::Issuer), "{other}");
            }
        }
        // What another issuer says of an error is nobody's either.
        assert_eq!(judge("state=s&error=access_denied&iss=https://other", true), Err(CallbackFault::Issuer));
        assert_eq!(judge("state=t&code=c", false), Err(CallbackFault::State));
    }

    #[test]
    fn errors_are_told_apart() {
        assert_eq!(judge("state=s&error=access_denied", false), Err(CallbackFault::Denied));
        let refused = judge("state=s&error=server_error&error_description=x", false);
        assert_eq!(refused, Err(CallbackFault::Refused("server_error".to_owned())));
        let strange = judge("state=s&error=%3Cscript%3E%0A", false);
        assert_eq!(strange, Err(CallbackFault::Refused("script".to_owned())));
        let long = format!("state=s&code={}", "c".repeat(5_000));
        for malformed in [
            "",
            "code=c",
            "state=s",
            "state=&code=c",
            "state=s&code=",
            "state=s&code=c&error=x",
            "state=s&state=s&code=c",
            "state=s&code=c&code=d",
            "state=s&code=c&iss=a&iss=a",
            &long,
        ] {
            assert_eq!(judge(malformed, false), Err(CallbackFault::Malformed), "{malformed}");
        }
        assert_eq!(judge("state=s&code=c&extra=1&extra=2", false).as_deref(), Ok("c"));
    }
}
