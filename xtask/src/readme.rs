//! Runs documents as they stand, so that they stay true: every `sh` block below one heading is one part of one shell
//! script.

use anyhow::{Context as _, ensure};

use crate::command::{output, own_command, root, step};
use crate::tools;

/// A document whose commands are run.
struct Document {
    /// What it is called.
    name: &'static str,
    /// Where it is, from the root.
    path: &'static str,
    /// The heading whose blocks are run, of the second level.
    heading: &'static str,
    /// A folder that its commands write to. What an earlier run left there would be in the way.
    cleared: &'static str,
}

/// Runs the README's tour.
pub(crate) fn run_tour() -> anyhow::Result<()> {
    run(&Document { name: "the README's tour", path: "README.md", heading: "A tour", cleared: "target/local" })
}

/// Runs the walk-through for authors of contracts.
pub(crate) fn run_walk_through() -> anyhow::Result<()> {
    run(&Document {
        name: "the walk-through for authors",
        path: "docs/writing-a-contract.md",
        heading: "From nothing to live",
        cleared: "target/walk-through",
    })
}

/// Runs the walk-through for partners and the platform team.
pub(crate) fn run_onboarding() -> anyhow::Result<()> {
    run(&Document {
        name: "the walk-through of onboarding",
        path: "docs/onboarding.md",
        heading: "From sign-up to live",
        cleared: "target/onboarding",
    })
}

/// Runs the orders of the two intents that the README's tour leaves out.
pub(crate) fn run_orders() -> anyhow::Result<()> {
    run(&Document {
        name: "the orders step by step",
        path: "docs/orders.md",
        heading: "Two orders, step by step",
        cleared: "target/orders",
    })
}

/// Runs the commands for operators.
pub(crate) fn run_observability() -> anyhow::Result<()> {
    run(&Document {
        name: "the commands for operators",
        path: "docs/observability.md",
        heading: "Try it",
        cleared: "target/observability",
    })
}

fn run(document: &Document) -> anyhow::Result<()> {
    let Document { name, path, heading, cleared } = document;
    step(&format!("Running {name}"));
    tools::install_jq()?;
    let text = std::fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))?;
    let script = script(&text, heading);
    ensure!(!script.is_empty(), "{path} has no `sh` block below `## {heading}`");
    // What it starts in the background ends with it, however it ends.
    let script = format!("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n{script}");
    let folder = root().join(cleared);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {cleared}"))?;
    }
    // One target folder for all, or a crate that a document makes would compile the SDK and its tools anew.
    let target = root().join("target");
    // Answers are long; they are shown only if something goes wrong.
    let mut bash = own_command("bash");
    let printed = output(bash.current_dir(root()).env("CARGO_TARGET_DIR", target).arg("-c").arg(script));
    let printed = printed.with_context(|| format!("{name} does not work"))?;
    eprintln!("   it works; it printed {} characters", printed.len());
    Ok(())
}

/// The `sh` blocks below a heading, joined.
fn script(document: &str, heading: &str) -> String {
    let section = document.split("\n## ").find(|section| section.lines().next() == Some(heading)).unwrap_or("");
    let mut blocks = section.split("```");
    let mut script = String::new();
    // Text and blocks alternate, starting with text.
    while let (Some(_), Some(block)) = (blocks.next(), blocks.next()) {
        if let Some(commands) = block.strip_prefix("sh\n") {
            script.push_str(commands);
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn only_shell_blocks_below_the_heading_count() {
        let document = "# x\n```sh\nno\n```\n## A tour\n```sh\na\n```\ntext\n```json\n{}\n```\n### More\n```sh\nb\n```\n\
            ## A tour of more\n```sh\nno\n```\n";
        assert_eq!(script(document, "A tour"), "a\nb\n");
        assert_eq!(script(document, "Nothing"), "");
    }
}
