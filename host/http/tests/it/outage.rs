//! A store that is down, as callers meet it: on every route that needs it, one code, and when to come again.

use std::collections::BTreeMap;

use http::Method;
use intent_gateway_domain::ports::ReceiptFate;
use intent_gateway_http::auth::Role;
use serde_json::json;

use crate::support::{Answer, Ask, Gateway, INTENT, refused};

/// What stands for every parameter of a path.
const ANY: &str = "x";

fn assert_store_is_down(answer: &Answer, what: &str) {
    assert_eq!(answer.refusal(), refused(503, "STORE_UNAVAILABLE"), "{what}: {}", answer.text());
    assert_eq!(answer.headers.get("retry-after").map(|value| value.to_str().expect("text")), Some("2"), "{what}");
    assert_eq!(answer.headers["cache-control"], "no-store", "{what}");
}

#[tokio::test]
async fn no_route_calls_a_store_that_is_down_a_defect() {
    let gateway = Gateway::new().await;
    let document = gateway.document.clone();
    gateway.kept.store.set_down(true);
    let mut seen = BTreeMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("a path item").keys() {
            let method: Method = method.to_uppercase().parse().expect("a method");
            let asked: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { ANY } else { part })
                .collect::<Vec<_>>()
                .join("/");
            let intent = asked.replace("/intents/x", &format!("/intents/{INTENT}"));
            let ask = Ask::new(method.clone(), &intent).header("content-type", "application/json").role(Role::Admin);
            let answer = gateway.call(ask.header("x-user-id", "asha").body("{}")).await;
            assert_ne!(answer.status.as_u16(), 500, "{method} {path}: {}", answer.text());
            // An operation before it took the only contract out of service.
            if answer.status == 503 && path != "/ready" {
                seen.insert(format!("{method} {path}"), answer.text().contains("STORE_UNAVAILABLE"));
            }
        }
    }
    assert!(seen.values().all(|told| *told), "{seen:?}");
    for route in [
        "GET /api/v1/links",
        "GET /api/v1/orders",
        "GET /api/v1/admin/audit",
        "GET /api/v1/admin/reviews",
        "GET /api/v1/business/tier1/accounts/{account_id}",
    ] {
        assert!(seen.contains_key(route), "{route} needs the store: {seen:#?}");
    }
}

#[tokio::test]
async fn sign_in_links_and_pages_say_that_the_store_is_down() {
    let gateway = Gateway::new().await;
    let body = json!({"partner": "good", "intent": INTENT}).to_string();
    let offer = || Ask::json("/api/v1/links", body.clone()).role(Role::Orchestrator).header("x-user-id", "asha");
    let offered = gateway.call(offer()).await.json();
    let url = offered["link_url"].as_str().expect("an address");
    let path = url.strip_prefix("https://gateway.example").expect("the gateway's own").to_owned();

    gateway.kept.store.set_down(true);
    let sign_in = Ask::json("/api/v1/business/sign-in", json!({"email": "asha@coolcar.example"}).to_string());
    assert_store_is_down(&gateway.call(sign_in).await, "sign-in");
    let sign_up = json!({"email": "asha@coolcar.example", "business_name": "Cool Car"}).to_string();
    assert_store_is_down(&gateway.call(Ask::json("/api/v1/business/sign-up", sign_up)).await, "sign-up");

    let page = gateway.call(Ask::get(&path)).await;
    assert_eq!(
        (page.status.as_u16(), page.headers["content-type"].to_str().expect("text")),
        (503, "text/html; charset=utf-8")
    );
    assert!(page.text().contains("Code STORE_UNAVAILABLE"), "{}", page.text());
    assert_eq!(page.headers["retry-after"], "2");

    // Searches are served on, and say what is not kept.
    gateway.evidence.set_fate(ReceiptFate::Doubtful);
    let search = || Ask::json(&format!("/api/v1/intents/{INTENT}/search"), "{}").role(Role::Orchestrator);
    let served = gateway.call(search()).await;
    assert_eq!((served.status.as_u16(), &served.json()["not_kept"]), (200, &json!(["receipt"])), "{}", served.text());
    gateway.evidence.set_fate(ReceiptFate::KeptSoon);
    assert_eq!(gateway.call(search()).await.json().get("not_kept"), None);

    gateway.kept.store.set_down(false);
    assert_eq!(gateway.call(offer()).await.status, 200, "as soon as it is up");
}
