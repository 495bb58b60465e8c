//! Whether a partner is in the pool of an intent: it leaves for slowness and returns on recovery (spec 1, Latency
//! targets).
//!
//! ```text
//!            over twice the target for five minutes, and slow again
//!      In ───────────────────────────────────────────────────────────▶ Out
//!      In ◀─────────────────────────────────────────────────────────── Out
//!            six calls within the target in a row, over two minutes;
//!            or thirty trials that nothing was heard of;
//!            or it is the least slow of an intent that nobody else serves
//! ```
//!
//! - It leaves on a slow call, never on a good one: who has just recovered is not put out for what was.
//! - While it is out, one search every thirty seconds is let through on trial. A call *within* the target counts for it,
//!   one over *twice* the target or a failed one begins the count anew, and what lies between says nothing: the gap
//!   between the two bounds keeps it from going in and out.
//! - A search measures the search tool alone. Where another tool was slow, bookings out of the trials measure it; where none
//!   come, it returns after [`TRIALS_UNHEARD_MAX`] trials for want of evidence, and five more slow minutes put it out again.
//! - On return, its window is empty.
//!
//! Whether anybody else serves the intent is for [`Health`](super::Health) to say, which sees them all.

use serde::Serialize;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::health::{Percentiles, Return, ReturnReason, Slowness};

use super::latency::{Sample, Window};
use intent_gateway_domain::contract::LatencyTargets;

/// How long a tool must be over twice its target before its partner leaves, milliseconds (spec 1, Latency targets).
pub(crate) const OVER_FOR_MS: u64 = 5 * 60 * 1_000;
/// One search in this time is let through to a partner that is out, milliseconds.
pub(crate) const TRIAL_EVERY_MS: u64 = 30 * 1_000;
/// Calls within the target, in a row, after which a partner returns.
pub(crate) const RETURN_GOOD_CALLS: u32 = 6;
/// The time that these calls must span, milliseconds: a burst of calls in one good second proves little.
pub(crate) const RETURN_SPAN_MS: u64 = 2 * 60 * 1_000;
/// Trials since the slow tool was last heard of, after which a partner returns for want of evidence.
pub(crate) const TRIALS_UNHEARD_MAX: u32 = 30;
/// How long an ejection that was held back stays so, milliseconds.
pub(crate) const HELD_BACK_FOR_MS: u64 = 5 * 60 * 1_000;
/// Tools followed for one partner and intent; calls of more go unjudged. One that is called all the time takes some four
/// kilobytes.
const TOOLS_MAX: usize = 32;

/// What a call leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HealthVerdict {
    Stays,
    /// It is due to leave; [`Pool::eject`] and [`Pool::hold`] say which it is to be.
    Due(Slowness),
    Returned(Return),
}

/// What is said to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    In,
    TrialDue,
    Out,
}

#[derive(Clone, Debug)]
struct Tool {
    name: String,
    targets: LatencyTargets,
    window: Window,
}

#[derive(Clone, Debug)]
struct Out {
    since: Timestamp,
    slowness: Slowness,
    next_trial: Timestamp,
    trials_unheard: u32,
    good_calls: u32,
    /// When the first of these ended.
    good_since: Timestamp,
}

/// One partner in the pool of one intent, or out of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    tools: Vec<Tool>,
    out: Option<Out>,
    held_until: Timestamp,
    heard_at: Timestamp,
}

/// What is shown of one tool.
#[derive(Clone, Debug, Serialize)]
pub struct ToolView {
    pub tool: String,
    /// Its targets, as last seen.
    pub targets: LatencyTargets,
    /// Its last five minutes.
    pub window: Percentiles,
    /// Since when its p95 has been over twice the target.
    pub over_since: Option<Timestamp>,
}

/// What is shown of a partner out of the pool.
#[derive(Clone, Debug, Serialize)]
pub struct OutView {
    /// Since when.
    pub since: Timestamp,
    /// What put it out.
    pub slowness: Slowness,
    /// When the next search is let through.
    pub next_trial: Timestamp,
    /// Calls within the target in a row.
    pub good_calls: u32,
}

