//! What has happened to versions: where each came from, what happened to it, and the events that the audit log has not
//! taken yet. All of it is kept with the list of live versions, in the same write as what it tells of.

use std::collections::BTreeMap;
use std::sync::Arc;

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::succession::RemovedValue;
use intent_gateway_domain::versions::{
    ContractEvent, HISTORY_MAX, Origin, VersionAct, VersionEvent, VersionName, Whence,
};
use serde::{Deserialize, Serialize};

use crate::registry::Version;

/// Events that wait for the audit log, at most. There are few in a day; more wait only while the store is out of reach.
const WAITING_MAX: usize = 1_000;

/// Where a version came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provenance {
    pub(crate) origin: Origin,
    pub(crate) loaded_at_ms: Timestamp,
    pub(crate) loaded_by: Actor,
}

/// A change that somebody or something makes, at one time.
#[derive(Clone, Debug)]
pub(crate) struct Doing {
    pub(crate) at_ms: Timestamp,
    pub(crate) whence: Whence,
    pub(crate) by: Actor,
}

impl Doing {
    pub(crate) fn event(&self, act: VersionAct) -> VersionEvent {
        VersionEvent { at_ms: self.at_ms, act, whence: self.whence, by: self.by.clone() }
    }
}

/// The events of each version of an intent, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histories(BTreeMap<Digest, Vec<VersionEvent>>);

impl Histories {
    pub(crate) fn of(&self, digest: Digest) -> Vec<VersionEvent> {
        self.0.get(&digest).cloned().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, digest: Digest, event: VersionEvent) {
        let history = self.0.entry(digest).or_default();
        if history.len() == HISTORY_MAX {
            // The first tells of the loading.
            history.remove(1);
        }
        history.push(event);
    }

    pub(crate) fn restore(&mut self, digest: Digest, history: Vec<VersionEvent>) {
        self.0.insert(digest, history);
    }

    pub(crate) fn forget(&mut self, digest: Digest) {
        self.0.remove(&digest);
    }
}

/// What happened to a version, and what served its intent before and after.
#[derive(Clone)]
pub(crate) struct Happening {
    pub(crate) version: Arc<Version>,
    pub(crate) event: VersionEvent,
    pub(crate) live_before: Option<VersionName>,
    pub(crate) live_after: Option<VersionName>,
    /// The values of vocabularies that it took out.
    pub(crate) removed: Vec<RemovedValue>,
}

/// What one change did, in its order.
pub(crate) type Happened = Vec<Happening>;

/// Events that the audit log has not taken yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outbox {
    /// Number of the latest event.
    last: u64,
    /// Oldest first.
    waiting: Vec<ContractEvent>,
}

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn waiting(&self) -> Vec<ContractEvent> {
        self.waiting.clone()
    }

    pub(crate) fn add(&mut self, happened: &Happened) {
        for Happening { version, event, live_before, live_after, removed } in happened {
            self.last += 1;
            let descriptor = version.descriptor();
            self.waiting.push(ContractEvent {
                number: self.last,
                intent: descriptor.intent.clone(),
                version: descriptor.version.clone(),
                digest: version.digest(),
                origin: version.provenance.origin.clone(),
                event: event.clone(),
                live_before: live_before.clone(),
                live_after: live_after.clone(),
                removed: removed.clone(),
                from: event.by.from.clone(),
                scope: event.by.scope.clone(),
                approved_by: event.by.approved_by.clone(),
            });
        }
        if let Some(beyond) = self.waiting.len().checked_sub(WAITING_MAX).filter(|beyond| *beyond > 0) {
            tracing::error!(lost = beyond, "events of contracts are missing from the audit log; the store takes none");
            self.waiting.drain(..beyond);
        }
    }

    /// The audit log has taken all events up to this number.
    pub(crate) fn settle(&mut self, up_to: u64) {
        self.waiting.retain(|event| event.number > up_to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_bounded_and_keeps_the_loading() {
        let digest = Digest::of(b"x");
        let mut histories = Histories::default();
        let doing = |ms| Doing { at_ms: Timestamp::from_ms(ms), whence: Whence::Activation, by: Actor::gateway() };
        histories.add(digest, doing(0).event(VersionAct::Loaded));
        for ms in 1..200 {
            histories.add(digest, doing(ms).event(VersionAct::WentLive));
        }
        let history = histories.of(digest);
        assert_eq!(history.len(), HISTORY_MAX);
        assert_eq!((history[0].act, history[0].at_ms.as_ms()), (VersionAct::Loaded, 0));
        assert_eq!(history[HISTORY_MAX - 1].at_ms.as_ms(), 199);
        assert_eq!(history[1].at_ms.as_ms(), 200 - (HISTORY_MAX as u64 - 1));
    }
}
