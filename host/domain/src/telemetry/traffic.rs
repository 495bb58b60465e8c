//! What went on lately: a sample every ten seconds, of the last hour.
//!
//! Metrics say what was counted since the start. Whoever wants to see a course over time has a system that scrapes them; this is for whoever has
//! none at hand, and for pages. It is of this process alone and ends with it. Memory is bounded: so many intents, so many tools of partners, so
//! many samples of each. What is noted beyond them is in the metrics all the same.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use super::{BUCKETS_SECONDS, Outcome, Stage};
use crate::clock::Timestamp;

/// How often a sample is taken, milliseconds.
pub const SAMPLE_EVERY_MS: u64 = 10_000;
/// Samples that are kept of each series: an hour.
pub const SAMPLES_KEPT: usize = 360;
/// Intents of which samples are kept; an hour of each takes about 30 KB.
const INTENTS_MAX: usize = 64;
/// Tools of partners of which samples are kept, each of an intent; an hour of each takes about 14 KB.
const TOOLS_MAX: usize = 1_024;
const BUCKETS: usize = BUCKETS_SECONDS.len() + 1;
const OUTCOMES: usize = Outcome::ALL.len();
const STAGES: usize = Stage::ALL.len();

/// What went on at one intent in one span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentSample {
    /// Its end.
    pub at: Timestamp,
    /// Searches, in the order of [`Outcome::ALL`].
    pub searches: [u32; OUTCOMES],
    /// The 99th percentile of each stage, microseconds, in the order of [`Stage::ALL`]; `None` where it was not come to.
    pub p99_us: [Option<u32>; STAGES],
}

/// How one tool of a partner did in one span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSample {
    /// Its end.
    pub at: Timestamp,
    /// Calls; retries are calls of their own.
    pub calls: u32,
    /// Those of them that failed.
    pub failed: u32,
    /// Percentiles of their times, microseconds; `None` without a call.
    pub p50_us: Option<u32>,
    pub p95_us: Option<u32>,
    pub p99_us: Option<u32>,
}

/// The samples of one tool.
#[derive(Clone, Debug)]
pub struct ToolSeries {
    pub intent: Arc<str>,
    pub tool: Arc<str>,
    /// The oldest first.
    pub samples: Vec<ToolSample>,
}

/// Durations since the last sample, in the buckets of the histograms.
#[derive(Default)]
struct Times([AtomicU32; BUCKETS]);

