//! The gateway's own tokens: JWTs (HS256) that it signs and verifies.
//!
//! The algorithm is pinned, the key is chosen by `kid` among the configured ones, and time comes from the clock port.
//! Not here: what outside issuers sign, which [`super::issuers`] verifies by public keys alone.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_onboarding::Session;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::verified::VerifiedTokens;
use super::{Caller, LEEWAY_SECONDS, Role, Scopes, TokenError, provider};

/// Issuer of every token that the gateway signs.
pub const ISSUER: &str = "intent-gateway";
/// Shortest key, bytes: the output of SHA-256 (RFC 7518, section 3.2).
pub const KEY_MIN_BYTES: usize = 32;
/// Longest life of a token, seconds: 30 days.
pub const TTL_MAX_SECONDS: u64 = 30 * 24 * 60 * 60;
/// Longest token that is looked at, bytes.
const TOKEN_MAX_BYTES: usize = 4 * 1024;
/// Longest subject, characters.
pub const SUBJECT_MAX_CHARS: usize = 128;
/// Hexadecimal characters of a key's digest that make its identifier.
const KEY_ID_CHARS: usize = 16;

/// The keys cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is none.
    #[error("no signing key is given")]
    Missing,
    /// One is too short.
    #[error("a signing key has {0} bytes; at least {KEY_MIN_BYTES} are needed")]
    TooShort(usize),
}

/// A token was not issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// The subject is empty, too long, or holds something else than visible characters.
    #[error("a subject is 1 to {SUBJECT_MAX_CHARS} visible ASCII characters")]
    Subject,
    /// The life asked for is zero or too long.
    #[error("a token lives 1 to {TTL_MAX_SECONDS} seconds")]
    Ttl,
    /// Signing failed.
    #[error("the token could not be signed")]
    Signing(#[source] jsonwebtoken::errors::Error),
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    role: Role,
    iat: u64,
    /// Never absent in what is issued and accepted.
    #[serde(default)]
    exp: Option<u64>,
    jti: String,
    /// The account's epoch, in the token of a partner that has signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
    /// When its bearer entered a mailed code (OpenID Connect Core, section 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth_time: Option<u64>,
    /// What an admin's token opens (RFC 8693, section 4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

/// How a partner has signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignIn {
    /// The account's epoch.
    pub(crate) epoch: u64,
    /// Whether by a code that was mailed to the account's address, just now.
    pub(crate) proven: bool,
}

struct Key {
    id: String,
    decoding: DecodingKey,
}

/// The keys in force, and what they have verified: with other keys that holds no more.
struct TokenKeys {
    signing: EncodingKey,
    /// The first is the signing key's; the rest are accepted during a rotation.
    accepted: Vec<Key>,
    verified: VerifiedTokens<Claims>,
}

impl TokenKeys {
    fn of(keys: &[Secret]) -> Result<Self, KeyError> {
        let first = keys.first().ok_or(KeyError::Missing)?;
        if let Some(short) = keys.iter().map(|key| key.expose().len()).find(|&length| length < KEY_MIN_BYTES) {
            return Err(KeyError::TooShort(short));
        }
        let accepted = keys
            .iter()
            .map(|key| Key { id: key_id(key), decoding: DecodingKey::from_secret(key.expose().as_bytes()) })
            .collect();
        let signing = EncodingKey::from_secret(first.expose().as_bytes());
        Ok(Self { signing, accepted, verified: VerifiedTokens::default() })
    }
}

/// Issues and verifies tokens.
pub struct Tokens {
    keys: ArcSwap<TokenKeys>,
    audience: String,
    validation: Validation,
    clock: Arc<dyn Clock>,
}

impl Tokens {
    /// Signs with the first key and accepts all of them.
    ///
    /// # Errors
    /// [`KeyError`] when there is no key or one is too short.
    pub fn new(keys: &[Secret], audience: &str, clock: Arc<dyn Clock>) -> Result<Self, KeyError> {
        provider::install();
        let keys = TokenKeys::of(keys)?;
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[audience]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        // Checked below, by the clock port.
        validation.validate_exp = false;
        Ok(Self { keys: ArcSwap::from_pointee(keys), audience: audience.to_owned(), validation, clock })
    }

