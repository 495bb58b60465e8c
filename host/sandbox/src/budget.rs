//! The memory of all instances together: one sum for the process, which contracts share fairly.
//!
//! A call reserves what its contract's calls usually take before its instance is made, and waits a moment where that is not
//! to be had. What it takes beyond that is granted if there is room, and fails the call if not: no instance waits while it
//! holds memory. Of half of the sum, whoever comes takes what he needs. Of the rest, a contract gets only what leaves it
//! within an equal share: so its calls, however many and greedy, leave room for those of the others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// By which part of the difference the usual memory of a contract's calls falls after a call that took less.
const FALL: usize = 8;

/// The sum is used up, or this contract's share of it; the call itself is not to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the memory of all instances together is used up")]
pub(crate) struct UsedUp;

/// The sum, and who has what of it.
pub(crate) struct MemoryBudget {
    max_bytes: usize,
    state: Mutex<State>,
    /// Told when memory was given back while somebody waits.
    freed: Notify,
    next: AtomicU64,
}

#[derive(Default)]
struct State {
    used_bytes: usize,
    /// By the number of the contract; those that have something, or wait for it.
    holders: HashMap<u64, Holder>,
}

#[derive(Default)]
struct Holder {
    bytes: usize,
    waiting: usize,
}

/// A contract, as the budget knows it.
pub(crate) struct ContractMemory {
    budget: Arc<MemoryBudget>,
    number: u64,
    /// What a call usually takes, bytes.
    usual: AtomicUsize,
}

/// What one instance has taken, and what was put aside for it.
pub(crate) struct InstanceMemory {
    contract: Arc<ContractMemory>,
    used: AtomicUsize,
    reserved: AtomicUsize,
}

/// What is put aside for one instance, until this is dropped. It must outlive the instance.
pub(crate) struct Reservation(pub(crate) Arc<InstanceMemory>);

impl MemoryBudget {
    pub(crate) fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self { max_bytes, state: Mutex::default(), freed: Notify::new(), next: AtomicU64::new(0) })
    }

    /// A contract whose instances start with so much memory.
    pub(crate) fn contract(self: &Arc<Self>, starts_with_bytes: usize) -> Arc<ContractMemory> {
        Arc::new(ContractMemory {
            budget: Arc::clone(self),
            number: self.next.fetch_add(1, Ordering::Relaxed),
            usual: AtomicUsize::new(starts_with_bytes),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, number: u64, bytes: usize) -> Result<(), UsedUp> {
        let mut state = self.lock();
        // One that has nothing yet counts already.
        let own = state.holders.entry(number).or_default().bytes;
        let used = state.used_bytes.saturating_add(bytes);
        let share = self.max_bytes / state.holders.len();
        if used <= self.max_bytes / 2 || (used <= self.max_bytes && own.saturating_add(bytes) <= share) {
            state.used_bytes = used;
            state.holders.entry(number).or_default().bytes += bytes;
            Ok(())
        } else {
            state.forget_if_done(number);
            Err(UsedUp)
        }
    }

    fn give_back(&self, number: u64, bytes: usize) {
        let mut state = self.lock();
        state.used_bytes -= bytes;
        if let Some(holder) = state.holders.get_mut(&number) {
            holder.bytes -= bytes;
        }
        state.forget_if_done(number);
        let is_waited_for = state.holders.values().any(|holder| holder.waiting > 0);
        drop(state);
        if is_waited_for {
            self.freed.notify_waiters();
        }
    }
}

impl State {
    fn forget_if_done(&mut self, number: u64) {
        if self.holders.get(&number).is_some_and(|holder| holder.bytes == 0 && holder.waiting == 0) {
            self.holders.remove(&number);
        }
    }
}

impl ContractMemory {
    /// Puts aside what a call usually takes, if it is to be had now.
    pub(crate) fn try_reserve(self: &Arc<Self>) -> Result<Reservation, UsedUp> {
        let bytes = self.usual.load(Ordering::Relaxed);
        self.budget.take(self.number, bytes)?;
        let (used, reserved) = (AtomicUsize::new(0), AtomicUsize::new(bytes));
        Ok(Reservation(Arc::new(InstanceMemory { contract: Arc::clone(self), used, reserved })))
    }

    /// Waits until it is to be had. The caller bounds the time, and how many wait.
    pub(crate) async fn reserve(self: &Arc<Self>) -> Reservation {
        let _waiting = Waiting::begin(self);
        loop {
            let freed = self.budget.freed.notified();
            tokio::pin!(freed);
            // Before the attempt, so that nothing given back after it is missed.
            freed.as_mut().enable();
            if let Ok(reservation) = self.try_reserve() {
                return reservation;
            }
            freed.await;
        }
    }
}

/// Whoever waits has a share, though it has nothing yet.
struct Waiting<'a>(&'a ContractMemory);

impl<'a> Waiting<'a> {
    fn begin(contract: &'a ContractMemory) -> Self {
        contract.budget.lock().holders.entry(contract.number).or_default().waiting += 1;
        Self(contract)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.budget.lock();
        if let Some(holder) = state.holders.get_mut(&self.0.number) {
            holder.waiting -= 1;
        }
        state.forget_if_done(self.0.number);
    }
}

