//! Replaces a token that is nearly over, over, or refused, by the refresh token that came with it (OAuth 2.1, 4.3).
//!
//! Servers that rotate refresh tokens take one that comes twice for stolen, and end the whole grant. So one renewal of a link is
//! under way at a time: within a process those who need it share it, and among processes that share a store whoever has
//! marked the link first does it, while the others wait and read. It goes on when its callers have left, or the new
//! tokens would be lost with the answer.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;

use super::finish::is_client_gone;
use super::records::{ClientOrigin, Link, LinkSecrets, Owner};
use super::service::LinkingSetup;
use super::tokens::fail_unknown;
use super::{Client, Grant, LinkError, LinkFailure, Linking, Provider};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::{CallFailure, chain};
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::single_flight::{Began, Flight, SingleFlight};
use intent_gateway_domain::steps::Proposal;
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
/// How often a new token is tried to be kept while the store fails.
const KEEP_TRIES_MAX: u32 = 8;
/// A renewal that failed is not tried again for this long, milliseconds. Most often it was a connection that the server had
/// just closed, and the next one succeeds.
const PAUSE_MS: u64 = 1_000;
/// Failed renewals that are remembered.
const FAILED_MAX: usize = 4_096;
/// Longest life of a token that is believed, seconds: ten years.
const EXPIRES_IN_MAX_SECONDS: u64 = 10 * 365 * 24 * 60 * 60;

/// When a token is over, and from when on it is replaced, milliseconds since the epoch; absent where nobody said.
pub(super) fn compute_ages(expires_in: Option<u64>, now: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
    let Some(life_ms) = expires_in.map(|seconds| seconds.min(EXPIRES_IN_MAX_SECONDS) * 1_000) else {
        return (None, None);
    };
    let ages_ms = life_ms - AGES_BEFORE_MS.min(life_ms / 2);
    (Some(now.plus_ms(life_ms)), Some(now.plus_ms(ages_ms)))
}

/// A token other than the one that was to be replaced; none where the link has ended.
type Renewed = Result<Option<Secret>, CallFailure>;

/// A renewal that failed a moment ago.
struct FailedRenewal {
    failure: CallFailure,
    until: Timestamp,
}

impl Expires for FailedRenewal {
    fn ends_at(&self) -> Timestamp {
        self.until
    }
}

/// The renewals of one process, by the key of their link.
pub(super) struct Renewals {
    /// Each is held by those who wait for it, and driven to its end.
    under_way: SingleFlight<String, Renewed>,
    failed: Mutex<ExpiringMap<String, FailedRenewal>>,
}

impl Default for Renewals {
    fn default() -> Self {
        Self { under_way: SingleFlight::default(), failed: Mutex::new(ExpiringMap::new(FAILED_MAX)) }
    }
}

impl Renewals {
    /// What is kept is whole after every step, so that which a panic interrupted can be used.
    fn lock_failed(&self) -> MutexGuard<'_, ExpiringMap<String, FailedRenewal>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers for a while that a renewal has failed.
    fn remember(&self, key: String, renewed: &Renewed, now: Timestamp) {
        let Err(failure) = renewed else { return };
        let failed = FailedRenewal { failure: failure.clone(), until: now.plus_ms(PAUSE_MS) };
        self.lock_failed().insert(key, failed, now);
    }
}

/// The outcome of the attempt to be the one process that renews a link.
enum Claim {
    /// This process renews it: the link as it is kept now, its secrets, the refresh token among them.
    Claimed(Box<(Versioned<Link>, LinkSecrets, Secret)>),
    /// Another process is at it.
    Taken,
    /// The token was replaced already; this is the next one.
    Replaced(Secret),
    /// There is no link, or no refresh token that can be read.
    NotRenewable,
}

/// How the authorization server was asked for the next token.
enum RenewalAttempt {
    Granted(Box<(Provider, Grant)>),
    /// The link is over, with the server's reason.
    Ended(String),
    Failed(LinkFailure),
}

impl Linking {
    /// Replaces `stale`, or waits for whoever does.
    pub(super) async fn renew_once(&self, owners: Vec<Owner>, stale: &Secret) -> Renewed {
        self.flight(owners, stale).await
    }

    /// Replaces `stale` without anybody waiting for it.
    pub(super) fn renew_beside(&self, owners: Vec<Owner>, stale: &Secret) {
        // It goes on by itself; whoever asks next sees its outcome.
        drop(self.flight(owners, stale));
    }

