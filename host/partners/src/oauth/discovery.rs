//! Finds the authorization server of a partner, and judges whether it may be used.
//!
//! The partner's resource names its authorization servers (RFC 9728), the first of them that can be used is taken (RFC
//! 8414). A partner of revision 2025-03-26 describes no resource: its own origin is the authorization server then. Only
//! what is not there leads on to the next place; what is there and wrong ends the search, so that nobody can push the
//! gateway from one server to another by spoiling an answer.

use intent_gateway_linking::{LinkFailure, Provider};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::fetch::{Body, link_failure};
use super::{places, protocol, unusable};
use crate::challenge::{Parameters, parameters};
use crate::client::PartnerClient;

/// Authorization servers of one resource that are tried.
const SERVERS_MAX: usize = 4;
/// Bytes of the scopes that are asked for, with the spaces between them. They travel in an address.
const SCOPE_MAX_BYTES: usize = 1_024;
/// Ways to show who one is that are kept of one server.
const AUTH_METHODS_MAX: usize = 16;
/// Bytes of the name of such a way.
const AUTH_METHOD_MAX_BYTES: usize = 64;
/// The way of PKCE that the gateway goes (OAuth 2.1, 7.5.2).
const CHALLENGE_METHOD: &str = "S256";
/// The way of a user's sign-in.
const RESPONSE_TYPE: &str = "code";
/// Asks for a refresh token, where the server has such a scope (OpenID Connect Core 1.0, 11).
const OFFLINE_ACCESS: &str = "offline_access";

/// What is read of a protected resource's metadata (RFC 9728, 2).
#[derive(Deserialize)]
struct Resource {
    resource: String,
    #[serde(default)]
    authorization_servers: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

/// What is read of an authorization server's metadata (RFC 8414, 2; RFC 9207, 3; client ID metadata documents, 5).
#[derive(Deserialize)]
pub(super) struct Server {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    #[serde(default)]
    registration_endpoint: Option<String>,
    #[serde(default)]
    revocation_endpoint: Option<String>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    response_types_supported: Option<Vec<String>>,
    #[serde(default)]
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: Option<bool>,
    #[serde(default)]
    client_id_metadata_document_supported: Option<bool>,
}

/// What a partner asks for, whoever its authorization server is.
pub(super) struct SignInRequirements {
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
}

impl PartnerClient {
    pub(super) async fn find_provider(&self, endpoint: &str, challenge: Option<&str>) -> Result<Provider, LinkFailure> {
        let address = Url::parse(endpoint).map_err(|_| unusable("the partner's address is none"))?;
        let Parameters { resource_metadata, scope } = challenge.map(parameters).unwrap_or_default();
        let named = scope.filter(|scope| !scope.trim().is_empty());
        let challenged: Option<Vec<String>> = named.map(|scope| scope.split(' ').map(str::to_owned).collect());
        let Some(resource) = self.resource(&address, resource_metadata.as_deref()).await? else {
            // Goes out as it is written, for whoever compares it.
            let resource = endpoint.split('#').next().unwrap_or_default().to_owned();
            let wanted = SignInRequirements { resource, scopes: challenged.unwrap_or_default() };
            return self.at_origin(&address, &wanted).await;
        };
        self.at_resource(&address, resource, challenged).await
    }

