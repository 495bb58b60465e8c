//! What callers know of their bookings and reports, and whether the stores hold just that.

use std::collections::{BTreeMap, BTreeSet};

/// A booking that was acknowledged; or that was asked for, without the names that an answer brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    /// At which partner.
    pub partner: &'static str,
    /// Under which key.
    pub key: String,
    /// At the gateway with SQLite.
    pub on_sqlite: bool,
    /// The gateway's name of the order.
    pub order: String,
    /// The partner's name of it.
    pub booking: String,
    /// The option that was booked.
    pub option: String,
}

/// A completion report that was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it reports.
    pub booking: Booking,
    /// Its receipt.
    pub receipt: String,
    /// The commission that was told.
    pub commission_paise: Option<i64>,
}

/// What callers know.
#[derive(Debug, Default)]
pub struct Known {
    pub bookings: Vec<Booking>,
    pub reports: Vec<Report>,
    /// Bookings that were never acknowledged, with whether something may have been done all the same.
    pub unbooked: Vec<(Booking, bool)>,
    /// Bookings whose report was never acknowledged, likewise.
    pub unreported: Vec<(Booking, bool)>,
    /// Answers to a repeat that were others than the first.
    pub changed: Vec<String>,
    /// Users that were not begun, for too many were under way.
    pub turned_away: usize,
}

impl Known {
    /// Notes it where a repeat was answered with something else.
    pub fn compare<T: PartialEq + std::fmt::Debug>(&mut self, first: &T, again: &T) {
        if first != again {
            self.changed.push(format!("{first:?}, and then {again:?}"));
        }
    }
}

/// An order as a store keeps it.
#[derive(Clone, Debug)]
pub struct KeptOrder {
    pub id: String,
    pub partner: String,
    /// The key under which it was booked.
    pub key: String,
    pub option: String,
    pub identifiers: BTreeSet<String>,
    pub state: String,
    /// The receipt of the report that closed it.
    pub receipt: Option<String>,
    /// Whether the option that was ordered is kept beside it.
    pub has_option: bool,
}

/// An entry of a ledger.
#[derive(Clone, Debug)]
pub struct KeptEntry {
    pub partner: String,
    pub external_id: String,
    pub receipt: String,
    pub commission_paise: Option<i64>,
}

/// What a store keeps.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub orders: Vec<KeptOrder>,
    pub entries: Vec<KeptEntry>,
}

/// What is not as it must be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Breaches {
    /// Acknowledged, and not there, or other than it was acknowledged.
    pub lost: Vec<String>,
    /// There more than once.
    pub doubled: Vec<String>,
    /// There, although it was refused for certain, or nobody asked for it.
    pub unasked: Vec<String>,
    /// Orders beside which no option is kept: the receipt of their search was lost, or came too late. No breach, for so it is
    /// meant: no search waits for the disk, and a booking waits for a moment only.
    pub without_option: usize,
}

/// The state of an order whose call certainly did nothing.
const FAILED: &str = "failed";

