//! Which tools of which partners want a user's token.
//!
//! Tools that need no sign-in are called without a token (spec 1, Authentication, rule 1). Nothing says beforehand which
//! those are, so every tool is called without one until the partner has answered with a 401, and with one for a while after
//! that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::keyed::{Ends, Keyed, key};
use intent_gateway_domain::id::PartnerId;

/// How long it is remembered, milliseconds: an hour, so that a partner that opens a tool to everybody is believed again.
pub const REMEMBERED_MS: u64 = 60 * 60 * 1_000;
/// Tools of partners that are remembered at a time.
pub const TOOLS_MAX: usize = 20_000;

/// What one process has learned of it.
#[derive(Debug)]
pub struct SignIns(Mutex<Keyed<Until>>);

#[derive(Debug)]
struct Until(u64);

impl Ends for Until {
    fn ends_ms(&self) -> u64 {
        self.0
    }
}

impl Default for SignIns {
    fn default() -> Self {
        Self(Mutex::new(Keyed::new(TOOLS_MAX)))
    }
}

impl SignIns {
    /// Whether a tool is known to want a user's token.
    #[must_use]
    pub fn wanted(&self, partner: &PartnerId, tool: &str, now_ms: u64) -> bool {
        self.tools().get(&key(&[partner.as_str(), tool])).is_some_and(|until| until.0 > now_ms)
    }

    /// A call without a token was answered with a 401.
    pub fn learn(&self, partner: &PartnerId, tool: &str, now_ms: u64) {
        let key = key(&[partner.as_str(), tool]);
        let mut tools = self.tools();
        // Without room it is learned anew each time, at the price of a call.
        if tools.room_for(&key, now_ms).is_ok() {
            tools.entry(key, || Until(0)).0 = now_ms.saturating_add(REMEMBERED_MS);
        }
    }

    fn tools(&self) -> MutexGuard<'_, Keyed<Until>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_for_an_hour() {
        let (signs, one) = (SignIns::default(), PartnerId::parse("one").expect("well formed"));
        let two = PartnerId::parse("two").expect("well formed");
        assert!(!signs.wanted(&one, "book", 1_000));
        signs.learn(&one, "book", 1_000);
        assert!(signs.wanted(&one, "book", 1_000 + REMEMBERED_MS - 1));
        assert!(!signs.wanted(&one, "book", 1_000 + REMEMBERED_MS));
        assert!(!signs.wanted(&one, "search", 1_000) && !signs.wanted(&two, "book", 1_000));
    }
}
