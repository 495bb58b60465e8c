//! `intent-gateway partner` and `intent-gateway review`: what the platform team does with partners, over a gateway's
//! HTTP interface; `conformance` alone asks none. What a command prints for people is in `show`; `--json` prints the gateway's own answer.

mod arguments;
mod conformance;
mod document;
mod event;
mod findings;
mod health;
mod reasons;
pub(crate) mod reports;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use intent_gateway_api::connection::{ProbeAnswer, TestReport};
use intent_gateway_domain::findings::{Severity, Source};
use intent_gateway_domain::golive::SAMPLES_MAX;
use intent_gateway_domain::id::PartnerId;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::arguments::{
    ApproveArgs, Common, FindingsArgs, HealthArgs, ListArgs, OrdersArgs, PartnerArgs, ReasonArgs, RejectArgs,
    ReviewArgs, ReviewListArgs, StatusArgs, StrikeArgs, TestArgs,
};
pub(crate) use self::arguments::{PartnerCommand, ReviewCommand};
use crate::access;
use crate::ask::refuse;
use crate::client::{Gateway, GatewayError};
use crate::notice;
use crate::order;
use crate::outcome::{CommandError, Verdict, exit_code, fail, print_json, usage};
use crate::print;
use crate::terminal::Palette;

/// Largest file of sample requests, bytes: all that one test may hold.
const SAMPLES_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Runs a command to its exit code.
pub(crate) fn run(command: &PartnerCommand) -> ExitCode {
    exit_code(match command {
        PartnerCommand::List(arguments) => list(arguments),
        PartnerCommand::Status(arguments) => status(arguments),
        PartnerCommand::Document(command) => document::run(command),
        PartnerCommand::Event(command) => event::run(command),
        PartnerCommand::Notices(arguments) => notices(arguments),
        PartnerCommand::Probe(arguments) => probe(arguments),
        PartnerCommand::Conformance(arguments) => conformance::run(arguments),
        PartnerCommand::Test(arguments) => test(arguments),
        PartnerCommand::SwitchOn(arguments) => switch_on(arguments),
        PartnerCommand::Health(arguments) => health(arguments),
        PartnerCommand::Findings(arguments) => findings(arguments),
        PartnerCommand::Orders(arguments) => orders(arguments),
        PartnerCommand::Overdue(arguments) => overdue(arguments),
        PartnerCommand::TestReports(arguments) => test_reports(arguments),
        PartnerCommand::Strike(arguments) => strike(arguments),
        PartnerCommand::Suspend(arguments) => change_state(arguments, "suspend"),
        PartnerCommand::Lift(arguments) => change_state(arguments, "lift"),
        PartnerCommand::AcceptDrift(arguments) => change_state(arguments, "accept-drift"),
    })
}

/// Runs a command about reviews to its exit code.
pub(crate) fn run_review(command: &ReviewCommand) -> ExitCode {
    exit_code(match command {
        ReviewCommand::List(arguments) => list_reviews(arguments),
        ReviewCommand::Show(arguments) => show_review(arguments),
        ReviewCommand::Approve(arguments) => approve(arguments),
        ReviewCommand::Reject(arguments) => reject(arguments),
    })
}

/// Prints an answer: as it came, or as a text for people. Hands over what was read of it.
fn tell<T: DeserializeOwned>(
    answer: Result<Value, GatewayError>,
    json: bool,
    text: impl FnOnce(&T, Palette) -> String,
) -> Result<T, CommandError> {
    let answer = answer.or_else(|error| refuse(error, json))?;
    let read: T = serde_json::from_value(answer.clone())
        .context("the gateway answered something else than expected; is it of this version?")
        .map_err(fail)?;
    if json {
        print_json(&answer)?;
    } else {
        print(&text(&read, Palette::of_stdout()));
    }
    Ok(read)
}

fn open(common: &Common) -> Result<Gateway, CommandError> {
    common.gateway.open().map(|(gateway, _)| gateway)
}

/// A gateway, and the account that a command is about: the one that is named, or that of a partner's token.
fn open_for(common: &Common, named: Option<&PartnerId>) -> Result<(Gateway, PartnerId), CommandError> {
    let (gateway, token) = common.gateway.open()?;
    let id = named.cloned().or_else(|| access::account_of(&token));
    let id = id.ok_or_else(|| usage(anyhow!("the token is no partner's; name the account")))?;
    Ok((gateway, id))
}

/// An admin's route about one partner.
fn route(id: &PartnerId, action: &str) -> String {
    format!("/api/v1/mcp-admin/{id}/{action}")
}

