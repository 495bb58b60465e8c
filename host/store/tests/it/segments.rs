//! Receipts over many segments: the same answers as of one table, also while segments are dropped, and after a crash between any
//! two steps of making or forgetting one.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::growth::ReceiptBounds;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::receipt::{KeptReceipt, Receipt};
use intent_gateway_domain::user_data::{UserEvidence as _, ranking_mark};
use intent_gateway_ledger::Books as _;
use intent_gateway_store::{BackupScope, Journal, SqlStore};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::users::user;

use crate::evidence::{INTENT, NOW, REQUEST, asked, finding, findings, keep, quoted, raw, read, receipt, shown};
use crate::support::{Database, RESTORED, on_both_engines};

on_both_engines!(
    many_segments_answer_as_one_table,
    a_ranking_that_comes_again_after_a_new_segment_is_kept_once,
    what_exceeds_the_room_goes_oldest_first,
    a_segment_is_forgotten_while_others_read_and_write,
    gateways_that_share_a_database_share_its_segments,
    receipts_wait_for_nobody_who_writes,
    a_segment_that_was_made_and_not_used_is_nobodys,
    a_segment_that_was_half_forgotten_is_forgotten_in_the_end,
    what_was_kept_before_is_read_erased_and_forgotten,
    a_backup_can_leave_receipts_out,
    a_restored_segment_goes_on,
    what_is_old_is_forgotten,
    findings_beyond_their_number_go_but_for_strikes,
);

/// A segment lasts 10 ms of the receipts' own time.
const SHORT: ReceiptBounds = ReceiptBounds { keep_ms: 160, max_bytes: u64::MAX };

async fn open(database: &Database, bounds: ReceiptBounds) -> Arc<SqlStore> {
    let store = database.open_shared().await;
    store.bound_receipts(bounds);
    store
}

async fn segments(store: &SqlStore) -> usize {
    store.segments().await.expect("they are read").len()
}

/// Chance that comes again: xorshift.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// What one table would hold, in the order in which it was kept.
#[derive(Default)]
struct Model {
    kept: Vec<(Receipt, Option<&'static str>, bool)>,
}

/// Identifiers of an intent's receipts, page by page from the latest back.
async fn read_back(store: &SqlStore, intent: &IntentId, since: Timestamp) -> Vec<String> {
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = store.receipts_back(intent, since, before).await.expect("it reads");
        found.extend(page.receipts.into_iter().map(|marked| marked.receipt.id));
        assert!(page.next.is_none_or(|next| before.is_none_or(|before| next < before)), "it goes back");
        before = page.next;
        if before.is_none() {
            return found;
        }
    }
}

const USERS: [&str; 2] = ["ann", "bob"];
const OTHER: &str = "lifestyle.book_yoga_class";

impl Model {
    fn live(&self) -> impl DoubleEndedIterator<Item = &(Receipt, Option<&'static str>, bool)> {
        self.kept.iter().filter(|(_, _, is_erased)| !is_erased)
    }

    /// Places in order of time, those kept last first where times are the same.
    fn by_time(&self, is_wanted: impl Fn(&Receipt) -> bool) -> Vec<String> {
        let mut found: Vec<(usize, &Receipt)> = self.live().map(|(receipt, ..)| receipt).enumerate().collect();
        found.retain(|(_, receipt)| is_wanted(receipt));
        found.sort_by_key(|(place, receipt)| std::cmp::Reverse((receipt.at_ms, *place)));
        found.into_iter().map(|(_, receipt)| receipt.id.clone()).collect()
    }

