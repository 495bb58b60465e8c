//! Slots for work under way, of which nobody gets so many that nothing is left for others.
//!
//! There is no fixed share: who is alone gets most of the slots, and each holder's bound shrinks with what is free. A holder may
//! have at most [`TIMES_FREE`] times as many slots as are free. One greedy holder gets four fifths of all, two get four ninths
//! each, and a newcomer finds a slot as long as one is free (dynamic thresholds, as switches share their buffers).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A holder has less than so many times the slots that are free, or gets no more.
const TIMES_FREE: usize = 4;

/// Slots, counted for each holder.
pub struct FairSlots<K: Eq + Hash + Clone> {
    total: usize,
    held: Mutex<Held<K>>,
}

struct Held<K> {
    all: usize,
    /// Only those who hold one: there are never more than slots.
    by_holder: HashMap<K, usize>,
}

/// A slot, held until it is dropped.
pub struct FairSlot<'a, K: Eq + Hash + Clone> {
    slots: &'a FairSlots<K>,
    holder: K,
}

impl<K: Eq + Hash + Clone> FairSlots<K> {
    /// So many slots.
    #[must_use]
    pub fn new(total: usize) -> Self {
        Self { total, held: Mutex::new(Held { all: 0, by_holder: HashMap::new() }) }
    }

    /// A slot for a holder; none when all are taken, or when this holder has its share.
    pub fn try_take(&self, holder: &K) -> Option<FairSlot<'_, K>> {
        let mut held = self.held();
        let own = held.by_holder.get(holder).copied().unwrap_or_default();
        let free = self.total - held.all;
        if own >= free.saturating_mul(TIMES_FREE) {
            return None;
        }
        held.all += 1;
        held.by_holder.insert(holder.clone(), own + 1);
        Some(FairSlot { slots: self, holder: holder.clone() })
    }

    fn held(&self) -> MutexGuard<'_, Held<K>> {
        // Nothing panics while the lock is held, so a poisoned one still holds good numbers.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> Drop for FairSlot<'_, K> {
    fn drop(&mut self) {
        let mut held = self.slots.held();
        held.all -= 1;
        match held.by_holder.get_mut(&self.holder) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                held.by_holder.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many as there are to be had.
    fn take_all<'a>(slots: &'a FairSlots<&'static str>, holder: &'static str) -> Vec<FairSlot<'a, &'static str>> {
        std::iter::from_fn(|| slots.try_take(&holder)).collect()
    }

    #[test]
    fn one_holder_gets_most_and_leaves_something() {
        let slots = FairSlots::new(100);
        let greedy = take_all(&slots, "greedy");
        assert_eq!(greedy.len(), 80);
        let second = take_all(&slots, "second");
        assert_eq!(second.len(), 16);
        assert_eq!(take_all(&slots, "third").len(), 4, "down to the last");
        drop(second);
        drop(greedy);
        assert_eq!(take_all(&slots, "second").len(), 80, "what was given back is there for others");
        assert!(slots.held().by_holder.is_empty(), "who holds nothing is forgotten");
    }

    #[test]
    fn the_last_slot_is_anybodys_and_no_slot_nobodys() {
        let slots = FairSlots::new(1);
        let only = slots.try_take(&"one").expect("free");
        assert!(slots.try_take(&"one").is_none() && slots.try_take(&"other").is_none());
        drop(only);
        assert!(slots.try_take(&"other").is_some());
        assert!(FairSlots::new(0).try_take(&"one").is_none());
    }
}
