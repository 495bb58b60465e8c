//! The contract folder: every new or changed `*.wasm` in it is loaded and made live.
//!
//! Events only say that it is time to look; what counts is the folder's content, so a lost event loses
//! nothing. A file is read once it has looked the same twice, so that one being written is not mistaken for
//! a broken contract; writers should still write elsewhere and rename into place. Removing a file unloads
//! nothing, and a file whose content is known already changes nothing: going back is done by activating. A version that
//! takes values out of vocabularies is refused here, for a file cannot say that this is meant; an upload can.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{ContractAdminError, LoadOrder, Origin};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::failure::LoadError;
use crate::loading::{Prepared, Rejected};
use crate::sandbox::SandboxState;

/// Between two looks at a file that changed.
const SETTLE: Duration = Duration::from_millis(150);
/// Looks without an event: for file systems that report none.
const POLL: Duration = Duration::from_secs(5);
/// Files looked at; a folder with more is not a contract folder.
const FILES_MAX: usize = 1_000;
const COMPONENT_ENDING: &str = "wasm";
/// Ending of wasmtime's compiled files, which are never run.
const COMPILED_ENDING: &str = "cwasm";

/// The watched folder and what was seen in it.
pub(crate) struct Folder {
    inner: Arc<SandboxState>,
    path: PathBuf,
    sightings: Sightings,
    changes: mpsc::Receiver<()>,
    /// Reports changes as long as it lives.
    _watcher: RecommendedWatcher,
}

/// A file as it looked last.
struct FileState {
    stamp: Stamp,
    /// Content that was handed over; none until the file has settled.
    content: Option<Digest>,
    settled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    inode: u64,
    modified: SystemTime,
}

/// Whether a look is the first since the start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// What is there already was put there before; what is known already stays as it was left.
    First,
    /// A change is somebody's act.
    Later,
}

