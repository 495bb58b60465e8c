//! Why an artifact could not be pushed, found or taken.

use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use intent_gateway_domain::digest::Digest;
use intent_gateway_signing::{InvalidSignatures, SignatureRefusal};

use crate::credentials::CredentialError;
use crate::manifest::InvalidManifest;
use crate::name::InvalidName;

/// What caused an error, of any type.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A registry or a layout did not give or take an artifact.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// A name or a tag that is none, or one that this cannot be done with.
    #[error("the name cannot be used")]
    Name(#[from] InvalidName),
    /// No connection, or one that broke.
    #[error("{place} cannot be reached")]
    Unreachable {
        /// Registry.
        place: String,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// TLS cannot be set up, for example by a file of authorities that cannot be read.
    #[error("connections to {place} cannot be set up")]
    Setup {
        /// Registry.
        place: String,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// It took longer than all of it may take.
    #[error("{place} was not done within {seconds} s", seconds = .limit.as_secs_f32())]
    TimedOut {
        /// Registry or layout.
        place: String,
        /// How long it may take.
        limit: Duration,
    },
    /// The registry has a trouble of its own, or too much to do.
    #[error("{place} answered {status}{}", in_brackets(.code.as_deref()))]
    Busy {
        /// Registry.
        place: String,
        /// A server's error, or 429.
        status: StatusCode,
        /// The code of the distribution specification that it sent with it.
        code: Option<String>,
    },
    /// A file of a layout cannot be read or written.
    #[error("{what} of the layout {} failed", .path.display())]
    Disk {
        /// What was tried.
        what: &'static str,
        /// The layout's folder.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// It wants other credentials, or none will do.
    #[error("{place} refused: {status}{}", in_brackets(.code.as_deref()))]
    Refused {
        /// Registry.
        place: String,
        /// 401, 403, or what the server of tokens said.
        status: StatusCode,
        /// The code of the distribution specification that it sent with it.
        code: Option<String>,
    },
    /// Credentials that cannot be read.
    #[error("the credentials for {place} cannot be had")]
    Credentials {
        /// Registry.
        place: String,
        /// Why not.
        #[source]
        cause: CredentialError,
    },
    /// The registry does not do as the distribution specification says.
    #[error("{place} answered against the rules: {what}")]
    Protocol {
        /// Registry.
        place: String,
        /// What it did.
        what: BrokenRule,
    },
    /// There is none of that name.
    #[error("{place} has no {what}")]
    NotFound {
        /// Registry or layout.
        place: String,
        /// Tag or digest.
        what: String,
    },
    /// It is no contract as this crate writes them.
    #[error("this is no artifact of a contract")]
    Invalid(#[from] InvalidArtifact),
    /// It is larger than it may be.
    #[error("{what} has more than {limit} {unit}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How much it may have.
        limit: u64,
        /// Of what: `bytes`, `tags`.
        unit: &'static str,
    },
    /// Content that its digest or its size does not belong to.
    #[error("{what} was altered: it is to be sha256:{expected}, and is not")]
    Altered {
        /// What.
        what: &'static str,
        /// The digest that names it.
        expected: Digest,
    },
}

/// What a registry did against the specification, or beyond what is followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenRule {
    /// A status that has no meaning here.
    #[error("status {0}")]
    Status(StatusCode),
    /// A redirect to plain HTTP, to nowhere, or one too many.
    #[error("it redirects to an address that is not followed")]
    Redirect,
    /// It names an address that is none, or on another host where this matters.
    #[error("it names an address that is not followed, in `{0}`")]
    Address(&'static str),
    /// A server of tokens over plain HTTP.
    #[error("it sends for tokens to an address that is no HTTPS")]
    TokenServer,
    /// The server of tokens sent none.
    #[error("the token that it sends for cannot be read")]
    Token,
    /// A list of tags or of pages that cannot be read.
    #[error("its list of tags cannot be read")]
    Tags,
    /// No digest of what was asked for, or none in SHA-256.
    #[error("it names no SHA-256 digest of the manifest")]
    NoDigest,
    /// Others wrote the list of signatures again and again.
    #[error("the list of signatures is overwritten each time by somebody else")]
    Overwritten,
}

/// Why an artifact is none of a contract.
#[derive(Debug, thiserror::Error)]
pub enum InvalidArtifact {
    #[error("its manifest is not to be used")]
    Manifest(#[from] InvalidManifest),
    #[error("its signatures cannot be read")]
    Signatures(#[from] InvalidSignatures),
    #[error("it has signatures of different statements, or more than a component may have")]
    SignaturesDiffer,
    #[error("its signatures are of another version")]
    Version(#[source] SignatureRefusal),
    #[error("its signatures are of another component")]
    OtherComponent,
    #[error("this is no WebAssembly component")]
    NoComponent(#[source] Option<wasmparser::BinaryReaderError>),
    #[error("the folder is no OCI layout of version 1.0.0")]
    NoLayout,
    #[error("{0} is a link, which is not followed")]
    Link(&'static str),
}

impl RegistryError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Name(_) => "NAME_INVALID",
            Self::Unreachable { .. }
            | Self::Setup { .. }
            | Self::TimedOut { .. }
            | Self::Busy { .. }
            | Self::Disk { .. } => "REGISTRY_UNREACHABLE",
            Self::Refused { .. } | Self::Credentials { .. } => "REGISTRY_REFUSED",
            Self::Protocol { .. } => "REGISTRY_INVALID",
            Self::NotFound { .. } => "ARTIFACT_NOT_FOUND",
            Self::Invalid(_) => "ARTIFACT_INVALID",
            Self::TooLarge { .. } => "ARTIFACT_TOO_LARGE",
            Self::Altered { .. } => "ARTIFACT_ALTERED",
        }
    }

    /// Whether the same may go well a while later, with nothing changed by whoever asks.
    #[must_use]
    pub fn is_worth_retrying(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Busy { .. } | Self::Disk { .. } => true,
            Self::Protocol { what, .. } => *what == BrokenRule::Overwritten,
            _ => false,
        }
    }
}

impl From<InvalidManifest> for RegistryError {
    fn from(invalid: InvalidManifest) -> Self {
        match invalid {
            InvalidManifest::TooLarge { what, limit } => Self::TooLarge { what, limit, unit: "bytes" },
            other => Self::Invalid(other.into()),
        }
    }
}

impl From<InvalidSignatures> for RegistryError {
    fn from(invalid: InvalidSignatures) -> Self {
        Self::Invalid(invalid.into())
    }
}

fn in_brackets(code: Option<&str>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}
