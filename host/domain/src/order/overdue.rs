//! Orders whose time is over and that no completion report has closed: when a report is due, and what is noted where none comes.
//!
//! The contract declares when delivery ends ([`OrderWay::due_after`]); where it declares nothing, a report is due once the user has
//! paid. How long is waited after that is the platform's: the spec names no time within which a report comes.

use serde::{Deserialize, Serialize};

use super::{Happening, Order, PENDING};
use crate::clock::Timestamp;
use crate::contract::{Milestone, OrderState, OrderWay};
use crate::datetime;
use crate::limits::DAY_MS;
use crate::money::Paise;

/// How long after a report was due its partner is reminded, milliseconds: a day.
pub const REMINDED_AFTER_MS: u64 = DAY_MS;
/// How long after it was due it is a finding, milliseconds: seven days.
pub const FOUND_AFTER_MS: u64 = 7 * DAY_MS;
/// The finding.
pub const ORDER_NOT_REPORTED: &str = "ORDER_NOT_REPORTED";

/// What is noted of an order that was to be reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overdue {
    /// When the report was due, milliseconds since the epoch.
    pub due_at_ms: Timestamp,
    /// What the user pays in all, where that is known.
    pub amount: Option<Paise>,
    /// The commission on that: at most so much is at stake, for it is due on the net revenue.
    pub at_stake: Option<Paise>,
    /// When it was noted, and its partner reminded, milliseconds since the epoch.
    pub noted_at_ms: Timestamp,
    /// When it became a finding.
    pub found_at_ms: Option<Timestamp>,
}

impl Order {
    /// When a report of it is due; none where none is waited for, or not yet.
    #[must_use]
    pub fn report_due_at(&self, way: &OrderWay) -> Option<Timestamp> {
        let state = way.state(&self.state).filter(|state| !state.closed)?;
        if !self.is_open || self.report.is_some() {
            return None;
        }
        let declared = way.due_after.as_ref().and_then(|name| datetime::end_of(self.kept.get(name)?.as_str()?));
        declared.or_else(|| is_paid(state).then(|| self.paid_at(way)))
    }

    /// When the user has paid, or had to: the first answer that led to a state which says so.
    fn paid_at(&self, way: &OrderWay) -> Timestamp {
        let led_there = self.history.iter().find_map(|event| match &event.what {
            Happening::Answered { state, .. } if way.state(state).is_some_and(is_paid) => Some(event.at_ms),
            _ => None,
        });
        led_there.unwrap_or(self.opened_at_ms)
    }

    /// Whether somebody has to be told of it now that it is `due_at`: nothing was noted yet, or for another time.
    #[must_use]
    pub fn is_newly_overdue(&self, due_at: Timestamp, now: Timestamp) -> bool {
        let is_over = now >= due_at.plus_ms(REMINDED_AFTER_MS);
        is_over && self.overdue.as_ref().is_none_or(|noted| noted.due_at_ms != due_at)
    }

    /// Whether it has become a finding that was not told yet.
    #[must_use]
    pub fn is_to_be_found(&self, now: Timestamp) -> bool {
        let noted = self.overdue.as_ref();
        noted.is_some_and(|noted| noted.found_at_ms.is_none() && now >= noted.due_at_ms.plus_ms(FOUND_AFTER_MS))
    }

    /// Whether it is noted as overdue, and waits still.
    #[must_use]
    pub fn is_overdue(&self) -> bool {
        self.is_open && self.overdue.is_some() && self.state != PENDING
    }
}

fn is_paid(state: &OrderState) -> bool {
    state.milestones.contains(&Milestone::Paid)
}
