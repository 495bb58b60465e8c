//! One intent: what serves it at which gateway, its versions with their history, its rollout, its faults, and the live rules.

use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::Path;
use axum::response::Response;
use intent_gateway_api::contracts::{GatewayStatus, IntentStatus, LoadedVersion, ReleasePolicy};
use intent_gateway_api::faults::ContractFaults;
use intent_gateway_api::name;
use intent_gateway_api::rollouts::Rollouts;

use super::course::{course_of, hour_of};
use super::rules::LiveRules;
use super::track::{Bound, Step, bounds, end_chip, measure_in_words, missing, percent, steps};
use super::{PLACE, kib, load, origin_in_words, page_of, status_of, versions_of};
use crate::api::segment;
use crate::failure::Failed;
use crate::frame::{Frame, render, show};
use crate::live::{Follower, follow};
use crate::plots::Plot;
use crate::team::overview::intent_chip;
use crate::view::{self, Chip, Ident, Moment, Tone};
use crate::visitor::{Team, Visitor};

#[derive(Template)]
#[template(path = "team/intent.html")]
struct IntentPage {
    frame: Frame,
    /// The page's own address.
    page: String,
    moves: IntentMoves,
    plots: [Plot; 2],
    /// How the latest rollout went; empty where this gateway has seen none.
    course: Vec<(&'static str, Plot)>,
    versions: Vec<LoadedVersion>,
    /// None where the visitor's token does not open them.
    faults: Option<ContractFaults>,
    /// None where nothing is live.
    rules: Option<LiveRules>,
}

/// What serves it now, and its rollout.
#[derive(Template)]
#[template(path = "team/intent-moves.html")]
struct IntentMoves {
    page: String,
    status: IntentStatus,
    /// None where no contract of the intent was ever loaded into the catalogue.
    rollouts: Option<Rollouts>,
    steps: Vec<Step>,
    bounds: Vec<Bound>,
}

impl HtmlSafe for IntentMoves {}

impl IntentMoves {
    /// The answer in one line.
    fn lead(&self) -> String {
        let IntentStatus { live, rollout, gateways, .. } = &self.status;
        let Some(live) = live else { return "The intent is out of service.".to_owned() };
        let serve = gateways.iter().filter(|gateway| self.is_count_as_wanted(gateway)).count();
        let at = match gateways.len() {
            all if all == serve => "every gateway".to_owned(),
            all => format!("{serve} of {all} gateways"),
        };
        let version = &live.version;
        match rollout {
            Some(rollout) => format!(
                "Version {version} serves at {at}; {} decides for {} % of the users.",
                rollout.name.version, rollout.share_percent
            ),
            None => format!("Version {version} serves at {at}."),
        }
    }

    /// Whether a gateway serves what it should.
    fn is_count_as_wanted(&self, gateway: &GatewayStatus) -> bool {
        let wanted = self.status.live.as_ref().map(|live| live.digest);
        gateway.serving.as_ref().map(|serving| serving.digest) == wanted
    }

    fn gateway_chip(&self, gateway: &GatewayStatus) -> Chip {
        if self.is_count_as_wanted(gateway) {
            Chip::new(Tone::Good, "as wanted")
        } else {
            Chip::new(Tone::Care, "not as wanted")
        }
    }
}

impl IntentPage {
    /// What a version is of its intent now.
    fn version_chip(&self, version: &LoadedVersion) -> Chip {
        let is = |digest| digest == version.digest;
        if version.live {
            return Chip::new(Tone::Good, "live");
        }
        match (&self.moves.status.rollout, &self.moves.status.coming) {
            (Some(rollout), _) if is(rollout.name.digest) => Chip::new(Tone::Moving, "in a rollout"),
            (_, Some(coming)) if is(coming.name.digest) => Chip::new(Tone::Moving, "coming"),
            _ => Chip::new(Tone::Idle, "loaded"),
        }
    }

    /// Whether a version can begin a rollout: something serves that it is compared with, and no other one is on its way.
    fn can_be_promoted(&self, version: &LoadedVersion) -> bool {
        !version.live && self.moves.status.live.is_some() && self.moves.status.rollout.is_none()
    }

    fn is_automatic(&self) -> bool {
        self.moves.status.policy == ReleasePolicy::Auto
    }
}

pub(super) async fn show_intent(Team(visitor): Team, Path(intent): Path<String>) -> Result<Response, Failed> {
    let api = &visitor.api;
    let named = segment(&intent).to_string();
    let faults = format!("/api/v1/admin/intents/{named}/faults?limit=20");
    let rules = format!("/api/v1/intents/{named}");
    let (moves, plots, course, versions, faults, rules) = tokio::try_join!(
        intent_moves(&visitor, &intent),
        hour_of(&visitor, &intent),
        course_of(&visitor, &intent),
        async { Ok(versions_of(api, &intent).await?) },
        async { Ok(api.look::<ContractFaults>(&faults).await?) },
        async { Ok(api.look::<LiveRules>(&rules).await?) },
    )?;
    let frame = visitor.frame(PLACE, intent.as_str()).json(format!("/api/v1/admin/contracts/status?intent={named}"));
    let frame = frame.live(format!("/console/live/intents/{named}")).plots();
    Ok(show(&IntentPage { frame, page: page_of(&intent), moves, plots, course, versions, faults, rules }))
}

pub(crate) async fn follow_intent(Path(intent): Path<String>, follower: Follower<Team>) -> Result<Response, Failed> {
    let intent: Arc<str> = intent.into();
    follow(follower, move |visitor| {
        let intent = intent.clone();
        Box::pin(async move { render(&intent_moves(&visitor, &intent).await?) })
    })
    .await
}

async fn intent_moves(visitor: &Visitor, intent: &str) -> Result<IntentMoves, Failed> {
    let rollout = format!("/api/v1/admin/intents/{}/rollout", segment(intent));
    let (status, rollouts) = tokio::try_join!(status_of(&visitor.api, intent), visitor.api.find::<Rollouts>(&rollout))?;
    let status = status.ok_or(Failed::NoPage)?;
    let under_way = rollouts.as_ref().and_then(|rollouts| rollouts.rollout.as_ref());
    let (steps, bounds) = (under_way.map(steps).unwrap_or_default(), under_way.map(bounds).unwrap_or_default());
    Ok(IntentMoves { page: page_of(intent), steps, bounds, status, rollouts })
}
