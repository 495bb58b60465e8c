//! Candidates that are faulty, each in a way of its own: a rollout under its usual bounds takes them back before they serve anybody.

use serde_json::{Value, json};
use test_servers::soak;

use crate::harness::{Gateway, GatewayOptions, eventually, eventually_beside};
use crate::hostile_guests::hostile;
use crate::rollouts::{load_beside, promote, rollout_of};
use crate::scripted::{Behaviour, Scripted};

const INTENT: &str = "test.hostile";
/// What a version does that is faulty: its mode (tests/guests/hostile), and the bound that it breaks.
const FAULTY: [(&str, &str); 10] = [
    ("1:trap", "faults"),
    ("1:spin", "deadline_misses"),
    ("1:dawdle", "slow"),
    ("1:memory", "faults"),
    ("1:card is no object", "faults"),
    ("1:drop the first", "dropped"),
    ("1:exchange the first two", "first_changed"),
    ("1:exchange the last two", "reordered"),
    ("1:drop all", "empty"),
    ("10:trap", "faults"),
];
/// Searches within which one that fails one call in ten is taken back (99.9 % of them by chance; these requests are always the same),
/// and the others, which fail each.
const SEARCHES_MAX: usize = 100;
/// How often it is looked meanwhile whether it was taken back.
const LOOKS: usize = 20;
/// One that fails one call in a thousand, and its searches; in a soak alone, for it may take all of them.
const RARELY_FAULTY: (&str, &str) = ("1000:trap", "faults");
const RARE_SEARCHES_MAX: usize = 5_000;

/// Rolls a faulty version out beside serving and searches until it is taken back, within so many searches.
async fn take_back(gateway: &Gateway, number: usize, (mode, measure): (&str, &str), searches_max: usize) {
    let version = format!("1.{number}.0");
    let digest = load_beside(gateway, hostile(&version, mode)).await;
    let stages = json!([{"share_percent": 0, "compare_percent": 100, "decisions": 1_000_000}]);
    // The others are the usual ones; that order is kept is bounded for whoever asks for it.
    promote(gateway, &digest, json!({"stages": stages, "bounds": {"reordered": 0.2}})).await;

    let search = async |number: usize| {
        let request = json!({"request_id": format!("{version}-{number}")});
        let answer = gateway.post(&format!("/api/v1/intents/{INTENT}/search"), &request).await;
        let served = (answer.status, &answer.body["contract"]["version"]);
        assert_eq!(served, (200, &json!("1.0.0")), "{mode}: {answer:?}");
    };
    // It begins a moment after it was ordered.
    let mut begun = 0;
    let before = eventually_beside("nothing is compared", gateway, async || {
        begun += 1;
        search(begun).await;
        count_compared(&rollout_of(gateway, INTENT).await).filter(|compared| *compared > 0)
    })
    .await;
    let mut searches = 0;
    let told = loop {
        let told = rollout_of(gateway, INTENT).await;
        if told["rollout"].is_null() {
            break told;
        }
        if is_broken(&told) {
            // It is looked every second whether one is to be taken back.
            break eventually("it is not taken back", gateway, async || {
                Some(rollout_of(gateway, INTENT).await).filter(|told| told["rollout"].is_null())
            })
            .await;
        }
        assert!(searches < searches_max, "{mode}: it is there after {searches} searches: {told}");
        for _ in 0..searches_max / LOOKS {
            searches += 1;
            search(begun + searches).await;
        }
        // A comparison that has not been made yet, or is not in the store yet, must not cost searches.
        eventually_beside("a search is not compared", gateway, async || {
            count_compared(&rollout_of(gateway, INTENT).await)
                .filter(|compared| *compared >= before.saturating_add(searches as u64))
        })
        .await;
    };
    let last = &told["last"];
    assert_eq!(
        (&last["end"], &last["candidate"]["version"]),
        (&json!("taken_back"), &json!(version)),
        "{mode}: {told}"
    );
    let broken: Vec<&str> =
        last["broken"].as_array().expect("bounds").iter().filter_map(|one| one["measure"].as_str()).collect();
    assert!(broken.contains(&measure), "{mode}: {told}");
    assert_eq!(last["by"]["role"], "gateway", "{mode}: {told}");
}

/// Whether what is known breaks a bound.
fn is_broken(told: &Value) -> bool {
    let mut guards = told["rollout"]["guards"].as_array().expect("guards").iter();
    guards.any(|guard| guard["verdict"] == "broken")
}

/// How many comparisons are known; without end where the rollout has ended.
fn count_compared(told: &Value) -> Option<u64> {
    if told["rollout"].is_null() { Some(u64::MAX) } else { told["rollout"]["seen"][0]["compared"].as_u64() }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_faulty_version_is_taken_back_before_it_serves_anybody() {
    let things = json!([{"thing_id": "a"}, {"thing_id": "b"}, {"thing_id": "c"}]);
    let partner = Scripted::start(Behaviour::Payload(json!({"things": things}))).await;
    let mut entry = partner.entry("scripted");
    entry.intents = vec![INTENT.to_owned()];
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![entry],
        extra: "[sandbox]\nmemory_max_bytes = 33554432\n".to_owned(),
        ..GatewayOptions::default()
    });
    assert_eq!(gateway.upload(&hostile("1.0.0", "honest")).await.status, 201);
    for (faulty, number) in FAULTY.into_iter().zip(1..) {
        take_back(&gateway, number, faulty, SEARCHES_MAX).await;
    }
    if soak::is_wanted() {
        take_back(&gateway, FAULTY.len() + 1, RARELY_FAULTY, RARE_SEARCHES_MAX).await;
    }
}
