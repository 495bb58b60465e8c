//! What the team does with a partner's connection: probes it, switches it on, suspends it, lifts that, takes its changed tools.

use axum::extract::Path;
use axum::response::Response;
use http::Method;
use intent_gateway_api::connection::{ConnectionBody, ProbeAnswer, ReasonRequest};
use intent_gateway_api::name;
use serde::de::IgnoredAny;

use super::{PLACE, page_of};
use crate::api::segment;
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::lead_to;
use crate::notices::with_notice;
use crate::visitor::{Sent, Team, Visitor};

/// Something that is confirmed before it is done.
pub(super) struct Act {
    /// The last part of its address, here and in the API.
    pub(super) name: &'static str,
    /// On the button.
    pub(super) button: &'static str,
    title: &'static str,
    lead: &'static str,
    /// Label of the reason, where the API takes one.
    reason: Option<&'static str>,
    /// In which states the API takes it.
    states: &'static [&'static str],
    /// What the connection is afterwards.
    after: &'static str,
    notice: &'static str,
}

const SWITCH_ON: Act = Act {
    name: "switch-on",
    button: "Switch on",
    title: "Switch on",
    lead: "Requests of users are routed to this partner from now on, for each intent that is ready.",
    reason: None,
    states: &["sandbox"],
    after: "live",
    notice: "switched-on",
};

const SUSPEND: Act = Act {
    name: "suspend",
    button: "Suspend",
    title: "Suspend",
    lead: "No request of a user is routed to this partner any more. The partner is told why by e-mail.",
    reason: Some("Why; the partner is told it"),
    states: &["live"],
    after: "suspended",
    notice: "suspended",
};

const LIFT: Act = Act {
    name: "lift",
    button: "Lift the suspension",
    title: "Lift the suspension of",
    lead: "The connection is back in the sandbox. It goes live through probe, test and approval again.",
    reason: Some("Why, for the audit log"),
    states: &["suspended"],
    after: "sandbox",
    notice: "lifted",
};

const ACCEPT_DRIFT: Act = Act {
    name: "accept-drift",
    button: "Accept the changed tools",
    title: "Accept the changed tools of",
    lead: "The tools are taken as they are now, and their intents are back in service: the open review of them is approved.",
    reason: Some("Why; the partner is told it"),
    states: &["live"],
    after: "none",
    notice: "accepted",
};

static ACTS: [Act; 4] = [SWITCH_ON, SUSPEND, LIFT, ACCEPT_DRIFT];

impl Act {
    /// Whether the act is about changed tools, and not about the state.
    fn is_about_drift(&self) -> bool {
        self.name == ACCEPT_DRIFT.name
    }

    fn fits(&self, connection: &ConnectionBody) -> bool {
        self.states.contains(&connection.state.as_str())
            && (!self.is_about_drift() || !connection.quarantine.is_empty())
    }

    /// What it changes of a connection.
    fn alters(&self, connection: &ConnectionBody) -> Vec<Altered> {
        if !self.is_about_drift() {
            let before = connection.state.as_str().to_owned();
            return vec![Altered { what: "state", before, after: self.after.to_owned() }];
        }
        let drifts = connection.quarantine.iter().map(|(intent, drifts)| {
            let changed = drifts.iter().map(|drift| format!("{} {}", drift.tool, name(&drift.kind)));
            let changed = changed.collect::<Vec<_>>().join(", ");
            Altered {
                what: "quarantine",
                before: format!("{intent}: {changed}"),
                after: format!("{intent}: in service"),
            }
        });
        drifts.collect()
    }
}

/// What can be done with a connection as it is.
pub(super) fn acts_in(connection: &ConnectionBody) -> Vec<&'static Act> {
    ACTS.iter().filter(|act| act.fits(connection)).collect()
}

fn act_of(name: &str) -> Result<&'static Act, Failed> {
    ACTS.iter().find(|act| act.name == name).ok_or(Failed::NoPage)
}

/// The address of the connection in the API.
fn connection_of(account: &str) -> String {
    format!("/api/v1/mcp-admin/{}", segment(account))
}

async fn question(
    visitor: &Visitor,
    account: &str,
    act: &Act,
    problem: Option<Problem>,
) -> Result<Confirmation, Failed> {
    let connection = visitor.api.get::<ConnectionBody>(&connection_of(account)).await?;
    Ok(Confirmation {
        frame: visitor.frame(PLACE, format!("{} {account}", act.title)),
        lead: act.lead.to_owned(),
        altered: act.alters(&connection),
        action: format!("{}/{}", page_of(account), act.name),
        hidden: Vec::new(),
        reason: act.reason,
        act: act.button,
        back: page_of(account),
        problem,
    })
}

pub(super) async fn ask_to_act(
    Team(visitor): Team,
    Path((account, act)): Path<(String, String)>,
) -> Result<Response, Failed> {
    Ok(question(&visitor, &account, act_of(&act)?, None).await?.show())
}

pub(super) async fn act(
    Path((account, act)): Path<(String, String)>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let act = act_of(&act)?;
    let address = format!("{}/{}", connection_of(&account), act.name);
    let sent = match act.reason {
        Some(_) => {
            let reason = ReasonRequest { reason: fields.text("reason").to_owned() };
            visitor.api.send::<IgnoredAny>(Method::POST, &address, &reason).await
        }
        None => visitor.api.send_text::<IgnoredAny>(Method::POST, &address, None).await,
    };
    match sent {
        Ok(outcome) => Ok(lead_to(&with_notice(&page_of(&account), outcome.notice(act.notice)))),
        Err(error) => {
            let problem = Problem::of_refusal(error)?;
            Ok(question(&visitor, &account, act, Some(problem)).await?.show_again(fields.text("reason")))
        }
    }
}

/// Whoever opens the address of a form alone.
pub(super) async fn lead_to_partner(Path(account): Path<String>) -> Response {
    lead_to(&page_of(&account))
}

/// A probe changes nothing but what is known of the server: it needs no question before.
pub(super) async fn probe(Path(account): Path<String>, Sent(Team(visitor), _): Sent<Team>) -> Result<Response, Failed> {
    let address = format!("{}/probe", connection_of(&account));
    let outcome = visitor.api.send_text::<ProbeAnswer>(Method::POST, &address, None).await?;
    Ok(lead_to(&with_notice(&page_of(&account), outcome.notice("probed"))))
}
