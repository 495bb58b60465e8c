//! Admission control: which requests are begun, in which order, and which are refused because the process has more to do than it
//! can.
//!
//! What is measured is the process itself, and nothing behind it. Whoever drives an [`AdmissionQueue`] goes through the run queue
//! of the runtime again and again. One pass is a *turn*, and at each turn a few requests are let in. Where little is to be done, a
//! turn takes microseconds and nobody waits. Where more is to be done than the processors can, turns take longer, and requests
//! wait here, where they have cost next to nothing so far, rather than half done inside. A request that waits for a slow partner
//! stands in no run queue: it makes no turn longer.
//!
//! - Callers take turns, so that whoever asks much makes nobody wait but itself.
//! - A short queue ([`WAITING_SHORT`]) is served oldest first, and nothing of it is refused.
//! - A longer one may be a burst, which passes. Where it has stood for [`STANDING_AFTER`], what has waited for longer than its
//!   [`Patience`] is refused. While a caller's oldest request has waited so long, its newest is served first: somebody still waits
//!   for that one (adaptive LIFO with controlled delay: B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015).
//!
//! Nothing here reads a clock or waits. Not here: what a refused request is answered with, and who a caller is.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Requests that may wait without any of them being refused, whatever their age: so few are answered soon, and clients that each
/// wait for their answer before they ask again are never more than they are.
pub const WAITING_SHORT: usize = 64;
/// Requests that wait at most.
pub const WAITING_MAX: usize = 4_096;
/// A queue that has been longer than [`WAITING_SHORT`] for so long is not a burst.
pub const STANDING_AFTER: Duration = Duration::from_millis(100);
/// How often waiting requests are looked through for those that have waited too long.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// A caller has less than so many times the places that are free, or gets none, as in [`fair_slots`](crate::fair_slots).
const TIMES_FREE: usize = 4;

/// How long a request may wait in a queue that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// A person waits for the answer: soon or not at all.
    Short,
    /// A machine does, which has the request repeated if it is refused: late is better than again.
    Long,
}

impl Patience {
    fn bound(self) -> Duration {
        match self {
            Self::Short => Duration::from_millis(20),
            Self::Long => Duration::from_secs(1),
        }
    }
}

/// What becomes of a request that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is begun.
    Enters,
    /// It waits; a later turn tells.
    Waits,
    /// There is no place to wait, or this caller has its share of them.
    Refused,
}

/// What a turn has decided on.
#[derive(Debug)]
pub struct Turn<T> {
    /// Requests to begin, with how long each has waited.
    pub entered: Vec<(T, Duration)>,
    /// Requests to refuse.
    pub refused: Vec<T>,
}

/// Requests that wait to be begun, by caller. `T` is what stands for a request.
#[derive(Debug)]
pub struct AdmissionQueue<K, T> {
    per_turn: usize,
    entered_this_turn: usize,
    /// Only those of callers that have one waiting.
    lines: HashMap<K, VecDeque<Waiting<T>>>,
    /// The callers of `lines`, in the order in which they are served.
    order: VecDeque<K>,
    waiting: usize,
    /// Since when the queue is longer than [`WAITING_SHORT`].
    long_since: Option<Instant>,
    looked_through: Option<Instant>,
}

#[derive(Debug)]
struct Waiting<T> {
    request: T,
    since: Instant,
    patience: Patience,
}

impl<K: Eq + Hash + Clone, T> AdmissionQueue<K, T> {
    /// An empty queue. `per_turn` requests are let in at each turn: as many as can be worked on at once.
    #[must_use]
    pub fn new(per_turn: usize) -> Self {
        Self {
            per_turn: per_turn.max(1),
            entered_this_turn: 0,
            lines: HashMap::new(),
            order: VecDeque::new(),
            waiting: 0,
            long_since: None,
            looked_through: None,
        }
    }

    /// Takes a request. `request` is called if it has to wait.
    pub fn arrive(&mut self, caller: K, patience: Patience, now: Instant, request: impl FnOnce() -> T) -> Arrival {
        if self.waiting == 0 && self.entered_this_turn < self.per_turn {
            self.entered_this_turn += 1;
            return Arrival::Enters;
        }
        let own = self.lines.get(&caller).map_or(0, VecDeque::len);
        let free = WAITING_MAX - self.waiting;
        if own >= free.saturating_mul(TIMES_FREE) {
            return Arrival::Refused;
        }
        if own == 0 {
            self.order.push_back(caller.clone());
        }
        self.lines.entry(caller).or_default().push_back(Waiting { request: request(), since: now, patience });
        self.waiting += 1;
        self.note_length(now);
        Arrival::Waits
    }

    /// The run queue was gone through once: lets the next ones in, and gives up those that have waited too long. Requests that
    /// `is_gone` names are dropped: nobody waits for them any more.
    pub fn turn(&mut self, now: Instant, is_gone: impl Fn(&T) -> bool) -> Turn<T> {
        self.entered_this_turn = 0;
        let mut turn = Turn { entered: Vec::new(), refused: self.give_up(now) };
        while self.entered_this_turn < self.per_turn
            && let Some(Waiting { request, since, .. }) = self.next(now)
        {
            if !is_gone(&request) {
                turn.entered.push((request, now.saturating_duration_since(since)));
                self.entered_this_turn += 1;
            }
        }
        turn.refused.retain(|request| !is_gone(request));
        self.note_length(now);
        turn
    }

    /// How many requests wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The next request of the caller whose turn it is.
    fn next(&mut self, now: Instant) -> Option<Waiting<T>> {
        let caller = self.order.pop_front()?;
        let line = self.lines.get_mut(&caller)?;
        let is_late = |oldest: &Waiting<T>| now.saturating_duration_since(oldest.since) > oldest.patience.bound();
        let newest_first = self.waiting > WAITING_SHORT && line.front().is_some_and(is_late);
        let next = if newest_first { line.pop_back() } else { line.pop_front() };
        if line.is_empty() {
            self.lines.remove(&caller);
        } else {
            self.order.push_back(caller);
        }
        self.waiting -= usize::from(next.is_some());
        next
    }

    /// Takes out what has waited too long, where the queue is not a short one.
    fn give_up(&mut self, now: Instant) -> Vec<T> {
        let mut given_up = Vec::new();
        let looked_lately =
            self.looked_through.is_some_and(|before| now.saturating_duration_since(before) < LOOK_INTERVAL);
        if self.waiting <= WAITING_SHORT || looked_lately {
            return given_up;
        }
        self.looked_through = Some(now);
        let stands = self.long_since.is_some_and(|since| now.saturating_duration_since(since) >= STANDING_AFTER);
        let is_over = |oldest: &Waiting<T>| {
            let bound = oldest.patience.bound();
            let bound = if stands { bound } else { bound.max(STANDING_AFTER) };
            now.saturating_duration_since(oldest.since) > bound
        };
        for line in self.lines.values_mut() {
            while let Some(oldest) = line.pop_front_if(|oldest| is_over(oldest)) {
                given_up.push(oldest.request);
            }
        }
        self.waiting -= given_up.len();
        self.lines.retain(|_, line| !line.is_empty());
        let lines = &self.lines;
        self.order.retain(|caller| lines.contains_key(caller));
        given_up
    }

    fn note_length(&mut self, now: Instant) {
        if self.waiting <= WAITING_SHORT {
            self.long_since = None;
        } else if self.long_since.is_none() {
            self.long_since = Some(now);
        }
    }
}

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
