//! What was found in a partner's offers: how often by rule and day, strikes, how long its tools take, and examples.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Query;
use axum::response::Response;
use axum::routing::get;
use intent_gateway_api::evidence::{Finding, FindingsSummary, IntentLatency, PartnerFindings, RuleCountBody};
use intent_gateway_api::health::StrikesBody;
use intent_gateway_domain::datetime::end_of;
use intent_gateway_domain::findings::{Severity, Source};
use serde::Deserialize;

use super::own;
use crate::Console;
use crate::api::segment;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Ident, Moment, Tone, count};
use crate::visitor::Business;

const ADDRESS: &str = "/dashboard/offers";

/// Examples of a page.
const PAGE_ROWS: usize = 50;
/// Days that have a column of their own: the latest on which anything was found.
const DAYS_SHOWN: usize = 7;
/// A day, milliseconds.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(ADDRESS, get(show_offers))
}

/// Which examples are looked at.
#[derive(Default, Deserialize)]
struct Chosen {
    #[serde(default)]
    code: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    before: String,
}

impl Chosen {
    /// As a part of a query, of a page's address or of the API's.
    fn write(&self) -> String {
        let values = [("code", &self.code), ("severity", &self.severity), ("before", &self.before)];
        let said = values.into_iter().filter(|(_, value)| !value.is_empty());
        said.map(|(name, value)| format!("&{name}={}", segment(value))).collect()
    }
}

/// The examples that were chosen, as an address.
fn link_to(chosen: &Chosen) -> String {
    let query = chosen.write();
    query.strip_prefix('&').map_or_else(|| ADDRESS.to_owned(), |query| format!("{ADDRESS}?{query}"))
}

/// One rule: how often it was broken.
struct RuleRow {
    code: String,
    intent: String,
    severity: Severity,
    link: String,
    days: Vec<String>,
    total: String,
}

/// How grave a rule is, how often it was broken by day, and in all.
type RuleSums<'a> = (Severity, BTreeMap<&'a str, u64>, u64);

/// The counts, a row for each rule and a column for each of the latest days.
struct RuleTable {
    days: Vec<String>,
    rows: Vec<RuleRow>,
    /// So many offers, answers and reports were dropped in all.
    dropped: u64,
}

impl RuleTable {
    fn of(counts: &[RuleCountBody]) -> Self {
        let mut days: Vec<&str> = counts.iter().map(|one| one.day.as_str()).collect();
        days.sort_unstable_by(|one, other| other.cmp(one));
        days.dedup();
        days.truncate(DAYS_SHOWN);
        let mut rules: BTreeMap<(&str, &str, &str), RuleSums<'_>> = BTreeMap::new();
        for one in counts {
            let key = (one.code.as_str(), one.intent.as_str(), one.severity.as_str());
            let (_, by_day, total) = rules.entry(key).or_insert_with(|| (one.severity, BTreeMap::new(), 0));
            *by_day.entry(&one.day).or_default() += one.count;
            *total += one.count;
        }
        let mut rules: Vec<_> = rules.into_iter().collect();
        // What happens most stands first; of as many, the order is that of the codes.
        rules.sort_by_key(|(_, (_, _, total))| std::cmp::Reverse(*total));
        let rows = rules.into_iter().map(|((code, intent, _), (severity, by_day, total))| RuleRow {
            code: code.to_owned(),
            intent: intent.to_owned(),
            severity,
            link: link_to(&Chosen { code: code.to_owned(), ..Chosen::default() }),
            days: days.iter().map(|day| by_day.get(day).copied().map(count).unwrap_or_default()).collect(),
            total: count(total),
        });
        let dropped = counts.iter().filter(|one| one.severity != Severity::Note).map(|one| one.count).sum();
        Self { rows: rows.collect(), dropped, days: days.into_iter().map(str::to_owned).collect() }
    }
}

/// What is held against the partner by one rule.
struct StrikeRow {
    code: String,
    held: String,
    incidents: Vec<StrikeIncident>,
}

struct StrikeIncident {
    at: String,
    id: String,
    ends: Option<Moment>,
}

impl StrikeRow {
    fn of(strikes: StrikesBody) -> Self {
        let StrikesBody { code, incidents, suspends_at, within_days } = strikes;
        let held = format!("{} held; {suspends_at} within {within_days} days suspend you", incidents.len());
        let incidents = incidents.into_iter().map(|incident| StrikeIncident {
            ends: end_of(&incident.at).map(|at| Moment::of(at.plus_ms(within_days.saturating_mul(DAY_MS)))),
            at: incident.at,
            id: incident.id,
        });
        Self { code, held, incidents: incidents.collect() }
    }
}

#[derive(Template)]
#[template(path = "partner/offers.html")]
struct OffersPage {
    frame: Frame,
    since: String,
    table: RuleTable,
    strikes: Vec<StrikeRow>,
    latency: Vec<IntentLatency>,
    findings: Vec<Finding>,
    chosen: Chosen,
    older: Option<String>,
}

