//! Records: what is read is what was kept, and a change holds whole or not at all.

use futures_util::future::join_all;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{
    Change, Document, Kind, List, NAME_MAX_BYTES, Named, Newest, OutgoingMail, StatusCount, Store, StoreError, Write,
};

use crate::support::{Place, delete, entry, is_conflict, on_every_store, put, record, revision};

on_every_store!(
    every_kind_is_kept_and_found,
    a_stale_revision_is_a_conflict,
    a_lookup_belongs_to_one_record,
    a_removed_record_does_not_come_back_as_itself,
    a_change_holds_whole_or_not_at_all,
    lists_are_ordered_by_bytes_filtered_and_paged,
    any_text_is_kept_but_what_no_engine_can,
    what_is_too_large_is_refused,
    records_share_names_and_take_them_along,
    changes_at_once_hold_each_for_itself,
);

async fn every_kind_is_kept_and_found(place: impl Place) {
    let store = place.store().await;
    for kind in Kind::ALL {
        let mut document = record("ptr_1");
        document.lookup = Some("someone@example.in".to_owned());
        document.status = Some("live".to_owned());
        store.commit(put(kind, document.clone())).await.expect("it is kept");
        document.revision = 1;
        assert_eq!(store.get(kind, "ptr_1").await.unwrap(), Some(document.clone()));
        assert_eq!(store.find(kind, "someone@example.in").await.unwrap(), Some(document.clone()));
        assert_eq!(store.get(kind, "ptr_2").await.unwrap(), None);
        assert_eq!(store.find(kind, "ptr_1").await.unwrap(), None);
        document.lookup = None;
        document.status = None;
        document.body = "{}".to_owned();
        store.commit(put(kind, document.clone())).await.expect("it is kept");
        document.revision = 2;
        assert_eq!(store.get(kind, "ptr_1").await.unwrap(), Some(document));
        assert_eq!(store.find(kind, "someone@example.in").await.unwrap(), None);
        store.commit(delete(kind, "ptr_1", 2)).await.expect("it is removed");
        assert_eq!(store.get(kind, "ptr_1").await.unwrap(), None);
    }
}

async fn keys_of(store: &dyn Store, name: &str, before: Option<&str>, limit: u32) -> Vec<String> {
    let found = store.named(Kind::Orders, Named { name, before, limit }).await.expect("found");
    found.into_iter().map(|document| document.key).collect()
}

async fn records_share_names_and_take_them_along(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::Orders;
    let named = |key: &str, names: &[&str]| Document {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        ..record(key)
    };
    for key in ["ord_1", "ord_2", "ord_3"] {
        store.commit(put(kind, named(key, &["of all", key, key]))).await.expect("kept");
    }
    assert_eq!(keys_of(&*store, "of all", None, 10).await, ["ord_3", "ord_2", "ord_1"]);
    assert_eq!(keys_of(&*store, "of all", None, 2).await, ["ord_3", "ord_2"]);
    assert_eq!(keys_of(&*store, "of all", Some("ord_3"), 2).await, ["ord_2", "ord_1"]);
    assert_eq!(keys_of(&*store, "ord_2", None, 10).await, ["ord_2"]);
    assert!(keys_of(&*store, "of nobody", None, 10).await.is_empty());
    // A later name is added, and those that it had stay.
    store.commit(put(kind, Document { revision: 1, ..named("ord_1", &["late"]) })).await.expect("kept");
    assert_eq!(keys_of(&*store, "late", None, 10).await, ["ord_1"]);
    assert_eq!(keys_of(&*store, "of all", Some("ord_2"), 10).await, ["ord_1"]);
    // What is refused names nothing, and what is removed takes its names along.
    let stale = store.commit(put(kind, named("ord_2", &["refused"]))).await;
    assert!(is_conflict(&stale, kind));
    assert!(keys_of(&*store, "refused", None, 10).await.is_empty());
    store.commit(delete(kind, "ord_1", 2)).await.expect("removed");
    assert!(keys_of(&*store, "late", None, 10).await.is_empty());
    assert_eq!(keys_of(&*store, "of all", None, 10).await, ["ord_3", "ord_2"]);
    let found = store.named(kind, Named { name: "ord_2", before: None, limit: 1 }).await.expect("found");
    assert_eq!(found, store.get(kind, "ord_2").await.expect("read").into_iter().collect::<Vec<_>>());
    // Names are bounded, and of orders alone.
    let long = "x".repeat(NAME_MAX_BYTES + 1);
    for (kind, name) in [(kind, &*long), (Kind::Accounts, "short")] {
        let refused = store.commit(put(kind, named("x", &[name]))).await;
        assert!(matches!(refused, Err(StoreError::Engine(..))), "{name}");
    }
}

