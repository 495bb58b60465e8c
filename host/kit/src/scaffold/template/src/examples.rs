//! The cases that must hold before a version goes live: an accepted and a refused one of each function. The gateway
//! runs them; a version that breaks its own word is not taken.

use contract_sdk::bindings::Example;
use contract_sdk::{example, sample_text};
use serde_json::{Value, json};

use crate::tables::{CREATE, SEARCH};

const REQUEST: &str = sample_text!("request");
const OFFER: &str = sample_text!("option");
const ARGUMENTS: &str = sample_text!("booking-arguments");
const BOOKING: &str = sample_text!("booking");
const REPORT: &str = sample_text!("report");

pub(crate) fn examples() -> Vec<Example> {
    let (search, create) = (SEARCH.policy.name, CREATE.name);
    let quoted = || Some(OFFER.to_owned());
    let offer = |id: &str, changes: &[(&str, Value)]| with(&with(OFFER, changes), &[("/offer_id", json!(id))]);
    vec![
        example::classify("what it is for", "I need a {{words}}").accepts(),
        example::classify("a job is something else", "a job as a {{words}}").refuses(&[]),
        example::request("a sound request", search, REQUEST).accepts(),
        example::request("a kind that there is not", search, with(REQUEST, &[("/kind", json!("other"))]))
            .refuses(&["NOT_IN_VOCABULARY"]),
        example::search(
            "cheaper first; unverified and too dear not at all",
            REQUEST,
            [
                offer("dear", &[("/total_inr", json!(900))]),
                offer("cheap", &[]),
                offer("unverified", &[("/provider/verified", json!(false))]),
                offer("too-dear", &[("/total_inr", json!(100_000))]),
            ],
        )
        .ranks(&["cheap", "dear"], &["UNVERIFIED", "OVER_BUDGET"]),
        example::search("a request that is none", "{}", []).refuses(&["REQUIRED"]),
        example::exchange("a booking as offered", create, ARGUMENTS, BOOKING, quoted()).accepts(),
        example::exchange(
            "a price that was raised",
            create,
            ARGUMENTS,
            with(BOOKING, &[("/total_inr", json!(100_000))]),
            quoted(),
        )
        .refuses(&["PRICE_RAISED"]),
        example::completion("a sound report", REPORT, quoted()).accepts(),
        example::completion("an amount below a paisa", with(REPORT, &[("/amount_inr", json!(0.001))]), None)
            .refuses(&["BAD_FORMAT"]),
    ]
}

/// A sample with some of its values changed.
fn with(sample: &str, changes: &[(&str, Value)]) -> String {
    example::with(example::parse(sample), changes).to_string()
}
