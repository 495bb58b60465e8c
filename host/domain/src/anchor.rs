//! Anchors: what a chain came to at a moment, noted where whoever may write to the store cannot: in the log, a file, elsewhere.
//!
//! The links of a [chain](crate::chain) do not show that its last entries were cut off, nor that all of it was exchanged for an
//! older state. An anchor does: the entry that it names must still be there, with that link, and the ledger's receivables up to
//! it must still come to that sum. It is under a key itself, so that nobody else makes one.
//!
//! As text it is one word, which is found wherever it stands in a line, so that the log itself can be given to be compared with.

use std::fmt;
use std::str::FromStr;

use futures_util::future::BoxFuture;

use crate::chain::{ChainKeys, Link, LinkHasher, Proof};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::money::Paise;

/// What the text of an anchor begins with: the form, and its version.
const PREFIX: &str = "anchor1:";

/// A chain that is anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainName {
    Audit,
    Ledger,
}

impl ChainName {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Audit, Self::Ledger];

    /// The name, in anchors, log and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Ledger => "ledger",
        }
    }
}

impl fmt::Display for ChainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a chain came to at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the last entry.
    pub number: u64,
    /// Its link.
    pub hash: Digest,
    /// What all partners owe together by the entries up to it, paise; of the ledger alone, and where the sum fits.
    pub owed: Option<Paise>,
}

/// A head that is noted, under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Of which chain.
    pub chain: ChainName,
    /// When.
    pub at_ms: Timestamp,
    /// What it came to.
    pub head: Head,
    /// Over all of it.
    pub seal: Link,
}

/// `anchor1:CHAIN:AT_MS:NUMBER:HASH:OWED:SEAL`; OWED is `-` where there is none.
impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chain, at_ms, head: Head { number, hash, owed }, seal } = self;
        write!(f, "{PREFIX}{chain}:{}:{number}:{hash}:", at_ms.as_ms())?;
        match owed {
            Some(owed) => write!(f, "{}:{seal}", owed.get()),
            None => write!(f, "-:{seal}"),
        }
    }
}

/// The text is not an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an anchor reads anchor1:CHAIN:AT_MS:NUMBER:HASH:OWED:SEAL")]
pub struct InvalidAnchor;

impl FromStr for Anchor {
    type Err = InvalidAnchor;

    fn from_str(text: &str) -> Result<Self, InvalidAnchor> {
        let parts: Vec<&str> = text.strip_prefix(PREFIX).ok_or(InvalidAnchor)?.split(':').collect();
        let [chain, at_ms, number, hash, owed, seal] = parts[..] else { return Err(InvalidAnchor) };
        let owed = match owed {
            "-" => None,
            paise => Some(Paise::new(paise.parse().map_err(|_| InvalidAnchor)?)),
        };
        Ok(Self {
            chain: ChainName::ALL.into_iter().find(|name| name.as_str() == chain).ok_or(InvalidAnchor)?,
            at_ms: Timestamp::from_ms(at_ms.parse().map_err(|_| InvalidAnchor)?),
            head: Head {
                number: number.parse().map_err(|_| InvalidAnchor)?,
                hash: hash.parse().map_err(|_| InvalidAnchor)?,
                owed,
            },
            seal: seal.parse().map_err(|_| InvalidAnchor)?,
        })
    }
}

impl Anchor {
    /// Anchors what a chain has come to.
    #[must_use]
    pub fn new(keys: &ChainKeys, chain: ChainName, at_ms: Timestamp, head: Head) -> Self {
        let anchor = Self { chain, at_ms, head, seal: Link::plain(head.hash) };
        Self { seal: keys.link(Self::genesis(), |hasher| anchor.feed(hasher)), ..anchor }
    }

