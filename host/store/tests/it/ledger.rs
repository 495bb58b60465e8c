//! The ledger: what is booked, what is not booked twice, and what cannot be done to it.

use futures_util::future::join_all;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::order::{Order, OrderedOption, name};
use intent_gateway_domain::store::{Change, Named, Store as _, StoreError, Versioned, load, named};
use intent_gateway_ledger::completion::{Amounts, Report, ReportKey};
use intent_gateway_ledger::{
    BATCH_MAX, Booked, Booking, Books, CorrectedEntries, Entry, EntryKind, FoundBy, Judge, JudgedReport, Month,
    OrderQuery, Posting, correct, genesis, post, verify,
};
use intent_gateway_store::{BackupError, SqlStore};
use intent_gateway_testing::orders::booked;
use serde_json::value::RawValue;

use crate::support::{CheckedBooks, Database, Place, RESTORED, on_both_engines, on_every_store};

on_every_store!(
    a_booking_is_kept_as_it_was_booked,
    what_comes_again_is_answered_by_what_was_booked,
    of_several_in_one_batch_the_first_counts,
    a_batch_is_bounded,
    two_gateways_charge_each_order_once,
    entries_are_read_by_page_partner_and_month,
    a_correction_takes_back_and_books_anew,
    a_correction_of_what_does_not_stand_changes_nothing,
);

on_both_engines!(
    a_booking_outlives_a_restart,
    the_ledger_is_append_only,
    an_order_is_charged_once_whoever_writes,
    a_forged_entry_is_found,
    a_backup_holds_the_ledger,
    a_report_takes_no_more_than_a_kilobyte,
    a_report_closes_its_order_with_its_entry,
    of_the_orders_of_a_request_the_newest_hundred_are_looked_at,
    a_reported_order_is_one_of_its_users_past_ones,
    reports_of_one_order_at_once_make_one_entry,
);

/// 2026-05-20T00:00:00Z.
pub(crate) const MAY: Timestamp = Timestamp::from_ms(1_779_235_200_000);
pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

pub(crate) fn posting(partner: &str, external_id: &str, paise: i64, charged: bool) -> Posting {
    let report = Report {
        intent: IntentId::parse("auto.book_ac_service").expect("sound"),
        external_id: external_id.to_owned(),
        request_id: "6d1f0a57-3a0e-4c39-9d1b-2f6f6f2c8a10".to_owned(),
        amounts: Amounts { amount: Paise::new(paise), ..Amounts::default() },
        closed_at: MAY,
        status: "completed".to_owned(),
        content: Digest::of(format!("{external_id} {paise} {charged}").as_bytes()),
    };
    let judged_by = Judge { version: "1.2.3-rc.1".parse().expect("a version"), stand_in: !charged };
    let late_minutes = charged.then_some(i32::try_from(paise % 100).expect("small") - 50);
    let verdict = JudgedReport { charged, judged_by, late_minutes, rate: Rate::DEFAULT };
    post(&report, &PartnerId::parse(partner).expect("sound"), verdict, MAY.plus_ms(5))
}

pub(crate) fn charge(external_id: &str, paise: i64) -> Booking {
    booking(posting("ptr_1", external_id, paise, true))
}

pub(crate) fn booking(posting: Posting) -> Booking {
    Booking::new(posting, Vec::new()).expect("it can be booked")
}

/// An order of `ptr_1` that is kept, with its option.
pub(crate) async fn kept_order(store: &SqlStore, identifiers: &[&str]) -> Order {
    kept_order_at(store, identifiers, MAY).await
}

