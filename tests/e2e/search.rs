//! The main job over HTTP: refusals before any partner is called, drops and findings on real payloads.

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, request, rust_partner};
use crate::scripted::{Behaviour, Scripted};

/// The slots that the honest catalogue offers for a request: a base for slots that break one rule.
pub(crate) async fn honest_slots() -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let partner = rust_partner("oem", folder.path());
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![crate::harness::PartnerEntry::new("oem", &partner.url)],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let answer = gateway.found(&request()).await;
    let options = answer["options"].as_array().expect("a list");
    assert!(options.len() >= 3, "{answer}");
    options.iter().map(|option| option["option"].clone()).collect()
}

async fn gateway_with(slots: Value) -> (Gateway, Scripted) {
    let partner = Scripted::with_slots(slots).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    (gateway, partner)
}

fn with(slot: &Value, id: &str, pointer: &str, value: Value) -> Value {
    let mut slot = slot.clone();
    slot["slot_id"] = id.into();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    slot.pointer_mut(parent).expect("the parent is there")[key] = value;
    slot
}

fn ids(answer: &Value) -> Vec<&str> {
    let options = answer["options"].as_array().expect("a list");
    options.iter().map(|option| option["option"]["slot_id"].as_str().expect("a string")).collect()
}

/// `(option_id, code, pointer)` of everything dropped.
fn dropped(answer: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let dropped = answer["dropped"].as_array().expect("a list");
    dropped
        .iter()
        .flat_map(|one| {
            let violations = one["violations"].as_array().expect("a list");
            violations.iter().map(|v| (text(&one["option_id"]), text(&v["code"]), text(&v["pointer"])))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_ranks_shows_drops_and_refers() {
    let slot = honest_slots().await.swap_remove(0);
    let slots = json!([
        with(&slot, "fine", "/ratings/review_count", json!(7)),
        with(&slot, "uncertified", "/provider/refrigerant_handling_certified", json!(false)),
        with(&slot, "forbidden", "/provider/ad_bid", json!(3)),
        with(&slot, "far", "/provider/distance_from_user_km", json!(31)),
        with(&slot, "wordy", "/estimated_price/gst_inr", json!("120")),
        with(&slot, "fine", "/ratings/review_count", json!(8)),
        with(&slot, "sum", "/estimated_price/total_estimate_inr", json!(99_999)),
    ]);
    let (gateway, _partner) = gateway_with(slots).await;
    let answer = gateway.found(&request()).await;

    let mut ranked = ids(&answer);
    ranked.sort_unstable();
    assert_eq!(ranked, ["fine", "sum"]);
    let mut reasons = dropped(&answer);
    reasons.sort();
    let expect = |id: &str, code: &str, pointer: &str| (id.to_owned(), code.to_owned(), pointer.to_owned());
    assert_eq!(
        reasons,
        [
            expect("far", "OUT_OF_RANGE", "/provider/distance_from_user_km"),
            expect("fine", "DUPLICATE_OPTION", "/slot_id"),
            expect("forbidden", "FORBIDDEN_FIELD", "/provider/ad_bid"),
            expect("uncertified", "UNCERTIFIED", "/provider/refrigerant_handling_certified"),
            expect("wordy", "WRONG_TYPE", "/estimated_price/gst_inr"),
        ]
    );

    let best = &answer["options"][0];
    assert!(best["reference"].as_str().is_some_and(|reference| reference.len() > 40));
    assert_eq!(best["bookable"], true);
    assert!(best["card"]["header"].is_string());
    for axis in ["time", "taste", "budget", "safety"] {
        assert!(best["axes"][axis].as_f64().is_some_and(|score| (0.0..=1.0).contains(&score)));
    }
    assert_eq!(answer["intent"], "auto.book_ac_service");
    assert_eq!(answer["contract"]["version"], "1.0.0");
    assert_eq!(answer["contract"]["digest"].as_str().map(str::len), Some(64));
    assert_eq!(answer["widget"]["preferred"], "AcServiceWidget");
    assert_eq!(answer["partners"][0]["status"], "answered");
    assert_eq!(answer["partners"][0]["options"], 7);

    let findings = gateway.findings("scripted").await;
    let has = |code: &str, severity: &str| {
        findings.iter().any(|f| f["violation"]["code"] == code && f["severity"] == severity)
    };
    assert!(has("FORBIDDEN_FIELD", "strike") && has("PRICE_SUM", "note") && has("UNCERTIFIED", "drop"), "{findings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_refused_with_everything_and_calls_nobody() {
    let (gateway, partner) = gateway_with(json!([])).await;
    let mut bad = request();
    bad["vehicle"]["type"] = "two_wheeler".into();
    bad["ac_issue"]["user_description"] = "x".repeat(501).into();
    bad["service_preferences"].as_object_mut().expect("an object").remove("doorstep_acceptable");
    let answer = gateway.search(&bad).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.body["error"]["code"], "INVALID_REQUEST");
    let violations = answer.body["error"]["violations"].as_array().expect("a list");
    let mut found: Vec<_> =
        violations.iter().map(|v| (v["pointer"].as_str().unwrap_or(""), v["code"].as_str().unwrap_or(""))).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("/ac_issue/user_description", "TOO_LONG"),
            ("/service_preferences/doorstep_acceptable", "REQUIRED"),
            ("/vehicle/type", "NOT_IN_VOCABULARY"),
        ]
    );
    assert_eq!(partner.calls(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_intent_and_an_empty_result_have_their_codes() {
    let (gateway, partner) = gateway_with(json!([])).await;
    let answer = gateway.post("/api/v1/intents/auto.book_ac_services/search", &request()).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (404, &json!("INVALID_INTENT")));
    let answer = gateway.found(&request()).await;
    assert_eq!((&answer["code"], &answer["options"]), (&json!("NO_SLOTS_IN_WINDOW"), &json!([])));
    assert_eq!(partner.calls(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_utterance_finds_its_intent() {
    let (gateway, _partner) = gateway_with(json!([])).await;
    let classified = gateway.post("/api/v1/classify", &json!({"utterance": "my car's AC blows warm air"})).await.body;
    assert_eq!((&classified["decision"], &classified["intent"]), (&json!("intent"), &json!("auto.book_ac_service")));
    let classified = gateway.post("/api/v1/classify", &json!({"utterance": "order a pizza"})).await.body;
    assert_eq!((&classified["decision"], &classified["intent"]), (&json!("none"), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_partner_gets_the_request_as_it_came() {
    let partner = Scripted::start(Behaviour::Computed(std::sync::Arc::new(|arguments| {
        let sound = arguments["request_id"] == "r-77" && arguments["extra"] == json!({"kept": [1, 2.50]});
        assert!(sound, "{arguments}");
        json!({"result_token": "t", "expires_at": "2099-01-01T00:00:00Z", "slots": []})
    })))
    .await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let mut body = request();
    body["request_id"] = "r-77".into();
    body["extra"] = json!({"kept": [1, 2.50]});
    let answer = gateway.found(&body).await;
    assert_eq!((&answer["request_id"], &answer["partners"][0]["status"]), (&json!("r-77"), &json!("answered")));
}
