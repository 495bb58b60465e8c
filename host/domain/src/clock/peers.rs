//! The time that others show: partners say it in the `Date` of every answer. Of several the one in the middle counts, so that one
//! who lies, or whose clock is wrong, moves nothing.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::Timestamp;

/// Servers whose time is kept, at most; the one that was heard longest ago goes first.
const PEERS_MAX: usize = 64;
/// Servers that must have shown their time before the middle counts: two that are wrong do not move it.
pub const PEERS_MIN: usize = 5;
/// A server that was heard so lately is not heard again, milliseconds: each of its answers shows the time.
const HEARD_LATELY_MS: u64 = 60 * 1_000;
/// For how long a time that was shown counts, milliseconds: ten minutes.
const FRESH_MS: u64 = 10 * 60 * 1_000;

/// What servers have shown, by a clock that nobody sets.
#[derive(Debug, Default)]
pub struct PeerTimes {
    /// The one that was heard last at the end; each server once.
    heard: VecDeque<Heard>,
}

#[derive(Debug)]
struct Heard {
    server: String,
    shown: Timestamp,
    at_ms: u64,
}

impl PeerTimes {
    /// A server shows a time at a moment, milliseconds of the steady clock.
    pub fn note(&mut self, server: &str, shown: Timestamp, at_ms: u64) {
        let lately = |heard: &Heard| heard.server == server && at_ms.saturating_sub(heard.at_ms) < HEARD_LATELY_MS;
        if self.heard.iter().any(lately) {
            return;
        }
        self.heard.retain(|heard| heard.server != server);
        if self.heard.len() == PEERS_MAX {
            self.heard.pop_front();
        }
        self.heard.push_back(Heard { server: server.to_owned(), shown, at_ms });
    }

    /// The time in the middle of what servers show at a moment; none while fewer than [`PEERS_MIN`] were heard lately.
    #[must_use]
    pub fn middle(&self, at_ms: u64) -> Option<Timestamp> {
        let passed_ms = |heard: &&Heard| at_ms.saturating_sub(heard.at_ms);
        let fresh = self.heard.iter().filter(|heard| passed_ms(heard) <= FRESH_MS);
        let mut times: Vec<Timestamp> = fresh.map(|heard| heard.shown.plus_ms(passed_ms(&heard))).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().filter(|_| times.len() >= PEERS_MIN)
    }
}

/// The same for a process: it hears servers as they answer.
#[derive(Debug)]
pub struct PeerClocks {
    started: Instant,
    times: Mutex<PeerTimes>,
}

impl Default for PeerClocks {
    fn default() -> Self {
        Self { started: Instant::now(), times: Mutex::default() }
    }
}

impl PeerClocks {
    /// A server shows this time now.
    pub fn note(&self, server: &str, shown: Timestamp) {
        let at_ms = self.steady_ms();
        self.lock().note(server, shown, at_ms);
    }

    /// The time in the middle of what servers show now.
    #[must_use]
    pub fn middle(&self) -> Option<Timestamp> {
        let at_ms = self.steady_ms();
        self.lock().middle(at_ms)
    }

    fn steady_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, PeerTimes> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_700_000_000_000;

    fn heard(shown: &[u64]) -> PeerTimes {
        let mut times = PeerTimes::default();
        for (at, shown) in shown.iter().enumerate() {
            times.note(&format!("server {at}"), Timestamp::from_ms(*shown), 0);
        }
        times
    }

    #[test]
    fn two_that_lie_move_nothing_and_few_say_nothing() {
        assert_eq!(heard(&[NOW_MS; PEERS_MIN - 1]).middle(0), None);
        for lie in [0, NOW_MS + 86_400_000, u64::MAX] {
            let times = heard(&[lie, NOW_MS, NOW_MS + 10, NOW_MS + 20, lie]);
            let middle = times.middle(1_000).expect("enough").as_ms();
            assert!((NOW_MS + 1_000..=NOW_MS + 1_020).contains(&middle), "{middle}");
        }
    }

    #[test]
    fn one_server_counts_once_and_not_for_ever() {
        let mut times = heard(&[NOW_MS; PEERS_MIN - 1]);
        (0..100).for_each(|_| times.note("server 0", Timestamp::from_ms(0), 0));
        assert_eq!(times.middle(0), None);
        times.note("another", Timestamp::from_ms(NOW_MS), 0);
        times.note("another", Timestamp::from_ms(0), 1_000);
        assert_eq!(times.middle(FRESH_MS).map(Timestamp::as_ms), Some(NOW_MS + FRESH_MS));
        assert_eq!(times.middle(FRESH_MS + 1), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut times = PeerTimes::default();
        (0..10 * PEERS_MAX).for_each(|at| times.note(&at.to_string(), Timestamp::from_ms(NOW_MS), 0));
        assert_eq!(times.heard.len(), PEERS_MAX);
    }
}
