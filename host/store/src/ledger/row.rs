//! How an entry becomes a row, and a row an entry.

use intent_gateway_domain::chain::{Link, Linked as _};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_ledger::{Account, Entry, EntryKind, Judge, Leg, Posting, StoredEntry};

use crate::chains;
use crate::error::{Cause, EngineError};
use crate::value::{Row, Value};

/// The columns of an entry, in the order in which [`entry`] reads them and [`values`] gives them.
macro_rules! columns {
    () => {
        "number, turn, posted_at_ms, closed_at_ms, partner, intent, external_id, request_id, status, month, amount, \
         rate, judge, stand_in, late_minutes, report, kind, receivable, revenue, reverses, reason, hash"
    };
}
pub(super) use columns;

/// How many they are.
pub(super) const WIDTH: usize = 22;

/// What the column `kind` holds.
const MEMORANDUM: i64 = 0;
const CHARGE: i64 = 1;
const REVERSAL_OF_MEMORANDUM: i64 = 2;
const REVERSAL_OF_CHARGE: i64 = 3;

/// An entry as a row; `turn` is how many entries of its order come before it.
pub(super) fn values(entry: &Entry, turn: u64) -> Result<Vec<Value>, EngineError> {
    let Entry { number, posting, .. } = entry;
    let (receivable, revenue, has_legs) = match posting.legs.as_slice() {
        [] => (Paise::ZERO, Paise::ZERO, false),
        [
            Leg { account: Account::PartnerReceivable, amount: receivable },
            Leg { account: Account::CommissionRevenue, amount: revenue },
        ] => (*receivable, *revenue, true),
        _ => return Err(EngineError::failed("an entry has other legs than the ledger keeps")),
    };
    let (kind, reverses, reason) = match (&posting.kind, has_legs) {
        (EntryKind::Memorandum, false) => (MEMORANDUM, 0, ""),
        (EntryKind::Charge, true) => (CHARGE, 0, ""),
        (EntryKind::Reversal { of, reason }, false) => (REVERSAL_OF_MEMORANDUM, *of, reason.as_str()),
        (EntryKind::Reversal { of, reason }, true) => (REVERSAL_OF_CHARGE, *of, reason.as_str()),
        _ => return Err(EngineError::failed("an entry has other legs than its kind")),
    };
    let Judge { version, stand_in } = &posting.judged_by;
    Ok(vec![
        Value::number(*number)?,
        Value::number(turn)?,
        Value::time(posting.posted_at_ms)?,
        Value::time(posting.closed_at_ms)?,
        posting.partner.as_str().into(),
        posting.intent.as_str().into(),
        posting.external_id.as_str().into(),
        posting.request_id.as_str().into(),
        posting.status.as_str().into(),
        posting.month.to_string().into(),
        posting.amount.get().into(),
        i64::from(posting.rate.basis_points()).into(),
        version.to_string().into(),
        i64::from(*stand_in).into(),
        Value::Integer(posting.late_minutes.map(i64::from)),
        posting.report.to_string().into(),
        kind.into(),
        receivable.get().into(),
        revenue.get().into(),
        Value::number(reverses)?,
        reason.into(),
        entry.link().to_string().into(),
    ])
}

