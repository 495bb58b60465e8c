//! Files of receipts beside the database: one for each segment, with threads of their own, so that receipts take no turn of the
//! writer for which completion reports wait, and are forgotten by removing a file.
//!
//! Whoever reads them needs to know from the database which files there are, and often something else that stands there. So each
//! thread that reads has a connection to the database as well, and all of it is one turn.
//!
//! Which segments there are stands in the database, and in which file each lies: one that is written anew without some of its
//! receipts gets another. A file that is not named there is none of its segments, whatever it holds; a segment whose file is missing
//! holds nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::mpsc;

use super::turn::Turn;
use super::worker::Begin;
use super::{open, stopped, turn, worker};
use crate::engine::Patience;
use crate::error::{EngineError, OpenError};
use crate::sqlite::Batch;
use crate::value::Row;

/// Threads that read.
const READERS: usize = 3;
/// Jobs that wait for a thread; those that come after them wait to be let in.
const WAITING_MAX: usize = 64;
/// Files that a thread keeps open, three descriptors each: the segments of both bounds, and the one that is written.
const OPEN_MAX: usize = 33;
/// The cache of pages of one connection, KiB: a look-up reads a few, and the system keeps the rest.
const CACHE_KIB: i64 = 512;
/// The form of a file's tables, as `user_version` says it.
const FORM: i64 = 2;
/// What brings a file of the first form to the second. It is done once, by whoever opens the file first.
const SECOND_FORM: &str = include_str!("../../migrations/segment-2.sqlite.sql");
const TABLES: &str = include_str!("../../migrations/segment.sqlite.sql");
/// How the name of a file ends while it is made, and while it is removed.
const UNFINISHED: &str = "unfinished";
const GOING: &str = "going";
/// How much of a file is given back to the disk at once, and the pause after it at least.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;
const PAUSE_MIN: Duration = Duration::from_millis(2);
const TOO_LATE: &str = "the files of receipts were not got to in time";

type Job = Box<dyn FnOnce(&mut OpenSegments) + Send>;

/// The files of a database's segments. The threads end once all clones are dropped.
#[derive(Clone)]
pub(crate) struct SegmentFiles {
    folder: Arc<Path>,
    writer: Jobs,
    readers: Arc<[Jobs]>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
    patience: Patience,
}

/// The way to a thread.
#[derive(Clone)]
struct Jobs {
    queue: mpsc::Sender<Job>,
    /// How many it was given and has not done.
    given: Arc<AtomicUsize>,
}

/// Where the segments of a database file are: beside it.
pub(crate) fn folder_of(database: &Path) -> PathBuf {
    let mut name = database.file_stem().unwrap_or_default().to_owned();
    name.push("-receipts");
    database.with_file_name(name)
}

