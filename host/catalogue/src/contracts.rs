//! The contracts that serve, together with those that have left the list and may still be asked for: what was judged under a version
//! is judged again under it.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex as AsyncMutex;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::{Contract, Contracts, Offer};

use crate::service::Catalogue;

/// Retired versions that are held ready, the one that was asked for last first.
const HELD_MAX: usize = 16;

/// What serves, and what has served.
pub struct CataloguedContracts {
    serving: Arc<dyn Contracts>,
    catalogue: Arc<Catalogue>,
    retired: Mutex<Vec<Arc<dyn Contract>>>,
    /// Held while one is made ready: whoever asks for the same meanwhile waits, and so does whoever asks for another, for each may
    /// have to be compiled.
    fetching: AsyncMutex<()>,
}

impl CataloguedContracts {
    /// What serves is `serving`'s to say.
    #[must_use]
    pub fn new(serving: Arc<dyn Contracts>, catalogue: Arc<Catalogue>) -> Arc<Self> {
        Arc::new(Self { serving, catalogue, retired: Mutex::default(), fetching: AsyncMutex::default() })
    }

    async fn find(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        if self.catalogue.is_revoked(digest) {
            return None;
        }
        let held = self.hold(digest, None);
        if held.is_some() {
            return held;
        }
        let _fetching = self.fetching.lock().await;
        match self.hold(digest, None) {
            Some(held) => Some(held),
            None => self.hold(digest, Some(self.catalogue.fetch_retired(digest).await?)),
        }
    }

    /// Puts a held version, or a new one, to the front.
    fn hold(&self, digest: Digest, fetched: Option<Arc<dyn Contract>>) -> Option<Arc<dyn Contract>> {
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        let at = retired.iter().position(|held| held.digest() == digest);
        let found = at.map(|at| retired.remove(at)).or(fetched)?;
        retired.insert(0, found.clone());
        retired.truncate(HELD_MAX);
        Some(found)
    }
}

impl Contracts for CataloguedContracts {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        self.serving.live(intent)
    }

    fn offer(&self, intent: &str) -> Option<Offer> {
        self.serving.offer(intent)
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        self.serving.find_loaded(digest)
    }

    fn find_retired(&self, digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        self.find(digest).boxed()
    }

    fn is_revoked(&self, digest: Digest) -> bool {
        self.catalogue.is_revoked(digest)
    }

    fn find_revoked(&self, digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        self.catalogue.fetch_revoked(digest).boxed()
    }

    fn is_stale(&self) -> bool {
        self.catalogue.is_stale()
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        self.serving.all()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        self.serving.select_by_cues(utterance)
    }
}
