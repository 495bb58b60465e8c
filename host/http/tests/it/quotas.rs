//! How often callers may ask, over all routes, and what answers say of it.

use std::num::NonZeroU32;

use http::StatusCode;
use intent_gateway_http::auth::Role;
use intent_gateway_http::{Quota, Quotas, Rates};
use serde_json::json;

use crate::business::{Partner, profile};
use crate::support::{Answer, Ask, Gateway, NOW_MS, RATES, refused};

fn per_minute(requests: u32) -> Quota {
    Quota { per_minute: NonZeroU32::new(requests), per_day: None }
}

fn field(answer: &Answer, name: &str) -> Option<String> {
    answer.headers.get(name).map(|value| value.to_str().expect("text").to_owned())
}

#[tokio::test]
async fn a_quota_is_one_over_all_routes_and_every_answer_says_what_is_left() {
    let quotas = Quotas { orchestrator: per_minute(4), ..RATES.quotas };
    let gateway = Gateway::with(Rates { quotas, ..RATES }).await;
    let token = gateway.token_of(Role::Orchestrator, "one");
    let ask = async |ask: Ask, token: &str| gateway.call(ask.header("authorization", &format!("Bearer {token}"))).await;
    let left = |answer: &Answer| field(answer, "ratelimit");
    let says = |left: u32| Some(format!("\"orchestrator-minute\";r={left};t=60"));

    let listed = ask(Ask::get("/api/v1/intents"), &token).await;
    assert_eq!((listed.status, left(&listed)), (StatusCode::OK, says(3)));
    assert_eq!(field(&listed, "ratelimit-policy").as_deref(), Some("\"orchestrator-minute\";q=4;w=60"));
    let unknown = ask(Ask::get("/api/v1/intents/no.such"), &token).await;
    assert_eq!((unknown.status, left(&unknown)), (StatusCode::NOT_FOUND, says(2)), "a refusal says so, too");
    let forbidden = ask(Ask::get("/api/v1/admin/partners"), &token).await;
    let counted = (StatusCode::FORBIDDEN, says(1));
    assert_eq!((forbidden.status, left(&forbidden)), counted, "what a token does not open makes work, too");
    assert_eq!(left(&ask(Ask::json("/api/v1/classify", r#"{"utterance": "hello"}"#), &token).await), says(0));

    for path in ["/api/v1/intents", "/api/v1/orders"] {
        let answer = ask(Ask::get(path), &token).await;
        assert_eq!((answer.refusal(), left(&answer)), (refused(429, "RATE_LIMITED"), says(0)));
        assert_eq!(field(&answer, "retry-after").as_deref(), Some("60"));
    }
    let other = ask(Ask::get("/api/v1/intents"), &gateway.token_of(Role::Orchestrator, "other")).await;
    assert_eq!((other.status, left(&other)), (StatusCode::OK, says(3)));
    let admin = ask(Ask::get("/api/v1/intents"), &gateway.token_of(Role::Admin, "one")).await;
    assert_eq!((admin.status, left(&admin)), (StatusCode::OK, None));
    gateway.clock.set(NOW_MS + 60_000);
    assert_eq!(left(&ask(Ask::get("/api/v1/intents"), &gateway.token_of(Role::Orchestrator, "one")).await), says(3));
}

#[tokio::test]
async fn each_token_and_each_account_has_its_quota() {
    let quotas = Quotas { orchestrator: per_minute(9), account: per_minute(2), token: per_minute(1) };
    let gateway = Gateway::with(Rates { quotas, ..RATES }).await;
    let status = async |token: &str| {
        let ask = Ask::get("/api/v1/intents").header("authorization", &format!("Bearer {token}"));
        gateway.call(ask).await.status.as_u16()
    };
    let orchestrators = [(); 2].map(|()| gateway.token_of(Role::Orchestrator, "one"));
    assert_eq!((status(&orchestrators[0]).await, status(&orchestrators[0]).await), (200, 429));
    assert_eq!(status(&orchestrators[1]).await, 200, "its caller has more");
    let partners = [(); 3].map(|()| gateway.token_of(Role::Partner, "ptr_a"));
    let mut statuses = Vec::new();
    for token in &partners {
        statuses.push(status(token).await);
    }
    assert_eq!(statuses, [200, 200, 429], "of each token one, of the account two");
}

#[tokio::test]
async fn routes_without_a_token_say_what_is_left_as_well() {
    let gateway = Gateway::with(Rates { open_per_minute: NonZeroU32::new(2).expect("not zero"), ..RATES }).await;
    let body = json!({ "email": "nobody@else.example" }).to_string();
    let ask = async || gateway.call(Ask::json("/api/v1/business/sign-in", body.clone())).await;
    let first = ask().await;
    assert_eq!(field(&first, "ratelimit-policy").as_deref(), Some("\"client-minute\";q=2;w=60"));
    assert_eq!(field(&first, "ratelimit").as_deref(), Some("\"client-minute\";r=1;t=30"));
    ask().await;
    let refused_one = ask().await;
    assert_eq!(refused_one.refusal(), refused(429, "RATE_LIMITED"));
    assert_eq!(field(&refused_one, "ratelimit").as_deref(), Some("\"client-minute\";r=0;t=60"));
}

#[tokio::test]
async fn an_account_makes_the_audit_log_grow_so_fast_and_no_faster() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let change = async |round: u64| {
        let mut profile = profile();
        profile["legal_name"] = json!(format!("CoolCar Service {round}"));
        partner.put("accounts/*/profile", profile).await
    };
    for round in 0..2_000 {
        assert_eq!(change(round).await.status, StatusCode::OK, "{round}");
    }
    let refused_one = change(2_000).await;
    assert_eq!(refused_one.refusal(), refused(429, "RATE_LIMITED"));
    assert_eq!(field(&refused_one, "retry-after").as_deref(), Some("5"));
    assert_eq!(partner.get("accounts/*").await.status, StatusCode::OK, "it still reads");
    gateway.clock.set(NOW_MS + 5_000);
    assert_eq!((change(2_000).await.status.as_u16(), change(2_001).await.status.as_u16()), (200, 429));
}