    async fn compare(&self, store: &SqlStore, step: u64) {
        for (receipt, _, is_erased) in &self.kept {
            match store.receipt(&receipt.id).await.expect("it reads") {
                Some(KeptReceipt::Whole(found)) if !is_erased => {
                    assert_eq!(shown(&found), shown(receipt), "step {step}")
                }
                Some(KeptReceipt::Erased) if *is_erased => {}
                other => panic!("step {step}: {} is {other:?}", receipt.id),
            }
        }
        for request in ["r-0", "r-1", "r-2"] {
            let expected = self.by_time(|receipt| receipt.request_id == request);
            assert_eq!(store.receipts_of(request, 1_000).await.unwrap(), expected, "step {step}");
            assert_eq!(store.receipts_of(request, 2).await.unwrap(), expected[..expected.len().min(2)], "step {step}");
            let mut question = asked("ptr_1");
            question.request_id = request.to_owned();
            let known = store.look_up(vec![question]).await.unwrap().remove(0);
            let quoted: Vec<String> = known.quoted.into_iter().map(|quoted| quoted.receipt).collect();
            let expected = self.by_time(|receipt| receipt.request_id == request && receipt.intent.as_str() == INTENT);
            assert_eq!(quoted, expected[..expected.len().min(3)], "step {step}");
        }
        for intent in [INTENT, OTHER] {
            let of_intent = self.kept.iter().rev().filter(|(receipt, ..)| receipt.intent.as_str() == intent);
            let expected: Vec<&str> = of_intent.map(|(receipt, ..)| receipt.id.as_str()).collect();
            let intent = IntentId::parse(intent).unwrap();
            assert_eq!(store.recent_receipts(&intent, 1_000).await.unwrap(), expected, "step {step}");
            let latest = self.live().map(|(receipt, ..)| receipt.at_ms).max().unwrap_or_default();
            for since in [Timestamp::EPOCH, latest.minus_ms(50)] {
                let wanted = |receipt: &&Receipt| receipt.intent == intent && receipt.at_ms >= since;
                let expected: Vec<String> =
                    self.live().rev().map(|(receipt, ..)| receipt).filter(wanted).map(|it| it.id.clone()).collect();
                assert_eq!(read_back(store, &intent, since).await, expected, "step {step}");
            }
        }
        for name in USERS {
            let own = self.live().rev().filter(|(_, owner, _)| *owner == Some(name));
            let expected: Vec<&str> = own.map(|(receipt, ..)| receipt.id.as_str()).collect();
            let mark = ranking_mark(&vault(), &user(name));
            let mut found: Vec<String> = Vec::new();
            let mut before = None;
            loop {
                let page = store.rankings_of(&mark, before, 3).await.unwrap();
                let Some(last) = page.last() else { break };
                before = Some(last.number);
                found.extend(page.into_iter().map(|ranking| ranking.id));
            }
            assert_eq!(found, expected, "step {step}");
        }
        let partner = PartnerId::parse("ptr_2").unwrap();
        for (receipt, _, is_erased) in &self.kept {
            let option = store.option(&receipt.id, &partner, 3).await.unwrap().map(|json| json.get().to_owned());
            let expected = receipt.shown_option(&partner, 3).map(|json| json.get().to_owned());
            assert_eq!(option, expected.filter(|_| !is_erased), "step {step}");
        }
    }
}

async fn many_segments_answer_as_one_table(database: Database) {
    for seed in [0x5eed, 0xfeed_beef, 77] {
        run_against_model(&database, seed).await;
    }
}

/// Forgets until nothing of it is left. PostgreSQL may look after a table that is to go at this moment: it goes the next time.
async fn forget_for_good(database: &Database, store: &SqlStore, before: Timestamp) -> u64 {
    let forgotten = store.forget(before).await.unwrap();
    while !database.lines("SELECT state FROM receipt_segments WHERE state = 'going'").await.is_empty() {
        store.forget(before).await.unwrap();
    }
    forgotten
}

