//! What was found in a partner's answers and reports, for the platform team and for the partner itself: one reading of the
//! query and one answer for both. Who may ask is for the routes of each audience.
//!
//! Nothing of a ranking is in it, nothing of other partners, and nothing of the request but its identifier.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::evidence::{Finding, FindingsSummary, PartnerFindings};
use intent_gateway_domain::findings::{COUNT_WINDOW_MS, FindingQuery, Severity, Source, day_number, day_start};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_outbound::health::PartnerView;
use serde::Deserialize;

use crate::App;
use crate::acting::{RecordNumber, next_number, size};
use crate::error::{Code, Refusal};
use crate::wire;

/// About what a finding takes, bytes.
const FINDING_BYTES: usize = 512;
/// About what a count or a tool takes, bytes.
const ROW_BYTES: usize = 160;
/// Longest name of an intent or a code that is looked for, characters.
const NAME_MAX_CHARS: usize = 200;

/// Which findings are asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingsQuery {
    before: Option<RecordNumber>,
    limit: Option<u32>,
    severity: Option<String>,
    source: Option<String>,
    intent: Option<String>,
    code: Option<String>,
}

/// A page of the findings against a partner, newest first.
pub(crate) async fn page(
    app: &App,
    partner: &PartnerId,
    query: Result<Query<FindingsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(FindingsQuery { before, limit, severity, source, intent, code }) = query.map_err(|_| refused())?;
    let is_too_long = |name: &Option<String>| name.as_ref().is_some_and(|name| name.chars().count() > NAME_MAX_CHARS);
    if is_too_long(&intent) || is_too_long(&code) {
        return Err(refused());
    }
    let query = FindingQuery {
        partner: partner.as_str(),
        before: before.map(RecordNumber::get),
        limit: size(limit)?,
        severity: known(severity, "severity", Severity::ALL.map(Severity::as_str), Severity::parse)?,
        source: known(source, "source", Source::ALL.map(Source::as_str), Source::parse)?,
        intent: intent.as_deref(),
        code: code.as_deref(),
    };
    let findings = app.evidence.findings(query).await?;
    let next = next_number(&findings, query.limit, |finding| finding.number);
    let bytes = wire::SMALL_BYTES + findings.len() * FINDING_BYTES;
    let findings = findings.into_iter().map(Finding::from).collect();
    wire::json(StatusCode::OK, &PartnerFindings { partner: partner.to_string(), findings, next }, bytes)
}

/// Counts by rule and day, strikes, and latency beside its targets.
pub(crate) async fn summary(app: &App, partner: &PartnerId) -> Result<Response, Refusal> {
    let now = app.searcher.clock.now();
    // Whole days, so that the first of them is not counted in part.
    let since = day_start(day_number(now.minus_ms(COUNT_WINDOW_MS)) + 1);
    let counts = app.evidence.counts(partner, since).await?;
    let view = app.health.view_of(partner, now).unwrap_or_else(|| PartnerView::unheard(partner, now));
    let bytes = wire::SMALL_BYTES + counts.len() * ROW_BYTES;
    wire::json(StatusCode::OK, &FindingsSummary::new(view, counts, since, app.intake.unsigned.of(partner)), bytes)
}

fn refused() -> Refusal {
    Refusal::new(Code::InvalidRequest).message(
        "The query parameters are `before`, `limit`, `severity`, `source`, `intent` and `code`, each at most once.",
    )
}

/// A value of a parameter that has few of them.
fn known<T, const N: usize>(
    given: Option<String>,
    name: &str,
    names: [&str; N],
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Refusal> {
    let Some(given) = given else { return Ok(None) };
    let refused = || {
        let message = format!("The values of `{name}` are: {}.", names.join(", "));
        Refusal::new(Code::InvalidRequest).message(message)
    };
    parse(&given).map(Some).ok_or_else(refused)
}
