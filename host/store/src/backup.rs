//! Writes all that a database holds into one file that either engine can be restored from.
//!
//! The file is lines of JSON: a header, one line for each row, and an end with the number of rows and the SHA-256
//! digest of every byte before it. It holds what the database holds: marks and sealed secrets, never a plain one.
//! All rows are of one moment, while the gateway goes on serving and writing. On SQLite, where receipts lie in files of their own,
//! those that were kept by then are in it; of a segment that is forgotten meanwhile, the rest is not.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncWriteExt as _, BufWriter};

use crate::engine::{Insert, Tx, insert};
use crate::error::{BackupError, EngineError};
use crate::migrate;
use crate::records::SqlStore;
use crate::value::{Row, Value};

/// What the header calls the format, and its version.
pub(crate) const FORMAT: &str = "intent-gateway backup";
pub(crate) const FORMAT_VERSION: u64 = 1;
const FILE_MODE: u32 = 0o600;
/// Rows read at once.
const PAGE: u32 = 50;
/// Rows read at once of a table whose rows are files.
const FILES_PAGE: u32 = 4;
/// Rows read at once of a table whose rows are a few short names, a dozen of each order.
const NAMES_PAGE: u32 = 2_000;
/// What is read from a backup's file, or written to it, at once: each time is a way to another thread and back.
pub(crate) const FILE_BUFFER_BYTES: usize = 1024 * 1024;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: String,
    pub(crate) format_version: u64,
    /// Version of the tables that the rows come from.
    pub(crate) schema_version: u64,
    pub(crate) made_at_ms: Timestamp,
    /// Whether receipts of rankings are in it.
    #[serde(default = "holds_receipts")]
    pub(crate) receipts: bool,
}

fn holds_receipts() -> bool {
    true
}

/// A line of a row.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) table: String,
    pub(crate) row: Vec<Cell>,
}

/// A column of a row; bytes are base64 text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Number(i64),
    Text(Option<String>),
}

/// The last line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// Rows of each table that has any.
    pub(crate) rows: BTreeMap<String, u64>,
    /// Digest of all bytes before this line.
    pub(crate) sha256: Digest,
}

/// What was written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// Rows of each table that has any.
    pub rows: BTreeMap<String, u64>,
    /// Digest of the file but for its last line, which holds this digest.
    pub digest: Digest,
    /// Whether receipts of rankings were put into it.
    pub has_receipts: bool,
}

impl BackupReport {
    pub(crate) fn new(end: End, has_receipts: bool) -> Self {
        Self { rows: end.rows, digest: end.sha256, has_receipts }
    }
}

/// What is put into a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupScope {
    /// All of it.
    Everything,
    /// All but receipts of rankings, which are most of a store and nothing that money or people depend on.
    WithoutReceipts,
}

/// A table as a backup sees it: its rows in order of its key.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// How many columns, from the first on, are the key.
    key: usize,
    /// The columns that hold numbers; all others hold text or bytes.
    numbers: &'static [usize],
    /// The columns that hold bytes, in the file as base64.
    bytes: &'static [usize],
    /// The columns that may hold nothing.
    optional: &'static [usize],
    width: usize,
    pub(crate) rows_at_once: u32,
    pub(crate) page: &'static str,
    pub(crate) first: &'static str,
    pub(crate) insert: Insert,
    /// Of receipts: how PostgreSQL reads and writes those that lie in segments.
    pub(crate) in_segments: Option<SegmentStatements>,
}

/// Statements for rows in segments on PostgreSQL. In the files of SQLite the tables are called as in the database.
#[derive(Clone, Copy)]
pub(crate) struct SegmentStatements {
    /// None where the table of the database holds those of all segments.
    pub(crate) page: Option<&'static str>,
    pub(crate) insert: Insert,
}

