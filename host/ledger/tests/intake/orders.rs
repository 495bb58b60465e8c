//! Reports on orders, and on those that nobody has seen.

use std::sync::Arc;

use futures_util::FutureExt as _;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::OrderWay;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::order::Order;
use intent_gateway_ledger::completion::intake::{
    ORDER_IDENTIFIER_NEW, ORDER_NOT_OPEN, ORDER_NOT_SEEN, REQUEST_NOT_ROUTED,
};
use intent_gateway_ledger::completion::test_reports::{TEST_REPORT_KEPT_MS, TEST_REPORTS_MAX, forget_test_reports};
use intent_gateway_testing::contract::{ContractCall, ScriptedContract, descriptor};
use intent_gateway_testing::orders::booked;
use serde_json::json;
use serde_json::value::RawValue;

use crate::world::{NOW, World, code, judge, report, with};

/// An order of the request "req-1", booked under "booking-1" as "BK-1", of an option where gas was quoted here.
fn order(world: &World) -> Order {
    let order = booked("coolcar", "test.find_things", "req-1", "booking-1", &["BK-1"], NOW.minus_ms(5_000));
    let option = RawValue::from_string(json!({"done": "gas", "where": "here"}).to_string()).expect("JSON");
    world.desk.books.keep_order(order.clone(), Some(option));
    order
}

/// A world whose contracts declare the way of an order.
fn world_of_orders() -> World {
    let world = World::new(&["1.0.0"]);
    let mut declared = descriptor("1.1.0");
    declared.order =
        Some(OrderWay { states: Vec::new(), steps: Vec::new(), amount: None, due_after: None, history: Vec::new() });
    let contract = ScriptedContract::new(declared).with_digest(Digest::of(b"1.1.0"));
    world.contracts.activate(Arc::new(contract.on_check_completion(|_, report, about| judge(report, about.quoted))));
    world
}

#[test]
fn a_report_closes_its_order_and_is_judged_by_what_was_ordered() {
    let world = world_of_orders();
    let order = order(&world);
    // Another option that was shown would fit as well; it is not what was ordered.
    world.quote("1.0.0", &[json!({"done": "other", "where": "here"})]);
    let acknowledged = world.send(&report().to_string()).expect("taken");
    assert!(world.found().is_empty(), "{:?}", world.found());
    let closed = world.desk.books.order(&order.id);
    assert_eq!((closed.state.as_str(), closed.is_open), ("completed", false));
    let report = closed.report.expect("closed by it");
    assert_eq!((report.external_id.as_str(), &report.receipt), ("BK-1", &acknowledged.receipt_id));
    let judged = world.versions[0].calls();
    let [ContractCall::CheckCompletion { quoted, order: Some(seen), .. }] = &judged[..] else { panic!("{judged:?}") };
    assert_eq!(seen.state, "booked");
    assert!(quoted.as_deref().is_some_and(|quoted| quoted.contains("gas")));
    // It comes again.
    assert_eq!(world.send(&self::report().to_string()).expect("taken"), acknowledged);
}

#[test]
fn what_fits_another_option_than_the_ordered_one_is_found_out() {
    let world = world_of_orders();
    order(&world);
    world.quote("1.0.0", &[json!({"done": "other", "where": "here"})]);
    world.send(&with("done", json!("other"))).expect("taken");
    assert_eq!(world.found(), ["MISMATCH"]);
}

#[test]
fn a_report_finds_its_order_by_the_request_where_the_partner_calls_it_otherwise() {
    for request in ["req-1", "booking-1"] {
        let world = world_of_orders();
        let order = order(&world);
        let mut report = report();
        report["external_id"] = json!("another name");
        report["request_id"] = json!(request);
        world.send(&report.to_string()).expect("taken");
        assert_eq!(world.found(), [ORDER_IDENTIFIER_NEW], "{request}");
        assert!(!world.desk.books.order(&order.id).is_open);
    }
}

#[test]
fn an_order_is_charged_once_whatever_it_is_called() {
    let world = world_of_orders();
    let mut order = order(&world);
    order.identifiers.insert("PBR-1".to_owned());
    world.desk.books.keep_order(order, None);
    world.send(&report().to_string()).expect("taken");
    assert_eq!(code(world.send(&with("external_id", json!("PBR-1")))), "IDEMPOTENCY_CONFLICT");
    assert_eq!(world.entries().len(), 1);
    // Under its request alone it is another order's, which nobody has seen.
    world.send(&with("external_id", json!("BK-9"))).expect("taken");
    assert!(world.found().contains(&ORDER_NOT_SEEN.to_owned()));
}

