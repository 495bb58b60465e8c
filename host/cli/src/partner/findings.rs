//! Findings as a text for people: what was found where, why, and by what; and counts of it.

use std::collections::BTreeMap;

use intent_gateway_api::evidence::{
    Finding, FindingsSummary, IntentLatency, PartnerFindings, RuleCountBody, UnsignedReportsBody,
};
use intent_gateway_api::time;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::{Severity, Source, cut};

use super::health;
use super::show::Sections;
use crate::terminal::{Palette, harmless, table};

/// Characters of what was sent that a table shows; `--json` has more.
const SENT_SHOWN_MAX_CHARS: usize = 40;

/// One line a finding.
pub(super) fn page(PartnerFindings { findings, next, partner }: &PartnerFindings, _: Palette) -> String {
    if findings.is_empty() {
        return format!("nothing of that kind was found against {}", harmless(partner));
    }
    let rows: Vec<[String; 8]> = findings.iter().map(row).collect();
    let head = ["number", "when", "severity", "found in", "code", "field", "sent", "why"];
    let table = table(head, &rows);
    match next {
        Some(next) => format!("{table}\nmore: --before {next}"),
        None => table,
    }
}

fn row(finding: &Finding) -> [String; 8] {
    let Finding { number, at_ms, severity, violation, excerpt, .. } = finding;
    let Violation { pointer, code, message } = violation;
    [
        number.to_string(),
        time(*at_ms),
        severity.as_str().to_owned(),
        place(finding),
        code.clone(),
        if pointer.is_empty() { "-" } else { pointer }.to_owned(),
        excerpt.as_ref().map_or_else(|| "-".to_owned(), |sent| cut(sent, SENT_SHOWN_MAX_CHARS)),
        message.clone(),
    ]
}

/// Where something was found, in words.
fn place(Finding { source, request_id, option, option_id, external_id, .. }: &Finding) -> String {
    let name = |name: &Option<String>| name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    match source {
        Some(Source::Report) => format!("report of order{}", name(external_id)),
        Some(Source::Team) => format!("order{}, by the platform team", name(external_id)),
        Some(Source::Call) => match external_id {
            Some(order) => format!("a call for order {order}"),
            None => format!("a call for option{}, request {request_id}", name(option_id)),
        },
        Some(Source::Search) | None => match (option, option_id, external_id) {
            (None, None, Some(order)) => format!("order {order}"),
            (None, None, None) => format!("the answer to {request_id}"),
            // People count from one.
            (Some(place), ..) => format!("option {}{}, request {request_id}", u64::from(*place) + 1, name(option_id)),
            (None, ..) => format!("option{}, request {request_id}", name(option_id)),
        },
    }
}

/// Counts by rule, with the days on which it was broken; strikes; latencies.
pub(super) fn summary(summary: &FindingsSummary, _: Palette) -> String {
    let FindingsSummary { partner, since, counts, strikes, latency, unsigned_reports } = summary;
    let mut page = Sections::default();
    let found = if counts.is_empty() { "nothing".to_owned() } else { by_rule(counts) };
    page.section(&format!("Found against {} since {}", harmless(partner), harmless(since)), found);
    for held in strikes {
        page.section("Strikes", health::strikes(held));
    }
    for IntentLatency { intent, tools } in latency {
        page.section(&format!("Latency of {}, ms", harmless(intent)), health::tools(tools));
    }
    if let Some(UnsignedReportsBody { code, count, last_at }) = unsigned_reports {
        let told = format!("{count}, the last one at {}; answered with {}", harmless(last_at), harmless(code));
        page.section("Reports under this name that its key has not signed, at this gateway", told);
    }
    page.finish()
}

