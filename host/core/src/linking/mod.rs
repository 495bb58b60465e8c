//! Account linking: a user signs in at a partner once, and the partner is called with that user's own token from then on
//! (spec 1, Authentication, rule 1; OAuth 2.1 as MCP has it).
//!
//! [`Linking`] gives out addresses for users' browsers ([`offer`](Linking::offer)), sends the browser that opens one to the
//! partner's authorization server ([`begin`](Linking::begin)), takes it back ([`finish`](Linking::finish)), and hands out the
//! tokens that came of it ([`UserTokens`]), renewed when their time is over. One user's tokens are kept under that user's mark,
//! sealed for that place, and never given out for anybody else.
//!
//! Not here: which call needs a token (`outbound`), the requests to authorization servers
//! ([`Authorizer`]), HTTP and cookies.

mod begin;
mod cache;
mod error;
mod finish;
pub mod flow;
mod manage;
mod port;
mod records;
mod renewal;
mod service;
#[cfg(test)]
mod tests;
mod ticket;
mod tokens;

use futures_util::future::BoxFuture;

pub use begin::{Begun, PENDING_TTL_MS};
pub use error::LinkError;
pub use finish::Finished;
pub use manage::{LINKS_LISTED_MAX, LinkView, Revocation};
pub use port::{AuthMethod, Authorizer, Client, Grant, LinkFailure, Provider};
pub use service::{Background, CALLBACK_PATH, DOCUMENT_PATH, LinkOffer, Linking, Parts, Settings};
pub use ticket::TICKET_TTL_MS;

use crate::error::CallFailure;
use crate::id::{PartnerId, UserId};
use crate::partner::Partner;
use crate::secret::Secret;

/// The tokens that users have obtained at partners. One user's token is never given out for another user or partner.
pub trait UserTokens: Send + Sync {
    /// The user's token at a partner, refreshed where its time is nearly over. None where the user has not linked the
    /// account there, or has to do so anew.
    ///
    /// # Errors
    /// When nobody can say: the store or the authorization server cannot be reached. The call is then not made.
    fn token<'a>(
        &'a self,
        partner: &'a Partner,
        user: &'a UserId,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>>;

    /// The partner did not accept a token that was given out: the one that has replaced it, by refreshing if need be.
    ///
    /// # Errors
    /// As [`token`](Self::token).
    fn replaced<'a>(
        &'a self,
        partner: &'a Partner,
        user: &'a UserId,
        refused: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>>;

    /// Where the user links the account: an address for the user's browser, good for a short while. None where linking is
    /// not set up here.
    fn link(&self, partner: &PartnerId, user: &UserId, challenge: Option<&str>) -> Option<String>;
}

/// Nobody has linked anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlinked;

impl UserTokens for Unlinked {
    fn token<'a>(&'a self, _: &'a Partner, _: &'a UserId) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn replaced<'a>(
        &'a self,
        _: &'a Partner,
        _: &'a UserId,
        _: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn link(&self, _: &PartnerId, _: &UserId, _: Option<&str>) -> Option<String> {
        None
    }
}
