//! What a partner tells of a call before it answers (MCP, `notifications/progress`): from the connection it comes over to
//! whoever listens to the call.
//!
//! Whoever makes a call that somebody listens to makes one [`Progress`] for it and hands it down. Below that nobody wraps it:
//! those who need to know when the partner spoke read it here.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Takes each word of a partner: the `params` of the notification, JSON text as it came. It must never wait.
#[derive(Clone, Copy)]
pub struct Listener<'a>(&'a (dyn Fn(&str) + Send + Sync));

impl<'a> Listener<'a> {
    /// Hands each word to a function.
    pub fn new(hear: &'a (dyn Fn(&str) + Send + Sync)) -> Self {
        Self(hear)
    }

    /// Hands it a word.
    pub fn hear(&self, params: &str) {
        (self.0)(params);
    }
}

impl fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// The way of a partner's words to the one who listens to a call, and when they came.
#[derive(Debug)]
pub struct Progress<'a> {
    listener: Listener<'a>,
    times: Mutex<Times>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    first: Option<Instant>,
    last: Option<Instant>,
}

impl<'a> Progress<'a> {
    /// Of a call that is about to be made.
    #[must_use]
    pub fn new(listener: Listener<'a>) -> Self {
        Self { listener, times: Mutex::default() }
    }

    /// The partner has said something of the call.
    pub fn tell(&self, params: &str, now: Instant) {
        {
            let mut times = self.times();
            times.first.get_or_insert(now);
            times.last = Some(now);
        }
        self.listener.hear(params);
    }

    /// The call is made, or made again: what was said of an earlier try has no time any more.
    pub fn begin(&self) {
        *self.times() = Times::default();
    }

    /// When the partner first said something.
    #[must_use]
    pub fn first_word(&self) -> Option<Instant> {
        self.times().first
    }

    /// When it last did.
    #[must_use]
    pub fn last_word(&self) -> Option<Instant> {
        self.times().last
    }

    /// Times are whole after every step, so that those which a panic interrupted can be used.
    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn words_are_handed_on_and_their_times_kept_until_the_next_try() {
        let heard = Mutex::new(Vec::new());
        let hear = |params: &str| heard.lock().expect("whole").push(params.to_owned());
        let progress = Progress::new(Listener::new(&hear));
        assert_eq!((progress.first_word(), progress.last_word()), (None, None));
        let (first, last) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        progress.tell("1", first);
        progress.tell("2", last);
        assert_eq!((progress.first_word(), progress.last_word()), (Some(first), Some(last)));
        progress.begin();
        assert_eq!((progress.first_word(), progress.last_word()), (None, None));
        assert_eq!(*heard.lock().expect("whole"), ["1", "2"]);
    }
}
