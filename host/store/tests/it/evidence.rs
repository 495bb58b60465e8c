//! Findings and receipts: kept as they came, found by what they are looked for by, forgotten when they are old.

use std::collections::BTreeMap;
use std::sync::Arc;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, PastOrder, Violation};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::{
    Finding, FindingQuery, FindingsAbout, KeptFinding, RuleCount, Severity, Source, day_number, day_start,
};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::receipt::{
    KeptReceipt, QuotedOptions, Receipt, ReceiptCandidate, ReceiptDrop, ReceiptPayload, ReceiptScore,
};
use intent_gateway_domain::store::StoreError;
use intent_gateway_ledger::{Booked, Booking, Books as _, FINDINGS_MAX, KnownOrder, OrderQuery};
use intent_gateway_store::{BackupError, Journal, SqlStore};
use intent_gateway_testing::entropy::vault;
use serde_json::json;
use serde_json::value::RawValue;

use crate::ledger::{booking, posting, sound};
use crate::support::{Database, RESTORED, on_both_engines};

on_both_engines!(
    a_receipt_is_kept_as_it_was,
    the_latest_receipts_of_an_intent_are_found,
    a_shown_option_is_read_by_itself,
    the_same_ranking_is_kept_once,
    a_damaged_receipt_is_no_receipt,
    findings_are_read_newest_first,
    findings_are_told_apart_by_what_is_asked_for,
    findings_about_an_order_are_found,
    findings_are_counted_by_day,
    strikes_are_read_in_the_order_in_which_they_were_kept,
    strikes_are_found_without_reading_the_rest,
    what_was_found_in_a_report_is_kept_with_its_entry,
    a_report_is_compared_with_what_its_partner_has_quoted,
    no_more_is_compared_than_fits,
    a_backup_holds_the_evidence,
);

pub(crate) const NOW: Timestamp = Timestamp::from_ms(1_779_235_200_000);
pub(crate) const REQUEST: &str = "6d1f0a57-3a0e-4c39-9d1b-2f6f6f2c8a10";
pub(crate) const INTENT: &str = "auto.book_ac_service";

pub(crate) fn finding(partner: &str, external_id: &str) -> Finding {
    Finding {
        at_ms: NOW,
        partner: PartnerId::parse(partner).expect("sound"),
        intent: INTENT.to_owned(),
        request_id: REQUEST.to_owned(),
        source: Some(Source::Report),
        option_place: None,
        option_id: None,
        external_id: Some(external_id.to_owned()),
        severity: Severity::Note,
        violation: Violation {
            pointer: "/scope".to_owned(),
            code: "SCOPE_MISMATCH".to_owned(),
            message: "Another scope was quoted.".to_owned(),
        },
        excerpt: Some("\"overhaul\"".to_owned()),
    }
}

/// Every finding against a partner, newest first, page by page.
pub(crate) async fn findings(store: &SqlStore, partner: &str) -> Vec<KeptFinding> {
    let mut found: Vec<KeptFinding> = Vec::new();
    loop {
        let before = found.last().map(|last| last.number);
        let page = store.findings(FindingQuery::all(partner, before, 700)).await.expect("it reads");
        if page.is_empty() {
            return found;
        }
        found.extend(page);
    }
}

pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("JSON")
}

