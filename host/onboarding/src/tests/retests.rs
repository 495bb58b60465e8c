//! A live partner whose repeated test does not pass is told, has time to mend it, and loses its traffic only then.

use futures_executor::block_on;
use serde_json::json;

use super::world::{INTENT, World, actor, asked_by, endpoint, failed_probe};
use crate::TestOrder;
use crate::records::Connection;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::golive::{Confirmation, GoLiveReport};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::RETEST_GRACE_MS;
use intent_gateway_domain::mail::Mail;

impl World {
    /// From here on, the partner answers searches, or fails them.
    pub(super) fn answer(&self, well: bool) {
        self.outside.calls.reply_otherwise(move |_, _| match well {
            true => json!({"things": [{"thing_id": "t1"}]}).into(),
            false => CallFailure::Timeout(30_000).into(),
        });
    }

    pub(super) fn retest(&self, account: &PartnerId, confirmed: &[Confirmation]) -> GoLiveReport {
        let intent = IntentId::parse(INTENT).expect("well formed");
        let order = TestOrder { intent, requests: vec!["{}".to_owned()], confirmed: confirmed.to_vec() };
        block_on(self.onboarding.tests.run(account, &order, &actor("admin"))).expect("tested")
    }

    /// What a gateway does again and again.
    pub(super) fn look(&self) {
        if self.onboarding.live.is_due() {
            block_on(self.onboarding.live.refresh()).expect("readable");
            block_on(self.onboarding.tests.tell_ended_retests()).expect("told");
            block_on(self.onboarding.tests.tell_ending_confirmations()).expect("told");
            // The record of who was told is a change like any other.
            block_on(self.onboarding.live.refresh()).expect("readable");
        }
    }

    pub(super) fn connection(&self, account: &PartnerId) -> Connection {
        block_on(self.onboarding.connections.get(account)).expect("there")
    }

    pub(super) fn audited(&self, action: &str) -> usize {
        self.actions().iter().filter(|done| *done == action).count()
    }
}

pub(super) fn confirm_certificate() -> Vec<Confirmation> {
    vec![Confirmation { code: "CERTIFICATE_SEEN".to_owned(), note: "seen".to_owned() }]
}

pub(super) fn about<'a>(mails: &'a [Mail], subject: &str) -> Vec<&'a Mail> {
    mails.iter().filter(|mail| mail.subject.contains(subject)).collect()
}

#[test]
fn a_failed_retest_leaves_time_and_is_told() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.answer(false);
    let start = world.now();
    assert!(!world.retest(&account, &confirm_certificate()).passed());
    assert_eq!(world.routed().len(), 1, "it is routed on");
    let failed = world.connection(&account).failed_retests.values().next().cloned().expect("noted");
    assert_eq!((failed.at_ms, failed.routed_until_ms), (start, start.plus_ms(RETEST_GRACE_MS)));
    let mails = world.mails();
    let [mail] = about(&mails, "did not pass")[..] else { panic!("one mail, found {mails:?}") };
    for part in [INTENT, "SAMPLES_ANSWERED", "08 January 2026, 00:00 UTC"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    assert_eq!(world.audited("connection.retest_failed"), 1);

    // Failing again gives no more time, and is told once.
    world.pass_ms(RETEST_GRACE_MS - 1);
    world.retest(&account, &confirm_certificate());
    assert!(world.mails().is_empty());
    world.look();
    assert_eq!(world.routed().len(), 1);

    world.pass_ms(1);
    assert!(world.onboarding.live.is_due());
    world.look();
    assert!(world.routed().is_empty(), "the time is over");
    let mails = world.mails();
    assert_eq!((mails.len(), about(&mails, "not routed").len()), (1, 1), "{mails:?}");
    assert_eq!(world.audited("connection.retest_time_over"), 1);
    assert!(!world.onboarding.live.is_due());
    assert_eq!(block_on(world.onboarding.tests.tell_ended_retests()).expect("read"), 0, "told once");

    world.answer(true);
    assert!(world.retest(&account, &confirm_certificate()).passed());
    assert_eq!(world.routed().len(), 1, "mended");
    assert!(world.connection(&account).failed_retests.is_empty());
}

