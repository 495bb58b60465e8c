//! `intent-gateway partner conformance`: tries a partner's server on its developer's own machine. No gateway is asked. What is tried is
//! `intent-gateway-conformance`'s; here the contract is loaded, files are read, and what was found is printed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::Args;
use intent_gateway_conformance::material::{Material, Shown};
use intent_gateway_conformance::report::{Check, Outcome, Report};
use intent_gateway_conformance::{ConformanceError, Subject, examine};
use intent_gateway_domain::clock::{Clock, SystemClock};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::golive::{GoLiveError, GoLiveItem, ItemState};
use intent_gateway_domain::limits::{CONTRACT_MAX_BYTES, REQUEST_BODY_MAX_BYTES};
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sections::{self, SIGNATURES_SECTION};
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use intent_gateway_sandbox::{Engine, ExampleCall, LoadedContract, SandboxConfig};
use serde_json::{Map, Value};

use crate::files::{read_bounded, read_json};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::terminal::{Palette, Tone, count, fill, harmless};
use crate::{compiler, print};

/// Instances of the contract that may run at a time.
const INSTANCES: u32 = 4;
/// Columns of the longest code.
const CODE_WIDTH: usize = 28;
/// Columns of the longest word for an outcome.
const OUTCOME_WIDTH: usize = 9;
/// What an item below a check is set in by.
const INDENT: &str = "           ";
/// Largest file with a token.
const TOKEN_MAX_BYTES: usize = 16 * 1024;

#[derive(Args, Debug)]
pub(crate) struct ConformanceArgs {
    /// Where the MCP server is, with its path.
    #[arg(value_name = "URL")]
    endpoint: String,
    /// The intent's contract, a component in a file.
    #[arg(long, value_name = "FILE")]
    contract: PathBuf,
    /// A request to search with, in place of the contract's example; may be repeated.
    #[arg(long = "request", value_name = "FILE")]
    requests: Vec<PathBuf>,
    /// Arguments of a tool, in place of the contract's example. Identifiers are filled in.
    #[arg(long = "arguments", value_name = "TOOL=FILE", value_parser = parse_arguments)]
    arguments: Vec<(String, PathBuf)>,
    /// A file with a token of the server's own, where its tools want one.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Call no tool that makes, changes or cancels an order.
    #[arg(long)]
    no_orders: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn parse_arguments(text: &str) -> Result<(String, PathBuf), String> {
    let (tool, file) = text.split_once('=').ok_or("expected TOOL=FILE")?;
    if tool.is_empty() || file.is_empty() {
        return Err("expected TOOL=FILE".to_owned());
    }
    Ok((tool.to_owned(), PathBuf::from(file)))
}

/// Tries the server, and prints what was found.
pub(super) fn run(arguments: &ConformanceArgs) -> Result<Verdict, CommandError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime").map_err(fail)?;
    let _entered = runtime.enter();
    let subject = runtime.block_on(prepare(arguments))?;
    let palette = Palette::of_stdout();
    let is_json = arguments.json;
    let tell = |check: &Check| {
        if !is_json {
            print(&show_check(check, palette));
        }
    };
    let report = runtime.block_on(examine(&subject, &tell)).map_err(explain)?;
    if is_json {
        print_json(&report)?;
    } else {
        print(&show_end(&report, palette));
    }
    Ok(Verdict::of(report.holds()))
}

async fn prepare(arguments: &ConformanceArgs) -> Result<Subject, CommandError> {
    let ConformanceArgs { endpoint, contract, requests, arguments, token_file, no_orders, json: _ } = arguments;
    let contract = load(contract).await?;
    let descriptor = contract.descriptor();
    let examples = contract.examples().await.context("the contract does not show its examples").map_err(fail)?;
    let shown =
        examples.iter().filter(|example| example.is_accepted()).flat_map(|example| read_example(&example.call()));
    let mut material = Material::of_examples(&descriptor.search.tool, shown, SystemClock.now());
    if !requests.is_empty() {
        let read = requests.iter().map(|file| read_object(file).map(|request| Value::Object(request).to_string()));
        material.search_with(read.collect::<Result<_, _>>()?);
    }
    for (tool, file) in arguments {
        if descriptor.tool(tool).is_none() {
            let known: Vec<&str> = descriptor.tools.iter().map(|tool| tool.name.as_str()).collect();
            return Err(usage(anyhow!("the intent has no tool `{tool}`; it has {}", known.join(", "))));
        }
        material.call_with(tool, read_object(file)?);
    }
    let token = token_file.as_deref().map(read_token).transpose()?;
    let client = PartnerClientConfig { allow_loopback_http: true, ..PartnerClientConfig::default() };
    let client = Arc::new(PartnerClient::new(&client).context("calls of servers cannot be set up").map_err(fail)?);
    Ok(Subject {
        calls: client.clone(),
        probe: client,
        clock: Arc::new(SystemClock),
        endpoint: Endpoint::mcp(endpoint),
        token,
        contract: Arc::new(contract),
        material,
        places_orders: !no_orders,
    })
}