/// A ranking of two partners: of `ptr_1` the options 2 and 0 are shown, in this order, of `ptr_2` option 3.
pub(crate) fn receipt(id: &str, at_ms: Timestamp) -> Receipt {
    let option = |number: u32| ReceiptCandidate {
        number,
        json: raw(&format!("{{ \"slot_id\" : \"{id}-{number}\",\n \"total_inr\": 1e3, \"note\": \"\\u0000 ☂\" }}")),
    };
    let payload = |partner: &str, numbers: &[u32]| ReceiptPayload {
        partner: PartnerId::parse(partner).expect("sound"),
        declared: Axes { time: 0.1 + 0.2, taste: 1.0, budget: 0.0, safety: 1.0 / 3.0 },
        candidates: numbers.iter().map(|number| option(*number)).collect(),
    };
    let score = |number: u32| ReceiptScore {
        number,
        id: format!("slot {number}"),
        total: 0.1 * f64::from(number) + 0.2,
        axes: Axes::UNDECLARED,
        completeness: 2.0 / 3.0,
    };
    Receipt {
        id: id.to_owned(),
        at_ms,
        request_id: REQUEST.to_owned(),
        intent: IntentId::parse(INTENT).expect("sound"),
        version: "1.2.3-rc.1".parse().expect("a version"),
        contract: Digest::of(id.as_bytes()),
        arguments: raw("{\"city\" : \"Bengaluru\"}"),
        payloads: vec![payload("ptr_2", &[3]), payload("ptr_1", &[0, 1, 2]), payload("ptr_3", &[4])],
        history: vec![PastOrder {
            status: "completed".to_owned(),
            closed_at_ms: at_ms.minus_ms(9),
            attributes: BTreeMap::from([
                ("share".to_owned(), json!(0.1 + 0.2)),
                ("kind".to_owned(), json!({"b": 1, "a": []})),
            ]),
        }],
        ranked: vec![score(2), score(3), score(0)],
        dropped: vec![ReceiptDrop { number: 1, strike: true, codes: vec!["X".to_owned(), "Y".to_owned()] }],
        bookable_until_ms: Some(at_ms.plus_ms(15 * 60 * 1_000)),
        outcome: Digest::of(b"outcome"),
    }
}

pub(crate) fn shown(receipt: &Receipt) -> String {
    serde_json::to_string(receipt).expect("JSON")
}

pub(crate) async fn keep(store: &Arc<SqlStore>, receipts: impl IntoIterator<Item = Receipt>) {
    let journal = Journal::open(Arc::clone(store), vault());
    receipts.into_iter().for_each(|receipt| journal.keep(receipt, None));
    journal.close().await;
    assert_eq!(journal.lost(), 0);
}

pub(crate) async fn read(store: &SqlStore, id: &str) -> Option<Receipt> {
    store.receipt(id).await.expect("it reads").and_then(KeptReceipt::whole)
}

async fn a_receipt_is_kept_as_it_was(database: Database) {
    let store = database.open_shared().await;
    let receipts = [receipt("rank_1", NOW), receipt("rank_2", NOW.plus_ms(2)), receipt("rank_3", NOW.plus_ms(1))];
    let mut elsewhere = receipt("rank_4", NOW);
    elsewhere.request_id = "another \u{0} request".to_owned();
    elsewhere.payloads[2].candidates[0].json = raw("null");
    // As those from before past orders were told.
    elsewhere.history.clear();
    keep(&store, receipts.iter().cloned().chain([elsewhere.clone()])).await;
    for receipt in &receipts {
        assert_eq!(read(&store, &receipt.id).await.as_ref().map(shown), Some(shown(receipt)));
    }
    let found = read(&store, "rank_4").await.expect("it is there");
    elsewhere.request_id = "another \u{fffd} request".to_owned();
    assert_eq!(shown(&found), shown(&elsewhere), "but for what PostgreSQL cannot keep");
    assert!(read(&store, "rank_5").await.is_none());
    assert!(read(&store, "rank_\0").await.is_none());
    assert_eq!(store.receipts_of(REQUEST, 2).await.unwrap(), ["rank_2", "rank_3"], "newest first");
    assert_eq!(store.receipts_of(REQUEST, u32::MAX).await.unwrap().len(), 3);
    assert_eq!(store.receipts_of("another \u{0} request", 9).await.unwrap(), ["rank_4"]);
    assert_eq!(store.receipts_of("nobody's", 9).await.unwrap(), [""; 0]);
}