/// The same, made at this time.
async fn kept_order_at(store: &SqlStore, identifiers: &[&str], at: Timestamp) -> Order {
    let request = posting("ptr_1", "x", 1, true).request_id;
    let order = booked("ptr_1", "auto.book_ac_service", &request, "booking-1", identifiers, at);
    let order = Order { has_option: Some(true), ..order };
    let option = RawValue::from_string(r#"{"slot_id":"s-1"}"#.to_owned()).expect("JSON");
    let mut change = Change::default();
    change.put(&Versioned::new(order.clone()));
    change.put(&Versioned::new(OrderedOption { order: order.id.clone(), option }));
    store.commit(change).await.expect("kept");
    order
}

async fn a_report_closes_its_order_with_its_entry(database: Database) {
    let store = database.open().await;
    let (one, other) = (kept_order(&store, &["BK-1", "PBR-1"]).await, kept_order(&store, &["BK-2"]).await);
    let known = store.look_up(vec![asked("BK-1"), asked("BK-2"), asked("unheard of"), asked("PBR-1")]).await.unwrap();
    let found: Vec<_> =
        known.iter().map(|known| known.ordered.as_ref().map(|found| (&found.order, found.found_by))).collect();
    let (by_name, by_request) = (FoundBy::Identifier, FoundBy::Request);
    let newest = if one.id > other.id { &one } else { &other };
    assert_eq!(
        found,
        [Some((&one, by_name)), Some((&other, by_name)), Some((newest, by_request)), Some((&one, by_name))]
    );
    let option = known[0].ordered.as_ref().and_then(|found| found.option.as_ref()).expect("kept");
    assert_eq!(option.get(), r#"{"slot_id":"s-1"}"#);

    let bookings = vec![charge("BK-1", 100).closing(one.id.clone()), charge("new name", 200).closing(other.id.clone())];
    let booked = book(&store, bookings).await;
    let [Booked::First(first), Booked::First(second)] = &booked[..] else { panic!("{booked:?}") };
    let closed = load::<Order>(&store, one.id.as_str()).await.unwrap().expect("kept");
    assert_eq!((closed.revision, closed.value.state.as_str(), closed.value.is_open), (2, "completed", false));
    assert_eq!(closed.value.report.expect("closed").receipt, first.receipt_id());
    // The name that was new is one of the order's from then on, and nothing is open under the request.
    let known = store.look_up(vec![asked("new name"), asked("unheard of")]).await.unwrap();
    assert_eq!(known[0].ordered.as_ref().map(|found| &found.order.id), Some(&other.id));
    assert!(known[1].ordered.is_none());
    // Under its other name it is not charged again; a restart changes nothing of it.
    store.close().await;
    let store = database.open().await;
    let again = book(&store, vec![charge("PBR-1", 100).closing(one.id.clone())]).await;
    assert_eq!(again, [Booked::Conflict(first.receipt_id())]);
    assert_eq!(sound(&store).await.len(), 2);
    assert_eq!(second.posting.external_id, "new name");
}

async fn of_the_orders_of_a_request_the_newest_hundred_are_looked_at(database: Database) {
    let store = database.open().await;
    let open = kept_order(&store, &["BK-0"]).await;
    let close = async |numbers: std::ops::RangeInclusive<u64>| {
        let mut bookings = Vec::new();
        for number in numbers {
            let name = format!("BK-{number}");
            let order = kept_order_at(&store, &[&name], MAY.plus_ms(number)).await;
            bookings.push(charge(&name, 100).closing(order.id));
        }
        let booked = book(&store, bookings).await;
        assert!(booked.iter().all(|booked| matches!(booked, Booked::First(_))), "{booked:?}");
    };
    let found = async || {
        let known = store.look_up(vec![asked("unheard of")]).await.unwrap();
        known[0].ordered.as_ref().map(|found| found.order.id.clone())
    };
    close(1..=99).await;
    assert_eq!(found().await, Some(open.id));
    close(100..=100).await;
    assert_eq!(found().await, None);
}

async fn a_reported_order_is_one_of_its_users_past_ones(database: Database) {
    let store = database.open().await;
    let names = ["BK-1", "BK-2", "BK-3", "BK-4"];
    let mut orders = Vec::new();
    for name in names {
        orders.push(kept_order(&store, &[name]).await);
    }
    let past = async |intent: &IntentId, limit| {
        let name = name::of_past(&orders[0].owner.asker, intent);
        let found = named::<Order>(&store, Named { name: &name, before: None, limit }).await.expect("read");
        found.into_iter().map(|order| order.value.id).collect::<Vec<_>>()
    };
    let intent = &orders[0].intent;
    assert_eq!(past(intent, 9).await, []);
    let closed = [2, 0, 3];
    let bookings = closed.map(|at| charge(names[at], 100).closing(orders[at].id.clone()));
    let booked = book(&store, bookings.into()).await;
    assert!(booked.iter().all(|booked| matches!(booked, Booked::First(_))), "{booked:?}");
    let mut newest_first = closed.map(|at| orders[at].id.clone());
    newest_first.sort_by(|one, other| other.cmp(one));
    assert_eq!(past(intent, 9).await, newest_first);
    assert_eq!(past(intent, 2).await, newest_first[..2]);
    assert_eq!(past(&IntentId::parse("lifestyle.book_yoga_class").expect("sound"), 9).await, []);
}

/// 200 reports for one order, half of them alike, through two gateways.
async fn reports_of_one_order_at_once_make_one_entry(database: Database) {
    let (store, other) = (database.open().await, database.open().await);
    let order = kept_order(&store, &["BK-1", "PBR-1"]).await;
    let booking = |number: u32| {
        let name = if number.is_multiple_of(2) { "BK-1" } else { "PBR-1" };
        charge(name, 100).closing(order.id.clone())
    };
    let send = |number: u32| {
        let store = if number.is_multiple_of(3) { &store } else { &other };
        store.book(vec![booking(number)])
    };
    let answers = join_all((0..200).map(send)).await;
    let answers: Vec<Booked> = answers.into_iter().flat_map(|answer| answer.expect("booked")).collect();
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Booked::First(_))).count(), 1);
    assert_eq!(sound(&store).await.len(), 1);
    let repeats = answers.iter().filter(|answer| matches!(answer, Booked::Repeat(_))).count();
    let conflicts = answers.iter().filter(|answer| matches!(answer, Booked::Conflict(_))).count();
    assert_eq!((repeats, conflicts), (99, 100));
}