#[test]
fn an_order_that_was_over_and_one_that_was_never_seen_are_found_out() {
    let world = world_of_orders();
    let mut order = order(&world);
    "cancelled".clone_into(&mut order.state);
    order.is_open = false;
    world.desk.books.keep_order(order, None);
    world.send(&report().to_string()).expect("taken");
    assert_eq!(world.found(), [ORDER_NOT_OPEN]);
    let world = world_of_orders();
    world.send(&report().to_string()).expect("taken");
    assert_eq!(world.found(), [ORDER_NOT_SEEN, REQUEST_NOT_ROUTED]);
}

#[test]
fn a_report_of_a_business_that_was_never_live_is_a_test_and_costs_nothing() {
    let world = World::new(&["1.0.0"]);
    world.standings.set(false);
    world.quote("1.0.0", &[json!({"done": "paint", "where": "here"})]);
    let first = world.send(&report().to_string()).expect("taken");
    assert!(first.test && first.receipt_id.starts_with("test_"), "{first:?}");
    assert_eq!((first.commission_inr, first.status.as_str()), (Paise::ZERO, "completed"));
    let told = serde_json::to_value(&first).expect("serialises");
    assert_eq!((&told["test"], &told["commission_inr"]), (&json!(true), &json!(0.0)));
    // It was judged, its sender is told, and nothing is in the ledger.
    assert_eq!(world.judged(), 1);
    let found = world.journal.found();
    assert_eq!(found, [(Severity::Note, "MISMATCH".to_owned())]);
    assert_eq!((world.entries().len(), world.found().len()), (0, 0));
    // The same again is answered alike, without judging it anew; another is a conflict.
    assert_eq!(world.send(&report().to_string()).expect("taken"), first);
    assert_eq!(code(world.send(&with("gst_inr", json!(1)))), "IDEMPOTENCY_CONFLICT");
    assert_eq!(world.judged(), 1);
    let partner = PartnerId::parse("coolcar").expect("sound");
    let listed = world.intake.tests.list(&partner).now_or_never().expect("ready").expect("read");
    let [kept] = &listed[..] else { panic!("one") };
    assert_eq!((kept.receipt_id(), kept.would_be_charged), (first.receipt_id, true));
    // Once live, the same order is real, and charged.
    world.standings.set(true);
    let real = world.send(&report().to_string()).expect("taken");
    assert!(!real.test && real.receipt_id.starts_with("rcpt_"), "{real:?}");
    assert!(serde_json::to_value(&real).expect("serialises").get("test").is_none(), "as the spec has it");
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn a_report_of_an_order_is_real_whoever_reports_it() {
    let world = World::new(&["1.0.0"]);
    world.standings.set(false);
    world.desk.books.keep_order(booked("coolcar", "test.find_things", "req-0", "req-1", &["BK-1"], NOW), None);
    let taken = world.send(&report().to_string()).expect("taken");
    assert!(!taken.test);
    assert_eq!(world.entries().len(), 1);
}

#[test]
fn tests_are_forgotten_in_time_and_the_oldest_makes_room() {
    let world = World::new(&["1.0.0"]);
    world.standings.set(false);
    let ids = |world: &World| {
        let partner = PartnerId::parse("coolcar").expect("sound");
        let listed = world.intake.tests.list(&partner).now_or_never().expect("ready").expect("read");
        listed.into_iter().map(|report| report.external_id).collect::<Vec<_>>()
    };
    for number in 0..=TEST_REPORTS_MAX {
        world.watch.advance(1);
        world.send(&with("external_id", json!(format!("BK-{number}")))).expect("taken");
    }
    let kept = ids(&world);
    assert_eq!((kept.len(), kept[0].as_str()), (TEST_REPORTS_MAX as usize, "BK-200"));
    assert_eq!(kept.last().map(String::as_str), Some("BK-1"), "the oldest has made room");
    let forget = |at: Timestamp| {
        let forgotten = forget_test_reports(&*world.intake.tests.store, at).now_or_never().expect("ready");
        forgotten.expect("forgotten")
    };
    // BK-1 came two milliseconds after the beginning.
    assert_eq!(forget(NOW.plus_ms(TEST_REPORT_KEPT_MS + 1)), 0);
    assert_eq!(forget(NOW.plus_ms(TEST_REPORT_KEPT_MS + 2)), 1);
    assert_eq!(ids(&world).len(), TEST_REPORTS_MAX as usize - 1);
}
