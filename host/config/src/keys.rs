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
use intent_gateway_domain::vault::{Entropy, NoEntropy, Vault};
use intent_gateway_http::auth::{KEY_MIN_BYTES, Tokens};

use crate::Config;

/// Name of the development key in the state folder.
const DEV_KEY_FILE: &str = "dev-signing-key";
/// Name of the development master key beside it.
const DEV_MASTER_KEY_FILE: &str = "dev-master-key";
/// Random bytes of a development key; it is kept as twice as many hexadecimal characters.
const DEV_KEY_RANDOM_BYTES: usize = 32;

/// The keys in force.
pub struct Keys {
    /// The first signs, all are accepted.
    signing: Vec<Secret>,
    /// Seals option references.
    pub reference: Secret,
    /// Seals secrets in the store.
    master: Secret,
    previous_masters: Vec<Secret>,
    /// The files that keys come from in development; empty when all are configured.
    pub development: Vec<PathBuf>,
}

impl Keys {
    /// Takes the keys from the configuration, or makes or reads the development key.
    pub fn of(config: &Config) -> anyhow::Result<Self> {
        let auth = &config.auth;
        let mut development = Vec::new();
        let mut configured_or_made = |key: &Option<Secret>, file: &str| match key {
            Some(key) => Ok(key.clone()),
            None => development_key(&config.state_dir, file).map(|(key, path)| {
                development.push(path);
                key
            }),
        };
        let first = configured_or_made(&auth.signing_key, DEV_KEY_FILE)?;
        let master = configured_or_made(&auth.master_key, DEV_MASTER_KEY_FILE)?;
        // Derived, so that replicas which share the signing key share this one too without another setting.
        let derived =
            || Secret::new(Digest::of(format!("option reference\0{}", first.expose()).as_bytes()).to_string());
        let reference = auth.reference_key.clone().unwrap_or_else(derived);
        let mut signing = vec![first];
        signing.extend(auth.previous_signing_keys.iter().cloned());
        let previous_masters = auth.previous_master_keys.clone();
        Ok(Self { signing, reference, master, previous_masters, development })
    }

    /// Seals what the store keeps.
    pub fn vault(&self) -> Vault {
        Vault::new(&self.master, &self.previous_masters, Arc::new(MachineEntropy))
    }

    /// Issues and verifies tokens under these keys.
    pub fn tokens(&self, audience: &str, clock: Arc<dyn Clock>) -> anyhow::Result<Tokens> {
        Tokens::new(&self.signing, audience, clock).context("the signing keys cannot be used")
    }
}

/// The machine's own random bytes.
struct MachineEntropy;

impl Entropy for MachineEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

fn development_key(state_dir: &Path, file: &str) -> anyhow::Result<(Secret, PathBuf)> {
    let path = state_dir.join(file);
    if !path.exists() {
        make_key(state_dir, &path).with_context(|| format!("cannot make the development key {}", path.display()))?;
    }
    let key = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let key = key.trim();
    anyhow::ensure!(
        key.len() >= KEY_MIN_BYTES,
        "{} is too short for a key; delete it, and a new one is made",
        path.display()
    );
    let mode = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?.permissions().mode();
    anyhow::ensure!(
        mode & 0o077 == 0,
        "{} can be read by others; run `chmod 600` on it, or delete it for a new one",
        path.display()
    );
    Ok((Secret::new(key), path))
}

/// Writes a key under another name and links it, so that of two processes that start at once both read the same.
fn make_key(state_dir: &Path, path: &Path) -> io::Result<()> {
    fs::create_dir_all(state_dir)?;
    let mut random = [0_u8; DEV_KEY_RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let key = Digest::of(&random).to_string();
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
        assert_eq!(first.signing[0].expose(), second.signing[0].expose());
        assert_eq!(first.reference.expose(), second.reference.expose());
        assert_ne!(first.reference.expose(), first.signing[0].expose());
        let path = first.development.first().expect("a development key");
        assert_eq!(first.master.expose(), second.master.expose());
        assert_ne!(first.master.expose(), first.signing[0].expose());
        assert_eq!(fs::metadata(path).expect("the file").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&state).expect("the folder").count(), 2, "no draft stays behind");

        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("changed");
        let error = Keys::of(&config(&state)).err().expect("refused").to_string();
        assert!(error.contains("chmod 600"), "{error}");
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
        assert_eq!(keys.signing.len(), 2);
        config.auth.reference_key = Some(Secret::new("r".repeat(32)));
        assert_eq!(Keys::of(&config).expect("keys").reference.expose(), "r".repeat(32));
    }
}