/// What is asked of an order of `ptr_1`.
pub(crate) fn asked(external_id: &str) -> OrderQuery {
    let posting = posting("ptr_1", external_id, 1, true);
    OrderQuery { order: posting.order(), request_id: posting.request_id }
}

async fn book(store: &dyn Books, bookings: Vec<Booking>) -> Vec<Booked> {
    store.book(bookings).await.expect("it books")
}

pub(crate) async fn book_first(store: &dyn Books, booking: Booking) -> Entry {
    let mut answers = book(store, vec![booking]).await;
    match answers.pop() {
        Some(Booked::First(entry)) if answers.is_empty() => entry,
        other => panic!("{other:?}"),
    }
}

/// Every entry, page by page.
pub(crate) async fn all(store: &dyn Books) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let page = store.entries(entries.last().map_or(0, |last| last.number), 100).await.expect("it reads");
        if page.is_empty() {
            return entries;
        }
        entries.extend(page);
    }
}

/// Every entry of a ledger that is sound.
pub(crate) async fn sound(store: &dyn CheckedBooks) -> Vec<Entry> {
    let entries = all(store).await;
    let verified = verify(&entries, store.chain().await.expect("it reads"), &[]);
    assert!(verified.is_sound(), "{:?}", verified.faults);
    let found = store.check().await;
    assert!(found.is_sound() && found.head == verified.head, "{:?}", found.faults);
    assert_eq!(store.head().await.unwrap(), verified.head);
    entries
}

/// Postings of all sorts, with what is hard to keep.
fn postings() -> [Posting; 5] {
    let odd = "'; DROP TABLE ledger; -- $1 \u{10ffff} ☂ {\"a\",NULL}\\";
    [
        posting("ptr_1", "BK-1", 149_950, true),
        posting("ptr_2", "BK-1", 80_000, false),
        posting("ptr_1", "bk-1", 0, true),
        posting("ptr_1", odd, 1_000_000_000_000 * 100, true),
        posting("ptr_1", &"é".repeat(200), 4, true),
    ]
}

async fn a_booking_is_kept_as_it_was_booked(place: impl Place) {
    let store = place.books().await;
    assert_eq!(store.head().await.unwrap(), (0, genesis()));
    assert_eq!(book(&*store, Vec::new()).await, []);
    let booked = postings();
    let mut entries = Vec::new();
    for posting in &booked {
        let entry = book_first(&*store, booking(posting.clone())).await;
        assert_eq!(&entry.posting, posting);
        entries.push(entry);
    }
    assert_eq!(sound(&*store).await, entries);
    for (entry, posting) in entries.iter().zip(&booked) {
        assert_eq!(store.find_standing(&posting.order()).await.unwrap().as_ref(), Some(entry));
    }
    let nobody = ReportKey { partner: PartnerId::parse("ptr_3").unwrap(), ..booked[0].order() };
    assert_eq!(store.find_standing(&nobody).await.unwrap(), None);
}