macro_rules! table {
    ($name:literal, [$first:literal $(, $column:literal)*], $places:literal, $($what:ident: $which:expr),*) => {
        table!($name, key [$first] page "$1", "$2", [$first $(, $column)*], $places, $($what: $which),*)
    };
    (
        $name:literal, key [$key:literal $(, $more:literal)*] page $after:literal, $limit:literal,
        [$first:literal $(, $column:literal)*], $places:literal, $($what:ident: $which:expr),*
    ) => {
        Table {
            name: $name,
            key: [$key $(, $more)*].len(),
            width: [$first $(, $column)*].len(),
            page: concat!(
                "SELECT ", $first $(, ", ", $column)*, " FROM ", $name, " WHERE (", $key $(, ", ", $more)*, ") > (", $after,
                ") ORDER BY ", $key $(, ", ", $more)*, " LIMIT ", $limit
            ),
            first: concat!("SELECT ", $first, " FROM ", $name, " LIMIT 1"),
            insert: insert!($name, [$first $(, $column)*], $places),
            $($what: &$which,)*
            ..NO_TABLE
        }
    };
}

/// What a table is not said to have.
const NO_TABLE: Table = Table {
    name: "",
    key: 0,
    numbers: &[],
    bytes: &[],
    optional: &[],
    width: 0,
    rows_at_once: PAGE,
    page: "",
    first: "",
    insert: Insert { row: "", columns: "" },
    in_segments: None,
};

macro_rules! records {
    ($name:literal) => {
        table!(
            $name,
            ["key", "revision", "lookup", "status", "body"],
            "$1, $2, $3, $4, $5",
            numbers: [1],
            optional: [2, 3]
        )
    };
}

const RECEIPTS_IN_SEGMENTS: SegmentStatements = SegmentStatements {
    page: Some(
        "SELECT number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, dictionary \
         FROM segment_receipts WHERE number > $1 ORDER BY number LIMIT $2",
    ),
    insert: insert!(
        "segment_receipts",
        [
            "number",
            "id",
            "at_ms",
            "request_id",
            "intent",
            "version",
            "contract",
            "outcome",
            "body",
            "user_mark",
            "dictionary"
        ],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11"
    ),
};
const PARTS_IN_SEGMENTS: SegmentStatements = SegmentStatements {
    page: Some(
        "SELECT receipt, place, partner, request_id, intent, at_ms, shown, quoted, body, dictionary \
         FROM segment_receipt_parts WHERE (receipt, place) > ($1, $2) ORDER BY receipt, place LIMIT $3",
    ),
    insert: insert!(
        "segment_receipt_parts",
        ["receipt", "place", "partner", "request_id", "intent", "at_ms", "shown", "quoted", "body", "dictionary"],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10"
    ),
};
const DICTIONARIES_IN_SEGMENTS: SegmentStatements =
    SegmentStatements { page: None, insert: insert!("receipt_dictionaries", ["number", "bytes"], "$1, $2") };

