//! A power loss loses nothing that was acknowledged: the process is killed and what it had not synced is undone. The
//! same test reports loss where there is one, on two stores that were spoilt for it.
//!
//! Receipts are written seldom and synced at once, so a kill at any moment finds nothing that could be lost. There the power goes
//! right before a sync, when what it would settle is written; while a segment is written anew, before each sync in turn.
//!
//! SQLite only. PostgreSQL writes in processes of its own, which outlive the gateway's; what it acknowledges is its own
//! `fsync` and `synchronous_commit`, which the store reads back when it opens.

#![cfg(target_os = "linux")]

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::growth::ReceiptBounds;
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::store::{Change, Kind, List, Store as _, Write};
use intent_gateway_ledger::{Booked, Booking, ReportDesk as _};
use intent_gateway_store::{Desk, Journal, Location, SqlStore};
use test_servers::power_loss::{self, Lost};
use test_servers::soak;

use crate::evidence::{NOW, finding, findings, keep as keep_receipt, receipt};
use crate::ledger::{all, charge};
use crate::support::{Database, entry, record, vault};
use crate::thinning::{self, order, ranking, there, unused};

/// Set for the process that is killed: what it does, which round it is, and where its database is.
const CHILD: &str = "INTENT_GATEWAY_TEST_POWER_LOSS";
const ROUNDS: u32 = 3;
/// In a soak; also for the spoilt stores, whose first loss ends the run.
const ROUNDS_LONG: u32 = 20;
/// Acknowledgements to wait for before the kill, in turn. The last is more than SQLite's log holds before it is folded
/// into the file (1,000 pages), so that this has its turn too.
const ACKNOWLEDGED_MIN: [usize; 3] = [20, 250, 2_000];
/// What a change puts, together or not at all.
const KINDS: [Kind; 2] = [Kind::Manifests, Kind::Credentials];

/// Receipts of a round, at most.
const RECEIPTS_MAX: usize = 20_000;
/// The sync at which the power goes while receipts are kept, in turn.
const RECEIPTS_END_AT: [u64; 3] = [60, 201, 502];
/// More syncs than it takes to write two segments anew.
const SYNCS_MAX: u64 = 500;
/// How a process ends that is killed.
const SIGKILL: i32 = 9;
/// Clients of the desk, so that batches have more than one booking.
const CLIENTS: u32 = 16;

/// How the process that is killed keeps and acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Bookings at the desk, as it is.
    Desk,
    /// The same, acknowledged before the commit.
    Early,
    /// Records and audit entries, in the store as it is.
    Records,
    /// Receipts, over many segments, of which the oldest are forgotten.
    Receipts,
    /// Segments of receipts are written anew.
    Thinning,
    /// Statements of the test's own, at this `synchronous`: FULL shows that what the next one loses is not the test's
    /// fault.
    Full,
    Off,
}

const WAYS: [(Way, &str); 7] = [
    (Way::Desk, "desk"),
    (Way::Early, "early"),
    (Way::Records, "records"),
    (Way::Receipts, "receipts"),
    (Way::Thinning, "thinning"),
    (Way::Full, "full"),
    (Way::Off, "off"),
];
/// A segment lasts a second of the receipts' own time.
const BOUNDS: ReceiptBounds = ReceiptBounds { keep_ms: 16_000, max_bytes: u64::MAX };

fn acknowledge(key: &str) {
    writeln!(std::io::stdout(), "kept {key}").expect("the parent listens");
}

/// Not a test of itself: the process that is killed. Prints each key that it says to have kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let mut told = told.splitn(3, ' ');
    let mut next = || told.next().expect("a way, a round and a path");
    let (way, round, path) = (next(), next(), Path::new(next()));
    let (way, _) = *WAYS.iter().find(|(_, name)| *name == way).expect("a way");
    let store = SqlStore::open(&Location::file(path), Some(&vault())).await.expect("it opens");
    match way {
        Way::Desk | Way::Early => book(store, round, way == Way::Early).await,
        Way::Records => keep(store, round).await,
        Way::Receipts => keep_receipts(store, round).await,
        Way::Thinning => {
            store.thin_segments(&unused(0), THINNED_AT).await.expect("it thins");
            store.close().await;
        }
        Way::Full | Way::Off => {
            store.close().await;
            insert(path, round, if way == Way::Off { "OFF" } else { "FULL" });
        }
    }
}