/// Compiles the contract, as a gateway does.
async fn load(file: &Path) -> Result<LoadedContract, CommandError> {
    let bytes = read_bounded(file, CONTRACT_MAX_BYTES).map_err(usage)?;
    let config = SandboxConfig { max_concurrent_instances: INSTANCES, ..SandboxConfig::default() };
    let engine = Engine::with_compiler(&config, compiler()).context("the sandbox did not start").map_err(fail)?;
    let (component, _) = sections::take_out(&bytes, SIGNATURES_SECTION);
    let loaded = LoadedContract::compile(&engine, &component).await;
    loaded.with_context(|| format!("{} is no contract", file.display())).map_err(usage)
}

/// What an example shows of arguments and options.
fn read_example<'a>(call: &ExampleCall<'a>) -> Vec<Shown<'a>> {
    let quoted = |quoted: Option<&'a str>| quoted.map(Shown::Option);
    match call {
        ExampleCall::CheckRequest { tool, arguments, about } => {
            [Shown::Arguments { tool, arguments }].into_iter().chain(quoted(about.quoted)).collect()
        }
        ExampleCall::CheckResponse(exchange) => {
            let arguments = Shown::Arguments { tool: exchange.tool, arguments: exchange.arguments };
            [arguments].into_iter().chain(quoted(exchange.about.quoted)).collect()
        }
        ExampleCall::Evaluate { payloads, .. } => {
            payloads.iter().flat_map(|payload| &payload.candidates).map(|one| Shown::Option(one.json)).collect()
        }
        ExampleCall::Classify(_) | ExampleCall::CheckCompletion { .. } => Vec::new(),
    }
}

fn read_object(file: &Path) -> Result<Map<String, Value>, CommandError> {
    let text = read_json(file, REQUEST_BODY_MAX_BYTES).map_err(usage)?;
    let object = serde_json::from_str(&text).with_context(|| format!("{} holds no JSON object", file.display()));
    object.map_err(usage)
}

fn read_token(file: &Path) -> Result<Secret, CommandError> {
    let bytes = read_bounded(file, TOKEN_MAX_BYTES).map_err(usage)?;
    let text = String::from_utf8(bytes).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    text.map(Secret::new).ok_or_else(|| usage(anyhow!("{} holds no token", file.display())))
}

/// What is wrong with what the server was to be tried with.
fn explain(error: ConformanceError) -> CommandError {
    match &error {
        ConformanceError::Requests(GoLiveError::SampleRefused { sample, refusal }) => {
            let places: Vec<_> =
                refusal.violations.iter().map(|violation| format!("\n  {}", tell_violation(violation))).collect();
            usage(anyhow!("request {sample} is refused by the contract [{}]:{}", refusal.code, places.concat()))
        }
        ConformanceError::Requests(_) => usage(error),
        ConformanceError::Contract(_) => fail(error),
    }
}

fn tell_violation(Violation { pointer, code, message }: &Violation) -> String {
    let place = if pointer.is_empty() { String::new() } else { format!("{}: ", harmless(pointer)) };
    format!("{place}{} [{code}]", harmless(message))
}

/// A check with what is wrong and what to do below it.
fn show_check(check: &Check, palette: Palette) -> String {
    let Check { code, tool, outcome, detail, violations, sent } = check;
    let (word, tone) = match outcome {
        Outcome::Passed => ("passed", Some(Tone::Good)),
        Outcome::Skipped => ("skipped", None),
        Outcome::Noted => ("noted", Some(Tone::Doubtful)),
        Outcome::Failed => ("failed", Some(Tone::Bad)),
    };
    let padded = fill(word, OUTCOME_WIDTH);
    let word = tone.map_or_else(|| padded.clone(), |tone| palette.paint(tone, &padded));
    let tool = tool.as_ref().map_or_else(String::new, |tool| format!("{}: ", harmless(tool)));
    let mut lines = vec![format!("{word}{}{tool}{}", fill(code.as_str(), CODE_WIDTH), harmless(detail))];
    lines.extend(violations.iter().map(|violation| format!("{INDENT}{}", tell_violation(violation))));
    if let Some(sent) = sent.as_ref().filter(|_| *outcome >= Outcome::Noted) {
        lines.push(format!("{INDENT}the server wrote: {}", palette.faint(&harmless(sent))));
    }
    if *outcome == Outcome::Failed {
        lines.push(format!("{INDENT}Expected: {}. {}", code.text(), code.advice()));
    }
    lines.join("\n")
}

/// The counts, and what going live takes besides.
fn show_end(report: &Report<'_>, palette: Palette) -> String {
    let mut lines = Vec::new();
    let open: Vec<&GoLiveItem> = report.going_live.iter().filter(|item| item.state != ItemState::Passed).collect();
    if !open.is_empty() {
        lines.push(format!("\nGoing live with {} takes besides, more requests and people's word:", report.intent));
        lines.extend(open.iter().map(|item| format!("  {}  {}", item.code, harmless(&item.text))));
    }
    let failed = report.count(Outcome::Failed);
    let (tone, verdict) = match failed {
        0 => (Tone::Good, "nothing failed".to_owned()),
        failed => (Tone::Bad, format!("{} failed", count(failed, "check"))),
    };
    let others = [Outcome::Passed, Outcome::Noted, Outcome::Skipped].map(|outcome| report.count(outcome));
    let [passed, noted, skipped] = others;
    lines.push(format!("\n{}; {passed} passed, {noted} noted, {skipped} skipped", palette.paint(tone, &verdict)));
    lines.join("\n")
}
