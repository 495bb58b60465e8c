//! Servers that other people's SDKs make, as partners: opened, listed and called, with sessions and without, answering in
//! JSON and in event streams, in each revision that they speak.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use conformance_client::{partner, probe};
use futures_util::future::join_all;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_domain::probe::SessionMode;
use intent_gateway_domain::secret::Secret;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde_json::json;
use test_servers::{Server, tools};

/// Everything that one call may take; Python imports lazily.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Calls of each server at once.
const CALLS: usize = 12;

const HANDSHAKE: &str = "2025-11-25";
const DISCOVERY: &str = "2026-07-28";

/// A server: its program's arguments, what it agrees on when opened with `initialize` first, and with
/// `server/discover` first.
struct Case {
    arguments: &'static str,
    initialized: (&'static str, SessionMode),
    discovered: (&'static str, SessionMode),
}

const STATEFUL: (&str, SessionMode) = (HANDSHAKE, SessionMode::Stateful);
const STATELESS: (&str, SessionMode) = (HANDSHAKE, SessionMode::Stateless);
const MODERN: (&str, SessionMode) = (DISCOVERY, SessionMode::Stateless);

const NODE: [Case; 10] = [
    Case { arguments: "v1", initialized: STATELESS, discovered: STATELESS },
    Case { arguments: "v1 --json", initialized: STATELESS, discovered: STATELESS },
    Case { arguments: "v1 --sessions", initialized: STATEFUL, discovered: STATEFUL },
    Case { arguments: "v1 --sessions --json", initialized: STATEFUL, discovered: STATEFUL },
    Case { arguments: "v2", initialized: STATELESS, discovered: MODERN },
    Case { arguments: "v2 --json", initialized: STATELESS, discovered: MODERN },
    Case { arguments: "v2 --modern-only", initialized: MODERN, discovered: MODERN },
    Case { arguments: "v2 --modern-only --json", initialized: MODERN, discovered: MODERN },
    Case { arguments: "v2 --sessions --json", initialized: STATEFUL, discovered: STATEFUL },
    Case { arguments: "everything", initialized: STATEFUL, discovered: STATEFUL },
];

const PYTHON: [Case; 6] = [
    Case { arguments: "mcp", initialized: STATELESS, discovered: MODERN },
    Case { arguments: "mcp --json", initialized: STATELESS, discovered: MODERN },
    Case { arguments: "mcp --sessions", initialized: STATEFUL, discovered: MODERN },
    Case { arguments: "mcp --sessions --json", initialized: STATEFUL, discovered: MODERN },
    Case { arguments: "fastmcp", initialized: STATELESS, discovered: MODERN },
    Case { arguments: "fastmcp --sessions --json", initialized: STATEFUL, discovered: MODERN },
];

/// Looks at one server with either way of opening, and collects what is not as expected.
async fn try_out(program: &Path, script: &str, case: &Case) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers").join(script);
    let mut command = Command::new(program);
    command.arg(script).args(case.arguments.split(' ')).env("FASTMCP_CHECK_FOR_UPDATES", "off");
    let server = Server::start(case.arguments, &mut command, Stdio::null()).expect("the server starts");
    let mut wrong = Vec::new();
    for (discover_first, expected) in [(false, case.initialized), (true, case.discovered)] {
        let config = PartnerClientConfig { allow_loopback_http: true, discover_first, ..Default::default() };
        let client = PartnerClient::new(&config).expect("valid settings");
        let partner = partner(&server.url).expect("a partner");
        let record = probe(&client, &partner).await.expect("a clock");
        let agreed = (record.protocol_version.as_deref(), record.session);
        if agreed != (Some(expected.0), Some(expected.1)) || !record.passed() {
            wrong.push(format!("{}, discover_first {discover_first}: {record:?}", case.arguments));
        }
        let users: Vec<_> = (0..3).map(|user| Secret::new(format!("user-{user}"))).collect();
        let calls = (0..CALLS).map(|turn| {
            let (client, partner, users) = (&client, &partner, &users);
            async move {
                let arguments = json!({"message": format!("turn {turn}")}).to_string();
                let (intent, bearer) = ("sdk.echo", users.get(turn % 4));
                let call = ToolCall { bearer, ..ToolCall::new(intent, "echo", &arguments, CALL_TIMEOUT) };
                match client.call(partner, call).await {
                    Ok(answer) if answer.text.contains(&format!("turn {turn}")) => None,
                    other => Some(format!("turn {turn}: {other:?}")),
                }
            }
        });
        let failed: Vec<_> = join_all(calls).await.into_iter().flatten().collect();
        if !failed.is_empty() {
            wrong.push(format!("{}, discover_first {discover_first}: {failed:?}", case.arguments));
        }
    }
    wrong
}

#[tokio::test]
async fn servers_of_the_node_sdks_are_partners() {
    let node = tools::mcp_node().expect("the tools are installed");
    let mut wrong = Vec::new();
    for case in &NODE {
        wrong.extend(try_out(&node, "node.mjs", case).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn servers_of_the_python_sdks_are_partners() {
    let python = tools::mcp_python().expect("the tools are installed");
    let mut wrong = Vec::new();
    for case in &PYTHON {
        wrong.extend(try_out(&python, "python_sdk.py", case).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