impl Times {
    fn note(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BUCKETS_SECONDS.partition_point(|end| *end < seconds);
        if let Some(count) = self.0.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn take(&self) -> [u32; BUCKETS] {
        self.0.each_ref().map(|count| count.swap(0, Ordering::Relaxed))
    }
}

/// A percentile of what was counted in buckets, microseconds: as if durations were spread evenly in each bucket.
fn percentile(counts: &[u32; BUCKETS], share: f64) -> Option<u32> {
    let all: u32 = counts.iter().fold(0, |sum, count| sum.saturating_add(*count));
    if all == 0 {
        return None;
    }
    let wanted = share * f64::from(all);
    let (mut below, mut start) = (0.0, 0.0);
    for (count, end) in counts.iter().zip(BUCKETS_SECONDS) {
        let count = f64::from(*count);
        if count > 0.0 && below + count >= wanted {
            let within = ((wanted - below) / count).clamp(0.0, 1.0);
            return Some(micros(start + (end - start) * within));
        }
        below += count;
        start = end;
    }
    // Longer than the last bucket is long: nobody knows by how much.
    Some(micros(start))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 30 seconds, and never negative")]
fn micros(seconds: f64) -> u32 {
    (seconds * 1e6).round() as u32
}

#[derive(Default)]
struct IntentCounts {
    searches: [AtomicU32; OUTCOMES],
    stages: [Times; STAGES],
    samples: Mutex<VecDeque<IntentSample>>,
}

#[derive(Default)]
struct ToolCounts {
    calls: AtomicU32,
    failed: AtomicU32,
    times: Times,
    samples: Mutex<VecDeque<ToolSample>>,
}

/// A tool of a partner, with what it is of.
struct Tool {
    intent: Arc<str>,
    name: Arc<str>,
    counts: Arc<ToolCounts>,
}

/// The samples of this process, and what is counted for the next ones.
#[derive(Default)]
pub struct Traffic {
    intents: RwLock<BTreeMap<Arc<str>, Arc<IntentCounts>>>,
    tools: RwLock<Tools>,
}

#[derive(Default)]
struct Tools {
    count: usize,
    by_partner: HashMap<Arc<str>, Vec<Tool>>,
}

/// That of this process.
pub fn lately() -> &'static Traffic {
    static LATELY: LazyLock<Traffic> = LazyLock::new(Traffic::default);
    &LATELY
}

impl Traffic {
    pub(super) fn note_search(&self, intent: &str, outcome: Outcome) {
        let place = Outcome::ALL.iter().position(|one| *one == outcome);
        let counts = self.of_intent(intent);
        if let Some(count) = counts.as_ref().zip(place).and_then(|(counts, place)| counts.searches.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn note_stage(&self, intent: &str, stage: Stage, took: Duration) {
        let place = Stage::ALL.iter().position(|one| *one == stage);
        let counts = self.of_intent(intent);
        if let Some(times) = counts.as_ref().zip(place).and_then(|(counts, place)| counts.stages.get(place)) {
            times.note(took);
        }
    }

    pub(super) fn note_call(&self, (partner, intent, tool): (&str, &str, &str), took: Duration, is_ok: bool) {
        let Some(counts) = self.of_tool(partner, intent, tool) else { return };
        counts.calls.fetch_add(1, Ordering::Relaxed);
        counts.failed.fetch_add(u32::from(!is_ok), Ordering::Relaxed);
        counts.times.note(took);
    }

    fn of_intent(&self, intent: &str) -> Option<Arc<IntentCounts>> {
        if let Some(known) = self.intents.read().unwrap_or_else(PoisonError::into_inner).get(intent) {
            return Some(known.clone());
        }
        let mut intents = self.intents.write().unwrap_or_else(PoisonError::into_inner);
        let has_room = intents.len() < INTENTS_MAX || intents.contains_key(intent);
        has_room.then(|| intents.entry(intent.into()).or_default().clone())
    }

    fn of_tool(&self, partner: &str, intent: &str, tool: &str) -> Option<Arc<ToolCounts>> {
        let is_it = |one: &Tool| &*one.intent == intent && &*one.name == tool;
        let find = |tools: &Tools| Some(tools.by_partner.get(partner)?.iter().find(|one| is_it(one))?.counts.clone());
        if let Some(known) = find(&self.tools.read().unwrap_or_else(PoisonError::into_inner)) {
            return Some(known);
        }
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = find(&tools) {
            return Some(known);
        }
        if tools.count >= TOOLS_MAX {
            return None;
        }
        tools.count += 1;
        let counts = Arc::<ToolCounts>::default();
        let new = Tool { intent: intent.into(), name: tool.into(), counts: counts.clone() };
        tools.by_partner.entry(partner.into()).or_default().push(new);
        Some(counts)
    }

    /// Takes a sample of all. What was quiet for as long as samples are kept is forgotten.
    pub fn sample(&self, at: Timestamp) {
        self.intents.write().unwrap_or_else(PoisonError::into_inner).retain(|_, counts| {
            let sample = IntentSample {
                at,
                searches: counts.searches.each_ref().map(|count| count.swap(0, Ordering::Relaxed)),
                p99_us: counts.stages.each_ref().map(|times| percentile(&times.take(), 0.99)),
            };
            let mut samples = lock(&counts.samples);
            keep(&mut samples, sample);
            samples
                .iter()
                .any(|one| one.searches.iter().any(|count| *count > 0) || one.p99_us.iter().any(Option::is_some))
        });
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        tools.by_partner.retain(|_, tools| {
            tools.retain(|tool| {
                let times = tool.counts.times.take();
                let sample = ToolSample {
                    at,
                    calls: tool.counts.calls.swap(0, Ordering::Relaxed),
                    failed: tool.counts.failed.swap(0, Ordering::Relaxed),
                    p50_us: percentile(&times, 0.5),
                    p95_us: percentile(&times, 0.95),
                    p99_us: percentile(&times, 0.99),
                };
                let mut samples = lock(&tool.counts.samples);
                keep(&mut samples, sample);
                samples.iter().any(|one| one.calls > 0)
            });
            !tools.is_empty()
        });
        tools.count = tools.by_partner.values().map(Vec::len).sum();
    }

    /// The samples of each intent, the oldest first; of one alone where it is named.
    #[must_use]
    pub fn intents(&self, only: Option<&str>) -> Vec<(Arc<str>, Vec<IntentSample>)> {
        let intents = self.intents.read().unwrap_or_else(PoisonError::into_inner);
        let chosen = intents.iter().filter(|(intent, _)| only.is_none_or(|only| &***intent == only));
        chosen.map(|(intent, counts)| (intent.clone(), lock(&counts.samples).iter().cloned().collect())).collect()
    }

    /// The samples of each tool of a partner, by intent and tool.
    #[must_use]
    pub fn tools_of(&self, partner: &str) -> Vec<ToolSeries> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let own = tools.by_partner.get(partner).into_iter().flatten();
        let mut series: Vec<_> = own
            .map(|tool| ToolSeries {
                intent: tool.intent.clone(),
                tool: tool.name.clone(),
                samples: lock(&tool.counts.samples).iter().cloned().collect(),
            })
            .collect();
        series.sort_by(|one, other| (&one.intent, &one.tool).cmp(&(&other.intent, &other.tool)));
        series
    }
}

fn lock<T>(samples: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while the lock is held, so a poisoned one still holds good samples.
    samples.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep<T>(samples: &mut VecDeque<T>, sample: T) {
    if samples.len() >= SAMPLES_KEPT {
        samples.pop_front();
    }
    samples.push_back(sample);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nth: u64) -> Timestamp {
        Timestamp::from_ms(nth * SAMPLE_EVERY_MS)
    }

    #[test]
    fn a_sample_tells_what_was_since_the_last() {
        let traffic = Traffic::default();
        for outcome in [Outcome::Ok, Outcome::Ok, Outcome::Empty] {
            traffic.note_search("auto.fix", outcome);
        }
        traffic.note_stage("auto.fix", Stage::Check, Duration::from_millis(8));
        traffic.note_call(("ptr_1", "auto.fix", "find"), Duration::from_millis(80), true);
        traffic.note_call(("ptr_1", "auto.fix", "find"), Duration::from_secs(60), false);
        traffic.sample(at(1));
        traffic.note_search("auto.fix", Outcome::Failed);
        traffic.sample(at(2));
        let intents = traffic.intents(None);
        let [(intent, samples)] = &intents[..] else { panic!("{intents:?}") };
        assert_eq!((&**intent, samples.len()), ("auto.fix", 2));
        assert_eq!((samples[0].searches, samples[1].searches), ([2, 1, 0, 0, 0], [0, 0, 0, 1, 0]));
        assert_eq!(samples[0].p99_us[0], Some(9_950), "within the bucket of 5 to 10 ms");
        assert_eq!(samples[0].p99_us[1..], [None; STAGES - 1]);
        assert_eq!(samples[1].p99_us, [None; STAGES]);
        let tools = traffic.tools_of("ptr_1");
        let [first, second] = &tools[0].samples[..] else { panic!("{tools:?}") };
        assert_eq!((first.calls, first.failed, first.p50_us, first.p99_us), (2, 1, Some(100_000), Some(30_000_000)));
        assert_eq!((second.calls, second.p50_us), (0, None));
        assert!(traffic.tools_of("ptr_2").is_empty() && traffic.intents(Some("auto.other")).is_empty());
    }

    #[test]
    fn memory_is_bounded_and_what_is_quiet_is_forgotten() {
        let traffic = Traffic::default();
        for number in 0..2 * TOOLS_MAX {
            traffic.note_search(&format!("auto.fix{number}"), Outcome::Ok);
            traffic.note_call((&format!("ptr_{number}"), "auto.fix", "find"), Duration::ZERO, true);
        }
        traffic.sample(at(0));
        assert_eq!(traffic.intents(None).len(), INTENTS_MAX);
        assert_eq!(traffic.tools.read().expect("whole").by_partner.len(), TOOLS_MAX);
        for nth in 1..SAMPLES_KEPT as u64 {
            traffic.note_search("auto.fix0", Outcome::Ok);
            traffic.sample(at(nth));
        }
        assert_eq!(traffic.intents(None).len(), INTENTS_MAX, "an hour is not over");
        traffic.note_search("auto.fix0", Outcome::Ok);
        traffic.sample(at(SAMPLES_KEPT as u64));
        let left = traffic.intents(None);
        assert_eq!((left.len(), left[0].1.len(), left[0].1[0].at), (1, SAMPLES_KEPT, at(1)));
        assert!(traffic.tools.read().expect("whole").by_partner.is_empty());
        traffic.note_call(("ptr_new", "auto.fix", "find"), Duration::ZERO, true);
        assert_eq!(traffic.tools_of("ptr_new").len(), 1, "there is room again");
    }

    #[test]
    fn percentiles_are_within_their_bucket() {
        let mut counts = [0; BUCKETS];
        assert_eq!(percentile(&counts, 0.99), None);
        counts[0] = 98;
        counts[BUCKETS - 1] = 2;
        assert_eq!(percentile(&counts, 0.5), Some(255));
        assert_eq!(percentile(&counts, 0.99), Some(30_000_000));
    }
}
