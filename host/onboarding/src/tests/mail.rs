use futures_executor::block_on;

use super::world::{TEAM, World};
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::mail::MailError;

#[test]
fn a_mail_that_cannot_go_is_tried_again_later() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar", "192.0.2.1")).expect("sent");
    world.outside.letters.refuse(MailError::Temporary("greylisted".to_owned()));
    assert!(world.mails().is_empty());
    world.outside.letters.accept();
    assert!(world.mails().is_empty(), "not before its time");
    world.pass_ms(5_000);
    assert_eq!(world.mails().len(), 1);
    world.pass_ms(24 * 60 * 60 * 1_000);
    assert!(world.mails().is_empty(), "sent once");
}

#[test]
fn a_mail_that_is_refused_for_good_is_given_up() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar", "192.0.2.1")).expect("sent");
    world.outside.letters.refuse(MailError::Permanent("no such user".to_owned()));
    assert!(world.mails().is_empty());
    world.outside.letters.accept();
    world.pass_ms(24 * 60 * 60 * 1_000);
    assert!(world.mails().is_empty());
}

#[test]
fn a_mail_is_given_up_in_the_end() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar", "192.0.2.1")).expect("sent");
    world.outside.letters.refuse(MailError::Temporary("down".to_owned()));
    let mut tries = 0;
    while block_on(world.onboarding.postman.deliver()).expect("the store works") > 0 {
        tries += 1;
        assert!(tries <= 100, "it is never given up");
        world.pass_ms(60 * 60 * 1_000);
    }
    assert_eq!(tries, 12);
}

#[test]
fn the_platform_team_is_told_of_a_chain_that_was_changed() {
    let world = World::new();
    let told = world.onboarding.alarm.tell_broken_chain(ChainName::Ledger, "entry 7 or the one before it was changed");
    block_on(told).expect("kept to be sent");
    let [mail] = &world.mails()[..] else { panic!("one mail") };
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), (TEAM, "The ledger was changed"));
    for part in ["- entry 7 or the one before it was changed\n", "`intent-gateway ledger verify`"] {
        assert!(mail.text.contains(part), "{}", mail.text);
    }
}

#[test]
fn the_platform_team_is_told_of_a_store_that_is_not_sound() {
    let world = World::new();
    let problems: Vec<String> = (1..=25).map(|at| format!("NAME_MISSING orders ord_{at}: it is not found")).collect();
    block_on(world.onboarding.alarm.tell_unsound_store(&problems)).expect("kept to be sent");
    let [mail] = &world.mails()[..] else { panic!("one mail") };
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), (TEAM, "The store is not sound"));
    for part in ["- NAME_MISSING orders ord_20: it is not found\n- and 5 more\n", "`intent-gateway store check`"] {
        assert!(mail.text.contains(part), "{}", mail.text);
    }
}
