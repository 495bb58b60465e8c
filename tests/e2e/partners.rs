//! The example partners, each on an SDK that nobody here wrote: three answer one search for real, and all are tried by
//! `partner conformance`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{
    Gateway, GatewayOptions, PartnerEntry, Server, ac_contract, built, request, root, rust_partner, rust_partner_with,
};

/// Starts an example partner that runs on Node.
fn node_partner(name: &str, folder: &Path, arguments: &[&str]) -> Server {
    let home = root().join("examples").join(name);
    assert!(home.join("node_modules").exists(), "`cargo xtask test` installs {name}");
    let mut command = Command::new("node");
    command.current_dir(home).args(["--import", "tsx", "src/main.ts", "--port", "0"]).args(arguments);
    Server::start(&mut command, &folder.join(format!("{name}{}.log", arguments.join(""))))
}

fn typescript_partner(folder: &Path, arguments: &[&str]) -> Server {
    node_partner("partner-typescript", folder, arguments)
}

/// Starts an example partner in Python.
fn python_partner(name: &str, folder: &Path) -> Server {
    let home = root().join("examples").join(name);
    let python = home.join(".venv/bin/python");
    assert!(python.exists(), "`cargo xtask test` installs {name}");
    let mut command = Command::new(python);
    command.current_dir(home).args(["server.py", "--port", "0"]);
    Server::start(&mut command, &folder.join(format!("{name}.log")))
}

#[tokio::test(flavor = "multi_thread")]
async fn three_sdks_answer_one_search() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let servers = [
        ("rust", rust_partner("garage", folder.path())),
        ("cheat", rust_partner("dishonest", folder.path())),
        ("typescript", typescript_partner(folder.path(), &[])),
        ("typescript-sessions", typescript_partner(folder.path(), &["--sessions", "--json"])),
        ("python", python_partner("partner-python", folder.path())),
    ];
    let mut elsewhere = PartnerEntry::new("elsewhere", &servers[0].1.url);
    elsewhere.service_area = vec!["Mumbai".to_owned(), "400001".to_owned()];
    // The request's window is from 9 to 18 o'clock.
    let mut closed = PartnerEntry::new("closed", &servers[0].1.url);
    closed.availability = "18:30-08:30 IST".to_owned();
    let mut partners: Vec<_> = servers.iter().map(|(id, server)| PartnerEntry::new(id, &server.url)).collect();
    partners[0].service_area = vec!["Bangalore".to_owned()];
    partners[1].availability = "Daily 17:00-18:30".to_owned();
    partners.extend([elsewhere, closed]);
    let gateway =
        Gateway::start(&GatewayOptions { partners, contracts: vec![ac_contract()], ..GatewayOptions::default() });

    for _ in 0..2 {
        let answer = gateway.found(&request()).await;
        for outcome in answer["partners"].as_array().expect("a list") {
            let left_out = match outcome["partner"].as_str() {
                Some("elsewhere") => Some("OUTSIDE_SERVICE_AREA"),
                Some("closed") => Some("CLOSED_AT_HOUR"),
                _ => None,
            };
            if let Some(code) = left_out {
                assert_eq!((&outcome["status"], &outcome["code"]), (&"left_out".into(), &code.into()));
                continue;
            }
            assert_eq!(outcome["status"], "answered", "{outcome}\n{}", gateway.log());
            assert!(outcome["options"].as_u64().is_some_and(|count| count > 0), "{outcome}");
        }
        let options = answer["options"].as_array().expect("a list");
        for (id, _) in servers.iter().filter(|(id, _)| *id != "cheat") {
            assert!(options.iter().any(|option| option["partner"] == *id), "{id} has no option: {answer}");
        }
        let dropped = answer["dropped"].as_array().expect("a list");
        let cheat: Vec<_> = dropped.iter().filter(|one| one["partner"] == "cheat").collect();
        let has = |code: &str| {
            cheat.iter().any(|one| one["violations"].as_array().is_some_and(|v| v.iter().any(|v| v["code"] == code)))
        };
        assert!(has("FORBIDDEN_FIELD") && has("REFRIGERANT_MISMATCH") && has("REQUIRED"), "{cheat:?}");
    }
}

/// Runs `partner conformance`: exit code and report.
fn try_server(url: &str, contract: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.args(["partner", "conformance", url, "--json", "--contract"]).arg(contract).args(arguments);
    let output = command.output().expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or(json!({ "complaint": complaint })))
}

/// The checks that ended so, each with its tool.
fn list_checks(report: &Value, outcome: &str) -> Vec<(String, String)> {
    let checks = report["checks"].as_array().unwrap_or_else(|| panic!("no report: {report}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ended = checks.iter().filter(|check| check["outcome"] == outcome);
    ended.map(|check| (text(&check["code"]), text(&check["tool"]))).collect()
}

fn write_file(folder: &Path, name: &str, content: &Value) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content.to_string()).expect("it can be written");
    path.display().to_string()
}