impl SegmentFiles {
    /// Starts the threads; no file is touched yet.
    pub(crate) fn open(database: &Path, patience: Patience) -> Result<Self, OpenError> {
        let folder: Arc<Path> = folder_of(database).into();
        let mut threads = Vec::with_capacity(1 + READERS);
        let removing: Arc<RwLock<()>> = Arc::default();
        let database: Arc<Path> = database.into();
        let mut spawn = |name: &str, writes: bool| {
            let (queue, taken) = mpsc::channel(WAITING_MAX);
            let segments = OpenSegments {
                folder: Arc::clone(&folder),
                path_of_database: Arc::clone(&database),
                writes,
                busy_max: patience.begin,
                database: None,
                open: BTreeMap::new(),
                removing: Arc::clone(&removing),
            };
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || serve(segments, taken));
            threads.push(thread.map_err(|cause| OpenError::Engine(cause.into()))?);
            Ok::<_, OpenError>(Jobs { queue, given: Arc::default() })
        };
        let writer = spawn("receipt-writer", true)?;
        let readers = (0..READERS).map(|_| spawn("receipt-reader", false)).collect::<Result<_, _>>()?;
        let threads = Arc::new(Mutex::new(threads));
        Ok(Self { folder, writer, readers, threads, patience })
    }

    /// Where the files are. There is no such folder before the first receipt.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the file of a segment is.
    pub(crate) fn path(&self, number: u64) -> PathBuf {
        path(&self.folder, number)
    }

    /// Bytes of a segment's file and its log; none where there is no file.
    pub(crate) fn bytes(&self, number: u64) -> u64 {
        let path = self.path(number).into_os_string();
        let of = |suffix: &str| {
            let mut name = path.clone();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |file| file.len())
        };
        of("") + of("-wal")
    }

    /// Works on files that may be changed; one job at a time.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenSegments) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.hand(&self.writer, work).await
    }

    /// Works on files that are only read, and on the database, beside who writes: on the thread with the least to do.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenSegments) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let idlest = self.readers.iter().min_by_key(|reader| reader.given.load(Ordering::Relaxed));
        self.hand(idlest.ok_or_else(stopped)?, work).await
    }

    /// Removes the file of a segment, if it is there, so that others who write hardly feel it. Cut off, it is gone for everybody, and
    /// whoever removes it again goes on.
    pub(crate) async fn remove_slowly(&self, number: u64) -> Result<(), EngineError> {
        self.write(move |segments| segments.put_aside(number)).await?;
        let aside = self.path(number).with_extension(GOING);
        let removed = tokio::task::spawn_blocking(move || remove_in_pieces(&aside)).await;
        removed
            .map_err(|error| EngineError::because("a file of receipts was not removed", error))?
            .map_err(cannot_remove)?;
        self.write(|segments| segments.sync()).await
    }

    /// Has every thread close the files of segments that are not kept any more: a file that is removed takes its room until
    /// nobody has it open.
    pub(crate) async fn keep_open(&self, kept: &[u64]) -> Result<(), EngineError> {
        for jobs in self.readers.iter().chain([&self.writer]) {
            let kept = kept.to_vec();
            let close = move |segments: &mut OpenSegments| {
                segments.open.retain(|number, _| kept.contains(number));
                Ok(())
            };
            self.hand(jobs, close).await?;
        }
        Ok(())
    }

    async fn hand<T: Send + 'static>(
        &self,
        jobs: &Jobs,
        work: impl FnOnce(&mut OpenSegments) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let counted = Counted::new(&jobs.given);
        let job = |turn: Turn<T>| -> Job {
            Box::new(move |segments| {
                let _until_done = counted;
                if turn.begin() {
                    turn.answer(work(segments));
                }
            })
        };
        turn::hand(&jobs.queue, self.patience.begin, TOO_LATE, job).await
    }

    /// Waits until the threads have closed their files.
    pub(crate) async fn close(self) {
        let Self { writer, readers, threads, .. } = self;
        drop((writer, readers));
        let threads = std::mem::take(&mut *threads.lock().unwrap_or_else(PoisonError::into_inner));
        let joined = tokio::task::spawn_blocking(|| threads.into_iter().try_for_each(JoinHandle::join)).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("a thread of the receipts ended badly");
        }
    }
}

