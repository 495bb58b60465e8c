//! One partner: what is next until requests are routed, its connection, how it fares in service, and what was found.
//!
//! A partner of the configuration has no account and no connection here, and a token may not open the papers of accounts: each part
//! is shown where there is one.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use intent_gateway_api::account::OverviewBody;
use intent_gateway_api::connection::{ConnectionBody, TestReport};
use intent_gateway_api::evidence::{FindingsSummary, PartnerFindings};
use intent_gateway_api::health::{BreakerBody, HealthBody, ToolHealthBody};
use intent_gateway_api::name;
use intent_gateway_api::traffic::PartnerTraffic;

use super::acts::{Act, acts_in};
use super::findings::{BrokenRule, by_rule, severity_chip};
use super::{PLACE, page_of};
use crate::api::{Api, ApiError, segment};
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::partner::connection_chip;
use crate::plots::{self, Plot, Plotting};
use crate::view::{self, Chip, Ident, Moment, Tone};
use crate::visitor::Team;

#[derive(Template)]
#[template(path = "team/partner.html")]
struct PartnerPage {
    frame: Frame,
    /// The page's own address.
    page: String,
    account: Option<OverviewBody>,
    connection: Option<ConnectionBody>,
    /// What can be done with the connection as it is.
    acts: Vec<&'static Act>,
    health: HealthBody,
    summary: Option<FindingsSummary>,
    rules: Vec<BrokenRule>,
    findings: Option<PartnerFindings>,
    latency: Plot,
}

impl PartnerPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let state = match &self.connection {
            Some(connection) if connection.state.as_str() == "live" => "Requests of users are routed to it.",
            Some(connection) if connection.state.as_str() == "suspended" => "It is suspended.",
            Some(_) => "No request of a user is routed to it.",
            None if self.health.routed => "Requests are routed to it.",
            None => "It has no connection.",
        };
        let turn = self.account.as_ref().and_then(|account| account.next.first()).map(|step| step.who.as_ref());
        let quarantined = self.connection.as_ref().map_or(0, |connection| connection.quarantine.len());
        let mut lead = state.to_owned();
        match quarantined {
            0 => {}
            1 => lead.push_str(" One intent is in quarantine."),
            quarantined => lead.push_str(&format!(" {quarantined} intents are in quarantine.")),
        }
        match turn {
            Some("partner") => lead.push_str(" It is the partner's turn."),
            Some(_) => lead.push_str(" It is the platform team's turn."),
            None => {}
        }
        lead
    }
}

/// A part of a check, in a shape and a word.
fn check_chip(state: &str) -> Chip {
    match state {
        "passed" => Chip::new(Tone::Good, "passed"),
        "confirmed" => Chip::new(Tone::Good, "confirmed"),
        "failed" => Chip::new(Tone::Bad, "failed"),
        "by_hand" => Chip::new(Tone::Care, "a person looks"),
        other => Chip::new(Tone::Idle, other),
    }
}

fn passed_chip(passed: &bool) -> Chip {
    check_chip(if *passed { "passed" } else { "failed" })
}

fn breaker_chip(breaker: &BreakerBody) -> Chip {
    match name(&breaker.state).as_str() {
        "closed" => Chip::new(Tone::Good, "calls pass"),
        "open" => Chip::new(Tone::Bad, "no call passes"),
        _ => Chip::new(Tone::Care, "one call passes at a time"),
    }
}

/// How a tool does against its targets. One that nobody has called lately says nothing.
fn speed_chip(tool: &ToolHealthBody) -> Chip {
    let ToolHealthBody { targets, window, over_since, .. } = tool;
    if window.calls == 0 {
        return Chip::new(Tone::Idle, "not called");
    }
    let is_over = |took: u64, target: u32| took > u64::from(target);
    let is_slow = is_over(window.p50_ms, targets.p50_ms)
        || is_over(window.p95_ms, targets.p95_ms)
        || targets.p99_ms.is_some_and(|target| is_over(window.p99_ms, target));
    match over_since {
        Some(_) => Chip::new(Tone::Bad, "far too slow"),
        None if is_slow => Chip::new(Tone::Care, "over its target"),
        None => Chip::new(Tone::Good, "within its targets"),
    }
}

/// Samples of a test that were answered with at least one option.
fn count_answered(test: &TestReport) -> usize {
    test.samples.iter().filter(|sample| sample.failure.is_none() && sample.options > 0).count()
}

/// How long its tools took, with their targets.
async fn latency(api: &Api, account: &str) -> Result<Plot, ApiError> {
    let named = segment(account).to_string();
    let address = format!("/api/v1/admin/partners/{named}/traffic");
    let body = api.get::<PartnerTraffic>(&address).await?;
    Ok(plots::latency(&body, format!("/console/plots/partners/{named}"), address))
}

pub(super) async fn send_latency(
    Plotting(Team(visitor)): Plotting<Team>,
    Path(account): Path<String>,
) -> Result<Response, Failed> {
    plots::send(&latency(&visitor.api, &account).await?)
}

pub(super) async fn show_partner(Team(visitor): Team, Path(account): Path<String>) -> Result<Response, Failed> {
    let api = &visitor.api;
    let named = segment(&account).to_string();
    let partner = format!("/api/v1/admin/partners/{named}");
    let (papers, server) = (format!("/api/v1/business/tier1/accounts/{named}"), format!("/api/v1/mcp-admin/{named}"));
    let (health, summary, found) =
        (format!("{partner}/health"), format!("{partner}/findings/summary"), format!("{partner}/findings?limit=20"));
    let (overview, connection, health, summary, findings, latency) = tokio::try_join!(
        api.look::<OverviewBody>(&papers),
        api.look::<ConnectionBody>(&server),
        // Of a partner that there is, this is told to every token of the team: whether there is one shows here.
        api.get::<HealthBody>(&health),
        api.look::<FindingsSummary>(&summary),
        api.look::<PartnerFindings>(&found),
        latency(api, &account),
    )?;
    let title = overview.as_ref().map_or_else(|| account.clone(), |overview| overview.business_name.clone());
    let page = PartnerPage {
        frame: visitor.frame(PLACE, title).json(server).plots(),
        page: page_of(&account),
        acts: connection.as_ref().map(acts_in).unwrap_or_default(),
        account: overview,
        connection,
        health,
        rules: summary.as_ref().map(by_rule).unwrap_or_default(),
        summary,
        findings,
        latency,
    };
    Ok(show(&page))
}
