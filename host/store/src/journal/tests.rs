//! What the journal does when the store is slow, full or broken. That it keeps what it takes is told by the store's suite.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, Violation};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{Journal as _, ReceiptFate};
use intent_gateway_domain::receipt::{ReceiptCandidate, ReceiptPayload};
use intent_gateway_testing::entropy::vault;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};

use super::*;
use crate::retry::TRIES;

/// A store that tells how much is on each page, waits for leave, fails as often as it is told, and may be down.
struct Told {
    pages: mpsc::UnboundedSender<usize>,
    leave: Semaphore,
    failures: AtomicUsize,
    is_down: AtomicBool,
}

impl Told {
    fn new(failures: usize) -> (Arc<Self>, mpsc::UnboundedReceiver<usize>) {
        let (pages, told) = mpsc::unbounded_channel();
        let (leave, failures) = (Semaphore::new(0), AtomicUsize::new(failures));
        (Arc::new(Self { pages, leave, failures, is_down: AtomicBool::new(false) }), told)
    }
}

impl Keep for Told {
    fn keep(&self, page: Page) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            // The test may have heard enough.
            let _ = self.pages.send(page.len());
            self.leave.acquire().await.expect("it is open").forget();
            if self.is_down.load(Ordering::Relaxed) {
                return Err(StoreError::Unavailable("it is down".to_owned(), None));
            }
            let fails = |left: usize| left.checked_sub(1);
            match self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fails) {
                Ok(_) => Err(StoreError::Busy),
                Err(_) => Ok(()),
            }
        }
        .boxed()
    }
}

fn finding() -> Finding {
    Finding {
        at_ms: Timestamp::from_ms(1),
        partner: PartnerId::parse("ptr_1").expect("sound"),
        intent: "auto.book_ac_service".to_owned(),
        request_id: "r".to_owned(),
        source: None,
        option_place: None,
        option_id: None,
        external_id: None,
        severity: Severity::Note,
        violation: Violation { pointer: String::new(), code: "X".to_owned(), message: String::new() },
        excerpt: None,
    }
}

fn receipt(bytes: usize) -> Receipt {
    let json = RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).expect("JSON");
    Receipt {
        id: "rank_1".to_owned(),
        at_ms: Timestamp::from_ms(1),
        request_id: "r".to_owned(),
        intent: IntentId::parse("auto.book_ac_service").expect("sound"),
        version: semver::Version::new(1, 0, 0),
        contract: Digest::of(b""),
        arguments: RawValue::NULL.to_owned(),
        payloads: vec![ReceiptPayload {
            partner: PartnerId::parse("ptr_1").expect("sound"),
            declared: Axes::UNDECLARED,
            candidates: vec![ReceiptCandidate { number: 0, json }],
        }],
        history: Vec::new(),
        ranked: Vec::new(),
        dropped: Vec::new(),
        bookable_until_ms: None,
        outcome: Digest::of(b""),
    }
}

#[tokio::test]
async fn a_full_queue_loses_and_nobody_waits() {
    let (keep, mut pages) = Told::new(0);
    let journal = Journal::over(keep.clone(), vault());
    journal.record(finding());
    assert_eq!(pages.recv().await, Some(1));
    for _ in 0..QUEUE_MAX + 3 {
        journal.record(finding());
    }
    assert_eq!(journal.lost(), 3);
    keep.leave.add_permits(QUEUE_MAX);
    journal.close().await;
    journal.record(finding());
    assert_eq!(journal.lost(), 4, "what comes after the end is lost as well");
    drop((journal, keep));
    let mut kept = 0;
    while let Some(items) = pages.recv().await {
        assert!(items <= BATCH_MAX);
        kept += items;
    }
    assert_eq!(kept, QUEUE_MAX);
}

