//! PostgreSQL: the engine for several gateways at once. A bounded pool of connections, each with limits of its own.
//!
//! Transactions that write take one advisory lock first. They are short, a few statements each: of configuration there
//! are few, and the bookings of a gateway come in batches. In return no two of them ever deadlock, see half of each
//! other, or have to be tried again.

mod address;
mod listen;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::engine::Patience;
use crate::error::{Cause, EngineError, OpenError};
use crate::value::{Column, Row, Value};

pub(crate) use listen::Listener;

/// Connections of one process, besides the one that listens.
const CONNECTIONS_MAX: usize = 10;
/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Key of the advisory lock of all that write: "intent" in ASCII.
const WRITERS_LOCK: i64 = 0x696e_7465_6e74;
/// Key of the advisory lock of those that change leases: "leases" in ASCII.
const LEASES_LOCK: i64 = 0x6c65_6173_6573;
/// How long a gateway waits for another one that changes leases, and how long that one may fall silent: each takes some milliseconds.
const LEASES_LOCK_MAX: Duration = Duration::from_secs(1);
/// How long a change of the tables may take, and the wait for another gateway that makes it.
const MIGRATION_MAX_SECONDS: u32 = 600;
/// How much longer than the server's own limit an answer is waited for. A server that says nothing by then is frozen, or its
/// network is gone: its own limits do not end a statement then.
const SILENCE_MARGIN: Duration = Duration::from_secs(1);
/// Where changes are announced.
const CHANNEL: &str = "intent_gateway_changes";

/// A database that is reachable.
#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    patience: Patience,
    config: Arc<tokio_postgres::Config>,
    tls: tls::Tls,
}

