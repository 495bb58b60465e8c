//! Orders for the platform team: found by anything, with the findings about them.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::{Finding, Severity, Source};
use intent_gateway_domain::order::{ClosingReport, PENDING};
use intent_gateway_domain::ports::Journal as _;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use super::{asker, ids, keep, order};
use crate::support::{Answer, Ask, Gateway, NOW_MS, refused};

const ORDERS: &str = "/api/v1/admin/orders";

async fn ask(gateway: &Gateway, rest: &str) -> Answer {
    gateway.call(Ask::get(&format!("{ORDERS}{rest}")).role(Role::Admin)).await
}

#[tokio::test]
async fn orders_are_found_by_whatever_anybody_knows_them_by() {
    let gateway = Gateway::with_orders().await;
    let one = order(&asker("bot", Some("ann")), "BK-1", 20);
    let mut other = order(&asker("other", None), "BK-2", 10);
    other.partner = intent_gateway_domain::id::PartnerId::parse("faraway").expect("well formed");
    other.from.receipt = Some("rank_2".to_owned());
    let report = ClosingReport {
        at_ms: Timestamp::from_ms(NOW_MS),
        external_id: "BK-1".to_owned(),
        status: "completed".to_owned(),
        receipt: "rcpt_2".to_owned(),
    };
    other.close(report);
    let mut doubtful = order(&asker("bot", None), "BK-3", 600);
    PENDING.clone_into(&mut doubtful.state);
    for order in [&one, &other, &doubtful] {
        keep(&gateway, order).await;
    }
    // By what they were booked under: two of them have an identifier in common.
    let found = async |query: &str| {
        let list = ask(&gateway, query).await.json();
        let orders = list["orders"].as_array().expect("a list").iter();
        let booked = orders.map(|order| order["request_id"].as_str().expect("an identifier").replace("booking ", ""));
        booked.collect::<Vec<_>>()
    };
    for (query, expected) in [
        ("?known_as=booking%20BK-1", vec!["BK-1"]),
        ("?known_as=search%20BK-3", vec!["BK-3"]),
        ("?known_as=rank_2", vec!["BK-2"]),
        ("?known_as=rcpt_2", vec!["BK-2"]),
        ("", vec!["BK-2", "BK-1", "BK-3"]),
        ("?known_as=BK-1", vec!["BK-2", "BK-1"]),
        ("?known_as=BK-1&partner=good", vec!["BK-1"]),
        ("?known_as=BK-1&open=false", vec!["BK-2"]),
        ("?known_as=unheard%20of", vec![]),
        ("?partner=good", vec!["BK-1", "BK-3"]),
        ("?partner=good&in_doubt=true", vec!["BK-3"]),
        ("?in_doubt=true", vec!["BK-3"]),
        ("?open=false", vec!["BK-2"]),
        ("?open=true&limit=1", vec!["BK-1"]),
        (&format!("?known_as={}", one.id), vec!["BK-1"]),
        (&format!("?known_as={}&partner=faraway", one.id), vec![]),
    ] {
        assert_eq!(found(query).await, expected, "{query}");
    }
    let first = ask(&gateway, "?limit=2").await.json();
    let second =
        ask(&gateway, &format!("?limit=2&before={}", first["next"].as_str().expect("there is more"))).await.json();
    assert_eq!((ids(&second), &second["next"]), (vec!["BK-3"], &Value::Null));
    let long = format!("?known_as={}", "x".repeat(257));
    for query in ["?partner=no%20partner", "?limit=501", "?open=1", "?known_as=%00", "?owner=ann", &long] {
        assert_eq!(ask(&gateway, query).await.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
}

#[tokio::test]
async fn an_order_is_shown_with_its_receipts_and_the_findings_about_it() {
    let gateway = Gateway::with_orders().await;
    let mut kept = order(&asker("bot", Some("ann")), "BK-1", 20);
    kept.begin("cancel_thing", "cancel BK-1", None, Timestamp::from_ms(NOW_MS));
    let report = ClosingReport {
        at_ms: Timestamp::from_ms(NOW_MS),
        external_id: "BK-1".to_owned(),
        status: "no_show".to_owned(),
        receipt: "rcpt_1".to_owned(),
    };
    kept.close(report);
    keep(&gateway, &kept).await;
    let finding = |source, request_id: &str, external_id: Option<&str>, code: &str| Finding {
        at_ms: Timestamp::from_ms(NOW_MS),
        partner: kept.partner.clone(),
        intent: kept.intent.to_string(),
        request_id: request_id.to_owned(),
        source: Some(source),
        option_place: None,
        option_id: Some("option-1".to_owned()),
        external_id: external_id.map(str::to_owned),
        severity: Severity::Note,
        violation: intent_gateway_testing::contract::violation("/x", code),
        excerpt: None,
    };
    gateway.evidence.record(finding(Source::Search, "search BK-1", None, "SHOWN"));
    gateway.evidence.record(finding(Source::Call, "cancel BK-1", None, "CALLED"));
    gateway.evidence.record(finding(Source::Call, "another", None, "ANOTHER"));
    gateway.evidence.record(finding(Source::Report, "search BK-1", Some("BK-1"), "REPORTED"));
    let answer = ask(&gateway, &format!("/{}", kept.id)).await;
    assert_eq!(answer.headers["cache-control"], "no-store");
    let shown = answer.json();
    assert_eq!((&shown["ranking_receipt"], &shown["ledger_receipt"]), (&json!("rank_1"), &json!("rcpt_1")));
    assert_eq!((&shown["contract_version"], &shown["option_id"]), (&json!("1.2.3"), &json!("option-1")));
    assert_eq!((&shown["kept"]["note"], &shown["option"]["price_inr"]), (&json!("ring twice"), &json!(480)));
    let what: Vec<&Value> = shown["history"].as_array().expect("a list").iter().map(|event| &event["what"]).collect();
    assert_eq!(what, ["called", "answered", "called", "reported"]);
    let findings = shown["findings"].as_array().expect("a list");
    let codes: Vec<&Value> = findings.iter().map(|finding| &finding["violation"]["code"]).collect();
    assert_eq!(codes, ["REPORTED", "CALLED", "SHOWN"]);
    assert!(!shown.to_string().contains(kept.owner.asker.as_str()), "nobody needs a mark");
    for none in ["/ord_none", "/BK-1", "/%00", "/%FF"] {
        assert_eq!(ask(&gateway, none).await.refusal(), refused(404, "NOT_FOUND"), "{none}");
    }
}

#[tokio::test]
async fn all_orders_are_for_the_team() {
    let gateway = Gateway::with_orders().await;
    for path in [ORDERS, "/api/v1/admin/orders/ord_1"] {
        assert_eq!(gateway.call(Ask::get(path)).await.refusal(), refused(401, "INVALID_AUTH"));
        for role in [Role::Orchestrator, Role::Partner] {
            assert_eq!(gateway.call(Ask::get(path).role(role)).await.refusal(), refused(403, "FORBIDDEN"), "{path}");
        }
    }
}
