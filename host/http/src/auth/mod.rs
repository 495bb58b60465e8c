//! Who calls: bearer tokens, their roles, and the account that a partner's token opens.
//!
//! A token is either the gateway's own ([`tokens`]) or that of a configured outside issuer ([`issuers`]); its `iss`
//! says which, and each is verified in its own way. Not here: which route asks for what, which [`crate::audience`]
//! decides.

pub mod issuers;
mod jwks;
mod provider;
mod rules;
mod scope;
#[cfg(test)]
mod test_keys;
#[cfg(test)]
pub(crate) mod test_sessions;
mod tokens;
mod verified;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{HeaderMap, header};
use intent_gateway_domain::approval::Person;
use intent_gateway_domain::audit::Actor;
use intent_gateway_onboarding::{OnboardingError, Session, Sessions};
use jsonwebtoken::errors::ErrorKind;
use serde::{Deserialize, Serialize};

use self::issuers::Issuers;
pub use self::jwks::{JwksError, JwksFetch};
pub use self::rules::TokenRules;
pub use self::scope::{Scope, Scopes};
pub(crate) use self::tokens::SignIn;
pub use self::tokens::{
    ISSUER, IssueError, KEY_MIN_BYTES, KeyError, SUBJECT_MAX_CHARS, TTL_MAX_SECONDS, Tokens, key_id,
};
use crate::client::Network;
use crate::error::{Code, Refusal};

/// Clocks of issuer and verifier may differ by this much, seconds.
pub(crate) const LEEWAY_SECONDS: u64 = 30;

pub(crate) const CHALLENGE_MISSING: &str = "Bearer";
/// RFC 9470, section 3; the age is that of [`FRESH_SIGN_IN_MS`](intent_gateway_onboarding::FRESH_SIGN_IN_MS), seconds.
pub(crate) const CHALLENGE_STALE: &str = r#"Bearer error="insufficient_user_authentication", max_age="900""#;
pub(crate) const CHALLENGE_INVALID: &str = r#"Bearer error="invalid_token""#;
const CHALLENGE_SCOPE: &str = r#"Bearer error="insufficient_scope""#;

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Runs its own account; the token's subject is the account's identifier.
    Partner,
    /// Lists intents, classifies, searches.
    Orchestrator,
    /// All of that, for any account, and runs the platform, as far as its [`Scopes`] go.
    Admin,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Partner, Self::Orchestrator, Self::Admin];

    /// The role as a token and the OpenAPI document name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Partner => "partner",
            Self::Orchestrator => "orchestrator",
            Self::Admin => "admin",
        }
    }

    /// Whether this role may do what `required` may.
    #[must_use]
    pub fn covers(self, required: Self) -> bool {
        self == Self::Admin || self == required
    }
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The token's subject.
    pub subject: String,
    pub role: Role,
    /// The outside issuer that vouches for the subject; none for the gateway itself.
    pub issuer: Option<Arc<str>>,
    /// What a partner's token says of its sign-in; none in the other roles, which have no account.
    pub session: Option<Session>,
    /// What an admin's token opens; none in the other roles. Where a token itself names none, [`TokenRules`] say what it opens.
    pub scopes: Option<Scopes>,
    /// From the issue of its token to its end; from now, where the token does not say when it was issued.
    pub token_life: Duration,
}

impl Caller {
    /// The caller as logs and records name it: two issuers may know different people under one subject.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.issuer {
            Some(issuer) => format!("{issuer}#{}", self.subject),
            None => self.subject.clone(),
        }
    }

    /// Refuses a caller who does not have at least this role.
    pub(crate) fn require(&self, required: Role) -> Result<(), Refusal> {
        if self.role.covers(required) {
            return Ok(());
        }
        let (required, own) = (required.as_str(), self.role.as_str());
        let message = format!("This route takes the role `{required}`; the token has `{own}`.");
        Err(Refusal::new(Code::Forbidden).challenge(CHALLENGE_SCOPE).message(message))
    }

    /// The caller as a person who asks or approves.
    #[must_use]
    pub(crate) fn person(&self) -> Person {
        Person { issuer: self.issuer.as_deref().map(str::to_owned), subject: self.subject.clone() }
    }

    /// The caller for the records, and where it asks from.
    #[must_use]
    pub(crate) fn actor(&self, network: Option<&Network>) -> Actor {
        let from = network.map(|network| network.0.to_string());
        let scope = self.scopes.as_ref().map(Scopes::to_string);
        Actor { from, scope, ..Actor::new(self.role.as_str(), self.name()) }
    }

    /// Whether the caller may act for an account: its own partner may, and every admin.
    #[must_use]
    pub(crate) fn acts_for(&self, account: &str) -> bool {
        match self.role {
            Role::Admin => true,
            Role::Partner => self.subject == account,
            Role::Orchestrator => false,
        }
    }
}

/// A token is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Another algorithm, a bad signature, or claims of another shape, issuer or audience.
    #[error("the token does not verify")]
    Invalid(#[source] jsonwebtoken::errors::Error),
    /// The key that it names is not known, or the issuer's keys cannot be had.
    #[error("the token names no key that is known")]
    UnknownKey,
    /// It is signed in a way that its issuer does not use.
    #[error("the token's algorithm is not one that its issuer is configured with")]
    Algorithm,
    /// It has an extension that must be understood, and is not.
    #[error("the token has a critical extension")]
    Critical,
    /// It is longer than any that is issued.
    #[error("the token is longer than {0} bytes")]
    TooLong(usize),
    /// Its subject is empty, too long, or holds something else than visible characters.
    #[error("the token's subject cannot be used")]
    Subject,
    /// It names a scope that there is none of, or its role has no scopes.
    #[error("the token's scope cannot be used")]
    Scope,
    /// It does not say when it ends.
    #[error("the token has no end")]
    Endless,
    /// It lives longer than a token of its role may.
    #[error("the token lives longer than {0} seconds")]
    LifeTooLong(u64),
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come, or it says that it was issued in the future.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// It is good, and its issuer's claims give it no role here.
    #[error("the token's claims give no role")]
    NoRole,
    /// The sessions of its account were ended.
    #[error("the token's session was ended")]
    Ended,
}