impl Postgres {
    /// Reads the address; connects when the first statement comes.
    pub(crate) fn open(url: &str, patience: Patience) -> Result<Self, OpenError> {
        let (config, tls) = address::read(url, CONNECT_MAX)?;
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = match tls.clone() {
            tls::Tls::Off => Manager::from_config(config.clone(), tokio_postgres::NoTls, manager),
            tls::Tls::Unverified(connector) | tls::Tls::Verified(connector) => {
                Manager::from_config(config.clone(), connector, manager)
            }
        };
        let settings = settings(patience);
        let settle = Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(pool)
            .max_size(CONNECTIONS_MAX)
            .wait_timeout(Some(patience.begin))
            .create_timeout(Some(CONNECT_MAX))
            .recycle_timeout(Some(CONNECT_MAX))
            .post_create(settle)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| OpenError::Engine(error.into()))?;
        Ok(Self { pool, patience, config: Arc::new(config), tls })
    }

    /// Starts to hear of changes that others announce.
    pub(crate) fn listener(&self) -> Listener {
        Listener::new(Arc::clone(&self.config), self.tls.clone())
    }

    /// See [`Engine::query`](crate::engine::Engine::query).
    pub(crate) async fn query(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        // Reading twice does no harm, so a connection that broke meanwhile is replaced.
        for _ in 0..CONNECTIONS_MAX {
            let client = self.connection().await?;
            match in_time(self.statement_max(), query(&client, sql, &values)).await {
                Err(Broken::Connection(_)) => discard(client),
                Err(Broken::Silent(error)) => {
                    discard(client);
                    return Err(error);
                }
                Err(Broken::Statement(error)) => return Err(error),
                Ok(rows) => return Ok(rows),
            }
        }
        let client = self.connection().await?;
        Ok(in_time(self.statement_max(), query(&client, sql, &values)).await?)
    }

    /// How long an answer to one statement is waited for.
    fn statement_max(&self) -> Duration {
        self.patience.statement + SILENCE_MARGIN
    }

    /// One statement in a transaction of its own, sent once: where the connection breaks, nobody knows whether it holds. The
    /// number of rows that it changed.
    pub(crate) async fn execute(&self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        let client = self.connection().await?;
        let done = in_time(self.statement_max(), execute(&client, sql, &values)).await;
        end(client, done)
    }

    /// The same for a statement whose parameters are columns of many rows; its rows.
    pub(crate) async fn change_columns(&self, sql: &'static str, columns: &[Column]) -> Result<Vec<Row>, EngineError> {
        let client = self.connection().await?;
        let done = in_time(self.statement_max(), query_with(&client, sql, columns.iter().map(column).unzip())).await;
        end(client, done)
    }

    /// One statement that reads, whose parameters are columns of many rows.
    pub(crate) async fn query_columns(&self, sql: &'static str, columns: &[Column]) -> Result<Vec<Row>, EngineError> {
        let mut attempts = 0;
        loop {
            let client = self.connection().await?;
            attempts += 1;
            let asked = query_with(&client, sql, columns.iter().map(column).unzip());
            match in_time(self.statement_max(), asked).await {
                // Reading twice does no harm, so a connection that broke meanwhile is replaced.
                Err(Broken::Connection(_)) if attempts <= CONNECTIONS_MAX => discard(client),
                Err(broken @ Broken::Silent(_)) => {
                    discard(client);
                    return Err(broken.into());
                }
                done => return Ok(done?),
            }
        }
    }

    /// Two statements that read, each in a transaction of its own, whose parameters are columns of many rows. Both are sent
    /// before either is answered: one round trip.
    pub(crate) async fn query_columns_of_two(
        &self,
        (one, its_columns): (&'static str, &[Column]),
        (other, others_columns): (&'static str, &[Column]),
    ) -> Result<(Vec<Row>, Vec<Row>), EngineError> {
        let mut attempts = 0;
        loop {
            let client = self.connection().await?;
            let both = futures_util::future::try_join(
                query_with(&client, one, its_columns.iter().map(column).unzip()),
                query_with(&client, other, others_columns.iter().map(column).unzip()),
            );
            attempts += 1;
            match in_time(self.statement_max(), both).await {
                // Reading twice does no harm, so a connection that broke meanwhile is replaced.
                Err(Broken::Connection(_)) if attempts <= CONNECTIONS_MAX => discard(client),
                Err(broken @ Broken::Silent(_)) => {
                    discard(client);
                    return Err(broken.into());
                }
                done => return Ok(done?),
            }
        }
    }

    /// See [`Engine::read`](crate::engine::Engine::read).
    pub(crate) async fn read(&self) -> Result<PostgresTx, EngineError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned();
        self.begin(begin, self.statement_max(), self.statement_max()).await
    }

    /// See [`Engine::write`](crate::engine::Engine::write).
    pub(crate) async fn write(&self) -> Result<PostgresTx, EngineError> {
        let turn = self.patience.begin;
        self.begin(self.begin_under(WRITERS_LOCK, turn), turn + self.statement_max(), self.statement_max()).await
    }

    /// See [`Engine::change_leases`](crate::engine::Engine::change_leases).
    pub(crate) async fn change_leases(&self) -> Result<PostgresTx, EngineError> {
        // Whoever is frozen in between must not keep the others from renewing theirs.
        let begin = self.begin_under(LEASES_LOCK, LEASES_LOCK_MAX);
        let silence_max = LEASES_LOCK_MAX.as_millis();
        let begin = format!("{begin}; SET LOCAL idle_in_transaction_session_timeout = '{silence_max}ms'");
        self.begin(begin, LEASES_LOCK_MAX + self.statement_max(), self.statement_max()).await
    }

    /// Begins under a lock. Each statement after it sees all that was committed before. The wait has a limit of its own.
    fn begin_under(&self, lock: i64, wait_max: Duration) -> String {
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; \
             SET LOCAL lock_timeout = '{}ms'; SELECT pg_advisory_xact_lock({lock}); \
             SET LOCAL statement_timeout = '{}ms'",
            wait_max.as_millis(),
            self.patience.statement.as_millis(),
        )
    }

    /// A transaction that writes beside the others: what it writes nobody else writes but others of its kind, which keep each
    /// other away by locks of their own.
    pub(crate) async fn write_beside(&self) -> Result<PostgresTx, EngineError> {
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED".to_owned();
        self.begin(begin, self.statement_max(), self.statement_max()).await
    }

    /// A connection for statements that stand in no transaction, each of which may take so long.
    pub(crate) async fn alone(&self, statement_max: Duration) -> Result<Alone, EngineError> {
        let client = Object::take(self.connection().await?);
        let limits = format!("SET statement_timeout = '{}ms'", statement_max.as_millis());
        let set = client.batch_execute(&limits).await;
        set.map_err(|error| broken("a limit cannot be set", error))?;
        Ok(Alone { client })
    }

    /// See [`Engine::migrate`](crate::engine::Engine::migrate).
    pub(crate) async fn migrate(&self) -> Result<PostgresTx, EngineError> {
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = '{MIGRATION_MAX_SECONDS}s'; \
             SELECT pg_advisory_xact_lock({WRITERS_LOCK})"
        );
        let within = Duration::from_secs(MIGRATION_MAX_SECONDS.into()) + SILENCE_MARGIN;
        self.begin(begin, within, within).await
    }

    /// Begins a transaction, within the first of the times; each of its statements gets the second. Nothing of it has been sent
    /// before, so a connection that turns out broken is replaced.
    async fn begin(&self, begin: String, within: Duration, each: Duration) -> Result<PostgresTx, EngineError> {
        let mut attempts = 0;
        loop {
            let client = self.connection().await?;
            // Dropped half-way, it is discarded like one that failed.
            let tx = PostgresTx { client: Some(client), each };
            let begun = batch(tx.client()?, within, "a transaction cannot begin", &begin).await;
            attempts += 1;
            match begun {
                Ok(()) => return Ok(tx),
                Err(Broken::Connection(_)) if attempts <= CONNECTIONS_MAX => {}
                Err(broken) => return Err(broken.into()),
            }
        }
    }

    /// Closes the connections once they are handed back.
    pub(crate) fn close(self) {
        self.pool.close();
    }

    async fn connection(&self) -> Result<Object, EngineError> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Timeout(_) => EngineError::too_late("no connection to the database came free in time"),
            PoolError::Backend(error) => EngineError::unavailable(self.tls.explain_no_connection(), error),
            error => EngineError::unavailable(self.tls.explain_no_connection(), error),
        })
    }
}

