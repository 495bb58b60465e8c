//! Statements, page by page: the totals first, then the lines up to the entry that the totals go to.
//!
//! A partner's month may have a great many entries, so no statement is held in memory as a whole. Entries that are
//! booked while the lines are read are not in them, and lines and totals agree.

use super::{Bookkeeping, BookkeepingError};
use crate::{Books, ENTRIES_READ_MAX, Line, Month, Statement, Totals, UnreportedLine};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::order::{Order, name};
use intent_gateway_domain::store::{Named, Store, named};

/// What stands above the lines of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    pub partner: PartnerId,
    /// Its business name, where it has an account.
    pub business_name: Option<String>,
    pub month: Month,
    /// The totals of the lines.
    pub totals: Totals,
    /// Number of the last entry that they hold; 0 where there is none.
    pub last: u64,
    /// Orders whose reports were due in the month and have not come, at most [`UNREPORTED_MAX`]. They are in no total.
    pub unreported: Vec<UnreportedLine>,
}

/// Orders of one statement that are listed as not reported.
pub const UNREPORTED_MAX: u32 = 1_000;

/// Adds a statement up.
///
/// # Errors
/// [`BookkeepingError::Statement`] and [`BookkeepingError::Store`].
pub async fn outline(books: &dyn Books, partner: &PartnerId, month: Month) -> Result<Outline, BookkeepingError> {
    let (mut totals, mut last) = (Totals::default(), 0);
    // Each page is after the one before, so this ends where the month's entries do.
    loop {
        let page = books.entries_of(partner, month, last, ENTRIES_READ_MAX).await?;
        let Some(newest) = page.last() else { break };
        last = newest.number;
        page.iter().try_for_each(|entry| totals.take(entry))?;
    }
    Ok(Outline { partner: partner.clone(), business_name: None, month, totals, last, unreported: Vec::new() })
}

/// What of a partner's orders was to be reported in a month and was not.
///
/// # Errors
/// [`BookkeepingError::Store`].
pub async fn unreported(
    store: &dyn Store,
    partner: &PartnerId,
    month: Month,
) -> Result<Vec<UnreportedLine>, BookkeepingError> {
    let name = name::of_overdue(partner);
    let orders = named::<Order>(store, Named { name: &name, before: None, limit: UNREPORTED_MAX }).await?;
    let line = |order: Order| {
        let noted = order.overdue.as_ref().filter(|noted| order.is_overdue() && Month::at(noted.due_at_ms) == month)?;
        Some(UnreportedLine {
            external_id: order.identifiers.first().cloned(),
            due_at_ms: noted.due_at_ms,
            at_stake: noted.at_stake,
            intent: order.intent,
            order: order.id,
        })
    };
    Ok(orders.into_iter().filter_map(|kept| line(kept.value)).collect())
}

/// The next lines of a statement, after the entry of this number, at most [`ENTRIES_READ_MAX`]; none when all have been
/// read.
///
/// # Errors
/// As [`outline`].
pub async fn lines(books: &dyn Books, outline: &Outline, after: u64) -> Result<Vec<Line>, BookkeepingError> {
    let Outline { partner, month, last, .. } = outline;
    if after >= *last {
        return Ok(Vec::new());
    }
    let page = books.entries_of(partner, *month, after, ENTRIES_READ_MAX).await?;
    let counted = page.iter().take_while(|entry| entry.number <= *last);
    Ok(Statement::of(partner, *month, counted)?.lines)
}

impl Bookkeeping {
    /// As [`outline`], with the partner's name.
    ///
    /// # Errors
    /// As [`outline`], and [`BookkeepingError::UnknownPartner`].
    pub async fn statement(&self, partner: &PartnerId, month: Month) -> Result<Outline, BookkeepingError> {
        let business_name = self.names.business_name(partner).await?;
        let unreported = unreported(&*self.store, partner, month).await?;
        let outline = Outline { business_name, unreported, ..outline(&*self.books, partner, month).await? };
        // Reports may be there of a partner that is configured and has no account.
        let is_empty = outline.last == 0 && outline.unreported.is_empty();
        if outline.business_name.is_none() && is_empty && self.books.months_of(partner).await?.is_empty() {
            return Err(BookkeepingError::UnknownPartner);
        }
        Ok(outline)
    }

    /// The months of which a partner has a statement with lines, latest first.
    ///
    /// # Errors
    /// [`BookkeepingError::UnknownPartner`] and [`BookkeepingError::Store`].
    pub async fn months(&self, partner: &PartnerId) -> Result<Vec<Month>, BookkeepingError> {
        let months = self.books.months_of(partner).await?;
        if months.is_empty() && self.names.business_name(partner).await?.is_none() {
            return Err(BookkeepingError::UnknownPartner);
        }
        Ok(months)
    }
}
