//! What outlives a restart: the components that were taken, and which of them serves each intent.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use intent_gateway_domain::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::files;

/// Version of the layout of `live.json`.
const LAYOUT: u32 = 1;

/// The state folder. Only one gateway may use it at a time.
pub(crate) struct Library {
    components: PathBuf,
    live: PathBuf,
    /// Held locked as long as the library is open.
    _lock: File,
}

/// What `live.json` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredComponent {
    layout: u32,
    /// By intent.
    pub(crate) intents: BTreeMap<String, KeptIntent>,
}

/// What is kept of one intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptIntent {
    /// The version that serves; absent when the intent was unloaded.
    pub(crate) live: Option<Digest>,
    /// The versions that served before, latest last.
    pub(crate) previous: Vec<Digest>,
    /// All versions, in the order in which they were loaded.
    pub(crate) versions: Vec<Digest>,
}

impl StoredComponent {
    pub(crate) fn new(intents: BTreeMap<String, KeptIntent>) -> Self {
        Self { layout: LAYOUT, intents }
    }
}

/// The state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It could not be read or written.
    #[error("the state folder `{}` cannot be used", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Another gateway is running on it.
    #[error("another process uses the state folder `{}`", .0.display())]
    InUse(PathBuf),
    /// The list of live versions cannot be understood. Starting without it would silently serve other versions.
    #[error("`{}` is damaged; restore it, or remove it to start from the contract folder alone", .path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: serde_json::Error,
    },
    /// The list was written by a newer gateway.
    #[error("`{}` has layout {found}; this gateway reads layout {LAYOUT}", .path.display())]
    Layout {
        /// Where.
        path: PathBuf,
        /// What was found.
        found: u32,
    },
}

impl Library {
    /// Opens the state folder, making what is missing.
    pub(crate) fn open(state_dir: &Path) -> Result<Self, StateError> {
        let failed = |cause| StateError::Io { path: state_dir.to_owned(), cause };
        let components = state_dir.join("components");
        files::create_folder(&components).map_err(failed)?;
        let lock = File::create(state_dir.join("lock")).map_err(failed)?;
        match rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { components, live: state_dir.join("live.json"), _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateError::InUse(state_dir.to_owned())),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// What was kept; nothing at the first start.
    pub(crate) fn read_kept(&self) -> Result<StoredComponent, StateError> {
        let path = self.live.clone();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(StoredComponent::new(BTreeMap::new())),
            Err(cause) => return Err(StateError::Io { path, cause }),
        };
        match serde_json::from_slice::<StoredComponent>(&text) {
            Ok(kept) if kept.layout == LAYOUT => Ok(kept),
            Ok(kept) => Err(StateError::Layout { path, found: kept.layout }),
            Err(cause) => Err(StateError::Damaged { path, cause }),
        }
    }

    /// Replaces what is kept; it survives a power cut once this returns.
    pub(crate) fn keep(&self, kept: &StoredComponent) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(kept)?;
        files::replace(&self.live, &[&text])
    }

    /// A kept component, if its bytes are still the ones that were kept.
    pub(crate) fn component(&self, digest: Digest) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.path(digest))?;
        if Digest::of(&bytes) == digest {
            Ok(bytes)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the kept component does not match its digest"))
        }
    }

    /// Keeps a component.
    pub(crate) fn store(&self, digest: Digest, bytes: &[u8]) -> io::Result<()> {
        files::replace(&self.path(digest), &[bytes])
    }

    /// Forgets a component.
    pub(crate) fn remove(&self, digest: Digest) -> io::Result<()> {
        files::remove(&self.path(digest))
    }

    /// Forgets every component but these.
    pub(crate) fn retain(&self, kept: &HashSet<Digest>) -> io::Result<()> {
        let keep: HashSet<PathBuf> = kept.iter().map(|digest| self.path(*digest)).collect();
        for entry in fs::read_dir(&self.components)? {
            let path = entry?.path();
            if !keep.contains(&path) {
                files::remove(&path)?;
            }
        }
        Ok(())
    }

    fn path(&self, digest: Digest) -> PathBuf {
        self.components.join(format!("{digest}.wasm"))
    }
}
