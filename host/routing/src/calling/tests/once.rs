//! Writes under their keys, and orders that are followed.

use super::*;
use intent_gateway_domain::error::NotCalled;
use intent_gateway_domain::store::{Record as _, load};
use intent_gateway_domain::user::Pseudonym;
use intent_gateway_outbound::policy::idempotency::{Attempt, KEPT_MS, SealedAnswer, State};
use intent_gateway_testing::users::orchestrator;

/// Books under a key.
fn book(world: &World, key: &str, note: &str) -> Result<CallOutcome, CallError> {
    let reference = sealer().seal(&world.reference());
    world.call(KEYED, &reference, &json!({"request_id": key, "note": note}))
}

fn payload(called: Result<CallOutcome, CallError>) -> Value {
    serde_json::from_str(called.expect("passed").payload.get()).expect("JSON")
}

#[test]
fn a_repeated_write_gets_the_same_booking_with_its_current_status() {
    let world = World::new();
    world.answers(json!({"booking_id": "BK-1", "status": "requested"}));
    assert_eq!(payload(book(&world, "k-1", "a"))["status"], "requested");
    world.answers(json!({"booking_id": "BK-1", "status": "confirmed"}));
    assert_eq!(payload(book(&world, "k-1", "a"))["status"], "confirmed");
    assert_eq!(world.was_called(), 2);
    // Arguments that differ in their writing alone are the same.
    let reference = sealer().seal(&world.reference());
    let again = world.call(KEYED, &reference, &json!({"note": "a", "thing_id": "thing-1", "request_id": "k-1"}));
    assert_eq!(payload(again)["booking_id"], "BK-1");
    assert_eq!(book(&world, "k-1", "b").err(), Some(CallError::KeyUsed));
    assert_eq!(world.was_called(), 3, "a conflict reaches no partner");
    world.answers(json!({"booking_id": "BK-2"}));
    assert_eq!(payload(book(&world, "k-2", "b"))["booking_id"], "BK-2", "another key");
    assert!(world.journal.found().is_empty());
}

#[test]
fn a_partner_that_names_another_booking_is_found_out() {
    let world = World::new();
    payload(book(&world, "k-1", "a"));
    world.answers(json!({"booking_id": "BK-9"}));
    assert_eq!(payload(book(&world, "k-1", "a"))["booking_id"], "BK-1", "what was acknowledged stays");
    assert_eq!(world.journal.found(), [(Severity::Drop, "IDEMPOTENCY_BROKEN".to_owned())]);
}

#[test]
fn what_was_booked_is_told_when_the_partner_cannot_be_asked() {
    let world = World::new();
    payload(book(&world, "k-1", "a"));
    world.answers(CallFailure::Unreachable("gone".to_owned()));
    let told = book(&world, "k-1", "a").expect("the first answer");
    assert!(told.reference.is_some() && told.payload.get().contains("BK-1"));
    // Long after the option's time: told, and nobody called.
    let called = world.was_called();
    world.clock.set(NOW + 60_000);
    assert_eq!(payload(book(&world, "k-1", "a"))["booking_id"], "BK-1");
    let gone = CallError::Expired(Some("THING_GONE".to_owned()));
    assert_eq!(book(&world, "k-2", "a").err(), Some(gone.clone()));
    assert_eq!(world.call(BOOK, &sealer().seal(&world.reference()), &json!({})).err(), Some(gone));
    assert_eq!(world.was_called(), called);
    // After a day the key is free, and the option gone.
    world.clock.set(NOW + KEPT_MS);
    assert!(matches!(book(&world, "k-1", "a"), Err(CallError::Expired(_))));
}

#[test]
fn a_write_that_failed_leaves_its_key_free_or_its_fate_open() {
    let world = World::new();
    world.answers(platform("THING_GONE"));
    assert!(book(&world, "k-1", "a").is_err());
    world.answers(json!({"booking_id": "BK-1"}));
    assert_eq!(payload(book(&world, "k-1", "b"))["booking_id"], "BK-1", "the first did nothing, so the key is free");

    world.answers(CallFailure::Timeout(30_000));
    assert!(book(&world, "k-2", "a").is_err());
    assert_eq!(book(&world, "k-2", "b").err(), Some(CallError::KeyUsed), "it may have landed");
    world.answers(json!({"booking_id": "BK-2"}));
    assert_eq!(payload(book(&world, "k-2", "a"))["booking_id"], "BK-2", "it goes out again");

    // An answer that the contract refuses leaves it open as well.
    world.answers(json!({"nothing": true}));
    assert!(matches!(book(&world, "k-3", "a"), Err(CallError::Answer(_))));
    assert_eq!(book(&world, "k-3", "b").err(), Some(CallError::KeyUsed));
}

