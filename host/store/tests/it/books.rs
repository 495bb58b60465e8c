//! What the platform team reads of the ledger and does to it: sums, months, and entries taken back.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::delivered::Tally;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::{Paise, Total};
use intent_gateway_ledger::{
    BATCH_MAX, Booked, Books, Entry, EntryKind, Month, Posting, TrialBalance, correct, reverse,
};

use crate::ledger::{DAY_MS, MAY, all, booking, charge, posting, sound};
use crate::support::{Database, Place, on_both_engines, on_every_store};

on_every_store!(
    an_entry_is_taken_back,
    what_does_not_stand_is_not_taken_back,
    months_are_those_that_have_entries,
    balances_are_those_of_the_entries,
    delivered_is_what_stands,
    sums_go_beyond_a_stretch,
);

on_both_engines!(a_balance_that_is_off_shows);

async fn book(store: &dyn Books, posting: Posting) -> Entry {
    match store.book(vec![booking(posting)]).await.expect("it books").remove(0) {
        Booked::First(entry) => entry,
        other => panic!("{other:?}"),
    }
}

async fn take_back(store: &dyn Books, entry: &Entry) -> Entry {
    let reversal = reverse(entry, "booked in error", MAY.plus_ms(DAY_MS)).expect("it can be reversed");
    store.take_back(reversal).await.expect("it is done").expect("it stands")
}

async fn an_entry_is_taken_back(place: impl Place) {
    let store = place.books().await;
    for (order, charged) in [("BK-1", true), ("BK-2", false)] {
        let entry = book(&*store, posting("ptr_1", order, 149_950, charged)).await;
        let reversal = take_back(&*store, &entry).await;
        assert_eq!(reversal.posting, reverse(&entry, "booked in error", MAY.plus_ms(DAY_MS)).unwrap());
        assert_eq!(store.find_standing(&entry.posting.order()).await.unwrap(), None);
        // What was taken back is known, and is not booked again.
        let answers = store.book(vec![booking(entry.posting.clone())]).await.unwrap();
        assert_eq!(answers, [Booked::Repeat(entry)]);
    }
    assert_eq!(sound(&*store).await.len(), 4);
    assert!(store.trial_balance().await.unwrap().is_zero());
}

async fn what_does_not_stand_is_not_taken_back(place: impl Place) {
    let stores = [place.books().await, place.books().await];
    let first = book(&*stores[0], posting("ptr_1", "BK-1", 149_950, true)).await;
    let reversal = |reason: &str| reverse(&first, reason, MAY.plus_ms(DAY_MS)).expect("it can be reversed");
    let forged = Posting { legs: Vec::new(), ..reversal("forged") };
    let elsewhere = Posting { external_id: "BK-9".to_owned(), ..reversal("elsewhere") };
    let of_another =
        Posting { kind: EntryKind::Reversal { of: 2, reason: "of another".to_owned() }, ..reversal("of another") };
    for bad in [forged, elsewhere, of_another, first.posting.clone()] {
        assert_eq!(stores[0].take_back(bad).await.unwrap(), None);
    }
    // Two gateways at once, one of which corrects: one of them comes too late.
    let right = Posting { posted_at_ms: MAY.plus_ms(DAY_MS), ..posting("ptr_1", "BK-1", 100_000, true) };
    let correction = correct(&first, right, "mistyped").expect("correctable");
    let both = tokio::join!(stores[0].take_back(reversal("here")), stores[1].correct(correction));
    let done = [both.0.unwrap().is_some(), both.1.unwrap().is_some()];
    assert!(done[0] != done[1], "{done:?}");
    assert_eq!(stores[1].take_back(reversal("again")).await.unwrap(), None);
    assert_eq!(sound(&*stores[0]).await.len(), if done[0] { 2 } else { 3 });
}

