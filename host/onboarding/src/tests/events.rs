//! What partners are told as events: kept with its cause, signed, tried for a day, and shown to its owner alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_executor::block_on;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::world::{START, World, actor, asked_by};
use crate::OnboardingError;
use crate::credentials::ROTATION_OVERLAP_MS;
use crate::events::*;
use crate::notices::NoticeKind;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::Webhook;
use intent_gateway_domain::store::load;
use intent_gateway_testing::webhook::Posted;

const HOOK: &str = "https://coolcar.example/hook";
const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;
/// The pauses between tries.
const PAUSES_MS: [u64; 8] =
    [5_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS];

impl World {
    /// An account whose webhook takes events; nothing is on its way.
    fn listen(&self) -> (PartnerId, Secret) {
        let account = self.account();
        let saved = block_on(self.onboarding.webhooks.set(&account, HOOK, &asked_by("partner"))).expect("saved");
        self.send_due();
        self.mails();
        (account, saved.webhook_event_secret.expect("the first address brings a secret"))
    }

    fn send_test(&self, account: &PartnerId) -> PartnerEvent {
        block_on(self.onboarding.events.send_test(account, &actor("partner"))).expect("sent")
    }

    fn event(&self, account: &PartnerId, id: &str) -> PartnerEvent {
        block_on(self.onboarding.events.get(account, id)).expect("there")
    }

    fn list_kinds(&self, account: &PartnerId) -> Vec<String> {
        let events = block_on(self.onboarding.events.list(account, None, EVENTS_LISTED_MAX)).expect("listed");
        events.into_iter().map(|event| type_of(&event.body())).collect()
    }

    /// The webhook takes nothing for some days.
    fn fail_for(&self, days: u64) {
        let until = self.now().plus_ms(days * DAY_MS);
        self.outside.webhook.set_broken(true);
        while self.now() < until {
            self.send_due();
            self.pass_ms(5 * MINUTE_MS);
        }
        self.outside.webhook.set_broken(false);
    }
}

fn type_of(body: &str) -> String {
    let body: Value = serde_json::from_str(body).expect("JSON");
    body["type"].as_str().expect("a type").to_owned()
}

/// Whether a post is signed by a secret, as a receiver looks at it.
fn is_signed_by(posted: &Posted, secret: &Secret) -> bool {
    let key = STANDARD.decode(secret.expose().strip_prefix(SECRET_PREFIX).expect("the prefix")).expect("base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any length");
    mac.update(format!("{}.{}.{}", posted.id, posted.timestamp, posted.body).as_bytes());
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    posted.signature.split(' ').any(|signature| signature == expected)
}

#[test]
fn an_event_is_posted_once_signed_and_kept_with_its_try() {
    let world = World::new();
    let (account, secret) = world.listen();
    assert!(!world.store.everything().contains(secret.expose()), "the secret is sealed");
    let event = world.send_test(&account);
    let posted = world.send_due();
    let [post] = posted.as_slice() else { panic!("{posted:?}") };
    assert_eq!((post.url.as_str(), &post.id, post.timestamp), (HOOK, &event.id, START.as_ms() / 1_000));
    assert!(is_signed_by(post, &secret) && !is_signed_by(post, &Secret::new("whsec_AAAA")));
    let body: Value = serde_json::from_str(&post.body).expect("JSON");
    assert_eq!(body, json!({"type": "webhook.test", "timestamp": "2026-01-01T00:00:00Z", "data": {}}));
    assert!(world.send_due().is_empty(), "once");
    let kept = world.event(&account, &event.id);
    assert_eq!((kept.state, kept.next_at_ms, kept.tries.len()), (EventState::Delivered, None, 1));
    assert_eq!((kept.tries[0].status, kept.tries[0].error.as_deref()), (Some(204), None));
}

