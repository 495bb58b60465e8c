//! A new version reaches everybody step by step, or is taken back, over two gateways of a store.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalogue::{component, gateway, serves};
use crate::fleet::{all_know, metrics, postgres, sqlite};
use crate::harness::{Gateway, ac_contract, eventually, request, safety_first_contract};
use crate::scripted::Scripted;
use crate::search::honest_slots;

const INTENT: &str = "auto.book_ac_service";
const USERS: usize = 12;

async fn rollout(gateway: &Gateway) -> Value {
    gateway.admin_get(&format!("/intents/{INTENT}/rollout")).await
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
    eventually(what, &gateways[0], async || {
        version_for(&gateways[searches % 2], searches % USERS).await;
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
    let path = "/api/v1/admin/contracts?activate=false";
    let candidate: &'static [u8] = component(safety_first_contract()).leak();
    let loaded = other.post_file(path, "application/wasm", candidate, other.admin_token()).await;
    assert_eq!(loaded.status, 201, "{loaded:?}");
    let digest = loaded.body["digest"].as_str().expect("a digest").to_owned();
    (gateways, digest)
}

async fn promote(gateway: &Gateway, digest: &str, policy: Value) {
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
        promote(&gateways[0], &digest, json!({"stages": [stage(0, 5), stage(50, 60)], "bounds": bounds})).await;

        // Nobody is served by it, and what the live version ranks is compared.
        let told = search_until(&gateways, "nothing is compared", |told| told["rollout"]["stage"] == 1).await;
        assert!(told["rollout"]["seen"][0]["compared"].as_u64() >= Some(5), "{told}");
        assert_eq!(told["rollout"]["seen"][0]["served"], 0, "{told}");

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
