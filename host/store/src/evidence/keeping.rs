//! Findings, kept in one transaction, or as part of another.

use std::sync::Arc;

use super::finding;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::postgres::PostgresTx;
use crate::records::SqlStore;
use crate::sqlite::Batch;
use crate::value::{Column, Value};

/// Takes as many numbers of a counter; answers how many were taken before.
const RESERVE: &str = "UPDATE counters SET value = value + $1 WHERE name = $2 RETURNING value - $1";
const INSERT_FINDING: &str = "INSERT INTO findings (at_ms, partner, intent, request_id, option_id, external_id, severity, \
                              pointer, code, message, source, option_place, excerpt, number) \
                              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
const INSERT_FINDINGS: &str = concat!(
    "WITH counter AS (UPDATE counters SET value = value + cardinality($1) WHERE name = 'findings' \
     RETURNING value - cardinality($1) AS taken) INSERT INTO findings (",
    finding::columns!(),
    ") SELECT taken + ordinal, the_time, the_partner, the_intent, the_request, the_option, the_order, the_severity, \
     the_pointer, the_code, the_message, the_source, the_place, the_excerpt \
     FROM counter CROSS JOIN UNNEST($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     WITH ORDINALITY AS new (the_time, the_partner, the_intent, the_request, the_option, the_order, the_severity, \
     the_pointer, the_code, the_message, the_source, the_place, the_excerpt, ordinal) RETURNING number"
);
impl SqlStore {
    /// Keeps findings, all or none.
    pub(crate) async fn keep_findings(&self, findings: Arc<Vec<Vec<Value>>>) -> Result<(), EngineError> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.batch(move |tx| keep_findings_on_sqlite(tx, &findings)).await,
            Engine::Postgres(engine) => {
                let mut tx = engine.write().await?;
                match keep_findings_on_postgres(&mut tx, findings.to_vec()).await {
                    Ok(()) => tx.commit().await,
                    Err(error) => {
                        tx.rollback().await;
                        Err(error)
                    }
                }
            }
        }
    }
}

/// Keeps findings within a transaction.
pub(crate) fn keep_findings_on_sqlite(tx: &Batch<'_>, findings: &[Vec<Value>]) -> Result<(), EngineError> {
    for (number, finding) in reserve(tx, "findings", findings.len())?.zip(findings) {
        tx.execute(INSERT_FINDING, finding.iter().chain([&number.into()]))?;
    }
    Ok(())
}

/// The same in one round trip.
pub(crate) async fn keep_findings_on_postgres(
    tx: &mut PostgresTx,
    findings: Vec<Vec<Value>>,
) -> Result<(), EngineError> {
    let count = findings.len();
    if count == 0 {
        return Ok(());
    }
    if tx.query_columns(INSERT_FINDINGS, &Column::of_rows(findings)?).await?.len() != count {
        return Err(EngineError::failed("the counter of findings is gone"));
    }
    Ok(())
}

/// Numbers that nobody had before.
fn reserve(tx: &Batch<'_>, counter: &'static str, count: usize) -> Result<std::ops::Range<i64>, EngineError> {
    let count = i64::try_from(count).map_err(|_| EngineError::failed("a page is too large"))?;
    if count == 0 {
        return Ok(0..0);
    }
    let rows = tx.query(RESERVE, &[count.into(), counter.into()])?;
    let taken = rows.first().ok_or_else(|| EngineError::failed("a counter is gone"))?.integer(0)?;
    Ok(taken + 1..taken + 1 + count)
}
