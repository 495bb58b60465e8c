//! `cargo xtask chaos`: builds the gateway, its contracts and the fault bench, and runs that (docs/chaos.md).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use clap::Args;

use crate::command::{cargo, output, root, run, step};
use crate::{gateway, guests, tools};

/// The program of the bench.
const PROGRAM: &str = "chaos";
/// The form that is part of every run: few users, for the machine may have more to do, and one fault of each sort.
const SHORT: [&str; 8] = [
    "--minutes",
    "1.2",
    "--seed",
    "11",
    "--rate",
    "4",
    "--only",
    "kill,postgres-restart,postgres-cut,disk-full,roll,partner-reset",
];

/// What goes to the bench as it is.
#[derive(Args)]
pub(crate) struct ChaosArgs {
    /// How long the load lasts; the bench's own default is 10
    #[arg(long)]
    minutes: Option<String>,
    /// Which faults happen when follows from it; another one each time otherwise
    #[arg(long)]
    seed: Option<String>,
    /// Users that begin in a second; each makes two or three requests
    #[arg(long)]
    rate: Option<String>,
    /// These faults alone, with commas between them
    #[arg(long, value_name = "FAULT,...")]
    only: Option<String>,
    /// Start with the gateway of this commit, or with this program, and let each gateway go on with today's once it was rolled; a commit
    /// is built first
    #[arg(long, value_name = "COMMIT|PROGRAM")]
    from: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Leave the folder of the run as it is, logs and stores with it
    #[arg(long)]
    keep: bool,
    /// List the faults and end
    #[arg(long)]
    list: bool,
}

/// Builds what is needed, and runs the bench.
pub(crate) fn run_once(arguments: &ChaosArgs) -> anyhow::Result<()> {
    let ChaosArgs { minutes, seed, rate, only, from, json, keep, list } = arguments;
    let mut command = prepare()?;
    for (name, value) in [("--minutes", minutes), ("--seed", seed), ("--rate", rate), ("--only", only)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    if let Some(from) = from {
        let program = Path::new(from);
        command.arg("--from").arg(if program.is_file() { program.to_owned() } else { build_earlier(from)? });
    }
    for (name, is_wanted) in [("--json", json), ("--keep", keep), ("--list", list)] {
        command.args(is_wanted.then_some(name));
    }
    run(&mut command)
}

/// The short form, with a seed of its own; without PostgreSQL it is left out, unless that is required.
pub(crate) fn run_short() -> anyhow::Result<()> {
    step("Faults under load, a minute of them");
    tools::install_postgres()?;
    if !tools::has_postgres() {
        return Ok(());
    }
    run(prepare()?.args(SHORT))
}

fn prepare() -> anyhow::Result<Command> {
    guests::build_all()?;
    gateway::build("debug")?;
    let mut command = Command::new(gateway::binary("debug", PROGRAM));
    command.arg("--root").arg(root());
    Ok(command)
}

/// Builds the gateway of an earlier commit, in a checkout of its own; where it is then.
fn build_earlier(commit: &str) -> anyhow::Result<PathBuf> {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(root()).args(arguments);
        git
    };
    let commit = output(git(&["rev-parse", "--verify", "--quiet"]).arg(format!("{commit}^{{commit}}")))
        .with_context(|| format!("{commit} is neither a file nor a commit"))?;
    let checkout = root().join("target/earlier").join(&commit);
    if !checkout.exists() {
        run(git(&["worktree", "add", "--quiet", "--detach"]).arg(&checkout).arg(&commit))?;
    }
    step(&format!("Building the gateway of {commit}"));
    run(cargo()
        .current_dir(&checkout)
        .args(["build", "--locked", "--package", "intent-gateway", "--target-dir"])
        .arg(checkout.join("target")))?;
    Ok(checkout.join("target/debug/intent-gateway"))
}
