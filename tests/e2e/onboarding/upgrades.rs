//! Stores that earlier gateways have filled, in `tests/upgrades`: this gateway brings them up to date, and what was kept is there still.
//!
//! A store of this gateway goes the same way, so that what is looked at is known to be there. With `INTENT_GATEWAY_KEEP_STORES=FOLDER` it
//! is kept, which is how those of a release come to be (docs/releasing.md).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use test_servers::postgres::Postgres;

use super::{Platform, Ready, settings};
use crate::calls::booking;
use crate::completion::{NO_SMTP, Reporter, ac_report};
use crate::harness::{Gateway, GatewayOptions, built, eventually, request, root, serve_in};

/// A folder in which the stores of this gateway are kept.
const KEEP: &str = "INTENT_GATEWAY_KEEP_STORES";
/// What a gateway leaves in its state folder and needs again; what it makes anew stays behind.
const LEFT: [&str; 5] = ["installation", "anchors", "gateway.db", "gateway.db-wal", "gateway-receipts"];
/// What is looked at, as the gateway that filled the store told it.
const TOLD: &str = "told.json";
const DUMPED: &str = "gateway.sql";
/// Kept stores grow older than what is kept usually.
const KEEP_LONG: &str = "[evidence]\nkeep_days = 3660\n[orders]\nkeep_days = 3660\n";

/// What was kept, as it is read again: nothing of it depends on when that is.
async fn look(gateway: &Gateway) -> Value {
    let list = async |path: &str, name: &str, members: &[&str]| -> Vec<Value> {
        let page = gateway.admin_get(path).await;
        let pick = |one: &Value| {
            let member = |name: &str| one.get(name).unwrap_or_else(|| panic!("{path} has no `{name}`: {one}")).clone();
            members.iter().map(|name| ((*name).to_owned(), member(name))).collect()
        };
        page[name].as_array().unwrap_or_else(|| panic!("{path}: {page}")).iter().map(pick).collect()
    };
    let accounts = list("/accounts", "accounts", &["account_id", "business_name", "email", "created_at"]).await;
    let entry = ["number", "external_id", "request_id", "amount_inr", "legs", "status", "hash"];
    let entries = list("/ledger/entries", "entries", &entry).await;
    let account = accounts[0]["account_id"].as_str().expect("named");
    let manifest = format!("/api/v1/business/tier1/manifest/{account}");
    let manifest = gateway.call("GET", &manifest, Some(gateway.admin_token()), None).await;
    let request = entries[0]["request_id"].as_str().expect("named");
    let receipts = gateway.admin_get(&format!("/receipts?request_id={request}")).await["receipts"].clone();
    let receipt = receipts[0].as_str().unwrap_or_else(|| panic!("{receipts}")).to_owned();
    let shown = gateway.admin_get(&format!("/receipts/{receipt}")).await;
    let audit = gateway.admin_get("/audit?limit=10").await;
    let actions: Vec<&Value> =
        audit["entries"].as_array().expect("a list").iter().map(|entry| &entry["action"]).collect();
    for (chain, holds) in [("/audit/verify", "ok"), ("/ledger/verify", "sound")] {
        let verdict = gateway.admin_get(chain).await;
        assert_eq!(verdict[holds], true, "{chain}: {verdict}");
    }
    // The receipt's contract is in the store, and ranks as it did.
    let replayed = gateway.admin_post(&format!("/receipts/{receipt}/replay")).await;
    assert_eq!((replayed.status, &replayed.body["same"]), (200, &json!(true)), "{}", replayed.body);
    json!({
        "actions": actions,
        "accounts": accounts,
        "reviews": list("/reviews", "reviews", &["id", "status", "opened_at"]).await,
        "connections": list("/connections", "connections", &["account_id", "endpoint"]).await,
        "manifest": manifest.body["approved"],
        "orders": list("/orders", "orders", &["id", "intent", "partner", "state", "is_open", "opened_at"]).await,
        "entries": entries,
        "contracts": list("/contracts", "contracts", &["intent", "version", "digest", "live"]).await,
        "receipts": receipts,
        "ranked": shown["ranked"],
        "outcome": shown["outcome"],
    })
}

