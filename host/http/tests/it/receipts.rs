//! Receipts of rankings, and findings: who sees what of them, in pages, and replayed.

use http::Method;
use http::StatusCode;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop};
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use crate::business::Partner;
use crate::support::{Answer, Ask, Gateway, NOW_MS, OPTION_TEXT, refused};

const SEARCH: &str = "/api/v1/intents/test.find_things/search";
const RECEIPTS: &str = "/api/v1/admin/receipts";
const FINDINGS: &str = "/api/v1/admin/partners/good/findings";

async fn search(gateway: &Gateway, body: Value) -> Value {
    gateway.call(Ask::json(SEARCH, body.to_string()).role(Role::Orchestrator)).await.json()
}

async fn get(gateway: &Gateway, path: &str) -> Answer {
    gateway.call(Ask::get(path).role(Role::Admin)).await
}

async fn replay(gateway: &Gateway, id: &str) -> Answer {
    let path = format!("{RECEIPTS}/{id}/replay");
    gateway.call(Ask::new(http::Method::POST, &path).role(Role::Admin)).await
}

/// Changes the one receipt that is kept.
fn alter(gateway: &Gateway, change: impl FnOnce(&mut Receipt)) {
    gateway.evidence.alter_receipts(|receipts| change(&mut receipts[0]));
}

#[tokio::test]
async fn an_orchestrator_gets_the_identifier_and_the_team_the_receipt() {
    let gateway = Gateway::new().await;
    let answer = search(&gateway, json!({ "request_id": "r-1", "name": "Asha" })).await;
    let id = answer["receipt"].as_str().expect("an identifier").to_owned();
    let shown = get(&gateway, &format!("{RECEIPTS}/{id}")).await;
    assert_eq!(shown.headers["cache-control"], "no-store");
    // Byte for byte: parsed and written again, it would not be what was ranked.
    assert!(shown.text().contains(OPTION_TEXT), "{}", shown.text());
    let receipt = shown.json();
    assert_eq!(
        (&receipt["id"], &receipt["at_ms"], &receipt["request_id"]),
        (&json!(id), &json!(NOW_MS), &json!("r-1"))
    );
    assert_eq!((&receipt["contract"], &receipt["version"]), (&answer["contract"]["digest"], &json!("1.2.3")));
    assert_eq!(receipt["arguments"], json!({ "request_id": "r-1", "name": "Asha" }));
    assert_eq!((&receipt["payloads"][0]["partner"], &receipt["ranked"][0]["id"]), (&json!("good"), &json!("t1")));
    assert_eq!(receipt["dropped"], json!([{ "number": 1, "strike": false, "codes": ["BAD"] }]));
    assert_eq!(receipt["signed_by"], json!(["release"]));

    for role in [Role::Orchestrator, Role::Partner] {
        for ask in [Ask::get(&format!("{RECEIPTS}/{id}")), Ask::get(&format!("{RECEIPTS}?request_id=r-1"))] {
            assert_eq!(gateway.call(ask.role(role)).await.refusal(), refused(403, "FORBIDDEN"));
        }
        let ask = Ask::new(http::Method::POST, &format!("{RECEIPTS}/{id}/replay"));
        assert_eq!(gateway.call(ask.role(role)).await.refusal(), refused(403, "FORBIDDEN"));
    }
    assert_eq!(search(&gateway, json!({ "city": crate::support::CROWDED_CITY })).await["receipt"], Value::Null);
}

