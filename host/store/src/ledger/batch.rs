//! What a batch of bookings adds, and what is answered to each. No engine takes part in it.

use std::collections::{BTreeSet, HashMap};

use intent_gateway_domain::chain::ChainKeys;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::order::{ClosingReport, Order, OrderId};
use intent_gateway_domain::store::Record as _;
use intent_gateway_ledger::completion::ReportKey;
use intent_gateway_ledger::{Booked, Booking, Entry, link};

/// A batch in the order of its keys, and within a key in the order in which they came. Every gateway goes through its
/// batch in this order, so that none holds what another waits for while it waits for what that one holds.
pub(super) struct Batch {
    bookings: Vec<SortedBooking>,
}

/// A booking with its key and where it came.
struct SortedBooking {
    order: ReportKey,
    came: usize,
    booking: Booking,
}

/// What is done with a batch.
pub(super) struct BatchOutcome {
    /// New entries, in the order of the ledger.
    pub(super) new: Vec<Entry>,
    /// What was found in the reports that made them.
    pub(super) findings: Vec<Finding>,
    /// The orders that they close, as they are then.
    pub(super) closed: Vec<ClosedOrder>,
    /// An answer to each booking, in the order in which they came.
    pub(super) answers: Vec<Booked>,
}

/// An order that a report closes.
pub(super) struct ClosedOrder {
    pub(super) order: Order,
    /// Names that it has only now.
    pub(super) names: Vec<String>,
}

impl ClosedOrder {
    fn of(order: &mut Order, report: ClosingReport) -> Self {
        let before: BTreeSet<String> = order.names().into_iter().collect();
        order.close(report);
        let names = order.names().into_iter().filter(|name| !before.contains(name)).collect();
        Self { order: order.clone(), names }
    }
}

impl Batch {
    pub(super) fn new(bookings: Vec<Booking>) -> Self {
        let sorted = |(came, booking): (usize, Booking)| SortedBooking { order: booking.order(), came, booking };
        let mut bookings: Vec<SortedBooking> = bookings.into_iter().enumerate().map(sorted).collect();
        bookings.sort_by(|one, other| one.order.cmp(&other.order).then(one.came.cmp(&other.came)));
        Self { bookings }
    }

    /// The orders that it is about, each once.
    pub(super) fn orders(&self) -> impl Iterator<Item = &ReportKey> {
        self.bookings.chunk_by(|one, next| one.order == next.order).filter_map(|same| Some(&same.first()?.order))
    }

    /// The orders of the gateway's that it closes.
    pub(super) fn closes(&self) -> impl Iterator<Item = &OrderId> {
        self.bookings.iter().filter_map(|booking| booking.booking.closes())
    }

    /// Decides, by what was last booked for these orders, by how far the orders are that are to be closed, and by the number and
    /// the link of the ledger's last entry.
    pub(super) fn decide(
        self,
        mut booked: HashMap<ReportKey, Entry>,
        mut orders: HashMap<OrderId, Order>,
        head: (u64, Digest),
        keys: &ChainKeys,
    ) -> BatchOutcome {
        let (mut number, mut hash) = head;
        let (mut new, mut findings, mut closed) = (Vec::new(), Vec::new(), Vec::new());
        let mut answers: Vec<(usize, Booked)> = Vec::with_capacity(self.bookings.len());
        for SortedBooking { order, came, booking } in self.bookings {
            let answer = match booked.get(&order) {
                Some(before) if before.posting.report == booking.posting().report => Booked::Repeat(before.clone()),
                Some(before) => Booked::Conflict(before.receipt_id()),
                None if let Some(report) = closed_by(&booking, &orders) => Booked::Conflict(report.receipt.clone()),
                None => {
                    number += 1;
                    let closes = booking.closes().and_then(|id| orders.get_mut(id));
                    let (posting, found) = booking.clone().into_parts();
                    findings.extend(found);
                    let entry = link(posting, number, hash, keys);
                    hash = entry.hash;
                    if let Some(order) = closes {
                        closed.push(ClosedOrder::of(order, entry.closing_report()));
                    }
                    new.push(entry.clone());
                    booked.insert(order, entry.clone());
                    Booked::First(entry)
                }
            };
            answers.push((came, answer));
        }
        answers.sort_unstable_by_key(|(came, _)| *came);
        BatchOutcome { new, findings, closed, answers: answers.into_iter().map(|(_, answer)| answer).collect() }
    }
}

/// The report that has closed the order which a booking is to close.
fn closed_by<'o>(booking: &Booking, orders: &'o HashMap<OrderId, Order>) -> Option<&'o ClosingReport> {
    orders.get(booking.closes()?)?.report.as_ref()
}
