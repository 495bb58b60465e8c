//! The harness over the hostile guest: what passes passes, and what a contract must not do is told.

use contract_testkit::{Answer, Harness, HarnessError, assert_found, assert_ranked, assert_refused};
use intent_gateway_domain::contract::{About, Axes};
use intent_gateway_domain::error::{ContractError, ContractFault};

const GUEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/hostile-guests/hostile-guest.wasm");

fn harness() -> Harness {
    Harness::load(GUEST).unwrap_or_else(|error| panic!("{error}: run `cargo xtask guests` first"))
}

fn answers() -> [Answer; 2] {
    [Answer::of(["a", "b"]), Answer::of(["c"]).with_declared(Axes { time: 1.0, ..Axes::UNDECLARED })]
}

#[test]
fn every_function_can_be_called() {
    let harness = harness();
    harness.run_examples().expect("its examples hold");
    assert_eq!(harness.descriptor().intent.as_str(), "test.hostile");
    assert!(harness.classify("a thing").expect("it answers").score >= 0.5);
    assert_refused(&harness.check_request("search_things", "refuse", About::default()), &[("/thing", "INVALID_THING")]);
    assert!(harness.check_request("search_things", "{}", About::default()).is_ok());
    assert_ranked(&harness.evaluate("{}", &answers()).expect("it ranks"), &["a", "b", "c"]);
    assert!(harness.check_completion("{}", About::default()).is_ok());
    let fault = harness.evaluate("trap", &answers()).expect_err("it traps");
    assert!(matches!(fault, ContractError::Fault(ContractFault::Trap { .. })));
}

#[test]
#[should_panic(expected = "the ranking depends on the order of the answers")]
fn a_ranking_by_order_of_arrival_is_found_out() {
    harness().assert_order_independent("{}", &answers());
}

#[test]
#[should_panic(expected = "no ODD_THING")]
fn a_missing_finding_is_told() {
    let evaluation = harness().evaluate("{}", &answers()).expect("it ranks");
    assert_found(&evaluation, 0, "/thing", "ODD_THING");
}

#[test]
fn a_missing_file_and_a_bad_component_are_told() {
    assert!(matches!(Harness::load("no/such/file.wasm"), Err(HarnessError::Unreadable { .. })));
    assert!(matches!(Harness::from_bytes(b"no component"), Err(HarnessError::Refused(_))));
}

#[test]
fn the_contract_serves_async_tests_too() {
    let harness = harness();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let classified = runtime.block_on(harness.contract().classify("a thing", "en-IN"));
    assert!(classified.is_ok());
}