/// One of the jobs that a thread was given, until it is done or dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(given: &Arc<AtomicUsize>) -> Self {
        given.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(given))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(mut segments: OpenSegments, mut jobs: mpsc::Receiver<Job>) {
    while let Some(job) = jobs.blocking_recv() {
        job(&mut segments);
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    // With leading zeros, so that a listing has them in their order.
    folder.join(format!("{number:08}.db"))
}

/// The segments that a thread has open, and the database.
pub(crate) struct OpenSegments {
    folder: Arc<Path>,
    path_of_database: Arc<Path>,
    writes: bool,
    busy_max: Duration,
    /// Opened when it is first asked: there may be none yet when the thread begins.
    database: Option<Connection>,
    open: BTreeMap<u64, Connection>,
    /// Held to write by who removes a file, and to read by all who work on one: SQLite finds the log of a file by its name, and
    /// would make a new one for a file that was removed while it was being opened.
    removing: Arc<RwLock<()>>,
}

impl OpenSegments {
    /// Carries out a transaction on a segment, which holds unless the work fails; none where there is no file.
    pub(crate) fn on<T>(
        &mut self,
        number: u64,
        work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        let begin = if self.writes { Begin::Immediate } else { Begin::Deferred };
        self.with(number, |connection| worker::transact(connection, begin, work))
    }

    /// Carries out a transaction that reads the database.
    pub(crate) fn on_database<T>(
        &mut self,
        work: impl FnOnce(&Batch<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let database = match &mut self.database {
            Some(database) => database,
            none => none.insert(open::open_to_read(&self.path_of_database, self.busy_max).map_err(cannot_open)?),
        };
        worker::transact(database, Begin::Deferred, work)
    }

    /// Works on the connection of a segment; none where there is no file.
    fn with<T>(
        &mut self,
        number: u64,
        work: impl FnOnce(&Connection) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        let removing = Arc::clone(&self.removing);
        let _stays = removing.read().unwrap_or_else(PoisonError::into_inner);
        let done = match self.connection(number) {
            Ok(None) => return Ok(None),
            Ok(Some(connection)) => work(connection),
            Err(error) => Err(error),
        };
        match done {
            // Another process has removed it meanwhile.
            Err(_) if !path(&self.folder, number).exists() => {
                self.open.remove(&number);
                Ok(None)
            }
            done => done.map(Some),
        }
    }

    /// One statement that stands outside of any transaction; its rows.
    pub(crate) fn ask(&mut self, number: u64, sql: &'static str) -> Result<Option<Vec<Row>>, EngineError> {
        self.with(number, |connection| worker::ask(connection, sql))
    }

    /// Makes the file of a segment, whole or not at all; false where there is one already, which stays as it is.
    pub(crate) fn make(&self, number: u64) -> Result<bool, EngineError> {
        let to = path(&self.folder, number);
        let failed = |cause: std::io::Error| EngineError::because("a file of receipts cannot be made", cause);
        if to.exists() {
            return Ok(false);
        }
        // Under a name of its own: another process may make one at the same moment, and nobody else has this number. What a
        // crash leaves of it is small, and in nobody's way; a restore that is tried again has the number again.
        let unfinished = to.with_extension(UNFINISHED);
        remove_all(&unfinished).map_err(failed)?;
        let connection = open::open(&unfinished, self.busy_max).map_err(cannot_open)?;
        let fill = || {
            connection.execute_batch(TABLES)?;
            connection.pragma_update(None, "user_version", FORM)
        };
        fill().map_err(|error| worker::fail("a file of receipts cannot be filled", error))?;
        // The last who closes it folds the log into the file.
        connection.close().map_err(|(_, error)| worker::fail("a file of receipts cannot be closed", error))?;
        let sync = || File::open(&unfinished)?.sync_all();
        sync().and_then(|()| std::fs::rename(&unfinished, &to)).map_err(failed)?;
        // A name is on the disk only when its folder is, and the folder may be new.
        let above = self.folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let sync_folder = |folder: &Path| File::open(folder)?.sync_all();
        sync_folder(&self.folder).and_then(|()| sync_folder(above)).map_err(failed)?;
        Ok(true)
    }

    /// Removes the file of a segment, if it is there.
    pub(crate) fn remove(&mut self, number: u64) -> Result<(), EngineError> {
        self.put_aside(number)?;
        remove_all(&self.path_aside(number)).map_err(cannot_remove)?;
        self.sync()
    }

    /// Takes the file of a segment from everybody, if it is there: it has another name then, under which it goes piece by piece
    /// ([`SegmentFiles::remove_slowly`]), for to remove a large file at once keeps others from the disk.
    fn put_aside(&mut self, number: u64) -> Result<(), EngineError> {
        self.open.remove(&number);
        let _nobody_works = self.removing.write().unwrap_or_else(PoisonError::into_inner);
        let path = path(&self.folder, number);
        match std::fs::rename(&path, self.path_aside(number)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(cannot_remove(error)),
            _ => {}
        }
        // With the log, which belongs to the name.
        remove_all(&path).map_err(cannot_remove)?;
        self.sync()
    }

    fn path_aside(&self, number: u64) -> PathBuf {
        path(&self.folder, number).with_extension(GOING)
    }

    /// Gone for good, before the database forgets that it was there: nobody would remove it a second time.
    fn sync(&self) -> Result<(), EngineError> {
        match File::open(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            folder => folder.and_then(|folder| folder.sync_all()).map_err(cannot_remove),
        }
    }

    /// The segments that there are files of, whether or not the database knows them.
    pub(crate) fn found(&self) -> Result<Vec<u64>, EngineError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(EngineError::because("the folder of receipts cannot be read", error)),
        };
        let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_suffix(".db")?.parse().ok();
        Ok(entries.filter_map(Result::ok).filter_map(number).collect())
    }

    fn connection(&mut self, number: u64) -> Result<Option<&Connection>, EngineError> {
        if !self.open.contains_key(&number) {
            let path = path(&self.folder, number);
            if !path.exists() {
                return Ok(None);
            }
            let connection = match self.writes {
                true => open::open(&path, self.busy_max),
                false => open::open_to_read(&path, self.busy_max),
            };
            let connection = connection.map_err(cannot_open)?;
            if form(&connection)? == 1 {
                renew(&path, self.busy_max)?;
            }
            check(&connection)?;
            // Those that were made first are asked for least.
            while self.open.len() >= OPEN_MAX {
                self.open.pop_first();
            }
            self.open.insert(number, connection);
        }
        Ok(self.open.get(&number))
    }
}

