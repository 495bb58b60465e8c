//! A new version reaches everybody step by step, or is taken back, over two gateways of a store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use intent_gateway_testing::draws::Draws;
use serde_json::{Value, json};
use test_servers::soak;

use crate::catalogue::{component, gateway, serves};
use crate::fleet::{FlipTimes, all_know, metrics, postgres, sqlite};
use crate::harness::{Gateway, ac_contract, eventually, eventually_beside, request, safety_first_contract};
use crate::scripted::Scripted;
use crate::search::honest_slots;

const INTENT: &str = "auto.book_ac_service";
const USERS: usize = 12;
/// Changes of what serves, under load: in every run, and in a soak. In every fourth a gateway is killed, and another one started.
const ACTS: [usize; 2] = [6, 100];

async fn rollout(gateway: &Gateway) -> Value {
    rollout_of(gateway, INTENT).await
}

pub(crate) async fn rollout_of(gateway: &Gateway, intent: &str) -> Value {
    gateway.admin_get(&format!("/intents/{intent}/rollout")).await
}

/// Loads a version that is not to serve yet; its digest.
pub(crate) async fn load_beside(gateway: &Gateway, component: Vec<u8>) -> String {
    let path = "/api/v1/admin/contracts?activate=false";
    let loaded = gateway.post_file(path, "application/wasm", component.leak(), gateway.admin_token()).await;
    assert_eq!(loaded.status, 201, "{loaded:?}");
    loaded.body["digest"].as_str().expect("a digest").to_owned()
}

/// The version that answers a user.
async fn version_for(gateway: &Gateway, user: usize) -> String {
    let path = format!("/api/v1/intents/{INTENT}/search");
    let token = Some(gateway.orchestrator_token());
    let answer = gateway.call_for(&format!("user-{user}"), "POST", &path, token, Some(&request())).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let receipt = answer.body["receipt"].as_str();
    assert!(receipt.is_some(), "{answer:?}");
    answer.body["contract"]["version"].as_str().expect("a version").to_owned()
}

/// Searches until something holds of the rollouts, which are told.
async fn search_until(gateways: &[Gateway; 2], what: &str, mut holds: impl FnMut(&Value) -> bool) -> Value {
    let mut searches = 0;
    eventually_beside(what, &gateways[0], async || {
        for user in 0..USERS {
            version_for(&gateways[(searches + user) % 2], user).await;
        }
        searches += 1;
        let told = rollout(&gateways[searches % 2]).await;
        holds(&told).then_some(told)
    })
    .await
}

/// Two gateways that serve 1.0.0 and have 1.0.1 loaded; its digest.
async fn two_gateways(store: &crate::fleet::SharedStore, partner: &Scripted) -> ([Gateway; 2], String) {
    let partner = partner.entry("scripted");
    let gateways = [gateway(store, &partner), gateway(store, &partner)];
    let [one, other] = &gateways;
    all_know(&[one, other], 2).await;
    one.upload(&component(ac_contract())).await;
    serves(&[one, other], Some("1.0.0")).await;
    let digest = load_beside(other, component(safety_first_contract())).await;
    (gateways, digest)
}