impl Folder {
    /// Starts to watch. The watch begins before the first look, so that nothing falls between.
    pub(crate) fn open(inner: Arc<SandboxState>, path: PathBuf) -> notify::Result<Self> {
        fs::create_dir_all(&path).map_err(notify::Error::io)?;
        // One place is enough: a change that comes while one is waiting is seen by the same look.
        let (changed, changes) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.as_ref().map_or(true, matters) {
                let _ = changed.try_send(());
            }
        })?;
        watcher.watch(&path, RecursiveMode::NonRecursive)?;
        Ok(Self { inner, path, sightings: Sightings::default(), changes, _watcher: watcher })
    }

    /// Looks at what is there, and then whenever something changed, until shut down.
    pub(crate) async fn run(mut self, shutdown: CancellationToken) {
        let Some(mut unsettled) = shutdown.run_until_cancelled(self.look(Look::First)).await else { return };
        tracing::info!(folder = %self.path.display(), "the contract folder was looked through");
        self.inner.end_start();
        loop {
            let round = async {
                if !unsettled {
                    // The sender lives in the watcher, and that as long as the folder: `recv` never ends for good.
                    let _ = tokio::time::timeout(POLL, self.changes.recv()).await;
                }
                // Two looks are never closer than this, or a file could pass for settled between two writes.
                tokio::time::sleep(SETTLE).await;
                self.look(Look::Later).await
            };
            match shutdown.run_until_cancelled(round).await {
                Some(looked) => unsettled = looked,
                None => return,
            }
        }
    }

    /// Looks once and loads what has settled. Returns whether something has not.
    async fn look(&mut self, look: Look) -> bool {
        let files = match list(&self.path) {
            Ok(files) => files,
            Err(error) => {
                tracing::error!(folder = %self.path.display(), %error, "the contract folder cannot be read");
                return false;
            }
        };
        self.sightings.0.retain(|path, _| files.iter().any(|(file, _)| file == path));
        let mut unsettled = false;
        let mut found = Vec::new();
        let of = files.len();
        for ((path, stamp), number) in files.into_iter().zip(1..) {
            if look == Look::First {
                self.inner.progress.look_at(file_name(&path), number, of);
            }
            match self.sightings.add(&path, stamp, look) {
                Settled::Already => {}
                Settled::NotYet => unsettled = true,
                Settled::Now => found.extend(self.examine(&path, look).await),
            }
        }
        // Lowest version first: each may follow the one before, and there is something to go back to.
        found.sort_by(|a, b| {
            let (a, b) = (a.contract.descriptor(), b.contract.descriptor());
            (&a.intent, &a.version).cmp(&(&b.intent, &b.version))
        });
        for prepared in found {
            self.take(prepared, look).await;
        }
        unsettled
    }

    /// Reads a file and examines it, if its content is news.
    async fn examine(&mut self, path: &Path, look: Look) -> Option<Prepared> {
        let origin = Origin::Folder(path.to_string_lossy().into_owned());
        let reading = path.to_owned();
        let read = tokio::task::spawn_blocking(move || read(&reading)).await;
        let (bytes, digest) = match read.unwrap_or_else(|error| Err(LoadError::Broken(error.into()))) {
            Ok(read) => read,
            Err(error) => {
                self.inner.reject(&Rejected { error, origin, digest: None, identity: None });
                return None;
            }
        };
        let seen = self.sightings.0.get_mut(path)?;
        if seen.content.replace(digest) == Some(digest) {
            return None;
        }
        if let Some(known) = self.inner.snapshot().summary(digest) {
            // What is known goes live by an explicit act alone. Somebody who has just put it there may have expected otherwise.
            if look == Look::Later && !known.live {
                tracing::warn!(
                    path = %path.display(),
                    intent = known.intent,
                    version = known.version,
                    %digest,
                    "the contract is known and not live, and stays so; to make it live: \
                     POST /api/v1/admin/contracts/{digest}/activate"
                );
            }
            return None;
        }
        let prepared = self.inner.prepare(bytes, origin, &Actor::gateway()).await;
        prepared.map_err(|reason| self.inner.refuse(reason)).ok()
    }

    async fn take(&self, prepared: Prepared, look: Look) {
        let snapshot = self.inner.snapshot();
        let entry = snapshot.intents.get(&prepared.contract.descriptor().intent);
        // An intent that was taken out of service stays out when the gateway restarts.
        let unloaded = entry.is_some_and(|entry| entry.live.is_none());
        let activate = look == Look::Later || !unloaded;
        // A file cannot say that values may go; who means it uploads the version and says so.
        let (origin, by) = (prepared.origin.clone(), Actor::gateway());
        let order = LoadOrder { origin, by, activate, removal: Removal::Refused };
        // A refusal was noted where it arose; a disk that cannot be written is only known here.
        if let Err(error @ ContractAdminError::Storage(_)) = self.inner.take(prepared, order).await {
            tracing::error!(%error, "a contract of the folder could not be taken");
        }
    }
}

/// The components in the watched folder by their digests, for those that were kept and are gone. The folder is read when the first
/// is asked for.
pub(crate) struct SpareComponents {
    folder: Option<PathBuf>,
    by_digest: OnceLock<HashMap<Digest, PathBuf>>,
}

impl SpareComponents {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, by_digest: OnceLock::new() }
    }

    /// A component of this very content. Blocks.
    pub(crate) fn find(&self, digest: Digest) -> Option<(PathBuf, Bytes)> {
        let path = self.by_digest.get_or_init(|| self.read_folder()).get(&digest)?.clone();
        let (bytes, found) = read(&path).ok()?;
        (found == digest).then_some((path, bytes))
    }

    fn read_folder(&self) -> HashMap<Digest, PathBuf> {
        // A folder that cannot be read is told by whoever watches it.
        let files = self.folder.as_deref().and_then(|folder| list(folder).ok()).unwrap_or_default();
        files.into_iter().filter_map(|(path, _)| Some((read(&path).ok()?.1, path))).collect()
    }
}

/// How each file looked last.
#[derive(Default)]
struct Sightings(HashMap<PathBuf, FileState>);

