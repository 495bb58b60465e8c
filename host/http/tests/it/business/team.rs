//! What the platform team decides and reads, and who may see what.

use http::StatusCode;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use super::{Partner, approve, go_live, manifest, profile, team, team_get};
use crate::support::{Ask, Gateway, refused};

#[tokio::test]
async fn reviews_are_decided_once_and_with_all_items() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let sent = partner.post("manifest/*", manifest()).await.json();
    let review = format!("/api/v1/admin/reviews/{}", sent["review"].as_str().expect("a review"));
    let decide = async |order: Value| team(&gateway, &format!("{review}/decision"), order).await;
    let blocked = decide(json!({ "decision": "approve" })).await;
    assert_eq!(blocked.refusal(), refused(409, "NOT_READY"), "there is no profile");
    assert_eq!(decide(json!({ "decision": "reject" })).await.refusal(), refused(400, "INVALID_REQUEST"));
    assert_eq!(decide(json!({ "decision": "maybe" })).await.refusal(), refused(400, "INVALID_REQUEST"));
    let rejected = decide(json!({ "decision": "reject", "notes": "Give a profile first." })).await.json();
    assert_eq!(
        (&rejected["status"], &rejected["decision"]["notes"]),
        (&json!("rejected"), &json!("Give a profile first."))
    );
    assert_eq!(decide(json!({ "decision": "approve" })).await.refusal(), refused(409, "REVIEW_CLOSED"));
    assert_eq!(partner.get("manifest/*").await.json()["latest"]["notes"], "Give a profile first.");

    partner.put("accounts/*/profile", profile()).await;
    partner.post("manifest/*", manifest()).await;
    let approved = approve(&gateway).await;
    assert_eq!((&approved["status"], &approved["privacy_policy"]["live"]), (&json!("approved"), &json!(true)));
    assert_eq!(partner.get("manifest/*").await.json()["approved"]["number"], 2);
    for path in ["/api/v1/admin/reviews/rev_x", "/api/v1/admin/reviews/a%00b"] {
        let answer = gateway.call(Ask::get(path).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{path}");
    }
}

#[tokio::test]
async fn a_review_waits_for_a_privacy_policy_only_so_long() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    partner.put("accounts/*/profile", profile()).await;
    let sent = partner.post("manifest/*", manifest()).await.json();
    let review = format!("/api/v1/admin/reviews/{}", sent["review"].as_str().expect("a review"));
    let policy = async |query: &str| {
        let view = team_get(&gateway, &format!("{review}{query}")).await;
        let items = view["checklist"].as_array().expect("items");
        items.iter().find(|item| item["code"] == "PRIVACY_POLICY").expect("an item")["state"].clone()
    };
    gateway.kept.pages.hold();
    assert_eq!(policy("?wait_ms=0").await, "by_hand", "it is not there yet");
    gateway.kept.pages.release();
    // What was given up waiting for went on.
    while policy("?wait_ms=0").await == "by_hand" {
        tokio::task::yield_now().await;
    }
    assert_eq!((policy("?wait_ms=0").await, gateway.kept.pages.asked()), (json!("passed"), 1));
    gateway.kept.pages.answer(404, 4_000, "text/html");
    assert_eq!(policy("?wait_ms=10000").await, "passed", "it was seen just now");
    assert_eq!(policy("").await, "failed", "it is fetched anew");
    for query in ["?wait_ms=10001", "?wait_ms=-1", "?wait_ms=soon", "?wait=1"] {
        let answer = gateway.call(Ask::get(&format!("{review}{query}")).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
}

#[tokio::test]
async fn no_partner_sees_or_touches_another() {
    let gateway = Gateway::new().await;
    let one = Partner::sign_up(&gateway).await;
    let other = Partner::of(&gateway, "ravi@farcars.example").await;
    assert_ne!(one.id, other.id);
    let intruder = Partner { gateway: &gateway, id: one.id.clone(), token: other.token.clone() };
    assert_eq!(intruder.get("accounts/*").await.refusal(), refused(403, "FORBIDDEN"));
    assert_eq!(intruder.post("credentials/*", json!({})).await.refusal(), refused(403, "FORBIDDEN"));
    let nobody = Partner { gateway: &gateway, id: "ptr_0000000000000000".to_owned(), token: other.token.clone() };
    assert_eq!(nobody.get("accounts/*").await.refusal(), refused(403, "FORBIDDEN"), "nothing tells who exists");
    let search = Ask::json("/api/v1/intents/test.find_things/search", "{}");
    let answer = gateway.call(search.header("authorization", &format!("Bearer {}", one.token))).await;
    assert_eq!(answer.refusal(), refused(403, "FORBIDDEN"));
}

#[tokio::test]
async fn an_admin_acts_for_a_partner_and_the_log_names_the_admin() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let issue = Ask::json(&partner.path("credentials/*"), "{}").role(Role::Admin);
    assert_eq!(gateway.call(issue).await.status, StatusCode::CREATED);
    let log = team_get(&gateway, &format!("/api/v1/admin/audit?subject={}", partner.id)).await;
    let entries = log["entries"].as_array().expect("entries");
    let seen: Vec<_> = entries.iter().map(|entry| (&entry["action"], &entry["actor"]["role"])).collect();
    assert_eq!(seen, [(&json!("account.opened"), &json!("partner")), (&json!("credentials.issued"), &json!("admin"))]);
    assert_eq!(entries[1]["actor"]["subject"], "tester");
    assert!(entries[1]["detail"]["client_id"].is_string());
    let nobody = gateway.call(Ask::json("/api/v1/business/tier1/credentials/ptr_none", "{}").role(Role::Admin)).await;
    assert_eq!(nobody.refusal(), refused(404, "NOT_FOUND"));
}

