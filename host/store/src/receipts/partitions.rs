//! Segments on PostgreSQL: a partition of each of two tables, made when one begins and dropped when it is forgotten.
//!
//! A partition holds a range of numbers and not of times, so that a segment may end at any moment, when it is large enough as
//! well as when it is old enough. So none has to be made ahead of its time, and of several gateways the first makes the next.
//!
//! What is done to the tables takes the lightest locks that there are: a partition is made as a table of its own and attached,
//! and detached `CONCURRENTLY` before it is dropped. Neither waits for who reads or keeps receipts, nor they for it. Only to put a
//! partition in the place of another takes everybody's turn, for some milliseconds, and is given up where it does not get it soon.

use std::time::Duration;

use intent_gateway_domain::clock::Timestamp;

use super::{INSERT_SEGMENT, NEXT_NUMBER, begun_value, first_number};
use crate::error::EngineError;
use crate::evidence::receipt_columns;
use crate::postgres::{Alone, Postgres, PostgresTx};
use crate::value::{Column, Value};

/// Key of the advisory lock of who makes or drops segments: "segment" in ASCII.
const SEGMENTS_LOCK: i64 = 0x73_6567_6d65_6e74;
/// The partitioned tables. Parts first: none is left without its receipt.
const TABLES: [&str; 2] = ["segment_receipt_parts", "segment_receipts"];
/// The columns by which they are partitioned, and all of them.
const KEYS: [&str; 2] = ["receipt", "number"];
const COLUMNS: [&str; 2] = [receipt_columns::part_columns!(), receipt_columns::columns!()];
/// How long it is waited for those who read a partition that is dropped. A backup reads for longer; it goes on later then.
const DETACH_MAX: Duration = Duration::from_secs(3);
/// How long it is waited for those who read or keep receipts when a partition takes the place of another; others wait as long.
const SWAP_WAIT_MAX: Duration = Duration::from_millis(200);
/// The number of this transaction, which is greater than that of every one that has been committed.
const TRANSACTION: &str = "SELECT CAST(CAST(pg_current_xact_id() AS xid) AS TEXT)";
/// How many read what was there before a transaction: they would see none of the rows that it, or one before it, has written.
const READERS_OF_BEFORE: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                                 AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
                                 AND age(backend_xmin) >= age(CAST($1 AS xid))";
const TRY_LOCK_IN: &str = "SELECT CASE WHEN pg_try_advisory_xact_lock($1) THEN 1 ELSE 0 END::bigint";
const LAST: &str = "SELECT MAX(number) FROM receipt_segments WHERE state = 'kept'";
const TRY_LOCK: &str = "SELECT CASE WHEN pg_try_advisory_lock($1) THEN 1 ELSE 0 END::bigint";
/// Whether it is a partition, and whether half-way detached. A number, for the store reads no truth values.
const IS_PARTITION: &str = "SELECT CASE WHEN inhdetachpending THEN 1 ELSE 0 END::bigint FROM pg_inherits \
                            WHERE inhrelid = to_regclass($1)";

/// Begins a new segment after `last`, unless another gateway was faster.
pub(super) async fn begin(engine: &Postgres, last: Option<u64>, now: Timestamp) -> Result<(), EngineError> {
    let mut tx = engine.write_beside().await?;
    let begun = begin_in(&mut tx, last, now).await;
    match begun {
        Ok(()) => tx.commit().await,
        Err(error) => {
            tx.rollback().await;
            Err(error)
        }
    }
}

async fn begin_in(tx: &mut PostgresTx, last: Option<u64>, now: Timestamp) -> Result<(), EngineError> {
    tx.batch(&format!("SELECT pg_advisory_xact_lock({SEGMENTS_LOCK})")).await?;
    let found = tx.query(LAST, Vec::new()).await?.first().map(|row| row.optional_integer(0)).transpose()?.flatten();
    if found != last.map(|last| i64::try_from(last).unwrap_or(i64::MAX)) {
        return Ok(());
    }
    let taken = tx.query(NEXT_NUMBER, Vec::new()).await?;
    let number = taken.first().ok_or_else(|| EngineError::failed("the counter of segments is gone"))?.number(0)?;
    make(tx, number).await?;
    tx.execute(INSERT_SEGMENT, vec![Value::number(number)?, begun_value(now).into()]).await.map(drop)
}

/// Makes the partitions of a segment, as part of a transaction.
pub(crate) async fn make(tx: &mut PostgresTx, number: u64) -> Result<(), EngineError> {
    let (from, to) = (first_number(number), first_number(number + 1));
    for table in TABLES {
        tx.batch(&format!(
            "CREATE TABLE {table}_{number} (LIKE {table} INCLUDING ALL); \
             ALTER TABLE {table} ATTACH PARTITION {table}_{number} FOR VALUES FROM ({from}) TO ({to})"
        ))
        .await?;
    }
    Ok(())
}

