//! Calls that are steps of orders.

use super::*;
use intent_gateway_domain::contract::{
    KeptValue, Opening, OrderDeadline, OrderOutcome, OrderRefusal, OrderSource, OrderState, OrderStep, OrderWay,
};
use intent_gateway_domain::order::turn::{OUT_OF_TURN, TOO_LATE};
use intent_gateway_domain::order::{FAILED, Happening, Order, PENDING};
use intent_gateway_domain::store::{List, page};

fn kept(name: &str, source: OrderSource, at: &str, identifies: bool) -> KeptValue {
    KeptValue { name: name.to_owned(), source, pointer: at.to_owned(), identifies }
}

fn step(tool: &str, opening: Opening, states: &[&str], to: &str) -> OrderStep {
    OrderStep {
        tool: tool.to_owned(),
        opening,
        states: states.iter().map(|state| (*state).to_owned()).collect(),
        refusals: Vec::new(),
        deadlines: Vec::new(),
        keeps: Vec::new(),
        outcomes: vec![OrderOutcome { from: Vec::new(), pointer: None, values: Vec::new(), state: to.to_owned() }],
    }
}

/// [`KEYED`] books, [`BOOK`] checks what it goes on with later, [`CANCEL`] cancels before the start, [`RATE`] changes under its
/// `stars` as the key.
pub(super) fn with_orders() -> Descriptor {
    let mut descriptor = with_booking_tools();
    let rate = descriptor.tools.iter_mut().find(|tool| tool.name == RATE).expect("there");
    rate.idempotency_key = Some("stars".to_owned());
    let mut book = step(KEYED, Opening::Always, &[], "booked");
    book.keeps = vec![
        kept("booking_id", OrderSource::Answer, "/booking_id", true),
        kept("start", OrderSource::Answer, "/start", false),
        kept("number", OrderSource::Option, "/number", false),
    ];
    let mut check = step(BOOK, Opening::First, &["checked"], "checked");
    check.keeps = vec![kept("check_id", OrderSource::Answer, "/booking_id", true)];
    let mut cancel = step(CANCEL, Opening::Never, &["booked", "checked"], "cancelled");
    cancel.deadlines = vec![OrderDeadline {
        kept: "start".to_owned(),
        code: "THING_GONE".to_owned(),
        text: "It has begun.".to_owned(),
    }];
    cancel.refusals =
        vec![OrderRefusal { states: vec!["none".to_owned()], code: "THING_GONE".to_owned(), text: "None.".to_owned() }];
    let mut change = step(RATE, Opening::Never, &["booked"], "booked");
    change.keeps = vec![kept("booking_id", OrderSource::Answer, "/booking_id", true)];
    let states = [("booked", false), ("checked", false), ("cancelled", true)];
    let state = |(name, closed): (&str, bool)| OrderState {
        name: name.to_owned(),
        meaning: String::new(),
        closed,
        milestones: Vec::new(),
    };
    descriptor.order = Some(OrderWay {
        states: states.map(state).into(),
        steps: vec![book, check, cancel, change],
        amount: None,
        due_after: None,
        history: Vec::new(),
    });
    descriptor
}

pub(super) fn world() -> World {
    World::of(TestClock::jumping_at(NOW), with_orders())
}

/// Every order that is kept, the one opened first at the head.
pub(super) fn orders(world: &World) -> Vec<Order> {
    let list = List { status: None, after: None, limit: 100 };
    let orders = block_on(page::<Order>(&*world.store, list)).expect("read");
    orders.into_iter().map(|order| order.value).collect()
}

fn book(world: &World, key: &str) -> Result<CallOutcome, CallError> {
    world.call(KEYED, &sealer().seal(&world.reference()), &json!({ "request_id": key }))
}

/// The code of a refusal, and that of its first violation.
pub(super) fn refused(outcome: Result<CallOutcome, CallError>) -> (String, String) {
    let Err(CallError::Refused(refusal)) = outcome else { panic!("{outcome:?}") };
    (refusal.code, refusal.violations[0].code.clone())
}

fn events(order: &Order) -> Vec<&'static str> {
    let name = |what: &Happening| match what {
        Happening::Called { .. } => "called",
        Happening::Answered { .. } => "answered",
        Happening::Failed { .. } => "failed",
        Happening::Unknown { .. } => "unknown",
        Happening::Reported { .. } => "reported",
    };
    order.history.iter().map(|event| name(&event.what)).collect()
}

