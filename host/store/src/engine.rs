//! The one way in which the store's logic meets its engines. SQL is written once, in what both understand: `$1` for
//! parameters, `TEXT` and `BIGINT` for columns, `ON CONFLICT` and `RETURNING`.
//!
//! Both engines have one writer at a time, over all processes: SQLite by its own lock, PostgreSQL by an advisory
//! one. A transaction that writes therefore never fails for another's sake; it waits for it.

use std::time::Duration;

use crate::error::{EngineError, OpenError};
use crate::location::{Location, StorePlace};
use crate::postgres::{Postgres, PostgresTx};
use crate::sqlite::{Sqlite, SqliteTx};
use crate::value::{Column, Row, Value};

/// How often a transaction that waits for work elsewhere shows that it is not forgotten: well within [`Patience::statement`].
const SHOW_LIFE_EVERY: Duration = Duration::from_secs(1);

/// How long things may take. Who waits to begin outlasts a transaction that fell silent.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// Until a transaction begins: it waits for the lock of the writers, for a free connection.
    pub(crate) begin: Duration,
    /// A statement, and the silence between two of a transaction, which is rolled back then: others wait for it.
    pub(crate) statement: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { begin: Duration::from_secs(10), statement: Duration::from_secs(5) }
    }
}

/// A database that is open.
#[derive(Clone)]
pub(crate) enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Engine {
    /// Opens a database as it is, without looking at its tables.
    pub(crate) async fn open(location: &Location, patience: Patience) -> Result<Self, OpenError> {
        match location.place() {
            StorePlace::Postgres(url) => Ok(Self::Postgres(Postgres::open(url.expose(), patience)?)),
            StorePlace::Sqlite(path) => {
                let path = path.to_owned();
                let opened = tokio::task::spawn_blocking(move || Sqlite::open(&path, patience)).await;
                opened.map_err(|error| OpenError::Engine(error.into()))?.map(Self::Sqlite)
            }
        }
    }

    /// Says so when the server is set to lose what it acknowledged. SQLite's files are set here and cannot be.
    pub(crate) async fn warn_of_loss(&self) -> Result<(), EngineError> {
        if let Self::Postgres(engine) = self
            && engine
                .query("SELECT current_setting('fsync')", Vec::new())
                .await?
                .first()
                .map(|row| row.text(0))
                .transpose()?
                != Some("on".to_owned())
        {
            tracing::warn!("PostgreSQL runs with fsync off: a power cut may lose what the gateway has acknowledged");
        }
        Ok(())
    }

    /// Closes it, once nobody else holds it any more.
    pub(crate) async fn close(self) {
        match self {
            Self::Sqlite(engine) => engine.close().await,
            Self::Postgres(engine) => engine.close(),
        }
    }

    /// One statement that reads, in a transaction of its own.
    pub(crate) async fn query(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        match self {
            Self::Sqlite(engine) => engine.query(sql, values).await,
            Self::Postgres(engine) => engine.query(sql, values).await,
        }
    }

    /// Several statements that see one state of the database, and change nothing.
    pub(crate) async fn read(&self) -> Result<Tx, EngineError> {
        match self {
            Self::Sqlite(engine) => engine.read().await.map(Tx::Sqlite),
            Self::Postgres(engine) => engine.read().await.map(Tx::from),
        }
    }

    /// Several statements that hold together or not at all. Nobody else writes meanwhile.
    pub(crate) async fn write(&self) -> Result<Tx, EngineError> {
        match self {
            Self::Sqlite(engine) => engine.write().await.map(Tx::Sqlite),
            Self::Postgres(engine) => engine.write().await.map(Tx::from),
        }
    }

    /// As [`write`](Self::write), for leases alone: whoever changes them waits for nobody who writes anything else, where the engine
    /// can have two writers.
    pub(crate) async fn change_leases(&self) -> Result<Tx, EngineError> {
        match self {
            Self::Sqlite(engine) => engine.write().await.map(Tx::Sqlite),
            Self::Postgres(engine) => engine.change_leases().await.map(Tx::from),
        }
    }

    /// As [`write`](Self::write), for changes of the tables themselves, which may take long.
    pub(crate) async fn migrate(&self) -> Result<Tx, EngineError> {
        match self {
            Self::Sqlite(engine) => engine.write().await.map(Tx::Sqlite),
            Self::Postgres(engine) => engine.migrate().await.map(Tx::from),
        }
    }
}

/// Statements of one transaction that is under way, wherever they are asked for: from a task, or on the thread that owns SQLite's
/// connection, where none of them waits.
pub(crate) trait Session {
    /// Runs a statement; the number of rows that it changed.
    async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError>;

