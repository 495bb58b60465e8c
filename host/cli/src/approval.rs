//! `intent-gateway approval`: what waits for a second person of the platform team, approved or refused.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use http::Method;
use intent_gateway_api::approvals::{ApprovalBody, ApprovalDetail, ApprovalList};
use intent_gateway_domain::plain_text::escape_json;
use serde_json::Value;

use crate::ask::{AskArgs, refuse as refuse_answer, tell};
use crate::outcome::{CommandError, Verdict, exit_code, fail};
use crate::print;
use crate::terminal::{harmless, pairs, table};
use crate::values;

const PATH: &str = "/api/v1/admin/approvals";

#[derive(Subcommand, Debug)]
pub(crate) enum ApprovalCommand {
    /// List what waits for a second person, oldest first.
    #[command(after_help = "It takes a token with the scope `watch`.\n\nExample:\n  intent-gateway approval list")]
    List(ListArgs),
    /// Show a request that waits, with all that it says.
    #[command(after_help = "It takes a token with the scopes `watch` and the one that the list names.\n\nExample:\n  \
        intent-gateway approval show apr_01890a5dac96774bbcceb302099a8057")]
    Show(ApprovalArgs),
    /// Approve what somebody else has asked for: it is carried out.
    #[command(
        after_help = "It takes a token with the scopes `watch` and the one that the list names, of somebody else than who \
        asked. The answer is that of what is carried out; when it fails, nothing waits any more, and it has to be asked for \
        again.\n\nExample:\n  intent-gateway approval approve apr_01890a5dac96774bbcceb302099a8057"
    )]
    Approve(ApprovalArgs),
    /// Refuse what waits, or take back what you have asked for yourself.
    #[command(after_help = "It takes a token with the scopes `watch` and the one that the list names.\n\nExample:\n  \
        intent-gateway approval refuse apr_01890a5dac96774bbcceb302099a8057")]
    Refuse(ApprovalArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ApprovalArgs {
    /// What waits, as the list names it.
    #[arg(value_name = "APPROVAL", value_parser = parse_id)]
    approval: String,
    #[command(flatten)]
    ask: AskArgs,
}

fn parse_id(text: &str) -> Result<String, String> {
    values::parse_id(text, "what waits is named `apr_` and letters and digits; `approval list` tells it")
}

/// Runs a command to its exit code.
pub(crate) fn run(command: &ApprovalCommand) -> ExitCode {
    exit_code(match command {
        ApprovalCommand::List(arguments) => list(arguments),
        ApprovalCommand::Show(arguments) => show(arguments),
        ApprovalCommand::Approve(arguments) => approve(arguments),
        ApprovalCommand::Refuse(arguments) => refuse(arguments),
    })
}

fn list(ListArgs { ask }: &ListArgs) -> Result<Verdict, CommandError> {
    tell(ask.open()?.get(PATH), ask.json, show_list)?;
    Ok(Verdict::Clean)
}

fn show(ApprovalArgs { approval, ask }: &ApprovalArgs) -> Result<Verdict, CommandError> {
    tell(ask.open()?.get(&format!("{PATH}/{approval}")), ask.json, show_detail)?;
    Ok(Verdict::Clean)
}

fn approve(ApprovalArgs { approval, ask }: &ApprovalArgs) -> Result<Verdict, CommandError> {
    let answer = ask.open()?.ask(Method::POST, &format!("{PATH}/{approval}/approve"), None, &[]);
    let answer = answer.or_else(|error| refuse_answer(error, ask.json))?;
    let text = String::from_utf8(answer).context("the answer is no text").map_err(fail)?;
    let text = escape_json(&text);
    if ask.json {
        print(if text.is_empty() { "null" } else { &text });
        return Ok(Verdict::Clean);
    }
    print(&format!("{approval} is carried out"));
    // What an operation answers is its own: it is shown as it is.
    if let Ok(answer) = serde_json::from_str::<Value>(&text) {
        let answer = serde_json::to_string_pretty(&answer).unwrap_or_default();
        print(&answer.lines().map(harmless).collect::<Vec<_>>().join("\n"));
    }
    Ok(Verdict::Clean)
}

fn refuse(ApprovalArgs { approval, ask }: &ApprovalArgs) -> Result<Verdict, CommandError> {
    let answer = ask.open()?.post(&format!("{PATH}/{approval}/refuse"), None);
    tell(answer, ask.json, |refused: &ApprovalBody| format!("{} is refused; nothing was done", harmless(&refused.id)))?;
    Ok(Verdict::Clean)
}

fn show_list(ApprovalList { approvals }: &ApprovalList) -> String {
    if approvals.is_empty() {
        return "nothing waits for a second person".to_owned();
    }
    let rows: Vec<[String; 5]> = approvals
        .iter()
        .map(|one| [&one.id, &one.what, &one.by.subject, &one.scope, &one.expires_at].map(String::clone))
        .collect();
    table(["approval", "what it does", "asked by", "scope", "until"], &rows)
}

fn show_detail(ApprovalDetail { approval, query, user, body }: &ApprovalDetail) -> String {
    let target = query.as_ref().map_or_else(|| approval.path.clone(), |query| format!("{}?{query}", approval.path));
    let mut rows = vec![
        ("approval", approval.id.clone()),
        ("what it does", approval.what.clone()),
        ("request", format!("{} {target}", approval.method)),
        ("asked by", approval.by.subject.clone()),
        ("asked at", approval.asked_at.clone()),
        ("until", approval.expires_at.clone()),
        ("scope", approval.scope.clone()),
    ];
    rows.extend(user.iter().map(|user| ("user", user.clone())));
    let text = pairs(&rows);
    if body.is_empty() {
        text
    } else {
        format!("{text}\n\n{}", body.lines().map(harmless).collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waiting() -> Value {
        json!({"id": "apr_1", "status": "waiting", "what": "erases a user", "method": "DELETE", "path": "/api/v1/user-data",
            "by": {"role": "admin", "subject": "asha\u{1b}"}, "scope": "all", "asked_at": "2027-01-15T08:00:00Z",
            "expires_at": "2027-01-16T08:00:00Z"})
    }

    #[test]
    fn what_waits_is_told_with_who_asked_and_until_when() {
        let list = serde_json::from_value(json!({"approvals": [waiting()]})).expect("reads");
        let text = show_list(&list);
        for part in ["apr_1", "erases a user", "asha\\u{1b}", "all", "2027-01-16T08:00:00Z"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(show_list(&ApprovalList { approvals: Vec::new() }), "nothing waits for a second person");
        let detail = json!({"approval": waiting(), "query": "a=b", "user": "user-17", "body": "{\"x\":\u{1b}1}"});
        let text = show_detail(&serde_json::from_value(detail).expect("reads"));
        for part in ["DELETE /api/v1/user-data?a=b", "user-17", "{\"x\":\\u{1b}1}"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn an_identifier_goes_into_a_path() {
        assert!(parse_id("apr_01890a5dac96774bbcceb302099a8057").is_ok());
        for bad in ["", "../x", "a b", &"x".repeat(65)] {
            assert!(parse_id(bad).is_err(), "{bad}");
        }
    }
}
