//! `intent-gateway gateway`: the gateways that share a store.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use intent_gateway_api::gateways::GatewayList;

use crate::ask::{AskArgs, tell};
use crate::outcome::{CommandError, Verdict, exit_code};
use crate::terminal::table;

const PATH: &str = "/api/v1/admin/gateways";

#[derive(Subcommand, Debug)]
pub(crate) enum GatewayCommand {
    /// List the gateways that share the store and live, and the work that each does for all.
    #[command(after_help = "It takes a token with the scope `watch`.\n\nExample:\n  intent-gateway gateway list")]
    List(ListArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    ask: AskArgs,
}

/// Runs a command to its exit code.
pub(crate) fn run(command: &GatewayCommand) -> ExitCode {
    exit_code(match command {
        GatewayCommand::List(arguments) => list(arguments),
    })
}

fn list(ListArgs { ask }: &ListArgs) -> Result<Verdict, CommandError> {
    tell(ask.open()?.get(PATH), ask.json, show_list)?;
    Ok(Verdict::Clean)
}

fn show_list(GatewayList { gateways }: &GatewayList) -> String {
    let rows: Vec<[String; 6]> = gateways
        .iter()
        .map(|one| {
            let duties = if one.duties.is_empty() { "-".to_owned() } else { one.duties.join(" ") };
            let left = format!("{} s", one.left_ms / 1_000);
            [one.id.clone(), one.name.clone(), one.version.clone(), one.started_at.clone(), left, duties]
        })
        .collect();
    table(["gateway", "name", "version", "started", "lease ends in", "does for all"], &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_gateway_is_a_line() {
        let gateway = |id: &str, duties: &[&str]| {
            json!({"id": id, "name": "host\u{1b}[31m 10.0.0.1:8080", "version": "0.1.0",
                "started_at": "2027-01-15T08:00:00Z", "renewed_at": "2027-01-15T08:01:00Z", "left_ms": 9_400,
                "duties": duties})
        };
        let list = json!({"gateways": [gateway("a1", &["probes", "sweep"]), gateway("b2", &[])]});
        let told = show_list(&serde_json::from_value(list).expect("a list"));
        assert!(!told.contains('\u{1b}'), "{told}");
        let lines: Vec<String> =
            told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(lines[1].starts_with("a1 ") && lines[1].ends_with("9 s probes sweep"), "{told}");
        assert!(lines[2].starts_with("b2 ") && lines[2].ends_with("9 s -"), "{told}");
    }
}
