use std::collections::BTreeSet;

use futures_executor::block_on;
use futures_util::FutureExt as _;
use serde_json::json;

use super::world::{World, actor, manifest};
use crate::compliance::CheckState;
use crate::manifest::Status;
use crate::records::ReviewStatus;
use crate::reviews::REVIEW_DUE_MS;
use crate::{DecisionOrder, OnboardingError, ReviewVerdict};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::List;

impl World {
    fn open_reviews(&self) -> Vec<String> {
        let list = List { status: Some(ReviewStatus::Open.as_str()), after: None, limit: 100 };
        block_on(self.onboarding.reviews.list(list)).expect("readable").into_iter().map(|review| review.id).collect()
    }

    pub(super) fn decide(&self, review: &str, verdict: ReviewVerdict, confirm: bool) -> Result<(), OnboardingError> {
        let view = block_on(self.onboarding.reviews.get(review)).expect("there");
        let by_hand = view.checklist.iter().filter(|item| confirm && item.state == CheckState::ByHand);
        let confirmed = by_hand.map(|item| item.code.to_string()).collect();
        let order = DecisionOrder { verdict, notes: "as agreed".to_owned(), confirmed };
        block_on(self.onboarding.reviews.decide(review, &order, &actor("admin"))).map(drop)
    }

    /// Approves the latest manifest of an account.
    pub(super) fn approve(&self, account: &PartnerId) {
        block_on(self.onboarding.accounts.set_profile(account, super::world::profile(), &actor("partner")))
            .expect("sound");
        let review = block_on(self.onboarding.submissions.get(account)).expect("there").review.expect("under review");
        self.decide(&review, ReviewVerdict::Approve, true).expect("approved");
    }

    /// Submits a manifest that has another intent in the place of the one that is there.
    pub(super) fn submit_without_intent(&self, account: &PartnerId) {
        let mut other = manifest(true);
        other["intents"][0]["intent"] = json!("test.find_others");
        block_on(self.onboarding.submissions.submit(account, &other, &actor("partner"))).expect("accepted");
    }

    fn status(&self, account: &PartnerId) -> Status {
        block_on(self.onboarding.submissions.get(account)).expect("there").latest.status
    }
}

#[test]
fn a_draft_waits_for_nobody() {
    let world = World::new();
    let account = world.account();
    let draft = world.submit(&account, false);
    assert_eq!((draft.submission.status, draft.review), (Status::Draft, None));
    assert!(world.open_reviews().is_empty());
    let sent = world.submit(&account, true);
    assert_eq!((sent.submission.number, sent.submission.status), (2, Status::PendingReview));
    assert_eq!(world.open_reviews(), [sent.review.expect("a review")]);
    assert_eq!(world.submit(&account, false).submission.status, Status::PendingReview, "past draft there is no draft");
}

#[test]
fn a_refused_manifest_changes_nothing() {
    let world = World::new();
    let account = world.account();
    world.submit(&account, true);
    let before = world.store.everything();
    let mut bad = manifest(true);
    bad["intents"][0]["pricing"]["min"] = 901.into();
    let refused = block_on(world.onboarding.submissions.submit(&account, &bad, &actor("partner")));
    assert!(matches!(refused, Err(OnboardingError::Refused(_))), "{refused:?}");
    assert_eq!(world.store.everything(), before);
}

#[test]
fn a_newer_submission_supersedes_the_review_before() {
    let world = World::new();
    let account = world.account();
    let first = world.submit(&account, true).review.expect("a review");
    let second = world.submit(&account, true).review.expect("a review");
    assert_eq!(world.open_reviews(), [second]);
    let refused = world.decide(&first, ReviewVerdict::Reject, false);
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "REVIEW_CLOSED", .. })), "{refused:?}");
}

