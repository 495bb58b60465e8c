//! Receipts of rankings: each contract that ships ranks again what a receipt holds, bit for bit; and the way of one
//! through a gateway, its store, a newer version and a restart.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::contract::{Axes, Descriptor};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::secret::Secret;
use intent_gateway_outbound::Outbound;
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::replay::{Difference, replay};
use intent_gateway_routing::search::{Searcher, ShownRankings};
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::directory::{self, GivenPartners};
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::partners::ScriptedPartners;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, built, eventually, request, root, safety_first_contract};
use crate::scripted::Scripted;
use crate::search::honest_slots;

/// When the samples are asked for: 2026-05-03T20:15:00+05:30 in milliseconds since the epoch.
const NOW_MS: u64 = 1_777_819_500_000;
/// Among how many partners a sample's options are dealt out.
const PARTNERS: usize = 3;

fn sample(package: &str, name: &str) -> Value {
    let path = root().join("plugins").join(package).join("samples").join(name);
    serde_json::from_slice(&std::fs::read(path).expect("the sample is there")).expect("the sample is JSON")
}

/// A partner with signals of its own, none of them a short decimal.
fn partner(intent: &IntentId, hand: usize) -> Partner {
    let share = |axis: usize| 1.0 / (3.0 + (hand * 4 + axis) as f64);
    let mut partner = directory::partner(&format!("partner-{hand}"), &[intent.as_str()]);
    partner.listings[0].declared = Axes { time: share(0), taste: share(1), budget: share(2), safety: share(3) };
    partner
}

/// Partners each of whom offers every third option of a sample.
fn dealt_out(payload: &Value, options_key: &str) -> ScriptedPartners {
    let calls = ScriptedPartners::default();
    for hand in 0..PARTNERS {
        let mut payload = payload.clone();
        let options = payload[options_key].as_array_mut().expect("a list");
        *options = options.drain(..).skip(hand).step_by(PARTNERS).collect();
        calls.reply(&format!("partner-{hand}"), payload);
    }
    calls
}

/// Searches with the samples of a contract and hands over the receipt as it is after it was kept as text.
async fn ranked(package: &str) -> (Arc<LoadedContract>, Receipt) {
    let component = std::fs::read(built(&format!("contracts/{package}.wasm"))).expect("readable");
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let contract = Arc::new(LoadedContract::compile(&engine, &component).await.expect("the contract loads"));
    let Descriptor { intent, search, .. } = contract.descriptor();
    let (clock, journal) = (TestClock::at(NOW_MS), Arc::new(MemoryJournal::default()));
    let calls = dealt_out(&sample(package, "payload.json"), &search.options_key);
    let searcher = Searcher {
        contracts: Catalogue::of([contract.clone()]),
        directory: GivenPartners::of((0..PARTNERS).map(|hand| partner(intent, hand))),
        outbound: Arc::new(Outbound::plain(Arc::new(calls), clock.clone())),
        journal: journal.clone(),
        clock,
        references: ReferenceSealer::new(&Secret::new("test key")),
        timeout: Duration::from_secs(5),
        shown_rankings: ShownRankings::new(1024 * 1024),
        past_orders: None,
        rollouts: None,
    };
    let body = sample(package, "request.json").to_string();
    let outcome = searcher.search(intent.as_str(), &body, "made-up".to_owned()).await.expect("searched");
    let kept = serde_json::to_string(&journal.only_receipt()).expect("serialises");
    let receipt: Receipt = serde_json::from_str(&kept).expect("reads");
    assert_eq!(outcome.receipt.as_deref(), Some(receipt.id.as_str()));
    assert_eq!(outcome.options.len(), receipt.ranked.len());
    (contract, receipt)
}

