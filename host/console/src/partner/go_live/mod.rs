//! The way of a partner until requests are routed to it: what is next and whose turn it is, part by part.

mod connection;
mod lines;
mod manifest;
mod profile;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use intent_gateway_api::account::OverviewBody;

pub(super) use self::connection::follow_connection;
use super::own;
use crate::Console;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Tone};
use crate::visitor::Business;

/// The page, and the place in the navigation that its parts belong to.
const PLACE: &str = "/dashboard/go-live";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/dashboard/go-live", get(show_way))
        .route("/dashboard/go-live/profile", get(profile::show_profile).post(profile::save_profile))
        .route("/dashboard/go-live/profile/documents", post(profile::add_document).get(profile::lead_to_profile))
        .route("/dashboard/go-live/manifest", get(manifest::show_manifest).post(manifest::submit_manifest))
        .route("/dashboard/go-live/connection", get(connection::show_connection).post(connection::register_endpoint))
}

/// A part of the way, with the steps that belong to it.
struct Part {
    name: &'static str,
    address: &'static str,
    about: &'static str,
    codes: &'static [&'static str],
}

/// The last part takes every step that no other has: it is the one that leads to the switch-on.
const PARTS: [Part; 4] = [
    Part {
        name: "Profile",
        address: "/dashboard/go-live/profile",
        about: "Legal entity, tax number, licences, privacy policy. The compliance review looks at them.",
        codes: &["PROFILE", "LICENCE_ENDED", "CHECKLIST", "DOCUMENT"],
    },
    Part {
        name: "Access",
        address: "/dashboard/access",
        about: "Credentials for your programs, and the webhook's key that signs completion reports.",
        codes: &["CREDENTIALS", "WEBHOOK"],
    },
    Part {
        name: "Manifest",
        address: "/dashboard/go-live/manifest",
        about: "Which intents you serve, at what prices, where and when.",
        codes: &["MANIFEST", "MANIFEST_WARNINGS", "REVIEW"],
    },
    Part {
        name: "Connection",
        address: "/dashboard/go-live/connection",
        about: "Your server or API: where it is, what the probe saw, how the tests went.",
        codes: &[],
    },
];

/// Who has to do something about a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Done,
    Partner,
    Platform,
}

impl Turn {
    fn chip(self) -> Chip {
        match self {
            Self::Done => Chip::new(Tone::Good, "done"),
            Self::Partner => Chip::new(Tone::Care, "your turn"),
            Self::Platform => Chip::new(Tone::Moving, "waits for the platform team"),
        }
    }
}

/// The part that a step belongs to.
fn find_part(code: &str) -> &'static Part {
    let [.., last] = &PARTS;
    PARTS.iter().find(|part| part.codes.contains(&code)).unwrap_or(last)
}

/// Whose turn a part is, by the steps that are left: each a code, and who does it.
fn find_turn<'a>(part: &Part, steps: impl Iterator<Item = (&'a str, &'a str)>) -> Turn {
    steps.filter(|(code, _)| find_part(code).address == part.address).fold(Turn::Done, |turn, (_, who)| {
        if who == "partner" || turn == Turn::Partner { Turn::Partner } else { Turn::Platform }
    })
}

#[derive(Template)]
#[template(path = "partner/go-live.html")]
struct WayPage {
    frame: Frame,
    account: OverviewBody,
}

impl WayPage {
    /// The answer in one line.
    fn lead(&self) -> &'static str {
        match self.account.next.first() {
            None => "Everything is done. Requests of every intent of your manifest are routed to you.",
            Some(step) if step.who == "partner" => "It is your turn.",
            Some(_) => "It is the platform team's turn. You have nothing to do until then.",
        }
    }

    fn parts(&self) -> impl Iterator<Item = (&'static Part, Turn)> {
        let steps = || self.account.next.iter().map(|step| (&*step.code, &*step.who));
        PARTS.iter().map(move |part| (part, find_turn(part, steps())))
    }
}

/// How an item of the checklist stands.
fn check_chip(state: &str) -> Chip {
    match state {
        "passed" => Chip::new(Tone::Good, "passed"),
        "confirmed" => Chip::new(Tone::Good, "confirmed"),
        "failed" => Chip::new(Tone::Bad, "failed"),
        "by_hand" => Chip::new(Tone::Moving, "a person looks"),
        state => Chip::new(Tone::Idle, state),
    }
}

async fn show_way(Business(visitor): Business) -> Result<Response, Failed> {
    let address = own(&visitor, "accounts");
    let account = visitor.api.get::<OverviewBody>(&address).await?;
    let frame = visitor.frame(PLACE, "Go live").json(address);
    Ok(show(&WayPage { frame, account }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_done_when_none_of_its_steps_is_left() {
        let steps = [
            ("PROFILE", "partner"),
            ("REVIEW", "platform"),
            ("TEST", "platform"),
            ("TEST", "partner"),
            ("TEST", "platform"),
        ];
        let turns: Vec<_> = PARTS.iter().map(|part| find_turn(part, steps.into_iter())).collect();
        assert_eq!(turns, [Turn::Partner, Turn::Done, Turn::Platform, Turn::Partner]);
        assert_eq!(find_part("A_STEP_OF_TOMORROW").name, "Connection");
    }
}
