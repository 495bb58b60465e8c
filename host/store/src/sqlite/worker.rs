//! The threads that own SQLite's connections. Each carries out one transaction at a time: statement by statement, as its
//! owner asks, and an owner that goes away or falls silent has it rolled back; or a whole one at once, where its owner
//! has said beforehand all that is to be done.

use std::borrow::Cow;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot};

use super::turn::Turn;
use crate::engine::Session;
use crate::error::{EngineError, OpenError};
use crate::postgres::PostgresTx;
use crate::value::{Row, Value};

type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// A statement and its parameters.
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
}

/// What a thread is asked to do.
pub(crate) enum Job {
    /// One statement that reads.
    Query(Statement, Reply<Vec<Row>>),
    /// A transaction; `begun` says that it has begun, and the commands follow.
    Transaction { begun: Reply<()>, commands: Receiver<Command> },
    /// A transaction that needs nobody's word in between: all of it is done on the thread itself, by [`carry_out`].
    Batch(Whole),
}

/// Carries out a whole transaction on the thread's connection.
pub(crate) type Whole = Box<dyn FnOnce(&Connection, Begin) + Send>;

/// The transaction of a [`Job::Batch`]. Parameters of its statements appear in their order, so that none is looked up.
pub(crate) struct Batch<'c> {
    connection: &'c Connection,
}

impl<'c> Batch<'c> {
    /// Over a connection on which a transaction is under way.
    fn of(connection: &'c Connection) -> Self {
        Self { connection }
    }

    /// Gives up what was done so far, and begins once more.
    pub(crate) fn begin_anew(&self) -> Result<(), EngineError> {
        if is_under_way(self.connection) {
            self.connection
                .execute_batch("ROLLBACK")
                .map_err(|error| fail("a transaction cannot be rolled back", error))?;
        }
        begin_on(self.connection, Begin::Immediate)
    }

    /// Runs a statement; its rows.
    pub(crate) fn query<'v>(
        &self,
        sql: &'static str,
        values: impl IntoIterator<Item = &'v Value>,
    ) -> Result<Vec<Row>, EngineError> {
        query_in_order(under_way(self.connection)?, sql, values)
    }

    /// Runs a statement; the number of rows that it changed.
    pub(crate) fn execute<'v>(
        &self,
        sql: &'static str,
        values: impl IntoIterator<Item = &'v Value>,
    ) -> Result<usize, EngineError> {
        let connection = under_way(self.connection)?;
        let run = || {
            let mut prepared = connection.prepare_cached(sql)?;
            bind_in_order(&mut prepared, values)?;
            prepared.raw_execute()
        };
        run().map_err(|error| fail("a statement failed", error))
    }
}

impl Session for &Batch<'_> {
    async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        values.iter().try_for_each(Value::check)?;
        execute(under_way(self.connection)?, &Statement { sql: sql.into(), values })
    }

    async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        values.iter().try_for_each(Value::check)?;
        query(under_way(self.connection)?, &Statement { sql: sql.into(), values })
    }

    async fn batch(&mut self, sql: &str) -> Result<(), EngineError> {
        execute_batch(under_way(self.connection)?, sql)
    }

    fn as_postgres(&mut self) -> Option<&mut PostgresTx> {
        None
    }
}

