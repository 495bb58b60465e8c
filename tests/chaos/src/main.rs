//! `chaos`: gateways under load, faults from a seed, and what must hold all the same. `cargo xtask chaos` builds and runs it; see
//! docs/chaos.md.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks on its terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, ensure};
use chaos::plan::Kind;
use chaos::run::{Options, run};
use chaos::verdict::Summary;
use clap::Parser;
use test_servers::clock::find_library;

/// Threads of the bench: one that is kept by the disk must not keep the partners, which are in it.
const WORKERS: usize = 4;

/// Runs gateways under load while faults happen, and compares what was acknowledged with what is kept.
#[derive(Parser)]
#[command(name = "chaos")]
struct Arguments {
    /// How long the load lasts
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Which faults happen when follows from it; another one each time otherwise
    #[arg(long)]
    seed: Option<u64>,
    /// Users that begin in a second; each makes two or three requests
    #[arg(long, default_value_t = 8.0)]
    rate: f64,
    /// These faults alone
    #[arg(long, value_delimiter = ',', value_parser = parse_kind, value_name = "FAULT")]
    only: Vec<Kind>,
    /// Start the gateways with this earlier program; each goes on with today's once it was rolled
    #[arg(long, value_name = "PROGRAM")]
    from: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Leave the folder of the run as it is, logs and stores with it
    #[arg(long)]
    keep: bool,
    /// List the faults and end
    #[arg(long)]
    list: bool,
    /// The folder of the project
    #[arg(long, hide = true, default_value = ".")]
    root: PathBuf,
    /// Where the gateway's program is, from there
    #[arg(long, hide = true, default_value = "target/debug/intent-gateway")]
    program: PathBuf,
}

fn parse_kind(name: &str) -> Result<Kind, String> {
    Kind::of(name).ok_or_else(|| "there is no such fault; --list names them".to_owned())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for kind in Kind::ALL {
            println!("{:<22} {}", kind.name(), kind.meaning());
        }
        return ExitCode::SUCCESS;
    }
    match run_once(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_once(arguments: &Arguments) -> anyhow::Result<bool> {
    ensure!(arguments.minutes > 0.0 && arguments.minutes < 10_000.0, "--minutes is a number above 0");
    ensure!(arguments.rate > 0.0 && arguments.rate < 10_000.0, "--rate is a number above 0");
    let seed = arguments.seed.map_or_else(seed_of_now, Ok)?;
    let options = Options {
        seed,
        time: Duration::from_secs_f64(arguments.minutes * 60.0),
        users_per_second: arguments.rate,
        kinds: choose(&arguments.only)?,
        root: absolute(&arguments.root)?,
        program: absolute(&arguments.root.join(&arguments.program))?,
        from: arguments.from.as_deref().map(absolute).transpose()?,
        keep: arguments.keep,
    };
    ensure!(
        options.from.is_none() || options.kinds.contains(&Kind::Roll),
        "--from needs the fault `roll`, in which gateways get the other program"
    );
    eprintln!("   seed {seed}");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("no runtime")?;
    let summary = runtime.block_on(run(Arc::new(options)))?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print(&summary);
    }
    Ok(summary.holds())
}

/// The kinds that were asked for, and can be had here.
fn choose(only: &[Kind]) -> anyhow::Result<Vec<Kind>> {
    let mut kinds = if only.is_empty() { Kind::ALL.to_vec() } else { only.to_vec() };
    kinds.sort_unstable();
    kinds.dedup();
    if find_library().is_none() {
        let before = kinds.len();
        kinds.retain(|kind| ![Kind::ClockBack, Kind::ClockAhead].contains(kind));
        if kinds.len() < before {
            eprintln!("   clocks stay right: libfaketime is not installed (Debian: apt-get install libfaketime)");
        }
    }
    ensure!(!kinds.is_empty(), "none of these faults can be had here");
    Ok(kinds)
}

fn seed_of_now() -> anyhow::Result<u64> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs())
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("{} is not there; `cargo xtask chaos` builds it", path.display()))
}

fn print(summary: &Summary) {
    println!(
        "\nseed {}, {} s, {} users a second, {} requests\n",
        summary.seed, summary.seconds, summary.rate, summary.requests
    );
    println!("{:<22} {:>5}  {:>16}  requests meanwhile", "fault", "times", "longest recovery");
    for row in &summary.rows {
        let recovery = row.longest_recovery_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
        let mut requests = row.requests.iter().map(|(what, times)| format!("{times} × {what}"));
        let first = requests.next().unwrap_or_default();
        println!("{:<22} {:>5}  {recovery:>16}  {first}", row.fault, row.at_seconds.len());
        requests.for_each(|line| println!("{:<22} {:>5}  {:>16}  {line}", "", "", ""));
    }
    println!();
    for row in &summary.rows {
        let times: Vec<String> = row.at_seconds.iter().map(u64::to_string).collect();
        println!("{} at {} s", row.fault, times.join(", "));
    }
    println!();
    summary.notes.iter().for_each(|note| println!("{note}"));
    println!();
    for verdict in &summary.verdicts {
        let said = if verdict.holds() { "holds".to_owned() } else { format!("BROKEN, {} times", verdict.breaches) };
        println!("{:<60} {:>8}  {said}", verdict.what, verdict.looked_at);
        verdict.shown.iter().for_each(|breach| println!("      {breach}"));
    }
    if !summary.holds() {
        println!("\nAgain: cargo xtask chaos --seed {} --minutes {:.1}", summary.seed, summary.seconds as f64 / 60.0);
    }
}
