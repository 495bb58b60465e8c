use futures_executor::block_on;

use super::world::{World, actor, asked_by};
use crate::credentials::ROTATION_OVERLAP_MS;
use crate::{IssuedWebhookKey, OnboardingError};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{VALID_AT_ONCE_MAX, webhook_context};
use intent_gateway_ledger::completion::signature::{Presented, Signer};

const HOOK: &str = "https://coolcar.example/hook";

fn is_hex(text: &str, chars: usize) -> bool {
    text.len() == chars && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[test]
fn credentials_have_the_forms_of_the_specification_and_are_issued_once() {
    let world = World::new();
    let account = world.account();
    let issued = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let client_id = issued.credentials.client_id.as_str();
    assert!(client_id.strip_prefix("platform_sandbox_").is_some_and(|rest| is_hex(rest, 24)), "{client_id}");
    let customer_id = issued.credentials.customer_id.as_str();
    assert!(customer_id.strip_prefix("cust_").is_some_and(|rest| is_hex(rest, 12)), "{customer_id}");
    let secret = issued.client_secret.expose();
    assert!(!world.store.everything().contains(secret));
    assert_eq!(block_on(world.onboarding.credentials.authenticate(client_id, secret)).expect("right").account, account);
    for (id, secret) in [(client_id, "wrong"), (client_id, ""), ("platform_sandbox_x", secret)] {
        let refused = block_on(world.onboarding.credentials.authenticate(id, secret));
        assert!(matches!(refused, Err(OnboardingError::NotAccepted)));
    }
    let again = block_on(world.onboarding.credentials.issue(&account, &actor("partner")));
    assert!(matches!(again, Err(OnboardingError::OutOfStep { code: "CREDENTIALS_EXIST", .. })));
}

#[test]
fn a_rotated_secret_works_for_a_day_more() {
    let world = World::new();
    let account = world.account();
    let first = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let id = first.credentials.client_id.clone();
    let second = block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner"))).expect("rotated");
    let works = |secret: &intent_gateway_domain::secret::Secret| {
        block_on(world.onboarding.credentials.authenticate(&id, secret.expose())).is_ok()
    };
    world.pass_ms(ROTATION_OVERLAP_MS - 1);
    assert!(works(&first.client_secret) && works(&second.client_secret));
    world.pass_ms(1);
    assert!(!works(&first.client_secret) && works(&second.client_secret));
}

#[test]
fn a_leaked_secret_ends_at_once() {
    let world = World::new();
    let account = world.account();
    let first = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let id = first.credentials.client_id.clone();
    let second = block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner"))).expect("rotated");
    let third = block_on(world.onboarding.credentials.rotate(&account, true, &asked_by("partner"))).expect("rotated");
    let works = |secret: &intent_gateway_domain::secret::Secret| {
        block_on(world.onboarding.credentials.authenticate(&id, secret.expose())).is_ok()
    };
    assert!(!works(&first.client_secret) && !works(&second.client_secret) && works(&third.client_secret));
}

#[test]
fn a_rotation_never_gives_an_old_secret_more_time() {
    let world = World::new();
    let account = world.account();
    let first = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let id = first.credentials.client_id.clone();
    block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner"))).expect("rotated");
    world.pass_ms(ROTATION_OVERLAP_MS / 2);
    block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner"))).expect("rotated");
    world.pass_ms(ROTATION_OVERLAP_MS / 2);
    assert!(block_on(world.onboarding.credentials.authenticate(&id, first.client_secret.expose())).is_err());
}

#[test]
fn the_secrets_that_are_valid_at_once_are_bounded() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    for _ in 1..VALID_AT_ONCE_MAX {
        block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner"))).expect("rotated");
    }
    let refused = block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner")));
    assert!(matches!(refused, Err(OnboardingError::OutOfStep { code: "TOO_MANY_SECRETS", .. })), "{refused:?}");
    world.pass_ms(ROTATION_OVERLAP_MS);
    block_on(world.onboarding.credentials.rotate(&account, false, &asked_by("partner"))).expect("a day later");
}

