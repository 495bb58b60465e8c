use futures_executor::block_on;

use super::world::{World, actor, asked_by, endpoint};
use crate::connection::ConnectionState;
use crate::undo::Changed;
use crate::{FRESH_SIGN_IN_MS, OnboardingError, Requester, Session, UNDO_TTL_MS};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::mail::Mail;
use intent_gateway_domain::signing_keys::{EventSending, Webhook};

const HOOK: &str = "https://coolcar.example/hook";

impl World {
    /// The partner with a token of now, which a mailed code has opened or not.
    fn partner(&self, account: &PartnerId, proven: bool) -> Requester {
        let now = self.now();
        let epoch = block_on(self.onboarding.accounts.get(account)).expect("there").epoch;
        let proven_at = proven.then_some(now);
        let token = format!("token-{epoch}-{proven}");
        let session = Session { epoch: Some(epoch), token, issued_at: now, proven_at };
        Requester { actor: actor("partner"), session: Some(session) }
    }

    fn accepts(&self, account: &PartnerId, by: &Requester) -> bool {
        let session = by.session.as_ref().expect("a partner's");
        block_on(self.onboarding.sessions.is_current(account.as_str(), session)).expect("readable")
    }

    fn enters(&self, id: &str, secret: &str) -> bool {
        block_on(self.onboarding.credentials.authenticate(id, secret)).is_ok()
    }

    /// The code of the one mail that tells of a change.
    fn undo_code(&self) -> String {
        let mails = self.mails();
        let [mail] = mails.as_slice() else { panic!("expected one mail, found {mails:?}") };
        undo_code_in(mail)
    }

    fn undo(&self, account: &PartnerId, code: &str) -> Result<crate::Undone, OnboardingError> {
        block_on(self.onboarding.undoing.undo(account.as_str(), code, "192.0.2.1"))
    }
}

fn undo_code_in(mail: &Mail) -> String {
    let at = mail.text.find("undo_").unwrap_or_else(|| panic!("no code in {}", mail.text));
    mail.text[at..].chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

#[test]
fn a_rotation_at_once_ends_every_session_but_the_one_that_asks() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let (thief, owner) = (world.partner(&account, false), world.partner(&account, true));
    let overlapping = block_on(world.onboarding.credentials.rotate(&account, false, &thief)).expect("rotated");
    assert!(world.accepts(&account, &thief) && world.accepts(&account, &owner), "a rotation with overlap ends nothing");
    block_on(world.onboarding.credentials.rotate(&account, true, &owner)).expect("rotated");
    assert!(!world.accepts(&account, &thief) && world.accepts(&account, &owner));
    assert!(!world.enters(&overlapping.credentials.client_id, overlapping.client_secret.expose()));

    let refused = block_on(world.onboarding.credentials.rotate(&account, false, &thief));
    assert!(
        matches!(refused, Err(OnboardingError::SessionEnded)),
        "what was let in before is looked at again: {refused:?}"
    );
    let refused = block_on(world.onboarding.connections.register(&account, &endpoint("thief"), &thief));
    assert!(matches!(refused, Err(OnboardingError::SessionEnded)), "{refused:?}");
}

#[test]
fn only_a_fresh_sign_in_ends_keys_at_once_or_moves_addresses() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let unproven = world.partner(&account, false);
    let fresh = world.partner(&account, true);
    // The first address takes no proof: there is nothing to take over, and the owner is told.
    block_on(world.onboarding.webhooks.set(&account, HOOK, &unproven)).expect("saved");
    block_on(world.onboarding.connections.register(&account, &endpoint("a"), &unproven)).expect("taken");
    world.pass_ms(FRESH_SIGN_IN_MS);
    let onboarding = &world.onboarding;
    let moved = format!("{HOOK}/moved");
    for by in [&unproven, &fresh] {
        let needed = [
            block_on(onboarding.credentials.rotate(&account, true, by)).map(drop),
            block_on(onboarding.webhooks.rotate_key(&account, true, by)).map(drop),
            block_on(onboarding.webhooks.set(&account, &moved, by)).map(drop),
            block_on(onboarding.connections.register(&account, &endpoint("b"), by)).map(drop),
        ];
        for refused in needed {
            assert!(matches!(refused, Err(OnboardingError::SignInNeeded)), "{refused:?}");
        }
        // What changes nothing needs nothing, and an overlap is the specification's own rotation.
        block_on(onboarding.webhooks.set(&account, HOOK, by)).expect("the same");
        block_on(onboarding.connections.register(&account, &endpoint("a"), by)).expect("the same");
        block_on(onboarding.webhooks.rotate_key(&account, false, by)).expect("rotated");
    }
    let again = world.partner(&account, true);
    world.pass_ms(FRESH_SIGN_IN_MS - 1);
    block_on(onboarding.credentials.rotate(&account, true, &again)).expect("just in time");
    block_on(onboarding.webhooks.set(&account, &moved, &again)).expect("just in time");
    block_on(onboarding.connections.register(&account, &endpoint("b"), &again)).expect("just in time");
    block_on(onboarding.credentials.rotate(&account, true, &asked_by("admin"))).expect("the team needs none");
}

