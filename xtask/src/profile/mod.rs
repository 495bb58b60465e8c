//! `cargo xtask profile`: where the time of a search, a report or a tool call goes, from socket to socket (docs/benchmarks.md,
//! "Where the time goes").
//!
//! A bench loads the optimised gateway while `perf` samples its stacks. Each sample is booked to a part of the work and a kind of
//! work, so that what is left without a name shows.

mod accounts;
mod stacks;

use std::process::Command;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::command::{cargo, output, root, step};
use crate::profile::stacks::Accounts;
use crate::table::{Side, Table};
use crate::{gateway, guests, tools};

/// Where what `perf` has recorded stays, for `perf report --input`.
const FOLDER: &str = "target/profile";
/// How many of the functions that are in no account are shown.
const UNNAMED_SHOWN: usize = 12;
/// Parts of a call below this are not shown by kind, microseconds.
const KIND_SHOWN_US: f64 = 0.5;

/// What is looked at.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Job {
    /// A whole search of car AC with 15 options
    Search,
    /// A completion report about an order, on SQLite
    Report,
    /// A tool call that reads
    Call,
    /// A tool call that books
    Booking,
}

impl Job {
    /// The bench that makes its load, and what it is told before the number of clients.
    fn bench(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Search => ("main_job", &["profile"]),
            Self::Report => ("completion", &["profile"]),
            Self::Call => ("calls", &["profile", "call"]),
            Self::Booking => ("calls", &["profile", "booking"]),
        }
    }
}

#[derive(Args)]
pub(crate) struct ProfileArgs {
    job: Job,
    /// Clients that ask at once
    #[arg(long, default_value_t = 32)]
    clients: u32,
    /// Print the accounts as JSON
    #[arg(long)]
    json: bool,
}

/// What a bench says of its load.
#[derive(Deserialize)]
struct Loaded {
    cpu_us: f64,
    p50_us: f64,
    per_second: f64,
    waits: f64,
    preempted: f64,
}

/// Builds, loads, samples, and prints the accounts.
pub(crate) fn run(arguments: &ProfileArgs) -> anyhow::Result<()> {
    tools::install_perf()?;
    guests::build_all()?;
    gateway::build("release")?;
    let folder = root().join(FOLDER);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let file = folder.join("perf.data");
    let (bench, words) = arguments.job.bench();
    step("Loading the gateway while perf samples it");
    let mut load = cargo();
    load.args(["bench", "--quiet", "--locked", "--package", "intent-gateway-tests", "--bench", bench, "--"]);
    let told = output(load.args(words).arg(arguments.clients.to_string()).arg(&file))?;
    let told = told.lines().last().context("the bench says what its load showed")?;
    let loaded: Loaded = serde_json::from_str(told).with_context(|| format!("`{told}` is not what a load showed"))?;
    let mut script = Command::new("perf");
    script.current_dir(root()).args(["script", "--fields", "comm,ip,sym,dso", "--no-inline", "--input"]);
    let accounts = Accounts::read(&output(script.arg(&file))?);
    if arguments.json {
        print_json(&accounts, &loaded)
    } else {
        print(&accounts, &loaded);
        Ok(())
    }
}

/// Microseconds of CPU time for a call that some samples stand for.
fn us_of(samples: u64, accounts: &Accounts, loaded: &Loaded) -> f64 {
    loaded.cpu_us * samples as f64 / accounts.samples.max(1) as f64
}

fn print(accounts: &Accounts, loaded: &Loaded) {
    let Loaded { cpu_us, p50_us, per_second, waits, preempted } = loaded;
    println!(
        "\n{cpu_us:.0} µs of CPU a call, p50 {p50_us:.0} µs, {per_second:.0} calls/s, {waits:.1} waits and {preempted:.1} times out of turn \
         a call, {} samples\n",
        accounts.samples
    );
    let mut table =
        Table::new([("part", Side::Left), ("µs", Side::Right), ("%", Side::Right), ("of which", Side::Left)]);
    let mut parts: Vec<_> =
        accounts.parts.iter().map(|(name, kinds)| (*name, kinds, kinds.values().sum::<u64>())).collect();
    parts.sort_by_key(|(_, _, samples)| std::cmp::Reverse(*samples));
    for (name, kinds, samples) in parts {
        let mut kinds: Vec<_> =
            kinds.iter().map(|(kind, samples)| (*kind, us_of(*samples, accounts, loaded))).collect();
        kinds.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let shown = kinds.iter().filter(|(_, us)| *us >= KIND_SHOWN_US).map(|(kind, us)| format!("{kind} {us:.1}"));
        let (us, share) = (us_of(samples, accounts, loaded), 100.0 * samples as f64 / accounts.samples.max(1) as f64);
        table.row([name.to_owned(), format!("{us:.1}"), format!("{share:.1}"), shown.collect::<Vec<_>>().join(", ")]);
    }
    table.print();
    let mut unnamed: Vec<_> = accounts.unnamed.iter().collect();
    unnamed.sort_by_key(|(_, samples)| std::cmp::Reverse(**samples));
    println!("\n   what is unnamed, by function:");
    for (symbol, samples) in unnamed.into_iter().take(UNNAMED_SHOWN) {
        println!("   {:>6.1} µs  {symbol}", us_of(*samples, accounts, loaded));
    }
}

fn print_json(accounts: &Accounts, loaded: &Loaded) -> anyhow::Result<()> {
    let by_kind = |kinds: &std::collections::BTreeMap<&'static str, u64>| {
        let us = kinds.iter().map(|(kind, samples)| (*kind, us_of(*samples, accounts, loaded)));
        us.collect::<std::collections::BTreeMap<_, _>>()
    };
    let parts: std::collections::BTreeMap<_, _> =
        accounts.parts.iter().map(|(name, kinds)| (*name, by_kind(kinds))).collect();
    let told = serde_json::json!({
        "cpu_us": loaded.cpu_us, "p50_us": loaded.p50_us, "per_second": loaded.per_second,
        "waits": loaded.waits, "preempted": loaded.preempted, "samples": accounts.samples, "parts_us": parts,
    });
    println!("{}", serde_json::to_string_pretty(&told)?);
    Ok(())
}
