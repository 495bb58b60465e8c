//! Begins the rollout of a version, and pauses it, resumes, advances, finishes or aborts it, each with a reason.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use http::{Method, StatusCode};
use intent_gateway_api::contracts::RolledOutVersion;
use intent_gateway_api::name;
use intent_gateway_api::rollouts::{PromotionOrder, Rollout, RolloutAct, RolloutOrder, Rollouts};

use super::acts::{DIGEST, version_of};
use super::{PLACE, live_in_words, page_of, status_of};
use crate::api::segment;
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::lead_to;
use crate::notices::with_notice;
use crate::visitor::{Fields, Sent, Team, Visitor};

/// In a link to an act and in its form.
const ACT: &str = "act";
const REASON: &str = "reason";

async fn promotion(
    visitor: &Visitor,
    intent: &str,
    digest: &str,
    problem: Option<Problem>,
) -> Result<Confirmation, Failed> {
    let version = version_of(visitor, intent, digest).await?;
    let status = status_of(&visitor.api, intent).await?.ok_or(Failed::NoPage)?;
    let number = version.version;
    let live = live_in_words(&status);
    Ok(Confirmation {
        frame: visitor.frame(PLACE, format!("Roll out {intent} {number}")),
        lead: format!(
            "Version {number} first ranks beside serving, then decides for a growing share of the users, then for all, by the \
             usual stages and bounds. A bound that is broken takes it back."
        ),
        altered: vec![Altered { what: "serves", after: format!("{live}, and {number} step by step"), before: live }],
        action: format!("{}/promote", page_of(intent)),
        hidden: vec![(DIGEST, digest.to_owned())],
        reason: Some("Why, for the audit log"),
        act: "Begin the rollout",
        back: page_of(intent),
        problem,
    })
}

pub(super) async fn ask_to_promote(
    Team(visitor): Team,
    Path(intent): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    Ok(promotion(&visitor, &intent, asked.text(DIGEST), None).await?.show())
}

pub(super) async fn promote(
    Path(intent): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let digest = fields.text(DIGEST);
    let order = PromotionOrder { why: fields.text(REASON).to_owned(), policy: None };
    let address = format!("/api/v1/admin/contracts/{}/promote", segment(digest));
    match visitor.api.send::<Rollout>(Method::POST, &address, &order).await {
        Ok(outcome) => Ok(lead_to(&with_notice(&page_of(&intent), outcome.notice("rollout")))),
        Err(error) => {
            let problem = Problem::of_refusal(error)?;
            Ok(promotion(&visitor, &intent, digest, Some(problem)).await?.show_again(fields.text("reason")))
        }
    }
}

/// What an act is called: the title of its page, the button, what it does, and what follows.
fn describe(act: RolloutAct, rollout: &RolledOutVersion, live: &str) -> (&'static str, &'static str, String, String) {
    let number = &rollout.name.version;
    let is_last = rollout.stage + 1 >= rollout.stages;
    match act {
        RolloutAct::Pause => (
            "Pause the rollout",
            "Pause it",
            format!("Version {number} stays in its stage until somebody resumes. Its bounds hold on."),
            "paused in the same stage".to_owned(),
        ),
        RolloutAct::Resume => (
            "Resume the rollout",
            "Resume it",
            format!("The rollout of version {number} goes on where it was paused."),
            "goes on in the same stage".to_owned(),
        ),
        RolloutAct::Advance if is_last => (
            "Advance the rollout",
            "Make it live",
            format!("This is the last stage: version {number} is live for all users now, whatever is lacking."),
            format!("{number} for all users"),
        ),
        RolloutAct::Advance => (
            "Advance the rollout",
            "Begin the next stage",
            format!("The next stage of version {number} begins now, whatever this one lacks."),
            format!("stage {} of {}", rollout.stage + 2, rollout.stages),
        ),
        RolloutAct::Finish => (
            "Finish the rollout",
            "Make it live",
            format!("Version {number} is live for all users now, whatever is lacking."),
            format!("{number} for all users"),
        ),
        RolloutAct::Abort => (
            "Abort the rollout",
            "Take it back",
            format!("Version {number} is taken back. The live version decides for all users again."),
            format!("{live} for all users"),
        ),
    }
}

async fn action(
    visitor: &Visitor,
    intent: &str,
    act: RolloutAct,
    problem: Option<Problem>,
) -> Result<Confirmation, Failed> {
    let status = status_of(&visitor.api, intent).await?;
    let live = status.as_ref().map(live_in_words).unwrap_or_default();
    let rollout = status.and_then(|status| status.rollout).ok_or(Failed::NoPage)?;
    let (title, button, lead, after) = describe(act, &rollout, &live);
    let paused = if rollout.is_paused { ", paused" } else { "" };
    let before = format!(
        "{} for {} % of the users, stage {} of {}{paused}",
        rollout.name.version,
        rollout.share_percent,
        rollout.stage + 1,
        rollout.stages
    );
    Ok(Confirmation {
        frame: visitor.frame(PLACE, format!("{title} of {intent}")),
        lead,
        altered: vec![Altered { what: "rollout", before, after }],
        action: format!("{}/rollout", page_of(intent)),
        hidden: vec![(ACT, name(&act))],
        reason: Some("Why, for the audit log"),
        act: button,
        back: page_of(intent),
        problem,
    })
}

pub(super) async fn ask_to_act(
    Team(visitor): Team,
    Path(intent): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let act = asked.word(ACT).ok_or(Failed::NoPage)?;
    Ok(action(&visitor, &intent, act, None).await?.show())
}

pub(super) async fn act(
    Path(intent): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let act = fields.word(ACT).ok_or(Failed::Form(StatusCode::UNPROCESSABLE_ENTITY))?;
    let order = RolloutOrder { act, why: fields.text(REASON).to_owned() };
    let address = format!("/api/v1/admin/intents/{}/rollout", segment(&intent));
    match visitor.api.send::<Rollouts>(Method::POST, &address, &order).await {
        Ok(outcome) => Ok(lead_to(&with_notice(&page_of(&intent), outcome.notice("rollout")))),
        // The rollout may have ended meanwhile: then there is nothing to confirm, and the refusal is the page.
        Err(error) if error.is_not_found() => Err(error.into()),
        Err(error) => {
            let problem = Problem::of_refusal(error)?;
            Ok(action(&visitor, &intent, act, Some(problem)).await?.show_again(fields.text("reason")))
        }
    }
}
