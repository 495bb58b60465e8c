//! A database of either engine for one test, or the fakes in its stead, and what the tests put into it.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::{self, Actor, AuditDraft};
use intent_gateway_domain::chain::ChainKeys;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::store::{Change, Document, Kind, Store, StoreError, Write};
use intent_gateway_ledger::{Books, Verification, chain, verify};
use intent_gateway_store::{Location, SqlStore};
use intent_gateway_testing::books::MemoryBooks;
pub(crate) use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::store::MemoryStore;
use serde_json::json;
use tempfile::TempDir;
use test_servers::postgres::Postgres;

/// An empty database.
pub(crate) struct Database {
    pub(crate) location: Location,
    engine: Engine,
}

enum Engine {
    Sqlite { path: PathBuf, _folder: TempDir },
    Postgres { url: String },
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/gateway.db");
        Self { location: Location::file(&path), engine: Engine::Sqlite { path, _folder: folder } }
    }

    /// `None` where PostgreSQL is not installed.
    pub(crate) fn postgres() -> Option<Self> {
        let server = Postgres::shared().unwrap_or_else(|error| panic!("{error}"));
        let Some(server) = server else {
            // Not captured, so that nobody takes a skipped test for a passed one.
            let _ = writeln!(std::io::stderr(), "PostgreSQL is not installed: this test ran on SQLite alone");
            return None;
        };
        let url = server.database().expect("a database");
        Some(Self { location: Location::parse(&url).expect("a URL"), engine: Engine::Postgres { url } })
    }

    /// Another one of the same engine.
    pub(crate) fn another(&self) -> Self {
        match &self.engine {
            Engine::Sqlite { .. } => Self::sqlite(),
            Engine::Postgres { .. } => Self::postgres().expect("it is installed"),
        }
    }

    pub(crate) async fn open(&self) -> SqlStore {
        SqlStore::open(&self.location, Some(&vault())).await.expect("the database opens")
    }

    /// As somebody does who has no key.
    pub(crate) async fn open_without_key(&self) -> SqlStore {
        SqlStore::open(&self.location, None).await.expect("the database opens")
    }

    pub(crate) async fn open_shared(&self) -> Arc<SqlStore> {
        Arc::new(self.open().await)
    }

    /// Runs statements behind the store's back.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), String> {
        match &self.engine {
            Engine::Sqlite { path, .. } => {
                let connection = rusqlite::Connection::open(path).expect("the file opens");
                connection.execute_batch(sql).map_err(|error| error.to_string())
            }
            Engine::Postgres { url } => {
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
                let driver = tokio::spawn(connection);
                let done = client.batch_execute(sql).await;
                drop(client);
                driver.await.expect("it ends").expect("it ends well");
                done.map_err(|error| error.as_db_error().map_or(error.to_string(), |error| error.message().to_owned()))
            }
        }
    }

    /// Runs a statement behind the store's back on where receipts lie: the newest segment, whose tables are called `receipts` and
    /// `receipt_parts`.
    pub(crate) async fn run_on_receipts(&self, sql: &str) -> Result<(), String> {
        let Engine::Sqlite { .. } = &self.engine else {
            let sql = sql.replace("receipt_parts", "segment_receipt_parts").replace("receipts", "segment_receipts");
            return self.run(&sql).await;
        };
        let newest = self.segment_files().pop().expect("there is a segment");
        let connection = rusqlite::Connection::open(newest).expect("the file opens");
        connection.execute_batch(sql).map_err(|error| error.to_string())
    }

    /// What the newest segment says to a question, asked behind the store's back: the last column of each row.
    pub(crate) async fn lines_of_receipts(&self, sql: &str) -> Vec<String> {
        match self.segment_files().pop() {
            Some(newest) => lines_of_file(&newest, sql),
            None => self.lines(&sql.replace("receipt_parts", "segment_receipt_parts")).await,
        }
    }

    /// Begins to write, as another process, and does not end before it is dropped.
    pub(crate) async fn hold_writers(&self) -> HeldWriters {
        match &self.engine {
            Engine::Sqlite { path, .. } => {
                let connection = rusqlite::Connection::open(path).expect("the file opens");
                connection.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
                HeldWriters::Sqlite { _transaction: connection }
            }
            Engine::Postgres { url } => {
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
                tokio::spawn(connection);
                // The lock of all writers: "intent" in ASCII.
                let lock = "SELECT pg_advisory_lock(x'696e74656e74'::bigint)";
                client.batch_execute(lock).await.expect("nobody writes");
                HeldWriters::Postgres { _session: client }
            }
        }
    }

    /// Begins to read all as it is now, as another process, before it has looked at any receipt; none on SQLite, whose files are read
    /// one by one.
    pub(crate) async fn begin_to_read(&self) -> Option<tokio_postgres::Client> {
        let Engine::Postgres { url } = &self.engine else { return None };
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT value FROM counters";
        client.batch_execute(begin).await.expect("it reads");
        Some(client)
    }

    /// The files of receipts on SQLite, oldest first.
    pub(crate) fn segment_files(&self) -> Vec<PathBuf> {
        let Engine::Sqlite { path, .. } = &self.engine else { return Vec::new() };
        let Ok(entries) = std::fs::read_dir(path.with_file_name("gateway-receipts")) else { return Vec::new() };
        let paths = entries.map(|entry| entry.expect("it is read").path());
        let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "db")).collect();
        files.sort();
        files
    }

    /// What takes the tables away that came after the sixteenth step of the tables, for a test that makes an older store.
    pub(crate) fn without_later_tables(&self) -> String {
        let segments = match &self.engine {
            Engine::Sqlite { .. } => "",
            Engine::Postgres { .. } => {
                "DROP VIEW all_receipts; DROP VIEW all_receipt_parts; DROP TABLE segment_receipts; \
                 DROP TABLE segment_receipt_parts; "
            }
        };
        format!(
            "DROP TABLE contracts; DROP TABLE contract_names; DROP TABLE component_parts; DROP TABLE contract_states; DROP TABLE contract_revocations; \
             DROP TABLE rollout_evidence; DROP TABLE web_sessions; DROP TABLE partner_events; DROP TABLE queued_events; DROP TABLE notices; \
             DROP INDEX contract_faults_by_request; DROP TABLE installation; DROP TABLE shared_back_offs; DROP TABLE shared_calls; DROP TABLE duty_leases; \
             DROP TABLE gateway_leases; {segments}DROP TABLE receipt_segments; \
             ALTER TABLE receipts DROP COLUMN dictionary; ALTER TABLE receipt_parts DROP COLUMN dictionary; \
             DROP TABLE receipt_dictionaries; \
             DELETE FROM counters WHERE name = 'receipt_segments';"
        )
    }

    /// What the database says to a question, asked behind the store's back: the last column of each row.
    pub(crate) async fn lines(&self, sql: &str) -> Vec<String> {
        match &self.engine {
            Engine::Sqlite { path, .. } => lines_of_file(path, sql),
            Engine::Postgres { url } => {
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
                let driver = tokio::spawn(connection);
                let said = client.simple_query(sql).await.expect("it is asked");
                drop(client);
                driver.await.expect("it ends").expect("it ends well");
                let text = |row: &tokio_postgres::SimpleQueryRow| row.get(row.len() - 1).unwrap_or_default().to_owned();
                let lines = said.iter().filter_map(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => Some(text(row)),
                    _ => None,
                });
                lines.collect()
            }
        }
    }

    /// The URL, for a process of its own.
    pub(crate) fn url(&self) -> String {
        match &self.engine {
            Engine::Sqlite { path, .. } => format!("sqlite://{}", path.display()),
            Engine::Postgres { url } => url.clone(),
        }
    }

    /// The file, where there is one.
    pub(crate) fn file(&self) -> Option<&std::path::Path> {
        match &self.engine {
            Engine::Sqlite { path, .. } => Some(path),
            Engine::Postgres { .. } => None,
        }
    }
}

