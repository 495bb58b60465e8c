//! `intent-gateway gateway`: the gateways that share a store, and whether one of them takes requests.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use intent_gateway_api::gateways::GatewayList;
use intent_gateway_api::operations::{Liveness, Readiness, ReadyTrouble};

use crate::access::tls::TlsFiles;
use crate::access::{environment_address, environment_tls};
use crate::ask::{AskArgs, tell};
use crate::client::Gateway;
use crate::outcome::{CommandError, Verdict, exit_code, usage};
use crate::terminal::{harmless, table};

const PATH: &str = "/api/v1/admin/gateways";
/// Where a gateway listens that is not told otherwise.
const DEFAULT_ADDRESS: &str = "http://127.0.0.1:8080";

#[derive(Subcommand, Debug)]
pub(crate) enum GatewayCommand {
    /// List the gateways that share the store and live, and the work that each does for all.
    #[command(after_help = "It takes a token with the scope `watch`.\n\nExample:\n  intent-gateway gateway list")]
    List(ListArgs),
    /// Ask one gateway whether it should get traffic, and what is not as it should be. It needs no token.
    #[command(after_help = "Exit codes: 0 it should, 1 it should not or does not answer.\n\n\
        Examples:\n  intent-gateway gateway health\n  intent-gateway gateway health --live --gateway http://10.0.0.5:8080")]
    Health(HealthArgs),
}

#[derive(Args, Debug)]
pub(crate) struct HealthArgs {
    /// Address of the gateway [env: INTENT_GATEWAY_URL; default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,
    /// Authorities that vouch for it over TLS, in PEM, in place of the web's [env: INTENT_GATEWAY_CA]. At an address of this machine
    /// any certificate will do: nothing is shown to it.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Ask only whether the process turns: what decides about starting it anew.
    #[arg(long)]
    live: bool,
    /// Print JSON, as the gateway answers.
    #[arg(long)]
    json: bool,
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
        GatewayCommand::Health(arguments) => ask_health(arguments),
    })
}

fn ask_health(HealthArgs { gateway, ca, live, json }: &HealthArgs) -> Result<Verdict, CommandError> {
    let address = gateway.clone().or_else(environment_address).unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
    let tls = TlsFiles { authorities: ca.clone(), client: None }.or(environment_tls()?);
    let gateway = Gateway::at_for_health(&address, &tls).map_err(usage)?;
    if *live {
        tell(gateway.get("/live"), *json, |Liveness { status }: &Liveness| harmless(status))?;
    } else {
        tell(gateway.get("/ready"), *json, show_readiness)?;
    }
    Ok(Verdict::Clean)
}

fn show_readiness(Readiness { status, live_intents, troubles }: &Readiness) -> String {
    let intents = if *live_intents == 1 { "1 intent is".to_owned() } else { format!("{live_intents} intents are") };
    let mut told = format!("{}: {intents} live", harmless(status));
    for ReadyTrouble { code, subject, message } in troubles {
        let about = subject.as_ref().map_or_else(String::new, |subject| format!(" {}", harmless(subject)));
        told.push_str(&format!("\n  {}{about}: {}", harmless(code), harmless(message)));
    }
    told
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
    fn what_is_not_as_it_should_be_is_told_line_by_line() {
        let trouble = json!({"code": "TASK_LATE", "subject": "probes", "message": "it is\u{7} late"});
        let told = |live: u64, troubles: serde_json::Value| {
            let answer = json!({"status": "degraded", "live_intents": live, "troubles": troubles});
            show_readiness(&serde_json::from_value(answer).expect("a readiness"))
        };
        assert_eq!(told(1, json!([])), "degraded: 1 intent is live");
        let lines = told(3, json!([trouble]));
        assert!(lines.starts_with("degraded: 3 intents are live\n  TASK_LATE probes: it is"), "{lines}");
        assert!(!lines.contains('\u{7}'), "{lines}");
    }

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
