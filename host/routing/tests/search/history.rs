//! What a contract is told of what the user took before.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_executor::block_on;
use futures_util::task::noop_waker_ref;
use futures_util::{FutureExt as _, StreamExt as _};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Descriptor, PastOrder};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::PAST_ORDERS_MAX;
use intent_gateway_domain::order::{ClosingReport, Order, Owner};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym};
use intent_gateway_domain::vault::Vault;
use intent_gateway_routing::replay::replay;
use intent_gateway_routing::search::{PastOrders, SearchRequest, Searcher};
use intent_gateway_testing::contract::ContractCall;
use intent_gateway_testing::entropy::{Counting, vault};
use intent_gateway_testing::orders::booked;
use intent_gateway_testing::users::{UNNAMED, asker};
use serde_json::json;

use crate::support::{INTENT, NOW_MS, World, request, things};

fn two() -> World {
    two_declaring(|_| ())
}

fn two_declaring(change: impl FnOnce(&mut Descriptor)) -> World {
    let answers =
        [("anna", things(json!([{"id": "a1", "rank": 0.2}]))), ("bela", things(json!([{"id": "b1", "rank": 0.9}])))];
    World::declaring(&answers, change)
}

/// An open order of ann's of a thing of some kind, so many days before the search.
fn order(days_ago: u64, kind: Option<&str>) -> Order {
    let at = Timestamp::from_ms(NOW_MS - days_ago * 86_400_000);
    let mut order = booked("anna", INTENT, "search", "booking", &["B-1"], at);
    order.kept = kind.map(|kind| ("kind".to_owned(), json!(kind))).into_iter().collect();
    order.kept.insert("address".to_owned(), json!("1 Example Road"));
    order
}

/// The same once a report has closed it, a minute later.
fn reported(mut order: Order, status: &str) -> Order {
    let report = ClosingReport {
        at_ms: order.opened_at_ms.plus_ms(60_000),
        external_id: "B-1".to_owned(),
        status: status.to_owned(),
        receipt: "rcpt_1".to_owned(),
    };
    order.close(report);
    order
}

fn owned_by(order: Order, vault: &Vault, asker: &Asker) -> Order {
    Order { owner: Owner::of(vault, asker), ..order }
}

fn keep(world: &World, orders: impl IntoIterator<Item = Order>) {
    let mut change = Change::default();
    orders.into_iter().for_each(|order| change.put(&Versioned::new(order)));
    block_on(world.store.commit(change)).expect("kept");
}

/// What the contract was told, each time that it ranked.
fn told(world: &World) -> Vec<Vec<PastOrder>> {
    let history = |call| match call {
        ContractCall::Evaluate { history, .. } => Some(history),
        _ => None,
    };
    world.contract.take_calls().into_iter().filter_map(history).collect()
}

/// What it is told when this user's things are searched.
fn told_for(world: &World, asker: &Asker) -> Vec<PastOrder> {
    let outcome = world.search_as(SearchRequest { asker, ..request() }).now_or_never();
    let outcome = outcome.expect("nothing waits").expect("searched");
    assert_eq!(outcome.options.len(), 2);
    told(world).pop().expect("ranked")
}

fn statuses(history: &[PastOrder]) -> Vec<&str> {
    history.iter().map(|past| past.status.as_str()).collect()
}