/// Nobody else writes as long as this lives.
pub(crate) enum HeldWriters {
    Sqlite { _transaction: rusqlite::Connection },
    Postgres { _session: tokio_postgres::Client },
}

/// A store whose audit log can be followed from its first entry on, each in its own way.
pub(crate) trait CheckedStore: Store {
    /// The number of entries and the digest of the last.
    fn follow_audit(&self) -> BoxFuture<'_, (u64, Digest)>;
}

/// A ledger that can be checked, each in its own way.
pub(crate) trait CheckedBooks: Books {
    fn check(&self) -> BoxFuture<'_, Verification>;
}

impl CheckedStore for SqlStore {
    fn follow_audit(&self) -> BoxFuture<'_, (u64, Digest)> {
        self.verify_audit().map(|head| head.expect("the log holds together")).boxed()
    }
}

impl CheckedBooks for SqlStore {
    fn check(&self) -> BoxFuture<'_, Verification> {
        self.verify_ledger().map(|found| found.expect("it reads")).boxed()
    }
}

impl CheckedStore for MemoryStore {
    fn follow_audit(&self) -> BoxFuture<'_, (u64, Digest)> {
        let mut check = audit::chain(ChainKeys::default(), None);
        self.log().iter().try_for_each(|entry| check.take(entry)).expect("the log holds together");
        std::future::ready(check.head()).boxed()
    }
}

