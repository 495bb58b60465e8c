//! Receipts that are kept are changed: put under a user's mark, or erased. A segment that is being written anew meanwhile must not
//! bring back what was there before, so each change is counted with its segment, and no copy takes the place of a segment that
//! was changed since the copy was begun.

use super::FILE;
use crate::engine::Tx;
use crate::error::EngineError;
use crate::records::SqlStore;
use crate::sqlite::Batch;
use crate::value::Value;

const COUNT: &str = "UPDATE receipt_segments SET changes = changes + 1 WHERE number = $1";

/// Counts a change of receipts in a segment, as part of the transaction that makes it.
pub(crate) async fn count_change(tx: &mut Tx, segment: u64) -> Result<(), EngineError> {
    tx.execute(COUNT, vec![Value::number(segment)?]).await.map(drop)
}

impl SqlStore {
    /// Changes receipts in the file of a segment; none where it is not kept any more. The transaction over the database keeps
    /// everybody from putting another file in its place meanwhile, and is to be committed.
    pub(crate) async fn change_file<T: Send + 'static>(
        &self,
        tx: &mut Tx,
        segment: u64,
        change: impl FnOnce(&Batch<'_>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<Option<T>, EngineError> {
        count_change(tx, segment).await?;
        let rows = tx.query(FILE, vec![Value::number(segment)?]).await?;
        let Some(file) = rows.first().map(|row| row.number(0)).transpose()? else { return Ok(None) };
        tx.wait_for(self.receipts.files()?.write(move |segments| segments.on(file, change))).await?
    }
}