/// Limits that each connection sets for itself. A server that acknowledges commits before they are on its disk is told
/// not to; one that is stricter than that stays so. Every statement of the store has an index to go by, and its plan is
/// kept with the connection: one that was made while a table was small must not read the whole of it when it is large. None
/// reads enough for processes beside its own, or for compiled code: both cost more than the statement, and the server begins
/// them where it holds a statement for larger than it is.
fn settings(patience: Patience) -> String {
    let statement = patience.statement.as_millis();
    format!(
        "SET statement_timeout = '{statement}ms'; SET idle_in_transaction_session_timeout = '{statement}ms'; \
         SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off; \
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
}

/// Closes a connection instead of handing it back.
fn discard(client: Object) {
    drop(Object::take(client));
}

/// Hands a connection back, unless it broke.
fn end<T>(client: Object, done: Result<T, Broken>) -> Result<T, EngineError> {
    if let Err(Broken::Connection(_) | Broken::Silent(_)) = done {
        discard(client);
    }
    Ok(done?)
}

/// Why a statement failed.
enum Broken {
    /// The connection is gone.
    Connection(EngineError),
    /// The server says nothing. Asking it once more would only wait as long again.
    Silent(EngineError),
    /// The statement itself.
    Statement(EngineError),
}

impl From<Broken> for EngineError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Connection(error) | Broken::Silent(error) | Broken::Statement(error) => error,
        }
    }
}

