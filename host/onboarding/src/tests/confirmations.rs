//! What a person has confirmed holds for a time: its end is told ahead, warned of, and keeps an intent from being routed once
//! the time that was given is over.

use futures_executor::block_on;

use super::retests::{about, confirm_certificate};
use super::world::{INTENT, START, TEAM, VALID_DAYS, World, actor, asked_by, endpoint, failed_probe};
use crate::confirmations::{Stage, TOLD_MAX};
use crate::records::{Account, Connection, HeldConfirmation, Manifests, Review, ReviewStatus, ReviewSubject};
use crate::{OnboardingError, ReviewVerdict, TestOrder};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::{CONFIRMATION_GRACE_MS, DAY_MS};
use intent_gateway_domain::mail::Mail;
use intent_gateway_domain::store::{Change, Record, Store as _, Versioned, all, load};

const VALID_MS: u64 = VALID_DAYS as u64 * DAY_MS;
const CODE: &str = "CERTIFICATE_SEEN";

fn intent() -> IntentId {
    IntentId::parse(INTENT).expect("well formed")
}

impl World {
    /// A person's word alone, without a test.
    fn confirm(&self, account: &PartnerId) -> Result<(), OnboardingError> {
        let order = TestOrder { intent: intent(), requests: vec![], confirmed: confirm_certificate() };
        block_on(self.onboarding.tests.run(account, &order, &actor("admin"))).map(drop)
    }

    fn held(&self, account: &PartnerId) -> HeldConfirmation {
        self.connection(account).confirmations[&intent()][CODE].clone()
    }

    fn renewals(&self, account: &PartnerId) -> Vec<Review> {
        let reviews = block_on(all::<Review>(&*self.store, None)).expect("readable");
        let reviews = reviews.into_iter().map(|kept| kept.value).filter(|review| review.account == *account);
        reviews.filter(|review| matches!(review.subject, ReviewSubject::Renewal { .. })).collect()
    }

    /// Changes a record as nobody but an earlier release would have written it.
    fn rewrite<R: Record>(&self, key: &str, change: impl FnOnce(&mut R)) {
        let mut kept = block_on(load::<R>(&*self.store, key)).expect("readable").expect("there");
        change(&mut kept.value);
        let mut written = Change::default();
        written.put(&kept);
        block_on(self.store.commit(written)).expect("written");
    }

    /// What is told when a time has come, to the partner and to the team.
    fn expect_told(&self) -> (Mail, Mail) {
        assert!(self.onboarding.live.is_due());
        self.look();
        // Those of one moment are sent in any order.
        let mut mails = self.mails();
        mails.sort_by_key(|mail| mail.to == TEAM);
        let [partner, team] = mails.as_slice() else { panic!("two mails, found {mails:?}") };
        assert_eq!((partner.to.as_str(), team.to.as_str()), ("ops@coolcar.example", TEAM));
        for mail in [partner, team] {
            assert!(mail.text.contains(INTENT) && mail.text.contains(CODE), "{}", mail.text);
        }
        self.look();
        assert!(self.mails().is_empty(), "told once");
        assert!(!self.onboarding.live.is_due());
        (partner.clone(), team.clone())
    }
}

#[test]
fn the_end_is_told_thirty_and_seven_days_before() {
    let world = World::new();
    let account = world.live();
    world.mails();
    let held = world.held(&account);
    assert_eq!((held.at_ms, held.by), (START, Some(actor("admin"))));
    world.pass_ms(60 * DAY_MS - 1);
    assert!(!world.onboarding.live.is_due());
    world.pass_ms(1);
    let (partner, team) = world.expect_told();
    assert!(partner.subject.contains("ends soon") && team.subject.contains("end soon"), "{partner:?}, {team:?}");
    for mail in [&partner, &team] {
        assert!(mail.text.contains("Holds until 01 April 2026, 00:00 UTC."), "{}", mail.text);
    }
    assert!(team.text.contains(&format!("partner test {account} --intent {INTENT} --confirm")), "{}", team.text);

    // A gateway that is started now finds in the store what was told.
    let another = world.another_gateway();
    assert_eq!(block_on(another.refresh()).expect("readable"), 1);
    assert!(!another.is_due());
    assert_eq!(block_on(world.onboarding.tests.tell_ending_confirmations()).expect("read"), 0);

    world.pass_ms(23 * DAY_MS - 1);
    assert!(!world.onboarding.live.is_due());
    world.pass_ms(1);
    world.expect_told();
    assert_eq!(world.audited("connection.confirmations_ending"), 2);
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn after_a_warning_and_a_time_it_is_not_routed_until_it_is_confirmed_anew() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.pass_ms(VALID_MS);
    let (partner, _) = world.expect_told();
    assert!(partner.subject.contains("has ended"), "{partner:?}");
    assert!(partner.text.contains("routed until 15 April 2026, 00:00 UTC and not after"), "{}", partner.text);
    assert_eq!(world.audited("connection.confirmations_ended"), 1);
    world.pass_ms(CONFIRMATION_GRACE_MS - 1);
    assert!(!world.onboarding.live.is_due());
    assert_eq!(world.routed().len(), 1, "it is warned and routed");

    world.pass_ms(1);
    let (partner, team) = world.expect_told();
    assert!(partner.subject.contains("not routed") && team.subject.contains("not routed"), "{partner:?}, {team:?}");
    assert!(world.routed().is_empty());
    assert_eq!(world.audited("connection.confirmations_lapsed"), 1);
    let other = IntentId::parse("test.find_others").expect("well formed");
    let connection = world.connection(&account);
    assert!(!connection.is_confirmed(&intent(), world.now()) && connection.is_confirmed(&other, world.now()));

    world.confirm(&account).expect("confirmed");
    assert_eq!(world.routed().len(), 1, "somebody has looked again");
    let held = world.held(&account);
    assert_eq!((held.at_ms, held.routed_until_ms), (world.now(), None));
    assert!(!world.onboarding.live.is_due());
    world.pass_ms(60 * DAY_MS);
    world.expect_told();
}

