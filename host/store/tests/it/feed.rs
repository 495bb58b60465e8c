//! Feeds of changes: a record stands there once, at its latest change, and no reader misses one.

use std::collections::BTreeMap;
use std::sync::Arc;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::order::Order;
use intent_gateway_domain::store::{Changed, Document, Kind, NAME_MAX_BYTES, Store, StoreError, changed};
use intent_gateway_ledger::Books as _;

use crate::ledger::{charge, kept_order};
use crate::opening::WITHOUT_USER_DATA;
use crate::support::{
    CheckedStore, Database, Place, RESTORED, delete, is_conflict, on_both_engines, on_every_store, put, record,
};

on_every_store!(
    a_record_stands_at_its_latest_change,
    feeds_are_read_alone_or_together,
    what_does_not_hold_is_not_told,
    no_change_is_missed_while_many_write,
);

on_both_engines!(
    a_report_that_closes_an_order_is_told,
    what_was_kept_before_stands_in_its_feed,
    a_restored_feed_begins_anew_for_those_who_have_read_of_it,
);

const KIND: Kind = Kind::Orders;

/// A record of a feed, at the revision that is expected.
fn told(key: &str, feed: &str, revision: u64) -> Document {
    Document { feed: Some(feed.to_owned()), revision, ..record(key) }
}

/// The keys of what was changed after a number, and the number of the last.
async fn keys(store: &dyn Store, feeds: &[&str], after: u64, limit: u32) -> (Vec<String>, u64) {
    let found = store.changed(KIND, Changed { feeds, after, limit }).await.expect("it reads");
    let numbers: Vec<u64> = found.iter().map(|(number, _)| *number).collect();
    assert!(numbers.first().is_none_or(|first| *first > after) && numbers.is_sorted_by(|one, next| one < next));
    (found.into_iter().map(|(_, document)| document.key).collect(), numbers.last().copied().unwrap_or(after))
}

async fn a_record_stands_at_its_latest_change(place: impl Place) {
    let store = place.store().await;
    for key in ["ord_1", "ord_2", "ord_3"] {
        store.commit(put(KIND, told(key, "a", 0))).await.expect("kept");
    }
    let (all, seen) = keys(&*store, &["a"], 0, 10).await;
    assert_eq!(all, ["ord_1", "ord_2", "ord_3"]);
    assert_eq!(keys(&*store, &["a"], seen, 10).await, (Vec::new(), seen));
    store.commit(put(KIND, told("ord_1", "a", 1))).await.expect("changed");
    store.commit(put(KIND, told("ord_1", "a", 2))).await.expect("changed");
    let (changed, later) = keys(&*store, &["a"], seen, 10).await;
    assert_eq!(changed, ["ord_1"], "once, whatever happened to it");
    assert!(later > seen);
    assert_eq!(keys(&*store, &["a"], 0, 10).await.0, ["ord_2", "ord_3", "ord_1"]);
    let found = store.changed(KIND, Changed { feeds: &["a"], after: seen, limit: 1 }).await.expect("it reads");
    assert_eq!(found[0].1, store.get(KIND, "ord_1").await.expect("it reads").expect("kept"), "as it is now");
    // A page at a time is the same.
    let (page, seen) = keys(&*store, &["a"], 0, 2).await;
    assert_eq!(
        (page, keys(&*store, &["a"], seen, 2).await.0),
        (vec!["ord_2".into(), "ord_3".into()], vec!["ord_1".into()])
    );
    // What is removed is told no more, and its number is not given again.
    store.commit(delete(KIND, "ord_1", 3)).await.expect("removed");
    assert_eq!(keys(&*store, &["a"], 0, 10).await.0, ["ord_2", "ord_3"]);
    store.commit(put(KIND, told("ord_4", "a", 0))).await.expect("kept");
    assert_eq!(keys(&*store, &["a"], later, 10).await.0, ["ord_4"]);
}

