//! The public keys of an outside issuer: read from its key set (RFC 7517), kept, and fetched again when needed.
//!
//! Symmetric keys are never taken: whoever can read the key set could sign with them. How the bytes come over the
//! network is the business of the port [`JwksFetch`].

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::{Clock, Timestamp};
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::issuers::SignatureAlgorithm;

/// Largest key set, bytes.
const KEY_SET_MAX_BYTES: usize = 256 * 1024;
/// Keys read of one key set.
const KEYS_MAX: usize = 64;
/// Longest identifier of a key, bytes.
const KEY_ID_MAX_BYTES: usize = 256;
/// Wait for a key set.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Shortest time between two fetches, milliseconds: tokens that name unknown keys cost the issuer no more than this.
const FETCH_PAUSE_MS: u64 = 60 * 1_000;
/// Age from which keys are fetched again, beside the requests that go on with them, milliseconds.
const REFRESH_AFTER_MS: u64 = 60 * 60 * 1_000;
/// Age from which a request waits for the new keys: nobody asked for an hour, and a key may have been withdrawn.
const WAIT_AFTER_MS: u64 = 2 * REFRESH_AFTER_MS;
/// Age from which keys are not used any more, however long the issuer cannot be reached, milliseconds.
const EXPIRE_AFTER_MS: u64 = 24 * 60 * 60 * 1_000;
/// Bytes of an RSA modulus: 2048 bits at least (RFC 7518, section 3.3), 4096 at most, for the time that it costs.
const RSA_MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=512;
/// Bytes of an RSA exponent.
const RSA_EXPONENT_BYTES: std::ops::RangeInclusive<usize> = 1..=4;
/// Bytes of a coordinate on P-256, and of an Ed25519 key.
const POINT_BYTES: usize = 32;

/// A key set could not be had.
#[derive(Debug, thiserror::Error)]
pub enum JwksError {
    /// No answer, or none with status 200.
    #[error("the key set could not be fetched")]
    Fetch(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No answer in time.
    #[error("the key set did not come within {} s", FETCH_TIMEOUT.as_secs())]
    Timeout,
    /// It is larger than any key set.
    #[error("the key set has more than {KEY_SET_MAX_BYTES} bytes")]
    TooLarge,
    /// It is no key set.
    #[error("the answer is no key set")]
    Unreadable(#[source] serde_json::Error),
    /// No key in it can be used.
    #[error("the key set has no key that can be used")]
    Empty,
}

/// Fetches key sets.
pub trait JwksFetch: Send + Sync {
    /// The body at an address: status 200 or an error, no redirect followed. Bodies of more than `max_bytes` may be cut
    /// off right behind that many.
    fn fetch<'a>(&'a self, url: &'a str, max_bytes: usize) -> BoxFuture<'a, Result<Bytes, JwksError>>;
}

/// A key as the set writes it.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct Jwks {
    /// Each is read on its own, so that one of a kind unknown here costs nothing but itself.
    keys: Vec<Value>,
}

struct PublicKey {
    id: String,
    algorithms: &'static [SignatureAlgorithm],
    decoding: Arc<DecodingKey>,
}

/// The keys of a set that can verify signatures.
struct KeySet(Vec<PublicKey>);

impl KeySet {
    fn parse(document: &[u8]) -> Result<Self, JwksError> {
        if document.len() > KEY_SET_MAX_BYTES {
            return Err(JwksError::TooLarge);
        }
        let Jwks { keys } = serde_json::from_slice(document).map_err(JwksError::Unreadable)?;
        let keys = keys.into_iter().take(KEYS_MAX).filter_map(|key| serde_json::from_value(key).ok());
        let usable: Vec<_> = keys.filter_map(PublicKey::of).collect();
        if usable.is_empty() { Err(JwksError::Empty) } else { Ok(Self(usable)) }
    }

