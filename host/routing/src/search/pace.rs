//! How often a search that shows what it has is ranked anew.
//!
//! The contract ranks all options at once, so a ranking after each answer would be work that grows with the square of
//! the answers. A ranking is due when twice as many partners have answered as the last one covered; and, so that no
//! answer waits long for others, when anything new has come and a pause has passed, which doubles each time up to a bound.

use std::time::Duration;

/// Rankings of one search at most, the last one included.
pub const RANKINGS_MAX: usize = 24;
/// Between two rankings at least; what comes meanwhile is shown together. The last one waits for nothing.
const BETWEEN_RANKINGS: Duration = Duration::from_millis(20);
/// The pauses after which anything new is ranked, however little it is: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What makes a ranking due.
#[derive(Clone, Copy)]
enum Due {
    /// Nothing but the last answer.
    Last,
    /// Twice as many answers as the last ranking covered.
    Doubled,
    Anything,
}

/// When the rankings of one search are due.
pub(super) struct Pace {
    due: Due,
    rankings: usize,
    /// How many answers the last ranking covered.
    covered: usize,
    pause: Duration,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { due: Due::Anything, rankings: 0, covered: 0, pause: FIRST_PAUSE }
    }

    /// Whether so many answers are to be ranked now.
    pub(super) fn is_due(&self, answers: usize, is_complete: bool) -> bool {
        let has_doubled = answers >= 2 * self.covered;
        let is_early_due = match self.due {
            Due::Last => false,
            Due::Doubled => has_doubled,
            Due::Anything => true,
        };
        // The last place is for the ranking of all answers.
        is_complete || (is_early_due && answers > self.covered && self.rankings + 1 < RANKINGS_MAX)
    }

    /// Takes note of a ranking; how long until [`step`](Self::step).
    pub(super) fn note_ranking(&mut self, answers: usize) -> Duration {
        if answers < 2 * self.covered {
            self.pause = LONGEST_PAUSE.min(self.pause * 2);
        }
        (self.due, self.covered) = (Due::Last, answers);
        self.rankings += 1;
        BETWEEN_RANKINGS
    }

    /// Time has passed: less makes a ranking due. How long until the next step, where there is one.
    pub(super) fn step(&mut self) -> Option<Duration> {
        match self.due {
            Due::Last => {
                self.due = Due::Doubled;
                Some(self.pause.saturating_sub(BETWEEN_RANKINGS))
            }
            Due::Doubled | Due::Anything => {
                self.due = Due::Anything;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_domain::limits::FAN_OUT_MAX;

    /// The longest that a search may be configured to take.
    const SEARCH_MAX: Duration = Duration::from_secs(30);

    /// Rankings of a search whose partners answer one after another, the last one included.
    fn rankings(partners: usize, apart: Duration) -> usize {
        let (mut pace, mut now, mut next) = (Pace::new(), Duration::ZERO, None::<Duration>);
        for answers in 1..=partners {
            now += apart;
            while let Some(at) = next.filter(|at| *at <= now) {
                next = pace.step().map(|wait| at + wait);
                if pace.is_due(answers - 1, false) {
                    next = Some(at + pace.note_ranking(answers - 1));
                }
            }
            if pace.is_due(answers, answers == partners) {
                next = Some(now + pace.note_ranking(answers));
            }
        }
        pace.rankings
    }

    #[test]
    fn no_search_is_ranked_more_often_than_the_bound_says() {
        for partners in 1..=FAN_OUT_MAX {
            let whole = u32::try_from(partners).expect("few");
            for apart in [Duration::ZERO, Duration::from_millis(1), BETWEEN_RANKINGS, SEARCH_MAX / whole] {
                let rankings = rankings(partners, apart);
                assert!(rankings <= RANKINGS_MAX.min(partners), "{partners} partners, {apart:?} apart: {rankings}");
            }
        }
        assert_eq!(rankings(FAN_OUT_MAX, Duration::from_secs(3_600)), RANKINGS_MAX);
    }
}
