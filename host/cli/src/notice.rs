//! `intent-gateway notice`: what partners are told of changes ahead of time.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use intent_gateway_api as api;
use intent_gateway_api::notice::{NoticeBody, NoticeKind, NoticeList, NoticeTelling, PartnerNotice, PartnerNotices};
use serde_json::json;

use crate::ask::{AskArgs, tell};
use crate::outcome::{CommandError, Verdict, exit_code, usage};
use crate::terminal::{harmless, pairs, table};
use crate::values;

const PATH: &str = "/api/v1/admin/notices";
/// Notices of one page that may be asked for.
const PAGE_MAX: i64 = 500;

#[derive(Subcommand, Debug)]
pub(crate) enum NoticeCommand {
    /// List notices, in the order in which they take effect.
    #[command(after_help = "It takes a token with the scope `watch`.\n\nExample:\n  intent-gateway notice list")]
    List(ListArgs),
    /// Show a notice, and how many partners have been told.
    #[command(after_help = "It takes a token with the scope `watch`.\n\nExample:\n  \
        intent-gateway notice show ntc_019cdff1a800f1d2d2f924e986ac")]
    Show(NoticeArgs),
    /// Publish a notice: partners are told by mail and at their webhooks, and again a week before it takes effect.
    #[command(
        after_help = "It takes a token with the scope `review`. What changes manifests or contracts is told 30 days ahead or \
        more, what changes the API or webhooks 90. The same notice once more tells nobody twice.\n\nExamples:\n  \
        intent-gateway notice publish --kind manifest-schema --title 'Holidays' --new-version 0.2.0 --takes-effect \
        2027-03-01T00:00:00Z --text-file holidays.txt\n  \
        intent-gateway notice publish --kind other --title 'No requests on Sunday' --takes-effect 2027-01-17T02:00:00+05:30 --text \
        'The platform is down for an hour.'"
    )]
    Publish(PublishArgs),
    /// Withdraw a notice that has not taken effect. Whoever was told of it is told so.
    #[command(after_help = "It takes a token with the scope `review`.\n\nExample:\n  intent-gateway notice withdraw \
        ntc_019cdff1a800f1d2d2f924e986ac --reason 'it comes later'")]
    Withdraw(WithdrawArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only those after this one.
    #[arg(long, value_name = "NOTICE", value_parser = parse_id)]
    after: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    limit: u32,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct NoticeArgs {
    /// The notice, as the list names it.
    #[arg(value_name = "NOTICE", value_parser = parse_id)]
    notice: String,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PublishArgs {
    /// What changes.
    #[arg(long, value_name = "KIND")]
    kind: Kind,
    /// One line.
    #[arg(long, value_name = "TEXT")]
    title: String,
    /// What changes, and what partners have to do.
    #[arg(long, value_name = "TEXT", required_unless_present = "text_file", conflicts_with = "text_file")]
    text: Option<String>,
    /// The same, from a file.
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    /// When it takes effect, as 2027-03-01T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    takes_effect: String,
    /// The version that what changes has then. A manifest schema's is required.
    #[arg(long, value_name = "VERSION")]
    new_version: Option<String>,
    /// Tell only partners that offer this intent, or have asked to; more than once for several.
    #[arg(long = "intent", value_name = "INTENT")]
    intents: Vec<String>,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WithdrawArgs {
    /// The notice, as the list names it.
    #[arg(value_name = "NOTICE", value_parser = parse_id)]
    notice: String,
    /// Why; partners are told.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    ask: AskArgs,
}

/// What a notice may be about.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Kind {
    /// The schema of manifests
    ManifestSchema,
    /// The contract of intents, which are named
    Contract,
    /// The platform's HTTP interface, or how it calls partners' servers
    Api,
    /// Events and completion reports
    Webhooks,
    /// Something that asks nothing of partners' programs
    Other,
}

impl From<Kind> for NoticeKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::ManifestSchema => Self::ManifestSchema,
            Kind::Contract => Self::Contract,
            Kind::Api => Self::Api,
            Kind::Webhooks => Self::Webhooks,
            Kind::Other => Self::Other,
        }
    }
}

fn parse_id(text: &str) -> Result<String, String> {
    values::parse_id(text, "a notice is named `ntc_` and letters and digits; `notice list` tells it")
}

/// Runs a command to its exit code.
pub(crate) fn run(command: &NoticeCommand) -> ExitCode {
    exit_code(match command {
        NoticeCommand::List(arguments) => list(arguments),
        NoticeCommand::Show(arguments) => show(arguments),
        NoticeCommand::Publish(arguments) => publish(arguments),
        NoticeCommand::Withdraw(arguments) => withdraw(arguments),
    })
}

fn list(ListArgs { after, limit, ask }: &ListArgs) -> Result<Verdict, CommandError> {
    let after = after.as_ref().map(|after| format!("&after={after}")).unwrap_or_default();
    tell(ask.open()?.get(&format!("{PATH}?limit={limit}{after}")), ask.json, show_list)?;
    Ok(Verdict::Clean)
}

fn show(NoticeArgs { notice, ask }: &NoticeArgs) -> Result<Verdict, CommandError> {
    tell(ask.open()?.get(&format!("{PATH}/{notice}")), ask.json, show_notice)?;
    Ok(Verdict::Clean)
}

