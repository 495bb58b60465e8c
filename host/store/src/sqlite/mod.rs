//! SQLite: the engine that needs no set-up. One thread owns the connection that writes, a few own connections that
//! read; statements travel to them over channels.
//!
//! Several processes may have the file open, for example the gateway and its command line: SQLite's own lock keeps their
//! writes apart, and whoever finds it taken waits. Nothing here keeps a second gateway from serving the same file; it
//! would be correct and slower, and PostgreSQL is there for it.

mod open;
mod segments;
mod turn;
mod worker;

use std::borrow::Cow;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::engine::Patience;
use crate::error::{EngineError, OpenError};
use crate::value::{Row, Value};
use worker::{Begin, Command, Job, Statement};

pub(crate) use open::open as open_to_write;
pub(crate) use segments::{OpenSegments, SegmentFiles, folder_of};
pub(crate) use worker::Batch;

/// Connections that read.
const READERS: usize = 3;
/// Transactions that wait for a thread; those that come after them wait to be let in.
const WAITING_MAX: usize = 256;
const TOO_LATE: &str = "the database did not get to it in time";

/// A database file that is open. The threads end once all clones are dropped.
#[derive(Clone)]
pub(crate) struct Sqlite {
    writer: mpsc::Sender<Job>,
    readers: mpsc::Sender<Job>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
    patience: Patience,
}

impl Sqlite {
    /// Opens a file, which is made if there is none. Blocks: not for a thread that serves.
    pub(crate) fn open(path: &Path, patience: Patience) -> Result<Self, OpenError> {
        let Patience { begin, statement } = patience;
        let first = open::open(path, begin)?;
        let (writer, jobs) = mpsc::channel(WAITING_MAX);
        let jobs = Arc::new(Mutex::new(jobs));
        let mut threads = vec![worker::spawn("store-writer", first, Begin::Immediate, statement, jobs)?];
        let (readers, jobs) = mpsc::channel(WAITING_MAX);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..READERS {
            let reader = open::open_to_read(path, begin)?;
            threads.push(worker::spawn("store-reader", reader, Begin::Deferred, statement, Arc::clone(&jobs))?);
        }
        Ok(Self { writer, readers, threads: Arc::new(Mutex::new(threads)), patience })
    }

    /// See [`Engine::query`](crate::engine::Engine::query).
    pub(crate) async fn query(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        let (reply, rows) = oneshot::channel();
        let statement = Statement { sql: sql.into(), values };
        self.admit(&self.readers, Job::Query(statement, reply), rows).await
    }

    /// See [`Engine::read`](crate::engine::Engine::read).
    pub(crate) async fn read(&self) -> Result<SqliteTx, EngineError> {
        self.begin(&self.readers).await
    }

    /// See [`Engine::write`](crate::engine::Engine::write).
    pub(crate) async fn write(&self) -> Result<SqliteTx, EngineError> {
        self.begin(&self.writer).await
    }

    /// A transaction that writes, carried out on the writer's thread without a word in between, and committed unless the
    /// work fails. Waiting for its turn has a limit; once it has come its outcome is waited for.
    pub(crate) async fn batch<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.carry_out(&self.writer, work).await
    }

    /// The same for a transaction that reads, beside the one that writes.
    pub(crate) async fn read_batch<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.carry_out(&self.readers, work).await
    }

    async fn carry_out<T: Send + 'static>(
        &self,
        jobs: &mpsc::Sender<Job>,
        work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let job = move |turn| {
            let carry_out = move |connection: &Connection, begin| worker::carry_out(connection, begin, turn, work);
            Job::Batch(Box::new(carry_out))
        };
        turn::hand(jobs, self.patience.begin, TOO_LATE, job).await
    }

    async fn begin(&self, jobs: &mpsc::Sender<Job>) -> Result<SqliteTx, EngineError> {
        let (begun, ready) = oneshot::channel();
        let (commands, receiver) = std::sync::mpsc::channel();
        self.admit(jobs, Job::Transaction { begun, commands: receiver }, ready).await?;
        Ok(SqliteTx { commands })
    }

    /// Hands a job to a thread and waits for its answer, for so long; the thread notices when nobody waits any more.
    async fn admit<T>(
        &self,
        jobs: &mpsc::Sender<Job>,
        job: Job,
        answer: oneshot::Receiver<Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let admitted = async {
            jobs.send(job).await.map_err(|_| stopped())?;
            answer.await.map_err(|_| stopped())?
        };
        tokio::time::timeout(self.patience.begin, admitted).await.map_err(|_| EngineError::too_late(TOO_LATE))?
    }

    /// Waits until the threads have closed their connections: the last one folds the log into the file.
    pub(crate) async fn close(self) {
        let Self { writer, readers, threads, patience: _ } = self;
        drop((writer, readers));
        let threads = std::mem::take(&mut *threads.lock().unwrap_or_else(PoisonError::into_inner));
        let joined = tokio::task::spawn_blocking(|| threads.into_iter().try_for_each(JoinHandle::join)).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("a thread of the store ended badly");
        }
    }
}

fn stopped() -> EngineError {
    EngineError::failed("the thread of the database has stopped")
}

/// A transaction under way on one of the threads, which rolls it back when this is dropped.
pub(crate) struct SqliteTx {
    /// At most one command is under way: every method waits for its answer.
    commands: Sender<Command>,
}

impl SqliteTx {
    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, EngineError>>) -> Command,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        let expired = || EngineError::failed("the transaction was idle for too long and was rolled back");
        self.commands.send(command(reply)).map_err(|_| expired())?;
        answer.await.map_err(|_| expired())?
    }

    pub(crate) async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        self.ask(|reply| Command::Execute(Statement { sql: sql.into(), values }, reply)).await
    }

    pub(crate) async fn execute_all(&mut self, sql: &'static str, rows: Vec<Vec<Value>>) -> Result<(), EngineError> {
        self.ask(|reply| Command::ExecuteAll(sql, rows, reply)).await
    }

    pub(crate) async fn query(&mut self, sql: Cow<'static, str>, values: Vec<Value>) -> Result<Vec<Row>, EngineError> {
        self.ask(|reply| Command::Query(Statement { sql, values }, reply)).await
    }

    pub(crate) async fn batch(&mut self, sql: String) -> Result<(), EngineError> {
        self.ask(|reply| Command::Batch(sql, reply)).await
    }

    pub(crate) async fn commit(self) -> Result<(), EngineError> {
        self.ask(Command::Commit).await
    }
}
