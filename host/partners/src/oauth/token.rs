//! What is asked of the token endpoint and of the revocation endpoint (RFC 6749, RFC 7009, RFC 8707).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use intent_gateway_domain::secret::Secret;
use intent_gateway_linking::{AuthMethod, Client, Grant, LinkFailure, Provider};
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;

use super::fetch::{Body, FetchedAnswer};
use super::{protocol, unusable};
use crate::client::PartnerClient;

/// Bytes of a token. An access token travels in a header.
const TOKEN_MAX_BYTES: usize = 16 * 1024;
/// Bytes of the scopes that were granted.
const SCOPE_MAX_BYTES: usize = 4 * 1024;
/// Longest life of an access token that is believed, seconds: a year. It is renewed then at the latest.
const EXPIRES_IN_MAX_SECS: u64 = 366 * 86_400;

/// What an access token is given for.
pub(super) enum Exchanged<'a> {
    Code { code: &'a Secret, verifier: &'a Secret, redirect_uri: &'a str },
    RefreshToken(&'a Secret),
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: Secret,
    token_type: String,
    #[serde(default)]
    expires_in: Option<Value>,
    #[serde(default)]
    refresh_token: Option<Secret>,
    #[serde(default)]
    scope: Option<String>,
}

impl PartnerClient {
    pub(super) async fn grant(
        &self,
        provider: &Provider,
        client: &Client,
        exchanged: Exchanged<'_>,
    ) -> Result<Grant, LinkFailure> {
        let mut form: Form<'_> = match exchanged {
            Exchanged::Code { code, verifier, redirect_uri } => vec![
                ("grant_type", "authorization_code"),
                ("code", code.expose()),
                ("code_verifier", verifier.expose()),
                ("redirect_uri", redirect_uri),
            ],
            Exchanged::RefreshToken(token) => {
                vec![("grant_type", "refresh_token"), ("refresh_token", token.expose())]
            }
        };
        form.push(("resource", &provider.resource));
        let answered = self.post_form(&provider.token_endpoint, client, form).await?;
        grant(&answered)
    }

    pub(super) async fn revoke_token(
        &self,
        provider: &Provider,
        client: &Client,
        token: &Secret,
    ) -> Result<(), LinkFailure> {
        let address = provider.revocation_endpoint.as_deref();
        let address = address.ok_or_else(|| unusable("it takes no revocations"))?;
        let answered = self.post_form(address, client, vec![("token", token.expose())]).await?;
        // What a success holds is nobody's business (RFC 7009, 2.2).
        if answered.status.is_success() {
            return Ok(());
        }
        let status = answered.status.as_u16();
        Err(answered.refusal().unwrap_or_else(|| protocol(&format!("HTTP status {status} without an error code"))))
    }

    /// Posts a form in the client's name.
    async fn post_form<'a>(
        &self,
        address: &str,
        client: &'a Client,
        mut form: Form<'a>,
    ) -> Result<FetchedAnswer, LinkFailure> {
        let secret = || client.client_secret.as_ref().ok_or_else(|| unusable("the client has no secret to show"));
        let mut authorization = None;
        match client.method {
            AuthMethod::None => form.push(("client_id", &client.client_id)),
            AuthMethod::ClientSecretPost => {
                form.extend([("client_id", client.client_id.as_str()), ("client_secret", secret()?.expose())]);
            }
            AuthMethod::ClientSecretBasic => authorization = Some(basic(&client.client_id, secret()?)?),
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.send(address, Body::Form(body), authorization).await
    }
}

/// Names and values of a body.
type Form<'a> = Vec<(&'static str, &'a str)>;

/// The `Authorization` value of a client, each part encoded as in a form first (RFC 6749, 2.3.1).
fn basic(client_id: &str, secret: &Secret) -> Result<HeaderValue, LinkFailure> {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let both = Secret::new(format!("{}:{}", encoded(client_id), encoded(secret.expose())));
    let value = Secret::new(format!("Basic {}", STANDARD.encode(both.expose())));
    let mut value = HeaderValue::try_from(value.expose()).map_err(|_| unusable("the client cannot show its secret"))?;
    value.set_sensitive(true);
    Ok(value)
}

pub(super) fn grant(answered: &FetchedAnswer) -> Result<Grant, LinkFailure> {
    let answer: TokenAnswer = answered.success("token answer")?;
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err(protocol("a token of another type than Bearer"));
    }
    // Some servers write an empty text for what there is not.
    let refresh_token = answer.refresh_token.filter(|token| !token.expose().is_empty());
    let fits = |token: &Secret| token.expose().len() <= TOKEN_MAX_BYTES && is_printable(token.expose());
    if answer.access_token.expose().is_empty()
        || !fits(&answer.access_token)
        || !refresh_token.as_ref().is_none_or(fits)
    {
        return Err(protocol("a token that cannot be sent"));
    }
    let scope = answer.scope.filter(|scope| !scope.is_empty());
    if scope
        .as_ref()
        .is_some_and(|scope| scope.len() > SCOPE_MAX_BYTES || scope.bytes().any(|byte| !(b' '..=b'~').contains(&byte)))
    {
        return Err(protocol("granted scopes that are none"));
    }
    let expires_in = answer.expires_in.filter(|value| !value.is_null());
    let expires_in = expires_in.map(|value| seconds(&value).ok_or_else(|| protocol("a token's life that is no time")));
    Ok(Grant { access_token: answer.access_token, refresh_token, expires_in: expires_in.transpose()?, scope })
}

/// A time in seconds, as a number or, as some servers write it, as a text.
fn seconds(value: &Value) -> Option<u64> {
    let whole = match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let seconds = number.as_f64().filter(|seconds| *seconds >= 0.0)?;
            Some(Duration::try_from_secs_f64(seconds).ok()?.as_secs())
        }),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    whole.map(|seconds: u64| seconds.min(EXPIRES_IN_MAX_SECS))
}

/// Whether a text consists of visible ASCII characters, as everything that is sent in a header must.
pub(super) fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_parts_of_a_basic_header_are_encoded() {
        let value = basic("a b", &Secret::new("c:d/é")).expect("a header");
        assert_eq!(value, format!("Basic {}", STANDARD.encode("a+b:c%3Ad%2F%C3%A9")).as_str());
        assert!(!format!("{value:?}").contains("Basic"));
    }

    #[test]
    fn a_life_is_read_however_it_is_written() {
        assert_eq!(seconds(&json!(3600)), Some(3_600));
        assert_eq!(seconds(&json!("3600")), Some(3_600));
        assert_eq!(seconds(&json!(59.9)), Some(59));
        assert_eq!(seconds(&json!(u64::MAX)), Some(EXPIRES_IN_MAX_SECS));
        assert_eq!(seconds(&json!(0)), Some(0));
        for wrong in [json!(-1), json!("soon"), json!([]), json!(true), json!(1e300)] {
            assert_eq!(seconds(&wrong), None, "{wrong}");
        }
    }
}
