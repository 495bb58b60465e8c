//! Receipts of rankings: each contract that ships ranks again what a receipt holds, bit for bit; and the way of one
//! through a gateway, its store, a newer version and a restart.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::{Axes, Need};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::{
    Contract, Contracts, Journal, PartnerCalls, PartnerDirectory, Selection, ToolAnswer, ToolCall,
};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::secret::Secret;
use intent_gateway_outbound::Outbound;
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::replay::{Difference, replay};
use intent_gateway_routing::search::{OpenRankings, Searcher};
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, built, request, root, safety_first_contract};
use crate::scripted::Scripted;
use crate::search::honest_slots;

/// When the samples are asked for: 2026-05-03T20:15:00+05:30 in milliseconds since the epoch.
const NOW_MS: u64 = 1_777_819_500_000;
/// Among how many partners a sample's options are dealt out.
const PARTNERS: usize = 3;
/// How long a receipt may take into the store.
const KEPT_MAX: Duration = Duration::from_secs(30);

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(NOW_MS)
    }
}

/// One contract, its samples dealt out among partners, and a journal.
struct World {
    contract: Arc<LoadedContract>,
    partners: Vec<Arc<Partner>>,
    payload: Value,
    receipts: Mutex<Vec<Receipt>>,
}

impl Contracts for World {
    fn live(&self, _: &str) -> Option<Arc<dyn Contract>> {
        Some(self.contract.clone())
    }

    fn find_loaded(&self, _: Digest) -> Option<Arc<dyn Contract>> {
        unreachable!("a search takes the live version")
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        vec![self.contract.clone()]
    }

    fn select_by_cues(&self, _: &str) -> Vec<Arc<dyn Contract>> {
        unreachable!("a search classifies nothing")
    }
}

impl PartnerDirectory for World {
    fn select(&self, _: &str, _: &Need, _: Timestamp) -> Selection {
        Selection { chosen: self.partners.clone(), ..Selection::default() }
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.partners.clone()
    }
}

impl PartnerCalls for World {
    /// Each partner offers every third option of the sample.
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        _: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        let hand = self.partners.iter().position(|one| one.id == partner.id).expect("one of them");
        let mut payload = self.payload.clone();
        let options = payload[&self.contract.descriptor().search.options_key].as_array_mut().expect("a list");
        *options = options.drain(..).skip(hand).step_by(PARTNERS).collect();
        std::future::ready(Ok(ToolAnswer { text: payload.to_string() })).boxed()
    }
}

impl Journal for World {
    fn record(&self, _: Finding) {}

    fn keep(&self, receipt: Receipt) {
        self.receipts.lock().expect("not poisoned").push(receipt);
    }
}

fn sample(package: &str, name: &str) -> Value {
    let path = root().join("plugins").join(package).join("samples").join(name);
    serde_json::from_slice(&std::fs::read(path).expect("the sample is there")).expect("the sample is JSON")
}

/// A partner with signals of its own, none of them a short decimal.
fn partner(intent: &IntentId, hand: usize) -> Arc<Partner> {
    let share = |axis: usize| 1.0 / (3.0 + (hand * 4 + axis) as f64);
    let declared = Axes { time: share(0), taste: share(1), budget: share(2), safety: share(3) };
    let service_area = vec!["IN_ALL".to_owned()];
    Arc::new(Partner {
        id: PartnerId::parse(&format!("partner-{hand}")).expect("well formed"),
        name: String::new(),
        endpoint: Endpoint::mcp("https://partner.example/mcp"),
        mappings: Mappings::new(),
        listings: vec![Listing { intent: intent.clone(), service_area, availability: String::new(), declared }],
        token: None,
    })
}

/// Searches with the samples of a contract and hands over the receipt as it is after it was kept as text.
async fn ranked(package: &str) -> (Arc<World>, Receipt) {
    let component = std::fs::read(built(&format!("contracts/{package}.wasm"))).expect("readable");
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let contract = Arc::new(LoadedContract::compile(&engine, &component).await.expect("the contract loads"));
    let intent = contract.descriptor().intent.clone();
    let partners = (0..PARTNERS).map(|hand| partner(&intent, hand)).collect();
    let payload = sample(package, "payload.json");
    let world = Arc::new(World { contract, partners, payload, receipts: Mutex::default() });
    let searcher = Searcher {
        contracts: world.clone(),
        directory: world.clone(),
        outbound: Arc::new(Outbound::plain(world.clone(), Arc::new(FixedClock))),
        journal: world.clone(),
        clock: Arc::new(FixedClock),
        references: ReferenceSealer::new(&Secret::new("test key")),
        timeout: Duration::from_secs(5),
        open_rankings: OpenRankings::default(),
    };
    let body = sample(package, "request.json").to_string();
    let outcome = searcher.search(intent.as_str(), &body, "made-up".to_owned()).await.expect("searched");
    let kept = serde_json::to_string(&*world.receipts.lock().expect("not poisoned")).expect("serialises");
    let receipts: Vec<Receipt> = serde_json::from_str(&kept).expect("reads");
    let [receipt] = <[Receipt; 1]>::try_from(receipts).expect("one receipt");
    assert_eq!(outcome.receipt.as_deref(), Some(receipt.id.as_str()));
    assert_eq!(outcome.options.len(), receipt.ranked.len());
    (world, receipt)
}

/// A receipt of this contract's samples replays; with one number of the best option changed, it does not.
async fn replays(package: &str, pointer: &str) {
    let (world, receipt) = ranked(package).await;
    assert!(receipt.ranked.len() > PARTNERS && receipt.payloads.len() == PARTNERS, "{:?}", receipt.ranked);
    // In a sandbox of its own, as after a restart.
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let component = std::fs::read(built(&format!("contracts/{package}.wasm"))).expect("readable");
    let again = LoadedContract::compile(&engine, &component).await.expect("the contract loads");
    for contract in [&*world.contract, &again] {
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
async fn kept(gateway: &Gateway, request_id: &str, count: usize) -> Vec<String> {
    let deadline = Instant::now() + KEPT_MAX;
    loop {
        let path = format!("/api/v1/admin/receipts?request_id={request_id}");
        let answer = gateway.call("GET", &path, Some(gateway.admin_token()), None).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let receipts: Vec<String> = serde_json::from_value(answer.body["receipts"].clone()).expect("a list");
        if receipts.len() >= count {
            return receipts;
        }
        assert!(Instant::now() < deadline, "{count} receipts are not kept: {}", gateway.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
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
    assert_eq!(kept(&gateway, "asked-once", 1).await, [id.as_str()]);

    // An orchestrator has the identifier and no more.
    let path = format!("/api/v1/admin/receipts/{id}");
    let answer = gateway.call("GET", &path, Some(gateway.orchestrator_token()), None).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (403, &json!("FORBIDDEN")));

    let uploaded = gateway.upload(&std::fs::read(safety_first_contract()).expect("readable")).await;
    assert_eq!((uploaded.status, &uploaded.body["live"]), (201, &json!(true)), "{}", uploaded.body);
    let second = gateway.found(&body).await;
    assert_ne!(first["contract"], second["contract"]);
    let both = [second["receipt"].as_str().expect("an identifier"), &id];
    assert_eq!(kept(&gateway, "asked-once", 2).await, both, "newest first");

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
