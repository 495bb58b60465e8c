//! A partner's statement of one month.

use serde::{Deserialize, Serialize};

use super::{Entry, EntryKind, Month, Posting};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate, Total};
use intent_gateway_domain::order::OrderId;

/// Lines of one statement.
pub(crate) const LINES_MAX: usize = 200_000;

/// One entry as the partner reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Number of the entry.
    pub number: u64,
    /// When it was booked, milliseconds since the epoch.
    pub posted_at_ms: Timestamp,
    /// When the order closed, milliseconds since the epoch.
    pub closed_at_ms: Timestamp,
    /// The intent of the order.
    pub intent: IntentId,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The request that the order came from.
    pub request_id: String,
    /// The reported status.
    pub status: String,
    /// What the entry is for.
    pub kind: EntryKind,
    /// The reported amount.
    #[serde(serialize_with = "Paise::serialize_inr")]
    pub amount_inr: Paise,
    /// The rate in force, basis points.
    pub rate_basis_points: Rate,
    /// The commission, below zero where it is taken back.
    #[serde(serialize_with = "Paise::serialize_inr")]
    pub commission_inr: Paise,
}

/// An order whose report was due in the month of a statement, and has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreportedLine {
    /// The gateway's identifier of the order.
    pub order: OrderId,
    /// The partner's, where its answers gave one.
    pub external_id: Option<String>,
    /// The intent of the order.
    pub intent: IntentId,
    /// When the report was due, milliseconds since the epoch.
    pub due_at_ms: Timestamp,
    /// The commission on it, at most; none where it is not known what the user pays.
    pub at_stake: Option<Paise>,
}

/// The totals of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = TotalsBody))]
pub struct Totals {
    /// Charges, those taken back included.
    pub charges: u64,
    /// Reports without commission, those taken back included.
    pub memoranda: u64,
    /// Entries taken back.
    pub reversals: u64,
    /// Sum of the amounts on which commission is due, after reversals.
    #[serde(with = "intent_gateway_domain::money::inr")]
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub charged_amount_inr: Total,
    /// The commission due, after reversals.
    #[serde(with = "intent_gateway_domain::money::inr")]
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub commission_inr: Total,
}

/// What a partner owes for the orders of one month.
///
/// The month is that in which the orders closed, by Indian Standard Time, so a report that comes late is added to the
/// month before; `posted_at_ms` of each line tells when it came. A reversal stands in the month of what it takes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    pub partner: PartnerId,
    pub month: Month,
    pub totals: Totals,
    /// One line for each entry, in the order of the ledger.
    pub lines: Vec<Line>,
}

/// Why there is no statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    /// It would have more lines than are drawn up at once.
    #[error("a statement has at most {LINES_MAX} lines")]
    TooManyLines,
    /// The legs of an entry do not add up to an amount.
    #[error("entry {0} is not sound")]
    Unsound(u64),
}

impl Totals {
    /// Adds an entry, for statements that are not held in memory.
    ///
    /// # Errors
    /// [`StatementError::Unsound`] when the entry's legs do not add up to an amount.
    pub fn take(&mut self, entry: &Entry) -> Result<(), StatementError> {
        let Posting { kind, legs, amount, .. } = &entry.posting;
        self.commission_inr += entry.posting.commission().ok_or(StatementError::Unsound(entry.number))?;
        let counted = match kind {
            EntryKind::Charge => &mut self.charges,
            EntryKind::Memorandum => &mut self.memoranda,
            EntryKind::Reversal { .. } => &mut self.reversals,
        };
        *counted += 1;
        // What has legs is a charge or takes one back; only then does its amount count.
        self.charged_amount_inr += match kind {
            _ if legs.is_empty() => Total::ZERO,
            EntryKind::Reversal { .. } => -Total::from(*amount),
            EntryKind::Charge | EntryKind::Memorandum => Total::from(*amount),
        };
        Ok(())
    }
}

impl Statement {
    /// Draws up the statement of a partner and a month out of entries in the order of the ledger; those of others are
    /// passed over.
    ///
    /// # Errors
    /// [`StatementError`] when it is too long or an entry is not sound.
    pub fn of<'a>(
        partner: &PartnerId,
        month: Month,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Self, StatementError> {
        let mut statement = Self { partner: partner.clone(), month, totals: Totals::default(), lines: Vec::new() };
        let belongs = |entry: &&Entry| entry.posting.partner == *partner && entry.posting.month == month;
        for entry in entries.into_iter().filter(belongs) {
            if statement.lines.len() == LINES_MAX {
                return Err(StatementError::TooManyLines);
            }
            statement.totals.take(entry)?;
            statement.lines.push(line(entry)?);
        }
        Ok(statement)
    }
}

fn line(entry: &Entry) -> Result<Line, StatementError> {
    let Entry { number, posting, .. } = entry;
    Ok(Line {
        number: *number,
        posted_at_ms: posting.posted_at_ms,
        closed_at_ms: posting.closed_at_ms,
        intent: posting.intent.clone(),
        external_id: posting.external_id.clone(),
        request_id: posting.request_id.clone(),
        status: posting.status.clone(),
        kind: posting.kind.clone(),
        amount_inr: posting.amount,
        rate_basis_points: posting.rate,
        commission_inr: posting.commission().ok_or(StatementError::Unsound(*number))?,
    })
}
