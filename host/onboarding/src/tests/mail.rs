use futures_executor::block_on;

use super::world::World;
use intent_gateway_domain::mail::MailError;

#[test]
fn a_mail_that_cannot_go_is_tried_again_later() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar")).expect("sent");
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
    block_on(world.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar")).expect("sent");
    world.outside.letters.refuse(MailError::Permanent("no such user".to_owned()));
    assert!(world.mails().is_empty());
    world.outside.letters.accept();
    world.pass_ms(24 * 60 * 60 * 1_000);
    assert!(world.mails().is_empty());
}

#[test]
fn a_mail_is_given_up_in_the_end() {
    let world = World::new();
    block_on(world.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar")).expect("sent");
    world.outside.letters.refuse(MailError::Temporary("down".to_owned()));
    let mut tries = 0;
    while block_on(world.onboarding.postman.deliver()).expect("the store works") > 0 {
        tries += 1;
        assert!(tries <= 100, "it is never given up");
        world.pass_ms(60 * 60 * 1_000);
    }
    assert_eq!(tries, 12);
}
