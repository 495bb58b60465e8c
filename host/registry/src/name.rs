//! Names of artifacts: `oci://host[:port]/repository[:tag|@sha256:…]` in a registry, `oci-layout:PATH[:tag|@sha256:…]` on disk.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use intent_gateway_domain::digest::Digest;
use semver::Version;

const REMOTE: &str = "oci://";
const LAYOUT: &str = "oci-layout:";
/// What a digest begins with in names and manifests. Other algorithms are refused.
pub(crate) const SHA256: &str = "sha256:";
/// Characters of a host's name (RFC 1035), and of one of its parts.
const HOST_MAX_CHARS: usize = 253;
const LABEL_MAX_CHARS: usize = 63;
/// Characters of a repository; what most registries take.
const REPOSITORY_MAX_CHARS: usize = 255;
/// Characters of a tag (distribution specification).
const TAG_MAX_CHARS: usize = 128;
/// Bytes of a path.
const PATH_MAX_BYTES: usize = 4_096;

/// A text that names no artifact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    #[error("an artifact's name begins with `{REMOTE}` or `{LAYOUT}`")]
    Scheme,
    #[error("`{0}` is no host with or without a port: lower-case letters, digits, dots and dashes, or an IP address")]
    Host(String),
    #[error("`{0}` is no repository: lower-case letters and digits, with single dots, dashes and slashes between them")]
    Repository(String),
    #[error("`{0}` is no tag: up to {TAG_MAX_CHARS} letters, digits, `_`, `.` and `-`")]
    Tag(String),
    #[error("`{0}` is no digest: `{SHA256}` and 64 lower-case hexadecimal characters")]
    Digest(String),
    #[error("a layout has a path of 1 to {PATH_MAX_BYTES} bytes")]
    Path,
    #[error("`{0}` is a digest, and an artifact is pushed under a tag")]
    PushToDigest(String),
}

/// A tag, as the distribution specification has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

impl Tag {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tag of a version: itself, with `_` for `+`, which no tag may have.
    ///
    /// # Errors
    /// [`InvalidName::Tag`] for a version that is too long.
    pub fn of_version(version: &Version) -> Result<Self, InvalidName> {
        version.to_string().replace('+', "_").parse()
    }

    /// The tag that stands for what refers to an artifact (distribution specification, referrers tag schema).
    pub(crate) fn of_referrers(artifact: Digest) -> Self {
        Self(format!("sha256-{artifact}"))
    }

    /// The version that a tag is of, with or without `v` before it.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        let text = self.0.strip_prefix('v').unwrap_or(&self.0);
        Version::parse(&text.replacen('_', "+", 1)).ok()
    }
}

impl FromStr for Tag {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let fits = text.len() <= TAG_MAX_CHARS
            && text.bytes().next().is_some_and(is_word)
            && text.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-');
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidName::Tag(cut(text))) }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which artifact of a repository or a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// What the tag names at the time.
    Tag(Tag),
    /// The manifest with this digest, for good.
    Digest(Digest),
}

impl fmt::Display for Reference {
    /// As it is in the addresses of the distribution specification: a tag as it is, a digest with its algorithm.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => write!(f, "{tag}"),
            Self::Digest(digest) => write!(f, "{SHA256}{digest}"),
        }
    }
}

/// A repository of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repository {
    pub(crate) host: String,
    pub(crate) path: String,
}

impl Repository {
    /// Host, with its port where it has one.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Its path there.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the host is this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = split_port(&self.host).map_or(self.host.as_str(), |(host, _)| host);
        is_loopback(host)
    }
}

/// Whether a host is this machine by its name or address.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{REMOTE}{}/{}", self.host, self.path)
    }
}

/// Where artifacts are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// A repository of a registry.
    Repository(Repository),
    /// The folder of a layout.
    Layout(PathBuf),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository(repository) => write!(f, "{repository}"),
            Self::Layout(path) => write!(f, "{LAYOUT}{}", path.display()),
        }
    }
}

/// The name of an artifact, or of a place of artifacts where it has no reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArtifactName {
    location: Location,
    reference: Option<Reference>,
}