/// Holds what callers of one store know against what it keeps. `booked_at` are the keys under which each partner was booked.
#[must_use]
pub fn compare(known: &Known, on_sqlite: bool, kept: &Kept, booked_at: &BTreeMap<&str, BTreeSet<String>>) -> Breaches {
    let mut breaches = Breaches::default();
    let is_ours = |booking: &&Booking| booking.on_sqlite == on_sqlite;
    let orders: BTreeMap<&str, &KeptOrder> = kept.orders.iter().map(|order| (order.id.as_str(), order)).collect();
    let mut by_key: BTreeMap<&str, usize> = BTreeMap::new();
    for order in kept.orders.iter().filter(|order| order.state != FAILED) {
        *by_key.entry(&order.key).or_default() += 1;
    }
    let mut entries: BTreeMap<(&str, &str), Vec<&KeptEntry>> = BTreeMap::new();
    for entry in &kept.entries {
        entries.entry((&entry.partner, &entry.external_id)).or_default().push(entry);
    }
    for (key, times) in &by_key {
        if *times > 1 {
            breaches.doubled.push(format!("{times} orders under {key}"));
        }
    }
    for ((_, order), of_order) in &entries {
        if of_order.len() > 1 {
            breaches.doubled.push(format!("{} entries of {order}", of_order.len()));
        }
    }
    for booking in known.bookings.iter().filter(is_ours) {
        let is_there = orders.get(booking.order.as_str()).is_some_and(|order| {
            order.partner == booking.partner
                && order.key == booking.key
                && order.option == booking.option
                && order.identifiers.contains(&booking.booking)
                && ![FAILED, "pending"].contains(&order.state.as_str())
        });
        let order = orders.get(booking.order.as_str());
        if !is_there {
            breaches.lost.push(format!("{booking:?} is kept as {order:?}"));
        } else if order.is_some_and(|order| !order.has_option) {
            breaches.without_option += 1;
        }
    }
    for report in known.reports.iter().filter(|report| is_ours(&&report.booking)) {
        let Report { booking, receipt, commission_paise } = report;
        let of_order = entries.get(&(booking.partner, booking.booking.as_str()));
        let entry = of_order.and_then(|entries| entries.first());
        let is_there =
            entry.is_some_and(|entry| entry.receipt == *receipt && entry.commission_paise == *commission_paise);
        let closed_by = orders.get(booking.order.as_str()).and_then(|order| order.receipt.as_ref());
        if !is_there || closed_by != Some(receipt) {
            breaches.lost.push(format!("{report:?} is kept as {entry:?}, and its order closed by {closed_by:?}"));
        }
    }
    let unbooked = known.unbooked.iter().filter(|(booking, _)| is_ours(&booking));
    let refused = unbooked.clone().filter(|(_, may_have_done)| !may_have_done).map(|(booking, _)| booking);
    for Booking { partner, key, .. } in refused {
        let at_partner = booked_at.get(partner).is_some_and(|keys| keys.contains(key));
        if at_partner || by_key.contains_key(key.as_str()) {
            breaches.unasked.push(format!("{key} was refused and is booked (at the partner: {at_partner})"));
        }
    }
    let acknowledged = known.bookings.iter().filter(is_ours);
    let asked: BTreeSet<&str> =
        acknowledged.chain(unbooked.map(|(booking, _)| booking)).map(|booking| booking.key.as_str()).collect();
    let unasked = by_key.keys().filter(|key| !asked.contains(*key)).map(|key| format!("nobody booked {key}"));
    breaches.unasked.extend(unasked);
    let may_be_reported: BTreeSet<(&str, &str)> = known
        .reports
        .iter()
        .map(|report| &report.booking)
        .chain(known.unreported.iter().filter(|(_, may_have_done)| *may_have_done).map(|(booking, _)| booking))
        .filter(is_ours)
        .map(|booking| (booking.partner, booking.booking.as_str()))
        .collect();
    let unasked = entries.keys().filter(|order| !may_be_reported.contains(*order));
    breaches.unasked.extend(unasked.map(|(_, order)| format!("{order} is in the ledger, and no report may be")));
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "well-1";

    fn booking(number: u32) -> Booking {
        Booking {
            partner: AT,
            key: format!("book-{number}"),
            on_sqlite: false,
            order: format!("ord_{number}"),
            booking: format!("BK-{number}"),
            option: "slot".to_owned(),
        }
    }

    fn report(number: u32) -> Report {
        Report { booking: booking(number), receipt: format!("rcpt_{number}"), commission_paise: Some(100) }
    }

    fn kept_order(number: u32, receipt: Option<&str>) -> KeptOrder {
        let Booking { key, order, booking, option, .. } = booking(number);
        let state = if receipt.is_some() { "completed" } else { "booked" }.to_owned();
        let (partner, identifiers, receipt) = (AT.to_owned(), BTreeSet::from([booking]), receipt.map(str::to_owned));
        KeptOrder { id: order, partner, key, option, identifiers, state, receipt, has_option: true }
    }

    fn kept_entry(number: u32) -> KeptEntry {
        let Report { booking, receipt, commission_paise } = report(number);
        KeptEntry { partner: AT.to_owned(), external_id: booking.booking, receipt, commission_paise }
    }

    /// One that was booked and reported, and one that was booked.
    fn sound() -> (Known, Kept) {
        let known = Known { bookings: vec![booking(1), booking(2)], reports: vec![report(1)], ..Known::default() };
        let orders = vec![kept_order(1, Some("rcpt_1")), kept_order(2, None)];
        (known, Kept { orders, entries: vec![kept_entry(1)] })
    }

    fn judged(known: &Known, kept: &Kept) -> [usize; 3] {
        let booked_at = BTreeMap::from([(AT, BTreeSet::from(["book-9".to_owned()]))]);
        let Breaches { lost, doubled, unasked, .. } = compare(known, false, kept, &booked_at);
        [lost.len(), doubled.len(), unasked.len()]
    }

    #[test]
    fn what_is_kept_as_acknowledged_is_sound() {
        let (known, kept) = sound();
        assert_eq!(judged(&known, &kept), [0, 0, 0]);
        let other_store = compare(&known, true, &Kept::default(), &BTreeMap::new());
        assert_eq!(other_store, Breaches::default(), "it is the other store's");
    }

    #[test]
    fn each_way_of_losing_something_is_seen() {
        let changes: [fn(&mut Kept); 7] = [
            |kept| drop(kept.orders.remove(1)),
            |kept| kept.orders[1].option = "another".to_owned(),
            |kept| kept.orders[1].identifiers.clear(),
            |kept| kept.orders[1].state = "pending".to_owned(),
            |kept| kept.orders[0].receipt = None,
            |kept| kept.entries.clear(),
            |kept| kept.entries[0].commission_paise = Some(99),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let (known, mut kept) = sound();
            change(&mut kept);
            assert_eq!(judged(&known, &kept), [1, 0, 0], "{number}");
        }
    }

    #[test]
    fn an_option_that_went_with_its_receipt_is_counted() {
        let (known, mut kept) = sound();
        kept.orders[1].has_option = false;
        let counted = compare(&known, false, &kept, &BTreeMap::new());
        assert_eq!(counted, Breaches { without_option: 1, ..Breaches::default() });
    }

    #[test]
    fn what_is_there_twice_or_unasked_is_seen() {
        let (known, mut kept) = sound();
        kept.orders.push(KeptOrder { id: "ord_3".to_owned(), ..kept_order(2, None) });
        kept.entries.push(KeptEntry { receipt: "rcpt_2".to_owned(), ..kept_entry(1) });
        assert_eq!(judged(&known, &kept), [0, 2, 0]);
        let (mut known, mut kept) = sound();
        kept.orders.push(kept_order(3, None));
        kept.entries.push(kept_entry(3));
        assert_eq!(judged(&known, &kept), [0, 0, 2], "nobody asked for either");
        known.unbooked.push((booking(3), true));
        known.unreported.push((booking(3), true));
        assert_eq!(judged(&known, &kept), [0, 0, 0], "nobody knows");
        known.unbooked[0].1 = false;
        known.unreported[0].1 = false;
        assert_eq!(judged(&known, &kept), [0, 0, 2], "both were refused");
        let (mut known, kept) = sound();
        known.unbooked.push((booking(9), false));
        assert_eq!(judged(&known, &kept), [0, 0, 1], "the partner has it");
        known.compare(&1, &2);
        assert_eq!(known.changed.len(), 1);
    }
}
