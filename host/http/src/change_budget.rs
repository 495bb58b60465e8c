//! How often an account may change what is recorded of it. Each change is an entry of the audit log, which is kept: nobody is to make
//! it grow without end.
//!
//! What was done counts: a request that was refused leaves no entry. Each gateway counts for itself, and a change counts for as many as there
//! are gateways. Not here: how often a caller may
//! ask at all, which is [`crate::quota`].

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use http::StatusCode;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::fleet::Fleet;

use crate::auth::{Caller, Role};

/// Changes that an account has at first, and again after it has rested.
const CHANGES_AT_ONCE: u64 = 2_000;
/// It gets one back in this time, milliseconds: 17,280 a day.
const CHANGE_EVERY_MS: u64 = 5_000;
/// What changes nothing, though it is posted.
const TRIES: [&str; 2] =
    ["/api/v1/business/tier1/credentials/{account_id}/test-call", "/api/v1/business/tier1/manifest/{account_id}/try"];
/// Accounts whose changes are counted; beyond them those are forgotten that have used least.
const ACCOUNTS_MAX: usize = 64 * 1024;

/// Counts what accounts change.
pub(crate) struct ChangeBudget {
    /// By a hash of the account. Seeded anew in each process, so that nobody can look for accounts that share a count.
    used: Mutex<ExpiringMap<u64, Used>>,
    hashes: RandomState,
    clock: Arc<dyn Clock>,
    at_once: u64,
    fleet: Fleet,
}

/// When an account has all of its changes back: each moves this on.
struct Used {
    whole_at: Timestamp,
}

impl Expires for Used {
    fn ends_at(&self) -> Timestamp {
        self.whole_at
    }
}

/// A change that an account asks for, to be counted when it was done.
pub(crate) struct Asked(u64);

impl ChangeBudget {
    pub(crate) fn new(clock: Arc<dyn Clock>, fleet: Fleet) -> Self {
        Self::with_changes(CHANGES_AT_ONCE, clock, fleet)
    }

    pub(crate) fn with_changes(at_once: u64, clock: Arc<dyn Clock>, fleet: Fleet) -> Self {
        let used = Mutex::new(ExpiringMap::new(ACCOUNTS_MAX));
        Self { used, hashes: RandomState::new(), clock, at_once, fleet }
    }

    /// Looks whether a request may go on; none where it is no change by an account. Requests that are under way at the same
    /// time may go beyond the bound, as many as there are places.
    ///
    /// # Errors
    /// The time after which the account has a change again.
    pub(crate) fn ask(&self, request: &Request) -> Result<Option<Asked>, Duration> {
        let extensions = request.extensions();
        let caller = extensions.get::<Caller>().filter(|caller| caller.role == Role::Partner);
        let is_try = extensions.get::<MatchedPath>().is_some_and(|route| TRIES.contains(&route.as_str()));
        let Some(caller) = caller.filter(|_| !is_try && !request.method().is_safe()) else { return Ok(None) };
        let key = self.hashes.hash_one(&caller.subject);
        let now = self.clock.now();
        let whole_at = self.lock().get(&key, now).map_or(now, |used| used.whole_at);
        let used_ms = whole_at.as_ms().saturating_sub(now.as_ms());
        let room_ms = (self.at_once - 1) * CHANGE_EVERY_MS;
        match used_ms.checked_sub(room_ms) {
            None | Some(0) => Ok(Some(Asked(key))),
            Some(too_much_ms) => Err(Duration::from_millis(too_much_ms)),
        }
    }

    /// Counts it, unless it was refused.
    pub(crate) fn count(&self, Asked(key): Asked, status: StatusCode) {
        if !status.is_success() {
            return;
        }
        let now = self.clock.now();
        let whole = || Used { whole_at: now };
        self.lock().change_or_insert(key, now, whole, |used| {
            used.whole_at = used.whole_at.max(now).plus_ms(CHANGE_EVERY_MS * u64::from(self.fleet.live()));
        });
    }

    /// Counts are whole after every step, so that those which a panic interrupted can be used.
    fn lock(&self) -> std::sync::MutexGuard<'_, ExpiringMap<u64, Used>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Method;
    use intent_gateway_testing::clock::TestClock;
    use intent_gateway_testing::fleet::fleet_of;

    use super::*;

    fn request(role: Role, subject: &str, method: Method) -> Request {
        let token_life = Duration::from_secs(60);
        let caller =
            Caller { subject: subject.to_owned(), role, issuer: None, session: None, scopes: None, token_life };
        http::Request::builder().method(method).extension(caller).body(Body::empty()).expect("a request")
    }

    #[test]
    fn an_account_has_its_changes_and_gets_them_back_one_by_one() {
        let clock = TestClock::at(1_000_000);
        let budget = ChangeBudget::with_changes(2, clock.clone(), Fleet::default());
        let (one, other) = ("ptr_1", "ptr_2");
        let change = |account: &str, status| {
            let request = request(Role::Partner, account, Method::PUT);
            let asked = budget.ask(&request).map_err(|wait| wait.as_millis())?.expect("a change");
            budget.count(asked, status);
            Ok::<_, u128>(())
        };
        for _ in 0..10 {
            assert_eq!(change(one, StatusCode::UNPROCESSABLE_ENTITY), Ok(()), "refused ones are not counted");
        }
        assert_eq!([change(one, StatusCode::OK), change(one, StatusCode::NO_CONTENT)], [Ok(()), Ok(())]);
        clock.advance(1_000);
        assert_eq!(change(one, StatusCode::OK), Err(4_000));
        assert_eq!(change(other, StatusCode::OK), Ok(()), "another account has its own");
        clock.advance(4_000);
        assert_eq!(change(one, StatusCode::OK), Ok(()));
        assert_eq!(change(one, StatusCode::OK), Err(5_000));
        clock.advance(60_000);
        assert_eq!([change(one, StatusCode::OK), change(one, StatusCode::OK)], [Ok(()), Ok(())]);
        assert_eq!(change(one, StatusCode::OK), Err(5_000), "no more than at first, however long it rested");
    }

    #[test]
    fn a_change_counts_for_every_gateway() {
        let clock = TestClock::at(1_000_000);
        let budget = ChangeBudget::with_changes(6, clock.clone(), fleet_of(3, clock.clone(), 10_000, &[]));
        let request = request(Role::Partner, "ptr_1", Method::PUT);
        let change = || budget.ask(&request).map(|asked| budget.count(asked.expect("a change"), StatusCode::OK));
        assert_eq!([change(), change()], [Ok(()), Ok(())]);
        assert_eq!(change(), Err(Duration::from_secs(5)));
    }

    #[test]
    fn reading_counts_nothing_and_neither_do_others() {
        let budget = ChangeBudget::with_changes(1, TestClock::at(1_000_000), Fleet::default());
        let asks = |role, method: Method| budget.ask(&request(role, "x", method)).expect("may").is_some();
        assert!(!asks(Role::Partner, Method::GET) && !asks(Role::Partner, Method::HEAD));
        assert!(!asks(Role::Admin, Method::PUT) && !asks(Role::Orchestrator, Method::POST));
        for method in [Method::PUT, Method::POST, Method::DELETE, Method::PATCH] {
            assert!(asks(Role::Partner, method));
        }
    }
}
