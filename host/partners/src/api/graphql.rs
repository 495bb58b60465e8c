//! One request to a GraphQL API over HTTP.

use http::Method;
use intent_gateway_domain::endpoint::ApiAnswer;
use intent_gateway_domain::error::CallFailure;
use serde_json::Value;

use super::Api;

/// What GraphQL answers come as: the newer type, and what servers sent before it.
const MEDIA_TYPES: &str = "application/graphql-response+json, application/json;q=0.9";

/// Sends one operation.
pub(crate) async fn send(api: &Api<'_>, url: &str, body: &Value) -> Result<ApiAnswer, CallFailure> {
    let uri = api.policy.endpoint(url)?;
    api.exchange(api.request(Method::POST, uri, MEDIA_TYPES, Some(body.to_string().into_bytes()))).await
}
