//! `intent-gateway man-pages`: the help of every command as pages for `man`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};

use crate::arguments::Cli;
use crate::outcome::{CommandError, Verdict, exit_code, usage};
use crate::print;

#[derive(Args, Debug)]
pub(crate) struct ManPagesArgs {
    /// The folder, which is made where it is not there.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs the command to its exit code.
pub(crate) fn run(arguments: &ManPagesArgs) -> ExitCode {
    exit_code(write_pages(arguments))
}

fn write_pages(arguments: &ManPagesArgs) -> Result<Verdict, CommandError> {
    let ManPagesArgs { folder } = arguments;
    let unwritable = || format!("cannot write to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(unwritable).map_err(usage)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(unwritable).map_err(usage)?;
    let page = folder.join("intent-gateway.1");
    print(&format!("{} and a page for each command; read it with: man -l {0}", page.display()));
    Ok(Verdict::Clean)
}