/// All tables, in the order of the file. Those of segments stand in the rows' numbers (`receipts`).
pub(crate) const TABLES: [Table; 40] = [
    records!("accounts"),
    records!("email_codes"),
    records!("credentials"),
    records!("webhooks"),
    records!("manifests"),
    records!("reviews"),
    records!("connections"),
    records!("links"),
    records!("pending_links"),
    records!("link_clients"),
    records!("attempts"),
    records!("documents"),
    Table { rows_at_once: FILES_PAGE, ..records!("document_contents") },
    records!("orders"),
    records!("ordered_options"),
    records!("test_reports"),
    records!("approvals"),
    records!("contracts"),
    records!("contract_names"),
    Table { rows_at_once: FILES_PAGE, ..records!("component_parts") },
    records!("contract_states"),
    records!("contract_revocations"),
    records!("rollout_evidence"),
    records!("web_sessions"),
    records!("partner_events"),
    records!("queued_events"),
    records!("notices"),
    Table {
        rows_at_once: NAMES_PAGE,
        ..table!(
            "record_names",
            key ["kind", "name", "key"] page "$1, $2, $3", "$4",
            ["kind", "name", "key"],
            "$1, $2, $3",
        )
    },
    Table {
        rows_at_once: NAMES_PAGE,
        ..table!(
            "record_changes",
            key ["kind", "key"] page "$1, $2", "$3",
            ["kind", "key", "feed", "number"],
            "$1, $2, $3, $4",
            numbers: [3]
        )
    },
    table!("counters", ["name", "value"], "$1, $2", numbers: [1]),
    table!("mail", ["id", "sealed", "not_before_ms", "tries"], "$1, $2, $3, $4", numbers: [2, 3]),
    table!(
        "audit_log",
        ["seq", "at_ms", "role", "actor", "action", "subject", "detail", "hash"],
        "$1, $2, $3, $4, $5, $6, $7, $8",
        numbers: [0, 1]
    ),
    table!("installation", ["id", "begun_at_ms"], "$1, $2", numbers: [1]),
    table!("chain_starts", ["chain", "number", "hash", "seal"], "$1, $2, $3, $4", numbers: [1]),
    table!(
        "ledger",
        [
            "number", "turn", "posted_at_ms", "closed_at_ms", "partner", "intent", "external_id", "request_id", "status",
            "month", "amount", "rate", "judge", "stand_in", "late_minutes", "report", "kind", "receivable", "revenue",
            "reverses", "reason", "hash"
        ],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22",
        numbers: [0, 1, 2, 3, 10, 11, 13, 14, 16, 17, 18, 19],
        optional: [14]
    ),
    table!(
        "findings",
        [
            "number", "at_ms", "partner", "intent", "request_id", "option_id", "external_id", "severity", "pointer",
            "code", "message", "source", "option_place", "excerpt"
        ],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14",
        numbers: [0, 1, 12],
        optional: [5, 6, 11, 12, 13]
    ),
    Table {
        in_segments: Some(DICTIONARIES_IN_SEGMENTS),
        rows_at_once: FILES_PAGE,
        ..table!("receipt_dictionaries", ["number", "bytes"], "$1, $2", numbers: [0], bytes: [1])
    },
    Table {
        in_segments: Some(RECEIPTS_IN_SEGMENTS),
        ..table!(
        "receipts",
        ["number", "id", "at_ms", "request_id", "intent", "version", "contract", "outcome", "body", "user_mark", "dictionary"],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11",
        numbers: [0, 2, 10],
        bytes: [8],
        optional: [9, 10]
        )
    },
    Table {
        in_segments: Some(PARTS_IN_SEGMENTS),
        ..table!(
        "receipt_parts",
        key ["receipt", "place"] page "$1, $2", "$3",
        ["receipt", "place", "partner", "request_id", "intent", "at_ms", "shown", "quoted", "body", "dictionary"],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10",
        numbers: [0, 1, 5, 6, 9],
        bytes: [7, 8],
        optional: [9]
        )
    },
    Table {
        rows_at_once: FILES_PAGE,
        ..table!(
            "contract_faults",
            [
                "number", "at_ms", "last_at_ms", "times", "others", "intent", "version", "contract", "function",
                "request_id", "code", "fault", "message", "place", "input_bytes", "input"
            ],
            "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16",
            numbers: [0, 1, 2, 3, 4, 14],
            optional: [9, 12, 13, 15]
        )
    },
];

