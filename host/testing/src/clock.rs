//! One clock for all tests: it shows the time that the test sets, and is the timer whose waits end by it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::ports::Timer;

/// A clock and a timer in virtual time.
pub struct TestClock {
    state: Arc<Mutex<State>>,
    /// Whether a wait that is polled lets its own time pass.
    jumps: bool,
}

struct State {
    now: Timestamp,
    /// The time by which things may be forgotten, where a test holds it back.
    settled: Option<Timestamp>,
    waits: BTreeMap<u64, Waiter>,
    waits_so_far: u64,
}

struct Waiter {
    until: Timestamp,
    waker: Option<Waker>,
}

impl TestClock {
    /// Stands still until the test moves it; a wait ends when the test has moved it far enough.
    #[must_use]
    pub fn at(now_ms: u64) -> Arc<Self> {
        Self::new(now_ms, false)
    }

    /// Jumps to the end of each wait that is polled, so that nothing ever waits. A wait that is begun and dropped takes no
    /// time.
    #[must_use]
    pub fn jumping_at(now_ms: u64) -> Arc<Self> {
        Self::new(now_ms, true)
    }

    fn new(now_ms: u64, jumps: bool) -> Arc<Self> {
        let state = State { now: Timestamp::from_ms(now_ms), settled: None, waits: BTreeMap::new(), waits_so_far: 0 };
        Arc::new(Self { state: Arc::new(Mutex::new(state)), jumps })
    }

    /// Sets the time, backwards too, and wakes whoever has waited for it.
    pub fn set(&self, now_ms: u64) {
        let (mut state, now) = (lock(&self.state), Timestamp::from_ms(now_ms));
        state.now = now;
        let due = state.waits.values_mut().filter(|wait| wait.until <= now);
        let wakers: Vec<Waker> = due.filter_map(|wait| wait.waker.take()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// As after a jump forward that nothing has confirmed: what may be forgotten goes by the present time until it is let go.
    pub fn hold_settled(&self) {
        let mut state = self.state();
        state.settled = Some(state.now);
    }

    /// As when the jump is confirmed.
    pub fn let_settled_go(&self) {
        self.state().settled = None;
    }

    /// Lets so much time pass.
    pub fn advance(&self, ms: u64) {
        self.set(self.now().as_ms() + ms);
    }

    /// Sets the time to the end of the wait that ends first, if that is no later than `until_ms`. Whether there was one.
    pub fn advance_to_next_wait(&self, until_ms: u64) -> bool {
        let next_ms = self.state().waits.values().map(|wait| wait.until.as_ms()).min();
        let Some(next_ms) = next_ms.filter(|next_ms| *next_ms <= until_ms) else { return false };
        self.set(next_ms.max(self.now().as_ms()));
        true
    }

    /// How much longer each wait lasts, milliseconds, shortest first.
    #[must_use]
    pub fn waits_ms(&self) -> Vec<u64> {
        let state = self.state();
        let mut left: Vec<u64> = state.waits.values().map(|wait| wait.until.ms_since(state.now)).collect();
        left.sort_unstable();
        left
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("no test panics in it")
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.state().now
    }

    fn settled(&self) -> Timestamp {
        let state = self.state();
        state.settled.unwrap_or(state.now)
    }
}

impl Timer for TestClock {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut state = self.state();
        let until = state.now.plus_ms(u64::try_from(time.as_millis()).expect("a wait of less than an age"));
        let number = state.waits_so_far;
        state.waits_so_far += 1;
        state.waits.insert(number, Waiter { until, waker: None });
        drop(state);
        let mut wait = Wait { state: Arc::clone(&self.state), number, until, jumps: self.jumps };
        poll_fn(move |context| wait.poll(context)).boxed()
    }
}

/// One wait; dropped, nobody waits any more.
struct Wait {
    state: Arc<Mutex<State>>,
    number: u64,
    until: Timestamp,
    jumps: bool,
}

impl Wait {
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if self.jumps {
            state.now = state.now.max(self.until);
        }
        if state.now >= self.until {
            state.waits.remove(&self.number);
            return Poll::Ready(());
        }
        if let Some(waiting) = state.waits.get_mut(&self.number) {
            waiting.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        lock(&self.state).waits.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(wait: &mut BoxFuture<'static, ()>) -> bool {
        wait.poll_unpin(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_wait_ends_when_the_test_says_so() {
        let clock = TestClock::at(1_000);
        let (mut short, mut long) = (clock.wait(Duration::from_millis(5)), clock.wait(Duration::from_millis(9)));
        clock.advance(4);
        assert!(!is_over(&mut short));
        assert_eq!(clock.waits_ms(), [1, 5]);
        assert!(clock.advance_to_next_wait(2_000));
        assert!(is_over(&mut short) && !is_over(&mut long));
        drop(long);
        assert!(!clock.advance_to_next_wait(2_000), "nobody waits");
        assert_eq!((clock.now().as_ms(), clock.waits_ms()), (1_005, vec![]));
    }

    #[test]
    fn a_clock_that_jumps_is_never_waited_for() {
        let clock = TestClock::jumping_at(1_000);
        drop(clock.wait(Duration::from_secs(60)));
        assert_eq!(clock.now().as_ms(), 1_000);
        assert!(is_over(&mut clock.wait(Duration::from_millis(5))));
        assert_eq!(clock.now().as_ms(), 1_005);
    }
}
