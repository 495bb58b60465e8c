//! Notices: published and withdrawn by the team, seen by whom they concern.

use http::StatusCode;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use super::{Partner, manifest, team, team_get};
use crate::support::{Ask, Gateway, INTENT, refused};

const NOTICES: &str = "/api/v1/admin/notices";
/// Long after the clock of these tests.
const AHEAD: &str = "2027-12-01T00:00:00Z";

fn notice(intents: Value) -> Value {
    json!({"kind": "contract", "title": "Tools change", "text": "Add `x`.", "intents": intents, "takes_effect_at": AHEAD})
}

#[tokio::test]
async fn a_notice_is_published_seen_by_whom_it_concerns_and_withdrawn() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let other = Partner::of(&gateway, "ravi@farcars.example").await;
    partner.post("manifest/*", manifest()).await;
    let published = team(&gateway, NOTICES, notice(json!([INTENT]))).await;
    assert_eq!(published.status, StatusCode::OK, "{}", published.json());
    let published = published.json();
    let id = published["notice_id"].as_str().expect("named").to_owned();
    assert_eq!((&published["state"], &published["intents"]), (&json!("upcoming"), &json!([INTENT])));
    assert_eq!(team(&gateway, NOTICES, notice(json!([INTENT]))).await.json()["notice_id"], json!(id), "the same");

    let seen = partner.get("accounts/*/notices").await.json();
    assert_eq!((&seen["notices"][0]["notice_id"], &seen["notices"][0]["takes_effect_at"]), (&json!(id), &json!(AHEAD)));
    for hidden in ["published_by", "withdrawn_by", "told"] {
        assert!(seen["notices"][0].get(hidden).is_none(), "{hidden} is the team's");
    }
    assert_eq!(other.get("accounts/*/notices").await.json(), json!({"notices": []}));

    let place = format!("{NOTICES}/{id}");
    assert_eq!(team_get(&gateway, &place).await["told"][0]["stage"], "published");
    assert_eq!(team_get(&gateway, NOTICES).await["notices"][0]["notice_id"], json!(id));
    let withdraw = format!("{place}/withdraw");
    assert_eq!(team(&gateway, &withdraw, json!({"reason": " "})).await.refusal(), refused(400, "INVALID_REQUEST"));
    let withdrawn = team(&gateway, &withdraw, json!({"reason": "it comes later"})).await.json();
    assert_eq!(
        (&withdrawn["state"], &withdrawn["withdrawn"]["reason"]),
        (&json!("withdrawn"), &json!("it comes later"))
    );
    assert_eq!(partner.get("accounts/*/notices").await.json()["notices"][0]["state"], "withdrawn");
    let again = team(&gateway, NOTICES, notice(json!([INTENT]))).await;
    assert_eq!(again.refusal(), refused(409, "NOTICE_WITHDRAWN"));
}

#[tokio::test]
async fn a_notice_with_faults_or_by_others_is_refused() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let faults = team(&gateway, NOTICES, notice(json!([]))).await;
    assert_eq!(faults.refusal(), refused(400, "INVALID_REQUEST"));
    let mut late = notice(json!([INTENT]));
    late["takes_effect_at"] = json!("2020-01-01T00:00:00Z");
    let late = team(&gateway, NOTICES, late).await;
    assert_eq!(late.refusal(), refused(400, "INVALID_REQUEST"));
    assert_eq!(late.json()["error"]["violations"][0]["code"], "NOTICE_TOO_SHORT", "{}", late.json());
    let body = notice(json!([INTENT])).to_string();
    let bearer = format!("Bearer {}", partner.token);
    let by_partner = gateway.call(Ask::json(NOTICES, body.clone()).header("authorization", &bearer)).await;
    assert_eq!(by_partner.refusal(), refused(403, "FORBIDDEN"));
    let by_orchestrator = gateway.call(Ask::json(NOTICES, body).role(Role::Orchestrator)).await;
    assert_eq!(by_orchestrator.refusal(), refused(403, "FORBIDDEN"));
    assert_eq!(team_get(&gateway, NOTICES).await, json!({"notices": [], "next": null}));
    for path in [format!("{NOTICES}/ntc_0"), format!("{NOTICES}/a%00b")] {
        let answer = gateway.call(Ask::get(&path).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{path}");
    }
}
