//! Prices against the range of the partner's manifest.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::partner::{Partner, PriceRange};
use intent_gateway_testing::directory::{GivenPartners, partner};
use serde_json::{Value, json};

use crate::support::{INTENT, World, ids, things};

/// Who says that an order costs from 100 to 900 INR.
fn with_range(id: &str) -> Partner {
    let mut partner = partner(id, &[INTENT]);
    partner.listings[0].prices = Some(PriceRange { min: 100.into(), max: 900.into() });
    partner
}

fn world(options: Value) -> World {
    World { directory: GivenPartners::of([with_range("alpha")]), ..World::of(&[("alpha", things(options))]) }
}

#[test]
fn a_price_outside_the_range_is_noted_and_the_option_ranked_as_it_would_be() {
    let options = json!([
        {"id": "fair", "rank": 0.1, "price_inr": 500},
        {"id": "dear", "rank": 0.9, "price_inr": 900.01},
        {"id": "cheap", "rank": 0.5, "price_inr": 99},
    ]);
    let world = world(options);
    let outcome = world.search(&json!({})).expect("searched");
    assert_eq!(ids(&outcome), ["dear", "cheap", "fair"]);
    assert!(outcome.dropped.is_empty());

    let findings = world.journal.findings_of("alpha");
    let brief: Vec<_> = findings
        .iter()
        .map(|found| (found.option_place, found.option_id.as_deref(), found.excerpt.as_deref()))
        .collect();
    assert_eq!(brief, [(Some(1), Some("dear"), Some("900.01")), (Some(2), Some("cheap"), Some("99"))]);
    assert!(findings.iter().all(|found| found.severity == Severity::Note));
    let violation = Violation {
        pointer: "/price_inr".to_owned(),
        code: "PRICE_OUT_OF_RANGE".to_owned(),
        message: "900.01 INR lies outside the range of the manifest, 100 to 900 INR an order".to_owned(),
    };
    assert_eq!(findings[0].violation, violation);
}

#[test]
fn both_ends_of_the_range_are_in_it() {
    let options =
        json!([{"id": "a", "price_inr": 100}, {"id": "b", "price_inr": 900}, {"id": "c", "price_inr": 900.0}]);
    let world = world(options);
    assert_eq!(world.search(&json!({})).expect("searched").options.len(), 3);
    assert_eq!(world.journal.found(), []);
}

/// Whether an option must have a price, and of which form, is the contract's to say.
#[test]
fn what_is_no_number_is_not_compared() {
    let world = world(json!([{"id": "a", "price_inr": "9000"}, {"id": "b", "price_inr": null}, {"id": "c"}]));
    assert_eq!(world.search(&json!({})).expect("searched").options.len(), 3);
    assert_eq!(world.journal.found(), []);
}

#[test]
fn what_is_dropped_is_not_noted_besides() {
    let world = world(json!([{"id": "a", "price_inr": 9000, "drop": true}]));
    assert!(world.search(&json!({})).expect("searched").options.is_empty());
    assert_eq!(world.journal.found(), [(Severity::Drop, "SCRIPTED".to_owned())]);
}

/// Each partner's prices are held against its own range, and those of partners without one against none.
#[test]
fn each_partner_has_its_own_range() {
    let dear = things(json!([{"id": "x", "price_inr": 9000}]));
    let mut wide = with_range("wide");
    wide.listings[0].prices = Some(PriceRange { min: 0.into(), max: 9000.into() });
    let world = World {
        directory: GivenPartners::of([with_range("alpha"), wide, partner("unstated", &[INTENT])]),
        ..World::of(&[("alpha", dear.clone()), ("wide", dear.clone()), ("unstated", dear)])
    };
    assert_eq!(world.search(&json!({})).expect("searched").options.len(), 3);
    let found: Vec<_> = world.journal.all_findings().into_iter().map(|found| found.partner.to_string()).collect();
    assert_eq!(found, ["alpha"]);
}
