//! The time of a call: what of it is left for the partner, and who has taken the rest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::CallError;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::StoreTrouble;

/// The time of one call, from its beginning on, however often it is prepared.
pub(super) struct CallTime {
    begun: Timestamp,
    within_ms: u64,
    /// For how long it has waited for other calls of its key or its order, milliseconds.
    waited_ms: AtomicU64,
}

impl CallTime {
    pub(super) fn begin(now: Timestamp, within: Duration) -> Self {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        Self { begun: now, within_ms, waited_ms: AtomicU64::new(0) }
    }

    /// The whole of the call is over by then.
    pub(super) fn deadline(&self) -> Timestamp {
        self.begun.plus_ms(self.within_ms)
    }

    /// Notes that another call was waited for.
    pub(super) fn note_wait(&self, wait_ms: u64) {
        self.waited_ms.fetch_add(wait_ms, Ordering::Relaxed);
    }

    /// How long the partner may take, milliseconds.
    ///
    /// # Errors
    /// [`CallError::Store`] where the store has taken so much of the time that less than half of it is left: a partner that then
    /// does not answer in time would be blamed for it. Nobody is called.
    pub(super) fn left_for_partner(&self, now: Timestamp) -> Result<u64, CallError> {
        // A clock that was set back gives nobody more time.
        let left_ms = self.deadline().ms_since(now).min(self.within_ms);
        let spent_ms = self.within_ms - left_ms;
        let at_store_ms = spent_ms.saturating_sub(self.waited_ms.load(Ordering::Relaxed));
        if at_store_ms > self.within_ms / 2 {
            let what = format!("the store has taken {at_store_ms} of the {} ms that a call may take", self.within_ms);
            return Err(CallError::Store { trouble: StoreTrouble::Unavailable, answered: false, what });
        }
        Ok(left_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partner_is_not_called_once_the_store_has_taken_half_of_the_time() {
        let at = |ms: u64| Timestamp::from_ms(1_000 + ms);
        let time = CallTime::begin(at(0), Duration::from_secs(30));
        assert_eq!(time.deadline(), at(30_000));
        assert_eq!(time.left_for_partner(at(0)), Ok(30_000));
        assert_eq!(time.left_for_partner(at(15_000)), Ok(15_000));
        let Err(CallError::Store { trouble, answered, .. }) = time.left_for_partner(at(15_001)) else {
            panic!("the store took more than half")
        };
        assert_eq!((trouble, answered), (StoreTrouble::Unavailable, false));
        // Another call's time is not the store's.
        time.note_wait(5_000);
        assert_eq!(time.left_for_partner(at(20_000)), Ok(10_000));
        assert!(time.left_for_partner(at(20_001)).is_err());
        assert!(time.left_for_partner(at(90_000)).is_err(), "long after its end");
        // A clock that was set back.
        assert_eq!(time.left_for_partner(Timestamp::from_ms(0)), Ok(30_000));
    }
}
