//! Restores a backup into an empty database, in one transaction: either all of the file is there afterwards, as it was
//! written and with an audit log and a ledger that hold together, or nothing is.

use std::collections::BTreeMap;
use std::path::Path;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::installation::Outside;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::backup::{BackupReport, End, FILE_BUFFER_BYTES, FORMAT, FORMAT_VERSION, Header, Line, TABLES};
use crate::engine::{Insert, Tx};
use crate::error::BackupError;
use crate::feed::FeedsAnew;
use crate::receipts::{Restoring, value_bytes};
use crate::records::{DOCUMENT_MAX_BYTES, SqlStore, follow_audit};
use crate::value::Value;
use crate::{feed, installation, ledger, migrate, tables};

/// Bytes of a line: a record is JSON text within JSON text, which at worst doubles it.
const LINE_MAX_BYTES: u64 = 2 * DOCUMENT_MAX_BYTES as u64 + 64 * 1024;

/// Rows, and bytes of rows, that are put into the database together.
const ROWS_AT_ONCE: usize = 500;
const BYTES_AT_ONCE: i64 = 4 * 1024 * 1024;

impl SqlStore {
    /// Restores a backup that was made of any database, SQLite or PostgreSQL, into this one, which must be empty. Feeds of
    /// changes begin anew: whoever has read of those before reads everything again.
    ///
    /// # Errors
    /// [`BackupError`]; the database is still empty then.
    pub async fn restore(&self, from: &Path, now: Timestamp) -> Result<BackupReport, BackupError> {
        self.restore_expected(from, &Outside::default(), now).await
    }

    /// The same of a backup that must be of the installation that is named outside the store. The store has its identity then.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), and [`BackupError::OtherInstallation`].
    pub async fn restore_expected(
        &self,
        from: &Path,
        outside: &Outside,
        now: Timestamp,
    ) -> Result<BackupReport, BackupError> {
        let file = File::open(from).await.map_err(|cause| BackupError::File { path: from.to_owned(), cause })?;
        let mut input = Input {
            path: from,
            file: BufReader::with_capacity(FILE_BUFFER_BYTES, file),
            digest: Sha256::new(),
            line: 0,
        };
        let mut tx = self.engine.write().await?;
        let mut receipts = Restoring::into(self);
        let restored = async {
            expect_empty(&mut tx).await?;
            let mut feeds = FeedsAnew::at(now)?;
            let (end, has_receipts) = read_rows(&mut tx, &mut input, &mut receipts, &mut feeds).await?;
            outside.check(&installation::read(&mut tx).await?).map_err(BackupError::OtherInstallation)?;
            receipts.finish(&mut tx).await?;
            self.chains.begin_in(&mut tx).await?;
            follow_audit(&mut tx, &self.chains).await?;
            if let Some(fault) = ledger::follow(&mut tx, &self.chains).await?.faults.first() {
                return Err(BackupError::Ledger(*fault));
            }
            feeds.finish(&mut tx).await?;
            Ok((tables::count_change(&mut tx).await?, BackupReport::new(end, has_receipts)))
        };
        match restored.await {
            Ok((count, report)) => {
                if let Err(error) = tx.commit().await {
                    receipts.give_up().await;
                    return Err(error.into());
                }
                self.moved_to(count);
                Ok(report)
            }
            Err(error) => {
                tx.rollback().await;
                receipts.give_up().await;
                Err(error)
            }
        }
    }
}

async fn expect_empty(tx: &mut Tx) -> Result<(), BackupError> {
    for table in &TABLES {
        if installation::holds_content(table.name) && !tx.query(table.first, Vec::new()).await?.is_empty() {
            return Err(BackupError::NotEmpty(table.name));
        }
    }
    if !tx.query("SELECT number FROM receipt_segments LIMIT 1", Vec::new()).await?.is_empty() {
        return Err(BackupError::NotEmpty("receipts"));
    }
    for sql in ["DELETE FROM counters", "DELETE FROM chain_starts", "DELETE FROM installation"] {
        tx.execute(sql, Vec::new()).await?;
    }
    Ok(())
}

/// The file, with the digest of the lines before the present one.
struct Input<'a> {
    path: &'a Path,
    file: BufReader<File>,
    digest: Sha256,
    line: u64,
}