    /// Signs with other keys from now on, and accepts these alone.
    ///
    /// # Errors
    /// As [`new`](Self::new); nothing is changed then.
    pub fn replace_keys(&self, keys: &[Secret]) -> Result<(), KeyError> {
        self.keys.store(Arc::new(TokenKeys::of(keys)?));
        Ok(())
    }

    /// Issues a token.
    ///
    /// # Errors
    /// [`IssueError`] when the subject or the life asked for is out of bounds.
    pub fn issue(&self, role: Role, subject: &str, ttl: Duration) -> Result<String, IssueError> {
        self.sign(role, subject, ttl, None, None)
    }

    /// Issues the token of an admin that opens these scopes alone.
    ///
    /// # Errors
    /// As [`issue`](Self::issue).
    pub fn issue_scoped(&self, subject: &str, ttl: Duration, scopes: &Scopes) -> Result<String, IssueError> {
        self.sign(Role::Admin, subject, ttl, None, Some(scopes))
    }

    /// Issues the token of a partner that has signed in.
    ///
    /// # Errors
    /// As [`issue`](Self::issue).
    pub(crate) fn issue_session(&self, account: &str, ttl: Duration, by: SignIn) -> Result<String, IssueError> {
        self.sign(Role::Partner, account, ttl, Some(by), None)
    }

    fn sign(
        &self,
        role: Role,
        subject: &str,
        ttl: Duration,
        by: Option<SignIn>,
        scopes: Option<&Scopes>,
    ) -> Result<String, IssueError> {
        let visible = subject.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || !(1..=SUBJECT_MAX_CHARS).contains(&subject.len()) {
            return Err(IssueError::Subject);
        }
        if !(1..=TTL_MAX_SECONDS).contains(&ttl.as_secs()) {
            return Err(IssueError::Ttl);
        }
        let iat = self.clock.now().as_ms() / 1_000;
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: self.audience.clone(),
            sub: subject.to_owned(),
            role,
            iat,
            exp: Some(iat + ttl.as_secs()),
            jti: Uuid::now_v7().to_string(),
            epoch: by.map(|by| by.epoch),
            auth_time: by.filter(|by| by.proven).map(|_| iat),
            scope: scopes.map(Scopes::to_string),
        };
        let mut header = Header::new(Algorithm::HS256);
        let keys = self.keys.load();
        header.kid = keys.accepted.first().map(|key| key.id.clone());
        jsonwebtoken::encode(&header, &claims, &keys.signing).map_err(IssueError::Signing)
    }

    /// Verifies a token.
    ///
    /// # Errors
    /// [`TokenError`], for the log; the caller learns no more than that the token is not accepted.
    pub fn verify(&self, token: &str) -> Result<Caller, TokenError> {
        if token.len() > TOKEN_MAX_BYTES {
            return Err(TokenError::TooLong(TOKEN_MAX_BYTES));
        }
        let claims = self.claims(token)?;
        let Claims { sub, role, iat, exp, jti, epoch, auth_time, scope, .. } = &*claims;
        let (role, iat, exp) = (*role, *iat, exp.ok_or(TokenError::Endless)?);
        let now = self.clock.now().as_ms() / 1_000;
        if now > exp.saturating_add(LEEWAY_SECONDS) {
            return Err(TokenError::Expired);
        }
        // A token of before the clock was set back is no token of the future.
        if iat > now.saturating_add(LEEWAY_SECONDS)
            && iat > (self.clock.latest().as_ms() / 1_000).saturating_add(LEEWAY_SECONDS)
        {
            return Err(TokenError::NotYetValid);
        }
        let session = (role == Role::Partner).then(|| Session {
            epoch: *epoch,
            token: jti.clone(),
            issued_at: Timestamp::from_ms(iat.saturating_mul(1_000)),
            proven_at: auth_time.map(|at| Timestamp::from_ms(at.saturating_mul(1_000))),
        });
        let scopes = match (role, scope) {
            (_, None) => None,
            (Role::Admin, Some(scope)) => Some(Scopes::parse(scope).ok_or(TokenError::Scope)?),
            (Role::Partner | Role::Orchestrator, Some(_)) => return Err(TokenError::Scope),
        };
        let token_life = Duration::from_secs(exp.saturating_sub(iat));
        Ok(Caller { subject: sub.clone(), role, issuer: None, session, scopes, token_life })
    }

    /// What a token says, once its signature, its issuer and its audience are right. None of that changes with the same keys.
    fn claims(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        let (digest, keys) = (Digest::of(token.as_bytes()), self.keys.load());
        if let Some(claims) = keys.verified.find(digest) {
            return Ok(claims);
        }
        let header = jsonwebtoken::decode_header(token).map_err(TokenError::Invalid)?;
        let key = keys.accepted.iter().find(|key| header.kid.as_deref() == Some(key.id.as_str()));
        let key = key.ok_or(TokenError::UnknownKey)?;
        let decoded = jsonwebtoken::decode::<Claims>(token, &key.decoding, &self.validation)?;
        Ok(keys.verified.keep(digest, decoded.claims))
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("audience", &self.audience).finish_non_exhaustive()
    }
}