    /// The anchor that stands somewhere in a line of a file or a log.
    ///
    /// # Errors
    /// [`InvalidAnchor`] where something begins like an anchor and is none.
    pub fn find(line: &str) -> Result<Option<Self>, InvalidAnchor> {
        let Some((_, rest)) = line.split_once(PREFIX) else { return Ok(None) };
        let belongs = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ':' | '.' | '-');
        let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        format!("{PREFIX}{}", &rest[..end]).parse().map(Some)
    }

    /// Whether one of these keys has made it.
    #[must_use]
    pub fn prove(&self, keys: &ChainKeys) -> Proof {
        match self.seal.key {
            Some(_) => keys.prove(self.seal, Self::genesis(), |hasher| self.feed(hasher)),
            None => Proof::Broken,
        }
    }

    fn feed(&self, hasher: &mut LinkHasher) {
        let Self { chain, at_ms, head: Head { number, hash, owed }, seal: _ } = self;
        hasher.update([u8::from(*chain == ChainName::Ledger), u8::from(owed.is_some())]);
        hasher.update(at_ms.as_ms().to_be_bytes());
        hasher.update(number.to_be_bytes());
        hasher.update(hash.as_bytes());
        hasher.update(owed.unwrap_or_default().get().to_be_bytes());
    }

    /// Stands where entries have the link before: no seal of an anchor is the link of an entry.
    fn genesis() -> Digest {
        Digest::of(b"intent-gateway anchor of a chain")
    }
}

/// How a chain differs from what was anchored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorFault {
    /// The anchored entry is not there.
    #[error("entry {0} was anchored and is not there: the end was cut off")]
    Missing(u64),
    /// Another entry stands in its place.
    #[error("entry {0} is not the one that was anchored: the chain was written anew up to it or further")]
    Other(u64),
    /// The amounts up to it come to another sum.
    #[error("up to entry {0} the partners owe another sum than was anchored")]
    OtherSum(u64),
}

impl AnchorFault {
    /// The entry that was anchored.
    #[must_use]
    pub fn entry(self) -> u64 {
        let (Self::Missing(entry) | Self::Other(entry) | Self::OtherSum(entry)) = self;
        entry
    }
}

/// Compares the entries of a chain, in their order, with what was anchored of it.
#[derive(Clone, Debug)]
pub struct AnchorCheck {
    /// By number, the next one last.
    waiting: Vec<Head>,
    compared: u64,
}

impl AnchorCheck {
    /// With these anchors, all of one chain.
    #[must_use]
    pub fn new(anchors: &[Anchor]) -> Self {
        let mut waiting: Vec<Head> = anchors.iter().map(|anchor| anchor.head).filter(|head| head.number > 0).collect();
        waiting.sort_by_key(|head| std::cmp::Reverse(head.number));
        waiting.dedup();
        Self { waiting, compared: 0 }
    }

    /// Takes the next entry, with the sum of what is owed up to it.
    ///
    /// # Errors
    /// [`AnchorFault`] when an anchor says something else.
    pub fn take(&mut self, number: u64, hash: Digest, owed: Option<Paise>) -> Result<(), AnchorFault> {
        let mut fault = None;
        while let Some(head) = self.waiting.pop_if(|head| head.number <= number) {
            self.compared += 1;
            let found = match head {
                _ if head.number < number => Some(AnchorFault::Missing(head.number)),
                _ if head.hash != hash => Some(AnchorFault::Other(number)),
                _ if head.owed.is_some() && head.owed != owed => Some(AnchorFault::OtherSum(number)),
                _ => None,
            };
            fault = fault.or(found);
        }
        fault.map_or(Ok(()), Err)
    }

    /// After the last entry.
    ///
    /// # Errors
    /// [`AnchorFault::Missing`] for the last of the anchors that no entry has come for.
    pub fn finish(&mut self) -> Result<(), AnchorFault> {
        let last = self.waiting.first().copied();
        self.compared += u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
        self.waiting.clear();
        last.map_or(Ok(()), |head| Err(AnchorFault::Missing(head.number)))
    }

    /// Anchors that were compared so far.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared
    }
}

/// What was anchored cannot be read, or not noted.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct AnchorError {
    /// What was tried.
    pub what: String,
    /// Why it failed.
    #[source]
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Where anchors can be read again, a port.
pub trait Anchors: Send + Sync {
    /// The anchors of a chain that are known to be the gateway's own.
    fn read(&self, chain: ChainName) -> BoxFuture<'_, Result<Vec<Anchor>, AnchorError>>;
}

