//! The health of several partners together, in virtual time.

use std::time::Duration;

use proptest::prelude::*;

use super::breaker::{BreakerState, CONSECUTIVE_MAX};
use super::pool::TRIAL_EVERY_MS;
use super::*;
use intent_gateway_domain::contract::LatencyTargets;

const TARGETS: LatencyTargets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: Some(3_000) };
const MINUTE_MS: u64 = 60_000;
const START: Timestamp = Timestamp::from_ms(1_700_000_000_000);
const SEARCH: &str = "search_things";

fn intent() -> IntentId {
    IntentId::parse("test.find_things").expect("well formed")
}

fn partner(name: &str) -> PartnerId {
    PartnerId::parse(name).expect("well formed")
}

fn seen<'a>(partner: &'a PartnerId, intent: &'a IntentId, outcome: Outcome, elapsed_ms: u64) -> Observation<'a> {
    let elapsed = Duration::from_millis(elapsed_ms);
    Observation { partner, intent, tool: SEARCH, targets: TARGETS, outcome, elapsed }
}

/// Partners of one intent, all of which a search calls.
struct Town {
    health: Health,
    intent: IntentId,
    partners: Vec<PartnerId>,
    events: Vec<HealthEvent>,
}

impl Town {
    fn new(names: &[&str]) -> Self {
        let partners = names.iter().map(|name| partner(name)).collect();
        Self { health: Health::new(42), intent: intent(), partners, events: Vec::new() }
    }

    /// One search; `how` says what a partner does, by its place. Returns who was called.
    fn search(&mut self, now: Timestamp, how: impl Fn(usize) -> (Outcome, u64)) -> Vec<usize> {
        let Admitted { admissions, events } = self.health.admit(&self.intent, &self.partners, now);
        self.events.extend(events);
        let is_called = |place: &usize| !matches!(admissions[*place], Admission::LeftOut(_));
        let called: Vec<usize> = (0..admissions.len()).filter(is_called).collect();
        for place in &called {
            let (outcome, elapsed_ms) = how(*place);
            let seen = seen(&self.partners[*place], &self.intent, outcome, elapsed_ms);
            self.events.extend(self.health.record(&seen, now));
        }
        called
    }

    /// A search a second over whole minutes from the start; every partner answers in the time given for its place.
    fn minutes(&mut self, minutes: std::ops::Range<u64>, paces: &[u64]) {
        for ms in (minutes.start * MINUTE_MS..minutes.end * MINUTE_MS).step_by(1_000) {
            self.search(START.plus_ms(ms), |place| (Outcome::Answered, paces[place]));
        }
    }

    /// Who is in the pool.
    fn members(&self, now: Timestamp) -> Vec<String> {
        let is_in = |view: &PartnerView| view.intents.iter().all(|intent| intent.out.is_none());
        let views = self.health.view(now).into_iter().filter(is_in);
        views.map(|view| view.partner.to_string()).collect()
    }

    /// Whether no breaker is closed.
    fn is_all_broken(&self, now: Timestamp) -> bool {
        self.health.view(now).iter().all(|view| view.breaker.state != BreakerState::Closed)
    }

    /// What happened since the last time this was asked.
    fn told(&mut self) -> Vec<(String, &'static str)> {
        self.events.drain(..).map(|event| (event.partner.to_string(), event.action())).collect()
    }
}

fn pair(name: &str, action: &'static str) -> (String, &'static str) {
    (name.to_owned(), action)
}

