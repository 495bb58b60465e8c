//! A bounded map of values that end by themselves: what has ended is forgotten, and a full map drops what ends soonest.
//!
//! Time comes in as an argument. A value may move its end while it is in the map ([`ExpiringMap::change`]). Not here: locks,
//! and what a value means after a clock was set back.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;

use crate::clock::Timestamp;

/// A value that means nothing any more from some time on.
pub trait Expires {
    /// From this time on it makes no difference whether it is remembered.
    fn ends_at(&self) -> Timestamp;

    /// What it counts against the bytes of its map.
    fn bytes(&self) -> usize {
        0
    }
}

/// There is no room for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// When to look again: when the next value ends, or a moment from now.
    pub until: Timestamp,
}

/// A full map is looked at again after this time at the latest, milliseconds: a value may end sooner than it seemed, and a
/// clock that was set back is not a reason to wait longer.
const LOOK_AGAIN_MS: u64 = 1_000;

/// Values by key, within a bound on their number and on their bytes.
pub struct ExpiringMap<K, V> {
    values: HashMap<K, V>,
    /// The keys by the end of their values, soonest first.
    by_end: BTreeSet<(Timestamp, K)>,
    bytes: usize,
    values_max: usize,
    bytes_max: usize,
}

impl<K: Clone + Eq + Hash + Ord, V: Expires> ExpiringMap<K, V> {
    /// An empty map of at most so many values.
    #[must_use]
    pub fn new(values_max: usize) -> Self {
        Self::with_bytes(values_max, usize::MAX)
    }

    /// An empty map of at most so many values that have at most so many bytes together.
    #[must_use]
    pub fn with_bytes(values_max: usize, bytes_max: usize) -> Self {
        Self { values: HashMap::new(), by_end: BTreeSet::new(), bytes: 0, values_max, bytes_max }
    }

    /// The value of a key, unless it has ended.
    pub fn get<Q>(&self, key: &Q, now: Timestamp) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.values.get(key).filter(|value| value.ends_at() > now)
    }

    /// How many values there are, ended ones included that nobody has asked for since.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The bytes of all values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a value for the key is there, or can be added without dropping another one.
    ///
    /// # Errors
    /// [`Full`] where it cannot.
    pub fn room_for(&mut self, key: &K, now: Timestamp) -> Result<(), Full> {
        self.forget_ended(now);
        match self.by_end.first() {
            Some((soonest, _)) if self.values.len() >= self.values_max && !self.values.contains_key(key) => {
                Err(Full { until: (*soonest).min(now.plus_ms(LOOK_AGAIN_MS)) })
            }
            _ => Ok(()),
        }
    }

    /// Adds a value, in place of the one before. Where the map is full, those go that end soonest.
    pub fn insert(&mut self, key: K, value: V, now: Timestamp) {
        self.remove(&key);
        self.forget_ended(now);
        self.add(key, value);
    }

    /// Changes the value of a key. None where there is no such value.
    pub fn change<Q, R>(&mut self, key: &Q, change: impl FnOnce(&mut V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (key, mut value) = self.take_out(key)?;
        let result = change(&mut value);
        self.add(key, value);
        Some(result)
    }

    /// Changes the value of a key, a new one where there is none. Where the map is full, those go that end soonest.
    pub fn change_or_insert<R>(
        &mut self,
        key: K,
        now: Timestamp,
        new: impl FnOnce() -> V,
        change: impl FnOnce(&mut V) -> R,
    ) -> R {
        let mut value = self.remove(&key).unwrap_or_else(new);
        self.forget_ended(now);
        let result = change(&mut value);
        self.add(key, value);
        result
    }

    /// Takes a value out.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.take_out(key).map(|(_, value)| value)
    }

    /// Forgets what has ended.
    pub fn forget_ended(&mut self, now: Timestamp) {
        while self.by_end.first().is_some_and(|(ends_at, _)| *ends_at <= now) {
            self.forget_soonest();
        }
    }

    fn take_out<Q>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (key, value) = self.values.remove_entry(key)?;
        self.bytes -= value.bytes();
        let place = (value.ends_at(), key);
        self.by_end.remove(&place);
        Some((place.1, value))
    }

    fn add(&mut self, key: K, value: V) {
        self.bytes += value.bytes();
        self.by_end.insert((value.ends_at(), key.clone()));
        self.values.insert(key, value);
        // What has the least time left is worth the least.
        while self.values.len() > self.values_max || self.bytes > self.bytes_max {
            self.forget_soonest();
        }
    }

    fn forget_soonest(&mut self) {
        let Some((_, key)) = self.by_end.pop_first() else { return };
        if let Some(value) = self.values.remove(&key) {
            self.bytes -= value.bytes();
        }
    }
}