#[test]
fn approval_needs_every_item_of_the_checklist() {
    let world = World::new();
    let account = world.account();
    let review = world.submit(&account, true).review.expect("a review");
    assert!(
        matches!(world.decide(&review, ReviewVerdict::Approve, true), Err(OnboardingError::NotReady(_))),
        "no profile"
    );
    block_on(world.onboarding.accounts.set_profile(&account, super::world::profile(), &actor("partner")))
        .expect("sound");
    for (status, bytes, content_type) in [(404, 4_000, "text/html"), (200, 0, "text/html"), (200, 4_000, "image/png")] {
        world.outside.pages.answer(status, bytes, content_type);
        let refused = world.decide(&review, ReviewVerdict::Approve, true);
        assert!(matches!(refused, Err(OnboardingError::NotReady(_))), "{status} {bytes} {content_type}: {refused:?}");
    }
    world.outside.pages.answer(200, 4_000, "application/pdf");
    assert_eq!(world.status(&account), Status::PendingReview);
    world.decide(&review, ReviewVerdict::Approve, true).expect("all is there");
    assert_eq!(world.status(&account), Status::Approved);
    let again = world.decide(&review, ReviewVerdict::Reject, false);
    assert!(matches!(again, Err(OnboardingError::OutOfStep { code: "REVIEW_CLOSED", .. })));
}

#[test]
fn what_a_person_must_look_at_must_be_confirmed() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.accounts.set_profile(&account, super::world::profile(), &actor("partner")))
        .expect("sound");
    let mut country = manifest(true);
    country["intents"][0]["service_area"] = serde_json::json!(["IN_ALL"]);
    let sent = block_on(world.onboarding.submissions.submit(&account, &country, &actor("partner"))).expect("accepted");
    let review = sent.review.expect("a review");
    let refused = world.decide(&review, ReviewVerdict::Approve, false);
    assert!(matches!(refused, Err(OnboardingError::NotReady(_))), "{refused:?}");
    world.decide(&review, ReviewVerdict::Approve, true).expect("confirmed");
}

#[test]
fn a_rejection_tells_the_partner_what_to_mend() {
    let world = World::new();
    let account = world.account();
    let review = world.submit(&account, true).review.expect("a review");
    let order = DecisionOrder { verdict: ReviewVerdict::Reject, notes: " ".to_owned(), confirmed: BTreeSet::new() };
    let silent = block_on(world.onboarding.reviews.decide(&review, &order, &actor("admin")));
    assert!(matches!(silent, Err(OnboardingError::Refused(_))), "a rejection says why");
    world.decide(&review, ReviewVerdict::Reject, false).expect("decided");
    assert_eq!(world.status(&account), Status::Rejected);
    let mails = world.mails();
    assert!(mails.iter().any(|mail| mail.to == "ops@coolcar.example" && mail.text.contains("as agreed")), "{mails:?}");
    assert_eq!(world.submit(&account, false).submission.status, Status::PendingReview);
}

#[test]
fn reviews_stand_in_the_order_in_which_they_came() {
    let world = World::new();
    let account = world.account();
    world.submit(&account, true);
    world.pass_ms(1);
    let list = || List { status: None, after: None, limit: 100 };
    let first = block_on(world.onboarding.reviews.list(list())).expect("readable")[0].clone();
    assert_eq!(first.due_at_ms, first.opened_at_ms.plus_ms(REVIEW_DUE_MS));
    world.submit(&account, true);
    let reviews = block_on(world.onboarding.reviews.list(list())).expect("readable");
    assert_eq!(
        reviews.iter().map(|review| review.status).collect::<Vec<_>>(),
        [ReviewStatus::Superseded, ReviewStatus::Open]
    );
}

