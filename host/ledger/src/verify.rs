//! Whether stored entries are what they must be, from the entries alone.

use std::borrow::Borrow;
use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::posting::{charge_legs, negate};
use super::{Entry, EntryKind, Leg, Month, Posting, StoredEntry, TrialBalance};
use intent_gateway_domain::anchor::{Anchor, AnchorCheck, AnchorFault, Head};
use intent_gateway_domain::chain::{BrokenChain, ChainCheck, ChainKeys, Link, Links};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::money::{AMOUNT_MAX, Paise};

/// Faults listed; the rest is counted.
pub(crate) const FAULTS_LISTED_MAX: usize = 1_000;

/// What is wrong with the ledger. Each names the entry at which it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An entry is missing or was changed.
    #[error(transparent)]
    Chain(#[from] BrokenChain),
    /// It is not what was anchored.
    #[error(transparent)]
    Anchor(#[from] AnchorFault),
    /// It is there and cannot be read, so its link cannot be checked.
    #[error("entry {0} cannot be read")]
    Unreadable(u64),
    /// Something is kept with it that it does not say, or in another way than entries are written; its link does not cover that.
    #[error("entry {0} is kept with values that are not its own")]
    OtherValues(u64),
    /// It is not kept at its place among the entries of its order.
    #[error("entry {entry} is kept as number {found} of its order, counted from 0; it is number {expected}")]
    Turn {
        /// The entry.
        entry: u64,
        /// How many entries of its order come before it.
        expected: u64,
        /// What is kept.
        found: u64,
    },
    /// Its debits are not its credits.
    #[error("the legs of entry {0} do not sum to zero")]
    Unbalanced(u64),
    /// They balance, and are not those of its kind, amount and rate.
    #[error("the legs of entry {0} are not what its amount and rate make")]
    Legs(u64),
    /// The amount is none that a report may have.
    #[error("the amount of entry {0} is out of range")]
    Amount(u64),
    /// It counts in another month than its order.
    #[error("entry {0} counts in the wrong month")]
    Month(u64),
    /// The order was booked before, and that entry was not reversed.
    #[error("entry {entry} books an order that entry {first} has booked")]
    BookedTwice {
        /// The later entry.
        entry: u64,
        /// The one that stands.
        first: u64,
    },
    /// What it reverses is not the latest entry that booked its order.
    #[error("entry {entry} reverses entry {of}, which is not what its order was last booked by")]
    NothingReversed {
        /// The reversal.
        entry: u64,
        /// What it refers to.
        of: u64,
    },
    /// What it reverses was reversed before.
    #[error("entry {entry} reverses entry {of}, which was reversed before")]
    ReversedTwice {
        /// The later reversal.
        entry: u64,
        /// What it refers to.
        of: u64,
    },
    /// It does not mirror what it reverses.
    #[error("entry {entry} does not mirror entry {of}, which it reverses")]
    NotMirrored {
        /// The reversal.
        entry: u64,
        /// What it refers to.
        of: u64,
    },
}

/// What a verification has found.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Number and link of the last entry.
    pub head: (u64, Digest),
    /// What all partners owe together, paise; `None` where that does not fit.
    pub owed: Option<Paise>,
    /// The links, by what they could be checked with.
    pub links: Links,
    /// Anchors that the entries were compared with.
    pub anchors: u64,
    /// Entries looked at.
    pub entries: u64,
    pub trial: TrialBalance,
    /// What is wrong, the first [`FAULTS_LISTED_MAX`].
    pub faults: Vec<Fault>,
    /// How much more is wrong.
    pub faults_unlisted: u64,
}

impl Verification {
    /// Whether everything was checked, and holds.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty() && self.trial.is_zero() && self.links.unchecked == 0
    }

    /// The end of the ledger, as it is anchored.
    #[must_use]
    pub fn end(&self) -> Head {
        let (number, hash) = self.head;
        Head { number, hash, owed: self.owed }
    }
}

/// Looks at all entries of a ledger in their order, from a start on and with what is anchored of it.
pub fn verify(entries: impl IntoIterator<Item: Borrow<Entry>>, chain: ChainCheck, anchors: &[Anchor]) -> Verification {
    let mut verifier = Verifier::new(chain, anchors);
    entries.into_iter().for_each(|entry| verifier.take(entry.borrow()));
    verifier.finish()
}

/// Bytes of an order's digest: enough that no two orders share one by chance.
const ORDER_BYTES: usize = 16;
type OrderDigest = [u8; ORDER_BYTES];

/// The latest entry of an order.
#[derive(Clone, Copy, Debug)]
struct Latest {
    number: u64,
    month: Month,
    mirror: Digest,
    reversed: bool,
    /// Entries of the order so far.
    entries: u64,
}

/// Looks at one entry after the other, so that a ledger need not be in memory. About 100 bytes are kept for each order.
#[derive(Debug)]
pub struct Verifier {
    chain: ChainCheck,
    anchors: AnchorCheck,
    /// What all partners owe together by the entries so far.
    owed: Option<Paise>,
    entries: u64,
    trial: TrialBalance,
    orders: HashMap<OrderDigest, Latest>,
    faults: Vec<Fault>,
    faults_unlisted: u64,
}

impl Verifier {
    /// From before the first entry.
    #[must_use]
    pub fn new(chain: ChainCheck, anchors: &[Anchor]) -> Self {
        let mut verifier = Self {
            anchors: AnchorCheck::new(anchors),
            owed: Some(Paise::ZERO),
            entries: 0,
            trial: TrialBalance::default(),
            orders: HashMap::new(),
            faults: Vec::new(),
            faults_unlisted: 0,
            chain,
        };
        verifier.faults.extend(verifier.chain.check_start().err().map(Fault::from));
        verifier
    }