fn list(arguments: &ListArgs) -> Result<Verdict, CommandError> {
    let ListArgs { state, after, limit, common } = arguments;
    let gateway = open(common)?;
    let after = after.as_ref().map(|after| format!("&after={after}")).unwrap_or_default();
    match state {
        None => {
            let answer = gateway.get(&format!("/api/v1/admin/accounts?limit={limit}{after}"));
            tell(answer, common.json, show::accounts).map(drop)?;
        }
        Some(state) => {
            let state = state.as_str();
            let answer = gateway.get(&format!("/api/v1/admin/connections?status={state}&limit={limit}{after}"));
            tell(answer, common.json, show::connections).map(drop)?;
        }
    }
    Ok(Verdict::Clean)
}

fn status(arguments: &StatusArgs) -> Result<Verdict, CommandError> {
    let StatusArgs { id, common } = arguments;
    let (gateway, id) = open_for(common, id.as_ref())?;
    let answer = gateway.get(&format!("/api/v1/business/tier1/accounts/{id}"));
    tell(answer, common.json, show::overview)?;
    Ok(Verdict::Clean)
}

fn notices(arguments: &StatusArgs) -> Result<Verdict, CommandError> {
    let StatusArgs { id, common } = arguments;
    let (gateway, id) = open_for(common, id.as_ref())?;
    let answer = gateway.get(&format!("/api/v1/business/tier1/accounts/{id}/notices"));
    tell(answer, common.json, |list, _| notice::show_to_partner(list))?;
    Ok(Verdict::Clean)
}

fn probe(arguments: &PartnerArgs) -> Result<Verdict, CommandError> {
    let PartnerArgs { id, common } = arguments;
    let answer = open(common)?.post(&route(id, "probe"), None);
    let answer: ProbeAnswer = tell(answer, common.json, show::show_probe)?;
    Ok(Verdict::of(answer.ok))
}

fn test(arguments: &TestArgs) -> Result<Verdict, CommandError> {
    let TestArgs { id, intent, samples, confirm, common } = arguments;
    let body = json!({"intent": intent, "requests": read_samples(samples)?, "confirmed": confirm});
    let answer = open(common)?.post(&route(id, "test"), Some(&body));
    let report: TestReport = tell(answer, common.json, show::report)?;
    Ok(Verdict::of(report.passed))
}

/// The requests of all files: each holds one, or several in an array.
fn read_samples(files: &[PathBuf]) -> Result<Vec<Value>, CommandError> {
    let mut requests = Vec::new();
    for path in files {
        let unreadable = || format!("cannot read {}", path.display());
        let size = std::fs::metadata(path).with_context(unreadable).map_err(usage)?.len();
        if size > SAMPLES_MAX_BYTES {
            return Err(usage(anyhow!("{} has more than {SAMPLES_MAX_BYTES} bytes", path.display())));
        }
        let text = std::fs::read_to_string(path).with_context(unreadable).map_err(usage)?;
        let read = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()));
        match read.map_err(usage)? {
            Value::Array(several) => requests.extend(several),
            one => requests.push(one),
        }
    }
    if requests.len() > SAMPLES_MAX {
        return Err(usage(anyhow!("there are {} sample requests; expected at most {SAMPLES_MAX}", requests.len())));
    }
    Ok(requests)
}

fn switch_on(arguments: &PartnerArgs) -> Result<Verdict, CommandError> {
    let PartnerArgs { id, common } = arguments;
    let answer = open(common)?.post(&route(id, "switch-on"), None);
    tell(answer, common.json, show::switched_on)?;
    Ok(Verdict::Clean)
}

fn health(arguments: &HealthArgs) -> Result<Verdict, CommandError> {
    let HealthArgs { id, after, limit, common } = arguments;
    let gateway = open(common)?;
    match id {
        Some(id) => {
            let answer = gateway.get(&format!("/api/v1/admin/partners/{id}/health"));
            tell(answer, common.json, health::partner).map(drop)?;
        }
        None => {
            let after = after.as_ref().map(|after| format!("&after={after}")).unwrap_or_default();
            let answer = gateway.get(&format!("/api/v1/admin/health?limit={limit}{after}"));
            tell(answer, common.json, health::partners).map(drop)?;
        }
    }
    Ok(Verdict::Clean)
}

fn findings(arguments: &FindingsArgs) -> Result<Verdict, CommandError> {
    let FindingsArgs { id, severity, source, intent, code, before, limit, summary, common } = arguments;
    let (gateway, id) = open_for(common, id.as_ref())?;
    // The partner's own route, which is open to the team as well.
    let path = format!("/api/v1/business/tier1/accounts/{id}/findings");
    if *summary {
        tell(gateway.get(&format!("{path}/summary")), common.json, findings::summary).map(drop)?;
        return Ok(Verdict::Clean);
    }
    let chosen = [
        severity.map(|severity| format!("&severity={}", Severity::from(severity).as_str())),
        source.map(|source| format!("&source={}", Source::from(source).as_str())),
        intent.as_ref().map(|intent| format!("&intent={intent}")),
        code.as_ref().map(|code| format!("&code={code}")),
        before.map(|before| format!("&before={before}")),
    ];
    let chosen: String = chosen.into_iter().flatten().collect();
    tell(gateway.get(&format!("{path}?limit={limit}{chosen}")), common.json, findings::page)?;
    Ok(Verdict::Clean)
}

