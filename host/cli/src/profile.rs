//! `intent-gateway profile`: which gateways the user's file of profiles names. Secrets are never shown.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::access::profiles::{Profile, Profiles};
use crate::access::tls::TlsFiles;
use crate::access::{Credential, own_profiles};
use crate::outcome::{CommandError, Verdict, exit_code, print_json, usage};
use crate::print;
use crate::terminal::{pairs, table};

/// Look at the file of profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles: their gateways, and what each shows there. Secrets are not printed.
    #[command(
        after_help = "The file is ~/.config/intent-gateway/profiles.toml, or the one that INTENT_GATEWAY_PROFILES \
        names. Each profile is one table:\n\n  \
        [staging]\n  gateway = \"https://staging.gateway.example\"\n  token = \"...\"\n\n  \
        [shop]\n  gateway = \"https://gateway.example\"\n  client_id = \"...\"\n  client_secret = \"...\"\n\n\
        A file that holds secrets must be readable by its owner alone (chmod 600). The profile `default` counts where \
        none is named.\n\n\
        Example:\n  intent-gateway profile list"
    )]
    List(ListArgs),
    /// Show one profile, secrets redacted.
    #[command(after_help = "Example:\n  intent-gateway profile show staging")]
    Show(ShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The profile; without it, the one that counts where a command names none.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A profile as it is shown.
#[derive(Debug, Serialize)]
struct ShownProfile {
    name: String,
    gateway: String,
    /// File of the authorities that vouch for it, where those of the web do not.
    ca: Option<PathBuf>,
    /// File of the certificate that is shown to it, where it asks for one.
    client_cert: Option<PathBuf>,
    /// What is shown to it.
    shows: String,
    /// Whether it counts where a command names none.
    in_force: bool,
}

/// Runs a command to its exit code.
pub(crate) fn run(command: &ProfileCommand) -> ExitCode {
    exit_code(match command {
        ProfileCommand::List(arguments) => list(arguments),
        ProfileCommand::Show(arguments) => show(arguments),
    })
}

fn read() -> Result<(Profiles, String), CommandError> {
    let (path, chosen) =
        own_profiles().ok_or_else(|| usage(anyhow!("neither HOME nor INTENT_GATEWAY_PROFILES is set")))?;
    Ok((Profiles::read(&path).map_err(usage)?, chosen))
}

fn describe(name: &str, chosen: &str, Profile { gateway, tls, credential }: Profile) -> ShownProfile {
    let shows = match credential {
        None => "nothing of its own".to_owned(),
        Some(Credential::Token(_)) => "a token".to_owned(),
        Some(Credential::Client { id, .. }) => format!("the credentials {id}"),
    };
    let TlsFiles { authorities: ca, client } = tls;
    let client_cert = client.map(|client| client.certificate);
    ShownProfile { name: name.to_owned(), gateway, ca, client_cert, shows, in_force: name == chosen }
}

fn list(arguments: &ListArgs) -> Result<Verdict, CommandError> {
    let (profiles, chosen) = read()?;
    let shown: Result<Vec<ShownProfile>, _> =
        profiles.names().map(|name| profiles.get(name).map(|profile| describe(name, &chosen, profile))).collect();
    let shown = shown.map_err(usage)?;
    if arguments.json {
        print_json(&shown)?;
    } else {
        let rows: Vec<[String; 4]> = shown.into_iter().map(row).collect();
        print(&table(["profile", "gateway", "shows", ""], &rows));
    }
    Ok(Verdict::Clean)
}

fn row(ShownProfile { name, gateway, ca: _, client_cert: _, shows, in_force }: ShownProfile) -> [String; 4] {
    [name, gateway, shows, if in_force { "in force" } else { "" }.to_owned()]
}

fn show(arguments: &ShowArgs) -> Result<Verdict, CommandError> {
    let (profiles, chosen) = read()?;
    let name = arguments.name.as_ref().unwrap_or(&chosen);
    let shown = describe(name, &chosen, profiles.get(name).map_err(usage)?);
    if arguments.json {
        print_json(&shown)?;
    } else {
        let file = |path: &Option<PathBuf>, none: &str| {
            path.as_ref().map_or_else(|| none.to_owned(), |path| path.display().to_string())
        };
        let vouches = file(&shown.ca, "authorities of the web");
        let certificate = file(&shown.client_cert, "none");
        let [name, gateway, shows, in_force] = row(shown);
        print(&pairs(&[
            ("profile", name),
            ("gateway", gateway),
            ("vouched for by", vouches),
            ("client certificate", certificate),
            ("shows", shows),
            ("status", in_force),
        ]));
    }
    Ok(Verdict::Clean)
}
