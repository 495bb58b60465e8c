//! What an earlier release left in the state folder: the list of its versions and their components, from before there was a
//! catalogue in the store. It is read once, taken over, and put aside.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::versions::{LeftContracts, LeftIntent, LeftVersion, Origin, VersionEvent};
use serde::Deserialize;

use crate::files;
use crate::state_dir::StateError;

/// Name of the list of versions in the state folder.
const LIVE_FILE: &str = "live.json";
/// Its name once it was taken over.
const TAKEN_OVER_FILE: &str = "live.json.taken-over";
/// Folder of the components that it names.
const COMPONENTS: &str = "components";
/// Version of the layout of `live.json`.
const LAYOUT: u32 = 2;
/// The layout before versions had a history.
const LAYOUT_WITHOUT_HISTORY: u32 = 1;

/// What `live.json` holds. Events that its audit log had not taken are lost with it.
#[derive(Deserialize)]
struct Kept {
    layout: u32,
    /// By intent.
    intents: BTreeMap<String, KeptIntent>,
}

#[derive(Deserialize)]
struct KeptIntent {
    live: Option<Digest>,
    previous: Vec<Digest>,
    versions: Vec<KeptVersion>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum KeptVersion {
    WithHistory { digest: Digest, provenance: Provenance, history: Vec<VersionEvent> },
    Digest(Digest),
}

#[derive(Deserialize)]
struct Provenance {
    origin: Origin,
    loaded_at_ms: Timestamp,
    loaded_by: Actor,
}

/// Whether a gateway has kept contracts in a state folder. What cannot be read shows that something was kept.
#[must_use]
pub fn has_kept_contracts(state_dir: &Path) -> bool {
    /// As much of the list as tells whether it is empty, in every layout.
    #[derive(Deserialize)]
    struct Kept {
        intents: BTreeMap<String, serde::de::IgnoredAny>,
    }
    let has_list = match fs::read(state_dir.join(LIVE_FILE)) {
        Ok(text) => serde_json::from_slice::<Kept>(&text).map_or(true, |kept| !kept.intents.is_empty()),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    let has_code = || match fs::read_dir(state_dir.join(crate::cache::FOLDER)) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    has_list || has_code()
}

/// What was left; none where there is nothing to take over. Blocks.
///
/// # Errors
/// When the list is damaged, or was written by a newer gateway: starting without it would serve other versions without a word.
pub fn read_left_contracts(state_dir: &Path, now: Timestamp) -> Result<Option<LeftContracts>, StateError> {
    let path = state_dir.join(LIVE_FILE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(StateError::Io { path, cause }),
    };
    let kept: Kept =
        serde_json::from_slice(&text).map_err(|cause| StateError::Damaged { path: path.clone(), cause })?;
    if !(LAYOUT_WITHOUT_HISTORY..=LAYOUT).contains(&kept.layout) {
        return Err(StateError::Layout { path, found: kept.layout });
    }
    let mut left = LeftContracts::default();
    for (name, KeptIntent { live, previous, versions }) in kept.intents {
        let Ok(intent) = IntentId::parse(&name) else {
            tracing::warn!(intent = name, "the kept list names no intent; skipped");
            continue;
        };
        let versions = versions.into_iter().map(|version| version.complete(state_dir, now)).collect();
        left.intents.push(LeftIntent { intent, live, previous, versions });
    }
    Ok(Some(left))
}

/// What was left is in the catalogue now. Blocks.
///
/// # Errors
/// When the state folder cannot be written: it is taken over again at the next start, which changes nothing.
pub fn put_left_contracts_aside(state_dir: &Path) -> Result<(), StateError> {
    let failed = |cause| StateError::Io { path: state_dir.to_owned(), cause };
    fs::rename(state_dir.join(LIVE_FILE), state_dir.join(TAKEN_OVER_FILE)).map_err(failed)?;
    match fs::remove_dir_all(state_dir.join(COMPONENTS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => files::sync_folder(state_dir).map_err(failed),
    }
}

impl KeptVersion {
    fn complete(self, state_dir: &Path, now: Timestamp) -> LeftVersion {
        let (digest, provenance, history) = match self {
            Self::WithHistory { digest, provenance, history } => (digest, provenance, history),
            Self::Digest(digest) => {
                let (origin, loaded_by) = (Origin::Kept, Actor::gateway());
                (digest, Provenance { origin, loaded_at_ms: now, loaded_by }, Vec::new())
            }
        };
        let Provenance { origin, loaded_at_ms, loaded_by } = provenance;
        let component = read_component(state_dir, digest);
        LeftVersion { digest, component, origin, loaded_at_ms, loaded_by, history }
    }
}

fn read_component(state_dir: &Path, digest: Digest) -> Option<Bytes> {
    let path: PathBuf = state_dir.join(COMPONENTS).join(format!("{digest}.wasm"));
    let bytes = fs::read(path).ok()?;
    (Digest::of(&bytes) == digest).then(|| bytes.into())
}
