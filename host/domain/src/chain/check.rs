//! Follows a chain from its first entry on.

use super::{ChainKeys, ChainStart, Link, LinkHasher, Proof};
use crate::digest::Digest;

/// An entry of a chain.
pub trait Linked {
    /// Its place, from 1, without gaps.
    fn number(&self) -> u64;

    /// Its link.
    fn link(&self) -> Link;

    /// Feeds all that the link stands for, its number included, but the link before.
    fn feed(&self, hasher: &mut LinkHasher);
}

/// What is wrong with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenChain {
    /// An entry is missing, or stands at another place.
    #[error("entry {expected} is missing: entry {found} stands in its place")]
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// An entry was changed, or the one before it.
    #[error("entry {0} or the one before it was changed")]
    Changed(u64),
    /// A plain digest where links are under a key: anybody can have written it.
    #[error("entry {0} has a link without a key, and stands where links are under one")]
    WithoutKey(u64),
    /// A link under a key that is not configured, neither now nor as a previous one.
    #[error("entry {0} has a link under a key that is not configured")]
    UnknownKey(u64),
    /// Nothing says from where on links are under a key.
    #[error("the record of where links under a key begin is missing")]
    NoStart,
    /// What says from where on links are under a key was changed.
    #[error("the record of where links under a key begin was changed, or is under a key that is not configured")]
    BadStart,
    /// The entries from before there were keys are not those that there were.
    #[error("entry {0} is not the last of those from before links were under a key, or is missing")]
    OtherStart(u64),
    /// There is no entry, and something else that is kept shows that there were some.
    #[error("no entry is left, although there were some")]
    Emptied,
}

impl BrokenChain {
    /// The entry at which it shows; 0 where it shows before the first.
    #[must_use]
    pub fn entry(self) -> u64 {
        match self {
            Self::Gap { expected: entry, .. }
            | Self::Changed(entry)
            | Self::WithoutKey(entry)
            | Self::UnknownKey(entry)
            | Self::OtherStart(entry) => entry,
            Self::NoStart | Self::BadStart | Self::Emptied => 0,
        }
    }
}

/// The links of a chain, counted by what they could be checked with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Plain digests, from before there were keys.
    pub without_key: u64,
    /// MACs whose key is at hand.
    pub under_key: u64,
    /// MACs that could not be checked, for no key is at hand.
    pub unchecked: u64,
}

/// Follows the links of a chain from the first entry on.
#[derive(Clone, Debug)]
pub struct ChainCheck {
    keys: ChainKeys,
    start: Option<ChainStart>,
    number: u64,
    hash: Digest,
    links: Links,
    must_have_entries: bool,
}

impl ChainCheck {
    /// From before the first entry: the digest that stands there, the keys that are at hand, and the start as it is kept.
    #[must_use]
    pub fn new(genesis: Digest, keys: ChainKeys, start: Option<ChainStart>) -> Self {
        Self { keys, start, number: 0, hash: genesis, links: Links::default(), must_have_entries: false }
    }

    /// The same of a chain of which something else shows whether it has entries.
    #[must_use]
    pub fn that_has_entries(self, must_have_entries: bool) -> Self {
        Self { must_have_entries, ..self }
    }

    /// What is wrong before the first entry.
    ///
    /// # Errors
    /// [`BrokenChain`] when the start is missing or was changed. Without keys only what is there can be looked at.
    pub fn check_start(&self) -> Result<(), BrokenChain> {
        match &self.start {
            _ if self.keys.is_empty() => Ok(()),
            None => Err(BrokenChain::NoStart),
            Some(start) if start.prove(&self.keys) != Proof::Holds => Err(BrokenChain::BadStart),
            Some(start) => self.check_end_of_plain(start),
        }
    }

    /// Takes the next entry. Whatever it finds, it goes on from this entry as it stands, so that one breach is told once.
    ///
    /// # Errors
    /// [`BrokenChain`] when it does not follow from the one before.
    pub fn take(&mut self, entry: &impl Linked) -> Result<(), BrokenChain> {
        let (number, link) = (entry.number(), entry.link());
        let expected = self.number.saturating_add(1);
        let before = std::mem::replace(&mut self.hash, link.hash);
        self.number = number;
        if number != expected {
            return Err(BrokenChain::Gap { expected, found: number });
        }
        let is_keyed_here =
            self.links.under_key + self.links.unchecked > 0 || self.start.is_some_and(|start| number > start.number);
        match self.keys.prove(link, before, |hasher| entry.feed(hasher)) {
            _ if link.key.is_none() && is_keyed_here => return Err(BrokenChain::WithoutKey(number)),
            Proof::Broken => return Err(BrokenChain::Changed(number)),
            Proof::NoKey if !self.keys.is_empty() => return Err(BrokenChain::UnknownKey(number)),
            Proof::NoKey => self.links.unchecked += 1,
            Proof::Holds if link.key.is_some() => self.links.under_key += 1,
            Proof::Holds => self.links.without_key += 1,
        }
        self.start.map_or(Ok(()), |start| self.check_end_of_plain(&start))
    }

