//! Segments of receipts that are written anew without some: what goes, what stays, and that nobody who reads or changes receipts
//! meanwhile notices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use intent_gateway_domain::check::CheckedPart;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::growth::ReceiptBounds;
use intent_gateway_domain::growth::thinning::{RankingFacts, ThinningRules, UnusedRule};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::receipt::{KeptReceipt, Receipt};
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_domain::user_data::{UserEvidence as _, ranking_mark};
use intent_gateway_store::{Journal, SqlStore, Thinned};
use intent_gateway_testing::orders::booked;
use intent_gateway_testing::users::user;

use crate::evidence::{INTENT, NOW, finding, keep, read, receipt, shown};
use crate::support::{Database, RESTORED, on_both_engines, vault};

on_both_engines!(
    what_led_to_nothing_goes_and_all_else_stays,
    what_is_looked_for_is_found_when_others_have_gone,
    receipts_of_an_intent_go_at_its_own_age,
    two_gateways_keep_the_same,
    a_segment_is_written_anew_while_others_read_and_write,
    what_is_erased_meanwhile_stays_erased,
    who_reads_what_was_there_before_misses_nothing,
    a_copy_that_was_given_up_goes,
    what_a_copy_has_replaced_goes,
    the_check_knows_what_thinning_left,
);

/// Receipts that are written while segments are written anew, at most.
const WRITTEN_MAX: u64 = 400;
/// A segment lasts 10 ms of the receipts' own time.
const BOUNDS: ReceiptBounds = ReceiptBounds { keep_ms: 160, max_bytes: u64::MAX };
const YOGA: &str = "lifestyle.book_yoga_class";
const LATER: Timestamp = NOW.plus_ms(1_000);

pub(crate) async fn open(database: &Database) -> Arc<SqlStore> {
    let store = database.open_shared().await;
    store.bound_receipts(BOUNDS);
    store
}

/// A receipt of a request of its own, by which nothing can be booked any more.
pub(crate) fn ranking(at: u64) -> Receipt {
    let at_ms = NOW.plus_ms(at);
    let request_id = format!("request-{at}");
    Receipt { request_id, bookable_until_ms: Some(at_ms.plus_ms(1)), ..receipt(&format!("rank_{at}"), at_ms) }
}

pub(crate) fn unused(keep_one_in: u64) -> ThinningRules {
    ThinningRules { unused: Some(UnusedRule { keep_one_in, after_ms: 100 }), ..ThinningRules::default() }
}

/// An order that was found under one request, by a receipt or not, and made under another.
pub(crate) async fn order(store: &SqlStore, search: &str, request: &str, by: Option<&str>) {
    let mut order = booked("ptr_1", INTENT, search, request, &[request], NOW);
    order.from.receipt = by.map(str::to_owned);
    let mut change = Change::default();
    change.put(&Versioned::new(order));
    store.commit(change).await.expect("kept");
}

/// Those of the receipts that are there.
pub(crate) async fn there(store: &SqlStore, receipts: std::ops::Range<u64>) -> Vec<u64> {
    let mut found = Vec::new();
    for at in receipts {
        found.extend(store.receipt(&format!("rank_{at}")).await.expect("it reads").map(|_| at));
    }
    found
}

/// Thins until nobody stands in the way: on PostgreSQL something else may look at this moment.
async fn thin(store: &SqlStore, rules: &ThinningRules, now: Timestamp, segments: u64) -> Thinned {
    let mut all = Thinned::default();
    while all.segments < segments {
        let Thinned { segments, receipts } = store.thin_segments(rules, now).await.expect("it thins");
        all.segments += segments;
        all.receipts += receipts;
    }
    assert_eq!(all.segments, segments);
    all
}

pub(crate) async fn check(store: &SqlStore) -> CheckedPart {
    store.check_file().await.expect("the files are sound");
    store.check_receipts(None, &|_, _| {}).await.expect("it is checked")
}

