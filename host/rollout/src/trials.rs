//! What is tried out at this gateway at the moment, and what it has seen of it. Read on the way of searches, so nothing here waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{RolloutWatch, Served};
use intent_gateway_domain::share::Share;
use serde::{Deserialize, Serialize};

use crate::evidence::{Evidence, Measure};

/// Which rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RolloutId {
    /// The candidate.
    pub digest: Digest,
    /// When it began, milliseconds since the epoch.
    pub begun_at_ms: Timestamp,
}

/// A rollout, in one of its stages.
#[derive(Debug)]
pub struct Trial {
    pub intent: IntentId,
    pub id: RolloutId,
    /// The live version.
    pub baseline: Digest,
    pub stage: usize,
    /// Which rankings are compared.
    pub compared: Share,
    /// From which processor time on a ranking is slow.
    pub slow: Duration,
    seen: Arc<Seen>,
}

/// How many accounts were begun in this process.
static ACCOUNTS: AtomicU64 = AtomicU64::new(0);

/// What was seen of a rollout here.
#[derive(Debug)]
struct Seen {
    /// Its number in this process.
    account: u64,
    evidence: Mutex<Evidence>,
    /// Counts additions.
    additions: AtomicU64,
}

impl Default for Seen {
    fn default() -> Self {
        let account = ACCOUNTS.fetch_add(1, Ordering::Relaxed);
        Self { account, evidence: Mutex::default(), additions: AtomicU64::new(0) }
    }
}

impl Trial {
    /// One of which nothing was seen here yet.
    #[must_use]
    pub fn new(
        intent: IntentId,
        id: RolloutId,
        baseline: Digest,
        stage: usize,
        compared: Share,
        slow: Duration,
    ) -> Self {
        Self { intent, id, baseline, stage, compared, slow, seen: Arc::default() }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
            && self.baseline == other.baseline
            && self.stage == other.stage
            && self.compared == other.compared
            && self.slow == other.slow
    }

    /// Nothing panics while it is held.
    fn evidence(&self) -> MutexGuard<'_, Evidence> {
        self.seen.evidence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to what was seen.
    pub fn add(&self, add: impl FnOnce(&mut Evidence, usize)) {
        add(&mut self.evidence(), self.stage);
        self.seen.additions.fetch_add(1, Ordering::Release);
    }

    /// What was seen here, and how often something was added to it.
    #[must_use]
    pub fn seen(&self) -> (u64, Evidence) {
        // Before it is read: what is added meanwhile is seen the next time.
        let additions = self.additions();
        (additions, self.evidence().clone())
    }

    /// The account of what was seen here. It goes on from stage to stage; where a rollout was not taken part in for a while, another
    /// one begins.
    #[must_use]
    pub fn account(&self) -> u64 {
        self.seen.account
    }

    /// How often something was added.
    #[must_use]
    pub fn additions(&self) -> u64 {
        self.seen.additions.load(Ordering::Acquire)
    }
}

/// All that is tried out at this gateway.
#[derive(Default)]
pub struct Trials {
    current: ArcSwap<BTreeMap<IntentId, Arc<Trial>>>,
}

impl Trials {
    /// Of nothing yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What is tried out of an intent.
    #[must_use]
    pub fn of(&self, intent: &IntentId) -> Option<Arc<Trial>> {
        let current = self.current.load();
        if current.is_empty() {
            return None;
        }
        current.get(intent).cloned()
    }

    /// Everything that is tried out.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Trial>> {
        self.current.load().values().cloned().collect()
    }

    /// From here on this is tried out. What was seen of a rollout stays with it from stage to stage.
    pub fn replace(&self, trials: Vec<Trial>) {
        let current = self.current.load_full();
        if trials.is_empty() && current.is_empty() {
            return;
        }
        let keep = |trial: Trial| {
            let last = current.get(&trial.intent).filter(|last| last.id == trial.id);
            let trial = match last {
                Some(last) if last.is_same(&trial) => last.clone(),
                Some(last) => Arc::new(Trial { seen: last.seen.clone(), ..trial }),
                None => Arc::new(trial),
            };
            (trial.intent.clone(), trial)
        };
        self.current.store(Arc::new(trials.into_iter().map(keep).collect()));
    }
}