#[test]
fn before_going_live_what_failed_is_told_once() {
    let world = World::new();
    let account = world.ready();
    world.mails();
    let probe = || drop(block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed"));

    world.outside.server.fail(failed_probe());
    probe();
    probe();
    let mails = world.mails();
    let [mail] = &mails[..] else { panic!("one mail, found {mails:?}") };
    assert_eq!(mail.subject, "A probe of your connection failed");
    for part in ["PARTNER_UNREACHABLE: not reachable", "ask the platform team to probe again", "partner status"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    world.outside.server.recover();
    probe();
    assert!(world.mails().is_empty(), "of one that passed nothing is told");

    world.answer(false);
    world.retest(&account, &confirm_certificate());
    world.retest(&account, &confirm_certificate());
    let mails = world.mails();
    let [mail] = &mails[..] else { panic!("one mail, found {mails:?}") };
    assert_eq!(mail.subject, "A test of your connection did not pass");
    for part in [INTENT, "[SAMPLES_ANSWERED]", "test again"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    world.answer(true);
    world.retest(&account, &[]);
    assert!(world.mails().is_empty(), "what waits for the team alone is not told");

    world.retest(&account, &confirm_certificate());
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    let mails = world.mails();
    let [mail] = &mails[..] else { panic!("one mail, found {mails:?}") };
    assert!(mail.subject == "Your connection is live" && mail.text.contains(&format!("- {INTENT}\n")), "{mail:?}");
}

#[test]
fn what_only_waits_for_people_is_mended_by_their_word() {
    let world = World::new();
    let account = world.live();
    assert!(!world.retest(&account, &[]).passed(), "nobody has looked at the certificate this time");
    assert_eq!(world.routed().len(), 1);
    let intent = IntentId::parse(INTENT).expect("well formed");
    let order = TestOrder { intent, requests: vec![], confirmed: confirm_certificate() };
    assert!(block_on(world.onboarding.tests.run(&account, &order, &actor("admin"))).expect("confirmed").passed());
    assert!(world.connection(&account).failed_retests.is_empty());
    world.pass_ms(RETEST_GRACE_MS);
    assert!(!world.onboarding.live.is_due());
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn every_gateway_sees_the_end_though_it_was_down_when_it_came() {
    let world = World::new();
    let account = world.live();
    world.answer(false);
    world.retest(&account, &confirm_certificate());
    world.pass_ms(RETEST_GRACE_MS);
    let another = world.another_gateway();
    assert_eq!(block_on(another.refresh()).expect("readable"), 0, "an index built later leaves it out");
    assert!(another.is_due(), "and its partner has still to be told");
    world.mails();
    world.look();
    assert_eq!(about(&world.mails(), "not routed").len(), 1);
    block_on(another.refresh()).expect("readable");
    assert!(!another.is_due());
}

#[test]
fn nobody_is_told_of_an_intent_that_it_has_dropped() {
    let world = World::new();
    let account = world.live();
    world.answer(false);
    world.retest(&account, &confirm_certificate());
    world.submit_without_intent(&account);
    world.approve(&account);
    world.mails();
    world.pass_ms(RETEST_GRACE_MS);
    world.look();
    assert!(world.mails().is_empty());
    assert!(!world.onboarding.live.is_due(), "and nothing is due any more");
}

#[test]
fn only_what_was_routed_is_given_time() {
    let world = World::new();
    let account = world.ready();
    world.answer(false);
    world.retest(&account, &confirm_certificate());
    assert!(world.connection(&account).failed_retests.is_empty(), "it is not live yet");
    world.answer(true);
    world.retest(&account, &confirm_certificate());
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    world.answer(false);
    world.retest(&account, &confirm_certificate());
    assert_eq!(world.connection(&account).failed_retests.len(), 1);
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &asked_by("partner"))).expect("taken");
    assert!(world.connection(&account).failed_retests.is_empty(), "another server is tested from the beginning");
}
