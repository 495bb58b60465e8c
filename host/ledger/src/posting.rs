//! What is booked: for a report, and for a correction.

use super::{Account, Entry, EntryKind, Judge, Leg, Month, Posting};
use crate::completion::Report;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::violations::longer_than;

/// Longest reason for a reversal, characters.
pub const REASON_MAX_CHARS: usize = 500;

/// What the contract and the listing agreement say of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedReport {
    /// Commission is due: the status is one of those that the contract charges.
    pub charged: bool,
    /// Which version judged.
    pub judged_by: Judge,
    /// By how many minutes the service began later than was quoted, as far as the report tells.
    pub late_minutes: Option<i32>,
    /// The rate of the listing agreement.
    pub rate: Rate,
}

/// Books a report that was accepted: a charge where commission is due, a memorandum otherwise.
#[must_use]
pub fn post(report: &Report, partner: &PartnerId, verdict: JudgedReport, posted_at: Timestamp) -> Posting {
    let JudgedReport { charged, judged_by, late_minutes, rate } = verdict;
    let amount = report.amounts.amount;
    let (kind, legs) =
        if charged { (EntryKind::Charge, charge_legs(amount, rate)) } else { (EntryKind::Memorandum, Vec::new()) };
    Posting {
        posted_at_ms: posted_at,
        partner: partner.clone(),
        intent: report.intent.clone(),
        external_id: report.external_id.clone(),
        request_id: report.request_id.clone(),
        status: report.status.clone(),
        closed_at_ms: report.closed_at,
        month: Month::of_order(report.closed_at, posted_at),
        amount,
        rate,
        judged_by,
        late_minutes,
        report: report.content,
        kind,
        legs,
    }
}

/// The two legs of a charge.
pub(super) fn charge_legs(amount: Paise, rate: Rate) -> Vec<Leg> {
    let commission = rate.commission(amount);
    vec![
        Leg { account: Account::PartnerReceivable, amount: commission },
        Leg { account: Account::CommissionRevenue, amount: Paise::new(-commission.get()) },
    ]
}

/// The same legs the other way round; `None` where an amount cannot be negated.
pub(super) fn negate(legs: &[Leg]) -> Option<Vec<Leg>> {
    legs.iter().map(|leg| Some(Leg { account: leg.account, amount: leg.amount.checked_neg()? })).collect()
}

/// What a correction books, in this order and in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// Takes the wrong entry back.
    pub reversal: Posting,
    /// Books what is right.
    pub replacement: Posting,
}

/// Why an entry cannot be corrected so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorrectionError {
    /// A reversal stands for good.
    #[error("entry {0} is a reversal, which is not taken back; book the order anew instead")]
    IsReversal(u64),
    /// No reason was given, or no sound one.
    #[error("a reason has 1 to {REASON_MAX_CHARS} characters and no control characters")]
    Reason,
    /// The replacement is about another order.
    #[error("the correction of entry {0} is about another order")]
    OtherOrder(u64),
    /// Its legs cannot be negated: it is not as it was booked.
    #[error("the legs of entry {0} are not sound")]
    Unsound(u64),
}

/// Takes an entry back, in the month that it counts in. That it was not taken back before is for the store to hold,
/// as it holds that an order is booked once.
///
/// # Errors
/// [`CorrectionError`], for a reversal and an unsound reason.
pub fn reverse(entry: &Entry, reason: &str, posted_at: Timestamp) -> Result<Posting, CorrectionError> {
    let Entry { number, posting, .. } = entry;
    if matches!(posting.kind, EntryKind::Reversal { .. }) {
        return Err(CorrectionError::IsReversal(*number));
    }
    if reason.trim().is_empty() || longer_than(reason, REASON_MAX_CHARS) || reason.chars().any(char::is_control) {
        return Err(CorrectionError::Reason);
    }
    Ok(Posting {
        posted_at_ms: posted_at,
        kind: EntryKind::Reversal { of: *number, reason: reason.to_owned() },
        legs: negate(&posting.legs).ok_or(CorrectionError::Unsound(*number))?,
        ..posting.clone()
    })
}

/// Takes an entry back and books what is right in its place.
///
/// # Errors
/// As [`reverse`], and [`CorrectionError::OtherOrder`] when the replacement has another partner, intent or `external_id`.
pub fn correct(entry: &Entry, replacement: Posting, reason: &str) -> Result<Correction, CorrectionError> {
    if replacement.order() != entry.posting.order() || matches!(replacement.kind, EntryKind::Reversal { .. }) {
        return Err(CorrectionError::OtherOrder(entry.number));
    }
    Ok(Correction { reversal: reverse(entry, reason, replacement.posted_at_ms)?, replacement })
}
