//! The arguments of the commands for manifests.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use intent_gateway_domain::id::PartnerId;

use crate::access::{GatewayArgs, parse_partner};

/// Check and submit a partner's manifest.
#[derive(Debug, Subcommand)]
pub(crate) enum ManifestCommand {
    /// Check a manifest as a gateway would, without sending it.
    #[command(
        after_help = "FILE is YAML (the authoring form) or JSON (the body of a submission). Every problem is told \
        with its line and its place.\n\
        What is live is read from a folder of contracts, or asked of a gateway.\n\
        Exit codes: 0 it would be accepted, 1 it would not, 2 it could not be checked.\n\n\
        Examples:\n  intent-gateway manifest check manifest.yaml --contracts target/contracts\n  \
        intent-gateway manifest check manifest.yaml --gateway https://gateway.example\n  \
        intent-gateway manifest check manifest.json --contracts contracts --json | jq '.refusals[].message'"
    )]
    Check(CheckArgs),
    /// Write the manifest of a business that has no server and is reached by phone.
    #[command(
        after_help = "FORM is YAML or JSON: business_name, legal_name, phone, service_area, availability where it is not \
        always open, and services, each with intent, pricing and perhaps a description. The manifest is printed; nothing is \
        submitted. What such a business goes without stands in its head.\n\
        Exit codes: 0 it is written, 1 the form is refused.\n\n\
        Example:\n  intent-gateway manifest phone form.yaml --gateway https://gateway.example > manifest.yaml"
    )]
    Phone(PhoneArgs),
    /// Try the mapping of an API on an answer of it, without calling anybody.
    #[command(
        name = "try",
        after_help = "Shown is the request that would be sent, what the mapping makes of the answer, and what the \
        intent's contract says of each option. A gateway judges it; nothing is kept there.\n\
        The token is taken from INTENT_GATEWAY_TOKEN, or got for INTENT_GATEWAY_CLIENT_ID and \
        INTENT_GATEWAY_CLIENT_SECRET.\n\
        Exit codes: 0 the answer would pass, 1 it would not, 2 it could not be tried.\n\n\
        Examples:\n  curl -s https://api.coolcar.example/v1/offers?car=... > answer.json\n  \
        intent-gateway manifest try manifest.yaml --intent auto.book_ac_service --tool search_ac_service_slots \
        --arguments request.json --answer answer.json --gateway https://gateway.example"
    )]
    Try(TryArgs),
    /// Submit a manifest: it replaces the one before.
    #[command(after_help = "The token is the partner's, or that of an admin who acts for it.\n\
        Without --review and --draft, the file's own `submitForReview` counts. Once a manifest has been sent for \
        review, every later one goes to review, too.\n\n\
        Examples:\n  intent-gateway manifest submit manifest.yaml --gateway https://gateway.example --draft\n  \
        intent-gateway manifest submit manifest.yaml --gateway https://gateway.example --review")]
    Submit(SubmitArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The manifest.
    pub(crate) file: PathBuf,
    /// Folder of the live contracts (*.wasm), in place of a gateway; of several versions of an intent the highest counts.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["gateway", "token", "profile"])]
    pub(crate) contracts: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// The account that the manifest is for; without it, the one of the token or of the file.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(crate) account: Option<PartnerId>,
    /// Public address of the platform, with which completion addresses begin.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PhoneArgs {
    /// The form.
    pub(crate) form: PathBuf,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// The account; without it, the one of the token.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(crate) account: Option<PartnerId>,
    /// Print JSON, as the gateway answers.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TryArgs {
    /// The manifest.
    pub(crate) file: PathBuf,
    /// The intent whose mapping is tried.
    #[arg(long, value_name = "INTENT")]
    pub(crate) intent: String,
    /// The tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: String,
    /// File with the tool's arguments, JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) arguments: PathBuf,
    /// File with the API's answer, as it came.
    #[arg(long, value_name = "FILE")]
    pub(crate) answer: PathBuf,
    /// HTTP status of the answer.
    #[arg(long, value_name = "STATUS", default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..600))]
    pub(crate) status: u16,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// The account; without it, the one of the token or of the file.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(crate) account: Option<PartnerId>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SubmitArgs {
    /// The manifest.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// The account; without it, the one of the token or of the file.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(crate) account: Option<PartnerId>,
    /// Ask for review, whatever the file says.
    #[arg(long, conflicts_with = "draft")]
    pub(crate) review: bool,
    /// Save a draft, whatever the file says.
    #[arg(long)]
    pub(crate) draft: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
