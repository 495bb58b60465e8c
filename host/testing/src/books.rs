//! A ledger in memory that keeps the promises of the port: one entry for an order, nothing taken back twice, all or
//! nothing. Its links are plain digests. It passes the suite of the real one (`host/store/tests/it`), all but what concerns a file or a server.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::chain::{ChainCheck, ChainKeys};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::delivered::{Deliveries, Tally};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::order::{Order, OrderId, name};
use intent_gateway_domain::receipt::{QuotedOptions, RANKINGS_OF_REQUEST_MAX};
use intent_gateway_domain::store::{Record as _, StoreError};
use intent_gateway_ledger::completion::ReportKey;
use intent_gateway_ledger::{
    BATCH_MAX, Booked, Booking, Books, CorrectedEntries, Correction, ENTRIES_READ_MAX, Entry, EntryKind, FoundBy,
    KnownOrder, MONTHS_READ_MAX, Month, OrderQuery, Posting, ReportedOrder, TrialBalance, chain, genesis, link,
    reverse,
};
use serde_json::value::RawValue;

/// Every entry until the test ends. What tests do behind the back of the port, they do to the entries.
#[derive(Default)]
pub struct MemoryBooks {
    entries: Mutex<Vec<Entry>>,
    findings: Mutex<Vec<Finding>>,
    quoted: Mutex<BTreeMap<String, Vec<QuotedOptions>>>,
    orders: Mutex<BTreeMap<OrderId, KeptOrder>>,
}

/// An order with the option that was ordered.
type KeptOrder = (Order, Option<Box<RawValue>>);

impl MemoryBooks {
    pub fn entries_held(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().expect("no test panics in it")
    }

    /// What was found in the reports that are booked.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.lock().expect("no test panics in it").clone()
    }

    /// From here on, a ranking of a request is told with the orders that are said to come from it.
    pub fn quote(&self, request_id: &str, ranking: QuotedOptions) {
        let mut quoted = self.quoted.lock().expect("no test panics in it");
        quoted.entry(request_id.to_owned()).or_default().push(ranking);
    }

    /// From here on, an order is there.
    pub fn keep_order(&self, order: Order, option: Option<Box<RawValue>>) {
        self.orders_held().insert(order.id.clone(), (order, option));
    }

    /// An order, as it is now.
    ///
    /// # Panics
    /// When it was never kept.
    pub fn order(&self, id: &OrderId) -> Order {
        self.orders_held().get(id).expect("kept").0.clone()
    }

    fn orders_held(&self) -> MutexGuard<'_, BTreeMap<OrderId, KeptOrder>> {
        self.orders.lock().expect("no test panics in it")
    }

    fn ordered(&self, OrderQuery { order, request_id }: &OrderQuery) -> Option<Box<ReportedOrder>> {
        let ReportKey { partner, intent, external_id } = order;
        let orders = self.orders_held();
        let newest = |name: String, open: bool| {
            let of_name = |(order, _): &&KeptOrder| order.names().contains(&name) && (order.is_open || !open);
            orders.values().rev().find(of_name).cloned()
        };
        let (found, found_by) = match newest(name::of_identifier(partner, intent, external_id), false) {
            Some(found) => (found, FoundBy::Identifier),
            None => (newest(name::of_request(partner, intent, request_id), true)?, FoundBy::Request),
        };
        Some(Box::new(ReportedOrder { order: found.0, option: found.1, found_by }))
    }

    /// The receipt of the report that has closed the order which a booking is to close.
    fn closed_by(&self, booking: &Booking) -> Option<String> {
        let orders = self.orders_held();
        let (order, _) = orders.get(booking.closes()?)?;
        order.report.as_ref().map(|report| report.receipt.clone())
    }

    fn quoted_for(&self, request_id: &str) -> Vec<QuotedOptions> {
        let quoted = self.quoted.lock().expect("no test panics in it");
        let mut rankings = quoted.get(request_id).cloned().unwrap_or_default();
        rankings.sort_by_key(|ranking| std::cmp::Reverse(ranking.at));
        rankings.truncate(RANKINGS_OF_REQUEST_MAX as usize);
        rankings
    }

    fn read<T: Send + 'static>(&self, read: impl FnOnce(&[Entry]) -> T) -> BoxFuture<'static, Result<T, StoreError>> {
        done(Ok(read(&self.entries_held())))
    }
}

fn done<T: Send + 'static>(result: Result<T, StoreError>) -> BoxFuture<'static, Result<T, StoreError>> {
    std::future::ready(result).boxed()
}

fn failed<T: Send + 'static>(message: &str) -> BoxFuture<'static, Result<T, StoreError>> {
    done(Err(StoreError::Engine(message.to_owned(), None)))
}

fn head(entries: &[Entry]) -> (u64, Digest) {
    entries.last().map_or((0, genesis()), |last| (last.number, last.hash))
}

fn add(entries: &mut Vec<Entry>, posting: Posting) -> Entry {
    let (number, previous) = head(entries);
    let entry = link(posting, number + 1, previous, &ChainKeys::default());
    entries.push(entry.clone());
    entry
}

