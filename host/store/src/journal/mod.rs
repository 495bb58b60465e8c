//! The journal: takes findings and receipts of searches, and keeps them a moment later, many in one transaction.
//!
//! Nobody waits for it. One task holds the queue, gathers for a moment, compresses and writes: findings into the database, in
//! small transactions, for on both engines the bookings of completion reports wait for them; receipts beside it, where they wait
//! for nobody. While the store is down, the batch in hand is tried until the store is back, and the queue fills meanwhile. What has no
//! room and what cannot be kept is counted, told in the log from time to time, and lost. What is not to be kept, since the disk is
//! nearly full, is counted by itself.
//!
//! Not here: findings of completion reports that are booked, which are kept with their entry in the ledger. What was
//! found in a report that is refused comes this way, for it has no entry.

mod load;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join};
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::growth::Shed;
use intent_gateway_domain::ports::{self, ReceiptFate};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::store::{StoreError, StoreTrouble};
use intent_gateway_domain::supervise;
use intent_gateway_domain::user::User;
use intent_gateway_domain::user_data::ranking_mark;
use intent_gateway_domain::vault::{Mark, Vault};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::batching;
use crate::error::EngineError;
use crate::evidence::{finding_values, receipt_rows};
use crate::receipts::ReceiptPage;
use crate::records::SqlStore;
use crate::retry::write_again;
use crate::value::Value;
use load::Load;

/// Findings and receipts that wait, at most.
const QUEUE_MAX: usize = 8_192;
/// Bytes that those hold, about, at most.
const HELD_MAX_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of one receipt before it is compressed, about; a larger one is lost.
const RECEIPT_MAX_BYTES: usize = 8 * 1024 * 1024;
/// What makes a batch, whichever is reached first. The last one taken may exceed the bytes.
const BATCH_MAX: usize = 256;
const BATCH_MAX_BYTES: usize = 1024 * 1024;
/// How long somebody waits for what was recorded to be kept.
const SETTLE_MAX: Duration = Duration::from_secs(10);
/// How long to gather after the first of a batch has come.
const GATHER: Duration = Duration::from_millis(20);
/// How often it is looked in that time for what has come.
const GATHER_LOOKS: u32 = 4;

/// Where findings and receipts are handed in. Dropped, it writes what it has taken and ends.
pub struct Journal {
    /// Marks users.
    vault: Vault,
    queue: mpsc::Sender<QueuedItem>,
    load: Arc<Load>,
    shedding: Shedding,
    closing: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// What is not to be kept, and how much was not.
#[derive(Default)]
struct Shedding {
    /// A [`Shed`] as a number.
    level: AtomicU8,
    receipts: AtomicU64,
    findings: AtomicU64,
}

impl Shedding {
    /// Whether something is not to be kept; counts it then.
    fn takes(&self, item: &Item) -> bool {
        let (from, count) = match item {
            Item::Receipt(..) => (Shed::Receipts, &self.receipts),
            Item::Finding(_) => (Shed::ReceiptsAndFindings, &self.findings),
            Item::Waiter(_) => return false,
        };
        let is_shed = self.level.load(Ordering::Relaxed) >= from as u8;
        if is_shed {
            count.fetch_add(1, Ordering::Relaxed);
        }
        is_shed
    }
}

/// What was recorded.
enum Item {
    Finding(Box<Finding>),
    /// With the mark of its user.
    Receipt(Arc<Receipt>, Option<Mark>),
    /// Somebody waits until all before it is kept, or lost.
    Waiter(oneshot::Sender<()>),
}

/// The same, with the bytes that it holds, about.
struct QueuedItem {
    item: Item,
    bytes: usize,
}

/// What is kept in one transaction.
#[derive(Clone)]
enum Page {
    Findings(Arc<Vec<Vec<Value>>>),
    Receipts(Arc<ReceiptPage>),
}

impl Page {
    fn len(&self) -> usize {
        match self {
            Self::Findings(findings) => findings.len(),
            Self::Receipts(receipts) => receipts.0.len(),
        }
    }
}

/// What keeps pages: the store, or a test.
trait Keep: Send + Sync {
    fn keep(&self, page: Page) -> BoxFuture<'_, Result<(), StoreError>>;
}

impl Keep for SqlStore {
    fn keep(&self, page: Page) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            let kept = match page {
                Page::Findings(findings) => self.keep_findings(findings).await,
                Page::Receipts(receipts) => self.keep_receipts(receipts).await,
            };
            kept.map_err(EngineError::into_store)
        }
        .boxed()
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Else it would wait for a store that is down for as long as that is.
        self.closing.cancel();
    }
}

impl Journal {
    /// Opens the journal of a store, on the runtime that this is called from.
    #[must_use]
    pub fn open(store: Arc<SqlStore>, vault: Vault) -> Self {
        Self::over(store, vault)
    }

