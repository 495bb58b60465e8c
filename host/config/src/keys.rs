//! Where the gateway's keys come from: the configuration, or, in development, a file that is made once.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Entropy, NoEntropy, Vault, hex};
use intent_gateway_http::auth::{KEY_MIN_BYTES, Tokens};

use crate::Config;

/// Name of the development key in the state folder.
const DEV_KEY_FILE: &str = "dev-signing-key";
/// Name of the development master key beside it.
const DEV_MASTER_KEY_FILE: &str = "dev-master-key";
/// Random bytes of a key that is made; it is written as twice as many hexadecimal characters.
const KEY_RANDOM_BYTES: usize = 32;

/// What to do about a development key that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingKey {
    /// Make it: a gateway starts for the first time.
    Make,
    /// Say so: whoever only uses a key is in the wrong folder.
    Refuse,
}

/// A key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No gateway has served from this folder, and none is to be made.
    #[error(
        "there is no signing key: no `auth.signing_key` is set, and {} is not there, which a gateway makes when it first \
         starts. Name that gateway's folder with --state-dir or its configuration with --config, or make a key here with \
         --create-key",
        .0.display()
    )]
    Missing(PathBuf),
    /// It cannot be made.
    #[error("cannot make the development key {}: {cause}", .path.display())]
    Unmade { path: PathBuf, cause: io::Error },
    /// It cannot be read.
    #[error("cannot read {}: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    /// It was cut off.
    #[error("{} is too short for a key; delete it, and a new one is made", .0.display())]
    TooShort(PathBuf),
    /// Others can read it.
    #[error("{} can be read by others; run `chmod 600` on it, or delete it for a new one", .0.display())]
    Exposed(PathBuf),
}

/// The keys that tokens are signed with.
pub struct SigningKeys {
    /// The first signs, all are accepted.
    pub(crate) keys: Vec<Secret>,
    /// The file that the first comes from in development.
    development: Option<PathBuf>,
}

impl SigningKeys {
    /// Takes the keys from the configuration, or the development key.
    pub fn of(config: &Config, missing: MissingKey) -> Result<Self, KeyError> {
        let auth = &config.auth;
        let (first, development) = match &auth.signing_key {
            Some(key) => (key.clone(), None),
            None => {
                let (key, path) = development_key(&config.state_dir, DEV_KEY_FILE, missing)?;
                (key, Some(path))
            }
        };
        let keys = std::iter::once(first).chain(auth.previous_signing_keys.iter().cloned()).collect();
        Ok(Self { keys, development })
    }

    /// Issues and verifies tokens under these keys.
    pub fn tokens(&self, audience: &str, clock: Arc<dyn Clock>) -> anyhow::Result<Tokens> {
        Tokens::new(&self.keys, audience, clock).context("the signing keys cannot be used")
    }

    /// Has tokens issued and verified under these keys, and no others, from now on.
    pub fn replace_in(&self, tokens: &Tokens) -> anyhow::Result<()> {
        tokens.replace_keys(&self.keys).context("the signing keys cannot be used")
    }
}

/// The keys in force.
pub struct Keys {
    signing: SigningKeys,
    /// Seals references.
    pub reference: Secret,
    /// Open what was sealed before a rotation.
    pub previous_references: Vec<Secret>,
    /// Seals secrets in the store.
    master: Secret,
    previous_masters: Vec<Secret>,
    /// The files that keys come from in development; empty when all are configured.
    pub development: Vec<PathBuf>,
}

impl Keys {
    /// Takes the keys from the configuration, or makes or reads the development keys.
    pub fn of(config: &Config) -> Result<Self, KeyError> {
        let auth = &config.auth;
        let signing = SigningKeys::of(config, MissingKey::Make)?;
        let mut development: Vec<PathBuf> = signing.development.iter().cloned().collect();
        let master = match &auth.master_key {
            Some(key) => key.clone(),
            None => {
                let (key, path) = development_key(&config.state_dir, DEV_MASTER_KEY_FILE, MissingKey::Make)?;
                development.push(path);
                key
            }
        };
        // Derived, so that replicas which share the signing key share this one too without another setting.
        let derive = |key: &Secret| {
            Secret::new(Digest::of(format!("option reference\0{}", key.expose()).as_bytes()).to_string())
        };
        let (reference, previous_references) = match &auth.reference_key {
            Some(key) => (key.clone(), auth.previous_reference_keys.clone()),
            None => (derive(&signing.keys[0]), signing.keys[1..].iter().map(derive).collect()),
        };
        let previous_masters = auth.previous_master_keys.clone();
        Ok(Self { signing, reference, previous_references, master, previous_masters, development })
    }

    /// Seals what the store keeps.
    pub fn vault(&self) -> Vault {
        Vault::new(&self.master, &self.previous_masters, Arc::new(MachineEntropy))
    }

