//! Whether the stored entries hold, and whether they still are those that were anchored, or that somebody has noted the end of.

use std::fmt;
use std::str::FromStr;

use crate::{Books, ENTRIES_READ_MAX, Fault, StoredEntry, Verification, Verifier, genesis};
use intent_gateway_domain::anchor::{Anchor, AnchorFault};
use intent_gateway_domain::chain::BrokenChain;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::store::StoreError;

use super::{Bookkeeping, BookkeepingError};

/// An entry by its number and its digest, written `42:<64 hexadecimal characters>`. That of the last entry, noted
/// elsewhere, shows later whether the end was cut off or the whole written anew, which the entries alone cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The number; 0 for the ledger without an entry.
    pub number: u64,
    /// The digest.
    pub hash: Digest,
}

/// The text is not a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an entry's mark is its number, a colon and its digest of 64 hexadecimal characters")]
pub struct InvalidMark;

impl From<(u64, Digest)> for Mark {
    fn from((number, hash): (u64, Digest)) -> Self {
        Self { number, hash }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, self.hash)
    }
}

impl FromStr for Mark {
    type Err = InvalidMark;

    fn from_str(text: &str) -> Result<Self, InvalidMark> {
        let (number, hash) = text.split_once(':').ok_or(InvalidMark)?;
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        // Stores keep numbers as signed ones.
        let number = number.parse::<i64>().ok().filter(|_| digits).and_then(|number| u64::try_from(number).ok());
        Ok(Self { number: number.ok_or(InvalidMark)?, hash: hash.parse().map_err(|_| InvalidMark)? })
    }
}

/// What a verification has come to.
#[derive(Clone, Debug)]
pub struct Soundness {
    /// What the stored entries show.
    pub found: Verification,
    /// The mark that was expected and that no entry has.
    pub missing: Option<Mark>,
}

impl Soundness {
    /// Whether everything holds.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.found.is_sound() && self.missing.is_none()
    }
}

/// Looks at all entries in their order, up to the last one of this moment, for those that were anchored and for the one that
/// is expected. It takes about 100 bytes for each order.
///
/// # Errors
/// [`StoreError`] when the store fails; what is wrong with entries is not an error, nor that one cannot be read.
pub async fn verify(books: &dyn Books, anchors: &[Anchor], expected: Option<Mark>) -> Result<Soundness, StoreError> {
    // First what shows that there are entries, then the entries: a first one that comes in between is not a contradiction.
    let mut verifier = Verifier::new(books.chain().await?, anchors);
    let (last, _) = books.head().await?;
    let (mut after, mut seen) = (0, expected.is_none_or(|mark| mark == Mark::from((0, genesis()))));
    while after < last {
        let page = books.stored(after, ENTRIES_READ_MAX).await?;
        let Some(newest) = page.last() else { break };
        after = newest.number;
        for stored in page.iter().take_while(|stored| stored.number <= last) {
            verifier.take_stored(stored);
            seen |= mark(stored).is_some_and(|mark| expected == Some(mark));
        }
    }
    Ok(Soundness { found: verifier.finish(), missing: expected.filter(|_| !seen) })
}

fn mark(stored: &StoredEntry) -> Option<Mark> {
    stored.link.map(|link| Mark { number: stored.number, hash: link.hash })
}

/// The stable code of a fault (docs/ledger.md).
#[must_use]
pub fn fault_code(fault: &Fault) -> &'static str {
    match fault {
        Fault::Chain(BrokenChain::Gap { .. }) => "ENTRY_MISSING",
        Fault::Chain(BrokenChain::Changed(_)) => "ENTRY_CHANGED",
        Fault::Chain(BrokenChain::WithoutKey(_)) => "LINK_WITHOUT_KEY",
        Fault::Chain(BrokenChain::UnknownKey(_)) => "UNKNOWN_KEY",
        Fault::Chain(BrokenChain::NoStart) => "START_MISSING",
        Fault::Chain(BrokenChain::BadStart) => "START_CHANGED",
        Fault::Chain(BrokenChain::OtherStart(_)) => "START_DIFFERS",
        Fault::Chain(BrokenChain::Emptied) => "LEDGER_EMPTIED",
        Fault::Anchor(AnchorFault::Missing(_)) => "ANCHOR_MISSING",
        Fault::Anchor(AnchorFault::Other(_)) => "ANCHOR_DIFFERS",
        Fault::Anchor(AnchorFault::OtherSum(_)) => "ANCHOR_SUM_DIFFERS",
        Fault::Unreadable(_) => "ENTRY_UNREADABLE",
        Fault::OtherValues(_) => "OTHER_VALUES",
        Fault::Turn { .. } => "WRONG_TURN",
        Fault::Unbalanced(_) => "UNBALANCED",
        Fault::Legs(_) => "WRONG_LEGS",
        Fault::Amount(_) => "AMOUNT_OUT_OF_RANGE",
        Fault::Month(_) => "WRONG_MONTH",
        Fault::BookedTwice { .. } => "BOOKED_TWICE",
        Fault::NothingReversed { .. } => "NOTHING_REVERSED",
        Fault::ReversedTwice { .. } => "REVERSED_TWICE",
        Fault::NotMirrored { .. } => "NOT_MIRRORED",
    }
}

/// The entry at which a fault shows; 0 where it shows before the first.
#[must_use]
pub fn fault_entry(fault: &Fault) -> u64 {
    match *fault {
        Fault::Chain(broken) => broken.entry(),
        Fault::Anchor(differs) => differs.entry(),
        Fault::Unreadable(entry)
        | Fault::OtherValues(entry)
        | Fault::Turn { entry, .. }
        | Fault::Unbalanced(entry)
        | Fault::Legs(entry)
        | Fault::Amount(entry)
        | Fault::Month(entry)
        | Fault::BookedTwice { entry, .. }
        | Fault::NothingReversed { entry, .. }
        | Fault::ReversedTwice { entry, .. }
        | Fault::NotMirrored { entry, .. } => entry,
    }
}

impl Bookkeeping {
    /// As [`verify`].
    ///
    /// # Errors
    /// [`BookkeepingError::Store`].
    pub async fn verify(&self, anchors: &[Anchor], expected: Option<Mark>) -> Result<Soundness, BookkeepingError> {
        Ok(verify(&*self.books, anchors, expected).await?)
    }
}
