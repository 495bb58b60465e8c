//! Running other programs, with errors that say which and how it ended.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root folder").to_owned()
}

/// Prints a heading for a step that may take a while.
pub(crate) fn step(text: &str) {
    eprintln!("\n== {text}");
}

/// Runs a command to its end; a failure is an error that names it.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = show_command(command);
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a command and returns what it printed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let shown = show_command(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a program can be started at all.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The cargo that runs this tool.
pub(crate) fn cargo() -> Command {
    let mut cargo = own_command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// A command without what cargo says of this package to the programs that it runs. Build scripts such as ring's look at
/// these variables, so what is built with them is built anew without them, and the other way round.
pub(crate) fn own_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    let of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_package)) {
        command.env_remove(name);
    }
    command
}

fn show_command(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
