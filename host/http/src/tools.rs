//! One call of a tool that is no search, by reference, on behalf of a user.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, HeaderName, StatusCode};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::id::UserId;
use intent_gateway_domain::trace::Trace;
use intent_gateway_routing::calling::{CallOutcome, CallRequest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::body::JsonText;
use crate::error::{Code, ErrorBody, Refusal};
use crate::request_id::RequestId;
use crate::wire::{self, ContractVersion, Violation as WireViolation};

/// Names the user for whom something is searched or called: the orchestrator's own pseudonym.
const USER: HeaderName = HeaderName::from_static("x-user-id");

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(call_tool))
}

/// The user that a request is for.
///
/// # Errors
/// `INVALID_REQUEST` when the header is there and names nobody.
pub(crate) fn user(headers: &HeaderMap) -> Result<Option<UserId>, Refusal> {
    let mut values = headers.get_all(USER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    text.and_then(|text| UserId::parse(text).ok()).map(Some).ok_or_else(|| {
        Refusal::new(Code::InvalidRequest)
            .message("`x-user-id` must stand once, with 1 to 128 visible ASCII characters.")
    })
}

/// What is to be called.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolRequest {
    /// The `reference` of an option of a search, or of an earlier call's answer.
    pub(crate) reference: String,
    /// The tool's arguments; their JSON Schema is the tool's `request_schema`. The identifier that the reference is about
    /// may be left out.
    #[schema(value_type = Object)]
    pub(crate) arguments: Box<RawValue>,
}

impl ToolRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// `INVALID_REQUEST` where it is another.
    pub(crate) fn read(body: &str) -> Result<Self, Refusal> {
        serde_json::from_str(body).map_err(|error| {
            let (pointer, code, message) = (String::new(), "WRONG_TYPE".to_owned(), error.to_string());
            Refusal::new(Code::InvalidRequest).violations(vec![Violation { pointer, code, message }])
        })
    }
}

/// An answer that passed.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolAnswer<'a> {
    /// The `request_id` of the arguments, or the one given to the request.
    request_id: &'a str,
    /// The intent.
    intent: &'a str,
    /// The tool that answered: the one that was called, or, where its answer was lost and the order was found among the
    /// partner's, the one that lists these.
    tool: &'a str,
    /// The contract version that judged.
    contract: ContractVersion,
    /// Who answered.
    partner: &'a str,
    /// Opaque; what later calls about it go by. Null where the answer carries no identifier.
    #[schema(required)]
    reference: Option<&'a str>,
    /// An advisory code of the intent's error table that is no failure, for example `CANCELLATION_FEE_DUE`.
    #[schema(required)]
    advisory: Option<&'a str>,
    /// The answer as the partner wrote it.
    #[schema(value_type = Object)]
    payload: &'a RawValue,
    /// Advice on the arguments that refuses nothing.
    notes: Vec<WireViolation<'a>>,
    /// How long the partner took, milliseconds.
    elapsed_ms: u64,
}

impl<'a> ToolAnswer<'a> {
    pub(crate) fn of(intent: &'a str, tool: &'a str, outcome: &'a CallOutcome) -> Self {
        let CallOutcome { request_id, contract, partner, payload, reference, advisory, by, notes, elapsed } = outcome;
        let version = contract.descriptor().version.to_string();
        Self {
            request_id,
            intent,
            tool: by.as_deref().unwrap_or(tool),
            contract: ContractVersion { version, digest: contract.digest() },
            partner: partner.id.as_str(),
            reference: reference.as_deref(),
            advisory: advisory.as_deref(),
            payload,
            notes: notes.iter().map(WireViolation::from).collect(),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// About how long the answer is, bytes.
    pub(crate) fn estimate_bytes(&self) -> usize {
        self.payload.get().len() + wire::SMALL_BYTES
    }
}

/// Calls a tool of an intent that is no search: books, follows, cancels.
///
/// The reference says which partner is called and about what; it is bound to the user that `x-user-id` named in the search.
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
            description = "`INVALID_REQUEST` with every violation; `INVALID_REFERENCE`; `NOT_BOOKABLE`; `OPTION_EXPIRED` or \
                the intent's own code for it; `INVALID_INTENT` or `NOT_FOUND` for the path; or a code of the intent's error \
                table with the status that it gives",
            body = ErrorBody<'static>
        ),
        (
            status = "5XX",
            description = "`PARTNER_*`: the partner gave no sound answer; `CONTRACT_*`: the contract failed",
            body = ErrorBody<'static>
        ),
    )
)]
async fn call_tool(
    State(app): State<Arc<App>>,
    Path((intent, tool)): Path<(String, String)>,
    Extension(request_id): Extension<RequestId>,
    Extension(trace): Extension<Arc<Trace>>,
    headers: HeaderMap,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let user = user(&headers)?;
    let request = ToolRequest::read(&body)?;
    let call = CallRequest {
        intent: &intent,
        tool: &tool,
        reference: &request.reference,
        arguments: request.arguments.get(),
        user: user.as_ref(),
        fallback_request_id: request_id.as_str(),
        trace: Some(&trace),
        progress: None,
    };
    let outcome = app.caller.call(call).await?;
    let answer = ToolAnswer::of(&intent, &tool, &outcome);
    wire::json(StatusCode::OK, &answer, answer.estimate_bytes())
}
