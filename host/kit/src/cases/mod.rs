//! Data-driven cases: what a contract must accept, refuse, find and prefer, told in JSON files beside it.
//!
//! [`Suite::read`] reads a folder of case files, [`run`] tries each case on a contract, and [`gaps`] says which
//! part of the contract's own schemas no case breaks. The format is documented in `docs/case-files.md`.
//!
//! Cases are strict: exactly what a case names must be found, nothing else. A contract in any language has its
//! cases tried over the real sandbox, with the limits that hold while it serves.

mod coverage;
mod document;
mod format;
mod outcome;
mod run;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use coverage::{Gap, gaps};
pub use run::{CaseFailure, Report, run};

use document::Documents;
use format::CaseFile;

/// Case files in one folder.
const FILES_MAX: usize = 1_000;
/// Size of one case file or sample in bytes.
const FILE_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The cases could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CasesError {
    /// A folder or file could not be read.
    #[error("cannot read `{}`", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The folder holds no case file.
    #[error("`{}` holds no case files (*.json)", .0.display())]
    None(PathBuf),
    /// There are more files, or a larger one, than anybody would write.
    #[error("`{}` is over the limit: {what}", .path.display())]
    TooMuch {
        /// Which folder or file.
        path: PathBuf,
        /// The limit.
        what: String,
    },
    /// A file is not JSON, or not of the format.
    #[error("`{}` is no case file", .path.display())]
    Malformed {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: serde_json::Error,
    },
    /// A file is of the format but cannot mean anything.
    #[error("`{}`: {problem}", .path.display())]
    Senseless {
        /// Which.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

/// The case files of a contract, with the samples that they name.
#[derive(Debug)]
pub struct Suite {
    files: Vec<(String, CaseFile, Documents)>,
}

impl Suite {
    /// Reads all case files (`*.json`) of a folder, in the order of their names.
    ///
    /// # Errors
    /// [`CasesError`] for the first file that cannot be read or understood.
    pub fn read(folder: &Path) -> Result<Self, CasesError> {
        let unreadable = |cause| CasesError::Unreadable { path: folder.to_owned(), cause };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
        if paths.is_empty() {
            return Err(CasesError::None(folder.to_owned()));
        }
        if paths.len() > FILES_MAX {
            return Err(CasesError::TooMuch { path: folder.to_owned(), what: format!("{FILES_MAX} case files") });
        }
        paths.sort();
        let files = paths
            .iter()
            .map(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let file: CaseFile = read_json(path)?;
                let senseless = |problem| CasesError::Senseless { path: path.clone(), problem };
                file.check().map_err(senseless)?;
                let documents = Documents::read(folder, &file)?;
                Ok((name, file, documents))
            })
            .collect::<Result<_, CasesError>>()?;
        Ok(Self { files })
    }
}

/// Reads a JSON file of bounded size.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CasesError> {
    let unreadable = |cause| CasesError::Unreadable { path: path.to_owned(), cause };
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > FILE_MAX_BYTES {
        return Err(CasesError::TooMuch { path: path.to_owned(), what: format!("{FILE_MAX_BYTES} bytes") });
    }
    let text = std::fs::read(path).map_err(unreadable)?;
    serde_json::from_slice(&text).map_err(|cause| CasesError::Malformed { path: path.to_owned(), cause })
}