async fn feeds_are_read_alone_or_together(place: impl Place) {
    let store = place.store().await;
    for (key, feed) in [("ord_1", "a"), ("ord_2", "b"), ("ord_3", "c"), ("ord_4", "a"), ("ord_5", "b")] {
        store.commit(put(KIND, told(key, feed, 0))).await.expect("kept");
    }
    assert_eq!(keys(&*store, &["b"], 0, 10).await.0, ["ord_2", "ord_5"]);
    let (first, seen) = keys(&*store, &["b", "a", "nobody"], 0, 3).await;
    assert_eq!(first, ["ord_1", "ord_2", "ord_4"]);
    assert_eq!(keys(&*store, &["a", "b"], seen, 3).await.0, ["ord_5"]);
    assert!(keys(&*store, &[], 0, 10).await.0.is_empty());
    assert!(keys(&*store, &["a"], 0, 0).await.0.is_empty());
    assert!(store.changed(KIND, Changed { feeds: &["a"], after: u64::MAX, limit: 1 }).await.is_err());
}

async fn what_does_not_hold_is_not_told(place: impl Place) {
    let store = place.store().await;
    store.commit(put(KIND, told("ord_1", "a", 0))).await.expect("kept");
    let (_, seen) = keys(&*store, &["a"], 0, 10).await;
    assert!(is_conflict(&store.commit(put(KIND, told("ord_1", "a", 0))).await, KIND));
    assert_eq!(keys(&*store, &["a"], seen, 10).await.0, Vec::<String>::new());
    let long = "x".repeat(NAME_MAX_BYTES + 1);
    for (kind, feed) in [(KIND, &*long), (Kind::Accounts, "a")] {
        let refused = store.commit(put(kind, told("x", feed, 0))).await;
        assert!(matches!(refused, Err(StoreError::Engine(..))), "{kind:?}");
    }
}

/// Two gateways write, two read a few changes at a time meanwhile. Each change but a few is its record's last, so whoever
/// misses one has not got the record as it is.
async fn no_change_is_missed_while_many_write(place: impl Place) {
    const WRITERS: usize = 6;
    const RECORDS: usize = 60;
    let stores = [place.store().await, place.store().await];
    let write = async |store: Arc<dyn CheckedStore>, writer: usize| {
        let feed = ["a", "b"][writer % 2];
        for number in 0..RECORDS {
            let key = format!("ord_{number:02}_{writer}");
            store.commit(put(KIND, told(&key, feed, 0))).await.expect("kept");
            if number.is_multiple_of(5) {
                let first = format!("ord_00_{writer}");
                let mut again = store.get(KIND, &first).await.expect("it reads").expect("kept");
                again.body = number.to_string();
                again.feed = Some(feed.to_owned());
                store.commit(put(KIND, again)).await.expect("changed");
            }
        }
    };
    let writers: Vec<_> = (0..WRITERS).map(|at| tokio::spawn(write(stores[at % 2].clone(), at))).collect();
    let (written, all_written) = tokio::sync::watch::channel(false);
    let read = async |store: Arc<dyn CheckedStore>, is_over: tokio::sync::watch::Receiver<bool>| {
        let (mut seen, mut after) = (BTreeMap::new(), 0);
        loop {
            let was_over = *is_over.borrow();
            let found = store.changed(KIND, Changed { feeds: &["a", "b"], after, limit: 3 }).await.expect("it reads");
            let Some((last, _)) = found.last() else {
                if was_over {
                    return seen;
                }
                tokio::task::yield_now().await;
                continue;
            };
            assert!(*last > after, "numbers only grow");
            after = *last;
            seen.extend(found.into_iter().map(|(_, document)| (document.key.clone(), document)));
        }
    };
    let readers: Vec<_> = stores.iter().map(|store| tokio::spawn(read(store.clone(), all_written.clone()))).collect();
    for writer in writers {
        writer.await.expect("it writes");
    }
    written.send(true).expect("they read");
    for reader in readers {
        let seen = reader.await.expect("it reads");
        assert_eq!(seen.len(), WRITERS * RECORDS);
        for (key, document) in seen {
            assert_eq!(stores[0].get(KIND, &key).await.expect("it reads"), Some(document), "{key}");
        }
    }
}

