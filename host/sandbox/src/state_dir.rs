//! The state folder: one gateway uses it at a time.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// The state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It could not be read or written.
    #[error("the state folder `{}` cannot be used", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Another gateway is running on it.
    #[error("another process uses the state folder `{}`", .0.display())]
    InUse(PathBuf),
    /// The list of an earlier release cannot be understood.
    #[error("`{}` is damaged; restore it, or remove it to start with what the store has alone", .path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: serde_json::Error,
    },
    /// The list was written by a newer gateway.
    #[error("`{}` has layout {found}, which this gateway does not read", .path.display())]
    Layout {
        /// Where.
        path: PathBuf,
        /// What was found.
        found: u32,
    },
}

/// The state folder, held as long as this lives.
pub(crate) struct StateDir {
    /// Held locked.
    _lock: File,
}

impl StateDir {
    /// Opens the state folder, making it where it is missing.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let failed = |cause| StateError::Io { path: path.to_owned(), cause };
        files::create_folder(path).map_err(failed)?;
        let lock = File::create(path.join("lock")).map_err(failed)?;
        match rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateError::InUse(path.to_owned())),
            Err(errno) => Err(failed(errno.into())),
        }
    }
}