fn keys(round: &str) -> impl Iterator<Item = String> {
    (0_u32..).map(move |at| format!("round_{round}_{at:06}"))
}

/// A booking in whose report something was found.
fn found(order: &str) -> Booking {
    let (posting, _) = charge(order, 100).into_parts();
    Booking::new(posting, vec![finding("ptr_1", order)]).expect("it can be booked")
}

/// Several clients book at one desk.
async fn book(store: SqlStore, round: &str, is_early: bool) {
    let desk = &Desk::open(Arc::new(store));
    let client = |client: u32| async move {
        for key in keys(&format!("{round}_{client}")) {
            if is_early {
                acknowledge(&key);
            }
            let booked = desk.book(found(&key)).await.expect("it books");
            assert!(matches!(booked, Booked::First(_)), "{booked:?}");
            if !is_early {
                acknowledge(&key);
            }
        }
    };
    join_all((0..CLIENTS).map(client)).await;
}

/// Records and entries of the log, which hold together or not at all.
async fn keep(store: SqlStore, round: &str) {
    for key in keys(round) {
        let change = Change {
            writes: KINDS.map(|kind| Write::Put(kind, record(&key))).into(),
            audit: vec![entry(&key)],
            ..Change::default()
        };
        store.commit(change).await.expect("it keeps");
        acknowledge(&key);
    }
}

/// Receipts, a few at a time; new segments begin all the while, and those that a later round finds over are forgotten.
async fn keep_receipts(store: SqlStore, round: &str) {
    let store = Arc::new(store);
    store.bound_receipts(BOUNDS);
    let number: u64 = round.parse().expect("a number");
    // More than a round's time lies between the rounds.
    let start = NOW.plus_ms(number * 1_000_000);
    store.forget_segments(start.minus_ms(1_500_000)).await.expect("it forgets");
    let journal = Journal::open(Arc::clone(&store), vault());
    let keys: Vec<String> = keys(round).take(RECEIPTS_MAX).collect();
    for (keys, at) in keys.chunks(4).zip(0..) {
        keys.iter().for_each(|key| journal.keep(receipt(key, start.plus_ms(50 * at)), None));
        journal.settle().await;
        assert_eq!(journal.lost(), 0);
        keys.iter().for_each(|key| acknowledge(key));
    }
    // It is killed before.
    std::future::pending().await
}

/// Records, past the store and its settings.
fn insert(path: &Path, round: &str, synchronous: &str) {
    let connection = rusqlite::Connection::open(path).expect("it opens");
    connection.pragma_update(None, "synchronous", synchronous).expect("it takes");
    for key in keys(round) {
        let insert = |table| format!("INSERT INTO {table} (key, revision, body) VALUES ('{key}', 1, '{{}}');");
        let both = insert("manifests") + &insert("credentials");
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {both} COMMIT")).expect("it keeps");
        acknowledge(&key);
    }
}

/// What a row of rounds came to.
#[derive(Debug, Default)]
struct Outcome {
    rounds: u32,
    /// How many keys were acknowledged.
    acknowledged: usize,
    /// Acknowledged, and not there after the last round.
    lost: Vec<String>,
    /// What is there after the last round and is not whole.
    fault: Option<String>,
    /// What the power losses undid.
    undone: Lost,
}

impl Outcome {
    fn is_sound(&self) -> bool {
        self.lost.is_empty() && self.fault.is_none()
    }
}

