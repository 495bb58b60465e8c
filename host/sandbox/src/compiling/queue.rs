//! Who compiles when. Few at once, for each takes a core and memory; and each account one at a time, so that nobody's
//! uploads hold up those of others for longer than one of them takes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use intent_gateway_domain::audit::Actor;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Components that are examined at once.
const AT_ONCE_MAX: usize = 2;
/// Components of one account that are examined or wait for it; one more is refused. How many accounts there are at once is
/// bounded by whoever takes their uploads.
const OF_ONE_ACCOUNT_MAX: usize = 4;

/// The accounts whose components are examined or wait.
type Accounts = Mutex<HashMap<Actor, Account>>;

struct Account {
    /// One permit: the turn among its own.
    turn: Arc<Semaphore>,
    /// How many of its components are here.
    here: usize,
}

/// The queue of what is to be examined.
pub(crate) struct LoadQueue {
    at_once: Semaphore,
    accounts: Accounts,
}

/// The right to examine one component, until it is dropped.
pub(crate) struct Turn<'a> {
    // Given back in this order.
    _at_once: SemaphorePermit<'a>,
    _turn: OwnedSemaphorePermit,
    _place: Place<'a>,
}

/// A place among those of one account, given back on drop.
struct Place<'a> {
    accounts: &'a Accounts,
    account: Actor,
}

impl LoadQueue {
    pub(crate) fn new() -> Self {
        Self { at_once: Semaphore::new(AT_ONCE_MAX), accounts: Mutex::default() }
    }

    /// Waits for the account's turn; none where too many of its components are here.
    pub(crate) async fn enter(&self, account: &Actor) -> Option<Turn<'_>> {
        let (place, turn) = self.take_place(account)?;
        // Semaphores hand out permits in the order in which they were asked for, and neither is ever closed.
        let turn = turn.acquire_owned().await.ok()?;
        let at_once = self.at_once.acquire().await.ok()?;
        Some(Turn { _at_once: at_once, _turn: turn, _place: place })
    }

    fn take_place(&self, account: &Actor) -> Option<(Place<'_>, Arc<Semaphore>)> {
        let account = account.identity();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            accounts.entry(account.clone()).or_insert_with(|| Account { turn: Arc::new(Semaphore::new(1)), here: 0 });
        if found.here == OF_ONE_ACCOUNT_MAX {
            return None;
        }
        found.here += 1;
        Some((Place { accounts: &self.accounts, account }, Arc::clone(&found.turn)))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = accounts.get_mut(&self.account) {
            found.here -= 1;
            if found.here == 0 {
                accounts.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn account(name: &str) -> Actor {
        Actor::new("admin", name)
    }

    #[tokio::test]
    async fn one_account_leaves_room_for_another_and_gets_its_turn_again() {
        let queue = LoadQueue::new();
        let (ann, bob, cid) = (account("ann"), account("bob"), account("cid"));
        let first = queue.enter(&ann).await.expect("there is room");
        let ann_elsewhere = Actor { from: Some("192.0.2.1".to_owned()), scope: Some("ship".to_owned()), ..ann.clone() };
        let mut second = Box::pin(queue.enter(&ann_elsewhere));
        assert!(second.as_mut().now_or_never().is_none(), "one at a time for each account, wherever it asks from");
        let other = queue.enter(&bob).now_or_never().expect("at once").expect("there is room");
        let mut third = Box::pin(queue.enter(&cid));
        assert!(third.as_mut().now_or_never().is_none(), "so many at once");
        drop(first);
        // Cid asked before Ann had her turn again.
        assert!(second.as_mut().now_or_never().is_none());
        let turn = third.now_or_never().expect("a turn came free").expect("there is room");
        drop((turn, other));
        assert!(second.now_or_never().expect("a turn came free").is_some());
    }

    #[tokio::test]
    async fn an_account_has_only_so_many_places_and_gets_them_back() {
        let queue = LoadQueue::new();
        let ann = account("ann");
        let turn = queue.enter(&ann).await.expect("there is room");
        let mut waiting: Vec<_> = (1..OF_ONE_ACCOUNT_MAX).map(|_| Box::pin(queue.enter(&ann))).collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        assert!(queue.enter(&ann).now_or_never().expect("it does not wait").is_none(), "no place is left");
        // Who leaves gives the place back, and keeps no turn.
        waiting.pop();
        assert!(queue.enter(&ann).now_or_never().is_none(), "there is a place to wait");
        drop((turn, waiting));
        assert!(queue.accounts.lock().expect("not poisoned").is_empty(), "nothing is left of an account");
        assert!(queue.enter(&ann).now_or_never().expect("at once").is_some());
    }
}
