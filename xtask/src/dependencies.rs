//! `cargo-deny` over the whole tree of dependencies: licences, sources, and which crate owns which foreign technology.
//! The rules are in `deny.toml`.
//!
//! Not here: advisories. Their database is a repository of its own, which not every machine that builds this reaches;
//! `cargo deny check advisories` is for those that do.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use crate::command::{cargo, root, run, step};

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";
/// Where it is installed, a folder a version, so that a run after the first finds it.
const FOLDER: &str = "target/tools";

/// Checks the tree of dependencies.
pub(crate) fn check() -> anyhow::Result<()> {
    step("Dependencies");
    let program = install()?;
    let checks = ["check", "bans", "licenses", "sources"];
    run(Command::new(program).current_dir(root()).args(["--locked", "--workspace"]).args(checks))
}

/// Compiles the program unless that was done before.
fn install() -> anyhow::Result<PathBuf> {
    let home = root().join(FOLDER).join(format!("cargo-deny-{VERSION}"));
    let program = home.join("bin/cargo-deny");
    if program.is_file() {
        return Ok(program);
    }
    eprintln!("   installing cargo-deny {VERSION} into {FOLDER}");
    let build = home.join("build");
    let mut install = cargo();
    // Unoptimised it is compiled in a minute or two instead of ten, and checks as well.
    install
        .args(["install", "cargo-deny", "--version", VERSION, "--locked", "--debug", "--quiet", "--root"])
        .arg(&home);
    run(install.arg("--target-dir").arg(&build).env("CARGO_PROFILE_DEV_DEBUG", "none"))?;
    std::fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))?;
    Ok(program)
}
