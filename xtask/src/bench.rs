//! `cargo xtask bench`: optimised builds, then the benches.

use crate::command::{cargo, run, step};
use crate::{gateway, guests};

/// Builds what the benches start and runs them.
pub(crate) fn run_all() -> anyhow::Result<()> {
    guests::build_all()?;
    gateway::build("release")?;
    step("Benches");
    run(cargo().args(["bench", "--locked", "--package", "intent-gateway-tests", "--bench", "main_job"]))
}
