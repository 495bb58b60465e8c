//! The intents that this gateway ought to serve and does not: those that were live when it stopped, and those whose component
//! in the contract folder was not taken while nothing else serves them.
//!
//! One that an admin took out of service is missed by nobody.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use intent_gateway_domain::ports::ContractAdmin as _;
use intent_gateway_domain::versions::Origin;

use crate::sandbox::Sandbox;

/// The intents that were live when the gateway stopped, less those that were taken out of service since.
#[derive(Debug, Default)]
pub(crate) struct Expected(Mutex<BTreeSet<String>>);

impl Expected {
    pub(crate) fn of(intents: impl Iterator<Item = String>) -> Self {
        Self(Mutex::new(intents.collect()))
    }

    /// It was taken out of service.
    pub(crate) fn forget(&self, intent: &str) {
        self.intents().remove(intent);
    }

    /// It is whole after every step, so that one which a panic interrupted can be used.
    fn intents(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sandbox {
    /// The intents that should be live and are not, in their order.
    #[must_use]
    pub fn missing_intents(&self) -> BTreeSet<String> {
        let snapshot = self.inner.snapshot();
        let mut missing = self.inner.expected.intents().clone();
        let of_folder = self.failures().into_iter().filter(|failure| matches!(failure.origin, Origin::Folder(_)));
        // Where versions of it are loaded and none serves, somebody has decided so.
        let known: BTreeSet<String> = snapshot.summaries().into_iter().map(|version| version.intent).collect();
        missing.extend(of_folder.filter_map(|failure| failure.intent).filter(|intent| !known.contains(intent)));
        missing.retain(|intent| snapshot.find_live(intent).is_none());
        missing
    }
}