#[test]
fn a_booking_is_an_order_with_what_it_was_made_from() {
    let world = world();
    world.answers(json!({"booking_id": "BK-1", "start": "2099-01-01T10:00:00+05:30"}));
    let booked = book(&world, "k-1").expect("booked");
    let [order] = &orders(&world)[..] else { panic!("one order") };
    assert_eq!(booked.order.as_ref().map(|order| (&order.id, order.state.as_str())), Some((&order.id, "booked")));
    assert_eq!(
        (order.partner.as_str(), order.intent.as_str(), order.contract),
        ("alpha", INTENT, world.contract.digest())
    );
    assert_eq!((order.from.request_id.as_str(), order.request_id.as_str()), ("req-1", "k-1"));
    assert_eq!(
        (order.from.receipt.as_deref(), order.from.number, &*order.from.option_id),
        (Some("rank_1"), 2, "thing-1")
    );
    assert_eq!(json!(order.kept), json!({"booking_id": "BK-1", "start": "2099-01-01T10:00:00+05:30", "number": 2}));
    assert_eq!(events(order), ["called", "answered"]);
    // The contract that judges its next step sees the order and the option.
    let reference = booked.reference.expect("one");
    world.call(CANCEL, &reference, &json!({})).expect("cancelled");
    let Some(ContractCall::CheckResponse { quoted, order, .. }) = world.contract.calls().pop() else {
        panic!("judged last")
    };
    assert_eq!(quoted.as_deref(), Some(r#"{"number":2}"#));
    let seen = order.expect("the order");
    assert_eq!((seen.state.as_str(), seen.opened_at), ("booked", START));
    assert!(seen.kept.contains("BK-1"), "{}", seen.kept);
    let sent = world.partners.calls().pop().expect("called");
    assert_eq!(sent.arguments["booking_id"], "BK-1", "the identifier is the order's");
}

#[test]
fn no_tool_out_of_its_turn_reaches_a_partner() {
    let world = world();
    let option = sealer().seal(&world.reference());
    assert_eq!(
        refused(world.call(CANCEL, &option, &json!({"booking_id": "thing-1"}))),
        ("THING_GONE".into(), OUT_OF_TURN.into())
    );
    assert_eq!(world.was_called(), 0);
    world.answers(json!({"booking_id": "BK-1", "start": "2099-01-01T10:00:00+05:30"}));
    let reference = book(&world, "k-1").expect("booked").reference.expect("one");
    // Another booking, or a foreign one.
    let foreign = refused(world.call(CANCEL, &reference, &json!({"booking_id": "BK-2"})));
    assert_eq!(foreign, ("INVALID_REQUEST".into(), "NOT_THE_REFERENCE".into()));
    let called = world.was_called();
    let cancelled = world.call(CANCEL, &reference, &json!({})).expect("cancelled");
    assert_eq!(cancelled.order.map(|order| order.state).as_deref(), Some("cancelled"));
    assert_eq!(refused(world.call(CANCEL, &reference, &json!({}))), ("INVALID_REQUEST".into(), OUT_OF_TURN.into()));
    assert_eq!(world.was_called(), called + 1);
}

#[test]
fn a_step_has_its_time() {
    let world = world();
    world.answers(json!({"booking_id": "BK-1", "start": "2000-01-01T10:00:00+05:30"}));
    let reference = book(&world, "k-1").expect("booked").reference.expect("one");
    let called = world.was_called();
    assert_eq!(refused(world.call(CANCEL, &reference, &json!({}))), ("THING_GONE".into(), TOO_LATE.into()));
    assert_eq!(world.was_called(), called);
    assert_eq!(orders(&world)[0].state, "booked");
}

#[test]
fn a_lost_answer_leaves_an_order_in_doubt_which_a_repeat_settles() {
    let world = world();
    world.answers(CallFailure::Timeout(30_000));
    assert!(book(&world, "k-1").is_err());
    let [order] = &orders(&world)[..] else { panic!("one order") };
    assert_eq!((order.state.as_str(), order.is_open), (PENDING, true));
    assert!(order.is_in_doubt(world.clock.now()));
    assert_eq!(events(order), ["called", "unknown"]);
    world.answers(json!({"booking_id": "BK-1"}));
    let booked = book(&world, "k-1").expect("booked");
    let [settled] = &orders(&world)[..] else { panic!("one order") };
    assert_eq!((&settled.id, settled.state.as_str()), (&order.id, "booked"));
    assert_eq!(booked.order.map(|order| order.id).as_ref(), Some(&order.id));
    assert!(!settled.is_in_doubt(world.clock.now()));
    // Answered once more, it says nothing new; with something new, it takes that.
    assert_eq!(book(&world, "k-1").expect("booked").order.map(|order| order.state).as_deref(), Some("booked"));
    assert_eq!(orders(&world)[0], *settled);
    world.answers(json!({"booking_id": "BK-1", "start": "2099-01-01T10:00:00+05:30"}));
    assert!(book(&world, "k-1").is_ok());
    assert!(orders(&world)[0].kept.contains_key("start"));
}

#[test]
fn an_answer_that_is_refused_leaves_doubt_and_a_call_that_did_nothing_ends_its_order() {
    let world = world();
    world.answers(json!({"nothing": true}));
    assert!(matches!(book(&world, "k-1"), Err(CallError::Answer(_))));
    world.answers(platform("THING_GONE"));
    assert!(book(&world, "k-2").is_err());
    let kept = orders(&world);
    let states: Vec<(&str, bool)> = kept.iter().map(|order| (order.state.as_str(), order.is_open)).collect();
    assert_eq!(states, [(PENDING, true), (FAILED, false)]);
    // Its key is free: the next call under it opens another.
    world.answers(json!({"booking_id": "BK-2"}));
    assert!(book(&world, "k-2").is_ok());
    assert_eq!(orders(&world).len(), 3);
}

#[test]
fn an_option_stands_for_the_order_that_was_made_of_it() {
    let world = world();
    let mut reference = world.reference();
    let check =
        |reference: &OptionReference| world.call(BOOK, &sealer().seal(reference), &json!({"thing_id": "thing-1"}));
    world.answers(json!({"booking_id": "CH-1"}));
    let first = check(&reference).expect("checked").order.expect("opened");
    let again = check(&reference).expect("checked").order.expect("gone on with");
    assert_eq!(first.id, again.id);
    // It outlives the option, and is nobody else's.
    world.clock.set(NOW + 60_000);
    assert_eq!(check(&reference).expect("checked").order.map(|order| order.id), Some(first.id.clone()));
    reference.asker = Some(AskerMark::of(&asker("user-2")));
    let others =
        world.call_as(&asker("user-2"), INTENT, BOOK, &sealer().seal(&reference), &json!({"thing_id": "thing-1"}));
    assert_eq!(others.err(), Some(CallError::Expired(Some("THING_GONE".to_owned()))));
    assert_eq!(orders(&world).len(), 1);
}

#[test]
fn a_repeat_of_an_earlier_step_does_not_take_the_order_back() {
    let world = world();
    let booked = book(&world, "k-1").expect("booked");
    world.answers(json!({"booking_id": "BK-2"}));
    let changed = world.call(RATE, &booked.reference.expect("one"), &json!({"order": "BK-1"})).expect("changed");
    let before = orders(&world);
    assert_eq!(before[0].kept["booking_id"], "BK-2");
    world.answers(json!({"booking_id": "BK-1"}));
    let repeated = book(&world, "k-1").expect("told");
    assert_eq!(repeated.order, changed.order);
    assert_eq!(orders(&world), before);
    assert_eq!(before[0].identifiers.iter().collect::<Vec<_>>(), ["BK-1", "BK-2"], "a report may name either");
}

#[test]
fn a_reference_from_before_there_were_orders_is_about_none() {
    let world = world();
    let Ok(Reference::Booking(mut booking)) =
        sealer().open(&book(&world, "k-1").expect("booked").reference.expect("one"))
    else {
        panic!("a booking")
    };
    booking.order = None;
    let cancelled = world.call(CANCEL, &sealer().seal_booking(&booking), &json!({})).expect("as before");
    assert_eq!(cancelled.order, None);
    assert_eq!(orders(&world)[0].state, "booked");
}

#[test]
fn who_books_at_once_waits_for_the_receipt_a_moment() {
    let world = world();
    let mut reference = world.reference();
    reference.receipt = Some("rank_on_its_way".to_owned());
    reference.expires_at_ms = START.plus_ms(60_000);
    let quoted = |reference: &OptionReference, key: &str| {
        let began = world.clock.now();
        world.call(KEYED, &sealer().seal(reference), &json!({ "request_id": key })).expect("booked");
        (world.quoted().pop().expect("judged"), world.clock.now().ms_since(began))
    };
    assert_eq!(quoted(&reference, "k-1"), (None, 0), "nobody knows when it was searched");
    reference.answered_at_ms = Some(START);
    assert_eq!(quoted(&reference, "k-2"), (None, 2_000), "it does not come");
    assert_eq!(quoted(&reference, "k-3"), (None, 0), "it has had its time");
    world.journal.set_late(true);
    assert_eq!(quoted(&reference, "k-late"), (None, 2_000), "gateways still write what they held during an outage");
    world.journal.set_late(false);
    let mut receipt = receipt(world.contract.digest());
    receipt.id = "rank_on_its_way".to_owned();
    world.journal.keep(receipt, None);
    assert_eq!(quoted(&reference, "k-4"), (Some(r#"{"number":2}"#.to_owned()), 0));
}