#[test]
fn the_templates_pass_all_checks_of_conformance() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let with_token = rust_partner_with("garage", &["--token", "of-the-garage", "--sessions"], folder.path());
    let token = folder.path().join("token");
    std::fs::write(&token, "of-the-garage\n").expect("it can be written");
    let token = token.display().to_string();
    let servers = [
        (rust_partner("oem", folder.path()), vec![]),
        (with_token, vec!["--token-file", &token]),
        (typescript_partner(folder.path(), &["--json"]), vec![]),
        (python_partner("partner-python", folder.path()), vec![]),
    ];
    for (server, arguments) in &servers {
        let (code, report) = try_server(&server.url, &ac_contract(), arguments);
        assert_eq!((code, list_checks(&report, "failed")), (Some(0), vec![]), "{}: {report:#}", server.url);
        let passed = list_checks(&report, "passed");
        for check in ["KEY_REPEATED", "KEY_WITH_OTHER_BODY", "UNKNOWN_IDENTIFIER_REFUSED", "ORDER_CLOSED"] {
            assert!(passed.iter().any(|(code, _)| code == check), "{}: {check}: {report:#}", server.url);
        }
        assert_eq!(passed.iter().any(|(code, _)| code == "WRONG_TOKEN_REFUSED"), !arguments.is_empty());
    }
}

#[test]
fn studios_and_a_broker_are_tried_along_the_ways_of_their_orders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let studios = node_partner("partner-yoga", folder.path(), &[]);
    let contract = built("contracts/lifestyle-book-yoga-class.wasm");
    let (code, report) = try_server(&studios.url, &contract, &[]);
    assert_eq!((code, list_checks(&report, "failed")), (Some(0), vec![]), "{report:#}");
    let answered = |report: &Value| -> Vec<String> {
        let passed = list_checks(report, "passed").into_iter().filter(|(code, _)| code == "ANSWER_VALID");
        passed.map(|(_, tool)| tool).collect()
    };
    let tools = ["get_provider_detail", "get_available_slots", "book_slot", "cancel_booking"];
    assert_eq!(answered(&report), tools, "{report:#}");

    let broker = python_partner("partner-insurance", folder.path());
    let contract = built("contracts/finance-buy-motor-insurance.wasm");
    let request = root().join("plugins/finance-buy-motor-insurance/samples/request.json").display().to_string();
    let verified = json!({"request_id": "r", "quote_id": "q", "kyc_document": "pan", "kyc_document_last4": "1234"});
    let verified = format!("confirm_quote_and_kyc={}", write_file(folder.path(), "verified.json", &verified));
    let (code, report) = try_server(&broker.url, &contract, &["--request", &request, "--arguments", &verified]);
    assert_eq!((code, list_checks(&report, "failed")), (Some(0), vec![]), "{report:#}");
    let tools = ["confirm_quote_and_kyc", "schedule_inspection", "issue_policy", "cancel_or_freelook"];
    assert_eq!(answered(&report), tools, "{report:#}");
}

#[test]
fn a_dishonest_server_fails_where_it_cheats_and_wrong_calls_of_the_command_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cheat = rust_partner("dishonest", folder.path());
    let (code, report) = try_server(&cheat.url, &ac_contract(), &["--no-orders"]);
    let search = |code: &str| (code.to_owned(), "search_ac_service_slots".to_owned());
    assert_eq!(code, Some(1));
    assert_eq!(list_checks(&report, "failed"), [search("NO_FORBIDDEN_FIELDS"), search("OPTIONS_VALID")], "{report:#}");
    let skipped = list_checks(&report, "skipped");
    assert!(skipped.contains(&("ANSWER_VALID".to_owned(), "create_ac_service_booking".to_owned())), "{skipped:?}");

    let refused = |arguments: &[&str], said: &str| {
        let (code, report) = try_server(&cheat.url, &ac_contract(), arguments);
        let complaint = report["complaint"].as_str().unwrap_or_default();
        assert_eq!(code, Some(2), "{report}");
        assert!(complaint.contains(said), "{complaint}");
    };
    let empty = write_file(folder.path(), "empty.json", &json!({}));
    refused(&["--request", &empty], "request 1 is refused by the contract");
    refused(&["--arguments", &format!("search={empty}")], "the intent has no tool `search`");
    refused(&["--arguments", "search"], "expected TOOL=FILE");
    refused(&["--request", "/nothing/here"], "cannot read /nothing/here");
    let (code, _) = try_server(&cheat.url, &PathBuf::from(&empty), &[]);
    assert_eq!(code, Some(2), "a file that is no contract");
}
