//! Compares many receipts, on threads beside those that serve, in bounded memory: each worker takes a page, compares it and
//! takes the next one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_channel::mpsc::{self, Receiver};
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, join, join_all, poll_fn};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, CallContext};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, Evidence, Workers};
use intent_gateway_domain::receipt::{MarkedReceipt, Receipt, ReceiptsBack};
use intent_gateway_domain::store::StoreError;
use serde_json::value::RawValue;

use crate::budget::{DifferenceBudget, RequestDifference};
use crate::judged::Judged;
use crate::report::{BaselineName, ComparedVersion, ComparisonReport};
use crate::tally::{Compared, Tally};

/// Pages that are read ahead.
const PAGES_WAITING: usize = 2;

/// Where receipts come from, page by page.
pub trait ReceiptSource: Send + Sync {
    /// The next page; none after the last.
    fn next(&self) -> BoxFuture<'_, Result<Option<Vec<MarkedReceipt>>, StoreError>>;
}

/// What a candidate is compared with.
#[derive(Clone)]
pub enum Baseline {
    /// What was shown.
    Shown,
    /// What a version makes of it. What it has ranked itself is not ranked anew.
    Version(Arc<dyn Contract>),
}

/// Compares receipts.
pub struct Comparer {
    candidate: Arc<dyn Contract>,
    baseline: Baseline,
    budget: Option<DifferenceBudget>,
    deadline: Duration,
}

/// How far a comparison is. Read while it goes on.
#[derive(Debug, Default)]
pub struct Progress {
    receipts: AtomicU64,
    different: AtomicU64,
    reached_ms: AtomicU64,
}

impl Progress {
    /// Receipts that are compared.
    #[must_use]
    pub fn receipts(&self) -> u64 {
        self.receipts.load(Ordering::Relaxed)
    }

    /// Those of them in which something differs.
    #[must_use]
    pub fn different(&self) -> u64 {
        self.different.load(Ordering::Relaxed)
    }

    /// When the one was ranked that was compared last; none before the first.
    #[must_use]
    pub fn reached(&self) -> Option<Timestamp> {
        Some(self.reached_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0).map(Timestamp::from_ms)
    }
}

impl Comparer {
    /// `deadline` is what a call may take that serves somebody; a budget is that of the candidate.
    #[must_use]
    pub fn new(
        candidate: Arc<dyn Contract>,
        baseline: Baseline,
        budget: Option<DifferenceBudget>,
        deadline: Duration,
    ) -> Self {
        let beside = |contract: Arc<dyn Contract>| contract.beside_serving().unwrap_or(contract);
        let baseline = match baseline {
            Baseline::Shown => Baseline::Shown,
            Baseline::Version(contract) => Baseline::Version(beside(contract)),
        };
        Self { candidate: beside(candidate), baseline, budget, deadline }
    }

    pub(crate) async fn compare(&self, receipt: &Receipt, workers: &dyn Workers) -> Compared {
        let (before, baseline_took) = match &self.baseline {
            Baseline::Version(contract) if contract.digest() != receipt.contract => {
                let begun = workers.spent();
                let judged = Judged::anew(receipt, &**contract).await;
                (judged, Some(workers.spent().saturating_sub(begun)))
            }
            Baseline::Version(_) | Baseline::Shown => (Judged::of_receipt(receipt), None),
        };
        let request = self.compare_request(receipt).await;
        if self.candidate.digest() == receipt.contract {
            let after = Judged::of_receipt(receipt);
            return Compared { before, after, request, candidate_took: None, baseline_took };
        }
        let begun = workers.spent();
        let after = Judged::anew(receipt, &*self.candidate).await;
        let candidate_took = Some(workers.spent().saturating_sub(begun));
        Compared { before, after, request, candidate_took, baseline_took }
    }