impl Table {
    /// A row of the file as values, if it has this table's form.
    pub(crate) fn values(&self, row: Vec<Cell>) -> Option<Vec<Value>> {
        let value = |(at, cell)| match cell {
            Cell::Number(number) => self.numbers.contains(&at).then(|| number.into()),
            Cell::Text(None) if !self.optional.contains(&at) => None,
            Cell::Text(None) if self.numbers.contains(&at) => Some(Value::Integer(None)),
            Cell::Text(None) => Some(Value::Text(None)),
            Cell::Text(Some(_)) if self.numbers.contains(&at) => None,
            Cell::Text(Some(text)) if self.bytes.contains(&at) => BASE64.decode(text).ok().map(Value::Bytes),
            Cell::Text(Some(text)) => Some(text.into()),
        };
        let complete = row.len() == self.width;
        row.into_iter().enumerate().map(value).collect::<Option<_>>().filter(|_| complete)
    }

    /// The key before that of every row.
    pub(crate) fn before_all(&self) -> Vec<Value> {
        // Texts that are keys are not empty, and numbers count from 1, or from 0 after one that does.
        (0..self.key).map(|at| if self.numbers.contains(&at) { 0_u32.into() } else { "".into() }).collect()
    }

    /// Rows of the table, with the key of the last of them; none where there are no more.
    pub(crate) fn advance(&self, rows: Vec<Row>, after: &mut Vec<Value>) -> Result<Option<Vec<Row>>, EngineError> {
        let Some(last) = rows.last() else { return Ok(None) };
        let key = last.0.get(..self.key).map(<[_]>::to_vec);
        *after = key.ok_or_else(|| EngineError::failed("a row has no key"))?;
        Ok(Some(rows))
    }
}

impl SqlStore {
    /// Backs the database up into a new file.
    ///
    /// # Errors
    /// [`BackupError`] when the file is there already or cannot be written, or the engine fails; a file begun is removed.
    pub async fn backup(&self, to: &Path, now: Timestamp) -> Result<BackupReport, BackupError> {
        self.backup_in(BackupScope::Everything, to, now).await
    }

    /// Backs the database up, or a part of it, into a new file.
    ///
    /// # Errors
    /// As [`backup`](Self::backup).
    pub async fn backup_in(&self, scope: BackupScope, to: &Path, now: Timestamp) -> Result<BackupReport, BackupError> {
        let file_error = |cause| BackupError::File { path: to.to_owned(), cause };
        let file =
            OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(to).await.map_err(file_error)?;
        let written = self.write_backup(file, to, scope, now).await;
        if written.is_err() {
            // What went wrong before is what the caller has to know.
            let _ = tokio::fs::remove_file(to).await;
        }
        written
    }

    async fn write_backup(
        &self,
        file: File,
        to: &Path,
        scope: BackupScope,
        now: Timestamp,
    ) -> Result<BackupReport, BackupError> {
        let file_error = |cause| BackupError::File { path: to.to_owned(), cause };
        let mut tx = self.engine.read().await?;
        let mut output = Output { file: BufWriter::with_capacity(FILE_BUFFER_BYTES, file), digest: Sha256::new() };
        let written = self.write_rows(&mut tx, &mut output, scope, now).await;
        tx.rollback().await;
        let rows = written.map_err(|error| match error {
            WriteError::File(cause) => file_error(cause),
            WriteError::Engine(error) => error.into(),
        })?;
        let Output { mut file, digest } = output;
        let end = End { rows, sha256: Digest::from_bytes(digest.finalize().into()) };
        let finish = async {
            file.write_all(&line_of(&end)?).await?;
            file.flush().await?;
            file.get_ref().sync_all().await?;
            // The name is on the disk only when the folder is.
            let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new("."))).await?.sync_all().await
        };
        finish.await.map_err(file_error)?;
        Ok(BackupReport::new(end, scope == BackupScope::Everything))
    }
}

/// What can go wrong in the middle.
enum WriteError {
    File(std::io::Error),
    Engine(EngineError),
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}

impl From<EngineError> for WriteError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// The file, with the digest of what was written.
struct Output {
    file: BufWriter<File>,
    digest: Sha256,
}

impl Output {
    async fn line(&mut self, line: &impl Serialize) -> Result<(), std::io::Error> {
        let line = line_of(line)?;
        self.digest.update(&line);
        self.file.write_all(&line).await
    }
}

