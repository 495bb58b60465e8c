//! Pages of intents: all of them ([`list`]), one with its versions and its rollout ([`one`]), what is done with them ([`acts`]), how a
//! version comes in ([`load`]), and what it would have made of what was ranked ([`comparison`]).

mod acts;
mod comparison;
mod comparison_report;
mod course;
mod list;
mod load;
mod one;
mod rollout;
mod rules;
mod track;
mod withdrawal;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use intent_gateway_api::contracts::{IntentStatus, IntentStatuses, LoadedVersion, LoadedVersions, Origin};
use intent_gateway_api::name;

pub(super) use self::comparison::hear_comparison;
pub(super) use self::one::follow_intent;
use crate::Console;
use crate::api::{Api, ApiError, segment};
use crate::view;

const BYTES_PER_KIB: usize = 1_024;
/// In the navigation.
const PLACE: &str = "/console/intents";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route(PLACE, get(list::show_intents))
        .route(load::ADDRESS, get(load::show_form))
        .route("/console/intents/{intent}", get(one::show_intent))
        .route("/console/plots/intents/{intent}/{what}", get(course::send_plot))
        .route("/console/intents/{intent}/activate", get(acts::ask_to_activate).post(acts::activate))
        .route("/console/intents/{intent}/compare", get(comparison::show_form).post(comparison::compare))
        .route("/console/intents/{intent}/promote", get(rollout::ask_to_promote).post(rollout::promote))
        .route("/console/intents/{intent}/rollout", get(rollout::ask_to_act).post(rollout::act))
        .route("/console/intents/{intent}/policy", post(acts::set_policy).get(acts::lead_to_intent))
        .route("/console/intents/{intent}/withdraw", get(withdrawal::ask_to_withdraw).post(withdrawal::withdraw))
        .route("/console/intents/{intent}/unload", get(withdrawal::ask_to_unload).post(withdrawal::unload))
}

/// They take longer than other pages.
pub(super) fn load_routes() -> Router<Arc<Console>> {
    Router::new().route(load::COMPONENT, post(load::load).get(load::lead_to_form))
}

/// The address of an intent's page.
fn page_of(intent: &str) -> String {
    format!("{PLACE}/{}", segment(intent))
}

/// What is wanted of an intent, and what each gateway has; none where no contract of it was ever loaded.
async fn status_of(api: &Api, intent: &str) -> Result<Option<IntentStatus>, ApiError> {
    let address = format!("/api/v1/admin/contracts/status?intent={}", segment(intent));
    let statuses = api.get::<IntentStatuses>(&address).await?;
    Ok(statuses.intents.into_iter().find(|status| status.intent == intent))
}

/// The versions of an intent that are ready at this gateway, the latest first.
async fn versions_of(api: &Api, intent: &str) -> Result<Vec<LoadedVersion>, ApiError> {
    let loaded = api.get::<LoadedVersions>("/api/v1/admin/contracts").await?;
    let mut versions: Vec<_> = loaded.contracts.into_iter().filter(|version| version.intent == intent).collect();
    versions.reverse();
    Ok(versions)
}

/// The version that serves an intent, in words.
fn live_in_words(status: &IntentStatus) -> String {
    status.live.as_ref().map_or_else(|| "out of service".to_owned(), |live| live.version.clone())
}

/// Bytes in KiB, as they are shown.
fn kib(bytes: usize) -> String {
    view::count(bytes.div_ceil(BYTES_PER_KIB).try_into().unwrap_or(u64::MAX))
}

/// Where a component came from, in words.
fn origin_in_words(origin: &Origin) -> String {
    match &origin.name {
        Some(from) => format!("{}: {from}", name(&origin.kind)),
        None => name(&origin.kind),
    }
}