impl Sightings {
    /// Notes how a file looks, and tells whether it is time to read it.
    fn add(&mut self, path: &Path, stamp: Stamp, look: Look) -> Settled {
        match self.0.get_mut(path) {
            Some(seen) if seen.stamp == stamp && seen.settled => Settled::Already,
            Some(seen) if seen.stamp == stamp => {
                seen.settled = true;
                Settled::Now
            }
            Some(seen) => {
                (seen.stamp, seen.settled) = (stamp, false);
                Settled::NotYet
            }
            None => {
                let settled = look == Look::First;
                self.0.insert(path.to_owned(), FileState { stamp, content: None, settled });
                if settled { Settled::Now } else { Settled::NotYet }
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Settled {
    /// Nothing new.
    Already,
    /// It changed since the last look; look again.
    NotYet,
    /// It has stopped changing.
    Now,
}

/// Whether an event may have changed what is in the folder. Reading a file is reported as well.
fn matters(event: &Event) -> bool {
    event.need_rescan()
        || match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
            EventKind::Access(_) => false,
            _ => true,
        }
}

/// The files that concern us, in the order of their names.
fn list(folder: &Path) -> io::Result<Vec<(PathBuf, Stamp)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let ending = path.extension().and_then(OsStr::to_str);
        if !matches!(ending, Some(COMPONENT_ENDING | COMPILED_ENDING)) {
            continue;
        }
        if files.len() == FILES_MAX {
            tracing::warn!(folder = %folder.display(), "more than {FILES_MAX} contracts; the rest is not looked at");
            break;
        }
        // Gone again since it was listed: the next look will know.
        if let Ok(metadata) = fs::metadata(&path)
            && metadata.is_file()
        {
            files.push((path, stamp(&metadata)));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn stamp(metadata: &Metadata) -> Stamp {
    Stamp {
        bytes: metadata.len(),
        inode: metadata.ino(),
        modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    }
}

/// Reads a component, never more than a contract may have.
fn read(path: &Path) -> Result<(Bytes, Digest), LoadError> {
    if path.extension().and_then(OsStr::to_str) == Some(COMPILED_ENDING) {
        return Err(LoadError::CompiledInput);
    }
    let file = fs::File::open(path).map_err(LoadError::Unreadable)?;
    let mut bytes = Vec::new();
    let most = u64::try_from(CONTRACT_MAX_BYTES).unwrap_or(u64::MAX);
    io::Read::read_to_end(&mut io::Read::take(file, most + 1), &mut bytes).map_err(LoadError::Unreadable)?;
    if bytes.len() > CONTRACT_MAX_BYTES {
        return Err(LoadError::TooLarge { bytes: bytes.len(), max: CONTRACT_MAX_BYTES });
    }
    let digest = Digest::of(&bytes);
    Ok((Bytes::from(bytes), digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(bytes: u64) -> Stamp {
        Stamp { bytes, inode: 1, modified: SystemTime::UNIX_EPOCH }
    }

    #[test]
    fn a_file_is_read_once_it_has_looked_the_same_twice() {
        let mut sightings = Sightings::default();
        let path = Path::new("a.wasm");
        let looks = [1, 2, 3, 3, 3, 4, 4].map(|bytes| sightings.add(path, stamp(bytes), Look::Later));
        use Settled::{Already, NotYet, Now};
        assert_eq!(looks, [NotYet, NotYet, NotYet, Now, Already, NotYet, Now]);
    }

    #[test]
    fn what_is_there_at_the_start_is_read_at_once() {
        let mut sightings = Sightings::default();
        assert_eq!(sightings.add(Path::new("a.wasm"), stamp(1), Look::First), Settled::Now);
        assert_eq!(sightings.add(Path::new("a.wasm"), stamp(1), Look::Later), Settled::Already);
    }

    #[test]
    fn reading_a_file_is_no_reason_to_look_again() {
        let event = |kind| Event { kind, ..Event::default() };
        assert!(!matters(&event(EventKind::Access(AccessKind::Open(AccessMode::Read)))));
        assert!(!matters(&event(EventKind::Access(AccessKind::Close(AccessMode::Read)))));
        assert!(matters(&event(EventKind::Access(AccessKind::Close(AccessMode::Write)))));
        assert!(matters(&event(EventKind::Create(notify::event::CreateKind::File))));
        assert!(matters(&event(EventKind::Other).set_flag(notify::event::Flag::Rescan)));
    }
}
