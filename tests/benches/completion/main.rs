//! Completion reports in figures: how many a second, at what latency, for what CPU and disk, against servers that do less and
//! against Node.
//!
//! Everything is measured in one run on one machine: in each round every server gets the same reports over the same
//! number of connections, one server after the other, and the median of the rounds counts. `cargo xtask bench` builds and
//! installs what this starts and prints the table.
//!
//! ```text
//! cargo bench --package intent-gateway-tests --bench completion [-- parts | load [NAME]]
//! ```
//!
//! `parts` measures the steps of the gateway's work alone, each by itself; `load gateway` loads only servers whose names
//! contain this.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod disk;
mod gateway;
mod load;
mod orders;
mod parts;
mod reports;
mod servers;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use intent_gateway_tests::profile::{Loaded, Recording};
use test_servers::Server;

use crate::load::{Load, Run};
use crate::reports::Pool;
use crate::subject::{BARE, Fleet, NODE_EACH, NODE_GROUP, POSTGRES, POSTGRES_ORDERS, SQLITE, SQLITE_ORDERS, Subject};

/// Connections, how many reports are signed for a run over them, and how many of those a gateway is sent: more than the fastest
/// takes in its time. For some gateways an order is kept for each of them.
const LOADS: [(usize, usize, usize); 3] = [(1, 30_000, 8_000), (64, 120_000, 40_000), (256, 120_000, 45_000)];
/// How often every server is loaded over each number of connections.
const ROUNDS: usize = 3;
/// Reports of which a profile is made, at most.
const PROFILE_REPORTS: usize = 60_000;
const WARM_UP: Duration = Duration::from_millis(500);
const LOAD_TIME: Duration = Duration::from_secs(3);