async fn what_led_to_nothing_goes_and_all_else_stays(database: Database) {
    let store = open(&database).await;
    // Ten in the first segment; the second and the third end it and each other.
    let mut receipts: Vec<Receipt> = (0..10).chain([10, 20]).map(ranking).collect();
    receipts[5].bookable_until_ms = Some(LATER.plus_ms(1));
    receipts[6].bookable_until_ms = None;
    for one in &receipts {
        keep(&store, [one.clone()]).await;
    }
    order(&store, "request-1", "other-1", None).await;
    order(&store, "other-2", "request-2", None).await;
    order(&store, "other-3", "other-4", Some("rank_3")).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    journal.record(Finding { request_id: "request-4".to_owned(), ..finding("ptr_1", "BK-4") });
    journal.close().await;
    let fault = "INSERT INTO contract_faults (number, at_ms, last_at_ms, times, others, intent, version, contract, function, \
                 request_id, code, fault, input_bytes) VALUES (1, 1, 1, 1, 0, 'a.b', '1.0.0', 'x', 'rank', 'request-7', 'x', 'x', 0)";
    database.run(fault).await.expect("it is kept");
    let mark = ranking_mark(&vault(), &user("ann"));
    store.mark_rankings(&["rank_8".to_owned()], &mark).await.unwrap();
    let erased = store.rankings_of(&mark, None, 9).await.unwrap();
    assert_eq!(store.erase_rankings(&erased).await.unwrap().receipts, 1);

    assert_eq!(store.thin_segments(&ThinningRules::default(), LATER).await.unwrap(), Thinned::default());
    let too_early = NOW.plus_ms(109);
    assert_eq!(store.thin_segments(&unused(0), too_early).await.unwrap(), Thinned::default());
    assert_eq!(there(&store, 0..30).await.len(), 12);
    // Nothing of the last one goes, which is still written.
    let thinned = thin(&store, &unused(0), LATER, 2).await;
    assert_eq!(thinned, Thinned { segments: 2, receipts: 3 });
    assert_eq!(there(&store, 0..30).await, [1, 2, 3, 4, 5, 6, 7, 8, 20]);
    for at in [1_u64, 2, 3, 4, 5, 6, 7, 20] {
        let expected = receipts.iter().find(|one| one.id == format!("rank_{at}")).map(shown);
        assert_eq!(read(&store, &format!("rank_{at}")).await.as_ref().map(shown), expected);
    }
    assert!(matches!(store.receipt("rank_8").await.unwrap(), Some(KeptReceipt::Erased)));
    let sizes: Vec<_> =
        store.segments().await.unwrap().iter().map(|one| (one.number, one.receipts, one.left)).collect();
    assert_eq!(sizes, [(1, 10, Some(8)), (2, 1, Some(0)), (3, 1, None)]);
    assert_eq!(check(&store).await.problems, []);
    assert_eq!(store.thin_segments(&unused(0), LATER.plus_ms(1)).await.unwrap(), Thinned::default(), "once is enough");
    keep(&store, [ranking(25)]).await;
    assert_eq!(store.segments().await.unwrap().len(), 3, "the last one goes on");
    assert_eq!(store.forget_segments(NOW.plus_ms(11)).await.unwrap(), 8, "those that were left");
    assert_eq!(there(&store, 0..30).await, [20, 25]);
}

async fn what_is_looked_for_is_found_when_others_have_gone(database: Database) {
    let store = open(&database).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    for at in 0..60 {
        let user = user(if at % 2 == 0 { "ann" } else { "bob" });
        journal.keep(ranking(at), Some(&user));
        journal.settle().await;
    }
    journal.close().await;
    for at in (0..60).step_by(3) {
        order(&store, &format!("request-{at}"), &format!("order-{at}"), Some(&format!("rank_{at}"))).await;
    }
    let expected: Vec<u64> = (0..60).filter(|at| at % 3 == 0 || *at >= 50).collect();
    assert_eq!(thin(&store, &unused(0), LATER, 5).await.receipts, 60 - u64::try_from(expected.len()).unwrap());
    assert_eq!(there(&store, 0..60).await, expected);
    let newest_first: Vec<String> = expected.iter().rev().map(|at| format!("rank_{at}")).collect();
    assert_eq!(store.recent_receipts(&IntentId::parse(INTENT).unwrap(), 99).await.unwrap(), newest_first);
    assert_eq!(store.receipts_of("request-33", 9).await.unwrap(), ["rank_33"]);
    assert!(store.receipts_of("request-34", 9).await.unwrap().is_empty());
    let of_ann = store.rankings_of(&ranking_mark(&vault(), &user("ann")), None, 99).await.unwrap();
    let of_ann: Vec<String> = of_ann.into_iter().map(|one| one.id).collect();
    let even = expected.iter().rev().filter(|at| *at % 2 == 0);
    assert_eq!(of_ann, even.map(|at| format!("rank_{at}")).collect::<Vec<_>>());
    if database.file().is_some() {
        assert_eq!(database.segment_files().len(), 6, "what was replaced is gone");
    }
    // And all of it goes into a backup, and out of one.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let report = store.backup(&file, LATER).await.unwrap();
    assert_eq!(report.rows["receipts"], u64::try_from(expected.len()).unwrap());
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = open(&other).await;
        assert_eq!(restored.restore(&file, RESTORED).await.unwrap(), report);
        assert_eq!(there(&restored, 0..60).await, expected);
        assert_eq!(
            restored.thin_segments(&unused(0), LATER).await.unwrap(),
            Thinned::default(),
            "it was thinned before"
        );
    }
}

