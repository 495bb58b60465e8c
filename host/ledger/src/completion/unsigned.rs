//! How often reports came under a partner's name that nobody with its key has signed. Anybody can send those: they are counted, and
//! nothing of them is kept, so that no outsider fills or pushes out what is kept of the partner's own.
//!
//! Each gateway counts for itself, since its start.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;

/// Reports under one name that were not signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsignedCount {
    pub count: u64,
    /// When the last one came.
    pub last_at: Timestamp,
}

/// Counts them by partner. There are no more counts than partners with a key: whatever names nobody is counted as one.
#[derive(Debug, Default)]
pub struct UnsignedReports(Mutex<HashMap<Option<PartnerId>, UnsignedCount>>);

impl UnsignedReports {
    /// Counts one that names a partner with a key, or nobody. Both take the same time: a sender is not to learn which it was.
    pub(crate) fn note(&self, partner: Option<PartnerId>, now: Timestamp) {
        let mut counts = self.lock();
        let own = counts.entry(partner).or_insert(UnsignedCount { count: 0, last_at: now });
        own.count = own.count.saturating_add(1);
        own.last_at = now;
    }

    /// Those under a partner's name; none where there were none.
    #[must_use]
    pub fn of(&self, partner: &PartnerId) -> Option<UnsignedCount> {
        self.lock().get(&Some(partner.clone())).copied()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<PartnerId>, UnsignedCount>> {
        // Counts are whole after every step, so that those which a panic interrupted can be used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partner_has_a_count_and_strangers_have_one_together() {
        let reports = UnsignedReports::default();
        let [one, other] = ["one", "other"].map(|name| PartnerId::parse(name).expect("sound"));
        for at in [10, 20] {
            reports.note(Some(one.clone()), Timestamp::from_ms(at));
            reports.note(None, Timestamp::from_ms(at));
        }
        assert_eq!(reports.of(&one), Some(UnsignedCount { count: 2, last_at: Timestamp::from_ms(20) }));
        assert_eq!(reports.of(&other), None);
        assert_eq!(reports.lock().len(), 2);
    }
}
