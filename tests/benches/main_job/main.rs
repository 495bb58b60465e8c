//! The main job in figures: what isolation costs, and what a whole search costs against plain proxies and the same job
//! by hand.
//!
//! Everything is measured in one run on one machine, so that the ratios hold whatever the machine.
//! `cargo xtask bench` builds what this starts and prints the table.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod load;
mod many;
mod micro;
mod peers;
mod selection;
mod servers;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use intent_gateway_tests::profile::{Loaded, Recording};
use test_servers::Server;
use tokio::runtime::Runtime;

use crate::micro::us;
use crate::peers::{ByHand, Nginx};
use crate::subject::{OPTIONS, SUBJECTS, Subject};

/// How long each load runs.
const LOAD_TIME: Duration = Duration::from_secs(6);
/// How long a load runs of which a profile is made.
const PROFILE_TIME: Duration = Duration::from_secs(16);
/// CPU of the gateway for a whole search at 32 clients that this product aims at, microseconds: what agentgateway
/// takes to pass the same call through.
const CPU_AIM_US: f64 = 237.0;
/// The same against what the bare proxy takes,
const CPU_TIMES_AIM: f64 = 10.0;
/// how much later the gateway answers one client than the proxy, in one of a hundred searches, microseconds,
const OVERHEAD_AIM_US: f64 = 300.0;
/// the median of the answers to one client against the proxy's,
const P50_TIMES_AIM: f64 = 3.0;
/// and the gateway's resident memory after the load.
const MEMORY_AIM_MIB: f64 = 60.0;

/// Numbers of clients.
const ONE: usize = 1;
const MANY: usize = 32;

