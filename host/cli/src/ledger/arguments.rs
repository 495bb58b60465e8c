//! The command line of `intent-gateway ledger`.

use clap::{Args, Subcommand, ValueEnum};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_ledger::Month;
use intent_gateway_ledger::bookkeeping::Mark;

use crate::access::parse_partner;
use crate::arguments::SourceArgs;
use crate::audit::AnchorArgs;

/// Read the commission ledger, and verify that every entry of it holds.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Check every invariant of the ledger from its stored entries, and compare them with what was anchored.
    #[command(after_help = "Exit codes: 0 the ledger is sound, 1 it is not, or it could not be read.\n\n\
        That entries were cut off at the end, or that all were exchanged for older ones, the entries alone cannot show. \
        Anchors do: those in `anchors.file`, and with --anchors those in any file, such as the gateway's log. So does the \
        head that is printed, noted elsewhere and given to a later run.\n\n\
        Examples:\n  intent-gateway ledger verify --config gateway.toml\n  \
        intent-gateway ledger verify --config gateway.toml --anchors gateway.log\n  \
        intent-gateway ledger verify --expect-head \
        2:0000000000000000000000000000000000000000000000000000000000000000 --gateway https://gateway.example")]
    Verify(VerifyArgs),
    /// Show what each partner owes: the trial balance, which must sum to zero.
    #[command(after_help = "Exit codes: 0 the accounts balance, 1 they do not, or could not be read.\n\n\
        Examples:\n  intent-gateway ledger balance --config gateway.toml\n  \
        intent-gateway ledger balance --json --gateway https://gateway.example")]
    Balance(BalanceArgs),
}

impl LedgerCommand {
    /// Where the ledger is.
    pub(crate) fn source(&self) -> &SourceArgs {
        match self {
            Self::Verify(arguments) => &arguments.source,
            Self::Balance(arguments) => &arguments.source,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// The head that an earlier run printed: that entry must still be there.
    #[arg(long, value_name = "N:HASH", value_parser = parse_mark)]
    pub(super) expect_head: Option<Mark>,
    #[command(flatten)]
    pub(super) anchors: AnchorArgs,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StatementArgs {
    /// The month, by Indian Standard Time: 2026-05. Without it, the months are listed that have statements.
    #[arg(value_name = "MONTH", value_parser = parse_month)]
    pub(super) month: Option<Month>,
    /// The partner; without it, the one of a partner's token.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(super) partner: Option<PartnerId>,
    /// How to write it.
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(super) format: FormatArg,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
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
