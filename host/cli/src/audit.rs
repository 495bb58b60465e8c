//! `intent-gateway audit`: who did what, and whether the log still is as it was written. Read from the store of the
//! configuration, or asked of a gateway.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use intent_gateway_api::audit::{AuditEntryBody, AuditPage, AuditVerified};
use intent_gateway_domain::audit::{Actor, AuditEntry};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::Store as _;
use serde::Serialize;
use serde_json::Value;

use crate::access::{GatewayArgs, parse_partner};
use crate::arguments::SourceArgs;
use crate::outcome::{CommandError, Verdict, exit_code, fail, print_json};
use crate::print;
use crate::store_command::with_store;
use crate::terminal::{pairs, table};
use intent_gateway_config::Config;

/// Entries shown at once: as many as a gateway hands over.
const SHOWN_MAX: u32 = 500;
/// Characters of an entry's detail in a table.
const DETAIL_SHOWN_MAX_CHARS: usize = 100;

/// Read the audit log, and verify that nobody has changed it.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Follow the log from its first entry: each holds the digest of the one before.
    #[command(after_help = "The number of entries and the last digest are printed. Noted elsewhere, they show later \
        whether entries were cut off at the end.\n\n\
        Examples:\n  intent-gateway audit verify --config gateway.toml\n  \
        intent-gateway audit verify --gateway https://gateway.example")]
    Verify(VerifyArgs),
    /// Show entries, oldest first.
    #[command(after_help = "Examples:\n  intent-gateway audit show --subject ptr_0123456789abcdef\n  \
        intent-gateway audit show --after 1000 --limit 500 --json --gateway https://gateway.example")]
    Show(ShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Only entries about this account.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    subject: Option<PartnerId>,
    /// Only entries after this one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: u64,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(SHOWN_MAX)))]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl AuditCommand {
    /// Where the log is.
    pub(crate) fn source(&self) -> &SourceArgs {
        match self {
            Self::Verify(arguments) => &arguments.source,
            Self::Show(arguments) => &arguments.source,
        }
    }
}

/// An entry of a store as a gateway would show it.
fn show_entry(entry: AuditEntry) -> AuditEntryBody {
    let written = entry.detail.clone();
    let body = AuditEntryBody::from(entry);
    // A log that was tampered with may hold anything; `verify` says so, and here it is shown as it is.
    AuditEntryBody { detail: body.detail.or(Some(Value::String(written))), ..body }
}

/// A log that holds together.
#[derive(Debug, Serialize)]
struct VerifiedLog {
    /// How many entries it has.
    entries: u64,
    /// Digest of the last.
    head: String,
}

/// Works on the store of a configuration.
pub(crate) fn read(config: &Config, command: &AuditCommand) -> anyhow::Result<()> {
    with_store(config, async |store| match command {
        AuditCommand::Verify(arguments) => {
            let (entries, head) = store.verify_audit().await.context("the audit log cannot be relied on")?;
            tell_verified(&VerifiedLog { entries, head: head.to_string() }, arguments.json)
                .map_err(CommandError::into_error)
        }
        AuditCommand::Show(arguments) => {
            let subject = arguments.subject.as_ref().map(PartnerId::as_str);
            let entries = store.audit(subject, arguments.after, arguments.limit).await;
            let entries = entries.context("the store cannot be read")?;
            tell_entries(&entries.into_iter().map(show_entry).collect::<Vec<_>>(), arguments.json)
                .map_err(CommandError::into_error)
        }
    })
}

/// Asks a gateway.
pub(crate) fn ask(gateway: &GatewayArgs, command: &AuditCommand) -> ExitCode {
    exit_code(match command {
        AuditCommand::Verify(arguments) => ask_verified(gateway, arguments),
        AuditCommand::Show(arguments) => ask_entries(gateway, arguments),
    })
}

