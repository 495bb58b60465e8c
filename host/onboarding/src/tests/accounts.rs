use futures_executor::block_on;

use super::world::World;
use crate::OnboardingError;
use crate::accounts::{CODE_TRIES_MAX, CODE_TTL_MS, CODES_PER_WINDOW_MAX, CODES_WINDOW_MS};

const EMAIL: &str = "ops@coolcar.example";

fn refused(outcome: Result<impl Sized, OnboardingError>) -> bool {
    matches!(outcome, Err(OnboardingError::NotAccepted))
}

/// Another six digits than the right ones.
fn wrong(code: &str) -> String {
    let last = if code.ends_with('0') { '1' } else { '0' };
    format!("{}{last}", &code[..5])
}

#[test]
fn a_code_opens_an_account_once() {
    let world = World::new();
    let sent = block_on(world.onboarding.accounts.sign_up(" Ops@CoolCar.example ", "CoolCar")).expect("sent");
    assert_eq!(sent.email, EMAIL);
    let code = world.mailed_code();
    let entered = block_on(world.onboarding.accounts.verify(EMAIL, &code)).expect("right");
    assert!(entered.created && entered.account.id.as_str().starts_with("ptr_"), "{entered:?}");
    assert_eq!(entered.account.business_name, "CoolCar");
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code))), "a code is good once");
    assert_eq!(world.actions(), ["account.opened"]);
    assert!(!world.store.everything().contains(&code), "the code is kept nowhere in plain");

    block_on(world.onboarding.accounts.sign_in(EMAIL)).expect("sent");
    let again = block_on(world.onboarding.accounts.verify(EMAIL, &world.mailed_code())).expect("right");
    assert!(!again.created);
    assert_eq!(again.account.id, entered.account.id);
}

#[test]
fn signing_up_twice_enters_the_account_that_is_there() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "Somebody else")).expect("sent, whoever asks");
    let entered = block_on(world.onboarding.accounts.verify(EMAIL, &world.mailed_code())).expect("right");
    assert_eq!((entered.account.id, entered.account.business_name.as_str()), (account, "CoolCar"));
}

#[test]
fn a_code_bears_so_many_tries_and_no_more() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar")).expect("sent");
    let code = world.mailed_code();
    for _ in 1..CODE_TRIES_MAX {
        assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &wrong(&code)))));
    }
    block_on(world.onboarding.accounts.verify(EMAIL, &code)).expect("the last try is right");

    block_on(world.onboarding.accounts.sign_in(EMAIL)).expect("sent");
    let code = world.mailed_code();
    for _ in 0..CODE_TRIES_MAX {
        assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &wrong(&code)))));
    }
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code))), "used up, though right");
}

#[test]
fn a_code_gets_old() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar")).expect("sent");
    let code = world.mailed_code();
    world.pass_ms(CODE_TTL_MS);
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code))));
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar")).expect("sent");
    let code = world.mailed_code();
    world.pass_ms(CODE_TTL_MS - 1);
    block_on(world.onboarding.accounts.verify(EMAIL, &code)).expect("just in time");
}

#[test]
fn a_newer_code_replaces_the_one_before() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar")).expect("sent");
    let first = world.mailed_code();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar")).expect("sent");
    let second = world.mailed_code();
    assert_ne!(first, second);
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &first))));
    block_on(world.onboarding.accounts.verify(EMAIL, &second)).expect("right");
}

#[test]
fn an_address_gets_so_many_codes_an_hour_known_or_not() {
    for known in [false, true] {
        let world = World::new();
        if known {
            world.account();
            world.pass_ms(CODES_WINDOW_MS);
        }
        for _ in 0..CODES_PER_WINDOW_MAX {
            block_on(world.onboarding.accounts.sign_in(EMAIL)).expect("sent");
        }
        world.pass_ms(1_000);
        let refused = block_on(world.onboarding.accounts.sign_in(EMAIL));
        assert!(matches!(refused, Err(OnboardingError::TooMany(ms)) if ms == CODES_WINDOW_MS - 1_000), "{refused:?}");
        world.pass_ms(CODES_WINDOW_MS - 1_000);
        block_on(world.onboarding.accounts.sign_in(EMAIL)).expect("an hour later");
    }
}

#[test]
fn nobody_learns_whether_an_address_has_an_account() {
    let world = World::new();
    let sent = block_on(world.onboarding.accounts.sign_in("nobody@coolcar.example")).expect("answered as any other");
    assert_eq!(sent.email, "nobody@coolcar.example");
    assert!(world.mails().is_empty());
    for code in ["000000", "", "abc"] {
        assert!(refused(block_on(world.onboarding.accounts.verify("nobody@coolcar.example", code))));
    }
    assert!(refused(block_on(world.onboarding.accounts.verify("never@asked.example", "000000"))));
    assert!(refused(block_on(world.onboarding.accounts.verify("no address", "000000"))));
}

#[test]
fn addresses_and_names_are_checked() {
    let world = World::new();
    for (email, name) in [("ops", "CoolCar"), ("ops@gmail.com", "CoolCar"), (EMAIL, " "), (EMAIL, &"x".repeat(201))] {
        let refused = block_on(world.onboarding.accounts.sign_up(email, name));
        assert!(matches!(refused, Err(OnboardingError::Refused(_))), "{email} {name} {refused:?}");
    }
    assert!(world.mails().is_empty());
}

#[test]
fn codes_that_are_over_are_forgotten() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_in("nobody@coolcar.example")).expect("answered");
    block_on(world.onboarding.accounts.forget_codes()).expect("the store works");
    assert!(world.store.everything().contains("nobody@coolcar.example"));
    world.pass_ms(CODES_WINDOW_MS);
    block_on(world.onboarding.accounts.forget_codes()).expect("the store works");
    assert!(!world.store.everything().contains("nobody@coolcar.example"));
}
