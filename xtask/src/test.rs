//! `cargo xtask test`: everything that CI runs, in the order in which a mistake shows soonest.

use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;
use test_servers::soak;

use crate::command::{cargo, root, run, step};
use crate::{
    book, chaos, clients, conformance, demo, dependencies, foreign, fuzz, fuzz_targets, gateway, guests, instructions,
    readme, release, tools,
};

/// One named part of the run.
struct Part {
    name: &'static str,
    run: fn() -> anyhow::Result<()>,
}

const PARTS: [Part; 24] = [
    Part { name: "formatting", run: formatting },
    Part { name: "dependencies", run: dependencies::check },
    Part { name: "deployment", run: deployment },
    Part { name: "site", run: book::build },
    Part { name: "contracts", run: guests::build_all },
    Part { name: "instructions", run: instructions::check },
    Part { name: "contract in JavaScript", run: foreign::build_all },
    Part { name: "lints", run: lints },
    Part { name: "example partners", run: example_partners },
    Part { name: "test tools", run: tools::install },
    Part { name: "tests", run: tests },
    Part { name: "clients", run: clients::run_all },
    Part { name: "packages", run: release::trial::check },
    Part { name: "MCP conformance", run: conformance::run_all },
    Part { name: "contract checks", run: contract_checks },
    Part { name: "API fuzz", run: fuzz::run_all },
    Part { name: "fuzz targets", run: fuzz_targets::soak },
    Part { name: "chaos", run: chaos::run_short },
    Part { name: "demo", run: demo_runs },
    Part { name: "README", run: readme::run_tour },
    Part { name: "orders", run: readme::run_orders },
    Part { name: "walk-through", run: readme::run_walk_through },
    Part { name: "onboarding", run: readme::run_onboarding },
    Part { name: "observability", run: readme::run_observability },
];

const GIB: u64 = 1024 * 1024 * 1024;
/// Free disk that the tests take at most, for their databases and what is linked for them.
const ROOM_BYTES: u64 = 6 * GIB;
/// Tests that run at once. The long ones wait most of the time: for partners that are slow, for what expires, for disks.
const TESTS_PER_PROCESSOR: usize = 2;
/// Variable by which the test programs are told how many run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// How long each contract is fuzzed, seconds: in every run, and in a soak.
const FUZZ_SECONDS: [&str; 2] = ["5", "120"];

/// Runs all parts; `only` names one, and `soak` asks for the long forms.
pub(crate) fn run_all(only: Option<&str>, soak: bool) -> anyhow::Result<()> {
    if soak && !soak::is_wanted() {
        // As a process of its own, since whatever it starts is to see the variable.
        let mut again = Command::new(std::env::current_exe().context("this program is not found")?);
        again.arg("test").args(only.map(|name| ["--only", name]).into_iter().flatten());
        return run(again.env(soak::VARIABLE, "1"));
    }
    let names = || PARTS.map(|part| part.name).join(", ");
    let chosen: Vec<&Part> = PARTS.iter().filter(|part| only.is_none_or(|name| part.name == name)).collect();
    if chosen.is_empty() {
        anyhow::bail!("there is no part of that name; the parts are: {}", names());
    }
    let mut times = Vec::new();
    for part in chosen {
        let start = Instant::now();
        (part.run)()?;
        times.push((part.name, start.elapsed()));
    }
    step("All parts passed");
    for (name, elapsed) in times {
        eprintln!("   {name:<18} {:>4} s", elapsed.as_secs());
    }
    Ok(())
}

fn formatting() -> anyhow::Result<()> {
    step("Formatting");
    run(cargo().args(["fmt", "--all", "--check"]))
}

/// Holds rules, dashboards, runbooks and links between pages against what exists.
fn deployment() -> anyhow::Result<()> {
    step("Deployment");
    tools::install_wished_promtool()?;
    let python = || {
        let mut python = Command::new("python3");
        python.current_dir(root());
        python
    };
    run(python().args(["-m", "unittest", "discover", "--quiet", "--start-directory", "deploy"]))?;
    run(python().arg("deploy/check.py"))
}

fn lints() -> anyhow::Result<()> {
    step("Lints");
    let lint = |what: &[&str]| {
        let mut clippy = cargo();
        clippy.args(["clippy", "--locked", "--workspace", "--quiet"]).args(what).args(["--", "-D", "warnings"]);
        run(&mut clippy)
    };
    lint(&["--all-targets"])?;
    // What is handed out is built without the author's commands.
    lint(&["--bins", "--exclude", "xtask", "--no-default-features"])
}

/// Installs the partners of other languages and runs their own tests. In CI all of them must be there.
fn example_partners() -> anyhow::Result<()> {
    step("Example partners");
    let mandatory = std::env::var_os("CI").is_some();
    // The API on GraphQL and the yoga studios stand on the TypeScript partner, so that comes first; likewise in Python.
    for partner in ["partner-typescript", "partner-graphql", "partner-yoga"] {
        if gateway::install_node(partner)? {
            let home = root().join("examples").join(partner);
            run(Command::new("npm").current_dir(home).args(["test", "--silent"]))?;
        } else if mandatory {
            anyhow::bail!("CI needs Node and npm for {partner}");
        }
    }
    for (partner, module) in [("partner-python", "mcp"), ("partner-rest", "fastapi"), ("partner-insurance", "mcp")] {
        if let Some(python) = gateway::install_python(partner, module)? {
            let home = root().join("examples").join(partner);
            run(Command::new(python).current_dir(home).args(["-m", "unittest", "--quiet"]))?;
        } else if mandatory {
            anyhow::bail!("CI needs Python for {partner}");
        }
    }
    Ok(())
}

/// Refuses to begin where there is too little room: tests would fail one after the other, each with a reason of its own.
fn require_room() -> anyhow::Result<()> {
    for folder in [root(), std::env::temp_dir()] {
        let filesystem =
            rustix::fs::statvfs(&folder).with_context(|| format!("cannot look at {}", folder.display()))?;
        let free = filesystem.f_bavail.saturating_mul(filesystem.f_frsize);
        anyhow::ensure!(
            free >= ROOM_BYTES,
            "the tests need {} GiB of free disk, and {} has {}; `target/debug/incremental` of this and of other checkouts can go",
            ROOM_BYTES / GIB,
            folder.display(),
            free / GIB
        );
    }
    Ok(())
}

fn tests() -> anyhow::Result<()> {
    gateway::build("debug")?;
    require_room()?;
    step("Tests");
    let mut tests = cargo();
    tests.args(["test", "--locked", "--workspace", "--quiet", "--no-fail-fast"]);
    if std::env::var_os(THREADS).is_none() {
        let processors = std::thread::available_parallelism().context("the number of processors is not known")?;
        tests.env(THREADS, (processors.get() * TESTS_PER_PROCESSOR).to_string());
    }
    run(&mut tests)
}

/// Checks every contract that ships as its author would, and fuzzes it for some seconds.
fn contract_checks() -> anyhow::Result<()> {
    gateway::build("debug")?;
    step("Checking and fuzzing the contracts");
    for contract in guests::list_shipped()? {
        let mut check = Command::new(gateway::binary("debug", "intent-gateway"));
        let [short, long] = FUZZ_SECONDS;
        run(check.args(["plugin", "check", "--fuzz-seconds", soak::choose(short, long)]).arg(contract))?;
    }
    Ok(())
}

fn demo_runs() -> anyhow::Result<()> {
    demo::run(false)
}
