//! The clients in TypeScript and Python: whether what is made of the API's document is up to date, and their own tests.

use std::process::Command;

use anyhow::bail;

use crate::command::{exists, root, run, step};
use crate::gateway;

/// Checks and tests both clients against the gateway of this checkout.
pub(crate) fn run_all() -> anyhow::Result<()> {
    gateway::build("debug")?;
    step("Clients");
    for (program, what) in [("node", "Node 20 or later"), ("npm", "npm"), ("python3", "Python 3.11 or later")] {
        if !exists(program) {
            bail!("{what} runs the clients; install it");
        }
    }
    run(&mut Command::new(root().join("clients/test")))
}
