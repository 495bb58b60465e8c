//! Replaces a token that is nearly over, over, or refused, by the refresh token that came with it (OAuth 2.1, 4.3).
//!
//! Servers that rotate refresh tokens take one that comes twice for stolen, and end the whole grant. So one renewal of a link is
//! under way at a time: within a process those who need it share it, and among processes that share a store whoever has
//! marked the link first does it, while the others wait and read. It goes on when its callers have left, or the new
//! tokens would be lost with the answer.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;

use super::finish::{TRIES_MAX, is_client_gone};
use super::records::{ClientOrigin, Link, LinkSecrets, Owner};
use super::service::Parts;
use super::tokens::unknown;
use super::{Client, Grant, LinkFailure, Linking, Provider};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::error::{CallFailure, chain};
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::single_flight::{Began, Flight, SingleFlight};
use intent_gateway_domain::store::{Change, Versioned};

/// A token is replaced so long before it is over, milliseconds; a short-lived one in the second half of its life.
const AGES_BEFORE_MS: u64 = 60_000;
/// A process that replaces a token has this long, milliseconds: longer than the requests to the authorization server that it
/// may take. After that, another one tries.
const RENEWING_MAX_MS: u64 = 60_000;
/// Pause of a process that waits for another one.
const WAIT: Duration = Duration::from_millis(200);
/// Looks at what the other one has done; together 12 seconds.
const ROUNDS_MAX: u32 = 60;
/// A renewal that failed is not tried again for this long, milliseconds. Most often it was a connection that the server had
/// just closed, and the next one succeeds.
const PAUSE_MS: u64 = 1_000;
/// Failed renewals that are remembered.
const FAILED_MAX: usize = 4_096;
/// Longest life of a token that is believed, seconds: ten years.
const EXPIRES_IN_MAX_SECONDS: u64 = 10 * 365 * 24 * 60 * 60;

/// When a token is over, and from when on it is replaced, milliseconds since the epoch; absent where nobody said.
pub(super) fn aged(expires_in: Option<u64>, now_ms: u64) -> (Option<u64>, Option<u64>) {
    let Some(life_ms) = expires_in.map(|seconds| seconds.min(EXPIRES_IN_MAX_SECONDS) * 1_000) else {
        return (None, None);
    };
    let ages_ms = life_ms - AGES_BEFORE_MS.min(life_ms / 2);
    (Some(now_ms.saturating_add(life_ms)), Some(now_ms.saturating_add(ages_ms)))
}

/// A token other than the one that was to be replaced; none where the link has ended.
type Renewed = Result<Option<Secret>, CallFailure>;

/// A renewal that failed a moment ago.
struct Failed {
    failure: CallFailure,
    until_ms: u64,
}

impl Expires for Failed {
    fn ends_ms(&self) -> u64 {
        self.until_ms
    }
}

/// The renewals of one process, by the key of their link.
pub(super) struct Renewals {
    /// Each is held by those who wait for it, and driven to its end.
    under_way: SingleFlight<String, Renewed>,
    failed: Mutex<ExpiringMap<String, Failed>>,
}

impl Default for Renewals {
    fn default() -> Self {
        Self { under_way: SingleFlight::default(), failed: Mutex::new(ExpiringMap::new(FAILED_MAX)) }
    }
}

impl Renewals {
    /// What is kept is whole after every step, so that which a panic interrupted can be used.
    fn failed(&self) -> MutexGuard<'_, ExpiringMap<String, Failed>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers for a while that a renewal has failed.
    fn remember(&self, key: String, renewed: &Renewed, now_ms: u64) {
        let Err(failure) = renewed else { return };
        let failed = Failed { failure: failure.clone(), until_ms: now_ms.saturating_add(PAUSE_MS) };
        self.failed().insert(key, failed, now_ms);
    }
}

/// How the authorization server was asked for the next token.
enum Asked {
    Granted(Box<(Provider, Grant)>),
    /// The link is over, with the server's reason.
    Ended(String),
    Failed(LinkFailure),
}

impl Linking {
    /// Replaces `stale`, or waits for whoever does.
    pub(super) async fn renewed(&self, owners: Vec<Owner>, stale: &Secret) -> Renewed {
        self.flight(owners, stale).await
    }

    /// Replaces `stale` without anybody waiting for it.
    pub(super) fn renew_beside(&self, owners: Vec<Owner>, stale: &Secret) {
        // It goes on by itself; what came of it, whoever asks next sees.
        drop(self.flight(owners, stale));
    }