async fn the_latest_receipts_of_an_intent_are_found(database: Database) {
    let store = database.open_shared().await;
    let yoga = IntentId::parse("lifestyle.book_yoga_class").expect("sound");
    let mut other = receipt("rank_2", NOW);
    other.intent = yoga.clone();
    keep(&store, [receipt("rank_1", NOW), other, receipt("rank_3", NOW)]).await;
    let ac = IntentId::parse(INTENT).expect("sound");
    assert_eq!(store.recent_receipts(&ac, 9).await.unwrap(), ["rank_3", "rank_1"], "newest first");
    assert_eq!(store.recent_receipts(&ac, 1).await.unwrap(), ["rank_3"]);
    assert_eq!(store.recent_receipts(&yoga, 9).await.unwrap(), ["rank_2"]);
}

async fn a_shown_option_is_read_by_itself(database: Database) {
    let store = database.open_shared().await;
    let whole = receipt("rank_1", NOW);
    keep(&store, [whole.clone(), receipt("rank_2", NOW)]).await;
    let option = async |receipt: &str, partner: &str, number: u32| {
        let partner = PartnerId::parse(partner).expect("sound");
        let found = store.option(receipt, &partner, number).await.expect("it reads");
        found.map(|json| json.get().to_owned())
    };
    let given = |payload: usize, at: usize| whole.payloads[payload].candidates[at].json.get().to_owned();
    assert_eq!(option("rank_1", "ptr_1", 2).await, Some(given(1, 2)));
    assert_eq!(option("rank_1", "ptr_1", 0).await, Some(given(1, 0)));
    assert_eq!(option("rank_1", "ptr_2", 3).await, Some(given(0, 0)));
    for (receipt, partner, number) in [
        ("rank_1", "ptr_1", 1),
        ("rank_1", "ptr_1", 3),
        ("rank_1", "ptr_2", 2),
        ("rank_1", "ptr_9", 2),
        ("rank_9", "ptr_1", 2),
    ] {
        assert_eq!(option(receipt, partner, number).await, None, "{receipt} {partner} {number}");
    }
    assert_ne!(option("rank_2", "ptr_1", 2).await, Some(given(1, 2)), "each ranking has its own");
}

async fn the_same_ranking_is_kept_once(database: Database) {
    let store = database.open_shared().await;
    let again = || receipt("rank_1", NOW);
    keep(&store, [again(), receipt("rank_2", NOW.plus_ms(1)), again()]).await;
    keep(&store, [again(), receipt("rank_3", NOW.plus_ms(2))]).await;
    assert_eq!(store.receipts_of(REQUEST, 9).await.unwrap(), ["rank_3", "rank_2", "rank_1"]);
    assert_eq!(read(&store, "rank_1").await.as_ref().map(shown), Some(shown(&again())));
    assert_eq!(quoted(&store, "ptr_2").await.len(), 3);
    let folder = tempfile::tempdir().unwrap();
    let rows = store.backup(&folder.path().join("gateway.backup"), Timestamp::EPOCH).await.unwrap().rows;
    assert_eq!((rows["receipts"], rows["receipt_parts"]), (3, 9));
}

async fn a_damaged_receipt_is_no_receipt(database: Database) {
    let store = database.open_shared().await;
    keep(&store, [receipt("rank_1", NOW)]).await;
    let bytes = |hex: &str| {
        if database.file().is_some() { format!("X'{hex}'") } else { format!("'\\x{hex}'::bytea") }
    };
    // One that claims to be of four gigabytes, and one that is cut.
    for (table, column, hex) in [("receipts", "body", "ffffffff00"), ("receipt_parts", "quoted", "0400")] {
        database
            .run_on_receipts(&format!("UPDATE {table} SET {column} = {}", bytes(hex)))
            .await
            .expect("it is changed");
        let refused = store.receipt("rank_1").await;
        assert!(matches!(refused, Err(StoreError::Engine(..))), "{refused:?}");
    }
    assert!(quoted(&store, "ptr_1").await.is_empty(), "a report does not fail for it");
}

