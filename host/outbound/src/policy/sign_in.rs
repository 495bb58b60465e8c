//! Which tools of which partners want a user's token.
//!
//! Tools that need no sign-in are called without a token (spec 1, Authentication, rule 1). Nothing says beforehand which
//! those are, so every tool is called without one until the partner has answered with a 401, and with one for a while after
//! that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key_of;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{CallFailure, INSUFFICIENT_SCOPE};
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::platform_code::PlatformCode;

/// How long it is remembered, milliseconds: an hour, so that a partner that opens a tool to everybody is believed again.
pub(crate) const REMEMBERED_MS: u64 = 60 * 60 * 1_000;
/// Tools of partners that are remembered at a time.
pub const TOOLS_MAX: usize = 20_000;

/// What a failure says of the user's sign-in, with the partner's challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInNeed<'a> {
    /// Nothing.
    None,
    /// One is wanted, or another than was shown.
    Other(Option<&'a str>),
    /// The token is good, and grants too little: no other one will do but that of a wider grant.
    Wider(&'a str),
}

impl<'a> SignInNeed<'a> {
    /// Reads a failure.
    #[must_use]
    pub(crate) fn of(failure: &'a CallFailure) -> Self {
        match failure {
            CallFailure::SignInRequired { challenge } if challenge.contains(INSUFFICIENT_SCOPE) => {
                Self::Wider(challenge)
            }
            CallFailure::SignInRequired { challenge } => Self::Other(Some(challenge)),
            _ if failure.platform_code() == Some(PlatformCode::InvalidAuth) => Self::Other(None),
            _ => Self::None,
        }
    }
}

/// What one process has learned of which tools want a token.
#[derive(Debug)]
pub struct SignIns(Mutex<ExpiringMap<Digest, RememberedUntil>>);

#[derive(Debug)]
struct RememberedUntil(Timestamp);

impl Expires for RememberedUntil {
    fn ends_at(&self) -> Timestamp {
        self.0
    }
}

impl Default for SignIns {
    fn default() -> Self {
        Self(Mutex::new(ExpiringMap::new(TOOLS_MAX)))
    }
}

impl SignIns {
    /// Whether a tool is known to want a user's token.
    #[must_use]
    pub(crate) fn is_wanted(&self, partner: &PartnerId, tool: &str, now: Timestamp) -> bool {
        self.tools().get(&key_of(&[partner.as_str(), tool]), now).is_some()
    }

    /// A call without a token was answered with a 401.
    pub fn learn(&self, partner: &PartnerId, tool: &str, now: Timestamp) {
        // One that has to make room is learned anew, at the price of a call.
        let until = RememberedUntil(now.plus_ms(REMEMBERED_MS));
        self.tools().insert(key_of(&[partner.as_str(), tool]), until, now);
    }

    fn tools(&self) -> MutexGuard<'_, ExpiringMap<Digest, RememberedUntil>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_tool_is_known_for_an_hour() {
        let (signs, one) = (SignIns::default(), PartnerId::parse("one").expect("well formed"));
        let two = PartnerId::parse("two").expect("well formed");
        assert!(!signs.is_wanted(&one, "book", at(1_000)));
        signs.learn(&one, "book", at(1_000));
        assert!(signs.is_wanted(&one, "book", at(1_000 + REMEMBERED_MS - 1)));
        assert!(!signs.is_wanted(&one, "book", at(1_000 + REMEMBERED_MS)));
        assert!(!signs.is_wanted(&one, "search", at(1_000)) && !signs.is_wanted(&two, "book", at(1_000)));
    }
}