fn is_reversal(entry: &Entry) -> bool {
    matches!(entry.posting.kind, EntryKind::Reversal { .. })
}

/// The place of what was last booked for each of these orders, whether or not it stands.
fn last_booked(entries: &[Entry], orders: impl Iterator<Item = ReportKey>) -> HashMap<ReportKey, usize> {
    let wanted: HashSet<String> = orders.map(|order| order.external_id).collect();
    let bookings = entries.iter().enumerate().filter(|(_, entry)| !is_reversal(entry));
    let bookings = bookings.filter(|(_, entry)| wanted.contains(&entry.posting.external_id));
    bookings.map(|(at, entry)| (entry.posting.order(), at)).collect()
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
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Tally>, StoreError>> {
        self.read(|entries| {
            // Whatever came last for an order counts, unless it is a reversal.
            let latest: HashMap<ReportKey, u64> =
                entries.iter().map(|entry| (entry.posting.order(), entry.number)).collect();
            let stands =
                |entry: &&Entry| !is_reversal(entry) && latest.get(&entry.posting.order()) == Some(&entry.number);
            let counts = |entry: &&Entry| {
                entry.posting.posted_at_ms >= since && partner.is_none_or(|own| entry.posting.partner == *own)
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

    fn partners_of_month<'a>(
        &'a self,
        month: &'a str,
        after: Option<&'a PartnerId>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<PartnerId>, StoreError>> {
        self.read(|entries| {
            let of_month = entries.iter().filter(|entry| entry.posting.month.to_string() == month);
            let partners: BTreeSet<PartnerId> = of_month.map(|entry| entry.posting.partner.clone()).collect();
            let left = partners.into_iter().filter(|partner| after.is_none_or(|after| partner > after));
            left.take(limit as usize).collect()
        })
    }
}

impl Books for MemoryBooks {
    fn book(&self, bookings: Vec<Booking>) -> BoxFuture<'_, Result<Vec<Booked>, StoreError>> {
        if bookings.len() > BATCH_MAX {
            return failed("a batch has too many bookings");
        }
        let mut entries = self.entries_held();
        let mut places = last_booked(&entries, bookings.iter().map(Booking::order));
        let booked = bookings.into_iter().map(|booking| {
            let order = booking.order();
            match places.get(&order).map(|place| entries[*place].clone()) {
                Some(before) if before.posting.report == booking.posting().report => Booked::Repeat(before),
                Some(before) => Booked::Conflict(before.receipt_id()),
                None if let Some(receipt) = self.closed_by(&booking) => Booked::Conflict(receipt),
                None => {
                    let closes = booking.closes().cloned();
                    let (posting, findings) = booking.into_parts();
                    places.insert(order, entries.len());
                    self.findings.lock().expect("no test panics in it").extend(findings);
                    let entry = add(&mut entries, posting);
                    if let Some(id) = closes {
                        let closed = |(order, _): &mut KeptOrder| order.close(entry.closing_report());
                        self.orders_held().entry(id).and_modify(closed);
                    }
                    Booked::First(entry)
                }
            }
        });
        done(Ok(booked.collect()))
    }

    fn look_up(&self, asked: Vec<OrderQuery>) -> BoxFuture<'_, Result<Vec<KnownOrder>, StoreError>> {
        if asked.len() > BATCH_MAX {
            return failed("a batch asks for too many orders");
        }
        self.read(|entries| {
            let places = last_booked(entries, asked.iter().map(|asked| asked.order.clone()));
            let known = asked.into_iter().map(|asked| KnownOrder {
                booked: places.get(&asked.order).map(|place| entries[*place].clone()),
                quoted: self.quoted_for(&asked.request_id),
                ordered: self.ordered(&asked),
            });
            known.collect()
        })
    }

    fn take_back(&self, reversal: Posting) -> BoxFuture<'_, Result<Option<Entry>, StoreError>> {
        let mut entries = self.entries_held();
        done(Ok(fits(&entries, &reversal).then(|| add(&mut entries, reversal))))
    }

    fn correct(&self, correction: Correction) -> BoxFuture<'_, Result<Option<CorrectedEntries>, StoreError>> {
        let Correction { reversal, replacement } = correction;
        let Ok(replacement) = Booking::new(replacement, Vec::new()) else {
            return failed("the replacement cannot be kept");
        };
        let mut entries = self.entries_held();
        let is_of_it = replacement.order() == reversal.order();
        let corrected = (is_of_it && fits(&entries, &reversal)).then(|| {
            let reversal = add(&mut entries, reversal);
            CorrectedEntries { reversal, replacement: add(&mut entries, replacement.into_parts().0) }
        });
        done(Ok(corrected))
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
            months.into_iter().rev().take(MONTHS_READ_MAX as usize).collect()
        })
    }

    fn trial_balance(&self) -> BoxFuture<'_, Result<TrialBalance, StoreError>> {
        self.read(|entries| TrialBalance::of(entries))
    }

    fn chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>> {
        done(Ok(chain(ChainKeys::default(), None)))
    }

    fn head(&self) -> BoxFuture<'_, Result<(u64, Digest), StoreError>> {
        self.read(head)
    }
}
