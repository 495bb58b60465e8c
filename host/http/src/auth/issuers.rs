//! Outside issuers: whose tokens are accepted besides the gateway's own, and which role each gives.
//!
//! A token names its issuer; only a configured one counts, and only under the algorithms, the audience and the
//! keys that are its own. All algorithms are asymmetric, so that no published key can sign a token.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::pointer::unescape;
use intent_gateway_onboarding::Session;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::jwks::{JwksFetch, KeyCache};
use super::verified::VerifiedTokens;
use super::{Caller, ISSUER, LEEWAY_SECONDS, Role, Scope, TokenError, provider};

/// Issuers that may be configured.
pub const ISSUERS_MAX: usize = 16;
/// Longest token of an outside issuer that is looked at, bytes; some list a user's groups.
const TOKEN_MAX_BYTES: usize = 16 * 1024;
/// Longest subject, bytes (OpenID Connect Core, section 2).
const SUBJECT_MAX_BYTES: usize = 255;

/// The algorithms that an outside issuer may sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignatureAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSASSA-PSS with SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    EdDSA,
}

impl SignatureAlgorithm {
    /// Every one of them.
    pub const ALL: [Self; 4] = [Self::Rs256, Self::Ps256, Self::Es256, Self::EdDSA];

    fn of(algorithm: Algorithm) -> Option<Self> {
        match algorithm {
            Algorithm::RS256 => Some(Self::Rs256),
            Algorithm::PS256 => Some(Self::Ps256),
            Algorithm::ES256 => Some(Self::Es256),
            Algorithm::EdDSA => Some(Self::EdDSA),
            _ => None,
        }
    }
}

/// Which role the bearer of an issuer's token has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleRule {
    /// All of them the same.
    Fixed(Role),
    /// What a claim says.
    Claim {
        /// Name of the claim, or a JSON Pointer (RFC 6901) to where it lies deeper. Its value is a text, of words
        /// set off by spaces as in `scope`, or an array of texts.
        claim: String,
        /// What its values mean. Of several roles the token has the one that may do most: `admin`, then
        /// `orchestrator`, then `partner`.
        roles: BTreeMap<String, Role>,
    },
}

/// Which scopes an admin's token has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeRule {
    /// Name of a claim or a JSON Pointer, as in [`RoleRule::Claim`].
    pub claim: String,
    /// What its values mean. A token has all that its values mean, which may be none.
    pub scopes: BTreeMap<String, Scope>,
}

/// An issuer whose tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerConfig {
    /// The `iss` of its tokens, to the letter.
    pub issuer: String,
    /// Where its key set is.
    pub jwks_url: String,
    /// What the `aud` of its tokens must hold.
    pub audience: String,
    /// The algorithms that it signs with.
    pub algorithms: Vec<SignatureAlgorithm>,
    /// The role that its tokens give.
    pub roles: RoleRule,
    /// The scopes that they give an admin. Without it they name none: its `scope` may be about something else.
    pub scopes: Option<ScopeRule>,
}

/// The issuers cannot be configured so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssuerError {
    /// There are too many.
    #[error("{0} issuers are given; at most {ISSUERS_MAX} may be")]
    TooMany(usize),
    /// One has the gateway's own name.
    #[error("`{ISSUER}` is the gateway's own name")]
    OwnName,
    /// One is given twice.
    #[error("the issuer `{0}` is given twice")]
    Twice(String),
    /// A text that is needed is empty.
    #[error("the issuer `{issuer}` needs `{field}`")]
    Missing {
        issuer: String,
        /// What is empty.
        field: &'static str,
    },
}

/// All issuers that are configured.
#[derive(Debug, Default)]
pub struct Issuers(ArcSwap<Vec<Arc<Issuer>>>);

