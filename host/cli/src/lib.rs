//! The command line: every command of `intent-gateway` but the serving itself, which the binary brings.
//!
//! Exit codes: 0 when what was asked is done, 1 when the gateway failed, 2 when the command line or the
//! configuration is wrong, with a message that says what to do, 3 when a second person has to approve what was asked.
//!
//! Not here: what the commands work on. They ask a running gateway over HTTP, or open the store of a configuration.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod access;
mod approval;
mod arguments;
mod ask;
mod audit;
mod call;
mod classify;
mod client;
mod contract;
mod doctor;
mod files;
mod findings;
mod gateway;
mod init;
mod keys_command;
mod ledger;
mod man_pages;
mod manifest;
mod notice;
mod order;
mod outcome;
mod partner;
#[cfg(feature = "author")]
mod plugin;
mod profile;
mod receipt;
mod report;
mod search;
mod shell;
mod store_check;
mod store_command;
mod store_size;
mod terminal;
mod token;
mod user;
mod values;
mod version;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use clap::{CommandFactory as _, FromArgMatches as _};
use intent_gateway_config::Config;
use intent_gateway_sandbox::{Compiler, compile_contract};

use crate::arguments::{COMPILE_CONTRACT, Cli, Command, ConfigCommand};
pub use crate::arguments::{ReadConfig, ServeOptions};
use crate::outcome::{Verdict, exit_code, fail};

/// Nothing was done yet: a second person has to approve it.
const EXIT_WAITING: u8 = 3;
/// The command line or the configuration is wrong.
const EXIT_USAGE: u8 = 2;
/// The gateway failed.
const EXIT_FAILURE: u8 = 1;

/// What `--version` says. The command line keeps texts for as long as the process lives.
static VERSION: OnceLock<String> = OnceLock::new();

/// Carries out the command that the process was started with. `serve` serves until it is told to stop; `features` are those that the
/// program was built with, for `--version`.
pub fn run(features: &[&str], serve: impl FnOnce(Config, ServeOptions) -> anyhow::Result<()>) -> ExitCode {
    // clap itself leaves with 2 on a wrong command line.
    let version = VERSION.get_or_init(|| version::describe(features));
    let matches = Cli::command().long_version(version.as_str()).get_matches();
    let command = Arc::new(Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command);
    match &*command {
        #[cfg(feature = "author")]
        Command::Plugin(command) => plugin::run(command),
        #[cfg(not(feature = "author"))]
        Command::Plugin(_) => explain_plugin(),
        Command::Manifest(command) => manifest::run(command),
        Command::Partner(command) => partner::run(command),
        Command::Review(command) => partner::run_review(command),
        Command::Approval(command) => approval::run(command),
        Command::Notice(command) => notice::run(command),
        Command::Gateway(command) => gateway::run(command),
        Command::Report(command) => report::run(command),
        Command::Order(command) => order::run(command),
        Command::Receipt(command) => receipt::run(command),
        Command::Contract(command) => contract::run(command),
        Command::Classify(arguments) => classify::run(arguments),
        Command::Search(arguments) => search::run(arguments),
        Command::Call(arguments) => call::run(arguments),
        Command::User(command) => user::run(command),
        Command::Findings(arguments) => findings::run(arguments),
        Command::Profile(command) => profile::run(command),
        Command::ManPages(arguments) => man_pages::run(arguments),
        Command::ShellCompletions(arguments) => shell::print_completions(arguments.shell),
        Command::CompileContract(arguments) => compile_contract(arguments.limits()),
        Command::Completion(_) => shell::explain_completion(),
        Command::Audit(arguments) => match arguments.source().gateway() {
            Some(gateway) => audit::ask(gateway, arguments),
            None => with_config(&command, |config| audit::read(&config, arguments)),
        },
        Command::Ledger(arguments) => match arguments.source().gateway() {
            Some(gateway) => ledger::ask(gateway, arguments),
            None => with_config(&command, |config| ledger::read(&config, arguments)),
        },
        Command::Statement(arguments) => match arguments.source.gateway() {
            Some(gateway) => ledger::ask_statement(gateway, arguments),
            None => with_config(&command, |config| ledger::read_statement(&config, arguments)),
        },
        Command::Store(arguments) => with_config(&command, |config| store_command::run(&config, arguments)),
        Command::Keys(arguments) => with_config(&command, |config| keys_command::run(&config, arguments)),
        Command::Serve(arguments) => {
            let first_start = arguments.first_start;
            let again = command.clone();
            let read_again = Box::new(move || load(&again));
            with_config(&command, |config| serve(config, ServeOptions { first_start, read_again }))
        }
        Command::Doctor(arguments) => match load(&command) {
            Ok(config) => exit_code(doctor::run(&config, arguments).map_err(fail)),
            Err(error) => refuse_config(&error),
        },
        Command::Init(arguments) => init::run(arguments),
        Command::Token(arguments) => token::run(&command, arguments),
        Command::Config(ConfigCommand::Schema) => print_schema(),
        Command::Config(ConfigCommand::Check(_)) => with_config(&command, |config| {
            print(intent_gateway_config::show(&config)?.trim_end());
            Ok(())
        }),
    }
}