impl CheckedBooks for MemoryBooks {
    fn check(&self) -> BoxFuture<'_, Verification> {
        std::future::ready(verify(&*self.entries_held(), chain(ChainKeys::default(), None), &[])).boxed()
    }
}

/// Where a case finds what it asks: on a database, or in the fakes. Several stores at one place are several gateways.
pub(crate) trait Place {
    async fn store(&self) -> Arc<dyn CheckedStore>;

    async fn books(&self) -> Arc<dyn CheckedBooks>;
}

impl Place for Database {
    async fn store(&self) -> Arc<dyn CheckedStore> {
        self.open_shared().await
    }

    async fn books(&self) -> Arc<dyn CheckedBooks> {
        self.open_shared().await
    }
}

/// The fakes that the other crates' tests stand on.
#[derive(Default)]
pub(crate) struct Memory {
    store: Arc<MemoryStore>,
    books: Arc<MemoryBooks>,
}

impl Place for Memory {
    async fn store(&self) -> Arc<dyn CheckedStore> {
        self.store.clone()
    }

    async fn books(&self) -> Arc<dyn CheckedBooks> {
        self.books.clone()
    }
}

/// Makes a test of each function for each engine, and for the fakes.
macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        mod every_store {
            mod sqlite {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        super::super::$case($crate::support::Database::sqlite()).await;
                    }
                )*
            }

            mod postgres {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        if let Some(database) = $crate::support::Database::postgres() {
                            super::super::$case(database).await;
                        }
                    }
                )*
            }

            mod memory {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        super::super::$case($crate::support::Memory::default()).await;
                    }
                )*
            }
        }
    };
}
pub(crate) use on_every_store;

/// Makes a test of each function for each engine: what concerns files, servers and restarts.
macro_rules! on_both_engines {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case($crate::support::Database::sqlite()).await;
                }
            )*
        }

        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    if let Some(database) = $crate::support::Database::postgres() {
                        super::$case(database).await;
                    }
                }
            )*
        }
    };
}
pub(crate) use on_both_engines;

/// A record that is not kept yet.
fn lines_of_file(path: &std::path::Path, sql: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).expect("the file opens");
    let mut statement = connection.prepare(sql).expect("it is understood");
    let last = statement.column_count() - 1;
    let rows = statement.query_map([], |row| row.get(last)).expect("it is asked");
    rows.map(|row| row.expect("a text")).collect()
}

pub(crate) fn record(key: &str) -> Document {
    Document {
        key: key.to_owned(),
        revision: 0,
        lookup: None,
        status: None,
        body: json!({"key": key}).to_string(),
        names: Vec::new(),
        feed: None,
    }
}

/// A change of one record.
pub(crate) fn put(kind: Kind, document: Document) -> Change {
    Change { writes: vec![Write::Put(kind, document)], ..Change::default() }
}

/// A change that removes one record.
pub(crate) fn delete(kind: Kind, key: &str, revision: u64) -> Change {
    Change { writes: vec![Write::Delete(kind, key.to_owned(), revision)], ..Change::default() }
}

/// An entry for the audit log.
pub(crate) fn entry(subject: &str) -> AuditDraft {
    AuditDraft {
        at_ms: Timestamp::from_ms(1_700_000_000_000),
        actor: Actor::new("admin", "ops@platform.example"),
        action: "account.touched".to_owned(),
        subject: subject.to_owned(),
        detail: json!({"note": "naïve ☂ \u{0} \"quoted\"", "n": 1.5}),
    }
}

/// Whether a change was refused because of another.
pub(crate) fn is_conflict<T>(result: &Result<T, StoreError>, kind: Kind) -> bool {
    matches!(result, Err(StoreError::Conflict(found)) if *found == kind)
}

/// The record's present revision.
pub(crate) async fn revision(store: &dyn Store, kind: Kind, key: &str) -> Option<u64> {
    store.get(kind, key).await.expect("the store reads").map(|document| document.revision)
}

/// When a backup is restored.
pub(crate) const RESTORED: Timestamp = Timestamp::from_ms(1_750_000_000_000);