async fn findings_are_read_newest_first(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(Arc::clone(&store), vault());
    let mut odd = finding("ptr_1", "odd");
    odd.option_id = Some("a\0b".to_owned());
    odd.external_id = None;
    odd.severity = Severity::Strike;
    odd.violation.message = "é".repeat(5_000);
    odd.source = None;
    odd.option_place = Some(7);
    odd.excerpt = None;
    journal.record(odd.clone());
    for at in 0..9 {
        journal.record(finding(if at % 3 == 2 { "ptr_2" } else { "ptr_1" }, &format!("BK-{at}")));
    }
    journal.close().await;
    let all = findings(&store, "ptr_1").await;
    let numbers: Vec<u64> = all.iter().map(|found| found.number).collect();
    assert!(numbers.is_sorted_by(|one, next| one > next), "{numbers:?}");
    let orders: Vec<_> = all.iter().map(|found| found.finding.external_id.as_deref()).collect();
    let expected = ["BK-7", "BK-6", "BK-4", "BK-3", "BK-1", "BK-0"].map(Some);
    assert_eq!((&orders[..6], orders[6]), (&expected[..], None));
    odd.option_id = Some("a\u{fffd}b".to_owned());
    odd.violation.message = "é".repeat(1_024);
    assert_eq!(all[6].finding, odd, "cut, and without what PostgreSQL cannot keep");
    assert_eq!(all[5].finding, finding("ptr_1", "BK-0"));
    let page = store.findings(FindingQuery::all("ptr_1", Some(numbers[1]), 2)).await.unwrap();
    assert_eq!(page, all[2..4]);
    assert_eq!(store.findings(FindingQuery::all("ptr_1", Some(u64::MAX), u32::MAX)).await.unwrap(), all);
    assert_eq!(store.findings(FindingQuery::all("ptr_\0", None, 9)).await.unwrap(), []);
}

async fn findings_are_told_apart_by_what_is_asked_for(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(Arc::clone(&store), vault());
    let of = |severity, source, intent: &str, code: &str| {
        let mut found = finding("ptr_1", &format!("{source:?} {intent} {code}"));
        (found.severity, found.source, found.intent) = (severity, source, intent.to_owned());
        found.violation.code = code.to_owned();
        found
    };
    let all = [
        of(Severity::Strike, Some(Source::Search), INTENT, "A"),
        of(Severity::Drop, Some(Source::Search), INTENT, "A"),
        of(Severity::Drop, Some(Source::Report), "test.other", "A"),
        of(Severity::Drop, Some(Source::Search), INTENT, "B"),
        of(Severity::Drop, None, INTENT, "A"),
    ];
    all.iter().for_each(|found| journal.record(found.clone()));
    journal.record(finding("ptr_2", "BK-1"));
    journal.close().await;
    let every = FindingQuery::all("ptr_1", None, 100);
    let queries = [
        (every, vec![4, 3, 2, 1, 0]),
        (FindingQuery { severity: Some(Severity::Drop), ..every }, vec![4, 3, 2, 1]),
        (FindingQuery { source: Some(Source::Search), ..every }, vec![3, 1, 0]),
        (FindingQuery { intent: Some(INTENT), severity: Some(Severity::Drop), ..every }, vec![4, 3, 1]),
        (FindingQuery { code: Some("A"), source: Some(Source::Search), ..every }, vec![1, 0]),
        (FindingQuery { code: Some("A"), limit: 2, ..every }, vec![4, 2]),
        (FindingQuery { code: Some("A\0"), ..every }, Vec::new()),
    ];
    for (query, expected) in queries {
        let found = store.findings(query).await.unwrap().into_iter().map(|kept| kept.finding).collect::<Vec<_>>();
        assert_eq!(found, expected.into_iter().map(|at: usize| all[at].clone()).collect::<Vec<_>>(), "{query:?}");
        assert!(found.iter().all(|found| query.admits(found)), "{query:?}");
    }
}

