use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_executor::block_on;
use serde_json::json;

use super::world::{INTENT, START, World, actor, asked_by, endpoint, failed_probe, manifest, tool};
use crate::connection::{ConnectionState, NotAllowed};
use crate::manifest::Status;
use crate::records::{Connection, ReviewStatus, ReviewSubject};
use crate::{DecisionOrder, OnboardingError, ReviewVerdict, TestOrder};
use intent_gateway_domain::golive::Confirmation;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Standings as _;
use intent_gateway_domain::store::List;
use intent_gateway_testing::directory::partner;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

impl World {
    pub(super) fn test(&self, account: &PartnerId) {
        let confirmed =
            vec![Confirmation { code: "CERTIFICATE_SEEN".to_owned(), note: "seen, valid to 2027".to_owned() }];
        let order = TestOrder { intent: intent(), requests: vec!["{}".to_owned()], confirmed };
        let report = block_on(self.onboarding.tests.run(account, &order, &actor("admin"))).expect("tested");
        assert!(report.passed(), "{report:?}");
    }

    fn probe(&self, account: &PartnerId) -> Connection {
        block_on(self.onboarding.probes.run(account, &actor("admin"))).expect("probed")
    }

    fn register(&self, account: &PartnerId, path: &str) -> Connection {
        block_on(self.onboarding.connections.register(account, &endpoint(path), &asked_by("partner"))).expect("taken")
    }

    fn switch_on(&self, account: &PartnerId) -> Result<(), OnboardingError> {
        block_on(self.onboarding.connections.switch_on(account, &actor("admin"))).map(drop)
    }

    fn suspend(&self, account: &PartnerId) -> Result<Connection, OnboardingError> {
        block_on(self.onboarding.connections.suspend(account, "forbidden fields", &actor("admin")))
    }

    fn lift(&self, account: &PartnerId) -> Result<Connection, OnboardingError> {
        block_on(self.onboarding.connections.lift(account, "mended", &actor("admin")))
    }

    fn fail_probes(&self, failing: bool) {
        match failing {
            true => self.outside.server.fail(failed_probe()),
            false => self.outside.server.recover(),
        }
    }

    fn drift_reviews(&self) -> Vec<String> {
        let list = List { status: Some(ReviewStatus::Open.as_str()), after: None, limit: 100 };
        let reviews = block_on(self.onboarding.reviews.list(list)).expect("readable").into_iter();
        reviews.filter(|it| matches!(it.subject, ReviewSubject::Drift { .. })).map(|it| it.id).collect()
    }
}

fn intent() -> IntentId {
    IntentId::parse(INTENT).expect("well formed")
}

/// What a refused switch-on says is missing.
fn missing(outcome: Result<(), OnboardingError>) -> BTreeSet<String> {
    match outcome {
        Err(OnboardingError::NotReady(violations)) => violations.into_iter().map(|violation| violation.code).collect(),
        other => panic!("expected what is missing, found {other:?}"),
    }
}

fn not_allowed<T: std::fmt::Debug>(outcome: Result<T, OnboardingError>, state: ConnectionState) {
    assert!(matches!(outcome, Err(OnboardingError::NotAllowed(NotAllowed { state: found, .. })) if found == state));
}

#[test]
fn the_whole_way() {
    let world = World::new();
    let account = world.ready();
    assert!(world.routed().is_empty(), "approval and test alone route nothing");
    world.switch_on(&account).expect("switched on");
    assert_eq!(world.routed(), BTreeMap::from([(account.to_string(), vec![INTENT.to_owned()])]));
    let suspended = world.suspend(&account).expect("suspended");
    assert_eq!(suspended.state, ConnectionState::Suspended);
    assert!(world.routed().is_empty());
    assert!(world.mails().iter().any(|mail| mail.text.contains("forbidden fields")), "the partner is told why");
    for action in
        ["account.opened", "manifest.submitted", "review.approved", "connection.registered", "connection.probed"]
    {
        assert!(world.actions().iter().any(|done| done == action), "{action}");
    }
    for action in ["connection.tested", "connection.switched_on", "connection.suspended"] {
        assert!(world.actions().iter().any(|done| done == action), "{action}");
    }
}