impl Issuers {
    /// Takes issuers into service. Their keys are fetched when the first token asks for them.
    ///
    /// # Errors
    /// [`IssuerError`] for the first thing that is wrong with them.
    pub fn new(
        configs: Vec<IssuerConfig>,
        fetch: &Arc<dyn JwksFetch>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, IssuerError> {
        let issuers = Self::default();
        issuers.replace(configs, fetch, clock)?;
        Ok(issuers)
    }

    /// Takes others into service in their place. One that stays as it was keeps its keys.
    ///
    /// # Errors
    /// As [`new`](Self::new); nothing is changed then.
    pub fn replace(
        &self,
        configs: Vec<IssuerConfig>,
        fetch: &Arc<dyn JwksFetch>,
        clock: &Arc<dyn Clock>,
    ) -> Result<(), IssuerError> {
        provider::install();
        if configs.len() > ISSUERS_MAX {
            return Err(IssuerError::TooMany(configs.len()));
        }
        let before = self.0.load();
        let mut issuers: Vec<Arc<Issuer>> = Vec::with_capacity(configs.len());
        for config in configs {
            config.check()?;
            if issuers.iter().any(|issuer| *issuer.name == *config.issuer) {
                return Err(IssuerError::Twice(config.issuer));
            }
            let kept = before.iter().find(|issuer| issuer.config == config).cloned();
            issuers.push(kept.unwrap_or_else(|| Arc::new(Issuer::new(config, fetch.clone(), clock.clone()))));
        }
        self.0.store(Arc::new(issuers));
        Ok(())
    }

    /// The configured issuer that a token names. What the token says is believed only after [`Issuer::verify`].
    pub(super) fn named_in(&self, token: &str) -> Option<Arc<Issuer>> {
        #[derive(Deserialize)]
        struct Named {
            iss: String,
        }
        let issuers = self.0.load();
        if issuers.is_empty() || token.len() > TOKEN_MAX_BYTES {
            return None;
        }
        let named: Named = jsonwebtoken::dangerous::insecure_decode_claims(token).ok()?;
        issuers.iter().find(|issuer| *issuer.name == *named.iss).cloned()
    }
}

impl IssuerConfig {
    /// Checks what can be checked without asking the issuer.
    ///
    /// # Errors
    /// [`IssuerError`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), IssuerError> {
        if self.issuer == ISSUER {
            return Err(IssuerError::OwnName);
        }
        let rule = match &self.roles {
            RoleRule::Fixed(_) => false,
            RoleRule::Claim { claim, roles } => claim.is_empty() || roles.is_empty(),
        };
        let needed = [
            ("issuer", self.issuer.is_empty()),
            ("jwks_url", self.jwks_url.is_empty()),
            ("audience", self.audience.is_empty()),
            ("algorithms", self.algorithms.is_empty()),
            ("roles", rule),
            ("scopes", self.scopes.as_ref().is_some_and(|rule| rule.claim.is_empty() || rule.scopes.is_empty())),
        ];
        match needed.into_iter().find(|(_, missing)| *missing) {
            Some((field, _)) => Err(IssuerError::Missing { issuer: self.issuer.clone(), field }),
            None => Ok(()),
        }
    }
}

/// One issuer and its keys.
#[derive(Debug)]
pub(super) struct Issuer {
    config: IssuerConfig,
    name: Arc<str>,
    /// All but the algorithm, which is set for each token.
    validation: Validation,
    verified: VerifiedTokens<Said>,
    keys: Arc<KeyCache>,
    clock: Clocked,
}

/// The clock has no `Debug` of its own.
struct Clocked(Arc<dyn Clock>);

