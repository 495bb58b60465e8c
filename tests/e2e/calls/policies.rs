//! The contract's policies over HTTP: a write is made once under its key, a failed search is tried again, rates hold, answers
//! are served again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{CREATE, booking, call};
use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, ac_contract, request, rust_partner};
use crate::scripted::{Behaviour, Scripted};
use crate::search::honest_slots;

fn code(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.body["error"]["code"].as_str())
}

/// A gateway with the rates of the contracts, and one scripted partner.
fn gateway(partner: &Scripted) -> Gateway {
    Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        extra: "[outbound]\nrate_limits = true\n".to_owned(),
        ..GatewayOptions::default()
    })
}

fn asked(request_id: &str) -> Value {
    let mut request = request();
    request["request_id"] = request_id.into();
    request
}

async fn slots() -> Value {
    json!({"result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "slots": honest_slots().await})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_is_made_once_under_its_key_over_a_restart_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let partner = rust_partner("oem", folder.path());
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![PartnerEntry::new("oem", &partner.url)],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let found = gateway.found(&request()).await;
    let options: Vec<&Value> =
        found["options"].as_array().expect("a list").iter().filter(|option| option["bookable"] == true).collect();
    let reference = |at: usize| options[at]["reference"].as_str().expect("a text");
    let first = call(&gateway, CREATE, reference(0), booking("key-1")).await;
    assert_eq!(first.status, 200, "{}", first.body);
    let booked = &first.body["payload"]["booking_id"];

    let again = call(&gateway, CREATE, reference(0), booking("key-1")).await;
    assert_eq!((again.status, &again.body["payload"]["booking_id"]), (200, booked), "{}", again.body);
    let other = call(&gateway, CREATE, reference(1), booking("key-1")).await;
    assert_eq!(code(&other), (409, Some("IDEMPOTENCY_CONFLICT")), "{}", other.body);

    let gateway = gateway.restart();
    let again = call(&gateway, CREATE, reference(0), booking("key-1")).await;
    assert_eq!((again.status, &again.body["payload"]["booking_id"]), (200, booked), "{}", again.body);
    let other = call(&gateway, CREATE, reference(1), booking("key-1")).await;
    assert_eq!(code(&other), (409, Some("IDEMPOTENCY_CONFLICT")), "{}", other.body);

    // With the partner gone, what was booked is still told.
    assert!(partner.stop());
    let told = call(&gateway, CREATE, reference(0), booking("key-1")).await;
    assert_eq!((told.status, &told.body["payload"]["booking_id"]), (200, booked), "{}", told.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_search_within_a_minute_asks_the_partner_once() {
    let partner = Scripted::start(Behaviour::Payload(slots().await)).await;
    let gateway = gateway(&partner);
    let first = gateway.found(&asked("same")).await;
    let again = gateway.found(&asked("same")).await;
    assert_eq!(first["options"][0]["option"], again["options"][0]["option"]);
    assert_eq!(partner.calls(), 1);
    gateway.found(&asked("another")).await;
    assert_eq!(partner.calls(), 2, "another request is another search");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_is_asked_no_more_often_than_its_contract_says() {
    let partner = Scripted::start(Behaviour::Payload(slots().await)).await;
    let gateway = gateway(&partner);
    for number in 0..60 {
        let found = gateway.found(&asked(&format!("r-{number}"))).await;
        assert_eq!(found["partners"][0]["status"], "answered", "{number}: {found}");
    }
    let found = gateway.found(&asked("one-more")).await;
    assert_eq!(
        (&found["partners"][0]["status"], &found["partners"][0]["code"]),
        (&json!("left_out"), &json!("RATE_LIMITED"))
    );
    assert_eq!(found["code"], "NO_PARTNER_ANSWERED");
    assert_eq!(partner.calls(), 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_search_is_tried_twice_again_and_a_failed_booking_not() {
    let (calls, payload) = (Arc::new(AtomicUsize::new(0)), slots().await);
    let counted = calls.clone();
    let failing = move |arguments: &Value| {
        let is_booking = arguments["slot_id"].is_string();
        let before = counted.fetch_add(1, Ordering::Relaxed);
        if is_booking || before < 2 { Err(json!({"code": -32603, "message": "down"})) } else { Ok(payload.clone()) }
    };
    let partner = Scripted::start(Behaviour::Answers(Arc::new(failing))).await;
    let gateway = gateway(&partner);
    let found = gateway.found(&asked("r-1")).await;
    assert_eq!(found["partners"][0]["status"], "answered", "{found}");
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let reference = found["options"][0]["reference"].as_str().expect("a text");
    let failed = call(&gateway, CREATE, reference, booking("key-1")).await;
    assert_eq!(code(&failed), (500, Some("INTERNAL_ERROR")), "{}", failed.body);
    assert_eq!(calls.load(Ordering::Relaxed), 4, "the contract states no retry for it");
}