async fn changes_at_once_hold_each_for_itself(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::Attempts;
    store.commit(put(kind, record("taken"))).await.expect("kept");
    let change = |number: u32| {
        let mut change = put(kind, record(&format!("key_{number:03}")));
        change.audit.push(entry(&format!("subject_{number:03}")));
        // Every third one meets a conflict, after it has written something.
        if number.is_multiple_of(3) {
            change.writes.push(Write::Put(kind, record("taken")));
        }
        change
    };
    let outcomes = join_all((0..200).map(|number| store.commit(change(number)))).await;
    for (number, outcome) in (0_u32..).zip(&outcomes) {
        let held = store.get(kind, &format!("key_{number:03}")).await.expect("read").is_some();
        let logged = store.audit(Some(&format!("subject_{number:03}")), 0, 10).await.expect("read").len();
        let expected = !number.is_multiple_of(3);
        assert_eq!((held, logged), (expected, usize::from(expected)), "{number}");
        assert_eq!(is_conflict(outcome, kind), !expected, "{number}: {outcome:?}");
    }
    // Of many that want the same, one gets it.
    let same = join_all((0..50).map(|_| store.commit(put(kind, record("wanted"))))).await;
    assert_eq!(same.iter().filter(|outcome| outcome.is_ok()).count(), 1);
}

async fn a_stale_revision_is_a_conflict(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::Manifests;
    store.commit(put(kind, record("ptr_1"))).await.unwrap();
    assert!(is_conflict(&store.commit(put(kind, record("ptr_1"))).await, kind), "it is there already");
    for stale in [2, 3, u64::from(u32::MAX)] {
        let document = Document { revision: stale, ..record("ptr_1") };
        assert!(is_conflict(&store.commit(put(kind, document)).await, kind), "{stale}");
        assert!(is_conflict(&store.commit(delete(kind, "ptr_1", stale)).await, kind), "{stale}");
    }
    let missing = Document { revision: 1, ..record("ptr_2") };
    assert!(is_conflict(&store.commit(put(kind, missing)).await, kind), "it is not there");
    assert!(is_conflict(&store.commit(delete(kind, "ptr_2", 1)).await, kind), "it is not there");
    assert_eq!(revision(&*store, kind, "ptr_1").await, Some(1));
}

async fn a_lookup_belongs_to_one_record(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::Accounts;
    let named =
        |key: &str, revision, lookup: &str| Document { lookup: Some(lookup.to_owned()), revision, ..record(key) };
    store.commit(put(kind, named("ptr_1", 0, "a@x.example"))).await.unwrap();
    store.commit(put(kind, named("ptr_2", 0, "b@x.example"))).await.unwrap();
    assert!(is_conflict(&store.commit(put(kind, named("ptr_3", 0, "a@x.example"))).await, kind));
    assert!(is_conflict(&store.commit(put(kind, named("ptr_2", 1, "a@x.example"))).await, kind));
    // Another kind has names of its own, and several records may go without.
    store.commit(put(Kind::Credentials, named("ptr_1", 0, "a@x.example"))).await.unwrap();
    store.commit(put(kind, record("ptr_4"))).await.unwrap();
    store.commit(put(kind, record("ptr_5"))).await.unwrap();
    // Given up and taken within one change.
    let swap = Change {
        writes: vec![Write::Delete(kind, "ptr_1".to_owned(), 1), Write::Put(kind, named("ptr_2", 1, "a@x.example"))],
        ..Change::default()
    };
    store.commit(swap).await.unwrap();
    assert_eq!(store.find(kind, "a@x.example").await.unwrap().map(|found| found.key), Some("ptr_2".to_owned()));
}