async fn run_against_model(database: &Database, seed: u64) {
    let store = open(database, SHORT).await;
    forget_for_good(database, &store, Timestamp::MAX).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    let (mut model, mut chance, mut now) = (Model::default(), Chance(seed), NOW);
    let (mut most, mut forgotten) = (0, 0);
    for step in 0..60 {
        match chance.below(8) {
            0 if !model.kept.is_empty() => {
                let name = USERS[usize::try_from(chance.below(2)).unwrap()];
                let mark = ranking_mark(&vault(), &user(name));
                let rankings = store.rankings_of(&mark, None, 2).await.unwrap();
                let erased = store.erase_rankings(&rankings).await.unwrap();
                assert_eq!(usize::try_from(erased.receipts).unwrap(), rankings.len());
                for (receipt, _, is_erased) in &mut model.kept {
                    *is_erased |= rankings.iter().any(|ranking| ranking.id == receipt.id);
                }
            }
            1 => {
                let before = now.minus_ms(60);
                forgotten += forget_for_good(database, &store, before).await;
                let mut left = Vec::new();
                for one in std::mem::take(&mut model.kept) {
                    let is_there = store.receipt(&one.0.id).await.unwrap().is_some();
                    // What is young stays, and what is older than a segment and the lateness of its receipts goes.
                    let at = one.0.at_ms;
                    assert!(is_there || at < before, "step {step}: {} was too young to go", one.0.id);
                    assert!(!is_there || at >= before.minus_ms(30), "step {step}: {} is too old", one.0.id);
                    left.extend(is_there.then_some(one));
                }
                model.kept = left;
            }
            _ => {
                now = now.plus_ms(chance.below(8));
                for at in 0..1 + chance.below(4) {
                    // Kept late, as it comes: the times are not in order.
                    let mut one = receipt(&format!("rank_{seed}_{step}_{at}"), now.minus_ms(chance.below(12)));
                    one.request_id = format!("r-{}", chance.below(3));
                    if chance.below(3) == 0 {
                        one.intent = IntentId::parse(OTHER).unwrap();
                    }
                    let owner = [None, Some("ann"), Some("bob")][usize::try_from(chance.below(3)).unwrap()];
                    journal.keep(one.clone(), owner.map(user).as_ref());
                    model.kept.push((one, owner, false));
                }
                journal.settle().await;
            }
        }
        most = most.max(segments(&store).await);
        if step % 6 == 5 {
            model.compare(&store, step).await;
        }
    }
    assert!(most >= 6 && forgotten > 0, "{most} segments at most, {forgotten} forgotten: the test shows too little");
    journal.close().await;
    assert_eq!(journal.lost(), 0);
}

async fn a_ranking_that_comes_again_after_a_new_segment_is_kept_once(database: Database) {
    let store = open(&database, SHORT).await;
    keep(&store, [receipt("rank_1", NOW)]).await;
    // As a page that was written, and tried again because nobody knew.
    keep(&store, [receipt("rank_1", NOW), receipt("rank_2", NOW.plus_ms(10))]).await;
    keep(&store, [receipt("rank_2", NOW.plus_ms(10)), receipt("rank_1", NOW)]).await;
    assert_eq!(segments(&store).await, 2);
    let intent = IntentId::parse(INTENT).unwrap();
    assert_eq!(store.recent_receipts(&intent, 9).await.unwrap(), ["rank_2", "rank_1"]);
}

/// A receipt that no compression makes smaller.
fn large(id: &str, at_ms: Timestamp) -> Receipt {
    let mut chance = Chance(id[5..].parse::<u64>().unwrap() + 1);
    let noise: String = (0..20_000).map(|_| format!("{:016x}", chance.below(u64::MAX))).collect();
    let mut receipt = receipt(id, at_ms);
    receipt.arguments = raw(&format!("\"{noise}\""));
    receipt
}

async fn what_exceeds_the_room_goes_oldest_first(database: Database) {
    const MIB: u64 = 1024 * 1024;
    let store = open(&database, ReceiptBounds { keep_ms: u64::MAX, max_bytes: 4 * MIB }).await;
    for at in 0..40 {
        keep(&store, [large(&format!("rank_{at}"), NOW.plus_ms(at))]).await;
    }
    let sizes = store.segments().await.unwrap();
    assert!(sizes.len() > 5 && sizes.iter().map(|one| one.bytes).sum::<u64>() > 6 * MIB, "{sizes:?}");
    let forgotten = store.forget(Timestamp::EPOCH).await.unwrap();
    let left = store.segments().await.unwrap();
    assert!(left.iter().map(|one| one.bytes).sum::<u64>() <= 4 * MIB, "{left:?}");
    assert_eq!(left, sizes[sizes.len() - left.len()..], "the latest stay");
    assert_eq!(forgotten, 40 - left.iter().map(|one| one.receipts).sum::<u64>());
    assert!(read(&store, "rank_0").await.is_none() && read(&store, "rank_39").await.is_some());
    assert_eq!(database.segment_files().len(), if database.file().is_some() { left.len() } else { 0 });
}

