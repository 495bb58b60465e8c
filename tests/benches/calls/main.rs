//! Tool calls in figures: what a call through the gateway costs against the same call made by bare hyper and by rmcp's own
//! client, what a call costs through rmcp and through the partner client, and what a partner that hangs costs a search.
//!
//! Everything is measured in one run on one machine: in each round every client makes the same calls to the same partner,
//! one client after the other, and the median of the rounds counts. `cargo xtask bench` builds what this starts and prints
//! the table.
//!
//! ```text
//! cargo bench --package intent-gateway-tests --bench calls [-- calls | exchange | hanging]
//! ```

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod clients;
mod exchange;
mod gateway;
mod hanging;
mod load;
mod partner;
mod rmcp_hyper;
mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use intent_gateway_tests::profile::{Loaded, Recording};
use test_servers::Server;
use tokio::runtime::Runtime;

use crate::clients::{OverRmcp, RawHyper};
use crate::gateway::Gateway;
use crate::load::Run;
use crate::subject::{SUBJECTS, Subject};

/// Calls under way at once.
const IN_FLIGHT: [usize; 2] = [1, 32];
/// How often every client makes its calls.
const ROUNDS: usize = 3;
/// How long a load runs of which a profile is made.
const PROFILE_TIME: Duration = Duration::from_secs(15);
/// Aim: the gateway's CPU time for a call is at most so many times that of rmcp's client over hyper.
const TIMES_RMCP_AIM: f64 = 1.5;

const HYPER: &str = "bare hyper";
const RMCP_HYPER: &str = "rmcp over hyper";
const RMCP: &str = "rmcp, its own transport";
const GATEWAY: &str = "gateway";
const CLIENTS: [&str; 4] = [HYPER, RMCP_HYPER, RMCP, GATEWAY];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo passes `--bench`.
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| *word != "--bench").collect();
    match words.as_slice() {
        ["serve-partner"] => one().block_on(partner::serve()).expect("the partner serves"),
        ["calls"] => calls(),
        ["profile", kind, in_flight, file] => {
            let subject = &SUBJECTS[usize::from(*kind == "booking")];
            profile_calls(subject, in_flight.parse().expect("a number of calls"), Path::new(file));
        }
        ["exchange"] => exchange::run(&many()),
        ["hanging"] => hanging::run(&one()),
        [] => {
            calls();
            exchange::run(&many());
            hanging::run(&one());
        }
        other => panic!("{other:?}: expected nothing, `calls`, `exchange` or `hanging`"),
    }
}

/// What generates load on the gateway has one thread, so that the gateway has the other core.
fn one() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A client that is measured itself runs as the gateway does.
fn many() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
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

/// The partner, a process of its own.
fn start_partner() -> Server {
    start("the partner", Command::new(std::env::current_exe().expect("this binary")).arg("serve-partner"))
}

/// Measures every client with every tool.
fn calls() {
    let partner = start_partner();
    let (one, many) = (one(), many());
    let folder = tempfile::tempdir_in(root().join("target")).expect("a temporary folder");
    let gateway = Gateway::start(folder.path(), &[("instant", &format!("{}/mcp", partner.url))], None);
    println!("Tool calls; medians of {ROUNDS} rounds of {} s", load::TIME.as_secs());
    for subject in &SUBJECTS {
        let runs = measure(subject, &partner, &gateway, &one, &many);
        for in_flight in IN_FLIGHT {
            show(subject, in_flight, &runs);
        }
        show_aims(&runs);
    }
}

/// Calls of one tool, while what the gateway does is sampled into a file.
fn profile_calls(subject: &Subject, in_flight: usize, file: &Path) {
    let (partner, one) = (start_partner(), one());
    let folder = tempfile::tempdir_in(root().join("target")).expect("a temporary folder");
    let gateway = Gateway::start(folder.path(), &[("instant", &format!("{}/mcp", partner.url))], None);
    let reference = one.block_on(gateway.reference(subject));
    let calls = Arc::new(gateway.calls(subject, &reference));
    let recording = Recording::start(gateway.server.id(), file);
    let run = one.block_on(load::run(calls, gateway.server.id(), in_flight, PROFILE_TIME));
    recording.finish(&Loaded {
        cpu_per_call: run.cpu,
        p50: run.p50,
        per_second: run.per_second,
        all_calls: run.all_calls,
    });
}

