//! A dry run of a mapping, before anything of it is submitted.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::trial::{TrialBody, TrialResult, mapping};
use intent_gateway_domain::contract::{self, Violation};
use intent_gateway_domain::endpoint::IntentShape;
use intent_gateway_routing::trial::{Trial, TrialError, run};

use crate::App;
use crate::acting::Acting;
use crate::body::Json;
use crate::error::{ErrorBody, Refusal, refuse_document, refuse_intent};
use crate::request_id::RequestId;
use crate::wire;

/// About what a result takes besides the answer, bytes.
const RESULT_BYTES: usize = 8 * 1024;

/// Tries a mapping on an answer of the API that is pasted: what would be sent, what becomes of the answer, and what the
/// intent's contract says of each option.
///
/// Nobody is called, and nothing is kept or recorded against the partner. A body has at most 256 KiB: of a longer answer, some
/// items will do.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/manifest/{account_id}/try", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = TrialBody,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "What would come of the call", body = TrialResult),
        (
            status = 400,
            description = "`INVALID_REQUEST`, with every violation of the mapping (`/mapping`) or of the arguments \
                (`/arguments`); `INVALID_INTENT`: no live intent of that name",
            body = ErrorBody
        ),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
        (status = 502, description = "`CONTRACT_*`: the contract itself failed", body = ErrorBody),
    )
)]
pub(super) async fn try_mapping(
    State(app): State<Arc<App>>,
    acting: Acting,
    Extension(request_id): Extension<RequestId>,
    Json(body): Json<TrialBody>,
) -> Result<Response, Refusal> {
    app.onboarding.accounts.get(&acting.account).await?;
    let live = app
        .searcher
        .contracts
        .live(&body.intent)
        .ok_or_else(|| refuse_intent(format!("there is no intent `{}`", body.intent)))?;
    let mapping = mapping(&body.mapping).map_err(refuse)?;
    let mismatches = mapping.compare(&IntentShape::from(live.descriptor()));
    let answer = body.answer_text();
    let trial = Trial {
        mapping: &mapping,
        tool: &body.tool,
        arguments: body.arguments.get(),
        status: body.status,
        answer: &answer,
    };
    let now = app.searcher.clock.now();
    let report = run(&*live, &acting.account, trial, request_id.as_str().to_owned(), now).await;
    let report = report.map_err(|error| match error {
        TrialError::UnknownTool(message) => {
            refuse(vec![Violation { pointer: "/tool".to_owned(), code: "UNKNOWN_TOOL".to_owned(), message }])
        }
        TrialError::Refused(contract::Refusal { violations, .. }) => {
            refuse(violations.into_iter().map(|violation| violation.within("/arguments")).collect())
        }
        TrialError::Contract(fault) => fault.into(),
    })?;
    let is_search = live.descriptor().search.tool == body.tool;
    wire::json(StatusCode::OK, &TrialResult::of(report, mismatches, is_search), answer.len() + RESULT_BYTES)
}

fn refuse(violations: Vec<Violation>) -> Refusal {
    refuse_document(contract::Refusal::invalid_request(violations))
}
