//! Makes a version of an intent live, and says what new versions of a folder do.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use http::{Method, StatusCode};
use intent_gateway_api::contracts::{ActivationOutcome, LoadedVersion, PolicyOrder, VersionAct};

use super::{PLACE, live_in_words, page_of, status_of, versions_of};
use crate::api::segment;
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::lead_to;
use crate::notices::with_notice;
use crate::visitor::{Fields, Sent, Team, Visitor};

/// In a link to a version and in its form.
pub(super) const DIGEST: &str = "digest";

/// The version that a link or a form names.
pub(super) async fn version_of(visitor: &Visitor, intent: &str, digest: &str) -> Result<LoadedVersion, Failed> {
    let versions = versions_of(&visitor.api, intent).await?;
    versions.into_iter().find(|version| version.digest.to_string() == digest).ok_or(Failed::NoPage)
}

/// Whether a version has served before, or does so now.
fn has_served(version: &LoadedVersion) -> bool {
    version.live || version.history.iter().any(|event| event.act == VersionAct::WentLive)
}

async fn activation(
    visitor: &Visitor,
    intent: &str,
    digest: &str,
    problem: Option<Problem>,
) -> Result<Confirmation, Failed> {
    let version = version_of(visitor, intent, digest).await?;
    let status = status_of(&visitor.api, intent).await?.ok_or(Failed::NoPage)?;
    let number = &version.version;
    let lead = if has_served(&version) {
        format!(
            "Version {number} has served before. It decides for all users again, as soon as every gateway has it ready."
        )
    } else {
        format!("Version {number} has never served. It decides for all users, as soon as every gateway has it ready.")
    };
    let mut altered = vec![Altered { what: "serves", before: live_in_words(&status), after: number.clone() }];
    if let Some(coming) = status.coming.as_ref().filter(|coming| coming.name.digest != version.digest) {
        altered.push(Altered { what: "coming", before: coming.name.version.clone(), after: "given up".to_owned() });
    }
    if let Some(rollout) = &status.rollout {
        // What takes the place of the live version leaves nothing to compare a candidate with.
        let before = format!("{} for {} % of the users", rollout.name.version, rollout.share_percent);
        altered.push(Altered { what: "rollout", before, after: "ended".to_owned() });
    }
    Ok(Confirmation {
        frame: visitor.frame(PLACE, format!("Activate {intent} {number}")),
        lead,
        altered,
        action: format!("{}/activate", page_of(intent)),
        hidden: vec![(DIGEST, digest.to_owned())],
        reason: None,
        act: "Activate it",
        back: page_of(intent),
        problem,
    })
}

pub(super) async fn ask_to_activate(
    Team(visitor): Team,
    Path(intent): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    Ok(activation(&visitor, &intent, asked.text(DIGEST), None).await?.show())
}

pub(super) async fn activate(
    Path(intent): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let digest = fields.text(DIGEST);
    let address = format!("/api/v1/admin/contracts/{}/activate", segment(digest));
    match visitor.api.send_text::<ActivationOutcome>(Method::POST, &address, None).await {
        Ok(outcome) => Ok(lead_to(&with_notice(&page_of(&intent), outcome.notice("activated")))),
        Err(error) => {
            let problem = Problem::of_refusal(error)?;
            Ok(activation(&visitor, &intent, digest, Some(problem)).await?.show_again(fields.text("reason")))
        }
    }
}

/// Whoever opens the address of a form alone.
pub(super) async fn lead_to_intent(Path(intent): Path<String>) -> Response {
    lead_to(&page_of(&intent))
}

pub(super) async fn set_policy(
    Path(intent): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let policy = fields.word("policy").ok_or(Failed::Form(StatusCode::UNPROCESSABLE_ENTITY))?;
    let address = format!("/api/v1/admin/intents/{}/policy", segment(&intent));
    let outcome = visitor.api.send::<()>(Method::PUT, &address, &PolicyOrder { policy }).await?;
    Ok(lead_to(&with_notice(&page_of(&intent), outcome.notice("saved"))))
}