#[test]
fn a_slow_partner_leaves_is_tried_and_returns() {
    let mut town = Town::new(&["fast", "slow"]);
    town.minutes(0..5, &[300, 4_000]);
    assert_eq!(town.told(), []);
    assert_eq!(town.members(START.plus_ms(5 * MINUTE_MS)), ["fast", "slow"]);
    town.minutes(5..6, &[300, 4_000]);
    let left = town.events.first().expect("left").clone();
    assert_eq!(town.told(), [pair("slow", "health.ejected")]);
    let HealthChange::Ejected { slowness, .. } = &left.change else { panic!("{left:?}") };
    assert_eq!(left.at_ms, START.plus_ms(5 * MINUTE_MS + 19_000), "five minutes after the twentieth call");
    assert_eq!((slowness.target_p95_ms, slowness.over_for_ms), (1_500, 5 * MINUTE_MS));
    assert!(slowness.window.slow >= 290 && slowness.window.p95_ms >= 4_000, "{slowness:?}");
    let text = serde_json::to_value(&left).expect("serialises");
    assert_eq!((&text["change"], &text["tool"]), (&"ejected".into(), &SEARCH.into()), "{text}");

    town.minutes(6..8, &[300, 400]);
    assert_eq!(town.members(START.plus_ms(8 * MINUTE_MS)), ["fast"]);
    town.minutes(8..9, &[300, 400]);
    assert_eq!(town.told(), [pair("slow", "health.returned")]);
    town.minutes(9..30, &[300, 400]);
    assert_eq!(town.told(), []);
}

#[test]
fn the_last_one_is_held_back_and_that_is_told_now_and_then() {
    let mut town = Town::new(&["only"]);
    town.minutes(0..17, &[9_000]);
    let held = pair("only", "health.held_back");
    assert_eq!(town.told(), [held.clone(), held.clone(), held]);
    assert_eq!(town.members(START.plus_ms(17 * MINUTE_MS)), ["only"]);
}

#[test]
fn of_two_that_are_slow_the_slower_leaves() {
    for (paces, slower) in [([4_000, 20_000], "b"), ([20_000, 4_000], "a")] {
        let mut town = Town::new(&["a", "b"]);
        town.minutes(0..20, &paces);
        let left = town.members(START.plus_ms(20 * MINUTE_MS));
        assert_eq!(left.len(), 1, "{left:?}");
        assert_ne!(left[0], slower);
        let told = town.told();
        assert_eq!(told.iter().filter(|(who, _)| who == slower).count(), 1, "it does not come and go: {told:?}");
    }
}

#[test]
fn a_search_whose_partners_are_all_out_calls_the_least_slow() {
    let mut town = Town::new(&["fast", "slow", "slower"]);
    town.minutes(0..7, &[300, 5_000, 9_000]);
    let now = START.plus_ms(7 * MINUTE_MS);
    assert_eq!(town.members(now), ["fast"]);
    let admit = |names: &[&str], now| {
        let partners: Vec<PartnerId> = names.iter().map(|name| partner(name)).collect();
        town.health.admit(&town.intent, &partners, now).admissions
    };
    let (go, out) = (Admission::Go, Admission::LeftOut(Cause::Slow));
    let trial = Admission::Probe(Cause::Slow);
    // At this moment a trial is due for both; right after it, none is.
    assert_eq!(admit(&["slower", "slow"], now.plus_ms(TRIAL_EVERY_MS)), [trial, trial]);
    let now = now.plus_ms(TRIAL_EVERY_MS + 1);
    assert_eq!(admit(&["slower", "slow"], now), [out, go]);
    assert_eq!(admit(&["slow", "slower"], now), [go, out]);
    assert_eq!(admit(&["slower"], now), [go]);
    assert_eq!(admit(&["slower", "fast", "slow"], now), [out, go, out]);
    assert_eq!(admit(&["slower", "new"], now), [out, go]);
    assert_eq!(admit(&[], now), []);
    // Another intent knows nothing of it.
    let other = IntentId::parse("test.other").expect("well formed");
    assert_eq!(town.health.admit(&other, &town.partners, now).admissions, [go, go, go]);
}