    /// What becomes of a receipt's arguments as a request. They are what a version has made of the user's; a contract that makes
    /// something else of what it has passed before is compared with itself in that.
    async fn compare_request(&self, receipt: &Receipt) -> RequestDifference {
        if self.candidate.digest() == receipt.contract {
            return RequestDifference::None;
        }
        let by_candidate = check_request(&*self.candidate, receipt).await;
        if matches!(&by_candidate, Ok(arguments) if arguments.get() == receipt.arguments.get()) {
            return RequestDifference::None;
        }
        let by_baseline = match &self.baseline {
            Baseline::Version(contract) => Some(check_request(&**contract, receipt).await),
            Baseline::Shown => None,
        };
        let same = |found: &Result<Box<RawValue>, Judged>| match (found, &by_candidate) {
            (Ok(before), Ok(after)) => before.get() == after.get(),
            (Err(before), Err(after)) => before == after,
            _ => false,
        };
        if by_baseline.as_ref().is_some_and(same) {
            return RequestDifference::None;
        }
        match by_candidate {
            Ok(_) if by_baseline.is_none() => RequestDifference::None,
            Ok(_) => RequestDifference::Changes,
            Err(Judged::Failed { code }) => RequestDifference::Fails(code),
            Err(Judged::Refused { code }) => RequestDifference::Refuses(code),
            Err(Judged::Ranked(_)) => RequestDifference::None,
        }
    }

    /// What is told of a tally.
    #[must_use]
    pub fn report(&self, tally: &Tally) -> ComparisonReport {
        let named = |contract: &Arc<dyn Contract>| ComparedVersion {
            version: contract.descriptor().version.clone(),
            digest: contract.digest(),
        };
        let baseline = match &self.baseline {
            Baseline::Shown => BaselineName::Shown,
            Baseline::Version(contract) => BaselineName::Version(named(contract)),
        };
        tally.report((self.candidate.descriptor(), named(&self.candidate)), baseline)
    }

    pub(crate) fn budget(&self) -> Option<&DifferenceBudget> {
        self.budget.as_ref()
    }

    /// The intent that is compared.
    #[must_use]
    pub fn intent(&self) -> &IntentId {
        &self.candidate.descriptor().intent
    }
}

/// What becomes of a receipt's arguments as a request.
pub(crate) async fn check_request(contract: &dyn Contract, receipt: &Receipt) -> Result<Box<RawValue>, Judged> {
    let context = CallContext { request_id: receipt.request_id.clone(), now: receipt.at_ms };
    let tool = contract.descriptor().search.tool.clone();
    let checked = contract.check_request(&context, &tool, receipt.arguments.get(), About::default()).await;
    checked.map(|prepared| prepared.arguments).map_err(Judged::of_error)
}

/// Tells workers to stop when nobody waits for them any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The turn of the one who may, given back on drop.
pub(crate) struct Turn(Arc<AtomicBool>);

