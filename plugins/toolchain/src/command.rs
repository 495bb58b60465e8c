//! Running other programs, with errors that say which and how it ended.

use std::process::{Command, Stdio};

use crate::ToolchainError;

/// Runs a program to its end; what it prints to standard error is shown as it comes.
pub(crate) fn run(command: &mut Command) -> Result<(), ToolchainError> {
    let shown = show(command);
    // Standard output belongs to whoever called the tool; a build has nothing to say there.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.map_err(|cause| ToolchainError::Start { command: shown.clone(), cause })?;
    if status.success() {
        Ok(())
    } else {
        Err(ToolchainError::Failed { command: shown, status, stderr: String::new() })
    }
}

/// Runs a program and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String, ToolchainError> {
    let shown = show(command);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|cause| ToolchainError::Start { command: shown.clone(), cause })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(ToolchainError::Failed { command: shown, status: output.status, stderr });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a program runs and succeeds; what it prints is of no interest.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