/// Fills the store of a platform: a business that is live, an order that was reported and one that was not.
async fn fill(platform: &Platform) -> Ready {
    let ready = platform.ready("ops@coolcar.example").await;
    let Ready { business, .. } = &ready;
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&business.id]).await;
    let webhook = format!("{}/webhook", business.path("credentials"));
    let hook = platform.put(&webhook, &business.token, json!({"webhook_url": "https://coolcar.example/hook"})).await;
    let key = hook.body["webhook_signing_key"].as_str().unwrap_or_else(|| panic!("{}", hook.body));
    let mut named = Vec::new();
    for number in 0..2 {
        let found = platform.gateway.found(&request()).await;
        let option = found["options"].as_array().expect("a list").iter().find(|option| option["bookable"] == true);
        let reference = option.unwrap_or_else(|| panic!("{found}"))["reference"].clone();
        let arguments = booking(&format!("upgrade-{number}"));
        let tool = format!("/api/v1/intents/{}/tools/create_ac_service_booking", super::INTENT);
        let body = json!({"reference": reference, "arguments": arguments});
        let booked = platform.post(&tool, platform.gateway.orchestrator_token(), body).await;
        assert_eq!(booked.status, 200, "{}", booked.body);
        named.push((booked.body["payload"]["booking_id"].clone(), found["request_id"].clone()));
    }
    let (booking_id, request_id) = &named[0];
    let report = ac_report(booking_id.as_str().expect("named"), request_id.as_str().expect("named"));
    let reporter = Reporter::new(&platform.gateway.server.url, &business.id, key);
    let reported = reporter.report(&report).await;
    assert_eq!(reported.status, 200, "{}", reported.body);
    // A receipt is kept a moment after its answer.
    let receipts = format!("/receipts?request_id={}", request_id.as_str().expect("named"));
    eventually("the receipt is not kept", &platform.gateway, async || {
        platform.gateway.admin_get(&receipts).await["receipts"]
            .as_array()
            .is_some_and(|kept| !kept.is_empty())
            .then_some(())
    })
    .await;
    ready
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).expect("made");
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        std::fs::copy(from, to).expect("copied");
    }
}

/// Fills a store, and keeps it in a folder with what was told of it.
async fn keep(postgres: Option<&Postgres>, folder: &Path) {
    let store = postgres.map(|server| server.database().expect("a database"));
    let platform = Platform::start_with(store.as_deref(), KEEP_LONG);
    let _ready = fill(&platform).await;
    let told = look(&platform.gateway).await;
    let state = platform.gateway.stop();
    std::fs::create_dir_all(folder).expect("made");
    for name in LEFT {
        copy(&state.path().join("state").join(name), &folder.join(name));
    }
    if let (Some(server), Some(url)) = (postgres, &store) {
        std::fs::write(folder.join(DUMPED), server.dump(url).expect("dumped")).expect("written");
    }
    std::fs::write(folder.join(TOLD), serde_json::to_string_pretty(&told).expect("JSON")).expect("written");
}

/// Brings a kept store up to date, and looks whether everything is there.
async fn bring_up_to_date(kept: &Path) {
    let dumped = kept.join(DUMPED);
    let store = if dumped.is_file() {
        let Some(server) = Postgres::shared().expect("it starts, where it is demanded") else { return };
        let url = server.database().expect("a database");
        server.load(&url, &dumped).expect("loaded");
        Some(url)
    } else {
        None
    };
    let extra = format!("{}{KEEP_LONG}", settings(store.as_deref(), NO_SMTP));
    let folder = Gateway::new_folder_for(&GatewayOptions { extra, ..GatewayOptions::default() });
    let state = folder.path().join("state");
    copy(kept, &state);
    let gateway = Gateway::start_by(&mut serve_in(folder.path()), folder);
    gateway.wait_for_version("1.0.0").await;
    let told: Value = serde_json::from_slice(&std::fs::read(kept.join(TOLD)).expect("kept")).expect("JSON");
    let found = look(&gateway).await;
    for (what, before) in told.as_object().expect("an object") {
        // Time may have added to a list, such as reviews of what ends.
        let found = match (&found[what], before) {
            (Value::Array(found), Value::Array(before)) => found.iter().take(before.len()).cloned().collect(),
            (found, _) => found.clone(),
        };
        assert_eq!(found, *before, "{what} of {}", kept.display());
    }

    // What came since is there as well.
    let ahead =
        (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24)).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let notice = json!({"kind": "other", "title": "A pause", "text": "For an hour.", "takes_effect_at": ahead});
    let published = gateway.admin_send("/notices", &notice).await;
    assert_eq!(published.status, 200, "{}", published.body);
    let folder = gateway.stop();
    let mut check = Command::new(built("debug/intent-gateway"));
    let checked =
        check.args(["store", "check", "--config"]).arg(folder.path().join("gateway.toml")).output().expect("runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_earlier_gateways_have_kept_is_there_after_an_upgrade() {
    let upgrades = root().join("tests/upgrades");
    let entries = std::fs::read_dir(&upgrades).expect("there are kept stores");
    let mut kept: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    kept.sort();
    assert!(!kept.is_empty(), "{} has no store", upgrades.display());
    for store in kept {
        bring_up_to_date(&store).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_this_gateway_keeps_is_there_after_a_move() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = std::env::var_os(KEEP).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let postgres = Postgres::shared().expect("it starts, where it is demanded");
    let engines: Vec<(&str, Option<&Postgres>)> =
        [("sqlite", None)].into_iter().chain(postgres.map(|server| ("postgres", Some(server)))).collect();
    for (engine, server) in &engines {
        keep(*server, &folder.join(engine)).await;
    }
    for (engine, _) in &engines {
        bring_up_to_date(&folder.join(engine)).await;
    }
}
