//! The arguments of the commands for completion reports.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The largest timestamp that a gateway reads, milliseconds: fifteen digits.
const TIMESTAMP_MAX_MS: u64 = 999_999_999_999_999;

/// Sign completion reports, and check signatures of them.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Sign a completion report: print its two headers, print a curl command, or post it.
    #[command(
        after_help = "FILE is the report as it will be sent: its bytes are signed, and nothing is read of them.\n\
        The webhook's signing key is taken from INTENT_GATEWAY_WEBHOOK_KEY, or from a file with --key-file.\n\
        A signature is good for five minutes either way.\n\
        Exit codes: 0 done, 1 the report was posted and not accepted, 2 it could not be signed.\n\n\
        Examples:\n  intent-gateway report sign report.json\n  \
        intent-gateway report sign report.json | curl -H @- -H 'content-type: application/json' \
        --data-binary @report.json \"$COMPLETION_CALLBACK\"\n  \
        intent-gateway report sign report.json --key-file webhook.key --curl \
        https://gateway.example/api/v1/cpc/mcp_provider/ptr_0123456789abcdef\n  \
        intent-gateway report sign report.json --post \
        https://gateway.example/api/v1/cpc/mcp_provider/ptr_0123456789abcdef\n  \
        intent-gateway report sign - --timestamp 1779264000123 --json"
    )]
    Sign(SignArgs),
    /// Check a signature that you made, and tell what is wrong with it.
    #[command(after_help = "The key is taken as by `report sign`.\n\
        Exit codes: 0 the signature holds, 1 it does not, 2 it could not be checked.\n\n\
        Example:\n  intent-gateway report verify report.json --timestamp 1779264000123 \
        --signature sha256=118746c0ca421fc8f6b1932996c35ff43cdacf46ffcd315b62fc49efa266ef61")]
    Verify(VerifyArgs),
}

/// What both commands work on.
#[derive(Args, Debug)]
pub(crate) struct Subject {
    /// The report as it is sent; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(super) file: PathBuf,
    /// File with the webhook's signing key, in place of INTENT_GATEWAY_WEBHOOK_KEY.
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SignArgs {
    #[command(flatten)]
    pub(super) subject: Subject,
    /// Time of signing, milliseconds since 1970-01-01T00:00:00Z; without it, now.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=TIMESTAMP_MAX_MS))]
    pub(super) timestamp: Option<u64>,
    /// Print a curl command that posts FILE to this completion address.
    #[arg(long, value_name = "URL", conflicts_with_all = ["post", "json"])]
    pub(super) curl: Option<String>,
    /// Post the report to this completion address, and print the status and the answer.
    #[arg(long, value_name = "URL")]
    pub(super) post: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(super) subject: Subject,
    /// What you send in X-PLATFORM-Timestamp.
    #[arg(long, value_name = "MS", allow_hyphen_values = true)]
    pub(super) timestamp: String,
    /// What you send in X-PLATFORM-Signature.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(super) signature: String,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}
