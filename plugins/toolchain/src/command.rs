//! Running other programs, with errors that say which and how it ended.

use std::io::{IsTerminal as _, Read, Write};
use std::process::{Command, Stdio};

use crate::ToolchainError;

/// Of what a program prints, the end is kept to look for its reason; a linker's command line alone takes half of this.
const KEPT_MAX_BYTES: usize = 256 * 1024;

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

/// Runs cargo to its end, as [`run`]. Where it fails, `explain` may know the reason from what was printed.
pub(crate) fn run_cargo(
    command: &mut Command,
    explain: impl Fn(&str) -> Option<ToolchainError>,
) -> Result<(), ToolchainError> {
    let shown = show(command);
    let start = |cause| ToolchainError::Start { command: shown.clone(), cause };
    let is_set = |name| std::env::var_os(name).is_some();
    if std::io::stderr().is_terminal() && !is_set("NO_COLOR") && !is_set("CARGO_TERM_COLOR") {
        // It does not see the terminal behind the pipe.
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(start)?;
    let printed = match child.stderr.take() {
        Some(stderr) => pass_on(stderr, &mut std::io::stderr()).map_err(start)?,
        None => String::new(),
    };
    let status = child.wait().map_err(start)?;
    if status.success() {
        return Ok(());
    }
    Err(explain(&printed).unwrap_or(ToolchainError::DoesNotBuild(status)))
}

/// Passes on all that comes, at once; returns the end of it.
fn pass_on(mut from: impl Read, to: &mut impl Write) -> std::io::Result<String> {
    let (mut chunk, mut kept) = ([0; 8 * 1024], Vec::new());
    loop {
        let read = from.read(&mut chunk)?;
        if read == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        // Whoever does not look at the output any more still gets the component.
        let _ = to.write_all(&chunk[..read]);
        kept.extend_from_slice(&chunk[..read]);
        let beyond = kept.len().saturating_sub(KEPT_MAX_BYTES);
        kept.drain(..beyond);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_passed_on_and_its_end_is_kept() {
        let mut shown = Vec::new();
        assert_eq!(pass_on(&b"one\ntwo"[..], &mut shown).expect("read"), "one\ntwo");
        assert_eq!(shown, b"one\ntwo");
        let long = [vec![b'a'; KEPT_MAX_BYTES], b"the end".to_vec()].concat();
        let kept = pass_on(&long[..], &mut shown).expect("read");
        assert_eq!((kept.len(), kept.ends_with("the end")), (KEPT_MAX_BYTES, true));
    }

    #[test]
    fn a_failure_is_explained_where_its_reason_is_known() {
        let mut fails = Command::new("sh");
        fails.args(["-c", "echo no tea >&2; exit 3"]);
        let known = |printed: &str| printed.contains("no tea").then_some(ToolchainError::NoHost);
        assert!(matches!(run_cargo(&mut fails, known), Err(ToolchainError::NoHost)));
        assert!(matches!(run_cargo(&mut fails, |_| None), Err(ToolchainError::DoesNotBuild(_))));
        let mut works = Command::new("sh");
        works.args(["-c", "echo no tea >&2"]);
        assert!(run_cargo(&mut works, known).is_ok());
    }
}
