//! Account linking: a user signs in at a partner once, and the partner is called with that user's own token from then on
//! (spec 1, Authentication, rule 1; OAuth 2.1 as MCP has it).
//!
//! [`Linking`] gives out addresses for users' browsers ([`offer`](Linking::offer)), says what whoever opens one is to be asked
//! ([`confirmation`](Linking::confirmation)), sends the browser to the partner's authorization server ([`begin`](Linking::begin)), takes it back ([`finish`](Linking::finish)), and hands out the
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

pub use begin::{Confirmation, PENDING_TTL_MS, SignInStart};
pub use error::{LinkCode, LinkError};
pub use finish::LinkedAccount;
pub use manage::{LinkView, Revocation};
pub use port::{AuthMethod, Authorizer, Client, Grant, LinkFailure, Provider};
pub use records::{check, reseal};
pub use service::{ArrangedClient, Background, LinkOffer, Linking, LinkingSetup, Settings};