async fn findings_about_an_order_are_found(database: Database) {
    let store = database.open_shared().await;
    let of = |code: &str, source, request_id: &str, option: Option<&str>, external: Option<&str>| {
        let mut finding = finding("ptr_1", "");
        (finding.source, finding.request_id) = (Some(source), request_id.to_owned());
        finding.option_id = option.map(str::to_owned);
        finding.external_id = external.map(str::to_owned);
        finding.violation.code = code.to_owned();
        finding
    };
    let mut all = vec![
        of("SHOWN", Source::Search, "search-1", Some("slot-1"), None),
        of("another option", Source::Search, "search-1", Some("slot-2"), None),
        of("another search", Source::Search, "search-2", Some("slot-1"), None),
        of("BOOKED", Source::Call, "booking-1", Some("slot-1"), None),
        of("CANCELLED \"☂\"", Source::Call, "cancel \"☂\"", None, None),
        of("another call", Source::Call, "booking-2", Some("slot-1"), None),
        of("REPORTED", Source::Report, "search-1", None, Some("BK-1\0")),
        of("another order", Source::Report, "search-1", None, Some("BK-2")),
    ];
    let mut foreign = of("another partner", Source::Call, "booking-1", None, Some("BK-1\0"));
    foreign.partner = PartnerId::parse("ptr_2").expect("sound");
    let mut elsewhere = of("another intent", Source::Call, "booking-1", None, None);
    elsewhere.intent = "auto.wash_car".to_owned();
    all.extend([foreign, elsewhere]);
    let journal = Journal::open(Arc::clone(&store), vault());
    all.iter().for_each(|found| journal.record(found.clone()));
    journal.close().await;
    let (partner, intent) = (PartnerId::parse("ptr_1").expect("sound"), IntentId::parse(INTENT).expect("sound"));
    let about = FindingsAbout {
        partner: &partner,
        intent: &intent,
        shown: ("search-1", "slot-1"),
        calls: &["booking-1", "cancel \"☂\""],
        external_ids: &["PBR-1", "BK-1\0"],
        limit: 10,
    };
    let codes = async |about| {
        let found = store.findings_about(about).await.expect("it reads");
        found.into_iter().map(|kept| kept.finding.violation.code).collect::<Vec<_>>()
    };
    let expected = ["REPORTED", "CANCELLED \"☂\"", "BOOKED", "SHOWN"];
    assert_eq!(codes(about).await, expected);
    assert_eq!(codes(FindingsAbout { limit: 2, ..about }).await, expected[..2]);
    assert_eq!(codes(FindingsAbout { calls: &[], external_ids: &[], ..about }).await, ["SHOWN"]);
    // The fakes judge by this.
    all.reverse();
    let admitted = all.iter().filter(|finding| about.admits(finding)).map(|finding| finding.violation.code.as_str());
    assert_eq!(admitted.collect::<Vec<_>>(), expected);
}

async fn findings_are_counted_by_day(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(Arc::clone(&store), vault());
    let midnight = day_start(day_number(NOW));
    let (yesterday, old) = (midnight.minus_ms(1), midnight.minus_ms(30 * 24 * 60 * 60 * 1_000));
    for at_ms in [midnight, NOW, yesterday, old] {
        journal.record(Finding { at_ms, ..finding("ptr_1", "BK-1") });
    }
    journal.record(strike("ptr_1", NOW, "BK-2"));
    journal.record(finding("ptr_2", "BK-3"));
    journal.close().await;
    let count = |day: Timestamp, severity, count| RuleCount {
        day: day_start(day_number(day)),
        intent: INTENT.to_owned(),
        code: "SCOPE_MISMATCH".to_owned(),
        severity,
        count,
    };
    let partner = PartnerId::parse("ptr_1").expect("sound");
    let expected =
        [count(NOW, Severity::Note, 2), count(NOW, Severity::Strike, 1), count(yesterday, Severity::Note, 1)];
    assert_eq!(store.counts(&partner, old.plus_ms(1)).await.unwrap(), expected);
    let none = PartnerId::parse("ptr_3").expect("sound");
    assert_eq!(store.counts(&none, Timestamp::EPOCH).await.unwrap(), []);
}

fn strike(partner: &str, at_ms: Timestamp, order: &str) -> Finding {
    Finding { severity: Severity::Strike, at_ms, ..finding(partner, order) }
}