    fn find(&self, id: &str, algorithm: SignatureAlgorithm) -> Option<Arc<DecodingKey>> {
        let fits = |key: &&PublicKey| key.id == id && key.algorithms.contains(&algorithm);
        self.0.iter().find(fits).map(|key| key.decoding.clone())
    }
}

impl PublicKey {
    /// None when the key is for something else, or is not sound.
    fn of(jwk: Jwk) -> Option<Self> {
        use SignatureAlgorithm::{EdDSA, Es256, Ps256, Rs256};
        let verifies = jwk.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && jwk.key_ops.is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let id = jwk.kid.filter(|id| verifies && id.len() <= KEY_ID_MAX_BYTES)?;
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let (algorithms, decoding): (&'static [_], _) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                let (modulus, exponent) = (bytes(&jwk.n)?, bytes(&jwk.e)?);
                let (modulus, exponent) = (without_leading_zeros(&modulus), without_leading_zeros(&exponent));
                let sound = RSA_MODULUS_BYTES.contains(&modulus.len()) && RSA_EXPONENT_BYTES.contains(&exponent.len());
                sound.then_some(())?;
                let algorithms: &'static [_] = match jwk.alg.as_deref() {
                    None => &[Rs256, Ps256],
                    Some("RS256") => &[Rs256],
                    Some("PS256") => &[Ps256],
                    Some(_) => return None,
                };
                (algorithms, DecodingKey::from_rsa_raw_components(modulus, exponent))
            }
            ("EC", Some("P-256")) if jwk.alg.as_deref().is_none_or(|alg| alg == "ES256") => {
                let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
                (x.len() == POINT_BYTES && y.len() == POINT_BYTES).then_some(())?;
                (&[Es256], DecodingKey::from_ec_components(jwk.x.as_deref()?, jwk.y.as_deref()?).ok()?)
            }
            ("OKP", Some("Ed25519")) if jwk.alg.as_deref().is_none_or(|alg| alg == "EdDSA" || alg == "Ed25519") => {
                let x = bytes(&jwk.x).filter(|x| x.len() == POINT_BYTES)?;
                (&[EdDSA], DecodingKey::from_ed_der(&x))
            }
            _ => return None,
        };
        Some(Self { id, algorithms, decoding: Arc::new(decoding) })
    }
}

/// A number as verifiers want it. Some libraries put a zero before it, which RFC 7518, section 6.3.1.1, knows of.
fn without_leading_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// The keys of one issuer, fetched when first asked for.
pub(super) struct KeyCache {
    url: String,
    fetch: Arc<dyn JwksFetch>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last good set, and when it was fetched.
    held: Option<(KeySet, Timestamp)>,
    attempted_at: Option<Timestamp>,
    /// Cancelled when the fetch under way has ended, however it did.
    ended: Option<CancellationToken>,
}

impl KeyCache {
    pub(super) fn new(url: &str, fetch: Arc<dyn JwksFetch>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { url: url.to_owned(), fetch, clock, state: Mutex::default() })
    }

    /// The key of that identifier, if the issuer has one for the algorithm.
    pub(super) async fn key(self: &Arc<Self>, id: &str, algorithm: SignatureAlgorithm) -> Option<Arc<DecodingKey>> {
        match self.find_held(id, algorithm) {
            Some((key, age)) if age <= REFRESH_AFTER_MS => return Some(key),
            Some((key, age)) if age <= WAIT_AFTER_MS => {
                self.refresh();
                return Some(key);
            }
            _ => {}
        }
        if let Some(ended) = self.refresh() {
            ended.cancelled().await;
        }
        self.find_held(id, algorithm).filter(|(_, age)| *age <= EXPIRE_AFTER_MS).map(|(key, _)| key)
    }

    /// The key, and for how many milliseconds its set has been held.
    fn find_held(&self, id: &str, algorithm: SignatureAlgorithm) -> Option<(Arc<DecodingKey>, u64)> {
        let state = self.state();
        let (keys, at) = state.held.as_ref()?;
        let age = self.clock.now().ms_since(*at);
        keys.find(id, algorithm).map(|key| (key, age))
    }

    /// Starts a fetch, unless one is under way or the last is too recent. The token is cancelled when it has ended.
    fn refresh(self: &Arc<Self>) -> Option<CancellationToken> {
        let mut state = self.state();
        if let Some(ended) = state.ended.as_ref().filter(|ended| !ended.is_cancelled()) {
            return Some(ended.clone());
        }
        let now = self.clock.now();
        if state.attempted_at.is_some_and(|at| now.ms_apart(at) < FETCH_PAUSE_MS) {
            return None;
        }
        state.attempted_at = Some(now);
        let ended = CancellationToken::new();
        state.ended = Some(ended.clone());
        let (cache, guard) = (self.clone(), ended.clone().drop_guard());
        // In a task of its own: a caller that hangs up must not end the fetch that others wait for.
        tokio::spawn(async move {
            let _guard = guard;
            cache.fetch_now().await;
        });
        Some(ended)
    }

    async fn fetch_now(&self) {
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.fetch.fetch(&self.url, KEY_SET_MAX_BYTES)).await;
        let document = fetched.unwrap_or(Err(JwksError::Timeout));
        match document.and_then(|document| KeySet::parse(&document)) {
            Ok(keys) => {
                tracing::info!(url = self.url, keys = keys.0.len(), "the keys of an issuer were fetched");
                self.state().held = Some((keys, self.clock.now()));
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(url = self.url, %error, cause, "the keys of an issuer could not be fetched");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held, so a poisoned one still holds a whole state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").field("url", &self.url).finish_non_exhaustive()
    }
}
