//! An entry, its legs, and the chain that ties it to the one before.

use semver::Version;
use serde::{Deserialize, Serialize};

use super::Month;
use crate::completion::ReportKey;
use intent_gateway_domain::chain::{ChainCheck, ChainKeys, ChainStart, Link, LinkHasher, Linked};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::order::ClosingReport;
use intent_gateway_domain::vault::{KeyId, hex};

/// Bytes of an entry's digest that make its receipt.
const RECEIPT_BYTES: usize = 12;

/// An account, of the entry's partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AccountName))]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// What the partner owes the platform.
    PartnerReceivable,
    /// What the platform has earned from the partner's orders.
    CommissionRevenue,
}

/// One side of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// The account, of the entry's partner.
    pub account: Account,
    /// A debit above zero, a credit below, paise.
    pub amount: Paise,
}

/// What an entry is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum EntryKind {
    /// Commission on an order. Two legs, even where the commission rounds to nothing.
    Charge,
    /// A report on which no commission is due. No legs.
    Memorandum,
    /// Takes another entry back. Its legs, negated.
    Reversal {
        /// Number of the entry taken back.
        of: u64,
        /// Why, in the words of who did it.
        reason: String,
    },
}

/// Which version of the contract judged the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judge {
    pub version: Version,
    /// It is not known to be the version that routed the order: that one is gone, or no ranking of the request is kept.
    /// This one was live at the time.
    pub stand_in: bool,
}

/// An entry before it has its place in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// When it was booked, milliseconds since the epoch.
    pub posted_at_ms: Timestamp,
    /// Who reported, and whose accounts are concerned.
    pub partner: PartnerId,
    /// The intent of the order.
    pub intent: IntentId,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The request that the order came from.
    pub request_id: String,
    /// The reported status.
    pub status: String,
    /// When the order closed, milliseconds since the epoch.
    pub closed_at_ms: Timestamp,
    /// The month whose statement lists it.
    pub month: Month,
    /// The reported amount, the base of the commission; never negative, in a reversal neither.
    pub amount: Paise,
    /// The rate that was in force.
    pub rate: Rate,
    /// Who judged the report.
    pub judged_by: Judge,
    /// By how many minutes the service began later than was quoted, below zero where earlier; absent where the report
    /// does not tell.
    pub late_minutes: Option<i32>,
    /// Digest of the report's content.
    pub report: Digest,
    /// What it is for.
    pub kind: EntryKind,
    /// Debits and credits, in sum zero.
    pub legs: Vec<Leg>,
}

/// An entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place, from 1, without gaps.
    pub number: u64,
    /// What it says.
    pub posting: Posting,
    /// The link of this entry to the one before.
    pub hash: Digest,
    /// Under which key the link is; `None` where it is a plain digest, from before there were keys.
    pub key: Option<KeyId>,
}

impl Posting {
    /// The order that it is about.
    #[must_use]
    pub fn order(&self) -> ReportKey {
        let Self { partner, intent, external_id, .. } = self;
        ReportKey { partner: partner.clone(), intent: intent.clone(), external_id: external_id.clone() }
    }

    /// What the partner owes more for it, or less where it is below zero; `None` where the legs do not add up to an
    /// amount, which no entry made here does.
    #[must_use]
    pub fn commission(&self) -> Option<Paise> {
        let receivable = self.legs.iter().filter(|leg| leg.account == Account::PartnerReceivable);
        receivable.map(|leg| leg.amount).sum()
    }
}

impl Entry {
    /// The report that it books, as the order that it closes keeps it.
    #[must_use]
    pub fn closing_report(&self) -> ClosingReport {
        let Posting { posted_at_ms, external_id, status, .. } = &self.posting;
        ClosingReport {
            at_ms: *posted_at_ms,
            external_id: external_id.clone(),
            status: status.clone(),
            receipt: self.receipt_id(),
        }
    }

    /// The identifier of the receipt for the report that made this entry. It follows from the entry, so that a repeated
    /// report gets the same one, and tells nothing about the number of entries.
    #[must_use]
    pub fn receipt_id(&self) -> String {
        format!("rcpt_{}", hex(&self.hash.as_bytes()[..RECEIPT_BYTES]))
    }
}

/// The digest before the first entry.
#[must_use]
pub fn genesis() -> Digest {
    Digest::of(b"intent-gateway commission ledger")
}

/// The ledger from before its first entry on, under these keys and from this start.
#[must_use]
pub fn chain(keys: ChainKeys, start: Option<ChainStart>) -> ChainCheck {
    ChainCheck::new(genesis(), keys, start)
}

/// Gives a posting its place after the entry with the link `previous`.
#[must_use]
pub fn link(posting: Posting, number: u64, previous: Digest, keys: &ChainKeys) -> Entry {
    let Link { hash, key } = keys.link(previous, |hasher| feed(number, &posting, hasher));
    Entry { number, posting, hash, key }
}

impl Linked for Entry {
    fn number(&self) -> u64 {
        self.number
    }

    fn link(&self) -> Link {
        Link { hash: self.hash, key: self.key }
    }

    fn feed(&self, hasher: &mut LinkHasher) {
        feed(self.number, &self.posting, hasher);
    }
}

/// What varies in length is preceded by its length, so that no two entries read alike.
fn feed(number: u64, posting: &Posting, hasher: &mut LinkHasher) {
    let Posting {
        posted_at_ms,
        partner,
        intent,
        external_id,
        request_id,
        status,
        closed_at_ms,
        month,
        amount,
        rate,
        judged_by: Judge { version, stand_in },
        late_minutes,
        report,
        kind,
        legs,
    } = posting;
    let (kind, of, reason) = match kind {
        EntryKind::Charge => (0, 0, ""),
        EntryKind::Memorandum => (1, 0, ""),
        EntryKind::Reversal { of, reason } => (2, *of, reason.as_str()),
    };
    let length = |length: usize| u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes();
    let version = version.to_string();
    for number in [number, posted_at_ms.as_ms(), closed_at_ms.as_ms(), of] {
        hasher.update(number.to_be_bytes());
    }
    for text in [partner.as_str(), intent.as_str(), external_id, request_id, status, &version, reason] {
        hasher.update(length(text.len()));
        hasher.update(text);
    }
    hasher.update(month.year().to_be_bytes());
    hasher.update(month.number().to_be_bytes());
    hasher.update(amount.get().to_be_bytes());
    hasher.update(rate.basis_points().to_be_bytes());
    hasher.update([u8::from(*stand_in), kind, u8::from(late_minutes.is_some())]);
    hasher.update(late_minutes.unwrap_or_default().to_be_bytes());
    hasher.update(report.as_bytes());
    hasher.update(length(legs.len()));
    for Leg { account, amount } in legs {
        let account: u8 = match account {
            Account::PartnerReceivable => 0,
            Account::CommissionRevenue => 1,
        };
        hasher.update([account]);
        hasher.update(amount.get().to_be_bytes());
    }
}
