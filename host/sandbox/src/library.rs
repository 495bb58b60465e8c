//! What outlives a restart: the components that were taken, and which of them serves each intent.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions::{Origin, VersionEvent};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::history::{Outbox, Provenance};

/// Name of the list of versions in the state folder.
const LIVE_FILE: &str = "live.json";
/// Version of the layout of `live.json`.
const LAYOUT: u32 = 2;
/// The layout before versions had a history.
const LAYOUT_WITHOUT_HISTORY: u32 = 1;

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
    /// Events that the audit log has not taken yet.
    pub(crate) events: Outbox,
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
    pub(crate) versions: Vec<KeptVersion>,
}

/// What is kept of one version besides its component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptVersion {
    pub(crate) digest: Digest,
    pub(crate) provenance: Provenance,
    /// Oldest first.
    pub(crate) history: Vec<VersionEvent>,
}

impl StoredComponent {
    pub(crate) fn new(intents: BTreeMap<String, KeptIntent>, events: Outbox) -> Self {
        Self { layout: LAYOUT, intents, events }
    }
}

/// The layout alone, whatever else there is.
#[derive(Deserialize)]
struct LayoutOnly {
    layout: u32,
}

/// `live.json` as it was before versions had a history.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutHistory {
    #[serde(rename = "layout")]
    _layout: u32,
    intents: BTreeMap<String, IntentWithoutHistory>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentWithoutHistory {
    live: Option<Digest>,
    previous: Vec<Digest>,
    versions: Vec<Digest>,
}

impl WithoutHistory {
    /// The same with what can still be told of each version: that it was kept until `now`.
    fn complete(self, now: Timestamp) -> StoredComponent {
        let version = |digest| KeptVersion {
            digest,
            provenance: Provenance { origin: Origin::Kept, loaded_at_ms: now, loaded_by: Actor::gateway() },
            history: Vec::new(),
        };
        let complete = |intent: IntentWithoutHistory| KeptIntent {
            live: intent.live,
            previous: intent.previous,
            versions: intent.versions.into_iter().map(version).collect(),
        };
        let intents = self.intents.into_iter().map(|(name, intent)| (name, complete(intent))).collect();
        StoredComponent::new(intents, Outbox::default())
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

/// Whether a gateway has kept contracts in a state folder. What cannot be read shows that something was kept.
#[must_use]
pub fn has_kept_contracts(state_dir: &Path) -> bool {
    /// As much of the list as tells whether it is empty, in every layout.
    #[derive(Deserialize)]
    struct Kept {
        intents: BTreeMap<String, serde::de::IgnoredAny>,
    }
    match fs::read(state_dir.join(LIVE_FILE)) {
        Ok(text) => serde_json::from_slice::<Kept>(&text).map_or(true, |kept| !kept.intents.is_empty()),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

impl Library {
    /// Opens the state folder, making what is missing.
    pub(crate) fn open(state_dir: &Path) -> Result<Self, StateError> {
        let failed = |cause| StateError::Io { path: state_dir.to_owned(), cause };
        let components = state_dir.join("components");
        files::create_folder(&components).map_err(failed)?;
        let lock = File::create(state_dir.join("lock")).map_err(failed)?;
        match rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { components, live: state_dir.join(LIVE_FILE), _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateError::InUse(state_dir.to_owned())),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// What was kept; nothing at the first start.
    pub(crate) fn read_kept(&self, now: Timestamp) -> Result<StoredComponent, StateError> {
        let path = self.live.clone();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(StoredComponent::new(BTreeMap::new(), Outbox::default()));
            }
            Err(cause) => return Err(StateError::Io { path, cause }),
        };
        let read = match serde_json::from_slice::<LayoutOnly>(&text).map(|kept| kept.layout) {
            Ok(LAYOUT) => serde_json::from_slice(&text),
            Ok(LAYOUT_WITHOUT_HISTORY) => {
                serde_json::from_slice::<WithoutHistory>(&text).map(|kept| kept.complete(now))
            }
            Ok(found) => return Err(StateError::Layout { path, found }),
            Err(cause) => Err(cause),
        };
        read.map_err(|cause| StateError::Damaged { path, cause })
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