#[test]
fn an_attempt_of_another_process_is_waited_for_and_then_made_again() {
    let world = World::new();
    let write = {
        let contract = with_booking_tools();
        let arguments = json!({"note": "a", "request_id": "k-1", "thing_id": "thing-1"}).to_string();
        let (tool, partner) = (contract.tool(KEYED).expect("there"), PartnerId::parse("alpha").expect("sound"));
        KeyedWrite::read(&partner, INTENT, tool, &arguments, &asker("user-1")).expect("sound").expect("a key")
    };
    let mut change = Change::default();
    change.put(&Versioned::new(write.begin(None, START)));
    block_on(world.store.commit(change)).expect("kept");
    let outcome = book(&world, "k-1", "a");
    assert!(matches!(outcome, Err(CallError::UnderWay { wait_ms: 1.. })), "{outcome:?}");
    assert!(world.clock.now().as_ms() > NOW + 29_000, "it was waited for as long as a call may take");
    assert_eq!(world.was_called(), 0);
    // The reference of this world would be over by then.
    world.clock.set(NOW);
    let mut reference = world.reference();
    reference.expires_at_ms = START.plus_ms(1_000_000);
    world.clock.set(NOW + 45_000);
    let arguments = json!({"request_id": "k-1", "note": "a"});
    payload(world.call(KEYED, &sealer().seal(&reference), &arguments));
    assert_eq!(world.was_called(), 1);
}

#[test]
fn a_write_of_a_pseudonym_alone_belongs_to_one_orchestrators_user() {
    let world = World::new();
    payload(book(&world, "k-1", "a"));
    // As it was kept while users were told apart by their pseudonyms alone.
    let name = Pseudonym::parse("user-1").expect("sound");
    let heir = Asker::new(orchestrator().with_unassigned(), Some(&name));
    let contract = with_booking_tools();
    let (tool, alpha) = (contract.tool(KEYED).expect("there"), PartnerId::parse("alpha").expect("sound"));
    let arguments = json!({"note": "a", "request_id": "k-1", "thing_id": "thing-1"}).to_string();
    let write = KeyedWrite::read(&alpha, INTENT, tool, &arguments, &heir).expect("sound").expect("a key");
    let now = block_on(load::<Attempt>(&*world.store, &write.id().to_string())).expect("read").expect("kept");
    let mut before = now.value.clone();
    before.id = write.former_id().expect("one");
    let State::Done(sealed) = &before.state else { panic!("not done") };
    let answer = vault().open(&now.value.key(), &sealed.0).expect("opens");
    let sealed = SealedAnswer(vault().seal(&before.key(), &answer).expect("entropy"));
    let mut change = Change::default();
    change.delete(&now);
    change.put(&Versioned::new(before.succeed(sealed)));
    block_on(world.store.commit(change)).expect("kept");

    world.answers(json!({"booking_id": "BK-2"}));
    let arguments = json!({"request_id": "k-1", "note": "a"});
    let reference = sealer().seal(&world.reference());
    let repeated = payload(world.call_as(&heir, INTENT, KEYED, &reference, &arguments));
    assert_eq!(repeated["booking_id"], "BK-1", "what was acknowledged stays");
    let another = json!({"request_id": "k-1", "note": "b"});
    assert_eq!(world.call_as(&heir, INTENT, KEYED, &reference, &another).err(), Some(CallError::KeyUsed));
    let own = payload(book(&world, "k-1", "b"));
    assert_eq!(own["booking_id"], "BK-2", "nobody else has made it");
}

#[test]
fn what_is_kept_is_sealed_and_a_key_must_be_one() {
    let world = World::new();
    world.answers(json!({"booking_id": "BK-SECRET"}));
    payload(book(&world, "k-1", "a"));
    let kept = world.store.everything();
    assert!(!kept.is_empty() && !kept.contains("BK-SECRET") && !kept.contains("user-1"), "{kept}");
    let reference = sealer().seal(&world.reference());
    let refused = world.call(KEYED, &reference, &json!({"request_id": {"a": 1}}));
    let Err(CallError::Refused(refusal)) = refused else { panic!("taken") };
    assert_eq!(&*refusal.violations[0].pointer, "/request_id");
}

#[test]
fn an_order_is_followed_once_in_five_seconds() {
    let world = World::new();
    let reference = world.book();
    let track = || world.call(TRACK, &reference, &json!({}));
    let before = world.was_called();
    world.answers(json!({"booking_id": "BK-1", "minutes": 9}));
    assert_eq!(payload(track())["minutes"], 9);
    world.answers(json!({"booking_id": "BK-1", "minutes": 8}));
    assert_eq!(payload(track())["minutes"], 9, "the last answer");
    world.clock.advance(4_999);
    assert_eq!(payload(track())["minutes"], 9);
    assert_eq!(world.was_called(), before + 1);
    world.clock.advance(1);
    assert_eq!(payload(track())["minutes"], 8);
    assert_eq!(world.was_called(), before + 2);
    // After a failure there may be nothing to serve: the next is told when to come.
    world.clock.advance(40_000);
    world.answers(CallFailure::HttpStatus(500));
    assert!(track().is_err());
    let outcome = track();
    let Err(CallError::Partner { failure: CallFailure::NotCalled { why, wait_ms }, .. }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!((why, wait_ms), (NotCalled::PartnerRate, Some(5_000)));
}

#[test]
fn attempts_are_forgotten_when_their_time_is_over() {
    let world = World::new();
    for number in 0..250 {
        payload(book(&world, &format!("k-{number}"), "a"));
    }
    let forget = |at| block_on(forget_attempts(&*world.store, at)).expect("forgotten");
    assert_eq!(forget(START.plus_ms(KEPT_MS - 1)), 0);
    assert_eq!(forget(START.plus_ms(KEPT_MS)), 250);
    assert_eq!(forget(START.plus_ms(KEPT_MS)), 0);
}
