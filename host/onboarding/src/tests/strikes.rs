//! Partners' health in service, in virtual time: from calls and findings to the audit log, the suspension and back.

use std::time::Duration;

use futures_executor::block_on;
use serde_json::Value;

use super::world::{INTENT, START, World, actor, asked_by, endpoint};
use crate::connection::ConnectionState;
use crate::records::Connection;
use crate::{OnboardingError, StrikeOrder, StrikeWatch};
use intent_gateway_domain::contract::{LatencyTargets, Violation};
use intent_gateway_domain::findings::{Finding, Severity, Source};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Journal as _;
use intent_gateway_outbound::health::breaker::CONSECUTIVE_MAX;
use intent_gateway_outbound::health::{Admission, Health, Observation, Outcome};
use intent_gateway_testing::health::RecordedHealth;
use intent_gateway_testing::journal::MemoryJournal;

const FORBIDDEN: &str = "FORBIDDEN_FIELD";
const WARRANTY: &str = "WARRANTY_DECLINED";
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const MINUTE_MS: u64 = 60 * 1_000;

/// One gateway process on the store of a world.
struct Process<'a> {
    world: &'a World,
    found: &'a MemoryJournal,
    health: Health,
    watch: StrikeWatch,
    told: RecordedHealth,
}

impl<'a> Process<'a> {
    fn start(world: &'a World, found: &'a MemoryJournal) -> Self {
        let (health, mut watch) = (Health::new(7), StrikeWatch::default());
        block_on(world.onboarding.strikes.recall(found, &health, &mut watch)).expect("readable");
        Self { world, found, health, watch, told: RecordedHealth::default() }
    }

    /// What the process does from second to second.
    fn tick(&mut self) {
        let onboarding = &self.world.onboarding;
        block_on(onboarding.strikes.follow(self.found, &self.health, &mut self.watch, &self.told)).expect("readable");
        block_on(onboarding.strikes.settle(&self.health)).expect("readable");
    }

    fn strikes(&self, partner: &PartnerId) -> usize {
        let view = self.health.view_of(partner, self.world.now());
        view.map_or(0, |view| view.strikes.iter().map(|strikes| strikes.incidents.len()).sum())
    }
}

impl World {
    fn finding(&self, partner: &PartnerId, code: &str, incident: &str) -> Finding {
        Finding {
            at_ms: self.now(),
            partner: partner.clone(),
            intent: INTENT.to_owned(),
            request_id: incident.to_owned(),
            source: Some(Source::Search),
            option_place: Some(2),
            option_id: Some("s-2".to_owned()),
            external_id: None,
            severity: Severity::Strike,
            violation: Violation { pointer: "/ad_bid".to_owned(), code: code.to_owned(), message: "seen".to_owned() },
            excerpt: Some("12.50".to_owned()),
        }
    }

    fn state(&self, partner: &PartnerId) -> Connection {
        block_on(self.onboarding.connections.get(partner)).expect("there")
    }

    fn count(&self, action: &str) -> usize {
        self.actions().iter().filter(|done| *done == action).count()
    }

    fn lifted(&self, partner: &PartnerId) {
        block_on(self.onboarding.connections.lift(partner, "the field is gone", &actor("admin"))).expect("lifted");
    }

    /// From the sandbox to live once more.
    fn relive(&self, partner: &PartnerId) {
        if self.state(partner).pardoned_at_ms.is_some() {
            self.approve(partner);
        }
        block_on(self.onboarding.probes.run(partner, &actor("admin"))).expect("probed");
        self.test(partner);
        block_on(self.onboarding.connections.switch_on(partner, &actor("admin"))).expect("switched on");
    }
}

#[test]
fn the_third_strike_suspends_and_the_partner_is_told() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    world.mails();
    let mut process = Process::start(&world, &found);
    for incident in ["r1", "r1", "r2"] {
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    process.tick();
    assert_eq!((process.strikes(&partner), world.state(&partner).state), (2, ConnectionState::Live));
    found.record(Finding { severity: Severity::Drop, ..world.finding(&partner, FORBIDDEN, "r3") });
    found.record(world.finding(&partner, WARRANTY, "r3"));
    process.tick();
    assert_eq!(world.state(&partner).state, ConnectionState::Live, "three of one rule");
    assert_eq!(world.mails().len(), 2, "the strikes that do not suspend were told");
    world.pass_ms(DAY_MS);
    let order = Finding { external_id: Some("BK-7".to_owned()), ..world.finding(&partner, FORBIDDEN, "r1") };
    found.record(order);
    process.tick();

    let suspended = world.state(&partner);
    assert_eq!(suspended.state, ConnectionState::Suspended);
    assert!(world.routed().is_empty());
    let suspension = suspended.suspension.expect("there");
    assert_eq!(suspension.by.role, "gateway");
    for part in [FORBIDDEN, "r1", "r2", "BK-7", "90 days"] {
        assert!(suspension.reason.contains(part), "{}", suspension.reason);
    }
    let mails = world.mails();
    assert!(mails.len() == 1 && mails[0].text.contains(&suspension.reason), "{mails:?}");
    let log = world.store.log();
    let [.., struck, taken] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!((struck.action.as_str(), taken.action.as_str()), ("health.struck_out", "connection.suspended"));
    let detail: Value = serde_json::from_str(&struck.detail).expect("JSON");
    assert_eq!((&detail["code"], &detail["incidents"][2]["id"]), (&FORBIDDEN.into(), &"BK-7".into()), "{detail}");
    assert_eq!(process.told.events(), [], "it is in the log already");

    // More of the same changes nothing.
    found.record(world.finding(&partner, FORBIDDEN, "r9"));
    process.tick();
    assert_eq!((world.count("connection.suspended"), world.mails().len()), (1, 0));
}