async fn a_booking_outlives_a_restart(database: Database) {
    let store = database.open().await;
    let mut entries = Vec::new();
    for posting in postings() {
        entries.push(book_first(&store, booking(posting)).await);
    }
    store.close().await;
    assert_eq!(sound(&database.open().await).await, entries);
}

async fn what_comes_again_is_answered_by_what_was_booked(place: impl Place) {
    let store = place.books().await;
    let first = book_first(&*store, charge("BK-1", 100)).await;
    let later = Posting { posted_at_ms: MAY.plus_ms(DAY_MS), ..charge("BK-1", 100).into_parts().0 };
    let again = vec![booking(later), charge("BK-1", 101), charge("BK-2", 100)];
    let answers = book(&*store, again.clone()).await;
    assert_eq!(answers[..2], [Booked::Repeat(first.clone()), Booked::Conflict(first.receipt_id())]);
    let Booked::First(second) = &answers[2] else { panic!("{answers:?}") };
    assert_eq!(sound(&*store).await, [first.clone(), second.clone()]);
    let known = [Booked::Repeat(first.clone()), Booked::Conflict(first.receipt_id()), Booked::Repeat(second.clone())];
    assert_eq!(book(&*store, again).await, known, "a batch that adds nothing");
    assert_eq!(all(&*store).await.len(), 2);
}

async fn of_several_in_one_batch_the_first_counts(place: impl Place) {
    let store = place.books().await;
    let keys = ["c", "a", "b", "a", "c", "a", "a"];
    let amounts = [1, 1, 1, 2, 1, 1, 2];
    let bookings = keys.iter().zip(amounts).map(|(key, amount)| charge(key, amount)).collect();
    let answers = book(&*store, bookings).await;
    let entries = sound(&*store).await;
    let entry = |key: &str| entries.iter().find(|entry| entry.posting.external_id == key).expect("booked").clone();
    assert_eq!(entries.len(), 3);
    let expected = [
        Booked::First(entry("c")),
        Booked::First(entry("a")),
        Booked::First(entry("b")),
        Booked::Conflict(entry("a").receipt_id()),
        Booked::Repeat(entry("c")),
        Booked::Repeat(entry("a")),
        Booked::Conflict(entry("a").receipt_id()),
    ];
    assert_eq!(answers, expected);
}

async fn a_batch_is_bounded(place: impl Place) {
    let store = place.books().await;
    let many = |count: usize| (0..count).map(|at| charge(&format!("BK-{at:05}"), 1)).collect::<Vec<_>>();
    assert!(matches!(store.book(many(BATCH_MAX + 1)).await, Err(StoreError::Engine(..))));
    assert_eq!(store.head().await.unwrap().0, 0);
    assert_eq!(book(&*store, many(BATCH_MAX)).await.len(), BATCH_MAX);
    assert_eq!(sound(&*store).await.len(), BATCH_MAX);
    assert_eq!(store.entries(0, u32::MAX).await.unwrap().len(), 1_000);
}

async fn two_gateways_charge_each_order_once(place: impl Place) {
    const ORDERS: usize = 300;
    let gateways = [place.books().await, place.books().await];
    // Overlapping batches in opposite orders, and of all sizes.
    let submit = |gateway: usize, size: usize| {
        let store = gateways[gateway].clone();
        tokio::spawn(async move {
            let mut orders: Vec<usize> = (0..ORDERS).collect();
            if gateway == 1 {
                orders.reverse();
            }
            let mut first = Vec::new();
            for batch in orders.chunks(size) {
                let bookings = batch.iter().map(|order| charge(&format!("BK-{order}"), 500)).collect();
                for answer in store.book(bookings).await.expect("it books") {
                    match answer {
                        Booked::First(entry) => first.push(entry.number),
                        Booked::Repeat(_) => {}
                        Booked::Conflict(receipt) => panic!("{receipt}"),
                    }
                }
            }
            first
        })
    };
    let tasks: Vec<_> = [(0, 7), (1, 7), (0, 30), (1, 31), (0, 1), (1, 150)].map(|(at, size)| submit(at, size)).into();
    let mut numbers = Vec::new();
    for task in tasks {
        numbers.extend(task.await.expect("it ends"));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=u64::try_from(ORDERS).unwrap()).collect::<Vec<_>>());
    assert_eq!(sound(&*gateways[1]).await.len(), ORDERS);
}