/// The orders of a feed that have changed, each with its state, and the number of the last.
async fn states(store: &dyn Store, feed: &str, after: u64) -> (Vec<(String, String)>, u64) {
    let found = changed::<Order>(store, Changed { feeds: &[feed], after, limit: 100 }).await.expect("it reads");
    let last = found.last().map_or(after, |(number, _)| *number);
    (found.into_iter().map(|(_, order)| (order.id.to_string(), order.state)).collect(), last)
}

async fn a_report_that_closes_an_order_is_told(database: Database) {
    let store = database.open().await;
    let orders =
        [kept_order(&store, &["BK-1"]).await, kept_order(&store, &["BK-2"]).await, kept_order(&store, &["BK-3"]).await];
    let feed = orders[0].owner.orchestrator.as_str();
    let state = |order: &Order, state: &str| (order.id.to_string(), state.to_owned());
    let (before, seen) = states(&store, feed, 0).await;
    assert_eq!(before, orders.each_ref().map(|order| state(order, "booked")));
    let [one, other, _] = &orders;
    let bookings = vec![
        charge("BK-1", 100).closing(one.id.clone()),
        charge("BK-2", 200).closing(other.id.clone()),
        charge("of no order", 300),
    ];
    store.book(bookings).await.expect("booked");
    let (after, last) = states(&store, feed, seen).await;
    assert_eq!(after, [state(one, "completed"), state(other, "completed")]);
    // A report that comes again closes nothing and tells nothing; nobody else hears of any.
    store.book(vec![charge("BK-1", 100).closing(one.id.clone())]).await.expect("known");
    assert_eq!(states(&store, feed, last).await, (Vec::new(), last));
    assert!(states(&store, "another's", 0).await.0.is_empty());
}

async fn what_was_kept_before_stands_in_its_feed(database: Database) {
    let store = database.open().await;
    let orders = [kept_order(&store, &["BK-1"]).await, kept_order(&store, &["BK-2"]).await];
    store.commit(put(KIND, record("of nobody"))).await.expect("kept");
    store.close().await;
    let older = "DROP TABLE approvals; DROP TABLE chain_starts; DROP TABLE record_changes; DELETE FROM counters WHERE name = 'record_changes'; \
                 DELETE FROM refinery_schema_history WHERE version > 11";
    database
        .run(&format!("{} {WITHOUT_USER_DATA} {older}", database.without_later_tables()))
        .await
        .expect("as it was before");
    let store = database.open().await;
    let feed = orders[0].owner.orchestrator.as_str();
    let (told, last) = states(&store, feed, 0).await;
    let mut expected = orders.each_ref().map(|order| order.id.to_string());
    expected.sort_unstable();
    assert_eq!(told.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), expected);
    let later = kept_order(&store, &["BK-3"]).await;
    assert_eq!(states(&store, feed, last).await.0, [(later.id.to_string(), "booked".to_owned())]);
}

async fn a_restored_feed_begins_anew_for_those_who_have_read_of_it(database: Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gateway.backup");
    let store = database.open().await;
    for key in ["ord_1", "ord_2"] {
        store.commit(put(KIND, told(key, "a", 0))).await.expect("kept");
    }
    store.backup(&file, RESTORED).await.expect("backed up");
    // What comes after the backup is lost, and has been read.
    for revision in 1..20 {
        store.commit(put(KIND, told("ord_2", "a", revision))).await.expect("changed");
    }
    let (_, mut seen) = keys(&store, &["a"], 0, 10).await;
    for again in 0..2 {
        let restored = Database::sqlite();
        let restored = restored.open().await;
        let now = Timestamp::from_ms(RESTORED.as_ms() + again);
        restored.restore(&file, now).await.expect("restored");
        let (all, last) = keys(&restored, &["a"], seen, 10).await;
        assert_eq!(all, ["ord_1", "ord_2"], "they are as they were before");
        restored.commit(put(KIND, told("ord_1", "a", 1))).await.expect("changed");
        let (changed, latest) = keys(&restored, &["a"], last, 10).await;
        assert_eq!(changed, ["ord_1"]);
        seen = latest;
    }
}