#[test]
fn who_was_once_live_stays_known_as_that() {
    let world = World::new();
    let account = world.ready();
    let live = &world.onboarding.live;
    let was_live = || block_on(live.was_ever_live(&account)).expect("readable");
    assert!(!was_live(), "tested and approved, and never switched on");
    live.replace_configured(vec![Arc::new(partner(account.as_str(), &["auto.book_ac_service"]))]);
    assert!(was_live(), "configured partners always are");
    live.replace_configured(Vec::new());
    let since = world.now();
    world.switch_on(&account).expect("switched on");
    assert!(was_live());
    let suspended = world.suspend(&account).expect("suspended");
    assert_eq!(suspended.first_live_at_ms, Some(since));
    assert!(was_live(), "also while it is suspended");
    world.lift(&account).expect("lifted");
    world.register(&account, "b");
    assert!(was_live(), "and once it has moved");
}

#[test]
fn plain_http_is_refused() {
    let world = World::new();
    let account = world.account();
    let plain = intent_gateway_domain::endpoint::Endpoint::mcp("http://coolcar.example/mcp");
    let refused = block_on(world.onboarding.connections.register(&account, &plain, &asked_by("partner")));
    assert!(matches!(refused, Err(OnboardingError::Refused(_))));
    assert!(block_on(world.onboarding.connections.get(&account)).is_err());
}

#[test]
fn a_failed_probe_is_recorded_and_a_later_one_mends_it() {
    let world = World::new();
    let account = world.account();
    world.register(&account, "a");
    world.fail_probes(true);
    let connection = world.probe(&account);
    assert_eq!(connection.state, ConnectionState::ProbeFailed);
    let probed = connection.probe.expect("recorded");
    assert_eq!((probed.passed, probed.failures[0].code.as_str()), (false, "PARTNER_UNREACHABLE"));
    not_allowed(world.switch_on(&account), ConnectionState::ProbeFailed);
    not_allowed(world.suspend(&account), ConnectionState::ProbeFailed);
    not_allowed(world.lift(&account), ConnectionState::ProbeFailed);
    world.fail_probes(false);
    assert_eq!(world.probe(&account).state, ConnectionState::Sandbox);
}

#[test]
fn a_listed_intent_without_its_tools_fails_the_probe() {
    let world = World::new();
    let account = world.account();
    world.submit(&account, true);
    world.register(&account, "a");
    world.outside.server.show([]);
    let connection = world.probe(&account);
    assert_eq!(connection.state, ConnectionState::ProbeFailed);
    assert_eq!(connection.probe.expect("recorded").failures[0].code, "TOOLS_MISSING");
}

#[test]
fn going_live_needs_approval_and_probe_and_test() {
    let world = World::new();
    let account = world.account();
    world.register(&account, "a");
    assert_eq!(missing(world.switch_on(&account)), ["APPROVAL_NEEDED", "PROBE_NEEDED"].map(String::from).into());
    world.submit(&account, true);
    world.probe(&account);
    world.test(&account);
    assert_eq!(missing(world.switch_on(&account)), ["APPROVAL_NEEDED".to_owned()].into(), "pending is not approved");

    let world = World::new();
    let account = world.account();
    world.submit(&account, true);
    world.approve(&account);
    world.register(&account, "a");
    world.probe(&account);
    assert_eq!(missing(world.switch_on(&account)), ["TEST_NEEDED".to_owned()].into());
    let order = TestOrder { intent: intent(), requests: vec!["{}".to_owned()], confirmed: vec![] };
    let report = block_on(world.onboarding.tests.run(&account, &order, &actor("admin"))).expect("tested");
    assert!(!report.passed(), "nobody has looked at the certificate");
    assert_eq!(missing(world.switch_on(&account)), ["TEST_NEEDED".to_owned()].into());
    let confirmed = vec![Confirmation { code: "CERTIFICATE_SEEN".to_owned(), note: "seen".to_owned() }];
    let order = TestOrder { intent: intent(), requests: vec![], confirmed };
    assert!(block_on(world.onboarding.tests.run(&account, &order, &actor("admin"))).expect("confirmed").passed());
    world.switch_on(&account).expect("nothing is missing");
}

