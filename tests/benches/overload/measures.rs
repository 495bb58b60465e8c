//! What a phase of load has shown.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::generator::{Phase, contains};

/// What is looked at of an answer to tell whether it has options, bytes.
const LOOKED_AT_BYTES: usize = 2 * 1024;
/// Length of the windows by which the recovery is told.
const WINDOW: Duration = Duration::from_millis(100);

/// How a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// 200 with options.
    Good,
    /// 200 without.
    Empty,
    /// Another status.
    Status(u16),
    /// The connection ended, or could not be had, or no answer came in time.
    Broken,
    /// The generator had no connection left.
    NotSent,
}

impl Kind {
    /// Of a whole answer to a search.
    pub(crate) fn of_search(answer: &[u8]) -> Self {
        match status_of(answer) {
            200 if contains(&answer[..answer.len().min(LOOKED_AT_BYTES)], b"\"options\":[{") => Self::Good,
            200 => Self::Empty,
            status => Self::Status(status),
        }
    }

    /// Of a whole answer to anything else.
    pub(crate) fn of_other(answer: &[u8]) -> Self {
        match status_of(answer) {
            200 => Self::Good,
            status => Self::Status(status),
        }
    }
}

fn status_of(answer: &[u8]) -> u16 {
    answer.get(9..12).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or_default()
}

/// A request of a user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Search,
    Book,
    Report,
}

impl Step {
    pub(crate) const ALL: [Self; 3] = [Self::Search, Self::Book, Self::Report];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => "searches",
            Self::Book => "bookings",
            Self::Report => "reports",
        }
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) step: Step,
    pub(crate) caller: usize,
    /// When it was due, from the beginning of the phase: a search when it was drawn, whatever follows when what came before it was answered.
    pub(crate) due: Duration,
    /// From then to the answer's end.
    pub(crate) took: Duration,
    pub(crate) kind: Kind,
}

pub(crate) struct Measured {
    phase: Phase,
    answers: Vec<Answer>,
    /// Times of each probe.
    pub(crate) probes: Vec<Vec<Duration>>,
    late: Vec<Duration>,
}

impl Measured {
    pub(crate) fn new(
        phase: Phase,
        answers: Vec<Answer>,
        mut probes: Vec<Vec<Duration>>,
        mut late: Vec<Duration>,
    ) -> Self {
        probes.iter_mut().for_each(|times| times.sort_unstable());
        late.sort_unstable();
        Self { phase, answers, probes, late }
    }

    /// How many searches there were.
    pub(crate) fn searches(&self) -> usize {
        self.of_step(Step::Search).count()
    }

    /// How many of a kind were answered as they should.
    pub(crate) fn good(&self, step: Step) -> usize {
        self.of_step(step).filter(|answer| answer.kind == Kind::Good).count()
    }

    /// Searches a second that were answered with options while the phase lasted.
    pub(crate) fn goodput(&self) -> f64 {
        let in_time = |answer: &&Answer| answer.kind == Kind::Good && answer.due + answer.took <= self.phase.time;
        self.of_step(Step::Search).filter(in_time).count() as f64 / self.phase.time.as_secs_f64()
    }

    /// How long those of a kind took that were answered as they should, in ascending order.
    pub(crate) fn times(&self, step: Step) -> Vec<Duration> {
        sorted(self.of_step(step).filter(|answer| answer.kind == Kind::Good))
    }

    pub(crate) fn p50(&self) -> Duration {
        quantile(&self.times(Step::Search), 0.5)
    }

    pub(crate) fn p99(&self) -> Duration {
        quantile(&self.times(Step::Search), 0.99)
    }

    /// Of searches that were not answered with options.
    pub(crate) fn refused(&self, share: f64) -> Duration {
        quantile(&sorted(self.of_step(Step::Search).filter(|answer| answer.kind != Kind::Good)), share)
    }

    fn of_step(&self, step: Step) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(move |answer| answer.step == step)
    }

    /// How far the generator was behind its own schedule.
    pub(crate) fn lag(&self, share: f64) -> Duration {
        quantile(&self.late, share)
    }

    /// Answers to requests of one kind by theirs, in words.
    pub(crate) fn statuses(&self, step: Step) -> String {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        self.of_step(step).for_each(|answer| *counts.entry(answer.kind).or_default() += 1);
        let name = |kind: &Kind| match kind {
            Kind::Good => "good".to_owned(),
            Kind::Empty => "200 without options".to_owned(),
            Kind::Status(status) => status.to_string(),
            Kind::Broken => "broken".to_owned(),
            Kind::NotSent => "not sent".to_owned(),
        };
        counts.iter().map(|(kind, count)| format!("{count} {}", name(kind))).collect::<Vec<_>>().join(", ")
    }

    /// Of each caller's searches, the share that was answered with options.
    pub(crate) fn served_shares(&self) -> Vec<f64> {
        let share = |caller| {
            let own = || self.of_step(Step::Search).filter(|answer| answer.caller == caller);
            own().filter(|answer| answer.kind == Kind::Good).count() as f64 / own().count().max(1) as f64
        };
        (0..self.phase.per_second.len()).map(share).collect()
    }

    /// From the beginning of the phase to the end of the last window in which something was not answered well, or later than
    /// `bound`.
    pub(crate) fn recovery(&self, bound: Duration) -> Duration {
        let is_bad = |answer: &&Answer| answer.kind != Kind::Good || answer.took > bound;
        let mut windows: BTreeMap<u128, usize> = BTreeMap::new();
        for answer in self.of_step(Step::Search).filter(is_bad) {
            *windows.entry(answer.due.as_millis() / WINDOW.as_millis()).or_default() += 1;
        }
        // One late answer may be the machine's.
        let last = windows.iter().rev().find(|(_, bad)| **bad > 1).map_or(0, |(window, _)| window + 1);
        WINDOW * u32::try_from(last).unwrap_or(u32::MAX)
    }
}

fn sorted<'a>(answers: impl Iterator<Item = &'a Answer>) -> Vec<Duration> {
    let mut times: Vec<Duration> = answers.map(|answer| answer.took).collect();
    times.sort_unstable();
    times
}

/// Of times in ascending order; none of none.
pub(crate) fn quantile(sorted: &[Duration], share: f64) -> Duration {
    match sorted.len() {
        0 => Duration::ZERO,
        count => sorted[((count - 1) as f64 * share) as usize],
    }
}