/// Otherwise a step that read the first record would take the second for it.
async fn a_removed_record_does_not_come_back_as_itself(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::EmailCodes;
    let mut highest = 0;
    for _ in 0..3 {
        let told = store.commit(put(kind, record("a@x.example"))).await.unwrap();
        let at = revision(&*store, kind, "a@x.example").await.unwrap();
        assert!(at > highest, "{at}");
        assert_eq!(told, [at]);
        let told = store.commit(put(kind, Document { revision: at, ..record("a@x.example") })).await.unwrap();
        highest = at + 1;
        assert_eq!(told, [highest]);
        assert_eq!(store.commit(delete(kind, "a@x.example", highest)).await.unwrap(), [highest]);
    }
    // Each write of a change in its place.
    let mut both = put(Kind::Accounts, record("ptr_1"));
    both.writes.extend(put(kind, record("a@x.example")).writes);
    assert_eq!(store.commit(both).await.unwrap(), [1, highest + 1], "another kind counts for itself");
    assert_eq!(revision(&*store, Kind::Accounts, "ptr_1").await, Some(1));
}

async fn a_change_holds_whole_or_not_at_all(place: impl Place) {
    let store = place.store().await;
    store.commit(put(Kind::Reviews, record("rev_2"))).await.unwrap();
    let before = store.changes().await.unwrap();
    let mail = OutgoingMail { id: "mail_1".to_owned(), sealed: "sealed".to_owned(), not_before: Timestamp::from_ms(5) };
    let change = |second: Document| Change {
        writes: vec![Write::Put(Kind::Accounts, record("ptr_1")), Write::Put(Kind::Reviews, second)],
        audit: vec![entry("ptr_1")],
        mail: vec![mail.clone()],
    };
    assert!(is_conflict(&store.commit(change(record("rev_2"))).await, Kind::Reviews));
    assert_eq!(revision(&*store, Kind::Accounts, "ptr_1").await, None);
    assert_eq!(store.audit(None, 0, 10).await.unwrap(), []);
    assert!(store.claim_mail(Timestamp::from_ms(10), 10, 10).await.unwrap().is_empty());
    assert_eq!(store.changes().await.unwrap(), before);

    store.commit(change(Document { revision: 1, ..record("rev_2") })).await.unwrap();
    assert_eq!(revision(&*store, Kind::Accounts, "ptr_1").await, Some(1));
    assert_eq!(revision(&*store, Kind::Reviews, "rev_2").await, Some(2));
    assert_eq!(store.audit(None, 0, 10).await.unwrap().len(), 1);
    assert_eq!(store.claim_mail(Timestamp::from_ms(10), 10, 10).await.unwrap().len(), 1);
    assert_eq!(store.changes().await.unwrap(), before + 1);
    // The same mail again: the record before it does not hold either.
    let again =
        Change { writes: vec![Write::Put(Kind::Accounts, record("ptr_2"))], mail: vec![mail], ..Change::default() };
    assert!(matches!(store.commit(again).await, Err(StoreError::Engine(..))));
    assert_eq!(revision(&*store, Kind::Accounts, "ptr_2").await, None);
}

