//! How the commands end that do their work and are done: 0 when all is well, 1 when something is wrong with what they
//! were asked about, 2 when they were asked for something that cannot be done, 3 when it waits for a second person.
//!
//! Results go to standard output, progress and complaints to standard error.

use std::process::ExitCode;

use anyhow::Context as _;
use intent_gateway_domain::plain_text::escape_json;

use crate::client::GatewayError;
use crate::{EXIT_FAILURE, EXIT_USAGE, EXIT_WAITING, complain, print};

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing is wrong.
    Clean,
    /// Something is wrong, and what has been printed.
    Found,
}

impl Verdict {
    pub(crate) fn of(clean: bool) -> Self {
        if clean { Self::Clean } else { Self::Found }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// It was asked for something that cannot be done.
    Usage(anyhow::Error),
    /// What it was asked about stands in the way.
    Failed(anyhow::Error),
}

impl CommandError {
    /// The reason alone, for a caller that has its own exit code.
    pub(crate) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Usage(error) | Self::Failed(error) => error,
        }
    }
}

/// A file that is not there and the like are for whoever called to put right.
pub(crate) fn usage(error: impl Into<anyhow::Error>) -> CommandError {
    CommandError::Usage(error.into())
}

pub(crate) fn fail(error: impl Into<anyhow::Error>) -> CommandError {
    CommandError::Failed(error.into())
}

/// The exit code of what came out; a reason to stop is told.
pub(crate) fn exit_code(outcome: Result<Verdict, CommandError>) -> ExitCode {
    let (error, code) = match outcome {
        Ok(Verdict::Clean) => return ExitCode::SUCCESS,
        Ok(Verdict::Found) => return ExitCode::from(EXIT_FAILURE),
        Err(CommandError::Failed(error)) => (error, EXIT_FAILURE),
        Err(CommandError::Usage(error)) => (error, EXIT_USAGE),
    };
    let waits = matches!(error.downcast_ref(), Some(GatewayError::Waits(_)));
    complain(&format!("{error:#}"));
    ExitCode::from(if waits { EXIT_WAITING } else { code })
}

/// What a script reads.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(value).context("the result is no JSON").map_err(fail)?;
    print(&escape_json(&text));
    Ok(())
}
