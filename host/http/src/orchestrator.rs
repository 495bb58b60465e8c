//! What an orchestrator does: lists intents, classifies an utterance, searches.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use intent_gateway_api::classification::ClassifyRequest;
use intent_gateway_api::intents::{IntentDetail, IntentList, IntentSummary};
use intent_gateway_api::search::SearchAnswer;
use intent_gateway_domain::classify::{Classified, classify as classify_utterance};
use intent_gateway_routing::search::SearchRequest;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::Asking;
use crate::body::{Json, JsonText};
use crate::connections::Answering;
use crate::error::{Code, ErrorBody, Refusal, STALE};
use crate::naming::NamedIntent;
use crate::streams;
use crate::wire;

/// About what an intent takes in the list, bytes.
const INTENT_BYTES: usize = 8 * 1024;

/// The live intents: a partner writes its manifest and its tools by them.
pub(crate) fn catalogue_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(list_intents)).routes(routes!(show_intent))
}

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(classify)).routes(routes!(search))
}

/// Lists the live intents.
#[utoipa::path(
    get, path = "/api/v1/intents", tag = "orchestrator",
    security(("bearer" = ["orchestrator"]), ("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses((status = 200, description = "The live intents, of one moment", body = IntentList))
)]
async fn list_intents(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let contracts = app.searcher.contracts.all();
    let intents = contracts.iter().map(|contract| IntentSummary::from(&**contract)).collect();
    wire::json(StatusCode::OK, &IntentList { intents }, contracts.len() * INTENT_BYTES)
}

/// Shows everything that the live contract of an intent declares.
#[utoipa::path(
    get, path = "/api/v1/intents/{intent}", tag = "orchestrator",
    params(("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service")),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The live contract", body = IntentDetail<'static>),
        (status = 404, description = "`INVALID_INTENT`: no live intent of that name", body = ErrorBody),
    )
)]
async fn show_intent(State(app): State<Arc<App>>, Path(intent): Path<String>) -> Result<Response, Refusal> {
    let contract = app.searcher.contracts.live(&intent).ok_or(Code::InvalidIntent)?;
    let sample = contract.sample().await.unwrap_or_else(|fault| {
        tracing::warn!(intent, code = fault.code(), error = %fault, "a contract gave no sample");
        None
    });
    let sample = sample.as_ref().map(|sample| sample.request.as_str());
    wire::json(StatusCode::OK, &IntentDetail::new(&*contract, sample), 2 * INTENT_BYTES)
}

/// Finds the intent of an utterance.
///
/// Every contract one of whose cues occurs gives its opinion; words may be misspelt a little. A contract claims the
/// utterance with a score from 0.5, and the best claim is decided on (`intent`), unless its contract leaves the
/// utterance to another claimant. Claims that rest on other words are further wishes, listed under `also` with
/// the pairs that the decided contract proposes; of several sure wishes the one said first is decided on. Without
/// a claim the answer names the intent that a contract points to (`elsewhere`), or none (`none`).
#[utoipa::path(
    post, path = "/api/v1/classify", tag = "orchestrator",
    request_body = ClassifyRequest,
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses((status = 200, description = "What the utterance turned out to be", body = Classified))
)]
async fn classify(
    State(app): State<Arc<App>>,
    Json(ClassifyRequest { utterance, locale }): Json<ClassifyRequest>,
) -> Result<Response, Refusal> {
    if app.searcher.contracts.is_stale() {
        return Err(Refusal::new(Code::StoreUnavailable).internal(STALE));
    }
    let classified = classify_utterance(&*app.searcher.contracts, &utterance, &locale).await;
    wire::json(StatusCode::OK, &classified, wire::SMALL_BYTES)
}

/// Searches: checks the request, asks the partners, ranks what they offer.
///
/// The body is the intent's own input; its JSON Schema is `request_schema` of the intent. An alias in path or body means the
/// intent that has it, and the answer names that. One partner's trouble
/// never sinks the search: `partners` says who answered, failed or was left out, and why.
///
/// With `Accept: text/event-stream` the answer is a stream of server-sent events: after a partner's answer a `snapshot` with the
/// whole ranked answer so far, `complete: false` and, under `awaited`, the partners that have not answered; the last one
/// is `complete` and what the plain answer would have been. Then comes `end`.
#[utoipa::path(
    post, path = "/api/v1/intents/{intent}/search", tag = "orchestrator",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service"),
        ("x-user-id" = Option<String>, Header, description = "The user, by a pseudonym of the orchestrator's own: 1 to 128 \
            visible ASCII characters. References are then good for this user alone"),
    ),
    request_body(content = Object, content_type = "application/json", description = "The intent's input"),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (
            status = 200,
            description = "Ranked options, or none with a `code`; or events",
            content((SearchAnswer<'static> = "application/json"), (String = "text/event-stream"))
        ),
        (status = 400, description = "`INVALID_REQUEST`, with every violation", body = ErrorBody),
        (status = "4XX", description = "Another code of the intent's error table, with the status that it gives", body = ErrorBody),
        (status = "5XX", description = "Likewise", body = ErrorBody),
        (status = 404, description = "`INVALID_INTENT`: no live intent of that name", body = ErrorBody),
        (status = 502, description = "`CONTRACT_*`: the contract itself failed", body = ErrorBody),
    )
)]
async fn search(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    reading: Option<Extension<Answering>>,
    headers: HeaderMap,
    Asking { asker, request_id, trace }: Asking,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let intent = NamedIntent::of(&app, intent);
    let request = SearchRequest {
        intent: &intent.name,
        body: &intent.document(&body),
        asker: &asker,
        fallback_request_id: request_id.as_str().to_owned(),
        trace: Some(trace),
    };
    if streams::wants_events(&headers) {
        let reading = reading.map(|Extension(reading)| reading);
        return streams::search(Arc::clone(&app), request, request_id, reading).await;
    }
    let outcome = app.searcher.search_for(request).await?;
    let answer = SearchAnswer::from(&outcome);
    wire::json(StatusCode::OK, &answer, answer.estimate_bytes())
}