/// One line a rule: how often in all, and on which days.
fn by_rule(counts: &[RuleCountBody]) -> String {
    let mut rules: BTreeMap<(&str, &str, &str), (u64, Vec<String>)> = BTreeMap::new();
    for RuleCountBody { day, intent, code, severity, count } in counts {
        let (total, days) = rules.entry((intent, code, Severity::as_str(*severity))).or_default();
        *total += count;
        days.push(format!("{day}: {count}"));
    }
    let row = |((intent, code, severity), (total, days)): (&(&str, &str, &str), &(u64, Vec<String>))| {
        [(*intent).to_owned(), (*code).to_owned(), (*severity).to_owned(), total.to_string(), days.join(", ")]
    };
    let rows: Vec<[String; 5]> = rules.iter().map(row).collect();
    table(["intent", "code", "severity", "times", "by day"], &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn finding(number: u64, more: &Value) -> Value {
        let mut finding = json!({
            "number": number, "at_ms": 1_767_225_600_000_u64, "partner": "ptr_1", "intent": "test.find_things",
            "request_id": "r-1", "source": "search", "option": null, "option_id": null, "external_id": null,
            "severity": "drop", "excerpt": null,
            "violation": {"pointer": "", "code": "PARTNER_PAYLOAD_INVALID", "message": "no JSON"},
        });
        for (name, value) in more.as_object().expect("an object") {
            finding[name] = value.clone();
        }
        finding
    }

    #[test]
    fn each_finding_says_where_why_and_by_what() {
        let forbidden = json!({"pointer": "/ad_bid", "code": "FORBIDDEN_FIELD", "message": "not\u{1b} wanted"});
        let strike = json!({"option": 2, "option_id": "s-3", "severity": "strike", "violation": forbidden,
            "excerpt": "x".repeat(60)});
        let report = json!({"source": "report", "external_id": "BK-1", "excerpt": "\"12\""});
        let findings = json!({"partner": "ptr_1", "next": 7,
            "findings": [finding(9, &strike), finding(8, &report), finding(7, &json!({"source": null}))]});
        let text = page(&serde_json::from_value(findings).expect("findings"), Palette::PLAIN);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        let cut = format!("{}…", "x".repeat(39));
        let expected = [
            "number when severity found in code field sent why".to_owned(),
            format!(
                "9 2026-01-01T00:00:00Z strike option 3 s-3, request r-1 FORBIDDEN_FIELD /ad_bid {cut} not\\u{{1b}} wanted"
            ),
            "8 2026-01-01T00:00:00Z drop report of order BK-1 PARTNER_PAYLOAD_INVALID - \"12\" no JSON".to_owned(),
            "7 2026-01-01T00:00:00Z drop the answer to r-1 PARTNER_PAYLOAD_INVALID - - no JSON".to_owned(),
            "more: --before 7".to_owned(),
        ];
        assert_eq!(lines, expected);
        let none = json!({"partner": "ptr_1", "findings": [], "next": null});
        let none = page(&serde_json::from_value(none).expect("findings"), Palette::PLAIN);
        assert_eq!(none, "nothing of that kind was found against ptr_1");
    }

    #[test]
    fn a_summary_adds_up_by_rule() {
        let count = |day: &str, code: &str, count: u64| json!({"day": day, "intent": "test.find_things", "code": code, "severity": "drop", "count": count});
        let tool = json!({"tool": "search_things", "targets": {"p50_ms": 600, "p95_ms": 1500, "p99_ms": null},
            "calls": 40, "slow": 9, "p50_ms": 700, "p95_ms": 3583, "p99_ms": 4095, "over_since": null});
        let summary = json!({
            "partner": "ptr_1", "since": "2026-01-01T18:30:00Z",
            "counts": [count("2026-01-03", "LATE", 2), count("2026-01-02", "LATE", 3), count("2026-01-02", "COLD", 1)],
            "strikes": [{"code": "FORBIDDEN_FIELD", "incidents": [{"at": "t4", "id": "r1"}], "suspends_at": 3,
                "within_days": 90}],
            "latency": [{"intent": "test.find_things", "tools": [tool]}],
        });
        let text = super::summary(&serde_json::from_value(summary).expect("a summary"), Palette::PLAIN);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        for line in [
            "test.find_things LATE drop 5 2026-01-03: 2, 2026-01-02: 3",
            "test.find_things COLD drop 1 2026-01-02: 1",
            "1 of 3 within 90 days: FORBIDDEN_FIELD",
            "search_things 40 9 700 / 600 3583 / 1500 4095",
        ] {
            assert!(lines.iter().any(|found| found == line), "{line}: {text}");
        }
    }
}