#[test]
fn a_broken_partner_is_left_out_of_everything_until_one_call_succeeds() {
    let mut town = Town::new(&["well", "down"]);
    let how = |place| if place == 1 { (Outcome::Broken, 20) } else { (Outcome::Answered, 300) };
    for second in 0..u64::from(CONSECUTIVE_MAX) {
        assert_eq!(town.search(START.plus_ms(second * 1_000), how), [0, 1]);
    }
    assert_eq!(town.told(), [pair("down", "health.opened")]);
    let now = START.plus_ms(5_000);
    assert_eq!(town.search(now, how), [0]);
    let (down, intent) = (partner("down"), intent());
    assert_eq!(town.health.admit_call(&down, now), (Admission::LeftOut(Cause::Broken), None));

    let now = START.plus_ms(20_000);
    let (admission, event) = town.health.admit_call(&down, now);
    assert_eq!(admission, Admission::Probe(Cause::Broken));
    assert_eq!(event.map(|event| event.action()), Some("health.half_opened"));
    assert_eq!(town.search(now.plus_ms(1), how), [0], "one at a time");
    let closed = town.health.record(&seen(&down, &intent, Outcome::TurnedAway, 40), now.plus_ms(40));
    assert_eq!(closed.iter().map(HealthEvent::action).collect::<Vec<_>>(), ["health.closed"]);
    assert_eq!(town.search(now.plus_ms(41), how), [0, 1]);
}

#[test]
fn slowness_is_no_reason_to_refuse_an_order() {
    let mut town = Town::new(&["fast", "slow"]);
    town.minutes(0..6, &[300, 4_000]);
    let slow = partner("slow");
    assert_eq!(town.members(START.plus_ms(6 * MINUTE_MS)), ["fast"]);
    assert_eq!(town.health.admit_call(&slow, START.plus_ms(6 * MINUTE_MS)), (Admission::Go, None));
}

#[test]
fn a_trial_is_not_spent_on_a_closed_door() {
    let mut town = Town::new(&["fast", "slow"]);
    town.minutes(0..6, &[300, 4_000]);
    let now = START.plus_ms(6 * MINUTE_MS);
    let slow = partner("slow");
    for _ in 0..CONSECUTIVE_MAX {
        town.health.record(&seen(&slow, &town.intent, Outcome::Broken, 0), now);
    }
    let due = now.plus_ms(TRIAL_EVERY_MS);
    let admissions = |now| town.health.admit(&town.intent, [&slow], now).admissions;
    assert_eq!(admissions(now.plus_ms(3_000)), [Admission::LeftOut(Cause::Slow)], "broken as well: not the least slow");
    assert_eq!(admissions(due), [Admission::Probe(Cause::Broken)]);
    assert_eq!(
        admissions(due.plus_ms(TRIAL_EVERY_MS)),
        [Admission::LeftOut(Cause::Broken)],
        "the one call is under way"
    );
    town.health.record(&seen(&slow, &town.intent, Outcome::Answered, 100), due.plus_ms(TRIAL_EVERY_MS));
    assert_eq!(
        admissions(due.plus_ms(TRIAL_EVERY_MS)),
        [Admission::Probe(Cause::Slow)],
        "which was not counted as a trial"
    );
}

#[test]
fn calls_without_an_answer_open_the_breaker_and_are_slow() {
    let mut town = Town::new(&["well", "hangs"]);
    let how = |place| if place == 1 { (Outcome::TimedOut, 30_000) } else { (Outcome::Answered, 300) };
    let mut called = 0;
    for second in 0..20 * 60 {
        called += town.search(START.plus_ms(second * 1_000), how).len() - 1;
    }
    assert!(called < 40, "of 1,200 searches {called} waited for it");
    let view = town.health.view_of(&partner("hangs"), START.plus_ms(20 * MINUTE_MS)).expect("known");
    assert_ne!(view.breaker.state, BreakerState::Closed);
    // A deadline shorter than the target proves nothing.
    let mut town = Town::new(&["well", "hurried"]);
    for second in 0..600 {
        let how = |place| if place == 1 { (Outcome::TimedOut, 1_499) } else { (Outcome::Answered, 300) };
        assert_eq!(town.search(START.plus_ms(second * 1_000), how), [0, 1]);
    }
    assert_eq!(town.told(), []);
}

