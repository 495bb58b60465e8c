//! Calls of one order at the same time, and calls whose end nobody knows: one step after the other reaches the partner, each in
//! its turn.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::orders::{orders, refused, with_orders, world};
use super::*;
use intent_gateway_domain::limits::CALL_SETTLED_MS;
use intent_gateway_domain::order::turn::OUT_OF_TURN;
use intent_gateway_domain::order::{FAILED, Happening, Order, PENDING};
use intent_gateway_domain::store::{StoreTrouble, load};

type Outcome = Result<CallOutcome, CallError>;

/// Calls that are under way at the same time, in a world whose clock the test moves.
struct Calls<'w> {
    world: &'w World,
    running: Vec<Option<Pin<Box<dyn Future<Output = Outcome> + 'w>>>>,
    ended: Vec<Option<Outcome>>,
}

impl<'w> Calls<'w> {
    fn new(world: &'w World) -> Self {
        Self { world, running: Vec::new(), ended: Vec::new() }
    }

    /// Begins a call, and goes as far with it as it goes without waiting.
    fn begin(&mut self, tool: &'static str, reference: &str, arguments: &Value) {
        let (reference, arguments, asker) = (reference.to_owned(), arguments.to_string(), asker("user-1"));
        let caller = &self.world.caller;
        let call = async move {
            let request = CallRequest { arguments: &arguments, asker: &asker, ..request(tool, &reference) };
            caller.call(request).await.map_err(|failed| failed.error)
        };
        self.running.push(Some(Box::pin(call)));
        self.ended.push(None);
        self.go_on();
    }

    /// Goes as far with each call as it goes without waiting.
    fn go_on(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        for (slot, ended) in self.running.iter_mut().zip(&mut self.ended) {
            let Some(call) = slot else { continue };
            if let Poll::Ready(outcome) = call.as_mut().poll(&mut context) {
                (*slot, *ended) = (None, Some(outcome));
            }
        }
    }

    /// The gateway dies with the call.
    fn kill(&mut self, which: usize) {
        self.running[which] = None;
    }

    /// Lets time pass until nothing waits.
    fn finish(mut self) -> Vec<Outcome> {
        for _ in 0..1_000 {
            self.go_on();
            if self.running.iter().all(Option::is_none) {
                break;
            }
            self.world.clock.advance(250);
        }
        self.ended.into_iter().flatten().collect()
    }
}

fn still() -> World {
    World::of(TestClock::at(NOW), with_orders())
}

fn booked(world: &World) -> String {
    let booked = world.call(KEYED, &sealer().seal(&world.reference()), &json!({"request_id": "k-0"}));
    booked.expect("booked").reference.expect("one")
}

fn states(world: &World) -> Vec<(String, bool)> {
    orders(world).into_iter().map(|order| (order.state, order.is_open)).collect()
}

#[test]
fn of_two_cancellations_at_the_same_time_one_reaches_the_partner() {
    let world = still();
    let reference = booked(&world);
    let before = world.was_called();
    world.partners.hold("alpha");
    let mut calls = Calls::new(&world);
    calls.begin(CANCEL, &reference, &json!({}));
    calls.begin(CANCEL, &reference, &json!({}));
    assert_eq!(world.partners.under_way(), 1);
    world.partners.release("alpha");
    let outcomes = calls.finish();
    let [Ok(first), second] = <[Outcome; 2]>::try_from(outcomes).expect("both ended") else { panic!("cancelled") };
    assert_eq!(first.order.map(|order| order.state).as_deref(), Some("cancelled"));
    assert_eq!(refused(second), ("INVALID_REQUEST".into(), OUT_OF_TURN.into()));
    assert_eq!(world.was_called(), before + 1);
}

#[test]
fn who_waits_too_long_for_another_call_is_told_to_come_again() {
    let world = still();
    let reference = booked(&world);
    world.partners.hold("alpha");
    let mut calls = Calls::new(&world);
    calls.begin(CANCEL, &reference, &json!({}));
    calls.begin(CANCEL, &reference, &json!({}));
    let outcomes = calls.finish();
    assert!(
        matches!(&outcomes[..], [Err(CallError::UnderWay { wait_ms })] if *wait_ms > 10_000),
        "the first one is held for good: {outcomes:?}"
    );
}

#[test]
fn what_somebody_else_made_of_an_order_during_a_call_stays() {
    let world = still();
    let reference = booked(&world);
    world.partners.hold("alpha");
    let mut calls = Calls::new(&world);
    calls.begin(CANCEL, &reference, &json!({}));
    let [order] = &orders(&world)[..] else { panic!("one order") };
    let has_option = Some(order.has_option != Some(true));
    let mut kept = block_on(load::<Order>(&*world.store, order.id.as_str())).expect("read").expect("kept");
    kept.value.has_option = has_option;
    let mut change = Change::default();
    change.put(&kept);
    block_on(world.store.commit(change)).expect("kept");
    world.partners.release("alpha");
    calls.finish();
    let [order] = &orders(&world)[..] else { panic!("one order") };
    assert_eq!((order.state.as_str(), order.has_option), ("cancelled", has_option));
}

