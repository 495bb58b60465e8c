//! Compares a part of the live traffic while a candidate is tried out: after the answer has gone out, one ranking at a time, on a
//! thread of the lowest priority. Where that cannot keep up, rankings are left out, and counted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_channel::mpsc::{Receiver, Sender, channel};
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, join, poll_fn};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::growth::Shed;
use intent_gateway_domain::ports::{ContractAdmin, Contracts, Journal, ReceiptFate, Workers, find_version};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::share::Place;
use intent_gateway_domain::telemetry;
use intent_gateway_domain::user::User;
use intent_gateway_rollout::{Evidence, Measure, Trial, Trials, note_fault};

use crate::budget::RequestDifference;
use crate::difference::Difference;
use crate::embedded::read_budget;
use crate::judged::Judged;
use crate::run::{Baseline, Comparer};
use crate::tally::Compared;

/// Rankings that wait at most, and bytes of their options.
const WAITING_MAX: usize = 64;
const WAITING_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Comparers that are kept: one for each rollout.
const COMPARERS_MAX: usize = 32;

/// How faults are called that are no candidate's.
const OVERLOADED: &str = "OVERLOADED";
/// How a missed deadline is called.
const DEADLINE: &str = "CONTRACT_DEADLINE";

/// Compares what is tried out.
pub struct Shadow {
    trials: Arc<Trials>,
    contracts: Arc<dyn Contracts>,
    catalogue: Arc<dyn ContractAdmin>,
    workers: Arc<dyn Workers>,
    /// What a call may take that serves somebody.
    deadline: Duration,
    waiting: Mutex<Waiting>,
    /// Told when something waits.
    told: Mutex<Sender<()>>,
    heard: futures_util::lock::Mutex<Receiver<()>>,
    comparers: Mutex<VecDeque<(Arc<Trial>, Arc<Comparer>)>>,
}

#[derive(Default)]
struct Waiting {
    receipts: VecDeque<(Arc<Trial>, Receipt)>,
    bytes: usize,
}

impl Shadow {
    #[must_use]
    pub fn new(
        trials: Arc<Trials>,
        contracts: Arc<dyn Contracts>,
        catalogue: Arc<dyn ContractAdmin>,
        workers: Arc<dyn Workers>,
        deadline: Duration,
    ) -> Arc<Self> {
        let (told, heard) = channel(1);
        let (told, heard) = (Mutex::new(told), futures_util::lock::Mutex::new(heard));
        let (waiting, comparers) = (Mutex::default(), Mutex::default());
        Arc::new(Self { trials, contracts, catalogue, workers, deadline, waiting, told, heard, comparers })
    }

    /// Takes a ranking, where it is one of those that are compared. Never waits.
    pub fn take(&self, receipt: &Receipt) {
        let Some(trial) = self.trials.of(&receipt.intent) else { return };
        let concerns = receipt.contract == trial.baseline || receipt.contract == trial.id.digest;
        if !concerns || !trial.compared.takes(Place::of_text(&receipt.id)) {
            return;
        }
        if self.put(&trial, receipt) {
            // Somebody was told already where it is full.
            let _ = self.told.lock().unwrap_or_else(PoisonError::into_inner).try_send(());
        } else {
            telemetry::rollout_compared(&receipt.intent, true);
            trial.add(|evidence, stage| evidence.at_stage(stage).left_out += 1);
        }
    }

    fn put(&self, trial: &Arc<Trial>, receipt: &Receipt) -> bool {
        let bytes = size(receipt);
        let mut waiting = self.waiting();
        if waiting.receipts.len() == WAITING_MAX || waiting.bytes + bytes > WAITING_MAX_BYTES {
            return false;
        }
        waiting.bytes += bytes;
        waiting.receipts.push_back((trial.clone(), receipt.clone()));
        true
    }

    /// Compares what comes, for ever: on one thread, which ends with this.
    pub async fn run(&self) {
        let (work, taken) = channel(0);
        let comparing = self.workers.run(Box::pin(compare_all(taken, self.workers.clone())));
        join(comparing, self.hand_over(work)).await;
    }

    /// Hands over what waits, as fast as it is compared. Components are read here, where the store is used.
    async fn hand_over(&self, mut work: Sender<Work>) {
        let mut heard = self.heard.lock().await;
        while heard.next().await.is_some() {
            while let Some((trial, receipt)) = self.next() {
                // A rollout that is over wants to know nothing more.
                if self.trials.of(&trial.intent).is_none_or(|current| current.id != trial.id) {
                    continue;
                }
                let Some(comparer) = self.comparer(&trial).await else { continue };
                let is_open = poll_fn(|context| work.poll_ready(context)).await.is_ok();
                if !is_open || work.start_send(Work { trial, receipt, comparer }).is_err() {
                    return;
                }
            }
        }
    }

