//! `cargo xtask bench`: optimised builds, then the benches.

use crate::command::{cargo, root, run, step};
use crate::{gateway, guests, tools};

/// Where the service in Node is that completion reports are measured against.
const NODE_HOME: &str = "tests/benches/completion/node";

/// Builds what the benches start and runs them.
pub(crate) fn run_all() -> anyhow::Result<()> {
    guests::build_all()?;
    gateway::build("release")?;
    if !gateway::install_packages(&root().join(NODE_HOME))? {
        step("No Node found: completion reports are not measured against it");
    }
    if let Err(error) = tools::install_nginx() {
        step(&format!("No nginx: searches are not measured beside it ({error:#})"));
    }
    for bench in ["main_job", "calls", "completion", "forgetting", "overload"] {
        step(&format!("Bench {bench}"));
        run(cargo().args(["bench", "--locked", "--package", "intent-gateway-tests", "--bench", bench]))?;
    }
    Ok(())
}
