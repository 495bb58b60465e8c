//! Receipts are packed with dictionaries: what comes again takes next to no room, reads as it was, and holds nothing of one person
//! alone.

use std::sync::Arc;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::growth::ReceiptBounds;
use intent_gateway_domain::ports::{Evidence as _, Journal as _};
use intent_gateway_domain::receipt::{Receipt, ReceiptCandidate};
use intent_gateway_domain::user_data::{UserEvidence as _, ranking_mark};
use intent_gateway_store::{Journal, SqlStore};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::users::user;

use crate::evidence::{NOW, keep, quoted, raw, read, receipt, shown};
use crate::support::{Database, RESTORED, on_both_engines};

on_both_engines!(
    what_comes_again_takes_next_to_no_room,
    nothing_of_one_person_alone_is_in_a_dictionary,
    a_segment_has_dictionaries_of_its_own,
    a_page_that_was_not_kept_leaves_no_dictionary_behind,
    a_receipt_without_its_dictionary_is_damaged,
);

const OPTIONS: u32 = 12;

/// A receipt of a partner that always sends the same, some 8 KB, but for one word.
fn large(at: u64, word: &str) -> Receipt {
    let option = |number: u32| {
        let text = (0..20).map(|field| format!("\"field_{field}\":\"{:x}\"", number * 7919 + field * 104_729));
        let text = text.collect::<Vec<_>>().join(",");
        ReceiptCandidate { number, json: raw(&format!("{{{text},\"word\":\"{word}\"}}")) }
    };
    let mut receipt = receipt("rank", NOW.plus_ms(at));
    receipt.id = format!("rank_{at}");
    receipt.payloads.truncate(1);
    receipt.payloads[0].candidates = (0..OPTIONS).map(option).collect();
    receipt.arguments = raw(&format!("{{\"city\":\"Bengaluru\",\"complaint\":\"{word}\"}}"));
    receipt
}

async fn keep_one(store: &Arc<SqlStore>, receipt: Receipt, name: &str) {
    let journal = Journal::open(Arc::clone(store), vault());
    journal.keep(receipt, Some(&user(name)));
    journal.close().await;
}

/// Numbers of the dictionaries of the newest segment; on PostgreSQL, of all.
async fn dictionaries(database: &Database) -> Vec<String> {
    database.lines_of_receipts("SELECT CAST(number AS TEXT) FROM receipt_dictionaries ORDER BY number").await
}

async fn bytes_of_parts(database: &Database) -> Vec<u64> {
    let sizes = "SELECT CAST(LENGTH(quoted) + LENGTH(body) AS TEXT) FROM receipt_parts ORDER BY receipt, place";
    database.lines_of_receipts(sizes).await.iter().map(|size| size.parse().expect("a number")).collect()
}

async fn reads_back(store: &SqlStore, receipts: &[Receipt]) {
    for receipt in receipts {
        let found = read(store, &receipt.id).await;
        assert_eq!(found.as_ref().map(shown).as_ref(), Some(&shown(receipt)), "{}", receipt.id);
    }
}

async fn what_comes_again_takes_next_to_no_room(database: Database) {
    let store = database.open_shared().await;
    let receipts: Vec<Receipt> = (0..12).map(|at| large(at, &format!("word-{at}"))).collect();
    for (receipt, name) in receipts.iter().zip(["ann", "bob"].into_iter().cycle()) {
        keep_one(&store, receipt.clone(), name).await;
    }
    reads_back(&store, &receipts).await;
    let sizes = bytes_of_parts(&database).await;
    assert!(sizes[0] > 1_000, "nobody has sent it before: {sizes:?}");
    assert!(sizes[3..].iter().all(|size| *size < sizes[0] / 5), "{sizes:?}");
    assert_eq!(dictionaries(&database).await.len(), 2, "of the rankings and of the partner's answers");
    // A backup takes them along, to either engine.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gateway.backup");
    assert_eq!(store.backup(&file, Timestamp::EPOCH).await.expect("written").rows["receipt_dictionaries"], 2);
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = other.open_shared().await;
        restored.restore(&file, RESTORED).await.expect("restored");
        reads_back(&restored, &receipts).await;
        assert_eq!(bytes_of_parts(&other).await, sizes);
        assert_eq!(dictionaries(&other).await, dictionaries(&database).await);
    }
}

