//! What can go wrong: between the store and its engines, when a database is opened, and when one is backed up.

use std::error::Error;
use std::path::PathBuf;

use intent_gateway_domain::chain::BrokenChain;
use intent_gateway_domain::installation::LostState;
use intent_gateway_domain::store::{Kind, StoreError};
use intent_gateway_ledger::Fault;

pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// What an engine says. Told apart is only what a caller acts on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    /// A unique name is taken.
    #[error("a unique name is taken")]
    Taken,
    /// It cannot be reached or cannot write now, or did not get to it in time.
    #[error("{what}")]
    Unavailable {
        /// What was tried.
        what: &'static str,
        /// The engine's own words.
        #[source]
        cause: Option<Cause>,
    },
    /// Anything else: a defect.
    #[error("{what}")]
    Failed {
        /// What was tried, or what is wrong.
        what: &'static str,
        /// The engine's own words.
        #[source]
        cause: Option<Cause>,
    },
}

impl EngineError {
    /// A failure of the store's own finding.
    pub(crate) fn failed(what: &'static str) -> Self {
        Self::Failed { what, cause: None }
    }

    /// The engine is down or out of reach, as it explains.
    pub(crate) fn unavailable(what: &'static str, cause: impl Into<Cause>) -> Self {
        Self::Unavailable { what, cause: Some(cause.into()) }
    }

    /// It gave no answer in its time.
    pub(crate) fn too_late(what: &'static str) -> Self {
        Self::Unavailable { what, cause: None }
    }

    /// A failure that the engine explains.
    pub(crate) fn because(what: &'static str, cause: impl Into<Cause>) -> Self {
        Self::Failed { what, cause: Some(cause.into()) }
    }

    /// The same for the port, in a place where no unique name can be taken.
    pub(crate) fn into_store(self) -> StoreError {
        match self {
            Self::Unavailable { what, cause } => StoreError::Unavailable(what.to_owned(), cause),
            Self::Taken => StoreError::Engine(self.to_string(), None),
            Self::Failed { what, cause } => StoreError::Engine(what.to_owned(), cause),
        }
    }

    /// The same for the port, where a unique name of a record may be taken.
    pub(crate) fn into_store_for(self, kind: Kind) -> StoreError {
        match self {
            Self::Taken => StoreError::Conflict(kind),
            other => other.into_store(),
        }
    }
}

/// A database cannot be opened. No variant repeats the address: it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address is not understood.
    #[error("the address of the database is not understood: {0}")]
    Address(&'static str),
    /// A file or folder cannot be used.
    #[error("{} cannot be used", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The certificates for the connection cannot be used.
    #[error("the connection cannot be secured: {0}")]
    Tls(&'static str, #[source] Option<Cause>),
    /// There is none, and none is to be made.
    #[error("no gateway has kept anything there: {0}")]
    Absent(&'static str),
    /// A setting that keeps acknowledged changes safe did not take.
    #[error("the database does not take the setting {setting}: it is {found}, not {wanted}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// A newer gateway has been here.
    #[error("the database has version {found}, and this gateway knows versions up to {known} only: use a newer one")]
    Newer {
        /// Version of the database.
        found: u64,
        /// The latest that this gateway knows.
        known: u64,
    },
    /// The tables cannot be brought to this gateway's version; they are as they were.
    #[error("the database cannot be migrated")]
    Migration(#[source] Cause),
    /// The engine failed.
    #[error("the database cannot be opened")]
    Engine(#[source] Cause),
}

impl From<EngineError> for OpenError {
    fn from(error: EngineError) -> Self {
        Self::Engine(Box::new(error))
    }
}

/// A database cannot be backed up or restored. What was there before is as it was.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file cannot be read or written.
    #[error("{} cannot be used", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The file is not a backup, or not all of one, or was changed.
    #[error("line {line} of the backup: {problem}")]
    Damaged {
        /// Where, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// The database's own file is damaged.
    #[error("the database file is damaged: {0}")]
    FileDamaged(String),
    /// The backup was made by a newer gateway.
    #[error("the backup has version {found}, and this gateway knows versions up to {known} only: use a newer one")]
    Newer {
        /// Version of the backup.
        found: u64,
        /// The latest that this gateway knows.
        known: u64,
    },
    /// The backup is of another installation than the place that it is restored to.
    #[error("the backup is not of this installation")]
    OtherInstallation(#[source] LostState),
    /// The database holds something; a backup is restored into an empty one.
    #[error("the database is not empty: it holds {0}")]
    NotEmpty(&'static str),
    /// The audit log does not hold together.
    #[error("the audit log does not hold together")]
    Audit(#[source] BrokenChain),
    /// The ledger is not sound; what was found first.
    #[error("the ledger is not sound")]
    Ledger(#[source] Fault),
    /// The engine failed.
    #[error("the store failed")]
    Engine(#[source] Cause),
}

impl From<EngineError> for BackupError {
    fn from(error: EngineError) -> Self {
        Self::Engine(Box::new(error))
    }
}