async fn lists_are_ordered_by_bytes_filtered_and_paged(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::Connections;
    let keys = ["-a", "B", "_a", "a", "a-b", "aB", "ab", "b", "é"];
    let mut change = Change::default();
    for (at, key) in keys.iter().enumerate().rev() {
        let status = Some(if at % 2 == 0 { "live" } else { "sandbox" }.to_owned());
        change.writes.push(Write::Put(kind, Document { status, ..record(key) }));
    }
    store.commit(change).await.unwrap();
    let list = async |status, after, limit| {
        let found = store.list(kind, List { status, after, limit }).await.expect("it lists");
        found.into_iter().map(|document| document.key).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None, 100).await, keys);
    assert_eq!(list(None, Some("a"), 3).await, ["a-b", "aB", "ab"]);
    assert_eq!(list(None, Some("é"), 3).await, [""; 0]);
    assert_eq!(list(Some("live"), None, 100).await, ["-a", "_a", "a-b", "ab", "é"]);
    assert_eq!(list(Some("sandbox"), Some("B"), 1).await, ["a"]);
    assert_eq!(list(Some("suspended"), None, 100).await, [""; 0]);
    assert_eq!(list(None, None, 0).await, [""; 0]);
    let count = |status: &str, count| StatusCount { status: Some(status.to_owned()), count };
    assert_eq!(store.count(kind).await.unwrap(), [count("live", 5), count("sandbox", 4)]);
    assert_eq!(store.count(Kind::Reviews).await.unwrap(), []);
    let newest = async |status, before, limit| {
        let found = store.newest(kind, Newest { status, before, limit }).await.expect("it lists");
        found.into_iter().map(|document| document.key).collect::<Vec<_>>()
    };
    let mut reversed = keys;
    reversed.reverse();
    assert_eq!(newest(None, None, 100).await, reversed);
    assert_eq!(newest(None, Some("ab"), 3).await, ["aB", "a-b", "a"]);
    assert_eq!(newest(Some("live"), Some("é"), 2).await, ["ab", "a-b"]);
    assert_eq!(newest(Some("suspended"), None, 100).await, [""; 0]);
    assert_eq!(newest(None, None, 0).await, [""; 0]);
}

async fn any_text_is_kept_but_what_no_engine_can(place: impl Place) {
    let store = place.store().await;
    let kind = Kind::Accounts;
    let text = "'; DROP TABLE accounts; -- $1 ?1 \\ \" ☂ \u{10ffff} \r\n\t";
    let document = Document { lookup: Some(text.to_owned()), body: text.to_owned(), ..record(text) };
    store.commit(put(kind, document.clone())).await.unwrap();
    assert_eq!(store.find(kind, text).await.unwrap(), Some(Document { revision: 1, ..document }));
    for nul in [record("a\0b"), Document { body: "\0".to_owned(), ..record("ptr_1") }] {
        assert!(matches!(store.commit(put(kind, nul)).await, Err(StoreError::Engine(..))));
    }
    assert!(matches!(store.get(kind, "a\0b").await, Err(StoreError::Engine(..))));
    assert_eq!(store.list(kind, List { status: None, after: None, limit: 10 }).await.unwrap().len(), 1);
}

async fn what_is_too_large_is_refused(place: impl Place) {
    let store = place.store().await;
    let large = |bytes| Document { body: "x".repeat(bytes), ..record("ptr_1") };
    let refused = store.commit(put(Kind::Connections, large(16 * 1024 * 1024 + 1))).await;
    assert!(matches!(refused, Err(StoreError::Engine(..))));
    store.commit(put(Kind::Connections, large(16 * 1024 * 1024))).await.expect("just small enough");
    let many = Change { audit: vec![entry("ptr_1"); 1_001], ..Change::default() };
    assert!(matches!(store.commit(many).await, Err(StoreError::Engine(..))));
    assert!(store.audit(None, 0, 10).await.unwrap().is_empty());
    let number = Change {
        audit: vec![intent_gateway_domain::audit::AuditDraft { at_ms: Timestamp::MAX, ..entry("ptr_1") }],
        ..Change::default()
    };
    assert!(matches!(store.commit(number).await, Err(StoreError::Engine(..))));
}
