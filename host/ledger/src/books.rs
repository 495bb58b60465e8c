//! The port to where the ledger is kept.
//!
//! Bookings come in batches, for a durable transaction costs the same for one and for a thousand. A store takes the
//! number and the link of the last entry under a lock that all its writers share, so that two gateways never give one
//! number twice nor charge an order twice.

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use std::sync::Arc;

use super::{Account, Correction, Entry, EntryKind, Leg, Month, Posting, TrialBalance};
use crate::completion::ReportKey;
use intent_gateway_domain::chain::{ChainCheck, Link};
use intent_gateway_domain::delivered::Deliveries;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::{AMOUNT_MAX, Paise};
use intent_gateway_domain::order::{Order, OrderId};
use intent_gateway_domain::receipt::QuotedOptions;
use intent_gateway_domain::store::StoreError;

/// Bookings of one batch, at most.
pub const BATCH_MAX: usize = 1_024;
/// Entries of one answer, at most, whatever the caller asks for.
pub const ENTRIES_READ_MAX: u32 = 1_000;
/// Findings of one booking, at most; what a contract finds beyond is not kept.
pub const FINDINGS_MAX: usize = 64;
/// Months of one answer, at most: a hundred years.
pub const MONTHS_READ_MAX: u32 = 1_200;
/// Bytes of each text of a posting; what a report may hold is below it.
const TEXT_MAX_BYTES: usize = 1_024;

/// A posting for a report, which every store can keep, and what was found in the report. The digest of the report's
/// content is part of the posting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    posting: Posting,
    findings: Vec<Finding>,
    closes: Option<OrderId>,
}

/// Why a posting is not a booking. None that [`post`](super::post) makes of a sound report is refused; it is checked all the
/// same, for what one engine cannot keep would take the rest of its batch with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbookable {
    /// A reversal is part of a [`Correction`].
    #[error("a reversal is not booked by itself")]
    Reversal,
    /// The legs are not those of its kind.
    #[error("the legs are not those of a charge or a memorandum")]
    Legs,
    /// The amount is none that a report may have.
    #[error("the amount is out of range")]
    Amount,
    /// A time is later than any clock tells.
    #[error("a time is out of range")]
    Time,
    /// A text is longer than any report's, or holds a NUL character.
    #[error("a text of the posting cannot be kept")]
    Text,
}

impl Booking {
    /// Checks that a posting can be kept. The findings are kept with it, the first [`FINDINGS_MAX`] of them.
    ///
    /// # Errors
    /// [`Unbookable`] says why not.
    pub fn new(posting: Posting, mut findings: Vec<Finding>) -> Result<Self, Unbookable> {
        let legs_fit = match (&posting.kind, posting.legs.as_slice()) {
            (EntryKind::Reversal { .. }, _) => return Err(Unbookable::Reversal),
            (EntryKind::Memorandum, legs) => legs.is_empty(),
            (
                EntryKind::Charge,
                [
                    Leg { account: Account::PartnerReceivable, amount: debit },
                    Leg { account: Account::CommissionRevenue, amount: credit },
                ],
            ) => debit.checked_add(*credit) == Some(Paise::ZERO),
            (EntryKind::Charge, _) => false,
        };
        if !legs_fit {
            return Err(Unbookable::Legs);
        }
        if !(Paise::ZERO..=AMOUNT_MAX).contains(&posting.amount) {
            return Err(Unbookable::Amount);
        }
        if [posting.posted_at_ms, posting.closed_at_ms].iter().any(|at| i64::try_from(at.as_ms()).is_err()) {
            return Err(Unbookable::Time);
        }
        let Posting { external_id, request_id, status, judged_by, .. } = &posting;
        let version = judged_by.version.to_string();
        let keepable = |text: &&String| text.len() <= TEXT_MAX_BYTES && !text.contains('\0');
        if ![external_id, request_id, status, &version].iter().all(keepable) {
            return Err(Unbookable::Text);
        }
        findings.truncate(FINDINGS_MAX);
        Ok(Self { posting, findings, closes: None })
    }

    /// The same, which closes an order. It conflicts where another report has closed that.
    #[must_use]
    pub fn closing(self, order: OrderId) -> Self {
        Self { closes: Some(order), ..self }
    }

    /// The order of the gateway's that it closes.
    #[must_use]
    pub fn closes(&self) -> Option<&OrderId> {
        self.closes.as_ref()
    }

    /// What is booked.
    #[must_use]
    pub fn posting(&self) -> &Posting {
        &self.posting
    }

    /// What is booked, to be linked into the ledger, and what was found, to be kept if it is the first for its order.
    #[must_use]
    pub fn into_parts(self) -> (Posting, Vec<Finding>) {
        (self.posting, self.findings)
    }

    /// What the partner calls the order that it is about.
    #[must_use]
    pub fn order(&self) -> ReportKey {
        self.posting.order()
    }
}

/// A report before it is judged: what has to be known of its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderQuery {
    pub order: ReportKey,
    /// The request that the order is said to come from.
    pub request_id: String,
}

/// What is known of an order.
#[derive(Clone, Debug, Default)]
pub struct KnownOrder {
    /// The entry that last booked it, whether or not it was taken back since.
    pub booked: Option<Entry>,
    /// What the partner's options were in the latest rankings of the request, newest first, at most
    /// [`RANKINGS_OF_REQUEST_MAX`](intent_gateway_domain::receipt::RANKINGS_OF_REQUEST_MAX). Empty where the report was booked or its
    /// order is known: it is not compared with them then.
    pub quoted: Vec<QuotedOptions>,
    /// The order that the gateway has seen opened, and that the report is about.
    pub ordered: Option<Box<ReportedOrder>>,
}