impl OffersPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match self.table.dropped {
            0 => "Nothing of yours was dropped in the last 30 days.".to_owned(),
            1 => "One offer, answer or report was dropped in the last 30 days.".to_owned(),
            dropped => format!("{} offers, answers or reports were dropped in the last 30 days.", count(dropped)),
        }
    }

    /// The other choices of how grave an example is, each with its address.
    fn severities(&self) -> Vec<(&'static str, String, bool)> {
        let choices = [("all", ""), ("notes", "note"), ("dropped", "drop"), ("strikes", "strike")];
        let choice = |(name, severity): (&'static str, &str)| {
            let link = link_to(&Chosen {
                code: self.chosen.code.clone(),
                severity: severity.to_owned(),
                before: String::new(),
            });
            (name, link, self.chosen.severity == severity)
        };
        choices.map(choice).into()
    }

    /// The examples of the same rule.
    fn link_to_rule(&self, finding: &Finding) -> String {
        let severity = self.chosen.severity.clone();
        link_to(&Chosen { code: finding.violation.code.clone(), severity, before: String::new() })
    }

    /// All examples of that gravity, whatever the rule.
    fn any_rule(&self) -> String {
        link_to(&Chosen { severity: self.chosen.severity.clone(), ..Chosen::default() })
    }
}

/// How grave something is, for the partner.
fn severity_chip(severity: &Severity) -> Chip {
    match severity {
        Severity::Note => Chip::new(Tone::Idle, "note"),
        Severity::Drop => Chip::new(Tone::Care, "dropped"),
        Severity::Strike => Chip::new(Tone::Bad, "strike"),
    }
}

/// Where something was found.
fn source_name(source: &Source) -> &'static str {
    match source {
        Source::Search => "an answer to a search",
        Source::Call => "an answer to another tool",
        Source::Report => "a completion report",
        Source::Team => "what the platform team has seen",
    }
}

async fn show_offers(Business(visitor): Business, Query(chosen): Query<Chosen>) -> Result<Response, Failed> {
    let address = format!("{}/findings", own(&visitor, "accounts"));
    let summary = visitor.api.get::<FindingsSummary>(&format!("{address}/summary")).await?;
    let asked = format!("{address}?limit={PAGE_ROWS}{}", chosen.write());
    let PartnerFindings { findings, next, .. } = visitor.api.get(&asked).await?;
    let older = next.map(|before| {
        link_to(&Chosen { code: chosen.code.clone(), severity: chosen.severity.clone(), before: before.to_string() })
    });
    let FindingsSummary { since, counts, strikes, latency, .. } = summary;
    let table = RuleTable::of(&counts);
    let strikes = strikes.into_iter().map(StrikeRow::of).collect();
    let frame = visitor.frame(ADDRESS, "Offers").json(asked);
    Ok(show(&OffersPage { frame, since, table, strikes, latency, findings, chosen, older }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_api::health::IncidentBody;

    fn count_of(day: &str, code: &str, severity: Severity, count: u64) -> RuleCountBody {
        RuleCountBody { day: day.to_owned(), intent: "auto.fix".to_owned(), code: code.to_owned(), severity, count }
    }

    #[test]
    fn a_rule_has_one_row_with_its_latest_days() {
        let mut counts: Vec<_> =
            (1..=9).rev().map(|day| count_of(&format!("2026-05-0{day}"), "TOO_SLOW", Severity::Drop, 1)).collect();
        counts.push(count_of("2026-05-02", "PRICE", Severity::Note, 40));
        let table = RuleTable::of(&counts);
        assert_eq!(
            (table.days.len(), table.days.first().map(String::as_str), table.dropped),
            (DAYS_SHOWN, Some("2026-05-09"), 9)
        );
        let rows: Vec<_> = table.rows.iter().map(|row| (row.code.as_str(), row.total.as_str())).collect();
        assert_eq!(rows, [("PRICE", "40"), ("TOO_SLOW", "9")]);
        assert!(table.rows.iter().all(|row| row.days.len() == DAYS_SHOWN));
        assert_eq!(table.rows[0].days, ["", "", "", "", "", "", ""]);
    }

    #[test]
    fn a_strike_ends_when_its_days_are_over() {
        let incidents = vec![IncidentBody { at: "2026-05-01T10:00:00.5Z".to_owned(), id: "req_1".to_owned() }];
        let row = StrikeRow::of(StrikesBody { code: "X".to_owned(), incidents, suspends_at: 3, within_days: 90 });
        assert_eq!(row.held, "1 held; 3 within 90 days suspend you");
        let ends = row.incidents[0].ends.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(ends.contains("2026-07-30 10:00:00 UTC"), "{ends}");
    }

    #[test]
    fn a_choice_is_written_as_one_value() {
        let chosen = Chosen { code: "A&b=c".to_owned(), severity: String::new(), before: "7".to_owned() };
        assert_eq!(link_to(&chosen), "/dashboard/offers?code=A%26b%3Dc&before=7");
        assert_eq!(link_to(&Chosen::default()), "/dashboard/offers");
    }
}
