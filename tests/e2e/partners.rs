//! The three example partners, each on an SDK that nobody here wrote, answer a search for real.

use std::path::Path;
use std::process::Command;

use crate::harness::{Gateway, GatewayOptions, PartnerEntry, Server, ac_contract, request, root, rust_partner};

fn typescript_partner(folder: &Path, arguments: &[&str]) -> Server {
    let home = root().join("examples/partner-typescript");
    assert!(home.join("node_modules").exists(), "`cargo xtask test` installs the TypeScript partner");
    let mut command = Command::new("node");
    command.current_dir(home).args(["--import", "tsx", "src/main.ts", "--port", "0"]).args(arguments);
    Server::start(&mut command, &folder.join(format!("typescript{}.log", arguments.join(""))))
}

fn python_partner(folder: &Path) -> Server {
    let home = root().join("examples/partner-python");
    let python = home.join(".venv/bin/python");
    assert!(python.exists(), "`cargo xtask test` installs the Python partner");
    let mut command = Command::new(python);
    command.current_dir(home).args(["server.py", "--port", "0"]);
    Server::start(&mut command, &folder.join("python.log"))
}

#[tokio::test(flavor = "multi_thread")]
async fn three_sdks_answer_one_search() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let servers = [
        ("rust", rust_partner("garage", folder.path())),
        ("cheat", rust_partner("dishonest", folder.path())),
        ("typescript", typescript_partner(folder.path(), &[])),
        ("typescript-sessions", typescript_partner(folder.path(), &["--sessions", "--json"])),
        ("python", python_partner(folder.path())),
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
