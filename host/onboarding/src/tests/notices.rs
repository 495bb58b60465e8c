//! Notices: published ahead of time, told once to whom they concern, withdrawn.

use futures_executor::block_on;

use super::world::{World, actor};
use crate::OnboardingError;
use crate::notices::{NOTICE_AHEAD_MS, Notice, NoticeDraft, NoticeKind, NoticeStage, NoticeState};
use crate::records::Account;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::mail::Mail;
use intent_gateway_domain::store::{Change, List, Versioned, load};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// The intent that the manifest of the tests lists, and one that it does not.
const LISTED: &str = "test.find_things";
const UNLISTED: &str = "test.find_others";

impl World {
    fn draft(&self) -> NoticeDraft {
        NoticeDraft {
            kind: NoticeKind::ManifestSchema,
            title: "Holidays in manifests".to_owned(),
            text: "Add the member.\nIt is optional at first.".to_owned(),
            version: Some("0.2.0".to_owned()),
            intents: Vec::new(),
            takes_effect_at: self.now().plus_ms(NOTICE_AHEAD_MS),
        }
    }

    fn publish(&self, draft: NoticeDraft) -> Result<Notice, OnboardingError> {
        block_on(self.onboarding.notices.publish(draft, &actor("admin")))
    }

    fn withdraw(&self, notice: &Notice) -> Result<Notice, OnboardingError> {
        block_on(self.onboarding.notices.withdraw(&notice.id, "it comes later", &actor("admin")))
    }

    fn tell(&self) -> u64 {
        block_on(self.onboarding.notices.tell()).expect("the store works")
    }

    fn notice(&self, id: &str) -> Notice {
        block_on(self.onboarding.notices.get(id)).expect("there")
    }

    /// More accounts, after all others in their order.
    fn add_accounts(&self, from: usize, count: usize) {
        let one = block_on(load::<Account>(&*self.store, self.account_key().as_str())).expect("read").expect("there");
        for number in from..from + count {
            let mut account = one.value.clone();
            account.id = PartnerId::parse(&format!("ptr_z{number:05}")).expect("well formed");
            account.email = format!("owner{number}@other.example");
            let mut change = Change::default();
            change.put(&Versioned::new(account));
            block_on(intent_gateway_domain::store::Store::commit(&*self.store, change)).expect("kept");
        }
    }

    fn account_key(&self) -> PartnerId {
        let list = List { status: None, after: None, limit: 1 };
        block_on(self.onboarding.accounts.list(list)).expect("listed")[0].id.clone()
    }
}

fn codes(refused: Result<Notice, OnboardingError>) -> Vec<(String, String)> {
    let Err(OnboardingError::Refused(refusal)) = refused else { panic!("{refused:?}") };
    refusal.violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
}

fn subjects(mails: &[Mail]) -> Vec<(&str, &str)> {
    mails.iter().map(|mail| (mail.to.as_str(), mail.subject.as_str())).collect()
}

#[test]
fn a_change_of_the_manifest_is_told_thirty_days_ahead() {
    let world = World::new();
    let early = NoticeDraft { takes_effect_at: world.now().plus_ms(NOTICE_AHEAD_MS - 1), ..world.draft() };
    assert_eq!(codes(world.publish(early.clone())), [("/takes_effect_at".to_owned(), "NOTICE_TOO_SHORT".to_owned())]);
    let aheads = [(NoticeKind::Contract, 30), (NoticeKind::Api, 90), (NoticeKind::Webhooks, 90)];
    for (kind, days) in aheads {
        let at =
            |takes_effect_at| NoticeDraft { kind, intents: vec![LISTED.to_owned()], takes_effect_at, ..early.clone() };
        let earliest = world.now().plus_ms(days * DAY_MS);
        assert_eq!(codes(world.publish(at(earliest.minus_ms(1))))[0].1, "NOTICE_TOO_SHORT", "{kind:?}");
        world.publish(at(earliest)).expect("in time");
    }
    let other = NoticeDraft { kind: NoticeKind::Other, takes_effect_at: world.now(), ..early };
    world.publish(other.clone()).expect("it asks nothing of programs");
    let past = NoticeDraft { takes_effect_at: Timestamp::from_ms(world.now().as_ms() - 1), ..other };
    assert_eq!(codes(world.publish(past))[0].1, "NOTICE_TOO_SHORT");
    let far = NoticeDraft { takes_effect_at: world.now().plus_ms(733 * DAY_MS), ..world.draft() };
    assert_eq!(codes(world.publish(far))[0].1, "OUT_OF_RANGE");
    assert_eq!(world.publish(world.draft()).expect("in time").state(world.now()), NoticeState::Upcoming);
}

