//! The connections to partners' servers, in pages, by their state.

use askama::Template;
use axum::extract::RawQuery;
use axum::response::Response;
use intent_gateway_api::connection::ConnectionList;

use super::PLACE;
use crate::api::with_query;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::partner::connection_chip;
use crate::view::{Chip, Moment, Tone};
use crate::visitor::{Fields, Team};

/// The states to choose from, as the API names them, and in words.
const STATES: [(&str, &str); 5] = [
    ("", "All"),
    ("live", "Live"),
    ("sandbox", "Sandbox"),
    ("probe_failed", "Probe failed"),
    ("suspended", "Suspended"),
];

#[derive(Template)]
#[template(path = "team/partners.html")]
struct PartnersPage {
    frame: Frame,
    /// The state that is chosen; empty for all.
    chosen: String,
    list: ConnectionList,
}

impl PartnersPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let connections = &self.list.connections;
        let quarantined = connections.iter().filter(|connection| !connection.quarantine.is_empty()).count();
        let shown = match (connections.len(), self.list.next.is_some()) {
            (0, _) => return "There is no such partner.".to_owned(),
            (1, false) => "One partner".to_owned(),
            (shown, false) => format!("{shown} partners"),
            (shown, true) => format!("{shown} partners on this page, and more follow"),
        };
        match quarantined {
            0 => format!("{shown}; none of them is in quarantine."),
            1 => format!("{shown}; one of them is in quarantine."),
            quarantined => format!("{shown}; {quarantined} of them are in quarantine."),
        }
    }

    fn states(&self) -> &'static [(&'static str, &'static str)] {
        &STATES
    }

    /// The address of the page of a state.
    fn address(state: &str) -> String {
        with_query(PLACE, &[("status", state)])
    }

    /// The address of the next page of the same state.
    fn next(&self) -> Option<String> {
        let after = self.list.next.as_deref()?;
        Some(with_query(PLACE, &[("status", &self.chosen), ("after", after)]))
    }
}

pub(super) async fn show_partners(Team(visitor): Team, RawQuery(query): RawQuery) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let chosen = asked.text("status").to_owned();
    let parts = [("limit", "50"), ("status", chosen.as_str()), ("after", asked.text("after"))];
    let address = with_query("/api/v1/admin/connections", &parts);
    let list = visitor.api.get::<ConnectionList>(&address).await?;
    let frame = visitor.frame(PLACE, "Partners").json(address);
    Ok(show(&PartnersPage { frame, chosen, list }))
}