fn publish(arguments: &PublishArgs) -> Result<Verdict, CommandError> {
    let PublishArgs { kind, title, text, text_file, takes_effect, new_version, intents, ask } = arguments;
    let text = match (text, text_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => {
            let read = std::fs::read_to_string(file);
            read.with_context(|| format!("cannot read {}", file.display())).map_err(usage)?
        }
        (None, None) => String::new(),
    };
    let body = json!({
        "kind": NoticeKind::from(*kind),
        "title": title,
        "text": text,
        "version": new_version,
        "intents": intents,
        "takes_effect_at": takes_effect,
    });
    tell(ask.open()?.post(PATH, Some(&body)), ask.json, show_notice)?;
    Ok(Verdict::Clean)
}

fn withdraw(WithdrawArgs { notice, reason, ask }: &WithdrawArgs) -> Result<Verdict, CommandError> {
    let answer = ask.open()?.post(&format!("{PATH}/{notice}/withdraw"), Some(&json!({"reason": reason})));
    tell(answer, ask.json, show_notice)?;
    Ok(Verdict::Clean)
}

fn show_list(list: &NoticeList) -> String {
    if list.notices.is_empty() {
        return "there are no notices".to_owned();
    }
    let rows: Vec<[String; 5]> = list.notices.iter().map(|one| row(&one.notice)).collect();
    let more = list.next.as_ref().map(|next| format!("\nmore: --after {next}")).unwrap_or_default();
    format!("{}{more}", table(["notice", "takes effect", "about", "state", "title"], &rows))
}

/// The notices that concern a partner.
pub(crate) fn show_to_partner(list: &PartnerNotices) -> String {
    if list.notices.is_empty() {
        return "nothing changes".to_owned();
    }
    let text = |notice: &PartnerNotice| format!("{}\n\n{}", pairs(&list_facts(notice)), indent(&notice.text));
    list.notices.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

fn row(notice: &PartnerNotice) -> [String; 5] {
    let PartnerNotice { notice_id, kind, title, takes_effect_at, state, .. } = notice;
    [notice_id.clone(), takes_effect_at.clone(), api::name(kind), api::name(state), harmless(title)]
}

fn list_facts(notice: &PartnerNotice) -> Vec<(&'static str, String)> {
    let PartnerNotice { notice_id, kind, title, version, intents, takes_effect_at, published_at, state, .. } = notice;
    let mut rows = vec![
        ("notice", notice_id.clone()),
        ("title", title.clone()),
        ("about", api::name(kind)),
        ("state", api::name(state)),
        ("takes effect", takes_effect_at.clone()),
        ("published", published_at.clone()),
    ];
    rows.extend(version.iter().map(|version| ("version", version.clone())));
    rows.extend(intents.iter().map(|intent| ("intent", intent.to_string())));
    rows.extend(
        notice.withdrawn.iter().map(|withdrawn| ("withdrawn", format!("{}: {}", withdrawn.at, withdrawn.reason))),
    );
    rows
}

fn show_notice(body: &NoticeBody) -> String {
    let NoticeBody { notice, published_by, withdrawn_by, told } = body;
    let mut rows = list_facts(notice);
    rows.push(("published by", published_by.subject.clone()));
    rows.extend(withdrawn_by.iter().map(|by| ("withdrawn by", by.subject.clone())));
    rows.extend(told.iter().map(|telling| ("told", describe_progress(telling))));
    format!("{}\n\n{}", pairs(&rows), indent(&notice.text))
}

fn describe_progress(telling: &NoticeTelling) -> String {
    let NoticeTelling { stage, due_at, partners, ended_at } = telling;
    let until = ended_at.as_ref().map_or_else(|| "not ended".to_owned(), |at| format!("ended {at}"));
    format!("{}: {partners} partners, from {due_at}, {until}", api::name(stage))
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {}", harmless(line))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn notice() -> Value {
        json!({"notice_id": "ntc_1", "kind": "manifest_schema", "title": "Holi\u{1b}days", "text": "Add\nthem.\u{1b}",
            "version": "0.2.0", "intents": [], "takes_effect_at": "2027-03-01T00:00:00Z",
            "published_at": "2027-01-15T08:00:00Z", "state": "upcoming", "withdrawn": null})
    }

    #[test]
    fn a_notice_is_told_with_how_far_partners_were_told() {
        let mut whole = notice();
        whole["published_by"] = json!({"role": "admin", "subject": "asha"});
        whole["withdrawn_by"] = Value::Null;
        whole["told"] =
            json!([{"stage": "published", "due_at": "2027-01-15T08:00:00Z", "partners": 3, "ended_at": null}]);
        let text = show_notice(&serde_json::from_value(whole.clone()).expect("reads"));
        for part in [
            "ntc_1",
            "Holi\\u{1b}days",
            "0.2.0",
            "asha",
            "published: 3 partners",
            "not ended",
            "\n  Add\n  them.\\u{1b}",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let list = show_list(&serde_json::from_value(json!({"notices": [whole], "next": "ntc_1"})).expect("reads"));
        assert!(list.contains("manifest_schema") && list.ends_with("\nmore: --after ntc_1"), "{list}");
        assert_eq!(show_list(&NoticeList { notices: Vec::new(), next: None }), "there are no notices");
    }

    #[test]
    fn a_partner_sees_what_changes_for_it() {
        let text = show_to_partner(&serde_json::from_value(json!({"notices": [notice()]})).expect("reads"));
        assert!(text.contains("takes effect") && text.contains("\n  Add\n"), "{text}");
        assert_eq!(show_to_partner(&PartnerNotices { notices: Vec::new() }), "nothing changes");
    }

    #[test]
    fn an_identifier_goes_into_a_path() {
        assert!(parse_id("ntc_019cdff1a800f1d2d2f924e986ac").is_ok());
        for bad in ["", "../x", "a b", &"x".repeat(65)] {
            assert!(parse_id(bad).is_err(), "{bad}");
        }
    }
}
