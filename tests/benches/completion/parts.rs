//! The steps of the gateway's work on a report, each alone and without HTTP: what there is to gain where.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, Axes, CallContext};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::ports::{Contract as _, Journal as _};
use intent_gateway_domain::receipt::{Receipt, ReceiptCandidate, ReceiptPayload, ReceiptScore, identifier};
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::Report;
use intent_gateway_ledger::completion::signature::{Keys, Presented, Signer, VerifyingKey};
use intent_gateway_ledger::{Booking, Books as _, Judge, JudgedReport, OrderQuery, post};
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use intent_gateway_store::{Journal, Location, SqlStore};
use intent_gateway_testing::entropy::vault;
use intent_gateway_tests::cpu;
use semver::Version;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::reports::{INTENT, PARTNER, Quoted, SEARCHES, SIGNING_KEY, body, now_ms, request_id};
use crate::{gateway, line, root, us};

/// Rounds of each measurement in memory; the best one counts, since noise only ever adds.
const ROUNDS: u32 = 10;
/// Time of one round.
const ROUND_TIME: Duration = Duration::from_millis(200);
/// How long each size of a batch is measured.
const STORE_TIME: Duration = Duration::from_secs(2);
/// Reports that share a transaction.
const BATCHES: [usize; 3] = [1, 64, 256];
/// Reports that are looked up, then booked, before the clock is read: the system counts CPU time in steps of 10 ms.
const TURN: u64 = 1_024;

/// Measures and prints each part.
pub(crate) async fn run() {
    println!("The steps of a completion report; best of {ROUNDS} rounds, the store's over {} s", STORE_TIME.as_secs());
    let payload = gateway::sample("payload.json");
    let options = payload["slots"].as_array().expect("the payload has options");
    let quoted = Quoted::of(&options[0]);
    let report = body(0, &quoted);
    signature_and_reading(&report);
    judging(&report, &options[0].to_string()).await;
    storing(&quoted, options).await;
}

/// Time of one call, the best round's mean.
fn measure(mut call: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let (start, mut calls) = (Instant::now(), 0_u32);
        while start.elapsed() < ROUND_TIME {
            call();
            calls += 1;
        }
        best = best.min(start.elapsed() / calls);
    }
    best
}

fn signature_and_reading(report: &str) {
    let secret = Secret::new(SIGNING_KEY);
    let (now_ms, keys) = (now_ms(), Keys::new([VerifyingKey::new("bench", &secret, Timestamp::EPOCH, None)]));
    let (timestamp, signature) = (now_ms.to_string(), Signer::new(&secret).sign(now_ms, report.as_bytes()));
    let presented = Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(signature.as_bytes()) };
    let verify = measure(|| {
        black_box(keys.verify(black_box(presented), report.as_bytes(), Timestamp::from_ms(now_ms)))
            .expect("it is signed");
    });
    line("verify the signature", &format!("{:.1} us", us(verify)), &format!("{} bytes", report.len()));
    let read = measure(|| {
        black_box(Report::parse(black_box(report.as_bytes()))).expect("the report is sound");
    });
    line("read the report", &format!("{:.1} us", us(read)), "");
}

async fn judging(report: &str, quoted: &str) {
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let contract = LoadedContract::compile(&engine, &gateway::component()).await.expect("the contract loads");
    let context = CallContext { request_id: request_id(0), now: Timestamp::from_ms(now_ms()) };
    let judge = |quoted: Option<&str>| {
        tokio::task::block_in_place(|| {
            let handle = tokio::runtime::Handle::current();
            measure(|| {
                let checked =
                    handle.block_on(contract.check_completion(&context, black_box(report), About::option(quoted)));
                assert!(checked.expect("the report is sound").findings.is_empty());
            })
        })
    };
    line("judge it in the sandbox, an option quoted", &format!("{:.1} us", us(judge(Some(quoted)))), "");
    line("judge it in the sandbox, nothing quoted", &format!("{:.1} us", us(judge(None))), "");
}