impl Pool {
    /// Takes a call of a tool. `sample` is absent where the call says nothing of the time; `failed`, where it failed.
    pub(super) fn record(
        &mut self,
        tool: &str,
        targets: LatencyTargets,
        sample: Option<Sample>,
        failed: bool,
        now: Timestamp,
    ) -> HealthVerdict {
        self.heard_at = self.heard_at.max(now);
        let over_since = match sample {
            Some(sample) => self.measure(tool, targets, sample, now),
            None => None,
        };
        if let Some(out) = &mut self.out {
            if out.slowness.tool != tool {
                return HealthVerdict::Stays;
            }
            out.hear(sample, failed, now);
            let spans = now.ms_since(out.good_since) >= RETURN_SPAN_MS;
            if out.good_calls < RETURN_GOOD_CALLS || !spans {
                return HealthVerdict::Stays;
            }
            return self.come_back(ReturnReason::Recovered, now).map_or(HealthVerdict::Stays, HealthVerdict::Returned);
        }
        let slow = sample.is_some_and(|sample| sample.slow);
        let over_for_ms = over_since.map_or(0, |since| now.ms_since(since));
        if !slow || over_for_ms < OVER_FOR_MS || !self.is_due(now) {
            return HealthVerdict::Stays;
        }
        self.slowness(tool, over_for_ms, now).map_or(HealthVerdict::Stays, HealthVerdict::Due)
    }

    fn measure(&mut self, tool: &str, targets: LatencyTargets, sample: Sample, now: Timestamp) -> Option<Timestamp> {
        let place = match self.tools.iter().position(|known| known.name == tool) {
            Some(place) => place,
            None if self.tools.len() >= TOOLS_MAX => return None,
            None => {
                self.tools.push(Tool { name: tool.to_owned(), targets, window: Window::default() });
                self.tools.len() - 1
            }
        };
        let tool = &mut self.tools[place];
        tool.targets = targets;
        tool.window.add(sample, now)
    }

    fn slowness(&self, tool: &str, over_for_ms: u64, now: Timestamp) -> Option<Slowness> {
        let tool = self.tools.iter().find(|known| known.name == tool)?;
        let window = tool.window.percentiles(now);
        Some(Slowness { tool: tool.name.clone(), target_p95_ms: tool.targets.p95_ms, over_for_ms, window })
    }

    /// Puts it out; a partner that is out already stays as it is.
    pub(super) fn eject(&mut self, slowness: Slowness, now: Timestamp) {
        self.out.get_or_insert(Out {
            since: now,
            slowness,
            next_trial: now.plus_ms(TRIAL_EVERY_MS),
            trials_unheard: 0,
            good_calls: 0,
            good_since: now,
        });
    }

    /// Leaves it in for want of anybody else.
    pub(super) fn hold(&mut self, now: Timestamp) {
        self.held_until = now.plus_ms(HELD_BACK_FOR_MS);
    }

    /// Takes it back; nothing where it is not out.
    pub(super) fn come_back(&mut self, reason: ReturnReason, now: Timestamp) -> Option<Return> {
        let out = self.out.take()?;
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.name == out.slowness.tool) {
            tool.window.clear();
        }
        let Out { since, trials_unheard, good_calls, .. } = out;
        Some(Return { reason, out_for_ms: now.ms_since(since), good_calls, trials_unheard })
    }

    /// Whether it may leave at all: it is in, and was not held back of late.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.out.is_none() && now >= self.held_until
    }

    /// What is said to a search; changes nothing.
    pub(super) fn passage(&self, now: Timestamp) -> Passage {
        match &self.out {
            None => Passage::In,
            Some(out) if now >= out.next_trial => Passage::TrialDue,
            Some(_) => Passage::Out,
        }
    }

    /// Lets the trial that is due through. After too many of which nothing was heard, takes the partner back instead.
    pub(super) fn try_out(&mut self, now: Timestamp) -> Option<Return> {
        let out = self.out.as_mut()?;
        if out.trials_unheard >= TRIALS_UNHEARD_MAX {
            return self.come_back(ReturnReason::NoEvidence, now);
        }
        out.next_trial = now.plus_ms(TRIAL_EVERY_MS);
        out.trials_unheard += 1;
        None
    }

    /// What put it out; absent where it is in.
    pub(super) fn why_out(&self) -> Option<&Slowness> {
        self.out.as_ref().map(|out| &out.slowness)
    }

    /// When a call of it last ended.
    pub(super) fn heard_at(&self) -> Timestamp {
        self.heard_at
    }

    pub(super) fn tools_view(&self, now: Timestamp) -> Vec<ToolView> {
        let view = |tool: &Tool| ToolView {
            tool: tool.name.clone(),
            targets: tool.targets,
            window: tool.window.percentiles(now),
            over_since: tool.window.over_since(now),
        };
        self.tools.iter().map(view).collect()
    }

    pub(super) fn out_view(&self) -> Option<OutView> {
        self.out.as_ref().map(|out| OutView {
            since: out.since,
            slowness: out.slowness.clone(),
            next_trial: out.next_trial,
            good_calls: out.good_calls,
        })
    }
}

