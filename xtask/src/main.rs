//! `cargo xtask`: everything that is done with the project around `cargo build`. Each command does its own
//! set-up, down to the compiler for contracts.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks on its terminal")]

mod accounts;
mod bench;
mod book;
mod chaos;
mod clients;
mod command;
mod conformance;
mod counts_history;
mod demo;
mod dependencies;
mod foreign;
mod fuzz;
mod fuzz_targets;
mod gateway;
mod guests;
mod instructions;
mod layout;
mod postal_codes;
mod profile;
mod progress;
mod readme;
mod release;
mod table;
mod test;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, demo, tests and benches of intent-gateway")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build all contracts and the broken guests of the tests as WebAssembly components
    Guests,
    /// Show the product doing its job: builds, partners, a search, a contract swapped under load
    Demo {
        /// Leave everything running afterwards and print what to try
        #[arg(long)]
        keep: bool,
    },
    /// Measure against the aims: isolation, scan, load, a whole search against a bare proxy; completion reports against
    /// servers that do less and against Node
    Bench,
    /// Build the documentation as a site, and follow its links
    Book,
    /// Run gateways under load while faults happen, and compare what was acknowledged with what is kept (docs/chaos.md)
    Chaos(chaos::ChaosArgs),
    /// Fuzz what comes from outside, guided by coverage (docs/fuzzing.md)
    Fuzz {
        /// One target; all of them in turn otherwise
        target: Option<String>,
        /// How long, all targets together: 90s, 10m, 1h
        #[arg(long, default_value = "10m", value_parser = fuzz_targets::parse_time)]
        time: Duration,
        /// Try this input once in place of fuzzing
        #[arg(long, value_name = "FILE", requires = "target")]
        input: Option<PathBuf>,
    },
    /// Count instructions of the host and fuel of the contracts, and compare with what is committed (docs/benchmarks.md)
    Instructions {
        /// Write the counts down in place of comparing them
        #[arg(long)]
        write: bool,
        /// Measure nothing, and tell what earlier commits wrote down, as a table for a page
        #[arg(long, conflicts_with = "write")]
        history: bool,
    },
    /// Lay a program's code out anew, by what a gateway under load runs; needs BOLT (docs/benchmarks.md)
    Layout(layout::LayoutArgs),
    /// Make the committed table of postal codes by city anew, out of the directory of post offices; needs npm and the network
    PostalCodes,
    /// Show where the time of a search, a report or a tool call goes, part by part; needs perf (docs/benchmarks.md)
    Profile(profile::ProfileArgs),
    /// Make what is handed out of a version: programs, packages, an image, and the papers to check them by (docs/releasing.md)
    Release(release::ReleaseArgs),
    /// Run everything that CI runs: formatting, dependencies, counts of instructions, lints, tests, the contracts' checks, the API's fuzzing,
    /// the demo, the documents' commands
    Test {
        /// Run one part only, for example `tests`
        #[arg(long)]
        only: Option<String>,
        /// Run the long forms of what could go on for ever: kills, power losses, loads, faults, fuzzing. That takes far longer
        #[arg(long)]
        soak: bool,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Guests => guests::build_all(),
        Command::Demo { keep } => demo::run(keep),
        Command::Bench => bench::run_all(),
        Command::Book => book::build(),
        Command::Chaos(arguments) => chaos::run_once(&arguments),
        Command::Fuzz { target, time, input } => fuzz_targets::fuzz(target.as_deref(), time, input.as_deref()),
        Command::Instructions { history: true, .. } => counts_history::tell().map(|table| print!("{table}")),
        Command::Instructions { write, .. } => instructions::run(write),
        Command::Layout(arguments) => layout::run_once(&arguments),
        Command::PostalCodes => postal_codes::make(),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Release(arguments) => release::run(&arguments),
        Command::Test { only, soak } => test::run_all(only.as_deref(), soak),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