async fn strikes_are_read_in_the_order_in_which_they_were_kept(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(Arc::clone(&store), vault());
    journal.record(strike("ptr_2", NOW.plus_ms(5), "BK-0"));
    journal.record(finding("ptr_1", "BK-1"));
    journal.record(strike("ptr_1", NOW.minus_ms(1), "BK-2"));
    journal.record(Finding { severity: Severity::Drop, ..finding("ptr_1", "BK-3") });
    journal.record(strike("ptr_1", NOW, "BK-4"));
    journal.close().await;
    let found = vec![finding("ptr_1", "BK-5"), strike("ptr_1", NOW.plus_ms(1), "BK-5")];
    store.book(vec![Booking::new(posting("ptr_1", "BK-5", 100, true), found).unwrap()]).await.unwrap();
    let read = async |after, since, limit| {
        let strikes = store.strikes(after, since, limit).await.expect("it reads");
        assert!(strikes.is_sorted_by_key(|found| found.number), "{strikes:?}");
        assert!(strikes.iter().all(|found| found.finding.severity == Severity::Strike), "{strikes:?}");
        let orders = strikes.iter().map(|found| found.finding.external_id.clone().expect("an order"));
        (strikes.last().map(|last| last.number), orders.collect::<Vec<_>>())
    };
    let (last, all) = read(0, Timestamp::EPOCH, u32::MAX).await;
    assert_eq!(all, ["BK-0", "BK-2", "BK-4", "BK-5"], "of all partners, reports' as well");
    assert_eq!(read(0, NOW, 9).await.1, ["BK-0", "BK-4", "BK-5"]);
    let (middle, page) = read(0, NOW, 2).await;
    assert_eq!(page, ["BK-0", "BK-4"]);
    assert_eq!(read(middle.expect("a number"), NOW, 2).await, (last, vec!["BK-5".to_owned()]));
    assert_eq!(read(last.expect("a number"), Timestamp::EPOCH, 9).await, (None, Vec::new()));
    assert_eq!(read(u64::MAX, Timestamp::MAX, 9).await, (None, Vec::new()));
    // Of what another process keeps meanwhile, none comes in below what was seen.
    let other = database.open_shared().await;
    let (one, two) = (Journal::open(Arc::clone(&store), vault()), Journal::open(other, vault()));
    for at in 0..200 {
        one.record(strike("ptr_3", NOW, &format!("one-{at}")));
        two.record(strike("ptr_3", NOW, &format!("two-{at}")));
    }
    let (mut after, mut seen) = (last.expect("a number"), Vec::new());
    while seen.len() < 400 {
        let (last, page) = read(after, Timestamp::EPOCH, 7).await;
        after = last.unwrap_or(after);
        seen.extend(page);
        tokio::task::yield_now().await;
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 400, "each once");
    one.close().await;
    two.close().await;
}

async fn strikes_are_found_without_reading_the_rest(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(Arc::clone(&store), vault());
    for at in 0..2_000 {
        journal.record(finding("ptr_1", &format!("BK-{at}")));
    }
    journal.record(strike("ptr_1", NOW, "BK-1"));
    journal.close().await;
    let explain = if database.file().is_some() { "EXPLAIN QUERY PLAN" } else { "EXPLAIN" };
    if database.file().is_none() {
        database.run("ANALYZE findings").await.expect("it counts");
    }
    let question = "SELECT number, message FROM findings WHERE severity = 'strike' AND number > 0 AND at_ms >= 0 \
                    ORDER BY number LIMIT 100";
    let plan = database.lines(&format!("{explain} {question}")).await;
    assert!(plan.iter().any(|line| line.contains("findings_strikes")), "{plan:?}");
    assert!(!plan.iter().any(|line| line.contains("TEMP B-TREE")), "{plan:?}");
}

