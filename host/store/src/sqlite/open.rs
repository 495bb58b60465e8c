//! Opens SQLite files: for their owner's eyes only, and with the settings that keep what was acknowledged. A setting that
//! does not take is an error, not a hope.

use std::fs::{OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::OpenError;

/// The file's mode. SQLite gives its log and index the mode of the database.
const FILE_MODE: u32 = 0o600;
/// Mode of a folder that is made for it.
const FOLDER_MODE: u32 = 0o700;
/// Wait before a setting of the file is tried again that another connection stood in the way of.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);
/// Prepared statements kept by each connection.
const STATEMENTS_KEPT: usize = 64;

/// Opens the connection that writes.
pub(crate) fn open(path: &Path, busy_max: Duration) -> Result<Connection, OpenError> {
    make_private(path).map_err(|cause| OpenError::File { path: path.to_owned(), cause })?;
    let connection = connect(path, busy_max)?;
    let mode = keep_log(&connection, busy_max).map_err(|error| OpenError::Engine(error.into()))?;
    if mode != "wal" {
        return Err(OpenError::Setting { setting: "journal_mode", wanted: "wal", found: mode });
    }
    settle(&connection)?;
    Ok(connection)
}

/// Has the file keep a log of writes; the mode that it is in then. The mode is kept in the file itself, so one connection
/// sets it for all. Where several set it at once on a new file, SQLite does not wait: each holds what the others need, so
/// all but one are told at once that it is busy. They try again.
fn keep_log(connection: &Connection, busy_max: Duration) -> rusqlite::Result<String> {
    let begun = Instant::now();
    loop {
        let set = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
        match set {
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == ErrorCode::DatabaseBusy && begun.elapsed() < busy_max =>
            {
                std::thread::park_timeout(BETWEEN_TRIES);
            }
            outcome => return outcome,
        }
    }
}

/// Opens a connection that reads.
pub(crate) fn open_to_read(path: &Path, busy_max: Duration) -> Result<Connection, OpenError> {
    let connection = connect(path, busy_max)?;
    settle(&connection)?;
    set(&connection, "query_only", "ON", 1)?;
    Ok(connection)
}

fn make_private(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let mode = std::fs::metadata(path)?.permissions().mode();
            if mode & 0o077 != 0 {
                tracing::warn!(path = %path.display(), "others could read the database; they cannot any more");
                std::fs::set_permissions(path, Permissions::from_mode(FILE_MODE))?;
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn connect(path: &Path, busy_max: Duration) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(busy_max)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        // Otherwise some statements are planned anew for each value that is bound to them, which took a quarter of the
        // time of a report.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| OpenError::Engine(error.into()))
}

/// What each connection sets for itself.
fn settle(connection: &Connection) -> Result<(), OpenError> {
    // A commit is acknowledged once it is on the disk.
    set(connection, "synchronous", "FULL", 2)?;
    set(connection, "foreign_keys", "ON", 1)?;
    // What is deleted is overwritten: codes and keys do not linger in the file.
    set(connection, "secure_delete", "ON", 1)?;
    // Nothing of it is written to other files.
    set(connection, "temp_store", "MEMORY", 2)?;
    // A file that somebody tampered with runs no code of its own.
    set(connection, "trusted_schema", "OFF", 0)
}

/// Sets and reads back.
fn set(connection: &Connection, setting: &'static str, wanted: &'static str, figure: i64) -> Result<(), OpenError> {
    let engine = |error: rusqlite::Error| OpenError::Engine(error.into());
    // Some settings answer when set and some do not.
    connection.pragma_update(None, setting, wanted).map_err(engine)?;
    let found: i64 = connection
        .pragma_query_value(None, setting, |row| i64::column_result(row.get_ref(0)?).map_err(Into::into))
        .map_err(engine)?;
    if found == figure { Ok(()) } else { Err(OpenError::Setting { setting, wanted, found: found.to_string() }) }
}
