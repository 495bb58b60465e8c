//! The links of the audit log and of the ledger: under a key, from a recorded entry on.

use std::sync::Arc;

use intent_gateway_domain::anchor::{Anchor, ChainName, Head};
use intent_gateway_domain::audit;
use intent_gateway_domain::chain::{BrokenChain, ChainKeys, Linked as _, Links};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, Store as _};
use intent_gateway_domain::vault::Vault;
use intent_gateway_ledger::bookkeeping::{self, LedgerWatch, fault_code, fault_entry};
use intent_gateway_ledger::{Booked, Books as _, Fault, genesis, link};
use intent_gateway_store::{BackupError, SqlStore};
use intent_gateway_testing::entropy::NoRandomness;

use crate::ledger::{book_first, charge};
use crate::support::{Database, RESTORED, entry, on_both_engines};

on_both_engines!(
    what_an_older_gateway_has_written_holds_and_links_go_on_under_the_key,
    entries_from_before_a_rotation_hold,
    whoever_has_no_key_reads_and_adds_nothing,
    amounts_of_an_entry_without_legs_are_found,
    what_no_link_covers_is_found,
    a_hidden_booking_is_not_booked_again,
    an_entry_that_cannot_be_read_is_told_by_its_number,
    a_record_that_was_removed_is_not_made_anew,
    the_ledger_is_compared_with_its_anchors_as_it_grows,
);

async fn add(store: &SqlStore, orders: &[&str]) {
    for order in orders {
        store.commit(Change { audit: vec![entry(order)], ..Change::default() }).await.expect("kept");
        book_first(store, charge(order, 100_000)).await;
    }
}

/// Runs statements that the tables do not take otherwise.
async fn force(database: &Database, sql: &str) {
    let off = if database.file().is_some() {
        "DROP TRIGGER IF EXISTS ledger_keeps; DROP TRIGGER IF EXISTS ledger_stays; DROP TRIGGER IF EXISTS audit_log_keeps; \
         DROP TRIGGER IF EXISTS audit_log_stays;"
    } else {
        "ALTER TABLE ledger DISABLE TRIGGER ALL; ALTER TABLE audit_log DISABLE TRIGGER ALL;"
    };
    database.run(&format!("{off} {sql}")).await.expect("whoever owns the database can do it");
}

/// Makes the links as gateways without keys made them.
pub(crate) async fn link_plainly(database: &Database, store: &SqlStore) {
    let (mut sql, mut previous) = (String::new(), audit::genesis());
    for entry in store.audit(None, 0, 1_000).await.expect("it reads") {
        previous = ChainKeys::default().link(previous, |hasher| entry.feed(hasher)).hash;
        sql.push_str(&format!("UPDATE audit_log SET hash = '{previous}' WHERE seq = {};", entry.seq));
    }
    previous = genesis();
    for entry in store.entries(0, 1_000).await.expect("it reads") {
        previous = link(entry.posting, entry.number, previous, &ChainKeys::default()).hash;
        sql.push_str(&format!("UPDATE ledger SET hash = '{previous}' WHERE number = {};", entry.number));
    }
    force(database, &sql).await;
}

async fn links(store: &SqlStore) -> (Links, Links) {
    let log = audit::verify(store, &[]).await.expect("it reads");
    assert_eq!(log.fault, None);
    let ledger = bookkeeping::verify(store, &[], None).await.expect("it reads").found;
    assert_eq!(ledger.faults, []);
    (log.links, ledger.links)
}

async fn what_an_older_gateway_has_written_holds_and_links_go_on_under_the_key(database: Database) {
    let store = database.open().await;
    add(&store, &["BK-1", "BK-2"]).await;
    link_plainly(&database, &store).await;
    store.close().await;
    // As the tables were then.
    let before =
        "DROP TABLE approvals; DROP TABLE chain_starts; DELETE FROM refinery_schema_history WHERE version >= 14;";
    force(&database, &format!("{} {before}", database.without_later_tables())).await;
    let store = database.open().await;
    let old = Links { without_key: 2, ..Links::default() };
    assert_eq!(links(&store).await, (old, old));
    add(&store, &["BK-3"]).await;
    let both = Links { under_key: 1, ..old };
    assert_eq!(links(&store).await, (both, both));
    // The old ones hold by the record of where the new ones begin: nobody exchanges them, nor makes more of them.
    force(&database, "UPDATE ledger SET status = 'x' WHERE number = 1; DELETE FROM ledger WHERE number = 3;").await;
    link_plainly(&database, &store).await;
    let faults = store.verify_ledger().await.expect("it reads").faults;
    assert_eq!(faults.iter().map(fault_code).collect::<Vec<_>>(), ["START_DIFFERS"]);
    let found = store.verify_audit().await;
    assert!(matches!(found, Err(BackupError::Audit(BrokenChain::WithoutKey(3)))), "{found:?}");
}

