//! Calls while the store is down, and after it: nobody is left with a call that counts as under way and is not.

use super::orders::{orders, world};
use super::*;
use crate::calling::settling::Ending;
use crate::calling::unsettled::WAITING_MAX;
use crate::reference::Quote;
use intent_gateway_domain::limits::CALL_SETTLED_MS;
use intent_gateway_domain::order::{FAILED, PENDING};
use intent_gateway_domain::store::StoreTrouble;

fn book(world: &World, key: &str) -> Result<CallOutcome, CallError> {
    let mut reference = world.reference();
    reference.expires_at_ms = START.plus_ms(10 * CALL_SETTLED_MS);
    world.call(KEYED, &sealer().seal(&reference), &json!({ "request_id": key }))
}

/// What a caller is told whose call met a store that was down.
fn outage(called: Result<CallOutcome, CallError>) -> bool {
    match called {
        Err(CallError::Store { trouble: StoreTrouble::Unavailable, answered, .. }) => answered,
        other => panic!("expected an outage, got {other:?}"),
    }
}

/// The store goes down while the partner is at work.
fn go_down_during_the_call(world: &World) {
    let store = world.store.clone();
    world.partners.reply_with("alpha", move |_, _| {
        store.set_down(true);
        json!({"booking_id": "BK-1"}).into()
    });
}

#[test]
fn a_booking_whose_end_was_not_kept_is_repeated_at_once_when_the_store_is_back() {
    let world = world();
    go_down_during_the_call(&world);
    assert!(outage(book(&world, "k-1")), "the partner has answered");
    assert!(!outage(book(&world, "k-1")), "while it is down, nobody is called");
    block_on(world.caller.settle_waiting());
    assert_eq!(world.caller.unsettled.len(), 1, "it waits for the store");

    world.store.set_down(false);
    world.answers(json!({"booking_id": "BK-1"}));
    let before = world.clock.now();
    block_on(world.caller.settle_waiting());
    assert!(world.caller.unsettled.is_empty());
    let [order] = &orders(&world)[..] else { panic!("one order") };
    assert_eq!((order.state.as_str(), order.under_way(world.clock.now())), ("booked", None));
    let booked = book(&world, "k-1").expect("not CALL_UNDER_WAY");
    assert!(booked.payload.get().contains("BK-1") && booked.reference.is_some());
    assert_eq!(world.clock.now(), before, "nobody has waited");
    assert_eq!(orders(&world).len(), 1, "and it is the same order");
}

#[test]
fn a_call_that_was_never_made_leaves_its_key_and_its_option_free() {
    for commit_holds in [false, true] {
        let world = world();
        if commit_holds {
            world.store.lose_answers(true)
        } else {
            world.store.set_down(true)
        }
        assert!(!outage(book(&world, "k-1")), "nobody was called");
        assert_eq!(world.was_called(), 0);
        world.store.lose_answers(false);
        world.store.set_down(false);
        block_on(world.caller.settle_waiting());
        let states: Vec<String> = orders(&world).into_iter().map(|order| order.state).collect();
        assert_eq!(states, if commit_holds { vec![FAILED.to_owned()] } else { vec![] });
        let before = world.clock.now();
        book(&world, "k-1").expect("not CALL_UNDER_WAY");
        assert_eq!((world.was_called(), world.clock.now()), (1, before));
    }
}

#[test]
fn a_step_without_a_key_is_settled_as_well() {
    let world = world();
    let booked = book(&world, "k-1").expect("booked").reference.expect("one");
    go_down_during_the_call(&world);
    assert!(outage(world.call(CANCEL, &booked, &json!({}))));
    world.store.set_down(false);
    block_on(world.caller.settle_waiting());
    assert_eq!(orders(&world)[0].state, "cancelled");

    // The same where only its beginning was to be kept.
    let world = self::world();
    let booked = book(&world, "k-1").expect("booked").reference.expect("one");
    world.store.lose_answers(true);
    assert!(!outage(world.call(CANCEL, &booked, &json!({}))));
    world.store.lose_answers(false);
    block_on(world.caller.settle_waiting());
    let [order] = &orders(&world)[..] else { panic!("one order") };
    assert_eq!((order.state.as_str(), order.under_way(world.clock.now())), ("booked", None));
    world.call(CANCEL, &booked, &json!({})).expect("its turn");
}

#[test]
fn an_end_that_comes_too_late_changes_nothing() {
    let world = world();
    go_down_during_the_call(&world);
    assert!(outage(book(&world, "k-1")));
    world.store.set_down(false);
    // Another process, or this one, has made the call again meanwhile, and another booking came of it.
    world.clock.advance(CALL_SETTLED_MS);
    world.answers(json!({"booking_id": "BK-2"}));
    book(&world, "k-1").expect("made again under its key");
    let before = orders(&world);
    block_on(world.caller.settle_waiting());
    assert!(world.caller.unsettled.is_empty());
    assert_eq!(orders(&world), before);
    assert!(before.iter().all(|order| order.state != PENDING));
}

#[test]
fn ends_that_nobody_takes_are_bounded() {
    let world = world();
    go_down_during_the_call(&world);
    assert!(outage(book(&world, "k-1")));
    let ending = world.caller.unsettled.first().expect("it waits").ending;
    for _ in 0..2 * WAITING_MAX {
        world.caller.unsettled.add(Ending::clone(&ending), world.clock.now());
    }
    assert_eq!(world.caller.unsettled.len(), WAITING_MAX);
    world.clock.advance(CALL_SETTLED_MS);
    world.store.set_down(false);
    block_on(world.caller.settle_waiting());
    assert!(world.caller.unsettled.is_empty());
}

#[test]
fn an_option_whose_receipt_is_not_kept_is_booked_as_it_was_quoted() {
    let shown = |quoted: Option<Quote>| OptionReference {
        receipt: Some("rank_lost".to_owned()),
        quoted,
        answered_at_ms: Some(START),
        ..World::new().reference()
    };
    let book = |reference: &OptionReference| {
        let world = world();
        let called = world.call(KEYED, &sealer().seal(reference), &json!({"request_id": "k-1"}));
        (called.map(|_| world.quoted()), world.was_called())
    };
    let whole = shown(Some(Quote::of(r#"{"number":7}"#)));
    assert_eq!(book(&whole), (Ok(vec![Some(r#"{"number":7}"#.to_owned())]), 1));
    // Not knowing what was quoted is not a reason to let any answer pass.
    let long = format!("\"{}\"", "x".repeat(5_000));
    assert_eq!(book(&shown(Some(Quote::of(&long)))), (Err(CallError::OptionNotKept), 0));
    // One of quotation marks alone takes no more room than another.
    let marks = format!("\"{}\"", "\\\"".repeat(2_000));
    let sealed = sealer().seal(&shown(Some(Quote::of(&marks))));
    let Ok(Reference::Option(opened)) = sealer().open(&sealed) else { panic!("it does not open") };
    assert_eq!(opened.quoted, Some(Quote::Whole(marks)));
    // Where the journal kept it after all, it is known.
    let kept = OptionReference { receipt: Some("rank_1".to_owned()), ..shown(Some(Quote::TooLong)) };
    assert_eq!(book(&kept).1, 1);
}