#[test]
fn a_strike_is_told_with_what_was_sent_once_whichever_process_finds_it() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    world.mails();
    let (mut one, mut two) = (Process::start(&world, &found), Process::start(&world, &found));
    // Two options of one request are one incident.
    for message in ["paid placement", "paid placement again"] {
        let mut finding = world.finding(&partner, FORBIDDEN, "r1");
        finding.violation.message = message.to_owned();
        found.record(finding);
    }
    one.tick();
    two.tick();
    one.tick();
    let [mail] = world.mails().try_into().expect("one mail for one incident");
    assert_eq!((mail.to.as_str(), world.count("partner.strike_told")), ("ops@coolcar.example", 1));
    for part in [
        "FORBIDDEN_FIELD: paid placement\n",
        "request: r1",
        "option: s-2",
        "option's place: 3",
        "field: /ad_bid",
        "sent: 12.50",
        "incident 1 of 3",
        "suspend",
        &format!("/accounts/{partner}/findings?severity=strike"),
    ] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    world.pass_ms(DAY_MS);
    found.record(world.finding(&partner, FORBIDDEN, "r2"));
    two.tick();
    one.tick();
    let [mail] = world.mails().try_into().expect("one mail");
    assert!(mail.text.contains("request: r2") && mail.text.contains("incident 2 of 3"), "{}", mail.text);
    // A process that starts later tells nothing anew.
    Process::start(&world, &found).tick();
    assert_eq!(world.mails(), []);
}

#[test]
fn a_suspension_is_told_with_every_incident_and_what_lifts_it() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let mut process = Process::start(&world, &found);
    for incident in ["r1", "r2", "r3"] {
        let mut finding = world.finding(&partner, FORBIDDEN, incident);
        finding.excerpt = Some(format!("\"bid of {incident}\""));
        found.record(finding);
    }
    world.mails();
    process.tick();
    let [mail] = world.mails().try_into().expect("the suspension alone: what led to it stands there");
    assert_eq!(mail.subject, "Your connection was suspended");
    let places = ["r1", "r2", "r3"].map(|incident| mail.text.find(&format!("sent: \"bid of {incident}\"")));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", mail.text);
    for part in ["field: /ad_bid", "What lifts it", "a probe and a test", "findings?severity=strike"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
}

#[test]
fn one_mail_tells_of_many_rules_in_a_bounded_way() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    world.mails();
    for rule in 0..8 {
        found.record(world.finding(&partner, &format!("RULE_{rule}"), "r1"));
    }
    let mut process = Process::start(&world, &found);
    process.tick();
    let [mail] = world.mails().try_into().expect("one mail");
    assert_eq!(mail.text.matches("incident 1 of 3").count(), 5, "{}", mail.text);
    assert!(mail.text.contains("and 3 more"), "{}", mail.text);
    process.tick();
    assert_eq!(world.mails(), [], "those are told as well");
}

#[test]
fn strikes_of_long_ago_are_no_news() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    world.mails();
    found.record(world.finding(&partner, FORBIDDEN, "r1"));
    world.pass_ms(DAY_MS + 1);
    Process::start(&world, &found).tick();
    assert_eq!(world.mails(), []);
}

#[test]
fn several_processes_suspend_once_and_a_new_one_not_again() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let (mut one, mut two) = (Process::start(&world, &found), Process::start(&world, &found));
    for incident in ["r1", "r2", "r3"] {
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    one.tick();
    two.tick();
    let mut late = Process::start(&world, &found);
    late.tick();
    assert_eq!([&one, &two, &late].map(|process| process.strikes(&partner)), [3; 3]);
    assert_eq!((world.count("connection.suspended"), world.count("health.struck_out")), (1, 1));
    // A process that starts between the finding and the suspension takes it up.
    let other = World::new();
    let partner = other.live();
    for incident in ["r1", "r2", "r3"] {
        found.record(other.finding(&partner, FORBIDDEN, incident));
    }
    let mut next = Process::start(&other, &found);
    assert_eq!(other.state(&partner).state, ConnectionState::Live);
    next.tick();
    assert_eq!(other.state(&partner).state, ConnectionState::Suspended);
}

