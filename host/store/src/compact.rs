//! Writes a SQLite file anew, so that nothing is left of what was deleted: no copy in a free part of a page, none in the log of
//! writes. PostgreSQL looks after its own files.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::error::OpenError;
use crate::location::{Location, StorePlace};
use crate::sqlite::open_to_write;

/// How long it is waited for others who write or read.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What became smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes of the file before.
    pub before: u64,
    /// And after.
    pub after: u64,
    /// Whether the log of writes is empty. It is not where somebody else was reading all the time.
    pub is_log_empty: bool,
}

/// Compacts the file of a database; nothing where it is no file. Gateways that serve on it wait meanwhile.
///
/// # Errors
/// [`OpenError`] when the file cannot be opened or written; it is as it was then.
pub async fn compact(location: &Location) -> Result<Option<Compacted>, OpenError> {
    let StorePlace::Sqlite(path) = location.place() else { return Ok(None) };
    let path = path.to_owned();
    let done = tokio::task::spawn_blocking(move || compact_file(&path)).await;
    done.map_err(|error| OpenError::Engine(error.into()))?.map(Some)
}

fn compact_file(path: &Path) -> Result<Compacted, OpenError> {
    let size = || {
        let metadata = std::fs::metadata(path);
        metadata.map(|file| file.len()).map_err(|cause| OpenError::File { path: path.to_owned(), cause })
    };
    let before = size()?;
    let connection = open_to_write(path, WAIT_MAX)?;
    let is_log_empty = write_anew(&connection).map_err(|error| OpenError::Engine(error.into()))?;
    drop(connection);
    Ok(Compacted { before, after: size()?, is_log_empty })
}

fn write_anew(connection: &Connection) -> rusqlite::Result<bool> {
    connection.execute_batch("VACUUM")?;
    // The first column says whether somebody stood in the way.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0))
}
