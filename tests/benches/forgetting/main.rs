//! What it costs those who report that receipts are forgotten: latency of bookings at the desk while nothing is forgotten, while
//! segments are, and while as many receipts are that were kept before there were segments, which go row by row.
//!
//! All three are measured in turn in one run, on a store that is filled by statements of the bench's own, each on the two engines.
//! Compared are their ratios.
//!
//! ```text
//! cargo bench --package intent-gateway-tests --bench forgetting [-- RECEIPTS [ENGINE]]
//! ```
//!
//! `RECEIPTS` is how many lie in the segments that are forgotten; a tenth of it in the tables of before. `ENGINE` is
//! `sqlite` or `postgres` where only one is measured.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod fill;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::growth::ReceiptBounds;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::receipt::{Receipt, ReceiptPayload};
use intent_gateway_ledger::completion::Report;
use intent_gateway_ledger::{Booking, Judge, JudgedReport, ReportDesk as _, post};
use intent_gateway_store::{Desk, Journal, Location, SqlStore};
use intent_gateway_testing::entropy::vault;
use semver::Version;
use serde_json::value::RawValue;
use test_servers::postgres::Postgres;

use crate::fill::Filling;

const RECEIPTS: u64 = 1_000_000;
/// Segments that hold them, of which each is forgotten at once.
const SEGMENTS: u64 = 16;
/// Who reports.
const CLIENTS: u64 = 32;
/// How long a turn takes, at least; forgetting begins with it.
const TURN: Duration = Duration::from_secs(8);
/// What the 99th percentile may grow to, against that while nothing is forgotten.
const AIM: f64 = 1.2;
const PARTNER: &str = "bench-partner";
const INTENT: &str = "auto.book_ac_service";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let receipts = words.first().map_or(RECEIPTS, |word| word.parse().expect("a number of receipts"));
    let is_wanted = |engine: &str| words.get(1).is_none_or(|wanted| wanted == engine);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // On a real disk: the build's folder, for /tmp may be memory.
        let target =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root folder").join("target");
        let folder = tempfile::tempdir_in(target).expect("a temporary folder");
        if is_wanted("sqlite") {
            let file = folder.path().join("gateway.db");
            run("SQLite", &Location::file(&file), Filling::Sqlite(file), receipts).await;
        }
        if !is_wanted("postgres") {
            return;
        }
        match Postgres::start() {
            Ok(Some(server)) => {
                let url = server.database().expect("a database");
                run("PostgreSQL", &Location::parse(&url).expect("a URL"), Filling::Postgres(url), receipts).await;
            }
            _ => println!("PostgreSQL is not installed: it is not measured"),
        }
    });
}

async fn run(engine: &str, location: &Location, filling: Filling, receipts: u64) {
    let store = Arc::new(SqlStore::open(location, Some(&vault())).await.expect("the store opens"));
    // A segment lasts a second of the receipts' own time.
    store.bound_receipts(ReceiptBounds { keep_ms: 16_000, max_bytes: u64::MAX });
    let journal = Journal::open(Arc::clone(&store), vault());
    for segment in 0..=SEGMENTS {
        journal.keep(receipt(segment), None);
        journal.settle().await;
    }
    journal.close().await;
    let begun = Instant::now();
    let segments: Vec<u64> = store.segments().await.expect("they are read").iter().map(|one| one.number).collect();
    filling.fill(&segments[..segments.len() - 1], receipts / SEGMENTS, receipts / 10).await;
    let bytes = store.bytes().await.expect("it is measured");
    println!(
        "{engine}: {receipts} receipts in {SEGMENTS} segments of {} MiB together, {} in the tables of before; filled in {:.0} s",
        bytes.receipts >> 20,
        receipts / 10,
        begun.elapsed().as_secs_f64()
    );
    let desk = Desk::open(store.clone());
    let next = AtomicU64::new(0);
    let quiet = turn(&desk, &next, async {}).await;
    show("nothing is forgotten", &quiet, None);
    let whole = turn(&desk, &next, async {
        let begun = Instant::now();
        // The last segment is not over yet.
        let end = Timestamp::from_ms(1_000 * (SEGMENTS + 1) + 1);
        store.forget_segments(end).await.expect("they are forgotten");
        println!("  {engine}: {SEGMENTS} segments were forgotten in {:.2} s", begun.elapsed().as_secs_f64());
    });
    show("segments are forgotten", &whole.await, Some(&quiet));
    let again = turn(&desk, &next, async {}).await;
    show("nothing is forgotten, again", &again, Some(&quiet));
    let rows = turn(&desk, &next, async {
        let begun = Instant::now();
        let forgotten = store.forget(Timestamp::from_ms(1)).await.expect("they are forgotten");
        println!("  {engine}: {forgotten} rows were forgotten in {:.1} s", begun.elapsed().as_secs_f64());
    });
    show("rows of before are forgotten", &rows.await, Some(&again));
    desk.close().await;
}

