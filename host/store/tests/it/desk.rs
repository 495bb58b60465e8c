//! The desk: many share a transaction, nobody is forgotten, and what waits is bounded.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use intent_gateway_domain::chain::{ChainCheck, ChainKeys};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::delivered::{Deliveries, Tally};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::StoreError;
use intent_gateway_ledger::completion::ReportKey;
use intent_gateway_ledger::{
    BATCH_MAX, Booked, Booking, Books, CorrectedEntries, Correction, DeskError, Entry, KnownOrder, Month, OrderQuery,
    Posting, ReportDesk as _, TrialBalance, genesis, link,
};
use intent_gateway_store::{Desk, QUEUE_MAX};
use tokio::sync::{Semaphore, mpsc};

use crate::ledger::{asked, charge, sound};
use crate::support::{Database, on_both_engines};

on_both_engines!(many_clients_share_a_transaction, many_clients_look_up_together, two_desks_charge_each_order_once);

/// Books that tell of each batch and wait for leave to keep it; or that pass it on. Only the desk is asked of here what it
/// does with a batch, so nobody else needs such books.
struct Told {
    sizes: mpsc::UnboundedSender<usize>,
    leave: Option<Semaphore>,
    to: Option<Arc<dyn Books>>,
    fails: Mutex<bool>,
    /// Sizes of the batches that were looked up; for these nobody waits.
    looked_up: Mutex<Vec<usize>>,
}

impl Told {
    fn new(leave: Option<Semaphore>, to: Option<Arc<dyn Books>>) -> (Arc<Self>, mpsc::UnboundedReceiver<usize>) {
        let (sizes, told) = mpsc::unbounded_channel();
        (Arc::new(Self { sizes, leave, to, fails: Mutex::new(false), looked_up: Mutex::default() }), told)
    }

    fn let_pass(&self, batches: usize) {
        self.leave.as_ref().expect("it waits").add_permits(batches);
    }
}

impl Deliveries for Told {
    fn sum_delivered<'a>(
        &'a self,
        _: Option<&'a PartnerId>,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Tally>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn partners_of_month<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a PartnerId>,
        _: u32,
    ) -> BoxFuture<'a, Result<Vec<PartnerId>, StoreError>> {
        unreachable!("the desk only books")
    }
}

impl Books for Told {
    fn book(&self, bookings: Vec<Booking>) -> BoxFuture<'_, Result<Vec<Booked>, StoreError>> {
        async move {
            self.sizes.send(bookings.len()).expect("the test listens");
            if let Some(leave) = &self.leave {
                leave.acquire().await.expect("it is open").forget();
            }
            if let Some(books) = &self.to {
                return books.book(bookings).await;
            }
            if *self.fails.lock().expect("sound") {
                return Err(StoreError::Busy);
            }
            let booked =
                |booking: Booking| Booked::First(link(booking.into_parts().0, 1, genesis(), &ChainKeys::default()));
            Ok(bookings.into_iter().map(booked).collect())
        }
        .boxed()
    }

    fn look_up(&self, asked: Vec<OrderQuery>) -> BoxFuture<'_, Result<Vec<KnownOrder>, StoreError>> {
        async move {
            self.looked_up.lock().expect("sound").push(asked.len());
            match &self.to {
                Some(books) => books.look_up(asked).await,
                None => Ok(asked.into_iter().map(|_| KnownOrder::default()).collect()),
            }
        }
        .boxed()
    }

    fn take_back(&self, _: Posting) -> BoxFuture<'_, Result<Option<Entry>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn months_of<'a>(&'a self, _: &'a PartnerId) -> BoxFuture<'a, Result<Vec<Month>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn trial_balance(&self) -> BoxFuture<'_, Result<TrialBalance, StoreError>> {
        unreachable!("the desk only books")
    }

    fn correct(&self, _: Correction) -> BoxFuture<'_, Result<Option<CorrectedEntries>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn find_standing<'a>(&'a self, _: &'a ReportKey) -> BoxFuture<'a, Result<Option<Entry>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn entries(&self, _: u64, _: u32) -> BoxFuture<'_, Result<Vec<Entry>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn entries_of<'a>(
        &'a self,
        _: &'a PartnerId,
        _: Month,
        _: u64,
        _: u32,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        unreachable!("the desk only books")
    }

    fn chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>> {
        unreachable!("the desk only books")
    }

    fn head(&self) -> BoxFuture<'_, Result<(u64, Digest), StoreError>> {
        unreachable!("the desk only books")
    }
}

