//! Assertions that say what came out instead, in the terms of the interface.

use std::fmt::Debug;

use intent_gateway_domain::contract::{Evaluation, Violation};
use intent_gateway_domain::error::ContractError;

/// Asserts that exactly these options were ranked, best first.
///
/// # Panics
/// When others were, or in another order; says why each option was dropped.
#[track_caller]
pub fn assert_ranked(evaluation: &Evaluation, ids: &[&str]) {
    let ranked: Vec<&str> = evaluation.ranked.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ranked, ids, "ranked; dropped were: {:#?}", evaluation.dropped);
}

/// Asserts that the option of that number was dropped for a violation of this pointer and code.
///
/// # Panics
/// When it was not.
#[track_caller]
pub fn assert_dropped(evaluation: &Evaluation, number: u32, pointer: &str, code: &str) {
    let Some(dropped) = evaluation.dropped.iter().find(|option| option.number == number) else {
        panic!("option {number} was not dropped");
    };
    assert_violation(&dropped.violations, pointer, code);
}

/// Asserts that this was found of the option of that number, which stays in the ranking.
///
/// # Panics
/// When it was not.
#[track_caller]
pub fn assert_found(evaluation: &Evaluation, number: u32, pointer: &str, code: &str) {
    let found = evaluation.findings.iter().filter(|finding| finding.number == number);
    let found: Vec<Violation> = found.map(|finding| finding.violation.clone()).collect();
    assert_violation(&found, pointer, code);
}

/// Asserts a refusal for exactly these violations, each a pointer and a code, in any order.
///
/// # Panics
/// When something passed, or was refused for something else, or the contract failed.
#[track_caller]
pub fn assert_refused<T: Debug>(outcome: &Result<T, ContractError>, violations: &[(&str, &str)]) {
    let refusal = match outcome {
        Err(ContractError::Refused(refusal)) => refusal,
        other => panic!("expected a refusal, got {other:?}"),
    };
    let mut got: Vec<_> = refusal.violations.iter().map(|one| (one.pointer.as_str(), one.code.as_str())).collect();
    let mut expected = violations.to_vec();
    got.sort_unstable();
    expected.sort_unstable();
    assert_eq!(got, expected, "violations of the refusal: {:#?}", refusal.violations);
}

#[track_caller]
fn assert_violation(violations: &[Violation], pointer: &str, code: &str) {
    let there = violations.iter().any(|violation| violation.pointer == pointer && violation.code == code);
    assert!(there, "no {code} at `{pointer}`; there is: {violations:#?}");
}
