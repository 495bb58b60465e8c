//! A user's rights over HTTP: what the orchestrator that names the user is shown, and erases.

use http::{Method, StatusCode};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedFrom, Owner};
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym};
use intent_gateway_http::auth::Role;
use intent_gateway_testing::entropy::vault;
use serde_json::{Value, json};

use crate::support::{Ask, Gateway, NOW_MS, refused};

const SEARCH: &str = "/api/v1/intents/test.find_things/search";
const DATA: &str = "/api/v1/user-data";

fn of(ask: Ask, user: &str) -> Ask {
    ask.role(Role::Orchestrator).header("x-user-id", user)
}

async fn search(gateway: &Gateway, user: &str) -> String {
    let ask = Ask::json(SEARCH, json!({ "request_id": format!("r-{user}"), "name": "Asha" }).to_string());
    gateway.call(of(ask, user)).await.json()["receipt"].as_str().expect("an identifier").to_owned()
}

/// Keeps an order of a user of the orchestrator `tester`, under a call of its own.
async fn order(gateway: &Gateway, user: &str) -> OrderId {
    let orchestrator = Orchestrator::new(intent_gateway_http::auth::ISSUER, "tester");
    let asker = Asker::new(orchestrator, Some(&Pseudonym::parse(user).expect("sound")));
    let opened = Opened {
        id: OrderId::new(&vault(), Timestamp::from_ms(NOW_MS)).expect("entropy"),
        partner: PartnerId::parse("good").expect("sound"),
        intent: IntentId::parse("test.find_things").expect("sound"),
        contract: Digest::of(b"not loaded"),
        owner: Owner::of(&vault(), &asker),
        from: OrderedFrom { option_id: "t1".to_owned(), receipt: None, number: 0, request_id: "r-1".to_owned() },
        request_id: "r-2".to_owned(),
        is_sole: true,
    };
    let mut order = Order::open(opened, Timestamp::from_ms(NOW_MS));
    order.kept.insert("contact_phone".to_owned(), json!("+919812345670"));
    let (id, mut change) = (order.id.clone(), Change::default());
    change.put(&Versioned::new(order));
    gateway.kept.store.commit(change).await.expect("it is kept");
    id
}

/// Every page of an export as one.
async fn export(gateway: &Gateway, user: &str) -> (Vec<Value>, Vec<Value>) {
    let (mut orders, mut receipts, mut path) = (Vec::new(), Vec::new(), DATA.to_owned());
    loop {
        let answer = gateway.call(of(Ask::get(&path), user)).await;
        assert_eq!((answer.status, answer.headers["cache-control"].as_bytes()), (StatusCode::OK, &b"no-store"[..]));
        let page = answer.json();
        orders.extend(page["orders"].as_array().expect("a list").iter().cloned());
        receipts.extend(page["receipts"].as_array().expect("a list").iter().cloned());
        let Some(next) = page["next"].as_str() else { return (orders, receipts) };
        path = format!("{DATA}?after={next}");
    }
}

#[tokio::test]
async fn a_user_is_exported_and_erased_by_the_orchestrator_that_names_it() {
    let gateway = Gateway::new().await;
    let (of_ann, of_bob) = (search(&gateway, "ann").await, search(&gateway, "bob").await);
    let id = order(&gateway, "ann").await;
    let (orders, receipts) = export(&gateway, "ann").await;
    assert_eq!((orders.len(), &orders[0]["order"]), (1, &json!(id.as_str())));
    assert_eq!(orders[0]["kept"]["contact_phone"], "+919812345670");
    assert_eq!((receipts.len(), &receipts[0]["receipt"]), (1, &json!(of_ann)));
    assert_eq!(receipts[0]["arguments"]["name"], "Asha");
    assert_eq!(receipts[0]["options"][0]["partner"], "good");

    // Another orchestrator's user of the same name is another one.
    let another = gateway.token_of(Role::Orchestrator, "another");
    let ask =
        Ask::new(Method::DELETE, DATA).header("x-user-id", "ann").header("authorization", &format!("Bearer {another}"));
    assert_eq!(gateway.call(ask).await.json()["receipts"], 0);
    assert_eq!(export(&gateway, "ann").await.1.len(), 1);

    let erase = || of(Ask::new(Method::DELETE, DATA), "ann");
    let erased = gateway.call(erase()).await.json();
    assert_eq!(erased, json!({ "orders": 1, "receipts": 1, "findings": 0, "faults": 0, "links": 0 }));
    assert_eq!(export(&gateway, "ann").await, (Vec::new(), Vec::new()));
    assert_eq!(export(&gateway, "bob").await.1[0]["receipt"], json!(of_bob));
    let kept = load::<Order>(&*gateway.kept.store, id.as_str()).await.expect("it reads").expect("it stays").value;
    assert!(kept.kept.is_empty() && kept.is_open, "it may still be reported");
    for (method, path) in [(Method::GET, ""), (Method::POST, "/replay")] {
        let ask = Ask::new(method, &format!("/api/v1/admin/receipts/{of_ann}{path}")).role(Role::Admin);
        assert_eq!(gateway.call(ask).await.refusal(), refused(410, "RECEIPT_ERASED"));
    }
    assert_eq!(gateway.call(erase()).await.json()["orders"], 0, "it is done once");
    let log = gateway.kept.store.audit(Some("tester"), 0, 9).await.expect("it reads");
    let actions: Vec<&str> = log.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["user.erased", "user.erased"]);
    assert!(!log[0].detail.contains("ann"));
}

#[tokio::test]
async fn a_call_under_way_is_waited_for() {
    let gateway = Gateway::new().await;
    let id = order(&gateway, "ann").await;
    let mut kept = load::<Order>(&*gateway.kept.store, id.as_str()).await.expect("it reads").expect("it is kept");
    kept.value.begin("book", "r-2", None, Timestamp::from_ms(NOW_MS));
    let mut change = Change::default();
    change.put(&kept);
    gateway.kept.store.commit(change).await.expect("it is kept");
    let answer = gateway.call(of(Ask::new(Method::DELETE, DATA), "ann")).await;
    assert_eq!(
        (answer.refusal(), answer.headers["retry-after"].as_bytes()),
        (refused(409, "CALL_UNDER_WAY"), &b"45"[..])
    );
    assert_eq!(export(&gateway, "ann").await.0.len(), 1, "nothing was erased");
}

#[tokio::test]
async fn who_names_no_user_or_is_no_orchestrator_is_refused() {
    let gateway = Gateway::new().await;
    for method in [Method::GET, Method::DELETE] {
        let ask = || Ask::new(method.clone(), DATA);
        let unnamed = gateway.call(ask().role(Role::Orchestrator)).await;
        assert_eq!(unnamed.refusal(), refused(400, "INVALID_REQUEST"));
        let partner = gateway.call(ask().role(Role::Partner).header("x-user-id", "ann")).await;
        assert_eq!(partner.refusal(), refused(403, "FORBIDDEN"));
    }
    for after in ["", "orders-0", "orders-x-", "orders-0-ord_1", "receipts-0-x", "links-0-", "receipts-999-1"] {
        let answer = gateway.call(of(Ask::get(&format!("{DATA}?after={after}")), "ann")).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{after}");
    }
}