#[test]
fn who_was_never_warned_is_warned_before_anything_ends() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.pass_ms(3 * VALID_MS);
    assert_eq!(block_on(world.another_gateway().refresh()).expect("readable"), 1, "no gateway ran when it ended");
    world.expect_told();
    assert_eq!(world.held(&account).routed_until_ms, Some(world.now().plus_ms(CONFIRMATION_GRACE_MS)));
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn what_an_earlier_release_has_confirmed_has_the_time_of_its_test() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.rewrite::<Connection>(account.as_str(), |connection| {
        let mut written = serde_json::to_value(&*connection).expect("serialises");
        written.as_object_mut().expect("an object").remove("confirmations").expect("it was there");
        *connection = serde_json::from_value(written).expect("it is read as it was written then");
    });
    world.pass_ms(85 * DAY_MS);
    block_on(world.onboarding.probes.run_due()).expect("probed");
    let held = world.held(&account);
    assert_eq!((held.at_ms, held.by.clone(), held.valid_until()), (START, None, Some(START.plus_ms(VALID_MS))));
    world.expect_told();
    let held = world.held(&account);
    block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
    assert_eq!(world.held(&account), held, "another probe changes nothing of it");
}

#[test]
fn other_days_of_a_contract_are_taken_with_the_next_probe() {
    let world = World::new();
    let account = world.live();
    world.mails();
    world.rewrite::<Connection>(account.as_str(), |connection| {
        let held = connection.confirmations.get_mut(&intent()).and_then(|held| held.get_mut(CODE)).expect("held");
        held.valid_days = Some(365);
    });
    world.pass_ms(DAY_MS);
    block_on(world.onboarding.probes.run_due()).expect("probed");
    assert_eq!(world.held(&account).valid_days, Some(VALID_DAYS));
}

#[test]
fn a_review_asks_for_it_and_its_approval_confirms() {
    let world = World::new();
    let account = world.live();
    world.pass_ms(60 * DAY_MS);
    world.look();
    let reviews = world.renewals(&account);
    let [review] = reviews.as_slice() else { panic!("one review, found {reviews:?}") };
    assert_eq!((review.status, review.due_at_ms), (ReviewStatus::Open, START.plus_ms(VALID_MS)));
    world.mails();
    world.pass_ms(23 * DAY_MS);
    world.expect_told();
    assert_eq!(world.renewals(&account).len(), 1, "one is enough");

    let unseen = world.decide(&review.id, ReviewVerdict::Approve, false);
    assert!(matches!(unseen, Err(OnboardingError::NotReady(_))), "{unseen:?}");
    assert_eq!(world.held(&account).at_ms, START);
    world.decide(&review.id, ReviewVerdict::Approve, true).expect("decided");
    let held = world.held(&account);
    assert_eq!((held.at_ms, held.by, held.valid_days), (world.now(), Some(actor("admin")), Some(VALID_DAYS)));
    assert!(world.connection(&account).tests[&intent()].passed());
    assert!(!world.onboarding.live.is_due());
}

#[test]
fn a_rejected_review_confirms_nothing() {
    let world = World::new();
    let account = world.live();
    world.pass_ms(60 * DAY_MS);
    world.look();
    let review = world.renewals(&account).remove(0);
    world.mails();
    world.decide(&review.id, ReviewVerdict::Reject, false).expect("decided");
    assert_eq!(about(&world.mails(), "changes needed").len(), 1);
    assert_eq!(world.held(&account).at_ms, START);
    world.pass_ms(30 * DAY_MS);
    world.expect_told();
    assert_eq!(world.renewals(&account).len(), 1, "it was decided");
}

