//! Receipts on their way into a backup, and out of one into segments of this engine. Their numbers say in which.

use std::collections::BTreeMap;

use intent_gateway_domain::clock::Timestamp;

use super::{INSERT_SEGMENT, begun_value, first_number, kept, partitions, segment_of};
use crate::backup::Table;
use crate::engine::{Engine, Insert, Tx};
use crate::error::{BackupError, EngineError};
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments, SegmentFiles};
use crate::value::{Row, Value};

/// Rows that are written into a file at once.
const AT_ONCE: usize = 200;
const LAST: &str = "SELECT number FROM receipts ORDER BY number DESC LIMIT 1";
/// What the partitions hold, for whoever keeps receipts after the restore.
const COUNT: &str = "UPDATE receipt_segments SET receipts = $2, payload_bytes = $3 WHERE number = $1";

/// A file of receipts, and the last number in it when the backup began.
#[derive(Clone, Copy)]
pub(crate) struct FileEnd {
    segment: u64,
    last: u64,
}

impl SqlStore {
    /// How far the files of receipts go, oldest first. There are none on PostgreSQL.
    pub(crate) async fn segment_ends(&self) -> Result<Vec<FileEnd>, EngineError> {
        let mut ends = Vec::new();
        if let Engine::Sqlite(_) = self.engine {
            for known in kept(&self.engine).await? {
                let segment = known.segment.number;
                let rows =
                    self.ask_segment(segment, |segments: &mut OpenSegments, file| segments.ask(file, LAST)).await?;
                let last = rows.unwrap_or_default().first().map(|row| row.number(0)).transpose()?;
                ends.extend(last.map(|last| FileEnd { segment, last }));
            }
        }
        Ok(ends)
    }

    /// The next rows of a table in a file, up to where it ended.
    pub(crate) async fn page_of_file(
        &self,
        FileEnd { segment, last }: FileEnd,
        table: &Table,
        after: &mut Vec<Value>,
    ) -> Result<Option<Vec<Row>>, EngineError> {
        let (page, mut values) = (table.page, after.clone());
        values.push(table.rows_at_once.into());
        let read = move |segments: &mut OpenSegments, file| segments.on(file, |tx| tx.query(page, &values));
        let mut rows = self.ask_segment(segment, read).await?.unwrap_or_default();
        // The first column of each table is the receipt's number, or that of the receipt which has made the dictionary.
        rows.retain(|row| row.number(0).is_ok_and(|number| number <= last));
        table.advance(rows, after)
    }
}

/// Where a restore puts receipts. What it has made is nobody's before the restore holds.
pub(crate) struct Restoring<'s> {
    files: Option<&'s SegmentFiles>,
    segments: BTreeMap<u64, Restored>,
    /// Rows that wait for the file of a segment, under the statement that takes them.
    waiting: Option<(u64, &'static str, Vec<Vec<Value>>)>,
}

/// A segment that is restored.
#[derive(Default)]
struct Restored {
    begun: Timestamp,
    last: u64,
    payload_bytes: i64,
}

impl<'s> Restoring<'s> {
    pub(crate) fn into(store: &'s SqlStore) -> Self {
        Self { files: store.receipts.files().ok(), segments: BTreeMap::new(), waiting: None }
    }

    /// Puts a row where it belongs. It is given back where that is a table of the database, with the statement that takes it.
    pub(crate) async fn take(
        &mut self,
        tx: &mut Tx,
        table: &'static Table,
        row: Vec<Value>,
    ) -> Result<Option<(Insert, Vec<Value>)>, BackupError> {
        let Some(statements) = table.in_segments else { return Ok(Some((table.insert, row))) };
        let number = match row.first() {
            Some(Value::Integer(Some(number))) => u64::try_from(*number).unwrap_or_default(),
            _ => 0,
        };
        let segment = segment_of(number);
        if segment == 0 {
            return Ok(Some((table.insert, row)));
        }
        if !self.segments.contains_key(&segment) {
            self.make(tx, segment).await?;
        }
        let restored = self.segments.entry(segment).or_default();
        restored.payload_bytes += row.iter().map(value_bytes).sum::<i64>();
        if table.name == "receipts" {
            if let Some(Value::Integer(Some(at_ms))) = row.get(2).filter(|_| restored.last == 0) {
                restored.begun = Timestamp::from_ms(u64::try_from(*at_ms).unwrap_or_default());
            }
            restored.last = restored.last.max(number);
        }
        if self.files.is_none() {
            return Ok(Some((statements.insert, row)));
        }
        let fits = |(waiting, insert, rows): &(u64, &str, Vec<Vec<Value>>)| {
            *waiting == segment && *insert == table.insert.row && rows.len() < AT_ONCE
        };
        if !self.waiting.as_ref().is_some_and(fits) {
            self.flush(tx).await?;
        }
        self.waiting.get_or_insert_with(|| (segment, table.insert.row, Vec::new())).2.push(row);
        Ok(None)
    }

    async fn make(&self, tx: &mut Tx, segment: u64) -> Result<(), BackupError> {
        if let Tx::Postgres(tx) = tx {
            return Ok(partitions::make(tx, segment).await?);
        }
        let files = self.files.ok_or_else(|| EngineError::failed("receipts are not kept in files"))?;
        match tx.wait_for(files.write(move |segments| segments.make(segment))).await?? {
            true => Ok(()),
            false => Err(BackupError::NotEmpty("receipts")),
        }
    }

    async fn flush(&mut self, tx: &mut Tx) -> Result<(), EngineError> {
        let (Some((segment, insert, rows)), Some(files)) = (self.waiting.take(), self.files) else { return Ok(()) };
        let write = move |tx: &Batch<'_>| rows.iter().try_for_each(|row| tx.execute(insert, row).map(drop));
        let written = tx.wait_for(files.write(move |segments| segments.on(segment, write))).await??;
        written.ok_or_else(|| EngineError::failed("a file of receipts is gone"))
    }

    /// Makes the segments those of the database, with the transaction.
    pub(crate) async fn finish(&mut self, tx: &mut Tx) -> Result<(), EngineError> {
        self.flush(tx).await?;
        for (segment, Restored { begun, last, payload_bytes }) in &self.segments {
            tx.execute(INSERT_SEGMENT, vec![Value::number(*segment)?, begun_value(*begun).into()]).await?;
            if self.files.is_none() {
                let receipts = last.saturating_sub(first_number(*segment));
                let counts = vec![Value::number(*segment)?, Value::number(receipts)?, (*payload_bytes).into()];
                tx.execute(COUNT, counts).await?;
            }
        }
        Ok(())
    }

    /// Removes what was made for a restore that does not hold. PostgreSQL has done so by itself.
    pub(crate) async fn give_up(self) {
        let Some(files) = self.files else { return };
        for segment in self.segments.into_keys() {
            if let Err(error) = files.write(move |segments| segments.remove(segment)).await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    segment,
                    "a file of receipts of a restore that failed cannot be removed"
                );
            }
        }
    }
}

/// Bytes of a value.
pub(crate) fn value_bytes(value: &Value) -> i64 {
    let bytes = match value {
        Value::Text(text) => text.as_ref().map_or(0, String::len),
        Value::Integer(_) => size_of::<i64>(),
        Value::Bytes(bytes) => bytes.len(),
    };
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
