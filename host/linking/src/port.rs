//! What linking needs of the world outside: a partner's authorization server, spoken to over the guarded client.

use futures_util::future::BoxFuture;

use url::Url;

use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sign_in::SignInServer;

/// A partner's authorization server and what it protects, as they describe themselves (RFC 9728, RFC 8414; MCP,
/// Authorization). It is kept with a link, in this form.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Provider {
    /// The protected resource: the partner's own MCP address, or one that covers it. Goes out as `resource` (RFC 8707).
    pub resource: String,
    /// The issuer, as its metadata says it; compared character by character with `iss` (RFC 9207).
    pub issuer: String,
    /// Where the user's browser is sent.
    pub authorization_endpoint: String,
    /// Where codes and refresh tokens become access tokens.
    pub token_endpoint: String,
    /// Where clients register themselves (RFC 7591).
    pub registration_endpoint: Option<String>,
    /// Where tokens are revoked (RFC 7009).
    pub revocation_endpoint: Option<String>,
    /// The scopes to ask for, separated by spaces: what the challenge names, else what the resource supports; absent where
    /// neither says.
    pub scope: Option<String>,
    /// Whether answers to authorization requests name the issuer (RFC 9207).
    pub names_issuer: bool,
    /// Whether a client may be named by the address of its metadata (client ID metadata documents).
    pub takes_metadata_documents: bool,
    /// How clients may show who they are at the token endpoint; empty where it does not say.
    pub auth_methods: Vec<String>,
}

impl Provider {
    /// What of it has to be approved: all that says who gets users, codes and tokens to see.
    #[must_use]
    pub fn server(&self) -> SignInServer {
        let needed = [&self.issuer, &self.authorization_endpoint, &self.token_endpoint];
        let optional = [&self.registration_endpoint, &self.revocation_endpoint];
        let addresses = needed.into_iter().chain(optional.into_iter().flatten());
        // Of an address that is none, the whole text: it is like no other then.
        let origin = |address: &String| match Url::parse(address) {
            Ok(url) if url.origin().is_tuple() => url.origin().ascii_serialization(),
            _ => address.clone(),
        };
        SignInServer {
            issuer: self.issuer.clone(),
            resource: Some(self.resource.clone()),
            origins: addresses.map(origin).collect(),
        }
    }
}

/// How a client shows who it is at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMethod {
    /// It does not: PKCE alone.
    None,
    /// In the `Authorization` header.
    ClientSecretBasic,
    /// In the body.
    ClientSecretPost,
}

impl AuthMethod {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::ClientSecretBasic, Self::ClientSecretPost];
}

/// The gateway as a client of one authorization server.
#[derive(Clone, Debug)]
pub struct Client {
    /// Its name there.
    pub client_id: String,
    /// Its secret, where it has one.
    pub client_secret: Option<Secret>,
    /// How it shows who it is.
    pub method: AuthMethod,
}

/// What the token endpoint gave.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Goes out with the user's calls.
    pub access_token: Secret,
    /// Gets the next one; a new one replaces the one before (rotation).
    pub refresh_token: Option<Secret>,
    /// How long the access token lasts, seconds; absent where it was not said.
    pub expires_in: Option<u64>,
    /// The scopes that were granted, where they are others than asked for.
    pub scope: Option<String>,
}

/// Why an authorization server gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFailure {
    /// It could not be reached, or not in time.
    #[error("the authorization server is not reachable: {0}")]
    Unreachable(String),
    /// An address that the gateway may not call.
    #[error("an address of the authorization server is not allowed: {0}")]
    AddressRefused(String),
    /// It describes itself in a way that may not be trusted or cannot be used: no PKCE, another issuer or resource than was
    /// asked for.
    #[error("the authorization server cannot be used: {0}")]
    Unusable(String),
    /// What it answered is not what the protocol says.
    #[error("the authorization server breaks its protocol: {0}")]
    Protocol(String),
    /// It refused, with an error code of OAuth's own, for example `invalid_grant`.
    #[error("the authorization server refused with `{code}`")]
    Refused { code: String },
}

/// Speaks to partners' authorization servers. Every call ends within the client's own time limit, follows no redirect, and
/// calls no address that is not public.
pub trait Authorizer: Send + Sync {
    /// Finds the authorization server of the MCP server at `endpoint`. `challenge` is that of its 401, where there was
    /// one.
    fn discover<'a>(
        &'a self,
        endpoint: &'a str,
        challenge: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Provider, LinkFailure>>;

    /// Registers the gateway as a client.
    fn register<'a>(
        &'a self,
        provider: &'a Provider,
        client_name: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Client, LinkFailure>>;

    /// Turns a code into tokens.
    fn exchange<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        code: &'a Secret,
        verifier: &'a Secret,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>>;

    /// Turns a refresh token into tokens.
    fn refresh<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        refresh_token: &'a Secret,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>>;

    /// Ends a token at the authorization server.
    fn revoke<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        token: &'a Secret,
    ) -> BoxFuture<'a, Result<(), LinkFailure>>;
}
