//! Rollouts: a version reaches everybody step by step, or is taken back.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::rollouts::{EndedRollout, PromotionOrder, Rollout, RolloutCourse, RolloutOrder, Rollouts};
use intent_gateway_domain::digest::Digest;
use intent_gateway_rollout::{IntentRollouts, RolloutError};
use serde::Deserialize;

use crate::App;
use crate::acting::Team;
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// About what a sample of a course takes, bytes.
const COURSE_SAMPLE_BYTES: usize = 160;

impl From<RolloutError> for Refusal {
    fn from(error: RolloutError) -> Self {
        let told = error.to_string();
        match error {
            RolloutError::None(_) => Self::new(Code::NotFound).message(told),
            RolloutError::NothingLive(_) => Self::conflict("NOTHING_LIVE", told),
            RolloutError::Live(_) => Self::conflict("ALREADY_LIVE", told),
            RolloutError::UnderWay(_) => Self::conflict("ROLLOUT_UNDER_WAY", told),
            RolloutError::Policy(_) => Self::new(Code::InvalidRequest).message(told),
            RolloutError::Catalogue(error) => error.into(),
        }
    }
}

/// Rolls a loaded version out, stage by stage.
///
/// First it serves nobody, and ranks again a part of what the live version has ranked; then it serves a growing share of the users;
/// then it is live. A stage ends when enough was seen for long enough. A bound that is broken takes it back at all gateways.
#[utoipa::path(
    post, path = "/api/v1/admin/contracts/{digest}/promote", operation_id = "promote_contract", tag = "admin",
    params(("digest" = String, Path, description = "SHA-256 of the component, 64 hexadecimal characters")),
    request_body = PromotionOrder,
    security(("bearer" = ["admin"])),
    responses(
        (status = 201, description = "Its first stage has begun", body = Rollout),
        (status = 400, description = "`INVALID_REQUEST`: no reason, or a policy that cannot be followed", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such version is loaded", body = ErrorBody),
        (status = 409, description = "`NOTHING_LIVE`: there is nothing to compare it with; `ALREADY_LIVE`; `ROLLOUT_UNDER_WAY`: another version is on its way", body = ErrorBody),
    )
)]
pub(super) async fn promote(
    State(app): State<Arc<App>>,
    Path(digest): Path<String>,
    Team(team): Team,
    Json(order): Json<PromotionOrder>,
) -> Result<Response, Refusal> {
    let unknown = |_| Refusal::new(Code::NotFound).message("No such version is loaded.");
    let digest: Digest = digest.parse().map_err(unknown)?;
    let PromotionOrder { why, policy } = order;
    let order = intent_gateway_rollout::RolloutOrder { digest, policy, why, by: team };
    let status = app.rollouts.begin(order).await?;
    wire::json(StatusCode::CREATED, &Rollout::from(status), wire::SMALL_BYTES)
}

/// What may be asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RolloutQuery {
    #[serde(default)]
    course: bool,
}

/// Shows the rollout of an intent that is under way, with what was seen of it, and how the last one ended.
#[utoipa::path(
    get, path = "/api/v1/admin/intents/{intent}/rollout", tag = "admin",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service"),
        ("course" = Option<bool>, Query, description = "With how the figures of the latest one went; false when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Rollouts of the intent", body = Rollouts),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no contract of the intent was ever loaded", body = ErrorBody),
    )
)]
pub(super) async fn show_rollout(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    query: Result<Query<RolloutQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(RolloutQuery { course }) = query.map_err(|_| {
        Refusal::new(Code::InvalidRequest).message("The query parameter is `course`, `true` or `false`, at most once.")
    })?;
    show(&app, intent, course).await
}

/// Pauses a rollout, resumes or aborts it, or goes on without waiting for what a stage lacks.
#[utoipa::path(
    post, path = "/api/v1/admin/intents/{intent}/rollout", operation_id = "act_on_rollout", tag = "admin",
    params(("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service")),
    request_body = RolloutOrder,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Done; the rollouts of the intent afterwards", body = Rollouts),
        (status = 400, description = "`INVALID_REQUEST`: no such act, or no reason", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no rollout of the intent is under way", body = ErrorBody),
    )
)]
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    Team(team): Team,
    Json(RolloutOrder { act, why }): Json<RolloutOrder>,
) -> Result<Response, Refusal> {
    app.rollouts.act(&intent, act.into(), why, team).await?;
    show(&app, intent, false).await
}

async fn show(app: &App, intent: String, with_course: bool) -> Result<Response, Refusal> {
    let IntentRollouts { current, last } = app.rollouts.rollout(&intent).await?;
    let (rollout, last) = (current.map(Rollout::from), last.map(EndedRollout::from));
    let course = app.rollouts.course(&intent).filter(|_| with_course).map(RolloutCourse::from);
    let bytes = wire::SMALL_BYTES + course.as_ref().map_or(0, |course| course.at_ms.len() * COURSE_SAMPLE_BYTES);
    wire::json(StatusCode::OK, &Rollouts { intent, rollout, last, course }, bytes)
}