impl std::fmt::Debug for Clocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Issuer {
    fn new(config: IssuerConfig, fetch: Arc<dyn JwksFetch>, clock: Arc<dyn Clock>) -> Self {
        let mut validation = Validation::default();
        validation.algorithms.clear();
        validation.set_issuer(&[&config.issuer]);
        validation.set_audience(&[&config.audience]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        // Checked below, by the clock port.
        validation.validate_exp = false;
        Self {
            name: config.issuer.as_str().into(),
            validation,
            verified: VerifiedTokens::default(),
            keys: KeyCache::new(&config.jwks_url, fetch, clock.clone()),
            clock: Clocked(clock),
            config,
        }
    }

    /// Verifies a token that names this issuer.
    ///
    /// # Errors
    /// [`TokenError`], for the log.
    pub(super) async fn verify(&self, token: &str) -> Result<Caller, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(TokenError::Invalid)?;
        let algorithm =
            SignatureAlgorithm::of(header.alg).filter(|algorithm| self.config.algorithms.contains(algorithm));
        let algorithm = algorithm.ok_or(TokenError::Algorithm)?;
        if header.crit.is_some() {
            return Err(TokenError::Critical);
        }
        let key_id = header.kid.as_deref().ok_or(TokenError::UnknownKey)?;
        let key = self.keys.key(key_id, algorithm).await.ok_or(TokenError::UnknownKey)?;
        let digest = Digest::of(token.as_bytes());
        // A key that its issuer has taken back, or given anew, verifies nothing that it has verified before.
        if let Some(said) = self.verified.find(digest).filter(|said| Arc::ptr_eq(&said.key, &key)) {
            return self.caller(&said.claims);
        }
        let validation = Validation { algorithms: vec![header.alg], ..self.validation.clone() };
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation)?.claims;
        let said = self.verified.keep(digest, Said { key, claims });
        self.caller(&said.claims)
    }

    fn caller(&self, claims: &Claims) -> Result<Caller, TokenError> {
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit a double's 53 bits for ages")]
        let (now, leeway) = ((self.clock.0.now().as_ms() / 1_000) as f64, LEEWAY_SECONDS as f64);
        let exp = claims.exp.ok_or(TokenError::Endless)?;
        if now > exp + leeway {
            return Err(TokenError::Expired);
        }
        if [claims.nbf, claims.iat].into_iter().flatten().any(|from| from > now + leeway) {
            return Err(TokenError::NotYetValid);
        }
        let visible = claims.sub.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || !(1..=SUBJECT_MAX_BYTES).contains(&claims.sub.len()) {
            return Err(TokenError::Subject);
        }
        let role = self.config.roles.role_of(&claims.others).ok_or(TokenError::NoRole)?;
        let session = (role == Role::Partner).then(|| Session {
            epoch: None,
            token: String::new(),
            issued_at: claims.iat.map(whole_seconds).unwrap_or_default(),
            // When the bearer has shown who it is (OpenID Connect Core, section 2).
            proven_at: claims.others.get("auth_time").and_then(Value::as_f64).map(whole_seconds),
        });
        let rule = self.config.scopes.as_ref().filter(|_| role == Role::Admin);
        let scopes = rule.map(|ScopeRule { claim, scopes }| meanings(&claims.others, claim, scopes).collect());
        let life = (exp - claims.iat.unwrap_or(now)).max(0.0);
        let token_life = Duration::try_from_secs_f64(life).unwrap_or(Duration::MAX);
        Ok(Caller { subject: claims.sub.clone(), role, issuer: Some(self.name.clone()), session, scopes, token_life })
    }
}

/// What a token says, and the key that has verified it.
struct Said {
    key: Arc<DecodingKey>,
    claims: Claims,
}

/// What is read of a token; times are seconds since 1970, which may have a fraction (RFC 7519, section 2).
#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: Option<f64>,
    nbf: Option<f64>,
    iat: Option<f64>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Seconds since 1970 without their fraction. What is no time is long ago.
fn whole_seconds(seconds: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a double saturates")]
    let seconds = seconds as u64;
    Timestamp::from_ms(seconds.saturating_mul(1_000))
}

impl RoleRule {
    fn role_of(&self, claims: &Map<String, Value>) -> Option<Role> {
        match self {
            Self::Fixed(role) => Some(*role),
            Self::Claim { claim, roles } => meanings(claims, claim, roles).max(),
        }
    }
}

/// What the values of a claim mean: a text as a whole, its words, or the texts of an array.
fn meanings<'a, T: Copy>(
    claims: &'a Map<String, Value>,
    claim: &str,
    known: &'a BTreeMap<String, T>,
) -> impl Iterator<Item = T> + use<'a, T> {
    let value = match claim.strip_prefix('/') {
        Some(path) => descend(claims, path),
        None => claims.get(claim),
    };
    let texts: Vec<&str> = match value {
        Some(Value::String(text)) => std::iter::once(text.as_str()).chain(text.split(' ')).collect(),
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().filter_map(|text| known.get(text).copied())
}

/// What a JSON Pointer leads to, given without its first `/`.
fn descend<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = claims.get(&unescape(first))?;
    match rest {
        Some(rest) => value.pointer(&format!("/{rest}")),
        None => Some(value),
    }
}

#[cfg(test)]
mod tests;