#[test]
fn every_fault_of_a_notice_is_told_and_nothing_is_kept() {
    let world = World::new();
    let bad = NoticeDraft {
        kind: NoticeKind::Contract,
        title: " ".to_owned(),
        text: "x".repeat(4_097),
        version: Some(String::new()),
        intents: Vec::new(),
        takes_effect_at: world.now(),
    };
    let found: Vec<String> = codes(world.publish(bad)).into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(found, ["/title", "/text", "/takes_effect_at", "/version", "/intents"]);
    for (version, code) in [(None, "REQUIRED"), (Some("0.1.0"), "OUT_OF_RANGE"), (Some("new"), "BAD_FORMAT")] {
        let draft = NoticeDraft { version: version.map(str::to_owned), ..world.draft() };
        assert_eq!(codes(world.publish(draft)), [("/version".to_owned(), code.to_owned())]);
    }
    let unknown = NoticeDraft { intents: vec![LISTED.to_owned(), "test.none".to_owned()], ..world.draft() };
    assert_eq!(codes(world.publish(unknown)), [("/intents/1".to_owned(), "INVALID_INTENT".to_owned())]);
    let list = List { status: None, after: None, limit: 10 };
    assert!(block_on(world.onboarding.notices.list(list)).expect("listed").is_empty());
    assert!(!world.actions().contains(&"notice.published".to_owned()));
}

#[test]
fn whoever_it_concerns_is_told_once_by_mail_and_event() {
    let world = World::new();
    let account = world.account();
    world.submit(&account, false);
    world.mails();
    let everybody = world.publish(world.draft()).expect("published");
    assert_eq!(world.publish(world.draft()).expect("the same").id, everybody.id);
    assert_eq!(world.actions().iter().filter(|action| *action == "notice.published").count(), 1);
    let named = |intent: &str| NoticeDraft { intents: vec![intent.to_owned()], ..world.draft() };
    let own = world.publish(named(LISTED)).expect("published");
    let others = world.publish(named(UNLISTED)).expect("published");
    assert_eq!(world.tell(), 2);
    let mails = world.mails();
    let about = ("ops@coolcar.example", "Notice: Holidays in manifests");
    assert_eq!(subjects(&mails), [about, about]);
    assert!(mails.iter().all(|mail| mail.text.contains("It is optional at first.") && mail.text.contains("0.2.0")));
    assert_eq!((world.tell(), world.mails().len()), (0, 0), "once");
    let seen = block_on(world.onboarding.notices.list_concerning(&account)).expect("read");
    let mut expected = [everybody.id.as_str(), own.id.as_str()];
    expected.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(seen.iter().map(|notice| notice.id.as_str()).collect::<Vec<_>>(), expected);
    for (id, told) in [(&everybody.id, 1), (&own.id, 1), (&others.id, 0)] {
        let published = &world.notice(id).tellings[0];
        assert_eq!((published.told, published.ended_at_ms), (told, Some(world.now())), "{id}");
    }
    let events = block_on(world.onboarding.events.list(&account, None, 10)).expect("listed");
    let told = events.iter().filter(|event| event.body().contains("\"notice.published\"")).count();
    assert_eq!(told, 2, "{events:?}");
}

