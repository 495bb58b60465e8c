//! Faults of contracts: listed page by page, opened with an entry in the audit log, and for the platform team alone.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, CallContext};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::faults::{CallRef, Function, KeptFault, Told, seal_input};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::vault::Sealed;
use intent_gateway_http::auth::Role;
use intent_gateway_testing::entropy::vault;
use serde_json::{Value, json};

use crate::support::{Answer, Ask, Gateway, INTENT, NOW_MS, refused};

const FAULTS: &str = "/api/v1/admin/intents/test.find_things/faults";

fn fault_of(number: u64) -> KeptFault {
    KeptFault {
        number,
        at: Timestamp::from_ms(NOW_MS),
        last_at: Timestamp::from_ms(NOW_MS + 5),
        times: 3,
        others: 1,
        intent: IntentId::parse(INTENT).expect("well formed"),
        version: "1.2.3".parse().expect("a version"),
        contract: Digest::of(b"component"),
        function: Function::CheckRequest,
        request_id: Some("r-1".to_owned()),
        code: "CONTRACT_TRAP".to_owned(),
        fault: "the contract trapped: unreachable".to_owned(),
        told: Some(Told::new("no tea", Some("src/tea.rs:7:9"))),
        input_bytes: 80,
        has_input: true,
    }
}

fn seal_example(fault: &KeptFault) -> Sealed {
    let context = CallContext { request_id: "r-1".to_owned(), now: Timestamp::from_ms(NOW_MS) };
    let input = CallRef::CheckRequest(&context, "find_things", "{\"name\":\"Asha\"}", About::default()).to_input();
    let json = serde_json::to_vec(&input).expect("JSON");
    seal_input(&vault(), &fault.intent, fault.contract, fault.at, &json).expect("it is sealed")
}

/// A gateway with faults 1 to 5, the last of which is kept without its input and without a word of the contract.
async fn gateway() -> Gateway {
    let gateway = Gateway::new().await;
    for number in 1..=4 {
        let fault = fault_of(number);
        let input = seal_example(&fault);
        gateway.faults.keep(fault, Some(input));
    }
    gateway.faults.keep(KeptFault { has_input: false, told: None, request_id: None, ..fault_of(5) }, None);
    let other = IntentId::parse("test.other").expect("well formed");
    gateway.faults.keep(KeptFault { intent: other, has_input: false, ..fault_of(6) }, None);
    gateway
}

async fn get(gateway: &Gateway, path: &str) -> Answer {
    gateway.call(Ask::get(path).role(Role::Admin)).await
}

async fn reads(gateway: &Gateway) -> Vec<Value> {
    let entries = get(gateway, "/api/v1/admin/audit?limit=500").await.json()["entries"].clone();
    let entries = entries.as_array().expect("a list").clone();
    entries.into_iter().filter(|entry| entry["action"] == "contract.fault_read").collect()
}

