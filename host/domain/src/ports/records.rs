//! What is kept of searches, of findings and of faults.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::faults::{FaultNote, FaultQuery, KeptFault};
use crate::findings::{Finding, FindingQuery, FindingsAbout, KeptFinding, RuleCount};
use crate::growth::Shed;
use crate::id::{IntentId, PartnerId};
use crate::receipt::{KeptReceipt, Receipt, ReceiptsBack};
use crate::store::StoreError;
use crate::user::User;
use crate::vault::Sealed;

/// Records what searches show of partners, and what was ranked.
///
/// It is kept a moment later, for no search waits for the disk: a crash may cost the last moment's. Findings of completion
/// reports do not go this way: they are kept together with the entry in the ledger (see
/// `Booking`).
pub trait Journal: Send + Sync {
    /// Records a finding. Never waits; when more come than can be kept, some are counted and lost.
    fn record(&self, finding: Finding);

    /// Records a receipt, likewise, under a mark of the user who asked. Who hands it in may hold it as well.
    fn keep_shared(&self, receipt: Arc<Receipt>, user: Option<&User>);

    /// The same for a receipt that nobody else holds.
    fn keep(&self, receipt: Receipt, user: Option<&User>) {
        self.keep_shared(Arc::new(receipt), user);
    }

    /// What becomes of a receipt that is recorded now.
    fn receipt_fate(&self) -> ReceiptFate {
        ReceiptFate::KeptSoon
    }

    /// Whether, within this long before now, receipts came late or the store took none: what was recorded before may still
    /// be on its way.
    fn was_late_within(&self, _span: Duration) -> bool {
        false
    }

    /// What is not kept at the moment, since the disk is nearly full.
    fn is_shedding(&self) -> Shed {
        Shed::Nothing
    }

    /// Is ready when all that was recorded before is kept, or lost: true. False where the store has taken nothing for as long as
    /// somebody waits for an answer.
    fn settle(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(true))
    }
}

/// What is expected to become of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptFate {
    /// It is kept within moments.
    KeptSoon,
    /// It is kept, but may come later than a booking waits for it: more comes than the store takes at once.
    KeptLate,
    /// It may never be kept: the store takes nothing, or is short of room.
    Doubtful,
}

/// What is kept of findings and rankings.
pub trait Evidence: Send + Sync {
    /// The findings against a partner that are asked for, newest first.
    fn findings<'a>(&'a self, query: FindingQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>>;

    /// The findings about an order, newest first, among the latest
    /// [`LOOKED_THROUGH_MAX`](crate::findings::LOOKED_THROUGH_MAX) against its partner.
    fn findings_about<'a>(&'a self, about: FindingsAbout<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>>;

    /// How often a partner has broken each rule on each day since a time, the latest day first; at most
    /// [`COUNTS_MAX`](crate::findings::COUNTS_MAX) rows.
    fn counts<'a>(
        &'a self,
        partner: &'a PartnerId,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<RuleCount>, StoreError>>;

    /// The findings that are strikes, against all partners, in order of their number: those with a number above `after`
    /// that were found at `since` or later, at most `limit`. Of two, the one kept first has the lower number and is
    /// seen first, whichever process has kept it: whoever remembers the last number misses none.
    fn strikes(&self, after: u64, since: Timestamp, limit: u32) -> BoxFuture<'_, Result<Vec<KeptFinding>, StoreError>>;

    /// A receipt by its identifier, or that it is erased.
    fn receipt<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<KeptReceipt>, StoreError>>;

    /// One option as a partner gave it to a ranking; none where it is not kept (any more), or was not shown.
    fn option<'a>(
        &'a self,
        receipt: &'a str,
        partner: &'a PartnerId,
        number: u32,
    ) -> BoxFuture<'a, Result<Option<Box<RawValue>>, StoreError>> {
        Box::pin(async move {
            let receipt = self.receipt(receipt).await?.and_then(KeptReceipt::whole);
            Ok(receipt.and_then(|receipt| receipt.shown_option(partner, number).map(ToOwned::to_owned)))
        })
    }

    /// Identifiers of an intent's latest receipts, newest first, at most `limit`. Looked for among the latest
    /// [`RECEIPTS_LOOKED_THROUGH_MAX`](crate::receipt::RECEIPTS_LOOKED_THROUGH_MAX) of all intents.
    fn recent_receipts<'a>(
        &'a self,
        intent: &'a IntentId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;

    /// Identifiers of the receipts of a request, newest first, at most `limit`.
    fn receipts_of<'a>(&'a self, request_id: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;

    /// An intent's receipts since a time, from `before` back, the one that was kept last first: a page of a few, or of none though
    /// others follow. Erased ones are left out, and so are those that cannot be read, which the log tells.
    fn receipts_back<'a>(
        &'a self,
        intent: &'a IntentId,
        since: Timestamp,
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<ReceiptsBack, StoreError>>;

    /// Forgets findings and receipts from before a time; how many there were.
    fn forget(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// Records faults of contracts.
pub trait FaultLog: Send + Sync {
    /// Records a fault. Never waits; of a burst the first of each kind is kept, and the others are counted
    /// (see [`BURST_MS`](crate::faults::BURST_MS)).
    fn note(&self, fault: FaultNote<'_>);
}

/// A fault with its input, where that is kept.
pub type SealedFault = (KeptFault, Option<Sealed>);

/// What is kept of faults of contracts.
pub trait Faults: Send + Sync {
    /// The faults that are asked for, newest first.
    fn faults<'a>(&'a self, query: FaultQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFault>, StoreError>>;

    /// A fault by its number, with its input where that is kept.
    fn fault(&self, number: u64) -> BoxFuture<'_, Result<Option<SealedFault>, StoreError>>;

    /// Forgets faults from before a time; how many there were.
    fn forget_faults(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;
}
