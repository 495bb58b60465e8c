//! A caller writes a forbidden field into a request, so that a partner that repeats what it was sent is struck for the caller's words
//! and, after three times, suspended.

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::Scripted;
use crate::search::honest_slots;

const WORDS: &str = r#"{"ad_bid": 1}"#;

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_struck_for_what_a_caller_wrote() {
    // The partner shows the user's own words beside its slot.
    let mut slot = honest_slots().await.swap_remove(0);
    slot["you_wrote"] = WORDS.into();
    let partner = Scripted::with_slots(json!([slot])).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let mut in_a_text = request();
    in_a_text["ac_issue"]["user_description"] = WORDS.into();
    let mut in_a_member = request();
    in_a_member["session_context"] = json!({"platform_session_id": "s", "ad_bid": 1});
    let mut in_the_name = request();
    in_the_name["request_id"] = r#"{"ad_bid": 1, "n": "a"}"#.into();
    for (body, pointer) in [
        (in_a_text, "/ac_issue/user_description"),
        (in_a_member, "/session_context/ad_bid"),
        (in_the_name, "/request_id"),
    ] {
        let refused = gateway.search(&body).await;
        let violation = &refused.body["error"]["violations"][0];
        assert_eq!((refused.status, &violation["pointer"]), (400, &Value::from(pointer)), "{}", refused.body);
    }
    assert_eq!(partner.calls(), 0, "nobody was asked");
    // A partner that writes such words by itself is struck.
    gateway.found(&request()).await;
    let findings = gateway.findings("scripted").await;
    assert!(findings.iter().all(|finding| finding["severity"] == "strike") && findings.len() == 1, "{findings:?}");
}
