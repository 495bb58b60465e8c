//! How many reports a business may send in a minute. They are counted once the signature holds, so that nobody uses up what is
//! another's, and so there are no more counts than businesses with a key.
//!
//! Each gateway counts for itself, by the minutes of the clock, and takes its share of what a business may send to all of them.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::PartnerId;

/// What is counted together, milliseconds.
const MINUTE_MS: u64 = 60 * 1_000;

/// Findings of refused reports of one business in a minute that are kept, at each gateway. They share the room of what waits to be written
/// with the receipts and findings of everybody.
const REFUSAL_FINDINGS_PER_MINUTE_MAX: u32 = 1_000;

/// Counts the reports of each business.
#[derive(Debug, Default)]
pub struct ReportRate {
    /// Reports of one business in a minute; 0 is as many as it likes.
    per_minute: AtomicU32,
    fleet: Fleet,
    counts: Mutex<Counts>,
    /// Findings of the refused ones.
    refusal_findings: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Which minute since the epoch is counted.
    minute: u64,
    by_partner: HashMap<PartnerId, u32>,
}

impl Counts {
    /// Counts one more, if that is not more than so many in a minute; else says when the next minute begins.
    fn count(&mut self, partner: &PartnerId, most: u32, now: Timestamp) -> Result<(), Duration> {
        let (minute, passed_ms) = (now.as_ms() / MINUTE_MS, now.as_ms() % MINUTE_MS);
        if self.minute != minute {
            self.minute = minute;
            self.by_partner.clear();
        }
        let counted = self.by_partner.entry(partner.clone()).or_default();
        if *counted >= most {
            return Err(Duration::from_millis(MINUTE_MS - passed_ms));
        }
        *counted += 1;
        Ok(())
    }
}

impl ReportRate {
    /// At most so many a minute at all gateways together; without a number, no bound.
    #[must_use]
    pub fn new(per_minute: Option<NonZeroU32>, fleet: Fleet) -> Self {
        let rate = Self { fleet, ..Self::default() };
        rate.replace(per_minute);
        rate
    }

    /// The same with another number from now on; what was counted in this minute counts on.
    pub fn replace(&self, per_minute: Option<NonZeroU32>) {
        self.per_minute.store(per_minute.map_or(0, NonZeroU32::get), Ordering::Relaxed);
    }

    /// Counts a report.
    ///
    /// # Errors
    /// The time after which the next one is taken.
    pub(crate) fn count(&self, partner: &PartnerId, now: Timestamp) -> Result<(), Duration> {
        let per_minute = NonZeroU32::new(self.per_minute.load(Ordering::Relaxed));
        let Some(most) = per_minute.map(|most| self.fleet.share(most)) else { return Ok(()) };
        lock(&self.counts).count(partner, most.get(), now)
    }

    /// Counts a finding of a refused report; whether it is kept.
    pub(super) fn may_note_refusal(&self, partner: &PartnerId, now: Timestamp) -> bool {
        lock(&self.refusal_findings).count(partner, REFUSAL_FINDINGS_PER_MINUTE_MAX, now).is_ok()
    }
}

/// Counts are whole after every step, so that those which a panic interrupted can be used.
fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use intent_gateway_testing::clock::TestClock;
    use intent_gateway_testing::fleet::fleet_of;

    use super::*;

    #[test]
    fn each_business_has_a_count_of_its_own_and_it_ends_with_the_minute() {
        let rate = ReportRate::new(NonZeroU32::new(1), Fleet::default());
        let [one, other] = ["one", "other"].map(|name| PartnerId::parse(name).expect("sound"));
        let at = Timestamp::from_ms(10 * MINUTE_MS + 1_000);
        assert_eq!(rate.count(&one, at), Ok(()));
        assert_eq!(rate.count(&one, at), Err(Duration::from_secs(59)));
        assert_eq!(rate.count(&other, at), Ok(()));
        assert_eq!(rate.count(&one, at.plus_ms(59_000)), Ok(()));
        assert_eq!(rate.counts.lock().expect("not poisoned").by_partner.len(), 1, "the minute before is forgotten");
    }

    #[test]
    fn gateways_have_a_share_each() {
        let clock = TestClock::at(0);
        let rate = ReportRate::new(NonZeroU32::new(5), fleet_of(2, clock, 10_000, &[]));
        let one = PartnerId::parse("one").expect("sound");
        let taken = (0..9).filter(|_| rate.count(&one, Timestamp::from_ms(MINUTE_MS)).is_ok());
        assert_eq!(taken.count(), 2);
    }

    #[test]
    fn without_a_number_nothing_is_counted() {
        let rate = ReportRate::default();
        let one = PartnerId::parse("one").expect("sound");
        assert!((0..100).all(|_| rate.count(&one, Timestamp::EPOCH).is_ok()));
        assert!(rate.counts.lock().expect("not poisoned").by_partner.is_empty());
    }
}
