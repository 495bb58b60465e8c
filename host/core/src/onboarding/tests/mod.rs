//! Each step of onboarding taken, refused and raced, over a store that keeps the port's promises.

mod accounts;
mod connections;
mod credentials;
mod health;
mod inflation;
mod mail;
pub(crate) mod memory;
mod reviews;
mod world;

pub(crate) use memory::MemoryStore;
pub(crate) use world::Counting;

/// A vault for tests beside those of onboarding.
pub(crate) fn vault() -> crate::vault::Vault {
    let entropy = std::sync::Arc::new(Counting::default());
    crate::vault::Vault::new(&crate::secret::Secret::new("m".repeat(32)), &[], entropy)
}