async fn receipts_of_an_intent_go_at_its_own_age(database: Database) {
    let store = open(&database).await;
    for at in 0..30 {
        let intent = if at % 2 == 0 { YOGA } else { INTENT };
        // What something can be booked by goes as well: it is too old.
        let bookable_until_ms = None;
        keep(&store, [Receipt { intent: IntentId::parse(intent).unwrap(), bookable_until_ms, ..ranking(at) }]).await;
    }
    order(&store, "request-4", "order-4", None).await;
    let yoga = IntentId::parse(YOGA).unwrap();
    let rules = ThinningRules { intents: BTreeMap::from([(yoga, 50)]), unused: None };
    let both = ThinningRules { unused: unused(0).unused, ..rules.clone() };
    assert_eq!(thin(&store, &rules, NOW.plus_ms(60), 1).await.receipts, 4);
    assert_eq!(there(&store, 0..12).await, [1, 3, 4, 5, 7, 9, 10, 11], "of the first segment alone");
    // Each age of the rules has its turn: the second one is looked at for both at once.
    assert_eq!(thin(&store, &both, NOW.plus_ms(200), 1).await.receipts, 5);
    assert_eq!(there(&store, 0..20).await, [1, 3, 4, 5, 7, 9, 11, 13, 15, 17, 19], "somebody may book by the others");
    let sizes: Vec<_> = store.segments().await.unwrap().iter().map(|one| (one.receipts, one.left)).collect();
    assert_eq!(sizes, [(10, Some(6)), (10, Some(5)), (10, None)]);
}

async fn two_gateways_keep_the_same(database: Database) {
    let mut kept = Vec::new();
    let another = database.another();
    for database in [&database, &another] {
        let store = open(database).await;
        let receipts: Vec<Receipt> = (0..40).map(|at| Receipt { at_ms: NOW, ..ranking(at) }).collect();
        keep(&store, receipts).await;
        keep(&store, [ranking(40)]).await;
        thin(&store, &unused(3), LATER, 1).await;
        kept.push(there(&store, 0..40).await);
    }
    let intent = IntentId::parse(INTENT).unwrap();
    let stays = |at: &u64| {
        let request_id = &format!("request-{at}");
        let (intent, age_ms) = (Some(&intent), 1_000);
        unused(3).keeps(&RankingFacts { intent, request_id, age_ms, is_pointed_to: false, is_bookable: false })
    };
    let expected: Vec<u64> = (0..40).filter(stays).collect();
    assert!(!expected.is_empty() && expected.len() < 30, "{expected:?}");
    assert_eq!(kept, [expected.clone(), expected]);
}