/// What is asked within a transaction.
pub(crate) enum Command {
    Execute(Statement, Reply<u64>),
    /// One statement, once with the values of each row.
    ExecuteAll(&'static str, Vec<Vec<Value>>, Reply<()>),
    Query(Statement, Reply<Vec<Row>>),
    Batch(String, Reply<()>),
    Commit(Reply<()>),
}

/// How transactions begin.
#[derive(Clone, Copy)]
pub(crate) enum Begin {
    /// With the lock of the writers, so that none fails half-way.
    Immediate,
    /// With the state that the first statement finds.
    Deferred,
}

/// Starts a thread that takes jobs until their sender is gone.
pub(crate) fn spawn(
    name: &str,
    connection: Connection,
    begin: Begin,
    silence_max: Duration,
    jobs: Arc<Mutex<mpsc::Receiver<Job>>>,
) -> Result<JoinHandle<()>, OpenError> {
    let serve = move || {
        // Threads that share a queue take turns at its end: whoever holds the lock gets the next job.
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        while let Some(job) = next() {
            match job {
                // An owner that does not wait for the answer any more is not a failure.
                Job::Query(statement, reply) => drop(reply.send(query(&connection, &statement))),
                Job::Transaction { begun, commands } => {
                    if start(&connection, begin, begun) {
                        // An owner that is gone and one that is silent for too long are treated alike.
                        follow(&connection, silence_max, &commands);
                    }
                    roll_back(&connection);
                }
                Job::Batch(work) => work(&connection, begin),
            }
        }
        if let Err((_, error)) = connection.close() {
            tracing::error!(%error, "a connection of the store cannot be closed");
        }
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(serve).map_err(|cause| OpenError::Engine(cause.into()))
}

/// Begins a transaction; whether its owner waits for it.
fn start(connection: &Connection, begin: Begin, begun: Reply<()>) -> bool {
    let ready = begin_on(connection, begin);
    let is_ready = ready.is_ok();
    begun.send(ready).is_ok() && is_ready
}

fn begin_on(connection: &Connection, begin: Begin) -> Result<(), EngineError> {
    let begin = match begin {
        Begin::Immediate => "BEGIN IMMEDIATE",
        Begin::Deferred => "BEGIN DEFERRED",
    };
    connection.execute_batch(begin).map_err(|error| fail("a transaction cannot begin", error))
}

/// Carries out a transaction, which holds unless the work fails. Its turn comes once it has begun, for another process may
/// have the lock.
pub(super) fn carry_out<T>(
    connection: &Connection,
    begin: Begin,
    turn: Turn<T>,
    work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError>,
) {
    if turn.is_given_up() {
        return;
    }
    match begin_on(connection, begin) {
        Err(error) => turn.answer(Err(error)),
        Ok(()) if turn.begin() => turn.answer(finish(connection, work)),
        Ok(()) => roll_back(connection),
    }
}

/// A whole transaction, which holds unless the work fails.
pub(super) fn transact<T>(
    connection: &Connection,
    begin: Begin,
    work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    begin_on(connection, begin)?;
    finish(connection, work)
}

fn finish<T>(
    connection: &Connection,
    work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let done = work(&Batch::of(connection)).and_then(|done| commit(under_way(connection)?).map(|()| done));
    roll_back(connection);
    done
}

/// One statement that stands outside of any transaction; its rows.
pub(super) fn ask(connection: &Connection, sql: &'static str) -> Result<Vec<Row>, EngineError> {
    query_in_order(connection, sql, &[] as &[Value])
}

/// Does what the owner asks, until the commit or the end of patience.
fn follow(connection: &Connection, silence_max: Duration, commands: &Receiver<Command>) {
    while let Ok(command) = commands.recv_timeout(silence_max) {
        let within = under_way(connection);
        match command {
            Command::Execute(statement, reply) => drop(reply.send(within.and_then(|tx| execute(tx, &statement)))),
            Command::ExecuteAll(sql, rows, reply) => {
                drop(reply.send(within.and_then(|tx| execute_all(tx, sql, &rows))));
            }
            Command::Query(statement, reply) => drop(reply.send(within.and_then(|tx| query(tx, &statement)))),
            Command::Batch(sql, reply) => drop(reply.send(within.and_then(|tx| execute_batch(tx, &sql)))),
            Command::Commit(reply) => {
                drop(reply.send(within.and_then(commit)));
                return;
            }
        }
    }
}

/// The connection, as long as its transaction is under way. On some failures, such as a full disk, SQLite rolls a transaction
/// back by itself: what was to be part of it would be kept by itself then.
fn under_way(connection: &Connection) -> Result<&Connection, EngineError> {
    if is_under_way(connection) {
        Ok(connection)
    } else {
        Err(EngineError::Unavailable { what: "the database has given the transaction up", cause: None })
    }
}

fn is_under_way(connection: &Connection) -> bool {
    !connection.is_autocommit()
}

fn commit(connection: &Connection) -> Result<(), EngineError> {
    connection.execute_batch("COMMIT").map_err(|error| fail("a commit failed", error))
}

/// Ends a transaction that is not over.
fn roll_back(connection: &Connection) {
    if is_under_way(connection)
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a transaction cannot be rolled back");
    }
}

fn execute_batch(connection: &Connection, sql: &str) -> Result<(), EngineError> {
    connection.execute_batch(sql).map_err(|error| fail("statements failed", error))
}

fn query_in_order<'v>(
    connection: &Connection,
    sql: &'static str,
    values: impl IntoIterator<Item = &'v Value>,
) -> Result<Vec<Row>, EngineError> {
    let run = || {
        let mut prepared = connection.prepare_cached(sql)?;
        bind_in_order(&mut prepared, values)?;
        rows(&mut prepared)
    };
    run().map_err(|error| fail("a query failed", error))
}