/// Aims, at 256 connections: at least this share of what bare hyper answers,
const SHARE_OF_BARE_AIM: f64 = 0.25;
/// so many times what Node takes with group commit,
const TIMES_NODE_GROUP_AIM: f64 = 2.5;
/// so many times what it takes with a commit each,
const TIMES_NODE_EACH_AIM: f64 = 20.0;
/// at most so much CPU time of the server, microseconds a report,
const CPU_AIM_US: f64 = 40.0;
/// and at most so much on the disk, bytes a report.
const DISK_AIM_BYTES: f64 = 1024.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo passes `--bench`.
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| *word != "--bench").collect();
    // Servers run as the gateway does, the load generator on one thread.
    let many = || tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let one = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match words.as_slice() {
        ["serve-bare"] => many().block_on(servers::bare()).expect("it serves"),
        ["serve-verifying"] => many().block_on(servers::verifying()).expect("it serves"),
        ["parts"] => many().block_on(parts::run()),
        ["profile", connections, file] => {
            let connections = connections.parse().expect("a number of connections");
            one().block_on(profile_reports(connections, Path::new(file)));
        }
        ["load"] => one().block_on(load_all("")),
        ["load", name] => one().block_on(load_all(name)),
        [] => {
            many().block_on(parts::run());
            one().block_on(load_all(""));
        }
        other => panic!("{other:?}: expected nothing, `parts`, `load` or `load NAME`"),
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

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn start(name: &str, command: &mut Command) -> Server {
    Server::start(name, command, Stdio::inherit()).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a server of this binary.
fn start_own(arguments: &[&str]) -> Server {
    start("a server of the bench", Command::new(std::env::current_exe().expect("this binary")).args(arguments))
}

/// Loads all servers whose names contain `wanted`, and prints the table.
async fn load_all(wanted: &str) {
    let mut fleet = Fleet::start(wanted).await;
    let probed = tempfile::tempdir_in(root().join("target")).expect("a temporary folder");
    println!("\nCompletion reports; medians of {ROUNDS} rounds of {} s", LOAD_TIME.as_secs());
    line("a page appended and synced", &format!("{:.0} us", us(disk::sync_time(probed.path()))), "");
    let mut first = 0;
    for _ in 0..ROUNDS {
        for (connections, count, of_gateway) in LOADS {
            // Signed anew for each turn: they are good for five minutes.
            let pool = Pool::signed_now(first, count, &fleet.quoted);
            for subject in &mut fleet.subjects {
                subject.prepare(&fleet.quoted, first..first + of_gateway as u64).await;
                let requests = if subject.is_gateway() { of_gateway } else { pool.len() };
                load_one(subject, connections, &pool, requests).await;
            }
            first += count as u64;
        }
    }
    show_runs(&fleet.subjects);
    show_aims(fleet.subjects).await;
}

/// Reports about orders of a gateway on SQLite, while what it does is sampled into a file.
async fn profile_reports(connections: usize, file: &Path) {
    let mut fleet = Fleet::start(SQLITE_ORDERS).await;
    let pool = Pool::signed_now(0, PROFILE_REPORTS, &fleet.quoted);
    let subject = fleet.subjects.first_mut().expect("it was asked for");
    subject.prepare(&fleet.quoted, 0..PROFILE_REPORTS as u64).await;
    let recording = Recording::start(subject.server.id(), file);
    load_one(subject, connections, &pool, pool.len()).await;
    let (_, run) = subject.runs.last().expect("it has just run");
    recording.finish(&Loaded {
        cpu_per_call: run.cpu,
        p50: run.p50,
        per_second: run.per_second,
        all_calls: run.acknowledged,
    });
}

async fn load_one(subject: &mut Subject, connections: usize, pool: &Pool, requests: usize) {
    let load = Load {
        address: subject.server.address(),
        process: subject.server.id(),
        connections,
        pool,
        requests,
        repeat: subject.keeps_nothing(),
        warm_up: WARM_UP,
        time: LOAD_TIME,
    };
    let run = load::run(&load).await;
    subject.runs.push((connections, run));
}

fn show_runs(subjects: &[Subject]) {
    for (connections, ..) in LOADS {
        println!("\n{connections} connection{}", if connections == 1 { "" } else { "s" });
        for subject in subjects {
            let Some(run) = median(subject, connections) else { continue };
            let Run { per_second, p50, p99, cpu, own_cpu, .. } = run;
            line(
                &format!("  {}", subject.name),
                &format!("{per_second:.0} /s"),
                &format!(
                    "p50 {:.0} us, p99 {:.0} us, CPU {:.1} us a report (load generator {:.1} us)",
                    us(p50),
                    us(p99),
                    us(cpu),
                    us(own_cpu)
                ),
            );
        }
    }
}

/// Each figure's median over the rounds.
fn median(subject: &Subject, connections: usize) -> Option<Run> {
    let runs: Vec<Run> =
        subject.runs.iter().filter(|(number, _)| *number == connections).map(|(_, run)| *run).collect();
    let times = |figure: fn(&Run) -> Duration| {
        let mut figures: Vec<Duration> = runs.iter().map(figure).collect();
        figures.sort_unstable();
        figures[figures.len() / 2]
    };
    let mut rates: Vec<f64> = runs.iter().map(|run| run.per_second).collect();
    rates.sort_unstable_by(f64::total_cmp);
    Some(Run {
        per_second: *rates.get(rates.len() / 2)?,
        p50: times(|run| run.p50),
        p99: times(|run| run.p99),
        cpu: times(|run| run.cpu),
        own_cpu: times(|run| run.own_cpu),
        acknowledged: runs.iter().map(|run| run.acknowledged).sum(),
    })
}

/// Stops all servers, for disk is counted when logs are folded in, and prints each aim that could be measured.
async fn show_aims(subjects: Vec<Subject>) {
    let (most, ..) = LOADS[LOADS.len() - 1];
    let of = |name: &str| subjects.iter().find(|subject| subject.name == name).and_then(|one| median(one, most));
    let (gateway, bare, each, group) = (of(SQLITE_ORDERS), of(BARE), of(NODE_EACH), of(NODE_GROUP));
    println!("\nWhat an order costs a report, at {most} connections");
    for (with, without) in [(SQLITE_ORDERS, SQLITE), (POSTGRES_ORDERS, POSTGRES)] {
        let (Some(with_orders), Some(without_orders)) = (of(with), of(without)) else { continue };
        let times = with_orders.cpu.as_secs_f64() / without_orders.cpu.as_secs_f64();
        line(&format!("CPU, {with}, against without"), &format!("{times:.2}"), "");
    }
    println!("\nAims, at {most} connections, the gateway on SQLite with orders");
    let ratio = |what: &str, other: Option<Run>, aim: f64| {
        let (Some(gateway), Some(other)) = (gateway, other) else { return };
        let ratio = gateway.per_second / other.per_second;
        line(what, &format!("{ratio:.2}"), &format!("aim at least {aim}: {}", verdict(ratio >= aim)));
    };
    ratio("reports/s against bare hyper", bare, SHARE_OF_BARE_AIM);
    ratio("reports/s against Node with group commit", group, TIMES_NODE_GROUP_AIM);
    ratio("reports/s against Node with a commit each", each, TIMES_NODE_EACH_AIM);
    if let Some(Run { cpu, .. }) = gateway {
        let holds = us(cpu) <= CPU_AIM_US;
        line("CPU of a report", &format!("{:.1} us", us(cpu)), &format!("aim {CPU_AIM_US} us: {}", verdict(holds)));
    }
    for subject in subjects {
        let name = subject.name;
        if let Some(bytes) = subject.finish().await {
            let aim = if name == SQLITE_ORDERS {
                format!("aim {DISK_AIM_BYTES} B: {}", verdict(bytes <= DISK_AIM_BYTES))
            } else {
                String::new()
            };
            line(&format!("disk of a report, {name}"), &format!("{bytes:.0} B"), &aim);
        }
    }
}