    fn flight(&self, owners: Vec<Owner>, stale: &Secret) -> Flight<Renewed> {
        let key = owners[0].key();
        let (flight, began) = {
            let failed = self.inner.renewals.failed();
            if let Some(Failed { failure, .. }) = failed.get(&key, self.now()) {
                return std::future::ready(Err(failure.clone())).boxed().shared();
            }
            let (linking, stale, of) = (self.clone(), stale.clone(), key.clone());
            // Still under the lock: a renewal that fails is remembered before it is over.
            self.inner.renewals.under_way.join(&key, || async move {
                let renewed = linking.renew(&owners, &stale).await;
                linking.inner.cache.remove(&of);
                linking.inner.renewals.remember(of, &renewed, linking.now());
                renewed
            })
        };
        if began == Began::Now {
            self.parts().background.run(flight.clone().map(drop).boxed());
        }
        flight
    }

    async fn renew(&self, owners: &[Owner], stale: &Secret) -> Renewed {
        for _ in 0..ROUNDS_MAX {
            let Some(mut link) = self.kept(owners).await.map_err(unknown)? else { return Ok(None) };
            let Some(secrets) = self.opened(&link.value) else { return Ok(None) };
            let now_ms = self.now();
            if !secrets.access.matches(stale.expose()) && !link.value.is_over(now_ms) {
                return Ok(Some(secrets.access));
            }
            let Some(refresh) = secrets.refresh.clone() else { return Ok(None) };
            if link.value.renewing_until_ms > now_ms {
                self.parts().timer.wait(WAIT).await;
                continue;
            }
            link.value.renewing_until_ms = now_ms.saturating_add(RENEWING_MAX_MS);
            let mut claim = Change::default();
            claim.put(&link);
            if !self.commit(claim).await.map_err(unknown)? {
                continue;
            }
            link.revision += 1;
            match self.ask(&link.value, &secrets, &refresh).await {
                Asked::Granted(granted) => return self.take(owners, link, secrets, *granted).await,
                Asked::Ended(reason) => {
                    if self.end(&link, &reason).await? {
                        return Ok(None);
                    }
                }
                Asked::Failed(failure) => {
                    self.release(link).await;
                    return Err(of_server(&failure));
                }
            }
        }
        Err(CallFailure::Unreachable("another process has not replaced the user's token in time".to_owned()))
    }

    /// Asks the authorization server. Where it is not to be found any more as it was, it is looked for anew.
    async fn ask(&self, link: &Link, secrets: &LinkSecrets, refresh: &Secret) -> Asked {
        let Parts { authorizer, .. } = self.parts();
        let provider = &link.provider;
        let Some(client) = self.client_for(link, secrets) else {
            return Asked::Ended("the configuration names no client for the issuer any more".to_owned());
        };
        let failure = match authorizer.refresh(provider, &client, refresh).await {
            Ok(grant) => return Asked::Granted(Box::new((provider.clone(), grant))),
            Err(failure) => failure,
        };
        if let LinkFailure::Refused { code } = failure {
            return self.refused(link, code).await;
        }
        let Some(moved) = self.moved(link).await else { return Asked::Failed(failure) };
        match authorizer.refresh(&moved, &client, refresh).await {
            Ok(grant) => Asked::Granted(Box::new((moved, grant))),
            Err(LinkFailure::Refused { code }) => self.refused(link, code).await,
            Err(failure) => Asked::Failed(failure),
        }
    }

    /// Where the server of a link is now, if it is the same one at another address. A refresh token goes to no other issuer.
    async fn moved(&self, link: &Link) -> Option<Provider> {
        let Parts { directory, authorizer, .. } = self.parts();
        let partner = directory.find(&link.partner)?;
        let found = authorizer.discover(partner.endpoint.url(), link.challenge.as_deref()).await.ok()?;
        let elsewhere = found.token_endpoint != link.provider.token_endpoint;
        (elsewhere && found.issuer == link.provider.issuer).then_some(found)
    }

    async fn refused(&self, link: &Link, code: String) -> Asked {
        let (failure, origin) = (LinkFailure::Refused { code }, link.client.origin);
        let LinkFailure::Refused { code } = &failure else { return Asked::Failed(failure) };
        // The server's own trouble says nothing of the token (RFC 6749, 4.1.2.1, used by some at the token endpoint too).
        if ["server_error", "temporarily_unavailable", "slow_down"].contains(&code.as_str()) {
            return Asked::Failed(failure);
        }
        if is_client_gone(&failure) {
            match origin {
                // Most likely its secret was replaced at one side alone: the operator's to mend, not the users'.
                ClientOrigin::Configured => {
                    tracing::error!(issuer = link.provider.issuer, code, "the configured client is not accepted");
                    return Asked::Failed(failure);
                }
                ClientOrigin::Document => return Asked::Failed(failure),
                ClientOrigin::Registered => self.forget_client(&link.provider.issuer, &link.client.client_id).await,
            }
        }
        Asked::Ended(code.clone())
    }

    pub(super) fn client_for(&self, link: &Link, secrets: &LinkSecrets) -> Option<Client> {
        match link.client.origin {
            ClientOrigin::Configured => self.configured_client(&link.provider.issuer, Some(&link.client.client_id)),
            ClientOrigin::Document | ClientOrigin::Registered => Some(link.client.with(secrets.client.clone())),
        }
    }

