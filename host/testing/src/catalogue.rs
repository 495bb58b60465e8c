//! A catalogue of contracts that a test changes as it goes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::BoxFuture;
use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::{Contract, Contracts, Offer};
use intent_gateway_domain::share::Share;

/// Loaded versions, of which at most one is live for each intent.
#[derive(Default)]
pub struct Catalogue(Mutex<Versions>, AtomicBool);

struct Versions {
    loaded: Vec<Arc<dyn Contract>>,
    live: Vec<Arc<dyn Contract>>,
    candidate: Option<(Arc<dyn Contract>, Share)>,
    revoked: Vec<Arc<dyn Contract>>,
    /// Of those that are live.
    cues: CueIndex,
}

impl Default for Versions {
    fn default() -> Self {
        let cues = CueIndex::build(std::iter::empty::<&[String]>());
        Self { loaded: Vec::new(), live: Vec::new(), candidate: None, revoked: Vec::new(), cues }
    }
}

impl Versions {
    /// Reads the live versions' cues anew.
    fn index(&mut self) {
        self.cues = CueIndex::build(self.live.iter().map(|contract| contract.descriptor().cues.as_slice()));
    }
}

impl Catalogue {
    /// A catalogue in which these are live.
    pub fn of<C: Contract + 'static>(live: impl IntoIterator<Item = Arc<C>>) -> Arc<Self> {
        let catalogue = Self::default();
        live.into_iter().for_each(|contract| catalogue.activate(contract));
        Arc::new(catalogue)
    }

    /// Loads a version and makes it live; the one before stays loaded.
    pub fn activate(&self, contract: Arc<dyn Contract>) {
        let mut versions = self.versions();
        versions.loaded.retain(|other| other.digest() != contract.digest());
        versions.loaded.push(Arc::clone(&contract));
        versions.live.retain(|other| other.descriptor().intent != contract.descriptor().intent);
        versions.live.push(contract);
        versions.live.sort_by(|a, b| a.descriptor().intent.cmp(&b.descriptor().intent));
        versions.index();
    }

    /// Loads a version that serves nobody.
    pub fn load(&self, contract: Arc<dyn Contract>) {
        self.versions().loaded.push(contract);
    }

    /// From here on a version serves a share of the users beside the live one.
    pub fn try_out(&self, candidate: Arc<dyn Contract>, share: Share) {
        let mut versions = self.versions();
        versions.loaded.push(Arc::clone(&candidate));
        versions.candidate = Some((candidate, share));
    }

    /// Takes an intent out of service; its versions stay loaded.
    pub fn retire(&self, intent: &str) {
        let mut versions = self.versions();
        versions.live.retain(|contract| contract.descriptor().intent.as_str() != intent);
        versions.index();
    }

    /// Forgets a version altogether.
    pub fn unload(&self, digest: Digest) {
        let mut versions = self.versions();
        versions.loaded.retain(|contract| contract.digest() != digest);
        versions.live.retain(|contract| contract.digest() != digest);
        versions.index();
    }

    /// Revokes a version: it is found by those alone who ask for a revoked one.
    pub fn revoke(&self, digest: Digest) {
        let mut versions = self.versions();
        let revoked = versions.loaded.iter().find(|contract| contract.digest() == digest).cloned();
        versions.revoked.extend(revoked);
        drop(versions);
        self.unload(digest);
    }

    /// From here on it has not been known for too long what is live, or it is known again.
    pub fn set_stale(&self, is_stale: bool) {
        self.1.store(is_stale, Ordering::Relaxed);
    }

    fn versions(&self) -> MutexGuard<'_, Versions> {
        self.0.lock().expect("no test panics in it")
    }
}

impl Contracts for Catalogue {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        let versions = self.versions();
        let mut live = versions.live.iter();
        live.find(|contract| {
            let descriptor = contract.descriptor();
            descriptor.intent.as_str() == intent || descriptor.aliases.iter().any(|alias| alias.as_str() == intent)
        })
        .cloned()
    }

    fn offer(&self, intent: &str) -> Option<Offer> {
        let live = self.live(intent)?;
        let versions = self.versions();
        let is_of_intent =
            |candidate: &&(Arc<dyn Contract>, Share)| candidate.0.descriptor().intent == live.descriptor().intent;
        let candidate = versions.candidate.iter().find(is_of_intent).cloned();
        Some(Offer { live: live.clone(), candidate })
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        self.versions().loaded.iter().find(|contract| contract.digest() == digest).cloned()
    }

    fn is_revoked(&self, digest: Digest) -> bool {
        self.versions().revoked.iter().any(|contract| contract.digest() == digest)
    }

    fn find_revoked(&self, digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        let found = self.versions().revoked.iter().find(|contract| contract.digest() == digest).cloned();
        Box::pin(std::future::ready(found))
    }

    fn is_stale(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        self.versions().live.clone()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        let versions = self.versions();
        versions.cues.select_by_cues(utterance).into_iter().map(|number| Arc::clone(&versions.live[number])).collect()
    }
}