async fn entries_are_read_by_page_partner_and_month(place: impl Place) {
    let store = place.books().await;
    for at in 0..6_u64 {
        let partner = if at % 3 == 2 { "ptr_2" } else { "ptr_1" };
        let (posted_at_ms, closed_at_ms) =
            if at < 4 { (MAY.plus_ms(5), MAY) } else { (MAY.plus_ms(40 * DAY_MS), MAY.plus_ms(39 * DAY_MS)) };
        let month = Month::of_order(closed_at_ms, posted_at_ms);
        let posting = Posting { posted_at_ms, closed_at_ms, month, ..posting(partner, &format!("BK-{at}"), 100, true) };
        book_first(&*store, booking(posting)).await;
    }
    let numbers = |entries: Result<Vec<Entry>, StoreError>| {
        entries.expect("it reads").iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    let partner = PartnerId::parse("ptr_1").unwrap();
    let (may, june): (Month, Month) = ("2026-05".parse().unwrap(), "2026-06".parse().unwrap());
    assert_eq!(numbers(store.entries(2, 3).await), [3, 4, 5]);
    assert_eq!(numbers(store.entries(6, 3).await), [0; 0]);
    assert_eq!(numbers(store.entries_of(&partner, may, 0, 10).await), [1, 2, 4]);
    assert_eq!(numbers(store.entries_of(&partner, may, 1, 1).await), [2]);
    assert_eq!(numbers(store.entries_of(&partner, june, 0, 10).await), [5]);
    assert_eq!(numbers(store.entries_of(&PartnerId::parse("ptr_3").unwrap(), may, 0, 10).await), [0; 0]);
}

async fn a_correction_takes_back_and_books_anew(place: impl Place) {
    let store = place.books().await;
    let mut standing = book_first(&*store, charge("BK-1", 149_950)).await;
    book_first(&*store, charge("BK-2", 7)).await;
    for (round, paise) in [(0_u64, 100_000), (1, 90_000)] {
        let right = Posting { posted_at_ms: MAY.plus_ms(DAY_MS), ..posting("ptr_1", "BK-1", paise, round == 0) };
        let correction = correct(&standing, right.clone(), "amount mistyped").unwrap();
        let Some(CorrectedEntries { reversal, replacement }) = store.correct(correction.clone()).await.unwrap() else {
            panic!("it stands")
        };
        assert_eq!((reversal.number, replacement.number), (3 + 2 * round, 4 + 2 * round));
        assert_eq!((&reversal.posting, &replacement.posting), (&correction.reversal, &right));
        assert_eq!(store.find_standing(&right.order()).await.unwrap().as_ref(), Some(&replacement));
        standing = replacement;
    }
    let entries = sound(&*store).await;
    assert_eq!(entries.len(), 6);
    assert!(matches!(entries[4].posting.kind, EntryKind::Reversal { of: 4, .. }));
    // What comes now is compared with what was last booked.
    let same = booking(posting("ptr_1", "BK-1", 90_000, false));
    let answers = book(&*store, vec![same, charge("BK-1", 149_950)]).await;
    assert_eq!(answers, [Booked::Repeat(standing.clone()), Booked::Conflict(standing.receipt_id())]);
}

async fn a_correction_of_what_does_not_stand_changes_nothing(place: impl Place) {
    let stores = [place.books().await, place.books().await];
    let first = book_first(&*stores[0], charge("BK-1", 149_950)).await;
    let correction = |reason: &str| {
        let right = Posting { posted_at_ms: MAY.plus_ms(DAY_MS), ..posting("ptr_1", "BK-1", 100_000, true) };
        correct(&first, right, reason).expect("correctable")
    };
    let mut forged = correction("forged");
    forged.reversal.legs.clear();
    let mut elsewhere = correction("of an order that was never booked");
    elsewhere.replacement.external_id = "BK-9".to_owned();
    let no_reversal =
        intent_gateway_ledger::Correction { reversal: first.posting.clone(), ..correction("no reversal") };
    for bad in [forged, elsewhere, no_reversal] {
        assert_eq!(stores[0].correct(bad).await.unwrap(), None);
    }
    let mut unbookable = correction("unbookable");
    unbookable.replacement.amount = Paise::new(-1);
    assert!(matches!(stores[0].correct(unbookable).await, Err(StoreError::Engine(..))));
    // Two gateways at once: one of them comes too late.
    let both = tokio::join!(stores[0].correct(correction("here")), stores[1].correct(correction("there")));
    let done = [both.0.unwrap(), both.1.unwrap()].map(|done| done.is_some());
    assert!(done[0] != done[1], "{done:?}");
    assert_eq!(sound(&*stores[0]).await.len(), 3);
}

async fn the_ledger_is_append_only(database: Database) {
    let store = database.open().await;
    book_first(&store, charge("BK-1", 100)).await;
    for change in ["UPDATE ledger SET amount = 1", "DELETE FROM ledger"] {
        let refused = database.run(change).await.expect_err(change);
        assert!(refused.contains("append-only"), "{refused}");
    }
    if database.file().is_none() {
        let refused = database.run("TRUNCATE ledger").await.expect_err("it is refused");
        assert!(refused.contains("append-only"), "{refused}");
    }
    sound(&store).await;
}

/// The row of another entry, as somebody would write it who goes past the gateway.
fn row(number: u32, turn: u32, kind: u32, receivable: i64, reverses: u32) -> String {
    format!(
        "INSERT INTO ledger VALUES ({number}, {turn}, {may}, {may}, 'ptr_1', 'auto.book_ac_service', 'BK-1', 'r', 's', \
         '2026-05', 100, 1000, '1.2.3', 0, NULL, '{zeros}', {kind}, {receivable}, -10, {reverses}, '', '{zeros}')",
        may = MAY.as_ms(),
        zeros = "0".repeat(64)
    )
}

async fn an_order_is_charged_once_whoever_writes(database: Database) {
    let store = database.open().await;
    book_first(&store, charge("BK-1", 100)).await;
    let refused = [
        ("the same order again", row(2, 0, 1, 10, 0)),
        ("again, with no reversal before", row(2, 2, 1, 10, 0)),
        ("a charge in the place of a reversal", row(2, 1, 1, 10, 0)),
        ("a reversal of nothing", row(2, 1, 3, 10, 0)),
        ("legs that are not in balance", row(2, 1, 3, 11, 1)),
        ("the same number", row(1, 1, 3, 10, 1)),
        ("no number", row(0, 1, 3, 10, 1)),
    ];
    for (what, sql) in refused {
        database.run(&sql).await.expect_err(what);
    }
    sound(&store).await;
    database.run(&row(2, 1, 3, 10, 1)).await.expect("it has the form of a reversal");
    database.run(&row(3, 2, 1, 10, 0)).await.expect("a charge may follow");
    database.run(&row(4, 3, 3, 10, 1)).await.expect_err("the first entry was reversed before");
    // What the tables cannot tell, the digests do.
    assert!(!store.verify_ledger().await.unwrap().is_sound());
}

async fn a_forged_entry_is_found(database: Database) {
    let (off, on) = if database.file().is_some() {
        ("DROP TRIGGER ledger_keeps;", "")
    } else {
        ("ALTER TABLE ledger DISABLE TRIGGER ALL;", "ALTER TABLE ledger ENABLE TRIGGER ALL;")
    };
    for change in
        ["receivable = 1, revenue = -1", "status = 'x'", "month = '2026-06'", "rate = 1", "late_minutes = NULL"]
    {
        let sql = format!("{off} UPDATE ledger SET {change} WHERE number = 2; {on}");
        let fresh = if database.file().is_some() { Database::sqlite() } else { Database::postgres().expect("it runs") };
        let forged = fresh.open().await;
        for at in 0..3 {
            book_first(&forged, charge(&format!("BK-{at}"), 100_000)).await;
        }
        assert!(forged.verify_ledger().await.unwrap().is_sound());
        fresh.run(&sql).await.expect("whoever owns the database can do it");
        assert!(!forged.verify_ledger().await.unwrap().is_sound(), "{change}");
    }
}

async fn a_backup_holds_the_ledger(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.backup");
    let store = database.open().await;
    book(&store, (0..60).map(|at| charge(&format!("BK-{at}"), 1_000)).collect()).await;
    let first = store.entries(0, 1).await.unwrap().remove(0);
    let right = Posting { posted_at_ms: MAY.plus_ms(DAY_MS), month: first.posting.month, ..first.posting.clone() };
    store.correct(correct(&first, right, "checked").unwrap()).await.unwrap();
    let written = store.backup(&file, Timestamp::EPOCH).await.unwrap();
    assert_eq!(written.rows["ledger"], 62);
    for other in [Some(Database::sqlite()), Database::postgres()].into_iter().flatten() {
        let restored = other.open().await;
        assert_eq!(restored.restore(&file, RESTORED).await.unwrap(), written);
        assert_eq!(sound(&restored).await, all(&store).await);
        assert!(matches!(restored.restore(&file, RESTORED).await, Err(BackupError::NotEmpty("ledger"))));
        // It goes on where it was.
        assert_eq!(book_first(&restored, charge("BK-60", 1)).await.number, 63);
    }
    // A file whose digest is right and whose ledger is not.
    let text = std::fs::read_to_string(&file).unwrap();
    let (rows, end) = text.trim_end().rsplit_once('\n').expect("several lines");
    let rows = rows.replacen("\"completed\"", "\"cancelled\"", 1) + "\n";
    let mut end: serde_json::Value = serde_json::from_str(end).unwrap();
    end["sha256"] = Digest::of(rows.as_bytes()).to_string().into();
    std::fs::write(&file, format!("{rows}{end}\n")).unwrap();
    let other = Database::sqlite().open().await;
    let refused = other.restore(&file, RESTORED).await;
    assert!(matches!(refused, Err(BackupError::Ledger(_))), "{refused:?}");
    assert_eq!(other.head().await.unwrap().0, 0);
}

/// On the disk, with all indexes. Orders come as they come, not in the order of their names.
async fn a_report_takes_no_more_than_a_kilobyte(database: Database) {
    const REPORTS: u32 = 4_096;
    let store = database.open().await;
    let orders: Vec<Booking> =
        (0..REPORTS).map(|at| charge(&format!("BK-2026-{:08x}", at.wrapping_mul(2_654_435_769)), 149_950)).collect();
    for batch in orders.chunks(64) {
        book(&store, batch.to_vec()).await;
    }
    store.close().await;
    match database.file() {
        Some(file) => {
            let bytes = std::fs::metadata(file).unwrap().len();
            assert!(bytes <= u64::from(REPORTS) * 1_024, "{} bytes a report", bytes / u64::from(REPORTS));
        }
        None => {
            let check = format!(
                "DO $$ BEGIN IF pg_total_relation_size('ledger') > {REPORTS} * 1024 THEN \
                 RAISE EXCEPTION '% bytes a report', pg_total_relation_size('ledger') / {REPORTS}; END IF; END $$"
            );
            database.run(&check).await.expect("it is small enough");
        }
    }
}

#[test]
fn what_no_engine_can_keep_is_no_booking() {
    let sound = || posting("ptr_1", "BK-1", 100, true);
    let bad = [
        Posting { external_id: "a\0b".to_owned(), ..sound() },
        Posting { status: "x".repeat(1_025), ..sound() },
        Posting { posted_at_ms: Timestamp::MAX, ..sound() },
        Posting { amount: Paise::new(-1), ..sound() },
        Posting { legs: Vec::new(), ..sound() },
        Posting { kind: EntryKind::Memorandum, ..sound() },
        Posting { kind: EntryKind::Reversal { of: 1, reason: "x".to_owned() }, ..sound() },
    ];
    for posting in bad {
        assert!(Booking::new(posting.clone(), Vec::new()).is_err(), "{posting:?}");
    }
    assert_eq!(booking(sound()).into_parts(), (sound(), Vec::new()));
}