    /// Keeps what was granted, under the current master key's mark of the user.
    async fn take(
        &self,
        owners: &[Owner],
        claimed: Versioned<Link>,
        before: LinkSecrets,
        (provider, grant): (Provider, Grant),
    ) -> Renewed {
        let Parts { vault, timer, .. } = self.parts();
        let now_ms = self.now();
        let Grant { access_token, refresh_token, expires_in, scope } = grant;
        let (expires_at_ms, ages_at_ms) = aged(expires_in, now_ms);
        // Without a new one, the refresh token goes on (OAuth 2.1, 4.3.3).
        let refresh = refresh_token.or(before.refresh);
        let secrets = LinkSecrets { access: access_token.clone(), refresh, client: before.client };
        let mut link = Link {
            user: owners[0].user.clone(),
            provider,
            scope: scope.or_else(|| claimed.value.scope.clone()),
            obtained_at_ms: now_ms,
            expires_at_ms,
            ages_at_ms,
            renewing_until_ms: 0,
            ..claimed.value.clone()
        };
        link.seal(vault, &secrets).map_err(|error| CallFailure::Unreachable(error.to_string()))?;
        let moved = link.user != claimed.value.user;
        for _ in 0..TRIES_MAX {
            let mut change = Change::default();
            if moved {
                change.delete(&claimed);
            }
            change.put(&Versioned { revision: if moved { 0 } else { claimed.revision }, value: link.clone() });
            match self.commit(change).await {
                Ok(true) => return Ok(Some(access_token)),
                Ok(false) => return self.overtaken(owners, &link, &secrets).await,
                // The token before is used up: nothing is worth more now than to keep this one.
                Err(error) => {
                    tracing::error!(error = %chain(&error), "a new token could not be kept; trying again");
                    timer.wait(WAIT).await;
                }
            }
        }
        Ok(Some(access_token))
    }

    /// The link was changed while its token was replaced: what is there now counts.
    async fn overtaken(&self, owners: &[Owner], link: &Link, secrets: &LinkSecrets) -> Renewed {
        if let Some(kept) = self.kept(owners).await.map_err(unknown)? {
            return Ok(self.opened(&kept.value).map(|kept| kept.access));
        }
        // It was unlinked: what came too late must not live on at the server.
        self.revoke_all(link, secrets).await;
        Ok(None)
    }

    /// Removes a link that its server has ended; false when somebody else has changed it meanwhile.
    async fn end(&self, link: &Versioned<Link>, reason: &str) -> Result<bool, CallFailure> {
        let mut change = Change::default();
        change.audit.push(self.entry(&Actor::gateway(), "link.ended", &link.value, Some(reason)));
        change.delete(link);
        let ended = self.commit(change).await.map_err(unknown)?;
        if ended {
            tracing::info!(partner = %link.value.partner, reason, "a link was ended by its authorization server");
        }
        Ok(ended)
    }

    /// Lets others try.
    async fn release(&self, mut link: Versioned<Link>) {
        link.value.renewing_until_ms = 0;
        let mut change = Change::default();
        change.put(&link);
        if let Err(error) = self.commit(change).await {
            tracing::warn!(error = %chain(&error), "others can try to replace a token only in a minute");
        }
    }
}

/// An authorization server that gave no token, as the failure of the call that wanted it.
fn of_server(failure: &LinkFailure) -> CallFailure {
    match failure {
        LinkFailure::Unreachable(_) => CallFailure::Unreachable(failure.to_string()),
        LinkFailure::AddressRefused(_) => CallFailure::AddressRefused(failure.to_string()),
        LinkFailure::Unusable(_) | LinkFailure::Protocol(_) | LinkFailure::Refused { .. } => {
            CallFailure::Protocol(failure.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_ages_a_minute_before_it_is_over_or_at_half_its_life() {
        assert_eq!(aged(None, 1_000), (None, None));
        assert_eq!(aged(Some(3_600), 1_000), (Some(3_601_000), Some(3_541_000)));
        assert_eq!(aged(Some(8), 1_000), (Some(9_000), Some(5_000)));
        assert_eq!(aged(Some(0), 1_000), (Some(1_000), Some(1_000)));
        let (until, from) = aged(Some(u64::MAX), u64::MAX);
        assert_eq!((until, from), (Some(u64::MAX), Some(u64::MAX)));
    }

    #[test]
    fn failed_renewals_that_are_remembered_are_bounded() {
        let renewals = Renewals::default();
        let failed: Renewed = Err(CallFailure::Busy);
        for number in 0..FAILED_MAX + 10 {
            renewals.remember(number.to_string(), &failed, 0);
        }
        assert_eq!(renewals.failed().len(), FAILED_MAX);
        renewals.remember("next".to_owned(), &failed, PAUSE_MS);
        assert_eq!(renewals.failed().len(), 1);
    }
}
