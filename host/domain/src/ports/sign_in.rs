//! Accounts that users link at partners.

use futures_util::future::BoxFuture;

use crate::error::CallFailure;
use crate::id::PartnerId;
use crate::partner::Partner;
use crate::secret::Secret;
use crate::sign_in::SignInServer;
use crate::user::User;

/// Where a user signs in at a partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInLink {
    /// An address for this user's browser alone, good for a short while.
    pub url: String,
    /// What the page there shows as well: a user who sees another one, or was told none, was sent somebody else's link.
    pub code: String,
}

/// The tokens that users have obtained at partners. One user's token is never given out for another user or partner.
pub trait UserTokens: Send + Sync {
    /// The user's token at a partner, refreshed where its time is nearly over. None where the user has not linked the
    /// account there, or has to do so anew.
    ///
    /// # Errors
    /// When nobody can say: the store or the authorization server cannot be reached. The call is then not made.
    fn token<'a>(&'a self, partner: &'a Partner, user: &'a User) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>>;

    /// The partner did not accept a token that was given out: the one that has replaced it, by refreshing if need be.
    ///
    /// # Errors
    /// As [`token`](Self::token).
    fn replace_token<'a>(
        &'a self,
        partner: &'a Partner,
        user: &'a User,
        refused: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>>;

    /// Where the user links the account. None where linking is not set up here.
    fn link(&self, partner: &PartnerId, user: &User, challenge: Option<&str>) -> Option<SignInLink>;
}

/// Which authorization servers partners may send users to.
pub trait SignInServers: Send + Sync {
    /// A partner's server has named an authorization server: whether users may be sent there. Where nobody can say, they may
    /// not.
    fn admit<'a>(&'a self, partner: &'a Partner, named: &'a SignInServer) -> BoxFuture<'a, bool>;
}

/// Nobody has linked anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlinked;

impl UserTokens for Unlinked {
    fn token<'a>(&'a self, _: &'a Partner, _: &'a User) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn replace_token<'a>(
        &'a self,
        _: &'a Partner,
        _: &'a User,
        _: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn link(&self, _: &PartnerId, _: &User, _: Option<&str>) -> Option<SignInLink> {
        None
    }
}
