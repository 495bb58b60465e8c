//! Tests of the ledger as a whole: what is booked, and that [`verify`] sees every breach.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::completion::{Amounts, Arrival, Report, ReportKey};
use crate::verify::FAULTS_LISTED_MAX;
use intent_gateway_domain::chain::{BrokenChain, ChainCheck, ChainKeys};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{AMOUNT_MAX, Paise, Rate, Total};

/// 2026-05-20T00:00:00Z.
const MAY: Timestamp = Timestamp::from_ms(1_779_235_200_000);
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn partner(name: &str) -> PartnerId {
    PartnerId::parse(name).expect("sound")
}

/// Without a key: what links under one show, `intent_gateway_domain::chain` tests.
fn plain() -> ChainCheck {
    chain(ChainKeys::default(), None)
}

fn report(external_id: &str, paise: i64) -> Report {
    Report {
        intent: IntentId::parse("auto.book_ac_service").expect("sound"),
        external_id: external_id.to_owned(),
        request_id: "req-1".to_owned(),
        amounts: Amounts { amount: Paise::new(paise), ..Amounts::default() },
        closed_at: MAY,
        status: "completed".to_owned(),
        content: Digest::of(format!("{external_id} {paise}").as_bytes()),
    }
}

fn verdict(charged: bool) -> JudgedReport {
    let judged_by = Judge { version: semver::Version::new(1, 2, 3), stand_in: false };
    JudgedReport { charged, judged_by, late_minutes: None, rate: Rate::DEFAULT }
}

/// A ledger as a store keeps it.
#[derive(Default)]
struct Book(Vec<Entry>);

impl Book {
    fn add(&mut self, posting: Posting) -> Entry {
        let (number, previous) = self.0.last().map_or((0, genesis()), |last| (last.number, last.hash));
        let entry = link(posting, number + 1, previous, &ChainKeys::default());
        self.0.push(entry.clone());
        entry
    }

    fn charge(&mut self, external_id: &str, paise: i64) -> Entry {
        self.add(post(&report(external_id, paise), &partner("coolcar"), verdict(true), MAY))
    }

    /// After a change behind the back of the chain: digests as a forger would make them who has the whole ledger.
    fn relinked(self) -> Self {
        let mut book = Self::default();
        for entry in self.0 {
            book.add(entry.posting);
        }
        book
    }
}

/// A charge, a memorandum, another charge, and the first one corrected.
fn sample() -> Book {
    let mut book = Book::default();
    let first = book.charge("BK-1", 149_950);
    book.add(post(&report("BK-2", 80_000), &partner("coolcar"), verdict(false), MAY.plus_ms(1)));
    book.charge("BK-3", 4);
    let right = post(&report("BK-1", 100_000), &partner("coolcar"), verdict(true), MAY.plus_ms(2));
    let Correction { reversal, replacement } = correct(&first, right, "amount mistyped").expect("correctable");
    book.add(reversal);
    book.add(replacement);
    book
}

fn faults(book: &Book) -> Vec<Fault> {
    verify(&book.0, plain(), &[]).faults
}

#[test]
fn a_report_is_booked_by_its_verdict() {
    let book = sample();
    let legs = |number: usize| {
        let posting = &book.0[number - 1].posting;
        posting.legs.iter().map(|leg| (leg.account, leg.amount.get())).collect::<Vec<_>>()
    };
    let (receivable, revenue) = (Account::PartnerReceivable, Account::CommissionRevenue);
    assert_eq!(legs(1), [(receivable, 14_995), (revenue, -14_995)]);
    assert_eq!(legs(2), []);
    assert_eq!(legs(3), [(receivable, 0), (revenue, 0)], "a commission that rounds to nothing is a charge still");
    assert_eq!(legs(4), [(receivable, -14_995), (revenue, 14_995)]);
    assert_eq!(legs(5), [(receivable, 10_000), (revenue, -10_000)]);
    assert_eq!(book.0[3].posting.kind, EntryKind::Reversal { of: 1, reason: "amount mistyped".to_owned() });
    let found = verify(&book.0, plain(), &[]);
    assert!(found.is_sound(), "{:?}", found.faults);
    assert_eq!((found.entries, found.head), (5, (5, book.0[4].hash)));
    let balances =
        Balances { partner_receivable: Paise::new(10_000).into(), commission_revenue: Paise::new(-10_000).into() };
    assert_eq!(found.trial.partners().collect::<Vec<_>>(), [(&partner("coolcar"), &balances)]);
    assert_eq!(found.trial, TrialBalance::of(&book.0));
    let receipts: std::collections::BTreeSet<_> = book.0.iter().map(Entry::receipt_id).collect();
    assert!(receipts.len() == 5 && receipts.iter().all(|id| id.len() == 29), "{receipts:?}");
}

