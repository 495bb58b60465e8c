//! Whether every finding that is kept can be read. Receipts: `receipts`, module `check`.

use intent_gateway_domain::check::{CheckedPart, Tell};
use intent_gateway_domain::store::StoreError;

use super::finding;
use crate::records::SqlStore;
use crate::value::{Row, Value};

const FINDING_PAGE: &str =
    concat!("SELECT ", finding::columns!(), " FROM findings WHERE number > $1 ORDER BY number LIMIT $2");

impl SqlStore {
    /// Reads all findings.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; that one cannot be read is not an error.
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
