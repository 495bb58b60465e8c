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
use intent_gateway_domain::error::chain;
use intent_gateway_domain::intake::{Look, goes_live};
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_domain::ports::{Contract, ContractIntake};
use intent_gateway_domain::sections::{self, SIGNATURES_SECTION};
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{ContractAdminError, LoadOrder, Origin, RefusedComponent};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::failure::LoadError;
use crate::progress::StartProgress;

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
pub struct ContractFolder {
    intake: Arc<dyn ContractIntake>,
    progress: Arc<StartProgress>,
    /// Cancels when it has been looked through for the first time, and when it cannot be any more.
    looked_through: Option<DropGuard>,
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

/// A component that was found and examined.
struct Found {
    path: PathBuf,
    contract: Arc<dyn Contract>,
    component: Bytes,
    origin: Origin,
}

/// The contract folder cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("the contract folder `{}` cannot be watched", .path.display())]
pub struct CannotWatch {
    path: PathBuf,
    #[source]
    cause: notify::Error,
}

impl ContractFolder {
    /// Starts to watch. The watch begins before the first look, so that nothing falls between.
    ///
    /// # Errors
    /// When the folder cannot be made or watched.
    pub fn open(
        path: PathBuf,
        intake: Arc<dyn ContractIntake>,
        progress: Arc<StartProgress>,
        looked_through: CancellationToken,
    ) -> Result<Self, CannotWatch> {
        let failed = |cause| CannotWatch { path: path.clone(), cause };
        fs::create_dir_all(&path).map_err(|error| failed(notify::Error::io(error)))?;
        // One place is enough: a change that comes while one is waiting is seen by the same look.
        let (changed, changes) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.as_ref().map_or(true, matters) {
                let _ = changed.try_send(());
            }
        })
        .map_err(failed)?;
        watcher.watch(&path, RecursiveMode::NonRecursive).map_err(failed)?;
        let sightings = Sightings::default();
        let looked_through = Some(looked_through.drop_guard());
        Ok(Self { intake, progress, looked_through, path, sightings, changes, _watcher: watcher })
    }

    /// Looks at what is there, and then whenever something changed, until shut down.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let Some(mut unsettled) = shutdown.run_until_cancelled(self.look(Look::First)).await else { return };
        tracing::info!(folder = %self.path.display(), "the contract folder was looked through");
        self.progress.end();
        drop(self.looked_through.take());
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
                self.progress.look_at(file_name(&path), number, of);
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
        for one in found {
            self.take(one, look).await;
        }
        unsettled
    }

    /// Reads a file and examines it, if its content is news.
    async fn examine(&mut self, path: &Path, look: Look) -> Option<Found> {
        let origin = Origin::Folder(path.to_string_lossy().into_owned());
        let reading = path.to_owned();
        let read = tokio::task::spawn_blocking(move || read(&reading)).await;
        let (component, digest) = match read.unwrap_or_else(|error| Err(LoadError::Broken(error.into()))) {
            Ok(read) => read,
            Err(error) => {
                let (code, message) = (error.code().to_owned(), chain(&error));
                let refused = RefusedComponent { digest: None, identity: None, code, message };
                self.intake.note_unreadable(refused, origin);
                return None;
            }
        };
        let seen = self.sightings.0.get_mut(path)?;
        if seen.content.replace(digest) == Some(digest) {
            return None;
        }
        if let Some(known) = self.intake.find(digest) {
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
        // A refusal is noted where it arises.
        let contract = self.intake.examine(component.clone(), &origin, &Actor::gateway()).await.ok()?;
        Some(Found { path: path.to_owned(), contract, component, origin })
    }

    async fn take(&mut self, Found { path, contract, component, origin }: Found, look: Look) {
        let descriptor = contract.descriptor();
        let activate = goes_live(descriptor, self.intake.standing(&descriptor.intent), look);
        // A file cannot say that values may go; who means it uploads the version and says so.
        let order = LoadOrder { origin, by: Actor::gateway(), activate, removal: Removal::Refused };
        match self.intake.take(contract, component, order).await {
            Ok(loaded) if !loaded.waits_for.is_empty() => {
                tracing::warn!(waits_for = ?loaded.waits_for, "a contract of the folder is not live yet: not every gateway has it ready");
            }
            Ok(_) => {}
            // A refusal was noted where it arose; that the store does not take it is only known here.
            Err(error @ ContractAdminError::Store { .. }) => {
                tracing::error!(%error, "a contract of the folder could not be taken; it is tried again");
                self.sightings.0.remove(&path);
            }
            Err(_) => {}
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
    pub(crate) fn find(&self, digest: Digest) -> Option<Bytes> {
        let path = self.by_digest.get_or_init(|| self.read_folder()).get(&digest)?.clone();
        let (bytes, found) = read(&path).ok()?;
        (found == digest).then(|| sections::take_out(&bytes, SIGNATURES_SECTION).0.into())
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
    // What the catalogue knows it by: signatures are no part of the content.
    let digest = match sections::find(&bytes, SIGNATURES_SECTION) {
        Some(_) => Digest::of(&sections::take_out(&bytes, SIGNATURES_SECTION).0),
        None => Digest::of(&bytes),
    };
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
