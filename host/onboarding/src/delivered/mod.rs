//! What partners deliver, out of their completion reports, against what they declare (spec 1, TTBS signal meaning).
//!
//! A report tells how an order ended and, of some intents, by how many minutes the service began late. What follows is
//! counted here for each partner and intent, and [`Delivered::inflation`] says where a declared signal claims more than
//! that. Statuses are the contracts' own: the host knows which of them are charged, and takes for a cancellation
//! whatever begins with `cancelled`. Whose fault one was, no report tells; the bounds leave room for users who change
//! their minds.
//!
//! Not here: reading the ledger (`Books::delivered`), and the review that people
//! decide ([`onboarding`](crate)). Nothing of it enters a ranking.

mod inflation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use intent_gateway_domain::delivered::Tally;

pub(crate) use inflation::REPORTS_MIN;
pub use inflation::{Inflated, Measure};

use intent_gateway_domain::id::{IntentId, PartnerId};

/// What was booked within this time counts, milliseconds: 90 days. Long enough for a partner with a few orders a week
/// to be judged at all, short enough for what it has mended to show.
pub const DELIVERED_WINDOW_MS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// What the statuses of cancelled orders begin with.
const CANCELLED: &str = "cancelled";

/// What a partner has delivered of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Who.
    pub partner: PartnerId,
    /// Of which intent.
    pub intent: IntentId,
    /// Reports of each status; never empty.
    pub statuses: BTreeMap<String, u64>,
    /// Reports of a status on which commission is charged: the order was carried out. Unknown while no contract of the
    /// intent is live.
    pub completed: Option<u64>,
    /// Reports that tell how late the service began.
    pub timed: u64,
    /// Sum of the minutes by which those began late, below zero where early.
    pub late_minutes: i64,
}

impl Delivered {
    /// Sums up tallies by partner and intent, in that order. `charged` gives the charged statuses of an intent whose
    /// contract is live.
    #[must_use]
    pub(crate) fn sum_up(tallies: Vec<Tally>, charged: impl Fn(&IntentId) -> Option<Vec<String>>) -> Vec<Self> {
        let mut sums: BTreeMap<(PartnerId, IntentId), Self> = BTreeMap::new();
        for Tally { partner, intent, status, reports, timed, late_minutes } in tallies {
            let sum = sums.entry((partner, intent)).or_insert_with_key(|(partner, intent)| Self {
                partner: partner.clone(),
                intent: intent.clone(),
                statuses: BTreeMap::new(),
                completed: None,
                timed: 0,
                late_minutes: 0,
            });
            let of_status = sum.statuses.entry(status).or_default();
            *of_status = of_status.saturating_add(reports);
            sum.timed = sum.timed.saturating_add(timed);
            sum.late_minutes = sum.late_minutes.saturating_add(late_minutes);
        }
        let mut sums: Vec<Self> = sums.into_values().collect();
        for sum in &mut sums {
            let of_status = |status: &String| sum.statuses.get(status).copied().unwrap_or_default();
            sum.completed = charged(&sum.intent).map(|charged| charged.iter().map(of_status).sum());
        }
        sums
    }

    /// Reports of any status.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Share of the reported orders that were carried out, 0..=1; absent where that is not known.
    #[must_use]
    pub fn completion_rate(&self) -> Option<f64> {
        let reports = self.reports();
        self.completed.filter(|_| reports > 0).map(|completed| completed as f64 / reports as f64)
    }

    /// Cancelled orders by status.
    pub fn cancellations(&self) -> impl Iterator<Item = (&str, u64)> {
        let statuses = self.statuses.iter().map(|(status, reports)| (status.as_str(), *reports));
        statuses.filter(|(status, _)| status.starts_with(CANCELLED))
    }

    /// By how many minutes the service began late on average, below zero where early; absent where no report tells.
    #[must_use]
    pub fn mean_late_minutes(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.late_minutes as f64 / self.timed as f64)
    }
}
