//! Statements, corrections and verification over a ledger in memory.

use std::sync::Arc;

use futures_executor::block_on;
use serde_json::{Value, json};

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_ledger::bookkeeping::*;
use intent_gateway_ledger::completion::{Amounts, Report};
use intent_gateway_ledger::{
    Booked, Booking, Books as _, Entry, EntryKind, Fault, Judge, JudgedReport, Month, genesis, post,
};
use intent_gateway_onboarding::AccountNames;
use intent_gateway_onboarding::records::Account;
use intent_gateway_testing::books::MemoryBooks;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{PassiveContract, descriptor};
use intent_gateway_testing::store::MemoryStore;

const INTENT: &str = "test.find_things";
/// 2026-05-20T00:00:00Z.
const MAY: Timestamp = Timestamp::from_ms(1_779_235_200_000);
const JUNE: Timestamp = MAY.plus_ms(30 * 24 * 60 * 60 * 1_000);

struct Desk {
    keeping: Bookkeeping,
    books: Arc<MemoryBooks>,
    contracts: Arc<Catalogue>,
    store: Arc<MemoryStore>,
}

impl Desk {
    fn new() -> Self {
        let mut declared = descriptor("1.2.3");
        declared.completion.statuses = ["completed", "no_show", "cancelled"].map(str::to_owned).to_vec();
        declared.completion.charged_statuses = vec!["completed".to_owned()];
        // Only what it declares is asked of it.
        let contracts = Catalogue::of([Arc::new(PassiveContract(declared))]);
        let (books, store) = (Arc::new(MemoryBooks::default()), Arc::new(MemoryStore::default()));
        let keeping = Bookkeeping {
            books: books.clone(),
            store: store.clone(),
            names: Arc::new(AccountNames(store.clone())),
            contracts: contracts.clone(),
            clock: TestClock::at(JUNE.as_ms()),
        };
        Self { keeping, books, contracts, store }
    }

    /// Books a report as it comes from a partner.
    fn report(&self, order: &str, paise: i64, status: &str) -> Booked {
        let report = Report {
            intent: IntentId::parse(INTENT).expect("well formed"),
            external_id: order.to_owned(),
            request_id: "req-1".to_owned(),
            amounts: Amounts { amount: Paise::new(paise), ..Amounts::default() },
            closed_at: MAY,
            status: status.to_owned(),
            content: Digest::of(format!("{order} {paise} {status}").as_bytes()),
        };
        let judged_by = Judge { version: "1.2.0".parse().expect("a version"), stand_in: false };
        let charged = status == "completed";
        let verdict = JudgedReport { charged, judged_by, late_minutes: Some(7), rate: Rate::DEFAULT };
        let booking = Booking::new(post(&report, &partner(), verdict, MAY), Vec::new()).expect("bookable");
        block_on(self.books.book(vec![booking])).expect("kept").remove(0)
    }

    fn take_back(&self, number: u64) -> Result<Entry, BookkeepingError> {
        block_on(self.keeping.take_back(number, "paid back", &actor()))
    }

    fn amend(&self, number: u64, paise: Option<i64>, status: Option<&str>) -> Result<[Entry; 2], BookkeepingError> {
        let amendment = Amendment { amount: paise.map(Paise::new), status: status.map(str::to_owned) };
        let corrected = block_on(self.keeping.amend(number, &amendment, "mistyped", &actor()))?;
        Ok([corrected.reversal, corrected.replacement])
    }

    fn log(&self) -> Vec<(String, Value)> {
        let log = block_on(self.store.audit(Some(partner().as_str()), 0, 100)).expect("kept");
        assert!(log.iter().all(|entry| entry.actor == actor()), "{log:?}");
        log.into_iter().map(|entry| (entry.action, serde_json::from_str(&entry.detail).expect("JSON"))).collect()
    }

    fn soundness(&self, expected: Option<Mark>) -> Soundness {
        block_on(self.keeping.verify(&[], expected)).expect("readable")
    }
}

fn partner() -> PartnerId {
    PartnerId::parse("coolcar").expect("sound")
}

fn actor() -> Actor {
    Actor::new("admin", "asha")
}

/// Place and code of what a refusal names.
fn breach<T: std::fmt::Debug>(outcome: Result<T, BookkeepingError>) -> (String, String) {
    match outcome {
        Err(BookkeepingError::Refused(refusal)) => {
            let violation = refusal.violations.into_iter().next().expect("a violation");
            (violation.pointer, violation.code)
        }
        other => panic!("{other:?}"),
    }
}

fn at(pointer: &str, code: &str) -> (String, String) {
    (pointer.to_owned(), code.to_owned())
}

