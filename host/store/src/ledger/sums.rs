//! Sums over the whole ledger, or all of it since a time: a stretch of entries at a time, so that no statement takes
//! long, and all stretches of one moment.

use std::collections::BTreeMap;

use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::delivered::Tally;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::Paise;
use intent_gateway_ledger::{Balances, MONTHS_READ_MAX, Month, TrialBalance};

use super::head;
use crate::chains;
use crate::engine::Tx;
use crate::error::EngineError;
use crate::records::{PAGE_MAX, SqlStore};
use crate::value::{Row, Value};

/// Entries summed by one statement. With no amount larger than the largest that is booked, a sum of so many fits into 64 bits.
const STRETCH: u64 = 10_000;

/// Hops from month to month, where listing the months of all entries would read every one of them.
const MONTHS: &str = "WITH RECURSIVE months (month) AS (SELECT MAX(month) FROM ledger WHERE partner = $1 UNION ALL \
                      SELECT (SELECT MAX(ledger.month) FROM ledger WHERE partner = $1 AND ledger.month < months.month) \
                      FROM months WHERE months.month IS NOT NULL) \
                      SELECT month FROM months WHERE month IS NOT NULL LIMIT $2";
/// Hops from partner to partner, likewise.
const PARTNERS_OF_MONTH: &str = "WITH RECURSIVE partners (partner) AS (SELECT MIN(partner) FROM ledger WHERE partner > $1 UNION ALL \
                                 SELECT (SELECT MIN(ledger.partner) FROM ledger WHERE ledger.partner > partners.partner) \
                                 FROM partners WHERE partners.partner IS NOT NULL) \
                                 SELECT partner FROM partners WHERE partner IS NOT NULL AND EXISTS \
                                 (SELECT 1 FROM ledger WHERE ledger.partner = partners.partner AND month = $2) LIMIT $3";
const BALANCES: &str = "SELECT partner, CAST(SUM(receivable) AS BIGINT), CAST(SUM(revenue) AS BIGINT) FROM ledger \
                        WHERE number > $1 AND number <= $2 GROUP BY partner";
const ANY_SINCE: &str = "SELECT number FROM ledger WHERE number > $1 AND number <= $2 AND posted_at_ms >= $3 LIMIT 1";
/// Of the entries that stand: bookings that no reversal refers to. The kinds are those that links cover.
const DELIVERED: &str = "SELECT partner, intent, status, COUNT(*), COUNT(late_minutes), \
                         CAST(COALESCE(SUM(late_minutes), 0) AS BIGINT) FROM ledger AS booking \
                         WHERE number > $1 AND number <= $2 AND posted_at_ms >= $3 AND kind < 2 AND NOT EXISTS \
                         (SELECT 1 FROM ledger AS reversal WHERE reversal.reverses > 0 AND reversal.kind >= 2 \
                         AND reversal.reverses = booking.number) GROUP BY partner, intent, status";

impl SqlStore {
    pub(super) async fn find_months(&self, partner: &PartnerId) -> Result<Vec<Month>, EngineError> {
        let rows = self.engine.query(MONTHS, vec![partner.as_str().into(), MONTHS_READ_MAX.into()]).await?;
        let month = |row: &Row| {
            row.text(0)?.parse().map_err(|error| EngineError::because("a month of the ledger cannot be read", error))
        };
        rows.iter().map(month).collect()
    }

    pub(super) async fn find_partners_of_month(
        &self,
        month: &str,
        after: Option<&PartnerId>,
        limit: u32,
    ) -> Result<Vec<PartnerId>, EngineError> {
        let after = after.map_or("", PartnerId::as_str);
        let values = vec![after.into(), month.into(), limit.min(PAGE_MAX).into()];
        self.engine.query(PARTNERS_OF_MONTH, values).await?.iter().map(partner).collect()
    }

    pub(super) async fn sum_balances(&self) -> Result<TrialBalance, EngineError> {
        let mut tx = self.engine.read().await?;
        let summed = balances(&mut tx).await;
        tx.rollback().await;
        summed
    }

    pub(super) async fn count_delivered(
        &self,
        partner: Option<&PartnerId>,
        since: Timestamp,
    ) -> Result<Vec<Tally>, EngineError> {
        let mut tx = self.engine.read().await?;
        let counted = sum_delivered(&mut tx, since).await;
        tx.rollback().await;
        let wanted = |tally: &Tally| partner.is_none_or(|partner| tally.partner == *partner);
        counted.map(|tallies| tallies.into_iter().filter(wanted).collect())
    }
}

async fn balances(tx: &mut Tx) -> Result<TrialBalance, EngineError> {
    let (last, _) = head(tx.query(chains::last(ChainName::Ledger), Vec::new()).await?.first())?;
    let mut sums: BTreeMap<PartnerId, Balances> = BTreeMap::new();
    let mut after = 0;
    while after < last {
        let until = last.min(after + STRETCH);
        for row in tx.query(BALANCES, vec![Value::number(after)?, Value::number(until)?]).await? {
            let sum = sums.entry(partner(&row)?).or_default();
            sum.partner_receivable += Paise::new(row.integer(1)?);
            sum.commission_revenue += Paise::new(row.integer(2)?);
        }
        after = until;
    }
    Ok(sums.into_iter().collect())
}

/// From the latest stretch back to the first in which nothing was posted since. Entries are in the order in which they
/// were posted, but for a moment, and for the difference of two gateways' clocks.
async fn sum_delivered(tx: &mut Tx, since: Timestamp) -> Result<Vec<Tally>, EngineError> {
    let Ok(since) = Value::time(since) else { return Ok(Vec::new()) };
    let (mut until, _) = head(tx.query(chains::last(ChainName::Ledger), Vec::new()).await?.first())?;
    let mut tallies: BTreeMap<(PartnerId, IntentId, String), Tally> = BTreeMap::new();
    while until > 0 {
        let after = until.saturating_sub(STRETCH);
        let values = || Ok::<_, EngineError>(vec![Value::number(after)?, Value::number(until)?, since.clone()]);
        if tx.query(ANY_SINCE, values()?).await?.is_empty() {
            break;
        }
        for row in tx.query(DELIVERED, values()?).await? {
            let (partner, intent, status) = (partner(&row)?, intent(&row)?, row.text(2)?);
            let key = (partner.clone(), intent.clone(), status.clone());
            let none = Tally { partner, intent, status, reports: 0, timed: 0, late_minutes: 0 };
            let tally = tallies.entry(key).or_insert(none);
            tally.reports += row.number(3)?;
            tally.timed += row.number(4)?;
            tally.late_minutes = tally.late_minutes.saturating_add(row.integer(5)?);
        }
        until = after;
    }
    Ok(tallies.into_values().collect())
}

fn partner(row: &Row) -> Result<PartnerId, EngineError> {
    PartnerId::parse(&row.text(0)?)
        .map_err(|error| EngineError::because("a partner of the ledger cannot be read", error))
}

fn intent(row: &Row) -> Result<IntentId, EngineError> {
    IntentId::parse(&row.text(1)?)
        .map_err(|error| EngineError::because("an intent of the ledger cannot be read", error))
}
