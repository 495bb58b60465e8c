//! A user's browser comes back from the authorization server: the answer is judged, the code exchanged, the link kept.

use futures_util::FutureExt as _;

use super::flow::{Callback, CallbackFault, Expected};
use super::records::{ClientOrigin, Link, LinkSecrets, PendingLink, PendingSecrets, browser_context, pending_keys};
use super::renewal::compute_ages;
use super::service::{LinkingSetup, redirect_tag, server};
use super::{Client, Grant, LinkError, LinkFailure, Linking};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, load};
use intent_gateway_domain::vault::Sealed;

/// The server does not know the client, or not any more (RFC 6749, 5.2).
pub(super) const CLIENT_GONE: [&str; 2] = ["invalid_client", "unauthorized_client"];

/// An account that was linked.
#[derive(Debug)]
pub struct LinkedAccount {
    /// Display name of the partner.
    pub partner_name: String,
    /// The cookie that is of no more use.
    pub cookie_name: String,
}

impl Linking {
    /// Ends what [`begin`](Self::begin) has begun. `tag` is the last part of the address that the browser came back to, which
    /// names the server that it comes from; none where it came to the address that all servers shared. `query` is that of
    /// the address; `cookie` gives what the browser has brought under a name.
    ///
    /// # Errors
    /// [`LinkError`] with what was wrong; nothing is kept then. A request that was answered is over, however it ended.
    pub async fn finish(
        &self,
        tag: Option<&str>,
        query: &str,
        cookie: impl Fn(&str) -> Option<Secret> + Send,
    ) -> Result<LinkedAccount, LinkError> {
        let callback = Callback::read(query).map_err(LinkError::Callback)?;
        let kept = self.pending_of(&callback.state).await?;
        let Versioned { value: pending, .. } = &kept;
        let LinkingSetup { vault, directory, sign_in_servers, .. } = self.parts();
        if pending.ended {
            return Err(LinkError::NotUnderWay);
        }
        let cookie_name = self.cookie_name(&pending.key);
        let brought = cookie(&cookie_name).ok_or(LinkError::OtherBrowser)?;
        if !vault.recognises(&browser_context(&pending.key), &pending.browser, brought.expose()) {
            return Err(LinkError::OtherBrowser);
        }
        // Used once, whatever comes of it. Who loses the race for it comes back with a code that was used.
        let mut change = Change::default();
        change.put(&Versioned { revision: kept.revision, value: pending.end() });
        if !self.commit_unless_changed(change).await? {
            return Err(LinkError::NotUnderWay);
        }
        if self.now() >= pending.expires_at_ms {
            return Err(LinkError::NotUnderWay);
        }
        let tag = tag.ok_or(LinkError::Outdated)?;
        // Whatever the answer says of itself: the address was given to one server alone.
        if tag != redirect_tag(&pending.provider.issuer, pending.client.origin) {
            return Err(LinkError::Callback(CallbackFault::Issuer));
        }
        let secrets = pending.open(vault)?;
        let expected = Expected {
            state: &secrets.state,
            issuer: &pending.provider.issuer,
            names_issuer: pending.provider.names_issuer,
        };
        let code = callback.code(expected).map_err(LinkError::Callback)?.clone();
        let partner = directory.find_known(&pending.partner).ok_or(LinkError::PartnerGone)?;
        // What was approved when the browser left need not be any more.
        if !sign_in_servers.admit(&partner, &pending.provider.server()).await {
            return Err(LinkError::ServerNotApproved);
        }
        let (linking, pending) = (self.clone(), kept.value);
        self.to_its_end(async move { linking.exchange(pending, secrets, code).await }.boxed()).await?;
        Ok(LinkedAccount { partner_name: partner.name.clone(), cookie_name })
    }

    async fn pending_of(&self, state: &Secret) -> Result<Versioned<PendingLink>, LinkError> {
        let LinkingSetup { store, vault, .. } = self.parts();
        for key in pending_keys(vault, state) {
            if let Some(kept) = load::<PendingLink>(&**store, &key).await? {
                return Ok(kept);
            }
        }
        Err(LinkError::NotUnderWay)
    }

    async fn exchange(&self, pending: PendingLink, secrets: PendingSecrets, code: Secret) -> Result<(), LinkError> {
        let client = self.client_of(&pending, secrets.client)?;
        let provider = pending.provider.clone();
        let redirect_uri = self.settings().redirect_uri(&provider.issuer, pending.client.origin);
        let exchanged = self.parts().authorizer.exchange(&provider, &client, &code, &secrets.verifier, &redirect_uri);
        let grant = match exchanged.await {
            Ok(grant) => grant,
            Err(failure) => {
                if is_client_gone(&failure) && pending.client.origin == ClientOrigin::Registered {
                    self.forget_client(&pending.partner, &pending.provider, &pending.client.client_id).await;
                }
                return Err(server(failure));
            }
        };
        let tokens = [grant.refresh_token.clone(), Some(grant.access_token.clone())];
        let kept = self.keep(pending, client.clone(), grant).await;
        if kept.is_err() {
            // What cannot be kept nobody may use either.
            for token in tokens.into_iter().flatten() {
                if let Err(failure) = self.parts().authorizer.revoke(&provider, &client, &token).await {
                    tracing::warn!(error = %chain(&failure), "a token that could not be kept could not be revoked");
                }
            }
        }
        kept
    }

    fn client_of(&self, pending: &PendingLink, secret: Option<Secret>) -> Result<Client, LinkError> {
        match pending.client.origin {
            ClientOrigin::Configured => self
                .configured_client(&pending.partner, &pending.provider.issuer, Some(&pending.client.client_id))
                .ok_or(LinkError::NoClient),
            ClientOrigin::Document | ClientOrigin::Registered => Ok(pending.client.with(secret)),
        }
    }

    async fn keep(&self, pending: PendingLink, client: Client, grant: Grant) -> Result<(), LinkError> {
        let LinkingSetup { store, vault, .. } = self.parts();
        let now = self.now();
        let Grant { access_token, refresh_token, expires_in, scope } = grant;
        let (expires_at_ms, ages_at_ms) = compute_ages(expires_in, now);
        // Of the client, the link keeps what only the registration knows.
        let client = client.client_secret.filter(|_| pending.client.origin == ClientOrigin::Registered);
        let secrets = LinkSecrets { access: access_token, refresh: refresh_token, client };
        let mut link = Link {
            scope: scope.or_else(|| pending.provider.scope.clone()),
            user: pending.user,
            partner: pending.partner,
            provider: pending.provider,
            client: pending.client,
            challenge: pending.challenge,
            since_ms: now,
            obtained_at_ms: now,
            expires_at_ms,
            ages_at_ms,
            renewable: false,
            renewing_until_ms: Timestamp::EPOCH,
            sealed: Sealed::from_text(String::new()),
        };
        link.seal(vault, &secrets)?;
        let key = link.owner().key();
        self.step(async || {
            let revision = load::<Link>(&**store, &key).await?.map_or(0, |kept| kept.revision);
            let mut change = Change::default();
            change.audit.push(self.entry(&Actor::gateway(), "link.made", &link, None));
            change.put(&Versioned { revision, value: link.clone() });
            Ok(Proposal::new(change, ()))
        })
        .await?;
        self.inner.cache.remove(&key);
        Ok(())
    }
}

/// Whether the server says that it does not know the client.
pub(super) fn is_client_gone(failure: &LinkFailure) -> bool {
    matches!(failure, LinkFailure::Refused { code } if CLIENT_GONE.contains(&code.as_str()))
}
