//! A user's browser opens a link: the way to the partner's authorization server is found, and the browser is sent there.

use std::sync::Arc;

use serde_json::json;
use url::Url;

use super::flow::{AuthorizationRequest, Pkce, random_text};
use super::records::{
    ClientOf, ClientOrigin, KeptClient, KnownClient, Owner, PendingLink, PendingSecrets, browser_context,
    confirmation_context, known_client_key, seal_client, seal_pending, split, state_of, ticket_keys,
};
use super::service::{LinkingSetup, server};
use super::ticket::{TICKET_TTL_MS, Ticket};
use super::{AuthMethod, Client, LinkError, Linking, Provider};
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::error::INSUFFICIENT_SCOPE;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps;
use intent_gateway_domain::store::{Change, Versioned, load};

/// How long a browser may take from the link to the callback, milliseconds: ten minutes.
pub const PENDING_TTL_MS: u64 = TICKET_TTL_MS;
/// How long a registration is used for new links, milliseconds: 30 days. Servers forget clients and tell only the browser,
/// so that an old registration could shut everybody out. Links keep the client that they were made with.
const REGISTRATION_TTL_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Scopes that one link asks for.
const SCOPES_MAX: usize = 64;
/// Characters of a pending link's key that name its cookie.
const COOKIE_TAG_CHARS: usize = 16;

/// What a user is asked before a browser is sent anywhere: whoever was sent somebody else's link can tell by it.
#[derive(Debug)]
pub struct Confirmation {
    /// What the orchestrator is called for whose user an account would be linked.
    pub orchestrator: String,
    /// The code that the orchestrator has told its user.
    pub code: String,
    /// Display name of the partner.
    pub partner_name: String,
    /// Where the partner's service is: a host.
    pub partner_host: String,
    /// What comes back with the user's consent, in a form.
    pub token: Secret,
    /// The cookie of the browser that is asked, to which the token belongs: its name.
    pub cookie_name: String,
    /// And its value.
    pub cookie_value: Secret,
}

/// Where a browser is sent.
#[derive(Debug)]
pub struct SignInStart {
    /// The authorization request.
    pub location: String,
    /// The authorization server: a host.
    pub host: String,
    /// The cookie by which the browser is known when it comes back: its name.
    pub cookie_name: String,
    /// And its value.
    pub cookie_value: Secret,
}

impl Linking {
    /// What the user is to be asked before anything begins. `ticket` is the last part of a link's address. Nothing is kept:
    /// whatever looks at addresses ahead of their reader uses nothing up.
    ///
    /// # Errors
    /// [`LinkError`] with what is wrong with the ticket.
    pub async fn confirmation(&self, ticket: &str) -> Result<Confirmation, LinkError> {
        let (ticket, key, partner) = self.admit(ticket).await?;
        let vault = &self.parts().vault;
        let browser = random_text(vault.entropy())?;
        Ok(Confirmation {
            code: ticket.code(),
            orchestrator: ticket.orchestrator,
            partner_name: partner.name.clone(),
            partner_host: host_of(partner.endpoint.url()),
            token: Secret::new(vault.mark(&confirmation_context(&key), browser.expose()).as_str()),
            cookie_name: self.cookie_name(&key),
            cookie_value: browser,
        })
    }

    /// A ticket that is still good, the key of the link that it begins, and its partner.
    async fn admit(&self, ticket: &str) -> Result<(Ticket, String, Arc<Partner>), LinkError> {
        let LinkingSetup { store, vault, directory, .. } = self.parts();
        let ticket = Ticket::open(vault, ticket).ok_or(LinkError::InvalidLink)?;
        if self.now() >= ticket.expires_at_ms || ticket.id.is_empty() {
            return Err(LinkError::ExpiredLink);
        }
        let mut keys = ticket_keys(vault, &ticket.id);
        for key in &keys {
            if load::<PendingLink>(&**store, key).await?.is_some() {
                return Err(LinkError::UsedLink);
            }
        }
        // Not only the live ones: whoever wants to cancel a booking may have to sign in for it.
        let partner = directory.find_known(&ticket.partner).ok_or(LinkError::PartnerGone)?;
        Ok((ticket, keys.swap_remove(0), partner))
    }