    /// Runs a statement; its rows.
    async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError>;

    /// Runs several statements without parameters.
    async fn batch(&mut self, sql: &str) -> Result<(), EngineError>;

    /// The transaction as PostgreSQL has it, for what that does in its own way; none on SQLite.
    fn as_postgres(&mut self) -> Option<&mut PostgresTx>;
}

/// How rows are put into a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Insert {
    /// SQLite's statement, whose parameters are the values of one row.
    pub(crate) row: &'static str,
    /// PostgreSQL's, whose parameters are the columns of many.
    pub(crate) columns: &'static str,
}

/// Both statements for a table, its columns, and their parameters.
macro_rules! insert {
    ($table:literal, [$first:literal $(, $column:literal)*], $places:literal) => {
        $crate::engine::Insert {
            row: concat!("INSERT INTO ", $table, " (", $first $(, ", ", $column)*, ") VALUES (", $places, ")"),
            columns: concat!(
                "INSERT INTO ", $table, " (", $first $(, ", ", $column)*, ") SELECT * FROM UNNEST(", $places, ")"
            ),
        }
    };
}
pub(crate) use insert;

/// A transaction. Dropped without a commit, it is rolled back.
pub(crate) enum Tx {
    Sqlite(SqliteTx),
    Postgres(Box<PostgresTx>),
}

impl From<PostgresTx> for Tx {
    fn from(tx: PostgresTx) -> Self {
        Self::Postgres(Box::new(tx))
    }
}

impl Tx {
    /// Runs a statement; the number of rows that it changed.
    pub(crate) async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        values.iter().try_for_each(Value::check)?;
        match self {
            Self::Sqlite(tx) => tx.execute(sql, values).await,
            Self::Postgres(tx) => tx.execute(sql, values).await,
        }
    }

    /// Puts rows of one form into a table, in their order.
    pub(crate) async fn insert(&mut self, into: Insert, rows: Vec<Vec<Value>>) -> Result<(), EngineError> {
        rows.iter().flatten().try_for_each(Value::check)?;
        if rows.is_empty() {
            return Ok(());
        }
        match self {
            Self::Sqlite(tx) => tx.execute_all(into.row, rows).await,
            // A statement for each row would cost the server several times as much.
            Self::Postgres(tx) => tx.query_columns(into.columns, &Column::of_rows(rows)?).await.map(drop),
        }
    }

    /// Runs a statement; its rows.
    pub(crate) async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        values.iter().try_for_each(Value::check)?;
        match self {
            Self::Sqlite(tx) => tx.query(sql.into(), values).await,
            Self::Postgres(tx) => tx.query(sql, values).await,
        }
    }

    /// Runs a statement that somebody else wrote; its rows.
    pub(crate) async fn query_foreign(&mut self, sql: &str) -> Result<Vec<Row>, EngineError> {
        match self {
            Self::Sqlite(tx) => tx.query(sql.to_owned().into(), Vec::new()).await,
            Self::Postgres(tx) => tx.query(sql, Vec::new()).await,
        }
    }

    /// Runs several statements without parameters.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), EngineError> {
        match self {
            Self::Sqlite(tx) => tx.batch(sql.to_owned()).await,
            Self::Postgres(tx) => tx.batch(sql).await,
        }
    }

    /// Waits for work elsewhere that may take long, and meanwhile shows that the transaction is not forgotten: one that is silent
    /// is rolled back.
    pub(crate) async fn wait_for<T>(&mut self, work: impl Future<Output = T>) -> Result<T, EngineError> {
        let mut work = std::pin::pin!(work);
        loop {
            let done = tokio::time::timeout(SHOW_LIFE_EVERY, &mut work).await;
            self.query("SELECT CAST(1 AS BIGINT)", Vec::new()).await?;
            if let Ok(done) = done {
                return Ok(done);
            }
        }
    }

    /// Makes it hold. After success it survives a crash of the process and of the machine.
    pub(crate) async fn commit(self) -> Result<(), EngineError> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        }
    }

    /// Gives it up. Dropping does the same; this way PostgreSQL's connection can be used again.
    pub(crate) async fn rollback(self) {
        match self {
            Self::Sqlite(tx) => drop(tx),
            Self::Postgres(tx) => tx.rollback().await,
        }
    }
}

impl Session for Tx {
    async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        Self::execute(self, sql, values).await
    }

    async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        Self::query(self, sql, values).await
    }

    async fn batch(&mut self, sql: &str) -> Result<(), EngineError> {
        Self::batch(self, sql).await
    }

    fn as_postgres(&mut self) -> Option<&mut PostgresTx> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(tx) => Some(tx),
        }
    }
}

#[cfg(test)]
mod tests;
