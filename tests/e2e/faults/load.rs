//! Searches and bookings at once, each answer checked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::time::{MissedTickBehavior, interval};

use super::checks::{Kind, Tally, has_options_of, in_time, is_booked, is_booked_or_refused, quantile};
use super::fleet::Fleet;
use super::{CALL_DEADLINE, GRACE, SEARCH_DEADLINE};

/// Clients that search, and book at a partner that is well.
const SEARCHERS: usize = 4;
/// Clients that book at the other partners, so that those who wait for one hold nobody else up.
const CALLERS: usize = 4;
/// A client does no more than one thing in this time.
const PACE: Duration = Duration::from_millis(40);

/// Clients and what they know.
pub(super) struct Load<'a> {
    fleet: &'a Fleet,
    /// Partners of which every search must have options.
    well: &'a [&'a str],
    /// A slot at a partner that is well.
    sound: String,
    /// A slot at each of the others.
    faulty: Vec<String>,
    /// Bookings so far, each a request of its own.
    bookings: AtomicUsize,
}

impl<'a> Load<'a> {
    /// Asks everybody once, while all are well.
    pub(super) async fn prepare(fleet: &'a Fleet, well: &'a [&'a str], bookable: &str, faulty: &[&str]) -> Self {
        let (answer, _) = fleet.search().await;
        let all: Vec<&str> = well.iter().chain(faulty).copied().collect();
        assert_eq!(has_options_of(&answer, &all), Vec::<String>::new());
        let sound = fleet.reference(&answer, bookable);
        let faulty = faulty.iter().map(|partner| fleet.reference(&answer, partner)).collect();
        Self { fleet, well, sound, faulty, bookings: AtomicUsize::new(0) }
    }

    /// All clients, for a time; what is under way then is waited for.
    pub(super) async fn run(&self, time: Duration) -> Tally {
        let end = Instant::now() + time;
        let searchers = join_all((0..SEARCHERS).map(|_| self.searcher(end)));
        let callers = join_all((0..CALLERS).map(|_| self.caller(end)));
        let (searchers, callers) = tokio::join!(searchers, callers);
        let mut all = Tally::default();
        searchers.into_iter().chain(callers).for_each(|tally| all.merge(tally));
        all
    }

    async fn searcher(&self, end: Instant) -> Tally {
        let mut tally = Tally::default();
        let mut pace = pace();
        while Instant::now() < end {
            pace.tick().await;
            let (answer, took) = self.fleet.search().await;
            let mut breaches = has_options_of(&answer, self.well);
            breaches.extend(in_time("a search", took, SEARCH_DEADLINE + GRACE));
            tally.add(Kind::Search, &answer, took, breaches);
            pace.tick().await;
            let (answer, took) = self.fleet.book(&self.sound, &self.request_id()).await;
            let late = in_time("a booking", took, CALL_DEADLINE + GRACE);
            tally.add(Kind::Sound, &answer, took, is_booked(&answer).into_iter().chain(late).collect());
        }
        tally
    }

    async fn caller(&self, end: Instant) -> Tally {
        let mut tally = Tally::default();
        let mut pace = pace();
        while Instant::now() < end {
            pace.tick().await;
            let request_id = self.request_id();
            let reference = &self.faulty[self.bookings.load(Ordering::Relaxed) % self.faulty.len()];
            let (answer, took) = self.fleet.book(reference, &request_id).await;
            let late = in_time("a booking", took, CALL_DEADLINE + GRACE);
            tally.add(Kind::Faulty, &answer, took, is_booked_or_refused(&answer).into_iter().chain(late).collect());
        }
        tally
    }

    fn request_id(&self) -> String {
        format!("soak-{}", self.bookings.fetch_add(1, Ordering::Relaxed))
    }
}

fn pace() -> tokio::time::Interval {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}

/// Prints how calls ended, and how long they took.
pub(super) fn print(calls: &BTreeMap<(Kind, String), Vec<Duration>>) {
    for ((kind, ended), times) in calls {
        let mut times = times.clone();
        times.sort_unstable();
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| quantile(&times, share).as_millis());
        eprintln!("  {kind:?} {ended}: {} calls, p50 {p50} ms, p99 {p99} ms, longest {max} ms", times.len());
    }
}
