//! A person's rights, the whole way: searched, booked, exported, erased by the command line; the order is still reported, and
//! charged once.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Kept, Reporter, ac_report, key_of, receipt, with};
use crate::calls::booking;
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, built, request, rust_partner};

const SEARCH: &str = "/api/v1/intents/auto.book_ac_service/search";
const BOOK: &str = "/api/v1/intents/auto.book_ac_service/tools/create_ac_service_booking";

/// What the user says of the car, as nobody else does.
const SAID: &str = "It smells of my aunt's cardamom, and blows warm.";
/// What the partner is given to call the user, by `booking`.
const PHONE: &str = "9876543210";

/// Runs `intent-gateway user`; whether it did what was asked, and what it printed.
fn user(gateway: &Gateway, arguments: &[&str]) -> (bool, Value) {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("user").args(arguments).args(["--user", "user-17", "--json", "--gateway", &gateway.server.url]);
    let output = command.env("INTENT_GATEWAY_TOKEN", gateway.orchestrator_token()).output().expect("it runs");
    (output.status.success(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

/// Which of the texts stand in any file of a folder or below.
fn traces<'a>(folder: &Path, texts: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(traces(&path, texts));
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let holds = |text: &&str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        found.extend(texts.iter().copied().filter(holds));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A piece of each packed body of the receipts in a segment, of one page of the file.
fn packed_bodies(segment: &Path) -> Vec<Vec<u8>> {
    let file = rusqlite::Connection::open(segment).expect("it opens");
    let mut bodies = file.prepare("SELECT SUBSTR(body, 17, 64) FROM receipts").expect("it is understood");
    let found = bodies.query_map([], |row| row.get(0)).expect("it is asked");
    found.map(|body| body.expect("bytes")).collect()
}

/// Whether bytes stand in any file of a folder or below.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    let mut paths = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    paths.any(|path| match path.is_dir() {
        true => holds(&path, bytes),
        false => std::fs::read(&path).expect("readable").windows(bytes.len()).any(|window| window == bytes),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_erased_and_the_order_is_still_charged_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let partner = rust_partner("oem", folder.path());
    let entry = PartnerEntry { signing_key: Some(key_of("oem")), ..PartnerEntry::new("oem", &partner.url) };
    let options = GatewayOptions { partners: vec![entry], contracts: vec![ac_contract()], ..GatewayOptions::default() };
    let gateway = Gateway::start(&options);
    let kept = Kept::of(gateway.folder.path(), None).await;
    let ask = async |path: &str, body: &Value| {
        gateway.call_for("user-17", "POST", path, Some(gateway.orchestrator_token()), Some(body)).await
    };
    let mut search = request();
    search["ac_issue"]["user_description"] = json!(SAID);
    let found = ask(SEARCH, &search).await.body;
    let options = found["options"].as_array().expect("a list");
    let option = options.iter().find(|option| option["bookable"] == true).expect("a bookable option");
    let booked = ask(BOOK, &json!({"reference": option["reference"], "arguments": booking("booking-1")})).await;
    assert_eq!(booked.status, 200, "{}", booked.body);

    let (_, exported) = user(&gateway, &["export"]);
    let state = gateway.folder.path().join("state");
    // It is in the receipt, and that in a segment, where it is compressed: so the packed bytes are looked for.
    let segment = state.join("gateway-receipts/00000001.db");
    let packed = packed_bodies(&segment);
    assert!(packed.len() == 1 && packed.iter().all(|body| holds(&state, body)), "they are in the file or its log");
    let kept_receipt = gateway.admin_get(&format!("/receipts/{}", found["receipt"].as_str().expect("one"))).await;
    assert!(kept_receipt.to_string().contains(SAID), "{kept_receipt}");
    assert_eq!(exported["orders"][0]["order"], booked.body["order"]["id"], "{exported}");
    assert_eq!(exported["receipts"][0]["receipt"], found["receipt"]);
    assert!(!user(&gateway, &["erase"]).0, "it asks for --yes");
    let (done, erased) = user(&gateway, &["erase", "--yes"]);
    assert!(done && erased["orders"] == 1 && erased["receipts"] == 1, "{erased}");
    let (_, exported) = user(&gateway, &["export"]);
    assert_eq!(exported, json!({"links": [], "orders": [], "receipts": [], "next": null}));
    let replay = format!("/receipts/{}/replay", found["receipt"].as_str().expect("an identifier"));
    let replayed = gateway.admin_post(&replay).await;
    assert_eq!((replayed.status, &replayed.body["error"]["code"]), (410, &json!("RECEIPT_ERASED")));

    let price = &option["option"]["estimated_price"];
    let changes = [
        ("service_scope_performed", option["option"]["service_scope"]["code"].clone()),
        ("amount_inr", price["labour_inr"].clone()),
        ("gst_inr", json!(0)),
        ("tips_inr", json!(0)),
        ("pass_through_inr", json!(0)),
    ];
    let reporter = Reporter::new(&gateway.server.url, "oem", &key_of("oem"));
    let booking_id = booked.body["payload"]["booking_id"].as_str().expect("a text");
    let report = with(ac_report(booking_id, "booking-1"), &changes);
    let first = receipt(&reporter.report(&report).await).to_owned();
    assert!(kept.found("oem", booking_id).await.is_empty(), "it is what was ordered");
    assert_eq!(receipt(&reporter.report(&report).await), first, "it comes again");
    assert_eq!(kept.sound().await.len(), 1, "it is charged once, and the ledger verifies");

    kept.0.close().await;
    let Gateway { server, folder, .. } = gateway;
    assert!(server.stop(), "a clean stop");
    let compact = Command::new(built("debug/intent-gateway"))
        .args(["store", "compact", "--config"])
        .arg(folder.path().join("gateway.toml"))
        .output()
        .expect("it runs");
    assert!(compact.status.success(), "{}", String::from_utf8_lossy(&compact.stderr));
    assert_eq!(traces(folder.path(), &[SAID, "user-17", PHONE]), Vec::<&str>::new());
    assert!(packed.iter().all(|body| !holds(folder.path(), body)));
}
