//! Whether every fault of a contract that is kept can be read, and its input be opened.

use intent_gateway_domain::check::{CheckedPart, Tell};
use intent_gateway_domain::faults::open_input;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::vault::{Sealed, Vault};

use super::read;
use crate::records::SqlStore;
use crate::value::{Row, Value};

/// Faults read at once, with their inputs.
const PAGE: &str = concat!(
    "SELECT ",
    super::columns!(),
    ", CAST(CASE WHEN input IS NULL THEN 0 ELSE 1 END AS BIGINT), input FROM contract_faults WHERE number > $1 \
     ORDER BY number LIMIT $2"
);

impl SqlStore {
    /// Reads all faults of contracts, and opens their inputs.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; that one cannot be read is not an error.
    pub async fn check_faults(&self, vault: Option<&Vault>, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("contract_faults");
        let look = |row: &Row, part: &mut CheckedPart| {
            let number = row.number(0)?.to_string();
            let fault = match read(row) {
                Ok(fault) => fault,
                Err(error) => {
                    part.add("ROW_UNREADABLE", number, error.to_string());
                    return Ok(());
                }
            };
            match (row.optional_text(16)?.map(Sealed::from_text), vault) {
                (None, _) => {}
                (Some(_), None) => part.unchecked += 1,
                (Some(input), Some(vault)) => {
                    if let Err(error) = open_input(vault, &fault, &input) {
                        part.add("SEALED_UNREADABLE", number, format!("its input cannot be opened: {error}"));
                    }
                }
            }
            Ok(())
        };
        let key = |row: &Row| row.number(0).and_then(Value::number);
        self.check_rows(PAGE, 0_u32.into(), &key, look, &mut part, tell).await?;
        Ok(part)
    }
}