#[test]
fn a_test_of_an_unknown_intent_is_refused_whatever_else_is_missing() {
    let world = World::new();
    let account = world.account();
    world.register(&account, "a");
    let unknown = IntentId::parse("test.find_nothing").expect("well formed");
    let order = TestOrder { intent: unknown, requests: vec!["{}".to_owned()], confirmed: vec![] };
    let refused = block_on(world.onboarding.tests.run(&account, &order, &actor("admin")));
    let Err(OnboardingError::Refused(refusal)) = refused else { panic!("expected a refusal: {refused:?}") };
    let places: Vec<_> = refusal.violations.iter().map(|one| (one.pointer.as_str(), one.code.as_str())).collect();
    assert_eq!((refusal.code.as_str(), places), ("INVALID_INTENT", vec![("/intent", "INVALID_INTENT")]));
}

#[test]
fn what_is_not_allowed_in_a_state_is_refused_and_changes_nothing() {
    let world = World::new();
    let account = world.ready();
    not_allowed(world.suspend(&account), ConnectionState::Sandbox);
    not_allowed(world.lift(&account), ConnectionState::Sandbox);
    world.switch_on(&account).expect("switched on");
    let log = world.actions().len();
    not_allowed(world.switch_on(&account), ConnectionState::Live);
    not_allowed(world.lift(&account), ConnectionState::Live);
    assert_eq!(world.routed().len(), 1);
    world.suspend(&account).expect("suspended");
    not_allowed(world.suspend(&account), ConnectionState::Suspended);
    not_allowed(world.switch_on(&account), ConnectionState::Suspended);
    assert_eq!(world.actions().len(), log + 1, "a refusal is no entry");
}

#[test]
fn a_lifted_suspension_goes_through_probe_test_and_approval_again() {
    let world = World::new();
    let account = world.live();
    world.suspend(&account).expect("suspended");
    let lifted = world.lift(&account).expect("lifted");
    assert_eq!((lifted.state, lifted.suspension, lifted.pinned), (ConnectionState::Sandbox, None, None));
    let manifests = block_on(world.onboarding.submissions.get(&account)).expect("there");
    assert_eq!((manifests.latest.status, manifests.approved.is_none()), (Status::PendingReview, true));
    assert_eq!(missing(world.switch_on(&account)), ["APPROVAL_NEEDED", "PROBE_NEEDED"].map(String::from).into());
    world.approve(&account);
    world.probe(&account);
    world.test(&account);
    world.switch_on(&account).expect("the whole way again");
}

#[test]
fn a_suspension_is_not_shaken_off_by_moving() {
    let world = World::new();
    let account = world.live();
    world.suspend(&account).expect("suspended");
    assert_eq!(world.register(&account, "b").state, ConnectionState::Suspended);
    assert_eq!(world.probe(&account).state, ConnectionState::Suspended);
}

#[test]
fn another_endpoint_takes_a_live_partner_back_to_the_sandbox() {
    let world = World::new();
    let account = world.live();
    assert_eq!(world.register(&account, "a").state, ConnectionState::Live, "the same endpoint changes nothing");
    let moved = world.register(&account, "b");
    assert_eq!((moved.state, moved.probe.is_none(), moved.tests.is_empty()), (ConnectionState::Sandbox, true, true));
    assert!(world.routed().is_empty());
}

