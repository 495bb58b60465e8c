//! The audit log: who did what to whom, and whether the log is as it was written.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use intent_gateway_api::audit::{AuditEntryBody, AuditPage, AuditVerified};
use intent_gateway_domain::id::{IntentId, PartnerId};

use crate::Console;
use crate::api::with_query;
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show, show_with};
use crate::view::{Chip, Ident, Moment, Tone, count};
use crate::visitor::{Fields, Sent, Team};

const PLACE: &str = "/console/audit";
const AUDIT_API: &str = "/api/v1/admin/audit";
/// Entries of a page.
const PAGE: &str = "50";
/// Characters of a detail that are shown in its row.
const DETAIL_MAX_CHARS: usize = 120;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console/audit", get(list_entries))
        .route("/console/audit/verify", post(verify_log).get(lead_to_log))
}

/// An entry of the log, as its row shows it.
struct Row {
    seq: u64,
    at: String,
    role: String,
    who: String,
    /// What the actor's token opened, where from, and who approved it.
    around: String,
    action: String,
    subject: String,
    /// Address of all that concerns the subject, where the log can be asked for it.
    about: Option<String>,
    detail: String,
    /// The detail in whole, where its row cuts it.
    whole: Option<String>,
}

impl From<AuditEntryBody> for Row {
    fn from(entry: AuditEntryBody) -> Self {
        let mut detail = entry.detail.unwrap_or_default();
        // These are the actor's, and in the detail for the log's sake.
        let mut take = |name: &str| {
            let value = detail.as_object_mut().and_then(|members| members.remove(name))?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let around = [("scope", take("scope")), ("from", take("from")), ("approved by", take("approved_by"))];
        let around = around.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
        let around = around.collect::<Vec<_>>().join(", ");
        let is_known = PartnerId::parse(&entry.subject).is_ok() || IntentId::parse(&entry.subject).is_ok();
        let is_empty = detail.is_null() || detail.as_object().is_some_and(serde_json::Map::is_empty);
        let text = if is_empty { String::new() } else { detail.to_string() };
        let cut = text.char_indices().nth(DETAIL_MAX_CHARS).map(|(end, _)| format!("{}…", &text[..end]));
        Self {
            seq: entry.seq,
            at: entry.at,
            role: entry.actor.role,
            who: entry.actor.subject,
            around,
            action: entry.action,
            about: is_known.then(|| with_query(PLACE, &[("subject", &entry.subject)])),
            subject: entry.subject,
            whole: cut.is_some().then(|| format!("{detail:#}")),
            detail: cut.unwrap_or(text),
        }
    }
}

#[derive(Template)]
#[template(path = "team/audit.html")]
struct LogPage {
    frame: Frame,
    /// As the address says them.
    subject: String,
    after: String,
    rows: Vec<Row>,
    /// Address of the next page.
    next: Option<String>,
    problem: Option<Problem>,
}

impl LogPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match (self.subject.as_str(), self.rows.first(), self.rows.last()) {
            _ if self.problem.is_some() => "Nothing was looked for.".to_owned(),
            ("", Some(first), Some(last)) => format!("Entries {} to {}, the oldest first.", first.seq, last.seq),
            (subject, Some(_), _) => format!("What concerns {subject}, the oldest first."),
            ("", None, _) => "There is no entry here.".to_owned(),
            (subject, None, _) => format!("No entry here concerns {subject}."),
        }
    }

    fn first(&self) -> String {
        with_query(PLACE, &[("subject", &self.subject)])
    }
}

async fn list_entries(RawQuery(query): RawQuery, Team(visitor): Team) -> Result<Response, Failed> {
    let fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let (subject, after) = (fields.text("subject").to_owned(), fields.text("after").to_owned());
    let address = with_query(AUDIT_API, &[("subject", &subject), ("after", &after), ("limit", PAGE)]);
    let (found, problem) = match visitor.api.get::<AuditPage>(&address).await {
        Ok(found) => (found, None),
        Err(error) if error.is_refusal() => {
            (AuditPage { entries: Vec::new(), next: None }, Some(Problem::from(&error)))
        }
        Err(error) => return Err(error.into()),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let next = found.next.map(|next| with_query(PLACE, &[("subject", &subject), ("after", &next.to_string())]));
    let page = LogPage {
        frame: visitor.frame(PLACE, "Audit log").json(address),
        subject,
        after,
        rows: found.entries.into_iter().map(Row::from).collect(),
        next,
        problem,
    };
    Ok(show_with(status, &page))
}

#[derive(Template)]
#[template(path = "team/audit-verified.html")]
struct VerifiedPage {
    frame: Frame,
    verified: AuditVerified,
    entries: String,
}

async fn verify_log(Sent(Team(visitor), _fields): Sent<Team>) -> Result<Response, Failed> {
    let address = format!("{AUDIT_API}/verify");
    let verified = visitor.api.get::<AuditVerified>(&address).await?;
    let frame = visitor.frame(PLACE, "Verification of the audit log").json(address);
    Ok(show(&VerifiedPage { frame, entries: count(verified.entries), verified }))
}

/// For whoever opens the address of a verification again.
async fn lead_to_log(Team(_visitor): Team) -> Response {
    lead_to(PLACE)
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::audit::Actor;
    use serde_json::{Value, json};

    use super::*;

    fn row(subject: &str, detail: Option<Value>) -> Row {
        Row::from(AuditEntryBody {
            seq: 1,
            at: "2026-05-20T08:00:00Z".to_owned(),
            actor: Actor::new("admin", "asha"),
            action: "manifest.approved".to_owned(),
            subject: subject.to_owned(),
            detail,
            hash: String::new(),
            key: None,
        })
    }

    #[test]
    fn what_is_the_actors_stands_beside_it() {
        let detail = json!({"from": "10.0.0.0/24", "scope": "ship", "approved_by": "ravi", "version": 3});
        let shown = row("auto.book_ac_service", Some(detail));
        assert_eq!(shown.around, "scope ship, from 10.0.0.0/24, approved by ravi");
        assert_eq!((shown.detail.as_str(), shown.whole), (r#"{"version":3}"#, None));
        assert_eq!(shown.about.as_deref(), Some("/console/audit?subject=auto.book_ac_service"));
        assert_eq!(row("", Some(json!({}))).detail, "");
        assert_eq!(row("", None).about, None);
    }

    #[test]
    fn a_long_detail_is_cut_and_kept_whole() {
        let shown = row("", Some(json!({"message": "é".repeat(200)})));
        assert_eq!(shown.detail.chars().count(), DETAIL_MAX_CHARS + 1);
        assert!(shown.whole.is_some_and(|whole| whole.contains(&"é".repeat(200))));
    }
}