/// A key's identifier says which key signed and nothing of the key.
#[must_use]
pub fn key_id(key: &Secret) -> String {
    let mut id = Digest::of(format!("intent-gateway key id\0{}", key.expose()).as_bytes()).to_string();
    id.truncate(KEY_ID_CHARS);
    id
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use intent_gateway_domain::clock::watch::WatchedClock;
    use intent_gateway_testing::clock::TestClock;

    use super::*;
    use crate::auth::Scope;
    use crate::auth::test_keys::Pair;

    const NOW_MS: u64 = 1_800_000_000_000;

    fn secret(letter: char) -> Secret {
        Secret::new(letter.to_string().repeat(KEY_MIN_BYTES))
    }

    fn tokens(keys: &[char]) -> (Tokens, Arc<TestClock>) {
        let clock = TestClock::at(NOW_MS);
        let keys: Vec<_> = keys.iter().map(|&letter| secret(letter)).collect();
        (Tokens::new(&keys, "here", clock.clone()).expect("usable keys"), clock)
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn other_keys_forget_what_the_former_ones_have_verified() {
        let (tokens, _) = tokens(&['a']);
        let token = tokens.issue(Role::Admin, "ops", HOUR).expect("issued");
        assert!(tokens.verify(&token).is_ok());
        tokens.replace_keys(&[secret('b'), secret('a')]).expect("usable keys");
        assert!(tokens.verify(&token).is_ok(), "its key is a former one");
        assert!(matches!(tokens.replace_keys(&[]), Err(KeyError::Missing)));
        tokens.replace_keys(&[secret('b')]).expect("usable keys");
        assert!(matches!(tokens.verify(&token), Err(TokenError::UnknownKey)), "its key is none any more");
        let token = tokens.issue(Role::Admin, "ops", HOUR).expect("issued");
        assert!(tokens.verify(&token).is_ok(), "signed with the new one");
    }

    #[test]
    fn accepts_what_it_issued() {
        let (tokens, _) = tokens(&['a']);
        let token = tokens.issue(Role::Admin, "ops", HOUR).expect("issued");
        let caller = tokens.verify(&token).expect("accepted");
        let subject = "ops".to_owned();
        let expected =
            Caller { subject, role: Role::Admin, issuer: None, session: None, scopes: None, token_life: HOUR };
        assert_eq!(caller, expected);
    }

    /// An hour back is no reason to refuse what was issued a moment ago; what no clock here has ever shown is.
    #[test]
    fn a_clock_that_is_set_back_refuses_no_token_of_its_own() {
        let wall = TestClock::at(NOW_MS);
        let clock = Arc::new(WatchedClock::new(wall.clone()));
        let tokens = Tokens::new(&[secret('a')], "here", clock.clone()).expect("a usable key");
        let issued = tokens.issue(Role::Admin, "ops", HOUR).expect("issued");
        let ahead = Tokens::new(&[secret('a')], "here", TestClock::at(NOW_MS + 60_000)).expect("a usable key");
        let ahead = ahead.issue(Role::Admin, "ops", HOUR).expect("issued");
        wall.set(NOW_MS - 3_600_000);
        assert!(clock.look().is_some_and(|jump| jump.by_ms <= -3_590_000));
        tokens.verify(&issued).expect("it was issued before the jump");
        assert!(matches!(tokens.verify(&ahead), Err(TokenError::NotYetValid)));
        wall.set(NOW_MS - 25 * 3_600_000);
        assert!(matches!(tokens.verify(&issued), Err(TokenError::NotYetValid)), "more than a day explains nothing");
    }

    #[test]
    fn scopes_are_an_admins_and_are_known() {
        let (tokens, _) = tokens(&['a']);
        let scopes = Scopes::from_iter([Scope::Ship, Scope::Watch]);
        let token = tokens.issue_scoped("ops", HOUR, &scopes).expect("issued");
        assert_eq!(tokens.verify(&token).expect("accepted").scopes, Some(scopes));
        let header = jsonwebtoken::decode_header(&token).expect("a header");
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).expect("claims")).expect("base64");
        let claims: serde_json::Value = serde_json::from_slice(&claims).expect("claims");
        for (role, scope) in [("admin", "root"), ("admin", ""), ("orchestrator", "ship"), ("partner", "all")] {
            let mut claims = claims.clone();
            (claims["role"], claims["scope"]) = (role.into(), scope.into());
            let token = Pair::secret(secret('a').expose().as_bytes()).sign_under(&header, &claims);
            assert!(matches!(tokens.verify(&token), Err(TokenError::Scope)), "{role} {scope}");
        }
    }

    #[test]
    fn a_partners_token_says_how_it_was_signed_in() {
        let (tokens, _) = tokens(&['a']);
        let session = |token: &str| tokens.verify(token).expect("accepted").session.expect("a partner's");
        let issued = |proven| tokens.issue_session("ptr_a", HOUR, SignIn { epoch: 7, proven }).expect("issued");
        let by_code = session(&issued(true));
        assert_eq!((by_code.epoch, by_code.proven_at), (Some(7), Some(Timestamp::from_ms(NOW_MS))));
        let by_secret = session(&issued(false));
        assert_eq!((by_secret.epoch, by_secret.proven_at), (Some(7), None));
        assert_ne!(by_code.token, by_secret.token);
        let elsewhere = session(&tokens.issue(Role::Partner, "ptr_a", HOUR).expect("issued"));
        assert_eq!((elsewhere.epoch, elsewhere.issued_at), (None, Timestamp::from_ms(NOW_MS)));
    }

    #[test]
    fn expires_after_its_life_and_the_leeway() {
        let (tokens, clock) = tokens(&['a']);
        let token = tokens.issue(Role::Orchestrator, "o", HOUR).expect("issued");
        clock.set(NOW_MS + 3_630_000);
        assert!(tokens.verify(&token).is_ok());
        clock.set(NOW_MS + 3_631_000);
        assert!(matches!(tokens.verify(&token), Err(TokenError::Expired)));
        clock.set(NOW_MS - 31_000);
        assert!(matches!(tokens.verify(&token), Err(TokenError::NotYetValid)));
    }

    #[test]
    fn a_token_without_an_end_is_refused_as_that() {
        let (tokens, _) = tokens(&['a']);
        let token = tokens.issue(Role::Admin, "ops", HOUR).expect("issued");
        let header = jsonwebtoken::decode_header(&token).expect("a header");
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).expect("claims")).expect("base64");
        let mut claims: serde_json::Value = serde_json::from_slice(&claims).expect("claims");
        let sign =
            |claims: &serde_json::Value| Pair::secret(secret('a').expose().as_bytes()).sign_under(&header, claims);
        claims["exp"] = serde_json::Value::Null;
        assert!(matches!(tokens.verify(&sign(&claims)), Err(TokenError::Endless)));
        claims.as_object_mut().expect("an object").remove("exp");
        assert!(matches!(tokens.verify(&sign(&claims)), Err(TokenError::Endless)));
        claims["exp"] = u64::MAX.into();
        assert!(tokens.verify(&sign(&claims)).expect("accepted here").token_life > 1_000_000 * HOUR);
    }

    #[test]
    fn rotates_keys() {
        let (old, _) = tokens(&['a']);
        let (new, _) = tokens(&['b', 'a']);
        let (newest, _) = tokens(&['b']);
        let token = old.issue(Role::Orchestrator, "o", HOUR).expect("issued");
        assert!(new.verify(&token).is_ok());
        assert!(matches!(newest.verify(&token), Err(TokenError::UnknownKey)));
        let token = new.issue(Role::Orchestrator, "o", HOUR).expect("issued");
        assert!(newest.verify(&token).is_ok());
    }

    #[test]
    fn refuses_forgeries() {
        let (tokens, _) = tokens(&['a']);
        let token = tokens.issue(Role::Orchestrator, "o", HOUR).expect("issued");
        let parts: Vec<_> = token.split('.').collect();
        let [head, claims, signature] = parts[..] else { panic!("three parts") };

        // The same claims under a key that is not ours, which claims our key's identifier.
        let ours = jsonwebtoken::decode_header(&token).expect("a header");
        let claims_value: Claims =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).expect("base64")).expect("claims");
        let forged = Pair::secret(secret('x').expose().as_bytes()).sign_under(&ours, &claims_value);
        assert!(matches!(tokens.verify(&forged), Err(TokenError::Invalid(_))));

        // Claims altered under the old signature.
        let admin = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).expect("base64"))
            .expect("UTF-8")
            .replace("orchestrator", "admin");
        let altered = format!("{head}.{}.{signature}", URL_SAFE_NO_PAD.encode(admin));
        assert!(matches!(tokens.verify(&altered), Err(TokenError::Invalid(_))));

        // Algorithms other than the pinned one.
        for (algorithm, key) in [(Algorithm::HS384, secret('a')), (Algorithm::HS512, secret('a'))] {
            let header = Header { alg: algorithm, ..ours.clone() };
            let other = Pair::secret(key.expose().as_bytes()).sign_under(&header, &claims_value);
            assert!(matches!(tokens.verify(&other), Err(TokenError::Invalid(_))));
        }
        let kid = ours.kid.expect("a key identifier");
        let none = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"none","typ":"JWT","kid":"{kid}"}}"#));
        assert!(tokens.verify(&format!("{none}.{claims}.")).is_err());
        assert!(matches!(tokens.verify(&"x".repeat(5_000)), Err(TokenError::TooLong(_))));
    }

    #[test]
    fn refuses_another_audience_issuer_or_key_length() {
        let (ours, clock) = tokens(&['a']);
        let elsewhere = Tokens::new(&[secret('a')], "elsewhere", clock.clone()).expect("usable");
        let token = elsewhere.issue(Role::Admin, "o", HOUR).expect("issued");
        assert!(matches!(ours.verify(&token), Err(TokenError::Invalid(_))));
        let short = [secret('a'), Secret::new("short")];
        assert_eq!(Tokens::new(&short, "here", clock.clone()).err(), Some(KeyError::TooShort(5)));
        assert_eq!(Tokens::new(&[], "here", clock).err(), Some(KeyError::Missing));
        assert!(matches!(ours.issue(Role::Admin, "", HOUR), Err(IssueError::Subject)));
        assert!(matches!(ours.issue(Role::Admin, "o", Duration::ZERO), Err(IssueError::Ttl)));
    }
}