async fn a_segment_is_forgotten_while_others_read_and_write(database: Database) {
    let store = open(&database, SHORT).await;
    let journal = Arc::new(Journal::open(Arc::clone(&store), vault()));
    let is_over = Arc::new(AtomicBool::new(false));
    let (writes, reads) = ((Arc::clone(&journal), Arc::clone(&is_over)), (Arc::clone(&store), Arc::clone(&is_over)));
    let write = tokio::spawn(async move {
        let mut at = 0;
        while !writes.1.load(Ordering::Relaxed) {
            writes.0.keep(receipt(&format!("rank_{at}"), NOW.plus_ms(at)), None);
            writes.0.settle().await;
            at += 1;
        }
        at
    });
    let read_on = tokio::spawn(async move {
        let mut asked_times = 0_u64;
        while !reads.1.load(Ordering::Relaxed) {
            let known = reads.0.look_up(vec![asked("ptr_1")]).await.expect("no reader fails for it");
            assert!(known[0].quoted.is_sorted_by(|one, next| one.at > next.at));
            asked_times += 1;
        }
        asked_times
    });
    let mut forgotten = 0;
    while forgotten < 60 {
        let intent = IntentId::parse(INTENT).unwrap();
        let newest = store.recent_receipts(&intent, 1).await.unwrap().pop();
        let newest: u64 = newest.map_or(0, |id| id[5..].parse().expect("a number"));
        forgotten += store.forget(NOW.plus_ms(newest.saturating_sub(15))).await.unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    let written = write.await.expect("it writes on");
    assert!(read_on.await.expect("it reads on") > 0 && written > 60);
    journal.close().await;
    assert_eq!(journal.lost(), 0);
    assert!(read(&store, &format!("rank_{}", written - 1)).await.is_some());
}

async fn gateways_that_share_a_database_share_its_segments(database: Database) {
    let gateways = [open(&database, SHORT).await, open(&database, SHORT).await, open(&database, SHORT).await];
    let journals = gateways.each_ref().map(|store| Journal::open(Arc::clone(store), vault()));
    for at in 0..40 {
        // All of them find the segment full at the same moment.
        for (journal, name) in journals.iter().zip(["one", "two", "three"]) {
            journal.keep(receipt(&format!("rank_{name}_{at}"), NOW.plus_ms(10 * at)), None);
        }
        futures_util::future::join_all(journals.iter().map(|journal| journal.settle())).await;
    }
    for journal in journals {
        journal.close().await;
        assert_eq!(journal.lost(), 0);
    }
    let sizes = gateways[0].segments().await.unwrap();
    assert_eq!(sizes.len(), 40, "each time one of them made the next, and all agreed");
    assert!(sizes.iter().all(|one| one.receipts == 3), "{sizes:?}");
    assert_eq!(gateways[1].receipts_of(REQUEST, 1_000).await.unwrap().len(), 120);
    let made = if database.file().is_some() {
        database.segment_files().len()
    } else {
        let partitions = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'segment_receipts%'";
        database.lines(partitions).await.len()
    };
    assert_eq!(made, 40, "nothing is left of those that were made for nothing");
    let together = futures_util::future::join_all(gateways.iter().map(|store| store.forget_segments(NOW.plus_ms(301))));
    let forgotten: u64 = together.await.into_iter().map(|forgotten| forgotten.expect("it forgets")).sum();
    assert!((90..=3 * 90).contains(&forgotten), "{forgotten}: one that two of them count is gone all the same");
    // Of a segment that two of them are at, one may leave the rest for the next time.
    assert_eq!(gateways[0].forget_segments(NOW.plus_ms(301)).await.unwrap(), 0);
    assert_eq!(segments(&gateways[2]).await, 10);
    assert!(read(&gateways[2], "rank_one_29").await.is_none() && read(&gateways[1], "rank_two_30").await.is_some());
}

async fn receipts_wait_for_nobody_who_writes(database: Database) {
    let store = open(&database, SHORT).await;
    keep(&store, [receipt("rank_1", NOW)]).await;
    // Somebody holds what all who book reports wait for, for longer than anybody waits.
    let held = database.hold_writers().await;
    keep(&store, [receipt("rank_2", NOW.plus_ms(1))]).await;
    assert!(read(&store, "rank_2").await.is_some());
    drop(held);
}

async fn a_segment_that_was_made_and_not_used_is_nobodys(database: Database) {
    let store = open(&database, SHORT).await;
    keep(&store, [receipt("rank_1", NOW)]).await;
    database.run("DELETE FROM receipt_segments").await.unwrap();
    keep(&store, [receipt("rank_2", NOW.plus_ms(1))]).await;
    assert!(read(&store, "rank_2").await.is_some(), "another was made beside it");
    let Ok(store) = Arc::try_unwrap(store) else { panic!("nobody else has it") };
    store.close().await;
    // And its number was not even counted, as after a restore of an older database beside newer files.
    database.run("UPDATE counters SET value = 0 WHERE name = 'receipt_segments'").await.unwrap();
    if database.file().is_some() {
        let store = open(&database, SHORT).await;
        keep(&store, [receipt("rank_3", NOW.plus_ms(50))]).await;
        assert!(read(&store, "rank_3").await.is_some() && read(&store, "rank_1").await.is_none());
        assert_eq!(database.segment_files().len(), 3, "what is nobody's is left alone");
    }
}

async fn a_segment_that_was_half_forgotten_is_forgotten_in_the_end(database: Database) {
    let store = open(&database, SHORT).await;
    for at in 0..4 {
        keep(&store, [receipt(&format!("rank_{at}"), NOW.plus_ms(20 * at))]).await;
    }
    let numbers: Vec<u64> = store.segments().await.unwrap().iter().map(|one| one.number).collect();
    assert_eq!(numbers.len(), 4);
    database.run("UPDATE receipt_segments SET state = 'going' WHERE number <= 2").await.unwrap();
    if database.file().is_some() {
        assert!(read(&store, "rank_0").await.is_none(), "one that goes is read no more");
        let files = database.segment_files();
        // One was cut off while it went piece by piece, the other when it was gone.
        std::fs::rename(&files[0], files[0].with_extension("going")).unwrap();
        std::fs::remove_file(&files[1]).unwrap();
    } else {
        let detached = "ALTER TABLE segment_receipt_parts DETACH PARTITION segment_receipt_parts_2; \
                        DROP TABLE segment_receipt_parts_2; \
                        ALTER TABLE segment_receipts DETACH PARTITION segment_receipts_2";
        database.run(detached).await.unwrap();
    }
    assert_eq!(store.forget(Timestamp::EPOCH).await.unwrap(), 0, "they were counted when they went");
    assert!(read(&store, "rank_0").await.is_none() && read(&store, "rank_1").await.is_none());
    assert!(read(&store, "rank_2").await.is_some() && read(&store, "rank_3").await.is_some());
    assert_eq!(database.lines("SELECT state FROM receipt_segments").await, ["kept", "kept"]);
    if database.file().is_some() {
        let files = database.segment_files();
        assert_eq!(files.len(), 2);
        let folder = files[0].parent().unwrap().read_dir().unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let rest: Vec<String> = names.filter(|name| name.contains("00001") || name.contains("00002")).collect();
        assert_eq!(rest, [""; 0], "nothing is left of those that went");
    } else {
        let tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'segment_receipt%' ORDER BY 1";
        assert_eq!(database.lines(tables).await.len(), 4);
    }
}

/// Puts all receipts where a gateway kept them before there were segments.
async fn move_to_before(database: &Database) {
    let columns = "id, at_ms, request_id, intent, version, contract, outcome, body, user_mark";
    let parts = "place, partner, request_id, intent, at_ms, shown, quoted, body";
    let copy = |receipts: &str, parts_table: &str| {
        format!(
            "INSERT INTO receipts (number, {columns}) SELECT number & 1048575, {columns} FROM {receipts}; \
             INSERT INTO receipt_parts (receipt, {parts}) SELECT receipt & 1048575, {parts} FROM {parts_table};"
        )
    };
    match database.segment_files().first() {
        Some(file) => {
            let copy = copy("segment.receipts", "segment.receipt_parts");
            let clear = "DELETE FROM segment.receipts; DELETE FROM segment.receipt_parts;";
            database.run(&format!("ATTACH '{}' AS segment; {copy} {clear}", file.display())).await.unwrap();
        }
        None => {
            let copy = copy("segment_receipts", "segment_receipt_parts");
            database
                .run(&format!(
                    "{copy} TRUNCATE segment_receipts, segment_receipt_parts; \
                                   UPDATE receipt_segments SET receipts = 0"
                ))
                .await
                .unwrap();
        }
    }
}

async fn what_was_kept_before_is_read_erased_and_forgotten(database: Database) {
    let store = open(&database, SHORT).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    let before: Vec<Receipt> = (0..120).map(|at| receipt(&format!("rank_{at}"), NOW.plus_ms(at))).collect();
    for one in &before[..4] {
        journal.keep(one.clone(), Some(&user("ann")));
    }
    journal.settle().await;
    let mark = ranking_mark(&vault(), &user("ann"));
    move_to_before(&database).await;
    keep(&store, [receipt("rank_new", NOW.plus_ms(2))]).await;
    assert_eq!(read(&store, "rank_3").await.as_ref().map(shown), Some(shown(&before[3])));
    assert_eq!(store.receipts_of(REQUEST, 3).await.unwrap(), ["rank_3", "rank_new", "rank_2"]);
    let known = store.look_up(vec![asked("ptr_1")]).await.unwrap().remove(0).quoted;
    let quoted: Vec<&str> = known.iter().map(|quoted| quoted.receipt.as_str()).collect();
    assert_eq!(quoted, ["rank_3", "rank_new", "rank_2"], "by time, wherever they lie");
    let rankings = store.rankings_of(&mark, None, 1).await.unwrap();
    assert_eq!(store.erase_rankings(&rankings).await.unwrap().receipts, 1);
    assert!(matches!(store.receipt("rank_3").await.unwrap(), Some(KeptReceipt::Erased)));
    store.mark_rankings(&["rank_new".to_owned(), "rank_0".to_owned()], &mark).await.unwrap();
    let ids: Vec<String> = store.rankings_of(&mark, None, 9).await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, ["rank_new", "rank_2", "rank_1", "rank_0"]);
    assert_eq!(store.forget(NOW.plus_ms(2)).await.unwrap(), 2, "each by its own time");
    assert!(read(&store, "rank_1").await.is_none() && read(&store, "rank_2").await.is_some());
    assert_eq!(store.forget(NOW.plus_ms(100)).await.unwrap(), 3);
    assert_eq!(database.lines("SELECT CAST(COUNT(*) AS TEXT) FROM receipts").await, ["0"]);
    journal.close().await;
}

