//! Randomness that a test can repeat, and a vault on top of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Entropy, NoEntropy, Vault};

/// Bytes that differ with each call and are the same in each run.
#[derive(Default)]
pub struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        for chunk in bytes.chunks_mut(32) {
            let digest = Digest::of(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
            chunk.copy_from_slice(&digest.as_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// No randomness at all, for a vault that only opens.
pub struct NoRandomness;

impl Entropy for NoRandomness {
    fn fill(&self, _: &mut [u8]) -> Result<(), NoEntropy> {
        Err(NoEntropy)
    }
}

/// A vault under a key of its own, with [`Counting`] for randomness.
#[must_use]
pub fn vault() -> Vault {
    Vault::new(&Secret::new("m".repeat(32)), &[], Arc::new(Counting::default()))
}
