use futures_executor::block_on;

use super::world::{World, actor};
use crate::OnboardingError;
use crate::accounts::{
    CODE_TRIES_ALL_MAX, CODE_TRIES_MAX, CODE_TTL_MS, CODES_PER_WINDOW_MAX, CODES_WINDOW_MS, ENTERED_FROM_MAX,
    TAGGED_CODES_PER_WINDOW_MAX,
};
use intent_gateway_testing::mail::code_in;

const EMAIL: &str = "ops@coolcar.example";
/// Where codes are entered.
const HERE: &str = "192.0.2.1";

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
    let sent = block_on(world.onboarding.accounts.sign_up(" Ops@CoolCar.example ", "CoolCar", HERE)).expect("sent");
    assert_eq!(sent.email, EMAIL);
    let code = world.mailed_code();
    let entered = block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("right");
    assert!(entered.created && entered.account.id.as_str().starts_with("ptr_"), "{entered:?}");
    assert_eq!(entered.account.business_name, "CoolCar");
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE))), "a code is good once");
    assert_eq!(world.actions(), ["account.opened"]);
    assert!(!world.store.everything().contains(&code), "the code is kept nowhere in plain");

    block_on(world.onboarding.accounts.sign_in(EMAIL, HERE)).expect("sent");
    let again = block_on(world.onboarding.accounts.verify(EMAIL, &world.mailed_code(), HERE)).expect("right");
    assert!(!again.created);
    assert_eq!(again.account.id, entered.account.id);
}

#[test]
fn signing_up_twice_enters_the_account_that_is_there() {
    let world = World::new();
    let account = world.account();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "Somebody else", HERE)).expect("sent, whoever asks");
    let entered = block_on(world.onboarding.accounts.verify(EMAIL, &world.mailed_code(), HERE)).expect("right");
    assert_eq!((entered.account.id, entered.account.business_name.as_str()), (account, "CoolCar"));
}

#[test]
fn a_code_bears_so_many_tries_and_no_more() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let code = world.mailed_code();
    for _ in 1..CODE_TRIES_MAX {
        assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &wrong(&code), HERE))));
    }
    block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("the last try is right");

    block_on(world.onboarding.accounts.sign_in(EMAIL, HERE)).expect("sent");
    let code = world.mailed_code();
    for _ in 0..CODE_TRIES_MAX {
        assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &wrong(&code), HERE))));
    }
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE))), "used up, though right");
}

#[test]
fn a_code_gets_old() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let code = world.mailed_code();
    world.pass_ms(CODE_TTL_MS);
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE))));
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let code = world.mailed_code();
    world.pass_ms(CODE_TTL_MS - 1);
    block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("just in time");
}

#[test]
fn a_newer_code_replaces_the_one_before() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let first = world.mailed_code();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let second = world.mailed_code();
    assert_ne!(first, second);
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &first, HERE))));
    block_on(world.onboarding.accounts.verify(EMAIL, &second, HERE)).expect("right");
}

#[test]
fn whoever_asks_again_and_again_locks_nobody_out_known_or_not() {
    for known in [false, true] {
        let world = World::new();
        if known {
            world.account();
        }
        let ask = || block_on(world.onboarding.accounts.sign_in(EMAIL, HERE));
        for _ in 0..CODES_PER_WINDOW_MAX {
            ask().expect("sent");
            world.pass_ms(1_000);
        }
        let last = world.mails().pop();
        // From here on the code stays as it is, and no other mail goes out.
        let sent: Vec<_> = (0..100).map(|_| ask().expect("answered as before")).collect();
        assert!(sent.iter().all(|one| one == &sent[0]) && world.mails().is_empty());
        assert_eq!(last.is_some(), known);
        if let Some(mail) = last {
            let code = code_in(&mail).expect("a code");
            block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("the owner enters meanwhile");
            // And may sign in once more: who has entered a code reads the mailbox.
            ask().expect("sent");
            assert_eq!(world.mails().len(), 1);
        } else {
            world.pass_ms(CODE_TTL_MS);
            ask().expect("the next one");
        }
    }
}

