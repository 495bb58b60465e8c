//! A decision on changed tools concerns the change that was reviewed, and no other.

use std::collections::BTreeSet;

use futures_executor::block_on;
use serde_json::json;

use super::world::{INTENT, World, actor, asked_by, endpoint, manifest, tool};
use crate::records::{Connection, Review, ReviewStatus, ReviewSubject};
use crate::{DecisionOrder, OnboardingError, ReviewVerdict, TestOrder};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::store::{Change, Store as _, load};

const OTHER: &str = "test.find_others";

impl World {
    /// From here on, a tool takes another argument.
    fn change(&self, tool: usize, argument: &str) {
        let properties = json!({argument: {"type": "string"}});
        self.outside.server.change_tools(|tools| tools[tool]["inputSchema"]["properties"] = properties);
    }

    fn probe_again(&self, account: &PartnerId) -> Connection {
        block_on(self.onboarding.probes.run(account, &actor("admin"))).expect("probed")
    }

    fn status_of(&self, review: &str) -> ReviewStatus {
        block_on(self.onboarding.reviews.get(review)).expect("there").review.status
    }

    fn approve_drift(&self, review: &str) -> Result<(), OnboardingError> {
        let order = DecisionOrder {
            verdict: ReviewVerdict::Approve,
            notes: "looked at".to_owned(),
            confirmed: BTreeSet::new(),
        };
        block_on(self.onboarding.reviews.decide(review, &order, &actor("admin"))).map(drop)
    }

    fn assert_still_quarantined(&self, account: &PartnerId) {
        let connection = block_on(self.onboarding.connections.get(account)).expect("there");
        assert_eq!(connection.quarantine.keys().map(IntentId::as_str).collect::<Vec<_>>(), [INTENT]);
        assert!(self.routed().is_empty());
    }
}

fn assert_closed(outcome: &Result<(), OnboardingError>) {
    assert!(matches!(outcome, Err(OnboardingError::OutOfStep { code: "REVIEW_CLOSED", .. })), "{outcome:?}");
}

#[test]
fn the_review_of_a_former_endpoint_does_not_lift_a_later_quarantine() {
    let world = World::new();
    let account = world.live();
    world.change(0, "anything");
    let former = world.probe_again(&account).drift_review.expect("a review");
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &asked_by("partner"))).expect("taken");
    assert_eq!(world.status_of(&former), ReviewStatus::Superseded);
    world.probe_again(&account);
    world.test(&account);
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    world.change(0, "card_number");
    let current = world.probe_again(&account).drift_review.expect("a review");
    assert_closed(&world.approve_drift(&former));
    world.assert_still_quarantined(&account);
    world.approve_drift(&current).expect("decided");
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn the_review_from_before_a_suspension_does_not_lift_a_later_quarantine() {
    let world = World::new();
    let account = world.live();
    world.change(0, "anything");
    let former = world.probe_again(&account).drift_review.expect("a review");
    block_on(world.onboarding.connections.suspend(&account, "forbidden fields", &actor("admin"))).expect("suspended");
    block_on(world.onboarding.connections.lift(&account, "mended", &actor("admin"))).expect("lifted");
    assert_eq!(world.status_of(&former), ReviewStatus::Superseded);
    world.approve(&account);
    world.probe_again(&account);
    world.test(&account);
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    world.change(0, "card_number");
    world.probe_again(&account);
    assert_closed(&world.approve_drift(&former));
    world.assert_still_quarantined(&account);
}

#[test]
fn a_probe_while_suspended_leaves_nothing_to_decide() {
    let world = World::new();
    let account = world.live();
    world.change(0, "anything");
    let review = world.probe_again(&account).drift_review.expect("a review");
    block_on(world.onboarding.connections.suspend(&account, "forbidden fields", &actor("admin"))).expect("suspended");
    world.change(0, "card_number");
    let connection = world.probe_again(&account);
    assert!(connection.quarantine.is_empty(), "what it lists now is what is remembered");
    assert_eq!((connection.drift_review, world.status_of(&review)), (None, ReviewStatus::Superseded));
    assert_closed(&world.approve_drift(&review));
}

#[test]
fn a_decision_compares_what_was_reviewed_with_what_it_accepts() {
    let world = World::new();
    let account = world.live();
    world.change(0, "anything");
    let id = world.probe_again(&account).drift_review.expect("a review");
    // As a store holds it that an earlier release has written: open, and about another drift than the present one.
    let mut kept = block_on(load::<Review>(&*world.store, &id)).expect("readable").expect("there");
    let intents = BTreeSet::from([IntentId::parse(INTENT).expect("well formed")]);
    kept.value.subject = serde_json::from_value(json!({"kind": "drift", "intents": intents})).expect("readable");
    let mut change = Change::default();
    change.put(&kept);
    block_on(world.store.commit(change)).expect("kept");
    assert_closed(&world.approve_drift(&id));
    world.assert_still_quarantined(&account);
    let next = world.probe_again(&account).drift_review.expect("a review");
    assert_eq!(world.status_of(&id), ReviewStatus::Superseded, "the next probe asks anew");
    world.approve_drift(&next).expect("decided");
    assert_eq!(world.routed().len(), 1);
}

