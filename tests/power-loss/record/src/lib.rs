//! The notes that the shim leaves for whoever rolls back, and the names of the files that they are in. A crate of its own,
//! for the shim, which writes them, can be linked by nobody, and `test-servers` reads them.
//!
//! Notes are per file, in generations: a sync ends the present generation and, once it is done, removes it and those
//! before it. All of this lies in one folder beside the watched one, on the same file system.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Names the watched folder to the shim: an absolute path without symbolic links.
pub const WATCHED: &str = "POWER_LOSS_FOLDER";
/// What a sync is worth to the shim; [`IGNORED`] or absent.
pub const SYNCS: &str = "POWER_LOSS_SYNCS";
/// Nothing: what was synced is lost like everything else.
pub const IGNORED: &str = "ignored";
/// At which sync the power goes: a number, counted from 1 over those that would settle something. The process is killed before that
/// sync does anything. Absent where somebody else kills it.
pub const ENDS_AT: &str = "POWER_LOSS_ENDS_AT";
/// Is there once a process under the shim has touched the watched folder; locked while that process lives.
pub const MARKER: &str = "watching";
/// How a record begins: its kind, two figures, and how many bytes follow.
const HEAD_BYTES: usize = 1 + 8 + 8 + 8;

/// Where the notes on a watched folder are.
#[must_use]
pub fn notes_on(watched: &Path) -> PathBuf {
    let mut name = watched.as_os_str().to_owned();
    name.push(".unsynced");
    PathBuf::from(name)
}

/// The name of another link to a file, by which its content is reached when its own name is gone.
#[must_use]
pub fn link_name(inode: u64) -> String {
    format!("link-{inode}")
}

/// The name of one generation of the notes on a file or a folder.
#[must_use]
pub fn log_name(inode: u64, generation: u64) -> String {
    format!("log-{inode}-{generation}")
}

/// Reads such a name: the inode and the generation.
#[must_use]
pub fn parse_log_name(name: &str) -> Option<(u64, u64)> {
    let (inode, generation) = name.strip_prefix("log-")?.split_once('-')?;
    Some((inode.parse().ok()?, generation.parse().ok()?))
}

/// How to undo one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Of a file's content: put the bytes back, then the length.
    Data {
        /// The length before the change.
        length: u64,
        /// Where the bytes were.
        offset: u64,
        /// What was there, as far as the file reached.
        bytes: Vec<u8>,
    },
    /// Of a folder's entry: give the path back to the file that had it, or to none.
    Entry {
        /// The path.
        path: PathBuf,
        /// The file's inode.
        inode: Option<u64>,
    },
}

impl Record {
    /// As it is kept.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (kind, first, second, bytes): (u8, u64, u64, &[u8]) = match self {
            Self::Data { length, offset, bytes } => (0, *length, *offset, bytes),
            Self::Entry { path, inode } => (1, inode.unwrap_or(0), 0, path.as_os_str().as_bytes()),
        };
        let mut encoded = Vec::with_capacity(HEAD_BYTES + bytes.len());
        encoded.push(kind);
        for figure in [first, second, bytes.len() as u64] {
            encoded.extend_from_slice(&figure.to_le_bytes());
        }
        encoded.extend_from_slice(bytes);
        encoded
    }

    /// Takes the first record off the front; `None` at the end. A record that was cut short is the end too: what it
    /// would undo had not begun.
    #[must_use]
    pub fn decode(encoded: &mut &[u8]) -> Option<Self> {
        let (head, rest) = encoded.split_at_checked(HEAD_BYTES)?;
        let (kind, figures) = head.split_first()?;
        let mut figures =
            figures.chunks_exact(8).map(|eight| eight.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
        let (first, second, length) = (figures.next()?, figures.next()?, figures.next()?);
        let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        *encoded = rest;
        Some(match kind {
            0 => Self::Data { length: first, offset: second, bytes: bytes.to_vec() },
            _ => Self::Entry { path: OsStr::from_bytes(bytes).into(), inode: (first != 0).then_some(first) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_up_to_one_that_was_cut_short() {
        let records = [
            Record::Data { length: u64::MAX, offset: 4_096, bytes: vec![0, 255, 7] },
            Record::Data { length: 0, offset: 0, bytes: Vec::new() },
            Record::Entry { path: PathBuf::from("/a b/c"), inode: Some(12) },
            Record::Entry { path: PathBuf::from("/made"), inode: None },
        ];
        let whole: Vec<u8> = records.iter().flat_map(Record::encode).collect();
        let read = |mut rest: &[u8]| std::iter::from_fn(|| Record::decode(&mut rest)).collect::<Vec<_>>();
        assert_eq!(read(&whole), records);
        for cut in 1..=HEAD_BYTES + "/made".len() {
            assert_eq!(read(&whole[..whole.len() - cut]), records[..3]);
        }
    }

    #[test]
    fn names_of_notes_are_read_back() {
        assert_eq!(parse_log_name(&log_name(7, 12)), Some((7, 12)));
        for other in [MARKER, &link_name(7), "log-7", "log-x-1"] {
            assert_eq!(parse_log_name(other), None);
        }
    }
}