async fn what_was_found_in_a_report_is_kept_with_its_entry(database: Database) {
    let store = database.open_shared().await;
    let found = |order: &str, count: usize| {
        let posting = posting("ptr_1", order, 100, true);
        Booking::new(posting, vec![finding("ptr_1", order); count]).expect("it can be booked")
    };
    let other = Booking::new(posting("ptr_1", "BK-1", 101, true), vec![finding("ptr_1", "BK-1")]).unwrap();
    let first = vec![found("BK-2", 0), found("BK-1", 2), found("BK-1", 2), other.clone(), found("BK-3", 1)];
    let answers = store.book(first.clone()).await.unwrap();
    assert!(matches!(&answers[..], [Booked::First(_), Booked::First(_), Booked::Repeat(_), Booked::Conflict(_), ..]));
    let orders = |found: &[KeptFinding]| {
        found.iter().map(|found| found.finding.external_id.clone().expect("an order")).collect::<Vec<_>>()
    };
    assert_eq!(orders(&findings(&store, "ptr_1").await), ["BK-3", "BK-1", "BK-1"]);
    store.book(first).await.unwrap();
    store.book(vec![other]).await.unwrap();
    assert_eq!(findings(&store, "ptr_1").await.len(), 3, "what comes again is not found again");
    store.book(vec![found("BK-4", 1_000)]).await.unwrap();
    assert_eq!(findings(&store, "ptr_1").await.len(), 3 + FINDINGS_MAX);
    let mut odd = finding("ptr_1", "BK-5");
    (odd.at_ms, odd.violation.message) = (Timestamp::MAX, "\0".to_owned());
    let answers = store.book(vec![Booking::new(posting("ptr_1", "BK-5", 1, true), vec![odd]).unwrap()]).await.unwrap();
    assert!(matches!(&answers[..], [Booked::First(_)]), "no report fails for what was found in it");
    assert_eq!(sound(&*store).await.len(), 5);
}

pub(crate) fn asked(partner: &str) -> OrderQuery {
    OrderQuery { order: posting(partner, "BK-1", 1, true).order(), request_id: REQUEST.to_owned() }
}

pub(crate) async fn quoted(store: &SqlStore, partner: &str) -> Vec<QuotedOptions> {
    let mut known = store.look_up(vec![asked(partner)]).await.expect("it is looked up");
    assert_eq!(known.len(), 1);
    known.remove(0).quoted
}

async fn a_report_is_compared_with_what_its_partner_has_quoted(database: Database) {
    let store = database.open_shared().await;
    let rankings =
        [("rank_2", NOW.plus_ms(1)), ("rank_1", NOW), ("rank_4", NOW.plus_ms(3)), ("rank_3", NOW.plus_ms(3))];
    let mut of_another_intent = receipt("rank_5", NOW.plus_ms(9));
    of_another_intent.intent = IntentId::parse("lifestyle.book_yoga_class").unwrap();
    let mut of_another_request = receipt("rank_6", NOW.plus_ms(9));
    of_another_request.request_id = "another".to_owned();
    let mut not_shown = receipt("rank_7", NOW.plus_ms(9));
    not_shown.ranked.retain(|score| score.number == 3);
    let others = [of_another_intent, of_another_request, not_shown];
    keep(&store, rankings.map(|(id, at_ms)| receipt(id, at_ms)).into_iter().chain(others)).await;
    let first = store.book(vec![booking(posting("ptr_2", "BK-1", 7, true))]).await.unwrap().remove(0);
    let partners = ["ptr_1", "ptr_2", "ptr_3", "ptr_1"];
    let mut questions = partners.map(asked).to_vec();
    questions.push(OrderQuery { request_id: "no\0thing".to_owned(), ..asked("ptr_2") });
    let mut impossible = asked("ptr_1");
    impossible.order.external_id = "\0".to_owned();
    questions.push(impossible);
    let known = store.look_up(questions).await.unwrap();
    let ids = |known: &KnownOrder| known.quoted.iter().map(|quoted| quoted.receipt.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&known[0]), ["rank_3", "rank_4", "rank_2"], "the latest three, newest first");
    assert_eq!((ids(&known[3]), ids(&known[5])), (ids(&known[0]), ids(&known[0])));
    assert_eq!((ids(&known[1]), ids(&known[4])), (Vec::new(), Vec::new()), "what is booked is compared no more");
    assert_eq!(ids(&known[2]), [""; 0], "nothing was shown");
    let booked: Vec<_> = known.iter().map(|known| known.booked.clone().map(Booked::First)).collect();
    assert_eq!(booked, [None, Some(first.clone()), None, None, Some(first), None]);
    let whole = receipt("rank_3", NOW.plus_ms(3));
    let QuotedOptions { at, version, contract, options, .. } = &known[0].quoted[0];
    assert_eq!((*at, version, *contract), (whole.at_ms, &whole.version, whole.contract));
    let options: Vec<&str> = options.iter().map(|option| option.get()).collect();
    let partner = PartnerId::parse("ptr_1").unwrap();
    let expected: Vec<&str> = whole.shown(&partner).map(RawValue::get).collect();
    assert_eq!(options, expected, "best first");
    assert_eq!(options.len(), 2);
    assert!(store.look_up(Vec::new()).await.unwrap().is_empty());
    assert!(matches!(store.look_up(vec![asked("ptr_1"); 1_025]).await, Err(StoreError::Engine(..))));
}

