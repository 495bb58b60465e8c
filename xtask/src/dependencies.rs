//! `cargo-deny` over the whole tree of dependencies: licences, sources, and which crate owns which foreign technology.
//! The rules are in `deny.toml`. And whether the demo is built with the features that the tests are built with: what is not,
//! is compiled twice.
//!
//! Not here: advisories. Their database is a repository of its own, which not every machine that builds this reaches;
//! `cargo deny check advisories` is for those that do.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::ensure;

use crate::command::{cargo, output, root, run, step};
use crate::tools::RustProgram;

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Checks the tree of dependencies.
pub(crate) fn check() -> anyhow::Result<()> {
    step("Dependencies");
    let program = RustProgram::new("cargo-deny", VERSION).install()?;
    let checks = ["check", "bans", "licenses", "sources"];
    run(Command::new(program).current_dir(root()).args(["--locked", "--workspace"]).args(checks))?;
    compare_features()
}

/// Holds the features of what the demo and the documents build against those of the tests.
fn compare_features() -> anyhow::Result<()> {
    let tests = list_features(&["--workspace", "--edges", "normal,build,dev"])?;
    let programs = list_features(&["--workspace", "--edges", "normal,build"])?;
    let others: Vec<String> = programs.difference(&tests).cloned().collect();
    ensure!(
        others.is_empty(),
        "these would be compiled twice, for the tests ask for more features; add those to tests/shared-features/Cargo.toml:\n   {}",
        others.join("\n   ")
    );
    Ok(())
}

/// The crates of a selection, each with its version and its features.
fn list_features(selection: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let tree = output(cargo().args(["tree", "--locked", "--prefix", "none", "--format", "{p} [{f}]"]).args(selection))?;
    Ok(tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
}
