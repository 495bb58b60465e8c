//! How a person of the team signs in at an issuer: OpenID Connect's authorization code flow, with PKCE (RFC 7636).
//!
//! What the gateway must remember until the browser is back is sealed in a cookie of that browser: nothing is kept for whoever only
//! begins. The token that comes of it is the bearer token of the session, and the API verifies it as it would any other of that issuer.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{NoEntropy, Vault, hex, random};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::{Url, form_urlencoded};

/// How long a person may take at the issuer, milliseconds.
pub(super) const UNDER_WAY_MS: u64 = 10 * 60 * 1_000;
/// How long what an issuer says of itself is believed.
const METADATA_KEPT: Duration = Duration::from_secs(600);
/// Where it says it, below its own address (OpenID Connect Discovery, section 4).
const METADATA: &str = "/.well-known/openid-configuration";
/// Random bytes of a state, a nonce and a verifier.
const RANDOM_BYTES: usize = 32;
/// What the cookie is sealed for.
const CONTEXT: &str = "console-sign-in";

/// Asks an issuer. A port: the gateway's own client, which follows no redirect and bounds what it reads.
pub trait ProviderFetch: Send + Sync {
    /// A document.
    fn get(&self, url: String) -> BoxFuture<'static, Result<Fetched, FetchError>>;
    /// The answer to a form, with this text in `Authorization`.
    fn post_form(
        &self,
        url: String,
        authorization: Option<Secret>,
        form: Secret,
    ) -> BoxFuture<'static, Result<Fetched, FetchError>>;
}

/// What was answered.
pub struct Fetched {
    pub status: u16,
    pub body: Bytes,
}

/// The issuer could not be asked.
#[derive(Debug, thiserror::Error)]
#[error("the issuer does not answer")]
pub struct FetchError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// An issuer at which the team signs in.
pub struct Provider {
    /// To the letter, as tokens have it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<Secret>,
    /// With spaces between.
    pub scopes: String,
    /// Whether the ID token is the bearer token; the access token is otherwise.
    pub bears_id_token: bool,
    /// Where the issuer sends browsers back to.
    pub callback: String,
    pub fetch: Arc<dyn ProviderFetch>,
    known: Mutex<Option<(Instant, Metadata)>>,
}

/// What an issuer says of itself, as far as it is needed.
#[derive(Clone, Debug, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    #[serde(default)]
    code_challenge_methods_supported: Option<Vec<String>>,
}

/// What is remembered while a person is at the issuer.
#[derive(Serialize, Deserialize)]
struct UnderWay {
    state: String,
    nonce: String,
    verifier: String,
    /// The page that was wanted.
    to: String,
    ends_at_ms: Timestamp,
}

/// A sign-in that has begun.
pub(super) struct Begun {
    /// Where the browser goes.
    pub(super) location: String,
    /// What it holds meanwhile.
    pub(super) cookie: String,
}

/// A sign-in that has come back.
pub(super) struct Finished {
    pub(super) bearer: Secret,
    pub(super) to: String,
}

