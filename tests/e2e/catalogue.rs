//! One catalogue of contracts for all gateways of a store: what is loaded at one serves at all of them, and goes live when every
//! gateway has it ready.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use intent_gateway_compare::ReceiptsHeading;
use intent_gateway_domain::id::IntentId;
use intent_gateway_kit::compare::run_on_file;
use intent_gateway_kit::subject::Subject;
use intent_gateway_sandbox::Compiler;
use serde_json::{Value, json};
use test_servers::soak;

use crate::fleet::{FlipTimes, LEASE, NO_SMTP, SharedStore, all_know, postgres, sqlite};
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, eventually, request, safety_first_contract};
use crate::onboarding::settings;
use crate::scripted::Scripted;
use crate::search::honest_slots;

const INTENT: &str = "auto.book_ac_service";
/// Changes of what is live, under load: in every run, and in a soak.
const SWAPS: [usize; 2] = [30, 300];

/// A gateway with a folder of its own that has no contract.
pub(crate) fn gateway(store: &SharedStore, partner: &PartnerEntry) -> Gateway {
    let lease_ms = LEASE.as_millis();
    Gateway::start(&GatewayOptions {
        partners: vec![partner.clone()],
        extra: format!("[fleet]\nlease_ms = {lease_ms}\n{}", settings(Some(&store.url), NO_SMTP)),
        ..GatewayOptions::default()
    })
}

pub(crate) fn component(path: std::path::PathBuf) -> Vec<u8> {
    std::fs::read(path).expect("readable")
}

/// The contract, beginning with 4 MiB of memory in place of 2.
fn with_more_memory(mut component: Vec<u8>) -> Vec<u8> {
    // The section of memories: its number, its length, one memory without an upper bound, of 32 pages at least.
    let section = [5, 3, 1, 0, 32];
    let at: Vec<usize> = (0..component.len()).filter(|at| component[*at..].starts_with(&section)).collect();
    let [at] = at[..] else { panic!("the section stands there {} times", at.len()) };
    component[at + 4] = 64;
    component
}

async fn version(gateway: &Gateway) -> Option<String> {
    let answer = gateway.search(&request()).await;
    answer.body["contract"]["version"].as_str().map(str::to_owned)
}

/// Waits until a version serves everywhere.
pub(crate) async fn serves(gateways: &[&Gateway], wanted: Option<&str>) {
    for gateway in gateways {
        eventually(&format!("{wanted:?} does not serve"), gateway, async || {
            (version(gateway).await.as_deref() == wanted).then_some(())
        })
        .await;
    }
}

