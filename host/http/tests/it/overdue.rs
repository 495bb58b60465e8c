//! Orders that wait for their report: the platform team sees all of them, a partner its own, and statements name them.

use http::StatusCode;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::order::Order;
use intent_gateway_domain::order::overdue::Overdue;
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_http::auth::Role;
use intent_gateway_testing::orders::booked;
use serde_json::{Value, json};

use crate::business::team_get;
use crate::support::{Answer, Ask, Gateway, INTENT, NOW_MS};

/// An order whose report has been due for so many days, with so many paise at stake.
async fn overdue(gateway: &Gateway, partner: &str, external_id: &str, days: u64, at_stake: i64) -> Order {
    let due_at_ms = Timestamp::from_ms(NOW_MS).minus_ms(days * DAY_MS);
    let mut order = booked(partner, INTENT, "req-0", external_id, &[external_id], due_at_ms);
    order.overdue = Some(Overdue {
        due_at_ms,
        amount: Some(Paise::new(at_stake * 10)),
        at_stake: Some(Paise::new(at_stake)),
        noted_at_ms: due_at_ms.plus_ms(DAY_MS),
        found_at_ms: None,
    });
    let mut change = Change::default();
    change.put(&Versioned::new(order.clone()));
    gateway.kept.store.commit(change).await.expect("kept");
    order
}

async fn ask(gateway: &Gateway, role: Role, of: &str, path: &str) -> Answer {
    let token = gateway.token_of(role, of);
    gateway.call(Ask::get(path).header("authorization", &format!("Bearer {token}"))).await
}

fn ids(list: &Value) -> Vec<&str> {
    list["orders"].as_array().expect("a list").iter().filter_map(|order| order["identifiers"][0].as_str()).collect()
}

#[tokio::test]
async fn the_team_sees_what_is_overdue_and_what_is_at_stake() {
    let gateway = Gateway::new().await;
    let old = overdue(&gateway, "good", "BK-1", 40, 1_000).await;
    overdue(&gateway, "good", "BK-2", 7, 500).await;
    overdue(&gateway, "broken", "BK-3", 8, 90).await;
    let mut closed = overdue(&gateway, "good", "BK-4", 8, 90).await;
    let mut change = Change::default();
    closed.is_open = false;
    change.put(&Versioned { revision: 1, value: closed });
    gateway.kept.store.commit(change).await.expect("kept");
    let list = team_get(&gateway, "/api/v1/admin/overdue-orders?limit=2").await;
    let more = format!("/api/v1/admin/overdue-orders?after={}", list["next"].as_str().expect("goes on"));
    let rest = team_get(&gateway, &more).await;
    let mut all = [ids(&list), ids(&rest)].concat();
    all.sort_unstable();
    assert_eq!((all, &rest["next"]), (vec!["BK-1", "BK-2", "BK-3"], &Value::Null));
    let first = &list["orders"][0];
    assert_eq!((first["order"].as_str(), &first["at_stake_inr"]), (Some(old.id.as_str()), &json!(10.0)));
    let summary = team_get(&gateway, "/api/v1/admin/overdue-orders/summary").await;
    let sums = |sums: &Value| (sums["of_week"].clone(), sums["of_month"].clone(), sums["older"].clone());
    let [good, broken] = &summary["partners"].as_array().expect("a list")[..] else { panic!("two: {summary}") };
    assert_eq!((&good["partner"], sums(good)), (&json!("good"), (json!(1), json!(0), json!(1))));
    assert_eq!((&broken["partner"], sums(broken)), (&json!("broken"), (json!(0), json!(1), json!(0))));
    assert_eq!(good["at_stake_inr"], json!(15.0));
    for path in ["/api/v1/admin/overdue-orders", "/api/v1/admin/overdue-orders/summary"] {
        assert_eq!(ask(&gateway, Role::Partner, "good", path).await.status, StatusCode::FORBIDDEN);
    }
}

#[tokio::test]
async fn a_partner_sees_its_own_and_so_does_its_statement() {
    let gateway = Gateway::new().await;
    overdue(&gateway, "good", "BK-1", 0, 1_000).await;
    overdue(&gateway, "good", "BK-2", 40, 500).await;
    overdue(&gateway, "broken", "BK-3", 8, 90).await;
    let path = "/api/v1/business/tier1/accounts/good/overdue-orders";
    let own = ask(&gateway, Role::Partner, "good", path).await.json();
    let mut listed = ids(&own);
    listed.sort_unstable();
    assert_eq!(listed, ["BK-1", "BK-2"]);
    assert_eq!(ask(&gateway, Role::Partner, "broken", path).await.status, StatusCode::FORBIDDEN);
    // The month of the first: its statement names that one alone, in whatever form.
    let statement = "/api/v1/admin/partners/good/statements/2027-01";
    let body = team_get(&gateway, statement).await;
    let named: Vec<_> =
        body["unreported"].as_array().expect("a list").iter().map(|order| &order["external_id"]).collect();
    assert_eq!(named, [&json!("BK-1")]);
    assert_eq!(body["totals"]["commission_inr"], json!(0.0), "in no total");
    let page = gateway.call(Ask::get(&format!("{statement}?format=html")).role(Role::Admin)).await;
    let text = String::from_utf8(page.body.to_vec()).expect("text");
    assert!(text.contains("Not reported") && text.contains("BK-1") && !text.contains("BK-2"), "{text}");
}

#[tokio::test]
async fn tests_are_listed_to_their_sender() {
    let gateway = Gateway::new().await;
    let path = "/api/v1/business/tier1/accounts/good/test-reports";
    let own = ask(&gateway, Role::Partner, "good", path).await.json();
    assert_eq!(own, json!({"partner": "good", "kept_days": 30, "reports": []}));
    let other = ask(&gateway, Role::Partner, "broken", path).await;
    assert_eq!(other.status, StatusCode::FORBIDDEN);
}
