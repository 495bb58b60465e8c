//! How the figures of a rollout went over its time: samples of what all gateways have seen, of its whole time and in bounded memory.
//!
//! A gateway takes them while it looks whether a stage has passed. They are of its process alone: what was seen before it started is in
//! the first one.

use std::collections::BTreeMap;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::rates::Counted;

use crate::evidence::{Evidence, Measure};
use crate::policy::RolloutPolicy;
use crate::trials::RolloutId;

/// Samples of one rollout, at most. When there are as many, every second one goes, and from then on half as many are taken.
pub const SAMPLES_MAX: usize = 240;
/// How often a sample is taken at first, milliseconds.
const SAMPLE_EVERY_MS: u64 = 10_000;
/// Intents of which a course is kept; each takes about 60 KB at most.
const INTENTS_MAX: usize = 64;

/// What was known at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseSample {
    pub at: Timestamp,
    /// The stage of then, from 0.
    pub stage: usize,
    /// What was counted since the rollout began.
    pub measures: BTreeMap<Measure, Counted>,
}

/// The course of one rollout, under way or over.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    pub id: RolloutId,
    pub policy: RolloutPolicy,
    /// The oldest first.
    pub samples: Vec<CourseSample>,
    every_ms: u64,
}

impl Course {
    #[must_use]
    pub fn new(id: RolloutId, policy: RolloutPolicy) -> Self {
        Self { id, policy, samples: Vec::new(), every_ms: SAMPLE_EVERY_MS }
    }

    /// Notes what is known now, where it is time for it: the last sample is old enough, or of another stage.
    pub fn note(&mut self, at: Timestamp, stage: usize, evidence: &Evidence) {
        let is_due = |last: &CourseSample| last.stage != stage || at.ms_since(last.at) >= self.every_ms;
        if self.samples.last().is_none_or(is_due) {
            self.add(at, stage, evidence);
        }
    }

    /// Notes what is known now, as the last thing that is known before something is decided.
    pub fn add(&mut self, at: Timestamp, stage: usize, evidence: &Evidence) {
        if self.samples.len() >= SAMPLES_MAX {
            let mut place = 0;
            self.samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every_ms = self.every_ms.saturating_mul(2);
        }
        self.samples.push(CourseSample { at, stage, measures: evidence.measures.clone() });
    }
}

/// The courses of the latest rollout of each intent.
#[derive(Debug, Default)]
pub struct Courses(BTreeMap<IntentId, Course>);

impl Courses {
    /// The course of a rollout that begins; it replaces the one before. None where there is no room.
    pub fn of(&mut self, intent: &IntentId, id: RolloutId, policy: &RolloutPolicy) -> Option<&mut Course> {
        if self.0.len() >= INTENTS_MAX && !self.0.contains_key(intent) {
            return None;
        }
        let course = self.0.entry(intent.clone()).or_insert_with(|| Course::new(id, policy.clone()));
        if course.id != id {
            *course = Course::new(id, policy.clone());
        }
        Some(course)
    }

    #[must_use]
    pub fn find(&self, intent: &str) -> Option<&Course> {
        self.0.get(intent)
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::digest::Digest;

    use super::*;

    fn id(at: u64) -> RolloutId {
        RolloutId { digest: Digest::of(b"candidate"), begun_at_ms: Timestamp::from_ms(at) }
    }

    fn note_empty(of: u64) -> Evidence {
        let mut evidence = Evidence::default();
        (0..of).for_each(|_| evidence.note(Measure::Empty, false, None));
        evidence
    }

    #[test]
    fn samples_are_taken_so_often_and_at_each_stage() {
        let mut course = Course::new(id(0), RolloutPolicy::default());
        for (at, stage) in [(0, 0), (9_999, 0), (10_000, 0), (10_001, 1), (20_000, 1)] {
            course.note(Timestamp::from_ms(at), stage, &note_empty(at / 1_000));
        }
        let taken: Vec<_> = course.samples.iter().map(|one| (one.at.as_ms(), one.stage)).collect();
        assert_eq!(taken, [(0, 0), (10_000, 0), (10_001, 1)]);
        assert_eq!(course.samples[1].measures[&Measure::Empty].of, 10);
    }

    #[test]
    fn a_long_rollout_is_there_from_its_begin_in_bounded_memory() {
        let mut course = Course::new(id(0), RolloutPolicy::default());
        // A day, looked at every second.
        for second in 0..86_400 {
            course.note(Timestamp::from_ms(second * 1_000), 0, &Evidence::default());
        }
        assert!((SAMPLES_MAX / 2..=SAMPLES_MAX).contains(&course.samples.len()), "{}", course.samples.len());
        assert_eq!(course.samples[0].at, Timestamp::EPOCH);
        let last = course.samples.last().expect("the latest").at.as_ms();
        assert!(last + 2 * course.every_ms > 86_399_000, "{last}");
        let gaps = course.samples.windows(2).map(|pair| pair[1].at.ms_since(pair[0].at));
        let (least, most) = gaps.fold((u64::MAX, 0), |(least, most), gap| (least.min(gap), most.max(gap)));
        assert!(least > 0 && most <= 2 * least, "all of it is seen alike: {least} to {most} ms");
    }

    #[test]
    fn an_intent_has_the_course_of_its_latest_rollout() {
        let mut courses = Courses::default();
        let policy = RolloutPolicy::default();
        let intent = |number: usize| IntentId::parse(&format!("test.intent_{number}")).expect("an intent");
        for number in 0..INTENTS_MAX {
            assert!(courses.of(&intent(number), id(1), &policy).is_some());
        }
        assert!(courses.of(&intent(INTENTS_MAX), id(1), &policy).is_none(), "there is no room");
        let course = courses.of(&intent(0), id(1), &policy).expect("it is known");
        course.note(Timestamp::from_ms(5), 0, &note_empty(1));
        assert_eq!(courses.find("test.intent_0").expect("kept").samples.len(), 1);
        courses.of(&intent(0), id(2), &policy).expect("it is known");
        assert_eq!(courses.find("test.intent_0").expect("kept").samples.len(), 0, "another rollout begins anew");
    }
}
