//! Contracts out of registries and layouts that are followed, pushed as their authors push them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use test_servers::registry::Registry;

use crate::harness::{Gateway, GatewayOptions, ac_contract, built, eventually, safety_first_contract};

const AC: &str = "auto.book_ac_service";

/// Runs a command of authors, and gives what it prints.
fn plugin(arguments: &[&str]) -> String {
    let output = Command::new(built("debug/intent-gateway")).arg("plugin").args(arguments).output().expect("it runs");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {said}\n{complained}");
    said.trim_end().to_owned()
}

fn push(component: &Path, name: &str) -> String {
    plugin(&["push", component.to_str().expect("a path"), name])
}

/// A gateway that follows a source, and has these contracts in its folder.
fn following(source: &str, more: &str, contracts: Vec<PathBuf>) -> Gateway {
    let trust = format!("sources_poll_seconds = 1\n{more}\n[[contracts.sources]]\n{source}\n");
    Gateway::start(&GatewayOptions { contracts, trust, ..GatewayOptions::default() })
}

/// What serves the intent.
async fn live(gateway: &Gateway) -> Option<String> {
    let listed = gateway.admin_get("/contracts").await;
    let live = listed["contracts"].as_array()?.iter().find(|one| one["live"] == true && one["intent"] == AC)?.clone();
    Some(live["version"].as_str()?.to_owned())
}

async fn serves(gateway: &Gateway, version: &str) {
    let what = format!("{version} does not serve");
    eventually(&what, gateway, async || (live(gateway).await.as_deref() == Some(version)).then_some(())).await;
}

/// Waits until a source has been told of with a code.
async fn told(gateway: &Gateway, code: &str) -> Value {
    eventually(&format!("{code} is not told"), gateway, async || {
        let failures = gateway.admin_get("/contracts/failures").await;
        failures["failures"].as_array()?.iter().find(|failure| failure["code"] == code).cloned()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_to_a_registry_is_served_and_survives_its_end() {
    let Some(registry) = Registry::start().expect("a registry, where one is demanded") else { return };
    let name = format!("oci://{}/contracts/ac", registry.address());
    let first = push(&ac_contract(), &name);
    assert!(first.starts_with(&format!("{name}@sha256:")), "{first}");
    assert_eq!(push(&ac_contract(), &name), first, "the same once more is the same artifact");
    let gateway = following(&format!("intent = \"{AC}\"\nrepository = \"{name}\"\nrange = \"1\""), "", Vec::new());
    serves(&gateway, "1.0.0").await;
    push(&safety_first_contract(), &name);
    serves(&gateway, "1.0.1").await;
    let listed = gateway.admin_get("/contracts").await;
    let origin = |version: &str| {
        let mut listed = listed["contracts"].as_array().expect("a list").iter();
        listed.find(|one| one["version"] == version).expect("it is loaded")["origin"].clone()
    };
    assert_eq!(origin("1.0.1"), json!({"kind": "registry", "name": name}));
    let audit = gateway.admin_get("/audit?limit=200").await;
    let is_of_source =
        |entry: &Value| entry["action"] == "contract.went_live" && entry["detail"].to_string().contains("registry");
    assert!(audit["entries"].as_array().expect("a list").iter().any(is_of_source), "{audit}");

    let folder = tempfile::tempdir().expect("a folder");
    let pulled = folder.path().join("pulled.wasm");
    plugin(&["pull", &format!("{name}:1.0.0"), "--out", pulled.to_str().expect("a path")]);
    assert_eq!(std::fs::read(&pulled).expect("read"), std::fs::read(ac_contract()).expect("read"), "byte for byte");

    drop(registry);
    let failure = told(&gateway, "REGISTRY_UNREACHABLE").await;
    assert_eq!(failure["origin"], json!({"kind": "registry", "name": name}));
    assert_eq!(live(&gateway).await.as_deref(), Some("1.0.1"), "an unreachable registry changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_that_is_moved_back_takes_nobody_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let layout = format!("oci-layout:{}", folder.path().join("contracts").display());
    push(&ac_contract(), &format!("{layout}:stable"));
    let source = format!("intent = \"{AC}\"\nrepository = \"{layout}\"\ntag = \"stable\"");
    let gateway = following(&source, "", Vec::new());
    serves(&gateway, "1.0.0").await;
    push(&safety_first_contract(), &format!("{layout}:stable"));
    serves(&gateway, "1.0.1").await;

    // An attacker, or a mistake, moves the tag to what was there before: this gateway knows it, another one has never seen it.
    push(&ac_contract(), &format!("{layout}:stable"));
    let other = following(&source, "", vec![safety_first_contract()]);
    let failure = told(&other, "SOURCE_OLDER").await;
    assert!(failure["message"].as_str().is_some_and(|message| message.contains("1.0.1")), "{failure}");
    for gateway in [&gateway, &other] {
        assert_eq!(live(gateway).await.as_deref(), Some("1.0.1"));
    }
    // What came back is dealt with, and a newer one is taken again.
    push(&safety_first_contract(), &format!("{layout}:stable"));
    assert_eq!(live(&gateway).await.as_deref(), Some("1.0.1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_gives_the_one_intent_that_it_is_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let layout = format!("oci-layout:{}", folder.path().join("contracts").display());
    push(&ac_contract(), &format!("{layout}:stable"));
    let source = format!("intent = \"lifestyle.book_yoga_class\"\nrepository = \"{layout}\"\ntag = \"stable\"");
    let gateway = following(&source, "", Vec::new());
    let failure = told(&gateway, "SOURCE_OTHER_INTENT").await;
    assert!(failure["message"].as_str().is_some_and(|message| message.contains(AC)), "{failure}");
    assert_eq!(live(&gateway).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_a_trusted_key_has_signed_is_taken_from_a_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let (key, stranger, signed) = (path("key.pem"), path("stranger.pem"), path("signed.wasm"));
    let public = plugin(&["keygen", &key]);
    plugin(&["keygen", &stranger]);
    let layout = format!("oci-layout:{}", path("contracts"));
    let component = ac_contract();
    let component = component.to_str().expect("a path");
    push(Path::new(component), &layout);
    let trust =
        format!("require_signature = true\ntrusted_keys = [{{ name = \"release\", public_key = \"{public}\" }}]");
    let source = format!("intent = \"{AC}\"\nrepository = \"{layout}\"\nrange = \"*\"");
    let gateway = following(&source, &trust, Vec::new());
    told(&gateway, "SIGNATURE_MISSING").await;
    assert_eq!(live(&gateway).await, None);
    drop(gateway);
    plugin(&["sign", component, "--key", &stranger, "--out", &signed]);
    push(Path::new(&signed), &layout);
    let gateway = following(&source, &trust, Vec::new());
    told(&gateway, "SIGNER_UNKNOWN").await;
    drop(gateway);
    // Whoever is trusted adds a signature; those of others stay beside it.
    plugin(&["sign", component, "--key", &key, "--out", &signed]);
    push(Path::new(&signed), &layout);
    let gateway = following(&source, &trust, Vec::new());
    serves(&gateway, "1.0.0").await;
    let listed = gateway.admin_get("/contracts").await;
    assert_eq!(listed["contracts"][0]["signed_by"], json!(["release"]), "{listed}");
}