#[test]
fn all_sessions_end_and_secrets_go_on() {
    let world = World::new();
    let account = world.account();
    let issued = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let (one, other) = (world.partner(&account, true), world.partner(&account, false));
    world.pass_ms(1_000);
    let elsewhere = |issued_at| Session { epoch: None, token: String::new(), issued_at, proven_at: None };
    let before = Requester { actor: actor("partner"), session: Some(elsewhere(world.now())) };
    assert!(world.accepts(&account, &before));
    block_on(world.onboarding.sessions.end_all(&account, &other)).expect("ended");
    for ended in [&one, &other, &before] {
        assert!(!world.accepts(&account, ended), "{ended:?}");
    }
    world.pass_ms(1_000);
    let after = Requester { actor: actor("partner"), session: Some(elsewhere(world.now())) };
    assert!(world.accepts(&account, &after) && world.accepts(&account, &world.partner(&account, false)));
    assert!(world.enters(&issued.credentials.client_id, issued.client_secret.expose()));
    assert_eq!(world.actions().last().map(String::as_str), Some("account.sessions_ended"));
}

#[test]
fn a_rotation_is_undone_with_what_came_after_it() {
    let world = World::new();
    let account = world.account();
    let first = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let id = first.credentials.client_id.clone();
    world.pass_ms(1_000);
    let thief = world.partner(&account, false);
    let second = block_on(world.onboarding.credentials.rotate(&account, false, &thief)).expect("rotated");
    let code = world.undo_code();
    world.pass_ms(1_000);
    let third = block_on(world.onboarding.credentials.rotate(&account, false, &thief)).expect("rotated");
    let later = world.undo_code();
    for wrong in ["", "undo_", later.trim_end_matches(char::is_alphanumeric)] {
        assert!(matches!(world.undo(&account, wrong), Err(OnboardingError::NotAccepted)));
    }
    let stranger = PartnerId::parse("ptr_stranger").expect("well formed");
    assert!(matches!(world.undo(&stranger, &code), Err(OnboardingError::NotAccepted)));

    assert_eq!(world.undo(&account, &code).expect("undone").what, "client_secret");
    assert!(world.enters(&id, first.client_secret.expose()));
    assert!(!world.enters(&id, second.client_secret.expose()) && !world.enters(&id, third.client_secret.expose()));
    assert!(!world.accepts(&account, &thief));
    world.pass_ms(10 * UNDO_TTL_MS);
    assert!(world.enters(&id, first.client_secret.expose()), "it is the current one again");
    for used in [&code, &later] {
        assert!(matches!(world.undo(&account, used), Err(OnboardingError::NotAccepted)), "good once");
    }
}

#[test]
fn a_change_can_be_undone_for_so_long() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    world.pass_ms(1_000);
    block_on(world.onboarding.credentials.rotate(&account, false, &world.partner(&account, false))).expect("rotated");
    let code = world.undo_code();
    assert!(!world.store.everything().contains(&code), "the code is kept nowhere in plain");
    world.pass_ms(UNDO_TTL_MS);
    assert!(matches!(world.undo(&account, &code), Err(OnboardingError::NotAccepted)));
}

#[test]
fn a_webhook_is_moved_back() {
    let world = World::new();
    let account = world.account();
    let by = world.partner(&account, true);
    let first = block_on(world.onboarding.webhooks.set(&account, HOOK, &by)).expect("saved").webhook;
    world.mails();
    world.pass_ms(1_000);
    block_on(world.onboarding.webhooks.set(&account, "https://thief.example/hook", &by)).expect("saved");
    let code = world.undo_code();
    world.pass_ms(1_000);
    block_on(world.onboarding.webhooks.rotate_key(&account, false, &by)).expect("rotated");
    block_on(world.onboarding.webhooks.rotate_event_secret(&account, false, &by)).expect("rotated");
    assert_eq!(world.undo(&account, &code).expect("undone").what, "webhook");
    let mut back = block_on(world.onboarding.webhooks.get(&account)).expect("there");
    assert_eq!(back.events.since_ms.take(), Some(world.now()), "sending begins anew");
    assert_eq!(back, Webhook { events: EventSending { since_ms: None, ..first.events.clone() }, ..first });
}

#[test]
fn a_move_is_undone_and_the_partner_is_live_as_before() {
    let world = World::new();
    let account = world.live();
    world.mails();
    let by = world.partner(&account, true);
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &by)).expect("moved");
    let code = world.undo_code();
    // A second move does not make the first one stay.
    block_on(world.onboarding.connections.register(&account, &endpoint("c"), &by)).expect("moved");
    assert!(world.routed().is_empty());
    let undone = world.undo(&account, &code).expect("undone");
    assert_eq!((undone.what, undone.endpoint), ("endpoint", Some(endpoint("a"))));
    let connection = block_on(world.onboarding.connections.get(&account)).expect("there");
    assert_eq!((connection.state, connection.endpoint), (ConnectionState::Live, endpoint("a")));
    assert_eq!(world.routed().len(), 1);
    assert_eq!(block_on(world.onboarding.probes.run_due()).expect("looked"), 1, "it is looked at at once");
    assert!(!world.accepts(&account, &by));
}