fn bookings(count: usize) -> impl Iterator<Item = Booking> {
    (0..count).map(|at| charge(&format!("BK-{at:05}"), 100))
}

/// Hands them in, all before this returns, and waits for the answers in the background.
fn hand_in(
    desk: &Arc<Desk>,
    bookings: impl Iterator<Item = Booking>,
) -> Vec<BoxFuture<'static, Result<Booked, DeskError>>> {
    let hand_in = |booking| {
        let desk = Arc::clone(desk);
        let mut answer = async move { desk.book(booking).await }.boxed();
        // The first look hands it in.
        match (&mut answer).now_or_never() {
            Some(answer) => futures_util::future::ready(answer).boxed(),
            None => answer,
        }
    };
    bookings.map(hand_in).collect()
}

fn posted(answer: &Result<Booked, DeskError>) -> &str {
    match answer {
        Ok(Booked::First(entry)) => &entry.posting.external_id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_grows_while_another_is_written() {
    let (books, mut told) = Told::new(Some(Semaphore::new(0)), None);
    let desk = Arc::new(Desk::open(books.clone()));
    let first = hand_in(&desk, bookings(1));
    assert_eq!(told.recv().await, Some(1), "a single one is not kept waiting");
    let waiting = hand_in(&desk, bookings(2 * BATCH_MAX + 10));
    books.let_pass(4);
    let (first, waiting) = tokio::join!(join_all(first), join_all(waiting));
    let sizes = [told.recv().await, told.recv().await, told.recv().await];
    assert_eq!(sizes, [Some(BATCH_MAX), Some(BATCH_MAX), Some(10)]);
    assert_eq!(posted(&first[0]), "BK-00000");
    for (answer, booking) in waiting.iter().zip(bookings(2 * BATCH_MAX + 10)) {
        assert_eq!(posted(answer), booking.posting().external_id, "each has its own answer");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_to_a_full_queue_is_told_at_once() {
    let (books, mut told) = Told::new(Some(Semaphore::new(0)), None);
    let desk = Arc::new(Desk::open(books.clone()));
    let first = hand_in(&desk, bookings(1));
    told.recv().await.expect("it is under way");
    let waiting = hand_in(&desk, bookings(QUEUE_MAX));
    for booking in bookings(2) {
        assert!(matches!(desk.book(booking).now_or_never(), Some(Err(DeskError::Full))));
    }
    books.let_pass(1 + QUEUE_MAX);
    assert!(join_all(first.into_iter().chain(waiting)).await.iter().all(Result::is_ok));
    desk.book(charge("BK-1", 1)).await.expect("there is room again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_reaches_everybody_whom_it_concerns() {
    let (books, mut told) = Told::new(Some(Semaphore::new(0)), None);
    let desk = Arc::new(Desk::open(books.clone()));
    let first = hand_in(&desk, bookings(1));
    told.recv().await.expect("it is under way");
    let waiting = hand_in(&desk, bookings(20));
    *books.fails.lock().expect("sound") = true;
    books.let_pass(2);
    for answer in join_all(first.into_iter().chain(waiting)).await {
        let Err(DeskError::Store(error)) = answer else { panic!("{answer:?}") };
        assert!(matches!(*error, StoreError::Busy), "{error:?}");
    }
    *books.fails.lock().expect("sound") = false;
    books.let_pass(1);
    desk.book(charge("BK-1", 1)).await.expect("it goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_is_finished_before_it_closes() {
    let (books, mut told) = Told::new(Some(Semaphore::new(0)), None);
    let desk = Arc::new(Desk::open(books.clone()));
    let first = hand_in(&desk, bookings(1));
    told.recv().await.expect("it is under way");
    let waiting = hand_in(&desk, bookings(BATCH_MAX + 5));
    // One who does not wait for the answer.
    drop(hand_in(&desk, [charge("BK-left", 1)].into_iter()));
    let mut closing = desk.close().boxed();
    assert!((&mut closing).now_or_never().is_none(), "it waits for what is under way");
    books.let_pass(3);
    closing.await;
    let answers = tokio::task::unconstrained(join_all(first.into_iter().chain(waiting)));
    assert!(answers.now_or_never().expect("all are answered").iter().all(Result::is_ok));
    assert_eq!([told.recv().await, told.recv().await], [Some(BATCH_MAX), Some(6)]);
    assert!(matches!(desk.book(charge("BK-1", 1)).await, Err(DeskError::Closed)));
    desk.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_desk_finishes_what_it_has_taken() {
    let (books, mut told) = Told::new(Some(Semaphore::new(0)), None);
    let desk = Arc::new(Desk::open(books.clone()));
    drop(hand_in(&desk, bookings(3)));
    drop(desk);
    books.let_pass(3);
    let mut taken = 0;
    while taken < 3 {
        taken += told.recv().await.expect("all are booked");
    }
    assert_eq!(taken, 3);
}

async fn many_clients_share_a_transaction(database: Database) {
    const CLIENTS: usize = 64;
    const EACH: usize = 10;
    let store = database.open_shared().await;
    let (books, mut told) = Told::new(None, Some(store.clone()));
    let desk = Arc::new(Desk::open(books));
    let clients = (0..CLIENTS).map(|client| {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            for at in 0..EACH {
                let answer = desk.book(charge(&format!("BK-{client}-{at}"), 100)).await;
                assert_eq!(posted(&answer), format!("BK-{client}-{at}"));
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("it is served");
    }
    desk.close().await;
    drop(desk);
    let mut batches = 0;
    while told.recv().await.is_some() {
        batches += 1;
    }
    assert_eq!(sound(&*store).await.len(), CLIENTS * EACH);
    assert!(batches <= CLIENTS * EACH / 4, "{batches} transactions");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_looks_up_does_not_wait_for_who_books() {
    let (books, mut told) = Told::new(Some(Semaphore::new(0)), None);
    let desk = Arc::new(Desk::open(books.clone()));
    let booking = hand_in(&desk, bookings(1));
    told.recv().await.expect("it is under way");
    for _ in 0..3 {
        desk.look_up(asked("BK-1")).await.expect("it is answered");
    }
    assert_eq!(*books.looked_up.lock().expect("sound"), [1, 1, 1]);
    books.let_pass(1);
    assert!(join_all(booking).await.iter().all(Result::is_ok));
    desk.close().await;
    assert!(matches!(desk.look_up(asked("BK-1")).await, Err(DeskError::Closed)));
}

async fn many_clients_look_up_together(database: Database) {
    const CLIENTS: usize = 600;
    let store = database.open_shared().await;
    let bookings = (0..CLIENTS).step_by(2).map(|at| charge(&format!("BK-{at}"), 100));
    store.book(bookings.collect()).await.expect("it books");
    let (books, _told) = Told::new(None, Some(store.clone()));
    let desk = Desk::open(books.clone());
    let answers = join_all((0..CLIENTS).map(|at| desk.look_up(asked(&format!("BK-{at}"))))).await;
    for (at, answer) in answers.into_iter().enumerate() {
        let booked = answer.expect("it is answered").booked.map(|entry| entry.posting.external_id);
        assert_eq!(booked, (at % 2 == 0).then(|| format!("BK-{at}")));
    }
    let batches = books.looked_up.lock().expect("sound").len();
    // On an idle machine it is two or three; how many come while one is under way is the scheduler's.
    assert!(batches <= CLIENTS / 10, "{batches} batches");
}

async fn two_desks_charge_each_order_once(database: Database) {
    const ORDERS: usize = 200;
    let gateways = [database.open_shared().await, database.open_shared().await];
    let desks = gateways.clone().map(|store| Arc::new(Desk::open(store)));
    let clients = (0..8).map(|client: usize| {
        let desk = Arc::clone(&desks[client % 2]);
        tokio::spawn(async move {
            let mut first = 0;
            for at in 0..ORDERS {
                let order = if client < 4 { at } else { ORDERS - 1 - at };
                match desk.book(charge(&format!("BK-{order}"), 100)).await.expect("it is answered") {
                    Booked::First(_) => first += 1,
                    Booked::Repeat(_) => {}
                    Booked::Conflict(receipt) => panic!("{receipt}"),
                }
            }
            first
        })
    });
    let mut first = 0;
    for client in clients.collect::<Vec<_>>() {
        first += client.await.expect("it is served");
    }
    assert_eq!(first, ORDERS);
    assert_eq!(sound(&*gateways[0]).await.len(), ORDERS);
}