impl ArtifactName {
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    #[must_use]
    pub fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }

    /// Another artifact of the same place.
    #[must_use]
    pub fn with(&self, reference: Reference) -> Self {
        Self { location: self.location.clone(), reference: Some(reference) }
    }
}

impl FromStr for ArtifactName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        if let Some(rest) = text.strip_prefix(REMOTE) {
            let (host, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let (path, reference) = split_reference(rest)?;
            let repository = Repository { host: check_host(host)?, path: check_repository(path)? };
            return Ok(Self { location: Location::Repository(repository), reference });
        }
        let rest = text.strip_prefix(LAYOUT).ok_or(InvalidName::Scheme)?;
        let (path, reference) = split_reference(rest)?;
        if path.is_empty() || path.len() > PATH_MAX_BYTES || path.contains('\0') {
            return Err(InvalidName::Path);
        }
        Ok(Self { location: Location::Layout(Path::new(path).to_owned()), reference })
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.location)?;
        match &self.reference {
            None => Ok(()),
            Some(reference @ Reference::Tag(_)) => write!(f, ":{reference}"),
            Some(reference @ Reference::Digest(_)) => write!(f, "@{reference}"),
        }
    }
}

/// A digest as manifests and names have it. Upper case is refused: two texts must not name one content.
pub(crate) fn parse_digest(text: &str) -> Result<Digest, InvalidName> {
    let invalid = || InvalidName::Digest(cut(text));
    let digest: Digest = text.strip_prefix(SHA256).ok_or_else(invalid)?.parse().map_err(|_| invalid())?;
    if digest.to_string() == text[SHA256.len()..] { Ok(digest) } else { Err(invalid()) }
}

/// What comes after the last `@`, or after a colon behind the last slash, is the reference.
fn split_reference(text: &str) -> Result<(&str, Option<Reference>), InvalidName> {
    let after_slash = text.rfind('/').map_or(0, |at| at + 1);
    if let Some(at) = text[after_slash..].rfind('@') {
        let (path, digest) = text.split_at(after_slash + at);
        return Ok((path, Some(Reference::Digest(parse_digest(&digest[1..])?))));
    }
    match text[after_slash..].rfind(':') {
        None => Ok((text, None)),
        Some(at) => {
            let (path, tag) = text.split_at(after_slash + at);
            Ok((path, Some(Reference::Tag(tag[1..].parse()?))))
        }
    }
}

fn split_port(host: &str) -> Option<(&str, &str)> {
    let at = host.rfind(':')?;
    // Colons within brackets are of an address.
    if host[at..].contains(']') { None } else { Some((&host[..at], &host[at + 1..])) }
}

fn check_host(text: &str) -> Result<String, InvalidName> {
    let invalid = || InvalidName::Host(cut(text));
    let (host, port) = split_port(text).map_or((text, None), |(host, port)| (host, Some(port)));
    if let Some(port) = port {
        // `parse` would take a sign.
        let digits = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
        if !digits || port.parse::<u16>().is_err() {
            return Err(invalid());
        }
    }
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.len() <= HOST_MAX_CHARS && host.split('.').all(is_label),
    };
    if is_host { Ok(text.to_owned()) } else { Err(invalid()) }
}

fn is_label(label: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LABEL_MAX_CHARS).contains(&label.len())
        && label.bytes().all(is_inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn check_repository(text: &str) -> Result<String, InvalidName> {
    let fits = text.len() <= REPOSITORY_MAX_CHARS && text.split('/').all(is_component);
    if fits { Ok(text.to_owned()) } else { Err(InvalidName::Repository(cut(text))) }
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`, of the distribution specification.
fn is_component(component: &str) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    let ends_well = bytes.first().is_some_and(is_letter) && bytes.last().is_some_and(is_letter);
    ends_well
        && bytes
            .split(is_letter)
            .all(|between| matches!(between, b"" | b"." | b"_" | b"__") || between.iter().all(|byte| *byte == b'-'))
}

/// As much of a bad text as an error shows.
fn cut(text: &str) -> String {
    text.chars().take(REPOSITORY_MAX_CHARS).collect()
}
