//! What this gateway has made of the catalogue: what is wanted, what is ready here, what serves.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::versions::{MissingVersion, ServedIntent, StageFailure};
use intent_gateway_rollout::Trial;
use intent_gateway_signing::{Revocations, SignatureRefusal, TrustPolicy};

use crate::entry::Entry;
use crate::rollout::Rollout;

/// What is known at one moment.
#[derive(Clone, Default)]
pub(crate) struct View {
    /// The number of the latest change of the catalogue that it holds.
    pub(crate) seen: u64,
    pub(crate) entries: BTreeMap<IntentId, Entry>,
    /// The number of each entry's change.
    numbers: BTreeMap<IntentId, u64>,
    /// Versions that are ready here. A version that was examined for an upload is among them before it is in an entry.
    pub(crate) ready: HashMap<Digest, Ready>,
    /// Those that could not be made ready here.
    pub(crate) failed: HashMap<Digest, Failed>,
    /// Live versions that keep failing, where the store has not taken the roll-back yet: with what serves in their place.
    pub(crate) taken_out: BTreeMap<IntentId, TakenOut>,
    /// What is revoked, as it was last read.
    pub(crate) revocations: Arc<Revocations>,
    /// What is to serve here.
    pub(crate) chosen: BTreeMap<IntentId, Digest>,
    /// What serves here: behind what is chosen while that is published.
    pub(crate) served: BTreeMap<IntentId, Digest>,
}

/// A version that is ready here.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) at_ms: Timestamp,
    /// How long it took to make it ready, milliseconds.
    pub(crate) took_ms: u64,
}

/// A version that could not be made ready here.
#[derive(Clone)]
pub(crate) struct Failed {
    pub(crate) failure: StageFailure,
    pub(crate) at_ms: Timestamp,
    pub(crate) took_ms: u64,
}

/// A live version that gave way here before the store knew.
#[derive(Clone, Copy)]
pub(crate) struct TakenOut {
    pub(crate) failing: Digest,
    pub(crate) good: Digest,
}

impl View {
    /// Takes an entry as a change left it. What was read before and comes later is old news.
    pub(crate) fn insert(&mut self, number: u64, entry: Entry) {
        self.seen = self.seen.max(number);
        let last = self.numbers.entry(entry.intent.clone()).or_default();
        if number > *last {
            *last = number;
            self.entries.insert(entry.intent.clone(), entry);
        }
    }

    pub(crate) fn is_ready(&self, digest: Digest) -> bool {
        self.ready.contains_key(&digest)
    }

    /// The entry that has a version.
    pub(crate) fn entry_of(&self, digest: Digest) -> Option<&Entry> {
        self.entries.values().find(|entry| entry.version(digest).is_some())
    }

    /// Whether a version of the catalogue may run.
    ///
    /// # Errors
    /// [`SignatureRefusal`] where whoever has signed it is not trusted, or it is revoked.
    pub(crate) fn judge(&self, trust: &TrustPolicy, digest: Digest) -> Result<(), SignatureRefusal> {
        let (signatures, at) =
            self.entries.values().find_map(|entry| entry.signatures_of(digest)).unwrap_or((None, Timestamp::EPOCH));
        trust.judge(digest, signatures, at, &self.revocations).map(drop)
    }

    /// Whether a version of the catalogue has been revoked since it was taken.
    pub(crate) fn is_revoked(&self, trust: &TrustPolicy, digest: Digest) -> bool {
        self.judge(trust, digest).is_err_and(|refusal| refusal.is_revocation())
    }

    /// From here on, what is not trusted any more is not ready.
    pub(crate) fn withhold_untrusted(&mut self, trust: &TrustPolicy, now: Timestamp) {
        let judged = |digest: &Digest| self.judge(trust, *digest).err().map(|refusal| (*digest, refusal));
        let of_entries = self.entries.values().flat_map(|entry| entry.versions.iter().map(|version| version.digest));
        let known: Vec<Digest> = of_entries.collect();
        let refused: Vec<_> = known.iter().filter_map(judged).collect();
        for (digest, refusal) in refused {
            self.ready.remove(&digest);
            let failure = StageFailure { code: refusal.code().to_owned(), message: refusal.to_string() };
            self.failed.insert(digest, Failed { failure, at_ms: now, took_ms: 0 });
        }
    }

    /// Decides anew what is to serve.
    pub(crate) fn decide(&mut self) {
        let wanted = |entry: &Entry| self.taken_out.get(&entry.intent).is_some_and(|out| entry.is_live(out.failing));
        let done: Vec<IntentId> =
            self.taken_out.keys().filter(|intent| !self.entries.get(*intent).is_some_and(wanted)).cloned().collect();
        self.taken_out.retain(|intent, _| !done.contains(intent));
        let chosen = |entry: &Entry| Some((entry.intent.clone(), self.choose(entry)?));
        self.chosen = self.entries.values().filter_map(chosen).collect();
    }

