//! Which tokens of an account are accepted, and what a token has to prove before it changes what the account is entered
//! or reached by.
//!
//! An account has an epoch, and its tokens carry it. An eviction moves the epoch: a secret is replaced at once, somebody
//! ends all sessions, a change is undone. Tokens of an earlier epoch are refused from then on, at every gateway that
//! shares the store, for each asks the store. A rotation with overlap moves nothing (spec 1, Limits: 24 hours), and a
//! suspended partner signs in as before.
//!
//! Not here: how tokens are signed and verified, which is the HTTP edge's; undoing, in [`undo`](super::undo).

use serde_json::json;

use super::OnboardingError;
use super::keeper::RecordKeeper;
use super::records::Account;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::Change;

/// How long a sign-in by a mailed code is fresh enough to end keys at once, and to name an address or move it, milliseconds.
pub const FRESH_SIGN_IN_MS: u64 = 15 * 60 * 1_000;
/// Clocks of who issued a token and of who reads it may differ by this much, milliseconds.
const CLOCKS_DIFFER_MS: u64 = 30 * 1_000;

/// What a partner's token says of the sign-in that it comes of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The account's epoch when the token was issued. Absent in tokens that were not made by a sign-in at a gateway: those
    /// of an outside issuer, of the command line, of an earlier release.
    pub epoch: Option<u64>,
    /// Names the token; empty where its issuer does not.
    pub token: String,
    /// When it was issued, to the second.
    pub issued_at: Timestamp,
    /// When its bearer has shown who it is: by a mailed code, or to the outside issuer. Absent for a token that
    /// credentials opened.
    pub proven_at: Option<Timestamp>,
}

/// Who asks for a change of an account.
#[derive(Clone, Debug)]
pub struct Requester {
    /// For the records.
    pub actor: Actor,
    /// Absent for the platform team, which acts for any account.
    pub session: Option<Session>,
}

impl Requester {
    /// Refuses a token that was evicted since the request came in.
    pub(crate) fn check_session(&self, account: &Account) -> Result<(), OnboardingError> {
        match &self.session {
            Some(session) if !account.admits(session) => Err(OnboardingError::SessionEnded),
            _ => Ok(()),
        }
    }

    /// Refuses a token without a fresh proof. The platform team needs none.
    pub(crate) fn check_proof(&self, now: Timestamp) -> Result<(), OnboardingError> {
        let Some(session) = &self.session else { return Ok(()) };
        let fresh = |proven_at: Timestamp| {
            now < proven_at.plus_ms(FRESH_SIGN_IN_MS) && proven_at <= now.plus_ms(CLOCKS_DIFFER_MS)
        };
        if session.proven_at.is_some_and(fresh) { Ok(()) } else { Err(OnboardingError::SignInNeeded) }
    }
}

impl Account {
    /// Whether a token is of this epoch, or is the one that outlived the last eviction.
    pub(crate) fn admits(&self, session: &Session) -> bool {
        match session.epoch {
            Some(epoch) => epoch == self.epoch || self.spared_token.as_ref() == Some(&session.token),
            None => self.evicted_at_ms.is_none_or(|evicted_at| session.issued_at > evicted_at),
        }
    }

    /// Ends all sessions but the one given.
    pub(crate) fn evict(&mut self, spared: Option<&Session>, now: Timestamp) {
        self.epoch += 1;
        self.evicted_at_ms = Some(now);
        self.spared_token = spared.map(|session| session.token.clone()).filter(|token| !token.is_empty());
    }
}

/// The sessions of accounts.
pub struct Sessions {
    pub(crate) keeper: RecordKeeper,
}

impl Sessions {
    /// Whether a token of an account is still accepted. One of a partner without an account, as of the configuration, is.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn is_current(&self, account: &str, session: &Session) -> Result<bool, OnboardingError> {
        let account = self.keeper.find::<Account>(account).await?;
        Ok(account.is_none_or(|account| account.value.admits(session)))
    }

    /// Ends all sessions of an account, that of the requester among them. Secrets go on working.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when there is no such account.
    pub async fn end_all(&self, account: &PartnerId, by: &Requester) -> Result<(), OnboardingError> {
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Account>(account.as_str(), "account").await?;
                by.check_session(&kept.value)?;
                kept.value.evict(None, self.keeper.now());
                let mut change = Change::default();
                change.put(&kept);
                change.audit.push(self.keeper.audit_entry(&by.actor, "account.sessions_ended", account, json!({})));
                Ok(Proposal::new(change, ()))
            })
            .await
    }
}