    fn next(&self) -> Option<(Arc<Trial>, Receipt)> {
        let mut waiting = self.waiting();
        let next = waiting.receipts.pop_front()?;
        waiting.bytes = waiting.bytes.saturating_sub(size(&next.1));
        Some(next)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What compares for a rollout.
    async fn comparer(&self, trial: &Arc<Trial>) -> Option<Arc<Comparer>> {
        let known = self.comparers().iter().find(|(of, _)| of.id == trial.id && of.baseline == trial.baseline).cloned();
        if let Some((_, comparer)) = known {
            return Some(comparer);
        }
        let candidate = find_version(&*self.contracts, trial.id.digest).await?;
        let baseline = find_version(&*self.contracts, trial.baseline).await?;
        let component = match self.catalogue.component(trial.id.digest).await {
            Ok(component) => component,
            Err(error) => {
                tracing::warn!(intent = %trial.intent, error = chain(&error), "a candidate is not compared: its component cannot be read");
                return None;
            }
        };
        // One that cannot be read was no budget when it was loaded either.
        let budget = component.as_deref().and_then(|component| read_budget(component).ok().flatten());
        let comparer = Arc::new(Comparer::new(candidate, Baseline::Version(baseline), budget, self.deadline));
        let mut comparers = self.comparers();
        comparers.retain(|(of, _)| of.intent != trial.intent);
        comparers.push_front((trial.clone(), comparer.clone()));
        comparers.truncate(COMPARERS_MAX);
        Some(comparer)
    }

    fn comparers(&self) -> MutexGuard<'_, VecDeque<(Arc<Trial>, Arc<Comparer>)>> {
        self.comparers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A ranking that is to be compared.
struct Work {
    trial: Arc<Trial>,
    receipt: Receipt,
    comparer: Arc<Comparer>,
}

async fn compare_all(mut taken: Receiver<Work>, workers: Arc<dyn Workers>) {
    while let Some(Work { trial, receipt, comparer }) = taken.next().await {
        let compared = comparer.compare(&receipt, &*workers).await;
        telemetry::rollout_compared(&trial.intent, false);
        trial.add(|evidence, stage| note(evidence, stage, &trial, &receipt, &comparer, &compared));
    }
}

/// Bytes of what partners have answered: the greater part of a receipt.
fn size(receipt: &Receipt) -> usize {
    let options = receipt.payloads.iter().flat_map(|payload| &payload.candidates);
    options.map(|option| option.json.get().len()).sum()
}

/// Notes a comparison among what was seen of a candidate.
fn note(
    evidence: &mut Evidence,
    stage: usize,
    trial: &Trial,
    receipt: &Receipt,
    comparer: &Comparer,
    Compared { before, after, request, candidate_took, .. }: &Compared,
) {
    let difference = Difference::between(before, after);
    let fault = match (request, &difference) {
        (RequestDifference::Fails(code), _) | (_, Difference::Fails(code)) => Some(code.as_str()),
        _ => None,
    };
    if matches!(difference, Difference::NotComparable(_)) || fault == Some(OVERLOADED) {
        return;
    }
    let id = Some(receipt.id.as_str());
    evidence.at_stage(stage).compared += 1;
    note_fault(evidence, fault.map(|code| code == DEADLINE), id);
    if let Some(took) = candidate_took {
        evidence.note(Measure::Slow, *took > trial.slow, id);
    }
    if fault.is_none() {
        let is_refused =
            matches!(request, RequestDifference::Refuses(_)) || matches!(difference, Difference::Refuses(_));
        evidence.note(Measure::Refused, is_refused, id);
    }
    if let (Judged::Ranked(before), Judged::Ranked(after)) = (before, after) {
        let ranks = match &difference {
            Difference::Ranks(ranks) => Some(ranks),
            _ => None,
        };
        evidence.note(Measure::Empty, !before.ranked.is_empty() && after.ranked.is_empty(), id);
        evidence.note(Measure::FirstChanged, ranks.is_some_and(|ranks| ranks.first_changed), id);
        evidence.note(Measure::Dropped, ranks.is_some_and(|ranks| !ranks.newly_dropped.is_empty()), id);
        evidence.note(Measure::Reordered, ranks.is_some_and(|ranks| ranks.reordered), id);
    }
    if let Some(budget) = comparer.budget() {
        evidence.note(Measure::OutsideBudget, !budget.find_outside(request, &difference).is_empty(), id);
    }
}

/// A journal that shows rankings to the shadow before it keeps them.
pub struct ShadowedJournal {
    pub journal: Arc<dyn Journal>,
    pub shadow: Arc<Shadow>,
}

impl Journal for ShadowedJournal {
    fn record(&self, finding: Finding) {
        self.journal.record(finding);
    }

    fn keep_shared(&self, receipt: Arc<Receipt>, user: Option<&User>) {
        self.shadow.take(&receipt);
        self.journal.keep_shared(receipt, user);
    }

    fn receipt_fate(&self) -> ReceiptFate {
        self.journal.receipt_fate()
    }

    fn was_late_within(&self, span: Duration) -> bool {
        self.journal.was_late_within(span)
    }

    fn is_shedding(&self) -> Shed {
        self.journal.is_shedding()
    }

    fn settle(&self) -> BoxFuture<'_, bool> {
        self.journal.settle()
    }
}