fn show(what: &str, latencies: &[Duration], compared: Option<&[Duration]>) {
    let quantile = |latencies: &[Duration], share: f64| {
        latencies[((latencies.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3
    };
    let (median, p99) = (quantile(latencies, 0.5), quantile(latencies, 0.99));
    let ratio = compared.map_or(String::new(), |compared| {
        let ratio = p99 / quantile(compared, 0.99);
        format!("p99 {ratio:.2} times, aim at most {AIM}: {}", if ratio <= AIM { "met" } else { "MISSED" })
    });
    println!("  {what:<32} {:>7} reports, p50 {median:>6.1} ms, p99 {p99:>7.1} ms  {ratio}", latencies.len());
}

/// Books over all clients while something is done, and for a while; the latencies, sorted.
async fn turn(desk: &Desk, next: &AtomicU64, work: impl Future<Output = ()>) -> Vec<Duration> {
    let is_over = AtomicBool::new(false);
    let client = || async {
        let mut latencies = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let booking = booking(next.fetch_add(1, Ordering::Relaxed));
            let begun = Instant::now();
            desk.book(booking).await.expect("it is booked");
            latencies.push(begun.elapsed());
        }
        latencies
    };
    let clients = join_all((0..CLIENTS).map(|_| client()));
    let work = async {
        let begun = Instant::now();
        work.await;
        tokio::time::sleep(TURN.saturating_sub(begun.elapsed())).await;
        is_over.store(true, Ordering::Relaxed);
    };
    let (latencies, ()) = tokio::join!(clients, work);
    let mut latencies: Vec<Duration> = latencies.into_iter().flatten().collect();
    latencies.sort_unstable();
    latencies
}

fn booking(number: u64) -> Booking {
    let report = format!(
        "{{\"intent\":\"{INTENT}\",\"external_id\":\"BK-{number}\",\"request_id\":\"r-{number}\",\"amount_inr\":500,\
         \"gst_inr\":0,\"tips_inr\":0,\"pass_through_inr\":0,\"closed_at\":\"2026-05-04T16:10:00+05:30\",\
         \"status\":\"completed\"}}"
    );
    let report = Report::parse(report.as_bytes()).expect("the report is sound");
    let partner = PartnerId::parse(PARTNER).expect("an identifier");
    let judged_by = Judge { version: Version::new(1, 0, 0), stand_in: false };
    let verdict = JudgedReport { charged: true, judged_by, late_minutes: None, rate: Rate::DEFAULT };
    let now = Timestamp::from_ms(1_779_235_200_000);
    Booking::new(post(&report, &partner, verdict, now), Vec::new()).expect("it can be kept")
}

/// The receipt with which a segment begins.
fn receipt(segment: u64) -> Receipt {
    Receipt {
        id: format!("rank_{segment}"),
        at_ms: Timestamp::from_ms(1_000 * (segment + 1)),
        request_id: "r".to_owned(),
        intent: IntentId::parse(INTENT).expect("an identifier"),
        version: Version::new(1, 0, 0),
        contract: Digest::of(b"contract"),
        arguments: RawValue::NULL.to_owned(),
        payloads: vec![ReceiptPayload {
            partner: PartnerId::parse(PARTNER).expect("an identifier"),
            declared: Axes::UNDECLARED,
            candidates: Vec::new(),
        }],
        history: Vec::new(),
        ranked: Vec::new(),
        dropped: Vec::new(),
        bookable_until_ms: None,
        outcome: Digest::of(b"outcome"),
    }
}
