//! The samples and the calls that the tests of this contract share.

use contract_sdk::bindings::{Evaluation, PreparedRequest, Refusal};
use contract_sdk::testing::Pairs;
use contract_sdk::{sample, testing};
use finance_buy_motor_insurance::MotorInsurance;
use serde_json::{Value, json};

/// A value to put at a place of a document.
pub(crate) type Change<'c> = (&'c str, Value);

/// A petrol car of 1197 cc whose owner switches insurers, with 25 % to carry forward.
pub(crate) fn request() -> Value {
    sample!("request")
}

/// A petrol car of 1197 cc that was just bought.
pub(crate) fn new_request() -> Value {
    sample!("request-new")
}

/// A comprehensive quote for [`request`].
pub(crate) fn quote() -> Value {
    sample!("quote")
}

/// A bundle for [`new_request`].
pub(crate) fn bundle() -> Value {
    sample!("quote-bundle")
}

/// The document with these values in their places. A member that is not there yet is added.
pub(crate) fn with(mut document: Value, changes: &[Change<'_>]) -> Value {
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("no {pointer}"));
        match parent.as_array_mut() {
            Some(list) => list[name.parse::<usize>().unwrap()] = value.clone(),
            None => parent[name] = value.clone(),
        }
    }
    document
}

pub(crate) fn evaluate(request: &Value, quotes: &[Value]) -> Evaluation {
    testing::evaluate::<MotorInsurance>(request, quotes)
}

pub(crate) fn search(arguments: &Value) -> Result<PreparedRequest, Refusal> {
    testing::check_request::<MotorInsurance>("search_motor_quotes", arguments)
}

pub(crate) fn pair(pointer: &str, code: &str) -> Pairs {
    testing::expected(&[(pointer, code)])
}

/// Expects the quote to be dropped for exactly this.
pub(crate) fn drops(request: &Value, quote: &Value, pointer: &str, code: &str) {
    testing::assert_drops::<MotorInsurance>(request, quote, &[(pointer, code)]);
}

/// Expects the quote to pass with nothing found.
pub(crate) fn passes(request: &Value, quote: &Value) {
    testing::assert_passes::<MotorInsurance>(request, quote);
}

/// Expects the quote to stay, with exactly this finding.
pub(crate) fn finds(request: &Value, quote: &Value, pointer: &str, code: &str) {
    testing::assert_finds::<MotorInsurance>(request, quote, &[(pointer, code)]);
}

/// The quote with another third-party premium, its total following.
pub(crate) fn with_third_party(quote: Value, annual: i64, long_term: i64) -> Value {
    let premium = &quote["premium_breakdown"];
    let part = |name: &str| premium[name].as_i64().unwrap();
    let total = part("total_payable_inr") - part("third_party_premium_inr") - part("long_term_tp_premium_inr");
    let changes = [
        ("/premium_breakdown/third_party_premium_inr", json!(annual)),
        ("/premium_breakdown/long_term_tp_premium_inr", json!(long_term)),
        ("/premium_breakdown/total_payable_inr", json!(total + annual + long_term)),
    ];
    with(quote, &changes)
}