/// A run of a client, with the number of calls that were under way.
type Measured = (&'static str, usize, Run);

/// All rounds with one tool.
fn measure(subject: &Subject, partner: &Server, gateway: &Gateway, one: &Runtime, many: &Runtime) -> Vec<Measured> {
    let url = format!("{}/mcp", partner.url);
    let own = std::process::id();
    let hyper = Arc::new(RawHyper::to_partner(&url, subject));
    let over_hyper = many.block_on(OverRmcp::over_hyper(&url, subject.tool, subject.arguments()));
    let stock = many.block_on(OverRmcp::stock(&url, subject.tool, subject.arguments()));
    let (over_hyper, stock) = (Arc::new(over_hyper), Arc::new(stock));
    let reference = one.block_on(gateway.reference(subject));
    let mut runs = Vec::new();
    for _ in 0..ROUNDS {
        for in_flight in IN_FLIGHT {
            let mut add = |name, runtime: &Runtime, run: Box<dyn Future<Output = Run>>| {
                let before = partner::accepted(partner.address());
                let run = runtime.block_on(Box::into_pin(run));
                let connections = partner::accepted(partner.address()) - before;
                runs.push((name, in_flight, Run { connections, ..run }));
            };
            add(HYPER, many, Box::new(load::run(Arc::clone(&hyper), own, in_flight, load::TIME)));
            add(RMCP_HYPER, many, Box::new(load::run(Arc::clone(&over_hyper), own, in_flight, load::TIME)));
            add(RMCP, many, Box::new(load::run(Arc::clone(&stock), own, in_flight, load::TIME)));
            let through_gateway = Arc::new(gateway.calls(subject, &reference));
            add(GATEWAY, one, Box::new(load::run(through_gateway, gateway.server.id(), in_flight, load::TIME)));
        }
    }
    runs
}

/// Each figure's median over the rounds; of connections, the sum.
fn median(name: &str, in_flight: usize, runs: &[Measured]) -> Run {
    let of = |(client, number, _): &&Measured| *client == name && *number == in_flight;
    let runs: Vec<&Run> = runs.iter().filter(of).map(|(_, _, run)| run).collect();
    let middle = |figure: fn(&Run) -> Duration| {
        let mut figures: Vec<Duration> = runs.iter().map(|run| figure(run)).collect();
        figures.sort_unstable();
        figures[figures.len() / 2]
    };
    let mut rates: Vec<f64> = runs.iter().map(|run| run.per_second).collect();
    rates.sort_unstable_by(f64::total_cmp);
    Run {
        all_calls: runs.iter().map(|run| run.all_calls).sum(),
        calls: runs.iter().map(|run| run.calls).sum(),
        per_second: rates[rates.len() / 2],
        p50: middle(|run| run.p50),
        p99: middle(|run| run.p99),
        cpu: middle(|run| run.cpu),
        connections: runs.iter().map(|run| run.connections).sum(),
    }
}

fn show(subject: &Subject, in_flight: usize, runs: &[Measured]) {
    println!("\n{}, {} bytes back, {in_flight} in flight", subject.tool, subject.answer().len());
    for name in CLIENTS {
        let Run { calls, per_second, p50, p99, cpu, connections, .. } = median(name, in_flight, runs);
        line(
            &format!("  {name}"),
            &format!("{per_second:.0} /s"),
            &format!(
                "p50 {:.0} us, p99 {:.0} us, CPU {:.1} us a call, {connections} connections for {calls} calls",
                us(p50),
                us(p99),
                us(cpu)
            ),
        );
    }
}

fn show_aims(runs: &[Measured]) {
    for in_flight in IN_FLIGHT {
        let of = |name| median(name, in_flight, runs);
        let (gateway, rmcp, stock, hyper) = (of(GATEWAY), of(RMCP_HYPER), of(RMCP), of(HYPER));
        let ratio = |other: Run| us(gateway.cpu) / us(other.cpu);
        let figure = ratio(rmcp);
        line(
            &format!("gateway CPU / rmcp CPU, {in_flight} in flight"),
            &format!("{figure:.2}"),
            &format!(
                "aim {TIMES_RMCP_AIM}: {}; against its own transport {:.2}, against bare hyper {:.2}",
                verdict(figure <= TIMES_RMCP_AIM),
                ratio(stock),
                ratio(hyper)
            ),
        );
        let opened = gateway.connections as f64 / gateway.calls as f64;
        line(
            &format!("connections that the gateway opens a call, {in_flight} in flight"),
            &format!("{opened:.4}"),
            // The pool grows when the first calls of a run come at once; after that a call opens none.
            &format!("aim none: {}", verdict(gateway.connections <= (ROUNDS * in_flight) as u64)),
        );
    }
}
