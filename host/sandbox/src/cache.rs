//! Compiled components by the digest of their source, so that a restart does not compile again.
//!
//! Compiled code runs with the gateway's own rights, so an entry is used only after its MAC under a key that
//! this installation made for itself has been verified; the MAC covers the component's digest and everything
//! that decides whether the code fits this engine. Whatever else lies in the folder is ignored and replaced.
//!
//! An entry is the code, so that it can be mapped as it lies there, and then its MAC. It is never written again once it has
//! been mapped: what replaces it is another file of the same name.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use tempfile::NamedTempFile;
use wasmtime::component::Component;

use crate::compiling::{self, CodeFile, CompiledCode};
use crate::component::ContractComponent;
use crate::engine::Engine;
use crate::failure::LoadError;
use crate::files;

/// Last bytes of an entry; the number is the version of its layout.
const MAGIC: &[u8; 8] = b"igwcode3";
/// Length of the MAC before them in bytes.
const MAC_BYTES: usize = blake3::OUT_LEN;
/// What follows the code, bytes.
const TRAILER_BYTES: usize = MAC_BYTES + MAGIC.len();
/// The release of the gateway, which decides what a contract that was examined has passed.
const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// Length of the key in bytes.
const KEY_BYTES: usize = blake3::KEY_LEN;
/// Name of the folder in the state folder.
pub(crate) const FOLDER: &str = "compiled";
/// Ending of entries.
const ENDING: &str = "compiled";
/// How the names of those begin that nobody has asked to keep.
const UNKEPT: &str = "new-";

/// The folder of compiled components.
pub struct CompiledCache {
    engine: Engine,
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    /// Held while entries are written or removed: one that is half written is no entry yet.
    changing: Mutex<()>,
}

/// The compiled form of a component that was examined. It is gone with this unless it is kept.
pub(crate) struct UnkeptCode {
    digest: Digest,
    file: NamedTempFile,
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
        // What a process left that ended in the middle of it.
        remove_where(&folder, is_unkept)?;
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
        let mut file = File::open(self.path(digest)).map_err(Unusable::Unreadable)?;
        let length = file.metadata().map_err(Unusable::Unreadable)?.len();
        let code_bytes = length.checked_sub(TRAILER_BYTES as u64).ok_or(Unusable::NotAuthentic)?;
        let mac = self.mac(digest, (&mut file).take(code_bytes)).map_err(Unusable::Unreadable)?;
        let mut trailer = [0; TRAILER_BYTES];
        file.read_exact(&mut trailer).map_err(Unusable::Unreadable)?;
        // This comparison takes the same time wherever the two differ.
        let (kept_mac, magic) = trailer.split_at(MAC_BYTES);
        if magic != MAGIC || mac != *kept_mac {
            return Err(Unusable::NotAuthentic);
        }
        // The MAC shows that this file has what the compiler returned in this installation, for this component and an
        // engine of the same compatibility.
        let code = CodeFile::of_verified(file, code_bytes);
        code.make_ready(&self.engine).map_err(|error| Unusable::Refused(error.into()))
    }

    /// Makes ready what was just compiled, with its file where one can be written.
    ///
    /// # Errors
    /// When it needs more than an instance may have.
    pub(crate) fn load_new(
        &self,
        digest: Digest,
        code: &CompiledCode,
    ) -> wasmtime::Result<(Component, Option<UnkeptCode>)> {
        match self.write(digest, code) {
            Ok((unkept, file)) => Ok((file.make_ready(&self.engine)?, Some(unkept))),
            Err(error) => {
                // It takes more memory so, and a restart compiles again, which is not a reason to refuse a version.
                tracing::warn!(%digest, %error, "a compiled contract cannot be put on the disk");
                Ok((code.load(&self.engine)?, None))
            }
        }
    }

    fn write(&self, digest: Digest, code: &CompiledCode) -> io::Result<(UnkeptCode, CodeFile)> {
        let mac = self.mac(digest, code.as_bytes())?;
        let mut file = tempfile::Builder::new().prefix(UNKEPT).tempfile_in(&self.folder)?;
        for part in [code.as_bytes(), mac.as_bytes(), MAGIC] {
            file.write_all(part)?;
        }
        let written = CodeFile::of_verified(file.reopen()?, code.as_bytes().len() as u64);
        Ok((UnkeptCode { digest, file }, written))
    }

    /// Keeps a compiled form; when it returns, it survives a power cut.
    pub(crate) fn keep(&self, UnkeptCode { digest, file }: UnkeptCode) -> io::Result<()> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        // What is not on the disk cannot be given back, either.
        file.as_file().sync_all()?;
        file.persist(self.path(digest)).map_err(|error| error.error)?;
        files::sync_folder(&self.folder)
    }

    /// Compiles a component into the cache and gives its digest; for benches.
    ///
    /// # Errors
    /// [`LoadError`] when it does not compile, or cannot be written.
    pub async fn fill(&self, bytes: &[u8]) -> Result<Digest, LoadError> {
        let digest = Digest::of(bytes);
        let code = compiling::compile(&self.engine, Bytes::copy_from_slice(bytes)).await?;
        let (unkept, _) = self.write(digest, &code).map_err(LoadError::Unreadable)?;
        self.keep(unkept).map_err(LoadError::Unreadable)?;
        Ok(digest)
    }

    /// Whether an entry can be loaded up to the point where it can be instantiated; for benches. Blocks the thread.
    #[must_use]
    pub fn loads(&self, digest: Digest) -> bool {
        self.load(digest).is_some_and(|compiled| ContractComponent::new(&self.engine, &compiled).is_ok())
    }

    /// Removes every entry but these, those of other engines included.
    pub(crate) fn retain(&self, kept: &HashSet<Digest>) -> io::Result<()> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let keep: HashSet<PathBuf> = kept.iter().map(|digest| self.path(*digest)).collect();
        // One that is being examined is its own to remove.
        remove_where(&self.folder, |path| !keep.contains(path) && !is_unkept(path))
    }

    fn path(&self, digest: Digest) -> PathBuf {
        // Half of the compatibility digest tells engines apart well enough in a name; the MAC covers the whole.
        let engine = &self.engine.compatibility().to_string()[..32];
        self.folder.join(format!("{digest}-{engine}.{ENDING}"))
    }

    /// The keyed hash: BLAKE3, since a contract has a megabyte of code and is loaded before it serves.
    fn mac(&self, digest: Digest, code: impl io::Read) -> io::Result<blake3::Hash> {
        let mut mac = blake3::Hasher::new_keyed(&self.key);
        mac.update(MAGIC);
        mac.update(digest.as_bytes());
        mac.update(self.engine.compatibility().as_bytes());
        mac.update(Digest::of(RELEASE.as_bytes()).as_bytes());
        mac.update_reader(code)?;
        Ok(mac.finalize())
    }
}

fn is_unkept(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(UNKEPT.as_bytes()))
}

fn remove_where(folder: &Path, is_removed: impl Fn(&Path) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_removed(&path) {
            files::remove(&path)?;
        }
    }
    Ok(())
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