async fn nothing_of_one_person_alone_is_in_a_dictionary(database: Database) {
    let store = database.open_shared().await;
    for at in 0..6 {
        keep_one(&store, large(at, "secret-of-ann"), "ann").await;
    }
    assert_eq!(dictionaries(&database).await, [""; 0], "nobody has it in common with anybody");
    for at in 6..9 {
        keep_one(&store, large(at, "secret-of-bob"), "bob").await;
    }
    assert_eq!(dictionaries(&database).await.len(), 2);
    let hex = if database.file().is_some() { "LOWER(HEX(bytes))" } else { "ENCODE(bytes, 'hex')" };
    let texts = database.lines_of_receipts(&format!("SELECT {hex} FROM receipt_dictionaries")).await.concat();
    let holds = |text: &str| texts.contains(&text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>());
    assert!(holds("field_7") && holds("complaint"), "what all have is there");
    for own in ["secret", "Bengaluru"] {
        assert!(!holds(own), "{own}");
    }
    // So nothing has to be done about it when one of them is erased, and the other's reads as before.
    let of_ann = store.rankings_of(&ranking_mark(&vault(), &user("ann")), None, 100).await.expect("they are read");
    assert_eq!(store.erase_rankings(&of_ann).await.expect("erased").receipts, 6);
    reads_back(&store, &[large(8, "secret-of-bob")]).await;
}

async fn a_segment_has_dictionaries_of_its_own(database: Database) {
    let store = database.open_shared().await;
    // A segment lasts 10 ms of the receipts' own time.
    store.bound_receipts(ReceiptBounds { keep_ms: 160, max_bytes: u64::MAX });
    let receipts: Vec<Receipt> = (0..6).chain(20..26).map(|at| large(at, "word")).collect();
    for (receipt, name) in receipts.iter().zip(["ann", "bob"].into_iter().cycle()) {
        keep_one(&store, receipt.clone(), name).await;
    }
    assert_eq!(store.segments().await.expect("they are read").len(), 2);
    reads_back(&store, &receipts).await;
    assert_eq!(dictionaries(&database).await.len(), if database.file().is_some() { 2 } else { 4 });
    assert_eq!(store.forget_segments(NOW.plus_ms(21)).await.expect("forgotten"), 6);
    assert_eq!(dictionaries(&database).await.len(), 2, "those of the first went with it");
    reads_back(&store, &receipts[6..]).await;
}

async fn a_page_that_was_not_kept_leaves_no_dictionary_behind(database: Database) {
    let store = database.open_shared().await;
    keep_one(&store, large(0, "word"), "ann").await;
    database.run_on_receipts("ALTER TABLE receipt_parts RENAME TO away_parts").await.expect("renamed");
    // The one that makes the first dictionary.
    let journal = Journal::open(Arc::clone(&store), vault());
    journal.keep(large(1, "word"), Some(&user("bob")));
    journal.close().await;
    assert_eq!(journal.lost(), 1);
    database.run_on_receipts("ALTER TABLE away_parts RENAME TO receipt_parts").await.expect("renamed");
    assert_eq!(dictionaries(&database).await, [""; 0]);
    let receipts: Vec<Receipt> = (2..8).map(|at| large(at, "word")).collect();
    for (receipt, name) in receipts.iter().zip(["ann", "bob"].into_iter().cycle()) {
        keep_one(&store, receipt.clone(), name).await;
    }
    reads_back(&store, &receipts).await;
    assert_eq!(dictionaries(&database).await.len(), 2, "they are learned anew");
}

async fn a_receipt_without_its_dictionary_is_damaged(database: Database) {
    let store = database.open_shared().await;
    for (at, name) in (0..6).zip(["ann", "bob"].into_iter().cycle()) {
        keep_one(&store, large(at, "word"), name).await;
    }
    assert_eq!(quoted(&store, "ptr_2").await.len(), 3);
    database.run_on_receipts("DELETE FROM receipt_dictionaries").await.expect("deleted");
    store.receipt("rank_5").await.expect_err("damaged");
    reads_back(&store, &[large(0, "word")]).await;
    // A report is compared with what can be read.
    assert_eq!(quoted(&store, "ptr_2").await.len(), 0);
    let part = store.check_receipts(None, &|_, _| {}).await.expect("looked at");
    assert!(part.problems.iter().any(|problem| problem.code == "ROW_UNREADABLE"), "{part:?}");
}

/// On PostgreSQL the tables are brought up to date as a whole.
#[tokio::test(flavor = "multi_thread")]
async fn files_from_before_there_were_dictionaries_go_on() {
    let database = Database::sqlite();
    let store = database.open_shared().await;
    keep(&store, [large(0, "word")]).await;
    let Ok(store) = Arc::try_unwrap(store) else { panic!("nobody else has it") };
    store.close().await;
    let first_form = "DROP TABLE receipt_dictionaries; ALTER TABLE receipts DROP COLUMN dictionary; \
                      ALTER TABLE receipt_parts DROP COLUMN dictionary; PRAGMA user_version = 1;";
    database.run_on_receipts(first_form).await.expect("as it was");
    let store = database.open_shared().await;
    // Whoever comes first, reading or writing.
    reads_back(&store, &[large(0, "word")]).await;
    let receipts: Vec<Receipt> = (1..5).map(|at| large(at, "word")).collect();
    keep(&store, receipts.clone()).await;
    reads_back(&store, &receipts).await;
    assert_eq!(dictionaries(&database).await.len(), 2);
}
