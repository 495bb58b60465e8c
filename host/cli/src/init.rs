//! `intent-gateway init`: a configuration to begin with, with keys of its own.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use intent_gateway_config::InitError;

use crate::outcome::{Verdict, exit_code, fail, usage};
use crate::print;

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// The file, which must not be there yet.
    #[arg(value_name = "FILE", default_value = "gateway.toml")]
    file: PathBuf,
}

/// Runs the command to its exit code.
pub(crate) fn run(arguments: &InitArgs) -> ExitCode {
    let InitArgs { file } = arguments;
    let written = intent_gateway_config::init(file).map_err(|error| match error {
        InitError::Exists(_) => usage(error),
        InitError::Unwritten { .. } => fail(error),
    });
    exit_code(written.map(|()| {
        print(&format!(
            "{} is written, with keys that nobody else has in {}",
            file.display(),
            file.with_extension("keys").display()
        ));
        Verdict::Clean
    }))
}
