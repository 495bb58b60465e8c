//! Tokens that were verified before. A caller sends the same one with each request, and its signature says the same each time.
//!
//! Kept is what a token says, by the token's digest. What may change is not: whoever looks a token up here checks each time
//! whether its time is over, its key still its issuer's, its session still open.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use intent_gateway_domain::digest::Digest;

/// Tokens kept at most. When there are more, all are verified anew.
const KEPT_MAX: usize = 256;

/// What tokens say whose signature was verified. Reading takes no lock.
pub(super) struct VerifiedTokens<C>(ArcSwap<HashMap<Digest, Arc<C>>>);

impl<C> Default for VerifiedTokens<C> {
    fn default() -> Self {
        Self(ArcSwap::default())
    }
}

impl<C> fmt::Debug for VerifiedTokens<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifiedTokens").field(&self.0.load().len()).finish()
    }
}

impl<C> VerifiedTokens<C> {
    /// What a token says that was verified before.
    pub(super) fn find(&self, token: Digest) -> Option<Arc<C>> {
        self.0.load().get(&token).cloned()
    }

    /// Keeps what a token says whose signature has just been verified.
    pub(super) fn keep(&self, token: Digest, said: C) -> Arc<C> {
        let said = Arc::new(said);
        self.0.rcu(|kept| {
            let mut kept = if kept.len() < KEPT_MAX { HashMap::clone(kept) } else { HashMap::new() };
            kept.insert(token, Arc::clone(&said));
            kept
        });
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_kept_than_there_may_be_and_the_newest_always_is() {
        let tokens = VerifiedTokens::<usize>::default();
        for number in 0..3 * KEPT_MAX {
            let digest = Digest::of(number.to_string().as_bytes());
            assert!(tokens.find(digest).is_none());
            tokens.keep(digest, number);
            assert_eq!(tokens.find(digest).as_deref(), Some(&number));
            assert!(tokens.0.load().len() <= KEPT_MAX, "{number}");
        }
    }
}