    /// Begins to link, with the user's consent: uses a link's ticket up, and says where the browser goes. `token` is what came
    /// with the consent; `cookie` gives what the browser has brought under a name.
    ///
    /// # Errors
    /// [`LinkError`] with what was wrong; nothing is kept then, but a registration of the gateway, and the ticket is as good
    /// as before.
    pub async fn begin(
        &self,
        ticket: &str,
        token: &Secret,
        cookie: impl Fn(&str) -> Option<Secret> + Send,
    ) -> Result<SignInStart, LinkError> {
        let (ticket, key, partner) = self.admit(ticket).await?;
        let LinkingSetup { vault, authorizer, sign_in_servers, settings, .. } = self.parts();
        let cookie_name = self.cookie_name(&key);
        let asked = cookie(&cookie_name).ok_or(LinkError::OtherBrowser)?;
        let marks = vault.marks(&confirmation_context(&key), asked.expose());
        if !marks.iter().any(|mark| token.matches(mark.as_str())) {
            return Err(LinkError::OtherBrowser);
        }
        let provider =
            authorizer.discover(partner.endpoint.url(), ticket.challenge.as_deref()).await.map_err(server)?;
        if !sign_in_servers.admit(&partner, &provider.server()).await {
            return Err(LinkError::ServerNotApproved);
        }
        let provider = self.widen(&ticket, provider).await?;
        let (client, origin) = self.client_at(&ticket.partner, &provider).await?;
        let pkce = Pkce::new(vault.entropy())?;
        let state = state_of(&ticket.id, &random_text(vault.entropy())?);
        let request = AuthorizationRequest {
            provider: &provider,
            client_id: &client.client_id,
            redirect_uri: &settings.redirect_uri(&provider.issuer, origin),
            state: &state,
            code_challenge: &pkce.challenge,
        };
        let location = request.url().map_err(LinkError::Endpoint)?;
        let host = host_of(&provider.authorization_endpoint);
        let browser = random_text(vault.entropy())?;
        let pending =
            self.pending(ticket, provider, (client, origin), PendingBrowser { key, state, pkce, browser: &browser })?;
        let mut change = Change::default();
        change.put(&Versioned::new(pending));
        if !self.commit_unless_changed(change).await? {
            return Err(LinkError::UsedLink);
        }
        Ok(SignInStart { location, host, cookie_name, cookie_value: browser })
    }

    /// Where the partner wants a wider grant than the user's, what was granted before is asked for with it: the next token
    /// replaces the one before, and would grant the new alone (MCP, Authorization, step-up).
    async fn widen(&self, ticket: &Ticket, provider: Provider) -> Result<Provider, LinkError> {
        if !ticket.challenge.as_deref().is_some_and(|challenge| challenge.contains(INSUFFICIENT_SCOPE)) {
            return Ok(provider);
        }
        let owner = Owner { user: ticket.user.clone(), partner: ticket.partner.clone() };
        let link = self.find_link(&[owner]).await?.filter(|link| link.value.provider.issuer == provider.issuer);
        let Some(before) = link.and_then(|link| link.value.scope) else { return Ok(provider) };
        let wanted = provider.scope.unwrap_or_default();
        let mut words: Vec<&str> = Vec::new();
        for word in before.split_whitespace().chain(wanted.split_whitespace()) {
            if !words.contains(&word) && words.len() < SCOPES_MAX {
                words.push(word);
            }
        }
        Ok(Provider { scope: Some(words.join(" ")), ..provider })
    }

    fn pending(
        &self,
        ticket: Ticket,
        provider: Provider,
        (client, origin): (Client, ClientOrigin),
        browser: PendingBrowser<'_>,
    ) -> Result<PendingLink, LinkError> {
        let vault = &self.parts().vault;
        let PendingBrowser { key, state, pkce, browser } = browser;
        let (client, secret) = split(client, origin);
        // What the configuration holds is not copied: it may change there.
        let secret = secret.filter(|_| origin == ClientOrigin::Registered);
        let secrets = PendingSecrets { state, verifier: pkce.verifier, client: secret };
        Ok(PendingLink {
            user: ticket.user,
            partner: ticket.partner,
            provider,
            client,
            challenge: ticket.challenge,
            browser: vault.mark(&browser_context(&key), browser.expose()),
            expires_at_ms: self.now().plus_ms(PENDING_TTL_MS),
            sealed: seal_pending(vault, &key, &secrets)?,
            ended: false,
            key,
        })
    }

    /// The name of the cookie of a pending link: one for each, so that a browser may link several accounts at once. Over
    /// HTTPS it has the prefix that keeps other hosts of the domain from setting it.
    pub(super) fn cookie_name(&self, pending_key: &str) -> String {
        let prefix = if self.settings().is_https() { "__Host-link-" } else { "link-" };
        let tag = pending_key.get(..COOKIE_TAG_CHARS).unwrap_or(pending_key);
        format!("{prefix}{tag}")
    }

    /// The gateway as a client of a server: as was arranged by hand, else by its metadata document, else as registered.
    async fn client_at(&self, partner: &PartnerId, provider: &Provider) -> Result<(Client, ClientOrigin), LinkError> {
        let settings = self.settings();
        if let Some(client) = self.configured_client(partner, &provider.issuer, None) {
            return Ok((client, ClientOrigin::Configured));
        }
        // Only where the answer has to name its issuer: nothing else tells the answers of such servers apart.
        let takes_documents = provider.takes_metadata_documents && provider.names_issuer;
        if let Some(client_id) = settings.document_url(&provider.issuer).filter(|_| takes_documents) {
            return Ok((Client { client_id, client_secret: None, method: AuthMethod::None }, ClientOrigin::Document));
        }
        let client = self.registered_client(partner, provider).await?;
        Ok((client, ClientOrigin::Registered))
    }

