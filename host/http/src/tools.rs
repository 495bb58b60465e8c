//! One call of a tool that is not a search, by reference, on behalf of a user.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::tool::{ToolAnswer, ToolRequest};
use intent_gateway_routing::calling::CallRequest;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::Asking;
use crate::body::Json;
use crate::error::{ErrorBody, Refusal};
use crate::naming::NamedIntent;
use crate::wire;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(call_tool))
}

/// Calls a tool of an intent that is not a search: books, follows, cancels.
///
/// The reference says which partner is called and about what; it is bound to the orchestrator that searched, and to the user
/// that `x-user-id` named then.
/// An altered, foreign or expired one is refused before anybody is called.
#[utoipa::path(
    post, path = "/api/v1/intents/{intent}/tools/{tool}", tag = "orchestrator",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service"),
        ("tool" = String, Path, description = "Name of the tool", example = "create_ac_service_booking"),
        ("x-user-id" = Option<String>, Header, description = "The user, by a pseudonym of the orchestrator's own"),
    ),
    request_body = ToolRequest,
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The partner's answer, which passed", body = ToolAnswer<'static>),
        (
            status = "4XX",
            description = "`INVALID_REQUEST` with every violation; `INVALID_REFERENCE`; `OPTION_EXPIRED` or \
                the intent's own code for it; `INVALID_INTENT` or `NOT_FOUND` for the path; or a code of the intent's error \
                table with the status that it gives",
            body = ErrorBody
        ),
        (
            status = "5XX",
            description = "`PARTNER_*`: the partner gave no sound answer; `CONTRACT_*`: the contract failed",
            body = ErrorBody
        ),
    )
)]
async fn call_tool(
    State(app): State<Arc<App>>,
    Path((intent, tool)): Path<(String, String)>,
    Asking { asker, request_id, trace }: Asking,
    Json(request): Json<ToolRequest>,
) -> Result<Response, Refusal> {
    let intent = NamedIntent::of(&app, intent);
    let call = CallRequest {
        intent: &intent.name,
        tool: &tool,
        reference: &request.reference,
        arguments: &intent.document(request.arguments.get()),
        asker: &asker,
        fallback_request_id: request_id.as_str(),
        trace: Some(&trace),
        listener: None,
    };
    let outcome = app.caller.call(call).await?;
    let answer = ToolAnswer::of(&intent.name, &tool, &outcome);
    wire::json(StatusCode::OK, &answer, answer.estimate_bytes())
}
