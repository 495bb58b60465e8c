//! What the orchestrator sees of a user's links, and how it ends one.

use futures_util::FutureExt as _;
use serde::Serialize;

use super::records::{Link, LinkSecrets, Owner, PendingLink, user_marks};
use super::service::LinkingSetup;
use super::{LinkError, LinkFailure, Linking};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, List, all, load, page};
use intent_gateway_domain::user::User;

/// Links of one user that are listed.
pub(crate) const LINKS_LISTED_MAX: usize = 200;

/// A link, as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// Where.
    pub partner: PartnerId,
    /// When the user linked the account, milliseconds since the epoch.
    pub since_ms: Timestamp,
    /// The scopes that were granted, where they were told.
    pub scope: Option<String>,
    /// When the present token is over, milliseconds since the epoch; absent where nobody said.
    pub expires_at_ms: Option<Timestamp>,
    /// Whether it is replaced then without the user.
    pub renewable: bool,
}

/// What happened to the tokens at the authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Revocation {
    /// It has ended them.
    Done,
    /// It takes no revocations; they end by themselves.
    Unsupported,
    /// It could not be told, or refused; they end by themselves.
    Failed,
}

impl Linking {
    /// The links of a user, in order of their partners, at most [`LINKS_LISTED_MAX`].
    ///
    /// # Errors
    /// [`LinkError::Store`].
    pub async fn links(&self, user: &User) -> Result<Vec<LinkView>, LinkError> {
        let LinkingSetup { store, vault, .. } = self.parts();
        let mut views: Vec<LinkView> = Vec::new();
        for mark in user_marks(vault, user) {
            let prefix = format!("{mark}/");
            let limit = u32::try_from(LINKS_LISTED_MAX).unwrap_or(u32::MAX);
            let kept = page::<Link>(&**store, List { status: None, after: Some(&prefix), limit }).await?;
            for link in kept.into_iter().map(|kept| kept.value).take_while(|link| link.user == mark) {
                // Of two under two master keys, that of the current one counts.
                if views.iter().all(|view| view.partner != link.partner) {
                    views.push(LinkView::from(link));
                }
            }
        }
        views.sort_by(|one, other| one.partner.cmp(&other.partner));
        views.truncate(LINKS_LISTED_MAX);
        Ok(views)
    }

    /// Ends a link: forgets it here, always, and has its tokens revoked where they came from, as far as can be.
    ///
    /// # Errors
    /// [`LinkError::NotLinked`] when there is none; [`LinkError::Store`].
    pub async fn unlink(&self, partner: &PartnerId, user: &User, actor: &Actor) -> Result<Revocation, LinkError> {
        let owners = Owner::all(&self.parts().vault, partner, user);
        let (linking, actor) = (self.clone(), actor.clone());
        self.to_its_end(async move { linking.forget(&owners, &actor).await }.boxed()).await
    }

    /// Ends all links of a user as [`unlink`](Self::unlink) does, and those that a browser has begun; how many there were.
    /// Whatever cuts it off, the same again goes on with what is left.
    ///
    /// # Errors
    /// [`LinkError::Store`].
    pub async fn erase(&self, user: &User, actor: &Actor) -> Result<u64, LinkError> {
        let LinkingSetup { store, vault, .. } = self.parts();
        let marks = user_marks(vault, user);
        let mut erased = 0;
        // First, so that none of them becomes a link behind the others.
        for kept in all::<PendingLink>(&**store, None).await? {
            if marks.contains(&kept.value.user) {
                erased += u64::from(steps::forget(&**store, &kept).await?);
            }
        }
        // Ends: a link that was ended is not listed again.
        loop {
            let links = self.links(user).await?;
            if links.is_empty() {
                return Ok(erased);
            }
            for link in links {
                match self.unlink(&link.partner, user, actor).await {
                    Ok(_) => erased += 1,
                    Err(LinkError::NotLinked) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    async fn forget(&self, owners: &[Owner], actor: &Actor) -> Result<Revocation, LinkError> {
        let mut revocation = None;
        // There may be one under each master key.
        for owner in owners {
            let removed = self.step(async || {
                let Some(link) = load::<Link>(&*self.parts().store, &owner.key()).await? else {
                    return Ok(Proposal::nothing(None));
                };
                let mut change = Change::default();
                change.audit.push(self.entry(actor, "link.removed", &link.value, None));
                change.delete(&link);
                Ok(Proposal::new(change, Some(link.value)))
            });
            let Some(link) = removed.await? else { continue };
            self.inner.cache.remove(&owners[0].key());
            revocation = Some(match self.open_secrets(&link) {
                Some(secrets) => self.revoke_all(&link, &secrets).await,
                None => Revocation::Failed,
            });
        }
        revocation.ok_or(LinkError::NotLinked)
    }

    /// Has the tokens of a link revoked: the refresh token first, with which most servers end the whole grant.
    pub(super) async fn revoke_all(&self, link: &Link, secrets: &LinkSecrets) -> Revocation {
        let provider = &link.provider;
        if provider.revocation_endpoint.is_none() {
            return Revocation::Unsupported;
        }
        let Some(client) = self.client_for(link, secrets) else { return Revocation::Failed };
        let mut revocation = Revocation::Done;
        for token in [secrets.refresh.as_ref(), Some(&secrets.access)].into_iter().flatten() {
            match self.parts().authorizer.revoke(provider, &client, token).await {
                Ok(()) => {}
                // Access tokens that the server does not keep end by themselves (RFC 7009, 2.2.1).
                Err(LinkFailure::Refused { code }) if code == "unsupported_token_type" => {}
                Err(failure) => {
                    tracing::warn!(partner = %link.partner, error = %chain(&failure), "a token could not be revoked");
                    revocation = Revocation::Failed;
                }
            }
        }
        revocation
    }
}

impl From<Link> for LinkView {
    fn from(link: Link) -> Self {
        let Link { partner, since_ms, scope, expires_at_ms, renewable, .. } = link;
        Self { partner, since_ms, scope, expires_at_ms, renewable }
    }
}