#[test]
fn the_end_of_a_call_reads_nothing_that_nobody_has_changed() {
    let world = still();
    world.partners.hold("alpha");
    let mut calls = Calls::new(&world);
    calls.begin(KEYED, &sealer().seal(&world.reference()), &json!({"request_id": "k-0"}));
    world.store.take_work();
    world.partners.release("alpha");
    let outcomes = calls.finish();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(world.store.take_work().reads, 0);
    assert_eq!(orders(&world).len(), 1);
}

#[test]
fn first_steps_of_one_option_share_one_order() {
    let world = still();
    let option = sealer().seal(&world.reference());
    world.partners.hold("alpha");
    let mut calls = Calls::new(&world);
    for _ in 0..5 {
        calls.begin(BOOK, &option, &json!({"thing_id": "thing-1"}));
    }
    assert_eq!(world.partners.under_way(), 1);
    world.partners.release("alpha");
    let outcomes = calls.finish();
    let [order] = &orders(&world)[..] else { panic!("one order") };
    let ids: Vec<_> = outcomes.into_iter().map(|outcome| outcome.expect("checked").order.expect("one").id).collect();
    assert!(ids.len() == 5 && ids.iter().all(|id| *id == order.id), "{ids:?}");
}

#[test]
fn an_order_whose_gateway_died_lets_go_of_its_option() {
    let world = still();
    let option = sealer().seal(&world.reference());
    world.partners.hold("alpha");
    let mut calls = Calls::new(&world);
    calls.begin(BOOK, &option, &json!({"thing_id": "thing-1"}));
    calls.kill(0);
    world.partners.release("alpha");
    world.clock.advance(CALL_SETTLED_MS);
    let mut reference = world.reference();
    reference.expires_at_ms = Timestamp::from_ms(u64::MAX);
    let again = world.call(BOOK, &sealer().seal(&reference), &json!({"thing_id": "thing-1"})).expect("opened");
    let [former, new] = &orders(&world)[..] else { panic!("two orders") };
    assert_eq!(again.order.map(|order| order.id).as_ref(), Some(&new.id));
    assert!(former.is_in_doubt(world.clock.now()) && !former.is_sole && new.is_sole);
    assert!(
        matches!(&former.history.last().expect("one").what, Happening::Unknown { code, .. } if code == "NO_ANSWER")
    );
}

#[test]
fn a_repeat_whose_end_is_unknown_has_no_turn_once_something_else_was_called() {
    let world = world();
    let reference = booked(&world);
    let rate = |reference: &str| world.call(RATE, reference, &json!({"order": "BK-1", "stars": 5}));
    world.answers(CallFailure::Timeout(30_000));
    assert!(rate(&reference).is_err());
    // Nothing was called since: it goes out again, and its end is unknown once more.
    let before = world.was_called();
    assert!(matches!(rate(&reference), Err(CallError::Partner { .. })));
    assert_eq!(world.was_called(), before + 1);
    world.answers(json!({"booking_id": "BK-1"}));
    world.call(CANCEL, &reference, &json!({})).expect("cancelled");
    let before = world.was_called();
    assert_eq!(refused(rate(&reference)), ("INVALID_REQUEST".into(), OUT_OF_TURN.into()));
    assert_eq!(world.was_called(), before);
}

#[test]
fn two_hundred_bookings_under_one_key_are_one_order() {
    let world = still();
    let option = sealer().seal(&world.reference());
    let mut calls = Calls::new(&world);
    world.partners.hold("alpha");
    for number in 0..200 {
        let note = if number % 2 == 0 { "mine" } else { "another's" };
        calls.begin(KEYED, &option, &json!({"request_id": "k-1", "note": note}));
    }
    assert_eq!(world.partners.under_way(), 1);
    world.partners.release("alpha");
    let outcomes = calls.finish();
    let [order] = &orders(&world)[..] else { panic!("one order") };
    let same = |outcome: &Outcome| matches!(outcome, Ok(booked) if booked.order.as_ref().is_some_and(|own| own.id == order.id));
    assert_eq!(outcomes.iter().filter(|outcome| same(outcome)).count(), 100);
    assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Err(CallError::KeyUsed))).count(), 100);
    assert_eq!(states(&world), [("booked".to_owned(), true)]);
}

/// What happens in a walk.
#[derive(Clone, Debug)]
enum Move {
    /// A call begins: which tool, under which key.
    Begin(usize, u8),
    /// From now on the partner answers, refuses, or loses its answers.
    Partner(u8),
    Hold,
    Release,
    Kill(usize),
    Pass(u64),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        8 => (0_usize..4, 0_u8..3).prop_map(|(tool, key)| Move::Begin(tool, key)),
        3 => (0_u8..4).prop_map(Move::Partner),
        2 => Just(Move::Hold),
        4 => Just(Move::Release),
        1 => (0_usize..20).prop_map(Move::Kill),
        3 => prop_oneof![Just(250_u64), Just(CALL_SETTLED_MS + 1)].prop_map(Move::Pass),
    ];
    prop::collection::vec(one, 1..60)
}