/// The store's part, on SQLite: what is known of orders, and booking them, so many in a transaction.
async fn storing(quoted: &Quoted, options: &[Value]) {
    let folder = tempfile::tempdir_in(root().join("target")).expect("a temporary folder");
    let store = SqlStore::open(&Location::file(folder.path().join("gateway.db")), Some(&vault()))
        .await
        .expect("the store opens");
    let store = Arc::new(store);
    let journal = Journal::open(Arc::clone(&store), vault());
    (0..SEARCHES).for_each(|number| journal.keep(receipt(number, options), None));
    journal.close().await;
    assert_eq!(journal.lost(), 0, "the journal holds all rankings");
    let partner = PartnerId::parse(PARTNER).expect("an identifier");
    let mut next = 0;
    for size in BATCHES {
        let (mut reports, mut looking, mut booking) = (0, Spent::default(), Spent::default());
        while looking.time + booking.time < STORE_TIME {
            let orders: Vec<Booking> = (next..next + TURN).map(|number| order(&partner, number, quoted)).collect();
            (next, reports) = (next + TURN, reports + TURN);
            looking
                .add(async {
                    for batch in orders.chunks(size) {
                        store.look_up(batch.iter().map(asked).collect()).await.expect("the store answers");
                    }
                })
                .await;
            booking
                .add(async {
                    for batch in orders.chunks(size) {
                        store.book(batch.to_vec()).await.expect("the store books");
                    }
                })
                .await;
        }
        let name = |what: &str| format!("{what}, {size} at a time");
        line(&name("look up what is known of an order"), &looking.time_of_one(reports), &looking.cpu_of_one(reports));
        line(&name("book it, durably"), &booking.time_of_one(reports), &booking.cpu_of_one(reports));
    }
}

/// A ranking that has shown all of these options.
fn receipt(number: u64, options: &[Value]) -> Receipt {
    let contract = Digest::of(b"contract");
    let context = CallContext { request_id: request_id(number), now: Timestamp::from_ms(now_ms()) };
    let candidate = |(number, option): (u32, &Value)| ReceiptCandidate {
        number,
        json: to_raw_value(option).expect("JSON is written as JSON"),
    };
    let score = |ReceiptCandidate { number, .. }: &ReceiptCandidate| ReceiptScore {
        number: *number,
        id: format!("option-{number}"),
        total: 0.5,
        axes: Axes::UNDECLARED,
        completeness: 1.0,
    };
    let candidates: Vec<ReceiptCandidate> = (0..).zip(options).map(candidate).collect();
    let ranked = candidates.iter().map(score).collect();
    let partner = PartnerId::parse(PARTNER).expect("an identifier");
    Receipt {
        id: identifier(&context, contract, contract),
        at_ms: context.now,
        request_id: context.request_id,
        intent: IntentId::parse(INTENT).expect("an identifier"),
        version: Version::new(1, 0, 0),
        contract,
        arguments: RawValue::from_string("{}".to_owned()).expect("JSON"),
        payloads: vec![ReceiptPayload { partner, declared: Axes::UNDECLARED, candidates }],
        history: Vec::new(),
        ranked,
        dropped: Vec::new(),
        bookable_until_ms: None,
        outcome: contract,
    }
}

fn asked(booking: &Booking) -> OrderQuery {
    OrderQuery { order: booking.order(), request_id: booking.posting().request_id.clone() }
}

fn order(partner: &PartnerId, number: u64, quoted: &Quoted) -> Booking {
    let report = Report::parse(body(number, quoted).as_bytes()).expect("the report is sound");
    let judged_by = Judge { version: Version::new(1, 0, 0), stand_in: false };
    let verdict = JudgedReport { charged: true, judged_by, late_minutes: None, rate: Rate::DEFAULT };
    Booking::new(post(&report, partner, verdict, Timestamp::from_ms(now_ms())), Vec::new()).expect("it can be kept")
}

/// Time and CPU time of a step, over all its calls.
#[derive(Default)]
struct Spent {
    time: Duration,
    cpu: Duration,
}

impl Spent {
    async fn add(&mut self, step: impl Future<Output = ()>) {
        let (start, cpu) = (Instant::now(), cpu::time_of(std::process::id()));
        step.await;
        self.time += start.elapsed();
        self.cpu += cpu::time_of(std::process::id()).saturating_sub(cpu);
    }

    fn time_of_one(&self, reports: u64) -> String {
        format!("{:.1} us", us(self.time) / reports as f64)
    }

    fn cpu_of_one(&self, reports: u64) -> String {
        format!("CPU {:.1} us", us(self.cpu) / reports as f64)
    }
}