/// What the browser brings back from the issuer.
#[derive(Default, Deserialize)]
pub(super) struct Returned {
    #[serde(default)]
    state: String,
    code: Option<String>,
    /// RFC 9207.
    iss: Option<String>,
    error: Option<String>,
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProviderError {
    #[error("the issuer does not answer")]
    Unreachable(#[from] FetchError),
    #[error("the issuer answers what cannot be used: {0}")]
    Unusable(&'static str),
    /// Its own word for why.
    #[error("the issuer declines: {0}")]
    Declined(String),
    /// The browser is not the one that began, or took too long.
    #[error("no sign-in of this browser is under way")]
    NotUnderWay,
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// The answer of a token endpoint.
#[derive(Deserialize)]
struct Tokens {
    access_token: Option<Secret>,
    id_token: Option<Secret>,
}

/// What an ID token says, as far as it ties it to this sign-in (OpenID Connect Core, section 3.1.3.7).
#[derive(Deserialize)]
struct IdClaims {
    iss: String,
    aud: Audience,
    #[serde(default)]
    nonce: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Provider {
    /// An issuer that sends browsers back below this public address of the pages.
    #[must_use]
    pub fn new(
        (issuer, client_id, client_secret): (String, String, Option<Secret>),
        scopes: String,
        bears_id_token: bool,
        base_url: &str,
        fetch: Arc<dyn ProviderFetch>,
    ) -> Self {
        let callback = format!("{base_url}{}", super::CALLBACK);
        let known = Mutex::default();
        Self { issuer, client_id, client_secret, scopes, bears_id_token, callback, fetch, known }
    }

    /// The host at which one signs in, for people.
    pub(super) fn host(&self) -> String {
        let host = Url::parse(&self.issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_else(|| self.issuer.clone())
    }

    /// Begins a sign-in that leads to a page.
    pub(super) async fn begin(&self, vault: &Vault, to: &str, now: Timestamp) -> Result<Begun, ProviderError> {
        let metadata = self.metadata().await?;
        let fresh = || Ok::<_, NoEntropy>(hex(&random::<RANDOM_BYTES>(vault.entropy())?));
        let under_way = UnderWay {
            state: fresh()?,
            nonce: fresh()?,
            verifier: fresh()?,
            to: to.to_owned(),
            ends_at_ms: now.plus_ms(UNDER_WAY_MS),
        };
        let mut location = Url::parse(&metadata.authorization_endpoint)
            .map_err(|_| ProviderError::Unusable("its authorization endpoint is no address"))?;
        let challenge = URL_SAFE_NO_PAD.encode(Digest::of(under_way.verifier.as_bytes()).as_bytes());
        location
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", &self.callback)
            .append_pair("scope", &self.scopes)
            .append_pair("state", &under_way.state)
            .append_pair("nonce", &under_way.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        // Texts and a number always serialise.
        let text = Secret::new(serde_json::to_string(&under_way).unwrap_or_default());
        Ok(Begun { location: location.into(), cookie: vault.seal(CONTEXT, &text)?.into_text() })
    }

    /// Ends it: what the browser has held and brings back becomes a bearer token.
    pub(super) async fn finish(
        &self,
        vault: &Vault,
        cookie: &Secret,
        returned: Returned,
        now: Timestamp,
    ) -> Result<Finished, ProviderError> {
        let sealed = intent_gateway_domain::vault::Sealed::from_text(cookie.expose().to_owned());
        let opened = vault.open(CONTEXT, &sealed).map_err(|_| ProviderError::NotUnderWay)?;
        let under_way: UnderWay = serde_json::from_str(opened.expose()).map_err(|_| ProviderError::NotUnderWay)?;
        if now >= under_way.ends_at_ms || !Secret::new(&*under_way.state).matches(&returned.state) {
            return Err(ProviderError::NotUnderWay);
        }
        if returned.iss.is_some_and(|issuer| issuer != self.issuer) {
            return Err(ProviderError::Unusable("the answer is another issuer's"));
        }
        if let Some(error) = returned.error {
            return Err(ProviderError::Declined(error.chars().filter(char::is_ascii_graphic).take(100).collect()));
        }
        let code = returned.code.ok_or(ProviderError::Unusable("there is no code in its answer"))?;
        let tokens = self.exchange(&code, &under_way.verifier).await?;
        let id_token = tokens.id_token.ok_or(ProviderError::Unusable("it gives no ID token"))?;
        self.check(&id_token, &under_way.nonce)?;
        let bearer = if self.bears_id_token { Some(id_token) } else { tokens.access_token };
        let bearer = bearer.ok_or(ProviderError::Unusable("it gives no access token"))?;
        Ok(Finished { bearer, to: under_way.to })
    }

    async fn metadata(&self) -> Result<Metadata, ProviderError> {
        let mut known = self.known.lock().await;
        if let Some((_, metadata)) = known.as_ref().filter(|(at, _)| at.elapsed() < METADATA_KEPT) {
            return Ok(metadata.clone());
        }
        let fetched = self.fetch.get(format!("{}{METADATA}", self.issuer.trim_end_matches('/'))).await?;
        if fetched.status != 200 {
            return Err(ProviderError::Unusable("it has no document of itself"));
        }
        let metadata: Metadata = serde_json::from_slice(&fetched.body)
            .map_err(|_| ProviderError::Unusable("its document of itself cannot be read"))?;
        if metadata.issuer != self.issuer {
            return Err(ProviderError::Unusable("its document of itself names another issuer"));
        }
        if !self.is_as_safe(&metadata.authorization_endpoint) || !self.is_as_safe(&metadata.token_endpoint) {
            return Err(ProviderError::Unusable("an endpoint of it is without TLS"));
        }
        if metadata
            .code_challenge_methods_supported
            .as_ref()
            .is_some_and(|methods| !methods.iter().any(|one| one == "S256"))
        {
            return Err(ProviderError::Unusable("it does not take PKCE with S256"));
        }
        *known = Some((Instant::now(), metadata.clone()));
        Ok(metadata)
    }

    /// Whether an endpoint is reached over TLS, or without it at an issuer that is configured so: in development.
    fn is_as_safe(&self, endpoint: &str) -> bool {
        endpoint.starts_with("https://") || (self.issuer.starts_with("http://") && endpoint.starts_with("http://"))
    }

    async fn exchange(&self, code: &str, verifier: &str) -> Result<Tokens, ProviderError> {
        let metadata = self.metadata().await?;
        let authorization = self.client_secret.as_ref().map(|secret| self.basic(secret));
        let form = self.form(code, verifier);
        let answer = self.fetch.post_form(metadata.token_endpoint, authorization, form).await?;
        if answer.status != 200 {
            return Err(ProviderError::Unusable("it gives no token for its code"));
        }
        serde_json::from_slice(&answer.body).map_err(|_| ProviderError::Unusable("its tokens cannot be read"))
    }

    /// RFC 6749, section 4.1.3, and RFC 7636, section 4.5.
    fn form(&self, code: &str, verifier: &str) -> Secret {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", &self.callback)
            .append_pair("code_verifier", verifier);
        if self.client_secret.is_none() {
            form.append_pair("client_id", &self.client_id);
        }
        Secret::new(form.finish())
    }

    /// RFC 6749, section 2.3.1: both parts are encoded as in a form.
    fn basic(&self, secret: &Secret) -> Secret {
        let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", encoded(&self.client_id), encoded(secret.expose()));
        Secret::new(format!("Basic {}", STANDARD.encode(pair)))
    }

    /// Whether an ID token belongs to this sign-in. It came from the issuer itself, over TLS, so its signature says nothing more
    /// (OpenID Connect Core, section 3.1.3.7, 6); where it becomes the bearer token, the API verifies that as well.
    fn check(&self, id_token: &Secret, nonce: &str) -> Result<(), ProviderError> {
        let claims = id_token.expose().split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
        let claims = claims.and_then(|claims| serde_json::from_slice::<IdClaims>(&claims).ok());
        let claims = claims.ok_or(ProviderError::Unusable("its ID token cannot be read"))?;
        let is_for_us = match &claims.aud {
            Audience::One(audience) => *audience == self.client_id,
            Audience::Many(audiences) => audiences.contains(&self.client_id),
        };
        if claims.iss == self.issuer && is_for_us && Secret::new(nonce).matches(&claims.nonce) {
            Ok(())
        } else {
            Err(ProviderError::Unusable("its ID token is not for this sign-in"))
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
