//! Answers that come in pieces: an order that is followed, and a search that shows what it has while it waits for the rest.

mod following;
mod partner;
pub(crate) mod reader;
mod sdk;
mod searching;
mod slow;

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, PartnerEntry, built};

/// The intent of the test contract that has a track tool.
const INTENT: &str = "mobility.book_ride";
const TRACK: &str = "track_ride";

/// A gateway with the contract of rides and these partners.
fn gateway(partners: &[(&str, &str)], extra: &str) -> Gateway {
    Gateway::start(&options(partners, extra))
}

fn options(partners: &[(&str, &str)], extra: &str) -> GatewayOptions {
    let entry = |(id, url): &(&str, &str)| {
        let mut entry = PartnerEntry::new(id, url);
        entry.intents = vec![INTENT.to_owned()];
        entry
    };
    GatewayOptions {
        partners: partners.iter().map(entry).collect(),
        contracts: vec![built("test-contracts/ride-guest.wasm")],
        extra: extra.to_owned(),
        ..GatewayOptions::default()
    }
}

fn path(end: &str) -> String {
    format!("/api/v1/intents/{INTENT}/{end}")
}

/// Books the first ride that is found; a reference to follow it by.
async fn booked(gateway: &Gateway) -> String {
    let found = gateway.post(&path("search"), &json!({})).await;
    assert_eq!(found.status, 200, "{}\n{}", found.body, gateway.log());
    let option = found.body["options"][0]["reference"].as_str().expect("an option");
    let body = json!({"reference": option, "arguments": {}});
    let booked = gateway.post(&path("tools/book_ride"), &body).await;
    assert_eq!(booked.status, 200, "{}\n{}", booked.body, gateway.log());
    booked.body["reference"].as_str().expect("a reference").to_owned()
}

fn of_order(reference: &str) -> Value {
    json!({"reference": reference, "arguments": {}})
}