    /// The client that the configuration has for a partner's users at an issuer, by its name if one is given.
    pub(super) fn configured_client(
        &self,
        partner: &PartnerId,
        issuer: &str,
        client_id: Option<&str>,
    ) -> Option<Client> {
        let arranged = self.settings().clients.iter();
        let of_both = arranged.filter(|arranged| arranged.partner == *partner && arranged.issuer == issuer);
        let mut clients = of_both.map(|arranged| &arranged.client);
        clients.find(|client| client_id.is_none_or(|id| id == client.client_id)).cloned()
    }

    async fn registered_client(&self, partner: &PartnerId, provider: &Provider) -> Result<Client, LinkError> {
        let LinkingSetup { store, vault, authorizer, settings, .. } = self.parts();
        let redirect_uri = settings.redirect_uri_at(&provider.issuer);
        let of = ClientOf { partner: partner.clone(), resource: provider.resource.clone() };
        let key = known_client_key(Some(&of), &provider.issuer, &redirect_uri);
        let kept = load::<KnownClient>(&**store, &key).await?;
        if let Some(kept) = &kept {
            let lasts = self.now() < kept.value.registered_at_ms.plus_ms(REGISTRATION_TTL_MS);
            match kept.value.open(vault) {
                Ok(client) if lasts => return Ok(client),
                Ok(_) => {}
                Err(error) => tracing::error!(issuer = provider.issuer, %error, "a registration cannot be opened"),
            }
        }
        if provider.registration_endpoint.is_none() {
            return Err(LinkError::NoClient);
        }
        let client = authorizer.register(provider, &settings.client_name, &redirect_uri).await.map_err(server)?;
        let sealed = seal_client(vault, &key, client.client_secret.as_ref())?;
        let (known, _) = split(client.clone(), ClientOrigin::Registered);
        let known = KnownClient {
            of: Some(of),
            issuer: provider.issuer.clone(),
            redirect_uri,
            client: known,
            registered_at_ms: self.now(),
            sealed,
        };
        let mut change = Change::default();
        change.audit.push(self.registration_entry("link_client.registered", &known.issuer, &known.client));
        change.put(&Versioned { revision: kept.map_or(0, |kept| kept.revision), value: known });
        self.forget_shared(&provider.issuer, &mut change).await?;
        // Where another process was faster, both registrations are good; the one that is kept serves from then on.
        self.commit_unless_changed(change).await?;
        Ok(client)
    }

    /// Forgets the registration from before each server had an address of its own to come back to. Links that were made with
    /// it have a copy.
    async fn forget_shared(&self, issuer: &str, change: &mut Change) -> Result<(), LinkError> {
        let key = known_client_key(None, issuer, &self.settings().shared_redirect_uri());
        if let Some(kept) = load::<KnownClient>(&*self.parts().store, &key).await? {
            change.audit.push(self.registration_entry("link_client.forgotten", issuer, &kept.value.client));
            change.delete(&kept);
        }
        Ok(())
    }

    /// Forgets a registration that its server does not know any more; the next link registers anew.
    pub(super) async fn forget_client(&self, partner: &PartnerId, provider: &Provider, client_id: &str) {
        let Provider { issuer, resource, .. } = provider;
        let of = ClientOf { partner: partner.clone(), resource: resource.clone() };
        let key = known_client_key(Some(&of), issuer, &self.settings().redirect_uri_at(issuer));
        let forgotten = async {
            let Some(kept) = load::<KnownClient>(&*self.parts().store, &key).await? else { return Ok(true) };
            if kept.value.client.client_id != client_id {
                return Ok(true);
            }
            let mut change = Change::default();
            change.audit.push(self.registration_entry("link_client.forgotten", issuer, &kept.value.client));
            change.delete(&kept);
            self.commit_unless_changed(change).await
        };
        if let Err(error) = forgotten.await {
            tracing::warn!(issuer, error = %chain(&error), "a registration that is gone could not be forgotten");
        }
    }

    fn registration_entry(&self, action: &str, issuer: &str, client: &KeptClient) -> AuditDraft {
        AuditDraft {
            at_ms: self.now(),
            actor: Actor::gateway(),
            action: action.to_owned(),
            subject: issuer.to_owned(),
            detail: json!({"client_id": client.client_id}),
        }
    }

    /// Forgets links that were begun and never ended; how many there were.
    ///
    /// # Errors
    /// [`LinkError::Store`].
    pub async fn forget_pending(&self) -> Result<u64, LinkError> {
        let (store, now) = (&*self.parts().store, self.parts().clock.settled());
        Ok(steps::forget_all(store, |pending: &PendingLink| now >= pending.expires_at_ms).await?)
    }
}

/// The host of an address, as it is shown to a user.
fn host_of(address: &str) -> String {
    let url = Url::parse(address).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// What only the browser that began knows, or brings back.
struct PendingBrowser<'a> {
    key: String,
    state: Secret,
    pkce: Pkce,
    browser: &'a Secret,
}