async fn a_backup_can_leave_receipts_out(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = open(&database, SHORT).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    journal.record(finding("ptr_1", "BK-1"));
    journal.keep(receipt("rank_1", NOW), None);
    journal.close().await;
    let report = store.backup_in(BackupScope::WithoutReceipts, &file, NOW).await.unwrap();
    assert!(!report.has_receipts && !report.rows.contains_key("receipts"), "{report:?}");
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = open(&other, SHORT).await;
        assert_eq!(restored.restore(&file, RESTORED).await.unwrap(), report, "it says that there are none");
        assert_eq!(findings(&restored, "ptr_1").await.len(), 1);
        assert!(read(&restored, "rank_1").await.is_none());
        keep(&restored, [receipt("rank_2", NOW)]).await;
        assert!(read(&restored, "rank_2").await.is_some());
        assert!(restored.segments().await.unwrap()[0].number > 1, "no number comes twice");
    }
}

async fn a_restored_segment_goes_on(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = open(&database, SHORT).await;
    for at in 0..5 {
        keep(&store, [receipt(&format!("rank_{at}"), NOW.plus_ms(7 * at))]).await;
    }
    let before = store.segments().await.unwrap();
    let report = store.backup(&file, NOW).await.unwrap();
    assert_eq!((report.rows["receipts"], before.len()), (5, 3));
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = open(&other, SHORT).await;
        assert_eq!(restored.restore(&file, RESTORED).await.unwrap(), report);
        let of = |sizes: Vec<intent_gateway_store::SegmentSize>| {
            sizes.into_iter().map(|one| (one.number, (one.begun, one.receipts))).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(of(restored.segments().await.unwrap()), of(before.clone()));
        keep(&restored, [receipt("rank_5", NOW.plus_ms(29))]).await;
        let intent = IntentId::parse(INTENT).unwrap();
        let expected = ["rank_5", "rank_4", "rank_3", "rank_2", "rank_1", "rank_0"];
        assert_eq!(restored.recent_receipts(&intent, 9).await.unwrap(), expected);
        assert_eq!(segments(&restored).await, 3, "the last one goes on");
        // One that fails leaves nothing behind.
        let damaged = std::fs::read_to_string(&file).unwrap().replacen("\"rows\":", "\"rowz\":", 1);
        let bad = folder.path().join("damaged");
        std::fs::write(&bad, damaged).unwrap();
        let another = Database::sqlite();
        let refused = open(&another, SHORT).await;
        assert!(refused.restore(&bad, RESTORED).await.is_err());
        assert!(another.segment_files().is_empty());
        refused.restore(&file, RESTORED).await.expect("the next one finds its place");
    }
}

