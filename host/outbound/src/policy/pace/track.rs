//! Track tools: at most one call in five seconds per order, and whoever asks meanwhile is served the last answer (spec 1,
//! rule 5 for the partner-hosted endpoint).
//!
//! The limit is the order's, whoever asks. An answer is served only to the user for whom it was fetched. While the first
//! call for an order is under way there is nothing to serve: the others wait a moment and ask again.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::key_of;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::user::Asker;

/// Time between the beginnings of two calls for one order, milliseconds.
pub const BETWEEN_CALLS_MS: u64 = 5_000;
/// An older answer is not served while another call is under way, milliseconds.
pub(crate) const SERVED_MAX_AGE_MS: u64 = 30_000;
/// How soon to ask again while a call is under way, milliseconds.
pub const ASK_AGAIN_MS: u64 = 250;
/// Orders that are followed at a time.
pub(crate) const ORDERS_MAX: usize = 20_000;
/// Answers kept, bytes in sum; one that does not fit is given to its caller alone.
pub(crate) const ANSWERS_MAX_BYTES: usize = 32 * 1024 * 1024;

/// What to do about an order's state.
#[derive(Debug)]
pub enum TrackDecision<T> {
    /// Call the partner, and tell the permit what came.
    Call(TrackPermit<T>),
    /// Serve this answer.
    Serve(Arc<T>),
    /// Ask again after so many milliseconds.
    Wait(u64),
}

/// The orders that are followed through this process. Clones share them.
pub struct Tracker<T> {
    /// Their bytes are those of the answers that are kept.
    orders: Arc<Mutex<Orders<T>>>,
}

type Orders<T> = ExpiringMap<Digest, Order<T>>;

impl<T> Clone for Tracker<T> {
    fn clone(&self) -> Self {
        Self { orders: Arc::clone(&self.orders) }
    }
}

struct Order<T> {
    called_at: Timestamp,
    under_way: bool,
    last: Option<Last<T>>,
}

struct Last<T> {
    answer: Arc<T>,
    asker: Asker,
    at: Timestamp,
    bytes: usize,
}

/// The right to call for an order. Dropped without an answer, as when the call failed or its caller left, it lets the next one
/// call when the time has come.
#[must_use = "a permit that is dropped is a call that failed"]
pub struct TrackPermit<T> {
    tracker: Tracker<T>,
    order: Digest,
    asker: Asker,
}

impl<T> Default for Tracker<T> {
    fn default() -> Self {
        Self { orders: Arc::new(Mutex::new(ExpiringMap::new(ORDERS_MAX))) }
    }
}

impl<T> fmt::Debug for Tracker<T> {
    /// Without the answers, which are users'.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracker").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for TrackPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrackPermit").field("order", &self.order).finish_non_exhaustive()
    }
}

impl<T> Tracker<T> {
    /// What to do for whoever asks about an order at a partner.
    pub fn ask(&self, partner: &PartnerId, booking: &str, asker: &Asker, now: Timestamp) -> TrackDecision<T> {
        let order = key_of(&[partner.as_str(), booking]);
        let mut orders = self.orders();
        if let Err(full) = orders.room_for(&order, now) {
            return TrackDecision::Wait(full.until.ms_since(now).max(ASK_AGAIN_MS));
        }
        if let Some(state) = orders.get(&order, now) {
            // After a clock was set back, what lies ahead is long past.
            let since_ms = if now < state.called_at { BETWEEN_CALLS_MS } else { now.ms_since(state.called_at) };
            if state.under_way || since_ms < BETWEEN_CALLS_MS {
                return match state.last.as_ref().filter(|last| last.serves(asker, now)) {
                    Some(last) => TrackDecision::Serve(Arc::clone(&last.answer)),
                    None if state.under_way => TrackDecision::Wait(ASK_AGAIN_MS),
                    None => TrackDecision::Wait(BETWEEN_CALLS_MS - since_ms),
                };
            }
        }
        let new = || Order { called_at: now, under_way: true, last: None };
        orders.change_or_insert(order, now, new, |state| (state.called_at, state.under_way) = (now, true));
        drop(orders);
        TrackDecision::Call(TrackPermit { tracker: self.clone(), order, asker: asker.clone() })
    }