    fn over(keep: Arc<dyn Keep>, vault: Vault) -> Self {
        let (queue, taken) = mpsc::channel(QUEUE_MAX);
        let (load, closing) = (Arc::new(Load::new()), CancellationToken::new());
        let task = tokio::spawn(serve(keep, taken, Arc::clone(&load), closing.clone()));
        Self { vault, queue, load, shedding: Shedding::default(), closing, task: Mutex::new(Some(task)) }
    }

    /// How many findings and receipts wait to be gathered.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// How many findings and receipts were lost since it was opened.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.load.lost()
    }

    /// Whether what is recorded now may be lost: the store takes nothing, or there is hardly room for more.
    #[must_use]
    pub fn is_in_trouble(&self) -> bool {
        self.queue.capacity() == 0 || self.load.is_in_trouble(HELD_MAX_BYTES)
    }

    /// The store was found to take writes, or not to, by somebody else: what comes next is expected to fare alike.
    pub fn note_store(&self, is_up: bool) {
        self.load.note_write(is_up);
    }

    /// Says what is not to be kept from now on.
    pub fn shed(&self, what: Shed) {
        self.shedding.level.store(what as u8, Ordering::Relaxed);
    }

    /// How many receipts, and how many findings, were not kept on purpose since it was opened.
    #[must_use]
    pub fn not_kept(&self) -> (u64, u64) {
        (self.shedding.receipts.load(Ordering::Relaxed), self.shedding.findings.load(Ordering::Relaxed))
    }

    /// Takes no more, and returns once all that was taken is kept or lost.
    pub async fn close(&self) {
        self.closing.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the journal ended badly");
        }
    }

    fn take(&self, item: Item) {
        if self.shedding.takes(&item) {
            return;
        }
        let bytes = size(&item);
        if bytes > RECEIPT_MAX_BYTES || !self.load.take(bytes, HELD_MAX_BYTES) {
            self.load.lose(1);
        } else if self.queue.try_send(QueuedItem { item, bytes }).is_err() {
            self.load.release(bytes);
            self.load.lose(1);
        }
    }
}

impl ports::Journal for Journal {
    fn record(&self, finding: Finding) {
        self.take(Item::Finding(Box::new(finding)));
    }

    fn keep_shared(&self, receipt: Arc<Receipt>, user: Option<&User>) {
        let mark = user.map(|user| ranking_mark(&self.vault, user));
        self.take(Item::Receipt(receipt, mark));
    }

    fn receipt_fate(&self) -> ReceiptFate {
        if self.is_in_trouble() || self.is_shedding() >= Shed::Receipts {
            ReceiptFate::Doubtful
        } else if self.waiting() > BATCH_MAX || self.load.is_late() {
            ReceiptFate::KeptLate
        } else {
            ReceiptFate::KeptSoon
        }
    }

    fn was_late_within(&self, span: Duration) -> bool {
        self.load.was_late_within(span)
    }

    fn is_shedding(&self) -> Shed {
        match self.shedding.level.load(Ordering::Relaxed) {
            0 => Shed::Nothing,
            1 => Shed::Receipts,
            _ => Shed::ReceiptsAndFindings,
        }
    }

    fn settle(&self) -> BoxFuture<'_, bool> {
        let settled = async move {
            let (waiter, settled) = oneshot::channel();
            // A journal that takes no more has kept what it took, or is about to end.
            if self.queue.send(QueuedItem { item: Item::Waiter(waiter), bytes: 0 }).await.is_ok() {
                let _ = settled.await;
            }
        };
        async move { tokio::time::timeout(SETTLE_MAX, settled).await.is_ok() }.boxed()
    }
}

/// Bytes that something holds: its texts, and about as much for the rest of it.
fn size(item: &Item) -> usize {
    const FIXED: usize = 512;
    FIXED
        + match item {
            Item::Finding(finding) => {
                let Finding { intent, request_id, option_id, external_id, violation, excerpt, .. } = &**finding;
                let optional = [option_id, external_id, excerpt].into_iter().flatten().map(String::len).sum::<usize>();
                let violation = violation.pointer.len() + violation.code.len() + violation.message.len();
                intent.len() + request_id.len() + optional + violation
            }
            Item::Receipt(receipt, _) => {
                let candidates = receipt.payloads.iter().flat_map(|payload| &payload.candidates);
                let options: usize = candidates.map(|one| one.json.get().len() + size_of_val(one)).sum();
                let ranked: usize = receipt.ranked.iter().map(|one| one.id.len() + size_of_val(one)).sum();
                let codes = receipt.dropped.iter().flat_map(|one| &one.codes);
                let dropped: usize = codes.map(|code| code.len() + size_of_val(code)).sum();
                receipt.arguments.get().len() + options + ranked + dropped
            }
            Item::Waiter(_) => 0,
        }
}

