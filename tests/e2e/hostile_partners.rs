//! Hostile partners: each fault costs that partner its place in the answer, says why, and nothing else.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::{Behaviour, Scripted};
use crate::search::honest_slots;

/// Whether a fault is one of the server, not of what it answers.
fn is_down(code: &str) -> bool {
    ["PARTNER_TIMEOUT", "PARTNER_PROTOCOL_ERROR", "PARTNER_UNREACHABLE", "PARTNER_HTTP_ERROR", "PARTNER_REDIRECT"]
        .contains(&code)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_that_partners_own() {
    let slots = honest_slots().await;
    let options_honest = slots.len().min(15);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let faults = [
        ("never-answers", Behaviour::Hang, "PARTNER_TIMEOUT"),
        ("huge", Behaviour::Huge(100 << 20), "PARTNER_BODY_TOO_LARGE"),
        ("endless", Behaviour::Endless, "PARTNER_BODY_TOO_LARGE"),
        ("no-json", Behaviour::Body("<html>hello</html>"), "PARTNER_PROTOCOL_ERROR"),
        ("wrong-message", Behaviour::Body("{\"hello\": 1}"), "PARTNER_PROTOCOL_ERROR"),
        ("closes", Behaviour::CloseMidBody, "PARTNER_UNREACHABLE"),
        ("failing", Behaviour::Status(500), "PARTNER_HTTP_ERROR"),
        ("redirects", Behaviour::Redirect("http://169.254.169.254/latest".to_owned()), "PARTNER_REDIRECT"),
        ("text", Behaviour::Text("sorry, closed today".to_owned()), "PARTNER_PAYLOAD_INVALID"),
        ("shape", Behaviour::Payload(json!({"quotes": []})), "PARTNER_PAYLOAD_INVALID"),
        ("deep", Behaviour::Text(deep), "PARTNER_PAYLOAD_INVALID"),
        ("outside", Behaviour::Payload(json!({"slots": [], "ad_bid": 1})), "FORBIDDEN_FIELD"),
    ];
    let mut running = Vec::new();
    let honest = Scripted::with_slots(slots.into()).await;
    let mut partners = vec![honest.entry("honest")];
    for (id, behaviour, _) in &faults {
        let partner = Scripted::start(behaviour.clone()).await;
        partners.push(partner.entry(id));
        running.push(partner);
    }
    let gateway = Gateway::start(&GatewayOptions {
        partners,
        contracts: vec![ac_contract()],
        extra: "[search]\ntimeout_ms = 2000\n".to_owned(),
        ..GatewayOptions::default()
    });

    let mut after_first = None;
    for round in 0..4 {
        let start = Instant::now();
        let answer = gateway.found(&request()).await;
        assert!(start.elapsed() < Duration::from_secs(10), "the deadline holds");
        assert_eq!(answer["options"].as_array().map(Vec::len), Some(options_honest), "round {round}");
        for (id, _, code) in &faults {
            let outcomes = answer["partners"].as_array().expect("a list");
            let outcome = outcomes.iter().find(|outcome| outcome["partner"] == *id).expect("each is told");
            let told = (outcome["status"].as_str(), outcome["code"].as_str());
            // Whoever is down again and again is left alone for a while.
            let is_left_alone = round > 0 && is_down(code) && told == (Some("left_out"), Some("PARTNER_DOWN"));
            assert!(is_left_alone || told == (Some("failed"), Some(code)), "round {round}, {id}: {outcome}");
            assert!(outcome["message"].as_str().is_some_and(|message| !message.is_empty()));
        }
        match after_first {
            None => after_first = Some((gateway.server.resident_bytes(), gateway.server.open_files())),
            Some((memory, files)) => {
                let (now_memory, now_files) = (gateway.server.resident_bytes(), gateway.server.open_files());
                assert!(now_files <= files + faults.len(), "files grow: {files} to {now_files}");
                assert!(now_memory < memory + (64 << 20), "memory grows: {memory} to {now_memory}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_refused_even_in_development() {
    let honest = Scripted::with_slots(json!([])).await;
    let private =
        ["https://10.0.0.1/mcp", "https://169.254.169.254/mcp", "https://[fd00::1]/mcp", "https://192.168.1.1/mcp"];
    let mut partners = vec![honest.entry("honest")];
    for (index, url) in private.iter().enumerate() {
        partners.push(crate::harness::PartnerEntry::new(&format!("private-{index}"), url));
    }
    let gateway =
        Gateway::start(&GatewayOptions { partners, contracts: vec![ac_contract()], ..GatewayOptions::default() });
    let answer = gateway.found(&request()).await;
    for outcome in answer["partners"].as_array().expect("a list") {
        let expected = if outcome["partner"] == "honest" { json!(null) } else { json!("PARTNER_ADDRESS_REFUSED") };
        assert_eq!(outcome["code"], expected, "{outcome}");
    }
}
