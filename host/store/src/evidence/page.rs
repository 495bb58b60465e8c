//! A page of findings and receipts, kept in one transaction; and findings alone, as part of another.

use std::collections::HashMap;

use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::vault::Mark;

use super::receipt::ReceiptRows;
use super::{finding, receipt};
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
/// The same ranking, come again, is kept once.
const INSERT_RECEIPT: &str = "INSERT INTO receipts (id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, \
                              number) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING";
const INSERT_RECEIPTS: &str = concat!(
    "WITH counter AS (UPDATE counters SET value = value + cardinality($1) WHERE name = 'receipts' \
     RETURNING value - cardinality($1) AS taken) INSERT INTO receipts (",
    receipt::columns!(),
    ") SELECT taken + place, the_id, the_time, the_request, the_intent, the_version, the_contract, the_outcome, the_body, \
     the_user FROM counter CROSS JOIN UNNEST($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     WITH ORDINALITY AS new (the_id, the_time, the_request, the_intent, the_version, the_contract, the_outcome, the_body, \
     the_user, place) ON CONFLICT (id) DO NOTHING RETURNING id, number"
);
const INSERT_PART: &str = "INSERT INTO receipt_parts (place, partner, request_id, intent, at_ms, shown, quoted, body, \
                           receipt) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const INSERT_PARTS: &str = "INSERT INTO receipt_parts (place, partner, request_id, intent, at_ms, shown, quoted, body, \
                            receipt) SELECT * FROM UNNEST($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// What is kept together.
#[derive(Default)]
pub(crate) struct EvidencePage {
    findings: Vec<Vec<Value>>,
    receipts: Vec<ReceiptRows>,
}

impl EvidencePage {
    /// Adds a finding.
    pub(crate) fn add_finding(&mut self, finding: &Finding) {
        self.findings.push(finding::values(finding));
    }

    /// Adds a receipt, under the mark of its user.
    ///
    /// # Errors
    /// When it is larger than what is kept.
    pub(crate) fn add_receipt(&mut self, receipt: Receipt, user: Option<&Mark>) -> Result<(), EngineError> {
        self.receipts.push(receipt::rows(receipt, user)?);
        Ok(())
    }

    /// How many it holds.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.findings.len() + self.receipts.len()
    }

    fn keep_on_sqlite(&self, tx: &Batch<'_>) -> Result<(), EngineError> {
        keep_findings_on_sqlite(tx, &self.findings)?;
        let numbers = reserve(tx, "receipts", self.receipts.len())?;
        for (number, ReceiptRows { header, parts, .. }) in numbers.zip(&self.receipts) {
            let number = Value::from(number);
            if tx.execute(INSERT_RECEIPT, header.iter().chain([&number]))? == 1 {
                for part in parts {
                    tx.execute(INSERT_PART, part.iter().chain([&number]))?;
                }
            }
        }
        Ok(())
    }

    async fn keep_on_postgres(&self, tx: &mut PostgresTx) -> Result<(), EngineError> {
        keep_findings_on_postgres(tx, self.findings.clone()).await?;
        if self.receipts.is_empty() {
            return Ok(());
        }
        let headers = self.receipts.iter().map(|receipt| receipt.header.clone()).collect();
        let rows = tx.query_columns(INSERT_RECEIPTS, &Column::of_rows(headers)?).await?;
        let numbers = rows.iter().map(|row| Ok((row.text(0)?, row.integer(1)?)));
        let mut numbers = numbers.collect::<Result<HashMap<String, i64>, EngineError>>()?;
        let mut parts: Vec<Vec<Value>> = Vec::new();
        for receipt in &self.receipts {
            // Of two of one identifier the first has taken it.
            let Some(number) = numbers.remove(&receipt.id) else { continue };
            parts.extend(receipt.parts.iter().map(|part| part.iter().cloned().chain([number.into()]).collect()));
        }
        if !parts.is_empty() {
            tx.query_columns(INSERT_PARTS, &Column::of_rows(parts)?).await?;
        }
        Ok(())
    }
}

impl SqlStore {
    /// Keeps a page, whole or not at all.
    pub(crate) async fn keep_page(&self, page: std::sync::Arc<EvidencePage>) -> Result<(), EngineError> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.batch(move |tx| page.keep_on_sqlite(tx)).await,
            Engine::Postgres(engine) => {
                let mut tx = engine.write().await?;
                match page.keep_on_postgres(&mut tx).await {
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