/// Writes batch after batch, until nobody can hand in any more and all is written. Once the journal closes, a store that takes
/// nothing is tried with one batch alone: what waits behind it is many batches after an outage, and is lost as that one is.
async fn serve(
    keep: Arc<dyn Keep>,
    mut queue: mpsc::Receiver<QueuedItem>,
    load: Arc<Load>,
    closing: CancellationToken,
) {
    let mut has_given_up = false;
    while let Some(first) = batching::next(&mut queue, &closing).await {
        load.begin_batch();
        let (batch, waiters) = split(gather(first, &mut queue, &closing).await);
        let bytes = batch.iter().map(|taken| taken.bytes).sum();
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        // A panic costs this batch and not the journal.
        let lost = match has_given_up {
            true => count,
            false => supervise::catch("journal", write(&*keep, &load, &closing, batch)).await.unwrap_or(count),
        };
        has_given_up |= closing.is_cancelled() && lost > 0 && load.is_failing();
        load.end_batch();
        load.lose(lost);
        load.release(bytes);
        for waiter in waiters {
            // It may wait no more.
            let _ = waiter.send(());
        }
    }
    load.tell();
}

/// A batch: what comes within a moment, or what waits already when the journal closes. The task is not woken for each that comes,
/// but looks a few times.
async fn gather(
    first: QueuedItem,
    queue: &mut mpsc::Receiver<QueuedItem>,
    closing: &CancellationToken,
) -> Vec<QueuedItem> {
    let mut bytes = first.bytes;
    let mut batch = vec![first];
    for look in 0..=GATHER_LOOKS {
        while batch.len() < BATCH_MAX && bytes < BATCH_MAX_BYTES {
            let Ok(taken) = queue.try_recv() else { break };
            bytes += taken.bytes;
            batch.push(taken);
        }
        let is_full = batch.len() >= BATCH_MAX || bytes >= BATCH_MAX_BYTES;
        if is_full || look == GATHER_LOOKS || closing.is_cancelled() {
            break;
        }
        let _ = tokio::time::timeout(GATHER / GATHER_LOOKS, closing.cancelled()).await;
    }
    batch
}

/// What is to be written of a batch, and who waits for it.
fn split(batch: Vec<QueuedItem>) -> (Vec<QueuedItem>, Vec<oneshot::Sender<()>>) {
    let (mut items, mut waiters) = (Vec::with_capacity(batch.len()), Vec::new());
    for QueuedItem { item, bytes } in batch {
        match item {
            Item::Waiter(waiter) => waiters.push(waiter),
            item => items.push(QueuedItem { item, bytes }),
        }
    }
    (items, waiters)
}

/// Writes a batch, trying again. Returns how many of it are lost.
async fn write(keep: &dyn Keep, load: &Load, closing: &CancellationToken, batch: Vec<QueuedItem>) -> u64 {
    let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
    // Compressing is work, and not for a thread that serves.
    let Ok((findings, receipts, refused)) = tokio::task::spawn_blocking(move || pages_of(batch)).await else {
        return count;
    };
    let lost = join(
        write_page(keep, load, closing, "a batch of findings", Page::Findings(Arc::new(findings))),
        write_page(keep, load, closing, "a batch of receipts", Page::Receipts(Arc::new(receipts))),
    );
    let (findings, receipts) = lost.await;
    findings + receipts + refused
}

/// Writes a page, which is tried again by itself: findings that are kept must not come twice.
async fn write_page(keep: &dyn Keep, load: &Load, closing: &CancellationToken, what: &'static str, page: Page) -> u64 {
    match page.len() {
        0 => 0,
        count => {
            let write = || async {
                let kept = keep.keep(page.clone()).await;
                load.note_write(kept.is_ok());
                kept
            };
            // A store that is down comes back; the end of the process does not wait for it.
            let waits = |error: &StoreError| error.trouble() == StoreTrouble::Unavailable && !closing.is_cancelled();
            write_again(what, write, waits).await.map_or(u64::try_from(count).unwrap_or(u64::MAX), |()| 0)
        }
    }
}

/// A batch as pages, and how many of it are in no form to be kept.
fn pages_of(batch: Vec<QueuedItem>) -> (Vec<Vec<Value>>, ReceiptPage, u64) {
    let (mut findings, mut receipts, mut refused) = (Vec::new(), ReceiptPage::default(), 0);
    for QueuedItem { item, .. } in batch {
        match item {
            Item::Finding(finding) => findings.push(finding_values(&finding)),
            Item::Receipt(receipt, user) => match receipt_rows(&receipt, user.as_ref()) {
                Ok(rows) => receipts.0.push(rows),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a receipt cannot be kept");
                    refused += 1;
                }
            },
            // Taken out before.
            Item::Waiter(_) => {}
        }
    }
    (findings, receipts, refused)
}