#[tokio::test]
async fn faults_come_in_pages_newest_first_without_their_inputs() {
    let gateway = gateway().await;
    let answer = get(&gateway, FAULTS).await;
    assert!(!answer.text().contains("Asha"), "{}", answer.text());
    let page = answer.json();
    let numbers = |page: &Value| -> Vec<u64> {
        page["faults"].as_array().expect("a list").iter().filter_map(|fault| fault["number"].as_u64()).collect()
    };
    assert_eq!((numbers(&page), &page["next"], &page["intent"]), (vec![5, 4, 3, 2, 1], &Value::Null, &json!(INTENT)));
    assert_eq!(
        page["faults"][1],
        json!({
            "number": 4, "at_ms": NOW_MS, "last_at_ms": NOW_MS + 5, "times": 3, "others": 1, "intent": INTENT,
            "version": "1.2.3", "digest": Digest::of(b"component").to_string(), "function": "check-request",
            "request_id": "r-1", "code": "CONTRACT_TRAP", "fault": "the contract trapped: unreachable",
            "message": "no tea", "place": "src/tea.rs:7:9", "input_bytes": 80, "has_input": true
        })
    );
    assert_eq!((&page["faults"][0]["message"], &page["faults"][0]["has_input"]), (&Value::Null, &json!(false)));
    let first = get(&gateway, &format!("{FAULTS}?limit=2")).await.json();
    assert_eq!((numbers(&first), &first["next"]), (vec![5, 4], &json!(4)));
    assert_eq!(numbers(&get(&gateway, &format!("{FAULTS}?limit=2&before=4")).await.json()), [3, 2]);
    // Under another name of the intent, and of one that is not loaded.
    assert_eq!(get(&gateway, "/api/v1/admin/intents/other.seek_things/faults").await.json()["intent"], INTENT);
    assert_eq!(numbers(&get(&gateway, "/api/v1/admin/intents/test.other/faults").await.json()), [6]);
    assert_eq!(reads(&gateway).await, Vec::<Value>::new(), "a list opens nothing");
    for query in ["limit=0", "limit=501", "before=x", "before=-1", "before=9223372036854775808", "after=1"] {
        let answer = get(&gateway, &format!("{FAULTS}?{query}")).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
    let answer = get(&gateway, "/api/v1/admin/intents/nonsense/faults").await;
    assert_eq!(answer.refusal(), refused(404, "INVALID_INTENT"));
}

#[tokio::test]
async fn an_input_is_handed_over_once_it_is_in_the_audit_log_who_reads_it() {
    let gateway = gateway().await;
    let answer = get(&gateway, &format!("{FAULTS}/4")).await;
    assert_eq!(answer.headers["cache-control"], "no-store");
    let file = answer.json();
    assert_eq!(
        (&file["number"], &file["message"], &file["code"]),
        (&json!(4), &json!("no tea"), &json!("CONTRACT_TRAP"))
    );
    assert_eq!(
        file["input"],
        json!({
            "request_id": "r-1", "now_ms": NOW_MS, "function": "check-request", "tool": "find_things",
            "arguments": "{\"name\":\"Asha\"}"
        })
    );
    let reads = reads(&gateway).await;
    assert_eq!(reads.len(), 1);
    assert_eq!((&reads[0]["subject"], &reads[0]["actor"]["subject"]), (&json!(INTENT), &json!("tester")));
    assert_eq!((&reads[0]["detail"]["fault"], &reads[0]["detail"]["version"]), (&json!(4), &json!("1.2.3")));

    let without = get(&gateway, &format!("{FAULTS}/5")).await.json();
    assert_eq!((&without["input"], &without["number"]), (&Value::Null, &json!(5)));
    assert_eq!(self::reads(&gateway).await.len(), 1, "where nothing is opened, nobody has read");
    for number in ["6", "99", "x", "-1", "18446744073709551615"] {
        let answer = get(&gateway, &format!("{FAULTS}/{number}")).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{number}: of another intent, or none");
    }
}

#[tokio::test]
async fn nobody_but_the_platform_team_sees_a_fault() {
    let gateway = gateway().await;
    for path in [FAULTS.to_owned(), format!("{FAULTS}/4")] {
        for role in [Role::Orchestrator, Role::Partner] {
            assert_eq!(gateway.call(Ask::get(&path).role(role)).await.refusal(), refused(403, "FORBIDDEN"));
        }
        assert_eq!(gateway.call(Ask::get(&path)).await.refusal().0, 401);
    }
    assert_eq!(reads(&gateway).await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_input_that_does_not_open_is_not_told() {
    let gateway = Gateway::new().await;
    // Sealed for another fault.
    let of_another = seal_example(&KeptFault { at: Timestamp::from_ms(1), ..fault_of(1) });
    gateway.faults.keep(fault_of(1), Some(of_another));
    let answer = get(&gateway, &format!("{FAULTS}/1")).await;
    assert_eq!(answer.refusal(), refused(500, "INTERNAL_ERROR"));
    assert_eq!(reads(&gateway).await, Vec::<Value>::new());
}
