//! Puts wrong entries right, by entries: nothing that is booked is ever changed.
//!
//! Who ordered it and why is in the audit log before the ledger changes, in a transaction of its own. After a crash
//! between the two the log has an order that the ledger does not show: it was not carried out, and asking again is safe,
//! for an entry is taken back once. The reason is in the reversal as well.

use serde_json::{Value, json};

use super::{Bookkeeping, BookkeepingError};
use crate::completion::{Amounts, Report};
use crate::{
    CorrectedEntries, CorrectionError, ENTRIES_READ_MAX, Entry, EntryKind, Judge, JudgedReport, Posting,
    REASON_MAX_CHARS, StoredEntry, correct, post, reverse,
};
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::money::{AMOUNT_MAX, Paise};
use intent_gateway_domain::store::{Change, StoreError};
use intent_gateway_domain::violations::{code, quote};

/// The correction would book what is booked.
const UNCHANGED: &str = "UNCHANGED";

/// What is to be booked in place of what was reported. The rate stays: it is the listing agreement's, not the report's.
/// So do the order and when it closed; a report of another order is another report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendment {
    /// The right amount.
    pub amount: Option<Paise>,
    /// The right status. Whether commission is due on it is for the live contract to say.
    pub status: Option<String>,
}

impl Bookkeeping {
    /// One entry.
    ///
    /// # Errors
    /// [`BookkeepingError::UnknownEntry`], and [`BookkeepingError::Unsound`] where it cannot be read.
    pub async fn entry(&self, number: u64) -> Result<Entry, BookkeepingError> {
        self.stored(number).await?.entry.ok_or(BookkeepingError::Unsound(number))
    }

    /// One entry that is to be taken back: as it was written, for a reversal repeats it.
    async fn entry_as_written(&self, number: u64) -> Result<Entry, BookkeepingError> {
        let StoredEntry { entry, is_as_written, .. } = self.stored(number).await?;
        entry.filter(|_| is_as_written).ok_or(BookkeepingError::Unsound(number))
    }

    async fn stored(&self, number: u64) -> Result<StoredEntry, BookkeepingError> {
        let unknown = BookkeepingError::UnknownEntry(number);
        // Stores keep numbers as signed ones.
        let Some(before) = number.checked_sub(1).filter(|_| i64::try_from(number).is_ok()) else {
            return Err(unknown);
        };
        let found = self.books.stored(before, 1).await?.pop();
        found.filter(|stored| stored.number == number).ok_or(unknown)
    }

    /// The entry that took this one back; `None` while it stands, and for a reversal.
    ///
    /// # Errors
    /// [`BookkeepingError::NotStanding`] where it does not stand and nothing took it back: the ledger is not sound then.
    pub async fn taken_back_by(&self, entry: &Entry) -> Result<Option<u64>, BookkeepingError> {
        if matches!(entry.posting.kind, EntryKind::Reversal { .. }) || self.stands(entry).await? {
            return Ok(None);
        }
        let reversal = self.reversal_of(entry).await?;
        reversal.map(Some).ok_or(BookkeepingError::NotStanding { entry: entry.number, reversal: None })
    }

    /// Takes an entry back and books nothing in its place. The order is not booked again, however often its report comes.
    ///
    /// # Errors
    /// [`BookkeepingError`].
    pub async fn take_back(&self, number: u64, reason: &str, actor: &Actor) -> Result<Entry, BookkeepingError> {
        let entry = self.entry_as_written(number).await?;
        let reversal = reverse(&entry, reason, self.clock.now()).map_err(refuse)?;
        self.require_standing(&entry).await?;
        self.record("ledger.reversal_ordered", &entry, actor, json!({"entry": number, "reason": reason})).await?;
        match self.books.take_back(reversal).await? {
            Some(reversal) => Ok(reversal),
            None => Err(self.not_standing(&entry).await?),
        }
    }

    /// Takes an entry back and books what is right in its place, in one transaction.
    ///
    /// The replacement keeps the digest of the report: the same report is still a repeat, and gets the receipt of the
    /// replacement.
    ///
    /// # Errors
    /// [`BookkeepingError`].
    pub async fn amend(
        &self,
        number: u64,
        amendment: &Amendment,
        reason: &str,
        actor: &Actor,
    ) -> Result<CorrectedEntries, BookkeepingError> {
        let entry = self.entry_as_written(number).await?;
        let replacement = self.replacement(&entry, amendment)?;
        let correction = correct(&entry, replacement, reason).map_err(refuse)?;
        self.require_standing(&entry).await?;
        let Posting { amount, status, .. } = &correction.replacement;
        let detail = json!({"entry": number, "reason": reason, "amount_inr": amount.to_string(), "status": status});
        self.record("ledger.correction_ordered", &entry, actor, detail).await?;
        match self.books.correct(correction).await? {
            Some(corrected) => Ok(corrected),
            None => Err(self.not_standing(&entry).await?),
        }
    }

