//! What was booked at a partner that nothing is routed to any more.

use super::*;

#[test]
fn what_was_booked_is_followed_and_cancelled_though_nothing_is_routed_there() {
    let world = World::new();
    let (option, booking) = (sealer().seal(&world.reference()), world.book());
    world.directory.stop_routing("alpha");
    world.call(TRACK, &booking, &json!({})).expect("followed");
    world.call(CANCEL, &booking, &json!({})).expect("cancelled");
    let called: Vec<_> = world.partners.calls().into_iter().map(|call| (call.partner, call.tool)).collect();
    assert_eq!(called[1..], [("alpha".to_owned(), TRACK.to_owned()), ("alpha".to_owned(), CANCEL.to_owned())]);

    // Nothing new is made there, and nothing else is asked.
    for (tool, reference) in [(BOOK, &option), (KEYED, &option), (RATE, &booking)] {
        let refused = world.call(tool, reference, &json!({"order": "BK-1"})).expect_err("refused");
        assert!(matches!(refused, CallError::PartnerGone(_)), "{tool}: {refused:?}");
    }
    assert_eq!(world.was_called(), 3);
}

#[test]
fn the_answer_of_such_a_partner_is_scanned_and_judged_like_any() {
    let world = World::new();
    let booking = world.book();
    world.directory.stop_routing("alpha");
    world.answers(json!({"booking_id": "BK-1", "ad_bid": 1}));
    assert!(matches!(world.call(CANCEL, &booking, &json!({})), Err(CallError::Partner { .. })));
    world.answers(json!({"nothing": true}));
    assert!(matches!(world.call(CANCEL, &booking, &json!({})), Err(CallError::Answer(_))));
    let found = world.journal.found();
    assert_eq!(found, [(Severity::Strike, "FORBIDDEN_FIELD".to_owned()), (Severity::Drop, "REQUIRED".to_owned())]);
}

#[test]
fn a_partner_that_nobody_knows_any_more_is_said_to_be_one() {
    let world = World::new();
    let booking = world.book();
    world.directory.remove("alpha");
    for tool in [TRACK, CANCEL] {
        let refused = world.call(tool, &booking, &json!({})).expect_err("refused");
        assert!(matches!(refused, CallError::PartnerForgotten(_)), "{tool}: {refused:?}");
    }
}