async fn no_more_is_compared_than_fits(database: Database) {
    let store = database.open_shared().await;
    let mut large = receipt("rank_1", NOW);
    // The second of those shown does not fit, and the first alone does.
    large.payloads[1].candidates[0].json = raw(&format!("\"{}\"", "x".repeat(256 * 1024)));
    // Nothing of this partner fits.
    large.payloads[0].candidates[0].json = raw(&format!("\"{}\"", "x".repeat(257 * 1024)));
    keep(&store, [large.clone()]).await;
    let known = quoted(&store, "ptr_1").await;
    let options: Vec<&str> = known[0].options.iter().map(|option| option.get()).collect();
    assert_eq!(options, [large.payloads[1].candidates[2].json.get()]);
    let known = quoted(&store, "ptr_2").await;
    assert_eq!((known.len(), known[0].options.len()), (1, 0), "it is known all the same that it was shown");
    assert_eq!(read(&store, "rank_1").await.as_ref().map(shown), Some(shown(&large)), "and all of it is kept");
}

async fn a_backup_holds_the_evidence(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = database.open_shared().await;
    let journal = Journal::open(Arc::clone(&store), vault());
    (0..60).for_each(|at| journal.record(finding("ptr_1", &format!("BK-{at}"))));
    (0..60).for_each(|at| journal.keep(receipt(&format!("rank_{at}"), NOW.plus_ms(at)), None));
    journal.close().await;
    let written = store.backup(&file, Timestamp::EPOCH).await.unwrap();
    assert_eq!((written.rows["findings"], written.rows["receipts"], written.rows["receipt_parts"]), (60, 60, 180));
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = other.open_shared().await;
        assert_eq!(restored.restore(&file, RESTORED).await.unwrap(), written);
        assert_eq!(findings(&restored, "ptr_1").await, findings(&store, "ptr_1").await);
        for at in [0, 49, 59] {
            let id = format!("rank_{at}");
            assert_eq!(read(&restored, &id).await.as_ref().map(shown), read(&store, &id).await.as_ref().map(shown));
        }
        assert_eq!(quoted(&restored, "ptr_1").await[0].receipt, "rank_59");
        assert!(matches!(restored.restore(&file, RESTORED).await, Err(BackupError::NotEmpty("findings"))));
        // It goes on where it was.
        keep(&restored, [receipt("rank_60", NOW.plus_ms(60))]).await;
        let again = folder.path().join("again");
        assert_eq!(restored.backup(&again, Timestamp::EPOCH).await.unwrap().rows["receipt_parts"], 183);
        std::fs::remove_file(&again).unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let at = text.find("\"receipts\",\"row\":").expect("a row of a receipt");
    let damaged = format!("{}{}", &text[..at], text[at..].replacen("rank_", "RANK_", 1));
    let bad = folder.path().join("damaged");
    std::fs::write(&bad, damaged).unwrap();
    let refused = Database::sqlite().open().await.restore(&bad, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::Damaged { .. })), "{refused:?}");
}