async fn entries_from_before_a_rotation_hold(database: Database) {
    let vault = |key: &str, previous: &[&str]| {
        let previous: Vec<Secret> = previous.iter().map(|key| Secret::new(*key)).collect();
        Vault::new(&Secret::new(key), &previous, Arc::new(NoRandomness))
    };
    for (current, previous, order) in [("first", &[][..], "BK-1"), ("second", &["first"], "BK-2")] {
        let store = SqlStore::open(&database.location, Some(&vault(current, previous))).await.expect("it opens");
        add(&store, &[order]).await;
        store.close().await;
    }
    let store = SqlStore::open(&database.location, Some(&vault("second", &["first"]))).await.expect("it opens");
    let both = Links { under_key: 2, ..Links::default() };
    assert_eq!(links(&store).await, (both, both));
    let store = SqlStore::open(&database.location, Some(&vault("second", &[]))).await.expect("it opens");
    let faults = store.verify_ledger().await.expect("it reads").faults;
    assert_eq!(faults.iter().map(fault_code).collect::<Vec<_>>(), ["START_CHANGED", "UNKNOWN_KEY"]);
}

async fn whoever_has_no_key_reads_and_adds_nothing(database: Database) {
    let store = database.open().await;
    add(&store, &["BK-1", "BK-2"]).await;
    let keyless = database.open_without_key().await;
    let unchecked = Links { unchecked: 2, ..Links::default() };
    assert_eq!(links(&keyless).await, (unchecked, unchecked));
    assert!(!keyless.verify_ledger().await.expect("it reads").is_sound(), "not all of it was checked");
    assert!(!audit::verify(&keyless, &[]).await.expect("it reads").is_sound());
    keyless.commit(Change { audit: vec![entry("ptr_1")], ..Change::default() }).await.expect_err("no link can be made");
    keyless.book(vec![charge("BK-3", 1)]).await.expect_err("no link can be made");
    // What needs no key it finds.
    force(&database, "UPDATE ledger SET rate = 1 WHERE number = 1;").await;
    let faults = keyless.verify_ledger().await.expect("it reads").faults;
    assert_eq!(faults.iter().map(fault_code).collect::<Vec<_>>(), ["WRONG_LEGS"]);
}

async fn amounts_of_an_entry_without_legs_are_found(database: Database) {
    let store = database.open().await;
    add(&store, &["BK-1"]).await;
    force(&database, "UPDATE ledger SET kind = 0, receivable = 5, revenue = -5 WHERE number = 1;").await;
    let faults = store.verify_ledger().await.expect("it reads").faults;
    assert_eq!(faults.iter().map(fault_code).collect::<Vec<_>>(), ["ENTRY_CHANGED", "WRONG_LEGS"]);
}

/// Lets the ledger take values that its checks refuse.
fn unchecked(database: &Database) -> &'static str {
    if database.file().is_some() {
        "PRAGMA ignore_check_constraints = ON;"
    } else {
        "ALTER TABLE ledger DROP CONSTRAINT IF EXISTS ledger_check1; \
         ALTER TABLE ledger DROP CONSTRAINT IF EXISTS ledger_check2; \
         ALTER TABLE ledger DROP CONSTRAINT IF EXISTS ledger_stand_in_check;"
    }
}

/// What is wrong with the ledger: codes and entries.
async fn faults(store: &SqlStore) -> Vec<(&'static str, u64)> {
    let told = |found: &[Fault]| found.iter().map(|fault| (fault_code(fault), fault_entry(fault))).collect::<Vec<_>>();
    let of_store = told(&store.verify_ledger().await.expect("it reads").faults);
    let of_books = told(&bookkeeping::verify(store, &[], None).await.expect("it reads").found.faults);
    assert_eq!(of_store, of_books, "both ways say the same");
    of_store
}

async fn what_no_link_covers_is_found(database: Database) {
    let store = database.open().await;
    add(&store, &["BK-1", "BK-2", "BK-3"]).await;
    assert_eq!(faults(&store).await, []);
    for (column, forged, code) in [
        ("turn", "2", "WRONG_TURN"),
        ("reverses", "9", "OTHER_VALUES"),
        ("reason", "'forged words'", "OTHER_VALUES"),
        ("stand_in", "stand_in + 2", "OTHER_VALUES"),
        ("hash", "UPPER(hash)", "OTHER_VALUES"),
    ] {
        let kept = format!("CREATE TABLE kept AS SELECT {column} AS value FROM ledger WHERE number = 2;");
        let change = format!("{kept} UPDATE ledger SET {column} = {forged} WHERE number = 2;");
        force(&database, &format!("{} {change}", unchecked(&database))).await;
        let found = faults(&store).await;
        assert!(found.contains(&(code, 2)), "{column}: {found:?}");
        let mut watch = LedgerWatch::begin(&store, &[]).await.expect("it reads");
        let watched = watch.advance(&store).await.expect("it reads");
        assert_eq!(watched.is_some(), column != "turn", "what orders have to do with each other is not watched");
        let back = format!("UPDATE ledger SET {column} = (SELECT value FROM kept) WHERE number = 2; DROP TABLE kept;");
        force(&database, &format!("{} {back}", unchecked(&database))).await;
        assert_eq!(faults(&store).await, [], "{column}");
    }
}