#[test]
fn an_event_is_tried_for_a_day_under_one_id_and_then_given_up() {
    let world = World::new();
    let (account, secret) = world.listen();
    let event = world.send_test(&account);
    world.outside.webhook.answer([None]);
    let mut posted = world.send_due();
    for pause in PAUSES_MS {
        world.outside.webhook.answer([Some(500)]);
        world.pass_ms(pause - 1);
        assert!(world.send_due().is_empty(), "not before {pause} ms");
        world.pass_ms(1);
        posted.extend(world.send_due());
    }
    assert_eq!(posted.len(), PAUSES_MS.len() + 1);
    assert!(
        posted.iter().all(|post| post.id == event.id && post.body == posted[0].body && is_signed_by(post, &secret))
    );
    world.pass_ms(2 * DAY_MS);
    assert!(world.send_due().is_empty());
    let kept = world.event(&account, &event.id);
    assert_eq!((kept.state, kept.tries.len()), (EventState::Failed, posted.len()));
    assert!(kept.tries[0].error.as_ref().is_some_and(|error| error.contains("10000")), "{:?}", kept.tries[0]);
    let day = posted.last().expect("tried").timestamp - posted[0].timestamp;
    assert!((23 * 3_600..=25 * 3_600).contains(&day), "{day} s");
    // One event that fails does not end sending: the next one is sent.
    world.send_test(&account);
    assert_eq!(world.send_due().len(), 1);
}

#[test]
fn a_failed_event_is_sent_again_when_its_owner_asks() {
    let world = World::new();
    let (account, _) = world.listen();
    let event = world.send_test(&account);
    let replay = || block_on(world.onboarding.events.replay(&account, &event.id, &actor("partner")));
    assert!(matches!(replay(), Err(OnboardingError::OutOfStep { code: "EVENT_WAITING", .. })));
    world.send_due();
    assert_eq!(replay().expect("queued").state, EventState::Waiting);
    let again = world.send_due();
    assert_eq!((again.len(), &again[0].id), (1, &event.id));
    assert_eq!(world.event(&account, &event.id).tries.len(), 2);
    assert!(world.actions().contains(&"event.replayed".to_owned()));
    let stranger = PartnerId::parse("ptr_stranger").expect("well formed");
    let missing = block_on(world.onboarding.events.replay(&stranger, &event.id, &actor("partner")));
    assert!(matches!(missing, Err(OnboardingError::NotFound("event"))));
    assert!(block_on(world.onboarding.events.get(&stranger, &event.id)).is_err());
    assert!(block_on(world.onboarding.events.list(&stranger, None, 10)).expect("listed").is_empty());
}

#[test]
fn a_secret_that_was_replaced_signs_as_well_for_a_day_unless_it_ends_at_once() {
    let world = World::new();
    let (account, first) = world.listen();
    let rotate = |at_once| {
        let rotated = block_on(world.onboarding.webhooks.rotate_event_secret(&account, at_once, &asked_by("partner")));
        rotated.expect("rotated").webhook_event_secret.expect("a new one")
    };
    let second = rotate(false);
    let posted = world.send_due();
    let [post] = posted.as_slice() else { panic!("{posted:?}") };
    assert_eq!(type_of(&post.body), "key.expiring");
    assert!(is_signed_by(post, &first) && is_signed_by(post, &second));
    world.pass_ms(ROTATION_OVERLAP_MS);
    world.send_test(&account);
    let post = world.send_due().remove(0);
    assert!(!is_signed_by(&post, &first) && is_signed_by(&post, &second));
    let third = rotate(true);
    let post = world.send_due().remove(0);
    assert_eq!(type_of(&post.body), "account.changed");
    assert!(!is_signed_by(&post, &second) && is_signed_by(&post, &third));
    let mails = world.mails();
    assert_eq!(mails.len(), 2, "both rotations are mailed");
    assert!(mails.iter().all(|mail| !mail.text.contains(third.expose())));
}

