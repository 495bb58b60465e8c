//! Hostile contracts over the admin API: what does not load changes nothing, what misbehaves fails its own call,
//! and the gateway goes on serving.

use serde_json::{Value, json};

use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract, built, eventually, request};
use crate::scripted::{Behaviour, Scripted};

/// Marker before the settings in the hostile guest's data, and the length of both.
const MARKER: &[u8] = b"@@hostile-guest@@";
const SETTINGS_BYTES: usize = 64;

/// The hostile guest, declaring this version and built in this mode.
pub(crate) fn hostile(version: &str, mode: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(built("hostile-guests/hostile-guest.wasm")).expect("readable");
    let start = bytes.windows(MARKER.len()).position(|window| window == MARKER).expect("the guest has its settings");
    let room = &mut bytes[start + MARKER.len()..start + SETTINGS_BYTES];
    room.fill(b' ');
    let settings = format!("{version};{mode};");
    room[..settings.len()].copy_from_slice(settings.as_bytes());
    bytes
}

async fn gateway() -> (Gateway, Scripted) {
    let partner = Scripted::start(Behaviour::Payload(json!({"slots": [], "things": [{"thing_id": "a"}]}))).await;
    let extra = "[sandbox]\ndeadline_ms = 200\nmemory_max_bytes = 33554432\noutput_max_bytes = 1048576\n".to_owned();
    let mut entry = partner.entry("scripted");
    entry.intents.push("test.hostile".to_owned());
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![entry],
        contracts: vec![ac_contract()],
        extra,
        ..GatewayOptions::default()
    });
    (gateway, partner)
}

