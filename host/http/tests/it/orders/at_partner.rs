//! A partner's own orders, and nothing of the person who has ordered.

use http::StatusCode;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use super::{asker, ids, keep, order};
use crate::support::{Answer, Ask, Gateway, INTENT, refused};

fn path(account: &str, rest: &str) -> String {
    format!("/api/v1/business/tier1/accounts/{account}/orders{rest}")
}

async fn ask(gateway: &Gateway, token_of: &str, path: &str) -> Answer {
    let token = gateway.token_of(Role::Partner, token_of);
    gateway.call(Ask::get(path).header("authorization", &format!("Bearer {token}"))).await
}

#[tokio::test]
async fn a_partner_sees_the_orders_at_it_alone() {
    let gateway = Gateway::with_orders().await;
    let (one, other) = (order(&asker("bot", Some("ann")), "BK-1", 20), order(&asker("other", None), "BK-2", 10));
    let mut foreign = order(&asker("bot", Some("ann")), "BK-1", 5);
    foreign.partner = intent_gateway_domain::id::PartnerId::parse("faraway").expect("well formed");
    for order in [&one, &other, &foreign] {
        keep(&gateway, order).await;
    }
    let list = ask(&gateway, "good", &path("good", "")).await;
    assert_eq!(list.headers["cache-control"], "no-store");
    let list = list.json();
    assert_eq!(ids(&list), ["BK-2", "BK-1"], "whoever has ordered");
    for mark in [&one.owner.asker, &one.owner.orchestrator] {
        assert!(!list.to_string().contains(mark.as_str()));
    }
    assert_eq!(ids(&ask(&gateway, "good", &path("good", "?intent=test.other")).await.json()), [""; 0]);
    assert_eq!(ids(&ask(&gateway, "good", &path("good", "?open=true&limit=1")).await.json()), ["BK-2"]);
    assert_eq!(ids(&ask(&gateway, "good", &path("good", "?open=false")).await.json()), [""; 0]);
    for query in ["?open=perhaps", "?limit=0", "?known_as=BK-1", "?partner=faraway"] {
        assert_eq!(
            ask(&gateway, "good", &path("good", query)).await.refusal(),
            refused(400, "INVALID_REQUEST"),
            "{query}"
        );
    }
    for rest in ["", "/BK-1"] {
        assert_eq!(ask(&gateway, "good", &path("faraway", rest)).await.refusal(), refused(403, "FORBIDDEN"));
        assert_eq!(gateway.call(Ask::get(&path("good", rest))).await.refusal(), refused(401, "INVALID_AUTH"));
        let orchestrator = gateway.call(Ask::get(&path("good", rest)).role(Role::Orchestrator)).await;
        assert_eq!(orchestrator.refusal(), refused(403, "FORBIDDEN"));
        let nobody = ask(&gateway, "ptr_0000000000000000", &path("ptr_0000000000000000", rest)).await;
        assert_eq!(nobody.refusal(), refused(404, "NOT_FOUND"));
        assert_eq!(gateway.call(Ask::get(&path("faraway", rest)).role(Role::Admin)).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn an_order_is_found_by_any_of_its_identifiers_and_tells_nothing_of_the_user() {
    let gateway = Gateway::with_orders().await;
    let kept = order(&asker("bot", Some("ann")), "BK/1 ü", 20);
    keep(&gateway, &kept).await;
    let mut foreign = order(&asker("bot", Some("ann")), "theirs", 5);
    foreign.partner = intent_gateway_domain::id::PartnerId::parse("faraway").expect("well formed");
    keep(&gateway, &foreign).await;
    let shown = ask(&gateway, "good", &path("good", &format!("/{}", kept.id))).await.json();
    for known_as in ["BK%2F1%20%C3%BC", "booking%20BK%2F1%20%C3%BC", "search%20BK%2F1%20%C3%BC"] {
        assert_eq!(ask(&gateway, "good", &path("good", &format!("/{known_as}"))).await.json(), shown, "{known_as}");
    }
    assert_eq!((&shown["meaning"], &shown["intent"]), (&json!("It is booked."), &json!(INTENT)));
    assert_eq!(shown["kept"], json!({"booking_id": "BK/1 ü", "total_inr": 499.5}), "not what the user has said");
    let expected =
        json!({"statuses": ["completed", "no_show"], "charged_statuses": ["completed"], "quoted_inr": 499.5});
    assert_eq!(shown["expected"], expected);
    assert_eq!(shown["history"][0]["tool"], "book_thing");
    for absent in ["ring twice", kept.owner.asker.as_str(), kept.owner.orchestrator.as_str(), "ann"] {
        assert!(!shown.to_string().contains(absent), "{absent}");
    }
    assert_eq!(shown.get("next"), None, "a partner calls no tools");
    assert_eq!(shown["ledger_receipt"], Value::Null);
    for none in ["/theirs", &format!("/{}", foreign.id), "/unheard%20of", "/%00"] {
        assert_eq!(ask(&gateway, "good", &path("good", none)).await.refusal(), refused(404, "NOT_FOUND"), "{none}");
    }
}
