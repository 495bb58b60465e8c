//! `intent-gateway findings`: what was found in a partner's answers and completion reports, for the platform team.

use std::process::ExitCode;

use clap::Args;
use intent_gateway_api::evidence::{Finding, PartnerFindings};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::id::PartnerId;

use crate::access::parse_partner;
use crate::ask::{AskArgs, tell};
use crate::outcome::{CommandError, Verdict, exit_code};
use crate::terminal::table;

/// Findings of one page that may be asked for.
const PAGE_MAX: i64 = 500;

#[derive(Args, Debug)]
pub(crate) struct FindingsArgs {
    /// The partner.
    #[arg(value_name = "PARTNER", value_parser = parse_partner)]
    partner: PartnerId,
    /// Only what is older than this finding.
    #[arg(long, value_name = "N")]
    before: Option<u64>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    limit: u32,
    #[command(flatten)]
    ask: AskArgs,
}

/// Runs the command to its exit code.
pub(crate) fn run(arguments: &FindingsArgs) -> ExitCode {
    exit_code(findings(arguments))
}

fn findings(arguments: &FindingsArgs) -> Result<Verdict, CommandError> {
    let FindingsArgs { partner, before, limit, ask } = arguments;
    let before = before.map(|before| format!("&before={before}")).unwrap_or_default();
    let answer = ask.open()?.get(&format!("/api/v1/admin/partners/{partner}/findings?limit={limit}{before}"));
    tell(answer, ask.json, show)?;
    Ok(Verdict::Clean)
}

fn show(page: &PartnerFindings) -> String {
    let PartnerFindings { partner, findings, next } = page;
    if findings.is_empty() {
        return format!("nothing was found against {partner}");
    }
    let rows: Vec<[String; 6]> = findings.iter().map(row).collect();
    let mut text = table(["finding", "at", "intent", "rule", "about", "why"], &rows);
    if let Some(next) = next {
        text.push_str(&format!("\nmore: --before {next}"));
    }
    text
}

fn row(finding: &Finding) -> [String; 6] {
    let Finding { number, at_ms, intent, request_id, option_id, external_id, severity, violation, .. } = finding;
    let Violation { pointer, code, message } = violation;
    let at = at_ms.to_jiff();
    let at = at.map_or_else(|| format!("{} ms", at_ms.as_ms()), |at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let about = match (external_id, option_id) {
        (Some(order), _) => format!("order {order}"),
        (None, Some(option)) => format!("option {option}"),
        (None, None) => format!("request {request_id}"),
    };
    let rule = match severity {
        Severity::Note => code.clone(),
        Severity::Drop | Severity::Strike => format!("{code} ({})", severity.as_str()),
    };
    let pointer = if pointer.is_empty() { String::new() } else { format!(" (at {pointer})") };
    [number.to_string(), at, intent.clone(), rule, about, format!("{message}{pointer}")]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn findings_are_told_with_rule_and_reason() {
        let page = json!({"partner": "coolcar", "next": 41, "findings": [
            {"number": 42, "at_ms": 1_763_716_800_042_u64, "partner": "coolcar", "intent": "auto.fix", "request_id": "r-1",
                "option_id": "slot\u{1b}1", "external_id": null, "severity": "strike",
                "violation": {"pointer": "/sponsored", "code": "FORBIDDEN_FIELD", "message": "is forbidden"}}]});
        let text = show(&serde_json::from_value(page).expect("a page"));
        let row = text.lines().nth(1).expect("a row").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            row,
            "42 2025-11-21T09:20:00Z auto.fix FORBIDDEN_FIELD (strike) option slot\\u{1b}1 is forbidden (at /sponsored)"
        );
        assert!(text.ends_with("\nmore: --before 41"), "{text}");
        let none: PartnerFindings =
            serde_json::from_value(json!({"partner": "c", "findings": [], "next": null})).expect("a page");
        assert_eq!(show(&none), "nothing was found against c");
    }
}
