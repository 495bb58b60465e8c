//! The contract natively: its shapes, its consistency, and what every ranking must hold. The rules are tested by the
//! cases in `cases/`, on the component.

use contract_sdk::bindings::{Axes, Candidate, Context, Evaluation, Payload};
use contract_sdk::shape::{Described, read_document};
use contract_sdk::testing::{assert_shape, problems};
use contract_sdk::{Report, engine};
use serde_json::{Value, json};

use {{crate}}::{{type}};
use {{crate}}::booking::{Arguments, Booking};
use {{crate}}::completion::Extra;
use {{crate}}::option::Offer;
use {{crate}}::request::Request;

fn sample(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn request() -> Value {
    sample(include_str!("../samples/request.json"))
}

fn offer() -> Value {
    sample(include_str!("../samples/option.json"))
}

fn evaluate(offers: &[Value]) -> Evaluation {
    let context = Context { request_id: "r-1".to_owned(), now_ms: 0 };
    let candidates = offers.iter().zip(0..).map(|(offer, number)| Candidate { number, json: offer.to_string() });
    let declared = Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };
    let payload = Payload { declared, candidates: candidates.collect() };
    engine::evaluate::<{{type}}>(&context, &request().to_string(), &[payload]).unwrap()
}

#[test]
fn the_contract_is_consistent() {
    assert_eq!(problems::<{{type}}>(), Vec::<String>::new());
}

/// Breaks every field and bound of every shape, one at a time.
#[test]
fn every_field() {
    type ReportHere<'a> = Report<'a, Extra>;
    let (booking, report) = (include_str!("../samples/booking.json"), include_str!("../samples/report.json"));
    let arguments = sample(include_str!("../samples/booking-arguments.json"));
    assert_shape(&Request::DESC, &request(), |json| read_document::<Request>(json).map(drop));
    assert_shape(&Offer::DESC, &offer(), |json| read_document::<Offer>(json).map(drop));
    assert_shape(&Arguments::DESC, &arguments, |json| read_document::<Arguments>(json).map(drop));
    assert_shape(&Booking::DESC, &sample(booking), |json| read_document::<Booking>(json).map(drop));
    assert_shape(&ReportHere::DESC, &sample(report), |json| read_document::<ReportHere>(json).map(drop));
}

/// The answer of a partner: a cheap offer, a soon one, and one that nobody is shown.
#[test]
fn the_sample_answer_is_ranked() {
    let answer = sample(include_str!("../samples/search-answer.json"));
    let evaluation = evaluate(answer["offers"].as_array().unwrap());
    assert_eq!((evaluation.ranked.len(), evaluation.dropped.len()), (2, 1));
    assert_eq!(evaluation.dropped[0].violations[0].code, "UNVERIFIED");
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
            let ranked = evaluate(&offers).ranked;
            let ids: Vec<_> = ranked.iter().map(|option| option.id.as_str()).collect();
            assert_eq!(ids, ["better", "worse"], "{pointer}");
            assert!(ranked.iter().all(|option| (0.0..=1.0).contains(&option.total)), "{pointer}");
            offers.reverse();
        }
    }
}