    /// States are whole after every step, so one that a panic interrupted can be used.
    fn orders(&self) -> MutexGuard<'_, Orders<T>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> TrackPermit<T> {
    /// Keeps the partner's answer, of so many bytes, for those who ask next.
    pub fn keep_answer(self, answer: Arc<T>, bytes: usize, now: Timestamp) {
        let mut orders = self.tracker.orders();
        orders.change(&self.order, |state| state.last = None);
        if orders.bytes().saturating_add(bytes) <= ANSWERS_MAX_BYTES {
            let last = Last { answer, asker: self.asker.clone(), at: now, bytes };
            orders.change(&self.order, |state| state.last = Some(last));
        }
    }
}

impl<T> Drop for TrackPermit<T> {
    fn drop(&mut self) {
        self.tracker.orders().change(&self.order, |state| state.under_way = false);
    }
}

impl<T> Last<T> {
    fn serves(&self, asker: &Asker, now: Timestamp) -> bool {
        self.asker == *asker && self.at <= now && now.ms_since(self.at) < SERVED_MAX_AGE_MS
    }
}

impl<T> Expires for Order<T> {
    fn ends_at(&self) -> Timestamp {
        if self.under_way {
            return Timestamp::MAX;
        }
        let served = self.last.as_ref().map_or(Timestamp::EPOCH, |last| last.at.plus_ms(SERVED_MAX_AGE_MS));
        served.max(self.called_at.plus_ms(BETWEEN_CALLS_MS))
    }