    /// The authorization server that a partner's own metadata names; none where it has no metadata, or names none.
    pub(super) async fn find_described(&self, endpoint: &str) -> Result<Option<Provider>, LinkFailure> {
        let address = Url::parse(endpoint).map_err(|_| unusable("the partner's address is none"))?;
        match self.resource(&address, None).await? {
            Some(resource) if resource.authorization_servers.as_ref().is_some_and(|servers| !servers.is_empty()) => {
                self.at_resource(&address, resource, None).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    async fn at_resource(
        &self,
        address: &Url,
        resource: Resource,
        challenged: Option<Vec<String>>,
    ) -> Result<Provider, LinkFailure> {
        let described = Url::parse(&resource.resource).map_err(|_| unusable("its resource is no address"))?;
        if !places::covers(&described, address) {
            return Err(unusable(&format!("the partner's metadata is of another resource, `{}`", resource.resource)));
        }
        let scopes = challenged.or(resource.scopes_supported).unwrap_or_default();
        let wanted = SignInRequirements { resource: resource.resource, scopes };
        self.first_usable(&resource.authorization_servers.unwrap_or_default(), &wanted).await
    }

    /// The metadata of the partner's resource: where its challenge says, else at the well-known places.
    async fn resource(&self, endpoint: &Url, named: Option<&str>) -> Result<Option<Resource>, LinkFailure> {
        if let Some(named) = named {
            let found = self.metadata(named).await?;
            return found.map(Some).ok_or_else(|| protocol("the challenge names metadata that is not there"));
        }
        self.first_metadata(&places::of_resource(endpoint)).await
    }

    async fn first_usable(&self, issuers: &[String], wanted: &SignInRequirements) -> Result<Provider, LinkFailure> {
        let mut first = None;
        for issuer in issuers.iter().take(SERVERS_MAX) {
            match self.at_issuer(issuer, wanted).await {
                Ok(provider) => return Ok(provider),
                Err(failure) => {
                    tracing::debug!(%failure, "an authorization server of a partner is passed over");
                    first = first.or(Some(failure));
                }
            }
        }
        Err(first.unwrap_or_else(|| unusable("the resource names no authorization server")))
    }

    async fn at_issuer(&self, issuer: &str, wanted: &SignInRequirements) -> Result<Provider, LinkFailure> {
        let url = Url::parse(issuer).map_err(|_| unusable("its issuer is no address"))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(unusable("its issuer has a query or a fragment"));
        }
        let server: Option<Server> = self.first_metadata(&places::of_issuer(&url)).await?;
        let server = server.ok_or_else(|| unusable("it has no metadata"))?;
        if server.issuer != issuer {
            return Err(another_issuer(&server.issuer));
        }
        self.provider(server, wanted)
    }

    /// The authorization server of a partner that describes no resource: its own origin, with or without metadata (MCP
    /// 2025-03-26, Authorization, 2.3).
    async fn at_origin(&self, endpoint: &Url, wanted: &SignInRequirements) -> Result<Provider, LinkFailure> {
        let origin = places::origin(endpoint);
        // Nobody has written this issuer down yet, so there is no telling on which side of a slash it ends.
        let issuer = origin.as_str().trim_end_matches('/').to_owned();
        match self.first_metadata::<Server>(&places::of_issuer(&origin)).await? {
            Some(server) if server.issuer == issuer || server.issuer == origin.as_str() => {
                self.provider(server, wanted)
            }
            Some(server) => Err(another_issuer(&server.issuer)),
            None => Ok(Provider {
                resource: wanted.resource.clone(),
                authorization_endpoint: format!("{issuer}/authorize"),
                token_endpoint: format!("{issuer}/token"),
                registration_endpoint: Some(format!("{issuer}/register")),
                revocation_endpoint: None,
                scope: scope(&wanted.scopes, &[])?,
                names_issuer: false,
                takes_metadata_documents: false,
                auth_methods: Vec::new(),
                issuer,
            }),
        }
    }

    pub(super) fn provider(&self, server: Server, wanted: &SignInRequirements) -> Result<Provider, LinkFailure> {
        let lists =
            |list: &Option<Vec<String>>, one: &str| list.as_ref().is_some_and(|list| list.iter().any(|it| it == one));
        if !lists(&server.code_challenge_methods_supported, CHALLENGE_METHOD) {
            return Err(unusable("it does not offer PKCE with S256"));
        }
        if server.response_types_supported.is_some() && !lists(&server.response_types_supported, RESPONSE_TYPE) {
            return Err(unusable("it does not offer the authorization code flow"));
        }
        let optional = [&server.registration_endpoint, &server.revocation_endpoint];
        let needed = [&server.authorization_endpoint, &server.token_endpoint];
        for address in needed.into_iter().chain(optional.into_iter().flatten()) {
            self.policy().endpoint(address).map_err(link_failure)?;
            if address.contains('#') {
                return Err(unusable("one of its addresses has a fragment"));
            }
        }
        let scope = scope(&wanted.scopes, server.scopes_supported.as_deref().unwrap_or_default())?;
        let methods = server.token_endpoint_auth_methods_supported.into_iter().flatten();
        let auth_methods = methods.filter(|name| name.len() <= AUTH_METHOD_MAX_BYTES).take(AUTH_METHODS_MAX).collect();
        Ok(Provider {
            resource: wanted.resource.clone(),
            issuer: server.issuer,
            authorization_endpoint: server.authorization_endpoint,
            token_endpoint: server.token_endpoint,
            registration_endpoint: server.registration_endpoint,
            revocation_endpoint: server.revocation_endpoint,
            scope,
            names_issuer: server.authorization_response_iss_parameter_supported.unwrap_or_default(),
            takes_metadata_documents: server.client_id_metadata_document_supported.unwrap_or_default(),
            auth_methods,
        })
    }

    /// The metadata of the first of some places that has any.
    async fn first_metadata<T: DeserializeOwned>(&self, places: &[Url]) -> Result<Option<T>, LinkFailure> {
        for place in places {
            if let Some(document) = self.metadata(place.as_str()).await? {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }

    /// The metadata at a place, if there is any.
    async fn metadata<T: DeserializeOwned>(&self, place: &str) -> Result<Option<T>, LinkFailure> {
        let answered = self.send(place, Body::None, None).await?;
        if answered.is_document() { answered.document().map(Some) } else { Ok(None) }
    }
}

/// The scopes to ask for, each once. A refresh token is asked for where the server has a scope for it, but not as the only
/// thing: a server that is asked for no scope gives what it thinks fit.
fn scope(wanted: &[String], supported: &[String]) -> Result<Option<String>, LinkFailure> {
    let named: Vec<&str> = wanted.iter().map(String::as_str).filter(|scope| !scope.is_empty()).collect();
    let has_offline = supported.iter().any(|scope| scope == OFFLINE_ACCESS);
    let offline = (has_offline && !named.is_empty()).then_some(OFFLINE_ACCESS);
    let (mut scopes, mut bytes) = (Vec::new(), 0);
    for scope in named.into_iter().chain(offline) {
        if !scope.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')) {
            return Err(protocol("a scope with a character that no scope has"));
        }
        if scopes.contains(&scope) {
            continue;
        }
        bytes += scope.len() + 1;
        if bytes > SCOPE_MAX_BYTES {
            return Err(unusable("it asks for more scopes than an address can carry"));
        }
        scopes.push(scope);
    }
    Ok((!scopes.is_empty()).then(|| scopes.join(" ")))
}

fn another_issuer(found: &str) -> LinkFailure {
    unusable(&format!("its metadata is of another issuer, `{found}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_asked_for_once_and_offline_access_where_it_is_known() {
        let asked = |wanted: &[&str], supported: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|&scope| scope.to_owned()).collect::<Vec<_>>();
            scope(&owned(wanted), &owned(supported))
        };
        assert_eq!(asked(&[], &[]), Ok(None));
        assert_eq!(asked(&[], &["offline_access"]), Ok(None));
        assert_eq!(asked(&[""], &[]), Ok(None));
        assert_eq!(asked(&["a", "b", "", "a"], &["b"]), Ok(Some("a b".to_owned())));
        assert_eq!(asked(&["a"], &["a", "offline_access"]), Ok(Some("a offline_access".to_owned())));
        assert_eq!(asked(&["offline_access", "a"], &["offline_access"]), Ok(Some("offline_access a".to_owned())));
        assert!(matches!(asked(&["a\n"], &[]), Err(LinkFailure::Protocol(_))));
        assert!(matches!(asked(&["a\"b"], &[]), Err(LinkFailure::Protocol(_))));
        assert!(matches!(asked(&[&"a".repeat(SCOPE_MAX_BYTES + 1)], &[]), Err(LinkFailure::Unusable(_))));
    }
}