#[test]
fn the_users_own_past_orders_of_the_intent_are_told_newest_first() {
    let world = two();
    let one_name = Pseudonym::parse("ann").expect("well formed");
    let elsewhere = Asker::new(Orchestrator::new("test-issuer", "another-assistant"), Some(&one_name));
    let other_issuer = Asker::new(Orchestrator::new("another-issuer", "assistant"), Some(&one_name));
    let mut cancelled = order(5, Some("cancelled"));
    (cancelled.is_open, cancelled.state) = (false, "cancelled".to_owned());
    let mut other_intent = order(6, Some("other"));
    other_intent.intent = IntentId::parse("test.find_others").expect("well formed");
    let of =
        |asker: &Asker, days_ago| reported(owned_by(order(days_ago, Some("not ann's")), &vault(), asker), "completed");
    keep(
        &world,
        [
            reported(order(30, Some("green")), "completed"),
            reported(order(10, None), "completed"),
            reported(order(20, Some("red")), "no_show"),
            order(4, Some("open")),
            cancelled,
            reported(other_intent, "completed"),
            of(&asker("bob"), 1),
            of(&elsewhere, 2),
            of(&other_issuer, 3),
            of(&UNNAMED, 7),
        ],
    );
    let history = told_for(&world, &asker("ann"));
    let seen: Vec<_> = history.iter().map(|past| (past.status.as_str(), past.attributes_json())).collect();
    let expected = [("completed", "{}"), ("no_show", r#"{"kind":"red"}"#), ("completed", r#"{"kind":"green"}"#)];
    assert_eq!(seen, expected.map(|(status, attributes)| (status, attributes.to_owned())));
    assert_eq!(history[1].closed_at_ms, Timestamp::from_ms(NOW_MS - 20 * 86_400_000 + 60_000));
    assert_eq!(told_for(&world, &asker("carl")), []);
    assert_eq!(told_for(&world, &elsewhere).len(), 1);
}

#[test]
fn nobody_looks_where_there_is_no_user_or_the_contract_does_not_ask() {
    let worlds = [
        (two(), &*UNNAMED),
        (two_declaring(|declared| declared.order = None), &asker("ann")),
        (two_declaring(|declared| declared.order.iter_mut().for_each(|way| way.history.clear())), &asker("ann")),
    ];
    for (world, asker) in worlds {
        keep(&world, [reported(owned_by(order(1, Some("green")), &vault(), asker), "completed")]);
        // A look would wait.
        world.store.hold_reads();
        assert_eq!(told_for(&world, asker), []);
    }
}

#[test]
fn a_search_goes_without_where_the_store_fails_or_is_late() {
    let world = two();
    keep(&world, [reported(order(1, Some("green")), "completed")]);
    assert_eq!(statuses(&told_for(&world, &asker("ann"))), ["completed"]);

    world.store.hold_reads();
    let ann = asker("ann");
    let mut search = Box::pin(world.search_as(SearchRequest { asker: &ann, ..request() }));
    let mut context = Context::from_waker(noop_waker_ref());
    assert!(search.poll_unpin(&mut context).is_pending(), "partners have answered, the store has not");
    world.clock.advance(999);
    assert!(search.poll_unpin(&mut context).is_pending());
    world.clock.advance(1);
    let Poll::Ready(outcome) = search.poll_unpin(&mut context) else { panic!("its time is over") };
    assert_eq!(outcome.expect("searched").options.len(), 2);
    assert_eq!(told(&world), [vec![]]);

    world.store.release_reads();
    world.store.break_engine("the disk is gone");
    assert_eq!(told_for(&world, &ann), []);
    assert_eq!(world.journal.all_receipts().len(), 3);
}

#[test]
fn the_latest_are_told_under_every_master_key() {
    let world = two();
    let key = |letter: &str| Secret::new(letter.repeat(32));
    let before = Vault::new(&key("k"), &[], Arc::new(Counting::default()));
    let now = Vault::new(&key("m"), &[key("k")], Arc::new(Counting::default()));
    let ann = asker("ann");
    let many = u64::from(PAST_ORDERS_MAX);
    let of = |days_ago: u64| reported(order(days_ago, None), &days_ago.to_string());
    keep(&world, (1..=many).map(|number| of(2 * number)));
    keep(&world, (1..=many).map(|number| owned_by(of(2 * number - 1), &before, &ann)));
    let past = PastOrders { store: world.store.clone(), vault: now, timer: world.clock.clone() };
    let searcher = Searcher { past_orders: Some(past), ..world.searcher() };
    block_on(searcher.search_for(SearchRequest { asker: &ann, ..request() })).expect("searched");
    let history = told(&world).pop().expect("ranked");
    assert_eq!(statuses(&history), (1..=many).map(|days_ago| days_ago.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_receipt_holds_what_was_told_and_a_replay_tells_it_again() {
    let world = two();
    keep(&world, [reported(order(1, Some("green")), "completed"), reported(order(2, None), "no_show")]);
    let history = told_for(&world, &asker("ann"));
    let receipt = world.journal.only_receipt();
    assert_eq!((receipt.history.len(), &receipt.history), (2, &history));
    let text = serde_json::to_string(&receipt).expect("JSON");
    assert!(!text.contains("ann\"") && !text.contains("Example Road"), "{text}");
    let kept = serde_json::from_str(&text).expect("reads");
    assert!(block_on(replay(&kept, &*world.contract)).expect("replayed").same);
    assert_eq!(told(&world), [history]);
}

#[test]
fn every_ranking_of_a_search_is_told_the_same_and_none_comes_before() {
    let world = two();
    let ann = asker("ann");
    keep(&world, [reported(order(1, Some("green")), "completed")]);
    world.store.hold_reads();
    world.partners.hold("bela");
    let request = SearchRequest { asker: &ann, ..request() };
    let searcher = Arc::new(world.searcher());
    let begun = block_on(searcher.search_progressively(request, world.clock.clone()));
    let Ok(mut snapshots) = begun else { panic!("begun") };
    let mut context = Context::from_waker(noop_waker_ref());
    assert!(snapshots.poll_next_unpin(&mut context).is_pending(), "anna has answered");
    assert_eq!(told(&world), [] as [Vec<PastOrder>; 0]);

    world.store.release_reads();
    assert!(matches!(snapshots.poll_next_unpin(&mut context), Poll::Ready(Some(Ok(_)))));
    // What closes meanwhile changes nothing.
    keep(&world, [reported(order(0, Some("red")), "completed")]);
    world.partners.release("bela");
    let rest = block_on(snapshots.collect::<Vec<_>>());
    assert!(rest.last().is_some_and(|last| last.as_ref().is_ok_and(|last| last.awaited.is_empty())));
    let told = told(&world);
    assert_eq!(told.len(), 2);
    assert!(told[0] == told[1] && told[0].len() == 1, "{told:?}");
    assert_eq!(world.journal.only_receipt().history, told[0]);
}
