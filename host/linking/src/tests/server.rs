//! An authorization server in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use url::Url;

use crate::{AuthMethod, Authorizer, Client, Grant, LinkFailure, Provider};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;

pub(super) const ISSUER: &str = "https://id.coolcar.example";

/// A code under way.
struct Code {
    subject: String,
    client_id: String,
    challenge: String,
    redirect_uri: String,
}

/// What a test sets, and what has come of it.
pub(super) struct State {
    pub(super) takes_documents: bool,
    pub(super) names_issuer: bool,
    pub(super) registers: bool,
    pub(super) revokes: bool,
    pub(super) rotates: bool,
    /// Whether there are refresh tokens at all.
    pub(super) renews: bool,
    /// Whether a revoked refresh token is good for nothing more.
    pub(super) forgets: bool,
    pub(super) expires_in: Option<u64>,
    /// The issuer that discovery finds.
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    /// The scope that discovery finds.
    pub(super) scope: &'static str,
    /// What the next request to the token endpoint comes to.
    pub(super) failures: Vec<LinkFailure>,
    /// Runs in the middle of the next refresh.
    pub(super) during_refresh: Option<BoxFuture<'static, ()>>,
    pub(super) registered: Vec<String>,
    /// Client, and token endpoint that was asked.
    pub(super) refreshes: Vec<(String, String)>,
    pub(super) revoked: Vec<String>,
    codes: BTreeMap<String, Code>,
    /// Live refresh tokens, with their subject.
    live: BTreeMap<String, String>,
    used: BTreeSet<String>,
    issued: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            takes_documents: false,
            names_issuer: true,
            registers: true,
            revokes: true,
            rotates: true,
            renews: true,
            forgets: true,
            expires_in: Some(3_600),
            issuer: ISSUER.to_owned(),
            token_endpoint: format!("{ISSUER}/token"),
            scope: "book",
            failures: Vec::new(),
            during_refresh: None,
            registered: Vec::new(),
            refreshes: Vec::new(),
            revoked: Vec::new(),
            codes: BTreeMap::new(),
            live: BTreeMap::new(),
            used: BTreeSet::new(),
            issued: 0,
        }
    }
}

/// A port of this crate, so its fake is here.
#[derive(Default)]
pub(super) struct Server(Mutex<State>);

impl Server {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("sound")
    }

    /// The user signs in and consents; the query that the browser comes back with.
    pub(super) fn consent(&self, location: &str, subject: &str) -> String {
        let url = Url::parse(location).expect("an address");
        let asked: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!(asked["code_challenge_method"], "S256");
        assert_eq!(asked["resource"], "https://mcp.coolcar.example/mcp");
        let mut state = self.state();
        state.issued += 1;
        let code = format!("code-{}-secret", state.issued);
        let issued = Code {
            subject: subject.to_owned(),
            client_id: asked["client_id"].clone(),
            challenge: asked["code_challenge"].clone(),
            redirect_uri: asked["redirect_uri"].clone(),
        };
        state.codes.insert(code.clone(), issued);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("code", &code).append_pair("state", &asked["state"]).append_pair("iss", ISSUER);
        query.finish()
    }
}

impl State {
    fn grant(&mut self, subject: &str) -> Grant {
        self.issued += 1;
        let refresh = format!("refresh-{}-of-{subject}", self.issued);
        self.live.insert(refresh.clone(), subject.to_owned());
        Grant {
            access_token: Secret::new(format!("access-{}-of-{subject}", self.issued)),
            refresh_token: Some(Secret::new(refresh)),
            expires_in: self.expires_in,
            scope: None,
        }
    }

    fn refused<T>(code: &str) -> Result<T, LinkFailure> {
        Err(LinkFailure::Refused { code: code.to_owned() })
    }

    fn refresh(&mut self, token: &str) -> Result<Grant, LinkFailure> {
        if self.used.contains(token) {
            // A stolen one: the whole grant ends.
            let subject = token.rsplit('-').next().expect("a last part").to_owned();
            self.live.retain(|_, of| *of != subject);
        }
        let Some(subject) = self.live.get(token).cloned() else { return Self::refused("invalid_grant") };
        if !self.rotates {
            return Ok(Grant { refresh_token: None, ..self.grant(&subject) });
        }
        self.live.remove(token);
        self.used.insert(token.to_owned());
        Ok(self.grant(&subject))
    }
}

impl Authorizer for Server {
    fn discover<'a>(&'a self, endpoint: &'a str, _: Option<&'a str>) -> BoxFuture<'a, Result<Provider, LinkFailure>> {
        let state = self.state();
        let provider = Provider {
            resource: endpoint.to_owned(),
            issuer: state.issuer.clone(),
            authorization_endpoint: format!("{ISSUER}/authorize"),
            token_endpoint: state.token_endpoint.clone(),
            registration_endpoint: state.registers.then(|| format!("{ISSUER}/register")),
            revocation_endpoint: state.revokes.then(|| format!("{ISSUER}/revoke")),
            scope: Some(state.scope.to_owned()),
            names_issuer: state.names_issuer,
            takes_metadata_documents: state.takes_documents,
            auth_methods: Vec::new(),
        };
        async { Ok(provider) }.boxed()
    }

    fn register<'a>(
        &'a self,
        _: &'a Provider,
        _: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Client, LinkFailure>> {
        let mut state = self.state();
        state.registered.push(redirect_uri.to_owned());
        let number = state.registered.len();
        let client = Client {
            client_id: format!("client-{number}"),
            client_secret: Some(Secret::new(format!("client-secret-{number}"))),
            method: AuthMethod::ClientSecretBasic,
        };
        async { Ok(client) }.boxed()
    }

    fn exchange<'a>(
        &'a self,
        _: &'a Provider,
        client: &'a Client,
        code: &'a Secret,
        verifier: &'a Secret,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>> {
        let mut state = self.state();
        if let Some(failure) = state.failures.pop() {
            return async { Err(failure) }.boxed();
        }
        let challenge = URL_SAFE_NO_PAD.encode(Digest::of(verifier.expose().as_bytes()).as_bytes());
        let known = state.codes.remove(code.expose());
        let known = known.filter(|known| {
            known.challenge == challenge && known.client_id == client.client_id && known.redirect_uri == redirect_uri
        });
        let granted = match known {
            Some(known) if !state.renews => Ok(Grant { refresh_token: None, ..state.grant(&known.subject) }),
            Some(known) => Ok(state.grant(&known.subject)),
            None => State::refused("invalid_grant"),
        };
        async { granted }.boxed()
    }

    fn refresh<'a>(
        &'a self,
        provider: &'a Provider,
        client: &'a Client,
        refresh_token: &'a Secret,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>> {
        async move {
            let during = self.state().during_refresh.take();
            if let Some(during) = during {
                during.await;
            }
            let mut state = self.state();
            state.refreshes.push((client.client_id.clone(), provider.token_endpoint.clone()));
            match state.failures.pop() {
                Some(failure) => Err(failure),
                None => state.refresh(refresh_token.expose()),
            }
        }
        .boxed()
    }

    fn revoke<'a>(
        &'a self,
        _: &'a Provider,
        _: &'a Client,
        token: &'a Secret,
    ) -> BoxFuture<'a, Result<(), LinkFailure>> {
        let mut state = self.state();
        if let Some(failure) = state.failures.pop() {
            return async { Err(failure) }.boxed();
        }
        if state.forgets {
            state.live.remove(token.expose());
        }
        state.revoked.push(token.expose().to_owned());
        async { Ok(()) }.boxed()
    }
}
