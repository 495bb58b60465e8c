//! How an entry of the ledger is put right: what is right is asked for first, then whether it is to be booked.

use askama::Template;
use axum::extract::{Path, RawQuery};
use axum::response::Response;
use http::{Method, StatusCode};
use intent_gateway_api::ledger::{CorrectedBody, EntryBody, EntryDetail, KindName};
use intent_gateway_domain::money::{Paise, Rate, inr};
use serde::{Deserialize, Serialize};

use super::entry::{WHY, entry_api, entry_page, read_entry, reason_of};
use super::{PLACE, commission};
use crate::api::{Outcome, segment};
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::notices::with_notice;
use crate::visitor::{Fields, Sent, Team, Visitor};

/// What the live contract of an intent says of reports.
#[derive(Deserialize)]
struct LiveContract {
    completion: Completion,
}

#[derive(Deserialize)]
struct Completion {
    statuses: Vec<String>,
}

#[derive(Template)]
#[template(path = "team/entry-correction.html")]
struct CorrectionPage {
    frame: Frame,
    entry: EntryBody,
    /// That the live contract lists; empty where none is live.
    statuses: Vec<String>,
    /// As they were written.
    amount: String,
    status: String,
    /// Why what was written cannot be booked.
    trouble: Option<&'static str>,
}

/// What is right.
#[derive(Debug, PartialEq, Eq)]
struct Right {
    amount: Option<Paise>,
    status: Option<String>,
}

impl Right {
    /// Of an entry, as a form says it; what is written as it stands is no correction.
    fn of(entry: &EntryBody, fields: &Fields) -> Result<Self, &'static str> {
        let amount = fields.find("amount_inr").map(Paise::from_inr).transpose().map_err(|_unreadable| {
            "Write the amount with digits alone and at most two decimals behind a point, for example 1499.50."
        })?;
        let status = fields.find("status").filter(|status| *status != entry.status).map(str::to_owned);
        Ok(Self { amount: amount.filter(|amount| *amount != entry.amount_inr), status })
    }

    fn is_nothing(&self) -> bool {
        self.amount.is_none() && self.status.is_none()
    }
}

/// As the API takes it.
#[derive(Serialize)]
struct Correction<'a> {
    reason: &'a str,
    #[serde(with = "inr::option")]
    amount_inr: Option<Paise>,
    status: Option<&'a str>,
}

async fn show_form(
    visitor: &Visitor,
    entry: EntryBody,
    fields: &Fields,
    trouble: Option<&'static str>,
) -> Result<Response, Failed> {
    let live = visitor.api.look::<LiveContract>(&format!("/api/v1/intents/{}", segment(&entry.intent))).await?;
    let page = CorrectionPage {
        frame: visitor.frame(PLACE, format!("Put entry {} right", entry.number)),
        statuses: live.map(|live| live.completion.statuses).unwrap_or_default(),
        amount: fields.text("amount_inr").to_owned(),
        status: fields.text("status").to_owned(),
        entry,
        trouble,
    };
    Ok(show_with(if trouble.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK }, &page))
}

/// The commission on what is right, as far as it is known before it is booked.
fn foresee(entry: &EntryBody, right: &Right) -> String {
    let amount = right.amount.unwrap_or(entry.amount_inr);
    match (&right.status, &entry.kind, Rate::from_basis_points(entry.rate_basis_points)) {
        (Some(_), _, _) => "as the live contract says of the new status".to_owned(),
        (None, KindName::Charge, Ok(rate)) => format!("{} INR", rate.commission(amount)),
        _ => "0.00 INR".to_owned(),
    }
}

/// The question before what is right is booked.
fn confirm_correction(visitor: &Visitor, entry: &EntryBody, right: &Right, problem: Option<Problem>) -> Confirmation {
    let number = entry.number.to_string();
    let mut altered = Vec::new();
    let mut hidden = Vec::new();
    if let Some(amount) = right.amount {
        altered.push(Altered {
            what: "Amount",
            before: format!("{} INR", entry.amount_inr),
            after: format!("{amount} INR"),
        });
        hidden.push(("amount_inr", amount.to_string()));
    }
    if let Some(status) = &right.status {
        altered.push(Altered { what: "Status", before: entry.status.clone(), after: status.clone() });
        hidden.push(("status", status.clone()));
    }
    altered.push(Altered {
        what: "Commission due for the order",
        before: format!("{} INR", commission(entry)),
        after: foresee(entry, right),
    });
    Confirmation {
        frame: visitor.frame(PLACE, format!("Put entry {number} right")),
        lead: format!(
            "The entry for {} of {} is taken back, and what is right is booked in its place: both or neither.",
            entry.external_id, entry.partner
        ),
        altered,
        action: format!("{}/correction", entry_page(&number)),
        hidden,
        reason: Some(WHY),
        act: "Book what is right",
        back: entry_page(&number),
        problem,
    }
}