impl RolloutWatch for Trials {
    fn served(&self, intent: &IntentId, candidate: Digest, how: Served<'_>) {
        let Some(trial) = self.of(intent).filter(|trial| trial.id.digest == candidate) else { return };
        trial.add(|evidence, stage| {
            let fault = match how {
                Served::ByCandidate => {
                    evidence.at_stage(stage).served += 1;
                    None
                }
                Served::InItsPlace(fault) => {
                    evidence.at_stage(stage).fell_back += 1;
                    Some(fault)
                }
                Served::NotAtAll(fault) => Some(fault),
            };
            note_fault(evidence, fault.map(is_deadline), None);
        });
    }
}

/// Whether it is the deadline that a contract has missed.
fn is_deadline(fault: &ContractFault) -> bool {
    matches!(fault, ContractFault::DeadlineExceeded(_))
}

/// Notes a call that has gone well, has missed its deadline, or has failed otherwise.
pub fn note_fault(evidence: &mut Evidence, is_deadline: Option<bool>, receipt: Option<&str>) {
    evidence.note(Measure::Faults, is_deadline == Some(false), receipt);
    evidence.note(Measure::DeadlineMisses, is_deadline == Some(true), receipt);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(stage: usize) -> Trial {
        let intent = IntentId::parse("test.find_things").expect("an intent");
        let id = RolloutId { digest: Digest::of(b"candidate"), begun_at_ms: Timestamp::from_ms(1) };
        Trial::new(intent, id, Digest::of(b"live"), stage, Share::default(), Duration::from_millis(1))
    }

    #[test]
    fn what_was_seen_goes_with_a_rollout_from_stage_to_stage() {
        let trials = Trials::new();
        trials.replace(vec![trial(0)]);
        let first = trials.of(&trial(0).intent).expect("it is tried out");
        first.add(|evidence, stage| evidence.at_stage(stage).compared += 1);
        trials.replace(vec![trial(1)]);
        let second = trials.of(&first.intent).expect("it is tried out");
        // Whoever still holds the one before counts for its stage.
        first.add(|evidence, stage| evidence.at_stage(stage).compared += 1);
        second.add(|evidence, stage| evidence.at_stage(stage).served += 1);
        let (additions, evidence) = second.seen();
        assert_eq!((additions, evidence.of_stage(0).compared, evidence.of_stage(1).served), (3, 2, 1));
        trials.replace(Vec::new());
        assert!(trials.of(&first.intent).is_none());
        trials.replace(vec![Trial { id: RolloutId { begun_at_ms: Timestamp::from_ms(2), ..first.id }, ..trial(0) }]);
        assert_eq!(trials.of(&first.intent).expect("another one").seen().0, 0, "another rollout begins with nothing");
    }

    #[test]
    fn searches_count_for_the_candidate_that_has_served_them() {
        let trials = Trials::new();
        trials.replace(vec![trial(1)]);
        let one = trials.of(&trial(1).intent).expect("it is tried out");
        let (trap, late) = (ContractFault::trap("unreachable"), ContractFault::DeadlineExceeded(200));
        let (candidate, other) = (one.id.digest, Digest::of(b"another"));
        for how in [Served::ByCandidate, Served::InItsPlace(&trap), Served::NotAtAll(&late)] {
            trials.served(&one.intent, candidate, how);
            trials.served(&one.intent, other, how);
        }
        let evidence = one.seen().1;
        let count = evidence.of_stage(1);
        assert_eq!((count.served, count.fell_back), (1, 1));
        let counted = |measure| (evidence.counted(measure).hits, evidence.counted(measure).of);
        assert_eq!((counted(Measure::Faults), counted(Measure::DeadlineMisses)), ((1, 3), (1, 3)));
    }
}
