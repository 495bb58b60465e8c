//! One test per rule of the spec, each on documents that break only that rule.

mod exchanges;
mod options;
mod shown;

use contract_sdk::bindings::Evaluation;
use contract_sdk::example::with;
use contract_sdk::testing::{self, assert_drops, assert_finds, assert_passes};
use contract_sdk::{example, sample};
use lifestyle_book_yoga_class::YogaClass;
use serde_json::Value;

/// An intermediate user without conditions, who asks for hatha, vinyasa or iyengar at seven.
fn request() -> Value {
    sample!("request")
}

/// One hatha class fit for everybody, one slot, one instructor with every certificate.
fn option() -> Value {
    sample!("option")
}

/// Hatha by Asha and Meera, advanced vinyasa by Vikram, a prenatal class by Meera.
fn classes() -> Value {
    sample!("classes")
}

/// The sample request of a user of whom this is known.
fn user(changes: &[(&str, Value)]) -> Value {
    let changes: Vec<_> =
        changes.iter().map(|(name, value)| (format!("/user_yoga_profile/{name}"), value.clone())).collect();
    let changes: Vec<_> = changes.iter().map(|(pointer, value)| (pointer.as_str(), value.clone())).collect();
    with(request(), &changes)
}

fn evaluate(request: &Value, options: &[Value]) -> Evaluation {
    testing::evaluate::<YogaClass>(request, options)
}

fn drops(request: &Value, option: &Value, violations: &[(&str, &str)]) {
    assert_drops::<YogaClass>(request, option, violations);
}

fn passes(request: &Value, option: &Value) {
    assert_passes::<YogaClass>(request, option);
}

fn finds(request: &Value, option: &Value, findings: &[(&str, &str)]) {
    assert_finds::<YogaClass>(request, option, findings);
}

/// The card of the one option that is left.
fn card(request: &Value, option: &Value) -> Value {
    example::parse(&evaluate(request, std::slice::from_ref(option)).ranked[0].card)
}

#[test]
fn the_samples_pass() {
    passes(&request(), &option());
    passes(&request(), &classes());
    let payload = sample!("payload");
    let found = evaluate(&request(), payload["options"].as_array().unwrap());
    assert_eq!((found.ranked.len(), found.dropped, found.findings), (15, vec![], vec![]));
}