#[test]
fn a_webhook_has_a_key_of_its_own() {
    let world = World::new();
    let account = world.account();
    let refused =
        block_on(world.onboarding.webhooks.set(&account, "http://coolcar.example/hook", &asked_by("partner")));
    assert!(matches!(refused, Err(OnboardingError::Refused(_))));
    let none = block_on(world.onboarding.webhooks.rotate_key(&account, false, &asked_by("partner")));
    assert!(matches!(none, Err(OnboardingError::NotFound("webhook"))));

    let saved = block_on(world.onboarding.webhooks.set(&account, HOOK, &asked_by("partner"))).expect("saved");
    let key = saved.webhook_signing_key.expect("a new key");
    assert!(!world.store.everything().contains(key.expose()));
    let kept = &saved.webhook.keys[0];
    let opened = world.vault.open(&webhook_context(&account), &kept.sealed).expect("opens");
    assert_eq!(opened.expose(), key.expose());

    let same = block_on(world.onboarding.webhooks.set(&account, HOOK, &asked_by("partner"))).expect("saved");
    assert!(same.webhook_signing_key.is_none(), "shown once");
    let moved = format!("{HOOK}/2");
    let other = block_on(world.onboarding.webhooks.set(&account, &moved, &asked_by("partner"))).expect("saved");
    assert_ne!(other.webhook_signing_key.expect("a new key").expose(), key.expose());
    let until: Vec<_> = other.webhook.keys.iter().map(|key| key.not_after_ms).collect();
    assert_eq!(until, [None, Some(super::world::START.plus_ms(ROTATION_OVERLAP_MS))]);

    let rotated =
        block_on(world.onboarding.webhooks.rotate_key(&account, true, &asked_by("partner"))).expect("rotated");
    assert_eq!(rotated.webhook.keys.len(), 1, "at once means that no other key is left");
    assert_eq!(rotated.webhook.url, moved);
}

#[test]
fn a_signing_key_is_in_force_and_out_of_it_when_its_step_is_done() {
    let world = World::new();
    let (account, stranger) = (world.account(), "ptr_stranger");
    let holds = |partner: &str, key: &Secret| {
        let now = world.now();
        let (timestamp, signature) = (now.as_ms().to_string(), Signer::new(key).sign(now.as_ms(), b"{}"));
        let presented = Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(signature.as_bytes()) };
        world.keys.with(partner, |keys| keys.verify(presented, b"{}", now).is_ok())
    };
    let issued = |issued: IssuedWebhookKey| issued.webhook_signing_key.expect("a new key");
    assert!(holds(account.as_str(), &Secret::new("x")).is_err(), "stale until it was read");
    let first = issued(block_on(world.onboarding.webhooks.set(&account, HOOK, &asked_by("partner"))).expect("saved"));
    assert_eq!(holds(account.as_str(), &first), Ok(true));
    assert_eq!(holds(stranger, &first), Ok(false));
    let second =
        issued(block_on(world.onboarding.webhooks.rotate_key(&account, false, &asked_by("partner"))).expect("rotated"));
    assert_eq!((holds(account.as_str(), &first), holds(account.as_str(), &second)), (Ok(true), Ok(true)));
    let third =
        issued(block_on(world.onboarding.webhooks.rotate_key(&account, true, &asked_by("partner"))).expect("rotated"));
    for (key, expected) in [(&first, false), (&second, false), (&third, true)] {
        assert_eq!(holds(account.as_str(), key), Ok(expected));
    }
}

#[test]
fn nobody_gets_anything_without_an_account() {
    let world = World::new();
    let stranger = intent_gateway_domain::id::PartnerId::parse("ptr_stranger").expect("well formed");
    assert!(block_on(world.onboarding.credentials.issue(&stranger, &actor("admin"))).is_err());
    assert!(block_on(world.onboarding.webhooks.set(&stranger, HOOK, &asked_by("admin"))).is_err());
    assert!(world.actions().is_empty());
}
