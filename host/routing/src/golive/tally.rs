//! What the samples show of each requirement: counted sample by sample, judged at the end. Of an option nothing is
//! kept but what its requirement counts.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::Value;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::golive::{ItemState, LATENCY_SAMPLES_MIN};

use super::{Sample, state};
use crate::payload::parse_instant;
use intent_gateway_domain::contract::{
    Coverage, Depth, Descriptor, Handling, Minimum, Occasion, RequestTest, Requirement, RequirementCheck, Window,
};
use intent_gateway_domain::digest::Digest;

/// Milliseconds of an hour.
const HOUR_MS: u64 = 60 * 60 * 1_000;
/// The percentile that targets are stated for.
const PERCENTILE: usize = 95;

/// The count of one requirement.
pub(super) enum Tally<'a> {
    Depth(DepthTally<'a>),
    Coverage(CoverageTally<'a>),
    Handling(HandlingTally<'a>),
    Latency { elapsed: Vec<Duration>, target_ms: u32 },
    ByHand(String),
}

impl<'a> Tally<'a> {
    pub(super) fn of(requirement: &'a Requirement, descriptor: &'a Descriptor) -> Self {
        match &requirement.check {
            RequirementCheck::AtLeast(depth) => Self::Depth(DepthTally { depth, points: Vec::new() }),
            RequirementCheck::Covers(coverage) => Self::Coverage(CoverageTally::of(coverage, descriptor)),
            RequirementCheck::Handles(handling) => Self::Handling(HandlingTally::of(handling)),
            RequirementCheck::WithinLatency(tool) => latency(tool, descriptor),
            RequirementCheck::ByHand => Self::ByHand("to be looked into and confirmed".to_owned()),
        }
    }

    pub(super) fn observe(&mut self, sample: &Sample) {
        match self {
            Self::Depth(tally) => tally.observe(sample),
            Self::Coverage(tally) => tally.observe(sample),
            Self::Handling(tally) => tally.observe(sample),
            Self::Latency { elapsed, .. } => elapsed.push(sample.elapsed),
            Self::ByHand(_) => {}
        }
    }

    /// What happened to the requirement, and what was seen.
    pub(super) fn finish(self) -> (ItemState, String) {
        match self {
            Self::Depth(tally) => tally.finish(),
            Self::Coverage(tally) => tally.finish(),
            Self::Handling(tally) => tally.finish(),
            Self::Latency { elapsed, target_ms } => within_latency(elapsed, target_ms),
            Self::ByHand(detail) => (ItemState::ByHand, detail),
        }
    }
}

/// The search is measured; any other tool would act, so people measure it.
fn latency<'a>(tool: &str, descriptor: &Descriptor) -> Tally<'a> {
    let target_ms = descriptor.tool(tool).map_or(0, |tool| tool.latency.p95_ms);
    if tool == descriptor.search.tool {
        return Tally::Latency { elapsed: Vec::new(), target_ms };
    }
    let detail =
        format!("`{tool}` is not called by this check; to be measured and confirmed: p95 at most {target_ms} ms");
    Tally::ByHand(detail)
}

fn within_latency(mut elapsed: Vec<Duration>, target_ms: u32) -> (ItemState, String) {
    let samples = elapsed.len();
    if samples < LATENCY_SAMPLES_MIN {
        let detail = format!("{samples} of {LATENCY_SAMPLES_MIN} samples that a percentile takes");
        return (ItemState::Failed, detail);
    }
    let p95 = find_p95(&mut elapsed);
    let holds = p95 <= Duration::from_millis(u64::from(target_ms));
    (state(holds), format!("p95 of {samples} samples is {} ms; the target is {target_ms} ms", p95.as_millis()))
}

/// The nearest rank: the smallest time that 95 per cent of all do not exceed; zero where there are none. It sorts them.
#[must_use]
pub fn find_p95(elapsed: &mut [Duration]) -> Duration {
    elapsed.sort_unstable();
    let rank = (elapsed.len() * PERCENTILE).div_ceil(100);
    rank.checked_sub(1).map_or(Duration::ZERO, |place| elapsed[place])
}

/// What one option counts for.
struct Point {
    /// Its instant, where there is a window.
    at: Timestamp,
    /// Per minimum, the value by its digest; none where the option has no such value.
    values: Vec<Option<Digest>>,
}

pub(super) struct DepthTally<'a> {
    depth: &'a Depth,
    points: Vec<Point>,
}

impl DepthTally<'_> {
    fn observe(&mut self, sample: &Sample) {
        for (id, option) in &sample.options {
            let at = match &self.depth.within {
                None => Some(Timestamp::EPOCH),
                Some(Window { pointer, .. }) => option.pointer(pointer).and_then(Value::as_str).and_then(parse_instant),
            };
            let value = |minimum: &Minimum| match minimum.pointer.as_str() {
                "" => Some(Digest::of(id.as_bytes())),
                pointer => {
                    let value = option.pointer(pointer).filter(|value| !value.is_null())?;
                    Some(Digest::of(value.to_string().as_bytes()))
                }
            };
            let values = self.depth.minimums.iter().map(value).collect();
            self.points.extend(at.map(|at| Point { at, values }));
        }
    }

    /// The best window, each of which starts with an option; without a window, all options.
    fn finish(mut self) -> (ItemState, String) {
        let minimums = &self.depth.minimums;
        let span_ms = self.depth.within.as_ref().map_or(u64::MAX, |window| u64::from(window.hours) * HOUR_MS);
        self.points.sort_unstable_by_key(|point| point.at);
        let mut counts: Vec<HashMap<Digest, usize>> = vec![HashMap::new(); minimums.len()];
        let mut best = vec![0; minimums.len()];
        let mut end = 0;
        for start in 0..self.points.len() {
            while let Some(point) = self.points.get(end)
                && point.at.ms_since(self.points[start].at) < span_ms
            {
                for (counts, value) in counts.iter_mut().zip(&point.values) {
                    if let Some(value) = value {
                        *counts.entry(*value).or_default() += 1;
                    }
                }
                end += 1;
            }
            let found: Vec<usize> = counts.iter().map(HashMap::len).collect();
            if merit(minimums, &found) > merit(minimums, &best) {
                best = found;
            }
            for (counts, value) in counts.iter_mut().zip(&self.points[start].values) {
                if let Some(value) = value {
                    leave(counts, *value);
                }
            }
        }
        let holds = minimums.iter().zip(&best).all(|(minimum, found)| *found >= wanted(minimum));
        let seen: Vec<_> = minimums
            .iter()
            .zip(&best)
            .map(|(minimum, found)| format!("{found} of {} {}", minimum.count, minimum.counted))
            .collect();
        let window = self.depth.within.as_ref().map(|window| format!(" in the best {} hours", window.hours));
        (state(holds), format!("{} seen{}", seen.join(", "), window.unwrap_or_default()))
    }
}

