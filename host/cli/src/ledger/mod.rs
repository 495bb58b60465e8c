//! `intent-gateway ledger` and `intent-gateway statement`: whether the commission ledger is sound, who owes what, and statements (docs/ledger.md). Read
//! from the store of the configuration, or asked of a gateway.
//!
//! | question | module |
//! |---|---|
//! | whether the entries hold | `verify` |
//! | what each account holds | `balance` |
//! | what a partner owes for a month | `statement` |
//!
//! Not here: the rules of the ledger and of its statements, which are the core's, how statements are written, which is
//! the HTTP surface's, and corrections, which are made through a gateway so that they are in its audit log.

mod arguments;
mod balance;
mod statement;
mod verify;

use std::process::ExitCode;

pub(crate) use self::arguments::{LedgerCommand, StatementArgs};
use crate::access::GatewayArgs;
use crate::outcome::exit_code;
use crate::store_command::with_store;
use intent_gateway_config::Config;

/// Works on the store of a configuration.
pub(crate) fn read(config: &Config, command: &LedgerCommand) -> anyhow::Result<()> {
    with_store(config, async |store| match command {
        LedgerCommand::Verify(arguments) => verify::read(store, config, arguments).await,
        LedgerCommand::Balance(arguments) => balance::read(store, arguments).await,
    })
}

/// Asks a gateway.
pub(crate) fn ask(gateway: &GatewayArgs, command: &LedgerCommand) -> ExitCode {
    exit_code(gateway.open().and_then(|(gateway, _)| match command {
        LedgerCommand::Verify(arguments) => verify::ask(&gateway, arguments),
        LedgerCommand::Balance(arguments) => balance::ask(&gateway, arguments),
    }))
}

/// Draws a statement up out of the store of a configuration.
pub(crate) fn read_statement(config: &Config, arguments: &StatementArgs) -> anyhow::Result<()> {
    with_store(config, async |store| statement::read(store, arguments).await)
}

/// Asks a gateway for a statement.
pub(crate) fn ask_statement(gateway: &GatewayArgs, arguments: &StatementArgs) -> ExitCode {
    exit_code(statement::ask(gateway, arguments))
}