#[test]
fn an_empty_ledger_is_sound() {
    let found = verify(Vec::<Entry>::new(), plain(), &[]);
    assert!(found.is_sound() && found.head == (0, genesis()));
}

#[test]
fn entries_read_back_as_they_were() {
    for entry in sample().0 {
        let text = serde_json::to_string(&entry).expect("serialises");
        assert_eq!(serde_json::from_str::<Entry>(&text).ok(), Some(entry), "{text}");
    }
}

#[test]
fn corrections_that_are_refused() {
    let book = sample();
    let entry = &book.0[0];
    let other = post(&report("BK-9", 1), &partner("coolcar"), verdict(true), MAY);
    assert_eq!(correct(entry, other, "why"), Err(CorrectionError::OtherOrder(1)));
    let foreign = post(&report("BK-1", 1), &partner("other"), verdict(true), MAY);
    assert_eq!(correct(entry, foreign, "why"), Err(CorrectionError::OtherOrder(1)));
    assert_eq!(correct(entry, book.0[3].posting.clone(), "why"), Err(CorrectionError::OtherOrder(1)));
    assert_eq!(reverse(&book.0[3], "why", MAY), Err(CorrectionError::IsReversal(4)));
    for reason in ["", " ", "a\nb", &"x".repeat(REASON_MAX_CHARS + 1)] {
        assert_eq!(reverse(entry, reason, MAY), Err(CorrectionError::Reason), "{reason:?}");
    }
}