async fn a_segment_is_written_anew_while_others_read_and_write(database: Database) {
    let (store, other) = (open(&database).await, open(&database).await);
    for at in 0..200 {
        keep(&store, [ranking(at)]).await;
        if at % 10 == 0 {
            order(&store, &format!("request-{at}"), &format!("order-{at}"), Some(&format!("rank_{at}"))).await;
        }
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let readers = [&store, &other].map(|store| {
        let (store, is_over) = (Arc::clone(store), Arc::clone(&is_over));
        tokio::spawn(async move {
            let mut asked = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                let at = 10 * (asked % 20);
                let found = read(&store, &format!("rank_{at}")).await;
                assert_eq!(found.as_ref().map(shown), Some(shown(&ranking(at))), "it is there all the while");
                let newest = store.recent_receipts(&IntentId::parse(INTENT).unwrap(), 1_000).await.unwrap();
                assert!(newest.len() >= 20, "{newest:?}");
                asked += 1;
            }
            asked
        })
    });
    let (writes, ends) = (Arc::clone(&other), Arc::clone(&is_over));
    let write = tokio::spawn(async move {
        let mut at = 200;
        // Not for ever: the more there are, the longer each look takes, and the rarer is a moment in which nobody looks.
        while !ends.load(Ordering::Relaxed) && at < WRITTEN_MAX {
            keep(&writes, [ranking(at)]).await;
            at += 1;
        }
        at
    });
    // Of what was there at the start, all but the last segment.
    assert_eq!(thin(&store, &unused(0), NOW.plus_ms(290), 19).await.receipts, 19 * 9);
    is_over.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.expect("it reads on") > 0);
    }
    let written = write.await.expect("it writes on");
    let mut expected: Vec<u64> = (0..190).step_by(10).chain(190..written).collect();
    expected.dedup();
    assert_eq!(there(&other, 0..written).await, expected);
    assert_eq!(check(&other).await.problems, []);
}

async fn what_is_erased_meanwhile_stays_erased(database: Database) {
    let store = open(&database).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    for at in 0..300 {
        // All in one segment, of which every third goes, and the others are erased.
        let owner = (at % 3 != 0).then(|| user("ann"));
        journal.keep(Receipt { at_ms: NOW, intent: intent_of(at), ..ranking(at) }, owner.as_ref());
    }
    journal.settle().await;
    journal.keep(ranking(300), None);
    journal.close().await;
    let rules = ThinningRules { intents: BTreeMap::from([(intent_of(0), 100)]), unused: None };
    let mark = ranking_mark(&vault(), &user("ann"));
    let (thins, is_over) = (Arc::clone(&store), Arc::new(AtomicBool::new(false)));
    let ends = Arc::clone(&is_over);
    let thinning = tokio::spawn(async move {
        let mut thinned = Thinned::default();
        // As long as anything is erased, the copies may be of what was before.
        while thinned.segments == 0 || !ends.load(Ordering::Relaxed) {
            let Thinned { segments, .. } = thins.thin_segments(&rules, LATER).await.expect("it thins");
            thinned.segments += segments;
            tokio::task::yield_now().await;
        }
        thinned.segments
    });
    let mut erased = Vec::new();
    loop {
        let rankings = store.rankings_of(&mark, None, 7).await.unwrap();
        if rankings.is_empty() {
            break;
        }
        store.erase_rankings(&rankings).await.unwrap();
        erased.extend(rankings.into_iter().map(|one| one.id));
    }
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(thinning.await.expect("it thins"), 1);
    assert_eq!(erased.len(), 200);
    for id in &erased {
        assert!(matches!(store.receipt(id).await.unwrap(), Some(KeptReceipt::Erased)), "{id} is back");
    }
    assert!(store.rankings_of(&mark, None, 7).await.unwrap().is_empty());
    assert_eq!(check(&store).await.problems, []);
}

/// On PostgreSQL a transaction that began before would see nothing of what was copied since.
async fn who_reads_what_was_there_before_misses_nothing(database: Database) {
    let store = open(&database).await;
    for at in [0, 1, 10] {
        keep(&store, [ranking(at)]).await;
    }
    order(&store, "request-1", "order-1", None).await;
    if let Some(reader) = database.begin_to_read().await {
        assert_eq!(store.thin_segments(&unused(0), LATER).await.unwrap(), Thinned::default(), "it has to wait");
        let count = "SELECT COUNT(*) FROM segment_receipts";
        let seen: i64 = reader.query_one(count, &[]).await.expect("it reads").get(0);
        assert_eq!(seen, 3);
        reader.batch_execute("COMMIT").await.expect("it ends");
        assert_eq!(store.forget_segments(Timestamp::EPOCH).await.unwrap(), 0);
        assert_eq!(places(&database).await, 2, "nothing is left of the copy");
    }
    assert_eq!(thin(&store, &unused(0), LATER, 1).await.receipts, 1);
    assert_eq!(there(&store, 0..20).await, [1, 10]);
}