async fn a_hidden_booking_is_not_booked_again(database: Database) {
    let store = database.open().await;
    add(&store, &["BK-1"]).await;
    let hide = "UPDATE ledger SET reverses = 1000001, turn = 8 WHERE number = 1;";
    force(&database, &format!("{} {hide}", unchecked(&database))).await;
    let answers = store.book(vec![charge("BK-1", 100_000)]).await.expect("it answers");
    assert!(!matches!(answers[..], [Booked::First(_)]), "{answers:?}");
    assert_eq!(faults(&store).await, [("OTHER_VALUES", 1), ("WRONG_TURN", 1)]);
}

async fn an_entry_that_cannot_be_read_is_told_by_its_number(database: Database) {
    let store = database.open().await;
    add(&store, &["BK-1", "BK-2", "BK-3"]).await;
    force(&database, "UPDATE ledger SET judge = 'no version' WHERE number = 2;").await;
    assert_eq!(faults(&store).await, [("ENTRY_UNREADABLE", 2)]);
    let mut watch = LedgerWatch::begin(&store, &[]).await.expect("it reads");
    let watched = watch.advance(&store).await.expect("it reads");
    assert_eq!(watched, Some(Fault::Unreadable(2)));
    // A readable one that says something else is another matter.
    force(&database, "UPDATE ledger SET judge = '9.9.9' WHERE number = 2;").await;
    assert_eq!(faults(&store).await, [("ENTRY_CHANGED", 2)]);
}

async fn a_record_that_was_removed_is_not_made_anew(database: Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("backup");
    let store = database.open().await;
    add(&store, &["BK-1"]).await;
    database.run("DELETE FROM chain_starts").await.expect("it is done");
    store.close().await;
    let store = database.open().await;
    store.begin_chains().await.expect("it is looked at");
    let found = store.verify_audit().await;
    assert!(matches!(found, Err(BackupError::Audit(BrokenChain::NoStart))), "{found:?}");
    store.backup(&file, Timestamp::EPOCH).await.expect("it is backed up");
    let restored = Database::sqlite().open().await;
    let refused = restored.restore(&file, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::Audit(BrokenChain::NoStart))), "{refused:?}");
}

async fn the_ledger_is_compared_with_its_anchors_as_it_grows(database: Database) {
    let store = database.open().await;
    let mut watch = LedgerWatch::begin(&store, &[]).await.expect("it reads");
    assert_eq!(watch.advance(&store).await.expect("it reads"), None);
    add(&store, &["BK-1", "BK-2"]).await;
    assert_eq!(watch.advance(&store).await.expect("it reads"), None);
    let verified = store.verify_ledger().await.expect("it reads");
    assert_eq!(watch.head(), verified.end());
    assert_eq!(watch.head().owed, Some(Paise::new(20_000)));
    let anchor = |head: Head| Anchor::new(&ChainKeys::default(), ChainName::Ledger, Timestamp::EPOCH, head);
    let codes = async |head: Head| {
        let anchors = [anchor(head)];
        let found = bookkeeping::verify(&store, &anchors, None).await.expect("it reads").found;
        let codes: Vec<_> = found.faults.iter().map(fault_code).collect();
        let mut watch = LedgerWatch::begin(&store, &anchors).await.expect("it reads");
        let first = watch.advance(&store).await.expect("it reads").or_else(|| watch.finish());
        assert_eq!(first.as_ref().map(fault_code), codes.first().copied(), "both ways say the same");
        codes
    };
    let end = watch.head();
    assert_eq!(codes(end).await, Vec::<&str>::new());
    assert_eq!(codes(Head { number: 3, ..end }).await, ["ANCHOR_MISSING"]);
    assert_eq!(codes(Head { hash: genesis(), ..end }).await, ["ANCHOR_DIFFERS"]);
    assert_eq!(codes(Head { owed: Some(Paise::new(2_000)), ..end }).await, ["ANCHOR_SUM_DIFFERS"]);
    force(&database, "UPDATE ledger SET status = 'x' WHERE number = 2;").await;
    assert_eq!(watch.advance(&store).await.expect("it reads"), None, "it was taken before");
    let mut anew = LedgerWatch::begin(&store, &[]).await.expect("it reads");
    assert_eq!(anew.advance(&store).await.expect("it reads").as_ref().map(fault_code), Some("ENTRY_CHANGED"));
}