    /// The same without the other keys, for whoever only looks; `None` where there is no master key, and none is made.
    pub fn find_vault(config: &Config) -> Result<Option<Vault>, KeyError> {
        let auth = &config.auth;
        let master = match &auth.master_key {
            Some(key) => key.clone(),
            None => match development_key(&config.state_dir, DEV_MASTER_KEY_FILE, MissingKey::Refuse) {
                Ok((key, _)) => key,
                Err(KeyError::Missing(_)) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        Ok(Some(Vault::new(&master, &auth.previous_master_keys, Arc::new(MachineEntropy))))
    }

    /// Issues and verifies tokens under these keys.
    pub fn tokens(&self, audience: &str, clock: Arc<dyn Clock>) -> anyhow::Result<Tokens> {
        self.signing.tokens(audience, clock)
    }
}

/// The machine's own random bytes.
struct MachineEntropy;

impl Entropy for MachineEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

fn development_key(state_dir: &Path, file: &str, missing: MissingKey) -> Result<(Secret, PathBuf), KeyError> {
    let path = state_dir.join(file);
    if !path.exists() {
        if missing == MissingKey::Refuse {
            return Err(KeyError::Missing(path));
        }
        make_key(state_dir, &path).map_err(|cause| KeyError::Unmade { path: path.clone(), cause })?;
    }
    let unreadable = |cause| KeyError::Unreadable { path: path.clone(), cause };
    let key = fs::read_to_string(&path).map_err(unreadable)?;
    let key = key.trim();
    if key.len() < KEY_MIN_BYTES {
        return Err(KeyError::TooShort(path));
    }
    let mode = fs::metadata(&path).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(KeyError::Exposed(path));
    }
    Ok((Secret::new(key), path))
}

/// A key that nobody else has.
pub(crate) fn new_key() -> io::Result<String> {
    let mut random = [0; KEY_RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other).map(|()| hex(&random))
}

/// Writes a key under another name and links it, so that of two processes that start at once both read the same.
fn make_key(state_dir: &Path, path: &Path) -> io::Result<()> {
    fs::create_dir_all(state_dir)?;
    let key = new_key()?;
    let draft = path.with_extension(std::process::id().to_string());
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(key.as_bytes()).and_then(|()| file.sync_all()));
    let linked = written.and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    // A draft that stays behind is harmless; the outcome that counts is the link's.
    let _ = fs::remove_file(&draft);
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(state_dir: &Path) -> Config {
        Config { state_dir: state_dir.to_owned(), ..Config::default() }
    }

    #[test]
    fn the_development_key_is_made_once_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let first = Keys::of(&config(&state)).expect("keys");
        let second = Keys::of(&config(&state)).expect("keys");
        assert_eq!(first.signing.keys[0].expose(), second.signing.keys[0].expose());
        assert_eq!(first.reference.expose(), second.reference.expose());
        assert_ne!(first.reference.expose(), first.signing.keys[0].expose());
        let path = first.development.first().expect("a development key");
        assert_eq!(first.master.expose(), second.master.expose());
        assert_ne!(first.master.expose(), first.signing.keys[0].expose());
        assert_eq!(fs::metadata(path).expect("the file").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&state).expect("the folder").count(), 2, "no draft stays behind");

        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("changed");
        let error = Keys::of(&config(&state)).err().expect("refused").to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_key_that_is_only_used_is_not_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let refused = SigningKeys::of(&config(&state), MissingKey::Refuse).err().expect("refused");
        assert!(matches!(&refused, KeyError::Missing(path) if path.starts_with(&state)), "{refused}");
        let told = refused.to_string();
        assert!(told.contains("--create-key") && told.contains("--state-dir"), "{told}");
        assert!(!state.exists(), "nothing is left behind");
        SigningKeys::of(&config(&state), MissingKey::Make).expect("made");
        let used = SigningKeys::of(&config(&state), MissingKey::Refuse).expect("there");
        assert_eq!(used.keys[0].expose(), Keys::of(&config(&state)).expect("keys").signing.keys[0].expose());
    }

    #[test]
    fn configured_keys_need_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = config(&folder.path().join("state"));
        config.auth.signing_key = Some(Secret::new("s".repeat(32)));
        config.auth.master_key = Some(Secret::new("m".repeat(32)));
        config.auth.previous_signing_keys = vec![Secret::new("p".repeat(32))];
        let keys = Keys::of(&config).expect("keys");
        assert!(keys.development.is_empty());
        assert!(!config.state_dir.exists());
        assert_eq!(keys.signing.keys.len(), 2);
        config.auth.reference_key = Some(Secret::new("r".repeat(32)));
        assert_eq!(keys.previous_references.len(), 1, "what was derived of the former signing key still opens");
        let configured = Keys::of(&config).expect("keys");
        assert_eq!((configured.reference.expose(), configured.previous_references.len()), (&*"r".repeat(32), 0));
    }
}
