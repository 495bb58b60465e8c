//! Two gateways on one PostgreSQL, to which the same orders are reported at once: each is charged once, both say the same
//! of it, and nobody waits for ever. A key that was ended at one is refused at the other.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use intent_gateway_domain::findings::Severity;
use intent_gateway_ledger::completion::keyring::STALE_AFTER_MS;
use serde_json::json;
use test_servers::postgres::Postgres;

use super::load::CONNECTIONS;
use super::{Kept, LOOK, NO_SMTP, Reporter, ac_report, key_of, receipt, refusal, reporter_entry, seeded, with};
use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract};
use crate::onboarding::{Platform, settings};

/// Orders that are reported to both.
const ORDERS: usize = 5_000;
/// Of every so many, the gateways have seen one opened.
const ORDERED_EVERY: usize = 3;
/// Of every so many, one is reported to the second with other content.
const CONFLICT_EVERY: usize = 10;
/// Each gateway gets the orders in a sequence of its own, shuffled within so many, so that both have the same in hand.
const SHUFFLED_WITHIN: usize = CONNECTIONS;
/// How long all of it may take: a deadlock would take for ever.
const RUN_MAX: Duration = Duration::from_secs(180);
/// Share of the orders that both gateways must have had in hand at the same moment: one in so many.
const OVERLAP_MIN: usize = 20;
/// Keys that are ended at once.
const ROTATIONS: usize = 6;

/// A PostgreSQL database; `None` where it is not installed.
fn database() -> Option<String> {
    let server = Postgres::shared().unwrap_or_else(|error| panic!("{error}"));
    if server.is_none() {
        eprintln!("PostgreSQL is not installed: replicas were not tested");
    }
    server.map(|server| server.database().expect("a database"))
}

/// An answer, and when it was waited for.
struct Answered {
    order: usize,
    asked: Instant,
    answered: Instant,
    answer: Answer,
}

/// Reports all orders to one gateway, as its text of each has them, on many connections.
async fn report_all(gateway: &Gateway, texts: &[String]) -> Vec<Answered> {
    let partner = Reporter::new(&gateway.server.url, "alpha", &key_of("alpha"));
    let mut sequence: Vec<usize> = (0..texts.len()).collect();
    let shuffled = RandomState::new();
    for some in sequence.chunks_mut(SHUFFLED_WITHIN) {
        some.sort_by_key(|order| shuffled.hash_one(order));
    }
    let next = AtomicUsize::new(0);
    let client = || async {
        let mut answers = Vec::new();
        while let Some(&order) = sequence.get(next.fetch_add(1, Ordering::Relaxed)) {
            let asked = Instant::now();
            let mut answer = partner.text(&texts[order]).await;
            // It is busy, and says that nothing was booked.
            while answer.status == 503 {
                answer = partner.text(&texts[order]).await;
            }
            answers.push(Answered { order, asked, answered: Instant::now(), answer });
        }
        answers
    };
    let mut all: Vec<Answered> = join_all((0..CONNECTIONS).map(|_| client())).await.into_iter().flatten().collect();
    all.sort_by_key(|answered| answered.order);
    all
}