fn execute(connection: &Connection, statement: &Statement) -> Result<u64, EngineError> {
    let run = || {
        let mut prepared = connection.prepare_cached(&statement.sql)?;
        bind(&mut prepared, &statement.values)?;
        prepared.raw_execute()
    };
    let rows = run().map_err(|error| fail("a statement failed", error))?;
    u64::try_from(rows).map_err(|_| EngineError::failed("a statement changed too many rows"))
}

fn execute_all(connection: &Connection, sql: &'static str, rows: &[Vec<Value>]) -> Result<(), EngineError> {
    let run = || {
        let mut prepared = connection.prepare_cached(sql)?;
        rows.iter().try_for_each(|row| {
            bind(&mut prepared, row)?;
            prepared.raw_execute().map(drop)
        })
    };
    run().map_err(|error| fail("a statement failed", error))
}

fn query(connection: &Connection, statement: &Statement) -> Result<Vec<Row>, EngineError> {
    let run = || {
        let mut prepared = connection.prepare_cached(&statement.sql)?;
        bind(&mut prepared, &statement.values)?;
        rows(&mut prepared)
    };
    run().map_err(|error| fail("a query failed", error))
}

/// Runs a statement whose parameters are bound.
fn rows(prepared: &mut rusqlite::Statement<'_>) -> rusqlite::Result<Vec<Row>> {
    let columns = prepared.column_count();
    let mut rows = prepared.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| read(column, row.get_ref(column)?));
        found.push(Row(values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

/// The names of parameters; no statement has more.
const NAMES: [&str; 32] = [
    "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$16", "$17",
    "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29", "$30", "$31", "$32",
];

/// SQLite takes `$1` for a name, so parameters are bound by name.
fn bind(prepared: &mut rusqlite::Statement<'_>, values: &[Value]) -> rusqlite::Result<()> {
    if values.len() > NAMES.len() {
        return Err(rusqlite::Error::InvalidParameterCount(values.len(), NAMES.len()));
    }
    for (name, value) in NAMES.iter().zip(values) {
        let Some(index) = prepared.parameter_index(name)? else { continue };
        bind_one(prepared, index, value)?;
    }
    Ok(())
}

fn bind_in_order<'v>(
    prepared: &mut rusqlite::Statement<'_>,
    values: impl IntoIterator<Item = &'v Value>,
) -> rusqlite::Result<()> {
    (1..).zip(values).try_for_each(|(index, value)| bind_one(prepared, index, value))
}

fn bind_one(prepared: &mut rusqlite::Statement<'_>, index: usize, value: &Value) -> rusqlite::Result<()> {
    match value {
        Value::Text(text) => prepared.raw_bind_parameter(index, text.as_deref()),
        Value::Integer(number) => prepared.raw_bind_parameter(index, number),
        Value::Bytes(bytes) => prepared.raw_bind_parameter(index, bytes),
    }
}

fn read(column: usize, value: ValueRef<'_>) -> rusqlite::Result<Value> {
    match value {
        ValueRef::Null => Ok(Value::Text(None)),
        ValueRef::Integer(number) => Ok(number.into()),
        ValueRef::Blob(bytes) => Ok(bytes.to_vec().into()),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|error| rusqlite::Error::Utf8Error(column, error))?;
            Ok(Value::Text(Some(text.into())))
        }
        ValueRef::Real(_) => Err(rusqlite::Error::InvalidColumnType(column, String::new(), value.data_type())),
    }
}

pub(super) fn fail(what: &'static str, error: rusqlite::Error) -> EngineError {
    match error.sqlite_error().map(|error| (error.code, error.extended_code)) {
        // The lock of the writers is waited for before this is said; the others are of the disk and of the file's mode.
        Some((
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::FileLockingProtocolFailed,
            _,
        )) => EngineError::unavailable(what, error),
        Some((
            ErrorCode::ConstraintViolation,
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        )) => EngineError::Taken,
        _ => EngineError::because(what, error),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_disk_that_takes_nothing_is_told_from_a_defect() {
        let told = |code| fail("a commit failed", rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        for code in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_READONLY_DBMOVED,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_PROTOCOL,
        ] {
            assert!(matches!(told(code), EngineError::Unavailable { .. }), "{code}");
        }
        for code in [ffi::SQLITE_ERROR, ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_CONSTRAINT_NOTNULL] {
            assert!(matches!(told(code), EngineError::Failed { .. }), "{code}");
        }
        assert!(matches!(told(ffi::SQLITE_CONSTRAINT_UNIQUE), EngineError::Taken));
    }
}
