//! One order's events and those who follow them: a ring that all read, each from its own place.
//!
//! A follower holds nothing but its place, so one that does not read costs nothing. Whose place has left the ring goes on at
//! the newest answer and is told how many events it has not seen.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::stream::Stream;

use super::event::{Delivery, Event, EventId, KeptBytes, KeptEvent};
use super::{EVENTS_MAX_BYTES, RING_EVENTS_MAX, RING_MAX_BYTES};

/// What is told about one order.
pub(super) struct Feed {
    id: u64,
    total: KeptBytes,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last events, oldest first; never empty once there was one.
    ring: VecDeque<Arc<KeptEvent>>,
    ring_bytes: usize,
    /// The newest update, also when it has left the ring.
    newest: Option<Arc<KeptEvent>>,
    /// Events so far; also the number of the last one.
    count: u64,
    ended: bool,
    followers: HashMap<u64, Option<Waker>>,
    followers_so_far: u64,
    /// Wakes whoever waits for followers to come or go.
    keeper: Option<Waker>,
}

impl Feed {
    pub(super) fn new(id: u64, total: KeptBytes) -> Self {
        Self { id, total, state: Mutex::default() }
    }

    /// States are whole after every step, so one that a panic interrupted can be used.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells all followers. Nothing is told after the end. Whether everything that is kept fits its bound.
    pub(super) fn tell(&self, event: Event) -> bool {
        let mut state = self.state();
        if state.ended {
            return true;
        }
        state.count += 1;
        state.ended = matches!(event, Event::End(_));
        let is_update = matches!(event, Event::Update(_));
        let kept = KeptEvent::new(state.count, event, &self.total);
        state.ring_bytes += kept.bytes;
        if is_update {
            state.newest = Some(Arc::clone(&kept));
        }
        state.ring.push_back(kept);
        state.shorten(RING_EVENTS_MAX, RING_MAX_BYTES);
        let mut fits = self.total.load(Relaxed) <= EVENTS_MAX_BYTES;
        if !fits {
            // Every feed gives up its past before one has to end.
            state.shorten(1, 0);
            fits = self.total.load(Relaxed) <= EVENTS_MAX_BYTES;
        }
        let wakers: Vec<Waker> = state.followers.values_mut().filter_map(Option::take).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        fits
    }

    /// The text of the newest answer is compared with the next one.
    pub(super) fn newest(&self) -> Option<Event> {
        self.state().newest.as_ref().map(|kept| kept.event.clone())
    }

    /// A new follower, which goes on after an event or begins with the newest answer. None where all is told already: the
    /// feed has ended, and there is nothing after the event, or no event is named.
    pub(super) fn join(self: &Arc<Self>, after: Option<EventId>) -> Option<Follower> {
        let mut state = self.state();
        let after = after.filter(|id| id.feed == self.id && id.number <= state.count);
        if state.ended && after.is_none_or(|id| id.number == state.count) {
            return None;
        }
        let next = match (after, &state.newest, state.ring.back()) {
            (Some(id), _, _) => id.number + 1,
            (None, Some(newest), _) => newest.number,
            (None, None, Some(last)) => last.number,
            (None, None, None) => 1,
        };
        let number = state.followers_so_far;
        state.followers_so_far += 1;
        state.followers.insert(number, None);
        let keeper = state.keeper.take();
        drop(state);
        keeper.into_iter().for_each(Waker::wake);
        Some(Follower { feed: Arc::clone(self), number, next })
    }

    pub(super) fn has_followers(&self) -> bool {
        !self.state().followers.is_empty()
    }

    /// Waits until there are followers, or until there are none. One waits at a time.
    pub(super) async fn until_followed(&self, followed: bool) {
        poll_fn(|context| {
            let mut state = self.state();
            if state.followers.is_empty() != followed {
                return Poll::Ready(());
            }
            state.keeper = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn leave(&self, number: u64) {
        let mut state = self.state();
        state.followers.remove(&number);
        let keeper = state.keeper.take();
        drop(state);
        keeper.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, number: u64, next: &mut u64, context: &Context<'_>) -> Poll<Option<Delivery>> {
        let mut state = self.state();
        let Some(kept) = state.from(*next) else {
            if state.ended {
                return Poll::Ready(None);
            }
            state.followers.insert(number, Some(context.waker().clone()));
            return Poll::Pending;
        };
        let missed = kept.number - *next;
        *next = kept.number + 1;
        let id = EventId { feed: self.id, number: kept.number };
        Poll::Ready(Some(Delivery { id, missed, event: kept.event.clone() }))
    }
}

impl State {
    /// Forgets the oldest events until so many are left, of so many bytes; the last one stays.
    fn shorten(&mut self, events_max: usize, max_bytes: usize) {
        while self.ring.len() > 1 && (self.ring.len() > events_max || self.ring_bytes > max_bytes) {
            let Some(oldest) = self.ring.pop_front() else { return };
            self.ring_bytes -= oldest.bytes;
        }
    }

    /// The event with this number; if that is gone, the newest update after it, or the last event.
    fn from(&self, number: u64) -> Option<&Arc<KeptEvent>> {
        let oldest = self.ring.front()?.number;
        let last = self.ring.back().filter(|last| last.number >= number)?;
        match number.checked_sub(oldest).and_then(|place| usize::try_from(place).ok()) {
            Some(place) => self.ring.get(place),
            None => self.newest.as_ref().filter(|newest| newest.number >= number).or(Some(last)),
        }
    }
}

/// Follows an order. Dropped, it has left.
#[must_use = "a follower that is dropped has left"]
pub struct Follower {
    feed: Arc<Feed>,
    number: u64,
    /// Number of the event that comes next.
    next: u64,
}

impl Stream for Follower {
    type Item = Delivery;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        let Self { feed, number, next } = &mut *self;
        feed.poll(*number, next, context)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.feed.leave(self.number);
    }
}
