//! Whether every receipt and every finding that is kept can be read, and parts of receipts belong to theirs.

use intent_gateway_domain::check::{CheckedPart, Tell};
use intent_gateway_domain::store::StoreError;

use super::{PARTS, finding, receipt};
use crate::engine::Tx;
use crate::error::EngineError;
use crate::records::SqlStore;
use crate::value::{Row, Value};

/// Receipts read at once, with their parts.
const RECEIPTS: u32 = 20;
const RECEIPT_PAGE: &str =
    concat!("SELECT ", receipt::columns!(), " FROM receipts WHERE number > $1 ORDER BY number LIMIT $2");
const LAST_RECEIPT: &str = "SELECT COALESCE(MAX(number), 0) FROM receipts";
/// What a part repeats of its receipt.
const PART_COLUMNS: &str = "SELECT request_id, intent, at_ms FROM receipt_parts WHERE receipt = $1 ORDER BY place";
/// Parts and whether their receipt is there. A receipt has few parts, and its number is not negative.
const PARTS_OF_NONE: &str = "SELECT part.receipt, one.id FROM (SELECT DISTINCT receipt FROM receipt_parts WHERE receipt > $1 \
                             ORDER BY receipt LIMIT $2) AS part LEFT JOIN receipts AS one ON one.number = part.receipt \
                             ORDER BY part.receipt";
const FINDING_PAGE: &str =
    concat!("SELECT ", finding::columns!(), " FROM findings WHERE number > $1 ORDER BY number LIMIT $2");

impl SqlStore {
    /// Reads receipts with their parts: all, or as many of the newest as are named.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; that one cannot be read is no error.
    pub async fn check_receipts(&self, newest: Option<u64>, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("receipts");
        let last = self.engine.query(LAST_RECEIPT, Vec::new()).await.map_err(EngineError::into_store)?;
        let last = last.first().map(|row| row.number(0)).transpose().map_err(EngineError::into_store)?;
        let first = last.unwrap_or_default().saturating_sub(newest.unwrap_or(u64::MAX));
        let first = Value::number(first).map_err(EngineError::into_store)?;
        let mut after = first.clone();
        while let Some(last) = self.check_receipt_page(after, &mut part).await.map_err(EngineError::into_store)? {
            after = last;
            tell(part.name, part.seen);
        }
        let of_none = |row: &Row, part: &mut CheckedPart| {
            // Each is counted with its receipt.
            part.seen -= 1;
            if row.optional_text(1)?.is_none() {
                part.add("RECEIPT_MISSING", row.number(0)?.to_string(), "parts of a receipt that is not there");
            }
            Ok(())
        };
        let key = |row: &Row| row.number(0).and_then(Value::number);
        self.check_rows(PARTS_OF_NONE, first, &key, of_none, &mut part, tell).await?;
        Ok(part)
    }

    /// A page of receipts; the number of the last, or none after all.
    async fn check_receipt_page(&self, after: Value, part: &mut CheckedPart) -> Result<Option<Value>, EngineError> {
        let mut tx = self.engine.read().await?;
        let rows = tx.query(RECEIPT_PAGE, vec![after, RECEIPTS.into()]).await?;
        for row in &rows {
            part.seen += 1;
            check_receipt(&mut tx, row, part).await?;
        }
        tx.rollback().await;
        rows.last().map(|row| row.number(0).and_then(Value::number)).transpose()
    }

    /// Reads all findings.
    ///
    /// # Errors
    /// As [`check_receipts`](Self::check_receipts).
    pub async fn check_findings(&self, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("findings");
        let look = |row: &Row, part: &mut CheckedPart| {
            if let Err(error) = finding::read_kept(row) {
                part.add("ROW_UNREADABLE", row.number(0)?.to_string(), error.to_string());
            }
            Ok(())
        };
        let key = |row: &Row| row.number(0).and_then(Value::number);
        self.check_rows(FINDING_PAGE, 0_u32.into(), &key, look, &mut part, tell).await?;
        Ok(part)
    }
}

async fn check_receipt(tx: &mut Tx, row: &Row, part: &mut CheckedPart) -> Result<(), EngineError> {
    let (number, id) = (Value::number(row.number(0)?)?, row.text(1)?);
    let parts = tx.query(PARTS, vec![number.clone()]).await?;
    if let Err(error) = receipt::receipt(row, &parts) {
        part.add("ROW_UNREADABLE", id, error.to_string());
        return Ok(());
    }
    let of_receipt = (row.text(3)?, row.text(4)?, row.number(2)?);
    for repeated in &tx.query(PART_COLUMNS, vec![number]).await? {
        if (repeated.text(0)?, repeated.text(1)?, repeated.number(2)?) != of_receipt {
            part.add("COLUMN_DIFFERS", id.as_str(), "a part has another request, intent or time than its receipt");
        }
    }
    Ok(())
}