#[test]
fn a_storm_of_slow_down_is_nobodys_illness() {
    let mut town = Town::new(&["a", "b"]);
    for second in 0..600 {
        assert_eq!(town.search(START.plus_ms(second * 1_000), |_| (Outcome::Unsaid, 2)), [0, 1]);
    }
    assert_eq!(town.told(), []);
}

#[test]
fn three_strikes_are_told_once_with_their_incidents() {
    let health = Health::new(1);
    let who = partner("a");
    let strike = |id: &str, at| health.strike(&who, "FORBIDDEN_FIELD", id, at);
    assert_eq!(strike("r1", START), None);
    assert_eq!(strike("r2", START.plus_ms(1)), None);
    assert_eq!(strike("r2", START.plus_ms(2)), None);
    let out = strike("r3", START.plus_ms(3)).expect("out");
    let HealthChange::StruckOut(strikes) = &out.change else { panic!("{out:?}") };
    let ids: Vec<&str> = strikes.incidents.iter().map(|incident| incident.id.as_str()).collect();
    assert_eq!(
        (out.action(), strikes.code.as_str(), ids),
        ("health.struck_out", "FORBIDDEN_FIELD", vec!["r1", "r2", "r3"])
    );
    assert_eq!(strike("r4", START.plus_ms(4)), None);
    assert_eq!(health.view(START)[0].strikes.len(), 1);

    // After a restart the pardon comes first.
    let health = Health::new(1);
    health.pardon(&who, START.plus_ms(10));
    for (id, at) in [("r1", START), ("r2", START.plus_ms(1)), ("r3", START.plus_ms(3)), ("r5", START.plus_ms(11))] {
        assert_eq!(health.strike(&who, "FORBIDDEN_FIELD", id, at), None);
    }
    assert_eq!(health.struck(), std::slice::from_ref(&who));
    health.forget_calls(&|_| false);
    assert_eq!(health.view_of(&who, START.plus_ms(11)).map(|view| view.strikes.len()), Some(1), "strikes stay");
    assert_eq!(health.strike(&who, "FORBIDDEN_FIELD", "r3", START.plus_ms(3)), None, "and so does the pardon");
}

#[test]
fn whoever_is_not_routed_any_more_begins_anew() {
    let mut town = Town::new(&["stays", "goes"]);
    town.minutes(0..6, &[300, 4_000]);
    let now = START.plus_ms(6 * MINUTE_MS);
    for who in ["stays", "goes"].map(partner) {
        for _ in 0..CONSECUTIVE_MAX {
            town.health.record(&seen(&who, &town.intent, Outcome::Broken, 0), now);
        }
    }
    assert!(town.is_all_broken(now));
    town.health.forget_calls(&|id| id.as_str() == "stays");
    assert_eq!(town.health.view_of(&partner("goes"), now).map(|view| view.intents.len()), None);
    assert_eq!(town.health.admit_call(&partner("goes"), now).0, Admission::Go);
    assert_eq!(town.health.admit_call(&partner("stays"), now).0, Admission::LeftOut(Cause::Broken));
    let unheard = PartnerView::unheard(&partner("goes"), now);
    assert_eq!((unheard.breaker.state, unheard.intents.len(), unheard.strikes.len()), (BreakerState::Closed, 0, 0));
}

#[test]
fn partners_beyond_the_bound_are_followed_once_others_are_idle() {
    let (health, intent) = (Health::new(1), intent());
    let call = |name: &str, now| {
        let who = partner(name);
        health.record(&seen(&who, &intent, Outcome::Answered, 100), now);
        health.view_of(&who, now).is_some()
    };
    assert!((0..PARTNERS_MAX).all(|number| call(&format!("p{number}"), START)));
    assert!(!call("late", START));
    assert!(health.strike(&partner("kept"), "FORBIDDEN_FIELD", "r1", START).is_none());
    assert_eq!(health.admit(&intent, [&partner("late")], START).admissions, [Admission::Go]);
    assert!(!call("late", START.plus_ms(MINUTE_MS)), "nobody is idle yet");
    assert!(call("late", START.plus_ms(6 * MINUTE_MS)));
    assert_eq!(health.view(START).len(), 1, "the idle ones are forgotten");
}

