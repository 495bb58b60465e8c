//! Writes SQLite's files anew, so that nothing is left of what was deleted: no copy in a free part of a page, none in the log of
//! writes. PostgreSQL looks after its own files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::OpenError;
use crate::location::{Location, StorePlace};
use crate::sqlite::{folder_of, open_to_write};

/// How long it is waited for others who write or read.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What became smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes of the files before: of the database, and of each segment of receipts.
    pub before: u64,
    /// And after.
    pub after: u64,
    /// Whether the logs of writes are empty. One is not where somebody else was reading all the time.
    pub is_log_empty: bool,
}

/// Compacts the files of a database, one after the other; nothing where it is not a file. Gateways that serve on it wait meanwhile:
/// whoever keeps receipts for the segments, and all others for the database alone.
///
/// # Errors
/// [`OpenError`] when a file cannot be opened or written; it is as it was then.
pub async fn compact(location: &Location) -> Result<Option<Compacted>, OpenError> {
    let StorePlace::Sqlite(path) = location.place() else { return Ok(None) };
    let path = path.to_owned();
    let done = tokio::task::spawn_blocking(move || {
        let mut all = compact_file(&path)?;
        for file in segment_files(&path)? {
            // One that was forgotten meanwhile.
            if !file.exists() {
                continue;
            }
            let Compacted { before, after, is_log_empty } = compact_file(&file)?;
            all.before += before;
            all.after += after;
            all.is_log_empty &= is_log_empty;
        }
        Ok(all)
    });
    done.await.map_err(|error| OpenError::Engine(error.into()))?.map(Some)
}

/// All files of receipts beside a database, whether or not it knows them.
fn segment_files(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |cause| OpenError::File { path: folder.clone(), cause };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "db") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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