pub(super) async fn ask_correction(
    Path(number): Path<String>,
    RawQuery(query): RawQuery,
    Team(visitor): Team,
) -> Result<Response, Failed> {
    let EntryDetail { entry, .. } = read_entry(&visitor, &number).await?;
    let Some(query) = query else { return show_form(&visitor, entry, &Fields::default(), None).await };
    let fields = Fields::parse(query.as_bytes());
    match Right::of(&entry, &fields) {
        Err(trouble) => show_form(&visitor, entry, &fields, Some(trouble)).await,
        Ok(right) if right.is_nothing() => {
            show_form(
                &visitor,
                entry,
                &fields,
                Some("Nothing would change: write another amount, or choose another status."),
            )
            .await
        }
        Ok(right) => Ok(confirm_correction(&visitor, &entry, &right, None).show()),
    }
}

pub(super) async fn correct(
    Path(number): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let EntryDetail { entry, .. } = read_entry(&visitor, &number).await?;
    let right = match Right::of(&entry, &fields) {
        Ok(right) => right,
        Err(trouble) => return show_form(&visitor, entry, &fields, Some(trouble)).await,
    };
    let reason = reason_of(&fields);
    let body = Correction { reason: &reason, amount_inr: right.amount, status: right.status.as_deref() };
    let address = format!("{}/correction", entry_api(&number));
    let sent: Result<Outcome<CorrectedBody>, _> = visitor.api.send(Method::POST, &address, &body).await;
    match sent {
        Ok(Outcome::Done(corrected)) => {
            let booked = entry_page(&corrected.replacement.number.to_string());
            Ok(lead_to(&with_notice(&booked, "corrected")))
        }
        Ok(Outcome::Waits) => Ok(lead_to(&with_notice(&entry_page(&number), "waits"))),
        Err(error) if error.is_refusal() => {
            Ok(confirm_correction(&visitor, &entry, &right, Some(Problem::from(&error)))
                .show_again(fields.text("reason")))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> EntryBody {
        let entry = json!({
            "number": 7, "posted_at": "2026-05-20T08:00:00Z", "partner": "ptr_1", "intent": "a.b", "external_id": "B-1",
            "request_id": "r", "status": "completed", "closed_at": "2026-05-20T08:00:00Z", "month": "2026-05",
            "amount_inr": 1499.50, "rate_basis_points": 1000, "judged_by": {"version": "1.0.0", "stand_in": false},
            "late_minutes": null, "report": "0", "kind": "charge", "reverses": null, "reason": null,
            "legs": [
                {"account": "partner_receivable", "amount_inr": 149.95},
                {"account": "commission_revenue", "amount_inr": -149.95},
            ],
            "receipt_id": "rcpt_1", "hash": "0", "key": null,
        });
        serde_json::from_str(&entry.to_string()).expect("an entry")
    }

    fn right(form: &str) -> Result<Right, &'static str> {
        Right::of(&entry(), &Fields::parse(form.as_bytes()))
    }

    #[test]
    fn only_what_changes_is_corrected() {
        assert_eq!(
            right("amount_inr=1600&status=completed"),
            Ok(Right { amount: Some(Paise::new(160_000)), status: None })
        );
        assert_eq!(
            right("amount_inr=1499.5&status=cancelled"),
            Ok(Right { amount: None, status: Some("cancelled".to_owned()) })
        );
        assert!(right("amount_inr=1499.50&status=").is_ok_and(|right| right.is_nothing()));
        for bad in ["amount_inr=1%2C600", "amount_inr=1.234", "amount_inr=much"] {
            assert!(right(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_will_be_due_is_told_where_it_is_known() {
        let entry = entry();
        assert_eq!(commission(&entry).to_string(), "149.95");
        assert_eq!(foresee(&entry, &Right { amount: Some(Paise::new(5)), status: None }), "0.01 INR");
        let status = Some("cancelled".to_owned());
        assert!(foresee(&entry, &Right { amount: None, status }).starts_with("as the live contract"));
    }
}
