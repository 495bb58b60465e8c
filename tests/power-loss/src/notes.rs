//! Keeps the notes: for each change below the watched folder, how to undo it, until a sync makes it last. Plain files and
//! no unsafe code; what calls it is in `lib.rs`.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use power_loss_record::{
    ENDS_AT, IGNORED, MARKER, Record, SYNCS, WATCHED, link_name, log_name, notes_on, parse_log_name,
};

/// SQLite's index of its log. It is shared memory, and SQLite builds it anew after a crash.
const IGNORED_SUFFIX: &str = "-shm";

/// A file or a folder below the watched one.
pub(crate) struct Target {
    inode: u64,
    path: PathBuf,
}

/// A sync that has begun: what was noted up to here is settled by it.
pub(crate) struct Sync {
    inode: u64,
    generation: u64,
    /// Whether the power goes before it is done.
    pub(crate) is_the_end: bool,
}

/// The notes of one file or folder.
#[derive(Default)]
struct Log {
    /// Those on the disk, oldest first.
    generations: Vec<u64>,
    /// The one that takes new records.
    open: Option<File>,
}

/// What the watcher changes.
struct State {
    /// Opened to read. Never closed: to close one would end the program's own POSIX locks on the file.
    files: HashMap<u64, File>,
    logs: HashMap<u64, Log>,
    next_generation: u64,
    /// Syncs that had something to settle.
    syncs: u64,
    /// Locked, so that no second process adds notes whose order nobody could tell.
    _marker: File,
}

/// Watches one folder.
pub(crate) struct Watcher {
    watched: PathBuf,
    notes: PathBuf,
    /// Whether what was synced is lost all the same.
    ignores_syncs: bool,
    /// The sync at which the power goes.
    ends_at: Option<u64>,
    /// Begins with the first change, so that programs that only inherit the shim leave no trace.
    state: Mutex<Option<State>>,
}

impl Watcher {
    /// `None` where the environment names no folder.
    pub(crate) fn from_environment() -> Option<Self> {
        let watched = PathBuf::from(std::env::var_os(WATCHED)?);
        let ignores_syncs = std::env::var_os(SYNCS).is_some_and(|syncs| syncs == IGNORED);
        let ends_at = std::env::var(ENDS_AT).ok().and_then(|number| number.parse().ok());
        Some(Self { notes: notes_on(&watched), watched, ignores_syncs, ends_at, state: Mutex::new(None) })
    }

    /// What an open descriptor is of, when that is watched.
    pub(crate) fn target_of(&self, descriptor: i32) -> Option<Target> {
        let link = format!("/proc/self/fd/{descriptor}");
        let path = self.watches(fs::read_link(&link).ok()?)?;
        let metadata = fs::metadata(&link).ok()?;
        // A file without a name will be seen by nobody.
        (metadata.nlink() > 0).then(|| Target { inode: metadata.ino(), path })
    }

