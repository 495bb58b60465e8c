//! `intent-gateway report`: signing completion reports, and looking at signatures that are refused (spec 1,
//! Authentication 3; docs/completion-reports.md).
//!
//! | question | module |
//! |---|---|
//! | how a report and a key are read | `input` |
//! | signing, printing, posting | `sign` |
//! | whether a signature holds, and what is wrong with it | `verify` |
//!
//! Not here: the signature itself, which is the core's, and what a report must say, which is for the contract to judge.

mod arguments;
mod input;
mod sign;
mod verify;

use std::process::ExitCode;

pub(crate) use self::arguments::ReportCommand;
use crate::outcome::exit_code;

/// Runs a command to its exit code.
pub(crate) fn run(command: &ReportCommand) -> ExitCode {
    exit_code(match command {
        ReportCommand::Sign(arguments) => sign::run(arguments),
        ReportCommand::Verify(arguments) => verify::run(arguments),
    })
}
