//! Chains of entries: each holds a link to the one before, so that neither a change nor a removal in the middle goes unseen.
//! The audit log and the ledger are such chains.
//!
//! A link is a MAC (HMAC-SHA-256) under a key that is outside the store: whoever may write to the store and no more cannot make one.
//! Links of before there were keys are plain SHA-256 digests, which anybody can make. So a chain has a [`ChainStart`]: it says how
//! many entries, counted from the first, may have such links, and with which digest they end. It is itself under the key.
//!
//! What no link can show is that the last entries were cut off. [`anchor`](crate::anchor) is for that.

mod check;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};

pub use self::check::{BrokenChain, ChainCheck, Linked, Links};
use crate::digest::{Digest, InvalidDigest};
use crate::vault::{KeyId, padded};

/// What ties an entry to the one before: a MAC and its key, or a plain digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The MAC or the digest, over the entry and the one of the entry before.
    pub hash: Digest,
    /// Under which key; `None` for a digest.
    pub key: Option<KeyId>,
}

impl Link {
    /// A plain digest.
    #[must_use]
    pub fn plain(hash: Digest) -> Self {
        Self { hash, key: None }
    }
}

/// `KEY.HASH`, or `HASH` for a plain digest; both hexadecimal.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.map_or(Ok(()), |key| write!(f, "{key}."))?;
        self.hash.fmt(f)
    }
}

impl FromStr for Link {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        match text.split_once('.') {
            Some((key, hash)) => Ok(Self { hash: hash.parse()?, key: Some(KeyId::parse(key).ok_or(InvalidDigest)?) }),
            None => text.parse().map(Self::plain),
        }
    }
}

/// Whether a link is what its key makes of what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    Holds,
    Broken,
    /// Its key is not at hand.
    NoKey,
}

/// The keys of one chain: the first makes links, all check them. There may be none.
#[derive(Clone, Default)]
pub struct ChainKeys(Arc<[ChainKey]>);

struct ChainKey {
    id: KeyId,
    /// With the key in it already: a link costs no more than one digest and one block.
    mac: Hmac<Sha256>,
}

impl fmt::Debug for ChainKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChainKeys")
    }
}

/// Whoever has no key follows a chain as far as that goes.
impl ChainKeys {
    /// Of keys that are random, the first of which makes links.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = (KeyId, [u8; 32])>) -> Self {
        let key = |(id, key)| ChainKey { id, mac: <Hmac<Sha256> as hmac::KeyInit>::new(&padded(key)) };
        Self(keys.into_iter().map(key).collect())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The link of what is fed, after the link `previous`: a plain digest where there is no key.
    pub fn link(&self, previous: Digest, feed: impl FnOnce(&mut LinkHasher)) -> Link {
        let key = self.0.first();
        Link { hash: hash(key, previous, feed), key: key.map(|key| key.id) }
    }

    /// Whether a link is that of what is fed, after the link `previous`.
    pub fn prove(&self, link: Link, previous: Digest, feed: impl FnOnce(&mut LinkHasher)) -> Proof {
        let key = match link.key {
            None => None,
            Some(id) => match self.0.iter().find(|key| key.id == id) {
                None => return Proof::NoKey,
                found => found,
            },
        };
        if hash(key, previous, feed) == link.hash { Proof::Holds } else { Proof::Broken }
    }
}

fn hash(key: Option<&ChainKey>, previous: Digest, feed: impl FnOnce(&mut LinkHasher)) -> Digest {
    let mut hasher = match key {
        None => LinkHasher::Digest(Sha256::new()),
        Some(key) => LinkHasher::Mac(key.mac.clone()),
    };
    hasher.update(previous.as_bytes());
    feed(&mut hasher);
    Digest::from_bytes(match hasher {
        LinkHasher::Digest(digest) => digest.finalize().into(),
        LinkHasher::Mac(mac) => mac.finalize().into_bytes().into(),
    })
}

/// Takes what a link stands for, piece by piece. Whoever feeds it sees to it that no two entries feed alike.
pub enum LinkHasher {
    Digest(Sha256),
    Mac(Hmac<Sha256>),
}

impl LinkHasher {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        match self {
            Self::Digest(digest) => digest.update(bytes),
            Self::Mac(mac) => mac.update(bytes.as_ref()),
        }
    }
}

/// From where on the links of a chain are under a key. What is before holds by this, for its last digest is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainStart {
    /// How many entries have plain digests at most; 0 for a chain that began with a key.
    pub number: u64,
    /// The digest of the last of them.
    pub hash: Digest,
    /// Over both.
    pub seal: Link,
}

impl ChainStart {
    /// The start of a chain that ends here now; `None` where there is no key.
    #[must_use]
    pub fn new(keys: &ChainKeys, number: u64, hash: Digest) -> Option<Self> {
        let seal = keys.link(Self::genesis(), |hasher| feed_start(hasher, number, hash));
        (!keys.is_empty()).then_some(Self { number, hash, seal })
    }

    /// Whether it is one that the keys have made.
    #[must_use]
    pub fn prove(&self, keys: &ChainKeys) -> Proof {
        match self.seal.key {
            Some(_) => keys.prove(self.seal, Self::genesis(), |hasher| feed_start(hasher, self.number, self.hash)),
            None => Proof::Broken,
        }
    }

    /// Stands where entries have the link before: no seal of a start is the link of an entry.
    fn genesis() -> Digest {
        Digest::of(b"intent-gateway start of a chain")
    }
}

fn feed_start(hasher: &mut LinkHasher, number: u64, hash: Digest) {
    hasher.update(number.to_be_bytes());
    hasher.update(hash.as_bytes());
}
