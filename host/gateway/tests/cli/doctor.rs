//! `intent-gateway doctor`: what it says of a gateway that never started, of one that serves, and of each loss.

use std::path::Path;

use serde_json::Value;

use super::{Serving, ac_contract, run, text};

/// Exit code, and what was found.
fn examine(folder: &Path, config: &str, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    std::fs::write(folder.join("gateway.toml"), config).expect("written");
    let fixed = ["doctor", "--config", "gateway.toml", "--json", "--wait", "5"];
    let output = run(folder, &[&fixed, arguments].concat());
    let told: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let findings = told["findings"].as_array().expect("a list").clone();
    let problems = findings.iter().filter(|finding| finding["state"] == "problem").count();
    assert_eq!(told["problems"], problems);
    assert_eq!(output.status.code(), Some(i32::from(problems > 0)), "{told}");
    (output.status.code(), findings)
}

/// What was found of an area: state and code of each.
fn of<'a>(findings: &'a [Value], area: &str) -> Vec<(&'a str, &'a str)> {
    let found = findings.iter().filter(|finding| finding["area"] == area);
    found
        .map(|finding| (finding["state"].as_str().expect("a state"), finding["code"].as_str().unwrap_or_default()))
        .collect()
}

/// The message of a code.
fn message<'a>(findings: &'a [Value], code: &str) -> &'a str {
    let found = findings.iter().find(|finding| finding["code"] == code);
    found.and_then(|finding| finding["message"].as_str()).unwrap_or_else(|| panic!("no {code} in {findings:#?}"))
}

#[test]
fn before_the_first_start_nothing_is_a_problem_and_nothing_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, findings) = examine(folder.path(), "", &["--gateway", "http://127.0.0.1:1"]);
    assert_eq!(code, Some(0), "{findings:#?}");
    for area in ["keys", "places", "store", "clock", "contracts", "partners", "issuers", "registry"] {
        assert_eq!(of(&findings, area), [("skipped", "")], "{area}: {findings:#?}");
    }
    assert_eq!(of(&findings, "configuration"), [("ok", "")]);
    assert_eq!(of(&findings, "disk"), [("ok", "")]);
    assert_eq!(of(&findings, "mail"), [("warning", "MAIL_TO_FILE")]);
    assert_eq!(of(&findings, "gateway"), [("warning", "GATEWAY_ABSENT")]);
    assert!(!folder.path().join("state").exists());
}

#[test]
fn a_gateway_that_serves_is_in_order_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("contracts")).expect("made");
    std::fs::copy(ac_contract(), folder.path().join("contracts/ac.wasm")).expect("copied");
    let config = "[contracts]\ndir = \"contracts\"\n";
    std::fs::write(folder.path().join("gateway.toml"), config).expect("written");
    let mut serving = Serving::start(folder.path(), &["--config", "gateway.toml"]);
    serving.wait_for_contracts();
    let address = format!("http://{}", serving.address);
    let (code, findings) = examine(folder.path(), config, &["--gateway", &address]);
    assert_eq!(code, Some(0), "{findings:#?}");
    for area in ["configuration", "places", "disk", "store", "contracts", "gateway"] {
        assert_eq!(of(&findings, area), [("ok", "")], "{area}: {findings:#?}");
    }
    let keys = of(&findings, "keys");
    assert_eq!(keys, [("ok", ""), ("warning", "DEVELOPMENT_KEY"), ("warning", "DEVELOPMENT_KEY")]);
    assert_eq!(of(&findings, "clock"), [("skipped", "")], "SQLite has no clock of its own");
    let contracts = findings.iter().find(|finding| finding["area"] == "contracts").expect("found");
    assert!(contracts["message"].as_str().expect("text").starts_with("auto.book_ac_service "), "{contracts}");

    let printed = run(folder.path(), &["doctor", "--config", "gateway.toml", "--gateway", &address]);
    let printed = text(&printed.stdout);
    assert!(printed.lines().any(|line| line.starts_with("ok       gateway ")), "{printed}");
    assert!(printed.trim_end().ends_with("no problem, 3 warnings"), "{printed}");

    // The store is lost while the gateway is down.
    assert_eq!(serving.stop().0, Some(0));
    for file in ["gateway.db", "gateway.db-wal", "gateway.db-shm"] {
        let _ = std::fs::remove_file(folder.path().join("state").join(file));
    }
    let (code, findings) = examine(folder.path(), config, &["--gateway", &address]);
    assert_eq!(code, Some(1));
    assert_eq!(of(&findings, "store"), [("problem", "STORE_UNUSABLE")]);
    assert!(message(&findings, "STORE_UNUSABLE").contains("a gateway has served"), "{findings:#?}");
    assert_eq!(of(&findings, "gateway"), [("warning", "GATEWAY_ABSENT")]);
    assert!(!folder.path().join("state/gateway.db").exists(), "none was made in its place");
}