#[test]
fn codes_come_one_at_a_time_once_there_were_many() {
    for known in [false, true] {
        let world = World::new();
        if known {
            world.account();
        }
        // From where nobody has entered the account.
        let ask = || block_on(world.onboarding.accounts.sign_in(EMAIL, "203.0.113.5"));
        (0..CODES_PER_WINDOW_MAX).for_each(|_| drop(ask().expect("sent")));
        // From two networks, so that no try is left.
        for number in 0..CODE_TRIES_ALL_MAX {
            let network = if number < CODE_TRIES_MAX { "198.51.100.8" } else { "198.51.100.7" };
            assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, "no code", network))));
        }
        world.pass_ms(1_000);
        let waits = ask();
        assert!(matches!(waits, Err(OnboardingError::TooMany(ms)) if ms == CODE_TTL_MS - 1_000), "{waits:?}");
        world.pass_ms(CODE_TTL_MS - 1_000);
        ask().expect("when the time of the last is over, not an hour later");
        world.pass_ms(CODES_WINDOW_MS);
        (0..CODES_PER_WINDOW_MAX).for_each(|_| drop(ask().expect("as at first")));
    }
}

#[test]
fn who_guesses_takes_nobody_elses_tries() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let code = world.mailed_code();
    for _ in 0..CODE_TRIES_MAX {
        assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &wrong(&code), "198.51.100.7"))));
    }
    assert!(refused(block_on(world.onboarding.accounts.verify(EMAIL, &code, "198.51.100.7"))), "no try is left there");
    block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("the owner has all of them");
}

#[test]
fn who_guesses_elsewhere_keeps_nobody_out_who_has_entered_from_here() {
    const ELSEWHERE: [&str; 2] = ["198.51.100.7", "198.51.100.8"];
    let world = World::new();
    world.account();
    let accounts = &world.onboarding.accounts;
    let enter = |code: &str, network| block_on(accounts.verify(EMAIL, code, network));
    block_on(accounts.sign_in(EMAIL, HERE)).expect("sent");
    enter(&world.mailed_code(), HERE).expect("entered from here");
    // Strangers use up one code after the other until the next has to wait.
    let mut code = String::new();
    for _ in 0..CODES_PER_WINDOW_MAX {
        block_on(accounts.sign_in(EMAIL, ELSEWHERE[0])).expect("sent");
        code = world.mailed_code();
        for network in ELSEWHERE {
            (0..CODE_TRIES_MAX).for_each(|_| assert!(refused(enter(&wrong(&code), network))));
        }
        assert!(refused(enter(&code, ELSEWHERE[0])));
    }
    world.mails();
    for network in ["203.0.113.9", ELSEWHERE[0]] {
        assert!(refused(enter(&code, network)), "no try is left for whoever is not known");
        let waits = block_on(accounts.sign_in(EMAIL, network));
        assert!(matches!(waits, Err(OnboardingError::TooMany(_))), "{waits:?}");
    }
    block_on(accounts.sign_in(EMAIL, HERE)).expect("the code in the mailbox is good here");
    assert!(world.mails().is_empty(), "it is the one that was sent");
    for _ in 1..CODE_TRIES_MAX {
        assert!(refused(enter(&wrong(&code), HERE)));
    }
    enter(&code, HERE).expect("five tries from here, whatever others do");
}

#[test]
fn the_last_networks_that_entered_are_known_and_guessing_makes_none_known() {
    let world = World::new();
    world.account();
    let accounts = &world.onboarding.accounts;
    let known = |network: &str| {
        block_on(accounts.sign_in(EMAIL, network)).expect("sent");
        let code = world.mailed_code();
        for stranger in ["198.51.100.7", "198.51.100.8"] {
            (0..CODE_TRIES_MAX).for_each(|_| drop(block_on(accounts.verify(EMAIL, &wrong(&code), stranger))));
        }
        let entered = block_on(accounts.verify(EMAIL, &code, network)).is_ok();
        world.pass_ms(CODES_WINDOW_MS);
        block_on(accounts.forget_codes()).expect("forgotten");
        entered
    };
    let enter = |network: &str| {
        block_on(accounts.sign_in(EMAIL, network)).expect("sent");
        block_on(accounts.verify(EMAIL, &world.mailed_code(), network)).expect("right");
        world.pass_ms(CODES_WINDOW_MS);
    };
    assert!(!known("203.0.113.1"));
    let networks = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"];
    networks.iter().for_each(|network| enter(network));
    assert_eq!((networks.map(known), ENTERED_FROM_MAX), ([false, true, true, true], 3));
    assert!(!known("198.51.100.7"));
}

