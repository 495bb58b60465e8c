//! Whose tokens were verified before, so that a caller can be told from others before any work is done.
//!
//! It says whose turn it is and opens nothing: each token is verified again where the request is worked on.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Tokens that are remembered. When there are more, all are forgotten, and noted again as they are verified.
const TOKENS_MAX: usize = 16_384;

/// The callers, by their tokens; both as keyed hashes.
#[derive(Default)]
pub(super) struct KnownCallers {
    callers: Mutex<HashMap<u64, u64>>,
    hashes: RandomState,
}

impl KnownCallers {
    pub(super) fn find(&self, token: u64) -> Option<u64> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner).get(&token).copied()
    }

    fn note(&self, token: u64, caller: &str) {
        let caller = self.hashes.hash_one(caller);
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= TOKENS_MAX {
            callers.clear();
        }
        callers.insert(token, caller);
    }
}

/// A token that was not verified before, among a request's extensions.
#[derive(Clone)]
pub(crate) struct UnknownToken {
    callers: Arc<KnownCallers>,
    token: u64,
}

impl UnknownToken {
    pub(super) fn new(callers: Arc<KnownCallers>, token: u64) -> Self {
        Self { callers, token }
    }

    /// It was verified.
    pub(crate) fn belongs_to(&self, caller: &str) {
        self.callers.note(self.token, caller);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokens_that_are_remembered_are_bounded() {
        let callers = KnownCallers::default();
        for token in 0..=TOKENS_MAX as u64 {
            callers.note(token, "one");
        }
        assert_eq!(callers.callers.lock().expect("whole").len(), 1);
        assert_eq!(callers.find(0), None);
        assert!(callers.find(TOKENS_MAX as u64).is_some());
    }
}
