//! The statements of a partner: its months, and one month drawn up.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use intent_gateway_api::ledger::{MonthsBody, StatementBody};
use intent_gateway_domain::money::Paise;

use super::{PLACE, kind_chip, rate_text};
use crate::api::segment;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Ident, Moment};
use crate::visitor::Team;

/// Lines that a page shows.
const LINES_MAX: usize = 500;

#[derive(Template)]
#[template(path = "team/ledger-months.html")]
struct MonthsPage {
    frame: Frame,
    partner: String,
    months: Vec<String>,
}

impl MonthsPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match self.months.len() {
            0 => "No report of this partner was booked yet.".to_owned(),
            1 => "There is one month with entries.".to_owned(),
            count => format!("There are {count} months with entries, the latest first."),
        }
    }
}

fn months_api(partner: &str) -> String {
    format!("/api/v1/admin/partners/{}/statements", segment(partner))
}

pub(super) async fn list_months(Path(partner): Path<String>, Team(visitor): Team) -> Result<Response, Failed> {
    let address = months_api(&partner);
    let MonthsBody { partner, months } = visitor.api.get(&address).await?;
    let frame = visitor.frame(PLACE, "Statements").json(address);
    Ok(show(&MonthsPage { frame, partner, months }))
}

#[derive(Template)]
#[template(path = "team/ledger-statement.html")]
struct StatementPage {
    frame: Frame,
    statement: StatementBody,
    /// Lines that are not shown.
    unshown: usize,
}

impl StatementPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let StatementBody { partner, business_name, month, totals, .. } = &self.statement;
        let who = business_name.as_ref().unwrap_or(partner);
        format!("{who} owes {} INR for the orders that closed in {month}.", totals.commission_inr)
    }
}

fn stake_text(amount: &Option<Paise>) -> String {
    amount.map_or_else(|| "not known".to_owned(), |amount| format!("{amount} INR"))
}

pub(super) async fn show_statement(
    Path((partner, month)): Path<(String, String)>,
    Team(visitor): Team,
) -> Result<Response, Failed> {
    let address = format!("{}/{}", months_api(&partner), segment(&month));
    let mut statement = visitor.api.get::<StatementBody>(&address).await?;
    let unshown = statement.lines.len().saturating_sub(LINES_MAX);
    statement.lines.truncate(LINES_MAX);
    let frame = visitor.frame(PLACE, format!("Statement of {}", statement.month)).json(address);
    Ok(show(&StatementPage { frame, statement, unshown }))
}