#[test]
fn each_loss_is_told_by_its_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = r#"
        [auth]
        signing_key = "0123456789-0123456789-0123456789"
        master_key = "0123456789-0123456789-0123456789"
        [store]
        url = "postgres://gateway:hidden-hidden@127.0.0.1:1/gateway"
        [evidence]
        receipts_free_min_bytes = 9000000000000000000
        findings_free_min_bytes = 0
        [mail]
        mode = "smtp"
        host = "127.0.0.1"
        port = 1
        tls = "none"
        [partner_client]
        allow_loopback_http = true
        [[contracts.sources]]
        intent = "auto.book_ac_service"
        repository = "oci://127.0.0.1:1/contracts/ac"
        tag = "stable"
        [[auth.issuers]]
        issuer = "https://id.example"
        jwks_url = "http://127.0.0.1:1/keys"
        audience = "gateway"
        role = "admin"
        [[partners]]
        id = "closed"
        name = "Closed"
        url = "http://127.0.0.1:1/mcp"
        listings = [{ intent = "auto.book_ac_service", service_area = ["IN_ALL"] }]
        [[partners]]
        id = "nameless"
        name = "Nameless"
        url = "https://partner.invalid/mcp"
        listings = [{ intent = "auto.book_ac_service", service_area = ["IN_ALL"] }]
    "#;
    let (code, findings) = examine(folder.path(), config, &["--gateway", "http://127.0.0.1:1"]);
    assert_eq!(code, Some(1));
    assert_eq!(of(&findings, "store"), [("problem", "STORE_UNUSABLE")], "{findings:#?}");
    assert_eq!(of(&findings, "disk"), [("warning", "DISK_LOW")]);
    assert_eq!(of(&findings, "mail"), [("problem", "MAIL_UNREACHABLE")]);
    assert_eq!(of(&findings, "contracts"), [("skipped", "")]);
    assert_eq!(of(&findings, "registry"), [("problem", "SOURCE_UNREACHABLE")]);
    assert_eq!(of(&findings, "issuers"), [("problem", "ISSUER_UNREACHABLE")]);
    assert_eq!(of(&findings, "partners"), [("problem", "PARTNER_UNREACHABLE"), ("problem", "NAME_UNRESOLVED")]);
    assert!(message(&findings, "NAME_UNRESOLVED").contains("partner.invalid"));
    assert!(!format!("{findings:?}").contains("hidden-hidden"), "{findings:#?}");

    let (_, findings) = examine(folder.path(), config, &["--offline", "--gateway", "http://127.0.0.1:1"]);
    for area in ["partners", "issuers", "registry", "mail"] {
        assert_eq!(of(&findings, area), [("skipped", "")], "{area}: {findings:#?}");
    }
    let full =
        "[evidence]\nreceipts_free_min_bytes = 9000000000000000000\nfindings_free_min_bytes = 9000000000000000000\n";
    let (_, findings) = examine(folder.path(), full, &["--gateway", "http://127.0.0.1:1"]);
    assert_eq!(of(&findings, "disk"), [("problem", "DISK_FULL")]);
}

#[test]
fn a_wrong_configuration_ends_it_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("gateway.toml"), "[server]\nmax_in_flight = 0\n").expect("written");
    let output = run(folder.path(), &["doctor", "--config", "gateway.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`server.max_in_flight`"), "{}", text(&output.stderr));
}