impl InstanceMemory {
    /// What the instance has taken, bytes.
    pub(crate) fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The instance takes so much more.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), UsedUp> {
        // One thread at a time runs an instance, so nothing comes between.
        let (used, reserved) = (self.used_bytes().saturating_add(bytes), self.reserved.load(Ordering::Relaxed));
        if let Some(more) = used.checked_sub(reserved).filter(|more| *more > 0) {
            self.contract.budget.take(self.contract.number, more)?;
            self.reserved.store(used, Ordering::Relaxed);
        }
        self.used.store(used, Ordering::Relaxed);
        Ok(())
    }

    /// What was granted was not taken after all. It stays put aside.
    pub(crate) fn untake(&self, bytes: usize) {
        self.used.store(self.used_bytes().saturating_sub(bytes), Ordering::Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Self(memory) = self;
        let (contract, used) = (&memory.contract, memory.used_bytes());
        // An instance that was never made says nothing. Calls that end at the same time may overwrite each other's word; each
        // of them is a fair guess.
        if used > 0 {
            let usual = contract.usual.load(Ordering::Relaxed);
            contract.usual.store(used.max(usual - usual.saturating_sub(used) / FALL), Ordering::Relaxed);
        }
        contract.budget.give_back(contract.number, memory.reserved.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    /// Takes with instances of 10 until nothing more is given.
    fn fill(contract: &Arc<ContractMemory>) -> Vec<Reservation> {
        std::iter::from_fn(|| contract.try_reserve().ok()).collect()
    }

    #[test]
    fn a_greedy_contract_leaves_room_for_others() {
        let budget = MemoryBudget::new(240);
        let contracts: [_; 3] = std::array::from_fn(|_| budget.contract(10));
        // Alone it may have all.
        let mut of_first = fill(&contracts[0]);
        assert_eq!(of_first.len(), 24);
        // With two there, each is within its half, or within what is free for all.
        of_first.truncate(12);
        let of_second = fill(&contracts[1]);
        assert_eq!(of_second.len(), 12);
        assert!(contracts[0].try_reserve().is_err());
        of_first.truncate(6);
        let of_third = fill(&contracts[2]);
        assert_eq!(of_third.len(), 6, "what is left");
        of_first.truncate(4);
        assert!(contracts[1].try_reserve().is_err(), "it has more than its third");
        assert_eq!(fill(&contracts[2]).len(), 2);
        drop((of_first, of_second, of_third));
        let state = budget.lock();
        assert_eq!((state.used_bytes, state.holders.len()), (0, 0));
    }

    #[test]
    fn one_instance_may_need_more_than_a_share() {
        let budget = MemoryBudget::new(240);
        let small: Vec<_> = (0..6).map(|_| budget.contract(1).try_reserve().expect("there is room")).collect();
        assert!(budget.contract(110).try_reserve().is_ok());
        drop(small);
    }

    #[test]
    fn what_an_instance_takes_beyond_its_reservation_counts() {
        let budget = MemoryBudget::new(100);
        let contract = budget.contract(10);
        let reservation = contract.try_reserve().expect("there is room");
        assert_eq!(reservation.0.take(10), Ok(()));
        assert_eq!(budget.lock().used_bytes, 10);
        assert_eq!(reservation.0.take(90), Ok(()));
        assert_eq!(reservation.0.take(1), Err(UsedUp));
        assert_eq!((reservation.0.used_bytes(), budget.lock().used_bytes), (100, 100));
        reservation.0.untake(50);
        assert_eq!(reservation.0.take(50), Ok(()));
        drop(reservation);
        assert_eq!(budget.lock().used_bytes, 0);
    }

    #[test]
    fn the_next_call_reserves_what_the_last_ones_took() {
        let budget = MemoryBudget::new(10_000);
        let contract = budget.contract(80);
        let call = |bytes| contract.try_reserve().expect("there is room").0.take(bytes).expect("there is room");
        call(800);
        assert_eq!(contract.usual.load(Ordering::Relaxed), 800);
        call(80);
        assert_eq!(contract.usual.load(Ordering::Relaxed), 710, "it falls slowly");
        (0..100).for_each(|_| call(80));
        assert!(contract.usual.load(Ordering::Relaxed) < 100);
    }

    #[tokio::test]
    async fn who_waits_gets_what_is_given_back() {
        let budget = MemoryBudget::new(20);
        let (first, second) = (budget.contract(10), budget.contract(10));
        let mut held = fill(&first);
        let mut waiting = Box::pin(second.reserve());
        assert!(waiting.as_mut().now_or_never().is_none());
        held.pop();
        assert!(first.try_reserve().is_err(), "the share of whoever waits is not taken again");
        drop(waiting.as_mut().now_or_never().expect("it was given back"));
        drop((waiting, held));
        // Who stops waiting leaves nothing behind.
        let held = fill(&first);
        assert!(Box::pin(second.reserve()).now_or_never().is_none());
        drop(held);
        assert!(budget.lock().holders.is_empty());
    }
}