#[test]
fn a_probe_of_an_endpoint_that_was_replaced_meanwhile_counts_for_nothing() {
    let world = World::new();
    let account = world.account();
    world.register(&account, "a");
    let (onboarding, owner) = (world.onboarding.clone(), account.clone());
    world.outside.server.during_next_probe(move || {
        // On a thread of its own: this one drives the probe.
        let register = move || {
            block_on(onboarding.connections.register(&owner, &endpoint("b"), &asked_by("partner"))).expect("taken");
        };
        std::thread::spawn(register).join().expect("registered");
    });
    let refused = block_on(world.onboarding.probes.run(&account, &actor("admin")));
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "ENDPOINT_CHANGED", .. })), "{refused:?}");
    assert!(block_on(world.onboarding.connections.get(&account)).expect("there").probe.is_none());
}

#[test]
fn a_live_partner_is_probed_daily_and_one_bad_probe_does_not_take_it_out() {
    let world = World::new();
    let account = world.live();
    assert_eq!(block_on(world.onboarding.probes.run_due()).expect("looked"), 0);
    world.pass_ms(DAY_MS);
    world.fail_probes(true);
    assert_eq!(block_on(world.onboarding.probes.run_due()).expect("looked"), 1);
    assert_eq!(block_on(world.onboarding.probes.run_due()).expect("looked"), 0, "once a day");
    let connection = block_on(world.onboarding.connections.get(&account)).expect("there");
    assert_eq!((connection.state, connection.probe.expect("recorded").passed), (ConnectionState::Live, false));
    assert_eq!(connection.next_probe_at_ms, Some(START.plus_ms(2 * DAY_MS)));
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn a_changed_tool_is_quarantined_until_it_is_accepted() {
    let world = World::new();
    let account = world.live();
    world.outside.server.change_tools(|tools| tools[0]["inputSchema"]["properties"] = json!({"card_number": {}}));
    let connection = world.probe(&account);
    assert_eq!(connection.state, ConnectionState::Live);
    assert_eq!(connection.quarantine.keys().collect::<Vec<_>>(), [&intent()]);
    assert!(world.routed().is_empty(), "a changed tool is not called");
    let [review] = world.drift_reviews().try_into().expect("one review");
    world.probe(&account);
    assert_eq!(world.drift_reviews().len(), 1, "the same drift is reviewed once");

    let order = |verdict| DecisionOrder { verdict, notes: "looked at".to_owned(), confirmed: BTreeSet::new() };
    block_on(world.onboarding.reviews.decide(&review, &order(ReviewVerdict::Approve), &actor("admin")))
        .expect("decided");
    assert_eq!(world.routed().len(), 1);
    assert!(world.probe(&account).quarantine.is_empty(), "the tools are pinned as they are now");
}

#[test]
fn a_changed_tool_that_is_rejected_stays_out_until_it_is_put_back() {
    let world = World::new();
    let account = world.live();
    world.outside.server.change_tools(|tools| tools[0]["inputSchema"]["properties"] = json!({"anything": {}}));
    world.probe(&account);
    let [review] = world.drift_reviews().try_into().expect("one review");
    let order =
        DecisionOrder { verdict: ReviewVerdict::Reject, notes: "put it back".to_owned(), confirmed: BTreeSet::new() };
    block_on(world.onboarding.reviews.decide(&review, &order, &actor("admin"))).expect("decided");
    assert!(world.routed().is_empty());
    world.outside.server.show([tool()]);
    assert!(world.probe(&account).quarantine.is_empty());
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn a_resubmitted_manifest_does_not_cost_traffic_until_it_is_decided() {
    let world = World::new();
    let account = world.live();
    let mut wider = manifest(true);
    wider["intents"][0]["service_area"] = json!(["Pune", "Mumbai"]);
    block_on(world.onboarding.submissions.submit(&account, &wider, &actor("partner"))).expect("accepted");
    let manifests = block_on(world.onboarding.submissions.get(&account)).expect("there");
    assert_eq!(manifests.latest.status, Status::PendingReview);
    let area = |world: &World| {
        let stored = block_on(crate::live::stored_partners(&*world.store, world.now())).expect("readable");
        stored.live[0].listings[0].service_area.len()
    };
    assert_eq!(area(&world), 1, "the approved one is in force");
    world.approve(&account);
    assert_eq!(area(&world), 2);
}

#[test]
fn prices_are_held_against_the_range_of_the_approved_manifest() {
    let world = World::new();
    let account = world.live();
    let mut dearer = manifest(true);
    dearer["intents"][0]["pricing"]["max"] = json!(1200.5);
    block_on(world.onboarding.submissions.submit(&account, &dearer, &actor("partner"))).expect("accepted");
    let holds = |price: &str| {
        let stored = block_on(crate::live::stored_partners(&*world.store, world.now())).expect("readable");
        let range = stored.live[0].listings[0].prices.clone().expect("stated");
        range.holds(&serde_json::from_str(price).expect("a number"))
    };
    assert!(holds("100") && holds("900") && !holds("99") && !holds("1200"));
    world.approve(&account);
    assert!(holds("1200.5") && !holds("1200.51"));
}

#[test]
fn an_intent_that_is_to_be_dropped_serves_until_that_is_decided() {
    let world = World::new();
    let account = world.live();
    world.submit_without_intent(&account);
    let connection = world.probe(&account);
    assert!(connection.quarantine.is_empty(), "its tools have not changed");
    assert_eq!(world.routed()[account.as_str()], [INTENT]);
    let failures = connection.probe.expect("recorded").failures;
    assert!(failures.iter().any(|failure| failure.message.contains("test.find_others")), "{failures:?}");
}

#[test]
fn approving_a_drift_takes_the_tools_that_were_reviewed_and_no_others() {
    let world = World::new();
    let account = world.live();
    let change = |argument: &str| {
        let properties = json!({argument: {}});
        world.outside.server.change_tools(|tools| tools[0]["inputSchema"]["properties"] = properties);
    };
    change("anything");
    world.probe(&account);
    let [first] = world.drift_reviews().try_into().expect("one review");
    change("card_number");
    world.probe(&account);
    let [second] = world.drift_reviews().try_into().expect("the first has nothing to decide any more");
    assert_ne!(first, second);
    let order = DecisionOrder { verdict: ReviewVerdict::Approve, notes: String::new(), confirmed: BTreeSet::new() };
    let late = block_on(world.onboarding.reviews.decide(&first, &order, &actor("admin")));
    assert!(matches!(late, Err(OnboardingError::OutOfStep { code: "REVIEW_CLOSED", .. })), "{late:?}");
    assert!(world.routed().is_empty());
    world.outside.server.show([tool()]);
    world.probe(&account);
    assert!(world.drift_reviews().is_empty(), "put back, there is nothing to decide");
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn who_is_not_routed_any_more_stays_known_as_long_as_its_server_is() {
    let world = World::new();
    let account = world.live();
    assert_eq!(world.known(&account), [INTENT]);

    // Quarantined.
    world.outside.server.change_tools(|tools| tools[0]["inputSchema"]["properties"] = json!({"anything": {}}));
    world.probe(&account);
    assert!(world.routed().is_empty());
    assert_eq!(world.known(&account), [INTENT]);

    // Suspended.
    let admin = actor("admin");
    block_on(world.onboarding.connections.suspend(&account, "prices that are not kept", &admin)).expect("suspended");
    assert!(world.routed().is_empty());
    assert_eq!(world.known(&account), [INTENT]);

    // Lifted, and moved to a server that nobody has looked at.
    block_on(world.onboarding.connections.lift(&account, "mended", &actor("admin"))).expect("lifted");
    assert!(world.routed().is_empty());
    assert_eq!(world.known(&account), [INTENT], "though it is approved and probed anew");
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &asked_by("partner"))).expect("taken");
    assert!(world.known(&account).is_empty(), "what users have booked is told to no unknown server");
}

#[test]
fn an_intent_that_the_manifest_lists_no_more_stays_known() {
    let world = World::new();
    let account = world.live();
    world.submit_without_intent(&account);
    world.approve(&account);
    assert!(world.routed().is_empty());
    assert_eq!(world.known(&account), [INTENT]);
}