fn orders(arguments: &OrdersArgs) -> Result<Verdict, CommandError> {
    let OrdersArgs { id, order: named, filter, common } = arguments;
    let (gateway, id) = open_for(common, id.as_ref())?;
    // As with findings: open to the team as well.
    let path = format!("/api/v1/business/tier1/accounts/{id}/orders");
    match named {
        Some(named) => {
            let answer = gateway.get(&format!("{path}/{}", order::encode(named)));
            tell(answer, common.json, |order, _| order::show::at_partner(order)).map(drop)?;
        }
        None => {
            let answer = gateway.get(&format!("{path}?{}", filter.query()));
            tell(answer, common.json, |page, _| order::show::list(page)).map(drop)?;
        }
    }
    Ok(Verdict::Clean)
}

fn overdue(arguments: &StatusArgs) -> Result<Verdict, CommandError> {
    let StatusArgs { id, common } = arguments;
    let (gateway, id) = open_for(common, id.as_ref())?;
    let answer = gateway.get(&format!("/api/v1/business/tier1/accounts/{id}/overdue-orders"));
    tell(answer, common.json, reports::overdue)?;
    Ok(Verdict::Clean)
}

fn test_reports(arguments: &StatusArgs) -> Result<Verdict, CommandError> {
    let StatusArgs { id, common } = arguments;
    let (gateway, id) = open_for(common, id.as_ref())?;
    let answer = gateway.get(&format!("/api/v1/business/tier1/accounts/{id}/test-reports"));
    tell(answer, common.json, reports::test_reports)?;
    Ok(Verdict::Clean)
}

fn strike(arguments: &StrikeArgs) -> Result<Verdict, CommandError> {
    let StrikeArgs { id, intent, code, order, reason, common } = arguments;
    let body = json!({"intent": intent, "code": code, "external_id": order, "reason": reason});
    let answer = open(common)?.post(&format!("/api/v1/admin/partners/{id}/strikes"), Some(&body));
    tell(answer, common.json, health::taken)?;
    Ok(Verdict::Clean)
}

fn change_state(arguments: &ReasonArgs, action: &str) -> Result<Verdict, CommandError> {
    let ReasonArgs { id, reason, common } = arguments;
    let answer = open(common)?.post(&route(id, action), Some(&json!({"reason": reason})));
    tell(answer, common.json, show::state)?;
    Ok(Verdict::Clean)
}

fn list_reviews(arguments: &ReviewListArgs) -> Result<Verdict, CommandError> {
    let ReviewListArgs { status, limit, common } = arguments;
    let answer = open(common)?.get(&format!("/api/v1/admin/reviews?status={}&limit={limit}", status.as_str()));
    tell(answer, common.json, show::reviews)?;
    Ok(Verdict::Clean)
}

fn show_review(arguments: &ReviewArgs) -> Result<Verdict, CommandError> {
    let ReviewArgs { review, common } = arguments;
    let answer = open(common)?.get(&format!("/api/v1/admin/reviews/{review}"));
    tell(answer, common.json, show::review)?;
    Ok(Verdict::Clean)
}

fn approve(arguments: &ApproveArgs) -> Result<Verdict, CommandError> {
    let ApproveArgs { review, confirm, notes, common } = arguments;
    decide(review, &json!({"decision": "approve", "notes": notes, "confirmed": confirm}), common)
}

fn reject(arguments: &RejectArgs) -> Result<Verdict, CommandError> {
    let RejectArgs { review, notes, common } = arguments;
    decide(review, &json!({"decision": "reject", "notes": notes}), common)
}

fn decide(review: &str, order: &Value, common: &Common) -> Result<Verdict, CommandError> {
    let answer = open(common)?.post(&format!("/api/v1/admin/reviews/{review}/decision"), Some(order));
    tell(answer, common.json, show::review)?;
    Ok(Verdict::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_alone_or_in_arrays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let (one, two) = (file("1.json", r#"{"n": 1}"#), file("2.json", r#"[{"n": 2}, {"n": 3}]"#));
        let read = read_samples(&[one.clone(), two]).expect("read");
        assert_eq!(read, [json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]);
        let many = file("many.json", &format!("[{}0]", "0,".repeat(SAMPLES_MAX)));
        for bad in [many, file("bad.json", "{"), folder.path().join("none.json")] {
            assert!(matches!(read_samples(&[bad]), Err(CommandError::Usage(_))));
        }
    }
}
