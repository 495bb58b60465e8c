//! Feeds of changes: which records of a feed were changed after a change of a given number. A record stands there once, at its
//! latest change, so that a feed is as long as it has records.
//!
//! All numbers come from one counter, which is moved in the transaction that changes the record. No reader ever sees a number
//! before a smaller one, and so none misses a change when it asks on with the greatest that it has seen. That holds because
//! both engines have one writer at a time, over all processes (`engine`): a number is taken under the lock of all writers, and
//! the next writer gets the lock when the transaction of the one before is over and visible. SQLite takes the lock with
//! `BEGIN IMMEDIATE`; PostgreSQL lets go of an advisory lock of a transaction after its rows have become visible, and who reads
//! sees the state of one moment. A record that is changed again while a reader turns pages moves on to a greater number: it is
//! read later, and never left out.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{Changed, ChangedDocument, Kind};

use crate::engine::{Engine, Session, Tx};
use crate::error::EngineError;
use crate::postgres::PostgresTx;
use crate::records::PAGE_MAX;
use crate::sqlite::Batch;
use crate::tables;
use crate::value::{Column, Row, Value};

/// Numbers between two milliseconds, for feeds that begin anew: more than any store makes changes.
const NUMBERS_OF_A_MS: i64 = 1_000_000;

/// The table of what stands in feeds, and its column with the number.
pub(crate) const TABLE: &str = "record_changes";
const NUMBER_COLUMN: usize = 3;

const COUNT: &str = "UPDATE counters SET value = value + 1 WHERE name = 'record_changes'";
const TELL: &str = "INSERT INTO record_changes (kind, key, feed, number) \
                    SELECT $1, $2, $3, value FROM counters WHERE name = 'record_changes' \
                    ON CONFLICT (kind, key) DO UPDATE SET feed = excluded.feed, number = excluded.number";
const TELL_MANY: &str = "WITH counter AS (UPDATE counters SET value = value + cardinality($1) \
                         WHERE name = 'record_changes' RETURNING value - cardinality($1) AS taken) \
                         INSERT INTO record_changes (kind, key, feed, number) \
                         SELECT the_kind, the_key, the_feed, taken + place \
                         FROM counter CROSS JOIN UNNEST($1, $2, $3) WITH ORDINALITY \
                         AS told (the_kind, the_key, the_feed, place) \
                         ON CONFLICT (kind, key) DO UPDATE SET feed = excluded.feed, number = excluded.number \
                         RETURNING number";
const FORGET: &str = "DELETE FROM record_changes WHERE kind = $1 AND key = $2";
const RECOUNT: &str = "UPDATE counters SET value = $1 WHERE name = 'record_changes'";

/// Puts a record at the end of its feed.
pub(crate) async fn tell(tx: &mut impl Session, kind: Kind, key: String, feed: String) -> Result<(), EngineError> {
    let counted = tx.execute(COUNT, Vec::new()).await?;
    tx.execute(TELL, vec![kind.name().into(), key.into(), feed.into()]).await?;
    require_counter(counted)
}

/// The same within a job of SQLite's writer.
pub(crate) fn tell_on_sqlite(tx: &Batch<'_>, kind: Kind, key: &str, feed: &str) -> Result<(), EngineError> {
    let counted = tx.execute(COUNT, [])?;
    tx.execute(TELL, &[kind.name().into(), key.into(), feed.into()])?;
    require_counter(u64::from(counted > 0))
}

/// The same for many records, each with its feed, in one round trip. No record comes twice.
pub(crate) async fn tell_on_postgres(
    tx: &mut PostgresTx,
    kind: Kind,
    told: Vec<(String, String)>,
) -> Result<(), EngineError> {
    if told.is_empty() {
        return Ok(());
    }
    let rows = told.into_iter().map(|(key, feed)| vec![kind.name().into(), key.into(), feed.into()]).collect();
    let numbers = tx.query_columns(TELL_MANY, &Column::of_rows(rows)?).await?;
    require_counter(u64::from(!numbers.is_empty()))
}

fn require_counter(rows: u64) -> Result<(), EngineError> {
    if rows == 0 { Err(EngineError::failed("the counter of the changes of records is gone")) } else { Ok(()) }
}

/// Takes a record out of its feed.
pub(crate) async fn forget(tx: &mut impl Session, kind: Kind, key: String) -> Result<(), EngineError> {
    tx.execute(FORGET, vec![kind.name().into(), key.into()]).await.map(drop)
}

/// Numbers all that is restored into feeds anew, in the same order, and greater than anything before. A store that is restored has lost
/// what came after its backup, and would give numbers again that others have seen.
///
/// Each row is renumbered before it is written: to change millions of rows afterwards takes longer than a statement may. All numbers
/// move by the same distance, by which the first row that comes gets the number of the present time. Rows do not come in the order of
/// their numbers, so others may get a smaller one, by no more than the changes that the store has ever made. These are far fewer than
/// the numbers of the time since the restore before, so that every new number is greater than every old one.
pub(crate) struct FeedsAnew {
    first: i64,
    shift: Option<i64>,
    last: i64,
}