/// Says where the author's commands are.
#[cfg(not(feature = "author"))]
fn explain_plugin() -> ExitCode {
    complain(
        "this build serves and has no `plugin` commands, which start compilers: take the package `intent-gateway-author`, or build \
         with `cargo build --release --package intent-gateway --features author`",
    );
    ExitCode::from(EXIT_USAGE)
}

/// How components are compiled, by whatever command: in a process of their own, which the hidden command
/// `compile-contract` of this program is.
#[must_use]
pub fn compiler() -> Compiler {
    Compiler::of_this_program(COMPILE_CONTRACT)
}

fn load(command: &Command) -> Result<Config, intent_gateway_config::ConfigError> {
    let config = intent_gateway_config::load(command.config_file().as_deref(), &command.overrides())?;
    // The server has a log of its own to warn in, and the doctor tells it among what it finds.
    if !matches!(command, Command::Serve(_) | Command::Doctor(_)) {
        config.secret_files.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    }
    // Whoever backs a store up or looks into it must not be kept from it by how the gateway is served.
    if let Command::Serve(_) | Command::Config(_) = command {
        config.check_exposure()?;
    }
    Ok(config)
}

fn print_schema() -> ExitCode {
    let schema = intent_gateway_config::make_schema().context("the defaults cannot be written").map_err(fail);
    exit_code(schema.and_then(|schema| outcome::print_json(&schema)).map(|()| Verdict::Clean))
}

fn refuse_config(error: &intent_gateway_config::ConfigError) -> ExitCode {
    complain(&format!("{error}"));
    ExitCode::from(EXIT_USAGE)
}

/// Does a command's work under the configuration in force.
fn with_config(command: &Command, work: impl FnOnce(Config) -> anyhow::Result<()>) -> ExitCode {
    let config = match load(command) {
        Ok(config) => config,
        Err(error) => return refuse_config(&error),
    };
    match work(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

/// One line, or several, for whoever called the command. Who has read enough, as `head` does, may leave.
pub fn print(text: &str) {
    let written = writeln!(io::stdout().lock(), "{text}");
    if let Err(error) = written.as_ref().map_err(io::Error::kind)
        && error != io::ErrorKind::BrokenPipe
    {
        complain(&format!("the output could not be written: {error}"));
        std::process::exit(EXIT_FAILURE.into());
    }
}

/// Tells what is wrong. It may quote what others wrote.
#[expect(clippy::print_stderr, reason = "the log may not be set up yet")]
fn complain(text: &str) {
    let lines: Vec<String> = text.lines().map(terminal::harmless).collect();
    eprintln!("intent-gateway: {}", lines.join("\n"));
}