#[test]
fn a_lifted_suspension_is_a_pardon_everywhere_and_for_good() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let (mut one, mut two) = (Process::start(&world, &found), Process::start(&world, &found));
    for incident in ["r1", "r2", "r3"] {
        world.pass_ms(DAY_MS);
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    one.tick();
    two.tick();
    world.pass_ms(DAY_MS);
    world.lifted(&partner);
    assert_eq!(world.state(&partner).pardoned_at_ms, Some(START.plus_ms(4 * DAY_MS)));
    world.relive(&partner);
    let mut late = Process::start(&world, &found);
    for process in [&mut one, &mut two, &mut late] {
        process.tick();
        assert_eq!(process.strikes(&partner), 0);
    }
    assert_eq!((world.state(&partner).state, world.count("connection.suspended")), (ConnectionState::Live, 1));
    // It may begin anew, and be suspended anew.
    for incident in ["r4", "r5"] {
        world.pass_ms(1);
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    for process in [&mut one, &mut two, &mut late] {
        process.tick();
        assert_eq!(process.strikes(&partner), 2);
    }
    assert_eq!(world.count("connection.suspended"), 1);
    found.record(world.finding(&partner, FORBIDDEN, "r6"));
    for process in [&mut two, &mut late, &mut one] {
        process.tick();
    }
    assert_eq!((world.count("connection.suspended"), world.count("health.struck_out")), (2, 2));
}

#[test]
fn a_process_that_has_not_heard_of_the_pardon_suspends_nobody_for_what_was() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let mut process = Process::start(&world, &found);
    for incident in ["r1", "r2"] {
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    process.tick();
    block_on(world.onboarding.connections.suspend(&partner, "by hand", &actor("admin"))).expect("suspended");
    world.pass_ms(DAY_MS);
    world.lifted(&partner);
    world.relive(&partner);
    world.pass_ms(1);
    found.record(world.finding(&partner, FORBIDDEN, "r3"));
    // Strikes first, pardons after: the third comes before the pardon is heard of.
    process.tick();
    assert_eq!((world.state(&partner).state, world.count("health.struck_out")), (ConnectionState::Live, 0));
    assert_eq!(process.strikes(&partner), 1, "the two of before are pardoned");
}

#[test]
fn whoever_leaves_live_traffic_at_the_third_strike_is_suspended_when_it_returns() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let mut process = Process::start(&world, &found);
    for incident in ["r1", "r2", "r3"] {
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    block_on(world.onboarding.connections.register(&partner, &endpoint("moved"), &asked_by("partner"))).expect("taken");
    process.tick();
    assert_eq!(world.state(&partner).state, ConnectionState::Sandbox);
    world.relive(&partner);
    process.tick();
    assert_eq!(world.state(&partner).state, ConnectionState::Suspended);
}

#[test]
fn strikes_from_before_the_window_are_not_told() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    for incident in ["r1", "r2"] {
        found.record(world.finding(&partner, FORBIDDEN, incident));
    }
    world.pass_ms(91 * DAY_MS);
    found.record(world.finding(&partner, FORBIDDEN, "r3"));
    let mut process = Process::start(&world, &found);
    process.tick();
    assert_eq!((process.strikes(&partner), world.state(&partner).state), (1, ConnectionState::Live));
    // As many as it takes to read in several pages.
    for _ in 0..1_200 {
        found.record(world.finding(&partner, WARRANTY, "r4"));
    }
    found.record(world.finding(&partner, FORBIDDEN, "r5"));
    found.record(world.finding(&partner, FORBIDDEN, "r6"));
    process.tick();
    assert_eq!(world.state(&partner).state, ConnectionState::Suspended);
}

#[test]
fn what_the_platform_team_has_seen_counts_as_well() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let mut process = Process::start(&world, &found);
    for order in ["BK-1", "BK-2", "BK-3"] {
        let order = StrikeOrder {
            intent: IntentId::parse(INTENT).expect("well formed"),
            code: WARRANTY.to_owned(),
            external_id: order.to_owned(),
            reason: "the user was sent away".to_owned(),
        };
        let finding =
            block_on(world.onboarding.strikes.record_strike(&partner, &order, &actor("admin"))).expect("kept");
        found.record(finding);
        process.tick();
    }
    assert_eq!((world.count("partner.strike_recorded"), world.count("connection.suspended")), (3, 1));
    let reason = world.state(&partner).suspension.expect("there").reason;
    assert!(reason.contains("WARRANTY_DECLINED") && reason.contains("BK-1, BK-2, BK-3"), "{reason}");
}

