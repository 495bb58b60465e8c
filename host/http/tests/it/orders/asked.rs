//! Lists of orders, and one order whole.

use http::{Method, StatusCode};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::order::{ClosingReport, PENDING};
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use super::{ask, asker, ids, keep, order};
use crate::support::{Ask, Gateway, INTENT, NOW_MS, refused};

const ORDERS: &str = "/api/v1/orders";

#[tokio::test]
async fn a_user_sees_own_orders_newest_first_and_nobody_elses() {
    let gateway = Gateway::with_orders().await;
    for (who, user, identifier, ago) in [
        ("bot", Some("ann"), "BK-1", 30),
        ("bot", Some("ann"), "BK-2", 20),
        ("bot", Some("ben"), "BK-3", 15),
        ("bot", None, "BK-4", 10),
        ("other", Some("ann"), "BK-5", 5),
    ] {
        keep(&gateway, &order(&asker(who, user), identifier, ago)).await;
    }
    let of = async |who: &str, user: Option<&str>| ask(&gateway, who, user, ORDERS).await.json();
    let anns = of("bot", Some("ann")).await;
    assert_eq!(ids(&anns), ["BK-2", "BK-1"]);
    assert_eq!(ids(&of("bot", Some("ben")).await), ["BK-3"]);
    assert_eq!(ids(&of("bot", None).await), ["BK-4"], "what was ordered for nobody by name");
    assert_eq!(ids(&of("other", Some("ann")).await), ["BK-5"]);
    assert_eq!(of("third", Some("ann")).await, json!({"orders": [], "next": null}));
    let first = &anns["orders"][0];
    assert_eq!(
        (&first["state"], &first["is_open"], &first["in_doubt"], &first["partner"], &first["intent"]),
        (&json!("booked"), &json!(true), &json!(false), &json!("good"), &json!(INTENT))
    );
    assert_eq!((&first["request_id"], &first["search_request_id"]), (&json!("booking BK-2"), &json!("search BK-2")));
    assert!(!anns.to_string().contains("owner") && !anns.to_string().contains("ring twice"), "{anns}");
}