/// Runs rounds on one database, until the first that loses something.
async fn rounds(way: Way) -> Outcome {
    let database = Database::sqlite();
    let path = database.file().expect("a file");
    let folder = path.parent().expect("a folder");
    std::fs::create_dir_all(folder).expect("it is made");
    let mut outcome = Outcome::default();
    let mut acknowledged = Vec::new();
    let is_spoilt = matches!(way, Way::Early | Way::Off);
    let rounds = if is_spoilt { ROUNDS_LONG } else { soak::choose(ROUNDS, ROUNDS_LONG) };
    while outcome.rounds < rounds && outcome.is_sound() {
        if way == Way::Receipts {
            let turn = usize::try_from(outcome.rounds).expect("a round") % RECEIPTS_END_AT.len();
            let (kept, status) = run_until_sync(way, outcome.rounds, path, RECEIPTS_END_AT[turn]);
            assert_eq!(status.signal(), Some(SIGKILL), "{status:?}");
            acknowledged.extend(kept);
        } else {
            acknowledged.extend(run_and_kill(way, outcome.rounds, path));
        }
        // In turn: nothing of what was not synced is on the disk, and some of it is.
        let undone = if outcome.rounds % 2 == 0 {
            power_loss::roll_back(folder)
        } else {
            power_loss::roll_back_in_part(folder, u64::from(outcome.rounds))
        };
        let undone = undone.expect("it is rolled back");
        assert!(way != Way::Receipts || undone.changes > 0, "nothing was lost: the round shows nothing");
        outcome.undone.changes += undone.changes;
        outcome.undone.entries += undone.entries;
        outcome.acknowledged = acknowledged.len();
        outcome.rounds += 1;
        match lost(&database, way, &acknowledged).await {
            Ok(lost) => outcome.lost = lost,
            Err(fault) => outcome.fault = Some(fault),
        }
    }
    // Shown with `--nocapture`: what the bench reports.
    let _ = writeln!(
        std::io::stderr(),
        "{way:?}: {} rounds, {} acknowledged, {} lost, {:?} undone, fault: {:?}",
        outcome.rounds,
        outcome.acknowledged,
        outcome.lost.len(),
        outcome.undone,
        outcome.fault,
    );
    outcome
}

/// Those of the keys that are not there; an error when what is there is not whole.
async fn lost(database: &Database, way: Way, keys: &[String]) -> Result<Vec<String>, String> {
    let store = SqlStore::open(&database.location, Some(&vault()))
        .await
        .map_err(|error| format!("it does not open: {error:?}"))?;
    let entries = store.verify_audit().await.map_err(|error| format!("the log: {error:?}"))?.0;
    let ledger = store.verify_ledger().await.map_err(unreadable)?;
    if !ledger.is_sound() {
        return Err(format!("the ledger: {:?}", ledger.faults));
    }
    let there = match way {
        // That none is there twice is part of what the ledger was held against.
        Way::Desk | Way::Early => {
            let booked: HashSet<_> = all(&store).await.into_iter().map(|entry| entry.posting.external_id).collect();
            let found = findings(&store, "ptr_1").await.into_iter().filter_map(|found| found.finding.external_id);
            if booked != found.collect::<HashSet<_>>() {
                return Err("an entry is there without its finding, or the other way round".to_owned());
            }
            booked
        }
        Way::Receipts => {
            store.check_file().await.map_err(unreadable)?;
            let mut there = HashSet::new();
            let latest = keys.last().and_then(|key| key.split('_').nth(1)?.parse::<u64>().ok()).unwrap_or_default();
            for key in keys {
                let round: u64 =
                    key.split('_').nth(1).and_then(|round| round.parse().ok()).ok_or("a key has no round")?;
                // The round before the last has been forgotten by the last, or was to be when it was killed.
                if round + 1 < latest || store.receipt(key).await.map_err(unreadable)?.is_some() {
                    there.insert(key.clone());
                }
            }
            there
        }
        Way::Records | Way::Thinning | Way::Full | Way::Off => {
            let records = [kept(&store, KINDS[0]).await?, kept(&store, KINDS[1]).await?];
            // The statements of the test's own make no entries.
            let has_entries =
                way != Way::Records || u64::try_from(records[0].len()).is_ok_and(|count| count == entries);
            if records[0] != records[1] || !has_entries {
                return Err("a change is there in part".to_owned());
            }
            let [records, _] = records;
            records
        }
    };
    store.close().await;
    let connection = rusqlite::Connection::open(database.file().expect("a file")).map_err(unreadable)?;
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(unreadable)?;
    if verdict != "ok" {
        return Err(verdict);
    }
    Ok(keys.iter().filter(|key| !there.contains(*key)).cloned().collect())
}

