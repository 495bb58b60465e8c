//! A ledger in memory that keeps the promises of the port: one entry for an order, nothing taken back twice, all or
//! nothing. Used by the tests of this crate and of the HTTP surface.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::delivered::{Deliveries, Tally};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::store::StoreError;
use intent_gateway_ledger::completion::ReportKey;
use intent_gateway_ledger::{
    Booked, Booking, Books, CorrectedEntries, Correction, ENTRIES_READ_MAX, Entry, EntryKind, KnownOrder, Month,
    OrderQuery, Posting, TrialBalance, genesis, link, reverse,
};

/// Every entry until the test ends. What tests do behind the back of the port, they do to the entries.
#[derive(Default)]
pub struct MemoryBooks(Mutex<Vec<Entry>>);

impl MemoryBooks {
    pub fn entries_held(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().expect("no test panics in it")
    }

    fn read<T: Send + 'static>(&self, read: impl FnOnce(&[Entry]) -> T) -> BoxFuture<'static, Result<T, StoreError>> {
        let found = read(&self.entries_held());
        std::future::ready(Ok(found)).boxed()
    }
}

fn head(entries: &[Entry]) -> (u64, Digest) {
    entries.last().map_or((0, genesis()), |last| (last.number, last.hash))
}

fn add(entries: &mut Vec<Entry>, posting: Posting) -> Entry {
    let (number, previous) = head(entries);
    let entry = link(posting, number + 1, previous);
    entries.push(entry.clone());
    entry
}

fn is_reversal(entry: &&Entry) -> bool {
    matches!(entry.posting.kind, EntryKind::Reversal { .. })
}

fn find_standing(entries: &[Entry], order: &ReportKey) -> Option<Entry> {
    let latest = entries.iter().rev().find(|entry| entry.posting.order() == *order);
    latest.filter(|entry| !is_reversal(entry)).cloned()
}

/// Whether a reversal is of an entry that stands, and as it is made.
fn fits(entries: &[Entry], reversal: &Posting) -> bool {
    let EntryKind::Reversal { of, reason } = &reversal.kind else { return false };
    let standing = find_standing(entries, &reversal.order()).filter(|standing| standing.number == *of);
    standing.is_some_and(|entry| reverse(&entry, reason, reversal.posted_at_ms).as_ref() == Ok(reversal))
}

fn page<'a>(entries: impl Iterator<Item = &'a Entry>, after: u64, limit: u32) -> Vec<Entry> {
    let limit = limit.min(ENTRIES_READ_MAX) as usize;
    entries.filter(|entry| entry.number > after).take(limit).cloned().collect()
}

impl Deliveries for MemoryBooks {
    fn sum_delivered<'a>(
        &'a self,
        partner: Option<&'a PartnerId>,
        since_ms: u64,
    ) -> BoxFuture<'a, Result<Vec<Tally>, StoreError>> {
        self.read(|entries| {
            let stands = |entry: &&Entry| find_standing(entries, &entry.posting.order()).as_ref() == Some(*entry);
            let counts = |entry: &&Entry| {
                entry.posting.posted_at_ms >= since_ms && partner.is_none_or(|own| entry.posting.partner == *own)
            };
            let mut tallies: BTreeMap<(PartnerId, IntentId, String), Tally> = BTreeMap::new();
            for Posting { partner, intent, status, late_minutes, .. } in
                entries.iter().filter(counts).filter(stands).map(|entry| &entry.posting)
            {
                let key = (partner.clone(), intent.clone(), status.clone());
                let tally = tallies.entry(key).or_insert_with_key(|(partner, intent, status)| Tally {
                    partner: partner.clone(),
                    intent: intent.clone(),
                    status: status.clone(),
                    reports: 0,
                    timed: 0,
                    late_minutes: 0,
                });
                tally.reports += 1;
                tally.timed += u64::from(late_minutes.is_some());
                tally.late_minutes += i64::from(late_minutes.unwrap_or_default());
            }
            tallies.into_values().collect()
        })
    }
}

impl Books for MemoryBooks {
    fn book(&self, bookings: Vec<Booking>) -> BoxFuture<'_, Result<Vec<Booked>, StoreError>> {
        let mut entries = self.entries_held();
        let booked = bookings.into_iter().map(|booking| {
            let order = booking.order();
            let before = entries.iter().rev().find(|entry| !is_reversal(entry) && entry.posting.order() == order);
            match before.cloned() {
                Some(before) if before.posting.report == booking.posting().report => Booked::Repeat(before),
                Some(before) => Booked::Conflict(before.receipt_id()),
                None => Booked::First(add(&mut entries, booking.into_parts().0)),
            }
        });
        std::future::ready(Ok(booked.collect())).boxed()
    }

    fn look_up(&self, asked: Vec<OrderQuery>) -> BoxFuture<'_, Result<Vec<KnownOrder>, StoreError>> {
        self.read(|entries| {
            let known = asked.into_iter().map(|asked| {
                let of_order = |entry: &&Entry| !is_reversal(entry) && entry.posting.order() == asked.order;
                KnownOrder { booked: entries.iter().rev().find(of_order).cloned(), quoted: Vec::new() }
            });
            known.collect()
        })
    }

    fn take_back(&self, reversal: Posting) -> BoxFuture<'_, Result<Option<Entry>, StoreError>> {
        let mut entries = self.entries_held();
        let taken_back = fits(&entries, &reversal).then(|| add(&mut entries, reversal));
        std::future::ready(Ok(taken_back)).boxed()
    }

    fn correct(&self, correction: Correction) -> BoxFuture<'_, Result<Option<CorrectedEntries>, StoreError>> {
        let mut entries = self.entries_held();
        let Correction { reversal, replacement } = correction;
        let corrected = fits(&entries, &reversal).then(|| {
            let reversal = add(&mut entries, reversal);
            CorrectedEntries { reversal, replacement: add(&mut entries, replacement) }
        });
        std::future::ready(Ok(corrected)).boxed()
    }

    fn find_standing<'a>(&'a self, order: &'a ReportKey) -> BoxFuture<'a, Result<Option<Entry>, StoreError>> {
        self.read(|entries| find_standing(entries, order))
    }

    fn entries(&self, after: u64, limit: u32) -> BoxFuture<'_, Result<Vec<Entry>, StoreError>> {
        self.read(|entries| page(entries.iter(), after, limit))
    }

    fn entries_of<'a>(
        &'a self,
        partner: &'a PartnerId,
        month: Month,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        let own = |entry: &&Entry| entry.posting.partner == *partner && entry.posting.month == month;
        self.read(|entries| page(entries.iter().filter(own), after, limit))
    }

    fn months_of<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<Vec<Month>, StoreError>> {
        self.read(|entries| {
            let own = entries.iter().filter(|entry| entry.posting.partner == *partner);
            let months: BTreeSet<Month> = own.map(|entry| entry.posting.month).collect();
            months.into_iter().rev().collect()
        })
    }

    fn trial_balance(&self) -> BoxFuture<'_, Result<TrialBalance, StoreError>> {
        self.read(|entries| TrialBalance::of(entries).expect("the amounts of tests fit"))
    }

    fn head(&self) -> BoxFuture<'_, Result<(u64, Digest), StoreError>> {
        self.read(head)
    }
}
