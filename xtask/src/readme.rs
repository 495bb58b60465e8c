//! Runs the README's tour as it stands, so that it stays true: every `sh` block below the heading `## A tour` is
//! one part of one shell script.

use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::command::{output, root, step};

/// Runs the tour.
pub(crate) fn run_tour() -> anyhow::Result<()> {
    step("Running the README's tour");
    let readme = std::fs::read_to_string(root().join("README.md")).context("cannot read README.md")?;
    let script = script(&readme);
    ensure!(!script.is_empty(), "README.md has no `sh` block below `## A tour`");
    // What the tour starts in the background ends with it, however it ends.
    let script = format!("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n{script}");
    // A state folder of an earlier tour would go on serving the contract that it has seen.
    let state = root().join("target/local");
    if state.exists() {
        std::fs::remove_dir_all(&state).context("cannot clear the state of an earlier tour")?;
    }
    // Answers are long; they are shown only if something goes wrong.
    let printed = output(Command::new("bash").current_dir(root()).arg("-c").arg(script));
    let printed = printed.context("the README's tour does not work")?;
    eprintln!("   it works; it printed {} characters", printed.len());
    Ok(())
}

/// The `sh` blocks of the tour, joined.
fn script(readme: &str) -> String {
    let tour = readme.split("\n## ").find(|section| section.starts_with("A tour")).unwrap_or("");
    let mut blocks = tour.split("```");
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
    fn only_shell_blocks_of_the_tour_count() {
        let readme = "# x\n```sh\nno\n```\n## A tour\n```sh\na\n```\ntext\n```json\n{}\n```\n```sh\nb\n```\n## Next\n```sh\nno\n```\n";
        assert_eq!(script(readme), "a\nb\n");
    }
}
