//! What a reference holds: whoever sees one on its way, an assistant above all, reads the partner, its token, the contract, the
//! search and a mark of the user in it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::calls::{booking, call};
use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::{Behaviour, Scripted};
use crate::search::honest_slots;

const PARTNER: &str = "the-partner";
const TOKEN: &str = "a token that nobody else should see";

/// All that can be read out of a reference without a key: its text, and each part of it decoded.
fn readable(reference: &str) -> String {
    let parts = reference.split(['_', '.']).filter_map(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let decoded: Vec<String> = parts.map(|part| String::from_utf8_lossy(&part).into_owned()).collect();
    format!("{reference} {}", decoded.join(" "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_tells_its_intent_and_nothing_else() {
    let slots = honest_slots().await;
    let payload = json!({"result_token": TOKEN, "expires_at": "2099-01-01T00:00:00Z", "slots": slots});
    let partner = Scripted::start(Behaviour::Payload(payload)).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry(PARTNER)],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let found = gateway.found(&request()).await;
    let option = &found["options"][0];
    let reference = option["reference"].as_str().expect("a text");
    let text = readable(reference);
    assert!(text.contains("auto.book_ac_service"), "{text}");
    let slot = option["option"]["slot_id"].as_str().expect("a text");
    let receipt = found["receipt"].as_str().expect("a text");
    let digest = found["contract"]["digest"].as_str().expect("a text");
    for hidden in [PARTNER, TOKEN, slot, receipt, digest, "\"u\""] {
        assert!(!text.contains(hidden), "{hidden} can be read in {text}");
    }
    // It still stands for the option: the partner is asked, and knows its token.
    let answer = call(&gateway, "create_ac_service_booking", reference, booking("r1")).await;
    assert_ne!(answer.body["error"]["code"], Value::from("INVALID_REFERENCE"), "{}", answer.body);
}