#[tokio::test]
async fn receipts_are_found_by_their_request() {
    let gateway = Gateway::new().await;
    let mut ids = Vec::new();
    for (request, other) in [("r 1&2", 1), ("another", 1), ("r 1&2", 2)] {
        gateway.clock.advance(1);
        ids.push(search(&gateway, json!({ "request_id": request, "other": other })).await["receipt"].clone());
    }
    let found = get(&gateway, &format!("{RECEIPTS}?request_id=r%201%262")).await.json();
    assert_eq!(found, json!({ "request_id": "r 1&2", "receipts": [ids[2], ids[0]] }));
    let found = get(&gateway, &format!("{RECEIPTS}?request_id=unknown")).await.json();
    assert_eq!(found["receipts"], json!([]));
    let long = "x".repeat(201);
    for query in ["", "?request_id=", "?request=r", "?request_id=a%00b", &format!("?request_id={long}")] {
        let answer = get(&gateway, &format!("{RECEIPTS}{query}")).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
    for id in ["rank_0", "..%2Fx", "a%00b", &long] {
        assert_eq!(get(&gateway, &format!("{RECEIPTS}/{id}")).await.refusal(), refused(404, "NOT_FOUND"), "{id}");
        assert_eq!(replay(&gateway, id).await.refusal(), refused(404, "NOT_FOUND"), "{id}");
    }
}

#[tokio::test]
async fn a_replay_is_compared_and_kept_nowhere() {
    let gateway = Gateway::new().await;
    let id = search(&gateway, json!({ "request_id": "r-1" })).await["receipt"].as_str().expect("given").to_owned();
    let answer = replay(&gateway, &id).await.json();
    let receipt = get(&gateway, &format!("{RECEIPTS}/{id}")).await.json();
    let contract = json!({ "version": "1.2.3", "digest": receipt["contract"] });
    let expected = json!({
        "receipt": id, "intent": "test.find_things", "contract": contract, "same": true,
        "expected": receipt["outcome"], "found": receipt["outcome"], "difference": null
    });
    assert_eq!(answer, expected);
    assert_eq!(gateway.evidence.all_receipts().len(), 1);

    alter(&gateway, |receipt| receipt.ranked[0].total = 0.5);
    assert_eq!(replay(&gateway, &id).await.json()["same"], true, "what binds is the digest of the outcome");

    alter(&gateway, |receipt| receipt.outcome = Digest::of(b"another"));
    let answer = replay(&gateway, &id).await.json();
    assert_eq!((&answer["same"], &answer["found"]), (&json!(false), &receipt["outcome"]));
    let difference = &answer["difference"];
    assert_eq!((&difference["in"], &difference["place"]), (&json!("ranked"), &json!(0)));
    assert_eq!((&difference["expected"]["total"], &difference["found"]["total"]), (&json!(0.5), &json!(0.75)));

    alter(&gateway, |receipt| {
        receipt.ranked[0].total = 0.75;
        receipt.dropped.push(ReceiptDrop { number: 9, strike: true, codes: Vec::new() });
    });
    let difference = replay(&gateway, &id).await.json()["difference"].clone();
    assert_eq!((&difference["in"], &difference["found"]), (&json!("dropped"), &Value::Null));
    alter(&gateway, |receipt| drop(receipt.dropped.pop()));
    assert_eq!(replay(&gateway, &id).await.json()["difference"], json!({ "in": "remainder" }));

    let gone = Digest::of(b"a component of last year");
    alter(&gateway, |receipt| receipt.contract = gone);
    let answer = replay(&gateway, &id).await;
    assert_eq!(answer.refusal(), refused(409, "CONTRACT_GONE"));
    let message = answer.json()["error"]["message"].as_str().expect("said").to_owned();
    assert!(message.contains("1.2.3") && message.contains(&gone.to_string()), "{message}");
}

#[tokio::test]
async fn what_is_revoked_is_replayed_only_by_who_says_why() {
    let gateway = Gateway::new().await;
    let id = search(&gateway, json!({ "request_id": "r-1" })).await["receipt"].as_str().expect("given").to_owned();
    let contract = gateway.evidence.all_receipts()[0].contract;
    let replay_as = async |query: &str| {
        let ask = Ask::new(Method::POST, &format!("{RECEIPTS}/{id}/replay{query}"));
        gateway.call(ask.role(Role::Admin)).await
    };
    let noted = || {
        let entries = gateway.accesses.take_all().into_iter();
        entries.filter(|entry| entry.action == "receipt.replayed_revoked").collect::<Vec<_>>()
    };
    assert_eq!(replay_as("?revoked_because=a%20complaint").await.json()["same"], json!(true), "it is not revoked");
    assert!(noted().is_empty());
    gateway.contracts.revoke(contract);
    let answer = replay_as("").await;
    assert_eq!(answer.refusal(), refused(409, "CONTRACT_REVOKED"));
    for bad in ["?revoked_because=", "?revoked_because=%20", &format!("?revoked_because={}", "x".repeat(501)), "?why=x"]
    {
        assert_eq!(replay_as(bad).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    assert!(noted().is_empty(), "nothing ran");
    assert_eq!(replay_as("?revoked_because=a%20complaint").await.json()["same"], json!(true));
    let noted = noted();
    let [entry] = &noted[..] else { panic!("one entry: {noted:?}") };
    assert_eq!(entry.subject, contract.to_string());
    assert!(entry.detail.to_string().contains(&format!("{id}: a complaint")), "{:?}", entry.detail);
}

#[tokio::test]
async fn findings_come_in_pages_newest_first() {
    let gateway = Gateway::new().await;
    for request in ["r-1", "r-2", "r-3"] {
        search(&gateway, json!({ "request_id": request })).await;
    }
    let whole = get(&gateway, FINDINGS).await.json();
    let all = whole["findings"].as_array().expect("a list").clone();
    assert!(all.len() >= 6 && whole["next"].is_null(), "{whole}");
    assert_eq!((&all[0]["request_id"], &all[0]["external_id"]), (&json!("r-3"), &Value::Null));
    let (mut paged, mut next) = (Vec::new(), String::new());
    loop {
        let page = get(&gateway, &format!("{FINDINGS}?limit=2{next}")).await.json();
        paged.extend(page["findings"].as_array().expect("a list").iter().cloned());
        let Some(before) = page["next"].as_u64() else { break };
        assert_eq!(paged.last().map(|finding| finding["number"].as_u64()), Some(Some(before)));
        next = format!("&before={before}");
    }
    assert_eq!(paged, all);
    for query in ["limit=0", "limit=501", "before=x", "before=-1", "before=9223372036854775808", "after=1"] {
        let answer = get(&gateway, &format!("{FINDINGS}?{query}")).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
}

#[tokio::test]
async fn findings_are_of_whoever_is_routed_to_or_has_signed_up() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await.id;
    let of = async |partner: &str| get(&gateway, &format!("/api/v1/admin/partners/{partner}/findings")).await;
    assert_eq!(of("faraway").await.status, StatusCode::OK);
    assert_eq!(of(&partner).await.json(), json!({ "partner": partner, "findings": [], "next": null }));
    for nobody in ["ptr_0000000000000000", "a%00b", "no%20name"] {
        assert_eq!(of(nobody).await.refusal(), refused(404, "NOT_FOUND"), "{nobody}");
    }
}
