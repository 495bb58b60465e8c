//! The main job in figures: what isolation costs, and what a whole search costs against a bare proxy.
//!
//! Everything is measured in one run on one machine, so that the ratios hold whatever the machine.
//! `cargo xtask bench` builds what this starts and prints the table.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod load;
mod micro;
mod servers;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;

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
        ["serve-partner"] => runtime.block_on(servers::partner(&sample("payload.json"))).expect("the partner serves"),
        ["serve-proxy", to] => runtime.block_on(servers::proxy(to)).expect("the proxy serves"),
        // Cargo passes `--bench`.
        _ => {
            runtime.block_on(micro::run());
            runtime.block_on(whole_search());
        }
    }
}

/// The project's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root folder").to_owned()
}

/// A sample of the AC contract.
fn sample(name: &str) -> String {
    let path = root().join("plugins/auto-book-ac-service/samples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// The AC contract as a component.
fn component() -> Vec<u8> {
    let path = root().join("target/contracts/auto-book-ac-service.wasm");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask guests` builds it", path.display()))
}

/// One line of the table.
fn line(what: &str, figure: &str, remark: &str) {
    println!("{what:<58} {figure:>14}   {remark}");
}

fn verdict(holds: bool) -> &'static str {
    if holds { "met" } else { "MISSED" }
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the server starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let line = stdout.lines().map_while(Result::ok).find(|line| line.starts_with("listening on http://"));
        let url = line.expect("the server listens");
        let address = url.trim_start_matches("listening on http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    fn own(arguments: &[&str]) -> Self {
        Self::start(Command::new(std::env::current_exe().expect("this binary")).args(arguments))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A gateway with the instant partner, and the search to send to it.
fn start_gateway(partner: &Server, folder: &Path) -> (Server, String) {
    let contracts = folder.join("contracts");
    std::fs::create_dir(&contracts).expect("writable");
    std::fs::write(contracts.join("ac.wasm"), component()).expect("writable");
    let config = folder.join("gateway.toml");
    let text = format!(
        "state_dir = {:?}\n[server]\nlisten = \"127.0.0.1:0\"\n[contracts]\ndir = {contracts:?}\n\
         [partner_client]\nallow_loopback_http = true\n[log]\nlevel = \"warn\"\n\
         [[partners]]\nid = \"instant\"\nname = \"Instant\"\nurl = \"http://{}/mcp\"\n\
         [[partners.listings]]\nintent = \"auto.book_ac_service\"\nservice_area = [\"IN_ALL\"]\n",
        folder.join("state"),
        partner.address
    );
    std::fs::write(&config, text).expect("writable");
    let program = root().join("target/release/intent-gateway");
    let gateway = Server::start(Command::new(&program).arg("serve").arg("--config").arg(&config));
    let token = Command::new(&program).args(["token", "--role", "orchestrator", "--config"]).arg(&config).output();
    let token = token.expect("the gateway issues a token").stdout;
    (gateway, String::from_utf8(token).expect("ASCII").trim().to_owned())
}

/// A whole search through HTTP against the same partner call through a bare proxy.
async fn whole_search() {
    let partner = Server::own(&["serve-partner"]);
    let proxy = Server::own(&["serve-proxy", &format!("http://{}/mcp", partner.address)]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (gateway, token) = start_gateway(&partner, folder.path());

    let request = sample("request.json");
    let passed = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"search_ac_service_slots\",\"arguments\":{request}}}}}"
    );
    let json = |token: Option<&str>| {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        headers.extend(token.map(|token| ("authorization", format!("Bearer {token}"))));
        headers
    };
    let through_proxy = load::Call {
        address: proxy.address.clone(),
        path: "/mcp".to_owned(),
        headers: json(None),
        body: Bytes::from(passed),
        process: proxy.child.id(),
    };
    let through_gateway = load::Call {
        address: gateway.address.clone(),
        path: "/api/v1/intents/auto.book_ac_service/search".to_owned(),
        headers: json(Some(&token)),
        body: Bytes::from(request),
        process: gateway.child.id(),
    };

    println!("\nA whole search: one partner, 15 options, {} KB", sample("payload.json").len() / 1000);
    let us = |time: Duration| time.as_secs_f64() * 1e6;
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