#[test]
fn a_week_before_it_takes_effect_partners_are_reminded() {
    let world = World::new();
    world.account();
    world.mails();
    let notice = world.publish(world.draft()).expect("published");
    let soon =
        NoticeDraft { kind: NoticeKind::Other, takes_effect_at: world.now().plus_ms(14 * DAY_MS), ..world.draft() };
    let soon = world.publish(soon).expect("published");
    assert_eq!(world.notice(&soon.id).tellings.len(), 1, "whoever was just told needs no reminder");
    world.tell();
    world.mails();
    world.pass_ms(23 * DAY_MS - 1);
    assert_eq!(world.tell(), 0);
    world.pass_ms(1);
    assert_eq!(world.tell(), 1);
    assert_eq!(subjects(&world.mails()), [("ops@coolcar.example", "Soon in effect: Holidays in manifests")]);
    assert_eq!((world.tell(), world.notice(&notice.id).state(world.now())), (0, NoticeState::Upcoming));
    world.pass_ms(7 * DAY_MS);
    assert_eq!(world.notice(&notice.id).state(world.now()), NoticeState::InEffect);
    assert!(matches!(world.withdraw(&notice), Err(OnboardingError::OutOfStep { code: "NOTICE_IN_EFFECT", .. })));
}

#[test]
fn a_notice_that_is_withdrawn_is_told_to_whoever_was_told_of_it() {
    let world = World::new();
    world.account();
    world.mails();
    let notice = world.publish(world.draft()).expect("published");
    world.tell();
    world.mails();
    let withdrawn = world.withdraw(&notice).expect("withdrawn");
    assert_eq!(withdrawn.state(world.now()), NoticeState::Withdrawn);
    assert_eq!(world.withdraw(&notice).expect("again"), withdrawn, "nothing changes");
    assert_eq!(world.tell(), 1);
    let mails = world.mails();
    assert_eq!(subjects(&mails), [("ops@coolcar.example", "Withdrawn: Holidays in manifests")]);
    assert!(mails[0].text.contains("it comes later"));
    world.pass_ms(40 * DAY_MS);
    assert_eq!(world.tell(), 0, "no reminder of what is off");
    let again =
        NoticeDraft { takes_effect_at: notice.takes_effect_at_ms, kind: NoticeKind::ManifestSchema, ..world.draft() };
    world.outside.clock.set(notice.published_at_ms.as_ms());
    assert!(matches!(world.publish(again), Err(OnboardingError::OutOfStep { code: "NOTICE_WITHDRAWN", .. })));
}

#[test]
fn a_notice_that_nobody_was_told_of_is_withdrawn_in_silence() {
    let world = World::new();
    world.account();
    world.mails();
    let notice = world.publish(world.draft()).expect("published");
    world.withdraw(&notice).expect("withdrawn");
    assert_eq!((world.tell(), world.mails().len()), (0, 0));
    let stages: Vec<NoticeStage> = world.notice(&notice.id).tellings.iter().map(|telling| telling.stage).collect();
    assert_eq!(stages, [NoticeStage::Published, NoticeStage::Withdrawn]);
}

#[test]
fn telling_goes_on_where_it_ended_and_tells_nobody_twice() {
    let world = World::new();
    world.account();
    world.add_accounts(0, 250);
    world.mails();
    let notice = world.publish(world.draft()).expect("published");
    // A gateway ends after some were told and before that was noted: they are passed over by the next.
    let before = world.notice(&notice.id);
    assert_eq!(world.tell(), 251);
    let mut rewound = block_on(load::<Notice>(&*world.store, &notice.id)).expect("read").expect("there");
    rewound.value.tellings = before.tellings;
    let mut change = Change::default();
    change.put(&rewound);
    block_on(intent_gateway_domain::store::Store::commit(&*world.store, change)).expect("kept");
    world.add_accounts(250, 1);
    assert_eq!(world.tell(), 1, "the one that came since");
    let mut told = 0;
    loop {
        let mails = world.mails();
        if mails.is_empty() {
            break;
        }
        told += mails.len();
    }
    assert_eq!(told, 252);
    assert_eq!(world.notice(&notice.id).tellings[0].after.as_ref().map(PartnerId::as_str), Some("ptr_z00250"));
}
