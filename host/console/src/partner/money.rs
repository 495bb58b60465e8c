//! What a partner owes: statements by month, and one statement with its totals, what was not reported, and its lines.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query};
use axum::response::Response;
use axum::routing::get;
use intent_gateway_api::ledger::{KindName, LineBody, MonthsBody, StatementBody};
use serde::Deserialize;

use super::own;
use crate::Console;
use crate::api::segment;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Ident, Moment, Tone, count};
use crate::visitor::Business;

const ADDRESS: &str = "/dashboard/money";

/// Lines of a page.
const PAGE_ROWS: usize = 50;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(ADDRESS, get(show_months)).route("/dashboard/money/{month}", get(show_statement))
}

#[derive(Template)]
#[template(path = "partner/months.html")]
struct MonthsPage {
    frame: Frame,
    months: Vec<String>,
}

async fn show_months(Business(visitor): Business) -> Result<Response, Failed> {
    let address = format!("{}/statements", own(&visitor, "accounts"));
    let MonthsBody { months, .. } = visitor.api.get(&address).await?;
    let frame = visitor.frame(ADDRESS, "Money").json(address);
    Ok(show(&MonthsPage { frame, months }))
}

/// Which lines are looked at.
#[derive(Deserialize)]
struct Chosen {
    /// The first of them, from 0; the first of all where it is no number.
    #[serde(default)]
    from: String,
}

#[derive(Template)]
#[template(path = "partner/statement.html")]
struct StatementPage {
    frame: Frame,
    /// With the lines of this page alone.
    statement: StatementBody,
    line_count: String,
    newer: Option<String>,
    older: Option<String>,
}

impl StatementPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        format!(
            "The commission on the orders of {} is INR {}.",
            self.statement.month, self.statement.totals.commission_inr
        )
    }
}

/// What a line is for.
fn kind_chip(kind: &KindName) -> Chip {
    match kind {
        KindName::Charge => Chip::new(Tone::Good, "charge"),
        KindName::Memorandum => Chip::new(Tone::Idle, "no commission"),
        KindName::Reversal => Chip::new(Tone::Care, "taken back"),
    }
}

/// A rate in per cent; it is kept in hundredths of one.
fn say_rate(line: &LineBody) -> String {
    format!("{}.{:02} %", line.rate_basis_points / 100, line.rate_basis_points % 100)
}

async fn show_statement(
    Business(visitor): Business,
    Path(month): Path<String>,
    Query(Chosen { from }): Query<Chosen>,
) -> Result<Response, Failed> {
    let address = format!("{}/statements/{}", own(&visitor, "accounts"), segment(&month));
    let mut statement = visitor.api.get::<StatementBody>(&address).await?;
    let line_count = statement.lines.len();
    let from = from.parse::<usize>().unwrap_or_default();
    let page = |from: usize| format!("{ADDRESS}/{}?from={from}", segment(&month));
    let newer = (from > 0).then(|| page(from.saturating_sub(PAGE_ROWS)));
    let next = from.saturating_add(PAGE_ROWS);
    let older = (next < line_count).then(|| page(next));
    // A statement comes whole, so that its totals can be trusted; what of it is written out is one page.
    statement.lines = statement.lines.into_iter().skip(from).take(PAGE_ROWS).collect();
    let frame = visitor.frame(ADDRESS, format!("Statement of {}", statement.month)).json(address);
    let line_count = count(u64::try_from(line_count).unwrap_or(u64::MAX));
    Ok(show(&StatementPage { frame, statement, line_count, newer, older }))
}
