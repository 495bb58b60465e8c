//! One run of a piece of work for all who ask for its outcome at the same time.
//!
//! The work is driven by whoever waits for it. When one of them leaves, the others drive it on; when all have left it is
//! dropped. Its outcome goes to all who wait and is not kept.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

/// Work under way, and its outcome.
pub type Flight<T> = Shared<BoxFuture<'static, T>>;

/// Whose work it is that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// It began for whoever asked now.
    Now,
    /// It was under way.
    Before,
}

/// The work of one kind that is under way, by key. Clones share it.
pub struct SingleFlight<K: Eq + Hash, T: Clone>(Arc<Mutex<Flights<K, T>>>);

struct Flights<K, T: Clone> {
    /// Each is held by those who wait for it: there are never more than callers.
    by_key: HashMap<K, (u64, WeakShared<BoxFuture<'static, T>>)>,
    so_far: u64,
}

impl<K: Eq + Hash, T: Clone> Clone for SingleFlight<K, T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash, T: Clone> Default for SingleFlight<K, T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Flights { by_key: HashMap::new(), so_far: 0 })))
    }
}

impl<K: Eq + Hash, T: Clone> fmt::Debug for SingleFlight<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").field("under_way", &self.under_way()).finish()
    }
}

impl<K: Eq + Hash, T: Clone> SingleFlight<K, T> {
    /// How much is under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        lock(&self.0).by_key.len()
    }
}

impl<K, T> SingleFlight<K, T>
where
    K: Clone + Eq + Hash + Send + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// The work under this key that is under way, or else new work. New work owns what it needs, for others may drive it
    /// after its caller has left, and must end by itself in bounded time.
    pub fn join<W>(&self, key: &K, work: impl FnOnce() -> W) -> (Flight<T>, Began)
    where
        W: Future<Output = T> + Send + 'static,
    {
        let mut flights = lock(&self.0);
        if let Some(flight) = flights.by_key.get(key).and_then(|(_, flight)| flight.upgrade()) {
            return (flight, Began::Before);
        }
        flights.so_far += 1;
        let number = flights.so_far;
        let landing = Landing { flights: Arc::downgrade(&self.0), key: key.clone(), number };
        let work = work();
        let flight = async move {
            // Goes when the work is done, or when all have left.
            let _landing = landing;
            work.await
        };
        let flight = flight.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            flights.by_key.insert(key.clone(), (number, weak));
        }
        (flight, Began::Now)
    }
}

/// The list is whole after every step, so that one which a panic interrupted can be used.
fn lock<K, T: Clone>(flights: &Mutex<Flights<K, T>>) -> MutexGuard<'_, Flights<K, T>> {
    flights.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a flight off the list when it is over.
struct Landing<K: Eq + Hash, T: Clone> {
    flights: Weak<Mutex<Flights<K, T>>>,
    key: K,
    number: u64,
}

impl<K: Eq + Hash, T: Clone> Drop for Landing<K, T> {
    fn drop(&mut self) {
        let Some(flights) = self.flights.upgrade() else { return };
        let mut flights = lock(&flights);
        // Another one may have begun since, after all had left this one.
        if flights.by_key.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            flights.by_key.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};

    use futures_util::task::noop_waker_ref;

    use super::*;

    fn poll<T: Clone>(flight: &mut Flight<T>) -> Poll<T> {
        flight.poll_unpin(&mut Context::from_waker(noop_waker_ref()))
    }

    /// Work that is done when it is told so, and counts that it was begun.
    fn work(begun: &Arc<AtomicUsize>, done: &Arc<Mutex<bool>>) -> impl Future<Output = usize> + Send + use<> {
        let (number, done) = (begun.fetch_add(1, Ordering::Relaxed) + 1, Arc::clone(done));
        std::future::poll_fn(move |_| if *done.lock().expect("whole") { Poll::Ready(number) } else { Poll::Pending })
    }

    #[test]
    fn all_who_ask_at_once_share_one_run() {
        let (flights, begun, done) = (SingleFlight::default(), Arc::default(), Arc::default());
        let ask = |key: &'static str| flights.join(&key, || work(&begun, &done));
        let ((mut one, first), (mut two, second), (mut other, third)) = (ask("a"), ask("a"), ask("b"));
        assert_eq!((first, second, third), (Began::Now, Began::Before, Began::Now));
        assert_eq!(poll(&mut one), Poll::Pending);
        // Whoever drove it has left: the other one drives it on.
        drop(one);
        *done.lock().expect("whole") = true;
        assert_eq!((poll(&mut two), poll(&mut other)), (Poll::Ready(1), Poll::Ready(2)));
        assert_eq!(ask("a").1, Began::Now, "what is done is not kept");
        assert_eq!(begun.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn work_that_all_have_left_is_dropped_and_its_end_takes_no_other_off_the_list() {
        let (flights, begun, done) = (SingleFlight::default(), Arc::default(), Arc::default());
        let ask = || flights.join(&1, || work(&begun, &done));
        let (mut first, _) = ask();
        assert_eq!(poll(&mut first), Poll::Pending);
        drop(first);
        assert_eq!(flights.under_way(), 0);
        let (_second, began) = ask();
        assert_eq!((began, ask().1), (Began::Now, Began::Before));
    }
}