fn unreadable(error: impl std::fmt::Debug) -> String {
    format!("it cannot be read: {error:?}")
}

/// The keys of all records of a kind.
async fn kept(store: &SqlStore, kind: Kind) -> Result<HashSet<String>, String> {
    let (mut keys, mut after) = (HashSet::new(), String::new());
    loop {
        let list = List { status: None, after: Some(&after), limit: 1_000 };
        let page = store.list(kind, list).await.map_err(unreadable)?;
        let Some(last) = page.last() else { return Ok(keys) };
        after.clone_from(&last.key);
        keys.extend(page.into_iter().map(|document| document.key));
    }
}

/// The child, which is not started yet.
fn child_of(way: Way, round: u32, path: &Path) -> Command {
    let (_, name) = WAYS.iter().find(|(one, _)| *one == way).expect("a way");
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["--exact", "power_loss::child", "--nocapture", "--test-threads", "1"])
        .env(CHILD, format!("{name} {round} {}", path.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The keys that a child says to have kept, as it says them.
fn kept_by(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.map_while(Result::ok).filter_map(|line| line.split_once("kept ").map(|(_, key)| key.to_owned()))
}

/// Runs the child under the shim, kills it at some moment, and returns what it had acknowledged.
fn run_and_kill(way: Way, round: u32, path: &Path) -> Vec<String> {
    let mut command = child_of(way, round, path);
    power_loss::watch(&mut command, path.parent().expect("a folder")).expect("it is watched");
    let mut child = command.spawn().expect("it starts");
    let mut kept = kept_by(&mut child);
    let wanted = ACKNOWLEDGED_MIN[usize::try_from(round).expect("a round") % ACKNOWLEDGED_MIN.len()];
    let mut acknowledged: Vec<String> = kept.by_ref().take(wanted).collect();
    assert_eq!(acknowledged.len(), wanted, "the child failed");
    // Another moment in each round, so that all parts of a commit have their turn.
    let until = Instant::now() + Duration::from_micros(u64::from(round) * 1_300);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().expect("it is killed");
    acknowledged.extend(kept);
    child.wait().expect("it has ended");
    acknowledged
}

/// Runs the child under the shim, which kills it at a sync; what it had acknowledged, and how it ended.
fn run_until_sync(way: Way, round: u32, path: &Path, sync: u64) -> (Vec<String>, ExitStatus) {
    let mut command = child_of(way, round, path);
    power_loss::watch_until_sync(&mut command, path.parent().expect("a folder"), sync).expect("it is watched");
    let mut child = command.spawn().expect("it starts");
    let acknowledged = kept_by(&mut child).collect();
    (acknowledged, child.wait().expect("it has ended"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_booking_is_lost() {
    let outcome = rounds(Way::Desk).await;
    assert!(outcome.is_sound(), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_change_is_lost() {
    let outcome = rounds(Way::Records).await;
    assert!(outcome.is_sound(), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_receipt_that_was_kept_is_lost() {
    let outcome = rounds(Way::Receipts).await;
    assert!(outcome.is_sound(), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledgement_before_the_commit_is_found() {
    let outcome = rounds(Way::Early).await;
    assert!(!outcome.lost.is_empty() && outcome.fault.is_none(), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn synchronous_off_is_found() {
    let sound = rounds(Way::Full).await;
    assert!(sound.is_sound(), "{sound:?}");
    let outcome = rounds(Way::Off).await;
    assert!(!outcome.lost.is_empty(), "{outcome:?}");
}

/// When segments are written anew: all in them is old enough.
const THINNED_AT: Timestamp = NOW.plus_ms(1_000);
/// What lies in two segments that are over, and in one that is not; and what stays when they are written anew.
const RECEIPTS: [u64; 9] = [0, 1, 2, 3, 4, 10, 11, 12, 20];
const FIRST_THINNED: [u64; 5] = [1, 10, 11, 12, 20];
const THINNED: [u64; 3] = [1, 11, 20];

/// A database on a disk of its own, closed in good order.
async fn prepare() -> Database {
    let database = Database::sqlite();
    let store = thinning::open(&database).await;
    for at in RECEIPTS {
        keep_receipt(&store, [ranking(at)]).await;
    }
    for at in [1, 11] {
        order(&store, &format!("request-{at}"), &format!("order-{at}"), Some(&format!("rank_{at}"))).await;
    }
    Arc::into_inner(store).expect("nobody else has it").close().await;
    database
}

/// The same on another disk.
fn copy(database: &Database) -> Database {
    let other = Database::sqlite();
    let folder = |database: &Database| database.file().and_then(Path::parent).expect("a folder").to_owned();
    let (from, to) = (folder(database), folder(&other));
    std::fs::create_dir_all(to.join("gateway-receipts")).expect("it is made");
    // With the logs: a reader that closes last may have left something in them.
    for part in ["", "gateway-receipts"] {
        for file in std::fs::read_dir(from.join(part)).expect("it is there") {
            let file = file.expect("it is read").path();
            if file.is_file() && !file.to_string_lossy().ends_with("-shm") {
                std::fs::copy(&file, to.join(file.strip_prefix(&from).expect("it is below"))).expect("it is copied");
            }
        }
    }
    other
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_segment_that_is_written_anew_is_whole_at_every_sync() {
    let prepared = prepare().await;
    let (mut seen, mut undone) = (HashSet::new(), Lost::default());
    for sync in 1..SYNCS_MAX {
        let database = copy(&prepared);
        let path = database.file().expect("a file");
        let folder = path.parent().expect("a folder");
        let (_, status) = run_until_sync(Way::Thinning, 0, path, sync);
        if status.success() {
            let states = [&RECEIPTS[..], &FIRST_THINNED, &THINNED].map(<[u64]>::to_vec);
            assert_eq!(seen, HashSet::from(states), "the power went before, between and after");
            assert!(undone.changes > 0 && undone.entries > 0, "{undone:?}");
            return;
        }
        assert_eq!(status.signal(), Some(SIGKILL), "{status:?}");
        let lost = match sync % 2 {
            0 => power_loss::roll_back(folder),
            _ => power_loss::roll_back_in_part(folder, sync),
        };
        let lost = lost.expect("it is rolled back");
        undone.changes += lost.changes;
        undone.entries += lost.entries;
        let store = thinning::open(&database).await;
        let left = there(&store, 0..30).await;
        let checked = thinning::check(&store).await;
        assert_eq!(checked.problems, [], "sync {sync}");
        assert!([&RECEIPTS[..], &FIRST_THINNED, &THINNED].contains(&&left[..]), "sync {sync}: {left:?}");
        seen.insert(left);
        // Whoever comes next removes what is left of it, and goes on.
        store.forget_segments(Timestamp::EPOCH).await.expect("it forgets");
        assert_eq!(database.segment_files().len(), 3, "sync {sync}");
        store.thin_segments(&unused(0), THINNED_AT).await.expect("it thins");
        assert_eq!(there(&store, 0..30).await, THINNED, "sync {sync}");
        assert_eq!(database.segment_files().len(), 3, "sync {sync}");
    }
    panic!("it takes more than {SYNCS_MAX} syncs");
}