/// Knows which sessions of accounts were ended.
pub(crate) trait SessionCheck: Send + Sync {
    /// Whether a token of an account is still accepted. The answer holds for every gateway that shares the store.
    fn is_current<'a>(&'a self, account: &'a str, session: &'a Session)
    -> BoxFuture<'a, Result<bool, OnboardingError>>;
}

impl SessionCheck for Sessions {
    fn is_current<'a>(
        &'a self,
        account: &'a str,
        session: &'a Session,
    ) -> BoxFuture<'a, Result<bool, OnboardingError>> {
        Box::pin(self.is_current(account, session))
    }
}

/// Knows every token that is accepted.
pub(crate) struct Access {
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) sessions: Arc<dyn SessionCheck>,
    pub(crate) rules: TokenRules,
}

impl Access {
    /// Who calls, in whatever role.
    pub(crate) async fn identify(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let token = bearer(headers).ok_or_else(|| Refusal::new(Code::InvalidAuth).challenge(CHALLENGE_MISSING))?;
        self.identify_bearer(token).await
    }

    /// Who bears a token.
    pub(crate) async fn identify_bearer(&self, token: &str) -> Result<Caller, Refusal> {
        let verified = match self.issuers.named_in(token) {
            Some(issuer) => issuer.verify(token).await,
            None => self.tokens.verify(token),
        };
        let caller = verified.and_then(|caller| self.rules.complete(caller)).map_err(|error| refuse(&error))?;
        if let Some(session) = &caller.session
            && !self.sessions.is_current(&caller.subject, session).await?
        {
            return Err(refuse(&TokenError::Ended));
        }
        Ok(caller)
    }
}

impl From<jsonwebtoken::errors::Error> for TokenError {
    fn from(error: jsonwebtoken::errors::Error) -> Self {
        match error.kind() {
            ErrorKind::MissingRequiredClaim(claim) if claim == "exp" => Self::Endless,
            _ => Self::Invalid(error),
        }
    }
}

/// What an unusable token is answered with; what was wrong with it goes to the log.
fn refuse(error: &TokenError) -> Refusal {
    let detail =
        std::error::Error::source(error).map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    let refusal = match error {
        TokenError::NoRole => Refusal::new(Code::Forbidden)
            .challenge(CHALLENGE_SCOPE)
            .message("The token is good and gives its bearer no role here."),
        TokenError::Endless | TokenError::LifeTooLong(_) => {
            Refusal::new(Code::TokenLifeTooLong).challenge(CHALLENGE_INVALID)
        }
        _ => Refusal::new(Code::InvalidAuth).challenge(CHALLENGE_INVALID),
    };
    refusal.internal(detail)
}

/// What a token of another account is answered with, whether that account exists or not.
pub(crate) fn not_this_account() -> Refusal {
    Refusal::new(Code::Forbidden).challenge(CHALLENGE_SCOPE).message("The token is not one of this account.")
}

/// What a verified token's signature is over, which tells it from every other: the signature itself may be written in more than one
/// way. Empty where there is no token.
pub(crate) fn signed_part(headers: &HeaderMap) -> &str {
    bearer(headers).and_then(|token| token.rsplit_once('.')).map_or("", |(signed, _)| signed)
}

/// The token of the one `Authorization` header; two of them are as good as none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_accounts() {
        assert!(Role::Admin.covers(Role::Partner) && Role::Admin.covers(Role::Orchestrator));
        assert!(!Role::Partner.covers(Role::Orchestrator) && !Role::Orchestrator.covers(Role::Partner));
        assert!(!Role::Partner.covers(Role::Admin) && !Role::Orchestrator.covers(Role::Admin));
        let caller = |role| Caller {
            subject: "ptr_a".to_owned(),
            role,
            issuer: None,
            session: None,
            scopes: None,
            token_life: Duration::ZERO,
        };
        assert!(caller(Role::Partner).acts_for("ptr_a") && !caller(Role::Partner).acts_for("ptr_b"));
        assert!(caller(Role::Admin).acts_for("ptr_b") && !caller(Role::Orchestrator).acts_for("ptr_a"));
        assert_eq!(caller(Role::Admin).name(), "ptr_a");
        let issuer = Some("https://id.example".into());
        assert_eq!(Caller { issuer, ..caller(Role::Admin) }.name(), "https://id.example#ptr_a");
    }

    #[test]
    fn reads_one_bearer_header() {
        let headers = |values: &[&str]| {
            values
                .iter()
                .map(|value| (header::AUTHORIZATION, value.parse().expect("a header value")))
                .collect::<HeaderMap>()
        };
        assert_eq!(bearer(&headers(&["Bearer abc"])), Some("abc"));
        assert_eq!(bearer(&headers(&["bearer  abc"])), Some("abc"));
        for bad in [&[][..], &["abc"], &["Basic abc"], &["Bearer "], &["Bearer a", "Bearer b"]] {
            assert_eq!(bearer(&headers(bad)), None, "{bad:?}");
        }
    }
}