fn code(answer: &Answer) -> &str {
    answer.body["error"]["code"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_load_is_refused_with_its_reason_and_changes_nothing() {
    let (gateway, _partner) = gateway().await;
    let before = gateway.admin_get("/contracts").await;
    let wat = |text: &str| text.as_bytes().to_vec();
    let mut wrong_abi = std::fs::read(ac_contract()).expect("readable");
    rename(&mut wrong_abi, b"intent-gateway:contract/contract@1.0.0", b"intent-gateway:contract/contract@2.0.0");
    let core_module = [&b"\0asm"[..], &[1, 0, 0, 0]].concat();
    let empty_component = [&b"\0asm"[..], &[0x0d, 0, 1, 0]].concat();
    for (what, bytes, expected, said) in [
        ("garbage", wat("hello"), "NOT_A_COMPONENT", ""),
        ("a core module", core_module, "NOT_A_COMPONENT", "core module"),
        ("compiled code", wat("\x7fELF and more"), "COMPILED_INPUT_REFUSED", ""),
        ("nothing exported", empty_component, "MISSING_EXPORT", "contract"),
        ("another interface version", wrong_abi, "ABI_MISMATCH", "2.0.0"),
        ("a bad descriptor", hostile("1.0.0", "bad-descriptor"), "DESCRIPTOR_INVALID", ""),
        ("a describe that traps", hostile("1.0.0", "describe-traps"), "", ""),
        ("a describe that never ends", hostile("1.0.0", "describe-spins"), "", ""),
        ("a failing example", hostile("1.0.0", "example-fails"), "EXAMPLE_FAILED", "options are ranked"),
        ("a missing example", hostile("1.0.0", "example-missing"), "EXAMPLE", ""),
    ] {
        let answer = gateway.upload(&bytes).await;
        assert_eq!(answer.status, 422, "{what}: {}", answer.body);
        assert!(code(&answer).starts_with(expected), "{what}: {}", answer.body);
        let message = answer.body["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && message.contains(said), "{what}: {message}");
        let failures = gateway.admin_get("/contracts/failures").await;
        assert_eq!(failures["failures"][0]["code"], answer.body["error"]["code"], "{what}");
    }
    let live = |versions: &Value| {
        versions["contracts"].as_array().expect("a list").iter().filter(|v| v["live"] == true).count()
    };
    assert_eq!(live(&gateway.admin_get("/contracts").await), live(&before));
    assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.0");
}

/// Replaces a name by another of the same length everywhere in a component.
fn rename(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut renamed = 0;
    for start in 0..bytes.len() - from.len() {
        if bytes[start..].starts_with(from) {
            bytes[start..start + from.len()].copy_from_slice(to);
            renamed += 1;
        }
    }
    assert!(renamed > 0, "the component carries the name");
}

#[tokio::test(flavor = "multi_thread")]
async fn version_rules_are_enforced() {
    let (gateway, _partner) = gateway().await;
    assert_eq!(gateway.upload(&hostile("1.0.0", "honest")).await.status, 201);
    assert_eq!(gateway.upload(&hostile("1.0.0", "honest")).await.status, 200, "the same again");
    for (version, mode, expected) in [
        ("1.0.0", "more-words", "VERSION_REUSED"),
        ("0.9.0", "honest", "VERSION_NOT_ABOVE"),
        ("1.0.1", "more-words", "VOCABULARY_CHANGED"),
    ] {
        assert_eq!(code(&gateway.upload(&hostile(version, mode)).await), expected);
    }
    assert_eq!(gateway.upload(&hostile("1.1.0", "more-words")).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_misbehaves_fails_its_own_call_and_leaks_nothing() {
    let (gateway, _partner) = gateway().await;
    assert_eq!(gateway.upload(&hostile("1.0.0", "honest")).await.status, 201);
    let search = |misdeed: &str| {
        // The guest looks for the name as compact JSON has it.
        let body = json!({"request_id": "r", "do": misdeed});
        let gateway = &gateway;
        async move { gateway.post("/api/v1/intents/test.hostile/search", &body).await }
    };
    let honest = search("nothing").await;
    assert_eq!((honest.status, honest.body["options"].as_array().map(Vec::len)), (200, Some(1)), "{honest:?}");
    let misdeeds = [
        ("spin", "CONTRACT_DEADLINE"),
        ("trap", "CONTRACT_TRAP"),
        ("stack", "CONTRACT_TRAP"),
        ("memory", "CONTRACT_MEMORY"),
        ("giant", "CONTRACT_OUTPUT_TOO_LARGE"),
        ("aliased", "CONTRACT_OUTPUT_TOO_LARGE"),
        ("unknown number", "CONTRACT_INVALID_OUTPUT"),
        ("nan total", "CONTRACT_INVALID_OUTPUT"),
        ("card is no json", "CONTRACT_INVALID_OUTPUT"),
    ];
    let mut first_round = None;
    for round in 0..3 {
        for (misdeed, expected) in misdeeds {
            let answer = search(misdeed).await;
            assert_eq!((answer.status, code(&answer)), (502, expected), "{misdeed}: {}", answer.body);
            assert_eq!(search("nothing").await.status, 200, "the contract still serves after: {misdeed}");
        }
        assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.0", "round {round}");
        let (memory, files) = (gateway.server.resident_bytes(), gateway.server.open_files());
        match first_round {
            None => first_round = Some((memory, files)),
            Some((first_memory, first_files)) => {
                assert!(memory < first_memory + (64 << 20), "memory grows: {first_memory} to {memory}");
                // The store opens a few more by itself, when it is measured for one. What leaked by each misdeed would be more.
                let allowed = first_files + misdeeds.len() - 1;
                assert!(files <= allowed, "files grow: {first_files} to {files}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_contract_says_of_its_fault_reaches_the_team_and_nobody_else() {
    const PHONE: &str = "+919845012345";
    let (gateway, _partner) = gateway().await;
    assert_eq!(gateway.upload(&hostile("1.0.0", "honest")).await.status, 201);
    let body = json!({"request_id": "r-1", "phone": PHONE, "do": "repeat"});
    for _ in 0..3 {
        let answer = gateway.post("/api/v1/intents/test.hostile/search", &body).await;
        assert_eq!((answer.status, code(&answer)), (502, "CONTRACT_TRAP"));
        assert!(!answer.body.to_string().contains(PHONE), "{}", answer.body);
    }
    // Repetitions are counted a few seconds later.
    let faults = eventually("three times are not counted", &gateway, async || {
        let faults = gateway.admin_get("/intents/test.hostile/faults").await["faults"].clone();
        (faults[0]["times"] == 3).then_some(faults)
    })
    .await;
    assert_eq!(faults.as_array().map(Vec::len), Some(1), "one burst is one fault: {faults}");
    let fault = &faults[0];
    assert_eq!((&fault["function"], &fault["request_id"]), (&json!("evaluate"), &json!("r-1")));
    assert_eq!(fault["place"], "src/tea.rs:7:9");
    assert!(fault["message"].as_str().is_some_and(|message| message.contains(PHONE)), "{fault}");
    let file = gateway.admin_get(&format!("/intents/test.hostile/faults/{}", fault["number"])).await;
    assert!(file["input"]["request"].as_str().is_some_and(|request| request.contains(PHONE)), "{file}");
    assert_eq!(file["input"]["payloads"][0]["options"], json!([r#"{"thing_id":"a"}"#]));
    let entries = gateway.admin_get("/audit?subject=test.hostile").await["entries"].clone();
    let read = |entry: &Value| entry["action"] == "contract.fault_read";
    assert_eq!(entries.as_array().expect("a list").iter().filter(|entry| read(entry)).count(), 1);
    let log = gateway.log();
    assert!(log.contains("a contract call failed"), "{log}");
    assert!(!log.contains(PHONE) && !log.contains("src/tea.rs"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_keeps_failing_makes_room_for_the_last_good_one() {
    let (gateway, _partner) = gateway().await;
    for version in ["1.0.0", "1.0.1"] {
        assert_eq!(gateway.upload(&hostile(version, "honest")).await.status, 201);
    }
    let body = |misdeed: &str| json!({"request_id": "r", "do": misdeed});
    let path = "/api/v1/intents/test.hostile/search";
    assert_eq!(gateway.post(path, &body("nothing")).await.body["contract"]["version"], "1.0.1");
    for _ in 0..5 {
        assert_eq!(gateway.post(path, &body("trap")).await.status, 502);
    }
    eventually("1.0.0 does not serve", &gateway, async || {
        (gateway.post(path, &body("nothing")).await.body["contract"]["version"] == "1.0.0").then_some(())
    })
    .await;
    // It is noted once the other version serves.
    eventually("it is not noted", &gateway, async || {
        (gateway.admin_get("/contracts/failures").await["failures"][0]["code"] == "TAKEN_OUT").then_some(())
    })
    .await;
}