#[test]
fn an_entry_is_taken_back_once_and_its_order_is_not_booked_again() {
    let desk = Desk::new();
    desk.report("BK-1", 149_950, "completed");
    let entry = block_on(desk.keeping.entry(1)).expect("there");
    assert_eq!(block_on(desk.keeping.taken_back_by(&entry)).expect("known"), None);

    let reversal = desk.take_back(1).expect("stands");
    let kind = EntryKind::Reversal { of: 1, reason: "paid back".to_owned() };
    assert_eq!((reversal.number, reversal.posting.kind, reversal.posting.posted_at_ms), (2, kind, JUNE));
    assert_eq!(desk.log(), [("ledger.reversal_ordered".to_owned(), json!({"entry": 1, "reason": "paid back"}))]);
    assert_eq!(block_on(desk.keeping.taken_back_by(&entry)).expect("known"), Some(2));

    assert!(matches!(desk.report("BK-1", 149_950, "completed"), Booked::Repeat(entry) if entry.number == 1));
    let again = desk.take_back(1);
    assert!(matches!(again, Err(BookkeepingError::NotStanding { entry: 1, reversal: Some(2) })), "{again:?}");
    assert!(matches!(desk.take_back(2), Err(BookkeepingError::IsReversal(2))));
    for unknown in [0, 3, u64::MAX] {
        assert!(matches!(desk.take_back(unknown), Err(BookkeepingError::UnknownEntry(number)) if number == unknown));
    }
    let said = BookkeepingError::NotStanding { entry: 1, reversal: Some(2) }.to_string();
    assert_eq!(said, "entry 1 was taken back by entry 2");
    assert_eq!((desk.log().len(), desk.books.entries_held().len()), (1, 2), "what was refused left nothing");
    assert!(desk.soundness(None).is_sound());
}

#[test]
fn a_correction_books_what_is_right_and_the_same_report_stays_a_repeat() {
    let desk = Desk::new();
    desk.report("BK-1", 149_950, "completed");
    let [reversal, right] = desk.amend(1, Some(100_005), None).expect("stands");
    assert_eq!(reversal.posting.commission(), Some(Paise::new(-14_995)));
    assert_eq!((right.number, right.posting.commission()), (3, Some(Paise::new(10_001))), "half a paisa goes up");
    let [wrong, right] = [&desk.books.entries_held()[0].posting.clone(), &right.posting];
    assert_eq!((right.report, right.rate, right.month), (wrong.report, wrong.rate, wrong.month));
    assert_eq!((&right.judged_by, right.late_minutes), (&wrong.judged_by, Some(7)), "the amount asks for no new judge");
    let detail = json!({"entry": 1, "reason": "mistyped", "amount_inr": "1000.05", "status": "completed"});
    assert_eq!(desk.log(), [("ledger.correction_ordered".to_owned(), detail)]);

    assert!(matches!(desk.report("BK-1", 149_950, "completed"), Booked::Repeat(entry) if entry.number == 3));
    assert!(matches!(desk.report("BK-1", 100_005, "completed"), Booked::Conflict(_)));
    let again = desk.amend(1, Some(1), None);
    assert!(matches!(again, Err(BookkeepingError::NotStanding { entry: 1, reversal: Some(2) })), "{again:?}");
    desk.amend(3, Some(5), None).expect("a correction is corrected like any entry");
    assert!(desk.soundness(None).is_sound());
}

#[test]
fn whether_another_status_is_charged_is_for_the_live_contract_to_say() {
    let desk = Desk::new();
    desk.report("BK-1", 50_000, "completed");
    let [_, cancelled] = desk.amend(1, None, Some("cancelled")).expect("stands");
    assert_eq!(cancelled.posting.kind, EntryKind::Memorandum);
    let judge = Judge { version: "1.2.3".parse().expect("a version"), stand_in: true };
    assert_eq!(cancelled.posting.judged_by, judge);
    let [_, completed] = desk.amend(3, Some(60_000), Some("completed")).expect("stands");
    assert_eq!(completed.posting.commission(), Some(Paise::new(6_000)));

    assert_eq!(breach(desk.amend(5, None, Some("done"))), at("/status", "NOT_IN_VOCABULARY"));
    desk.contracts.retire(INTENT);
    let without = desk.amend(5, None, Some("cancelled"));
    assert!(matches!(without, Err(BookkeepingError::UnknownIntent(intent)) if intent == INTENT));
    desk.amend(5, Some(1), None).expect("the amount alone asks no contract");
    assert!(desk.soundness(None).is_sound());
}

#[test]
fn corrections_that_are_refused_change_nothing() {
    let desk = Desk::new();
    desk.report("BK-1", 50_000, "completed");
    for paise in [-1, intent_gateway_domain::money::AMOUNT_MAX.get() + 1] {
        assert_eq!(breach(desk.amend(1, Some(paise), None)), at("/amount_inr", "OUT_OF_RANGE"));
    }
    for (paise, status) in [(None, None), (Some(50_000), Some("completed"))] {
        assert_eq!(breach(desk.amend(1, paise, status)), at("", "UNCHANGED"));
    }
    for reason in ["", " ", "two\nlines", &"x".repeat(501)] {
        let refused = block_on(desk.keeping.take_back(1, reason, &actor()));
        assert_eq!(breach(refused), at("/reason", "BAD_FORMAT"), "{reason:?}");
        let amendment = Amendment { amount: Some(Paise::ZERO), status: None };
        let refused = block_on(desk.keeping.amend(1, &amendment, reason, &actor()));
        assert_eq!(breach(refused), at("/reason", "BAD_FORMAT"), "{reason:?}");
    }
    assert!(matches!(desk.amend(2, Some(1), None), Err(BookkeepingError::UnknownEntry(2))));
    desk.take_back(1).expect("stands");
    assert!(matches!(desk.amend(2, Some(1), None), Err(BookkeepingError::IsReversal(2))));
    assert_eq!((desk.log().len(), desk.books.entries_held().len()), (1, 2));
}