/// An entry out of its row.
pub(super) fn entry(row: &Row) -> Result<Entry, EngineError> {
    let unreadable = |error: Cause| EngineError::because("an entry of the ledger cannot be read", error);
    let legs = [(Account::PartnerReceivable, 17), (Account::CommissionRevenue, 18)];
    let legs = legs.map(|(account, column)| Ok(Leg { account, amount: Paise::new(row.integer(column)?) }));
    let legs = || legs.into_iter().collect::<Result<Vec<_>, EngineError>>();
    let reversal = || Ok::<_, EngineError>(EntryKind::Reversal { of: row.number(19)?, reason: row.text(20)? });
    let (kind, legs) = match row.integer(16)? {
        // One that has amounts all the same was tampered with: they are shown, so that its link does not fit.
        MEMORANDUM => (EntryKind::Memorandum, amounts(legs()?)),
        CHARGE => (EntryKind::Charge, legs()?),
        REVERSAL_OF_MEMORANDUM => (reversal()?, amounts(legs()?)),
        REVERSAL_OF_CHARGE => (reversal()?, legs()?),
        _ => return Err(EngineError::failed("an entry of the ledger is of no known kind")),
    };
    let rate = u16::try_from(row.number(11)?).map_err(|error| unreadable(error.into()))?;
    let posting = Posting {
        posted_at_ms: row.time(2)?,
        closed_at_ms: row.time(3)?,
        partner: PartnerId::parse(&row.text(4)?).map_err(|error| unreadable(error.into()))?,
        intent: IntentId::parse(&row.text(5)?).map_err(|error| unreadable(error.into()))?,
        external_id: row.text(6)?,
        request_id: row.text(7)?,
        status: row.text(8)?,
        month: row
            .text(9)?
            .parse()
            .map_err(|error| EngineError::because("a month of the ledger cannot be read", error))?,
        amount: Paise::new(row.integer(10)?),
        rate: Rate::try_from(rate).map_err(|error| unreadable(error.into()))?,
        judged_by: Judge {
            version: row.text(12)?.parse().map_err(|error| EngineError::because("a version cannot be read", error))?,
            stand_in: row.number(13)? != 0,
        },
        late_minutes: minutes(row.optional_integer(14)?)?,
        report: digest(&row.text(15)?)?,
        kind,
        legs,
    };
    let Link { hash, key } = chains::parse(&row.text(21)?)?;
    Ok(Entry { number: row.number(0)?, posting, hash, key })
}

/// An entry as its row has it, for a verification.
///
/// # Errors
/// [`EngineError`] when even its number cannot be read.
pub(super) fn stored(row: &Row) -> Result<StoredEntry, EngineError> {
    let (number, turn) = (row.number(0)?, turn(row).ok());
    let link = row.text(21).and_then(|text| chains::parse(&text)).ok();
    let entry = match entry(row) {
        Ok(entry) => Some(entry),
        Err(error) => {
            // No louder: there may be as many as there are entries, and the verification names them.
            tracing::debug!(number, error = &error as &dyn std::error::Error, "an entry of the ledger cannot be read");
            None
        }
    };
    let is_as_written = match (&entry, turn) {
        (Some(entry), Some(turn)) => is_as_written(row, entry, turn),
        _ => false,
    };
    Ok(StoredEntry { number, link, entry, turn, is_as_written })
}

/// Whether each column holds what [`values`] gives for the entry, those included that no link covers.
fn is_as_written(row: &Row, entry: &Entry, turn: u64) -> bool {
    // Nothing is written for an entry whose legs are not those of its kind; a verification tells of these by themselves.
    let Ok(values) = values(entry, turn) else { return true };
    values.iter().zip(&row.0).all(|(written, kept)| match (written, kept) {
        // What is missing in a row is missing text.
        (Value::Integer(None), Value::Text(None)) => true,
        _ => written == kept,
    })
}

/// The legs, if any of them is of an amount.
fn amounts(legs: Vec<Leg>) -> Vec<Leg> {
    if legs.iter().all(|leg| leg.amount == Paise::ZERO) { Vec::new() } else { legs }
}

fn minutes(number: Option<i64>) -> Result<Option<i32>, EngineError> {
    let minutes = number.map(i32::try_from).transpose();
    minutes.map_err(|error| EngineError::because("a lateness of the ledger cannot be read", error))
}

/// How many entries of its order come before that of a row.
pub(super) fn turn(row: &Row) -> Result<u64, EngineError> {
    row.number(1)
}

/// A digest of a report.
fn digest(text: &str) -> Result<Digest, EngineError> {
    text.parse().map_err(|error| EngineError::because("a digest of the ledger cannot be read", error))
}