    fn bytes(&self) -> usize {
        self.last.as_ref().map_or(0, |last| last.bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use intent_gateway_testing::users::{UNNAMED, asker};

    const START: Timestamp = Timestamp::from_ms(1_000_000);

    fn partner() -> PartnerId {
        PartnerId::parse("one").expect("well formed")
    }

    fn ann() -> Asker {
        asker("ann")
    }

    fn ask(tracker: &Tracker<u64>, booking: &str, at_ms: u64) -> TrackDecision<u64> {
        tracker.ask(&partner(), booking, &ann(), START.plus_ms(at_ms))
    }

    fn permit(track: TrackDecision<u64>) -> TrackPermit<u64> {
        match track {
            TrackDecision::Call(permit) => permit,
            other => panic!("expected a call, got {other:?}"),
        }
    }

    fn served(track: TrackDecision<u64>) -> u64 {
        match track {
            TrackDecision::Serve(answer) => *answer,
            other => panic!("expected an answer, got {other:?}"),
        }
    }

    fn waits(track: TrackDecision<u64>) -> u64 {
        match track {
            TrackDecision::Wait(wait_ms) => wait_ms,
            other => panic!("expected a wait, got {other:?}"),
        }
    }

    #[test]
    fn later_callers_get_the_last_answer() {
        let tracker = Tracker::default();
        let first = permit(ask(&tracker, "b1", 0));
        assert_eq!(waits(ask(&tracker, "b1", 100)), ASK_AGAIN_MS);
        drop(permit(ask(&tracker, "b2", 100)));
        first.keep_answer(Arc::new(7), 1, START.plus_ms(200));
        assert_eq!(served(ask(&tracker, "b1", 300)), 7);
        assert_eq!(served(ask(&tracker, "b1", 4_999)), 7);
        let second = permit(ask(&tracker, "b1", 5_000));
        assert_eq!(served(ask(&tracker, "b1", 5_001)), 7, "while the next call is under way");
        second.keep_answer(Arc::new(8), 1, START.plus_ms(5_500));
        assert_eq!(served(ask(&tracker, "b1", 9_000)), 8);
    }

    #[test]
    fn an_answer_is_its_users_alone_and_never_old() {
        let tracker = Tracker::default();
        permit(ask(&tracker, "b1", 0)).keep_answer(Arc::new(7), 1, START);
        let bob = asker("bob");
        assert_eq!(waits(tracker.ask(&partner(), "b1", &bob, START.plus_ms(1_000))), 4_000);
        assert_eq!(waits(tracker.ask(&partner(), "b1", &UNNAMED, START.plus_ms(1_000))), 4_000);
        let other = PartnerId::parse("other").expect("well formed");
        assert!(matches!(tracker.ask(&other, "b1", &ann(), START), TrackDecision::Call(_)));
        let _under_way = permit(ask(&tracker, "b1", SERVED_MAX_AGE_MS));
        assert_eq!(waits(ask(&tracker, "b1", SERVED_MAX_AGE_MS)), ASK_AGAIN_MS);
    }

    #[test]
    fn a_call_that_failed_is_not_made_again_too_soon() {
        let tracker = Tracker::default();
        drop(permit(ask(&tracker, "b1", 0)));
        assert_eq!(waits(ask(&tracker, "b1", 1_000)), 4_000);
        // A call that takes longer than the time between two keeps its turn.
        let slow = permit(ask(&tracker, "b1", 5_000));
        assert_eq!(waits(ask(&tracker, "b1", 20_000)), ASK_AGAIN_MS);
        drop(slow);
        drop(permit(ask(&tracker, "b1", 20_000)));
        // A clock that was set back holds nobody.
        assert!(matches!(tracker.ask(&partner(), "b1", &UNNAMED, Timestamp::from_ms(5)), TrackDecision::Call(_)));
    }

    #[test]
    fn answers_and_orders_are_bounded() {
        let tracker = Tracker::default();
        permit(ask(&tracker, "large", 0)).keep_answer(Arc::new(1), ANSWERS_MAX_BYTES, START);
        permit(ask(&tracker, "next", 0)).keep_answer(Arc::new(2), 1, START);
        assert_eq!(waits(ask(&tracker, "next", 0)), BETWEEN_CALLS_MS);
        permit(ask(&tracker, "large", 5_000)).keep_answer(Arc::new(3), 10, START.plus_ms(5_000));
        for number in 1..ORDERS_MAX {
            drop(permit(ask(&tracker, &number.to_string(), 5_000)));
        }
        assert_eq!(waits(ask(&tracker, "too many", 5_000)), 1_000);
        assert_eq!(served(ask(&tracker, "large", 5_000)), 3);
        drop(permit(ask(&tracker, "later", 60_000)));
        assert_eq!(tracker.orders().len(), 1);
        assert_eq!(tracker.orders().bytes(), 0);
    }

    proptest! {
        #[test]
        fn never_two_calls_within_five_seconds(
            steps in prop::collection::vec((0_u64..3_000, 0_u8..3), 1..200),
        ) {
            let tracker = Tracker::default();
            let (mut at_ms, mut called_at_ms, mut under_way) = (0, None::<u64>, None);
            let mut newest = None;
            for (step_ms, act) in steps {
                at_ms += step_ms;
                match (act, under_way.take()) {
                    (1, Some(turn)) => {
                        newest = Some(at_ms);
                        TrackPermit::keep_answer(turn, Arc::new(at_ms), 1, START.plus_ms(at_ms));
                        continue;
                    }
                    (2, Some(_)) => continue,
                    (_, before) => under_way = before,
                }
                match ask(&tracker, "b1", at_ms) {
                    TrackDecision::Call(turn) => {
                        prop_assert!(under_way.is_none());
                        prop_assert!(called_at_ms.is_none_or(|called_ms| called_ms + BETWEEN_CALLS_MS <= at_ms));
                        called_at_ms = Some(at_ms);
                        under_way = Some(turn);
                    }
                    TrackDecision::Serve(answer) => prop_assert_eq!(Some(*answer), newest),
                    TrackDecision::Wait(wait_ms) => prop_assert!((1..=BETWEEN_CALLS_MS).contains(&wait_ms)),
                }
            }
        }
    }
}
