//! Segments on PostgreSQL: a partition of each of two tables, made when one begins and dropped when it is forgotten.
//!
//! A partition holds a range of numbers and not of times, so that a segment may end at any moment, when it is large enough as
//! well as when it is old enough. So none has to be made ahead of its time, and of several gateways the first makes the next.
//!
//! What is done to the tables takes the lightest locks that there are: a partition is made as a table of its own and attached,
//! and detached `CONCURRENTLY` before it is dropped. Neither waits for who reads or keeps receipts, nor they for it.

use std::time::Duration;

use intent_gateway_domain::clock::Timestamp;

use super::{INSERT_SEGMENT, NEXT_NUMBER, begun_value, first_number};
use crate::error::EngineError;
use crate::postgres::{Alone, Postgres, PostgresTx};
use crate::value::Value;

/// Key of the advisory lock of who makes or drops segments: "segment" in ASCII.
const SEGMENTS_LOCK: i64 = 0x73_6567_6d65_6e74;
/// The partitioned tables. Parts first: none is left without its receipt.
const TABLES: [&str; 2] = ["segment_receipt_parts", "segment_receipts"];
/// How long it is waited for those who read a partition that is dropped. A backup reads for longer; it goes on later then.
const DETACH_MAX: Duration = Duration::from_secs(3);
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

/// Drops the partitions of a segment that goes; false when somebody reads it, or another gateway is at it: later, then.
pub(super) async fn remove(engine: &Postgres, number: u64) -> Result<bool, EngineError> {
    let alone = engine.alone(DETACH_MAX).await?;
    let locked = alone.query(TRY_LOCK, &[SEGMENTS_LOCK.into()]).await?;
    if locked.first().map(|row| row.integer(0)).transpose()? != Some(1) {
        return Ok(false);
    }
    // The connection is closed in the end, and the lock with it.
    for table in TABLES {
        if !remove_one(&alone, table, number).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn remove_one(alone: &Alone, table: &str, number: u64) -> Result<bool, EngineError> {
    let partition = format!("{table}_{number}");
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
