//! Registers the gateway as a client (RFC 7591).

use intent_gateway_domain::secret::Secret;
use intent_gateway_linking::{AuthMethod, Client, LinkFailure, Provider};
use serde::{Deserialize, Serialize};

use super::fetch::Body;
use super::token::is_printable;
use super::{protocol, unusable};
use crate::client::PartnerClient;

/// Bytes of a client's identifier, and of its secret.
const CREDENTIAL_MAX_BYTES: usize = 4 * 1024;

/// The gateway, as it introduces itself.
#[derive(Serialize)]
struct Registration<'a> {
    client_name: &'a str,
    redirect_uris: [&'a str; 1],
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    /// Its users come back to a web server, and not to a program of their own (OpenID Connect Registration 1.0, 2).
    application_type: &'static str,
    token_endpoint_auth_method: AuthMethod,
}

#[derive(Deserialize)]
pub(super) struct Registered {
    client_id: String,
    #[serde(default)]
    client_secret: Option<Secret>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
}

impl PartnerClient {
    pub(super) async fn register_client(
        &self,
        provider: &Provider,
        client_name: &str,
        redirect_uri: &str,
    ) -> Result<Client, LinkFailure> {
        let address = provider.registration_endpoint.as_deref();
        let address = address.ok_or_else(|| unusable("it takes no registrations"))?;
        let registration = Registration {
            client_name,
            redirect_uris: [redirect_uri],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            application_type: "web",
            token_endpoint_auth_method: choose_method(&provider.auth_methods)?,
        };
        let body = serde_json::to_vec(&registration).map_err(|error| protocol(&error.to_string()))?;
        let answered = self.send(address, Body::Json(body), None).await?;
        client(answered.success("registration")?, &provider.auth_methods)
    }
}

/// The client that was registered. The server's word on how it shows itself counts more than what was wished; where it
/// says nothing, a secret that it gives out is meant to be used, if it takes one at all.
pub(super) fn client(registered: Registered, listed: &[String]) -> Result<Client, LinkFailure> {
    let Registered { client_id, client_secret, token_endpoint_auth_method } = registered;
    // An empty secret is how some servers write that there is none.
    let client_secret = client_secret.filter(|secret| !secret.expose().is_empty());
    let fits = |text: &str| text.len() <= CREDENTIAL_MAX_BYTES && is_printable(text);
    if client_id.is_empty() || !fits(&client_id) || !client_secret.as_ref().is_none_or(|secret| fits(secret.expose())) {
        return Err(protocol("credentials that no client can use"));
    }
    let method = match (token_endpoint_auth_method, &client_secret) {
        (Some(name), _) => parse_method(&name).ok_or_else(|| unusable("it wants another way to show who one is"))?,
        (None, Some(_)) => {
            let with_secret = [AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost];
            with_secret.into_iter().find(|method| takes(listed, *method)).unwrap_or(AuthMethod::None)
        }
        (None, None) => AuthMethod::None,
    };
    match (method, client_secret) {
        (AuthMethod::None, _) => Ok(Client { client_id, client_secret: None, method }),
        (method, Some(secret)) => Ok(Client { client_id, client_secret: Some(secret), method }),
        (_, None) => Err(protocol("a client that needs a secret and got none")),
    }
}

/// How the gateway would like to show who it is: the fewer secrets there are to keep, the better.
fn choose_method(listed: &[String]) -> Result<AuthMethod, LinkFailure> {
    let by_preference = [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost];
    let method = by_preference.into_iter().find(|method| takes(listed, *method));
    method.ok_or_else(|| unusable("it wants another way to show who one is"))
}

/// Whether a server takes a method. One that lists none takes a Basic header (RFC 8414, 2).
fn takes(listed: &[String], method: AuthMethod) -> bool {
    if listed.is_empty() {
        return method == AuthMethod::ClientSecretBasic;
    }
    listed.iter().any(|name| parse_method(name) == Some(method))
}

fn parse_method(name: &str) -> Option<AuthMethod> {
    match name {
        "none" => Some(AuthMethod::None),
        "client_secret_basic" => Some(AuthMethod::ClientSecretBasic),
        "client_secret_post" => Some(AuthMethod::ClientSecretPost),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn settle_method(secret: Option<&str>, method: Option<&str>, listed: &[&str]) -> Option<(AuthMethod, bool)> {
        let registered = Registered {
            client_id: "us".to_owned(),
            client_secret: secret.map(Secret::new),
            token_endpoint_auth_method: method.map(str::to_owned),
        };
        let client = client(registered, &list(listed)).ok()?;
        Some((client.method, client.client_secret.is_some()))
    }

    #[test]
    fn the_method_with_the_fewest_secrets_is_wished_for() {
        use AuthMethod::{ClientSecretBasic, ClientSecretPost, None};
        assert_eq!(choose_method(&list(&["client_secret_post", "client_secret_basic", "none"])), Ok(None));
        assert_eq!(choose_method(&list(&["client_secret_post", "client_secret_basic"])), Ok(ClientSecretBasic));
        assert_eq!(choose_method(&list(&["private_key_jwt", "client_secret_post"])), Ok(ClientSecretPost));
        assert_eq!(choose_method(&[]), Ok(ClientSecretBasic));
        assert!(matches!(choose_method(&list(&["private_key_jwt"])), Err(LinkFailure::Unusable(_))));
    }

    #[test]
    fn the_servers_word_on_the_method_counts() {
        use AuthMethod::{ClientSecretBasic, ClientSecretPost, None as Public};
        let both = ["none", "client_secret_basic", "client_secret_post"];
        assert_eq!(settle_method(Some("s"), Some("client_secret_post"), &both), Some((ClientSecretPost, true)));
        assert_eq!(settle_method(Some("s"), Some("none"), &both), Some((Public, false)));
        assert_eq!(settle_method(None, Some("client_secret_basic"), &both), None);
        assert_eq!(settle_method(Some("s"), Some("private_key_jwt"), &both), None);
        assert_eq!(settle_method(Some("s"), None, &both), Some((ClientSecretBasic, true)));
        assert_eq!(settle_method(Some("s"), None, &["client_secret_post"]), Some((ClientSecretPost, true)));
        assert_eq!(settle_method(Some("s"), None, &["none"]), Some((Public, false)));
        assert_eq!(settle_method(Some("s"), None, &[]), Some((ClientSecretBasic, true)));
        assert_eq!(settle_method(Some(""), None, &both), Some((Public, false)));
        assert_eq!(settle_method(None, None, &[]), Some((Public, false)));
        assert_eq!(settle_method(Some("a\nb"), None, &both), None);
    }
}