#[test]
fn a_code_that_went_to_nobody_keeps_nobody_from_signing_up() {
    let world = World::new();
    (0..10).for_each(|_| drop(block_on(world.onboarding.accounts.sign_in(EMAIL, HERE)).expect("answered")));
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let code = world.mailed_code();
    block_on(world.onboarding.accounts.sign_in(EMAIL, HERE)).expect("answered");
    block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("right");
}

#[test]
fn all_addresses_of_a_mailbox_get_no_more_codes_than_one() {
    const ATTACKER: &str = "203.0.113.9";
    let minute_ms = 60_000;
    // Within an hour, somebody asks every minute for a code; into how many mails.
    let mails = |addresses: &dyn Fn(u64) -> Vec<String>| {
        let world = World::new();
        let minute = |minute| {
            for address in addresses(minute) {
                let _ = block_on(world.onboarding.accounts.sign_up(&address, "CoolCar", ATTACKER));
            }
            world.pass_ms(minute_ms);
            world.mails().len()
        };
        (0..60).map(minute).sum::<usize>()
    };
    let one = mails(&|_| vec![EMAIL.to_owned(); 9]);
    let tagged = |minute: u64| format!("Ops+{minute}@coolcar.Example");
    assert_eq!(mails(&|minute| vec![tagged(minute)]), TAGGED_CODES_PER_WINDOW_MAX);
    let both =
        mails(&|minute| [vec![EMAIL.to_owned()], (0..9).map(|more| tagged(minute * 10 + more)).collect()].concat());
    assert!(both <= one && one <= CODES_PER_WINDOW_MAX + 6, "{both} into a mailbox, {one} to an address");
    let other = mails(&|minute| vec![format!("ops{minute}@coolcar.example")]);
    assert_eq!(other, 60, "another mailbox has its own");
}

#[test]
fn who_fills_a_mailbox_under_other_names_keeps_nobody_out() {
    const ATTACKER: &str = "203.0.113.9";
    for known in [false, true] {
        let world = World::new();
        let accounts = &world.onboarding.accounts;
        let tagged = "ops+books@coolcar.example";
        let sign_up = |email: &str, network| block_on(accounts.sign_up(email, "CoolCar", network));
        if known {
            sign_up(tagged, HERE).expect("sent");
            block_on(accounts.verify(tagged, &world.mailed_code(), HERE)).expect("right");
        }
        sign_up("ops+first@coolcar.example", HERE).expect("sent");
        let first = world.mailed_code();
        let ask = |number: u64| sign_up(&format!("ops+{number}@coolcar.example"), ATTACKER).expect("answered");
        (0..50).for_each(|number| drop(ask(number)));
        world.mails();
        // Nobody else's code takes the place of one that was sent, though no other is.
        world.pass_ms(1_000);
        sign_up("ops+first@coolcar.example", ATTACKER).expect("answered");
        assert!(world.mails().is_empty());
        // The address without a tag gets its code, and so does one that has an account; the others are answered alike.
        sign_up(EMAIL, HERE).expect("sent");
        block_on(accounts.verify(EMAIL, &world.mailed_code(), HERE)).expect("right");
        (50..99).for_each(|number| drop(ask(number)));
        world.mails();
        let answer = sign_up(tagged, ATTACKER).expect("answered");
        assert_eq!(answer.expires_at, ask(100).expires_at);
        assert_eq!(world.mails().len(), usize::from(known));
        block_on(accounts.verify("ops+first@coolcar.example", &first, HERE)).expect("the first one is good");
        // Whoever enters a code reads the mailbox: the count begins anew.
        sign_up("ops+new@coolcar.example", HERE).expect("sent");
        assert_eq!(world.mails().len(), 1);
    }
}