#[test]
fn the_owner_is_told_of_the_first_webhook_and_takes_it_back() {
    let world = World::new();
    let account = world.account();
    let by = world.partner(&account, true);
    let issued = block_on(world.onboarding.webhooks.set(&account, HOOK, &by)).expect("saved");
    let [mail] = world.mails().try_into().expect("one mail");
    assert!(mail.text.contains(HOOK) && mail.text.contains("it had none before"), "{}", mail.text);
    world.pass_ms(1_000);
    block_on(world.onboarding.webhooks.rotate_key(&account, false, &by)).expect("rotated");
    assert_eq!(world.undo(&account, &undo_code_in(&mail)).expect("undone").what, "webhook");
    assert!(block_on(world.onboarding.webhooks.find(&account)).expect("readable").is_none(), "it has none, as before");
    assert!(!world.accepts(&account, &by));
    // Once more, by the owner: it is the first one again.
    let own = world.partner(&account, true);
    let again = block_on(world.onboarding.webhooks.set(&account, HOOK, &own)).expect("saved");
    assert_eq!(again.webhook.keys.len(), 1);
    assert_ne!(again.webhook.keys[0].id, issued.webhook.keys[0].id);
}

#[test]
fn the_owner_is_told_of_the_first_endpoint_and_takes_it_back_until_it_was_live() {
    let world = World::new();
    let account = world.account();
    let by = world.partner(&account, true);
    block_on(world.onboarding.connections.register(&account, &endpoint("thief"), &by)).expect("taken");
    let [mail] = world.mails().try_into().expect("one mail");
    assert!(mail.text.contains("/thief") && mail.text.contains("it had none before"), "{}", mail.text);
    world.pass_ms(1_000);
    block_on(world.onboarding.connections.register(&account, &endpoint("thief/2"), &by)).expect("moved");
    world.mails();
    let undone = world.undo(&account, &undo_code_in(&mail)).expect("undone");
    assert_eq!((undone.what, undone.endpoint), ("endpoint", None));
    let none = block_on(world.onboarding.connections.get(&account));
    assert!(matches!(none, Err(OnboardingError::NotFound("connection"))), "{none:?}");

    // Whoever was live does not become somebody who never was, and is charged nothing.
    world.submit(&account, true);
    world.approve(&account);
    world.mails();
    block_on(world.onboarding.connections.register(&account, &endpoint("a"), &asked_by("admin"))).expect("taken");
    let [mail] = world.mails().try_into().expect("one mail");
    assert!(mail.text.contains("asked for by the platform team"), "{}", mail.text);
    block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
    world.test(&account);
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    let refused = world.undo(&account, &undo_code_in(&mail));
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "UNDO_TOO_LATE", .. })), "{refused:?}");
    assert_eq!(world.routed().len(), 1);
}

#[test]
fn a_move_that_is_undone_after_going_live_does_not_make_somebody_who_never_was() {
    let world = World::new();
    let account = world.account();
    let by = world.partner(&account, true);
    world.submit(&account, true);
    world.approve(&account);
    world.mails();
    block_on(world.onboarding.connections.register(&account, &endpoint("a"), &by)).expect("taken");
    let first = world.undo_code();
    world.pass_ms(1_000);
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &by)).expect("moved");
    let second = world.undo_code();
    block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
    world.test(&account);
    block_on(world.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
    let live = block_on(world.onboarding.connections.get(&account)).expect("there").first_live_at_ms;
    assert!(live.is_some());
    world.undo(&account, &second).expect("undone");
    let connection = block_on(world.onboarding.connections.get(&account)).expect("there");
    assert_eq!((connection.endpoint, connection.first_live_at_ms), (endpoint("a"), live));
    let refused = world.undo(&account, &first);
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "UNDO_TOO_LATE", .. })), "{refused:?}");
}

#[test]
fn what_a_former_gateway_has_kept_of_a_change_is_read() {
    for (kept, what) in [
        (r#"{"kind":"endpoint"}"#, Changed::Endpoint { is_first: false }),
        (
            r#"{"kind":"webhook","previous_url":"https://a.example/"}"#,
            Changed::Webhook { previous_url: "https://a.example/".to_owned() },
        ),
    ] {
        assert_eq!(serde_json::from_str::<Changed>(kept).expect("read"), what);
    }
}

#[test]
fn undoing_a_move_does_not_shake_off_a_suspension() {
    let world = World::new();
    let account = world.live();
    world.mails();
    block_on(world.onboarding.connections.suspend(&account, "forbidden fields", &actor("admin"))).expect("suspended");
    world.mails();
    let by = world.partner(&account, true);
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &by)).expect("moved");
    let code = world.undo_code();
    block_on(world.onboarding.connections.lift(&account, "mended", &actor("admin"))).expect("lifted");
    let refused = world.undo(&account, &code);
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "UNDO_TOO_LATE", .. })), "{refused:?}");
    let connection = block_on(world.onboarding.connections.get(&account)).expect("there");
    assert_eq!((connection.state, connection.endpoint), (ConnectionState::Sandbox, endpoint("b")));
}