#[test]
fn sending_stops_after_five_days_with_a_mail_and_begins_again_when_asked() {
    let world = World::new();
    let (account, _) = world.listen();
    world.send_test(&account);
    world.fail_for(2);
    assert!(world.mails().is_empty(), "two days are not five");
    world.send_test(&account);
    world.fail_for(5);
    let mails = world.mails();
    let stopped = mails.iter().filter(|mail| mail.subject == "Your webhook is sent nothing any more");
    assert_eq!(stopped.count(), 0, "the last event was given up before five days had passed");
    world.send_test(&account);
    world.fail_for(2);
    let [mail] = &world.mails()[..] else { panic!("one mail says so") };
    assert_eq!(mail.subject, "Your webhook is sent nothing any more");
    assert!(mail.text.contains(HOOK) && mail.text.contains("five days"), "{}", mail.text);
    let refused = block_on(world.onboarding.events.send_test(&account, &actor("partner")));
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "EVENTS_NOT_SENT", .. })), "{refused:?}");
    // What happens meanwhile is kept, and not sent.
    block_on(world.onboarding.webhooks.rotate_key(&account, false, &asked_by("partner"))).expect("rotated");
    assert!(world.send_due().is_empty());
    let latest = block_on(world.onboarding.events.list(&account, None, 1)).expect("listed").remove(0);
    assert_eq!(latest.state, EventState::Unsent);
    block_on(world.onboarding.events.enable(&account, &actor("partner"))).expect("enabled");
    let twice = block_on(world.onboarding.events.enable(&account, &actor("partner")));
    assert!(matches!(twice, Err(OnboardingError::OutOfStep { code: "EVENTS_NOT_STOPPED", .. })));
    block_on(world.onboarding.events.replay(&account, &latest.id, &actor("partner"))).expect("queued");
    assert_eq!(world.send_due().len(), 1);
}

#[test]
fn a_webhook_that_says_it_is_gone_is_sent_nothing_more() {
    let world = World::new();
    let (account, _) = world.listen();
    let event = world.send_test(&account);
    world.outside.webhook.answer([Some(410)]);
    assert_eq!(world.send_due().len(), 1);
    assert_eq!(world.event(&account, &event.id).state, EventState::Failed);
    assert_eq!(world.mails().len(), 1);
    // Another address is another webhook.
    let moved = format!("{HOOK}/2");
    block_on(world.onboarding.webhooks.set(&account, &moved, &asked_by("partner"))).expect("saved");
    assert!(world.send_due().iter().all(|post| post.url == moved), "what is told from then on goes there");
    world.send_test(&account);
    assert_eq!(world.send_due().len(), 1);
}

#[test]
fn a_success_makes_the_days_of_failure_count_anew() {
    let world = World::new();
    let (account, _) = world.listen();
    for _ in 0..4 {
        world.send_test(&account);
        world.fail_for(2);
        world.send_test(&account);
        assert_eq!(world.send_due().len(), 1);
    }
    assert!(world.mails().is_empty());
}

#[test]
fn a_webhook_that_takes_and_refuses_by_turns_has_its_record_left_alone() {
    let world = World::new();
    let (account, _) = world.listen();
    let before = block_on(load::<Webhook>(&*world.store, account.as_str())).expect("readable").expect("kept");
    for status in [500, 204, 500, 204] {
        world.send_test(&account);
        world.outside.webhook.answer([Some(status)]);
        assert_eq!(world.send_due().len(), 1);
    }
    let after = block_on(load::<Webhook>(&*world.store, account.as_str())).expect("readable").expect("kept");
    assert_eq!(after.revision, before.revision, "all gateways follow that record");
}

#[test]
fn without_a_webhook_what_is_told_is_kept_and_not_sent() {
    let world = World::new();
    let account = world.live();
    assert!(world.send_due().is_empty());
    let events = block_on(world.onboarding.events.list(&account, None, EVENTS_LISTED_MAX)).expect("listed");
    assert!(events.len() > 1 && events.iter().all(|event| event.state == EventState::Unsent), "{events:?}");
    assert!(events.is_sorted_by(|later, earlier| later.id > earlier.id), "the latest first");
    let refused = block_on(world.onboarding.events.replay(&account, &events[0].id, &actor("partner")));
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "EVENTS_NOT_SENT", .. })));
    let second = block_on(world.onboarding.events.list(&account, Some(&events[0].id), 1)).expect("listed");
    assert_eq!(second[0], events[1]);
}