impl Turn {
    pub(crate) fn take(is_taken: &Arc<AtomicBool>) -> Option<Self> {
        (!is_taken.swap(true, Ordering::AcqRel)).then(|| Self(is_taken.clone()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Why a comparison came to no end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Receipts cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A thread could not be started, or ended before its work did: what it had compared is lost.
    #[error("{0} of the threads that compare ended before their work did")]
    WorkersLost(usize),
}

/// Compares all receipts of a source. Dropped, it stops at the next receipt.
///
/// # Errors
/// [`RunError`].
pub async fn run(
    comparer: Arc<Comparer>,
    source: Arc<dyn ReceiptSource>,
    workers: Arc<dyn Workers>,
    progress: Arc<Progress>,
) -> Result<Tally, RunError> {
    let is_over = Stop(Arc::new(AtomicBool::new(false)));
    let tally = Arc::new(Mutex::new((Tally::new(comparer.budget.clone(), comparer.deadline), 0)));
    let (pages, taken) = mpsc::channel(PAGES_WAITING);
    let taken = Arc::new(futures_util::lock::Mutex::new(taken));
    let work = (0..workers.count()).map(|_| {
        let (comparer, taken, progress) = (comparer.clone(), taken.clone(), progress.clone());
        let (on_workers, is_over, tally) = (workers.clone(), is_over.0.clone(), tally.clone());
        let part = async move {
            let mut own = Tally::new(comparer.budget.clone(), comparer.deadline);
            take_pages(&comparer, &taken, &*on_workers, &progress, &is_over, &mut own).await;
            let mut all = tally.lock().unwrap_or_else(PoisonError::into_inner);
            all.0.merge(own);
            all.1 += 1;
        };
        workers.run(Box::pin(part))
    });
    let work: Vec<_> = work.collect();
    // Where no worker is left, nobody takes pages any more.
    drop(taken);
    let (read, _) = join(read_pages(&*source, pages), join_all(work)).await;
    read?;
    let empty = Tally::new(comparer.budget.clone(), comparer.deadline);
    let mut all = tally.lock().unwrap_or_else(PoisonError::into_inner);
    match workers.count() - all.1 {
        0 => Ok(std::mem::replace(&mut all.0, empty)),
        lost => Err(RunError::WorkersLost(lost)),
    }
}

/// Reads here, where the store is used, and not on the threads of workers.
async fn read_pages(source: &dyn ReceiptSource, mut pages: mpsc::Sender<Vec<MarkedReceipt>>) -> Result<(), StoreError> {
    while let Some(page) = source.next().await? {
        if send(&mut pages, page).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Waits until there is room.
pub(crate) async fn send<T>(to: &mut mpsc::Sender<T>, item: T) -> Result<(), mpsc::SendError> {
    poll_fn(|context| to.poll_ready(context)).await?;
    to.start_send(item)
}

async fn take_pages(
    comparer: &Comparer,
    pages: &futures_util::lock::Mutex<Receiver<Vec<MarkedReceipt>>>,
    workers: &dyn Workers,
    progress: &Progress,
    is_over: &AtomicBool,
    tally: &mut Tally,
) {
    while !is_over.load(Ordering::Relaxed) {
        let Some(page) = pages.lock().await.next().await else { break };
        for MarkedReceipt { receipt, .. } in page {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let compared = comparer.compare(&receipt, workers).await;
            let differs = tally.add(&receipt, &compared);
            progress.receipts.fetch_add(1, Ordering::Relaxed);
            progress.different.fetch_add(u64::from(differs), Ordering::Relaxed);
            progress.reached_ms.store(receipt.at_ms.as_ms(), Ordering::Relaxed);
        }
    }
}

/// The receipts of an intent that are kept, the latest first.
pub struct KeptReceipts {
    evidence: Arc<dyn Evidence>,
    intent: IntentId,
    since: Timestamp,
    place: futures_util::lock::Mutex<Place>,
}

struct Place {
    /// Where the next page begins; none after the last one.
    before: Option<u64>,
    is_over: bool,
    /// Receipts that may still be given.
    left: u64,
}

impl KeptReceipts {
    /// Those since a time, the latest `limit` of them.
    #[must_use]
    pub fn since(evidence: Arc<dyn Evidence>, intent: IntentId, since: Timestamp, limit: u64) -> Self {
        let place = Place { before: None, is_over: false, left: limit };
        Self { evidence, intent, since, place: futures_util::lock::Mutex::new(place) }
    }
}

impl ReceiptSource for KeptReceipts {
    fn next(&self) -> BoxFuture<'_, Result<Option<Vec<MarkedReceipt>>, StoreError>> {
        Box::pin(async move {
            let mut place = self.place.lock().await;
            while !place.is_over && place.left > 0 {
                let page = self.evidence.receipts_back(&self.intent, self.since, place.before).await?;
                let ReceiptsBack { mut receipts, next } = page;
                (place.before, place.is_over) = (next, next.is_none());
                receipts.truncate(usize::try_from(place.left).unwrap_or(usize::MAX));
                if !receipts.is_empty() {
                    place.left -= receipts.len() as u64;
                    return Ok(Some(receipts));
                }
            }
            Ok(None)
        })
    }
}
