//! The gateway as an OAuth 2.1 client of partners' authorization servers (MCP, Authorization): finds them, registers, and
//! fetches, renews and ends users' tokens.
//!
//! A partner chooses its authorization server, so nothing that such a server says is trusted further than a partner's own
//! word: every request goes over the guarded client of partner calls, is given up after a while, follows no redirect, and
//! reads a bounded answer. `places` knows where metadata is looked for, `discovery` reads it, `registration` and `token`
//! speak to the endpoints that it names, all through `fetch`.
//!
//! Not here: the user's part (authorization address, PKCE, the check of what comes back) and what is kept of it, which is
//! the core's linking. Tokens pass through and are kept nowhere here; nothing of what is secret gets into an error.

mod discovery;
mod fetch;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod places;
mod registration;
mod token;

use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::partner_error::clean;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_linking::{Authorizer, Client, Grant, LinkFailure, Provider};

use crate::client::PartnerClient;
use token::Exchanged;

/// Wait for one answer of an authorization server, connection included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait for everything that finding an authorization server takes.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(30);

impl Authorizer for PartnerClient {
    fn discover<'a>(
        &'a self,
        endpoint: &'a str,
        challenge: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Provider, LinkFailure>> {
        Box::pin(async move {
            match tokio::time::timeout(DISCOVERY_TIMEOUT, self.find_provider(endpoint, challenge)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(too_late(DISCOVERY_TIMEOUT)),
            }
        })
    }

    fn register<'a>(
        &'a self,
        provider: &'a Provider,
        client_name: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Client, LinkFailure>> {
        Box::pin(self.register_client(provider, client_name, redirect_uri))
    }

    fn exchange<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        code: &'a Secret,
        verifier: &'a Secret,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>> {
        Box::pin(self.grant(provider, client, Exchanged::Code { code, verifier, redirect_uri }))
    }

    fn refresh<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        refresh_token: &'a Secret,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>> {
        Box::pin(self.grant(provider, client, Exchanged::RefreshToken(refresh_token)))
    }

    fn revoke<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        token: &'a Secret,
    ) -> BoxFuture<'a, Result<(), LinkFailure>> {
        Box::pin(self.revoke_token(provider, client, token))
    }
}

impl PartnerClient {
    /// The authorization server that a partner's metadata names; none where it has no metadata.
    pub(crate) async fn described_server(&self, endpoint: &str) -> Result<Option<SignInServer>, LinkFailure> {
        match tokio::time::timeout(DISCOVERY_TIMEOUT, self.find_described(endpoint)).await {
            Ok(found) => found.map(|found| found.map(|provider| provider.server())),
            Err(_) => Err(too_late(DISCOVERY_TIMEOUT)),
        }
    }
}

fn too_late(limit: Duration) -> LinkFailure {
    LinkFailure::Unreachable(format!("no answer within {} ms", limit.as_millis()))
}

fn unusable(reason: &str) -> LinkFailure {
    LinkFailure::Unusable(clean(reason))
}

fn protocol(reason: &str) -> LinkFailure {
    LinkFailure::Protocol(clean(reason))
}
