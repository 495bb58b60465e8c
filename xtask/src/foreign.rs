//! Builds the contracts that are not in Rust, each with the tools of its own language, and runs their own tests.
//!
//! Only the tests need them: the demo and the benches do without, so that they run where there is no Node.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, bail};

use crate::command::{exists, root, run, step};
use crate::guests::{EXAMPLES, component_path};

/// The contract in JavaScript: the name of its folder and of its component.
const JAVASCRIPT: &str = "contract-javascript";

/// Builds all contracts in other languages.
pub(crate) fn build_all() -> anyhow::Result<()> {
    step("Contract in JavaScript");
    if !exists("node") || !exists("npm") {
        bail!("Node 20 or later with npm builds examples/{JAVASCRIPT}, which the end-to-end tests load; install them");
    }
    let home = root().join("examples").join(JAVASCRIPT);
    let installed = home.join("node_modules/.package-lock.json");
    let lock = home.join("package-lock.json");
    if !is_newer(&installed, &[&lock])? {
        run(npm(&home).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    }
    run(npm(&home).args(["test", "--silent"]))?;
    let component = component_path(EXAMPLES, JAVASCRIPT);
    // The tool builds other bytes each time. A component that is up to date keeps its digest.
    let wit = root().join("wit/contract.wit");
    if !is_newer(&component, &[&home.join("src"), &home.join("package.json"), &lock, &wit])? {
        run(npm(&home).args(["run", "build", "--silent"]))?;
    }
    Ok(())
}

fn npm(home: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(home);
    npm
}

/// Whether a file is there and was changed after everything that it is made of.
fn is_newer(file: &Path, sources: &[&Path]) -> anyhow::Result<bool> {
    let Ok(made) = file.metadata().and_then(|metadata| metadata.modified()) else { return Ok(false) };
    for source in sources {
        if latest_change(source)? >= made {
            return Ok(false);
        }
    }
    Ok(true)
}

/// When a file, or the last changed entry of a folder at any depth, was changed.
fn latest_change(path: &Path) -> anyhow::Result<SystemTime> {
    let read = || format!("cannot read {}", path.display());
    let metadata = path.metadata().with_context(read)?;
    let mut latest = metadata.modified().with_context(read)?;
    if metadata.is_dir() {
        for entry in path.read_dir().with_context(read)? {
            latest = latest.max(latest_change(&entry.with_context(read)?.path())?);
        }
    }
    Ok(latest)
}