/// A receipt of this contract's samples replays; with one number of the best option changed, it does not.
async fn replays(package: &str, pointer: &str) {
    let (contract, receipt) = ranked(package).await;
    assert!(receipt.ranked.len() > PARTNERS && receipt.payloads.len() == PARTNERS, "{:?}", receipt.ranked);
    // In a sandbox of its own, as after a restart.
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let component = std::fs::read(built(&format!("contracts/{package}.wasm"))).expect("readable");
    let again = LoadedContract::compile(&engine, &component).await.expect("the contract loads");
    for contract in [&*contract, &again] {
        let replayed = replay(&receipt, contract).await.expect("replayed");
        assert!(replayed.same && replayed.found == Some(receipt.outcome), "{:?}", replayed.difference);
    }

    let mut altered = receipt.clone();
    let best = altered.ranked[0].number;
    let candidates = altered.payloads.iter_mut().flat_map(|payload| &mut payload.candidates);
    let candidate = candidates.into_iter().find(|candidate| candidate.number == best).expect("it was offered");
    let mut option: Value = serde_json::from_str(candidate.json.get()).expect("JSON");
    let number = option.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is there"));
    *number = json!(number.as_f64().expect("a number") - 0.1);
    candidate.json = to_raw_value(&option).expect("JSON");
    let replayed = replay(&altered, &again).await.expect("replayed");
    assert!(!replayed.same && replayed.found.is_some_and(|found| found != receipt.outcome));
    assert!(matches!(replayed.difference, Some(Difference::Ranked { .. })), "{:?}", replayed.difference);

    let mut declared = receipt.clone();
    declared.payloads[0].declared.safety += 0.25;
    assert!(!replay(&declared, &again).await.expect("replayed").same, "the declared signals count");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_car_ac_service_replay() {
    replays("auto-book-ac-service", "/provider/distance_from_user_km").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_motor_insurance_replay() {
    replays("finance-buy-motor-insurance", "/insurer/claim_settlement_ratio_pct").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_yoga_classes_replay() {
    replays("lifestyle-book-yoga-class", "/yoga_studio/ratings/recent_30day_score").await;
}

/// Runs `intent-gateway receipt` as the platform team: exit code and standard output.
fn command(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("receipt").args(arguments).args(["--gateway", &gateway.server.url]);
    let output = command.env("INTENT_GATEWAY_TOKEN", gateway.admin_token()).output().expect("runs");
    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
}

/// The receipts of a request, as soon as there are so many.
async fn receipts_of(gateway: &Gateway, request_id: &str, count: usize) -> Vec<String> {
    eventually(&format!("{count} receipts are not kept"), gateway, async || {
        let path = format!("/api/v1/admin/receipts?request_id={request_id}");
        let answer = gateway.call("GET", &path, Some(gateway.admin_token()), None).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let receipts: Vec<String> = serde_json::from_value(answer.body["receipts"].clone()).expect("a list");
        (receipts.len() >= count).then_some(receipts)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ranking_replays_under_its_own_version_whatever_is_live() {
    let partner = Scripted::with_slots(honest_slots().await.into()).await;
    let mut gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let mut body = request();
    body["request_id"] = json!("asked-once");
    let first = gateway.found(&body).await;
    let id = first["receipt"].as_str().expect("an identifier").to_owned();
    assert_eq!(receipts_of(&gateway, "asked-once", 1).await, [id.as_str()]);

    // An orchestrator has the identifier and no more.
    let path = format!("/api/v1/admin/receipts/{id}");
    let answer = gateway.call("GET", &path, Some(gateway.orchestrator_token()), None).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (403, &json!("FORBIDDEN")));

    let uploaded = gateway.upload(&std::fs::read(safety_first_contract()).expect("readable")).await;
    assert_eq!((uploaded.status, &uploaded.body["live"]), (201, &json!(true)), "{}", uploaded.body);
    let second = gateway.found(&body).await;
    assert_ne!(first["contract"], second["contract"]);
    let both = [second["receipt"].as_str().expect("an identifier"), &id];
    assert_eq!(receipts_of(&gateway, "asked-once", 2).await, both, "newest first");

    for _ in 0..2 {
        for (id, ranking) in [(both[0], &second), (both[1], &first)] {
            let (code, text) = command(&gateway, &["replay", id, "--json"]);
            let replayed: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!((code, &replayed["same"]), (Some(0), &json!(true)), "{replayed}");
            assert_eq!(replayed["contract"], ranking["contract"]);
            let (_, text) = command(&gateway, &["show", id, "--json"]);
            let receipt: Value = serde_json::from_str(&text).expect("JSON");
            let totals = |list: &Value| -> Vec<Value> {
                list.as_array().expect("a list").iter().map(|one| one["total"].clone()).collect()
            };
            assert_eq!(totals(&receipt["ranked"]), totals(&ranking["options"]));
        }
        gateway = gateway.restart();
    }

    let (code, text) = command(&gateway, &["show", &id]);
    assert!(code == Some(0) && text.contains(&id) && !text.contains("blows warm air"), "{text}");
    let (code, text) = command(&gateway, &["list", "--request-id", "asked-once"]);
    assert_eq!((code, text.lines().collect::<Vec<_>>()), (Some(0), both.to_vec()));
    let (code, text) = command(&gateway, &["replay", "rank_0", "--json"]);
    assert_eq!(code, Some(1));
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON")["error"]["code"], "NOT_FOUND");
}
