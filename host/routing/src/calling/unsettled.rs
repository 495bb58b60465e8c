//! Ends of calls that the store did not take, because it was down: they wait here and are recorded when it is back, within the
//! time for which a call counts as under way. Until then a repeat is told `CALL_UNDER_WAY` and waits; after it, a repeat goes
//! out again under its key, as after the end of a process.
//!
//! Not here: how an end is recorded ([`settling`](super::settling)).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Caller;
use super::settling::Ending;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::limits::CALL_SETTLED_MS;

/// Ends that wait, at most.
pub(super) const WAITING_MAX: usize = 4_096;
/// Bytes that they hold, about, at most.
const HELD_MAX_BYTES: usize = 32 * 1024 * 1024;

/// Ends that wait for the store.
#[derive(Default)]
pub struct Unsettled(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    ends: VecDeque<WaitingEnd>,
    bytes: usize,
}

#[derive(Clone)]
pub(super) struct WaitingEnd {
    pub(super) ending: Arc<Ending>,
    bytes: usize,
    /// Until when its call counts as under way.
    until: Timestamp,
}

impl Unsettled {
    pub(super) fn add(&self, ending: Ending, now: Timestamp) {
        let bytes = ending.bytes();
        let mut waiting = self.waiting();
        if waiting.ends.len() >= WAITING_MAX || waiting.bytes + bytes > HELD_MAX_BYTES {
            tracing::error!(tool = ending.tool(), "the end of a call is not recorded: too many wait for the store");
            return;
        }
        waiting.bytes += bytes;
        waiting.ends.push_back(WaitingEnd { ending: Arc::new(ending), bytes, until: now.plus_ms(CALL_SETTLED_MS) });
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting().ends.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one that has waited longest. It stays until it is removed, so that one whose recording is cut off is not lost.
    pub(super) fn first(&self) -> Option<WaitingEnd> {
        self.waiting().ends.front().cloned()
    }

    fn remove(&self, end: &WaitingEnd) {
        let mut waiting = self.waiting();
        if let Some(place) = waiting.ends.iter().position(|one| Arc::ptr_eq(&one.ending, &end.ending)) {
            waiting.ends.remove(place);
            waiting.bytes -= end.bytes;
        }
    }

    /// It is whole after every step, so that one which a panic interrupted can be used.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Caller {
    /// Records the ends that wait, as far as the store takes them.
    pub async fn settle_waiting(&self) {
        while let Some(end) = self.unsettled.first() {
            if self.clock.now() < end.until {
                match self.record_late(&end.ending).await {
                    Ok(()) => {
                        tracing::info!(tool = end.ending.tool(), "the end of a call was recorded after an outage")
                    }
                    Err(error) if error.is_outage() => return,
                    Err(error) => {
                        tracing::error!(error = %chain(&error), tool = end.ending.tool(), "the end of a call is lost");
                    }
                }
            }
            self.unsettled.remove(&end);
        }
    }
}