    /// The watched file at an absolute path, when there is one.
    fn file_at(&self, path: &Path) -> Option<Target> {
        let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Target { inode: metadata.ino(), path: self.watches(path.to_owned())? })
    }

    fn watches(&self, path: PathBuf) -> Option<PathBuf> {
        let ignored = path.as_os_str().as_encoded_bytes().ends_with(IGNORED_SUFFIX.as_bytes());
        (path.starts_with(&self.watched) && !ignored).then_some(path)
    }

    /// The path, absolute and with its folder's links resolved, when it is watched.
    pub(crate) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.watches(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    }

    /// Makes a change of a file's content, once it is noted how to undo it. `span` says which bytes change, given the
    /// file's length: from where, and how many.
    pub(crate) fn change<T>(
        &self,
        target: &Target,
        span: impl FnOnce(u64) -> (u64, u64),
        change: impl FnOnce() -> T,
    ) -> io::Result<T> {
        self.locked(|state| {
            self.note_content(state, target, span)?;
            Ok(change())
        })
    }

    /// Makes a change of the entries at these paths, once it is noted how to undo it.
    pub(crate) fn change_entries<T>(&self, paths: &[PathBuf], change: impl FnOnce() -> T) -> io::Result<T> {
        self.locked(|state| {
            for path in paths {
                self.note_entry(state, path)?;
            }
            Ok(change())
        })
    }

    /// Opens a file that the call may create or empty, once it is noted how to undo that.
    pub(crate) fn open<T>(&self, path: &Path, empties: bool, open: impl FnOnce() -> T) -> io::Result<T> {
        self.locked(|state| {
            match self.file_at(path) {
                Some(target) if empties => self.note_content(state, &target, |length| (0, length))?,
                Some(_) => {}
                None => self.note_entry(state, path)?,
            }
            Ok(open())
        })
    }

    /// Begins a sync; `None` where it settles nothing.
    pub(crate) fn begin_sync(&self, target: &Target) -> io::Result<Option<Sync>> {
        if self.ignores_syncs {
            return Ok(None);
        }
        self.locked(|state| {
            let Some(log) = state.logs.get_mut(&target.inode) else { return Ok(None) };
            // What is changed from now on is not settled by this sync.
            log.open = None;
            let Some(generation) = log.generations.last().copied() else { return Ok(None) };
            state.syncs += 1;
            let is_the_end = self.ends_at == Some(state.syncs);
            Ok(Some(Sync { inode: target.inode, generation, is_the_end }))
        })
    }

    /// A sync has succeeded: what it settled cannot be lost any more.
    pub(crate) fn end_sync(&self, sync: &Sync) -> io::Result<()> {
        self.locked(|state| {
            let Some(log) = state.logs.get_mut(&sync.inode) else { return Ok(()) };
            // Oldest first: the notes that are left undo the latest changes, wherever this is interrupted.
            for generation in log.generations.extract_if(.., |generation| *generation <= sync.generation) {
                fs::remove_file(self.notes.join(log_name(sync.inode, generation)))?;
            }
            Ok(())
        })
    }

    fn note_content(&self, state: &mut State, target: &Target, span: impl FnOnce(u64) -> (u64, u64)) -> io::Result<()> {
        let file = self.file(state, target)?;
        let length = file.metadata()?.len();
        let (offset, wanted) = span(length);
        let there = length.saturating_sub(offset).min(wanted);
        let mut bytes = vec![0; usize::try_from(there).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, offset)?;
        self.append(state, target.inode, &Record::Data { length, offset, bytes })
    }

    fn note_entry(&self, state: &mut State, path: &Path) -> io::Result<()> {
        let before = self.file_at(path);
        match &before {
            Some(target) => drop(self.file(state, target)?),
            // A folder, or something else that keeps no data.
            None if fs::symlink_metadata(path).is_ok() => return Ok(()),
            None => {}
        }
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let inode = before.map(|target| target.inode);
        self.append(state, fs::metadata(folder)?.ino(), &Record::Entry { path: path.to_owned(), inode })
    }

    /// A file's content, with a link of its own so that it stays reachable.
    fn file<'a>(&self, state: &'a mut State, target: &Target) -> io::Result<&'a File> {
        match state.files.entry(target.inode) {
            MapEntry::Occupied(known) => Ok(known.into_mut()),
            MapEntry::Vacant(unknown) => {
                let link = self.notes.join(link_name(target.inode));
                match fs::hard_link(&target.path, &link) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    // Of a process before this one, whose notes are still good.
                    _ => {}
                }
                let file = unknown.insert(File::open(link)?);
                if file.metadata()?.ino() == target.inode {
                    Ok(file)
                } else {
                    Err(io::Error::other("the file was replaced while it was written"))
                }
            }
        }
    }

    fn append(&self, state: &mut State, inode: u64, record: &Record) -> io::Result<()> {
        let log = state.logs.entry(inode).or_default();
        let file = match &mut log.open {
            Some(file) => file,
            none => {
                let generation = state.next_generation;
                state.next_generation += 1;
                let name = self.notes.join(log_name(inode, generation));
                let file = OpenOptions::new().append(true).create_new(true).open(name)?;
                log.generations.push(generation);
                none.insert(file)
            }
        };
        file.write_all(&record.encode())
    }

    fn locked<T>(&self, act: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state.lock().map_err(|_| io::Error::other("a thread panicked in the shim"))?;
        if state.is_none() {
            *state = Some(self.begin()?);
        }
        act(state.as_mut().ok_or(io::ErrorKind::NotFound)?)
    }

    /// Begins, with the notes of a process before this one that ended without a power loss.
    fn begin(&self) -> io::Result<State> {
        let marker = File::create(self.notes.join(MARKER))?;
        marker.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process is under the shim in the same folder"),
            TryLockError::Error(error) => error,
        })?;
        let mut state =
            State { files: HashMap::new(), logs: HashMap::new(), next_generation: 0, syncs: 0, _marker: marker };
        for entry in fs::read_dir(&self.notes)? {
            let Some((inode, generation)) = entry?.file_name().to_str().and_then(parse_log_name) else { continue };
            state.logs.entry(inode).or_default().generations.push(generation);
            state.next_generation = state.next_generation.max(generation + 1);
        }
        for log in state.logs.values_mut() {
            log.generations.sort_unstable();
        }
        Ok(state)
    }
}