/// An order of the gateway's that a report is about.
#[derive(Clone, Debug)]
pub struct ReportedOrder {
    pub order: Order,
    /// The option that was ordered, where it is kept.
    pub option: Option<Box<RawValue>>,
    /// How it was found.
    pub found_by: FoundBy,
}

/// How a report's order was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The partner has called it so before.
    Identifier,
    /// By the request alone: the newest open order at the partner that was made under it, or of what was found under it.
    Request,
}

/// The outcome of a booking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Booked {
    /// It is in the ledger, durably.
    First(Entry),
    /// The same content was booked before, by this entry; nothing was added. What was corrected since is compared with
    /// the correction, and what was taken back is not booked again.
    Repeat(Entry),
    /// Other content was booked before under the same key, or another report has closed the order; it has this receipt, and
    /// nothing was added.
    Conflict(String),
}

/// A correction that is in the ledger, durably.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectedEntries {
    /// Takes the wrong entry back.
    pub reversal: Entry,
    /// Books what is right.
    pub replacement: Entry,
}

/// An entry as a store keeps it. A store may keep more than an entry says, which no link covers.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// Its place.
    pub number: u64,
    /// Its link; `None` where that cannot be read.
    pub link: Option<Link>,
    /// What it says; `None` where that cannot be read.
    pub entry: Option<Entry>,
    /// How many entries of its order come before it, as it is kept; `None` where the store does not keep that.
    pub turn: Option<u64>,
    /// Whether all that is kept is what is written for such an entry.
    pub is_as_written: bool,
}

impl From<Entry> for StoredEntry {
    fn from(entry: Entry) -> Self {
        let link = Link { hash: entry.hash, key: entry.key };
        Self { number: entry.number, link: Some(link), entry: Some(entry), turn: None, is_as_written: true }
    }
}

/// Where the ledger is kept.
pub trait Books: Deliveries + Send + Sync {
    /// Books a batch in one transaction, at most [`BATCH_MAX`] at once; one answer for each, in their order. Of several
    /// for one order the first in this order counts.
    fn book(&self, bookings: Vec<Booking>) -> BoxFuture<'_, Result<Vec<Booked>, StoreError>>;

    /// What is known of each order, in the order asked, at most [`BATCH_MAX`] at once. One that has just been booked by
    /// another gateway may not be known yet; [`book`](Self::book) decides.
    fn look_up(&self, asked: Vec<OrderQuery>) -> BoxFuture<'_, Result<Vec<KnownOrder>, StoreError>>;

    /// Takes an entry back, and books nothing in its place. `None`, and nothing is added, where that entry does not stand
    /// or is not as the reversal has it.
    fn take_back(&self, reversal: Posting) -> BoxFuture<'_, Result<Option<Entry>, StoreError>>;

    /// Takes an entry back and books what is right, in one transaction. `None`, and nothing is added, where that entry
    /// does not stand or is not as the reversal has it.
    fn correct(&self, correction: Correction) -> BoxFuture<'_, Result<Option<CorrectedEntries>, StoreError>>;

    /// The entry that stands for an order, if one does.
    fn find_standing<'a>(&'a self, order: &'a ReportKey) -> BoxFuture<'a, Result<Option<Entry>, StoreError>>;

    /// Entries after a number, in the order of the ledger, at most `limit` and [`ENTRIES_READ_MAX`].
    fn entries(&self, after: u64, limit: u32) -> BoxFuture<'_, Result<Vec<Entry>, StoreError>>;

    /// As [`entries`](Self::entries), for a verification: one that cannot be read is there, too. By default they are what
    /// [`entries`](Self::entries) gives, for a store that keeps nothing beside them.
    fn stored(&self, after: u64, limit: u32) -> BoxFuture<'_, Result<Vec<StoredEntry>, StoreError>> {
        let entries = self.entries(after, limit);
        Box::pin(async move {
            let entries = entries.await?;
            Ok::<_, StoreError>(entries.into_iter().map(StoredEntry::from).collect::<Vec<_>>())
        })
    }

    /// As [`entries`](Self::entries), of one partner and one month.
    fn entries_of<'a>(
        &'a self,
        partner: &'a PartnerId,
        month: Month,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// The months of which a partner has entries, latest first, at most [`MONTHS_READ_MAX`].
    fn months_of<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<Vec<Month>, StoreError>>;

    /// The balances of all accounts, as of one moment.
    fn trial_balance(&self) -> BoxFuture<'_, Result<TrialBalance, StoreError>>;

    /// The ledger from before its first entry on: with the keys that are at hand, and from where on links are under one.
    fn chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>>;

    /// Number and link of the last entry; zero and [`genesis`](super::genesis) when there is none.
    fn head(&self) -> BoxFuture<'_, Result<(u64, Digest), StoreError>>;
}

/// Why a desk gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DeskError {
    /// Too many wait; nothing was booked, and trying again later is in order.
    #[error("too many completion reports are waiting to be booked")]
    Full,
    /// The gateway is shutting down; nothing was booked.
    #[error("no more completion reports are taken: the gateway is shutting down")]
    Closed,
    /// The batch failed. Trying again is safe: what was booked all the same is not booked twice.
    #[error("completion reports could not be booked")]
    Store(#[source] Arc<StoreError>),
}

/// Hands reports one by one to [`Books`], which takes them in batches.
pub trait ReportDesk: Send + Sync {
    /// What is known of an order.
    fn look_up(&self, asked: OrderQuery) -> BoxFuture<'_, Result<KnownOrder, DeskError>>;

    /// Books. Once it was taken it is carried out, whether or not this is waited for.
    fn book(&self, booking: Booking) -> BoxFuture<'_, Result<Booked, DeskError>>;
}