/// A change of one entry, by its name.
type Forgery = (&'static str, fn(&mut Posting));

#[test]
fn the_chain_shows_every_change() {
    let forgeries: [Forgery; 15] = [
        ("posted_at_ms", |posting| posting.posted_at_ms = posting.posted_at_ms.plus_ms(1)),
        ("partner", |posting| posting.partner = partner("other")),
        ("intent", |posting| posting.intent = IntentId::parse("a.b").expect("sound")),
        ("external_id", |posting| posting.external_id.push('x')),
        ("request_id", |posting| posting.request_id.clear()),
        ("status", |posting| posting.status.push('x')),
        ("closed_at_ms", |posting| posting.closed_at_ms = posting.closed_at_ms.minus_ms(1)),
        ("month", |posting| posting.month = Month::at(Timestamp::EPOCH)),
        ("amount", |posting| posting.amount = Paise::new(1)),
        ("rate", |posting| posting.rate = Rate::from_basis_points(999).expect("sound")),
        ("version", |posting| posting.judged_by.version.patch += 1),
        ("stand_in", |posting| posting.judged_by.stand_in = true),
        ("report", |posting| posting.report = Digest::of(b"")),
        ("kind", |posting| posting.kind = EntryKind::Reversal { of: 3, reason: "x".to_owned() }),
        ("legs", |posting| posting.legs.reverse()),
    ];
    for (what, forge) in forgeries {
        let mut book = sample();
        forge(&mut book.0[2].posting);
        assert_eq!(faults(&book)[0], Fault::Chain(BrokenChain::Changed(3)), "{what}");
    }
    let of_the_reversal: [Forgery; 2] = [
        ("of", |posting| posting.kind = EntryKind::Reversal { of: 2, reason: "amount mistyped".to_owned() }),
        ("reason", |posting| posting.kind = EntryKind::Reversal { of: 1, reason: "another".to_owned() }),
    ];
    for (what, forge) in of_the_reversal {
        let mut book = sample();
        forge(&mut book.0[3].posting);
        assert_eq!(faults(&book)[0], Fault::Chain(BrokenChain::Changed(4)), "{what}");
    }
    let mut moved = sample();
    let last = moved.0[0].posting.external_id.pop().expect("not empty");
    moved.0[0].posting.request_id.insert(0, last);
    assert_eq!(faults(&moved)[0], Fault::Chain(BrokenChain::Changed(1)), "moved between fields");
    let mut cut = sample();
    cut.0.remove(1);
    assert_eq!(faults(&cut), [Fault::Chain(BrokenChain::Gap { expected: 2, found: 3 })]);
    let mut rehashed = sample();
    let Entry { posting, .. } = rehashed.0.remove(1);
    rehashed.0.insert(1, link(Posting { posted_at_ms: MAY, ..posting }, 2, rehashed.0[0].hash, &ChainKeys::default()));
    assert_eq!(faults(&rehashed), [Fault::Chain(BrokenChain::Changed(3))]);
}

#[test]
fn each_rule_is_seen_to_where_the_chain_is_whole() {
    type Breach = (fn(&mut Vec<Entry>), &'static [Fault]);
    let breaches: [Breach; 13] = [
        (
            |book| book[0].posting.legs[0].amount = Paise::new(1),
            &[Fault::Unbalanced(1), Fault::Legs(1), Fault::NotMirrored { entry: 4, of: 1 }],
        ),
        (|book| book[2].posting.amount = Paise::new(5), &[Fault::Legs(3)]),
        (|book| book[2].posting.legs.clear(), &[Fault::Legs(3)]),
        (|book| book[1].posting.legs = book[0].posting.legs.clone(), &[Fault::Legs(2)]),
        (|book| book[1].posting.amount = Paise::new(-1), &[Fault::Amount(2)]),
        (|book| book[1].posting.amount = Paise::new(AMOUNT_MAX.get() + 1), &[Fault::Amount(2)]),
        (|book| book[1].posting.month = Month::at(Timestamp::EPOCH), &[Fault::Month(2)]),
        (
            |book| book[3].posting.month = Month::at(Timestamp::EPOCH),
            &[Fault::Month(4), Fault::NotMirrored { entry: 4, of: 1 }],
        ),
        (
            |book| book[2].posting.external_id = "BK-1".to_owned(),
            &[
                Fault::BookedTwice { entry: 3, first: 1 },
                Fault::NothingReversed { entry: 4, of: 1 },
                Fault::BookedTwice { entry: 5, first: 3 },
            ],
        ),
        (
            |book| book[3].posting.kind = EntryKind::Reversal { of: 3, reason: "x".to_owned() },
            &[Fault::NothingReversed { entry: 4, of: 3 }, Fault::BookedTwice { entry: 5, first: 1 }],
        ),
        (|book| book[4].posting = book[3].posting.clone(), &[Fault::ReversedTwice { entry: 5, of: 1 }]),
        (|book| book[3].posting.amount = Paise::new(1), &[Fault::NotMirrored { entry: 4, of: 1 }]),
        (|book| drop(book.remove(3)), &[Fault::BookedTwice { entry: 4, first: 1 }]),
    ];
    for (number, (breach, expected)) in breaches.into_iter().enumerate() {
        let mut book = sample();
        breach(&mut book.0);
        assert_eq!(faults(&book.relinked()), expected, "breach {number}");
    }
}

#[test]
fn no_balance_is_too_large() {
    let mut book = sample();
    book.0[0].posting.legs[0].amount = Paise::new(i64::MAX);
    book.0[2].posting.legs[0].amount = Paise::new(i64::MAX);
    let book = book.relinked();
    // Of the first, 149.95 INR are taken back and 100 booked.
    let beyond = 2 * i128::from(i64::MAX) - 4_995;
    let trial = TrialBalance::of(&book.0);
    assert_eq!(trial.partners().map(|(_, held)| held.partner_receivable.get()).max(), Some(beyond));
    let statement = Statement::of(&partner("coolcar"), Month::at(MAY), &book.0).expect("it fits");
    assert_eq!(statement.totals.commission_inr.get(), beyond);
}

#[test]
fn faults_are_listed_up_to_a_bound() {
    let mut book = Book::default();
    for number in 0..=FAULTS_LISTED_MAX + 2 {
        book.charge("BK-1", i64::try_from(number).expect("small"));
    }
    let found = verify(&book.0, plain(), &[]);
    assert_eq!((found.faults.len(), found.faults_unlisted), (FAULTS_LISTED_MAX, 2));
    assert!(!found.is_sound());
}

#[test]
fn a_statement_lists_a_month_and_sums_it() {
    let mut book = sample();
    let june = Report { closed_at: MAY.plus_ms(30 * DAY_MS), ..report("=BK,\"4\"", 100) };
    let june = book.add(post(&june, &partner("coolcar"), verdict(true), MAY.plus_ms(31 * DAY_MS)));
    // Closed in May, reported in June: May's.
    book.add(post(&report("BK-5", 1_000), &partner("coolcar"), verdict(true), MAY.plus_ms(31 * DAY_MS)));
    book.add(post(&report("BK-1", 1_000), &partner("other"), verdict(true), MAY));
    let of = |month: &str| {
        let month = month.parse().expect("a month");
        Statement::of(&partner("coolcar"), month, &book.0).expect("fits")
    };
    let may = of("2026-05");
    assert_eq!(may.lines.iter().map(|line| line.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 7]);
    let totals = Totals {
        charges: 4,
        memoranda: 1,
        reversals: 1,
        charged_amount_inr: Paise::new(101_004).into(),
        commission_inr: Paise::new(10_100).into(),
    };
    assert_eq!(may.totals, totals);
    let json = serde_json::to_string(&may.totals).expect("serialises");
    assert!(json.ends_with(r#""charged_amount_inr":1010.04,"commission_inr":101.00}"#), "{json}");
    assert_eq!(of("2026-04").lines, []);
    let csv = of("2026-06").to_csv();
    let row = "6,2026-06-20T00:00:00Z,2026-06-19T00:00:00Z,auto.book_ac_service,\"'=BK,\"\"4\"\"\",req-1,completed,\
               charge,,1.00,10.00,0.10\r\n";
    assert_eq!(csv.split_once("\r\n").map(|(_, rows)| rows), Some(row));
    assert_eq!(june.posting.month.to_string(), "2026-06");
    assert!(may.to_csv().contains(",reversal,1,1499.50,10.00,-149.95\r\n"), "{}", may.to_csv());
}

/// What happens to a ledger.
#[derive(Clone, Debug)]
enum Event {
    Reported { partner: usize, order: usize, paise: i64, charged: bool },
    Corrected { partner: usize, order: usize, paise: i64, charged: bool },
    TakenBack { partner: usize, order: usize },
}

fn event() -> impl Strategy<Value = Event> {
    let place = (0..3_usize, 0..4_usize);
    // Few amounts, so that the same report comes again.
    let paise = prop_oneof![Just(0), Just(5), Just(149_950), 0..=AMOUNT_MAX.get()];
    prop_oneof![
        3 => (place.clone(), paise.clone(), any::<bool>())
            .prop_map(|((partner, order), paise, charged)| Event::Reported { partner, order, paise, charged }),
        1 => (place.clone(), paise, any::<bool>())
            .prop_map(|((partner, order), paise, charged)| Event::Corrected { partner, order, paise, charged }),
        1 => place.prop_map(|(partner, order)| Event::TakenBack { partner, order }),
    ]
}

/// A ledger that is kept as a store keeps it, beside what must come out.
#[derive(Default)]
struct Model {
    book: Book,
    /// The entry that stands for each order; `None` where it was taken back.
    standing: BTreeMap<ReportKey, Option<Entry>>,
    /// The content last booked for each order.
    kept: BTreeMap<ReportKey, Digest>,
    now: Timestamp,
}

impl Model {
    fn apply(&mut self, event: &Event) {
        self.now = self.now.plus_ms(7 * DAY_MS);
        let (Event::Reported { partner, order, .. }
        | Event::Corrected { partner, order, .. }
        | Event::TakenBack { partner, order }) = *event;
        let partner = super::tests::partner(["a", "b", "c"][partner]);
        let order = format!("BK-{order}");
        let key = report(&order, 0).key(&partner);
        let standing = self.standing.get(&key).cloned().flatten();
        match *event {
            Event::TakenBack { .. } => {
                if let Some(entry) = standing {
                    self.book.add(reverse(&entry, "taken back", self.now).expect("stands"));
                    self.standing.insert(key, None);
                }
            }
            Event::Reported { paise, charged, .. } => {
                let report = report(&order, paise);
                if Arrival::of(&report, self.kept.get(&key).copied()) == Arrival::First {
                    self.book_report(key, &report, &partner, charged);
                }
            }
            Event::Corrected { paise, charged, .. } => {
                let report = report(&order, paise);
                if let Some(entry) = standing {
                    let posting = post(&report, &partner, verdict(charged), self.now);
                    self.book.add(correct(&entry, posting, "corrected").expect("stands").reversal);
                }
                self.book_report(key, &report, &partner, charged);
            }
        }
    }

    fn book_report(&mut self, key: ReportKey, report: &Report, partner: &PartnerId, charged: bool) {
        let entry = self.book.add(post(report, partner, verdict(charged), self.now));
        self.kept.insert(key.clone(), report.content);
        self.standing.insert(key, Some(entry));
    }

    /// What each partner owes, from what stands alone.
    fn owed(&self) -> BTreeMap<PartnerId, i128> {
        let mut owed = BTreeMap::new();
        for entry in &self.book.0 {
            owed.entry(entry.posting.partner.clone()).or_insert(0);
        }
        for Entry { posting, .. } in self.standing.values().flatten() {
            let due = match posting.kind {
                EntryKind::Charge => posting.rate.commission(posting.amount).get().into(),
                _ => 0_i128,
            };
            *owed.entry(posting.partner.clone()).or_insert(0) += due;
        }
        owed
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_books_balance(events in prop::collection::vec(event(), 0..60)) {
        let mut model = Model { now: MAY, ..Model::default() };
        events.into_iter().for_each(|event| model.apply(&event));
        let found = verify(&model.book.0, plain(), &[]);
        prop_assert!(found.is_sound(), "{:?}", found.faults);
        let balances = found.trial.partners();
        let receivable: BTreeMap<_, _> =
            balances.map(|(partner, balances)| (partner.clone(), balances.partner_receivable.get())).collect();
        prop_assert_eq!(&receivable, &model.owed());
        // Every entry is on one statement, and the statements sum to the balance.
        for (partner, owed) in receivable {
            let months: std::collections::BTreeSet<Month> = model.book.0.iter().map(|entry| entry.posting.month).collect();
            let mut due = 0;
            let mut lines = 0;
            for month in months {
                let statement = Statement::of(&partner, month, &model.book.0).expect("fits");
                prop_assert!(statement.totals.commission_inr >= Total::ZERO);
                due += statement.totals.commission_inr.get();
                lines += statement.lines.len();
            }
            prop_assert_eq!(due, owed);
            prop_assert_eq!(lines, model.book.0.iter().filter(|entry| entry.posting.partner == partner).count());
        }
    }

    #[test]
    fn a_lost_doubled_or_swapped_entry_is_seen(
        events in prop::collection::vec(event(), 10..40),
        at: prop::sample::Index,
        what in 0..3_u8,
    ) {
        let mut model = Model { now: MAY, ..Model::default() };
        events.into_iter().for_each(|event| model.apply(&event));
        let book = &mut model.book;
        // The last entry cut off is seen by the head, kept elsewhere; anything before it by the entries alone.
        prop_assume!(book.0.len() >= 2);
        let at = at.index(book.0.len() - 1);
        match what {
            0 => drop(book.0.remove(at)),
            1 => book.0.insert(at, book.0[at].clone()),
            _ => book.0.swap(at, at + 1),
        }
        prop_assert!(!verify(&book.0, plain(), &[]).is_sound());
    }
}