#[tokio::test]
async fn bytes_are_bounded_and_given_back() {
    let (keep, mut pages) = Told::new(0);
    let journal = Journal::over(keep.clone(), vault());
    journal.keep(receipt(RECEIPT_MAX_BYTES), None);
    assert_eq!(journal.lost(), 1, "one is too large");
    let large = RECEIPT_MAX_BYTES / 2;
    let room = HELD_MAX_BYTES / size(&Item::Receipt(Arc::new(receipt(large)), None));
    for _ in 0..room + 2 {
        journal.keep(receipt(large), None);
    }
    assert_eq!(journal.lost(), 3);
    for _ in 0..room {
        assert_eq!(pages.recv().await, Some(1), "a batch is bounded by its bytes");
        keep.leave.add_permits(1);
    }
    journal.record(finding());
    assert_eq!(pages.recv().await, Some(1));
    journal.keep(receipt(large), None);
    assert_eq!(journal.lost(), 3, "there is room again");
    keep.leave.add_permits(2);
    journal.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_fails_is_tried_again_and_then_lost() {
    let tries = usize::try_from(TRIES).expect("few");
    let (keep, mut pages) = Told::new(tries - 1 + tries);
    keep.leave.add_permits(3 * tries);
    let journal = Journal::over(keep.clone(), vault());
    journal.record(finding());
    for _ in 0..tries {
        assert_eq!(pages.recv().await, Some(1));
    }
    journal.record(finding());
    journal.record(finding());
    for _ in 0..tries {
        assert_eq!(pages.recv().await, Some(2));
    }
    journal.close().await;
    assert_eq!(journal.lost(), 1, "the second was kept at last");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_is_waited_for_until_the_journal_closes() {
    let (keep, mut pages) = Told::new(0);
    keep.leave.add_permits(1_000);
    keep.is_down.store(true, Ordering::Relaxed);
    let journal = Journal::over(keep.clone(), vault());
    journal.record(finding());
    for _ in 0..10 * TRIES {
        assert_eq!(pages.recv().await, Some(1));
    }
    assert_eq!((journal.lost(), journal.receipt_fate()), (0, ReceiptFate::Doubtful));
    keep.is_down.store(false, Ordering::Relaxed);
    journal.settle().await;
    assert_eq!((journal.lost(), journal.receipt_fate()), (0, ReceiptFate::KeptSoon));
    assert!(journal.was_late_within(Duration::from_secs(2)), "bookings wait for what was held");

    keep.is_down.store(true, Ordering::Relaxed);
    journal.record(finding());
    assert_eq!(pages.recv().await, Some(1), "the last of before");
    assert_eq!(pages.recv().await, Some(1));
    for _ in 0..3 * BATCH_MAX {
        journal.record(finding());
    }
    journal.close().await;
    assert_eq!(journal.lost(), u64::try_from(1 + 3 * BATCH_MAX).expect("few"));
    let mut tried = 0;
    while pages.try_recv().is_ok() {
        tried += 1;
    }
    assert!(tried <= TRIES, "the end waits for a few tries of one batch alone: {tried}");
}

#[tokio::test]
async fn receipts_that_wait_behind_others_come_late_and_those_without_room_never() {
    let (keep, mut pages) = Told::new(0);
    let journal = Journal::over(keep.clone(), vault());
    assert_eq!(journal.receipt_fate(), ReceiptFate::KeptSoon);
    journal.record(finding());
    assert_eq!(pages.recv().await, Some(1), "it is being written");
    for _ in 0..=BATCH_MAX {
        assert_eq!(journal.receipt_fate(), ReceiptFate::KeptSoon);
        journal.record(finding());
    }
    assert_eq!(journal.receipt_fate(), ReceiptFate::KeptLate);
    journal.shed(Shed::Receipts);
    assert_eq!(journal.receipt_fate(), ReceiptFate::Doubtful, "what is not to be kept is not");
    journal.shed(Shed::Nothing);
    for _ in 0..QUEUE_MAX {
        journal.record(finding());
    }
    assert_eq!(journal.receipt_fate(), ReceiptFate::Doubtful, "the queue is full");
    keep.leave.add_permits(QUEUE_MAX);
    journal.close().await;
}

#[test]
fn a_batch_that_takes_long_is_late_and_a_while_after_it_too() {
    let mut load = Load::new();
    load.begin_batch();
    assert!(!load.is_late() && !load.was_late_within(Duration::from_secs(60)));
    // A second goes by.
    load.opened -= Duration::from_secs(1);
    assert!(load.is_late());
    load.end_batch();
    assert!(!load.is_late() && load.was_late_within(Duration::from_millis(900)));
    load.opened -= Duration::from_secs(1);
    assert!(!load.was_late_within(Duration::from_millis(900)), "that was a while ago");
}

#[tokio::test]
async fn a_dropped_journal_writes_what_it_has_taken() {
    let (keep, mut pages) = Told::new(0);
    keep.leave.add_permits(2);
    let journal = Journal::over(keep, vault());
    journal.record(finding());
    journal.record(finding());
    journal.keep(receipt(10), None);
    drop(journal);
    assert_eq!((pages.recv().await, pages.recv().await, pages.recv().await), (Some(2), Some(1), None));
}

#[tokio::test]
async fn what_the_disk_has_no_room_for_is_counted_and_not_kept() {
    let (keep, mut pages) = Told::new(0);
    keep.leave.add_permits(9);
    let journal = Journal::over(keep, vault());
    let hand_in = || {
        journal.record(finding());
        journal.keep(receipt(10), None);
    };
    journal.shed(Shed::Receipts);
    hand_in();
    assert_eq!((journal.is_shedding(), journal.not_kept()), (Shed::Receipts, (1, 0)));
    journal.shed(Shed::ReceiptsAndFindings);
    hand_in();
    assert_eq!((journal.is_shedding(), journal.not_kept()), (Shed::ReceiptsAndFindings, (2, 1)));
    journal.settle().await;
    assert_eq!(pages.recv().await, Some(1), "the finding of the first");
    journal.shed(Shed::Nothing);
    hand_in();
    journal.close().await;
    assert_eq!((pages.recv().await, pages.recv().await), (Some(1), Some(1)));
    assert_eq!((journal.lost(), journal.not_kept()), (0, (2, 1)), "none of it counts as lost");
}

/// A store that tells how much is on each page, and panics at the first.
struct PanicsOnce(mpsc::UnboundedSender<usize>, AtomicUsize);

impl Keep for PanicsOnce {
    fn keep(&self, page: Page) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            self.0.send(page.len()).expect("the test hears all");
            assert!(self.1.fetch_add(1, Ordering::Relaxed) > 0, "the first write");
            Ok(())
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_panic_costs_its_batch_once_and_not_the_journal() {
    let (told, mut pages) = mpsc::unbounded_channel();
    let journal = Journal::over(Arc::new(PanicsOnce(told, AtomicUsize::new(0))), vault());
    journal.record(finding());
    journal.keep(receipt(10), None);
    assert_eq!(pages.recv().await, Some(1));
    journal.record(finding());
    assert_eq!(pages.recv().await, Some(1), "the next batch is written");
    journal.close().await;
    assert_eq!(journal.lost(), 2);
}