#[test]
fn a_review_is_superseded_by_a_confirmation_and_by_another_endpoint() {
    let world = World::new();
    let account = world.live();
    for (renewed, move_away) in [(1, false), (2, true)] {
        world.pass_ms(60 * DAY_MS);
        world.look();
        let review = world.renewals(&account).pop().expect("open");
        assert_eq!((world.renewals(&account).len(), review.status), (renewed, ReviewStatus::Open));
        if move_away {
            let there = endpoint("b");
            block_on(world.onboarding.connections.register(&account, &there, &asked_by("partner"))).expect("taken");
        } else {
            world.confirm(&account).expect("confirmed");
        }
        assert_eq!(world.renewals(&account).pop().map(|review| review.status), Some(ReviewStatus::Superseded));
    }
    assert!(world.connection(&account).confirmations.is_empty(), "another server is tested from the beginning");
}

#[test]
fn a_failed_probe_keeps_nobody_from_confirming() {
    let world = World::new();
    let account = world.live();
    world.outside.server.fail(failed_probe());
    block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
    world.pass_ms(DAY_MS);
    world.confirm(&account).expect("confirmed");
    assert_eq!(world.held(&account).at_ms, world.now());
}

#[test]
fn a_test_that_leaves_it_open_gives_no_more_time() {
    let world = World::new();
    let account = world.live();
    world.pass_ms(VALID_MS);
    world.look();
    let until = world.held(&account).routed_until_ms;
    world.pass_ms(CONFIRMATION_GRACE_MS - DAY_MS);
    assert!(!world.retest(&account, &[]).passed());
    assert_eq!(world.held(&account).routed_until_ms, until);
    world.pass_ms(DAY_MS);
    world.look();
    assert!(world.routed().is_empty());
}

#[test]
fn a_test_that_fails_brings_nothing_back() {
    let world = World::new();
    let account = world.live();
    world.pass_ms(VALID_MS);
    world.look();
    world.pass_ms(CONFIRMATION_GRACE_MS);
    world.look();
    world.answer(false);
    assert!(!world.retest(&account, &confirm_certificate()).passed());
    assert!(world.routed().is_empty(), "no time is given to what was not routed");
    world.answer(true);
    assert!(world.retest(&account, &confirm_certificate()).passed());
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn what_has_ended_is_not_switched_on() {
    let world = World::new();
    let account = world.ready();
    world.pass_ms(VALID_MS);
    let refused = block_on(world.onboarding.connections.switch_on(&account, &actor("admin")));
    let Err(OnboardingError::NotReady(missing)) = refused else { panic!("expected what is missing: {refused:?}") };
    assert!(missing[0].code == "TEST_NEEDED" && missing[0].message.contains(CODE), "{missing:?}");
    world.confirm(&account).expect("confirmed");
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
}

#[test]
fn nobody_is_told_of_what_it_has_dropped() {
    let world = World::new();
    let account = world.live();
    world.submit_without_intent(&account);
    world.approve(&account);
    world.mails();
    world.pass_ms(60 * DAY_MS);
    world.look();
    assert!(world.mails().is_empty() && world.renewals(&account).is_empty());
    assert!(!world.onboarding.live.is_due());
}

#[test]
fn so_many_partners_are_told_in_one_go_and_the_others_next() {
    let world = World::new();
    let first = world.live();
    let copy = |account: &PartnerId, number: usize| {
        let mut change = Change::default();
        copy_record::<Account>(&world, &first, &mut change, |it| {
            (it.id, it.email) = (account.clone(), format!("ops@coolcar{number}.example"));
        });
        copy_record::<Manifests>(&world, &first, &mut change, |it| it.account = account.clone());
        copy_record::<Connection>(&world, &first, &mut change, |it| it.account = account.clone());
        block_on(world.store.commit(change)).expect("written");
    };
    for number in 0..TOLD_MAX {
        copy(&PartnerId::parse(&format!("ptr_{number:016}")).expect("well formed"), number);
    }
    world.pass_ms(60 * DAY_MS);
    let tell = || block_on(world.onboarding.tests.tell_ending_confirmations()).expect("read");
    assert_eq!([tell(), tell(), tell()], [TOLD_MAX, 1, 0]);
}

/// A copy of a record under another account.
fn copy_record<R: Record>(world: &World, of: &PartnerId, change: &mut Change, rename: impl FnOnce(&mut R)) {
    let mut kept = block_on(load::<R>(&*world.store, of.as_str())).expect("readable").expect("there").value;
    rename(&mut kept);
    change.put(&Versioned::new(kept));
}

#[test]
fn one_that_holds_for_good_never_ends() {
    let held = HeldConfirmation::new(START, None, None);
    assert_eq!(held.valid_until(), None);
    assert_eq!(held.stage(Timestamp::MAX), Stage::Holds);
}