#[test]
fn a_reason_is_bounded_whatever_the_names_are() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let mut process = Process::start(&world, &found);
    for end in ["1", "2", "3"] {
        let finding = world.finding(&partner, &"C".repeat(2_000), &format!("\u{1b}{}{end}", "☂".repeat(600)));
        found.record(finding);
    }
    process.tick();
    let reason = world.state(&partner).suspension.expect("there").reason;
    assert!(reason.chars().count() < crate::TEXT_MAX_CHARS && !reason.contains('\u{1b}'), "{reason}");
}

const TARGETS: LatencyTargets = LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None };

/// A call that took so long, now; its changes go to the audit log.
fn call(process: &Process<'_>, partner: &PartnerId, outcome: Outcome, elapsed_ms: u64) {
    let intent = IntentId::parse(INTENT).expect("well formed");
    let now = process.world.now();
    let admitted = process.health.admit(&intent, [partner], now);
    let is_called = !matches!(admitted.admissions[0], Admission::LeftOut(_));
    let mut events = admitted.events;
    if is_called {
        let elapsed = Duration::from_millis(elapsed_ms);
        let seen = Observation { partner, intent: &intent, tool: "search_things", targets: TARGETS, outcome, elapsed };
        events.extend(process.health.record(&seen, now));
    }
    block_on(process.world.onboarding.strikes.record_health(&events)).expect("kept");
}

#[test]
fn slowness_and_failures_are_in_the_audit_log_with_their_numbers() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let other = PartnerId::parse("fast").expect("well formed");
    let process = Process::start(&world, &found);
    let before = world.actions().len();
    let seconds = |seconds: u64, elapsed_ms: u64| {
        for _ in 0..seconds {
            world.pass_ms(1_000);
            call(&process, &other, Outcome::Answered, 100);
            call(&process, &partner, Outcome::Answered, elapsed_ms);
        }
    };
    // The p95 is over twice the target from the twentieth call on.
    seconds(19 + 300, 3_100);
    assert_eq!(world.actions().len(), before);
    seconds(1, 3_100);
    assert_eq!(world.actions()[before..], ["health.ejected"]);
    let entry = world.store.log().pop().expect("there");
    assert_eq!((entry.subject.as_str(), entry.actor.role.as_str()), (partner.as_str(), "gateway"));
    assert_eq!(entry.at_ms, world.now());
    let detail: Value = serde_json::from_str(&entry.detail).expect("JSON");
    let numbers = ["target_p95_ms", "over_for_ms"].map(|name| detail[name].as_u64());
    assert_eq!(numbers, [Some(1_500), Some(5 * MINUTE_MS)], "{detail}");
    assert!(detail["p95_ms"].as_u64() >= Some(3_000), "{detail}");
    // Recovery: trials every thirty seconds, six good ones.
    seconds(4 * 60, 300);
    assert_eq!(world.actions()[before..], ["health.ejected", "health.returned"]);
    for _ in 0..CONSECUTIVE_MAX + 3 {
        call(&process, &partner, Outcome::Broken, 10);
    }
    world.pass_ms(10_000);
    call(&process, &partner, Outcome::Answered, 10);
    let actions = ["health.opened", "health.half_opened", "health.closed"];
    assert_eq!(world.actions()[before + 2..], actions);
    let log = world.store.log();
    let opened: Value = serde_json::from_str(&log[before + 2].detail).expect("JSON");
    assert_eq!(opened["consecutive"], CONSECUTIVE_MAX, "{opened}");
}

#[test]
fn whoever_was_suspended_begins_anew() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let partner = world.live();
    let mut process = Process::start(&world, &found);
    for _ in 0..CONSECUTIVE_MAX {
        call(&process, &partner, Outcome::Broken, 10);
    }
    let admit = |process: &Process<'_>| process.health.admit_call(&partner, world.now()).0;
    process.tick();
    assert_ne!(admit(&process), Admission::Go, "it is routed still");
    block_on(world.onboarding.connections.suspend(&partner, "by hand", &actor("admin"))).expect("suspended");
    process.tick();
    assert_eq!(admit(&process), Admission::Go);
}

#[test]
fn a_step_on_what_is_no_partner_leaves_it_be() {
    let (world, found) = (World::new(), MemoryJournal::default());
    let stranger = PartnerId::parse("stranger").expect("well formed");
    for incident in ["r1", "r2", "r3"] {
        found.record(world.finding(&stranger, FORBIDDEN, incident));
    }
    let mut process = Process::start(&world, &found);
    process.tick();
    assert_eq!(world.actions(), [""; 0]);
    let none = block_on(world.onboarding.connections.get(&stranger));
    assert!(matches!(none, Err(OnboardingError::NotFound(_))));
}