fn intent_of(at: u64) -> IntentId {
    IntentId::parse(if at.is_multiple_of(3) { YOGA } else { INTENT }).expect("an intent")
}

/// The tables or files of receipts that there are.
async fn places(database: &Database) -> usize {
    if database.file().is_some() {
        return database.segment_files().len();
    }
    let tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'segment_receipts%'";
    database.lines(tables).await.len()
}

/// What a gateway leaves that dies while it copies.
async fn leave_copy(database: &Database, number: u64) {
    let note = format!(
        "INSERT INTO receipt_segments (number, begun_at_ms, receipts, payload_bytes, state) VALUES ({number}, 0, 0, 0, 'copying'); \
         UPDATE counters SET value = {number} WHERE name = 'receipt_segments';"
    );
    database.run(&note).await.expect("noted");
    match database.segment_files().first() {
        Some(file) => drop(std::fs::copy(file, file.with_file_name(format!("{number:08}.db"))).expect("copied")),
        None => {
            let tables = format!(
                "CREATE TABLE segment_receipts_{number} (LIKE segment_receipts INCLUDING ALL); \
                 INSERT INTO segment_receipts_{number} SELECT * FROM segment_receipts"
            );
            database.run(&tables).await.expect("copied");
        }
    }
}

async fn a_copy_that_was_given_up_goes(database: Database) {
    let store = open(&database).await;
    for at in [0, 10, 20] {
        keep(&store, [ranking(at)]).await;
    }
    leave_copy(&database, 7).await;
    assert_eq!(places(&database).await, 4);
    assert_eq!(there(&store, 0..30).await, [0, 10, 20], "a copy is nobody's segment");
    assert_eq!(store.forget_segments(Timestamp::EPOCH).await.unwrap(), 0);
    assert_eq!(places(&database).await, 3);
    assert_eq!(database.lines("SELECT state FROM receipt_segments").await, ["kept", "kept", "kept"]);
    assert_eq!(thin(&store, &unused(0), LATER, 2).await.receipts, 2);
    assert_eq!((there(&store, 0..30).await, places(&database).await), (vec![20], 3));
}

async fn what_a_copy_has_replaced_goes(database: Database) {
    let store = open(&database).await;
    for at in [0, 1, 10, 20] {
        keep(&store, [ranking(at)]).await;
    }
    order(&store, "request-1", "order-1", None).await;
    thin(&store, &unused(0), LATER, 2).await;
    // As if the last step, which removes what was replaced, had not come.
    leave_copy(&database, 9).await;
    database.run("UPDATE receipt_segments SET state = 'going', number = 8, file = 9 WHERE number = 9").await.unwrap();
    drop(store);
    let store = open(&database).await;
    assert_eq!(there(&store, 0..30).await, [1, 20]);
    assert_eq!(store.forget_segments(Timestamp::EPOCH).await.unwrap(), 0);
    assert_eq!((there(&store, 0..30).await, places(&database).await), (vec![1, 20], 3));
    assert_eq!(database.lines("SELECT state FROM receipt_segments").await, ["kept", "kept", "kept"]);
}

async fn the_check_knows_what_thinning_left(database: Database) {
    let store = open(&database).await;
    for at in [0, 1, 2, 10] {
        keep(&store, [ranking(at)]).await;
    }
    order(&store, "request-1", "order-1", None).await;
    order(&store, "request-2", "order-2", None).await;
    thin(&store, &unused(0), LATER, 1).await;
    assert_eq!(check(&store).await.problems, [], "what was thinned is no damage");
    let damage =
        "DELETE FROM receipt_parts WHERE request_id = 'request-2'; DELETE FROM receipts WHERE request_id = 'request-2'";
    match database.segment_files().pop() {
        // The copy has a name of its own, after all others.
        Some(file) => {
            rusqlite::Connection::open(file).expect("it opens").execute_batch(damage).expect("it goes");
        }
        None => database.run_on_receipts(damage).await.expect("it goes"),
    }
    let problems = check(&store).await.problems;
    let codes: Vec<_> = problems.iter().map(|problem| (problem.code, problem.of.as_str())).collect();
    assert_eq!(codes, [("RECEIPT_MISSING", "segment 1")], "{problems:?}");
}