/// Nothing is anchored where it could be read again.
pub struct NoAnchors;

impl Anchors for NoAnchors {
    fn read(&self, _: ChainName) -> BoxFuture<'_, Result<Vec<Anchor>, AnchorError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::tests::vault;

    fn head(number: u64, owed: Option<i64>) -> Head {
        Head { number, hash: Digest::of(&number.to_be_bytes()), owed: owed.map(Paise::new) }
    }

    fn anchor(number: u64, owed: Option<i64>) -> Anchor {
        let keys = vault("first", &[]).chain_keys("anchors");
        Anchor::new(&keys, ChainName::Ledger, Timestamp::from_ms(7), head(number, owed))
    }

    #[test]
    fn an_anchor_is_found_in_a_line_and_is_the_gateways_own() {
        let keys = vault("second", &["first"]).chain_keys("anchors");
        for anchor in [anchor(42, Some(-5)), anchor(0, None), Anchor { chain: ChainName::Audit, ..anchor(1, None) }] {
            for line in [
                anchor.to_string(),
                format!("2026-01-01T00:00:00Z  INFO anchors: anchored anchor={anchor} n=1"),
                format!("{{\"fields\":{{\"anchor\":\"{anchor}\"}}}}"),
            ] {
                assert_eq!(Anchor::find(&line), Ok(Some(anchor)), "{line}");
            }
        }
        assert_eq!(Anchor::find("nothing here"), Ok(None));
        for bad in ["anchor1:", "anchor1:ledger:1:2:3:4:5", "anchor1:other:7:1:x:-:y"] {
            assert_eq!(Anchor::find(bad), Err(InvalidAnchor), "{bad}");
        }
        let ours = anchor(42, Some(5));
        assert_eq!(ours.prove(&keys), Proof::Holds);
        for forged in [
            Anchor { chain: ChainName::Audit, ..ours },
            Anchor { at_ms: Timestamp::EPOCH, ..ours },
            Anchor { head: Head { number: 41, ..ours.head }, ..ours },
            Anchor { head: Head { hash: Digest::of(b"x"), ..ours.head }, ..ours },
            Anchor { head: Head { owed: Some(Paise::new(4)), ..ours.head }, ..ours },
            Anchor { head: Head { owed: None, ..ours.head }, ..ours },
            Anchor { seal: Link::plain(ours.seal.hash), ..ours },
        ] {
            assert_eq!(forged.prove(&keys), Proof::Broken, "{forged:?}");
        }
        assert_eq!(ours.prove(&vault("third", &[]).chain_keys("anchors")), Proof::NoKey);
    }

    #[test]
    fn entries_are_compared_with_what_was_anchored_of_them() {
        let anchors = [anchor(3, Some(30)), anchor(1, Some(10)), anchor(1, Some(10)), anchor(0, None)];
        let follow = |entries: &[Head]| {
            let mut check = AnchorCheck::new(&anchors);
            let mut faults: Vec<_> =
                entries.iter().filter_map(|head| check.take(head.number, head.hash, head.owed).err()).collect();
            faults.extend(check.finish().err());
            assert_eq!(check.compared(), 2);
            faults
        };
        let entries: Vec<Head> = (1_u64..=4).map(|at| head(at, i64::try_from(at * 10).ok())).collect();
        assert_eq!(follow(&entries), []);
        assert_eq!(follow(&entries[..2]), [AnchorFault::Missing(3)], "the end is cut off");
        assert_eq!(follow(&[]), [AnchorFault::Missing(3)]);
        let mut anew = entries.clone();
        anew[2].hash = Digest::of(b"another");
        assert_eq!(follow(&anew), [AnchorFault::Other(3)]);
        let mut divided = entries.clone();
        divided[2].owed = Some(Paise::new(3));
        assert_eq!(follow(&divided), [AnchorFault::OtherSum(3)]);
        let mut gap = entries;
        gap.remove(2);
        assert_eq!(follow(&gap), [AnchorFault::Missing(3)]);
    }
}