async fn status(gateway: &Gateway) -> Value {
    gateway.admin_get(&format!("/contracts/status?intent={INTENT}")).await["intents"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_loaded_at_one_gateway_serves_at_all_of_them() {
    let partner = Scripted::with_slots(honest_slots().await.into()).await.entry("scripted");
    for store in postgres().into_iter().chain([sqlite()]) {
        let gateways = [gateway(&store, &partner), gateway(&store, &partner)];
        let [one, other] = &gateways;
        all_know(&[one, other], 2).await;
        let loaded = one.upload(&component(ac_contract())).await;
        assert_eq!((loaded.status, &loaded.body["live"]), (201, &json!(true)), "{loaded:?}");
        // Whoever handed it in is told that it serves; the other one serves it as well, a moment later.
        assert_eq!(version(one).await.as_deref(), Some("1.0.0"));
        serves(&[other], Some("1.0.0")).await;
        let status = status(other).await;
        assert_eq!(status["live"]["version"], "1.0.0", "{status}");
        let shown = status["gateways"].as_array().expect("a list");
        assert_eq!(shown.len(), 2, "{status}");
        for gateway in shown {
            assert!(gateway["staged"]["took_ms"].is_u64() && gateway["staged"].get("failure").is_none(), "{status}");
        }
        // Who comes later serves it, too, with nothing in its folder.
        let late = gateway(&store, &partner);
        assert_eq!(version(&late).await.as_deref(), Some("1.0.0"));

        let next = other.upload(&component(safety_first_contract())).await;
        assert_eq!((next.status, &next.body["live"]), (201, &json!(true)), "{next:?}");
        serves(&[one, other, &late], Some("1.0.1")).await;
        let first = loaded.body["digest"].as_str().expect("a digest");
        let back = late.admin_post(&format!("/contracts/{first}/activate")).await;
        assert_eq!((back.status, &back.body["live"]), (200, &json!(true)), "{back:?}");
        serves(&[one, other, &late], Some("1.0.0")).await;
        let out = one.call("DELETE", &format!("/api/v1/admin/intents/{INTENT}"), Some(one.admin_token()), None).await;
        assert_eq!(out.status, 204, "{out:?}");
        serves(&[one, other, &late], None).await;
        let entries = one.admin_get(&format!("/audit?subject={INTENT}&limit=100")).await;
        let actions: Vec<&str> = entries["entries"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|entry| entry["action"].as_str())
            .collect();
        let asked = ["contract.asked_for", "contract.went_live"];
        let expected: Vec<&str> = [&["contract.loaded"][..], &asked, &["contract.loaded"], &asked, &asked]
            .concat()
            .into_iter()
            .chain(["contract.left_service"])
            .collect();
        assert_eq!(actions, expected, "{}", store.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_gateway_is_waited_for_until_its_lease_ends_and_follows_when_it_wakes() {
    let Some(store) = postgres() else { return };
    let partner = Scripted::with_slots(honest_slots().await.into()).await.entry("scripted");
    let (one, frozen) = (gateway(&store, &partner), gateway(&store, &partner));
    all_know(&[&one, &frozen], 2).await;
    one.upload(&component(ac_contract())).await;
    serves(&[&one, &frozen], Some("1.0.0")).await;
    frozen.server.freeze();
    let next = one.upload(&component(safety_first_contract())).await;
    assert_eq!((next.status, &next.body["live"]), (201, &json!(true)), "{next:?}");
    frozen.server.wake();
    serves(&[&one, &frozen], Some("1.0.1")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_cannot_make_a_version_ready_holds_it_up_and_says_why() {
    let Some(store) = postgres() else { return };
    let partner = Scripted::with_slots(honest_slots().await.into()).await.entry("scripted");
    let one = gateway(&store, &partner);
    // An instance may have less memory there than the contract begins with.
    let lease_ms = LEASE.as_millis();
    let small = Gateway::start(&GatewayOptions {
        partners: vec![partner.clone()],
        extra: format!(
            "[sandbox]\nmemory_max_bytes = 2097152\n[fleet]\nlease_ms = {lease_ms}\n{}",
            settings(Some(&store.url), NO_SMTP)
        ),
        ..GatewayOptions::default()
    });
    all_know(&[&one, &small], 2).await;
    let loaded = one.upload(&with_more_memory(component(ac_contract()))).await;
    assert_eq!((loaded.status, &loaded.body["live"]), (201, &json!(false)), "{loaded:?}");
    let waited_for = &loaded.body["waits_for"];
    assert_eq!(waited_for.as_array().map(Vec::len), Some(1), "{loaded:?}");
    assert_eq!(waited_for[0]["failure"]["code"], "COMPILE_FAILED", "{loaded:?}");
    assert_eq!(version(&one).await, None);
    let shown = status(&small).await;
    assert_eq!(shown["coming"]["version"], "1.0.0", "{shown}");

    // Somebody decides: it serves where it can.
    let digest = loaded.body["digest"].as_str().expect("a digest");
    let forced = one.admin_post(&format!("/contracts/{digest}/activate?at_once=true")).await;
    assert_eq!((forced.status, &forced.body["live"]), (200, &json!(true)), "{forced:?}");
    assert_eq!(version(&one).await.as_deref(), Some("1.0.0"));
    assert_eq!(version(&small).await, None);
    eventually("it does not miss the version", &small, async || {
        let missing = small.admin_get("/contracts").await["missing"][0].clone();
        (missing["digest"] == json!(digest) && missing["ought_to_serve"] == true).then_some(())
    })
    .await;

    // What waits can be given up.
    let next = one.upload(&with_more_memory(component(safety_first_contract()))).await;
    assert_eq!(next.body["live"], false, "{next:?}");
    let path = format!("/api/v1/admin/intents/{INTENT}/coming");
    let withdrawn = one.call("DELETE", &path, Some(one.admin_token()), None).await;
    assert_eq!(withdrawn.status, 204, "{withdrawn:?}");
    let again = one.call("DELETE", &path, Some(one.admin_token()), None).await;
    assert_eq!((again.status, &again.body["error"]["code"]), (404, &json!("NOT_FOUND")));
    assert!(status(&one).await.get("coming").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_under_load_fail_no_search_at_any_gateway() {
    let Some(store) = postgres() else { return };
    let partner = Scripted::with_slots(honest_slots().await.into()).await.entry("scripted");
    let gateways: [Arc<Gateway>; 3] = std::array::from_fn(|_| Arc::new(gateway(&store, &partner)));
    let [one, two, three] = &gateways;
    all_know(&[one, two, three], 3).await;
    let mut digests = Vec::new();
    for path in [ac_contract(), safety_first_contract()] {
        let loaded = one.upload(&component(path)).await;
        assert_eq!(loaded.body["live"], true, "{loaded:?}");
        digests.push(loaded.body["digest"].as_str().expect("a digest").to_owned());
    }
    serves(&[one, two, three], Some("1.0.1")).await;
    let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = gateways
        .iter()
        .map(|gateway| {
            let (gateway, stop, answered) = (gateway.clone(), stop.clone(), answered.clone());
            tokio::spawn(async move {
                let mut versions = BTreeMap::<String, usize>::new();
                while !stop.load(Ordering::Relaxed) {
                    let answer = gateway.found(&request()).await;
                    let version = answer["contract"]["version"].as_str().expect("a version").to_owned();
                    *versions.entry(version).or_default() += 1;
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                versions
            })
        })
        .collect();
    let [short, long] = SWAPS;
    for swap in 0..soak::choose(short, long) {
        let asked = &gateways[swap % gateways.len()];
        let answer = asked.admin_post(&format!("/contracts/{}/activate", digests[swap % 2])).await;
        assert_eq!((answer.status, &answer.body["live"]), (200, &json!(true)), "swap {swap}: {answer:?}");
        let wanted = if swap % 2 == 0 { "1.0.0" } else { "1.0.1" };
        serves(&[one, two, three], Some(wanted)).await;
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        let versions = client.await.expect("no search failed");
        assert_eq!(versions.len(), 2, "both versions were met: {versions:?}");
    }
    // From the change until it served, as counted by each gateway.
    let mut flips = FlipTimes::default();
    for gateway in &gateways {
        flips.add(gateway).await;
    }
    flips.print();
    assert!(flips.count() > 0, "none was counted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_shows_what_it_would_change_before_anybody_is_served_by_it() {
    let server = Scripted::with_slots(honest_slots().await.into()).await;
    let partner = server.entry("scripted");
    for store in postgres().into_iter().chain([sqlite()]) {
        let gateway = gateway(&store, &partner);
        gateway.upload(&component(ac_contract())).await;
        serves(&[&gateway], Some("1.0.0")).await;
        for _ in 0..5 {
            gateway.search(&request()).await;
        }
        let compared = async |component: Option<Vec<u8>>, query: &str, expected: u64| {
            eventually("a receipt is not kept", &gateway, async || {
                let events = gateway.compare(component.clone(), &format!("since_ms=0{query}")).await;
                let report = events.split("\n\n").find_map(|event| event.strip_prefix("event: report\ndata: "))?;
                let report: Value = serde_json::from_str(report).expect("JSON");
                (report["receipts"] == json!(expected)).then_some(report)
            })
            .await
        };
        // Itself, uploaded again and by its digest, against what was shown and what it makes of it.
        let digest = gateway.admin_get("/contracts").await["contracts"][0]["digest"].as_str().expect("one").to_owned();
        for (component, query) in [
            (Some(component(ac_contract())), String::new()),
            (Some(component(ac_contract())), "&against=shown".to_owned()),
            (None, format!("&digest={digest}")),
        ] {
            let same = compared(component, &query, 6).await;
            assert_eq!((&same["same"], &same["different"]), (&json!(6), &json!(0)), "{same}");
        }
        let other = compared(Some(component(safety_first_contract())), "&limit=5", 5).await;
        assert_eq!((&other["receipts"], &other["different"]), (&json!(5), &json!(5)), "{other}");
        assert_eq!(other["candidate_times"]["calls"], json!(5));
        let loaded = gateway.admin_get("/contracts").await;
        assert_eq!(loaded["contracts"].as_array().map(Vec::len), Some(1), "nothing is loaded by it: {loaded}");
        let events = gateway.export("intent=auto.book_ac_service&since_ms=0").await;
        // What it compiles, it compiles beside the runtime.
        tokio::task::spawn_blocking(move || compare_where_no_gateway_is(&events)).await.expect("no panic");
    }
}

/// Takes receipts as they were exported, and compares the two contracts on them.
fn compare_where_no_gateway_is(events: &str) {
    let data = |name: &str| {
        let start = format!("event: {name}\ndata: ");
        events.split("\n\n").filter_map(|event| event.strip_prefix(&start)).map(str::to_owned).collect::<Vec<_>>()
    };
    let receipts = data("receipt");
    let summary: Value = serde_json::from_str(&data("summary")[0]).expect("JSON");
    assert_eq!((receipts.len(), &summary["receipts"], &summary["left_out"]), (6, &json!(6), &json!([])), "{summary}");
    let asked = request().to_string();
    for gone in ["Bengaluru", "blows warm air", "12.9716", "77.5946"] {
        assert!(
            asked.contains(gone) && receipts.iter().all(|receipt| !receipt.contains(gone)),
            "{gone}: {}",
            receipts[0]
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (file, shown, other) =
        (folder.path().join("r.jsonl"), folder.path().join("a.wasm"), folder.path().join("b.wasm"));
    let heading =
        serde_json::to_string(&ReceiptsHeading::new(IntentId::parse("auto.book_ac_service").expect("an intent")))
            .expect("JSON");
    std::fs::write(&file, [vec![heading], receipts].concat().join("\n")).expect("written");
    std::fs::write(&shown, component(ac_contract())).expect("written");
    std::fs::write(&other, component(safety_first_contract())).expect("written");
    let open = |path| Subject::open(path, Compiler::in_this_process()).expect("it is read");
    let (shown, other) = (open(&shown), open(&other));
    let same = run_on_file(&shown, None, &file, &Arc::default()).expect("compared");
    assert_eq!((same.receipts, same.same, same.different), (6, 6, 0), "{same:?}");
    let differs = run_on_file(&other, Some(&shown), &file, &Arc::default()).expect("compared");
    assert_eq!((differs.receipts, differs.different), (6, 6), "{differs:?}");
}
