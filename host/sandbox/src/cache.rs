//! Compiled components by the digest of their source, so that a restart does not compile again.
//!
//! Compiled code runs with the gateway's own rights, so an entry is used only after its MAC under a key that
//! this installation made for itself has been verified; the MAC covers the component's digest and everything
//! that decides whether the code fits this engine. Whatever else lies in the folder is ignored and replaced.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use wasmtime::component::Component;

use crate::compiling::{self, CompiledCode};
use crate::component::ContractComponent;
use crate::engine::Engine;
use crate::failure::LoadError;
use crate::files;

/// First bytes of an entry; the number is the version of its layout.
const MAGIC: &[u8; 8] = b"igwcode2";
/// Length of the MAC in bytes.
const MAC_BYTES: usize = blake3::OUT_LEN;
/// Length of the key in bytes.
const KEY_BYTES: usize = blake3::KEY_LEN;
/// Name of the folder in the state folder.
pub(crate) const FOLDER: &str = "compiled";
/// Ending of entries.
const ENDING: &str = "compiled";

/// The folder of compiled components.
pub struct CompiledCache {
    engine: Engine,
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    /// Held while entries are written or removed: one that is half written is no entry yet.
    changing: Mutex<()>,
}

/// Why an entry was not used.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("it could not be read")]
    Unreadable(#[source] io::Error),
    #[error("it was not written by this gateway, or damaged since")]
    NotAuthentic,
    #[error("the engine does not take it")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CompiledCache {
    /// Opens the cache below the state folder, making its key where there is none.
    ///
    /// # Errors
    /// When the folder or the key cannot be read or made.
    pub fn open(engine: &Engine, state_dir: &Path) -> io::Result<Self> {
        let folder = state_dir.join(FOLDER);
        files::create_folder(&folder)?;
        let key = key(&state_dir.join("compiled.key"))?;
        Ok(Self { engine: engine.clone(), folder, key, changing: Mutex::default() })
    }

    /// The compiled form, if there is one that can be trusted.
    pub(crate) fn load(&self, digest: Digest) -> Option<Component> {
        match self.read(digest) {
            Ok(component) => Some(component),
            Err(Unusable::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => None,
            Err(reason) => {
                let reason = chain(&reason);
                tracing::warn!(%digest, reason, "a compiled contract in the cache is not used; compiling it again");
                None
            }
        }
    }

    fn read(&self, digest: Digest) -> Result<Component, Unusable> {
        let entry = fs::read(self.path(digest)).map_err(Unusable::Unreadable)?;
        let rest = entry.strip_prefix(MAGIC).ok_or(Unusable::NotAuthentic)?;
        let (mac, code) = rest.split_at_checked(MAC_BYTES).ok_or(Unusable::NotAuthentic)?;
        // This comparison takes the same time wherever the two differ.
        if self.mac(digest, code) != *mac {
            return Err(Unusable::NotAuthentic);
        }
        // The MAC shows that these bytes are what the compiler returned in this installation, for this component and an
        // engine of the same compatibility. They were read once, into memory of our own.
        let start = entry.len() - code.len();
        let code = CompiledCode::verified(Bytes::from(entry).slice(start..));
        code.load(&self.engine).map_err(|error| Unusable::Refused(error.into()))
    }

    /// Compiles a component into the cache and gives its digest; for benches.
    ///
    /// # Errors
    /// [`LoadError`] when it does not compile, or cannot be written.
    pub async fn fill(&self, bytes: &[u8]) -> Result<Digest, LoadError> {
        let digest = Digest::of(bytes);
        let (_, code) = compiling::compile(&self.engine, Bytes::copy_from_slice(bytes)).await?;
        self.store(digest, &code).map_err(LoadError::Unreadable)?;
        Ok(digest)
    }

    /// Whether an entry can be loaded up to the point where it can be instantiated; for benches. Blocks the thread.
    #[must_use]
    pub fn loads(&self, digest: Digest) -> bool {
        self.load(digest).is_some_and(|compiled| ContractComponent::new(&self.engine, &compiled).is_ok())
    }

    /// Keeps the compiled form.
    pub(crate) fn store(&self, digest: Digest, code: &CompiledCode) -> io::Result<()> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mac = self.mac(digest, code.as_bytes());
        files::replace(&self.path(digest), &[MAGIC, mac.as_bytes(), code.as_bytes()])
    }

    /// Removes every entry but these, those of other engines included.
    pub(crate) fn retain(&self, kept: &HashSet<Digest>) -> io::Result<()> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let keep: HashSet<PathBuf> = kept.iter().map(|digest| self.path(*digest)).collect();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if !keep.contains(&path) {
                files::remove(&path)?;
            }
        }
        Ok(())
    }

    fn path(&self, digest: Digest) -> PathBuf {
        // Half of the compatibility digest tells engines apart well enough in a name; the MAC covers the whole.
        let engine = &self.engine.compatibility().to_string()[..32];
        self.folder.join(format!("{digest}-{engine}.{ENDING}"))
    }

    /// The keyed hash: BLAKE3, since a contract has a megabyte of code and is loaded before it serves.
    fn mac(&self, digest: Digest, code: &[u8]) -> blake3::Hash {
        let mut mac = blake3::Hasher::new_keyed(&self.key);
        mac.update(MAGIC);
        mac.update(digest.as_bytes());
        mac.update(self.engine.compatibility().as_bytes());
        mac.update(code);
        mac.finalize()
    }
}

impl std::fmt::Debug for CompiledCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of logs.
        f.debug_struct("CompiledCache").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Reads the key, or makes one where there is none that only this gateway could have read.
fn key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    match fs::read(path) {
        Ok(bytes) => {
            let private = fs::metadata(path)?.permissions().mode() & 0o077 == 0;
            match <[u8; KEY_BYTES]>::try_from(bytes.as_slice()) {
                Ok(key) if private => return Ok(key),
                _ => tracing::warn!(
                    path = %path.display(),
                    "the cache key is damaged or readable by others; making a new one, contracts are compiled again"
                ),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut key = [0; KEY_BYTES];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    files::replace(path, &[&key])?;
    Ok(key)
}
