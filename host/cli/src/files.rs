//! Files that a command takes, each with a bound; `-` is standard input where a document is wanted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Stands for standard input.
const STANDARD_INPUT: &str = "-";

/// A file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// It is not there, or not for this user to read.
    #[error("cannot read {}: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    /// It is too large.
    #[error("{} has more than {most} bytes", .path.display())]
    TooLarge { path: PathBuf, most: usize },
    /// It is not text.
    #[error("{} is no UTF-8 text", .0.display())]
    NoText(PathBuf),
    /// It is no JSON.
    #[error("{}:{}: {cause}", .path.display(), .cause.line())]
    NoJson { path: PathBuf, cause: serde_json::Error },
}

/// The bytes of a file.
pub(crate) fn read_bounded(path: &Path, most: usize) -> Result<Vec<u8>, FileError> {
    let unreadable = |cause| FileError::Unreadable { path: path.to_owned(), cause };
    if path.as_os_str() == STANDARD_INPUT {
        return read_all(io::stdin().lock(), path, most);
    }
    read_all(File::open(path).map_err(unreadable)?, path, most)
}

fn read_all(source: impl Read, path: &Path, most: usize) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = source.take(limit).read_to_end(&mut bytes);
    read.map_err(|cause| FileError::Unreadable { path: path.to_owned(), cause })?;
    if bytes.len() > most {
        return Err(FileError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// The JSON text of a file, as it is written: numbers keep their digits.
pub(crate) fn read_json(path: &Path, most: usize) -> Result<String, FileError> {
    let text = String::from_utf8(read_bounded(path, most)?).map_err(|_| FileError::NoText(path.to_owned()))?;
    let checked: Result<serde::de::IgnoredAny, _> = serde_json::from_str(&text);
    match checked {
        Ok(_) => Ok(text),
        Err(cause) => Err(FileError::NoJson { path: path.to_owned(), cause }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_bounded_and_told_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |text: &[u8]| {
            let path = folder.path().join("r.json");
            std::fs::write(&path, text).expect("written");
            read_json(&path, 32).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"{\"a\": 1.50}").as_deref(), Ok("{\"a\": 1.50}"));
        assert!(read(b"{\n\"a\": }").expect_err("no JSON").contains("r.json:2: "));
        assert!(read(b"\xff").expect_err("no text").ends_with("is no UTF-8 text"));
        assert!(read(&[b' '; 33]).expect_err("too large").ends_with("has more than 32 bytes"));
        assert!(matches!(read_json(Path::new("/nothing/here"), 32), Err(FileError::Unreadable { .. })));
    }
}
