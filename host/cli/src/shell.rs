//! `intent-gateway shell-completions`, and what happened to the word `completion`: it means a completion report of a partner
//! to some, and a shell's completions to others, so no command has that name.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::arguments::Cli;
use crate::{EXIT_USAGE, complain, print};

/// Name of the binary, as a user types it.
const BINARY: &str = "intent-gateway";

/// Prints the script by which a shell completes the commands.
pub(crate) fn print_completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), BINARY, &mut script);
    print(String::from_utf8_lossy(&script).trim_end());
    ExitCode::SUCCESS
}

/// Says which of the two commands is meant.
pub(crate) fn explain_completion() -> ExitCode {
    complain(
        "there is no command `completion`: completion reports are signed and verified by `intent-gateway report`, and \
         `intent-gateway shell-completions` prints a shell's completions",
    );
    ExitCode::from(EXIT_USAGE)
}