/// What both said of an order: the same receipt, the second time in a refusal where the contents differ.
fn one_receipt(answers: [&Answer; 2], differ: bool) -> String {
    let mut statuses = answers.map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, if differ { [200, 409] } else { [200, 200] }, "{answers:?}");
    let taken = answers.iter().find(|answer| answer.status == 200).expect("one");
    let booked = receipt(taken).to_owned();
    for answer in answers {
        if answer.status == 200 {
            assert_eq!(answer.body, taken.body);
        } else {
            assert_eq!(refusal(answer), (409, "IDEMPOTENCY_CONFLICT"));
            assert!(answer.body["error"]["message"].as_str().is_some_and(|text| text.contains(&booked)), "{answers:?}");
        }
    }
    booked
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_reported_to_both_is_charged_once() {
    let Some(store) = database() else { return };
    let options = || GatewayOptions {
        partners: vec![reporter_entry("alpha")],
        contracts: vec![ac_contract()],
        extra: settings(Some(&store), NO_SMTP),
        ..GatewayOptions::default()
    };
    let gateways = [Gateway::start(&options()), Gateway::start(&options())];
    let kept = Kept::of(gateways[0].folder.path(), Some(&store)).await;
    let external_id = |order: usize| format!("BK/{order}");
    let ordered: Vec<(String, &str)> =
        (0..ORDERS).step_by(ORDERED_EVERY).map(|at| (external_id(at), "alpha")).collect();
    seeded::seed(&kept.0, &ordered).await;
    let differs = |order: usize| order.is_multiple_of(CONFLICT_EVERY);
    let texts = |at: usize| -> Vec<String> {
        let report = |order| ac_report(&external_id(order), "r-1");
        let other = |order| with(report(order), &[("amount_inr", json!(1))]);
        let text = |order| if at == 1 && differs(order) { other(order) } else { report(order) };
        (0..ORDERS).map(|order| text(order).to_string()).collect()
    };

    let begun = Instant::now();
    let texts = [texts(0), texts(1)];
    let both = async { tokio::join!(report_all(&gateways[0], &texts[0]), report_all(&gateways[1], &texts[1])) };
    let (first, second) = tokio::time::timeout(RUN_MAX, both).await.expect("nobody waits for ever");
    let elapsed = begun.elapsed();

    let mut receipts = BTreeSet::new();
    let (mut overlapping, mut second_won) = (0, 0);
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one.order, other.order);
        overlapping += usize::from(one.asked < other.answered && other.asked < one.answered);
        second_won += usize::from(one.answer.status == 409);
        receipts.insert(one_receipt([&one.answer, &other.answer], differs(one.order)));
    }
    eprintln!(
        "{ORDERS} orders twice in {elapsed:?}; {overlapping} at the same moment, {second_won} of the conflicts to the second"
    );
    assert_eq!(receipts.len(), ORDERS, "each order has a receipt of its own");
    assert!(overlapping > ORDERS / OVERLAP_MIN, "{overlapping} were at both at the same moment");

    let entries = kept.sound().await;
    let orders: BTreeSet<&str> = entries.iter().map(|entry| entry.posting.external_id.as_str()).collect();
    assert_eq!((entries.len(), orders.len()), (ORDERS, ORDERS));
    assert!(entries.iter().all(|entry| receipts.contains(&entry.receipt_id())));
    // Each order of the gateways' is closed by the one entry of its report, so that what the entries of orders add up to is what the
    // orders do.
    let by_order = entries.iter().map(|entry| (entry.posting.external_id.clone(), entry.receipt_id())).collect();
    let known = seeded::check(&kept.0, &by_order).await.expect("orders and ledger agree");
    assert_eq!(known, ordered.into_iter().map(|(external_id, _)| external_id).collect());
    // Two findings for each of the others, whoever booked it: neither a search nor a booking is known. And one for each report that
    // was refused.
    let findings = kept.findings("alpha").await;
    let refused = findings.iter().filter(|kept| kept.finding.severity == Severity::Drop).count();
    assert_eq!((findings.len() - refused, refused), (2 * (ORDERS - known.len()), ORDERS / CONFLICT_EVERY));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_ended_at_one_is_refused_at_the_other() {
    let Some(store) = database() else { return };
    let platform = Platform::start(Some(&store));
    let business = platform.sign_up("ops@coolcar.example").await;
    let webhook = format!("{}/webhook", business.path("credentials"));
    let hook = json!({"webhook_url": "https://coolcar.example/hook"});
    let saved = platform.put(&webhook, &business.token, hook).await;
    let key_in = |answer: &Answer| answer.body["webhook_signing_key"].as_str().expect("a key").to_owned();
    let mut key = key_in(&saved);
    let extra = settings(Some(&store), NO_SMTP);
    let second = Gateway::start(&GatewayOptions { contracts: vec![ac_contract()], extra, ..GatewayOptions::default() });

    let gateways = [&platform.gateway, &second];
    let report = ac_report("BK/1", "r-1");
    let reported = async |gateway: &Gateway, key: &str| {
        let answer = Reporter::new(&gateway.server.url, &business.id, key).report(&report).await;
        if answer.status != 200 {
            assert_eq!(refusal(&answer), (401, "SIGNATURE_INVALID"));
        }
        answer.status
    };
    assert_eq!((reported(gateways[0], &key).await, reported(gateways[1], &key).await), (200, 200));
    let mut slowest = Duration::ZERO;
    for round in 0..ROTATIONS {
        let (at, other) = (gateways[round % 2], gateways[(round + 1) % 2]);
        let body = json!({"at_once": true});
        let rotated = at.call("POST", &format!("{webhook}/rotate"), Some(&business.token), Some(&body)).await;
        let since = Instant::now();
        let new_key = key_in(&rotated);
        // Where it was ended it is refused by the very next report.
        assert_eq!((reported(at, &key).await, reported(at, &new_key).await), (401, 200), "round {round}");
        while (reported(other, &key).await, reported(other, &new_key).await) != (401, 200) {
            assert!(since.elapsed() < Duration::from_millis(STALE_AFTER_MS), "round {round}: it is still taken");
            tokio::time::sleep(LOOK).await;
        }
        slowest = slowest.max(since.elapsed());
        key = new_key;
    }
    eprintln!("a key ended at one gateway was refused at the other after {slowest:?} at most");
}
