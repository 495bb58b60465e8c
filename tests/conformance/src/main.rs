//! The client that the MCP conformance suite tests: the gateway's partner client, as it probes and calls a partner.
//!
//! The suite starts a server for each scenario and runs this program with the server's URL as its last argument. The
//! environment says the rest: which revision of the protocol the server speaks, and in some scenarios which calls to
//! make or which credentials to use. A server that wants a sign-in gets one. Whether what then went over the wire is right is judged by the suite, and whether that is as expected by
//! `cargo xtask`, from `scenarios.toml`.
//!
//! Not here: any MCP. What a scenario wants and the partner client does not do is said in `scenarios.toml`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use conformance_client::sign_in::{Agreed, Identity, User};
use conformance_client::{partner, probe};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Where the suite says which revision its server speaks.
const REVISION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// Where it gives a scenario's own data, a JSON object.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
/// Where it gives the scenario's name.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The scenario in which the gateway is known by a document, and the document that it wants. Nobody serves that, so it is
/// of no use elsewhere.
const DOCUMENT_SCENARIO: &str = "auth/basic-cimd";
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// The first revision without `initialize`.
const DISCOVERY_SINCE: &str = "2026-07-28";
/// A fault that a probe finds by the platform's rules and not by MCP's.
const RULE_OF_THE_PLATFORM: &str = "TOOLS_CAPABILITY_MISSING";
/// A partner that lets nobody in before a sign-in.
const SIGN_IN_REQUIRED: &str = "SIGN_IN_REQUIRED";
/// The tool of every server of that kind.
const TOOL: &str = "test-tool";
/// Everything that one call may take. The suite's servers are on this machine.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// What a scenario may want in particular.
#[derive(Default, Deserialize)]
struct Wishes {
    #[serde(default, rename = "toolCalls")]
    calls: Vec<Wish>,
    #[serde(flatten)]
    agreed: Option<Agreed>,
}

/// One call that a scenario asks for.
#[derive(Deserialize)]
struct Wish {
    name: String,
    arguments: Value,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let url = std::env::args().next_back().context("the last argument is the server's URL")?;
    let partner = partner(&url)?;
    let discover_first = std::env::var(REVISION).is_ok_and(|revision| revision.as_str() >= DISCOVERY_SINCE);
    let config = PartnerClientConfig { allow_loopback_http: true, discover_first, ..Default::default() };
    let client = PartnerClient::new(&config)?;
    let wishes: Wishes = match std::env::var(CONTEXT) {
        Ok(context) => serde_json::from_str(&context).context("the scenario's own data")?,
        Err(_) => Wishes::default(),
    };
    let record = probe(&client, &partner).await?;
    match &record.failure {
        None => call_all(&client, &partner, wishes.calls, &record.tools).await,
        Some(failure) if failure.code == SIGN_IN_REQUIRED => {
            let identity = Identity { agreed: wishes.agreed, document: document() };
            User::new(&client, &partner, &url, identity).call(TOOL, "{}", CALL_TIMEOUT).await.map(drop)
        }
        Some(failure) if failure.code == RULE_OF_THE_PLATFORM => Ok(()),
        Some(failure) => bail!("the probe failed: {failure:?}"),
    }
}

/// The gateway's metadata document, in the scenario that wants one.
fn document() -> Option<String> {
    std::env::var(SCENARIO).is_ok_and(|name| name == DOCUMENT_SCENARIO).then(|| DOCUMENT.to_owned())
}

/// Makes the calls that the scenario asks for, or one of each tool. Every call is made, and the first failure is told.
async fn call_all(
    client: &PartnerClient,
    partner: &Arc<Partner>,
    wished: Vec<Wish>,
    tools: &[Value],
) -> anyhow::Result<()> {
    let calls = if wished.is_empty() { one_of_each(tools) } else { wished };
    let mut outcome = Ok(());
    for Wish { name, arguments } in calls {
        let arguments = arguments.to_string();
        let call = ToolCall::new("conformance.call", &name, &arguments, CALL_TIMEOUT);
        let called = client.call(partner, call).await.with_context(|| format!("the call of `{name}` failed"));
        outcome = outcome.and(called.map(drop));
    }
    outcome
}

/// A call of each tool, with arguments that its schema takes.
fn one_of_each(tools: &[Value]) -> Vec<Wish> {
    let calls = tools.iter().filter_map(|tool| {
        let name = tool["name"].as_str()?.to_owned();
        let properties = tool["inputSchema"]["properties"].as_object();
        let arguments = properties.into_iter().flatten().filter_map(|(name, schema)| {
            // The one object that a scenario wants: the schema of the first tool, as the client got it.
            let object = (name == "schema").then(|| tools[0]["inputSchema"].clone());
            Some((name.clone(), sample(schema).or(object)?))
        });
        Some(Wish { name, arguments: Value::Object(arguments.collect::<Map<_, _>>()) })
    });
    calls.collect()
}

/// A value of a simple type.
fn sample(schema: &Value) -> Option<Value> {
    match schema["type"].as_str()? {
        "string" => Some(json!("text")),
        "number" | "integer" => Some(json!(5)),
        "boolean" => Some(json!(true)),
        _ => None,
    }
}