    /// What is right, as the report would have been booked.
    fn replacement(&self, entry: &Entry, amendment: &Amendment) -> Result<Posting, BookkeepingError> {
        let Entry { number, posting, .. } = entry;
        if matches!(posting.kind, EntryKind::Reversal { .. }) {
            return Err(BookkeepingError::IsReversal(*number));
        }
        let Amendment { amount, status } = amendment;
        let amount = amount.unwrap_or(posting.amount);
        if !(Paise::ZERO..=AMOUNT_MAX).contains(&amount) {
            let message = format!("expected 0 to {AMOUNT_MAX}, found {amount}");
            return Err(BookkeepingError::invalid("/amount_inr", code::OUT_OF_RANGE, message));
        }
        let status = status.as_ref().unwrap_or(&posting.status);
        if (amount, status) == (posting.amount, &posting.status) {
            let message = format!("entry {number} has this amount and this status; one of them is to be another");
            return Err(BookkeepingError::invalid("", UNCHANGED, message));
        }
        let (charged, judged_by) = self.judge(posting, status)?;
        let Posting { late_minutes, rate, .. } = *posting;
        let report = Report {
            intent: posting.intent.clone(),
            external_id: posting.external_id.clone(),
            request_id: posting.request_id.clone(),
            amounts: Amounts { amount, ..Amounts::default() },
            closed_at: posting.closed_at_ms,
            status: status.clone(),
            content: posting.report,
        };
        let verdict = JudgedReport { charged, judged_by, late_minutes, rate };
        Ok(post(&report, &posting.partner, verdict, self.clock.now()))
    }

    /// Whether commission is due on a status, and by whose word: by the entry's own judge while the status stays, by the
    /// live contract otherwise.
    fn judge(&self, posting: &Posting, status: &str) -> Result<(bool, Judge), BookkeepingError> {
        if status == posting.status {
            return Ok((posting.kind == EntryKind::Charge, posting.judged_by.clone()));
        }
        let intent = posting.intent.as_str();
        let contract = self.contracts.live(intent);
        let contract = contract.ok_or_else(|| BookkeepingError::UnknownIntent(intent.to_owned()))?;
        let descriptor = contract.descriptor();
        let lists = |statuses: &[String]| statuses.iter().any(|listed| listed == status);
        if !lists(&descriptor.completion.statuses) {
            let known = descriptor.completion.statuses.join(", ");
            let message = format!("expected one of {known}; found {}", quote(status));
            return Err(BookkeepingError::invalid("/status", code::NOT_IN_VOCABULARY, message));
        }
        let same = descriptor.version == posting.judged_by.version;
        let stand_in = !same || posting.judged_by.stand_in;
        let judged_by = Judge { version: descriptor.version.clone(), stand_in };
        Ok((lists(&descriptor.completion.charged_statuses), judged_by))
    }

    async fn stands(&self, entry: &Entry) -> Result<bool, StoreError> {
        let standing = self.books.find_standing(&entry.posting.order()).await?;
        Ok(standing.is_some_and(|standing| standing.number == entry.number))
    }

    async fn require_standing(&self, entry: &Entry) -> Result<(), BookkeepingError> {
        if self.stands(entry).await? { Ok(()) } else { Err(self.not_standing(entry).await?) }
    }

    async fn not_standing(&self, entry: &Entry) -> Result<BookkeepingError, StoreError> {
        Ok(BookkeepingError::NotStanding { entry: entry.number, reversal: self.reversal_of(entry).await? })
    }

    /// Looks through what the partner's month has after the entry: there a reversal stands.
    async fn reversal_of(&self, entry: &Entry) -> Result<Option<u64>, StoreError> {
        let Posting { partner, month, .. } = &entry.posting;
        let reverses =
            |later: &&Entry| matches!(later.posting.kind, EntryKind::Reversal { of, .. } if of == entry.number);
        let mut after = entry.number;
        // Each page is after the one before, so this ends where the month's entries do.
        loop {
            let page = self.books.entries_of(partner, *month, after, ENTRIES_READ_MAX).await?;
            if let Some(reversal) = page.iter().find(reverses) {
                return Ok(Some(reversal.number));
            }
            match page.last() {
                Some(last) => after = last.number,
                None => return Ok(None),
            }
        }
    }

    async fn record(&self, action: &str, entry: &Entry, actor: &Actor, detail: Value) -> Result<(), StoreError> {
        let draft = AuditDraft {
            at_ms: self.clock.now(),
            actor: actor.clone(),
            action: action.to_owned(),
            subject: entry.posting.partner.to_string(),
            detail,
        };
        self.store.commit(Change { audit: vec![draft], ..Change::default() }).await.map(drop)
    }
}

fn refuse(error: CorrectionError) -> BookkeepingError {
    match error {
        CorrectionError::IsReversal(number) => BookkeepingError::IsReversal(number),
        CorrectionError::Reason => {
            let message = format!("expected 1 to {REASON_MAX_CHARS} characters, and no control characters");
            BookkeepingError::invalid("/reason", code::BAD_FORMAT, message)
        }
        // A replacement is made out of the entry's own order.
        CorrectionError::OtherOrder(number) | CorrectionError::Unsound(number) => BookkeepingError::Unsound(number),
    }
}