/// A live partner with two intents.
fn live_with_two(world: &World) -> PartnerId {
    let account = world.account();
    let mut both = manifest(true);
    let mut other = both["intents"][0].clone();
    other["intent"] = OTHER.into();
    both["intents"].as_array_mut().expect("a list").push(other);
    block_on(world.onboarding.submissions.submit(&account, &both, &actor("partner"))).expect("accepted");
    let mut other = tool();
    other["name"] = "search_others".into();
    other["_meta"]["platform"]["intent"] = OTHER.into();
    world.outside.server.change_tools(|tools| tools.push(other));
    world.approve(&account);
    block_on(world.onboarding.connections.register(&account, &endpoint("a"), &asked_by("partner"))).expect("taken");
    let probed = world.probe_again(&account).probe.expect("recorded");
    assert!(probed.passed, "{:?}", probed.failures);
    world.test(&account);
    let intent = IntentId::parse(OTHER).expect("well formed");
    let order = TestOrder { intent, requests: vec!["{}".to_owned()], confirmed: Vec::new() };
    let report = block_on(world.onboarding.tests.run(&account, &order, &actor("admin"))).expect("tested");
    assert!(report.passed(), "{report:?}");
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    account
}

#[test]
fn a_drift_that_shrinks_is_another_drift_until_it_was_decided() {
    let world = World::new();
    let account = live_with_two(&world);
    world.change(0, "anything");
    world.change(1, "anybody");
    let both = world.probe_again(&account).drift_review.expect("a review");
    world.outside.server.change_tools(|tools| tools[0] = tool());
    let connection = world.probe_again(&account);
    assert_eq!(connection.quarantine.keys().map(IntentId::as_str).collect::<Vec<_>>(), [OTHER]);
    let one = connection.drift_review.expect("a review");
    assert_eq!(world.status_of(&both), ReviewStatus::Superseded);
    assert_closed(&world.approve_drift(&both));
    let subject = block_on(world.onboarding.reviews.get(&one)).expect("there").review.subject;
    let ReviewSubject::Drift { intents, .. } = subject else { panic!("{subject:?}") };
    assert_eq!(intents.iter().map(IntentId::as_str).collect::<Vec<_>>(), [OTHER]);
    // Rejected, what is left of it is not asked about again.
    let order = DecisionOrder { verdict: ReviewVerdict::Reject, notes: "no".to_owned(), confirmed: BTreeSet::new() };
    block_on(world.onboarding.reviews.decide(&one, &order, &actor("admin"))).expect("decided");
    assert_eq!(world.probe_again(&account).drift_review, Some(one));
}

#[test]
fn a_quarantined_partner_is_told_once_what_changed_and_what_ends_it() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.change(0, "card_number");
    let review = world.probe_again(&account).drift_review.expect("a review");
    world.probe_again(&account);
    let [mail] = world.mails().try_into().expect("one mail for one drift");
    assert_eq!(mail.to, "ops@coolcar.example");
    for part in
        ["CoolCar", INTENT, "search_things: its input or output schema is another", &review, "put the tools back"]
    {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    world.change(0, "pin");
    world.probe_again(&account);
    assert_eq!(world.mails().len(), 1, "another drift is another mail");
}

#[test]
fn a_tool_in_other_words_is_a_note_and_stays_in_service() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.outside.server.change_tools(|tools| tools[0]["description"] = "Finds anything.".into());
    for _ in 0..2 {
        let connection = world.probe_again(&account);
        assert!(connection.quarantine.is_empty() && connection.drift_review.is_none());
        let notes = connection.probe.expect("recorded").record.notes;
        assert!(notes.iter().any(|note| note.contains("`search_things` is described in other words")), "{notes:?}");
    }
    assert_eq!(world.routed().len(), 1);
    assert_eq!(world.mails(), []);
    let reworded = world.actions().into_iter().filter(|action| action == "connection.reworded").count();
    assert_eq!(reworded, 1, "the audit log is told once");
    // With anything else besides, it is a change.
    world.change(0, "card_number");
    world.probe_again(&account);
    world.assert_still_quarantined(&account);
}

#[test]
fn other_words_cost_no_test_before_going_live() {
    let world = World::new();
    let account = world.ready();
    world.outside.server.change_tools(|tools| tools[0]["description"] = "Finds anything.".into());
    assert_eq!(world.probe_again(&account).tests.len(), 1);
    world.change(0, "card_number");
    assert_eq!(world.probe_again(&account).tests.len(), 0, "other tools want other tests");
}