fn ask_verified(gateway: &GatewayArgs, arguments: &VerifyArgs) -> Result<Verdict, CommandError> {
    let (gateway, _) = gateway.open()?;
    let AuditVerified { entries, head, problem, ok: _ } = gateway.get("/api/v1/admin/audit/verify").map_err(fail)?;
    if let Some(problem) = problem {
        return Err(fail(anyhow!("the audit log cannot be relied on after entry {entries}: {problem}")));
    }
    tell_verified(&VerifiedLog { entries, head }, arguments.json).map(|()| Verdict::Clean)
}

fn ask_entries(gateway: &GatewayArgs, arguments: &ShowArgs) -> Result<Verdict, CommandError> {
    let ShowArgs { subject, after, limit, json, .. } = arguments;
    let (gateway, _) = gateway.open()?;
    let subject = subject.as_ref().map(|subject| format!("&subject={subject}")).unwrap_or_default();
    let page: AuditPage =
        gateway.get(&format!("/api/v1/admin/audit?after={after}&limit={limit}{subject}")).map_err(fail)?;
    tell_entries(&page.entries, *json).map(|()| Verdict::Clean)
}

fn tell_verified(verified: &VerifiedLog, json: bool) -> Result<(), CommandError> {
    if json {
        return print_json(verified);
    }
    let VerifiedLog { entries, head } = verified;
    print(&pairs(&[
        ("entries", entries.to_string()),
        ("head", head.clone()),
        ("verdict", "as it was written".to_owned()),
    ]));
    Ok(())
}

fn tell_entries(entries: &[AuditEntryBody], json: bool) -> Result<(), CommandError> {
    if json {
        return print_json(&entries);
    }
    let rows: Vec<[String; 6]> = entries.iter().map(row).collect();
    print(&table(["entry", "at", "by", "did", "to", "detail"], &rows));
    Ok(())
}

fn row(entry: &AuditEntryBody) -> [String; 6] {
    let AuditEntryBody { seq, at, actor: Actor { role, subject: by, .. }, action, subject, detail, .. } = entry;
    let by = if role == by { role.clone() } else { format!("{role} {by}") };
    let detail = detail.as_ref().map(Value::to_string).unwrap_or_default();
    let mut shown: String = detail.chars().take(DETAIL_SHOWN_MAX_CHARS).collect();
    if shown.len() < detail.len() {
        shown.push('…');
    }
    [seq.to_string(), at.clone(), by, action.clone(), subject.clone(), shown]
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::audit::{AuditDraft, genesis, link};
    use intent_gateway_domain::clock::Timestamp;
    use serde_json::json;

    use super::*;

    fn entry(detail: Value) -> AuditEntry {
        let draft = AuditDraft {
            at_ms: Timestamp::from_ms(1_763_716_800_042),
            actor: Actor::new("admin", "asha"),
            action: "connection.probed".to_owned(),
            subject: "ptr_1".to_owned(),
            detail,
        };
        link(draft, 7, genesis())
    }

    #[test]
    fn an_entry_of_the_store_reads_as_one_of_a_gateway() {
        let shown = show_entry(entry(json!({"passed": true})));
        assert_eq!(shown.at, "2025-11-21T09:20:00.042Z");
        let sent = json!({
            "seq": 7, "at": "2025-11-21T09:20:00.042Z", "actor": {"role": "admin", "subject": "asha"},
            "action": "connection.probed", "subject": "ptr_1", "detail": {"passed": true}, "hash": shown.hash
        });
        assert_eq!(serde_json::to_value(&shown).expect("serialises"), sent);
        assert_eq!(serde_json::from_value::<AuditEntryBody>(sent).expect("reads"), shown);
    }

    #[test]
    fn a_row_is_short_and_holds_no_control_characters() {
        let mut shown = show_entry(entry(json!("x".repeat(200))));
        shown.actor = Actor::gateway();
        let cells = row(&shown);
        assert_eq!((cells[0].as_str(), cells[2].as_str()), ("7", "gateway"));
        assert_eq!(cells[5].chars().count(), DETAIL_SHOWN_MAX_CHARS + 1);
        let mut forged = entry(Value::Null);
        forged.detail = "no JSON \u{1b}[2J".to_owned();
        let cells = row(&super::show_entry(forged));
        assert!(!table(["", "", "", "", "", ""], &[cells]).contains('\u{1b}'));
    }
}
