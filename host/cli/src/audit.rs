//! `intent-gateway audit`: who did what, and whether the log still is as it was written. Read from the store of the
//! configuration, or asked of a gateway.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, ensure};
use clap::{Args, Subcommand};
use intent_gateway_api::audit::{AuditEntryBody, AuditPage, AuditVerified, LinksBody};
use intent_gateway_domain::anchor::{Anchor, ChainName};
use intent_gateway_domain::audit::{self, Actor, AuditEntry};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::Store as _;
use serde::Serialize;
use serde_json::Value;

use crate::access::{GatewayArgs, parse_partner};
use crate::arguments::SourceArgs;
use crate::outcome::{CommandError, Verdict, exit_code, fail, print_json, usage};
use crate::print;
use crate::store_command::with_store;
use crate::terminal::{pairs, table};
use intent_gateway_config::{Config, Keys, anchor_keys, read_anchors};

/// Entries shown at once: as many as a gateway hands over.
const SHOWN_MAX: u32 = 500;
/// Characters of an entry's detail in a table.
const DETAIL_SHOWN_MAX_CHARS: usize = 100;

/// Read the audit log, and verify that nobody has changed it.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Follow the log from its first entry, link by link, and compare it with what was anchored.
    #[command(
        after_help = "That entries were cut off at the end, or that all were exchanged for older ones, the log alone \
        cannot show. Anchors do: those in `anchors.file`, and with --anchors those in any file, such as the gateway's \
        log.\n\n\
        Examples:\n  intent-gateway audit verify --config gateway.toml\n  \
        intent-gateway audit verify --config gateway.toml --anchors gateway.log\n  \
        intent-gateway audit verify --gateway https://gateway.example"
    )]
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
    #[command(flatten)]
    anchors: AnchorArgs,
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
    /// Link of the last.
    head: String,
    /// With what they were checked.
    links: LinksBody,
}

/// The verdict where a key is missing.
pub(crate) const NOT_CHECKED: &str =
    "nothing wrong as far as it could be checked; links under a key need `auth.master_key`, and those before it";

/// What is compared with besides.
#[derive(Args, Debug)]
pub(crate) struct AnchorArgs {
    /// A file with anchors besides `anchors.file`, for example the gateway's log, whole.
    #[arg(long, value_name = "FILE")]
    anchors: Option<PathBuf>,
}

impl AnchorArgs {
    /// The anchors of a chain, out of the configured file and the one that is named.
    pub(crate) fn read(&self, config: &Config, chain: ChainName) -> anyhow::Result<Vec<Anchor>> {
        let keys = anchor_keys(Keys::find_vault(config)?.as_ref());
        if let Some(named) = &self.anchors {
            ensure!(named.is_file(), "{} is no file", named.display());
        }
        let mut anchors = Vec::new();
        for file in std::iter::once(&config.anchors.file(&config.state_dir)).chain(&self.anchors) {
            anchors.extend(read_anchors(file, chain, &keys).context("the anchors cannot be relied on")?);
        }
        Ok(anchors)
    }

    /// A gateway compares with its own.
    pub(crate) fn refuse(&self) -> Result<(), CommandError> {
        match &self.anchors {
            None => Ok(()),
            Some(_) => Err(usage(anyhow!("--anchors goes with --config; a gateway compares with its own anchors"))),
        }
    }
}

/// Works on the store of a configuration.
pub(crate) fn read(config: &Config, command: &AuditCommand) -> anyhow::Result<()> {
    with_store(config, async |store| match command {
        AuditCommand::Verify(arguments) => {
            let anchors = arguments.anchors.read(config, ChainName::Audit)?;
            let soundness = audit::verify(store, &anchors).await.context("the store cannot be read")?;
            judge(&AuditVerified::from(&soundness), arguments.json).map_err(CommandError::into_error)
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
    arguments.anchors.refuse()?;
    judge(&gateway.get("/api/v1/admin/audit/verify").map_err(fail)?, arguments.json).map(|()| Verdict::Clean)
}

fn ask_entries(gateway: &GatewayArgs, arguments: &ShowArgs) -> Result<Verdict, CommandError> {
    let ShowArgs { subject, after, limit, json, .. } = arguments;
    let (gateway, _) = gateway.open()?;
    let subject = subject.as_ref().map(|subject| format!("&subject={subject}")).unwrap_or_default();
    let page: AuditPage =
        gateway.get(&format!("/api/v1/admin/audit?after={after}&limit={limit}{subject}")).map_err(fail)?;
    tell_entries(&page.entries, *json).map(|()| Verdict::Clean)
}

/// Tells what was found; an error when the log is not sound, or not all of it could be checked.
fn judge(verified: &AuditVerified, json: bool) -> Result<(), CommandError> {
    let AuditVerified { ok, entries, head, links, problem } = verified;
    if let Some(problem) = problem {
        return Err(fail(anyhow!("the audit log cannot be relied on after entry {entries}: {problem}")));
    }
    if json {
        print_json(&VerifiedLog { entries: *entries, head: head.clone(), links: *links })?;
    } else {
        print(&pairs(&[
            ("entries", entries.to_string()),
            ("head", head.clone()),
            ("links", show_links(links)),
            ("anchors", show_anchors(links)),
            ("verdict", if *ok { "as it was written" } else { NOT_CHECKED }.to_owned()),
        ]));
    }
    if *ok { Ok(()) } else { Err(fail(anyhow!("the audit log was not checked in whole"))) }
}

/// With what the links were checked.
pub(crate) fn show_links(links: &LinksBody) -> String {
    let LinksBody { without_key, under_key, unchecked, anchors: _ } = *links;
    let mut parts = vec![format!("{under_key} under a key")];
    if without_key > 0 {
        parts.push(format!("{without_key} from before there were keys"));
    }
    if unchecked > 0 {
        let its = if unchecked == 1 { "its key is" } else { "their keys are" };
        parts.push(format!("{unchecked} NOT CHECKED: {its} not at hand"));
    }
    parts.join(", ")
}

/// With how many anchors.
pub(crate) fn show_anchors(links: &LinksBody) -> String {
    if links.anchors == 0 { "none".to_owned() } else { format!("{} compared", links.anchors) }
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
    use intent_gateway_domain::chain::ChainKeys;
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
        link(draft, 7, genesis(), &ChainKeys::default())
    }

    #[test]
    fn an_entry_of_the_store_reads_as_one_of_a_gateway() {
        let shown = show_entry(entry(json!({"passed": true})));
        assert_eq!(shown.at, "2025-11-21T09:20:00.042Z");
        let sent = json!({
            "seq": 7, "at": "2025-11-21T09:20:00.042Z", "actor": {"role": "admin", "subject": "asha"},
            "action": "connection.probed", "subject": "ptr_1", "detail": {"passed": true}, "hash": shown.hash,
            "key": null
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