#[tokio::test]
async fn a_list_is_paged_and_filtered_within_bounds() {
    let gateway = Gateway::with_orders().await;
    let ann = asker("bot", Some("ann"));
    for (identifier, ago) in [("BK-1", 30), ("BK-2", 20)] {
        keep(&gateway, &order(&ann, identifier, ago)).await;
    }
    let mut doubtful = order(&ann, "BK-3", 600);
    PENDING.clone_into(&mut doubtful.state);
    keep(&gateway, &doubtful).await;
    let mut closed = order(&ann, "BK-4", 700);
    (closed.state, closed.is_open) = ("cancelled".to_owned(), false);
    keep(&gateway, &closed).await;
    let of = async |query: &str| ask(&gateway, "bot", Some("ann"), &format!("{ORDERS}{query}")).await;
    let first = of("?limit=3").await.json();
    assert_eq!(ids(&first), ["BK-2", "BK-1", "BK-3"]);
    let next = first["next"].as_str().expect("there is more");
    let second = of(&format!("?limit=3&before={next}")).await.json();
    assert_eq!((ids(&second), &second["next"]), (vec!["BK-4"], &Value::Null));
    for (query, expected) in [
        ("?open=false", vec!["BK-4"]),
        ("?in_doubt=true", vec!["BK-3"]),
        ("?state=booked&open=true", vec!["BK-2", "BK-1"]),
        ("?intent=other.seek_things&state=pending", vec!["BK-3"]),
        ("?intent=test.repair_things", vec![]),
    ] {
        assert_eq!(ids(&of(query).await.json()), expected, "{query}");
    }
    let long = format!("?state={}", "x".repeat(257));
    for query in
        ["?limit=0", "?limit=501", "?open=maybe", "?in_doubt=1", "?page=2", "?state=a&state=b", "?before=%00", &long]
    {
        assert_eq!(of(query).await.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
    assert_eq!(ask(&gateway, "bot", Some("a b"), ORDERS).await.refusal(), refused(400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn an_order_is_shown_whole_with_what_may_be_done() {
    let gateway = Gateway::with_orders().await;
    let mut kept = order(&asker("bot", Some("ann")), "BK-1", 30);
    kept.kept.insert("start".to_owned(), json!("2099-01-01T10:00:00+05:30"));
    keep(&gateway, &kept).await;
    let path = format!("{ORDERS}/{}", kept.id);
    let answer = ask(&gateway, "bot", Some("ann"), &path).await;
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert!(
        answer.text().contains(r#"{ "thing_id":"t1",  "price_inr":480 }"#),
        "the option is passed on byte for byte"
    );
    let shown = answer.json();
    assert_eq!((&shown["id"], &shown["partner_name"]), (&json!(kept.id.as_str()), &json!("Partner good")));
    assert_eq!((&shown["meaning"], &shown["milestones"]), (&json!("It is booked."), &json!(["confirmed"])));
    assert_eq!((&shown["quoted_inr"], &shown["kept"]["note"]), (&json!(499.5), &json!("ring twice")));
    assert_eq!((&shown["ranking_receipt"], &shown["report"]), (&json!("rank_1"), &Value::Null));
    let called =
        json!({"at": "2027-01-15T07:59:30Z", "what": "called", "tool": "book_thing", "request_id": "booking BK-1"});
    let answered = json!({"at": "2027-01-15T07:59:30Z", "what": "answered", "tool": "book_thing", "state": "booked"});
    assert_eq!(shown["history"], json!([called, answered]));
    let tools = shown["next"]["tools"].as_array().expect("a list");
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["tool"]).collect();
    assert_eq!(names, ["change_thing", "cancel_thing", "track_thing"]);
    assert_eq!((&tools[1]["until"], &tools[1]["role"]), (&json!("2099-01-01T04:30:00Z"), &json!("cancel")));
    assert_eq!(tools[1]["request_schema"]["properties"], json!({"booking_id": {}}));
    assert!(!shown.to_string().contains(kept.owner.asker.as_str()), "no mark leaves the gateway");

    let report = ClosingReport {
        at_ms: Timestamp::from_ms(NOW_MS),
        external_id: "BK-1".to_owned(),
        status: "completed".to_owned(),
        receipt: "rcpt_of_the_partner".to_owned(),
    };
    kept.close(report);
    keep(&gateway, &kept).await;
    let closed = ask(&gateway, "bot", Some("ann"), &path).await.json();
    let expected = json!({"at": "2027-01-15T08:00:00Z", "external_id": "BK-1", "status": "completed"});
    assert_eq!(
        (&closed["state"], &closed["is_open"], &closed["report"]),
        (&json!("completed"), &json!(false), &expected)
    );
    assert!(!closed.to_string().contains("rcpt_of_the_partner"), "the entry is between partner and platform");
}

#[tokio::test]
async fn the_reference_of_an_order_calls_its_next_tools_for_its_user_alone() {
    let gateway = Gateway::with_orders().await;
    let kept = order(&asker("bot", Some("ann")), "BK-1", 30);
    keep(&gateway, &kept).await;
    let shown = ask(&gateway, "bot", Some("ann"), &format!("{ORDERS}/{}", kept.id)).await.json();
    let call = async |user: &str| {
        let body = json!({"reference": shown["next"]["reference"], "arguments": {}}).to_string();
        let token = gateway.token_of(Role::Orchestrator, "bot");
        let ask = Ask::json(&format!("/api/v1/intents/{INTENT}/tools/cancel_thing"), body);
        gateway.call(ask.header("authorization", &format!("Bearer {token}")).header("x-user-id", user)).await
    };
    assert_eq!(call("ben").await.refusal(), refused(400, "INVALID_REFERENCE"));
    let cancelled = call("ann").await;
    assert_eq!(cancelled.status, StatusCode::OK, "{}", cancelled.text());
    assert_eq!(cancelled.json()["order"], json!({"id": kept.id.as_str(), "state": "cancelled"}));
}

#[tokio::test]
async fn an_order_that_is_none_and_one_of_somebody_else_are_refused_alike() {
    let gateway = Gateway::with_orders().await;
    let kept = order(&asker("bot", Some("ann")), "BK-1", 30);
    keep(&gateway, &kept).await;
    let own = format!("{ORDERS}/{}", kept.id);
    let mut refusals = Vec::new();
    for (who, user, path) in [
        ("bot", Some("ben"), own.as_str()),
        ("bot", None, &own),
        ("other", Some("ann"), &own),
        ("bot", Some("ann"), "/api/v1/orders/ord_000000000000000000000000000f"),
        ("bot", Some("ann"), "/api/v1/orders/BK-1"),
        ("bot", Some("ann"), "/api/v1/orders/%00"),
    ] {
        let answer = ask(&gateway, who, user, path).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{who} {user:?} {path}");
        refusals.push(answer.json()["error"]["message"].clone());
    }
    assert!(refusals.iter().all(|message| *message == refusals[0]));
}

#[tokio::test]
async fn orders_are_for_orchestrators() {
    let gateway = Gateway::with_orders().await;
    for path in [ORDERS, "/api/v1/orders/ord_1", "/api/v1/orders/events"] {
        assert_eq!(gateway.call(Ask::get(path)).await.refusal(), refused(401, "INVALID_AUTH"), "{path}");
        let partner = gateway.call(Ask::get(path).role(Role::Partner)).await;
        assert_eq!(partner.refusal(), refused(403, "FORBIDDEN"), "{path}");
        let post = gateway.call(Ask::new(Method::POST, path).role(Role::Orchestrator)).await;
        assert_eq!(post.refusal(), refused(405, "METHOD_NOT_ALLOWED"), "{path}");
    }
    assert_eq!(gateway.call(Ask::get(ORDERS).role(Role::Admin)).await.json()["orders"], json!([]));
    gateway.kept.store.break_engine("the file /secret/gateway.db is gone");
    for path in [ORDERS, "/api/v1/orders/ord_1", "/api/v1/orders/events"] {
        let broken = gateway.call(Ask::get(path).role(Role::Orchestrator)).await;
        assert_eq!(broken.refusal(), refused(500, "INTERNAL_ERROR"), "{path}");
        assert!(!broken.text().contains("secret"));
    }
}
