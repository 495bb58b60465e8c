//! `intent-gateway user`: what the gateway keeps of one user, exported or erased by the orchestrator that names the user.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use http::Method;
use intent_gateway_api::user_data::{UserData, UserErased};
use intent_gateway_domain::user::Pseudonym;

use crate::ask::{AskArgs, refuse, tell};
use crate::client::{Gateway, JSON};
use crate::outcome::{CommandError, Verdict, exit_code, print_json, usage};
use crate::search::parse_user;
use crate::terminal::pairs;

const PATH: &str = "/api/v1/user-data";

#[derive(Subcommand, Debug)]
pub(crate) enum UserCommand {
    /// Print all that is kept of a user as one JSON document.
    #[command(after_help = "Example:\n  intent-gateway user export --user user-17 > user-17.json")]
    Export(ExportArgs),
    /// Erase a user: links are ended, searches emptied, orders kept without the person. It cannot be undone.
    #[command(after_help = "After a failure, run it again: it goes on with what is left.\n\nExample:\n  \
        intent-gateway user erase --user user-17 --yes")]
    Erase(EraseArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The user, by your own pseudonym.
    #[arg(long, value_name = "ID", value_parser = parse_user)]
    user: Pseudonym,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct EraseArgs {
    /// The user, by your own pseudonym.
    #[arg(long, value_name = "ID", value_parser = parse_user)]
    user: Pseudonym,
    /// Erase: without it, nothing is done.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    ask: AskArgs,
}

/// Runs the command to its exit code.
pub(crate) fn run(command: &UserCommand) -> ExitCode {
    exit_code(match command {
        UserCommand::Export(arguments) => export(arguments),
        UserCommand::Erase(arguments) => erase(arguments),
    })
}

fn export(ExportArgs { user, ask }: &ExportArgs) -> Result<Verdict, CommandError> {
    let gateway = open(ask, user)?;
    let mut whole = UserData { links: Vec::new(), orders: Vec::new(), receipts: Vec::new(), next: None };
    loop {
        let after = whole.next.map(|next| format!("?after={next}")).unwrap_or_default();
        let page = gateway.get(&format!("{PATH}{after}")).or_else(|error| refuse(error, ask.json))?;
        let UserData { links, orders, receipts, next } = page;
        whole.links.extend(links);
        whole.orders.extend(orders);
        whole.receipts.extend(receipts);
        whole.next = next;
        if whole.next.is_none() {
            print_json(&whole)?;
            return Ok(Verdict::Clean);
        }
    }
}

fn erase(EraseArgs { user, yes, ask }: &EraseArgs) -> Result<Verdict, CommandError> {
    if !yes {
        return Err(usage(anyhow!("what is erased cannot be had back; say --yes to erase the user")));
    }
    let answer = open(ask, user)?.send_file(Method::DELETE, PATH, JSON, &[]);
    tell(answer, ask.json, show)?;
    Ok(Verdict::Clean)
}

fn open(ask: &AskArgs, user: &Pseudonym) -> Result<Gateway, CommandError> {
    Ok(ask.open()?.for_user(Some(user.as_str().to_owned())))
}

fn show(erased: &UserErased) -> String {
    let UserErased { orders, receipts, findings, faults, links } = erased;
    let counts = [
        ("orders", orders, "kept without the person"),
        ("receipts", receipts, "emptied"),
        ("findings", findings, "without excerpt and message"),
        ("faults", faults, "without input and message"),
        ("links", links, "ended"),
    ];
    format!("erased\n{}", pairs(&counts.map(|(what, count, how)| (what, format!("{count} {how}")))))
}