#[test]
fn a_privacy_policy_that_died_since_it_was_looked_at_is_not_approved() {
    let world = World::new();
    let account = world.account();
    let set_profile = || {
        let profile = super::world::profile();
        block_on(world.onboarding.accounts.set_profile(&account, profile, &actor("partner"))).expect("sound");
    };
    set_profile();
    let review = world.submit(&account, true).review.expect("a review");
    let view = block_on(world.onboarding.reviews.get(&review)).expect("there");
    assert!(view.checklist.iter().all(|item| item.state == CheckState::Passed), "{:?}", view.checklist);
    let approve = || {
        let confirmed = BTreeSet::from(["PRIVACY_POLICY".to_owned()]);
        let order = DecisionOrder { verdict: ReviewVerdict::Approve, notes: String::new(), confirmed };
        block_on(world.onboarding.reviews.decide(&review, &order, &actor("admin"))).map(drop)
    };
    world.outside.pages.answer(404, 4_000, "text/html");
    for _ in 0..2 {
        let Err(OnboardingError::NotReady(missing)) = approve() else { panic!("expected what is missing") };
        let codes: Vec<&str> = missing.iter().map(|item| item.code.as_str()).collect();
        assert_eq!(codes, ["PRIVACY_POLICY"]);
        assert!(missing[0].message.contains("404"), "{missing:?}");
    }
    assert_eq!(world.status(&account), Status::PendingReview);
    // A rejection needs no page, and one that nobody has looked at yet is fetched all the same.
    world.outside.pages.answer(200, 4_000, "text/html");
    approve().expect("it is there now");
    assert_eq!(world.status(&account), Status::Approved);
}

#[test]
fn one_who_reads_has_a_policy_fetched_once_a_minute() {
    let world = World::new();
    let account = world.account();
    let profile = super::world::profile();
    block_on(world.onboarding.accounts.set_profile(&account, profile, &actor("partner"))).expect("sound");
    let review = world.submit(&account, true).review.expect("a review");
    let refresh = || block_on(world.onboarding.reviews.refresh_policy(&review)).expect("there");
    let state = || {
        let view = block_on(world.onboarding.reviews.get_as_seen(&review)).expect("there");
        let item = view.checklist.into_iter().find(|item| item.code == "PRIVACY_POLICY").expect("an item");
        (item.state, world.outside.pages.asked())
    };
    assert_eq!(state(), (CheckState::ByHand, 0), "reading alone fetches nothing");
    refresh();
    assert_eq!(state(), (CheckState::Passed, 1));
    world.outside.pages.answer(404, 4_000, "text/html");
    world.pass_ms(59_999);
    refresh();
    assert_eq!(state(), (CheckState::Passed, 1), "it was seen just now");
    world.pass_ms(1);
    refresh();
    assert_eq!(state(), (CheckState::Failed, 2));

    // Another address is another page.
    world.outside.pages.answer(200, 4_000, "text/html");
    let mut moved = super::world::profile();
    "https://coolcar.example/moved".clone_into(&mut moved.privacy_policy_url);
    block_on(world.onboarding.accounts.set_profile(&account, moved, &actor("partner"))).expect("sound");
    refresh();
    assert_eq!(state(), (CheckState::Passed, 3));

    // Once it is decided, nothing depends on it.
    world.decide(&review, ReviewVerdict::Reject, false).expect("decided");
    let asked = world.outside.pages.asked();
    world.pass_ms(60_000);
    refresh();
    assert_eq!(world.outside.pages.asked(), asked);
}

#[test]
fn a_policy_that_is_being_fetched_is_not_fetched_twice() {
    let world = World::new();
    let account = world.account();
    let profile = super::world::profile();
    block_on(world.onboarding.accounts.set_profile(&account, profile, &actor("partner"))).expect("sound");
    let review = world.submit(&account, true).review.expect("a review");
    world.outside.pages.hold();
    let reviews = &world.onboarding.reviews;
    let mut slow = Box::pin(reviews.refresh_policy(&review));
    assert!((&mut slow).now_or_never().is_none(), "the page is waited for");
    block_on(reviews.refresh_policy(&review)).expect("there");
    assert_eq!(world.outside.pages.asked(), 1);
    // Whoever gives up leaves room for the next.
    drop(slow);
    world.outside.pages.release();
    block_on(reviews.refresh_policy(&review)).expect("there");
    assert_eq!(world.outside.pages.asked(), 2);
}
