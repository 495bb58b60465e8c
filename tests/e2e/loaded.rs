//! Contracts that are compiled once for all gateways of these tests. Compiling one takes seconds of a processor, and most
//! tests are about something else.
//!
//! A gateway finds what it has compiled before in its state folder. So one gateway loads contracts from nothing, and all others that
//! have the same contracts in their folders find what it has compiled of them, and nothing else. Contracts that are uploaded
//! are compiled as ever.

use std::collections::HashMap;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::{fs, io::Write as _};

use crate::harness::{Gateway, GatewayOptions};

/// What a gateway keeps of its contracts in its state folder: their compiled forms, and the key that vouches for those.
const FILES: [&str; 1] = ["compiled.key"];
const FOLDERS: [&str; 1] = ["compiled"];
/// Only the gateway's own user reads its state.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Files by their paths within the state folder.
type Left = Vec<(PathBuf, Vec<u8>)>;

/// What was left of each set of contracts.
type Sets = HashMap<Vec<PathBuf>, Arc<OnceLock<Left>>>;

static SETS: LazyLock<Mutex<Sets>> = LazyLock::new(Mutex::default);

/// Puts the contracts of a gateway that has not started yet into its state folder, as if it had loaded them before.
pub(crate) fn put(options: &GatewayOptions, state: &Path) {
    // The code depends on the sandbox's settings.
    if options.contracts.is_empty() || options.extra.contains("[sandbox]") {
        return;
    }
    let set = {
        let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sets.entry(options.contracts.clone()).or_default())
    };
    // Who wants the same contracts meanwhile waits, which costs less than doing it twice.
    let left = set.get_or_init(|| load(&options.contracts));
    for folder in FOLDERS {
        fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(state.join(folder)).expect("writable");
    }
    for (path, bytes) in left {
        let mut file = fs::OpenOptions::new();
        let mut file = file.write(true).create_new(true).mode(FILE_MODE).open(state.join(path)).expect("writable");
        file.write_all(bytes).expect("writable");
    }
}

/// Lets a gateway load contracts; what it has left of them.
fn load(contracts: &[PathBuf]) -> Left {
    let options = GatewayOptions { contracts: contracts.to_vec(), ..GatewayOptions::default() };
    let gateway = Gateway::start_in(Gateway::new_folder_for(&options));
    let state = gateway.folder.path().join("state");
    let mut paths: Vec<PathBuf> = FILES.map(PathBuf::from).into();
    for folder in FOLDERS {
        let entries = fs::read_dir(state.join(folder)).expect("readable");
        paths.extend(entries.map(|entry| Path::new(folder).join(entry.expect("readable").file_name())));
    }
    let read = |path: PathBuf| {
        let bytes = fs::read(state.join(&path)).expect("it has loaded its contracts");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}
