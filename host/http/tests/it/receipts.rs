//! Receipts of rankings, and findings: who sees what of them, in pages, and replayed.

use std::sync::Arc;

use http::Method;
use http::StatusCode;
use intent_gateway_domain::contract::Evaluation;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract as _, Contracts as _};
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop};
use intent_gateway_http::auth::Role;
use intent_gateway_testing::contract::{ScriptedContract, descriptor};
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
async fn rankings_of_an_intent_are_listed_in_short() {
    let gateway = Gateway::new().await;
    let mut ids = Vec::new();
    for request in ["r-1", "r-2"] {
        gateway.clock.advance(1);
        ids.push(search(&gateway, json!({ "request_id": request, "name": "Asha" })).await["receipt"].clone());
    }
    let of =
        async |query: &str| get(&gateway, &format!("/api/v1/admin/intents/test.find_things/rankings{query}")).await;
    let listed = of("").await.json();
    let digest = gateway.evidence.all_receipts()[0].contract;
    assert_eq!(listed["intent"], "test.find_things");
    assert_eq!(
        listed["rankings"][0],
        json!({
            "receipt": ids[1], "at": "2027-01-15T08:00:00.002Z", "request_id": "r-2",
            "contract": { "version": "1.2.3", "digest": digest },
            "shown": 1, "dropped": 1, "strikes": 0, "partners": ["good"], "first": "good",
        })
    );
    assert_eq!((&listed["rankings"][1]["receipt"], &listed["next"]), (&ids[0], &Value::Null));
    assert!(!listed.to_string().contains("Asha"), "nothing of what the user asked for");
    for (query, count) in [
        ("?partner=good", 2),
        ("?partner=nobody", 0),
        (&*format!("?since_ms={}", NOW_MS + 2), 1),
        (&*format!("?until_ms={}", NOW_MS + 2), 1),
        (&*format!("?until_ms={}&partner=good", NOW_MS + 1), 0),
    ] {
        let found = of(query).await.json();
        assert_eq!(found["rankings"].as_array().map(Vec::len), Some(count), "{query}: {found}");
    }
    for bad in ["?partner=a%00b", "?before=-1", "?since_ms=x", "?until_ms=9223372036854775808", "?limit=1"] {
        assert_eq!(of(bad).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    let other = get(&gateway, "/api/v1/admin/intents/test.find_others/rankings").await.json();
    assert_eq!(other, json!({ "intent": "test.find_others", "rankings": [], "next": null }));
    let unnamed = get(&gateway, "/api/v1/admin/intents/nothing/rankings").await;
    assert_eq!(unnamed.refusal(), refused(404, "INVALID_INTENT"));
}

#[tokio::test]
async fn settings_are_told_as_they_are_given_to_the_surface() {
    let gateway = Gateway::new().await;
    let answer = get(&gateway, "/api/v1/admin/settings").await;
    assert_eq!(answer.headers["cache-control"], "no-store");
    let origin = json!({ "kind": "default", "place": null });
    let setting = json!({
        "section": "server", "key": "listen", "value": "127.0.0.1:8080", "secret": false, "origin": origin
    });
    assert_eq!(answer.json(), json!({ "settings": [setting] }));
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
async fn another_version_ranks_a_receipt_and_serves_nobody() {
    let gateway = Gateway::new().await;
    let id = search(&gateway, json!({ "request_id": "r-1" })).await["receipt"].as_str().expect("given").to_owned();
    let receipt = gateway.evidence.all_receipts()[0].clone();
    let under = async |under: &str| {
        let ask = Ask::new(Method::POST, &format!("{RECEIPTS}/{id}/replay?under={under}"));
        gateway.call(ask.role(Role::Admin)).await
    };
    // The component that has ranked, named: the same outcome, told whole.
    let answer = under(&receipt.contract.to_string()).await.json();
    assert_eq!((&answer["same"], &answer["difference"]), (&json!(true), &Value::Null), "{answer}");
    let told = &answer["under"];
    assert_eq!(told["contract"], json!({ "version": "1.2.3", "digest": receipt.contract }));
    assert_eq!(told["ranked"], serde_json::to_value(&receipt.ranked).expect("JSON"));
    assert_eq!(told["dropped"], json!([{ "number": 1, "strike": false, "codes": ["BAD"] }]));
    assert_eq!(told["ranking"]["weights"]["time"], json!(0.25));
    assert!(replay(&gateway, &id).await.json().get("under").is_none(), "nobody has named a version");

    let mut of_another = descriptor("7.0.0");
    of_another.intent = IntentId::parse("test.find_others").expect("well formed");
    let other = Arc::new(ScriptedContract::new(of_another));
    let changed = ScriptedContract::new(descriptor("2.0.0")).on_evaluate(|_, _, _| Ok(Evaluation::default()));
    let changed = Arc::new(changed);
    gateway.contracts.load(other.clone());
    gateway.contracts.load(changed.clone());
    let live = gateway.contracts.live("test.find_things").map(|live| live.digest());
    let answer = under(&changed.digest().to_string()).await.json();
    assert_eq!(answer["contract"]["version"], "1.2.3", "who has ranked");
    assert_eq!(answer["under"]["contract"], json!({ "version": "2.0.0", "digest": changed.digest() }), "{answer}");
    assert_eq!((&answer["same"], &answer["under"]["ranked"]), (&json!(false), &json!([])), "it shows nothing");
    assert_eq!(gateway.contracts.live("test.find_things").map(|live| live.digest()), live);
    assert_eq!(gateway.evidence.all_receipts().len(), 1);
    assert_eq!(under(&other.digest().to_string()).await.refusal(), refused(400, "INVALID_REQUEST"));
    assert_eq!(under("1.2.3").await.refusal(), refused(400, "INVALID_REQUEST"), "two components have the number");
    for unknown in ["9.9.9", "x", &"0".repeat(64)] {
        assert_eq!(under(unknown).await.refusal(), refused(404, "NOT_FOUND"), "{unknown}");
    }
    for bad in ["", "%20", &"9".repeat(129)] {
        assert_eq!(under(bad).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    gateway.contracts.revoke(changed.digest());
    assert_eq!(under(&changed.digest().to_string()).await.refusal(), refused(409, "CONTRACT_REVOKED"));
    let why = format!("{}&revoked_because=a%20complaint", changed.digest());
    assert_eq!(under(&why).await.status, StatusCode::OK);
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