fn wanted(minimum: &Minimum) -> usize {
    usize::try_from(minimum.count).unwrap_or(usize::MAX)
}

/// One option with this value leaves the window.
fn leave(counts: &mut HashMap<Digest, usize>, value: Digest) {
    if let Some(count) = counts.get_mut(&value) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&value);
        }
    }
}

/// How good a window is: first how many minimums it meets, then how near it comes to the others.
fn merit(minimums: &[Minimum], found: &[usize]) -> (usize, usize) {
    let pairs = || minimums.iter().zip(found);
    let met = pairs().filter(|(minimum, found)| **found >= wanted(minimum)).count();
    (met, pairs().map(|(minimum, found)| (*found).min(wanted(minimum))).sum())
}

/// Whether something was asked for, and found.
#[derive(Clone, Copy, Default)]
struct AskedAndFound {
    asked: bool,
    found: bool,
}

impl AskedAndFound {
    fn note(&mut self, sample: &Sample) {
        self.asked = true;
        self.found |= !sample.options.is_empty();
    }
}

/// What was not asked for and what was asked for in vain, in words.
fn gaps<'a>(served: impl Iterator<Item = (&'a str, AskedAndFound)> + Clone) -> Vec<String> {
    let list = |what: &str, wanted: fn(AskedAndFound) -> bool| {
        let names: Vec<_> = served.clone().filter(|(_, served)| wanted(*served)).map(|(name, _)| name).collect();
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let unasked = list("no sample asks for", |served| !served.asked);
    let unfound = list("asked for without an option", |served| served.asked && !served.found);
    unasked.into_iter().chain(unfound).collect()
}

pub(super) struct CoverageTally<'a> {
    pointer: &'a str,
    values: Vec<(&'a str, AskedAndFound)>,
}

impl<'a> CoverageTally<'a> {
    fn of(coverage: &'a Coverage, descriptor: &'a Descriptor) -> Self {
        let vocabulary = descriptor.vocabularies.iter().find(|one| one.name == coverage.vocabulary);
        let values = vocabulary.map_or(&[][..], |vocabulary| &vocabulary.values);
        let values = values.iter().map(|value| (value.as_str(), AskedAndFound::default())).collect();
        Self { pointer: &coverage.pointer, values }
    }

    fn observe(&mut self, sample: &Sample) {
        let asked = sample.request.pointer(self.pointer).and_then(Value::as_str);
        for (_, served) in self.values.iter_mut().filter(|(value, _)| asked == Some(*value)) {
            served.note(sample);
        }
    }

    fn finish(self) -> (ItemState, String) {
        let found = self.values.iter().filter(|(_, served)| served.found).count();
        let mut detail = vec![format!("{found} of {} values found", self.values.len())];
        detail.extend(gaps(self.values.iter().copied()));
        (state(found == self.values.len()), detail.join("; "))
    }
}

pub(super) struct HandlingTally<'a> {
    occasions: Vec<(&'a Occasion, AskedAndFound)>,
    /// How often each rule was broken.
    broken: BTreeMap<&'a str, usize>,
    /// Options that passed.
    options: usize,
}

impl<'a> HandlingTally<'a> {
    fn of(handling: &'a Handling) -> Self {
        Self {
            occasions: handling.occasions.iter().map(|occasion| (occasion, AskedAndFound::default())).collect(),
            broken: handling.unbroken.iter().map(|code| (code.as_str(), 0)).collect(),
            options: 0,
        }
    }

    fn observe(&mut self, sample: &Sample) {
        for (_, served) in self.occasions.iter_mut().filter(|(occasion, _)| is_asked(occasion, &sample.request)) {
            served.note(sample);
        }
        for (code, count) in &mut self.broken {
            *count += sample.breaches.get(*code).copied().unwrap_or(0);
        }
        self.options += sample.options.len();
    }

    /// Rules judge options whose shape is sound alone, so that breaches are told of only where one has passed.
    fn finish(self) -> (ItemState, String) {
        let broken = self.broken.iter().filter(|(_, count)| **count > 0);
        let broken: Vec<_> = broken.map(|(code, count)| format!("breaches of `{code}`: {count}")).collect();
        let mut wrong = gaps(self.occasions.iter().map(|(occasion, served)| (occasion.text.as_str(), *served)));
        wrong.extend(broken);
        if self.options == 0 {
            wrong.push("no option has passed".to_owned());
        }
        if wrong.is_empty() { (ItemState::Passed, self.passed()) } else { (ItemState::Failed, wrong.join("; ")) }
    }

    fn passed(&self) -> String {
        let served = (!self.occasions.is_empty()).then(|| format!("{} of {0} occasions found", self.occasions.len()));
        let unbroken = (!self.broken.is_empty()).then(|| format!("options without a breach: {}", self.options));
        served.into_iter().chain(unbroken).collect::<Vec<_>>().join("; ")
    }
}

/// Whether a request is one of a kind.
fn is_asked(occasion: &Occasion, request: &Value) -> bool {
    let Some(value) = request.pointer(&occasion.pointer) else { return false };
    match &occasion.test {
        RequestTest::Equals(wanted) => is_same(value, wanted),
        RequestTest::Includes(wanted) => {
            value.as_array().is_some_and(|entries| entries.iter().any(|entry| is_same(entry, wanted)))
        }
        RequestTest::Above(bound) => value.as_f64().is_some_and(|number| number > *bound),
    }
}

/// Numbers are the same by their value, however they are written; all else by what it is.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_the_nearest_rank() {
        let state_of = |count: u64, slow: u64, target_ms: u32| {
            let elapsed = (0..count).map(|n| Duration::from_millis(if n < slow { 900 } else { 100 })).collect();
            within_latency(elapsed, target_ms).0
        };
        // One of 20 is five per cent and may be slow; two are not.
        assert_eq!(state_of(20, 1, 100), ItemState::Passed);
        assert_eq!(state_of(20, 2, 100), ItemState::Failed);
        assert_eq!(state_of(20, 2, 900), ItemState::Passed);
        // Of fewer, none may be.
        assert_eq!(state_of(5, 1, 100), ItemState::Failed);
        assert_eq!(state_of(19, 1, 899), ItemState::Failed);
        assert_eq!(state_of(50, 2, 100), ItemState::Passed);
        assert_eq!(state_of(50, 3, 100), ItemState::Failed);
    }
}