/// Waits for an answer of the server, for so long.
async fn in_time<T>(within: Duration, answer: impl Future<Output = Result<T, Broken>>) -> Result<T, Broken> {
    let silent = |_| Broken::Silent(EngineError::too_late("the database gives no answer"));
    tokio::time::timeout(within, answer).await.map_err(silent)?
}

/// Runs statements without parameters, within a time.
async fn batch(client: &Object, within: Duration, what: &'static str, sql: &str) -> Result<(), Broken> {
    in_time(within, async { client.batch_execute(sql).await.map_err(|error| broken(what, error)) }).await
}

fn broken(what: &'static str, error: tokio_postgres::Error) -> Broken {
    // 57P01 and its neighbours are the server's farewell; without a code it is the connection that failed.
    let gone = error.is_closed()
        || error.code().is_none_or(|code| {
            [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW].contains(code)
        });
    match error.code() {
        Some(&SqlState::UNIQUE_VIOLATION) => Broken::Statement(EngineError::Taken),
        _ if gone => Broken::Connection(EngineError::unavailable(what, without_rows(error))),
        Some(code) if passes(code.code()) => Broken::Statement(EngineError::unavailable(what, without_rows(error))),
        _ => Broken::Statement(EngineError::because(what, without_rows(error))),
    }
}

/// Whether a code of the server says that it cannot do it now, and not that it was asked for nonsense (PostgreSQL, Appendix A).
fn passes(code: &str) -> bool {
    // Connections (08), resources such as disk and memory (53), the server's end (57P), its files (58).
    let of_class = ["08", "53", "57P", "58"].iter().any(|class| code.starts_with(class));
    // A server that takes reads alone, a lock that others held too long, a statement and a transaction that took too long.
    of_class || ["25006", "55P03", "57014", "25P03"].contains(&code)
}

/// The server's words without its details: those quote rows, which are about people, and this goes to the log.
fn without_rows(error: tokio_postgres::Error) -> Cause {
    match error.as_db_error() {
        Some(told) => format!("{} {}: {}", told.severity(), told.code().code(), told.message()).into(),
        None => error.into(),
    }
}

/// The types are said and not guessed, so that a statement means the same wherever a parameter stands.
fn parameters(values: &[Value]) -> (Vec<Type>, Vec<&(dyn ToSql + Sync)>) {
    values.iter().map(parameter).unzip()
}

fn parameter(value: &Value) -> (Type, &(dyn ToSql + Sync)) {
    match value {
        Value::Text(text) => (Type::TEXT, text),
        Value::Integer(number) => (Type::INT8, number),
        Value::Bytes(bytes) => (Type::BYTEA, bytes),
    }
}

fn column(column: &Column) -> (Type, &(dyn ToSql + Sync)) {
    match column {
        Column::Text(texts) => (Type::TEXT_ARRAY, texts),
        Column::Integer(numbers) => (Type::INT8_ARRAY, numbers),
        Column::Bytes(bytes) => (Type::BYTEA_ARRAY, bytes),
    }
}

async fn execute(client: &Object, sql: &str, values: &[Value]) -> Result<u64, Broken> {
    let failed = |error| broken("a statement failed", error);
    let (types, parameters) = parameters(values);
    let statement = client.prepare_typed_cached(sql, &types).await.map_err(failed)?;
    client.execute(&statement, &parameters).await.map_err(failed)
}

async fn query(client: &ClientWrapper, sql: &str, values: &[Value]) -> Result<Vec<Row>, Broken> {
    query_with(client, sql, parameters(values)).await
}

async fn query_with(
    client: &ClientWrapper,
    sql: &str,
    (types, parameters): (Vec<Type>, Vec<&(dyn ToSql + Sync)>),
) -> Result<Vec<Row>, Broken> {
    let failed = |error| broken("a query failed", error);
    let statement = client.prepare_typed_cached(sql, &types).await.map_err(failed)?;
    let rows = client.query(&statement, &parameters).await.map_err(failed)?;
    rows.iter().map(read).collect::<Result<_, _>>().map_err(Broken::Statement)
}

