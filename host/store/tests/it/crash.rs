//! A process that is killed loses nothing that it acknowledged, and leaves nothing half done.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use intent_gateway_domain::store::{Change, Kind, Store as _, Write};
use intent_gateway_ledger::{Booked, Booking, ReportDesk as _};
use intent_gateway_store::{Desk, Location, SqlStore};

use crate::evidence::{finding, findings};
use crate::ledger::{charge, sound};
use crate::support::{Database, entry, on_both_engines, record, vault};

on_both_engines!(nothing_acknowledged_is_lost_by_a_kill, no_acknowledged_booking_is_lost_by_a_kill);

/// Set for the process that is killed: where its database is, and which round it is.
const CHILD: &str = "INTENT_GATEWAY_TEST_CRASH";
const ROUNDS: u32 = 6;
/// Clients of the desk, so that batches have more than one booking.
const CLIENTS: u32 = 16;
/// Acknowledgements to wait for before the kill, so that every round has some.
const ACKNOWLEDGED_MIN: usize = 5;

/// One step: a manifest, credentials and an entry of the log, which hold together or not at all.
fn step(key: &str) -> Change {
    let kinds = [Kind::Manifests, Kind::Credentials];
    Change {
        writes: kinds.map(|kind| Write::Put(kind, record(key))).into(),
        audit: vec![entry(key)],
        ..Change::default()
    }
}

/// Not a test of itself: the process that is killed. Prints each key once its change is acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (round, url) = told.split_once(' ').expect("a round and a URL");
    let location = Location::parse(url).expect("a URL");
    let store = SqlStore::open(&location, Some(&vault())).await.expect("it opens");
    for at in 0_u32.. {
        let key = format!("round_{round}_{at:06}");
        store.commit(step(&key)).await.expect("it keeps");
        writeln!(std::io::stdout(), "kept {key}").expect("the parent listens");
    }
}

/// Not a test of itself: the process that is killed. Several clients book at one desk; prints order and receipt of each
/// booking once it is acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_books() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (round, url) = told.split_once(' ').expect("a round and a URL");
    let location = Location::parse(url).expect("a URL");
    let desk = Arc::new(Desk::open(Arc::new(SqlStore::open(&location, Some(&vault())).await.expect("it opens"))));
    let client = |client: u32| {
        let (desk, round) = (Arc::clone(&desk), round.to_owned());
        async move {
            for at in 0_u32.. {
                let order = format!("round_{round}_{client}_{at:06}");
                let booked = desk.book(found(&order)).await.expect("it books");
                let Booked::First(entry) = booked else { panic!("{booked:?}") };
                writeln!(std::io::stdout(), "kept {order} {}", entry.receipt_id()).expect("the parent listens");
            }
        }
    };
    futures_util::future::join_all((0..CLIENTS).map(client)).await;
}

/// A booking in whose report something was found.
fn found(order: &str) -> Booking {
    let (posting, _) = charge(order, 100).into_parts();
    Booking::new(posting, vec![finding("ptr_1", order)]).expect("it can be booked")
}

async fn no_acknowledged_booking_is_lost_by_a_kill(database: Database) {
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(run_and_kill("crash::child_that_books", round, &database.url()));
        let store = database.open().await;
        store.check_file().await.expect("the file is sound");
        let mut receipts = HashMap::new();
        for entry in sound(&store).await {
            let before = receipts.insert(entry.posting.external_id.clone(), entry.receipt_id());
            assert_eq!(before, None, "{} is there twice", entry.posting.external_id);
        }
        let mut found: Vec<String> =
            findings(&store, "ptr_1").await.into_iter().filter_map(|found| found.finding.external_id).collect();
        found.sort_unstable();
        let mut booked: Vec<String> = receipts.keys().cloned().collect();
        booked.sort_unstable();
        assert_eq!(found, booked, "an entry is there without its finding, or the other way round");
        for kept in &acknowledged {
            let (order, receipt) = kept.split_once(' ').expect("an order and a receipt");
            assert_eq!(receipts.get(order).map(String::as_str), Some(receipt), "{order} was acknowledged");
        }
    }
}

async fn nothing_acknowledged_is_lost_by_a_kill(database: Database) {
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(run_and_kill("crash::child", round, &database.url()));
        let store = database.open().await;
        for key in &acknowledged {
            for kind in [Kind::Manifests, Kind::Credentials] {
                assert!(store.get(kind, key).await.unwrap().is_some(), "{key} was acknowledged and is lost");
            }
        }
        let (mut manifests, mut credentials) = (0, 0);
        for (kind, count) in [(Kind::Manifests, &mut manifests), (Kind::Credentials, &mut credentials)] {
            let mut after = String::new();
            loop {
                let list = intent_gateway_domain::store::List { status: None, after: Some(&after), limit: 1_000 };
                let page = store.list(kind, list).await.unwrap();
                let Some(last) = page.last() else { break };
                after = last.key.clone();
                *count += u64::try_from(page.len()).unwrap();
            }
        }
        let (entries, _) = store.verify_audit().await.expect("the log holds together");
        assert_eq!((manifests, credentials), (entries, entries), "a change is there in part");
        assert!(entries >= u64::try_from(acknowledged.len()).unwrap());
    }
}

/// Runs a child, kills it at some moment, and returns what it had acknowledged.
fn run_and_kill(child: &str, round: u32, url: &str) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", child, "--nocapture", "--test-threads", "1"])
        .env(CHILD, format!("{round} {url}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let kept = |line: String| line.split_once("kept ").map(|(_, key)| key.to_owned());
    let mut acknowledged: Vec<String> =
        lines.by_ref().map_while(Result::ok).filter_map(kept).take(ACKNOWLEDGED_MIN).collect();
    assert_eq!(acknowledged.len(), ACKNOWLEDGED_MIN, "the child failed");
    // Another moment in each round, so that all parts of a commit have their turn.
    let until = Instant::now() + Duration::from_micros(u64::from(round) * 3_700 + 1_000);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().expect("it is killed");
    acknowledged.extend(lines.map_while(Result::ok).filter_map(kept));
    child.wait().expect("it has ended");
    acknowledged
}
