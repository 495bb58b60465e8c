//! The file of profiles: gateways by name, each with what is shown to it.
//!
//! ```toml
//! [staging]
//! gateway = "https://staging.gateway.example"
//! token = "eyJ..."            # or, as a partner: client_id and client_secret
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use intent_gateway_domain::secret::Secret;
use serde::Deserialize;

use super::Credential;
use super::tls::{ClientFiles, TlsFiles};
use crate::client::Gateway;

/// Largest file, bytes.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// Permissions that let others than the owner at the file.
const OTHERS: u32 = 0o077;

/// A gateway that has a name.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Its address.
    pub(crate) gateway: String,
    /// How it and a command show each other who they are; paths from the folder of the file of profiles.
    pub(crate) tls: TlsFiles,
    /// What is shown to it; without one, the environment says.
    pub(crate) credential: Option<Credential>,
}

/// All profiles of a file.
#[derive(Debug)]
pub(crate) struct Profiles {
    path: PathBuf,
    entries: BTreeMap<String, Entry>,
}

/// A profile as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    gateway: String,
    ca: Option<PathBuf>,
    client_cert: Option<PathBuf>,
    client_key: Option<PathBuf>,
    token: Option<Secret>,
    client_id: Option<String>,
    client_secret: Option<Secret>,
}

/// The file of profiles cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// It is not there, or not for this user to read.
    #[error("the file of profiles {} cannot be read: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    /// It is larger than any file of profiles.
    #[error("the file of profiles {} has more than {FILE_MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    /// It is no TOML, or holds something else than profiles.
    #[error("{}:{line}: {message}", .path.display())]
    Malformed { path: PathBuf, line: usize, message: String },
    /// It holds secrets that others can read.
    #[error("{} holds secrets, and others can read it; run `chmod 600` on it", .0.display())]
    Exposed(PathBuf),
    /// It has no profile of that name.
    #[error("{} has no profile `{name}`; it has {known}", .path.display())]
    Unknown { path: PathBuf, name: String, known: String },
    /// A profile contradicts itself, or cannot be used.
    #[error("{}: profile `{name}`: {problem}", .path.display())]
    Invalid { path: PathBuf, name: String, problem: String },
}

impl Profiles {
    /// Reads a file. One that holds secrets must be its owner's alone.
    pub(crate) fn read(path: &Path) -> Result<Self, ProfileError> {
        let unreadable = |cause| ProfileError::Unreadable { path: path.to_owned(), cause };
        let file = File::open(path).map_err(unreadable)?;
        let mode = file.metadata().map_err(unreadable)?.permissions().mode();
        let mut text = String::new();
        file.take(FILE_MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > FILE_MAX_BYTES {
            return Err(ProfileError::TooLarge(path.to_owned()));
        }
        let entries = toml::from_str(&text).map_err(|error| malformed(path, &text, &error))?;
        let profiles = Self { path: path.to_owned(), entries };
        let holds_secrets =
            profiles.entries.values().any(|entry| entry.token.is_some() || entry.client_secret.is_some());
        if holds_secrets && mode & OTHERS != 0 {
            return Err(ProfileError::Exposed(path.to_owned()));
        }
        Ok(profiles)
    }

    /// The names, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The profile of a name, which must be there.
    pub(crate) fn get(&self, name: &str) -> Result<Profile, ProfileError> {
        self.find(name)?.ok_or_else(|| {
            let known: Vec<&str> = self.names().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            ProfileError::Unknown { path: self.path.clone(), name: name.to_owned(), known }
        })
    }

    /// The profile of a name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Profile>, ProfileError> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        let Entry { gateway, ca, client_cert, client_key, token, client_id, client_secret } = entry;
        let invalid =
            |problem: String| ProfileError::Invalid { path: self.path.clone(), name: name.to_owned(), problem };
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let path = |named: &Option<PathBuf>| named.as_ref().map(|named| folder.join(named));
        let client = ClientFiles::pair(path(client_cert), path(client_key));
        let client = client.map_err(|problem| invalid(format!("{problem}: give `client_cert` and `client_key`")))?;
        let tls = TlsFiles { authorities: path(ca), client };
        Gateway::at(gateway, &tls).map_err(|error| invalid(error.to_string()))?;
        let credential = match (token.clone(), client_id.clone(), client_secret.clone()) {
            (None, None, None) => None,
            (Some(token), None, None) => Some(Credential::Token(token)),
            (None, Some(id), Some(secret)) => Some(Credential::Client { id, secret }),
            (Some(_), ..) => return Err(invalid("it has both a token and credentials; keep one of them".to_owned())),
            (None, ..) => return Err(invalid("`client_id` and `client_secret` need each other".to_owned())),
        };
        Ok(Some(Profile { gateway: gateway.clone(), tls, credential }))
    }
}

/// The reader's whole message quotes the line that is wrong, which may hold a secret; and so does a line on a wrong type.
fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> ProfileError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let message = match error.message().lines().next() {
        Some(message) if !message.starts_with("invalid type") => message.to_owned(),
        _ => "expected a text in quotes".to_owned(),
    };
    ProfileError::Malformed { path: path.to_owned(), line, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, mode: u32) -> Result<Profiles, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profiles.toml");
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        Profiles::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_with_secrets_is_its_owners_alone() {
        let secret = "[a]\ngateway = \"https://a.example\"\ntoken = \"x\"\n";
        assert!(read(secret, 0o600).is_ok());
        for mode in [0o640, 0o604, 0o660] {
            let told = read(secret, mode).expect_err("others can read it");
            assert!(told.contains("chmod 600"), "{told}");
        }
        assert!(read("[a]\ngateway = \"https://a.example\"\n", 0o644).is_ok());
    }

    #[test]
    fn a_profile_that_cannot_be_used_is_told_without_its_secret() {
        let told = |entry: &str| {
            let profiles = read(&format!("[a]\n{entry}\n"), 0o600).expect("a file");
            profiles.get("a").expect_err("refused").to_string()
        };
        assert!(told("gateway = \"gateway.example\"").contains("no address"));
        assert!(told("gateway = \"https://g\"\nca = \"absent.pem\"").contains("absent.pem"));
        let half = told("gateway = \"https://g\"\nclient_cert = \"me.pem\"");
        assert!(half.contains("`client_key`"), "{half}");
        let both = told("gateway = \"http://g\"\ntoken = \"hush\"\nclient_id = \"a\"\nclient_secret = \"hush\"");
        assert!(both.contains("both") && !both.contains("hush"), "{both}");
        assert!(told("gateway = \"http://g\"\nclient_id = \"a\"").contains("need each other"));
        for (text, part) in [
            ("[a]\ngateway = \"http://g\"\ntokn = \"hush\"\n", ":3: unknown field `tokn`"),
            ("[a]\ntoken = \"hush\"\n", "gateway"),
            ("[a]\ngateway = \"http://g\"\ntoken = hush\n", ":3: "),
            ("[a]\ngateway = \"http://g\"\ntoken = 4711\n", "expected a text"),
        ] {
            let told = read(text, 0o600).expect_err("refused");
            assert!(told.contains(part) && !told.contains("hush") && !told.contains("4711"), "{told}");
        }
    }
}