    /// Takes the next entry as it is kept.
    pub fn take_stored(&mut self, stored: &StoredEntry) {
        let StoredEntry { number, link, entry, turn, is_as_written } = stored;
        let Some(entry) = entry else { return self.pass(*number, *link) };
        let expected = self.orders.get(&order(&entry.posting)).map_or(0, |latest| latest.entries);
        self.take(entry);
        if !is_as_written {
            self.fault(Fault::OtherValues(*number));
        }
        if let Some(found) = turn.filter(|turn| *turn != expected) {
            self.fault(Fault::Turn { entry: *number, expected, found });
        }
    }

    /// Goes past an entry that cannot be read. What is owed is not known from there on.
    fn pass(&mut self, number: u64, link: Option<Link>) {
        self.entries += 1;
        self.owed = None;
        self.fault(Fault::Unreadable(number));
        if let Err(broken) = self.chain.pass(number, link) {
            self.fault(broken.into());
        }
        if let Some(Err(differs)) = link.map(|link| self.anchors.take(number, link.hash, self.owed)) {
            self.fault(differs.into());
        }
    }

    /// Takes the next entry.
    pub fn take(&mut self, entry: &Entry) {
        let number = entry.number;
        self.entries += 1;
        self.owed = self.owed.and_then(|owed| owed.checked_add(entry.posting.commission()?));
        if let Err(broken) = self.chain.take(entry) {
            self.fault(broken.into());
        }
        if let Err(differs) = self.anchors.take(number, entry.hash, self.owed) {
            self.fault(differs.into());
        }
        self.trial.take(entry);
        if !(Paise::ZERO..=AMOUNT_MAX).contains(&entry.posting.amount) {
            self.fault(Fault::Amount(number));
        }
        if sum(&entry.posting.legs) != Some(Paise::ZERO) {
            self.fault(Fault::Unbalanced(number));
        }
        match &entry.posting.kind {
            EntryKind::Charge => {
                let Posting { amount, rate, .. } = &entry.posting;
                self.book(entry, &charge_legs(*amount, *rate));
            }
            EntryKind::Memorandum => self.book(entry, &[]),
            EntryKind::Reversal { of, .. } => self.reverse(entry, *of),
        }
    }

    /// What was found.
    #[must_use]
    pub fn finish(mut self) -> Verification {
        if let Err(broken) = self.chain.check_end() {
            self.fault(broken.into());
        }
        if let Err(missing) = self.anchors.finish() {
            self.fault(missing.into());
        }
        let Self { chain, anchors, owed, entries, trial, orders: _, faults, faults_unlisted } = self;
        let (head, links, anchors) = (chain.head(), chain.links(), anchors.compared());
        Verification { head, owed, links, anchors, entries, trial, faults, faults_unlisted }
    }

    fn fault(&mut self, fault: Fault) {
        if self.faults.len() < FAULTS_LISTED_MAX {
            self.faults.push(fault);
        } else {
            self.faults_unlisted += 1;
        }
    }

    /// A charge or a memorandum.
    fn book(&mut self, entry: &Entry, legs: &[Leg]) {
        let Entry { number, posting, .. } = entry;
        if posting.legs != legs {
            self.fault(Fault::Legs(*number));
        }
        if posting.month != Month::of_order(posting.closed_at_ms, posting.posted_at_ms) {
            self.fault(Fault::Month(*number));
        }
        let mirror = mirror(posting, &posting.legs);
        let order = order(posting);
        let entries = self.orders.get(&order).map_or(0, |latest| latest.entries) + 1;
        let latest = Latest { number: *number, month: posting.month, mirror, reversed: false, entries };
        let before = self.orders.insert(order, latest);
        if let Some(Latest { number: first, reversed: false, .. }) = before {
            self.fault(Fault::BookedTwice { entry: *number, first });
        }
    }

    fn reverse(&mut self, entry: &Entry, of: u64) {
        let Entry { number, posting, .. } = entry;
        let Some(latest) = self.orders.get_mut(&order(posting)) else {
            self.fault(Fault::NothingReversed { entry: *number, of });
            return;
        };
        latest.entries += 1;
        if latest.number != of {
            self.fault(Fault::NothingReversed { entry: *number, of });
            return;
        }
        let before = std::mem::replace(latest, Latest { reversed: true, ..*latest });
        if before.reversed {
            self.fault(Fault::ReversedTwice { entry: *number, of });
        }
        if posting.month != before.month {
            self.fault(Fault::Month(*number));
        }
        let mirrored = negate(&posting.legs).map(|legs| mirror(posting, &legs));
        if mirrored != Some(before.mirror) {
            self.fault(Fault::NotMirrored { entry: *number, of });
        }
    }
}

fn sum(legs: &[Leg]) -> Option<Paise> {
    legs.iter().map(|leg| leg.amount).sum()
}

fn order(posting: &Posting) -> OrderDigest {
    let mut hasher = Sha256::new();
    // Neither identifier may hold a zero byte, so no two orders read alike.
    for text in [posting.partner.as_str(), posting.intent.as_str()] {
        hasher.update(text);
        hasher.update([0]);
    }
    hasher.update(&posting.external_id);
    let mut order = OrderDigest::default();
    order.copy_from_slice(&hasher.finalize()[..ORDER_BYTES]);
    order
}

/// What a reversal repeats of an entry, with these legs in place of its own.
fn mirror(posting: &Posting, legs: &[Leg]) -> Digest {
    let repeated =
        Posting { posted_at_ms: Timestamp::EPOCH, kind: EntryKind::Memorandum, legs: legs.to_vec(), ..posting.clone() };
    super::link(repeated, 0, super::genesis(), &ChainKeys::default()).hash
}
