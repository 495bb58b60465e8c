//! The keys of all partners that report, in memory: what signatures are verified with.
//!
//! The ring is read out of the store whenever a watched record changes, and replaced as a whole. A key that was ended
//! must not be taken any more, so a ring that could not be compared with the store for [`STALE_AFTER_MS`] verifies
//! nothing: reports are then refused for the moment, not taken on a guess.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex;

use super::signature::{Keys, VerifyingKey};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::fleet::standing::MonotonicClock;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{SigningKey, SigningKeys, Webhook, webhook_context};
use intent_gateway_domain::store::{Store, StoreError, all};
use intent_gateway_domain::vault::Vault;

/// How long a ring holds that was not compared with the store, milliseconds.
pub const STALE_AFTER_MS: u64 = 10_000;

/// No time at which anything was compared.
const NEVER: u64 = u64::MAX;

/// The keys of all partners.
pub struct KeyRing {
    store: Arc<dyn Store>,
    vault: Vault,
    configured: ArcSwap<Vec<(PartnerId, Keys)>>,
    keys: ArcSwap<HashMap<PartnerId, Keys>>,
    nobody: Keys,
    /// Time that nobody sets: a ring must grow neither stale nor fresh because the clock was set.
    steady: Arc<dyn MonotonicClock>,
    /// When the ring was last known to be what the store holds, milliseconds of the steady clock; [`NEVER`] before.
    compared_at_ms: AtomicU64,
    /// One refresh at a time: what was read earlier never replaces what was read later.
    refreshing: Mutex<()>,
}

/// The ring was not compared with the store for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signing keys could not be compared with the store for too long")]
pub struct Stale;

impl KeyRing {
    /// With the keys of partners of the configuration, which are always valid; those of the store come with the first
    /// refresh, before which the ring is stale.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        vault: Vault,
        steady: Arc<dyn MonotonicClock>,
        configured: impl IntoIterator<Item = (PartnerId, Secret)>,
    ) -> Self {
        let configured = ArcSwap::from_pointee(of_configuration(configured));
        Self {
            store,
            vault,
            configured,
            keys: ArcSwap::default(),
            nobody: Keys::none(),
            steady,
            compared_at_ms: AtomicU64::new(NEVER),
            refreshing: Mutex::default(),
        }
    }

    /// The configuration has the keys of these partners from now on. They verify after the next refresh.
    pub fn replace_configured(&self, configured: impl IntoIterator<Item = (PartnerId, Secret)>) {
        self.configured.store(Arc::new(of_configuration(configured)));
    }

    /// Works with the keys of a partner; for an unknown one they refuse everything, as slowly as others do.
    ///
    /// # Errors
    /// [`Stale`] when the ring must not be trusted.
    pub fn with<T>(&self, partner: &str, work: impl FnOnce(&Keys) -> T) -> Result<T, Stale> {
        let compared_at_ms = self.compared_at_ms.load(Ordering::Acquire);
        if compared_at_ms == NEVER || self.elapsed_ms().saturating_sub(compared_at_ms) > STALE_AFTER_MS {
            return Err(Stale);
        }
        let keys = self.keys.load();
        Ok(work(keys.get(partner).unwrap_or(&self.nobody)))
    }

    /// Whether a partner has keys.
    pub(crate) fn knows(&self, partner: &PartnerId) -> bool {
        self.keys.load().contains_key(partner)
    }

    /// Time of the steady clock, milliseconds.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        self.steady.elapsed_ms()
    }

    /// The store was asked at this time of the steady clock, and has not changed since the last refresh.
    pub fn note_compared(&self, at_ms: u64) {
        let later = |known: u64| (known == NEVER || known < at_ms).then_some(at_ms);
        // What was compared later stays.
        let _ = self.compared_at_ms.fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
    }

    /// Reads the store and puts a new ring in place. Should the store hold a partner of the same identifier as the
    /// configuration, the configuration's key counts. A key that cannot be opened is logged and left out.
    ///
    /// # Errors
    /// [`StoreError`]; the ring stays, and grows stale.
    async fn read_anew(&self) -> Result<(), StoreError> {
        let _refreshing = self.refreshing.lock().await;
        let asked_at_ms = self.elapsed_ms();
        let mut ring = HashMap::new();
        for kept in all::<Webhook>(&*self.store, None).await? {
            let Webhook { account, keys, .. } = kept.value;
            ring.insert(account.clone(), open_keys(&account, &keys, &self.vault));
        }
        ring.extend(self.configured.load().iter().cloned());
        self.keys.store(Arc::new(ring));
        self.note_compared(asked_at_ms);
        Ok(())
    }
}

impl SigningKeys for KeyRing {
    fn refresh(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.read_anew())
    }
}

/// Keys without an identifier of their own, which are valid for as long as they are configured.
fn of_configuration(configured: impl IntoIterator<Item = (PartnerId, Secret)>) -> Vec<(PartnerId, Keys)> {
    let keys = |key: &Secret| Keys::new([VerifyingKey::new("configured", key, Timestamp::EPOCH, None)]);
    configured.into_iter().map(|(partner, key)| (partner, keys(&key))).collect()
}

fn open_keys(account: &PartnerId, keys: &[SigningKey], vault: &Vault) -> Keys {
    let context = webhook_context(account);
    let key = |key: &SigningKey| match vault.open(&context, &key.sealed) {
        Ok(secret) => Some(VerifyingKey::new(&key.id, &secret, key.not_before_ms, key.not_after_ms)),
        Err(error) => {
            tracing::error!(partner = %account, key = %key.id, %error, "a signing key cannot be opened and is not used");
            None
        }
    };
    Keys::new(keys.iter().filter_map(key))
}