#[test]
fn two_that_leave_at_once_do_not_empty_the_pool() {
    let (health, intent) = (Health::new(1), intent());
    let partners = ["a", "b", "c", "d"].map(partner);
    std::thread::scope(|scope| {
        for who in &partners {
            scope.spawn(|| {
                for second in 0..30 * 60 {
                    health.record(&seen(who, &intent, Outcome::Answered, 9_000), START.plus_ms(second * 1_000));
                }
            });
        }
    });
    let views = health.view(START.plus_ms(30 * MINUTE_MS));
    assert!(views.iter().any(|view| view.intents[0].out.is_none()), "{views:?}");
}

/// What a partner of a random town does in a minute.
fn pace() -> impl Strategy<Value = (Outcome, u64)> {
    prop_oneof![
        3 => (100_u64..1_500).prop_map(|ms| (Outcome::Answered, ms)),
        4 => (3_001_u64..20_000).prop_map(|ms| (Outcome::Answered, ms)),
        1 => (1_500_u64..3_000).prop_map(|ms| (Outcome::Answered, ms)),
        1 => Just((Outcome::TimedOut, 30_000)),
        1 => Just((Outcome::Broken, 5)),
        1 => Just((Outcome::Unsaid, 5)),
    ]
}

/// Stretches of minutes in which each of three partners keeps a pace.
fn weather() -> impl Strategy<Value = Vec<(u64, [(Outcome, u64); 3])>> {
    prop::collection::vec((1_u64..9, [pace(), pace(), pace()]), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn slowness_never_empties_a_pool(weather in weather(), apart_ms in 1_000_u64..8_000) {
        let mut town = Town::new(&["a", "b", "c"]);
        let mut now = START;
        let mut out_since = [None; 3];
        for (minutes, paces) in weather {
            let end = now.plus_ms(minutes * MINUTE_MS);
            while now < end {
                let called = town.search(now, |place| paces[place]);
                prop_assert!(!called.is_empty() || town.is_all_broken(now), "nobody is called");
                for event in std::mem::take(&mut town.events) {
                    let place = town.partners.iter().position(|it| *it == event.partner).expect("one of them");
                    match &event.change {
                        HealthChange::Ejected { slowness, .. } => {
                            prop_assert!(slowness.over_for_ms >= 5 * MINUTE_MS && slowness.window.p95_ms > 3_000);
                            prop_assert!(out_since[place].replace(now).is_none(), "left twice");
                        }
                        HealthChange::Returned { by, .. } => {
                            let since = out_since[place].take();
                            prop_assert_eq!(since.map(|since| now.ms_since(since)), Some(by.out_for_ms));
                        }
                        HealthChange::HeldBack { slowness, .. } => prop_assert!(slowness.window.p95_ms > 3_000),
                        _ => {}
                    }
                }
                prop_assert!(out_since.contains(&None), "the pool is empty");
                now = now.plus_ms(apart_ms);
            }
        }
        // Whatever happened, half an hour of good answers mends it.
        let end = now.plus_ms(30 * MINUTE_MS);
        while now < end {
            town.search(now, |_| (Outcome::Answered, 200));
            now = now.plus_ms(apart_ms);
        }
        prop_assert_eq!(town.search(now, |_| (Outcome::Answered, 200)), [0, 1, 2]);
        prop_assert_eq!(town.members(now).len(), 3);
    }

    #[test]
    fn the_same_calls_have_the_same_end(weather in weather()) {
        let run = || {
            let mut town = Town::new(&["a", "b", "c"]);
            let mut now = START;
            for (minutes, paces) in &weather {
                for _ in 0..minutes * 12 {
                    town.search(now, |place| paces[place]);
                    now = now.plus_ms(5_000);
                }
            }
            town.events
        };
        prop_assert_eq!(run(), run());
    }
}