    /// The version that is to serve an intent here: the live one, where it is ready, else the last good one that is. Better the one
    /// before than none.
    fn choose(&self, entry: &Entry) -> Option<Digest> {
        let live = entry.live?;
        let out = self.taken_out.get(&entry.intent).filter(|out| out.failing == live).map(|out| out.good);
        let candidates = out.into_iter().chain([live]).chain(entry.previous.iter().rev().copied());
        candidates.into_iter().find(|digest| entry.version(*digest).is_some() && self.is_ready(*digest))
    }

    /// What is to be loaded, and which of it serves.
    pub(crate) fn to_serve(&self) -> Vec<ServedIntent> {
        let of_entry = |entry: &Entry| ServedIntent {
            intent: entry.intent.clone(),
            live: self.chosen.get(&entry.intent).copied(),
            candidate: self
                .rollout_of(entry)
                .map(|rollout| (rollout.digest, rollout.share()))
                .filter(|(_, share)| !share.is_nothing()),
            ready: entry
                .versions
                .iter()
                .map(|version| version.digest)
                .filter(|digest| self.is_ready(*digest))
                .collect(),
        };
        self.entries.values().map(of_entry).collect()
    }

    /// The rollout of an intent, where this gateway can take part in it: it serves the version that the candidate is compared
    /// with, and has the candidate ready.
    fn rollout_of<'a>(&self, entry: &'a Entry) -> Option<&'a Rollout> {
        let rollout = entry.rollout.as_ref()?;
        let serves = self.chosen.get(&entry.intent) == Some(&rollout.baseline);
        (serves && self.is_ready(rollout.digest)).then_some(rollout)
    }

    /// What is tried out here.
    pub(crate) fn tried_out(&self) -> Vec<Trial> {
        self.entries.values().filter_map(|entry| Some(self.rollout_of(entry)?.to_trial(&entry.intent))).collect()
    }

    /// Versions of the catalogue that are neither ready here nor have failed, those that are to serve first.
    pub(crate) fn to_stage(&self) -> Vec<(IntentId, Digest)> {
        let is_missing = |digest: &Digest| !self.is_ready(*digest) && !self.failed.contains_key(digest);
        let mut missing = Vec::new();
        for entry in self.entries.values() {
            for digest in entry.versions.iter().map(|version| version.digest).filter(is_missing) {
                let is_coming = entry.coming.as_ref().is_some_and(|coming| coming.digest == digest);
                missing.push((!entry.is_live(digest), !is_coming, entry.intent.clone(), digest));
            }
        }
        missing.sort();
        missing.into_iter().map(|(_, _, intent, digest)| (intent, digest)).collect()
    }

    /// What is in the catalogue and could not be made ready here, sorted by intent.
    pub(crate) fn missing(&self) -> Vec<MissingVersion> {
        let of_entry = |entry: &Entry| {
            let serving = self.served.get(&entry.intent).and_then(|digest| entry.version(*digest));
            let serving = serving.map(|version| version.version.to_string());
            let missing = entry.versions.iter().filter_map(|version| {
                let Failed { failure: StageFailure { code, message }, .. } = self.failed.get(&version.digest)?;
                Some(MissingVersion {
                    intent: entry.intent.to_string(),
                    digest: version.digest,
                    origin: version.origin.clone(),
                    ought_to_serve: entry.is_live(version.digest),
                    serving: serving.clone(),
                    code: code.clone(),
                    message: message.clone(),
                })
            });
            missing.collect::<Vec<_>>()
        };
        self.entries.values().flat_map(of_entry).collect()
    }

    /// Forgets what is ready or has failed and is in no entry any more, but for `kept`.
    pub(crate) fn forget_others(&mut self, kept: &dyn Fn(Digest) -> bool) {
        let entries = &self.entries;
        let is_known =
            |digest: &Digest| kept(*digest) || entries.values().any(|entry| entry.version(*digest).is_some());
        self.ready.retain(|digest, _| is_known(digest));
        self.failed.retain(|digest, _| is_known(digest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_and_comes_later_is_old_news() {
        let intent = IntentId::parse("test.things").expect("an intent");
        let live = Digest::of(b"live");
        let entry = |live| Entry { live, ..Entry::new(intent.clone()) };
        let mut view = View::default();
        view.insert(12, entry(Some(live)));
        view.insert(11, entry(None));
        assert_eq!((view.seen, view.entries[&intent].live), (12, Some(live)));
        view.insert(13, entry(None));
        assert_eq!((view.seen, view.entries[&intent].live), (13, None));
    }
}
