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
    /// Of a whole answer.
    pub(crate) fn of(answer: &[u8]) -> Self {
        let status =
            answer.get(9..12).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or_default();
        match status {
            200 if contains(&answer[..answer.len().min(LOOKED_AT_BYTES)], b"\"options\":[{") => Self::Good,
            200 => Self::Empty,
            status => Self::Status(status),
        }
    }
}

/// An answer to a search.
pub(crate) struct Answer {
    pub(crate) caller: usize,
    /// When it was due, from the beginning of the phase.
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

    pub(crate) fn answers(&self) -> usize {
        self.answers.len()
    }

    /// How many were answered as they should.
    pub(crate) fn good(&self) -> usize {
        self.answers.iter().filter(|answer| answer.kind == Kind::Good).count()
    }

    /// Good answers a second, those that came while the phase lasted.
    pub(crate) fn goodput(&self) -> f64 {
        let in_time = |answer: &&Answer| answer.kind == Kind::Good && answer.due + answer.took <= self.phase.time;
        self.answers.iter().filter(in_time).count() as f64 / self.phase.time.as_secs_f64()
    }

    fn times(&self, of: impl Fn(&Answer) -> bool) -> Vec<Duration> {
        let mut times: Vec<Duration> =
            self.answers.iter().filter(|answer| of(answer)).map(|answer| answer.took).collect();
        times.sort_unstable();
        times
    }

    pub(crate) fn p50(&self) -> Duration {
        quantile(&self.times(|answer| answer.kind == Kind::Good), 0.5)
    }

    pub(crate) fn p99(&self) -> Duration {
        quantile(&self.times(|answer| answer.kind == Kind::Good), 0.99)
    }

    /// Of those that were not answered with options.
    pub(crate) fn refused(&self, share: f64) -> Duration {
        quantile(&self.times(|answer| answer.kind != Kind::Good), share)
    }

    /// How far the generator was behind its own schedule.
    pub(crate) fn lag(&self, share: f64) -> Duration {
        quantile(&self.late, share)
    }

    /// Answers by their kind, in words.
    pub(crate) fn statuses(&self) -> String {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        self.answers.iter().for_each(|answer| *counts.entry(answer.kind).or_default() += 1);
        let name = |kind: &Kind| match kind {
            Kind::Good => "good".to_owned(),
            Kind::Empty => "200 without options".to_owned(),
            Kind::Status(status) => status.to_string(),
            Kind::Broken => "broken".to_owned(),
            Kind::NotSent => "not sent".to_owned(),
        };
        counts.iter().map(|(kind, count)| format!("{count} {}", name(kind))).collect::<Vec<_>>().join(", ")
    }

    /// Of each caller's requests, the share that was answered with options.
    pub(crate) fn served_shares(&self) -> Vec<f64> {
        let share = |caller| {
            let own = || self.answers.iter().filter(|answer| answer.caller == caller);
            own().filter(|answer| answer.kind == Kind::Good).count() as f64 / own().count().max(1) as f64
        };
        (0..self.phase.per_second.len()).map(share).collect()
    }

    /// From the beginning of the phase to the end of the last window in which something was not answered well, or later than
    /// `bound`.
    pub(crate) fn recovery(&self, bound: Duration) -> Duration {
        let is_bad = |answer: &&Answer| answer.kind != Kind::Good || answer.took > bound;
        let mut windows: BTreeMap<u128, usize> = BTreeMap::new();
        for answer in self.answers.iter().filter(is_bad) {
            *windows.entry(answer.due.as_millis() / WINDOW.as_millis()).or_default() += 1;
        }
        // One late answer may be the machine's.
        let last = windows.iter().rev().find(|(_, bad)| **bad > 1).map_or(0, |(window, _)| window + 1);
        WINDOW * u32::try_from(last).unwrap_or(u32::MAX)
    }
}

/// Of times in ascending order; none of none.
pub(crate) fn quantile(sorted: &[Duration], share: f64) -> Duration {
    match sorted.len() {
        0 => Duration::ZERO,
        count => sorted[((count - 1) as f64 * share) as usize],
    }
}
