//! `cargo xtask test`: everything that CI runs, in the order in which a mistake shows soonest.

use std::process::Command;
use std::time::Instant;

use crate::command::{cargo, root, run, step};
use crate::{conformance, demo, dependencies, foreign, fuzz, gateway, guests, readme, tools};

/// One named part of the run.
struct Part {
    name: &'static str,
    run: fn() -> anyhow::Result<()>,
}

const PARTS: [Part; 16] = [
    Part { name: "formatting", run: formatting },
    Part { name: "dependencies", run: dependencies::check },
    Part { name: "contracts", run: guests::build_all },
    Part { name: "contract in JavaScript", run: foreign::build_all },
    Part { name: "lints", run: lints },
    Part { name: "example partners", run: example_partners },
    Part { name: "test tools", run: tools::install },
    Part { name: "tests", run: tests },
    Part { name: "MCP conformance", run: conformance::run_all },
    Part { name: "contract checks", run: contract_checks },
    Part { name: "API fuzz", run: fuzz::run_all },
    Part { name: "demo", run: demo_runs },
    Part { name: "README", run: readme::run_tour },
    Part { name: "walk-through", run: readme::run_walk_through },
    Part { name: "onboarding", run: readme::run_onboarding },
    Part { name: "observability", run: readme::run_observability },
];

/// How long each contract is fuzzed. Long runs are for `plugin check` by hand.
const FUZZ_SECONDS: &str = "5";

/// Runs all parts; `only` names one.
pub(crate) fn run_all(only: Option<&str>) -> anyhow::Result<()> {
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

fn lints() -> anyhow::Result<()> {
    step("Lints");
    run(cargo().args(["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
}

/// Installs the partners of other languages and runs their own tests. In CI all of them must be there.
fn example_partners() -> anyhow::Result<()> {
    step("Example partners");
    let mandatory = std::env::var_os("CI").is_some();
    // The API on GraphQL stands on the TypeScript partner's business, so that comes first; likewise in Python.
    for partner in ["partner-typescript", "partner-graphql"] {
        if gateway::install_node(partner)? {
            let home = root().join("examples").join(partner);
            run(Command::new("npm").current_dir(home).args(["test", "--silent"]))?;
        } else if mandatory {
            anyhow::bail!("CI needs Node and npm for {partner}");
        }
    }
    for (partner, module) in [("partner-python", "mcp"), ("partner-rest", "fastapi")] {
        if let Some(python) = gateway::install_python(partner, module)? {
            let home = root().join("examples").join(partner);
            run(Command::new(python).current_dir(home).args(["-m", "unittest", "--quiet"]))?;
        } else if mandatory {
            anyhow::bail!("CI needs Python for {partner}");
        }
    }
    Ok(())
}

fn tests() -> anyhow::Result<()> {
    gateway::build("debug")?;
    step("Tests");
    run(cargo().args(["test", "--locked", "--workspace", "--quiet", "--no-fail-fast"]))
}

/// Checks every contract that ships as its author would, and fuzzes it for some seconds.
fn contract_checks() -> anyhow::Result<()> {
    gateway::build("debug")?;
    step("Checking and fuzzing the contracts");
    for contract in guests::list_shipped()? {
        let mut check = Command::new(gateway::binary("debug", "intent-gateway"));
        run(check.args(["plugin", "check", "--fuzz-seconds", FUZZ_SECONDS]).arg(contract))?;
    }
    Ok(())
}

fn demo_runs() -> anyhow::Result<()> {
    demo::run(false)
}
