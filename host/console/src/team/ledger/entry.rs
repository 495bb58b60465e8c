//! One entry of the ledger, and how it is taken back.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use http::Method;
use intent_gateway_api::connection::ReasonRequest;
use intent_gateway_api::ledger::{EntryBody, EntryDetail, KindName};
use intent_gateway_api::name;

use super::{LEDGER_API, PLACE, commission, kind_chip, rate_text};
use crate::api::{Outcome, segment};
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show};
use crate::notices::with_notice;
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Fields, Sent, Team, Visitor};

/// Label of the reason for a change of an entry.
pub(super) const WHY: &str = "Why, for the partner's statement and the audit log";

#[derive(Template)]
#[template(path = "team/entry.html")]
struct EntryPage {
    frame: Frame,
    entry: EntryBody,
    taken_back_by: Option<u64>,
}

impl EntryPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match (self.taken_back_by, self.entry.reverses) {
            (Some(by), _) => format!("Entry {by} has taken it back."),
            (None, Some(of)) => format!("It takes entry {of} back, and stands for good."),
            (None, None) => "It stands.".to_owned(),
        }
    }

    fn can_change(&self) -> bool {
        self.taken_back_by.is_none() && !matches!(self.entry.kind, KindName::Reversal)
    }
}

pub(super) fn entry_api(number: &str) -> String {
    format!("{LEDGER_API}/entries/{}", segment(number))
}

pub(super) fn entry_page(number: &str) -> String {
    format!("{PLACE}/entries/{}", segment(number))
}

pub(super) async fn read_entry(visitor: &Visitor, number: &str) -> Result<EntryDetail, Failed> {
    Ok(visitor.api.get::<EntryDetail>(&entry_api(number)).await?)
}

/// A reason as it is kept: it stands in one line of a statement.
pub(super) fn reason_of(fields: &Fields) -> String {
    fields.text("reason").split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) async fn show_entry(Path(number): Path<String>, Team(visitor): Team) -> Result<Response, Failed> {
    let EntryDetail { entry, taken_back_by } = read_entry(&visitor, &number).await?;
    let frame = visitor.frame(PLACE, format!("Entry {}", entry.number)).json(entry_api(&number));
    Ok(show(&EntryPage { frame, entry, taken_back_by }))
}

/// The question before an entry is taken back.
fn confirm_reversal(visitor: &Visitor, detail: &EntryDetail, problem: Option<Problem>) -> Confirmation {
    let entry = &detail.entry;
    let number = entry.number.to_string();
    let stands = format!("{}, {}, {} INR", name(&entry.kind), entry.status, entry.amount_inr);
    let altered = vec![
        Altered {
            what: "Entry of the order",
            before: stands,
            after: "none; the same report sent again books nothing".to_owned(),
        },
        Altered {
            what: "Commission due for the order",
            before: format!("{} INR", commission(entry)),
            after: "0.00 INR".to_owned(),
        },
    ];
    Confirmation {
        frame: visitor.frame(PLACE, format!("Take entry {number} back")),
        lead: format!(
            "The entry for {} of {} is taken back, and nothing is booked in its place. A reversal stands for good.",
            entry.external_id, entry.partner
        ),
        altered,
        action: format!("{}/reversal", entry_page(&number)),
        hidden: Vec::new(),
        reason: Some(WHY),
        act: "Take back",
        back: entry_page(&number),
        problem,
    }
}

pub(super) async fn ask_reversal(Path(number): Path<String>, Team(visitor): Team) -> Result<Response, Failed> {
    let detail = read_entry(&visitor, &number).await?;
    Ok(confirm_reversal(&visitor, &detail, None).show())
}

pub(super) async fn take_back(
    Path(number): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let address = format!("{}/reversal", entry_api(&number));
    let body = ReasonRequest { reason: reason_of(&fields) };
    let sent: Result<Outcome<EntryBody>, _> = visitor.api.send(Method::POST, &address, &body).await;
    match sent {
        Ok(outcome) => Ok(lead_to(&with_notice(&entry_page(&number), outcome.notice("reversed")))),
        Err(error) if error.is_refusal() => {
            let detail = read_entry(&visitor, &number).await?;
            Ok(confirm_reversal(&visitor, &detail, Some(Problem::from(&error))).show_again(fields.text("reason")))
        }
        Err(error) => Err(error.into()),
    }
}