async fn months_are_those_that_have_entries(place: impl Place) {
    let store = place.books().await;
    let months = ["2026-05", "2025-12", "2026-05", "2027-01", "2026-05"];
    for (at, month) in months.iter().enumerate() {
        let month: Month = month.parse().unwrap();
        book(&*store, Posting { month, ..posting("ptr_1", &format!("BK-{at}"), 100, true) }).await;
        book(&*store, Posting { month: "1999-01".parse().unwrap(), ..posting("ptr_2", &format!("BK-{at}"), 1, true) })
            .await;
    }
    let of = async |partner: &str| {
        let months = store.months_of(&PartnerId::parse(partner).unwrap()).await.expect("it reads");
        months.iter().map(Month::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of("ptr_1").await, ["2027-01", "2026-05", "2025-12"]);
    assert_eq!(of("ptr_2").await, ["1999-01"]);
    assert_eq!(of("ptr_3").await, [""; 0]);
}

async fn balances_are_those_of_the_entries(place: impl Place) {
    let store = place.books().await;
    assert_eq!(store.trial_balance().await.unwrap(), TrialBalance::default());
    for (partner, order, paise, charged) in [
        ("ptr_1", "BK-1", 149_950, true),
        ("ptr_1", "BK-2", 333, true),
        ("ptr_2", "BK-1", 80_000, false),
        ("ptr_3", "BK-1", 1_000_000_000_000 * 100, true),
    ] {
        book(&*store, posting(partner, order, paise, charged)).await;
    }
    let wrong = book(&*store, posting("ptr_2", "BK-2", 10_000, true)).await;
    take_back(&*store, &wrong).await;
    let trial = store.trial_balance().await.unwrap();
    assert!(trial.is_zero());
    assert_eq!(trial, TrialBalance::of(&all(&*store).await));
    let owed: Vec<_> = trial.partners().map(|(partner, sums)| (partner.as_str(), sums.partner_receivable)).collect();
    let expected = [("ptr_1", 14_995 + 33), ("ptr_2", 0), ("ptr_3", 10_000_000_000_000)];
    assert_eq!(owed, expected.map(|(partner, paise)| (partner, Total::from(Paise::new(paise)))));
}

/// Legs that are not in balance show, however they came there.
async fn a_balance_that_is_off_shows(database: Database) {
    let store = database.open().await;
    book(&store, posting("ptr_1", "BK-1", 149_950, true)).await;
    assert!(store.trial_balance().await.unwrap().is_zero());
    let off = if database.file().is_some() {
        "PRAGMA ignore_check_constraints = ON; DROP TRIGGER ledger_keeps;"
    } else {
        "ALTER TABLE ledger DISABLE TRIGGER ALL; ALTER TABLE ledger DROP CONSTRAINT ledger_check;"
    };
    database
        .run(&format!("{off} UPDATE ledger SET revenue = revenue + 1 WHERE number = 1"))
        .await
        .expect("it is forged");
    assert!(!store.trial_balance().await.unwrap().is_zero());
}

fn tally(partner: &str, status: &str, reports: u64, timed: u64, late_minutes: i64) -> Tally {
    let intent = posting(partner, "x", 1, true).intent;
    let partner = PartnerId::parse(partner).expect("sound");
    Tally { partner, intent, status: status.to_owned(), reports, timed, late_minutes }
}

async fn delivered_is_what_stands(place: impl Place) {
    let store = place.books().await;
    let report = |partner: &str, at: u32, late_minutes: Option<i32>, status: &str| Posting {
        late_minutes,
        status: status.to_owned(),
        ..posting(partner, &format!("BK-{at}"), 10_000, true)
    };
    let early = Posting { posted_at_ms: MAY.minus_ms(DAY_MS), ..report("ptr_1", 0, Some(600), "completed") };
    book(&*store, early).await;
    for (at, late) in (1..).zip([Some(-10), Some(25), None]) {
        book(&*store, report("ptr_1", at, late, "completed")).await;
    }
    let cancelled = book(&*store, report("ptr_1", 4, None, "cancelled_by_partner")).await;
    let wrong = book(&*store, report("ptr_2", 5, Some(i32::MIN), "completed")).await;
    let mistyped = book(&*store, report("ptr_2", 6, Some(i32::MAX), "completed")).await;
    let by_partner = async |partner: &str, since: Timestamp| {
        store.sum_delivered(Some(&PartnerId::parse(partner).unwrap()), since).await.expect("it reads")
    };
    let cancellations = tally("ptr_1", "cancelled_by_partner", 1, 0, 0);
    assert_eq!(by_partner("ptr_1", MAY).await, [cancellations.clone(), tally("ptr_1", "completed", 3, 2, 15)]);
    assert_eq!(by_partner("ptr_1", Timestamp::EPOCH).await[1], tally("ptr_1", "completed", 4, 3, 615));
    assert_eq!(by_partner("ptr_2", Timestamp::EPOCH).await, [tally("ptr_2", "completed", 2, 2, -1)]);
    // A reversal takes its entry out, and what is booked in its place counts.
    take_back(&*store, &wrong).await;
    let right = Posting { posted_at_ms: MAY.plus_ms(DAY_MS), late_minutes: Some(3), ..mistyped.posting.clone() };
    store.correct(correct(&mistyped, right, "mistyped").unwrap()).await.unwrap().expect("it stands");
    take_back(&*store, &cancelled).await;
    let expected = [tally("ptr_1", "completed", 3, 2, 15), tally("ptr_2", "completed", 1, 1, 3)];
    assert_eq!(store.sum_delivered(None, MAY).await.unwrap(), expected);
    assert_eq!(by_partner("ptr_3", Timestamp::EPOCH).await, []);
    assert_eq!(store.sum_delivered(None, MAY.plus_ms(DAY_MS + 1)).await.unwrap(), []);
    assert_eq!(store.sum_delivered(None, Timestamp::MAX).await.unwrap(), []);
}

/// More entries than one statement sums.
async fn sums_go_beyond_a_stretch(place: impl Place) {
    const BATCHES: usize = 11;
    let store = place.books().await;
    for batch in 0..BATCHES {
        let order = |at| charge(&format!("BK-{batch}-{at}"), 1_000);
        store.book((0..BATCH_MAX).map(order).collect()).await.expect("it books");
    }
    let entries = u64::try_from(BATCHES * BATCH_MAX).unwrap();
    let last =
        book(&*store, Posting { posted_at_ms: MAY.plus_ms(DAY_MS), ..posting("ptr_1", "last", 1_000, true) }).await;
    assert_eq!(last.number, entries + 1);
    let trial = store.trial_balance().await.unwrap();
    let owed = trial.partners().map(|(_, sums)| sums.partner_receivable.get()).collect::<Vec<_>>();
    assert_eq!(owed, [100 * i128::from(entries + 1)]);
    let late = -50 * i64::try_from(entries + 1).unwrap();
    assert_eq!(
        store.sum_delivered(None, Timestamp::EPOCH).await.unwrap(),
        [tally("ptr_1", "completed", entries + 1, entries + 1, late)]
    );
    assert_eq!(store.sum_delivered(None, MAY.plus_ms(DAY_MS)).await.unwrap(), [tally("ptr_1", "completed", 1, 1, -50)]);
}
