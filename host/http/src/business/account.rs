//! An account: where it stands, its profile, its manifest, its endpoint.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_onboarding::compliance::Profile;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::App;
use crate::acting::Acting;
use crate::body::JsonText;
use crate::error::{Code, ErrorBody, Refusal};
use crate::fields::Fields;
use crate::onboarding_wire::{
    ConnectionBody, EndpointRequest, ManifestsBody, OverviewBody, ProfileBody, SubmittedBody,
};
use crate::wire;

/// About what an account, a manifest or a connection takes, bytes.
const RECORD_BYTES: usize = 8 * 1024;

/// Shows where an account stands, and what is next.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The account with all that belongs to it", body = OverviewBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
    )
)]
pub(super) async fn overview(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let overview = app.onboarding.accounts.overview(&acting.account).await?;
    wire::json(StatusCode::OK, &OverviewBody::from(&overview), RECORD_BYTES)
}

/// Keeps what the compliance review looks at: legal entity, tax number, licences, privacy policy.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/accounts/{account_id}/profile", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body(content = ProfileBody, description = "The profile as a whole"),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The account with the profile", body = OverviewBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
    )
)]
pub(super) async fn set_profile(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let profile = read_profile(&body)?;
    app.onboarding.accounts.set_profile(&acting.account, profile, &acting.actor).await?;
    let overview = app.onboarding.accounts.overview(&acting.account).await?;
    wire::json(StatusCode::OK, &OverviewBody::from(&overview), RECORD_BYTES)
}

/// Reads a profile; what is of a wrong type or missing is told with its place.
fn read_profile(body: &str) -> Result<Profile, Refusal> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(body)).map_err(|error| {
        let segment = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        let pointer = error.path().iter().filter_map(segment).collect();
        let message = error.into_inner().to_string();
        // Where in the text it stands says nothing to a sender whose serialiser wrote it.
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        let violation = Violation { pointer, code: "WRONG_TYPE".to_owned(), message };
        Refusal::new(Code::InvalidRequest).violations(vec![violation])
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
        (status = 200, description = "Kept, and sent for review where that was asked for", body = SubmittedBody<'static>),
        (status = 400, description = "`INVALID_REQUEST` or `INVALID_INTENT`, with every violation; nothing changed", body = ErrorBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
    )
)]
pub(super) async fn submit_manifest(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let manifest: Value = serde_json::from_str(&body).map_err(|error| {
        Refusal::new(Code::InvalidRequest).message("The body cannot be read.").internal(error.to_string())
    })?;
    let submitted = app.onboarding.submissions.submit(&acting.account, &manifest, &acting.actor).await?;
    wire::json(StatusCode::OK, &SubmittedBody::from(&submitted), RECORD_BYTES)
}

/// Shows the latest manifest and the one in force.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/manifest/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The manifests", body = ManifestsBody<'static>),
        (status = 404, description = "`NOT_FOUND`: none was submitted", body = ErrorBody<'static>),
    )
)]
pub(super) async fn show_manifest(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let manifests = app.onboarding.submissions.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ManifestsBody::from(&manifests), RECORD_BYTES)
}

/// Registers where the partner is called.
///
/// Another endpoint than before is probed and tested anew; a live connection goes back to the sandbox by it.
#[utoipa::path(
    put, path = "/api/v1/business/tier1/connection/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    request_body = EndpointRequest,
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection", body = ConnectionBody<'static>),
        (status = 400, description = "`INVALID_REQUEST`: among others, an address that is not HTTPS or not public", body = ErrorBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody<'static>),
    )
)]
pub(super) async fn register_endpoint(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let endpoint = read_endpoint(&body)?;
    let connection = app.onboarding.connections.register(&acting.account, &endpoint, &acting.actor).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(&connection), RECORD_BYTES)
}

fn read_endpoint(body: &str) -> Result<Endpoint, Refusal> {
    let mut fields = Fields::of(body);
    let endpoint = match fields.optional_text("kind").as_deref() {
        None | Some("mcp") => Endpoint::Mcp { url: fields.text("url") },
        Some("graphql") => Endpoint::Graphql { url: fields.text("url") },
        Some("rest") => Endpoint::Rest { base_url: fields.text("base_url"), openapi_url: fields.text("openapi_url") },
        Some(_) => {
            fields.breach("/kind", "NOT_IN_VOCABULARY", "expected `mcp`, `rest` or `graphql`".to_owned());
            Endpoint::mcp("")
        }
    };
    // Members of the other kinds say nothing, and are texts all the same.
    for name in ["url", "base_url", "openapi_url"] {
        let _unread = fields.optional_text(name);
    }
    fields.finish().map(|()| endpoint)
}

/// Shows the connection, with what the last probe and the tests saw.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/connection/{account_id}", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection", body = ConnectionBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no endpoint was registered", body = ErrorBody<'static>),
    )
)]
pub(super) async fn show_connection(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(&connection), RECORD_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_by_their_kind() {
        let read = |text: &str| read_endpoint(text).map_err(|refusal| refusal.code().to_owned());
        assert_eq!(read(r#"{"url":"https://a.example"}"#), Ok(Endpoint::mcp("https://a.example")));
        assert_eq!(read(r#"{"kind":"mcp","url":"https://a.example"}"#), Ok(Endpoint::mcp("https://a.example")));
        let graphql = Endpoint::Graphql { url: "https://a.example".to_owned() };
        assert_eq!(read(r#"{"kind":"graphql","url":"https://a.example"}"#), Ok(graphql));
        let rest =
            Endpoint::Rest { base_url: "https://a.example".to_owned(), openapi_url: "https://b.example".to_owned() };
        assert_eq!(
            read(r#"{"kind":"rest","base_url":"https://a.example","openapi_url":"https://b.example"}"#),
            Ok(rest)
        );
        for bad in [
            "{}",
            "[]",
            r#"{"kind":"rest","url":"x"}"#,
            r#"{"kind":"soap","url":"x"}"#,
            r#"{"url":7}"#,
            r#"{"url":"x","base_url":1}"#,
        ] {
            assert_eq!(read(bad), Err("INVALID_REQUEST".to_owned()), "{bad}");
        }
    }
}
