//! With which credentials a registry is asked: those that the caller gives, or those that Docker and Podman keep.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential_from_reader};
use intent_gateway_domain::secret::Secret;

use crate::name::Repository;

/// Largest file of credentials.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// What Docker Hub is called, and under which key its credentials are kept.
pub(crate) const HUB_HOSTS: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];
const HUB_KEY: &str = "https://index.docker.io/v1/";

/// Which credentials a registry is asked with.
#[derive(Clone, Debug)]
pub enum Credentials {
    /// None.
    Anonymous,
    /// A user's, or a robot's, with its password.
    Password { user: String, password: Secret },
    /// A token that is sent as it is, without asking a server of tokens.
    Token(Secret),
    /// What the first of some files has for the repository or its registry; none where no file has any.
    Files(CredentialFiles),
}

/// Credentials that cannot be read. What a file or a helper said is not in it: it may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The file cannot be read.
    #[error("{} cannot be read", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    #[error("{} has more than {FILE_MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is no JSON of credentials", .0.display())]
    NotRead(PathBuf),
    #[error("{} names a helper that gave no credentials: it is missing, it failed, or its answer cannot be read", .0.display())]
    Helper(PathBuf),
    #[error("{} has credentials for the registry that cannot be read", .0.display())]
    Garbled(PathBuf),
    #[error("the work was cut off")]
    Cut(#[source] tokio::task::JoinError),
}

/// Files of credentials, in the order in which they are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialFiles {
    paths: Vec<PathBuf>,
}

impl CredentialFiles {
    /// Some files, each as `~/.docker/config.json` is.
    #[must_use]
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths }
    }

    /// Where Docker and Podman keep them for this user. Nothing is read yet.
    #[must_use]
    pub fn of_this_user() -> Self {
        Self::by_environment(|name| std::env::var_os(name))
    }

    /// A file that a variable names takes the place of the usual one.
    pub(crate) fn by_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = folder("HOME");
        let docker = folder("DOCKER_CONFIG").or_else(|| home.as_ref().map(|home| home.join(".docker")));
        let podman = folder("REGISTRY_AUTH_FILE")
            .or_else(|| folder("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json")));
        let paths = [docker.map(|docker| docker.join("config.json")), podman];
        Self::new(paths.into_iter().flatten().collect())
    }

    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// What a request is signed with in the end.
#[derive(Clone, Debug)]
pub(crate) enum Login {
    Anonymous,
    Password {
        user: String,
        password: Secret,
    },
    /// Sent as it is.
    Token(Secret),
    /// Traded for a token at the server of tokens.
    Identity(Secret),
}

impl Credentials {
    /// Looks them up for a repository. A helper is a program that is waited for, on a thread of its own.
    pub(crate) async fn find(&self, repository: &Repository) -> Result<Login, CredentialError> {
        match self {
            Self::Anonymous => Ok(Login::Anonymous),
            Self::Password { user, password } => Ok(Login::Password { user: user.clone(), password: password.clone() }),
            Self::Token(token) => Ok(Login::Token(token.clone())),
            Self::Files(files) => {
                let (files, keys) = (files.clone(), keys(repository));
                tokio::task::spawn_blocking(move || files.find(&keys)).await.map_err(CredentialError::Cut)?
            }
        }
    }
}

impl CredentialFiles {
    fn find(&self, keys: &[String]) -> Result<Login, CredentialError> {
        for path in &self.paths {
            let Some(content) = read(path)? else { continue };
            for key in keys {
                if let Some(login) = read_outcome(path, get_credential_from_reader(&content[..], key))? {
                    return Ok(login);
                }
            }
        }
        Ok(Login::Anonymous)
    }
}

/// Under which keys the credentials of a repository may be: Podman keeps them for a part of a registry, too, and the closest counts.
fn keys(repository: &Repository) -> Vec<String> {
    let mut keys = Vec::new();
    let mut whole = format!("{}/{}", repository.host, repository.path);
    loop {
        keys.push(whole.clone());
        match whole.rfind('/') {
            Some(at) => whole.truncate(at),
            None => break,
        }
    }
    if HUB_HOSTS.contains(&repository.host()) {
        keys.push(HUB_KEY.to_owned());
    }
    keys
}

/// The content of a file; none where there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, CredentialError> {
    let failed = |cause| CredentialError::File { path: path.to_owned(), cause };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut content = Vec::new();
    file.take(FILE_MAX_BYTES + 1).read_to_end(&mut content).map_err(failed)?;
    if u64::try_from(content.len()).is_ok_and(|length| length <= FILE_MAX_BYTES) {
        Ok(Some(content))
    } else {
        Err(CredentialError::TooLarge(path.to_owned()))
    }
}

/// What came of looking into a file: a login, none, or an error without what the file or its helper said.
pub(crate) fn read_outcome(
    path: &Path,
    outcome: Result<DockerCredential, CredentialRetrievalError>,
) -> Result<Option<Login>, CredentialError> {
    let path = || path.to_owned();
    match outcome {
        Ok(DockerCredential::UsernamePassword(user, password)) => {
            Ok(Some(Login::Password { user, password: Secret::new(password) }))
        }
        Ok(DockerCredential::IdentityToken(token)) => Ok(Some(Login::Identity(Secret::new(token)))),
        Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(None),
        // What a helper says when it has none, in the words of Docker's own.
        Err(CredentialRetrievalError::HelperFailure { stdout, .. }) if stdout.contains("credentials not found") => {
            Ok(None)
        }
        Err(
            CredentialRetrievalError::HelperFailure { .. }
            | CredentialRetrievalError::HelperCommunicationError
            | CredentialRetrievalError::MalformedHelperResponse,
        ) => Err(CredentialError::Helper(path())),
        Err(CredentialRetrievalError::CredentialDecodingError | CredentialRetrievalError::CredentialMismatchError) => {
            Err(CredentialError::Garbled(path()))
        }
        Err(CredentialRetrievalError::ConfigReadError | CredentialRetrievalError::ConfigNotFound) => {
            Err(CredentialError::NotRead(path()))
        }
    }
}