/// Makes the tables of a copy of a segment, which are nobody's partitions yet.
pub(super) async fn make_copy(tx: &mut PostgresTx, file: u64, segment: u64) -> Result<(), EngineError> {
    let (from, to) = (first_number(segment), first_number(segment + 1));
    for (table, key) in TABLES.into_iter().zip(KEYS) {
        // Whoever attaches it need not read it then.
        tx.batch(&format!(
            "CREATE TABLE {table}_{file} (LIKE {table} INCLUDING ALL); \
             ALTER TABLE {table}_{file} ADD CONSTRAINT {table}_{file}_range CHECK ({key} >= {from} AND {key} < {to})"
        ))
        .await?;
    }
    Ok(())
}

/// Copies receipts, by their numbers, from one place into another.
pub(super) async fn copy(engine: &Postgres, from: u64, to: u64, receipts: &[u64]) -> Result<(), EngineError> {
    let number = |number: &u64| i64::try_from(*number).map(Some);
    let numbers = receipts.iter().map(number).collect::<Result<_, _>>();
    let numbers = [Column::Integer(numbers.map_err(|_| EngineError::failed("a receipt has too great a number"))?)];
    let mut tx = engine.write_beside().await?;
    for ((table, key), columns) in TABLES.into_iter().zip(KEYS).zip(COLUMNS) {
        let copy =
            format!("INSERT INTO {table}_{to} ({columns}) SELECT {columns} FROM {table}_{from} WHERE {key} = ANY($1)");
        if let Err(error) = tx.query_columns(&copy, &numbers).await {
            tx.rollback().await;
            return Err(error);
        }
    }
    tx.commit().await
}

/// A moment after which whoever begins to read sees all that was committed by now.
pub(super) async fn note_moment(engine: &Postgres) -> Result<String, EngineError> {
    let mut tx = engine.write_beside().await?;
    let rows = tx.query(TRANSACTION, Vec::new()).await?;
    tx.commit().await?;
    rows.first().ok_or_else(|| EngineError::failed("a transaction has no number"))?.text(0)
}

/// Puts the tables of a copy in the place of a segment's partitions, as part of a transaction. False when that cannot be now:
/// somebody makes or drops partitions, or reads what was there before the `moment` when the copy was done, and would miss receipts.
pub(super) async fn swap(
    tx: &mut PostgresTx,
    segment: u64,
    [old, new]: [u64; 2],
    moment: &str,
) -> Result<bool, EngineError> {
    let locked = tx.query(TRY_LOCK_IN, vec![SEGMENTS_LOCK.into()]).await?;
    if locked.first().map(|row| row.integer(0)).transpose()? != Some(1) {
        return Ok(false);
    }
    let [parts, receipts] = TABLES;
    // In the order in which whoever keeps receipts takes them. Some who read have the other, and then one of the two gives way.
    tx.batch(&format!(
        "SET LOCAL lock_timeout = '{}ms'; LOCK TABLE ONLY {receipts}, ONLY {parts} IN ACCESS EXCLUSIVE MODE",
        SWAP_WAIT_MAX.as_millis()
    ))
    .await?;
    let readers = tx.query(READERS_OF_BEFORE, vec![moment.into()]).await?;
    if readers.first().map(|row| row.number(0)).transpose()? != Some(0) {
        return Ok(false);
    }
    let (from, to) = (first_number(segment), first_number(segment + 1));
    for table in TABLES {
        tx.batch(&format!(
            "ALTER TABLE {table} DETACH PARTITION {table}_{old}; \
             ALTER TABLE {table} ATTACH PARTITION {table}_{new} FOR VALUES FROM ({from}) TO ({to}); \
             ALTER TABLE {table}_{new} DROP CONSTRAINT {table}_{new}_range"
        ))
        .await?;
    }
    Ok(true)
}

/// Drops the partitions of a segment that goes; false when somebody reads it, or another gateway is at it: later, then.
pub(super) async fn remove(engine: &Postgres, file: u64) -> Result<bool, EngineError> {
    let alone = engine.alone(DETACH_MAX).await?;
    let locked = alone.query(TRY_LOCK, &[SEGMENTS_LOCK.into()]).await?;
    if locked.first().map(|row| row.integer(0)).transpose()? != Some(1) {
        return Ok(false);
    }
    // The connection is closed in the end, and the lock with it.
    for table in TABLES {
        if !remove_one(&alone, table, file).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn remove_one(alone: &Alone, table: &str, file: u64) -> Result<bool, EngineError> {
    let partition = format!("{table}_{file}");
    let attached = alone.query(IS_PARTITION, &[partition.as_str().into()]).await?;
    let how = match attached.first().map(|row| row.integer(0)).transpose()? {
        None => None,
        Some(0) => Some("CONCURRENTLY"),
        Some(_) => Some("FINALIZE"),
    };
    if let Some(how) = how {
        match alone.run(&format!("ALTER TABLE {table} DETACH PARTITION {partition} {how}")).await {
            Err(EngineError::Unavailable { .. }) => return Ok(false),
            done => done?,
        }
    }
    match alone.run(&format!("DROP TABLE IF EXISTS {partition}")).await {
        Err(EngineError::Unavailable { .. }) => Ok(false),
        done => done.map(|()| true),
    }
}