impl Out {
    fn hear(&mut self, sample: Option<Sample>, failed: bool, now: Timestamp) {
        if failed || sample.is_some() {
            self.trials_unheard = 0;
        }
        if failed || sample.is_some_and(|sample| sample.slow) {
            self.good_calls = 0;
        } else if sample.is_some_and(|sample| sample.good) {
            if self.good_calls == 0 {
                self.good_since = now;
            }
            self.good_calls = self.good_calls.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: LatencyTargets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None };
    const MINUTE_MS: u64 = 60_000;
    const SEARCH: &str = "search_things";
    const CREATE: &str = "create_booking";

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    /// One partner by itself, which leaves whenever it is due to.
    struct Line {
        pool: Pool,
        left_ms: Vec<u64>,
        returns: Vec<(u64, Return)>,
    }

    impl Line {
        fn new() -> Self {
            Self { pool: Pool::default(), left_ms: Vec::new(), returns: Vec::new() }
        }

        fn call(&mut self, tool: &str, elapsed_ms: u64, now_ms: u64) {
            let sample = Sample::answered(elapsed_ms, TARGETS);
            match self.pool.record(tool, TARGETS, Some(sample), false, at(now_ms)) {
                HealthVerdict::Stays => {}
                HealthVerdict::Due(slowness) => {
                    self.pool.eject(slowness, at(now_ms));
                    self.left_ms.push(now_ms);
                }
                HealthVerdict::Returned(back) => self.returns.push((now_ms, back)),
            }
        }

        /// Searches, one every `every_ms`; the partner takes what `pace` says at that time. Returns how many were let
        /// through.
        fn run(&mut self, from_ms: u64, to_ms: u64, every_ms: u64, pace: impl Fn(u64) -> u64) -> usize {
            let mut through = 0;
            for now_ms in (from_ms..to_ms).step_by(every_ms as usize) {
                match self.pool.passage(at(now_ms)) {
                    Passage::Out => continue,
                    Passage::TrialDue => {
                        if let Some(back) = self.pool.try_out(at(now_ms)) {
                            self.returns.push((now_ms, back));
                        }
                    }
                    Passage::In => {}
                }
                through += 1;
                self.call(SEARCH, pace(now_ms), now_ms);
            }
            through
        }
    }

    #[test]
    fn minute_by_minute() {
        // Slow from minute 2 to minute 12; a search a second.
        let pace = |now_ms: u64| if (2..12).contains(&(now_ms / MINUTE_MS)) { 4_000 } else { 400 };
        let mut line = Line::new();
        // (minute, in the pool at its end, searches let through in it)
        let table = [
            (0, true, 60),
            (1, true, 60),
            (2, true, 60),
            (3, true, 60),
            (4, true, 60),
            (5, true, 60),
            (6, true, 60),
            (7, false, 4),
            (8, false, 2),
            (9, false, 2),
            (10, false, 2),
            (11, false, 2),
            (12, false, 2),
            (13, false, 2),
            (14, true, 29),
            (15, true, 60),
        ];
        for (minute, is_in, through) in table {
            let seen = line.run(minute * MINUTE_MS, (minute + 1) * MINUTE_MS, 1_000, pace);
            assert_eq!((line.pool.out.is_none(), seen), (is_in, through), "minute {minute}");
        }
        assert_eq!(line.left_ms.len(), 1);
        let [(_, back)] = line.returns.as_slice() else { panic!("{:?}", line.returns) };
        assert_eq!((back.reason, back.good_calls), (ReturnReason::Recovered, RETURN_GOOD_CALLS));
        assert_eq!(line.pool.tools[0].window.percentiles(at(16 * MINUTE_MS)).slow, 0);
    }

    #[test]
    fn under_five_minutes_of_slowness_put_nobody_out() {
        for (slow_minutes, left) in [(1, false), (4, false), (5, false), (6, true)] {
            for every_ms in [200, 1_000, 5_000, 13_000] {
                let mut line = Line::new();
                let pace =
                    |now_ms: u64| if (5..5 + slow_minutes).contains(&(now_ms / MINUTE_MS)) { 9_000 } else { 300 };
                line.run(0, 30 * MINUTE_MS, every_ms, pace);
                assert_eq!(!line.left_ms.is_empty(), left, "{slow_minutes} min, a call every {every_ms} ms");
            }
        }
    }

    #[test]
    fn slow_but_not_twice_the_target_stays() {
        let mut line = Line::new();
        line.run(0, 60 * MINUTE_MS, 1_000, |_| 3_000);
        assert!(line.left_ms.is_empty());
        line.run(60 * MINUTE_MS, 66 * MINUTE_MS, 1_000, |_| 3_001);
        assert_eq!(line.left_ms.len(), 1);
    }

    #[test]
    fn a_good_call_puts_nobody_out() {
        let mut line = Line::new();
        // Every other call slow, so that it is over all the time.
        line.run(0, 20 * MINUTE_MS, 1_000, |now_ms| if (now_ms / 1_000).is_multiple_of(2) { 9_000 } else { 300 });
        assert_eq!(
            line.left_ms[0],
            5 * MINUTE_MS + 20_000,
            "five minutes after the twentieth call, rounded up to a slow one"
        );
    }

    #[test]
    fn between_the_bounds_a_call_says_nothing_and_above_them_the_count_begins_anew() {
        let mut line = Line::new();
        line.run(0, 6 * MINUTE_MS, 1_000, |_| 9_000);
        let start_ms = 6 * MINUTE_MS;
        let paces = [300, 300, 300, 300, 300, 2_000, 2_999, 3_001, 300, 300, 300, 300, 300, 2_000, 300];
        for (trial, pace) in (0..).zip(paces) {
            assert!(line.returns.is_empty(), "trial {trial}");
            line.run(start_ms + trial * 30_000, start_ms + trial * 30_000 + 1, 1, |_| pace);
        }
        assert_eq!(line.returns.len(), 1);
    }

    #[test]
    fn a_failed_trial_begins_the_count_anew_and_a_burst_of_good_calls_is_no_recovery() {
        let mut line = Line::new();
        line.run(0, 6 * MINUTE_MS, 1_000, |_| 9_000);
        let start_ms = 6 * MINUTE_MS;
        (0..50).for_each(|_| line.call(SEARCH, 300, start_ms));
        assert!(line.returns.is_empty(), "fifty calls of one moment");
        assert_eq!(line.pool.record(SEARCH, TARGETS, None, true, at(start_ms + MINUTE_MS)), HealthVerdict::Stays);
        line.call(SEARCH, 300, start_ms + 3 * MINUTE_MS);
        assert!(line.returns.is_empty());
        (0..5).for_each(|_| line.call(SEARCH, 300, start_ms + 5 * MINUTE_MS));
        assert_eq!(line.returns.len(), 1);
    }

    #[test]
    fn a_slow_booking_tool_is_measured_by_bookings_and_given_back_for_want_of_them() {
        let mut line = Line::new();
        for second in 0..360 {
            line.call(SEARCH, 300, second * 1_000);
            line.call(CREATE, 9_000, second * 1_000);
        }
        assert_eq!(line.pool.why_out().map(|slowness| slowness.tool.as_str()), Some(CREATE));
        let start_ms = 6 * MINUTE_MS;
        // Good searches are not evidence of the booking tool.
        line.run(start_ms, start_ms + 10 * MINUTE_MS, 1_000, |_| 300);
        assert!(line.returns.is_empty());
        // A booking is heard of: the trials begin anew.
        line.call(CREATE, 9_000, start_ms + 10 * MINUTE_MS);
        line.run(start_ms + 10 * MINUTE_MS, start_ms + 25 * MINUTE_MS, 1_000, |_| 300);
        assert!(line.returns.is_empty());
        line.run(start_ms + 25 * MINUTE_MS, start_ms + 26 * MINUTE_MS, 1_000, |_| 300);
        let [(_, back)] = line.returns.as_slice() else { panic!("{:?}", line.returns) };
        assert_eq!((back.reason, back.trials_unheard), (ReturnReason::NoEvidence, TRIALS_UNHEARD_MAX));
    }

    #[test]
    fn a_partner_that_turns_every_trial_away_is_given_back() {
        let mut line = Line::new();
        line.run(0, 6 * MINUTE_MS, 1_000, |_| 9_000);
        let trials = (1_u64..100).map(|trial| 6 * MINUTE_MS + trial * TRIAL_EVERY_MS);
        let back = trials.map_while(|now_ms| match line.pool.try_out(at(now_ms)) {
            Some(_) => None,
            None => Some(line.pool.record(SEARCH, TARGETS, None, false, at(now_ms))),
        });
        assert_eq!(back.collect::<Vec<_>>(), vec![HealthVerdict::Stays; TRIALS_UNHEARD_MAX as usize]);
        assert!(line.pool.why_out().is_none());
    }

    #[test]
    fn tools_beyond_the_bound_are_not_followed() {
        let mut line = Line::new();
        (0..100).for_each(|tool| line.call(&format!("tool_{tool}"), 1, 0));
        assert_eq!(line.pool.tools.len(), TOOLS_MAX);
    }
}
