//! The sessions of an account at pages, and their end: one by one, or all at once with every token.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::{Method, header};

use super::ADDRESS;
use crate::Console;
use crate::confirm::{Altered, Confirmation};
use crate::failure::Failed;
use crate::frame::lead_to;
use crate::notices::with_notice;
use crate::partner::{own, take};
use crate::session::{Face, end_cookie};
use crate::visitor::{Business, Sent};

pub(super) async fn end_session(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), fields): Sent<Business>,
) -> Result<Response, Failed> {
    let own = &visitor.session.record;
    let ended = console.sessions.end(Face::Partner, &own.who, fields.text("key")).await?;
    Ok(lead_to(&if ended { with_notice(ADDRESS, "ended") } else { ADDRESS.to_owned() }))
}

/// Asks before everybody has to sign in anew.
pub(super) async fn ask_to_end_all(Business(visitor): Business) -> Response {
    Confirmation {
        frame: visitor.frame(ADDRESS, "End all sessions everywhere"),
        lead: "Everybody of your account has to sign in again, you as well. Secrets go on working: programs get new tokens with them."
            .to_owned(),
        altered: vec![Altered {
            what: "Every session and token of the account",
            before: "works".to_owned(),
            after: "ended at once".to_owned(),
        }],
        action: "/dashboard/access/sessions/end-all".to_owned(),
        hidden: Vec::new(),
        reason: None,
        act: "End all sessions",
        back: ADDRESS.to_owned(),
        problem: None,
    }
    .show()
}

pub(super) async fn end_all(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), _): Sent<Business>,
) -> Result<Response, Failed> {
    let address = format!("{}/sessions/end", own(&visitor, "accounts"));
    take(visitor.api.send_text::<()>(Method::POST, &address, None).await?)?;
    // Their tokens open nothing any more; what is left of the sessions goes, too.
    console.sessions.end_all(Face::Partner, &visitor.session.record.who).await?;
    let mut response = lead_to("/dashboard/sign-in");
    response.headers_mut().extend(end_cookie(Face::Partner).map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}
