//! Gives up the version that an intent waits for, and takes an intent out of service.

use axum::extract::Path;
use axum::response::Response;
use http::Method;

use super::{PLACE, live_in_words, page_of, status_of};
use crate::api::segment;
use crate::confirm::{Altered, Confirmation};
use crate::failure::{Failed, Problem};
use crate::frame::lead_to;
use crate::notices::with_notice;
use crate::visitor::{Sent, Team, Visitor};

async fn withdrawal(visitor: &Visitor, intent: &str, problem: Option<Problem>) -> Result<Confirmation, Failed> {
    let status = status_of(&visitor.api, intent).await?.ok_or(Failed::NoPage)?;
    let serves = live_in_words(&status);
    let coming = status.coming.ok_or(Failed::NoPage)?.name.version;
    Ok(Confirmation {
        frame: visitor.frame(PLACE, format!("Withdraw {intent} {coming}")),
        lead: format!("Version {coming} is not to serve any more. What serves goes on. It stays loaded."),
        altered: vec![
            Altered { what: "serves", before: serves.clone(), after: serves },
            Altered { what: "coming", before: coming, after: "nothing".to_owned() },
        ],
        action: format!("{}/withdraw", page_of(intent)),
        hidden: Vec::new(),
        reason: None,
        act: "Withdraw it",
        back: page_of(intent),
        problem,
    })
}

pub(super) async fn ask_to_withdraw(Team(visitor): Team, Path(intent): Path<String>) -> Result<Response, Failed> {
    Ok(withdrawal(&visitor, &intent, None).await?.show())
}

pub(super) async fn withdraw(
    Path(intent): Path<String>,
    Sent(Team(visitor), _): Sent<Team>,
) -> Result<Response, Failed> {
    let address = format!("/api/v1/admin/intents/{}/coming", segment(&intent));
    match visitor.api.send_text::<()>(Method::DELETE, &address, None).await {
        Ok(outcome) => Ok(lead_to(&with_notice(&page_of(&intent), outcome.notice("withdrawn")))),
        // It serves by now, or somebody has withdrawn it: nothing is left to confirm, and the refusal is the page.
        Err(error) if error.is_not_found() => Err(error.into()),
        Err(error) => {
            let problem = Problem::of_refusal(error)?;
            Ok(withdrawal(&visitor, &intent, Some(problem)).await?.show())
        }
    }
}

async fn unloading(visitor: &Visitor, intent: &str, problem: Option<Problem>) -> Result<Confirmation, Failed> {
    let status = status_of(&visitor.api, intent).await?.ok_or(Failed::NoPage)?;
    let after = "out of service".to_owned();
    let mut altered = vec![Altered { what: "serves", before: live_in_words(&status), after }];
    if let Some(coming) = &status.coming {
        altered.push(Altered { what: "coming", before: coming.name.version.clone(), after: "nothing".to_owned() });
    }
    if let Some(rollout) = &status.rollout {
        altered.push(Altered { what: "rollout", before: rollout.name.version.clone(), after: "ended".to_owned() });
    }
    Ok(Confirmation {
        frame: visitor.frame(PLACE, format!("Take {intent} out of service")),
        lead: "No search and no booking of this intent is answered any more. Its versions stay loaded and can be activated again."
            .to_owned(),
        altered,
        action: format!("{}/unload", page_of(intent)),
        hidden: Vec::new(),
        reason: None,
        act: "Take it out of service",
        back: page_of(intent),
        problem,
    })
}

pub(super) async fn ask_to_unload(Team(visitor): Team, Path(intent): Path<String>) -> Result<Response, Failed> {
    Ok(unloading(&visitor, &intent, None).await?.show())
}

pub(super) async fn unload(Path(intent): Path<String>, Sent(Team(visitor), _): Sent<Team>) -> Result<Response, Failed> {
    let address = format!("/api/v1/admin/intents/{}", segment(&intent));
    match visitor.api.send_text::<()>(Method::DELETE, &address, None).await {
        Ok(outcome) => Ok(lead_to(&with_notice(&page_of(&intent), outcome.notice("unloaded")))),
        Err(error) => {
            let problem = Problem::of_refusal(error)?;
            Ok(unloading(&visitor, &intent, Some(problem)).await?.show())
        }
    }
}