impl FeedsAnew {
    /// Of a restore at this time.
    pub(crate) fn at(now: Timestamp) -> Result<Self, EngineError> {
        let first = i64::try_from(now.as_ms()).ok().and_then(|now_ms| now_ms.checked_mul(NUMBERS_OF_A_MS));
        let first = first.ok_or_else(|| EngineError::failed("the time is too late for a number"))?;
        Ok(Self { first, shift: None, last: first })
    }

    /// Gives a row of [`TABLE`] its new number, or says what is wrong with it.
    pub(crate) fn renumber(&mut self, row: &mut [Value]) -> Result<(), &'static str> {
        let Some(Value::Integer(Some(number))) = row.get_mut(NUMBER_COLUMN) else {
            return Err("a row of a feed has no number");
        };
        let shift = self.shift.or_else(|| self.first.checked_sub(*number));
        let moved = shift.and_then(|shift| number.checked_add(shift)).filter(|moved| *moved > 0);
        *number = moved.ok_or("a row of a feed has a number that no gateway gives")?;
        self.shift = shift;
        self.last = self.last.max(*number);
        Ok(())
    }

    /// Has the counter go on from there.
    pub(crate) async fn finish(self, tx: &mut Tx) -> Result<(), EngineError> {
        tx.execute(RECOUNT, vec![self.last.into()]).await.and_then(require_counter)
    }
}

/// What stands in feeds after a number. Several feeds are read in one state of the database: between two of them, a change
/// could get a number that is less than one already read.
pub(crate) async fn read(
    engine: &Engine,
    kind: Kind,
    Changed { feeds, after, limit }: Changed<'_>,
) -> Result<Vec<ChangedDocument>, EngineError> {
    let limit = limit.min(PAGE_MAX);
    let values = |feed: &str| Ok::<_, EngineError>(vec![feed.into(), Value::number(after)?, limit.into()]);
    let sql = tables::of(kind).changed;
    let rows = match feeds {
        [] => Vec::new(),
        [feed] => {
            let values = values(feed)?;
            values.iter().try_for_each(Value::check)?;
            engine.query(sql, values).await?
        }
        feeds => {
            let mut tx = engine.read().await?;
            let mut rows = Vec::new();
            for feed in feeds {
                rows.extend(tx.query(sql, values(feed)?).await?);
            }
            tx.rollback().await;
            rows
        }
    };
    let mut changed = rows.iter().map(changed_document).collect::<Result<Vec<_>, _>>()?;
    changed.sort_unstable_by_key(|(number, _)| *number);
    changed.truncate(limit as usize);
    Ok(changed)
}

fn changed_document(row: &Row) -> Result<ChangedDocument, EngineError> {
    Ok((row.number(5)?, tables::document(row)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

    fn restore(numbers: &[i64], at_ms: u64) -> Result<(Vec<i64>, i64), &'static str> {
        let mut feeds = FeedsAnew::at(Timestamp::from_ms(at_ms)).expect("a time of today");
        let mut given = Vec::new();
        for number in numbers {
            let mut row = ["orders".into(), "key".into(), "feed".into(), Value::Integer(Some(*number))];
            feeds.renumber(&mut row)?;
            let Value::Integer(Some(number)) = row[NUMBER_COLUMN] else { panic!("a number stays one") };
            given.push(number);
        }
        Ok((given, feeds.last))
    }

    #[test]
    fn what_is_restored_keeps_its_order_and_is_beyond_all_numbers_before() {
        // Rows come by their keys, not by their numbers.
        let (first, last) = restore(&[700, 2, 9_000_000], 20_000 * DAY_MS).expect("restored");
        assert!(first[1] < first[0] && first[0] < first[2], "{first:?}");
        assert!(first[1] > 9_000_000, "{first:?}");
        assert_eq!(last, first[2]);
        // The store goes on, is lost with what came after its backup, and is restored once more.
        let lost = last + 5_000_000;
        let (second, last) = restore(&first, 20_000 * DAY_MS + 60_000).expect("restored");
        assert!(second.iter().all(|number| *number > lost), "{second:?}");
        assert_eq!(last, second[2]);
    }

    #[test]
    fn a_store_without_feeds_counts_from_the_time_on() {
        assert_eq!(restore(&[], 7), Ok((Vec::new(), 7 * NUMBERS_OF_A_MS)));
    }

    #[test]
    fn a_number_that_no_gateway_gives_is_refused() {
        for numbers in [[i64::MIN, 0], [0, i64::MAX], [i64::MAX, 1]] {
            assert!(restore(&numbers, 20_000 * DAY_MS).is_err(), "{numbers:?}");
        }
        let mut row = ["orders".into(), "key".into(), "feed".into(), Value::Integer(None)];
        assert!(FeedsAnew::at(Timestamp::from_ms(1)).expect("early").renumber(&mut row).is_err());
    }
}