/// Who is measured.
const PROXY: &str = "bare hyper proxy";
const NGINX: &str = "nginx as a plain proxy";
const BY_HAND: &str = "the same job in Node by hand";
const GATEWAY: &str = "gateway";

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
        ["search", ..] => whole_searches(&runtime),
        ["profile", clients, file, ..] => {
            let clients = clients.parse().expect("a number of clients");
            runtime.block_on(profile_search(&SUBJECTS[0], clients, Path::new(file)));
        }
        ["contracts", ..] => runtime.block_on(many::run(arguments.get(1).and_then(|count| count.parse().ok()))),
        // Cargo passes `--bench`.
        _ => {
            runtime.block_on(micro::run());
            selection::run();
            whole_searches(&runtime);
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

/// Searches of one contract, while what the gateway does is sampled into a file.
async fn profile_search(subject: &Subject, clients: usize, file: &Path) {
    let partner = start_own(&["serve-partner", subject.intent]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (gateway, token) = start_gateway(subject, &partner, folder.path());
    let call = search_call(subject, &gateway, &token);
    load::until_served(&call).await;
    let recording = Recording::start(gateway.id(), file);
    let run = load::run(&call, clients, PROFILE_TIME).await;
    recording.finish(&Loaded {
        cpu_per_call: run.cpu_per_call,
        p50: run.p50,
        per_second: run.calls_per_second,
        all_calls: run.all_calls,
    });
}

fn search_call(subject: &Subject, gateway: &Server, token: &str) -> load::Call {
    load::Call {
        address: gateway.address().to_owned(),
        requests: vec![(format!("/api/v1/intents/{}/search", subject.intent), Bytes::from(subject.request()))],
        headers: json_headers(Some(token)),
        processes: vec![gateway.id()],
    }
}

/// What one server has shown to so many clients.
struct Shown {
    name: &'static str,
    clients: usize,
    run: load::Run,
}

fn whole_searches(runtime: &Runtime) {
    for subject in &SUBJECTS {
        runtime.block_on(whole_search(subject));
    }
}

/// A whole search through HTTP against the same partner call through plain proxies and, where there is one, against the
/// same job by hand.
async fn whole_search(subject: &Subject) {
    let partner = start_own(&["serve-partner", subject.intent]);
    let partner_url = format!("http://{}/mcp", partner.address());
    let proxy = start_own(&["serve-proxy", &partner_url]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (gateway, token) = start_gateway(subject, &partner, folder.path());

    let kilobytes = subject.payload().len() / 1000;
    println!("\nA whole search of {}: one partner, {OPTIONS} options, {kilobytes} KB", subject.intent);
    let nginx = Nginx::start(partner.address());
    let by_hand = if subject.intent == peers::INTENT { ByHand::start(&partner_url) } else { None };
    let mut calls = vec![(PROXY, partner_call(subject, proxy.address(), vec![proxy.id()]))];
    if let Some(nginx) = &nginx {
        calls.push((NGINX, partner_call(subject, &nginx.address(), nginx.processes())));
    }
    if let Some(by_hand) = &by_hand {
        calls.push((BY_HAND, search_call(subject, &by_hand.server, &by_hand.token)));
    }
    let of_gateway = search_call(subject, &gateway, &token);
    load::until_served(&of_gateway).await;
    calls.push((GATEWAY, of_gateway));

    let mut all_shown = Vec::new();
    for clients in [ONE, MANY] {
        for (name, call) in &calls {
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
            all_shown.push(Shown { name, clients, run });
        }
    }
    show_aims(&all_shown, resident_mib(gateway.id()));
}

/// The partner's tool called through a proxy.
fn partner_call(subject: &Subject, address: &str, processes: Vec<u32>) -> load::Call {
    let passed = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{}\",\"arguments\":{}}}}}",
        subject.tool,
        subject.request()
    );
    load::Call {
        address: address.to_owned(),
        requests: vec![("/mcp".to_owned(), Bytes::from(passed))],
        headers: json_headers(None),
        processes,
    }
}

fn show_aims(all_shown: &[Shown], resident_mib: f64) {
    let run_of = |name: &str, clients: usize| {
        let found = all_shown.iter().find(|shown| shown.name == name && shown.clients == clients);
        &found.expect("each is loaded by each number of clients").run
    };
    let overhead = us(run_of(GATEWAY, ONE).p99) - us(run_of(PROXY, ONE).p99);
    line(
        "overhead over the proxy, p99, one client",
        &format!("{overhead:.0} us"),
        &format!("aim {OVERHEAD_AIM_US:.0} us: {}", verdict(overhead <= OVERHEAD_AIM_US)),
    );
    let times = us(run_of(GATEWAY, ONE).p50) / us(run_of(PROXY, ONE).p50);
    line(
        "gateway p50 against the proxy's, one client",
        &format!("{times:.2} times"),
        &format!("aim {P50_TIMES_AIM:.0} times: {}", verdict(times <= P50_TIMES_AIM)),
    );
    let cpu = us(run_of(GATEWAY, MANY).cpu_per_call);
    line(
        &format!("gateway CPU of a search, {MANY} clients"),
        &format!("{cpu:.0} us"),
        &format!("aim {CPU_AIM_US:.0} us: {}", verdict(cpu <= CPU_AIM_US)),
    );
    let times = cpu / us(run_of(PROXY, MANY).cpu_per_call);
    line(
        &format!("gateway CPU against the proxy's, {MANY} clients"),
        &format!("{times:.1} times"),
        &format!("aim {CPU_TIMES_AIM:.0} times: {}", verdict(times <= CPU_TIMES_AIM)),
    );
    line(
        "resident memory of the gateway after that",
        &format!("{resident_mib:.0} MiB"),
        &format!("aim {MEMORY_AIM_MIB:.0} MiB: {}", verdict(resident_mib <= MEMORY_AIM_MIB)),
    );
}

/// Resident memory of a process, what it has mapped of files included.
fn resident_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("Linux tells");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of the status");
    let kib: f64 = resident.trim().trim_end_matches(" kB").parse().expect("a number");
    kib / 1024.0
}