fn line_of(value: &impl Serialize) -> Result<Vec<u8>, std::io::Error> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

impl SqlStore {
    async fn write_rows(
        &self,
        tx: &mut Tx,
        output: &mut Output,
        scope: BackupScope,
        now: Timestamp,
    ) -> Result<BTreeMap<String, u64>, WriteError> {
        let header = Header {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            schema_version: migrate::VERSION,
            made_at_ms: now,
            receipts: scope == BackupScope::Everything,
        };
        output.line(&header).await?;
        let files = self.segment_ends().await?;
        let mut counts = BTreeMap::new();
        for table in &TABLES {
            if table.in_segments.is_some() && scope == BackupScope::WithoutReceipts {
                continue;
            }
            let mut written = 0;
            let mut after = table.before_all();
            while let Some(rows) = next_page(tx, table, table.page, &mut after).await? {
                written += write_page(output, table, rows).await?;
            }
            match (&*tx, table.in_segments) {
                (_, None) => {}
                (Tx::Postgres(_), Some(statements)) => {
                    let (page, mut after) = (statements.page, table.before_all());
                    while let Some(page) = page
                        && let Some(rows) = next_page(tx, table, page, &mut after).await?
                    {
                        written += write_page(output, table, rows).await?;
                    }
                }
                (Tx::Sqlite(_), Some(_)) => {
                    for end in &files {
                        let mut after = table.before_all();
                        while let Some(rows) = tx.wait_for(self.page_of_file(*end, table, &mut after)).await?? {
                            written += write_page(output, table, rows).await?;
                        }
                    }
                }
            }
            if written > 0 {
                counts.insert(table.name.to_owned(), written);
            }
        }
        Ok(counts)
    }
}

/// The next rows of a table, and the key of the last of them; none where there are no more.
async fn next_page(
    tx: &mut Tx,
    table: &Table,
    page: &'static str,
    after: &mut Vec<Value>,
) -> Result<Option<Vec<Row>>, EngineError> {
    let mut values = after.clone();
    values.push(table.rows_at_once.into());
    table.advance(tx.query(page, values).await?, after)
}

async fn write_page(output: &mut Output, table: &Table, rows: Vec<Row>) -> Result<u64, std::io::Error> {
    let mut written = 0;
    for row in rows {
        let row = row.into_values().into_iter().map(cell).collect();
        output.line(&Line { table: table.name.to_owned(), row }).await?;
        written += 1;
    }
    Ok(written)
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Integer(Some(number)) => Cell::Number(number),
        Value::Integer(None) => Cell::Text(None),
        Value::Text(text) => Cell::Text(text),
        Value::Bytes(bytes) => Cell::Text(Some(BASE64.encode(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::store::Kind;

    use super::*;

    #[test]
    fn every_kind_is_backed_up_in_its_order() {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(names[..Kind::ALL.len()], Kind::ALL.map(Kind::name));
    }

    #[test]
    fn rows_of_another_form_are_refused() {
        let accounts = &TABLES[0];
        let row = |cells: &str| serde_json::from_str::<Vec<Cell>>(cells).ok().and_then(|cells| accounts.values(cells));
        assert!(row(r#"["ptr_1", 1, null, null, "{}"]"#).is_some());
        for bad in [
            r#"["ptr_1", 1, null, null]"#,
            r#"["ptr_1", 1, null, null, "{}", "x"]"#,
            r#"["ptr_1", "1", null, null, "{}"]"#,
            r#"["ptr_1", 1.5, null, null, "{}"]"#,
            r#"[null, 1, null, null, "{}"]"#,
            r#"["ptr_1", null, null, null, "{}"]"#,
            r#"["ptr_1", 1, 2, null, "{}"]"#,
        ] {
            assert!(row(bad).is_none(), "{bad}");
        }
    }
}
