//! Tokens that were read from the store a moment ago, so that a user's calls in a row need not read them each.
//!
//! Another process may have replaced or removed a token meanwhile: what is kept here is at most [`KEPT_MS`] old.

use std::sync::{Mutex, MutexGuard, PoisonError};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::secret::Secret;

/// How long a token is served from memory, milliseconds.
pub(super) const KEPT_MS: u64 = 5_000;
/// Tokens in memory.
const TOKENS_MAX: usize = 16_384;

/// A token in memory.
struct CachedToken {
    access: Secret,
    /// That it is for there was looked at before it was kept.
    place: String,
    until: Timestamp,
}

impl Expires for CachedToken {
    fn ends_at(&self) -> Timestamp {
        self.until
    }
}

struct State {
    kept: ExpiringMap<String, CachedToken>,
    /// Counts removals: what was read before one is not kept after it.
    removals: u64,
}

/// Tokens by the key of their link.
pub(super) struct TokenCache(Mutex<State>);

impl Default for TokenCache {
    fn default() -> Self {
        Self(Mutex::new(State { kept: ExpiringMap::new(TOKENS_MAX), removals: 0 }))
    }
}

impl TokenCache {
    pub(super) fn get(&self, key: &str, place: &str, now: Timestamp) -> Option<Secret> {
        let state = self.state();
        let kept = state.kept.get(key, now).filter(|kept| kept.place == place)?;
        Some(kept.access.clone())
    }

    /// To be asked before a token is read, and handed to [`keep`](Self::keep).
    pub(super) fn removals(&self) -> u64 {
        self.state().removals
    }

    /// Keeps a token that was read when there had been so many removals.
    pub(super) fn keep(
        &self,
        key: &str,
        place: &str,
        access: &Secret,
        until: Timestamp,
        now: Timestamp,
        removals: u64,
    ) {
        let mut state = self.state();
        if state.removals != removals {
            return;
        }
        let until = until.min(now.plus_ms(KEPT_MS));
        let kept = CachedToken { access: access.clone(), place: place.to_owned(), until };
        state.kept.insert(key.to_owned(), kept, now);
    }

    pub(super) fn remove(&self, key: &str) {
        let mut state = self.state();
        state.removals += 1;
        state.kept.remove(key);
    }

    /// What is kept is whole after every step, so that which a panic interrupted can be used.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn got(cache: &TokenCache, key: &str, now_ms: u64) -> Option<String> {
        cache.get(key, "https://a", at(now_ms)).map(|token| token.expose().to_owned())
    }

    #[test]
    fn a_token_is_served_for_a_moment_at_its_address() {
        let cache = TokenCache::default();
        cache.keep("k", "https://a", &Secret::new("t"), at(100_000), at(1_000), cache.removals());
        assert_eq!(got(&cache, "k", 5_999).as_deref(), Some("t"));
        assert_eq!(got(&cache, "k", 6_000), None);
        assert!(cache.get("k", "https://b", at(1_000)).is_none());
        cache.keep("k", "https://a", &Secret::new("t"), at(2_000), at(1_000), cache.removals());
        assert_eq!(got(&cache, "k", 2_000), None);
    }

    #[test]
    fn what_was_read_before_a_removal_is_not_kept_after_it() {
        let cache = TokenCache::default();
        let before = cache.removals();
        cache.remove("k");
        cache.keep("k", "https://a", &Secret::new("t"), at(100_000), at(1_000), before);
        assert_eq!(got(&cache, "k", 1_001), None);
    }

    #[test]
    fn the_tokens_in_memory_are_bounded() {
        let cache = TokenCache::default();
        for number in 0..3 * TOKENS_MAX {
            cache.keep(&number.to_string(), "https://a", &Secret::new("t"), at(100_000), at(1_000), 0);
            assert!(cache.state().kept.len() <= TOKENS_MAX);
        }
        assert_eq!(got(&cache, &(3 * TOKENS_MAX - 1).to_string(), 1_001).as_deref(), Some("t"));
    }
}