impl Input<'_> {
    fn say_damaged(&self, problem: impl Into<String>) -> BackupError {
        BackupError::Damaged { line: self.line, problem: problem.into() }
    }

    /// The next line with its end.
    async fn next(&mut self) -> Result<Vec<u8>, BackupError> {
        self.line += 1;
        let mut line = Vec::new();
        let mut bounded = (&mut self.file).take(LINE_MAX_BYTES);
        let read = bounded.read_until(b'\n', &mut line).await;
        read.map_err(|cause| BackupError::File { path: self.path.to_owned(), cause })?;
        match line.last() {
            Some(b'\n') => Ok(line),
            None => Err(self.say_damaged("the file ends without its last line")),
            Some(_) => Err(self.say_damaged("the line is cut off, or too long")),
        }
    }

    fn parse<'l, T: Deserialize<'l>>(&self, line: &'l [u8]) -> Result<T, BackupError> {
        serde_json::from_slice(line).map_err(|error| self.say_damaged(error.to_string()))
    }
}

/// Rows that are put into the database together: a statement for each would wait for an answer each.
#[derive(Default)]
struct Waiting {
    insert: Option<Insert>,
    rows: Vec<Vec<Value>>,
    bytes: i64,
}

impl Waiting {
    async fn add(&mut self, tx: &mut Tx, insert: Insert, row: Vec<Value>) -> Result<(), BackupError> {
        if self.insert != Some(insert) || self.rows.len() >= ROWS_AT_ONCE || self.bytes >= BYTES_AT_ONCE {
            self.flush(tx).await?;
            self.insert = Some(insert);
        }
        self.bytes += row.iter().map(value_bytes).sum::<i64>();
        self.rows.push(row);
        Ok(())
    }

    async fn flush(&mut self, tx: &mut Tx) -> Result<(), BackupError> {
        let Some(insert) = self.insert else { return Ok(()) };
        self.bytes = 0;
        Ok(tx.insert(insert, std::mem::take(&mut self.rows)).await?)
    }
}

/// What a line after the header can be.
#[derive(Deserialize)]
#[serde(untagged)]
enum RowOrEnd {
    Row(Line),
    End(End),
}

/// The last line, and whether receipts were put into the backup.
async fn read_rows(
    tx: &mut Tx,
    input: &mut Input<'_>,
    receipts: &mut Restoring<'_>,
    feeds: &mut FeedsAnew,
) -> Result<(End, bool), BackupError> {
    let line = input.next().await?;
    let header: Header = input.parse(&line)?;
    check(&header, input)?;
    input.digest.update(&line);
    let (mut counts, mut waiting): (BTreeMap<String, u64>, _) = (BTreeMap::new(), Waiting::default());
    loop {
        let line = input.next().await?;
        let Line { table: name, row } = match input.parse(&line)? {
            RowOrEnd::Row(row) => row,
            RowOrEnd::End(end) => {
                waiting.flush(tx).await?;
                return finish(end, counts, input).await.map(|end| (end, header.receipts));
            }
        };
        input.digest.update(&line);
        let table = TABLES.iter().find(|table| table.name == name);
        let table = table.ok_or_else(|| input.say_damaged("there is no table of that name"))?;
        let mut values =
            table.values(row).ok_or_else(|| input.say_damaged("the row has another form than its table"))?;
        if table.name == feed::TABLE {
            feeds.renumber(&mut values).map_err(|problem| input.say_damaged(problem))?;
        }
        if let Some((insert, values)) = receipts.take(tx, table, values).await? {
            waiting.add(tx, insert, values).await?;
        }
        *counts.entry(name).or_insert(0) += 1;
    }
}

fn check(header: &Header, input: &Input<'_>) -> Result<(), BackupError> {
    let Header { format, format_version, schema_version, made_at_ms: _, receipts: _ } = header;
    if format != FORMAT {
        return Err(input.say_damaged("the file is no backup of an intent gateway"));
    }
    for (found, known) in [(*format_version, FORMAT_VERSION), (*schema_version, migrate::VERSION)] {
        if found > known {
            return Err(BackupError::Newer { found, known });
        }
        if found < known {
            return Err(
                input.say_damaged("an older gateway made it: restore it with that one, then start this one on it")
            );
        }
    }
    Ok(())
}

async fn finish(end: End, counts: BTreeMap<String, u64>, input: &mut Input<'_>) -> Result<End, BackupError> {
    let digest = Digest::from_bytes(std::mem::take(&mut input.digest).finalize().into());
    if end != (End { rows: counts, sha256: digest }) {
        return Err(input.say_damaged("the rows are not those that were written: the file was changed or cut"));
    }
    let mut rest = [0];
    let more = input.file.read(&mut rest).await;
    match more.map_err(|cause| BackupError::File { path: input.path.to_owned(), cause })? {
        0 => Ok(end),
        _ => Err(input.say_damaged("something follows the end")),
    }
}