fn read(row: &tokio_postgres::Row) -> Result<Row, EngineError> {
    let unreadable = |error| EngineError::because("a column cannot be read", error);
    let value = |(at, column): (usize, &tokio_postgres::Column)| match *column.type_() {
        Type::INT8 => row.try_get(at).map(Value::Integer).map_err(unreadable),
        Type::BYTEA => {
            let bytes: Option<Vec<u8>> = row.try_get(at).map_err(unreadable)?;
            Ok(bytes.map_or(Value::Text(None), Value::Bytes))
        }
        Type::TEXT | Type::VARCHAR => row.try_get(at).map(Value::Text).map_err(unreadable),
        _ => Err(EngineError::failed("a column is neither text nor a number nor bytes")),
    };
    row.columns().iter().enumerate().map(value).collect::<Result<_, _>>().map(Row)
}

/// A connection outside of the pool, closed when it is dropped.
pub(crate) struct Alone {
    client: ClientWrapper,
}

impl Alone {
    /// Runs a statement that is not a transaction's.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), EngineError> {
        let done = self.client.batch_execute(sql).await;
        Ok(done.map_err(|error| broken("a statement failed", error))?)
    }

    pub(crate) async fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, EngineError> {
        Ok(query(&self.client, sql, values).await?)
    }
}

/// A transaction under way. Dropped without its end, it takes the connection with it, and the server rolls back.
pub(crate) struct PostgresTx {
    client: Option<Object>,
    /// How long the answer to each statement is waited for.
    each: Duration,
}

impl PostgresTx {
    fn client(&self) -> Result<&Object, EngineError> {
        self.client.as_ref().ok_or_else(|| EngineError::failed("the transaction is over"))
    }

    pub(crate) async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        Ok(in_time(self.each, execute(self.client()?, sql, &values)).await?)
    }

    pub(crate) async fn query(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        Ok(in_time(self.each, query(self.client()?, sql, &values)).await?)
    }

    /// Runs a statement whose parameters are columns of many rows; its rows.
    pub(crate) async fn query_columns(&mut self, sql: &str, columns: &[Column]) -> Result<Vec<Row>, EngineError> {
        Ok(in_time(self.each, query_with(self.client()?, sql, columns.iter().map(column).unzip())).await?)
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), EngineError> {
        Ok(batch(self.client()?, self.each, "statements failed", sql).await?)
    }

    /// Announces a change; the server delivers it when the transaction commits.
    pub(crate) async fn notify(&mut self) -> Result<(), EngineError> {
        self.query("SELECT pg_notify($1, '')::text", vec![CHANNEL.into()]).await.map(drop)
    }

    pub(crate) async fn commit(mut self) -> Result<(), EngineError> {
        // After a failure nobody knows whether it holds; the connection is not used again.
        batch(self.client()?, self.each, "a commit failed", "COMMIT").await?;
        self.client = None;
        Ok(())
    }

    pub(crate) async fn rollback(mut self) {
        if let Ok(client) = self.client()
            && batch(client, self.each, "a transaction cannot be rolled back", "ROLLBACK").await.is_ok()
        {
            self.client = None;
        }
    }
}

impl Drop for PostgresTx {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            discard(client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_now_is_told_from_nonsense() {
        // Connections, disk and memory, the server's end, its files; read-only, lock, statement and idle transaction.
        for code in ["08006", "53100", "53300", "57P01", "57P03", "57P05", "58030", "25006", "55P03", "57014", "25P03"]
        {
            assert!(passes(code), "{code}");
        }
        for code in ["42601", "42P01", "23502", "22001", "25001", "57000", "XX000"] {
            assert!(!passes(code), "{code}");
        }
    }
}
