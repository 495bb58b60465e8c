//! A real OCI registry, Debian's `docker-registry`, whose content is files in a folder that a test may change.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

/// Set to `required` where tests must not go without a registry.
const DEMAND: &str = "INTENT_GATEWAY_TEST_REGISTRY";
/// The program; also its Debian package.
const PROGRAM: &str = "docker-registry";
/// How long it may take until it listens.
const UP_MAX: Duration = Duration::from_secs(60);
/// What its log says with the address.
const LISTENING: &str = "listening on ";

/// Who may sign in where that is asked for, and with what.
pub const USER: &str = "robot";
/// The password.
pub const PASSWORD: &str = "right";
/// Both as `htpasswd -nbB -C 5 robot right` writes them.
const HTPASSWD: &str = "robot:$2y$05$pIkvmcOVX85k46y1gbYta.e9TUtxBYKiier5iNkZM9pHMFmET5qzq\n";

/// The registry cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// It is not installed, and it must be.
    #[error("the registry is not installed and {DEMAND}=required; on Debian: apt-get install docker-registry")]
    Missing,
    /// Its companion is not installed, and it must be.
    #[error("skopeo is not installed and {DEMAND}=required; on Debian: apt-get install skopeo")]
    NoSkopeo,
    /// It cannot be started.
    #[error("the registry: {what} failed")]
    Step {
        /// What was tried.
        what: &'static str,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// It does not listen.
    #[error("the registry is not up in time; its last words: {0}")]
    NotUp(String),
}

/// A running registry; it ends when this is dropped.
#[derive(Debug)]
pub struct Registry {
    address: SocketAddr,
    child: Child,
    folder: TempDir,
}

impl Registry {
    /// Starts one that everybody may use; `None` where it is not installed: the caller says so and goes on without.
    ///
    /// # Errors
    /// [`RegistryError`] when it is installed and does not start, or is not installed where the environment demands it.
    pub fn start() -> Result<Option<Self>, RegistryError> {
        Self::start_with(false)
    }

    /// Starts one that only [`USER`] may use.
    ///
    /// # Errors
    /// As [`Registry::start`].
    pub fn start_with_password() -> Result<Option<Self>, RegistryError> {
        Self::start_with(true)
    }

    fn start_with(has_password: bool) -> Result<Option<Self>, RegistryError> {
        let Some(program) = find(PROGRAM) else {
            return if is_required() { Err(RegistryError::Missing) } else { Ok(None) };
        };
        let folder = tempfile::tempdir().map_err(step("a folder"))?;
        let config = folder.path().join("config.yml");
        std::fs::write(folder.path().join("htpasswd"), HTPASSWD).map_err(step("its passwords"))?;
        std::fs::write(&config, configuration(folder.path(), has_password)).map_err(step("its configuration"))?;
        let child = Command::new(program)
            .arg("serve")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(step("the program"))?;
        // From here on, leaving early kills the process.
        let mut registry = Self { address: SocketAddr::from(([127, 0, 0, 1], 0)), child, folder };
        registry.address = registry.wait_until_up()?;
        Ok(Some(registry))
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The file that holds a blob.
    #[must_use]
    pub fn blob(&self, sha256: &str) -> PathBuf {
        let folder = self.folder.path().join("content/docker/registry/v2/blobs/sha256");
        folder.join(&sha256[..2]).join(sha256).join("data")
    }

    fn wait_until_up(&mut self) -> Result<SocketAddr, RegistryError> {
        let (sender, receiver) = mpsc::channel();
        if let Some(log) = self.child.stderr.take() {
            // The thread goes on reading, so that the registry never blocks on a full pipe; it ends with the pipe.
            std::thread::spawn(move || {
                for line in BufReader::new(log).lines().map_while(Result::ok) {
                    // The receiver is gone once the address has come.
                    let _ = sender.send(line);
                }
            });
        }
        let mut last = String::new();
        while let Ok(line) = receiver.recv_timeout(UP_MAX) {
            let address = line.split_once(LISTENING).map(|(_, rest)| rest);
            let address = address.and_then(|rest| rest.split(['"', ',']).next()?.parse().ok());
            if let Some(address) = address {
                return Ok(address);
            }
            last = line;
        }
        Err(RegistryError::NotUp(last))
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // An error here means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn configuration(folder: &Path, has_password: bool) -> String {
    let folder = folder.display();
    let auth = if has_password {
        format!("auth:\n  htpasswd:\n    realm: tests\n    path: {folder}/htpasswd\n")
    } else {
        String::new()
    };
    format!(
        "version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: {folder}/content\n\
         http:\n  addr: 127.0.0.1:0\n{auth}"
    )
}

/// The program that copies artifacts among registries and layouts; `None` where it is not installed.
///
/// # Errors
/// [`RegistryError::NoSkopeo`] where it is not installed and the environment demands it.
pub fn find_skopeo() -> Result<Option<PathBuf>, RegistryError> {
    match find("skopeo") {
        None if is_required() => Err(RegistryError::NoSkopeo),
        found => Ok(found),
    }
}

fn is_required() -> bool {
    std::env::var_os(DEMAND).is_some_and(|demand| demand == "required")
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(program));
    // Where Debian's packages put it.
    std::iter::once(Path::new("/usr/bin").join(program)).chain(on_path).find(|program| program.is_file())
}

fn step(what: &'static str) -> impl Fn(std::io::Error) -> RegistryError {
    move |cause| RegistryError::Step { what, cause }
}
