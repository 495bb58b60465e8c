//! The binary: command line, configuration, wiring and shutdown; nothing else.
//!
//! Exit codes: 0 when what was asked is done, 1 when the gateway failed, 2 when the command line or the
//! configuration is wrong, with a message that says what to do.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod cli;
mod config;
mod directory;
mod findings;
mod keys;
mod logging;
mod serve;
mod token;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command, ConfigCommand};
use crate::config::Config;

/// The command line or the configuration is wrong.
const EXIT_USAGE: u8 = 2;
/// The gateway failed.
const EXIT_FAILURE: u8 = 1;

fn main() -> ExitCode {
    // clap itself leaves with 2 on a wrong command line.
    let cli = Cli::parse();
    let config = match config::load(cli.command.config_file(), &cli.command.overrides()) {
        Ok(config) => config,
        Err(error) => {
            complain(&format!("{error}"));
            return ExitCode::from(EXIT_USAGE);
        }
    };
    match run(&cli.command, config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

fn run(command: &Command, config: Config) -> anyhow::Result<()> {
    match command {
        Command::Serve(_) => serve::run(config),
        Command::Token(arguments) => {
            let token = token::issue(&config, arguments)?;
            print(&token);
            Ok(())
        }
        Command::Config(ConfigCommand::Check(_)) => {
            print(config::show(&config)?.trim_end());
            Ok(())
        }
    }
}

/// One line, or several, for whoever called the command.
#[expect(clippy::print_stdout, reason = "the output of a command")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "the log may not be set up yet")]
fn complain(text: &str) {
    eprintln!("intent-gateway: {text}");
}