#[test]
fn a_statement_is_read_page_by_page_and_holds_what_its_totals_hold() {
    let desk = Desk::new();
    for order in 0..1_500 {
        desk.report(&format!("BK-{order}"), 1_000, if order % 3 == 0 { "cancelled" } else { "completed" });
    }
    desk.take_back(2).expect("stands");
    let month = Month::at(MAY);
    let outline = block_on(desk.keeping.statement(&partner(), month)).expect("drawn up");
    assert_eq!((outline.last, &outline.business_name), (1_501, &None));
    let totals = &outline.totals;
    assert_eq!((totals.charges, totals.memoranda, totals.reversals), (1_000, 500, 1));
    assert_eq!((totals.charged_amount_inr.get(), totals.commission_inr.get()), (999_000, 99_900));

    // What comes meanwhile is on the statement that is asked for next.
    desk.report("BK-late", 1_000, "completed");
    let (mut after, mut read, mut pages) = (0, Vec::new(), 0);
    loop {
        let page = block_on(lines(&*desk.books, &outline, after)).expect("readable");
        let Some(last) = page.last() else { break };
        (after, pages) = (last.number, pages + 1);
        read.extend(page);
    }
    assert_eq!((pages, read.len()), (2, 1_501));
    assert!(read.is_sorted_by_key(|line| line.number));
    let commission: i128 = read.iter().map(|line| i128::from(line.commission_inr.get())).sum();
    assert_eq!(commission, totals.commission_inr.get());
}

#[test]
fn statements_are_of_partners_that_there_are() {
    let desk = Desk::new();
    let statement = || block_on(desk.keeping.statement(&partner(), Month::at(JUNE)));
    assert!(matches!(statement(), Err(BookkeepingError::UnknownPartner)));
    assert!(matches!(block_on(desk.keeping.months(&partner())), Err(BookkeepingError::UnknownPartner)));

    // Booked by the configuration's word, without an account.
    desk.report("BK-1", 1_000, "completed");
    assert_eq!(block_on(desk.keeping.months(&partner())).expect("known"), [Month::at(MAY)]);
    let empty = statement().expect("known");
    assert_eq!((empty.last, empty.totals), (0, intent_gateway_ledger::Totals::default()));
    assert_eq!(block_on(lines(&*desk.books, &empty, 0)).expect("readable"), []);

    let id = PartnerId::parse("ptr_1").expect("sound");
    let account = Account::new(id, "desk@coolcar.example".to_owned(), "CoolCar".to_owned(), MAY);
    let mut change = Change::default();
    change.put(&Versioned::new(account.clone()));
    block_on(desk.store.commit(change)).expect("kept");
    assert_eq!(block_on(desk.keeping.months(&account.id)).expect("known"), []);
    let named = block_on(desk.keeping.statement(&account.id, Month::at(MAY))).expect("known");
    assert_eq!(named.business_name.as_deref(), Some("CoolCar"));
}

#[test]
fn verification_sees_changes_and_an_end_that_was_cut_off() {
    let desk = Desk::new();
    let empty = Mark { number: 0, hash: genesis() };
    assert!(desk.soundness(Some(empty)).is_sound());
    for order in 0..1_200 {
        desk.report(&format!("BK-{order}"), 1_000, "completed");
    }
    let sound = desk.soundness(Some(empty));
    assert!(sound.is_sound() && sound.found.entries == 1_200, "{sound:?}");
    let head = Mark::from(sound.found.head);
    assert_eq!((head.number, head.to_string().parse()), (1_200, Ok(head)));
    desk.report("BK-next", 1_000, "completed");
    assert!(desk.soundness(Some(head)).is_sound(), "what was noted stays true as the ledger grows");

    desk.books.entries_held().truncate(1_199);
    assert!(desk.soundness(None).is_sound(), "the entries alone do not show it");
    let cut = desk.soundness(Some(head));
    assert_eq!((cut.is_sound(), cut.missing, cut.found.faults.len()), (false, Some(head), 0));

    desk.books.entries_held()[4].posting.amount = Paise::new(2_000);
    let changed = desk.soundness(None);
    let codes: Vec<_> = changed.found.faults.iter().map(fault_code).collect();
    assert_eq!(codes, ["ENTRY_CHANGED", "WRONG_LEGS"]);
    assert_eq!(changed.found.faults[1], Fault::Legs(5));
    for bad in
        ["", "1", "1:", "+1:00", "-1:00", &format!("x:{}", genesis()), &format!("9223372036854775808:{}", genesis())]
    {
        assert_eq!(bad.parse::<Mark>(), Err(InvalidMark), "{bad}");
    }
}
