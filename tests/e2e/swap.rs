//! Contracts change while searches are in flight: no request fails, every answer is wholly of one version.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, request, safety_first_contract};
use crate::scripted::Scripted;
use crate::search::honest_slots;

const SWAPS: usize = 200;
const CLIENTS: usize = 4;

/// What of an answer depends on the contract's version.
fn judgement(answer: &Value) -> Value {
    let options = answer["options"].as_array().expect("a list").iter();
    let options: Vec<_> = options
        .map(|option| json!([option["option"]["slot_id"], option["total"], option["axes"], option["card"]]))
        .collect();
    json!([answer["contract"], options])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_swaps_under_load_fail_no_request() {
    let partner = Scripted::with_slots(honest_slots().await.into()).await;
    let gateway = Arc::new(Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    }));
    let mut body = request();
    body["request_id"] = "fixed".into();

    let mut expected = BTreeMap::new();
    let mut digests = Vec::new();
    let uploaded = std::fs::read(safety_first_contract()).expect("readable");
    for version in ["1.0.0", "1.0.1"] {
        if version == "1.0.1" {
            let answer = gateway.upload(&uploaded).await;
            assert!(answer.status == 200 || answer.status == 201, "{answer:?}");
        }
        let answer = gateway.found(&body).await;
        assert_eq!(answer["contract"]["version"], version);
        digests.push(answer["contract"]["digest"].as_str().expect("a digest").to_owned());
        expected.insert(version.to_owned(), judgement(&answer));
    }
    assert_ne!(expected["1.0.0"][1], expected["1.0.1"][1], "the versions rank differently");

    let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (gateway, body, expected) = (gateway.clone(), body.clone(), expected.clone());
            let (stop, answered) = (stop.clone(), answered.clone());
            tokio::spawn(async move {
                let mut versions = BTreeMap::<String, usize>::new();
                while !stop.load(Ordering::Relaxed) {
                    let answer = gateway.found(&body).await;
                    let version = answer["contract"]["version"].as_str().expect("a version").to_owned();
                    assert_eq!(judgement(&answer), expected[&version]);
                    *versions.entry(version).or_default() += 1;
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                versions
            })
        })
        .collect();
    for swap in 0..SWAPS {
        // Each swap waits for an answer in between, so that every version is really asked under load.
        let before = answered.load(Ordering::Relaxed);
        let answer = gateway.admin_post(&format!("/contracts/{}/activate", digests[swap % 2])).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        while answered.load(Ordering::Relaxed) == before && !clients.iter().any(tokio::task::JoinHandle::is_finished) {
            tokio::task::yield_now().await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let mut versions = BTreeMap::<String, usize>::new();
    for client in clients {
        for (version, count) in client.await.expect("no request failed") {
            *versions.entry(version).or_default() += count;
        }
    }
    assert!(versions.values().sum::<usize>() >= SWAPS, "{versions:?}");
    assert_eq!(versions.len(), 2, "both versions were met: {versions:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_watched_folder_ships_and_a_restart_keeps() {
    let partner = Scripted::with_slots(json!([])).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let folder = gateway.folder.path().join("contracts");
    std::fs::copy(safety_first_contract(), folder.join("next.partial")).expect("copied");
    std::fs::rename(folder.join("next.partial"), folder.join("next.wasm")).expect("renamed");
    gateway.wait_for_version("1.0.1").await;

    // A file that is not a contract is told about, and changes nothing.
    std::fs::write(folder.join("broken.partial"), b"not a component").expect("written");
    std::fs::rename(folder.join("broken.partial"), folder.join("broken.wasm")).expect("renamed");
    let failure = loop {
        let failures = gateway.admin_get("/contracts/failures").await;
        if let Some(failure) = failures["failures"].as_array().and_then(|failures| failures.first()) {
            break failure.clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(failure["code"], "NOT_A_COMPONENT", "{failure}");
    assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.1");

    let gateway = gateway.restart();
    assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.1");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_survives_a_restart_and_a_rollback_holds() {
    let partner = Scripted::with_slots(json!([])).await;
    let gateway =
        Gateway::start(&GatewayOptions { partners: vec![partner.entry("scripted")], ..GatewayOptions::default() });
    assert_eq!(gateway.search(&request()).await.status, 404);
    let first = gateway.upload(&std::fs::read(ac_contract()).expect("readable")).await;
    let second = gateway.upload(&std::fs::read(safety_first_contract()).expect("readable")).await;
    assert_eq!((&first.body["version"], &second.body["version"]), (&json!("1.0.0"), &json!("1.0.1")));
    let digest = first.body["digest"].as_str().expect("a digest");
    assert_eq!(gateway.admin_post(&format!("/contracts/{digest}/activate")).await.status, 200);

    let gateway = gateway.restart();
    assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.0");

    // What was taken back does not come again because somebody sent it once more.
    let again = gateway.upload(&std::fs::read(safety_first_contract()).expect("readable")).await;
    assert_eq!((again.status, &again.body["known"], &again.body["live"]), (200, &json!(true), &json!(false)));
    assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.0");

    // Who, when and whence: with the version, and in the audit log.
    let listed = gateway.admin_get("/contracts").await;
    let acts = |version: &Value| {
        let history = version["history"].as_array().expect("a list").iter();
        history.map(|event| format!("{} {}", event["act"], event["whence"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(acts(&listed["contracts"][0]), ["loaded upload", "went_live upload", "went_live activation"]);
    assert_eq!(acts(&listed["contracts"][1]), ["loaded upload", "went_live upload"]);
    let by = &listed["contracts"][0]["loaded_by"];
    assert_eq!((&by["role"], by["subject"].is_string()), (&json!("admin"), true), "{by}");
    let log = gateway.admin_get("/audit?subject=auto.book_ac_service").await;
    let entries = log["entries"].as_array().expect("a list");
    let actions: Vec<_> = entries.iter().filter_map(|entry| entry["action"].as_str()).collect();
    let (loaded, live) = ("contract.loaded", "contract.went_live");
    assert_eq!(actions, [loaded, live, loaded, live, live], "{log}");
    assert!(entries.iter().all(|entry| entry["actor"] == *by), "{log}");
}
