//! A bounded map of short-lived states: each ends by itself, and what has ended can be forgotten at any time.

use std::collections::HashMap;

use intent_gateway_domain::digest::Digest;

/// A state that means nothing any more from some time on.
pub(super) trait Ends {
    /// From this time on it makes no difference whether it is remembered, milliseconds since the epoch.
    fn ends_ms(&self) -> u64;
}

/// There is no room for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// When the next one ends at the earliest, milliseconds since the epoch.
    pub(super) until_ms: u64,
}

/// States by key.
#[derive(Debug)]
pub(super) struct Keyed<T> {
    states: HashMap<Digest, T>,
    keys_max: usize,
    /// How many there may be before the ended ones are looked for: twice as many as were left the last time, so that
    /// the search costs little per key.
    sweep_at: usize,
    /// Nothing ends before this, so that a full map is not searched again and again.
    none_ends_before_ms: u64,
}

/// States below which no search for ended ones is worth while.
const SWEEP_MIN: usize = 64;
/// A full map is searched again after this time at the latest, milliseconds: a state may end sooner than it seemed.
const LOOK_AGAIN_MS: u64 = 1_000;

impl<T: Ends> Keyed<T> {
    pub(super) fn new(keys_max: usize) -> Self {
        Self { states: HashMap::new(), keys_max, sweep_at: SWEEP_MIN.min(keys_max), none_ends_before_ms: 0 }
    }

    pub(super) fn get(&self, key: &Digest) -> Option<&T> {
        self.states.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &Digest) -> Option<&mut T> {
        self.states.get_mut(key)
    }

    /// Whether a state for the key is there or can be added.
    pub(super) fn room_for(&mut self, key: &Digest, now_ms: u64) -> Result<(), Full> {
        if self.states.len() < self.sweep_at || self.states.contains_key(key) {
            return Ok(());
        }
        let full = self.states.len() >= self.keys_max;
        // A clock that was set back is no reason to wait longer.
        if full && (1..=LOOK_AGAIN_MS).contains(&self.none_ends_before_ms.saturating_sub(now_ms)) {
            return Err(Full { until_ms: self.none_ends_before_ms });
        }
        self.states.retain(|_, state| state.ends_ms() > now_ms);
        self.sweep_at = (self.states.len() * 2).clamp(SWEEP_MIN.min(self.keys_max), self.keys_max);
        if self.states.len() < self.keys_max {
            return Ok(());
        }
        let next_ms = self.states.values().map(Ends::ends_ms).min().unwrap_or(now_ms);
        self.none_ends_before_ms = next_ms.min(now_ms.saturating_add(LOOK_AGAIN_MS));
        Err(Full { until_ms: self.none_ends_before_ms })
    }

    /// The state of a key, new where there is none. Room is asked for before.
    pub(super) fn entry(&mut self, key: Digest, new: impl FnOnce() -> T) -> &mut T {
        self.states.entry(key).or_insert_with(new)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }
}

/// One key of several names, which cannot be mistaken for another one's, and of one size however long they are.
pub(super) fn key(names: &[&str]) -> Digest {
    let mut text = String::with_capacity(names.iter().map(|name| name.len() + 8).sum());
    for name in names {
        text.push_str(&name.len().to_string());
        text.push(':');
        text.push_str(name);
    }
    Digest::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Until(u64);

    impl Ends for Until {
        fn ends_ms(&self) -> u64 {
            self.0
        }
    }

    fn add(map: &mut Keyed<Until>, name: usize, now_ms: u64, ends_ms: u64) -> Result<(), Full> {
        let key = key(&[&name.to_string()]);
        map.room_for(&key, now_ms)?;
        map.entry(key, || Until(ends_ms));
        Ok(())
    }

    #[test]
    fn ended_states_make_room() {
        let mut map = Keyed::new(1_000);
        for round in 0..100 {
            for name in 0..500 {
                let now_ms = round * 1_000;
                assert_eq!(
                    add(&mut map, usize::try_from(round).expect("small") * 500 + name, now_ms, now_ms + 1),
                    Ok(())
                );
            }
            assert!(map.len() <= 1_000, "{}", map.len());
        }
    }

    #[test]
    fn a_full_map_says_until_when() {
        let mut map = Keyed::new(3);
        for name in 0..3 {
            assert_eq!(add(&mut map, name, 0, 10 + u64::try_from(name).expect("small")), Ok(()));
        }
        assert_eq!(add(&mut map, 3, 0, 99), Err(Full { until_ms: 10 }));
        assert_eq!(add(&mut map, 3, 9, 99), Err(Full { until_ms: 10 }));
        assert_eq!(add(&mut map, 1, 9, 99), Ok(()), "one that is there has its room");
        assert_eq!(add(&mut map, 3, 10, 99), Ok(()));
        assert_eq!(map.len(), 3);
    }

    #[test]
    fn names_keep_apart() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["1:a"]), key(&["a"]));
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
    }
}