    /// Goes past an entry that cannot be read, by its link where that can be.
    ///
    /// # Errors
    /// [`BrokenChain::Gap`] when it stands at another place.
    pub fn pass(&mut self, number: u64, link: Option<Link>) -> Result<(), BrokenChain> {
        let expected = self.number.saturating_add(1);
        self.number = number;
        self.hash = link.map_or(self.hash, |link| link.hash);
        if number == expected { Ok(()) } else { Err(BrokenChain::Gap { expected, found: number }) }
    }

    /// Where the chain is as long as its start says, its end must be the one that the start names.
    fn check_end_of_plain(&self, start: &ChainStart) -> Result<(), BrokenChain> {
        if start.number == self.number && start.hash != self.hash {
            return Err(BrokenChain::OtherStart(start.number));
        }
        Ok(())
    }

    /// What is wrong after the last entry.
    ///
    /// # Errors
    /// [`BrokenChain`] when the chain is shorter than it was when its links came under a key, or was emptied.
    pub fn check_end(&self) -> Result<(), BrokenChain> {
        match &self.start {
            Some(start) if self.number < start.number => Err(BrokenChain::OtherStart(start.number)),
            _ if self.number == 0 && self.must_have_entries => Err(BrokenChain::Emptied),
            _ => Ok(()),
        }
    }

    /// The number and the link of the last entry: kept elsewhere, they show whether the end was cut off.
    #[must_use]
    pub fn head(&self) -> (u64, Digest) {
        (self.number, self.hash)
    }

