//! A user whose partner wants a sign-in: the gateway's own client of authorization servers and its own checks, with this
//! program in the place of the user, of the browser, and of what keeps tokens.
//!
//! Not here: keeping anything, and refreshing. That is the core's linking, which end-to-end tests look at.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use http::header::LOCATION;
use http::{Request, Uri};
use http_body_util::Empty;
use hyper_util::client::legacy::Client as Browser;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolAnswer, ToolCall};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Entropy, NoEntropy};
use intent_gateway_linking::flow::{AuthorizationRequest, Callback, Expected, Pkce, random_text};
use intent_gateway_linking::{AuthMethod, Authorizer as _, Client, Provider};
use intent_gateway_partners::PartnerClient;
use serde::Deserialize;

/// How often one user is sent to an authorization server before the driver gives up.
const AUTHORIZATIONS_MAX: usize = 3;
/// Where the browser comes back to. Nobody is there: the driver looks at the redirect.
const REDIRECT_URI: &str = "https://gateway.example/link/callback";
/// The gateway's name, as users would see it.
const CLIENT_NAME: &str = "Intent gateway";
/// Everything that one step of the browser may take.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(5);

/// Credentials that were agreed on with a partner beforehand, as a scenario gives them.
#[derive(Clone, Debug, Deserialize)]
pub struct Agreed {
    client_id: String,
    client_secret: Secret,
    issuer: String,
}

/// Who the gateway is where it need not register.
#[derive(Debug, Default)]
pub struct Identity {
    /// Credentials for one issuer.
    pub agreed: Option<Agreed>,
    /// The address of its metadata document.
    pub document: Option<String>,
}

/// What a user has at one issuer.
struct Account {
    client: Client,
    /// The scopes that were asked for so far.
    scopes: Vec<String>,
}

/// A user, and what is known of the way to the user's tokens.
pub struct User<'a> {
    client: &'a PartnerClient,
    partner: &'a Arc<Partner>,
    endpoint: &'a str,
    identity: Identity,
    /// By issuer: what one authorization server gave is shown to no other.
    accounts: HashMap<String, Account>,
    authorizations: usize,
    token: Option<Secret>,
}

impl<'a> User<'a> {
    /// A user of the partner at `endpoint` who has not signed in yet.
    #[must_use]
    pub fn new(client: &'a PartnerClient, partner: &'a Arc<Partner>, endpoint: &'a str, identity: Identity) -> Self {
        let accounts = HashMap::new();
        Self { client, partner, endpoint, identity, accounts, authorizations: 0, token: None }
    }

    /// Calls a tool, and signs in where the partner wants it.
    ///
    /// # Errors
    /// When the sign-in fails, or the partner goes on refusing, or the call fails for another reason.
    pub async fn call(&mut self, tool: &str, arguments: &str, timeout: Duration) -> anyhow::Result<ToolAnswer> {
        loop {
            let call =
                ToolCall { bearer: self.token.as_ref(), ..ToolCall::new("conformance.call", tool, arguments, timeout) };
            match self.client.call(self.partner, call).await {
                Err(CallFailure::SignInRequired { challenge }) if self.authorizations < AUTHORIZATIONS_MAX => {
                    self.authorizations += 1;
                    self.sign_in(&challenge).await.context("the sign-in failed")?;
                }
                outcome => return Ok(outcome?),
            }
        }
    }

    async fn sign_in(&mut self, challenge: &str) -> anyhow::Result<()> {
        let mut provider = self.client.discover(self.endpoint, Some(challenge)).await?;
        if !self.accounts.contains_key(&provider.issuer) {
            let client = self.introduce(&provider).await?;
            self.accounts.insert(provider.issuer.clone(), Account { client, scopes: Vec::new() });
        }
        let account = self.accounts.get_mut(&provider.issuer).context("the account was just opened")?;
        // Who asks for more must not lose what was granted before.
        for scope in provider.scope.iter().flat_map(|scope| scope.split(' ')) {
            if !account.scopes.iter().any(|known| known == scope) {
                account.scopes.push(scope.to_owned());
            }
        }
        provider.scope = (!account.scopes.is_empty()).then(|| account.scopes.join(" "));
        let pkce = Pkce::new(&MachineEntropy)?;
        let code = authorize(&provider, &account.client, &pkce).await?;
        let grant = self.client.exchange(&provider, &account.client, &code, &pkce.verifier, REDIRECT_URI).await?;
        self.token = Some(grant.access_token);
        Ok(())
    }

    /// Who the gateway is at an authorization server: as agreed, by its document, or registered there.
    async fn introduce(&self, provider: &Provider) -> anyhow::Result<Client> {
        if let Some(agreed) = self.identity.agreed.as_ref().filter(|agreed| agreed.issuer == provider.issuer) {
            return Ok(Client {
                client_id: agreed.client_id.clone(),
                client_secret: Some(agreed.client_secret.clone()),
                method: AuthMethod::ClientSecretBasic,
            });
        }
        match &self.identity.document {
            Some(document) if provider.takes_metadata_documents => {
                Ok(Client { client_id: document.clone(), client_secret: None, method: AuthMethod::None })
            }
            _ => Ok(self.client.register(provider, CLIENT_NAME, REDIRECT_URI).await?),
        }
    }
}

/// Goes to the authorization endpoint as a browser would, and reads what it is sent back with.
async fn authorize(provider: &Provider, client: &Client, pkce: &Pkce) -> anyhow::Result<Secret> {
    let state = random_text(&MachineEntropy)?;
    let request = AuthorizationRequest {
        provider,
        client_id: &client.client_id,
        redirect_uri: REDIRECT_URI,
        state: &state,
        code_challenge: &pkce.challenge,
    };
    let address: Uri = request.url()?.parse()?;
    let browser: Browser<HttpConnector, Empty<Bytes>> = Browser::builder(TokioExecutor::new()).build_http();
    let request = Request::get(address).body(Empty::new())?;
    let response = tokio::time::timeout(BROWSER_TIMEOUT, browser.request(request)).await??;
    ensure!(response.status().is_redirection(), "the authorization endpoint answered with {}", response.status());
    let location = response.headers().get(LOCATION).context("a redirect without a place")?.to_str()?;
    let Some(query) = location.strip_prefix(REDIRECT_URI).and_then(|rest| rest.strip_prefix('?')) else {
        bail!("the browser was sent elsewhere");
    };
    let expected = Expected { state: &state, issuer: &provider.issuer, names_issuer: provider.names_issuer };
    Ok(Callback::read(query)?.code(expected)?.clone())
}

/// The operating system's random bytes. No fake: this program signs in at a server as the gateway would.
struct MachineEntropy;

impl Entropy for MachineEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}