async fn what_is_old_is_forgotten(database: Database) {
    let store = database.open_shared().await;
    let old = |at: u64| Finding { at_ms: NOW.minus_ms(1 + at % 7), ..finding("ptr_1", "old") };
    let journal = Journal::open(Arc::clone(&store), vault());
    (0..2_100).for_each(|at| journal.record(old(at)));
    (0..120).for_each(|at| journal.keep(receipt(&format!("rank_{at}"), NOW.minus_ms(1 + at % 7)), None));
    store.bound_receipts(ReceiptBounds { keep_ms: 16, max_bytes: u64::MAX });
    journal.close().await;
    let newest = findings(&store, "ptr_1").await[0].number;
    assert_eq!(store.forget(NOW.minus_ms(100)).await.unwrap(), 0);
    let journal = Journal::open(Arc::clone(&store), vault());
    journal.record(Finding { at_ms: NOW.plus_ms(5), ..finding("ptr_1", "new") });
    // Each begins a segment: receipts go when the one after theirs has begun before that time.
    for (id, at_ms) in [("rank_young", NOW), ("rank_new", NOW.plus_ms(5))] {
        journal.keep(receipt(id, at_ms), None);
        journal.settle().await;
    }
    journal.close().await;
    assert_eq!(store.forget(NOW.plus_ms(3)).await.unwrap(), 2_220);
    let left = findings(&store, "ptr_1").await;
    assert_eq!((left.len(), left[0].number), (1, newest + 1));
    assert_eq!(store.receipts_of(REQUEST, 9).await.unwrap(), ["rank_new", "rank_young"]);
    assert_eq!(read(&store, "rank_new").await.map(|receipt| receipt.payloads.len()), Some(3));
    assert_eq!(quoted(&store, "ptr_1").await.len(), 2);
    assert_eq!(store.forget(Timestamp::MAX).await.unwrap(), 3);
    assert_eq!(store.forget(Timestamp::MAX).await.unwrap(), 0);
    let folder = tempfile::tempdir().unwrap();
    let rows = store.backup(&folder.path().join("gateway.backup"), Timestamp::EPOCH).await.unwrap().rows;
    assert_eq!(rows.keys().collect::<Vec<_>>(), ["chain_starts", "counters"], "nothing of it is left");
    // No number comes again, even of what is forgotten whole.
    let journal = Journal::open(Arc::clone(&store), vault());
    journal.record(finding("ptr_1", "newer"));
    journal.close().await;
    assert_eq!(findings(&store, "ptr_1").await[0].number, newest + 2);
}