/// Whether each call in an order's history came in its turn. A call that opened it, or was made again under its key because its
/// end was not known, is asked for none.
fn check_turns(order: &Order, descriptor: &Descriptor) -> Result<(), TestCaseError> {
    let way = descriptor.order.as_ref().expect("it has orders");
    let (mut state, mut under_way) = (PENDING.to_owned(), None);
    let mut last: Option<Option<String>> = None;
    for event in &order.history {
        match &event.what {
            Happening::Called { tool, attempt, .. } => {
                let is_first = last.is_none();
                let is_again = attempt.is_some() && last.as_ref() == Some(attempt);
                let step = way.step(tool).expect("declared");
                prop_assert!(is_first || is_again || step.states.contains(&state), "{order:#?}");
                let is_free = under_way.is_none_or(|since: Timestamp| event.at_ms.ms_since(since) >= CALL_SETTLED_MS);
                prop_assert!(is_free, "two at a time: {order:#?}");
                (under_way, last) = (Some(event.at_ms), Some(attempt.clone()));
            }
            Happening::Answered { state: after, .. } => {
                state.clone_from(after);
                under_way = None;
            }
            Happening::Failed { .. } | Happening::Unknown { .. } => under_way = None,
            Happening::Reported { .. } => {}
        }
    }
    let declared = way.state(&order.state).is_some() || [PENDING, FAILED].contains(&order.state.as_str());
    prop_assert!(declared, "{order:#?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Through the caller itself: whatever is called at the same time, lost or left by a gateway that died, each order's calls
    /// come one after the other and in their turn, and the partner saw no call that no order has.
    #[test]
    fn no_walk_calls_a_tool_out_of_its_turn(moves in moves()) {
        let world = still();
        let mut reference = world.reference();
        reference.expires_at_ms = Timestamp::from_ms(u64::MAX);
        let option = sealer().seal(&reference);
        let booking = booked(&world);
        let mut calls = Calls::new(&world);
        let mut is_held = false;
        for happening in moves {
            match happening {
                Move::Begin(0, key) => calls.begin(KEYED, &option, &json!({"request_id": format!("k-{key}")})),
                Move::Begin(1, _) => calls.begin(BOOK, &option, &json!({"thing_id": "thing-1"})),
                Move::Begin(2, key) => calls.begin(RATE, &booking, &json!({"order": "BK-1", "stars": key})),
                Move::Begin(..) => calls.begin(CANCEL, &booking, &json!({})),
                Move::Partner(0) => world.answers(platform("THING_GONE")),
                Move::Partner(1) => world.answers(CallFailure::Timeout(30_000)),
                Move::Partner(_) => world.answers(json!({"booking_id": "BK-1"})),
                Move::Hold if !is_held => {
                    world.partners.hold("alpha");
                    is_held = true;
                }
                Move::Release if is_held => {
                    world.partners.release("alpha");
                    is_held = false;
                }
                Move::Kill(which) if which < calls.running.len() => calls.kill(which),
                Move::Pass(ms) => world.clock.advance(ms),
                Move::Hold | Move::Release | Move::Kill(_) => {}
            }
            calls.go_on();
        }
        if is_held {
            world.partners.release("alpha");
        }
        calls.finish();
        for order in orders(&world) {
            check_turns(&order, &with_orders())?;
        }
        // No two open orders hold one option.
        let sole = orders(&world).into_iter().filter(|order| order.is_open && order.is_sole);
        prop_assert!(sole.count() <= 1);
    }
}

#[test]
fn a_partner_is_not_blamed_for_a_slow_store() {
    for (taken_ms, is_called) in [(14_000, true), (16_000, false)] {
        let world = still();
        let mut reference = world.reference();
        reference.expires_at_ms = START.plus_ms(10 * CALL_SETTLED_MS);
        let reference = sealer().seal(&reference);
        world.store.hold_reads();
        let mut calls = Calls::new(&world);
        calls.begin(KEYED, &reference, &json!({"request_id": "k-1"}));
        world.clock.advance(taken_ms);
        world.store.release_reads();
        let outcome = calls.finish().pop().expect("it has ended");
        assert_eq!(world.was_called(), usize::from(is_called));
        if is_called {
            assert!(outcome.is_ok(), "{outcome:?}");
            continue;
        }
        assert!(
            matches!(&outcome, Err(CallError::Store { trouble: StoreTrouble::Unavailable, answered: false, .. })),
            "{outcome:?}"
        );
        let [order] = &orders(&world)[..] else { panic!("one order") };
        assert_eq!((order.state.as_str(), order.is_open), (FAILED, false), "it certainly did nothing");
        let again = world.call(KEYED, &reference, &json!({"request_id": "k-1"}));
        assert!(again.is_ok(), "the key is free: {again:?}");
    }
}