    /// The links so far.
    #[must_use]
    pub fn links(&self) -> Links {
        self.links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::InvalidDigest;
    use crate::vault::KeyId;

    #[derive(Clone, Debug)]
    struct Note {
        number: u64,
        text: &'static str,
        link: Link,
    }

    impl Linked for Note {
        fn number(&self) -> u64 {
            self.number
        }

        fn link(&self) -> Link {
            self.link
        }

        fn feed(&self, hasher: &mut LinkHasher) {
            hasher.update(self.number.to_be_bytes());
            hasher.update(self.text);
        }
    }

    fn genesis() -> Digest {
        Digest::of(b"notes")
    }

    fn keys(numbers: &[u8]) -> ChainKeys {
        ChainKeys::new(numbers.iter().map(|number| (KeyId::from_bytes([*number; 8]), [*number; 32])))
    }

    /// Adds notes, each link made with these keys.
    fn add(notes: &mut Vec<Note>, keys: &ChainKeys, texts: &[&'static str]) {
        for text in texts {
            let previous = notes.last().map_or_else(genesis, |note| note.link.hash);
            let mut note = Note { number: notes.len() as u64 + 1, text, link: Link::plain(previous) };
            note.link = keys.link(previous, |hasher| note.feed(hasher));
            notes.push(note);
        }
    }

    /// Two notes from before there were keys, two under the key 1, two under the key 2; and their start.
    fn sample() -> (Vec<Note>, Option<ChainStart>) {
        let mut notes = Vec::new();
        add(&mut notes, &ChainKeys::default(), &["a", "b"]);
        let start = ChainStart::new(&keys(&[1]), 2, notes[1].link.hash);
        add(&mut notes, &keys(&[1]), &["c", "d"]);
        add(&mut notes, &keys(&[2, 1]), &["e", "f"]);
        (notes, start)
    }

    fn follow(notes: &[Note], keys: &ChainKeys, start: Option<ChainStart>) -> (Vec<BrokenChain>, Links) {
        let mut check = ChainCheck::new(genesis(), keys.clone(), start);
        let mut broken: Vec<_> = check.check_start().err().into_iter().collect();
        broken.extend(notes.iter().filter_map(|note| check.take(note).err()));
        broken.extend(check.check_end().err());
        (broken, check.links())
    }

    #[test]
    fn old_and_new_links_hold_and_each_is_counted() {
        let (notes, start) = sample();
        let links = |without_key, under_key, unchecked| Links { without_key, under_key, unchecked };
        assert_eq!(follow(&notes, &keys(&[2, 1]), start), (vec![], links(2, 4, 0)));
        assert_eq!(follow(&notes, &ChainKeys::default(), start), (vec![], links(2, 0, 4)), "nobody has a key");
        let (unknown, counted) = follow(&notes, &keys(&[2]), start);
        assert_eq!(unknown, [BrokenChain::BadStart, BrokenChain::UnknownKey(3), BrokenChain::UnknownKey(4)]);
        assert_eq!(counted, links(2, 2, 0));
        for note in &notes {
            assert_eq!(note.link.to_string().parse(), Ok(note.link));
        }
        for bad in ["", ".", "01.", &format!("0101.{}", genesis()), &format!("zz01010101010101.{}", genesis())] {
            assert_eq!(bad.parse::<Link>(), Err(InvalidDigest), "{bad}");
        }
    }

    #[test]
    fn nobody_without_the_key_changes_what_a_link_stands_for() {
        let (mut changed, start) = sample();
        changed[0].text = "x";
        assert_eq!(follow(&changed, &keys(&[2, 1]), start).0, [BrokenChain::Changed(1)]);
        let (mut changed, _) = sample();
        changed[4].text = "x";
        assert_eq!(follow(&changed, &keys(&[2, 1]), start).0, [BrokenChain::Changed(5)]);
        // With a key of the forger's own, under the name of ours.
        let (mut forged, _) = sample();
        forged.truncate(4);
        add(&mut forged, &ChainKeys::new([(KeyId::from_bytes([2; 8]), [9; 32])]), &["x"]);
        assert_eq!(follow(&forged, &keys(&[2, 1]), start).0, [BrokenChain::Changed(5)]);
    }

    #[test]
    fn no_entry_passes_for_an_old_one() {
        // The whole chain written anew with digests that anybody can make.
        let (_, start) = sample();
        let mut anew = Vec::new();
        add(&mut anew, &ChainKeys::default(), &["a", "b", "x", "y"]);
        let told = follow(&anew, &keys(&[2, 1]), start).0;
        assert_eq!(told, [BrokenChain::WithoutKey(3), BrokenChain::WithoutKey(4)]);
        // Likewise where nobody has a key, for the start is there to be read.
        assert_eq!(follow(&anew, &ChainKeys::default(), start).0, told);
        // One that comes after a link under a key needs no start to be seen.
        let (mut mixed, _) = sample();
        add(&mut mixed, &ChainKeys::default(), &["x"]);
        assert_eq!(follow(&mixed, &ChainKeys::default(), None).0, [BrokenChain::WithoutKey(7)]);
        // Other old entries, and as many of them.
        let mut others = Vec::new();
        add(&mut others, &ChainKeys::default(), &["a", "x"]);
        assert_eq!(follow(&others, &keys(&[2, 1]), start).0, [BrokenChain::OtherStart(2)]);
        others.truncate(1);
        assert_eq!(follow(&others, &keys(&[2, 1]), start).0, [BrokenChain::OtherStart(2)]);
    }

    #[test]
    fn the_start_is_under_the_key_too() {
        let (notes, start) = sample();
        assert_eq!(follow(&notes, &keys(&[2, 1]), None).0, [BrokenChain::NoStart]);
        let moved = start.map(|start| ChainStart { number: 4, hash: notes[3].link.hash, ..start });
        assert_eq!(follow(&notes, &keys(&[2, 1]), moved).0, [BrokenChain::BadStart]);
        let own = ChainStart::new(&ChainKeys::new([(KeyId::from_bytes([1; 8]), [9; 32])]), 6, notes[5].link.hash);
        assert_eq!(follow(&notes, &keys(&[2, 1]), own).0, [BrokenChain::BadStart]);
        let plain = start.map(|start| {
            let seal = ChainKeys::default().link(ChainStart::genesis(), |hasher| {
                super::super::feed_start(hasher, start.number, start.hash);
            });
            ChainStart { seal, ..start }
        });
        assert_eq!(follow(&notes, &keys(&[2, 1]), plain).0, [BrokenChain::BadStart]);
        assert_eq!(ChainStart::new(&ChainKeys::default(), 0, genesis()), None);
    }
}