#[tokio::test]
async fn the_audit_log_is_read_in_pages_and_verified() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    go_live(&partner).await;
    let count = gateway.kept.store.log().len() as u64;
    assert!(count > 6);
    let first = team_get(&gateway, "/api/v1/admin/audit?limit=2").await;
    assert_eq!((&first["entries"][1]["seq"], &first["next"]), (&json!(2), &json!(2)));
    let second = team_get(&gateway, "/api/v1/admin/audit?after=2&limit=500").await;
    assert_eq!((&second["entries"][0]["seq"], &second["next"]), (&json!(3), &Value::Null));
    let verified = team_get(&gateway, "/api/v1/admin/audit/verify").await;
    assert_eq!((&verified["ok"], &verified["entries"]), (&json!(true), &json!(count)));
    gateway.kept.store.forge_log(|log| log[2].action.push('x'));
    let verified = team_get(&gateway, "/api/v1/admin/audit/verify").await;
    assert_eq!((&verified["ok"], &verified["entries"]), (&json!(false), &json!(2)));
    assert!(verified["problem"].as_str().is_some_and(|problem| problem.contains('3')));
}

#[tokio::test]
async fn lists_come_in_pages() {
    let gateway = Gateway::new().await;
    for n in 0..5 {
        let partner = Partner::of(&gateway, &format!("asha@coolcar{n}.example")).await;
        partner.post("manifest/*", manifest()).await;
    }
    for (path, list) in [("accounts", "accounts"), ("reviews", "reviews")] {
        let mut after = String::new();
        let mut seen = Vec::new();
        loop {
            let page = team_get(&gateway, &format!("/api/v1/admin/{path}?limit=2{after}")).await;
            seen.extend(page[list].as_array().expect("a list").clone());
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!(seen.len(), 5, "{path}");
    }
    let refused_query = async |query: &str| {
        let answer = gateway.call(Ask::get(&format!("/api/v1/admin/{query}")).role(Role::Admin)).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    };
    for query in [
        "accounts?limit=0",
        "accounts?limit=501",
        "accounts?limit=x",
        "accounts?status=open",
        "accounts?after=a%00",
        "reviews?status=opened",
        "reviews?offset=1",
        "connections?status=dead",
        "audit?after=-1",
        "audit?after=18446744073709551615",
        "audit?limit=1000",
        "audit?subject=a%00b",
    ] {
        refused_query(query).await;
    }
}

#[tokio::test]
async fn a_store_that_fails_is_a_fault_without_detail() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    gateway.kept.store.break_engine("cannot write /secret/gateway.db");
    let answer = partner.get("accounts/*").await;
    assert_eq!(answer.refusal(), refused(500, "INTERNAL_ERROR"));
    assert!(!answer.text().contains("secret"));
}