pub(crate) async fn promote(gateway: &Gateway, digest: &str, policy: Value) {
    let order = json!({"why": "the test", "policy": policy});
    let begun = eventually("the version is not ready", gateway, async || {
        let answer = gateway.admin_send(&format!("/contracts/{digest}/promote"), &order).await;
        (answer.status != 404).then_some(answer)
    })
    .await;
    assert_eq!(begun.status, 201, "{begun:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_reaches_everybody_step_by_step() {
    let partner = Scripted::with_slots(honest_slots().await.into()).await;
    for store in postgres().into_iter().chain([sqlite()]) {
        let (gateways, digest) = two_gateways(&store, &partner).await;
        let stage = |share_percent, decisions| json!({"share_percent": share_percent, "compare_percent": 100, "decisions": decisions});
        // It ranks otherwise, and is meant to.
        let bounds = json!({"first_changed": null, "dropped": null, "reordered": null});
        promote(&gateways[0], &digest, json!({"stages": [stage(0, 5), stage(50, 40)], "bounds": bounds})).await;

        // Nobody is served by it, and what the live version ranks is compared.
        let told = search_until(&gateways, "nothing is compared", |told| told["rollout"]["stage"] == 1).await;
        assert!(told["rollout"]["seen"][0]["compared"].as_u64() >= Some(5), "{told}");
        assert_eq!(told["rollout"]["seen"][0]["served"], 0, "{told}");

        let status = gateways[1].admin_get(&format!("/contracts/status?intent={INTENT}")).await;
        let trying = &status["intents"][0]["rollout"];
        assert_eq!(
            (&trying["version"], &trying["stages"], &trying["share_percent"]),
            (&json!("1.0.1"), &json!(2), &json!(50.0))
        );

        // Both gateways tell the users apart alike.
        let sides = async || {
            let mut sides: [BTreeMap<usize, String>; 2] = Default::default();
            for (gateway, sides) in gateways.iter().zip(&mut sides) {
                for user in 0..USERS {
                    sides.insert(user, version_for(gateway, user).await);
                }
            }
            sides
        };
        let has_begun = |sides: &BTreeMap<usize, String>| sides.values().any(|version| version == "1.0.1");
        eventually("the share is not served", &gateways[0], async || sides().await.iter().all(has_begun).then_some(()))
            .await;
        let sides = sides().await;
        assert_eq!(sides[0], sides[1]);
        assert!(sides[0].values().any(|version| version == "1.0.0"), "{sides:?}");
        let seen = search_until(&gateways, "it is not live", |told| told["rollout"].is_null()).await;
        assert_eq!(seen["last"]["end"], "live", "{seen}");
        serves(&[&gateways[0], &gateways[1]], Some("1.0.1")).await;
        let compared = metrics(&gateways[0]).await;
        let line = compared.lines().find(|line| line.starts_with("intent_gateway_rollout_comparisons_total{"));
        assert!(line.is_some_and(|line| line.contains(INTENT)), "{compared}");
        let acts = gateways[1].admin_get(&format!("/audit?subject={INTENT}")).await;
        let acts: Vec<&str> =
            acts["entries"].as_array().expect("a list").iter().filter_map(|entry| entry["action"].as_str()).collect();
        for act in ["contract.rollout_begun", "contract.stage_begun", "contract.went_live"] {
            assert!(acts.contains(&act), "{acts:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_ranks_otherwise_than_it_may_is_taken_back_everywhere() {
    let partner = Scripted::with_slots(honest_slots().await.into()).await;
    for store in postgres().into_iter().chain([sqlite()]) {
        let (gateways, digest) = two_gateways(&store, &partner).await;
        let stages = json!([{"share_percent": 100 - 1, "compare_percent": 100, "decisions": 1_000_000}]);
        // Its scores change everywhere, which nobody has announced.
        let bounds = json!({"first_changed": 0, "reordered": 0});
        promote(&gateways[1], &digest, json!({"stages": stages, "bounds": bounds})).await;
        let told = search_until(&gateways, "it is not taken back", |told| told["rollout"].is_null()).await;
        let last = &told["last"];
        assert_eq!((&last["end"], &last["by"]["role"]), (&json!("taken_back"), &json!("gateway")), "{told}");
        let receipt = last["broken"][0]["receipts"][0].as_str().expect("an example");
        let shown = gateways[0].admin_get(&format!("/receipts/{receipt}")).await;
        assert_eq!(shown["id"], json!(receipt), "{shown}");
        for gateway in &gateways {
            eventually("it still serves somebody", gateway, async || {
                let mut versions = Vec::new();
                for user in 0..USERS {
                    versions.push(version_for(gateway, user).await);
                }
                versions.iter().all(|version| version == "1.0.0").then_some(())
            })
            .await;
        }
    }
}

/// Which versions are wanted, from when on.
#[derive(Clone)]
struct Wanted(Arc<Mutex<Vec<BTreeSet<String>>>>);

impl Wanted {
    fn set(&self, versions: &[&str]) {
        self.0
            .lock()
            .expect("no test panics in it")
            .push(versions.iter().map(|version| (*version).to_owned()).collect());
    }

    fn now(&self) -> usize {
        self.0.lock().expect("no test panics in it").len() - 1
    }

    /// All that were wanted at some time since then.
    fn since(&self, then: usize) -> BTreeSet<String> {
        self.0.lock().expect("no test panics in it")[then..].iter().flatten().cloned().collect()
    }
}

/// Gateways that come and go, and clients that search at all of them.
struct Fleet {
    gateways: Arc<RwLock<Vec<Arc<Gateway>>>>,
    wanted: Wanted,
    stop: Arc<AtomicBool>,
    searches: Arc<AtomicUsize>,
}

impl Fleet {
    fn all(&self) -> Vec<Arc<Gateway>> {
        self.gateways.read().expect("no test panics in it").clone()
    }

    fn first(&self) -> Arc<Gateway> {
        self.all().remove(0)
    }

    /// Searches for users in turn. A gateway that was killed is left alone; nothing else may go wrong.
    async fn search(
        gateways: Arc<RwLock<Vec<Arc<Gateway>>>>,
        wanted: Wanted,
        stop: Arc<AtomicBool>,
        searches: Arc<AtomicUsize>,
    ) {
        let path = format!("/api/v1/intents/{INTENT}/search");
        while !stop.load(Ordering::Relaxed) {
            let number = searches.fetch_add(1, Ordering::Relaxed);
            let chosen = {
                let all = gateways.read().expect("no test panics in it");
                all[number % all.len()].clone()
            };
            let (then, user) = (wanted.now(), format!("user-{}", number % USERS));
            let token = Some(chosen.orchestrator_token());
            let answer = match chosen.try_call_for(&user, "POST", &path, token, Some(&request())).await {
                Ok(answer) => answer,
                Err(error) => {
                    let all = gateways.read().expect("no test panics in it");
                    let serves = all.iter().any(|gateway| Arc::ptr_eq(gateway, &chosen));
                    assert!(!serves, "a gateway that lives does not answer: {error}");
                    continue;
                }
            };
            assert_eq!(answer.status, 200, "{answer:?}");
            let version = answer.body["contract"]["version"].as_str().expect("a version");
            let allowed = wanted.since(then);
            assert!(allowed.contains(version), "{version} answers where {allowed:?} were wanted: {answer:?}");
            assert!(!answer.body["options"].as_array().expect("a list").is_empty(), "{answer:?}");
        }
    }

    /// Waits until each of the users gets this version at every gateway.
    async fn all_get(&self, version: &str) {
        for gateway in self.all() {
            eventually(&format!("{version} does not serve everybody"), &gateway, async || {
                for user in 0..USERS {
                    if version_for(&gateway, user).await != version {
                        return None;
                    }
                }
                Some(())
            })
            .await;
        }
    }

    async fn act(&self, act: &str) {
        let order = json!({"act": act, "why": "the test"});
        let answer = self.first().admin_send(&format!("/intents/{INTENT}/rollout"), &order).await;
        assert_eq!(answer.status, 200, "{act}: {answer:?}");
    }
}

/// A version of the same contract under another number. The number stands in the component as text.
fn renumbered(number: usize) -> (String, Vec<u8>) {
    let number = 110 + number;
    let version = format!("{}.{}.{}", number / 100, number / 10 % 10, number % 10);
    let mut component = component(safety_first_contract());
    let from = b"1.0.1";
    let places: Vec<usize> =
        (0..component.len() - from.len()).filter(|at| component[*at..].starts_with(from)).collect();
    for at in places {
        component[at..at + from.len()].copy_from_slice(version.as_bytes());
    }
    (version, component)
}

impl Fleet {
    /// Brings a version to everybody, and revokes it: what served before serves again.
    async fn bring_and_revoke(&self, number: usize, now: &str) {
        let (version, component) = renumbered(number);
        self.wanted.set(&[now, &version]);
        let loaded = self.first().upload(&component).await;
        assert_eq!(loaded.status, 201, "{loaded:?}");
        self.all_get(&version).await;
        self.wanted.set(&[&version, now]);
        let order = json!({"component": loaded.body["digest"], "reason": "the test"});
        let revoked = self.first().admin_send("/contracts/revocations", &order).await;
        assert_eq!(revoked.status, 201, "{revoked:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rollouts_under_load_fail_no_search_while_gateways_die_and_start() {
    let Some(store) = postgres() else { return };
    let partner = Scripted::with_slots(honest_slots().await.into()).await;
    let (gateways, candidate) = two_gateways(&store, &partner).await;
    let listed = gateways[0].admin_get("/contracts").await;
    let live = listed["contracts"][0]["digest"].as_str().expect("a digest").to_owned();
    let mut gateways: Vec<_> = gateways.into_iter().map(Arc::new).collect();
    gateways.push(Arc::new(gateway(&store, &partner.entry("scripted"))));
    let fleet = Fleet {
        gateways: Arc::new(RwLock::new(gateways)),
        wanted: Wanted(Arc::default()),
        stop: Arc::default(),
        searches: Arc::default(),
    };
    fleet.wanted.set(&["1.0.0"]);
    fleet.all_get("1.0.0").await;
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let Fleet { gateways, wanted, stop, searches } = &fleet;
            tokio::spawn(Fleet::search(gateways.clone(), wanted.clone(), stop.clone(), searches.clone()))
        })
        .collect();

    // Nothing of what is seen ends a stage: that is left to the test.
    let stage = |share_percent| json!({"share_percent": share_percent, "compare_percent": 20, "decisions": 1_000_000});
    let bounds = json!({"first_changed": null, "dropped": null});
    let policy = json!({"stages": [stage(0), stage(50)], "bounds": bounds});
    let versions = [("1.0.0", live.as_str()), ("1.0.1", candidate.as_str())];
    let (mut at, mut draws) = (0, Draws::seeded(20));
    let mut flips = FlipTimes::default();
    let [short, long] = ACTS;
    for number in 0..soak::choose(short, long) {
        let ((now, _), (next, digest)) = (versions[at], versions[1 - at]);
        let killed = (number % 4 == 1).then(|| {
            let mut all = fleet.gateways.write().expect("no test panics in it");
            let at = (draws.draw() * all.len() as f64) as usize;
            all.remove(at)
        });
        if let Some(gateway) = &killed {
            flips.add(gateway).await;
            gateway.server.kill();
        }
        // In each run one is revoked.
        let becomes_live = match if number == 2 { 3 } else { (draws.draw() * 4.0) as usize } {
            3 => {
                fleet.bring_and_revoke(number, now).await;
                false
            }
            0 => {
                fleet.wanted.set(&[now, next]);
                let answer = fleet.first().admin_post(&format!("/contracts/{digest}/activate")).await;
                assert_eq!(answer.status, 200, "{answer:?}");
                true
            }
            kind => {
                promote(&fleet.first(), digest, policy.clone()).await;
                fleet.wanted.set(&[now, next]);
                fleet.act("advance").await;
                fleet.act(if kind == 1 { "finish" } else { "abort" }).await;
                kind == 1
            }
        };
        if killed.is_some() {
            let new = gateway(&store, &partner.entry("scripted"));
            fleet.gateways.write().expect("no test panics in it").push(Arc::new(new));
        }
        at = if becomes_live { 1 - at } else { at };
        fleet.all_get(versions[at].0).await;
        fleet.wanted.set(&[versions[at].0]);
    }
    fleet.stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.expect("no search failed");
    }
    let searches = fleet.searches.load(Ordering::Relaxed);
    assert!(searches > 100, "{searches}");
    let left = fleet.gateways.read().expect("no test panics in it").clone();
    for gateway in &left {
        flips.add(gateway).await;
    }
    flips.print();
    assert!(flips.count() > 0, "none was counted");
}
