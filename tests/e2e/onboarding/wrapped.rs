//! Businesses with an API of their own and no MCP server (path B), from the manifest that they wrote to a search that
//! finds their options: the examples on FastAPI and on GraphQL Yoga.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_servers::Server;

use super::flow::{Page, profile};
use super::{INTENT, Platform};
use crate::harness::{built, request, root};

/// Starts the API of an example.
fn start(folder: &str, program: &str, arguments: &[&str]) -> Server {
    let home = root().join("examples").join(folder);
    let program = if program.starts_with('.') { home.join(program) } else { program.into() };
    let mut command = Command::new(program);
    command.current_dir(home).args(arguments).args(["--port", "0"]);
    Server::start(folder, &mut command, Stdio::null()).expect("`cargo xtask test` installs the example partners")
}

#[tokio::test(flavor = "multi_thread")]
async fn apis_are_wrapped_reviewed_probed_and_searched() {
    let platform = Platform::start(None);
    let page = Page::start().await;
    let rest = start("partner-rest", ".venv/bin/python", &["server.py"]);
    let graphql = start("partner-graphql", "node", &["--import", "tsx", "src/main.ts"]);
    let apis = [
        (
            "partner-rest",
            json!({"kind": "rest", "base_url": rest.url, "openapi_url": format!("{}/openapi.json", rest.url)}),
        ),
        ("partner-graphql", json!({"kind": "graphql", "url": graphql.url})),
    ];
    let mut live = Vec::new();
    for (folder, endpoint) in apis {
        let business = platform.sign_up(&format!("ops@{folder}.example")).await;
        let submitted = Command::new(built("debug/intent-gateway"))
            .args(["manifest", "submit", "manifest.yaml", "--json", "--gateway", &platform.gateway.server.url])
            .current_dir(root().join("examples").join(folder))
            .env("INTENT_GATEWAY_TOKEN", &business.token)
            .output()
            .expect("the command line runs");
        let said = String::from_utf8_lossy(&submitted.stderr);
        assert!(submitted.status.success(), "{folder}: {said}");
        let submitted: Value = serde_json::from_slice(&submitted.stdout).expect("JSON");
        let warnings = submitted["warnings"].as_array().expect("a list");
        // The file is written before the account is there, so it cannot name the account's completion address.
        assert!(
            warnings.iter().all(|one| one["pointer"] == "/intents/0/completion_callback"),
            "{folder}: {warnings:?}"
        );
        let review = submitted["review"].as_str().unwrap_or_else(|| panic!("{folder}: {submitted}"));

        let registered = platform.put(&business.path("connection"), &business.token, endpoint).await;
        assert_eq!(registered.body["state"], "sandbox", "{folder}: {}", registered.body);
        let probed = platform.admin(&business.admin_path("probe"), json!({})).await;
        assert_eq!((&probed["connection"]["state"], &probed["ok"]), (&json!("sandbox"), &json!(true)), "{probed}");
        let unused =
            "auto.book_ac_service, cancel_ac_service_booking: the mapping makes no use of the argument `request_id`";
        assert_eq!(probed["connection"]["probe"]["notes"], json!([unused]), "{folder}");
        let tested = platform.test(&business).await;
        assert_eq!(tested["passed"], true, "{folder}: {tested}");

        let papers = format!("{}/profile", business.path("accounts"));
        let kept = platform.put(&papers, &business.token, profile(&format!("{}/privacy", page.url))).await;
        assert_eq!(kept.status, 200, "{}", kept.body);
        let decided = platform.decide(review, "approve").await;
        assert_eq!(decided.status, 200, "{folder}: {}", decided.body);
        let on = platform.admin(&business.admin_path("switch-on"), json!({})).await;
        assert_eq!(on["connection"]["state"], "live", "{folder}: {on}");
        live.push(business.id);
    }
    live.sort_unstable();
    platform.routed(&live.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let found = platform.gateway.found(&request()).await;
    for id in &live {
        let options = found["options"].as_array().expect("a list");
        assert!(options.iter().any(|option| option["partner"] == id.as_str()), "{INTENT}, {id}: {found}");
    }
    assert_eq!(found["dropped"], json!([]), "{found}");
}
