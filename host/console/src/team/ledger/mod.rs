//! The ledger: what partners owe, all entries in their order, whether all is sound, and the statements of a partner.

mod correction;
mod entry;
mod statements;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use intent_gateway_api::ledger::{EntryBody, EntryPage, KindName, TrialBalanceBody, VerifiedBody};
use intent_gateway_api::name;
use intent_gateway_domain::money::Total;

use crate::Console;
use crate::api::{segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show, show_with};
use crate::view::{Chip, Ident, Moment, Tone, count};
use crate::visitor::{Fields, Sent, Team};

const PLACE: &str = "/console/ledger";
const LEDGER_API: &str = "/api/v1/admin/ledger";
/// Entries of a page.
const PAGE: &str = "50";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console/ledger", get(show_ledger))
        .route("/console/ledger/verify", post(verify_ledger).get(lead_to_ledger))
        .route("/console/ledger/entries/{number}", get(entry::show_entry))
        .route("/console/ledger/entries/{number}/reversal", get(entry::ask_reversal).post(entry::take_back))
        .route("/console/ledger/entries/{number}/correction", get(correction::ask_correction).post(correction::correct))
        .route("/console/ledger/partners/{partner}", get(statements::list_months))
        .route("/console/ledger/partners/{partner}/{month}", get(statements::show_statement))
}

#[derive(Template)]
#[template(path = "team/ledger.html")]
struct LedgerPage {
    frame: Frame,
    trial: TrialBalanceBody,
    entries: Vec<EntryBody>,
    /// As the address says it.
    after: String,
    /// Address of the next page.
    next: Option<String>,
    problem: Option<Problem>,
}

/// What an entry is for.
fn kind_chip(kind: &KindName) -> Chip {
    let tone = match kind {
        KindName::Charge => Tone::Good,
        KindName::Memorandum => Tone::Idle,
        KindName::Reversal => Tone::Care,
    };
    Chip::new(tone, name(kind))
}

/// What a partner owes more by an entry.
fn commission(entry: &EntryBody) -> Total {
    let receivable = entry.legs.iter().filter(|leg| name(&leg.account) == "partner_receivable");
    receivable.map(|leg| Total::from(leg.amount_inr)).sum()
}

/// A rate in per cent.
fn rate_text(basis_points: &u16) -> String {
    format!("{}.{:02} %", basis_points / 100, basis_points % 100)
}

async fn show_ledger(RawQuery(query): RawQuery, Team(visitor): Team) -> Result<Response, Failed> {
    let after = Fields::parse(query.unwrap_or_default().as_bytes()).text("after").to_owned();
    let address = with_query(&format!("{LEDGER_API}/entries"), &[("after", &after), ("limit", PAGE)]);
    let balances = format!("{LEDGER_API}/trial-balance");
    let trial = visitor.api.get::<TrialBalanceBody>(&balances).await?;
    let (found, problem) = match visitor.api.get::<EntryPage>(&address).await {
        Ok(found) => (found, None),
        Err(error) if error.is_refusal() => {
            (EntryPage { entries: Vec::new(), next: None }, Some(Problem::from(&error)))
        }
        Err(error) => return Err(error.into()),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let page = LedgerPage {
        frame: visitor.frame(PLACE, "Ledger").json(address),
        trial,
        entries: found.entries,
        after,
        next: found.next.map(|next| with_query(PLACE, &[("after", &next.to_string())])),
        problem,
    };
    Ok(show_with(status, &page))
}

#[derive(Template)]
#[template(path = "team/ledger-verified.html")]
struct VerifiedPage {
    frame: Frame,
    verified: VerifiedBody,
    entries: String,
}

impl VerifiedPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let faults = u64::try_from(self.verified.faults.len()).unwrap_or(u64::MAX);
        match (self.verified.sound, faults.saturating_add(self.verified.faults_unlisted)) {
            (true, _) => "The ledger is sound.".to_owned(),
            (false, 0) => "The ledger is not sound, or not all of it could be checked.".to_owned(),
            (false, 1) => "The ledger is not sound: one fault.".to_owned(),
            (false, faults) => format!("The ledger is not sound: {} faults.", count(faults)),
        }
    }
}

async fn verify_ledger(Sent(Team(visitor), _fields): Sent<Team>) -> Result<Response, Failed> {
    let address = format!("{LEDGER_API}/verify");
    let verified = visitor.api.get::<VerifiedBody>(&address).await?;
    let frame = visitor.frame(PLACE, "Verification of the ledger").json(address);
    Ok(show(&VerifiedPage { frame, entries: count(verified.entries), verified }))
}

/// For whoever opens the address of a verification again.
async fn lead_to_ledger(Team(_visitor): Team) -> Response {
    lead_to(PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_told_in_per_cent() {
        assert_eq!([rate_text(&1_000), rate_text(&725), rate_text(&5)], ["10.00 %", "7.25 %", "0.05 %"]);
    }
}
