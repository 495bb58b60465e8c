//! An account: where it stands, its profile, its manifest, its endpoint.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use intent_gateway_api::account::OverviewBody;
use intent_gateway_api::connection::{ConnectionBody, EndpointRequest};
use intent_gateway_api::manifest::{ManifestsBody, PhoneManifestBody, SubmittedBody};
use intent_gateway_domain::contract;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_onboarding::POLICY_URL;
use intent_gateway_onboarding::compliance::Profile;
use serde_json::Value;

use crate::App;
use crate::acting::Acting;
use crate::body::{Json, JsonText};
use crate::error::{Code, ErrorBody, Refusal, refuse_document};
use crate::wire;

/// About what an account, a manifest or a connection takes, bytes.
const RECORD_BYTES: usize = 8 * 1024;

/// Shows where an account stands, and what is next.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}", operation_id = "show_account", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The account with all that belongs to it", body = OverviewBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn overview(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let overview = app.onboarding.accounts.overview(&acting.account).await?;
    wire::json(StatusCode::OK, &OverviewBody::from(overview), RECORD_BYTES)
}

/// Ends all sessions of the account: no token that was issued before is accepted any more, this one included.
///
/// Secrets go on working; `rotate` with `at_once` ends those.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/accounts/{account_id}/sessions/end", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 204, description = "Ended"),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn end_sessions(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    app.onboarding.sessions.end_all(&acting.account, &acting.requester()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Keeps what the compliance review looks at: legal entity, tax number, licences, privacy policy.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/accounts/{account_id}/profile", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body(content = Profile, description = "The profile as a whole"),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The account with the profile", body = OverviewBody),
        (status = 400, description = "`INVALID_REQUEST`, with every violation; nothing changed", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn set_profile(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let profile = read_profile(&app, &body)?;
    app.onboarding.accounts.set_profile(&acting.account, profile, &acting.actor).await?;
    let overview = app.onboarding.accounts.overview(&acting.account).await?;
    wire::json(StatusCode::OK, &OverviewBody::from(overview), RECORD_BYTES)
}

/// Reads a profile with all that is wrong with it: what its form tells, and, where the form tells nothing of it, whether
/// its privacy policy may be fetched at all.
fn read_profile(app: &App, body: &str) -> Result<Profile, Refusal> {
    intent_gateway_api::read::read(body).map_err(|mut violations| {
        let judged = violations.iter().any(|violation| violation.pointer == POLICY_URL);
        let members: Value = serde_json::from_str(body).unwrap_or_default();
        let url = members.pointer(POLICY_URL).and_then(Value::as_str).filter(|_| !judged);
        violations.extend(url.and_then(|url| app.onboarding.accounts.check_policy_url(url)));
        refuse_document(contract::Refusal::invalid_request(violations))
    })
}

/// Submits a manifest; the one before is replaced.
///
/// An approved one stays in force until the platform team has decided on the new one. What is wrong with the fields
/// that are reviewed comes back as `warnings` and goes to the reviewer.
#[utoipa::path(
    post, path = "/api/v1/business/tier1/manifest/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body(content = Object, content_type = "application/json", description = "The manifest"),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Kept, and sent for review where that was asked for", body = SubmittedBody),
        (status = 400, description = "`INVALID_REQUEST` or `INVALID_INTENT`, with every violation; nothing changed", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn submit_manifest(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let manifest = read_value(&body)?;
    let submitted = app.onboarding.submissions.submit(&acting.account, &manifest, &acting.actor).await?;
    wire::json(StatusCode::OK, &SubmittedBody::from(submitted), RECORD_BYTES)
}

/// Writes the manifest of a business that has no server and is reached by phone, out of a short form.
///
/// Nothing is submitted or kept: the answer is the manifest, with what the checks at submit say of it, and what that path
/// cannot do. What is wrong with the form is told as of a manifest, with places in the form.
#[utoipa::path(
    post, path = "/api/v1/business/tier2/manifest/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body(content = Object, content_type = "application/json", description = "`business_name`, `legal_name`, \
        `phone`, `service_area`, `availability` where it is not always open, and `services`, each with `intent`, `pricing` \
        and perhaps a `description`"),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The manifest, and the limits of the path", body = PhoneManifestBody),
        (status = 400, description = "`INVALID_REQUEST` or `INVALID_INTENT`, with every violation", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn write_phone_manifest(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let written = app.onboarding.submissions.generate_by_phone(&acting.account, &read_value(&body)?).await?;
    wire::json(StatusCode::OK, &PhoneManifestBody::from(written), RECORD_BYTES)
}

/// A body that means what the domain makes of it.
fn read_value(body: &str) -> Result<Value, Refusal> {
    serde_json::from_str(body).map_err(|error| {
        Refusal::new(Code::InvalidRequest).message("The body cannot be read.").internal(error.to_string())
    })
}

/// Shows the latest manifest and the one in force.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/manifest/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The manifests", body = ManifestsBody),
        (status = 404, description = "`NOT_FOUND`: none was submitted", body = ErrorBody),
    )
)]
pub(super) async fn show_manifest(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let manifests = app.onboarding.submissions.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ManifestsBody::from(manifests), RECORD_BYTES)
}

/// Registers where the partner is called.
///
/// Another endpoint than before is probed and tested anew; a live connection goes back to the sandbox by it. That takes
/// a token that comes of a sign-in by a mailed code within the last 15 minutes. The owner is told by mail of each, the first one
/// as well, with a code that undoes it. An admin's token takes the scope `all`.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/connection/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = EndpointRequest,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection", body = ConnectionBody),
        (status = 400, description = "`INVALID_REQUEST`: among others, an address that is not HTTPS or not public", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
pub(super) async fn register_endpoint(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(endpoint): Json<EndpointRequest>,
) -> Result<Response, Refusal> {
    let endpoint = Endpoint::from(endpoint);
    let connection = app.onboarding.connections.register(&acting.account, &endpoint, &acting.requester()).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(connection), RECORD_BYTES)
}

/// Shows the connection, with what the last probe and the tests saw.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/connection/{account_id}", operation_id = "show_own_connection", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection", body = ConnectionBody),
        (status = 404, description = "`NOT_FOUND`: no endpoint was registered", body = ErrorBody),
    )
)]
pub(super) async fn show_connection(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(connection), RECORD_BYTES)
}
