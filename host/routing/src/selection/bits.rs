//! Sets of positions in a list, one bit each: what makes a choice among thousands a matter of a few words.

const WORD_BITS: usize = u64::BITS as usize;

/// A set of positions below a length that is fixed when it is made. Two sets that are put together are as long as each
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    pub(super) fn none(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(WORD_BITS)].into() }
    }

    pub(super) fn all(length: usize) -> Self {
        let mut all = Self { words: vec![u64::MAX; length.div_ceil(WORD_BITS)].into() };
        // The last word has bits that no position stands for.
        if let (Some(last), tail @ 1..) = (all.words.last_mut(), length % WORD_BITS) {
            *last = (1 << tail) - 1;
        }
        all
    }

    pub(super) fn insert(&mut self, position: usize) {
        self.words[position / WORD_BITS] |= 1 << (position % WORD_BITS);
    }

    pub(super) fn remove(&mut self, position: usize) {
        self.words[position / WORD_BITS] &= !(1 << (position % WORD_BITS));
    }

    /// Adds what is in the other.
    pub(super) fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Keeps what is in the other, too.
    pub(super) fn keep(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Takes out what is in the other.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions in order.
    pub(super) fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.ones_after(0)
    }

    /// The positions in order, without so many of the first.
    pub(super) fn ones_after(&self, mut skipped: usize) -> impl Iterator<Item = usize> + '_ {
        // Whole words are passed over by their count, so that skipping costs no more than counting.
        let mut number = 0;
        while let Some(count) = self.words.get(number).map(|word| word.count_ones() as usize)
            && count <= skipped
        {
            skipped -= count;
            number += 1;
        }
        let words = self.words.iter().enumerate().skip(number);
        words.flat_map(|(number, word)| ones_of(*word).map(move |bit| number * WORD_BITS + bit)).skip(skipped)
    }
}

fn ones_of(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        // Without its lowest bit; a word without bits ends it.
        let rest = word & word.checked_sub(1)?;
        word = rest;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(length: usize, positions: &BTreeSet<usize>) -> Bits {
        let mut bits = Bits::none(length);
        positions.iter().for_each(|position| bits.insert(*position));
        bits
    }

    proptest! {
        #[test]
        fn is_a_set(
            length in 1_usize..300,
            one in proptest::collection::btree_set(0_usize..300, 0..200),
            other in proptest::collection::btree_set(0_usize..300, 0..200),
            skipped in 0_usize..250,
        ) {
            let within = |set: BTreeSet<usize>| -> BTreeSet<usize> { set.into_iter().filter(|p| *p < length).collect() };
            let (one, other) = (within(one), within(other));
            let told = |bits: &Bits| bits.ones().collect::<Vec<_>>();
            let bits = of(length, &one);
            prop_assert_eq!(bits.count(), one.len());
            let after: Vec<_> = bits.ones_after(skipped).collect();
            prop_assert_eq!(after, one.iter().skip(skipped).copied().collect::<Vec<_>>());
            let mut changed = bits.clone();
            changed.add(&of(length, &other));
            prop_assert_eq!(told(&changed), one.union(&other).copied().collect::<Vec<_>>());
            changed = bits.clone();
            changed.keep(&of(length, &other));
            prop_assert_eq!(told(&changed), one.intersection(&other).copied().collect::<Vec<_>>());
            changed = bits.clone();
            changed.subtract(&of(length, &other));
            prop_assert_eq!(told(&changed), one.difference(&other).copied().collect::<Vec<_>>());
            changed = bits;
            other.iter().for_each(|position| changed.remove(*position));
            prop_assert_eq!(told(&changed), one.difference(&other).copied().collect::<Vec<_>>());
            prop_assert_eq!(told(&Bits::all(length)), (0..length).collect::<Vec<_>>());
        }
    }
}