#[test]
fn each_step_that_is_mailed_is_told_as_an_event() {
    let world = World::new();
    let account = world.live();
    let told = world.list_kinds(&account);
    assert!(told.contains(&"connection.changed".to_owned()) && told.contains(&"review.decided".to_owned()), "{told:?}");
    world.pass_ms(1);
    block_on(world.onboarding.connections.suspend(&account, "too slow", &actor("admin"))).expect("suspended");
    world.pass_ms(1);
    block_on(world.onboarding.connections.lift(&account, "mended", &actor("admin"))).expect("lifted");
    assert_eq!(world.list_kinds(&account)[..2], ["connection.changed", "connection.suspended"]);
    let events = block_on(world.onboarding.events.list(&account, None, 1)).expect("listed");
    let lifted = EventData::ConnectionChanged {
        state: "sandbox".to_owned(),
        intents: Vec::new(),
        reason: Some("mended".to_owned()),
    };
    assert_eq!(events[0].data, lifted);
    let subjects: Vec<_> = world.mails().into_iter().map(|mail| mail.subject).collect();
    assert!(subjects.contains(&"The suspension of your connection was lifted".to_owned()), "{subjects:?}");
}

#[test]
fn test_events_are_bounded_by_the_hour() {
    let world = World::new();
    let (account, _) = world.listen();
    for _ in 0..TESTS_AN_HOUR {
        world.send_test(&account);
        world.pass_ms(MINUTE_MS);
    }
    let refused = block_on(world.onboarding.events.send_test(&account, &actor("partner")));
    let Err(OnboardingError::TooMany(wait_ms)) = refused else { panic!("{refused:?}") };
    assert_eq!(wait_ms, HOUR_MS - TESTS_AN_HOUR as u64 * MINUTE_MS);
    world.pass_ms(wait_ms + 1);
    world.send_test(&account);
}

#[test]
fn a_partner_has_one_turn_at_a_time_of_a_few_events() {
    let world = World::new();
    let (account, _) = world.listen();
    for _ in 0..8 {
        world.send_test(&account);
    }
    let turns = |room| block_on(world.onboarding.courier.take_turns(room)).expect("read");
    assert!(turns(0).is_empty());
    let mut first = turns(16);
    assert_eq!(first.iter().map(Turn::account).collect::<Vec<_>>(), [&account]);
    assert!(turns(16).is_empty(), "its turn is taken");
    block_on(first.remove(0).run());
    assert_eq!(world.outside.webhook.take_posted().len(), 5);
    assert_eq!(world.send_due().len(), 3, "the next turn has the rest");
}

#[test]
fn events_are_forgotten_after_a_month_unless_they_wait() {
    let world = World::new();
    let (account, _) = world.listen();
    let old = world.send_test(&account);
    world.send_due();
    world.pass_ms(30 * DAY_MS);
    let waiting = world.send_test(&account);
    let forget = || block_on(forget_events(&*world.store, world.now())).expect("forgotten");
    assert_eq!(forget(), 0, "exactly thirty days are kept");
    world.pass_ms(MINUTE_MS);
    assert!(forget() >= 1);
    assert!(block_on(world.onboarding.events.get(&account, &old.id)).is_err());
    world.pass_ms(31 * DAY_MS);
    assert_eq!(forget(), 0, "what waits stays");
    assert_eq!(world.event(&account, &waiting.id).state, EventState::Waiting);
}

#[test]
fn a_statement_is_told_once_when_its_month_is_over() {
    let world = World::new();
    let (account, _) = world.listen();
    world.books.report(&world, &account, "completed", 1);
    world.books.report(&world, &PartnerId::parse("ptr_configured").expect("well formed"), "completed", 1);
    let tell = || block_on(world.onboarding.statements.tell()).expect("told");
    assert_eq!(tell(), 0, "the month is not over");
    world.pass_ms(34 * DAY_MS);
    assert_eq!(tell(), 1, "and a partner without an account is nobody to tell");
    assert_eq!(tell(), 0, "once");
    let posted = world.send_due();
    let body: Value = serde_json::from_str(&posted[0].body).expect("JSON");
    assert_eq!((&body["type"], &body["data"]), (&json!("statement.ready"), &json!({"month": "2026-01"})));
    let [mail] = &world.mails()[..] else { panic!("one mail") };
    assert!(mail.text.contains("intent-gateway statement 2026-01"), "{}", mail.text);
}