impl<K, V> fmt::Debug for ExpiringMap<K, V> {
    /// Without the values, which may be a user's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpiringMap").field("values", &self.values.len()).field("bytes", &self.bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Until {
        ends_at: Timestamp,
        bytes: usize,
    }

    impl Expires for Until {
        fn ends_at(&self) -> Timestamp {
            self.ends_at
        }

        fn bytes(&self) -> usize {
            self.bytes
        }
    }

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn until(ends_ms: u64) -> Until {
        Until { ends_at: at(ends_ms), bytes: 1 }
    }

    fn add(map: &mut ExpiringMap<u64, Until>, key: u64, now_ms: u64, ends_ms: u64) -> Result<(), Full> {
        map.room_for(&key, at(now_ms))?;
        map.insert(key, until(ends_ms), at(now_ms));
        Ok(())
    }

    #[test]
    fn ended_values_make_room() {
        let mut map = ExpiringMap::new(1_000);
        for round in 0..100 {
            for key in 0..500 {
                let now_ms = round * 1_000;
                assert_eq!(add(&mut map, round * 500 + key, now_ms, now_ms + 1), Ok(()));
            }
            assert!(map.len() <= 1_000, "{}", map.len());
        }
    }

    #[test]
    fn a_full_map_says_until_when() {
        let mut map = ExpiringMap::new(3);
        for key in 0..3 {
            assert_eq!(add(&mut map, key, 0, 10 + key), Ok(()));
        }
        assert_eq!(add(&mut map, 3, 0, 99), Err(Full { until: at(10) }));
        assert_eq!(add(&mut map, 3, 9, 99), Err(Full { until: at(10) }));
        assert_eq!(add(&mut map, 1, 9, 99), Ok(()), "one that is there has its room");
        assert_eq!(add(&mut map, 3, 10, 99), Ok(()));
        assert_eq!(map.len(), 3);
        let mut map = ExpiringMap::new(1);
        assert_eq!(add(&mut map, 1, 0, u64::MAX), Ok(()));
        assert_eq!(add(&mut map, 2, 0, 1), Err(Full { until: at(LOOK_AGAIN_MS) }));
    }

    #[test]
    fn what_ends_soonest_goes_first() {
        let mut map = ExpiringMap::with_bytes(3, 10);
        for (key, ends_ms) in [(1, 30), (2, 10), (3, 20), (4, 40)] {
            map.insert(key, until(ends_ms), at(0));
        }
        assert_eq!((map.get(&2, at(0)), map.len(), map.bytes()), (None, 3, 3));
        map.change(&3, |value| value.ends_at = at(50));
        map.insert(5, Until { ends_at: at(60), bytes: 9 }, at(0));
        assert_eq!(
            map.get(&3, at(0)).map(|value| value.ends_at),
            Some(at(50)),
            "the end that counts is the present one"
        );
        assert_eq!((map.len(), map.bytes()), (2, 10));
    }

    proptest! {
        #[test]
        fn the_bounds_hold_and_the_sums_are_right(
            steps in prop::collection::vec((0_u64..20, 0_u64..60, 0_usize..5, 0_u64..10, 0_u8..3), 1..200),
        ) {
            let mut map = ExpiringMap::with_bytes(8, 20);
            let mut now = at(0);
            for (key, life_ms, bytes, step_ms, kind) in steps {
                now = now.plus_ms(step_ms);
                let ends_at = now.plus_ms(life_ms);
                match kind {
                    0 => map.insert(key, Until { ends_at, bytes }, now),
                    1 => map.change_or_insert(key, now, || until(0), |value| *value = Until { ends_at, bytes }),
                    _ => _ = map.change(&key, |value| value.bytes = bytes),
                }
                prop_assert!(map.len() <= 8 && map.bytes() <= 20);
                prop_assert_eq!(map.bytes(), map.values.values().map(Expires::bytes).sum::<usize>());
                prop_assert_eq!(map.by_end.len(), map.len());
            }
        }
    }
}