#[test]
fn whoever_tries_to_sign_in_ends_nobodys_sign_up() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up(EMAIL, "CoolCar", HERE)).expect("sent");
    let code = world.mailed_code();
    block_on(world.onboarding.accounts.sign_in(EMAIL, "203.0.113.9")).expect("answered");
    let entered = block_on(world.onboarding.accounts.verify(EMAIL, &code, HERE)).expect("right");
    assert_eq!(entered.account.business_name, "CoolCar");
}

#[test]
fn the_store_has_the_same_work_with_known_and_unknown_addresses_and_clients() {
    let world = World::new();
    let account = world.account();
    let issued = block_on(world.onboarding.credentials.issue(&account, &actor("partner"))).expect("issued");
    let counted = |step: &dyn Fn()| {
        world.store.take_work();
        step();
        world.store.take_work()
    };
    let asking =
        |email: &str| counted(&|| drop(block_on(world.onboarding.accounts.sign_in(email, HERE)).expect("sent")));
    assert_eq!(asking(EMAIL), asking("nobody@coolcar.example"));
    let signing_up = |email: &str| {
        counted(&|| drop(block_on(world.onboarding.accounts.sign_up(email, "CoolCar", HERE)).expect("sent")))
    };
    assert_eq!(signing_up(EMAIL), signing_up("another@coolcar.example"));
    assert_eq!(asking("ops+1@coolcar.example"), asking("nobody+1@coolcar.example"));
    assert_eq!(signing_up("ops+2@coolcar.example"), signing_up("nobody+2@coolcar.example"));
    let entering = |client_id: &str| {
        counted(&|| assert!(refused(block_on(world.onboarding.credentials.authenticate(client_id, "wrong")))))
    };
    let unknown = "platform_sandbox_000000000000000000000000";
    assert_eq!(entering(&issued.credentials.client_id), entering(unknown));
}

#[test]
fn nobody_learns_whether_an_address_has_an_account() {
    let world = World::new();
    let sent =
        block_on(world.onboarding.accounts.sign_in("nobody@coolcar.example", HERE)).expect("answered as any other");
    assert_eq!(sent.email, "nobody@coolcar.example");
    assert!(world.mails().is_empty());
    for code in ["000000", "", "abc"] {
        assert!(refused(block_on(world.onboarding.accounts.verify("nobody@coolcar.example", code, HERE))));
    }
    assert!(refused(block_on(world.onboarding.accounts.verify("never@asked.example", "000000", HERE))));
    assert!(refused(block_on(world.onboarding.accounts.verify("no address", "000000", HERE))));
}

#[test]
fn addresses_and_names_are_checked() {
    let world = World::new();
    for (email, name) in [("ops", "CoolCar"), ("ops@gmail.com", "CoolCar"), (EMAIL, " "), (EMAIL, &"x".repeat(201))] {
        let refused = block_on(world.onboarding.accounts.sign_up(email, name, HERE));
        assert!(matches!(refused, Err(OnboardingError::Refused(_))), "{email} {name} {refused:?}");
    }
    assert!(world.mails().is_empty());
}

#[test]
fn codes_that_are_over_are_forgotten() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_in("nobody@coolcar.example", HERE)).expect("answered");
    block_on(world.onboarding.accounts.forget_codes()).expect("the store works");
    assert!(world.store.everything().contains("nobody@coolcar.example"));
    // A clock that was just set forward forgets nothing.
    world.outside.clock.hold_settled();
    world.pass_ms(CODES_WINDOW_MS);
    block_on(world.onboarding.accounts.forget_codes()).expect("the store works");
    assert!(world.store.everything().contains("nobody@coolcar.example"));
    world.outside.clock.let_settled_go();
    block_on(world.onboarding.accounts.forget_codes()).expect("the store works");
    assert!(!world.store.everything().contains("nobody@coolcar.example"));
}