/// One of each.
fn samples() -> Vec<EventData> {
    let intent = IntentId::parse("auto.book_ac_service").expect("well formed");
    let text = str::to_owned;
    let failure = EventFailure { code: text("TLS_FAILED"), message: text("the certificate has expired") };
    let notice = EventNotice {
        notice_id: text("ntc_019cdff1a800f1d2d2f924e986ac"),
        kind: NoticeKind::ManifestSchema,
        title: text("Holidays in manifests"),
        text: text("Add the member."),
        version: Some(text("0.2.0")),
        intents: Vec::new(),
        takes_effect_at: text("2026-06-01T00:00:00Z"),
    };
    vec![
        EventData::ReviewDecided {
            review_id: text("rev_0123456789abcdef"),
            about: text("manifest"),
            decision: text("approved"),
            notes: text("welcome"),
        },
        EventData::ConnectionChanged { state: text("live"), intents: vec![intent.clone()], reason: None },
        EventData::ProbeFailed { failures: vec![failure.clone()] },
        EventData::TestFailed { intent: intent.clone(), failures: vec![failure], routed_until: None },
        EventData::ToolsDrifted {
            review_id: text("rev_0123456789abcdef"),
            changes: vec![EventTool {
                intent: intent.clone(),
                tool: text("search_ac_service_slots"),
                change: text("schema_changed"),
            }],
        },
        EventData::StrikeRecorded {
            strikes: vec![EventStrike {
                code: text("FORBIDDEN_FIELD"),
                message: text("the field is forbidden"),
                intent: intent.to_string(),
                request_id: text("01890a5d-ac96-774b-bcce-b302099a8057"),
                option_id: Some(text("S-9")),
                external_id: None,
                pointer: text("/sponsored_rank"),
                incidents: 1,
            }],
            more: 0,
        },
        EventData::ConnectionSuspended { reason: text("three strikes") },
        EventData::RoutingEnded { intents: vec![intent.clone()] },
        EventData::ConfirmationEnding {
            confirmations: vec![EventConfirmation {
                intent: intent.clone(),
                code: text("CERTIFICATE_SEEN"),
                valid_until: text("2026-06-01T00:00:00Z"),
                routed_until: None,
            }],
        },
        EventData::SignInQuestioned { review_id: text("rev_0123456789abcdef"), issuer: text("https://id.example") },
        EventData::OrderOverdue {
            orders: vec![EventOrder {
                order_id: text("ord_019ab4c8f2000f1e2d3c4b5a6978"),
                external_id: Some(text("BK-7")),
                intent,
                due_at: Some(text("2026-05-01T10:00:00Z")),
            }],
        },
        EventData::StatementReady { month: text("2026-05") },
        EventData::KeyExpiring { key: text("client_secret"), expires_at: text("2026-05-02T10:00:00Z") },
        EventData::AccountChanged { what: text("endpoint") },
        EventData::NoticePublished(notice.clone()),
        EventData::NoticeReminder(notice),
        EventData::NoticeWithdrawn {
            notice_id: text("ntc_019cdff1a800f1d2d2f924e986ac"),
            title: text("Holidays in manifests"),
            reason: text("it comes later"),
        },
        EventData::WebhookTest {},
    ]
}

#[test]
fn the_documents_show_each_event_as_it_is_posted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/events.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let account = PartnerId::parse("ptr_0123456789abcdef").expect("well formed");
    let mut missing = Vec::new();
    for data in samples() {
        let event =
            PartnerEvent::new("evt_1".to_owned(), account.clone(), data.clone(), Timestamp::from_ms(1_777_629_600_000));
        let body = event.body();
        if !page.contains(&body) {
            missing.push(body.clone());
        }
        let kept: PartnerEvent = serde_json::from_str(&serde_json::to_string(&event).expect("kept")).expect("read");
        assert_eq!(kept, event);
        assert_eq!(kept.body(), body, "the same text each time");
        assert!(page.contains(&format!("| `{}` |", type_of(&body))), "docs/events.md does not explain {body}");
    }
    assert!(missing.is_empty(), "docs/events.md does not show\n{}", missing.join("\n"));
    let named = page.lines().filter(|line| line.starts_with("| `") && line.contains('.') && !line.contains("_ms`"));
    assert_eq!(named.count(), samples().len());
}
