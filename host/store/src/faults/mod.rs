//! Faults of contracts, over either engine: kept by `journal`, read here.
//!
//! Not here: what is told of a fault, and what its input is sealed for (the domain).

mod burst;
mod check;
mod journal;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::faults::{FaultQuery, Function, KEPT_PER_INTENT_MAX, KeptFault, Told};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Faults, SealedFault};
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::vault::Sealed;

use crate::engine::Tx;
use crate::error::EngineError;
use crate::evidence::keepable_name;
use crate::records::SqlStore;
use crate::value::{Row, Value};

pub use journal::FaultJournal;

/// Faults of one answer, at most, whatever the caller asks for.
const READ_MAX: u32 = 1_000;
/// Faults forgotten in one transaction: their inputs are overwritten, and nobody else writes meanwhile.
const FORGOTTEN_AT_ONCE: u32 = 50;

/// The columns of a fault but its input, in the order in which [`read`] takes them.
macro_rules! columns {
    () => {
        "number, at_ms, last_at_ms, times, others, intent, version, contract, function, request_id, code, fault, \
         message, place, input_bytes"
    };
}

use columns;

const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    ", CAST(CASE WHEN input IS NULL THEN 0 ELSE 1 END AS BIGINT) FROM contract_faults WHERE intent = $1 AND number < $2 \
     ORDER BY number DESC LIMIT $3"
);
const ONE: &str = concat!(
    "SELECT ",
    columns!(),
    ", CAST(CASE WHEN input IS NULL THEN 0 ELSE 1 END AS BIGINT), input FROM contract_faults WHERE number = $1"
);
const RESERVE: &str = "UPDATE counters SET value = value + 1 WHERE name = 'contract_faults' RETURNING value";
const INSERT: &str = concat!(
    "INSERT INTO contract_faults (",
    columns!(),
    ", input) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
);
const REPEAT: &str =
    "UPDATE contract_faults SET times = times + $2, others = others + $3, last_at_ms = $4 WHERE number = $1";
/// All but the latest of an intent.
const SHRINK: &str = "DELETE FROM contract_faults WHERE intent = $1 AND number <= \
                      (SELECT number FROM contract_faults WHERE intent = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)";
const FORGET: &str = "DELETE FROM contract_faults WHERE number IN \
                      (SELECT number FROM contract_faults WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";

/// A fault that is about to be kept.
#[derive(Clone, Debug)]
struct NewFault {
    at: Timestamp,
    intent: IntentId,
    version: semver::Version,
    contract: Digest,
    function: Function,
    request_id: Option<String>,
    code: &'static str,
    fault: String,
    told: Option<Told>,
    input_bytes: usize,
    input: Option<Sealed>,
}

/// What came after a fault that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repeats {
    times: u64,
    others: u64,
    last_at: Timestamp,
}

impl NewFault {
    fn into_values(self, number: u64) -> Result<Vec<Value>, EngineError> {
        let (message, place) = self.told.map(|Told { message, place }| (message, place)).unzip();
        let input_bytes = u64::try_from(self.input_bytes).unwrap_or(u64::MAX);
        Ok(vec![
            Value::number(number)?,
            Value::time(self.at)?,
            Value::time(self.at)?,
            1_i64.into(),
            0_i64.into(),
            self.intent.to_string().into(),
            self.version.to_string().into(),
            self.contract.to_string().into(),
            self.function.as_str().into(),
            Value::Text(self.request_id.as_deref().map(keepable_name)),
            self.code.into(),
            self.fault.replace('\0', "\u{fffd}").into(),
            Value::Text(message),
            Value::Text(place.flatten()),
            Value::number(input_bytes)?,
            Value::Text(self.input.map(Sealed::into_text)),
        ])
    }
}

/// A fault out of its row.
fn read(row: &Row) -> Result<KeptFault, EngineError> {
    fn sound<T, E: std::error::Error + Send + Sync + 'static>(value: Result<T, E>) -> Result<T, EngineError> {
        value.map_err(|error| EngineError::because("a fault of a contract cannot be read", error))
    }
    let message = row.optional_text(12)?;
    let place = row.optional_text(13)?;
    Ok(KeptFault {
        number: row.number(0)?,
        at: row.time(1)?,
        last_at: row.time(2)?,
        times: row.number(3)?,
        others: row.number(4)?,
        intent: sound(IntentId::parse(&row.text(5)?))?,
        version: sound(row.text(6)?.parse())?,
        contract: sound(row.text(7)?.parse())?,
        function: Function::parse(&row.text(8)?)
            .ok_or_else(|| EngineError::failed("the function of a fault is not known"))?,
        request_id: row.optional_text(9)?,
        code: row.text(10)?,
        fault: row.text(11)?,
        told: message.map(|message| Told { message, place }),
        input_bytes: row.number(14)?,
        has_input: row.number(15)? == 1,
    })
}

impl SqlStore {
    /// Keeps a fault, and no more than the latest of its intent; its number.
    async fn keep_fault(&self, fault: NewFault) -> Result<u64, EngineError> {
        let mut tx = self.engine.write().await?;
        match insert(&mut tx, fault).await {
            Ok(number) => tx.commit().await.map(|()| number),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    /// Counts what came after faults that are kept. One that is gone again is none.
    async fn count_repeats(&self, repeats: Vec<(u64, Repeats)>) -> Result<(), EngineError> {
        let mut tx = self.engine.write().await?;
        for (number, Repeats { times, others, last_at }) in repeats {
            let values =
                vec![Value::number(number)?, Value::number(times)?, Value::number(others)?, Value::time(last_at)?];
            tx.execute(REPEAT, values).await?;
        }
        tx.commit().await
    }

    async fn forget_old_faults(&self, before: Timestamp) -> Result<u64, EngineError> {
        let mut forgotten = 0;
        loop {
            let mut tx = self.engine.write().await?;
            let rows = tx.execute(FORGET, vec![Value::time(before)?, FORGOTTEN_AT_ONCE.into()]).await?;
            tx.commit().await?;
            forgotten += rows;
            if rows < u64::from(FORGOTTEN_AT_ONCE) {
                return Ok(forgotten);
            }
        }
    }
}

async fn insert(tx: &mut Tx, fault: NewFault) -> Result<u64, EngineError> {
    let counted = tx.query(RESERVE, Vec::new()).await?;
    let number = counted.first().ok_or_else(|| EngineError::failed("a counter is gone"))?.number(0)?;
    let intent = fault.intent.to_string();
    tx.execute(INSERT, fault.into_values(number)?).await?;
    tx.execute(SHRINK, vec![intent.into(), KEPT_PER_INTENT_MAX.into()]).await?;
    Ok(number)
}

impl Faults for SqlStore {
    fn faults<'a>(&'a self, query: FaultQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFault>, StoreError>> {
        let FaultQuery { intent, before, limit } = query;
        let read = async move {
            let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
            let values = vec![intent.as_str().into(), before.into(), limit.min(READ_MAX).into()];
            self.engine.query(LIST, values).await?.iter().map(read).collect()
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn fault(&self, number: u64) -> BoxFuture<'_, Result<Option<SealedFault>, StoreError>> {
        let read = async move {
            let Ok(number) = Value::number(number) else { return Ok(None) };
            let rows = self.engine.query(ONE, vec![number]).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            Ok(Some((read(row)?, row.optional_text(16)?.map(Sealed::from_text))))
        };
        read.map(|found: Result<_, EngineError>| found.map_err(EngineError::into_store)).boxed()
    }

    fn forget_faults(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.forget_old_faults(before).map(|done| done.map_err(EngineError::into_store)).boxed()
    }
}