fn check(connection: &Connection) -> Result<(), EngineError> {
    let unreadable = |error| worker::fail("a file of receipts cannot be read", error);
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(unreadable)?;
    if form(connection)? == FORM {
        Ok(())
    } else {
        Err(EngineError::failed("a file of receipts is of another gateway's form"))
    }
}

fn form(connection: &Connection) -> Result<i64, EngineError> {
    let form = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    form.map_err(|error| worker::fail("a file of receipts cannot be read", error))
}

/// Brings a file from the first form to the second, unless somebody else has done it meanwhile.
fn renew(path: &Path, busy_max: Duration) -> Result<(), EngineError> {
    let mut connection = open::open(path, busy_max).map_err(cannot_open)?;
    let mut renew = || {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if tx.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? == 1 {
            tx.execute_batch(SECOND_FORM)?;
        }
        tx.commit()
    };
    renew().map_err(|error| worker::fail("a file of receipts cannot be brought to its second form", error))
}

fn cannot_remove(cause: std::io::Error) -> EngineError {
    EngineError::because("a file of receipts cannot be removed", cause)
}

/// Makes a file shorter, a piece at a time, until nothing is left, and removes it.
fn remove_in_pieces(path: &Path) -> std::io::Result<()> {
    let file = match File::options().write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let mut left = file.metadata()?.len();
    while left > 0 {
        let begun = Instant::now();
        left = left.saturating_sub(PIECE_BYTES);
        file.set_len(left)?;
        std::thread::sleep(begun.elapsed().max(PAUSE_MIN));
    }
    match std::fs::remove_file(path) {
        // Another process was at it as well.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn cannot_open(error: OpenError) -> EngineError {
    let what = "a file of receipts cannot be opened";
    match error {
        // A disk that takes nothing more is told from a defect.
        OpenError::Engine(cause) => match cause.downcast() {
            Ok(error) => worker::fail(what, *error),
            Err(cause) => EngineError::because(what, cause),
        },
        error => EngineError::because(what, error),
    }
}

/// Removes a database file. The log goes last: with a file that is there it must not be missing.
fn remove_all(path: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.to_owned().into_os_string();
        name.push(suffix);
        match std::fs::remove_file(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_opened_for_want_of_room_is_an_outage() {
        let opened = |code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            matches!(cannot_open(OpenError::Engine(error.into())), EngineError::Unavailable { .. })
        };
        // What processes share of a file is made when it is opened.
        for code in [ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_FULL, ffi::SQLITE_CANTOPEN] {
            assert!(opened(code), "{code}");
        }
        assert!(!opened(ffi::SQLITE_NOTADB));
        let setting = OpenError::Setting { setting: "synchronous", wanted: "FULL", found: "0".to_owned() };
        assert!(matches!(cannot_open(setting), EngineError::Failed { .. }));
    }
}