    fn flight(&self, owners: Vec<Owner>, stale: &Secret) -> Flight<Renewed> {
        let key = owners[0].key();
        let (flight, began) = {
            let failed = self.inner.renewals.lock_failed();
            if let Some(FailedRenewal { failure, .. }) = failed.get(&key, self.now()) {
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
            let (link, secrets, refresh) = match self.claim(owners, stale).await.map_err(fail_unknown)? {
                Claim::Claimed(claimed) => *claimed,
                Claim::Replaced(access) => return Ok(Some(access)),
                Claim::NotRenewable => return Ok(None),
                Claim::Taken => {
                    self.parts().timer.wait(WAIT).await;
                    continue;
                }
            };
            match self.ask(&link.value, &secrets, &refresh).await {
                RenewalAttempt::Granted(granted) => return self.take(owners, link, secrets, *granted).await,
                RenewalAttempt::Ended(reason) => {
                    if self.end(&link, &reason).await? {
                        return Ok(None);
                    }
                }
                RenewalAttempt::Failed(failure) => {
                    self.release(link).await;
                    return Err(of_server(&failure));
                }
            }
        }
        Err(CallFailure::Unreachable("another process has not replaced the user's token in time".to_owned()))
    }

    /// Marks a link as being renewed by this process, unless its token was replaced meanwhile or another process is at it.
    async fn claim(&self, owners: &[Owner], stale: &Secret) -> Result<Claim, LinkError> {
        let mut claim = self
            .step(async || {
                let Some(mut link) = self.find_link(owners).await? else {
                    return Ok(Proposal::nothing(Claim::NotRenewable));
                };
                let Some(secrets) = self.open_secrets(&link.value) else {
                    return Ok(Proposal::nothing(Claim::NotRenewable));
                };
                let now = self.now();
                if !secrets.access.matches(stale.expose()) && !link.value.is_over(now) {
                    return Ok(Proposal::nothing(Claim::Replaced(secrets.access)));
                }
                let Some(refresh) = secrets.refresh.clone() else {
                    return Ok(Proposal::nothing(Claim::NotRenewable));
                };
                if link.value.renewing_until_ms > now {
                    return Ok(Proposal::nothing(Claim::Taken));
                }
                link.value.renewing_until_ms = now.plus_ms(RENEWING_MAX_MS);
                let mut change = Change::default();
                change.put(&link);
                Ok(Proposal::new(change, Claim::Claimed(Box::new((link, secrets, refresh)))))
            })
            .await?;
        if let Claim::Claimed(claimed) = &mut claim {
            claimed.0.revision += 1;
        }
        Ok(claim)
    }

    /// Asks the authorization server. Where it is not to be found any more as it was, it is looked for anew.
    async fn ask(&self, link: &Link, secrets: &LinkSecrets, refresh: &Secret) -> RenewalAttempt {
        let LinkingSetup { authorizer, .. } = self.parts();
        let provider = &link.provider;
        let Some(client) = self.client_for(link, secrets) else {
            return RenewalAttempt::Ended("the configuration names no client for the issuer any more".to_owned());
        };
        let failure = match authorizer.refresh(provider, &client, refresh).await {
            Ok(grant) => return RenewalAttempt::Granted(Box::new((provider.clone(), grant))),
            Err(failure) => failure,
        };
        if let LinkFailure::Refused { code } = failure {
            return self.note_refused(link, code).await;
        }
        let Some(moved) = self.find_moved(link).await else { return RenewalAttempt::Failed(failure) };
        match authorizer.refresh(&moved, &client, refresh).await {
            Ok(grant) => RenewalAttempt::Granted(Box::new((moved, grant))),
            Err(LinkFailure::Refused { code }) => self.note_refused(link, code).await,
            Err(failure) => RenewalAttempt::Failed(failure),
        }
    }

    /// Where the server of a link is now, if it is the same one at another address. A refresh token goes to no other issuer.
    async fn find_moved(&self, link: &Link) -> Option<Provider> {
        let LinkingSetup { directory, authorizer, sign_in_servers, .. } = self.parts();
        let partner = directory.find_known(&link.partner)?;
        let found = authorizer.discover(partner.endpoint.url(), link.challenge.as_deref()).await.ok()?;
        let elsewhere = found.token_endpoint != link.provider.token_endpoint;
        let same = found.issuer == link.provider.issuer && found.resource == link.provider.resource;
        // Also noted where it is another one.
        let admitted = sign_in_servers.admit(&partner, &found.server()).await;
        (elsewhere && same && admitted).then_some(found)
    }

    async fn note_refused(&self, link: &Link, code: String) -> RenewalAttempt {
        let (failure, origin) = (LinkFailure::Refused { code }, link.client.origin);
        let LinkFailure::Refused { code } = &failure else { return RenewalAttempt::Failed(failure) };
        // The server's own trouble says nothing of the token (RFC 6749, 4.1.2.1, used by some at the token endpoint too).
        if ["server_error", "temporarily_unavailable", "slow_down"].contains(&code.as_str()) {
            return RenewalAttempt::Failed(failure);
        }
        if is_client_gone(&failure) {
            match origin {
                // Most likely its secret was replaced at one side alone: the operator's to mend, not the users'.
                ClientOrigin::Configured => {
                    tracing::error!(issuer = link.provider.issuer, code, "the configured client is not accepted");
                    return RenewalAttempt::Failed(failure);
                }
                ClientOrigin::Document => return RenewalAttempt::Failed(failure),
                ClientOrigin::Registered => {
                    self.forget_client(&link.partner, &link.provider, &link.client.client_id).await
                }
            }
        }
        RenewalAttempt::Ended(code.clone())
    }

    pub(super) fn client_for(&self, link: &Link, secrets: &LinkSecrets) -> Option<Client> {
        match link.client.origin {
            ClientOrigin::Configured => {
                self.configured_client(&link.partner, &link.provider.issuer, Some(&link.client.client_id))
            }
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
        let LinkingSetup { vault, timer, .. } = self.parts();
        let now = self.now();
        let Grant { access_token, refresh_token, expires_in, scope } = grant;
        let (expires_at_ms, ages_at_ms) = compute_ages(expires_in, now);
        // Without a new one, the refresh token goes on (OAuth 2.1, 4.3.3).
        let refresh = refresh_token.or(before.refresh);
        let secrets = LinkSecrets { access: access_token.clone(), refresh, client: before.client };
        let mut link = Link {
            user: owners[0].user.clone(),
            provider,
            scope: scope.or_else(|| claimed.value.scope.clone()),
            obtained_at_ms: now,
            expires_at_ms,
            ages_at_ms,
            renewing_until_ms: Timestamp::EPOCH,
            ..claimed.value.clone()
        };
        link.seal(vault, &secrets).map_err(|error| CallFailure::Unreachable(error.to_string()))?;
        let moved = link.user != claimed.value.user;
        for _ in 0..KEEP_TRIES_MAX {
            let mut change = Change::default();
            if moved {
                change.delete(&claimed);
            }
            change.put(&Versioned { revision: if moved { 0 } else { claimed.revision }, value: link.clone() });
            match self.commit_unless_changed(change).await {
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
        if let Some(kept) = self.find_link(owners).await.map_err(fail_unknown)? {
            return Ok(self.open_secrets(&kept.value).map(|kept| kept.access));
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
        let ended = self.commit_unless_changed(change).await.map_err(fail_unknown)?;
        if ended {
            tracing::info!(partner = %link.value.partner, reason, "a link was ended by its authorization server");
        }
        Ok(ended)
    }

    /// Lets others try.
    async fn release(&self, mut link: Versioned<Link>) {
        link.value.renewing_until_ms = Timestamp::EPOCH;
        let mut change = Change::default();
        change.put(&link);
        if let Err(error) = self.commit_unless_changed(change).await {
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

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_token_ages_a_minute_before_it_is_over_or_at_half_its_life() {
        assert_eq!(compute_ages(None, at(1_000)), (None, None));
        assert_eq!(compute_ages(Some(3_600), at(1_000)), (Some(at(3_601_000)), Some(at(3_541_000))));
        assert_eq!(compute_ages(Some(8), at(1_000)), (Some(at(9_000)), Some(at(5_000))));
        assert_eq!(compute_ages(Some(0), at(1_000)), (Some(at(1_000)), Some(at(1_000))));
        let (until, from) = compute_ages(Some(u64::MAX), Timestamp::MAX);
        assert_eq!((until, from), (Some(Timestamp::MAX), Some(Timestamp::MAX)));
    }

    #[test]
    fn failed_renewals_that_are_remembered_are_bounded() {
        let renewals = Renewals::default();
        let failed: Renewed = Err(CallFailure::Busy);
        for number in 0..FAILED_MAX + 10 {
            renewals.remember(number.to_string(), &failed, at(0));
        }
        assert_eq!(renewals.lock_failed().len(), FAILED_MAX);
        renewals.remember("next".to_owned(), &failed, at(PAUSE_MS));
        assert_eq!(renewals.lock_failed().len(), 1);
    }
}