async fn findings_beyond_their_number_go_but_for_strikes(database: Database) {
    let store = open(&database, SHORT).await;
    let journal = Journal::open(Arc::clone(&store), vault());
    for at in 0..500 {
        let mut one = finding("ptr_1", &format!("BK-{at}"));
        if at == 3 {
            one.severity = intent_gateway_domain::findings::Severity::Strike;
        }
        journal.record(one);
    }
    journal.close().await;
    assert_eq!(store.forget_excess_findings(500).await.unwrap(), 0);
    assert_eq!(store.forget_excess_findings(60).await.unwrap(), 439);
    let left = findings(&store, "ptr_1").await;
    assert_eq!(left.len(), 61);
    assert_eq!(left.last().and_then(|last| last.finding.external_id.as_deref()), Some("BK-3"), "a strike stays");
    assert_eq!(store.forget_excess_findings(60).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_receipts_are_for_their_owner_alone() {
    let database = Database::sqlite();
    let store = open(&database, SHORT).await;
    keep(&store, [receipt("rank_1", NOW)]).await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let files = database.segment_files();
    assert_eq!(files.len(), 1);
    assert_eq!(mode(files[0].parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm"] {
        let name = format!("{}{suffix}", files[0].display());
        assert_eq!(mode(name.as_ref()), 0o600, "{name}");
    }
    store.check_file().await.expect("it is sound");
}
