//! Versions that were kept and could not be taken up when the gateway started, and the intents that this gateway ought to serve and
//! does not.

use std::collections::BTreeSet;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::ContractAdmin as _;
use intent_gateway_domain::versions::{MissingVersion, Origin};

use crate::library::KeptVersion;
use crate::registry::Intent;
use crate::sandbox::Sandbox;

/// A version that was kept and could not be taken up. It stays in the list of what is kept, so that it is back once its component
/// is.
#[derive(Clone)]
pub(crate) struct Missing {
    pub(crate) kept: KeptVersion,
    /// How many versions were loaded before it.
    pub(crate) place: usize,
    /// Whether it served, and nobody has put another one in its place since.
    pub(crate) ought_to_serve: bool,
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Intent {
    /// Somebody has decided what serves: a missing version does not come back by itself any more. Whether one would have.
    pub(crate) fn replace_missing(&mut self) -> bool {
        let ought_to_serve = self.missing.iter().any(|missing| missing.ought_to_serve);
        self.missing.iter_mut().for_each(|missing| missing.ought_to_serve = false);
        ought_to_serve
    }

    pub(crate) fn missing(&self, intent: &IntentId) -> impl Iterator<Item = MissingVersion> {
        let serving = self.live_name().map(|live| live.version.to_string());
        self.missing.iter().map(move |missing| MissingVersion {
            intent: intent.as_str().to_owned(),
            digest: missing.kept.digest,
            origin: missing.kept.provenance.origin.clone(),
            ought_to_serve: missing.ought_to_serve,
            serving: serving.clone(),
            code: missing.code.clone(),
            message: missing.message.clone(),
        })
    }

    /// The versions that are to be kept: those that are loaded, and the missing ones in their places among them.
    pub(crate) fn add_missing(&self, versions: &mut Vec<KeptVersion>) {
        for Missing { kept, place, .. } in &self.missing {
            versions.insert((*place).min(versions.len()), kept.clone());
        }
    }

    /// The missing version that ought to serve.
    pub(crate) fn awaited(&self) -> Option<Digest> {
        self.missing.iter().find(|missing| missing.ought_to_serve).map(|missing| missing.kept.digest)
    }

    /// Lets go of missing versions beyond the bound, but not of one that ought to serve.
    pub(crate) fn shrink_missing(&mut self, kept: usize) -> Vec<Digest> {
        let mut evicted = Vec::new();
        while self.versions.len() + self.missing.len() > kept
            && let Some(spared) = self.missing.iter().position(|missing| !missing.ought_to_serve)
        {
            let digest = self.missing.remove(spared).kept.digest;
            self.previous.retain(|previous| *previous != digest);
            evicted.push(digest);
        }
        evicted
    }
}

impl Sandbox {
    /// The intents that this gateway ought to serve and does not, in their order: those whose version cannot be taken up, and those
    /// whose component in the contract folder was not taken while nothing else serves them. One that an admin took out of service
    /// is missed by nobody.
    #[must_use]
    pub fn missing_intents(&self) -> BTreeSet<String> {
        let snapshot = self.inner.snapshot();
        let ought_to_serve = snapshot.missing().into_iter().filter(|missing| missing.ought_to_serve);
        let mut missing: BTreeSet<String> = ought_to_serve.map(|missing| missing.intent).collect();
        let of_folder = self.failures().into_iter().filter(|failure| matches!(failure.origin, Origin::Folder(_)));
        // Where versions of it are loaded and none serves, somebody has decided so.
        let known: BTreeSet<String> = snapshot.summaries().into_iter().map(|version| version.intent).collect();
        missing.extend(of_folder.filter_map(|failure| failure.intent).filter(|intent| !known.contains(intent)));
        missing.retain(|intent| snapshot.find_live(intent).is_none());
        missing
    }
}
