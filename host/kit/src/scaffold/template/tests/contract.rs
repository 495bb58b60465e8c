//! The contract natively: its shapes, its consistency, and what every ranking must hold. The rules are tested by the
//! cases in `cases/`, on the component.

use contract_sdk::testing::{evaluate, expected, pairs, problems};
use contract_sdk::{Report, assert_shape, sample};
use serde_json::{Value, json};

use {{crate}}::{{type}};
use {{crate}}::booking::{Arguments, Booking};
use {{crate}}::completion::Extra;
use {{crate}}::option::Offer;
use {{crate}}::request::Request;

fn request() -> Value {
    sample!("request")
}

fn offer() -> Value {
    sample!("option")
}

#[test]
fn the_contract_is_consistent() {
    assert_eq!(problems::<{{type}}>(), Vec::<String>::new());
}

/// Breaks every field and bound of every shape, one at a time.
#[test]
fn every_field() {
    type ReportHere<'a> = Report<'a, Extra>;
    assert_shape!(Request, &request());
    assert_shape!(Offer, &offer());
    assert_shape!(Arguments, &sample!("booking-arguments"));
    assert_shape!(Booking, &sample!("booking"));
    assert_shape!(ReportHere, &sample!("report"));
}

/// The answer of a partner: a cheap offer, a soon one, and one that nobody is shown.
#[test]
fn the_sample_answer_is_ranked() {
    let answer = sample!("search-answer");
    let evaluation = evaluate::<{{type}}>(&request(), answer["offers"].as_array().unwrap());
    assert_eq!((evaluation.ranked.len(), evaluation.dropped.len()), (2, 1));
    assert_eq!(pairs(&evaluation.dropped[0].violations), expected(&[("/provider/verified", "UNVERIFIED")]));
}

/// Of two offers that differ in one value, the better one comes first, whatever their order.
#[test]
fn a_better_value_never_lowers_the_rank() {
    for (pointer, better, worse) in [
        ("/provider/distance_km", json!(1), json!(40)),
        ("/provider/rating", json!(4.9), json!(3.5)),
        ("/total_inr", json!(100), json!(900)),
        ("/warranty_days", json!(300), json!(0)),
        ("/starts_at", json!("2026-01-05T10:00:00+05:30"), json!("2026-01-05T17:00:00+05:30")),
    ] {
        let named = |id: &str, value: &Value| {
            let mut offer = offer();
            offer["offer_id"] = json!(id);
            *offer.pointer_mut(pointer).unwrap() = value.clone();
            offer
        };
        let mut offers = [named("better", &better), named("worse", &worse)];
        for _ in 0..2 {
            let ranked = evaluate::<{{type}}>(&request(), &offers).ranked;
            let ids: Vec<_> = ranked.iter().map(|option| option.id.as_str()).collect();
            assert_eq!(ids, ["better", "worse"], "{pointer}");
            assert!(ranked.iter().all(|option| (0.0..=1.0).contains(&option.total)), "{pointer}");
            offers.reverse();
        }
    }
}
