//! The command line of `intent-gateway ledger`.

use clap::{Args, Subcommand, ValueEnum};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::Month;
use intent_gateway_ledger::bookkeeping::Mark;

use crate::access::{parse_partner, parse_secret};
use crate::arguments::FileArg;

/// Read the commission ledger, and verify that every entry of it holds.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Check every invariant of the ledger from its stored entries alone.
    #[command(after_help = "Exit codes: 0 the ledger is sound, 1 it is not, or it could not be read.\n\n\
        The head that is printed, noted elsewhere and given to a later run, shows whether entries were cut off at the \
        end, which the entries alone cannot.\n\n\
        Examples:\n  intent-gateway ledger verify --config gateway.toml\n  \
        intent-gateway ledger verify --expect-head \
        2:0000000000000000000000000000000000000000000000000000000000000000 --gateway https://gateway.example")]
    Verify(VerifyArgs),
    /// Show what each partner owes: the trial balance, which must sum to zero.
    #[command(after_help = "Exit codes: 0 the accounts balance, 1 they do not, or could not be read.\n\n\
        Examples:\n  intent-gateway ledger balance --config gateway.toml\n  \
        intent-gateway ledger balance --json --gateway https://gateway.example")]
    Balance(BalanceArgs),
    /// Write a partner's statement of one month.
    #[command(
        after_help = "Examples:\n  intent-gateway ledger statement ptr_0123456789abcdef 2026-05 --config gateway.toml\n  \
        intent-gateway ledger statement ptr_0123456789abcdef 2026-05 --format csv --gateway https://gateway.example"
    )]
    Statement(StatementArgs),
}

impl LedgerCommand {
    pub(super) fn ledger(&self) -> &LedgerArgs {
        match self {
            Self::Verify(arguments) => &arguments.ledger,
            Self::Balance(arguments) => &arguments.ledger,
            Self::Statement(arguments) => &arguments.ledger,
        }
    }

    /// Where the configuration is; none when a gateway is asked.
    pub(crate) fn file(&self) -> Option<&FileArg> {
        let LedgerArgs { config, gateway, .. } = self.ledger();
        gateway.is_none().then_some(config)
    }

    /// The gateway to ask, if one is to be asked.
    pub(crate) fn gateway(&self) -> Option<&str> {
        self.ledger().gateway.as_deref()
    }
}

/// Where the ledger is.
#[derive(Args, Debug)]
pub(crate) struct LedgerArgs {
    #[command(flatten)]
    config: FileArg,
    /// Ask this gateway instead of opening the store of the configuration.
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,
    /// A token of that gateway, of role admin.
    #[arg(long, value_name = "TOKEN", env = "INTENT_GATEWAY_TOKEN", hide_env_values = true, value_parser = parse_secret)]
    pub(super) token: Option<Secret>,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    ledger: LedgerArgs,
    /// The head that an earlier run printed: that entry must still be there.
    #[arg(long, value_name = "N:HASH", value_parser = parse_mark)]
    pub(super) expect_head: Option<Mark>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    ledger: LedgerArgs,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StatementArgs {
    #[command(flatten)]
    ledger: LedgerArgs,
    /// The partner.
    #[arg(value_name = "PARTNER", value_parser = parse_partner)]
    pub(super) partner: PartnerId,
    /// The month, by Indian Standard Time: 2026-05.
    #[arg(value_name = "MONTH", value_parser = parse_month)]
    pub(super) month: Month,
    /// How to write it.
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(super) format: FormatArg,
}

/// Forms of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A table for a terminal; of a long statement, its first lines.
    Text,
    /// One JSON object.
    Json,
    /// Rows for a spreadsheet.
    Csv,
    /// A page to print.
    Html,
}

fn parse_mark(text: &str) -> Result<Mark, String> {
    text.parse().map_err(|error: intent_gateway_ledger::bookkeeping::InvalidMark| error.to_string())
}

fn parse_month(text: &str) -> Result<Month, String> {
    text.parse().map_err(|error: intent_gateway_ledger::InvalidMonth| error.to_string())
}
