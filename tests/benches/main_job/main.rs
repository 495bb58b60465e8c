//! The main job in figures: what isolation costs, and what a whole search costs against a bare proxy.
//!
//! Everything is measured in one run on one machine, so that the ratios hold whatever the machine.
//! `cargo xtask bench` builds what this starts and prints the table.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod load;
mod many;
mod micro;
mod selection;
mod servers;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use test_servers::Server;

use crate::micro::us;
use crate::subject::{OPTIONS, SUBJECTS, Subject};

/// How long each load runs.
const LOAD_TIME: Duration = Duration::from_secs(6);
/// CPU of the gateway for a whole search at 32 clients that this product aims at, microseconds: what agentgateway
/// takes to pass the same call through.
const CPU_AIM_US: f64 = 237.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve-partner", intent] => {
            let subject = SUBJECTS.iter().find(|subject| subject.intent == *intent).expect("an intent of the bench");
            runtime.block_on(servers::partner(&subject.payload())).expect("the partner serves");
        }
        ["serve-proxy", to] => runtime.block_on(servers::proxy(to)).expect("the proxy serves"),
        ["selection", ..] => selection::run(),
        ["contracts", ..] => runtime.block_on(many::run(arguments.get(1).and_then(|count| count.parse().ok()))),
        // Cargo passes `--bench`.
        _ => {
            runtime.block_on(micro::run());
            selection::run();
            for subject in &SUBJECTS {
                runtime.block_on(whole_search(subject));
            }
            runtime.block_on(many::run(None));
        }
    }
}

/// The project's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root folder").to_owned()
}

/// One line of the table.
fn line(what: &str, figure: &str, remark: &str) {
    println!("{what:<58} {figure:>14}   {remark}");
}

fn verdict(holds: bool) -> &'static str {
    if holds { "met" } else { "MISSED" }
}

/// Starts a server of this binary, or another.
fn start(command: &mut Command) -> Server {
    Server::start("a server of the bench", command, Stdio::null()).unwrap_or_else(|error| panic!("{error}"))
}

fn start_own(arguments: &[&str]) -> Server {
    start(Command::new(std::env::current_exe().expect("this binary")).args(arguments))
}

/// A gateway with the contract and the instant partner, and a token for it.
fn start_gateway(subject: &Subject, partner: &Server, folder: &Path) -> (Server, String) {
    let contracts = folder.join("contracts");
    std::fs::create_dir(&contracts).expect("writable");
    std::fs::write(contracts.join("contract.wasm"), subject.component()).expect("writable");
    let config = write_config(folder, partner, &[subject.intent]);
    (start_program(&config), token_of(&config))
}

/// A configuration for the contracts in a folder, with the instant partner for some intents.
fn write_config(folder: &Path, partner: &Server, intents: &[&str]) -> PathBuf {
    let listing = |intent: &&str| format!("[[partners.listings]]\nintent = {intent:?}\nservice_area = [\"IN_ALL\"]\n");
    let text = format!(
        "state_dir = {:?}\n[server]\nlisten = \"127.0.0.1:0\"\ndrain_announce_ms = 0\n[contracts]\ndir = {:?}\n\
         [partner_client]\nallow_loopback_http = true\n[outbound]\nrate_limits = false\nsearch_cache = false\n[log]\nlevel = \"warn\"\n\
         [[partners]]\nid = \"instant\"\nname = \"Instant\"\nurl = \"http://{}/mcp\"\n{}",
        folder.join("state"),
        folder.join("contracts"),
        partner.address(),
        intents.iter().map(listing).collect::<String>()
    );
    let config = folder.join("gateway.toml");
    std::fs::write(&config, text).expect("writable");
    config
}

fn start_program(config: &Path) -> Server {
    start(Command::new(root().join("target/release/intent-gateway")).arg("serve").arg("--config").arg(config))
}

/// A token for the gateway of a configuration.
fn token_of(config: &Path) -> String {
    let program = root().join("target/release/intent-gateway");
    let token = Command::new(program).args(["token", "--role", "orchestrator", "--config"]).arg(config).output();
    String::from_utf8(token.expect("the gateway issues a token").stdout).expect("ASCII").trim().to_owned()
}

fn json_headers(token: Option<&str>) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        // Whoever takes events as well gets them: a search that shows what it has, which ranks more than once.
        ("accept", "application/json".to_owned()),
    ];
    headers.extend(token.map(|token| ("authorization", format!("Bearer {token}"))));
    headers
}

/// A whole search through HTTP against the same partner call through a bare proxy.
async fn whole_search(subject: &Subject) {
    let partner = start_own(&["serve-partner", subject.intent]);
    let proxy = start_own(&["serve-proxy", &format!("http://{}/mcp", partner.address())]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (gateway, token) = start_gateway(subject, &partner, folder.path());

    let request = subject.request();
    let passed = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{}\",\"arguments\":{request}}}}}",
        subject.tool
    );
    let through_proxy = load::Call {
        address: proxy.address().to_owned(),
        requests: vec![("/mcp".to_owned(), Bytes::from(passed))],
        headers: json_headers(None),
        process: proxy.id(),
    };
    let through_gateway = load::Call {
        address: gateway.address().to_owned(),
        requests: vec![(format!("/api/v1/intents/{}/search", subject.intent), Bytes::from(request))],
        headers: json_headers(Some(&token)),
        process: gateway.id(),
    };

    let kilobytes = subject.payload().len() / 1000;
    println!("\nA whole search of {}: one partner, {OPTIONS} options, {kilobytes} KB", subject.intent);
    let mut runs = Vec::new();
    for clients in [1, 32] {
        for (name, call) in [("bare hyper proxy", &through_proxy), ("gateway", &through_gateway)] {
            let run = load::run(call, clients, LOAD_TIME).await;
            line(
                &format!("  {name}, {clients} client{}", if clients == 1 { "" } else { "s" }),
                &format!("{:.0} /s", run.calls_per_second),
                &format!(
                    "p50 {:.0} us, p99 {:.0} us, CPU {:.0} us a call",
                    us(run.p50),
                    us(run.p99),
                    us(run.cpu_per_call)
                ),
            );
            runs.push(run);
        }
    }
    let overhead = us(runs[1].p99) - us(runs[0].p99);
    line(
        "overhead over the proxy, p99, one client",
        &format!("{overhead:.0} us"),
        &format!("aim 500 us: {}", verdict(overhead <= 500.0)),
    );
    let cpu = us(runs[3].cpu_per_call);
    line(
        "gateway CPU of a search, 32 clients",
        &format!("{cpu:.0} us"),
        &format!("aim {CPU_AIM_US:.0} us: {}", verdict(cpu <= CPU_AIM_US)),
    );
}
