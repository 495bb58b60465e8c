//! Gives out users' tokens: from memory, from the store, or in place of one that is over or was refused.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::Linking;
use super::flow::covers;
use super::records::{Link, LinkSecrets, Owner};
use super::service::LinkingSetup;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::{CallFailure, chain};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{SignInLink, UserTokens};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::store::Versioned;
use intent_gateway_domain::user::User;

/// A token that is refused so soon after it was obtained is not replaced, milliseconds: the next one would be refused as
/// well, and every call would ask for another.
const REFUSED_AGAIN_MS: u64 = 5_000;
/// Renewals waited for on account of one refused token: the first may have been under way before it was given out.
const REPLACEMENTS_MAX: u32 = 2;

impl Linking {
    async fn current(&self, partner: &Partner, user: &User) -> Result<Option<Secret>, CallFailure> {
        let owners = Owner::all(&self.parts().vault, &partner.id, user);
        let (key, now) = (owners[0].key(), self.now());
        let Some(place) = place(partner) else { return Ok(None) };
        if let Some(access) = self.inner.cache.get(&key, &place, now) {
            return Ok(Some(access));
        }
        let removals = self.inner.cache.removals();
        let Some((link, secrets)) = self.usable(&owners, partner).await? else { return Ok(None) };
        let Versioned { value: link, .. } = link;
        let access = secrets.access;
        if link.is_over(now) {
            return if link.renewable { self.renew_once(owners, &access).await } else { Ok(None) };
        }
        if link.ages(now) && link.renewable {
            // It still lasts: this call goes out with it, and does not wait for the next one.
            if link.renewing_until_ms <= now {
                self.renew_beside(owners, &access);
            }
            return Ok(Some(access));
        }
        let until = link.ages_at_ms.filter(|_| link.renewable).or(link.expires_at_ms).unwrap_or(Timestamp::MAX);
        self.inner.cache.keep(&key, &place, &access, until, now, removals);
        Ok(Some(access))
    }

    async fn in_place_of(
        &self,
        partner: &Partner,
        user: &User,
        refused: &Secret,
    ) -> Result<Option<Secret>, CallFailure> {
        let owners = Owner::all(&self.parts().vault, &partner.id, user);
        self.inner.cache.remove(&owners[0].key());
        for _ in 0..REPLACEMENTS_MAX {
            let Some((link, secrets)) = self.usable(&owners, partner).await? else { return Ok(None) };
            let (link, now) = (link.value, self.now());
            let is_another = !secrets.access.matches(refused.expose());
            if is_another && !link.is_over(now) {
                return Ok(Some(secrets.access));
            }
            // One that is due to be replaced anyway is: servers count in whole seconds, and some tokens live for few.
            let just_obtained = now < link.obtained_at_ms.plus_ms(REFUSED_AGAIN_MS) && !link.ages(now);
            if !link.renewable || (just_obtained && !is_another) {
                return Ok(None);
            }
            match self.renew_once(owners.clone(), &secrets.access).await? {
                Some(next) if next.matches(refused.expose()) => {}
                next => return Ok(next),
            }
        }
        Ok(None)
    }

    /// The link, opened, if its tokens are for where the partner is, and from where its users sign in.
    async fn usable(
        &self,
        owners: &[Owner],
        partner: &Partner,
    ) -> Result<Option<(Versioned<Link>, LinkSecrets)>, CallFailure> {
        let Some(link) = self.find_link(owners).await.map_err(fail_unknown)? else { return Ok(None) };
        let provider = &link.value.provider;
        let approved = partner.sign_in.as_ref().is_some_and(|approved| approved.admits(&provider.server()));
        if !approved || !covers(&provider.resource, partner.endpoint.url()) {
            // The partner has moved, or names another server; nobody has granted anything there.
            tracing::info!(partner = %link.value.partner, approved, "a link is not for where the partner is now");
            return Ok(None);
        }
        Ok(self.open_secrets(&link.value).map(|secrets| (link, secrets)))
    }

    /// The secrets of a link; none where they cannot be opened, which nothing but a new link will change.
    pub(super) fn open_secrets(&self, link: &Link) -> Option<LinkSecrets> {
        let LinkingSetup { vault, .. } = self.parts();
        match link.open(vault) {
            Ok(secrets) => Some(secrets),
            Err(error) => {
                tracing::error!(partner = %link.partner, %error, "the tokens of a link cannot be opened");
                None
            }
        }
    }
}

/// Where a partner's tokens go and come from, as one text; none where nobody's token is used.
fn place(partner: &Partner) -> Option<String> {
    let SignInServer { issuer, resource, origins } = partner.sign_in.as_ref()?;
    let resource = resource.as_deref().unwrap_or_default();
    Some(format!("{}\n{issuer}\n{resource}\n{origins:?}", partner.endpoint.url()))
}

/// Nobody can say whether there is a token.
pub(super) fn fail_unknown(error: impl std::error::Error) -> CallFailure {
    tracing::error!(error = %chain(&error), "a link could not be read or kept");
    CallFailure::Unreachable("whether the user has linked an account cannot be told at the moment".to_owned())
}

impl UserTokens for Linking {
    fn token<'a>(&'a self, partner: &'a Partner, user: &'a User) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        self.current(partner, user).boxed()
    }

    fn replace_token<'a>(
        &'a self,
        partner: &'a Partner,
        user: &'a User,
        refused: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        self.in_place_of(partner, user, refused).boxed()
    }

    fn link(&self, partner: &PartnerId, user: &User, challenge: Option<&str>) -> Option<SignInLink> {
        match self.offer(partner, user, challenge) {
            Ok(offer) => Some(offer.link),
            Err(error) => {
                tracing::error!(%error, "no link can be given out");
                None
            }
        }
    }
}
